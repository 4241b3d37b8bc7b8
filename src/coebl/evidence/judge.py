"""Claims and the verdicts that results give on them.

A claim holds if every one of its checks holds, and fails if any fails, at 5 % after Holm's correction over the checks
of the claim in a variant. Its number and interval are those of the check that decided: the failing check with the
smallest p value, else the one that is nearest to not holding. The interval is Student's, two-sided at 95 %, and not
corrected. What a claim would be on the other metrics that fit it is reported with the verdict.

A variant is whatever a paper's claims take as one: a reading of the paper that changes who plays.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic, Literal, TypeVar

from coebl.core.specs import split_spec
from coebl.core.text import finite, number_text
from coebl.evidence.checks import Check, Measurement
from coebl.evidence.samples import Missing, Reader
from coebl.evidence.statistics import ALPHA, holm
from coebl.runs import MatchSpecs, Source

Variant = TypeVar("Variant")
Outcome = Literal["holds", "fails", "not significant", "not testable"]

_MOST_MISSING = 4  # that a note names


@dataclass(frozen=True)
class Claim(Generic[Variant]):
    """A sentence of a paper, and the checks that it stands or falls with."""

    id: str
    sentence: str
    metrics: tuple[str, ...]  # the one that decides, then those that are reported
    checks: Callable[[Variant], list[Check]]
    silence: str  # why a variant has no checks

    def needs(self, variant: Variant) -> list[MatchSpecs]:
        """The matches that the checks are about, each once."""
        return list(dict.fromkeys(sample.pairing for check in self.checks(variant) for sample in check.samples))


class Claims(dict[str, Claim[Variant]]):
    """The claims of a paper by their ids."""

    def add(
        self, id: str, sentence: str, metrics: tuple[str, ...], silence: str = ""
    ) -> Callable[[Callable[[Variant], list[Check]]], Callable[[Variant], list[Check]]]:
        """Decorate the function that lists the checks of a claim in a variant."""

        def enter(checks: Callable[[Variant], list[Check]]) -> Callable[[Variant], list[Check]]:
            self[id] = Claim(id, sentence, metrics, checks, silence)
            return checks

        return enter


@dataclass(frozen=True)
class CheckResult(Measurement):
    """A check on data, with its p values also as Holm corrects them for the family that it was tested in."""

    quantity: str
    wanted: str
    threshold: float
    beside: bool
    p_for_adjusted: float
    p_against_adjusted: float
    missing: list[Missing]

    @property
    def verdict(self) -> Outcome:
        """What the corrected p values say."""
        if self.missing:
            return "not testable"
        if self.p_against_adjusted <= ALPHA:
            return "fails"
        return "holds" if self.p_for_adjusted <= ALPHA else "not significant"

    @property
    def before_correction(self) -> str:
        """What the p values say before Holm's correction, where they say nothing after it: shown, refuted, or ''."""
        if self.verdict != "not significant":
            return ""
        return "refuted" if self.p_against <= ALPHA else "shown" if self.p_for <= ALPHA else ""

    def __str__(self) -> str:
        said = {"holds": "is", "fails": "is not", "not significant": "is not shown to be", "not testable": "has to be"}
        before = f", {self.before_correction} before Holm's correction only" if self.before_correction else ""
        return (
            f"{self.subject}: {self.quantity} {number_text(self.measured)} {said[self.verdict]} {self.wanted}{before}"
        )


@dataclass(frozen=True)
class Reported:
    """A claim judged on another metric than the one that decides."""

    metric: str
    verdict: Outcome
    measured: float
    low: float
    high: float


@dataclass(frozen=True)
class Verdict:
    """What the results say of a claim in a variant; the numbers are those of the check that decided."""

    id: str
    variant: str
    verdict: Outcome
    metric: str
    measured: float
    low: float
    high: float
    threshold: float
    n: int  # runs
    text: str  # the paper's sentence
    note: str  # what decided
    checks: list[CheckResult]
    reported: list[Reported]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, which has no infinity and no NaN: they are None."""
        plain: dict[str, Any] = finite(asdict(self))
        for check, values in zip(self.checks, plain["checks"], strict=True):
            values["verdict"] = check.verdict
        return plain


def judge(source: Source, claims: Iterable[Claim[Variant]], variants: Mapping[str, Variant]) -> list[Verdict]:
    """A verdict on each claim in each variant.

    Args:
        source: the results.
        claims: what to judge.
        variants: the variants by the ids that the verdicts carry.
    """
    reader = Reader(source)
    return [_judge_claim(claim, id, variant, reader) for claim in claims for id, variant in variants.items()]


def judge_family(checks: Sequence[Check], reader: Reader, metric: str) -> list[CheckResult]:
    """Test the checks on a metric as one family, with Holm's correction for each of the two directions.

    A check without data counts in the family with p = 1, so that what is decided without it stays so with it.
    """
    found: list[tuple[Measurement, list[Missing]]] = []
    for check in checks:
        numbers = reader.read(check.samples, metric)
        if isinstance(numbers, list):
            found.append((Measurement(check.subject, math.nan, math.nan, math.nan, 0, 1.0, 1.0), numbers))
        else:
            found.append((check.measure(numbers), []))
    return corrected(checks, found)


def corrected(checks: Sequence[Check], found: Sequence[tuple[Measurement, list[Missing]]]) -> list[CheckResult]:
    """What the checks of a family have measured, or what they miss, with Holm's correction for each direction."""
    for_it = holm([measurement.p_for for measurement, _ in found])
    against_it = holm([measurement.p_against for measurement, _ in found])
    results = []
    for check, (measurement, missing), p_for, p_against in zip(checks, found, for_it, against_it, strict=True):
        quantity, wanted = check.words
        results.append(
            CheckResult(
                **vars(measurement),
                quantity=quantity,
                wanted=wanted,
                threshold=check.threshold,
                beside=check.beside,
                p_for_adjusted=p_for,
                p_against_adjusted=p_against,
                missing=missing,
            )
        )
    return results


def _judge_claim(claim: Claim[Variant], id: str, variant: Variant, reader: Reader) -> Verdict:
    checks = claim.checks(variant)
    results = judge_family(checks, reader, claim.metrics[0])
    verdict, decisive = _decide(results)
    reported = []
    for metric in claim.metrics[1:]:
        outcome, number = _decide(judge_family(checks, reader, metric))
        reported.append(Reported(metric, outcome, *_interval(number)))
    return Verdict(
        claim.id,
        id,
        verdict,
        claim.metrics[0],
        *_interval(decisive),
        decisive.threshold if decisive else math.nan,
        decisive.n if decisive else 0,
        claim.sentence,
        _note(verdict, decisive, results, claim.needs(variant)) or claim.silence,
        results,
        reported,
    )


def _decide(results: list[CheckResult]) -> tuple[Outcome, CheckResult | None]:
    """The verdict on all checks together, and the one that decides, if any has data."""
    tested = [result for result in results if not result.missing]
    outcomes = {result.verdict for result in results}
    if "fails" in outcomes:
        failing = [result for result in tested if result.verdict == "fails"]
        return "fails", min(failing, key=lambda result: (result.beside, result.p_against))
    weakest = max(tested, key=lambda result: result.p_for, default=None)
    if not outcomes or "not testable" in outcomes:
        return "not testable", weakest
    return "not significant" if "not significant" in outcomes else "holds", weakest


def _interval(result: CheckResult | None) -> tuple[float, float, float]:
    return (result.measured, result.low, result.high) if result else (math.nan, math.nan, math.nan)


def _note(verdict: Outcome, decisive: CheckResult | None, results: list[CheckResult], needs: list[MatchSpecs]) -> str:
    """A sentence on what decided; nothing if nothing was to be checked."""
    total = len(results)
    count = Counter(result.verdict for result in results)
    if verdict != "not testable":
        without = f"; without data: {count['not testable']}" if count["not testable"] else ""
        others = {
            "holds": f"the closest of {total} checks",
            "fails": f"failing: {count['fails']} of {total} checks{without}",
            "not significant": f"not significant: {count['not significant']} of {total} checks; failing: none",
        }
        return f"{decisive} ({others[verdict]})"
    missing = f"missing: {_missing_text(results, needs)}" if results else ""
    tested = total - count["not testable"]
    if not tested:
        return missing
    hold = "all of them hold" if count["holds"] == tested else f"{count['holds']} of them hold, none fails"
    return f"{decisive}; {tested} of {total} checks have data, {hold}; {missing}"


def _missing_text(results: list[CheckResult], needs: list[MatchSpecs]) -> str:
    """What is missing: games of which nothing is there, then matches that were not played, then other reasons."""
    missing = list(dict.fromkeys(each for result in results for each in result.missing))
    absent = [each.pairing for each in missing if not each.reason]
    partly = {pairing.game for pairing in needs if pairing not in absent}
    parts = [
        *_by_family(dict.fromkeys(pairing.game for pairing in absent if pairing.game not in partly)),
        *(str(pairing) for pairing in absent if pairing.game in partly),
        *dict.fromkeys(each.reason for each in missing if each.reason),
    ]
    more = len(parts) - _MOST_MISSING
    return "; ".join(parts[:_MOST_MISSING]) + (f"; and {more} more" if more > 0 else "")


def _by_family(games: Iterable[str]) -> list[str]:
    """Games for reading: those that differ in the value of one parameter are reported together.

    >>> _by_family(["rps", "diagonal:n=5", "diagonal:n=6", "blotto:fields=2,coins=6"])
    ['rps', 'diagonal n = 5, 6', 'blotto:fields=2,coins=6']
    """
    values: dict[str, list[str]] = {}  # by what stands before them
    for game in games:
        parts = split_spec(game)
        if len(parts.arguments) == 1:
            [(key, value)] = parts.arguments.items()
            values.setdefault(f"{parts.name} {key} = ", []).append(value)
        else:
            values[game] = []
    return [before + ", ".join(listed) for before, listed in values.items()]
