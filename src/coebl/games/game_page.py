"""What a notebook shows of a game: its payoffs as a heat map, with an equilibrium beside them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from coebl.core.errors import printable
from coebl.core.text import one_line, with_minus

if TYPE_CHECKING:
    from coebl.games.game import Game

_MOST = 12  # rows and columns that are shown
_MOST_SOLVED = 4096  # payoffs of a game that is solved to be shown
_ABOVE, _BELOW, _BAR = "0,114,178", "230,126,34", "128,128,128"  # red, green, blue
_CELL = "text-align:center;padding:0.2em 0.6em;"


def render_game(game: Game) -> str:
    """Return HTML: payoffs above the value blue and below it orange, bars for the equilibrium, and the value."""
    (m, n), solved = game.shape, game.payoff.size <= _MOST_SOLVED
    rows, columns = min(m, _MOST), min(n, _MOST)
    middle = game.value if solved else float(game.payoff.mean())
    largest = float(np.abs(game.payoff - middle).max()) or 1.0
    head = ["", *map(_name, game.column_labels[:columns])] + ["row plays"] * solved
    lines = [_line("th", [(text, "") for text in head])]
    for i in range(rows):
        cells = [(f"<b>{_name(game.row_labels[i])}</b>", "")]
        cells += [_payoff(float(entry), (float(entry) - middle) / largest) for entry in game.payoff[i, :columns]]
        cells += [_share(game.solution.row[i], "right")] if solved else []
        lines.append(_line("td", cells))
    if solved:
        shares = [_share(share, "top") for share in game.solution.column[:columns]]
        lines.append(_line("td", [("<b>column plays</b>", ""), *shares, ("", "")]))
    exact_zero = solved and abs(game.value) <= 1e-12 * largest
    value = "0" if exact_zero else f"{middle:.4g}"
    article = "the" if solved and game.unique_equilibrium.answer == "yes" else "an"
    notes = [f"{m} x {n}, payoffs to the row player, noise {escape(printable(str(game.noise)))}"]
    notes += [f"value {with_minus(value)}; the bars are {article} equilibrium"] * solved
    notes += [f"the first {rows} of {m} and {columns} of {n} actions are shown"] * ((rows, columns) != (m, n))
    title = _name(game.spec or game.name, 120)
    return f"<div><p><b>{title}</b>: {'; '.join(notes)}</p><table>{''.join(lines)}</table></div>"


def _name(text: str, width: int = 30) -> str:
    return escape(printable(one_line(text, width)))


def _payoff(entry: float, shade: float) -> tuple[str, str]:
    colour = _ABOVE if shade > 0 else _BELOW
    return with_minus(f"{entry + 0.0:.4g}"), f"background:rgba({colour},{0.65 * abs(shade):.2f});"


def _share(share: float, direction: str) -> tuple[str, str]:
    """Return a probability, and the bar behind it."""
    end = f"{100 * share:.0f}%"
    bar = f"linear-gradient(to {direction},rgba({_BAR},0.45) {end},transparent {end})"
    return f"{share:.3f}", f"background:{bar};"


def _line(kind: str, cells: Sequence[tuple[str, str]]) -> str:
    inner = "".join(f'<{kind} style="{_CELL}{style}">{text}</{kind}>' for text, style in cells)
    return f"<tr>{inner}</tr>"
