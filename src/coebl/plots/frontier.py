"""Frontiers: convergence of a learner against its regret, by one of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from coebl.core.arrays import Floats
from coebl.evidence.statistics import Band
from coebl.naming import Known, known_to, learner_style, metric_words
from coebl.plots.curves import Curve, Data, read_curve
from coebl.plots.style import canvas, check_some, label_points, plain_log_scale, seeds_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LAST = 100  # rounds, over which convergence is averaged


def plot_frontier(
    data: Data,
    points: Mapping[str, tuple[tuple[str, str, str], tuple[str, str, str]]],
    convergence: str,
    regret: str,
    opponent: str,
    ax: Axes | None = None,
    known: Known | None = None,
) -> Axes:
    """Plot the cost of convergence: one point per learner, joined in their order, with 95 % intervals both ways.

    The horizontal axis is the distance of its self-play from equilibrium, the vertical one its regret against a strong
    opponent, on a logarithmic scale: better is left and below. The colour is that of the first learner.

    Args:
        data: the results of a study, or a frame in the columns of `Results.curves`.
        points: label to the (game, row, column) of its self-play and of its match against the opponent.
        convergence: a metric of the self-play, averaged over the last rounds.
        regret: a metric of the other match, after the last round.
        opponent: the title of the opponent.
        ax: the axes; by default those of a new figure.
        known: titles and colours of learners and metrics that are not built in; by default those of the results.

    >>> from coebl.study import Results
    >>> points = {"UCB": (("rps", "ucb", "ucb"), ("rps", "ucb", "exp3"))}
    >>> ax = plot_frontier(Results("results"), points, "exploitability", "pseudo_regret", "Exp3")
    """
    check_some("points", points)
    known = known_to(data) if known is None else known
    selves = [Band.of(_end(read_curve(data, convergence, match))) for match, _ in points.values()]
    others = [Band.of(read_curve(data, regret, match).values[-1:]) for _, match in points.values()]
    x, y = (np.concatenate([band.mean for band in bands]) for bands in (selves, others))
    across, along = (np.nan_to_num(np.concatenate([band.half for band in bands])) for bands in (selves, others))
    (_, learner, _), _ = next(iter(points.values()))
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


def _end(curve: Curve) -> Floats:
    """Return the mean of each run over the last rounds: (1, runs)."""
    mean: Floats = curve.values[curve.rounds > curve.rounds[-1] - LAST].mean(axis=0, keepdims=True)
    return mean
