"""Frontiers: what converging costs a learner, by one of its settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from coebl.core.arrays import Floats
from coebl.plots.described import known_to
from coebl.plots.labels import metric_words
from coebl.plots.looks import learner_style
from coebl.plots.style import canvas, check_some, seeds_text
from coebl.runs import Runs, Source
from coebl.statistics import Band

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LAST = 100  # rounds, over which the end of a run is averaged


def plot_frontier(
    source: Source,
    points: Mapping[str, tuple[tuple[str, str, str], tuple[str, str, str]]],
    convergence: str,
    regret: str,
    opponent: str,
    ax: Axes | None = None,
) -> Axes:
    """What converging costs: one point per learner, joined in their order, with 95 % intervals both ways.

    To the right is how far its self-play is from equilibrium, upwards what a strong opponent takes from it, on a
    logarithmic scale: better is left and below. The colour is that of the first learner.

    Args:
        source: where the runs are.
        points: label to the (game, row, column) of its self-play and of its match against the opponent.
        convergence: a metric of the self-play, averaged over the last rounds.
        regret: a metric of the other match, after the last round.
        opponent: what to call the opponent.
        ax: where to draw; by default in a figure of its own.
    """
    check_some("points", points)
    selves = [Band.of(_end(source.runs(*match, convergence))) for match, _ in points.values()]
    others = [Band.of(source.runs(*match, regret).values[-1:]) for _, match in points.values()]
    x, y = (np.concatenate([band.mean for band in bands]) for bands in (selves, others))
    across, along = (np.nan_to_num(np.concatenate([band.half for band in bands])) for bands in (selves, others))
    (_, learner, _), _ = next(iter(points.values()))
    known = known_to(source)
    color = learner_style(learner, known)["color"]
    with canvas(ax) as ax:
        ax.plot(x, y, color=color, linewidth=0.8, alpha=0.5)
        ax.errorbar(
            x,
            y,
            along,
            across,
            fmt="o",
            color=color,
            markersize=3,
            elinewidth=0.8,
            label=f"mean with 95 % intervals, {seeds_text(band.seeds for band in selves)}",
        )
        ax.set_yscale("log")
        _label_some(ax)
        _label_points(ax, list(points), x, y)
        ax.set_xlabel(f"self-play {metric_words(convergence, known).in_a_sentence}\nin the last {LAST} rounds")
        ax.set_ylabel(f"{metric_words(regret, known).in_a_sentence}\nagainst {opponent}")
        return ax


def _end(runs: Runs) -> Floats:
    """The mean of each run over the last rounds: (1, runs)."""
    mean: Floats = runs.ending(LAST).values.mean(axis=0, keepdims=True)
    return mean


def _label_some(ax: Axes) -> None:
    """Plain numbers on a logarithmic axis, at 1, 2 and 5: a range of less than a decade has few powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(ScalarFormatter())
    ax.yaxis.set_minor_formatter(NullFormatter())


def _label_points(ax: Axes, labels: Sequence[str], x: Floats, y: Floats) -> None:
    """Write a label beside each point, on the side where it covers the fewest points, labels and the left axis."""
    from matplotlib.patheffects import withStroke

    ax.margins(0.28, 0.12)
    ax.get_xlim(), ax.get_ylim()  # brings the scales up to date, on which the transformation depends
    scale = 72 / ax.figure.dpi  # from dots to points of print
    taken = list(ax.transData.transform(np.column_stack([x, y])) * scale)
    edge = ax.transAxes.transform((0, 0))[0] * scale  # of the axes, on the left
    for label, right, up, place in zip(labels, x, y, taken.copy(), strict=True):
        reach = 2.2 * len(label)  # half of its width: a digit of 7 points is some 4.4 wide
        offsets = [np.array((side * (reach + 3.5), rise)) for rise in (4.5, -4.5, 0, 9, -9) for side in (1, -1)]
        crowds = [
            _covered(place + offset, reach, taken) + 2 * (place[0] + offset[0] - reach < edge) for offset in offsets
        ]
        offset = offsets[crowds.index(min(crowds))]  # the first, which is the nearest
        taken += [place + offset + (shift, 0) for shift in np.linspace(-reach, reach, 3)]
        ax.annotate(
            label,
            (right, up),
            xytext=(offset[0], offset[1]),
            textcoords="offset points",
            ha="center",
            va="center_baseline",
            fontsize=7,
            path_effects=[withStroke(linewidth=1.5, foreground="white")],
        )


def _covered(middle: Floats, reach: float, taken: Sequence[Floats]) -> int:
    """How many of the taken places a label would cover."""
    across, up = np.abs(middle - np.array(taken)).T
    return int(np.sum((across < reach + 2.5) & (up < 7)))
