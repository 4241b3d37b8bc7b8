"""What a notebook shows of a comparison: its sentence, and a bar per game for the interval of the difference."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from coebl.core.errors import printable
from coebl.core.text import in_interval, one_line, with_minus

if TYPE_CHECKING:
    from coebl.evidence.compare import Comparison, Contest

_WIDE, _HIGH = 240, 16  # of a bar, in pixels
_DECIDED, _UNDECIDED = "rgb(0,114,178)", "rgb(128,128,128)"


def render_comparison(comparison: Comparison) -> str:
    """Return HTML: the sentence, then a row per way and game with the difference, its interval and who does better."""
    rows = []
    for contest in comparison.contests:
        same_unit = [other for other in comparison.contests if other.unit == contest.unit]
        reach = max((_reach(other) for other in same_unit), default=0.0) or 1.0
        mean, low, high = in_interval(contest.difference.mean, contest.difference.low, contest.difference.high)
        numbers = mean if math.isnan(contest.difference.low) else f"{mean} [{low}, {high}]"
        unit = f" {contest.unit}s" if contest.unit else ""
        cells = [
            contest.way,
            contest.game,
            _bar(contest, reach),
            with_minus(numbers) + unit,
            _winner(comparison, contest),
        ]
        rows.append("".join(f"<td>{cell if cell.startswith('<svg') else _name(cell)}</td>" for cell in cells))
    head = ("", "game", f"{comparison.a} minus {comparison.b}", comparison.title, "does better")
    titles = "".join(f"<th>{_name(title)}</th>" for title in head)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<div><p>{_name(str(comparison), 2000)}</p><table><tr>{titles}</tr>{body}</table></div>"


def _name(text: str, width: int = 100) -> str:
    return escape(printable(one_line(text, width)))


def _winner(comparison: Comparison, contest: Contest) -> str:
    """Return the learner that does better after correction."""
    if not contest.difference.sign:
        return "undecided"
    lower = contest.difference.sign < 0
    return comparison.a if lower == (comparison.better == "lower") else comparison.b


def _reach(contest: Contest) -> float:
    ends = (contest.difference.low, contest.difference.mean, contest.difference.high)
    return max((abs(end) for end in ends if math.isfinite(end)), default=0.0)


def _bar(contest: Contest, reach: float) -> str:
    """Return the interval as a line with its mean, on a scale from -reach to reach with a line at 0."""
    colour, middle = (_DECIDED if contest.difference.sign else _UNDECIDED), _HIGH // 2

    def across(number: float) -> float:
        return round(_WIDE / 2 * (1 + 0.96 * (number / reach if math.isfinite(number) else 0.0)), 1)

    low, high, mean = (across(getattr(contest.difference, end)) for end in ("low", "high", "mean"))
    line = (
        f'<path d="M{low} {middle}H{high}" stroke="{colour}" stroke-width="3"/>'
        if math.isfinite(contest.difference.low)
        else ""
    )
    return (
        f'<svg width="{_WIDE}" height="{_HIGH}" role="img" aria-label="interval">'
        f'<path d="M{_WIDE / 2} 0V{_HIGH}" stroke="currentColor" stroke-opacity="0.5"/>{line}'
        f'<circle cx="{mean}" cy="{middle}" r="4" fill="{colour}"/></svg>'
    )
