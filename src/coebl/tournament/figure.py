"""The figure of a tournament: what learners win from each other, against what can be won from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coebl.core.arrays import Floats
from coebl.learners.base import Kind
from coebl.plots.described import NOTHING, Known
from coebl.plots.looks import looks
from coebl.plots.style import GUIDE, NOTE, WIDTH, canvas
from coebl.plots.sweeps import learner_titles
from coebl.tournament.standings import Estimate, Standings, kinds_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS: dict[Kind, str] = {"bandit": "o", "informed bandit": "s", "full information": "^", "oracle": "D"}


def plot_standings(found: Standings, known: Known = NOTHING, ax: Axes | None = None) -> Axes:
    """Mean advantage to the right, worst-case regret upwards: a learner to wish for is on the right and below.

    Args:
        found: the standings.
        known: what the results say of their learners.
        ax: where to draw; by default in a figure of its own.
    """
    rows = found.standings
    specs = [one.learner for one in rows]
    look, titles = looks(sorted(specs), known=known), learner_titles(specs, known)
    x, across = _with_bars([one.advantage for one in rows])
    y, along = _with_bars([one.regret for one in rows])
    with canvas(ax, width=WIDTH, height=4.6) as ax:
        ax.axvline(0, **GUIDE)
        for place, one in enumerate(rows):
            colour = look[one.learner].style["color"]
            ax.errorbar(
                x[place],
                y[place],
                along[:, place : place + 1],
                across[:, place : place + 1],
                fmt=_MARKERS[one.kind],
                color=colour,
                markersize=4.5,
                elinewidth=0.7,
                alpha=0.9,
                markeredgecolor="white",
                markeredgewidth=0.5,
            )
        for kind in kinds_in(rows):
            ax.plot([], [], _MARKERS[kind], color="0.4", markersize=4.5, label=kind)
        ax.plot([], [], "-", color="0.4", linewidth=0.7, label="95 % interval, games and seeds resampled")
        if y.min() > 0 and y.max() > 5 * y.min():
            _plain_log(ax)
        ax.set_xlabel("mean advantage over all others, % of the payoff range per round  →  wins more")
        ax.set_ylabel("regret against best-response, % per round\nharder to exploit  ←")
        ax.set_title(f"{len(found.games)} games, {found.seeds} seeds, both seats", loc="left", color=NOTE)
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.03), ncols=4)
        _label(ax, [titles[spec] for spec in specs], x, y)
        return ax


def _with_bars(estimates: list[Estimate]) -> tuple[Floats, Floats]:
    """Values in percent, and how far the ends of their intervals are, (2, values)."""
    value, low, high = 100 * np.array(estimates).T
    return value, np.maximum(0, np.stack([value - low, high - value]))


def _plain_log(ax: Axes) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(ScalarFormatter())
    ax.yaxis.set_minor_formatter(NullFormatter())


def _label(ax: Axes, labels: list[str], x: Floats, y: Floats) -> None:
    """TODO."""
