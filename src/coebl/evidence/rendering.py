"""Verdicts as JSON, as Markdown and as a table for a terminal.

If variants are named, `titles` has what each is called, by its id, in the order in which they are reported.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import get_args

from coebl.core.text import number_text
from coebl.evidence.judge import Outcome, Verdict

MARKS: dict[Outcome, str] = {"holds": "✓", "fails": "✗", "not significant": "?", "not testable": "·"}
MEANINGS: dict[Outcome, str] = {
    "holds": "holds",
    "fails": "fails, with how many of its checks are refuted",
    "not significant": "not significant",
    "not testable": "not testable",
}


def mark(verdict: Outcome, checks: Iterable[Outcome], marks: Mapping[Outcome, str] = MARKS) -> str:
    """A verdict as a mark, with how many of its checks are refuted.

    >>> mark("fails", ["holds", "fails", "fails"]), mark("holds", ["holds"])
    ('✗ 2/3', '✓')
    """
    outcomes = list(checks)
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
    rows = [["id", "claim", *(titles[variant] for variant in variants)], ["---"] * (2 + len(variants))]
    for name, text in {verdict.id: verdict.text for verdict in verdicts}.items():
        rows.append([name, text, *(cells.get((name, variant), "") for variant in variants)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cell(verdict: Verdict) -> str:
    parts = [f"**{verdict.verdict}** {_measured(verdict)}".strip(), verdict.note]
    parts += [f"on {other.metric}: {other.verdict}" for other in verdict.reported if other.verdict != verdict.verdict]
    return "<br>".join(parts)


def as_table(verdicts: Sequence[Verdict], titles: Mapping[str, str], width: int = 100) -> str:
    """A table for a terminal: each claim in the paper's words, what is found of it in the variants, and a tally."""
    lines = [f"    {'verdict':<16}measured [95 % interval] against the threshold"]
    for _, claim in groupby(verdicts, key=lambda verdict: verdict.id):
        first, *rest = claim
        lines += ["", *_wrap(f"{first.id:<4}{first.text}", width, indent=4)]
        for said, alike in _alike([first, *rest]).items():
            lines.append(f"    {', '.join(titles[verdict.variant] for verdict in alike)}")
            for line in said:
                lines += _wrap(f"{'':8}{line}", width, indent=8 + 16 * line.startswith(alike[0].verdict))
    lines += ["", *_tally(verdicts, titles)]
    return "\n".join(lines)


def _alike(verdicts: Sequence[Verdict]) -> dict[tuple[str, ...], list[Verdict]]:
    """What is said of a claim, line by line, and the variants of which it is said."""
    groups: dict[tuple[str, ...], list[Verdict]] = {}
    for verdict in verdicts:
        said = [f"{verdict.verdict:<16}{_measured(verdict)}".rstrip(), verdict.note]
        for other in verdict.reported:
            number = _interval_text(other.measured, other.low, other.high)
            said.append(f"on {other.metric}: {other.verdict} {number}".rstrip())
        groups.setdefault(tuple(said), []).append(verdict)
    return groups


def _tally(verdicts: Sequence[Verdict], titles: Mapping[str, str]) -> list[str]:
    """How many claims hold, fail and so on in each variant."""
    lines = []
    for variant in dict.fromkeys(verdict.variant for verdict in verdicts):
        count = Counter(verdict.verdict for verdict in verdicts if verdict.variant == variant)
        counts = ", ".join(f"{count[outcome]} {outcome}" for outcome in get_args(Outcome))
        lines.append(f"{titles[variant]:<18}{counts}")
    return lines


def _measured(verdict: Verdict) -> str:
    """Measured [low, high] against the threshold."""
    number = _interval_text(verdict.measured, verdict.low, verdict.high)
    return f"{number} against {number_text(verdict.threshold, 5)}" if number else ""


def _interval_text(measured: float, low: float, high: float) -> str:
    if math.isnan(measured):
        return ""
    return f"{number_text(measured)} [{number_text(low)}, {number_text(high)}]"


def _wrap(text: str, width: int, indent: int) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=" " * indent, break_on_hyphens=False, replace_whitespace=False)
