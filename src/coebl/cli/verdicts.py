"""The verdicts on a paper's claims on a terminal: a row per claim with a mark per variant, or all the reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from coebl.cli.app import width
from coebl.cli.screen import BAD, FAINT, GOOD, UNSURE, can_show, console, print_table

if TYPE_CHECKING:
    from rich.text import Text

    from coebl.evidence.judge import Outcome, Verdict

STYLES: dict[Outcome, str] = {"holds": GOOD, "fails": BAD, "not significant": UNSURE, "not testable": FAINT}
_PLAIN_MARKS: dict[Outcome, str] = {"holds": "+", "fails": "x", "not significant": "?", "not testable": "-"}


def print_verdicts(verdicts: Sequence[Verdict], titles: Mapping[str, str]) -> None:
    """Print the marks, and below them what they mean.

    Args:
        verdicts: claim by claim, every claim in the same variants.
        titles: what the variants are called, by their ids.
    """
    from rich.text import Text

    from coebl.evidence.rendering import MARKS, MEANINGS, mark

    marks = MARKS if can_show("".join(MARKS.values())) else _PLAIN_MARKS
    found = {(verdict.id, verdict.variant): verdict for verdict in verdicts}
    variants = list(dict.fromkeys(verdict.variant for verdict in verdicts))

    def shown(verdict: Verdict) -> Text:
        text = mark(verdict.verdict, (check.verdict for check in verdict.checks), marks)
        return Text(text, STYLES[verdict.verdict])

    rows: list[list[str | Text]] = [
        [id, text, *(shown(found[id, variant]) for variant in variants)]
        for id, text in {verdict.id: verdict.text for verdict in verdicts}.items()
    ]
    header = ["", "claim", *(titles[variant] for variant in variants)]
    print_table(header, rows, cut="claim")
    lines = [Text()]
    for outcome, meaning in MEANINGS.items():
        item = Text.assemble((marks[outcome], STYLES[outcome]), f" {meaning}")
        if lines[-1].cell_len + item.cell_len > width():
            lines.append(Text())
        lines[-1] += item + Text("   ")
    for line in lines:
        line.rstrip()
        console().print(line)


def print_details(verdicts: Sequence[Verdict], titles: Mapping[str, str]) -> None:
    """Print every claim in the paper's words, with what decided in each variant."""
    from rich.text import Text

    from coebl.evidence.rendering import as_table

    text = Text(as_table(verdicts, titles, width()))
    for outcome, style in STYLES.items():
        text.highlight_regex(rf"(?m)^ {{8}}{outcome}\b", style)
    console().print(text, soft_wrap=True)
