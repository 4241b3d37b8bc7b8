"""Claims, the verdicts that results give on them, and verdicts as JSON, as Markdown and as lines for a terminal.

A claim holds if every one of its checks holds, and fails if any fails, at 5 % after Holm's correction over the checks
of the claim in a variant. Its number and interval are those of the check that decided: the failing check with the
smallest p value, else the one that is nearest to not holding. The verdicts on the other metrics that fit a claim are
reported with it. A claim with an aim also has a count of the cases in which the aim is missed.

A variant is anything that the checks of a claim depend on: a reading of a paper that changes who plays, or the learner
that is tested.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from coebl.core.errors import printable
from coebl.core.text import few_digits, finite, markdown_table, number_text
from coebl.engine.match import MatchName
from coebl.evidence.checks import Check, Missing, Reader
from coebl.evidence.statistics import ALPHA, Estimate, correct
from coebl.naming import game_titles

if TYPE_CHECKING:
    from coebl.study import Results

Outcome = Literal["holds", "fails", "not significant", "not testable"]

MARKS: dict[Outcome, str] = {"holds": "✓", "fails": "✗", "not significant": "?", "not testable": "·"}
MEANINGS: dict[Outcome, str] = {
    "holds": "holds",
    "fails": "fails, with how many of its checks are refuted",
    "not significant": "undecided",
    "not testable": "not testable",
}
AIM_LEGEND = (
    "One-sided Student tests, paired by seed, Holm over the suite, 5 %. Over all games: tests with one number per "
    "game, Holm over the opponents."
)
_MOST_FAILURES = 12  # that a terminal lists for a claim
_MOST_MISSING = 4  # that a note names
_NOTHING = Estimate(math.nan, math.nan, math.nan, math.nan, 0, p_for=1.0, p_against=1.0)  # without data


@dataclass(frozen=True)
class CheckResult:
    """The result of a check, corrected over its family of tests; or the data that it lacks."""

    check: Check
    subject: str  # the match or matches that the number is about
    estimate: Estimate
    missing: list[Missing] = field(default_factory=list)
    means: tuple[float, ...] = ()  # of the numbers that the check compares

    @property
    def verdict(self) -> Outcome:
        """The outcome by the corrected p values."""
        if self.missing:
            return "not testable"
        if self.estimate.p_against_holm <= ALPHA:
            return "fails"
        return "holds" if self.estimate.p_for_holm <= ALPHA else "not significant"

    @property
    def before_correction(self) -> str:
        """The outcome without Holm's correction, if there is none with it: "shown", "refuted" or ""."""
        if self.verdict != "not significant":
            return ""
        return "refuted" if self.estimate.p_against <= ALPHA else "shown" if self.estimate.p_for <= ALPHA else ""

    def __str__(self) -> str:
        is_ = {"holds": "is", "fails": "is not", "not significant": "is not shown to be", "not testable": "has to be"}
        before = f", {self.before_correction} before Holm's correction only" if self.before_correction else ""
        quantity, stated = self.check.words
        return f"{self.subject}: {quantity} {number_text(self.estimate.mean)} {is_[self.verdict]} {stated}{before}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        estimate, check, (quantity, wanted) = self.estimate, self.check, self.check.words
        plain: dict[str, Any] = {"subject": self.subject, **_measured_values(estimate), "n": estimate.n}
        plain |= {key: getattr(estimate, key) for key in ("p_for", "p_against")}
        plain |= {f"{key}_adjusted": getattr(estimate, f"{key}_holm") for key in ("p_for", "p_against")}
        plain |= {"quantity": quantity, "wanted": wanted}
        plain |= {key: getattr(check, key) for key in ("threshold", "beside", "published")}
        return plain | {"missing": self.missing, "before": self.before_correction, "verdict": self.verdict}


def _measured_values(estimate: Estimate) -> dict[str, float]:
    return {"measured": estimate.mean, "low": estimate.low, "high": estimate.high}


@dataclass(frozen=True)
class AimRow:
    """A check of an aim, as a row of the published tables."""

    game: str
    opponent: str
    outcome: str  # a word of the claim
    estimate: Estimate
    relative: float  # the mean in units of the game
    means: tuple[float, float]  # of the subject and of the opponent; NaN if the check does not compare them

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        estimate = self.estimate
        plain: dict[str, Any] = {"game": self.game, "opponent": self.opponent, "outcome": self.outcome}
        plain |= {**_measured_values(estimate), "relative": self.relative, "n": estimate.n}
        plain |= {"p_for": estimate.p_for_holm, "p_against": estimate.p_against_holm}
        return plain | dict(zip(("subject_mean", "opponent_mean"), self.means, strict=True))


@dataclass(frozen=True)
class AimResult:
    """The outcome of the aim that was registered with a claim before its test."""

    missed: int  # the number of cases in which it is missed
    allowed: int  # the number of misses that the aim allows
    total: int  # the number of cases
    reached: bool | None  # None if data are missing and nothing else decides
    counts: Mapping[str, int]  # of outcomes, by name
    reported: Mapping[str, Mapping[str, int]]  # the same on other metrics
    rows: Sequence[AimRow]  # the checks
    overall: Sequence[AimRow]  # the tests over all games
    failing: Sequence[AimRow]  # the rows on which the aim is missed, the worst first
    failure: str  # the name of such a row
    computed: str  # the computation and the test, in words
    said: str = ""  # the result in a line or two

    @property
    def word(self) -> str:
        """Reached, missed or open."""
        return {True: "reached", False: "missed", None: "open"}[self.reached]

    @property
    def all_rows(self) -> list[AimRow]:
        """The checks, then the tests over all games."""
        return [*self.rows, *self.overall]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for committed files: numbers have six digits, without the noise of the last bit."""
        kept = ("reached", "word", "said", "missed", "allowed", "total", "counts")
        rows = {name: [row.as_dict() for row in getattr(self, name)] for name in ("failing", "rows", "overall")}
        plain = {key: getattr(self, key) for key in kept} | {"on_reported": self.reported}
        return plain | {
            name: [{key: few_digits(value, 6) for key, value in row.items()} for row in listed]
            for name, listed in rows.items()
        }


@dataclass(frozen=True)
class Claim:
    """A sentence, and the checks that decide it."""

    id: str
    sentence: str
    metrics: Sequence[str]  # the one that decides, then those that are reported
    checks: Callable[[Any], list[Check]]  # by variant
    silence: str = ""  # the reason why a variant has no checks
    aim: Callable[[Any, Sequence[CheckResult], Mapping[str, Sequence[CheckResult]]], AimResult] | None = None

    def needs(self, variant: Any) -> list[MatchName]:
        """Return the matches that the checks are about, each once."""
        samples = [sample for check in self.checks(variant) for sample in check.samples]
        return list(dict.fromkeys(match for sample in samples for match in sample.matches))


@dataclass(frozen=True)
class Verdict:
    """The judgement of a claim in a variant on a metric; its numbers are those of the check that decided."""

    id: str
    variant: str
    verdict: Outcome
    metric: str
    text: str  # the sentence
    note: str  # on the check that decided
    checks: list[CheckResult]
    decisive: CheckResult | None  # if any check has data
    reported: list[Verdict] = field(default_factory=list)  # on the other metrics
    aim: AimResult | None = None

    @property
    def estimate(self) -> Estimate:
        """The estimate of the check that decided."""
        return self.decisive.estimate if self.decisive else _NOTHING

    @property
    def threshold(self) -> float:
        """The threshold of the check that decided."""
        return self.decisive.check.threshold if self.decisive else math.nan

    @property
    def word(self) -> str:
        """The outcome in tables; that of the aim, if there is one."""
        return self.aim.word if self.aim else outcome_word(self.verdict)

    @property
    def result(self) -> str:
        """The numbers that decided, "measured [low, high] against the threshold"; or the result of the aim."""
        if self.aim:
            return self.aim.said
        number = _interval_text(self.estimate)
        return f"{number} against {number_text(self.threshold, 5)}" if number else ""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, which has no infinity and no NaN: they are None."""
        plain = {key: getattr(self, key) for key in ("id", "variant", "verdict", "metric")}
        plain |= {**_measured_values(self.estimate), "threshold": self.threshold, "n": self.estimate.n}
        plain |= {"text": self.text, "note": self.note, "checks": [check.as_dict() for check in self.checks]}
        plain["decisive"] = next((place for place, check in enumerate(self.checks) if check is self.decisive), None)
        reported = (
            {"metric": verdict.metric, "verdict": verdict.verdict} | _measured_values(verdict.estimate)
            for verdict in self.reported
        )
        plain |= {"aim": self.aim.as_dict()} if self.aim else {}
        return finite(plain | {"reported": [*reported]})


def judge(
    results: Results, claims: Iterable[Claim], variants: Mapping[str, Any], seeds: Collection[int] | None = None
) -> list[Verdict]:
    """Return a verdict on each claim in each variant, given by id, from all seeds or only those given."""
    chosen = list(claims)
    reader = Reader(results, [metric for claim in chosen for metric in claim.metrics], seeds)
    return [_judge_claim(claim, id, variant, reader) for claim in chosen for id, variant in variants.items()]


def judge_family(checks: Sequence[Check], numbers: Iterable[Any], family: str) -> list[CheckResult]:
    """Test checks as one family; `numbers` has an array, (samples, seeds), or a list of `Missing` for each.

    A check without data counts in the family with p = 1, so that later data cannot overturn a decision.
    """
    outcomes = [
        CheckResult(check, check.subject(), _NOTHING, data)
        if isinstance(data, list)
        else CheckResult(check, check.subject(data), check.measure(data), means=tuple(check.means(data).tolist()))
        for check, data in zip(checks, numbers, strict=True)
    ]
    corrected = correct([result.estimate for result in outcomes], family)
    return [replace(result, estimate=estimate) for result, estimate in zip(outcomes, corrected, strict=True)]


def _judge_claim(claim: Claim, id: str, variant: Any, reader: Reader) -> Verdict:
    checks, needs = claim.checks(variant), claim.needs(variant)
    verdicts = []
    for metric in claim.metrics:
        results = judge_family(checks, reader.read(checks, metric), f"the checks of {claim.id}")
        verdict, decisive = decide(results)
        note = _note(verdict, decisive, results, needs) or claim.silence
        verdicts.append(Verdict(claim.id, id, verdict, metric, claim.sentence, note, results, decisive))
    first, *reported = verdicts
    others = {verdict.metric: verdict.checks for verdict in reported}
    aim = None if claim.aim is None else claim.aim(variant, first.checks, others)
    return replace(first, reported=reported, aim=aim)


def decide(results: list[CheckResult]) -> tuple[Outcome, CheckResult | None]:
    """Return the verdict on all checks together, and the check that decides, if any has data."""
    tested = [result for result in results if not result.missing]
    outcomes = {result.verdict for result in results}
    if "fails" in outcomes:
        failing = [result for result in tested if result.verdict == "fails"]
        return "fails", min(failing, key=lambda result: (result.check.beside, result.estimate.p_against))
    weakest = max(tested, key=lambda result: result.estimate.p_for, default=None)
    if not outcomes or "not testable" in outcomes:
        return "not testable", weakest
    return "not significant" if "not significant" in outcomes else "holds", weakest


def _note(verdict: Outcome, decisive: CheckResult | None, results: list[CheckResult], needs: list[MatchName]) -> str:
    """Return a sentence on the decisive check; "" if there are no checks."""
    total = len(results)
    count = Counter(result.verdict for result in results)
    tested = total - count["not testable"]
    if verdict != "not testable":
        run = f" that were run, of {total}" if tested < total else ""
        others = {
            "holds": f"the closest of {total} checks",
            "fails": f"failing: {count['fails']} of {tested} checks{run}",
            "not significant": f"undecided: {count['not significant']} of {total} checks; failing: none",
        }
        return f"{decisive} ({others[verdict]})"
    missing = f"missing: {_missing_text(results, needs)}" if results else ""
    if not tested:
        return missing
    hold = "all of them hold" if count["holds"] == tested else f"{count['holds']} of them hold, none fails"
    return f"{decisive}; {tested} of {total} checks have data, {hold}; {missing}"


def _missing_text(results: list[CheckResult], needs: list[MatchName]) -> str:
    """Return the missing data: games without any match, then matches that were not played, then other reasons."""
    missing = list(dict.fromkeys(lack for result in results for lack in result.missing))
    absent = [lack.match for lack in missing if not lack.reason]
    partly = {match.game for match in needs if match not in absent}
    parts = [
        *game_titles(dict.fromkeys(match.game for match in absent if match.game not in partly)),
        *(str(match) for match in absent if match.game in partly),
        *dict.fromkeys(lack.reason for lack in missing if lack.reason),
    ]
    more = len(parts) - _MOST_MISSING
    return "; ".join(parts[:_MOST_MISSING]) + (f"; and {more} more" if more > 0 else "")


# Verdicts for people


def outcome_word(outcome: str) -> str:
    """Return the word for an outcome in tables: without significance after correction, it is undecided.

    >>> outcome_word("not significant"), outcome_word("fails")
    ('undecided', 'fails')
    """
    return "undecided" if outcome in ("not significant", "level") else outcome


def mark(verdict: Outcome, checks: Iterable[Outcome], marks: Mapping[Outcome, str] = MARKS) -> str:
    """Return the mark of a verdict, with the number of refuted checks out of those with data.

    >>> mark("fails", ["holds", "fails", "fails", "not testable"]), mark("holds", ["holds"])
    ('✗ 2/3', '✓')
    """
    outcomes = [outcome for outcome in checks if outcome != "not testable"]
    refuted = outcomes.count("fails")
    return f"{marks[verdict]} {refuted}/{len(outcomes)}" if refuted else marks[verdict]


def as_json(verdicts: Iterable[Verdict]) -> str:
    """Return the verdicts as a JSON list."""
    return json.dumps([verdict.as_dict() for verdict in verdicts], indent=2, ensure_ascii=False, allow_nan=False)


def as_markdown(verdicts: Sequence[Verdict], titles: Mapping[str, str]) -> str:
    """Return a table in Markdown: a row per claim, a column per judged variant, with the deciding numbers.

    A table of its checks follows for each claim with an aim.
    """
    variants = [variant for variant in titles if variant in {verdict.variant for verdict in verdicts}]
    cells = {(verdict.id, verdict.variant): _cell(verdict) for verdict in verdicts}
    rows = [["id", "claim", *(titles[variant] for variant in variants)]]
    for name, text in {verdict.id: verdict.text for verdict in verdicts}.items():
        rows.append([name, text, *(cells.get((name, variant), "") for variant in variants)])
    parts = [markdown_table(rows)]
    for verdict in verdicts:
        if verdict.aim:
            title = f"{titles[verdict.variant]}, " * (len(variants) > 1) + f"({verdict.id}) {verdict.text}"
            word = ' The table has "undecided" for "level".' * ("level" in verdict.aim.computed)
            parts.append(f"## {title}\n\n{verdict.aim.computed}{word}\n\n{markdown_table(_aim_rows(verdict.aim))}")
    return "\n".join(parts)


def _cell(verdict: Verdict) -> str:
    parts = [f"**{verdict.word}** {verdict.result}".strip()]
    if not verdict.aim:
        others = [other for other in verdict.reported if other.verdict != verdict.verdict]
        parts += [verdict.note, *(f"on {other.metric}: {other.word}" for other in others)]
    return "<br>".join(parts)


def _aim_rows(aim: AimResult) -> list[list[str]]:
    """Return the checks of an aim as a table, and its tests over all games."""
    rows = [["game", "opponent", "outcome", "measured", "95 % interval", "n"]]
    for row in aim.all_rows:
        opponent, word = f"`{row.opponent}`" * bool(row.opponent), outcome_word(row.outcome)
        mean, low, high = map(number_text, (row.estimate.mean, row.estimate.low, row.estimate.high))
        rows.append([f"`{row.game}`", opponent, word, mean, f"[{low}, {high}]", str(row.estimate.n)])
    return rows


def reasons(verdict: Verdict) -> tuple[str, ...]:
    """Return the outcome with the numbers that decided, then the note and the verdicts on other metrics, line by line.

    For a claim with an aim, the worst rows on which the aim is missed follow instead.
    """
    lines = [f"{verdict.word:<16}{verdict.result}"]
    if aim := verdict.aim:
        missed = aim.failing[:_MOST_FAILURES]
        lines += [printable(f"{aim.failure}: {row.game}, {row.opponent}, {row.estimate}") for row in missed]
        more = len(aim.failing) - len(missed)
        lines += [f"and {more} more"] * bool(more)
    else:
        lines.append(verdict.note)
        lines += [f"on {other.metric}: {other.word} {_interval_text(other.estimate)}" for other in verdict.reported]
    return tuple(line.rstrip() for line in lines)


def _interval_text(estimate: Estimate) -> str:
    return "" if math.isnan(estimate.mean) else str(estimate)
