"""The figure of a tournament: what learners win from each other, against what can be won from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coebl.core.arrays import Floats
from coebl.learners.base import Kind
from coebl.naming.described import NOTHING, Known
from coebl.naming.looks import Style, looks
from coebl.naming.sweeps import learner_titles
from coebl.plots.points import label_points, plain_log_scale
from coebl.plots.style import GUIDE, NOTE, WIDTH, canvas, lay_out
from coebl.tournament.standings import Estimate, Standings, kinds_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS: dict[Kind, str] = {"bandit": "o", "informed bandit": "s", "full information": "^", "oracle": "D"}
_RISES = (5, -5, 0, 12, -12, 19, -19, 26, -26)  # of labels, in points of print: there is a crowd in the middle
_POINT: Style = {"markersize": 5, "markeredgecolor": "white", "markeredgewidth": 0.5, "zorder": 3}


def plot_standings(found: Standings, known: Known = NOTHING, ax: Axes | None = None) -> Axes:
    """Mean advantage to the right, worst-case regret upwards: a learner to wish for is on the right and below.

    Args:
        found: the standings.
        known: what the results say of their learners.
        ax: where to draw; by default in a figure of its own.
    """
    rows = found.standings
    specs = [one.learner for one in rows]
    look = looks(sorted(specs), known=known)
    titles = learner_titles(specs, known)
    x, across = _with_bars([one.advantage for one in rows])
    y, along = _with_bars([one.regret for one in rows])
    colours = [str(look[spec].style["color"]) for spec in specs]
    with canvas(ax, width=WIDTH, height=5.0) as ax:
        ax.axvline(0, **GUIDE)
        for place, one in enumerate(rows):
            ends = along[:, place : place + 1], across[:, place : place + 1]
            ax.errorbar(x[place], y[place], *ends, fmt="none", ecolor=colours[place], elinewidth=0.8, alpha=0.35)
            ax.plot(x[place], y[place], _MARKERS[one.kind], color=colours[place], **_POINT)
        for kind in kinds_in(rows):
            ax.plot([], [], _MARKERS[kind], color="0.4", label=kind, **_POINT)
        ax.plot([], [], "-", color="0.6", linewidth=0.8, label="95 % interval, games and seeds resampled")
        if y.min() > 0 and y.max() > 5 * y.min():
            plain_log_scale(ax)
        ax.set_xlabel("mean advantage over all others, % of the payoff range per round  →  wins more")
        ax.set_ylabel("regret against best-response, % per round\nharder to exploit  ←")
        ax.set_title(f"{len(found.games)} games, {found.seeds} seeds, both seats", loc="left", color=NOTE)
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.03), ncols=4)
        ax.margins(0.08)
        lay_out(ax.figure)  # type: ignore[arg-type]
        label_points(ax, [titles[spec] for spec in specs], x, y, rises=_RISES)
        return ax


def _with_bars(estimates: list[Estimate]) -> tuple[Floats, Floats]:
    """Values in percent, and how far the ends of their intervals are, (2, values)."""
    value, low, high = 100 * np.array(estimates).T
    return value, np.maximum(0, np.stack([value - low, high - value]))
