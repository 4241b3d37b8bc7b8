"""Curves of hitting times: the share of runs by budget, and the expected time by the size of a game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from coebl.core.errors import InputError
from coebl.evidence.runtimes import Runtimes, slope
from coebl.naming import Style
from coebl.plots.style import canvas, check_some, plain_log_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DECADES = 30  # if the ends of an axis have at least this ratio, it has enough ticks at powers of ten


def plot_ecdf(
    runs: Mapping[str, Runtimes],
    ax: Axes | None = None,
    legend: bool = True,
    styles: Mapping[str, Style] | None = None,
) -> Axes:
    """Plot the share of runs that have hit, by budget, on a logarithmic axis.

    Args:
        runs: label to times.
        ax: the axes; by default those of a new figure.
        legend: False if the labels are listed elsewhere.
        styles: label to options of matplotlib's `step`; by default one colour after the other.

    >>> from coebl.evidence.runtimes import Runtimes
    >>> ax = plot_ecdf({"mine": Runtimes((120, 80, None, 100), budget=1000)})
    """
    check_some("runs", runs)
    times_of_hits = [times.ecdf()[0] for times in runs.values()]
    first = min([0.7 * hits[0] for hits in times_of_hits if len(hits)], default=1.0)
    with canvas(ax) as ax:
        for label, times in runs.items():
            hits, shares = times.ecdf()
            rounds, reached = [first, *hits, times.budget], [0.0, *shares, times.hits / len(times.times)]
            style: dict[str, Any] = {} if styles is None else {**styles[label], "markevery": slice(1, -1)}  # each hit
            ax.step(rounds, reached, where="post", label=label, **style)
        ax.set(xscale="log", ylim=(-0.03, 1.03), xlabel="rounds, or queries", ylabel="share of runs that have hit")
        if max(times.budget for times in runs.values()) < _DECADES * first:
            plain_log_scale(ax, "x")
        else:
            ax.minorticks_off()
        if legend:
            ax.legend(loc="best")
        return ax


def plot_scaling(runs: Mapping[str, Mapping[int, Runtimes]], ax: Axes | None = None, legend: bool = True) -> Axes:
    """Plot expected running times by size, both on logarithmic axes, with 95 % bootstrap intervals and slopes.

    A size at which no run hit is left out; the line is fitted to the others.

    Args:
        runs: label to times by size.
        ax: the axes; by default those of a new figure.
        legend: False if the labels are listed elsewhere.

    >>> from coebl.evidence.runtimes import Runtimes
    >>> ax = plot_scaling({"mine": {10: Runtimes((98, 102), 999), 20: Runtimes((398, 402), 999)}})
    """
    check_some("runs", runs)
    with canvas(ax) as ax:
        for label, by_size in runs.items():
            hit = {number: times for number, times in sorted(by_size.items()) if times.hits}
            if not hit:
                raise InputError(f"no run of {label} has hit; accepted: lines with a hit at one or more sizes.")
            ert = [times.ert() for times in hit.values()]
            ends = np.array([[estimate.mean - estimate.low, estimate.high - estimate.mean] for estimate in ert]).T
            if len(hit) > 1:
                fit = slope(hit)
                label = f"{label}: slope {fit.mean:.2f} ({fit.low:.2f} to {fit.high:.2f})"
            means = [estimate.mean for estimate in ert]
            ax.errorbar(list(hit), means, ends, marker="o", markersize=3, elinewidth=0.8, label=label)
        ax.set(xscale="log", yscale="log", xlabel="n", ylabel="expected running time")
        if legend:
            ax.legend(loc="best")
        return ax
