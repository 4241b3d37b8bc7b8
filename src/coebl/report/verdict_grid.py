"""The verdicts on the page: a grid of claims by variants, and their checks for the script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from coebl.core.text import few_digits
from coebl.evidence import ALPHA
from coebl.evidence.judge import AimResult, Outcome, Verdict, outcome_word
from coebl.naming import game_title
from coebl.report.legend import DIGITS, unbroken

OUTCOMES: dict[Outcome, str] = {
    "holds": "holds",
    "fails": "fails",
    "not significant": "undecided",
    "not testable": "not run",
}
"""The words for the verdict on a single check."""

_AIM_STATES: dict[str, Outcome] = {"reached": "holds", "missed": "fails", "open": "not testable"}
_WORDS = (*map(outcome_word, get_args(Outcome)), *_AIM_STATES)  # for verdicts, in the order of their counts
_PLURAL = {"holds": "hold", "fails": "fail"}
_SHOWN = ["subject", "quantity", "measured", "low", "high", "wanted", "threshold", "published", "verdict", "before"]


@dataclass(frozen=True)
class Square:
    """A verdict on a claim in a variant, as a square of the grid."""

    verdict: Verdict
    place: int  # of the verdict among all
    subject: str  # of the check that decided
    note: str

    @property
    def state(self) -> Outcome:
        """The outcome whose colour and icon the verdict has."""
        return _AIM_STATES[self.verdict.word] if self.verdict.aim else self.verdict.verdict

    @property
    def strip(self) -> list[str]:
        """The word for each check that was run."""
        return [OUTCOMES[check.verdict] for check in self.verdict.checks if check.verdict != "not testable"]

    @property
    def tally(self) -> str:
        """The verdict in a word, with the number of failed checks, or of checks that were run out of those needed."""
        if aim := self.verdict.aim:
            return f"missed {aim.missed}/{aim.total}" if aim.word == "missed" else aim.word
        run = self.strip
        if self.verdict.verdict == "fails":
            return f"fails {run.count('fails')}/{len(run)}"
        if self.verdict.verdict == "not testable" and run:
            return f"{len(run)}/{len(self.verdict.checks)} run"
        return outcome_word(self.verdict.verdict)


@dataclass(frozen=True)
class VerdictGrid:
    """The verdicts on claims (rows) in variants (columns)."""

    variants: dict[str, str]  # id to title
    claims: dict[str, str]  # id to sentence
    squares: dict[tuple[str, str], Square]  # by the ids of the claim and of the variant

    def counts(self, variant: str) -> str:
        """Return how many verdicts on a variant have each outcome: "1 holds, 3 fail"."""
        found = Counter(square.verdict.word for (_, id), square in self.squares.items() if id == variant)
        words = {word: word if found[word] == 1 else _PLURAL.get(word, word) for word in found}
        return ", ".join(f"{found[word]} {words[word]}" for word in _WORDS if found[word])


def verdict_grid(verdicts: Sequence[Verdict], titles: Mapping[str, str], learners: Mapping[str, str]) -> VerdictGrid:
    """Return the grid of verdicts; titles are those of the variants, by id."""
    squares = {}
    for place, verdict in enumerate(verdicts):
        decisive = verdict.decisive
        subject = f"{_by_title(decisive.subject, verdict, learners)}: {decisive.check.words[0]}" if decisive else ""
        note = _by_title(verdict.note, verdict, learners)
        squares[verdict.id, verdict.variant] = Square(verdict, place, subject, note)
    variants = {verdict.variant: titles.get(verdict.variant, verdict.variant) for verdict in verdicts}
    return VerdictGrid(variants, {verdict.id: verdict.text for verdict in verdicts}, squares)


def _by_title(text: str, verdict: Verdict, learners: Mapping[str, str]) -> str:
    """Return a string about a verdict with the specs of matches replaced by the titles in the charts."""
    matches = {sample.match for check in verdict.checks for sample in check.check.samples}
    for match in sorted(matches, key=lambda match: -len(str(match))):  # one may be a prefix of another
        names = [learners.get(spec, spec) for spec in match.players]
        players = " v ".join(names) if len({*match.players}) > 1 else f"{names[0]} in self-play"
        text = text.replace(str(match), f"{players} on {game_title(match.game)}")
    return unbroken(text)


def verdict_entry(verdict: Verdict, learners: Mapping[str, str]) -> dict[str, Any]:
    """Return a verdict for the script and for the download, with the fields of its checks that the page shows."""
    plain = verdict.as_dict()
    if aim := verdict.aim:
        return plain | {"verdict": aim.word, "aim": aim.said, "checks": _aim_checks(aim, learners)}
    plain["checks"] = [
        {key: few_digits(values[key], DIGITS) for key in _SHOWN}
        | {"title": _by_title(check.subject, verdict, learners), "outcome": OUTCOMES[check.verdict]}
        | {"match": check.check.samples[0].match}
        | {"before": {"shown": "holds", "refuted": "fails"}.get(values["before"], "")}
        for check, values in zip(verdict.checks, plain["checks"], strict=True)
    ]
    return plain


def _aim_checks(aim: AimResult, learners: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows of an aim as checks: those on which it is missed first, the tests over all games last."""
    missed = {(row.game, row.opponent) for row in aim.failing}
    met = (row for row in aim.rows if (row.game, row.opponent) not in missed)
    checks = []
    for row in (*aim.failing, *met, *aim.overall):
        values, estimate = row.as_dict(), row.estimate
        is_missed = estimate.p_against_holm <= ALPHA or (row.game, row.opponent) in missed
        state = "fails" if is_missed else "holds" if estimate.p_for_holm <= ALPHA else "not significant"
        plain = {key: few_digits(values[key], DIGITS) for key in ("measured", "low", "high")} | {"verdict": state}
        title = " on ".join(filter(None, [learners.get(row.opponent, row.opponent), game_title(row.game)]))
        outcome = outcome_word(row.outcome) if estimate.n else OUTCOMES["not testable"]
        checks.append(plain | {"title": title, "outcome": outcome})
    return checks
