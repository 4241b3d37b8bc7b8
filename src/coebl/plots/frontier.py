"""Frontiers: what converging costs a learner, by one of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from coebl.core.arrays import Floats
from coebl.evidence.statistics import Band
from coebl.naming.described import known_to
from coebl.naming.looks import learner_style
from coebl.naming.titles import metric_words
from coebl.plots.points import label_points, plain_log_scale
from coebl.plots.style import canvas, check_some, seeds_text
from coebl.runs import Runs, Source

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

    >>> from coebl.study import Results
    >>> points = {"UCB": (("rps", "ucb", "ucb"), ("rps", "ucb", "exp3"))}
    >>> ax = plot_frontier(Results("results"), points, "exploitability", "pseudo_regret", "Exp3")
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
        plain_log_scale(ax)
        ax.margins(0.28, 0.12)
        label_points(ax, list(points), x, y)
        ax.set_xlabel(f"self-play {metric_words(convergence, known).in_a_sentence}\nin the last {LAST} rounds")
        ax.set_ylabel(f"{metric_words(regret, known).in_a_sentence}\nagainst {opponent}")
        return ax


def _end(runs: Runs) -> Floats:
    """The mean of each run over the last rounds: (1, runs)."""
    mean: Floats = runs.ending(LAST).values.mean(axis=0, keepdims=True)
    return mean
