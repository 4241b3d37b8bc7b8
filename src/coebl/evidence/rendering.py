"""Verdicts as JSON, as Markdown and as lines for a terminal; and those on claims with an aim, likewise.

If variants are named, `titles` has the name of each, by its id, in the order in which they are reported.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from coebl.core.errors import printable
from coebl.core.text import number_text
from coebl.evidence.judge import AimResult, Outcome, Verdict
from coebl.evidence.statistics import Estimate

MARKS: dict[Outcome, str] = {"holds": "✓", "fails": "✗", "not significant": "?", "not testable": "·"}
MEANINGS: dict[Outcome, str] = {
    "holds": "holds",
    "fails": "fails, with how many of its checks are refuted",
    "not significant": "undecided",
    "not testable": "not testable",
}

_WORDS = {"not significant": "undecided", "level": "undecided"}  # by how files name an outcome


def outcome_word(outcome: str) -> str:
    """Return an outcome as it is shown: what is not significant after correction is undecided, in every table.

    >>> outcome_word("not significant"), outcome_word("fails")
    ('undecided', 'fails')
    """
    return _WORDS.get(outcome, outcome)


def mark(verdict: Outcome, checks: Iterable[Outcome], marks: Mapping[Outcome, str] = MARKS) -> str:
    """A verdict as a mark, with how many of its checks that have data are refuted.

    >>> mark("fails", ["holds", "fails", "fails", "not testable"]), mark("holds", ["holds"])
    ('✗ 2/3', '✓')
    """
    outcomes = [outcome for outcome in checks if outcome != "not testable"]
    refuted = outcomes.count("fails")
    return f"{marks[verdict]} {refuted}/{len(outcomes)}" if refuted else marks[verdict]


def as_json(verdicts: Iterable[Verdict]) -> str:
    """The verdicts as a JSON list."""
    return json.dumps([verdict.as_dict() for verdict in verdicts], indent=2, ensure_ascii=False, allow_nan=False)


def as_markdown(verdicts: Sequence[Verdict], titles: Mapping[str, str]) -> str:
    """A table in Markdown: a row per claim, a column per variant that is judged, with what decided."""
    judged = {verdict.variant for verdict in verdicts}
    variants = [variant for variant in titles if variant in judged]
    cells = {(verdict.id, verdict.variant): _cell(verdict) for verdict in verdicts}
    rows = [["id", "claim", *(titles[variant] for variant in variants)]]
    for name, text in {verdict.id: verdict.text for verdict in verdicts}.items():
        rows.append([name, text, *(cells.get((name, variant), "") for variant in variants)])
    return _markdown_table(rows)


def _markdown_table(rows: Sequence[Sequence[str]]) -> str:
    header, *others = rows
    return "".join(f"| {' | '.join(row)} |\n" for row in (header, ["---"] * len(header), *others))


def _cell(verdict: Verdict) -> str:
    parts = [f"**{outcome_word(verdict.verdict)}** {_measured(verdict)}".strip(), verdict.note]
    others = [other for other in verdict.reported if other.verdict != verdict.verdict]
    parts += [f"on {other.metric}: {outcome_word(other.verdict)}" for other in others]
    return "<br>".join(parts)


def reasons(verdict: Verdict) -> tuple[str, ...]:
    """The numbers that decided, the note, and the verdicts on other metrics, line by line."""
    words = ((other.metric, outcome_word(other.verdict), _interval_text(other.estimate)) for other in verdict.reported)
    others = (f"on {metric}: {word} {interval}" for metric, word, interval in words)
    first = f"{outcome_word(verdict.verdict):<16}{_measured(verdict)}"
    return tuple(line.rstrip() for line in (first, verdict.note, *others))


def _measured(verdict: Verdict) -> str:
    """Measured [low, high] against the threshold."""
    number = _interval_text(verdict.estimate)
    return f"{number} against {number_text(verdict.threshold, 5)}" if number else ""


def _interval_text(estimate: Estimate) -> str:
    if math.isnan(estimate.mean):
        return ""
    return f"{number_text(estimate.mean)} [{number_text(estimate.low)}, {number_text(estimate.high)}]"


# Claims with an aim

AIM_HEADER = ["", "statement", "aim", "what came out"]
AIM_LEGEND = (
    "One-sided Student tests, paired by seed, Holm over the suite, 5 %. Over all games: tests with one number per "
    "game, Holm over the opponents."
)
_MOST_FAILURES = 12  # that a terminal lists for a claim


def _aim(verdict: Verdict) -> AimResult:
    assert verdict.aim is not None, "this claim has no aim"
    return verdict.aim


def aim_rows(verdicts: Iterable[Verdict]) -> list[list[str]]:
    """The results, a row per claim under `AIM_HEADER`."""
    return [[verdict.id, verdict.text, _aim(verdict).word, _aim(verdict).said] for verdict in verdicts]


def aim_paragraphs(verdicts: Iterable[Verdict]) -> list[str]:
    """The results for a terminal: a paragraph per claim, not yet wrapped."""
    return [f"({id}) {word.upper()}: {text} {sentence}" for id, text, word, sentence in aim_rows(verdicts)]


def aim_failures(verdict: Verdict) -> list[str]:
    """The worst rows on which the aim is missed, a line each, for a terminal."""
    aim = _aim(verdict)
    lines = [
        printable(f"  ({verdict.id}) {aim.failure}: {row['game']}, {row['opponent']}, {' '.join(_numbers(row))}")
        for row in aim.failing[:_MOST_FAILURES]
    ]
    more = len(aim.failing) - len(lines)
    return [*lines, f"  and {more} more"] if more else lines


def _numbers(row: Mapping[str, Any]) -> tuple[str, str]:
    return number_text(row["measured"]), f"[{number_text(row['low'])}, {number_text(row['high'])}]"


def aims_as_markdown(title: str, verdicts: Sequence[Verdict], computed: Mapping[str, str]) -> str:
    """All verdicts: for each variant the results, then the rows of each claim, with its definition by id."""
    parts = [f"# {title}\n"]
    for variant, group in groupby(verdicts, key=lambda verdict: verdict.variant):
        of_variant = list(group)
        parts.append(f"## {variant}\n\n{_markdown_table([AIM_HEADER, *aim_rows(of_variant)])}")
        for verdict in of_variant:
            rows = [["game", "opponent", "outcome", "measured", "95 % interval", "n"]]
            for row in (*_aim(verdict).rows, *_aim(verdict).overall):
                opponent = f"`{row['opponent']}`" * bool(row["opponent"])
                rows.append([f"`{row['game']}`", opponent, outcome_word(row["outcome"]), *_numbers(row), str(row["n"])])
            parts.append(f"### ({verdict.id}) {verdict.text}\n\n{computed[verdict.id]}\n\n{_markdown_table(rows)}")
    return "\n".join([*parts, AIM_LEGEND]) + "\n"
