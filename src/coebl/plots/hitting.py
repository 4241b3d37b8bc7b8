"""Plots of hitting times: the share of runs by budget, and the growth of the time with the size of a game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from coebl.core.errors import InputError
from coebl.evidence.runtimes import Runtimes, slope
from coebl.plots.style import canvas, check_some

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_ecdf(runs: Mapping[str, Runtimes], ax: Axes | None = None) -> Axes:
    """Plot the share of runs that have hit, by budget, on a logarithmic axis.

    Args:
        runs: label to times.
        ax: the axes; by default those of a new figure.

    >>> from coebl.evidence.runtimes import Runtimes
    >>> ax = plot_ecdf({"mine": Runtimes((120, 80, None, 100), budget=1000)})
    """
    check_some("runs", runs)
    with canvas(ax) as ax:
        for label, times in runs.items():
            hits, shares = times.ecdf()
            ax.step([*hits, times.budget], [*shares, times.hits / len(times.times)], where="post", label=label)
        ax.set(xscale="log", ylim=(0, 1.03), xlabel="rounds, or queries", ylabel="share of runs that have hit")
        ax.legend(loc="best")
        return ax


def plot_scaling(runs: Mapping[str, Mapping[int, Runtimes]], ax: Axes | None = None, size: str = "n") -> Axes:
    """Plot expected running times by size, both on logarithmic axes, with 95 % bootstrap intervals and slopes.

    A size at which no run hit is left out; the others of that line keep their fit.

    Args:
        runs: label to times by size.
        ax: the axes; by default those of a new figure.
        size: the label of the horizontal axis.

    >>> from coebl.evidence.runtimes import Runtimes
    >>> ax = plot_scaling({"mine": {10: Runtimes((98, 102), 999), 20: Runtimes((398, 402), 999)}})
    """
    check_some("runs", runs)
    with canvas(ax) as ax:
        for label, by_size in runs.items():
            hit = {number: times for number, times in sorted(by_size.items()) if times.hits}
            if not hit:
                raise InputError(f"no run of {label} has hit; accepted: lines with a hit at one size at least.")
            ert = [times.ert() for times in hit.values()]
            ends = np.array([[each.mean - each.low, each.high - each.mean] for each in ert]).T
            words = f"{label}: slope {_words(hit)}" if len(hit) > 1 else label
            ax.errorbar(
                list(hit), [each.mean for each in ert], ends, marker="o", markersize=3, elinewidth=0.8, label=words
            )
        ax.set(xscale="log", yscale="log", xlabel=size, ylabel="expected running time")
        ax.legend(loc="best")
        return ax


def _words(by_size: Mapping[int, Runtimes]) -> str:
    fit = slope(by_size)
    return f"{fit.mean:.2f} ({fit.low:.2f} to {fit.high:.2f})"
