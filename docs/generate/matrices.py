"""The payoffs of a game as a picture, with an equilibrium beside them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.text import with_minus
from coebl.games import Game
from coebl.plots.style import COLUMN, blue_orange, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_NUMBERS = 12  # the most actions of a game whose payoffs are written into the picture
_BAR = "0.45"


def plot_matrix(game: Game) -> Figure:
    """Plot the payoffs to the row player, blue above the value and orange below, with an equilibrium as bars."""
    m, n = game.shape
    cell = min(0.5, 3.2 / max(m, n))  # inches
    with drawing(max(COLUMN, n * cell + 2), m * cell + 1.1) as figure:
        ratios = {"width_ratios": [n * cell, 0.6], "height_ratios": [m * cell, 0.6]}
        payoffs, row, column, corner = figure.subplots(2, 2, gridspec_kw=ratios).ravel()
        corner.remove()
        _draw_payoffs(payoffs, game)
        row.barh(np.arange(m) + 0.5, game.solution.row, 0.7, color=_BAR)
        column.bar(np.arange(n) + 0.5, game.solution.column, 0.7, color=_BAR)
        row.set(ylim=(m, 0), xlim=(0, None), yticks=[], xlabel="row player")
        row.xaxis.set_label_position("top")
        row.xaxis.tick_top()
        row.locator_params(axis="x", nbins=2)
        column.set(xlim=(0, n), ylim=(0, None), xticks=[], ylabel="column\nplayer")
        column.locator_params(axis="y", nbins=2)
    return figure


def _draw_payoffs(ax: Axes, game: Game) -> None:
    m, n = game.shape
    away: Floats = game.payoff - game.value
    shades = away / (np.abs(away).max() or 1.0)
    places = max(0, 2 - math.floor(math.log10(np.ptp(game.payoff) or 1.0)))
    small = max(m, n) <= _MOST_NUMBERS
    # of many entries, an image: the lines of a mesh would be most of the file
    ax.imshow(
        shades, cmap=blue_orange(), vmin=-1.25, vmax=1.25, extent=(0, n, m, 0), aspect="auto", interpolation="nearest"
    )
    for i, j in np.ndindex(m, n) if small else ():
        text = with_minus(f"{round(float(game.payoff[i, j]), places) + 0.0:g}")
        color = "white" if abs(shades[i, j]) > 0.72 else "black"
        ax.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontsize=6, color=color)
    ax.set_xticks(np.arange(n) + 0.5 if small else [], game.column_labels if small else [])
    ax.set_yticks(np.arange(m) + 0.5 if small else [], game.row_labels if small else [])
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.grid(visible=False)
