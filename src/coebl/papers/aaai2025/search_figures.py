"""The figures of the paper: the grid of its program, and two that it does not have, by budget and by size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coebl.evidence import Runtimes, read_runtimes
from coebl.evidence.checks import MatchSpecs
from coebl.papers import Variant
from coebl.papers.aaai2025.search_claims import LARGE, LOW, POPULATIONS, RATES, SIZES, diagonal, pdcoea, run
from coebl.papers.drawing import Figure, Panel, Parts
from coebl.plots import plot_ecdf, plot_scaling
from coebl.plots.hitting import draw_times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from coebl.study import Results


def times_of(results: Results, match: MatchSpecs) -> Runtimes:
    """Return the hitting times of a match."""
    frame = results.last(["hitting_time"], game=match.game, players=(match.row, match.column))
    [times] = read_runtimes(frame).values()
    return times


def grid(variant: Variant) -> list[list[Panel]]:
    """Expected running times by population and mutation rate."""

    def draw(results: Results, ax: Axes, parts: Parts, measures: str) -> None:
        rows = {label: [times_of(results, match) for match in matches] for label, matches in parts.items()}
        draw_times(ax, rows, [f"{chi:g}" for chi in RATES])
        ax.set(xlabel="mutation rate χ", ylabel="population")

    parts = {f"{size}": [run(100, pdcoea(size, chi)) for chi in RATES] for size in POPULATIONS}
    return [[Panel(parts, draw, 5.0, 0.6, 0.32)]]


def budgets(variant: Variant) -> list[list[Panel]]:
    """The share of runs that have hit, by budget: a line per algorithm."""

    def draw(results: Results, ax: Axes, parts: Parts, measures: str) -> None:
        plot_ecdf({label: times_of(results, match) for label, (match,) in parts.items()}, ax, legend=False)

    parts = {f"PDCoEA, population {LARGE}, χ = {chi:g}": [run(100, pdcoea(LARGE, chi))] for chi in LOW}
    parts |= {f"PDCoEA, population 90, χ = {chi:g}": [run(100, pdcoea(90, chi))] for chi in (0.1, 0.3, 0.5)}
    parts |= {"RLS-PD": [variant.match(diagonal(100), "rls-pd")]}
    parts |= {"(1+1)-CoEA": [variant.match(diagonal(100), "1+1-coea")]}
    return [[Panel(parts, draw, 5.0, 2.4)]]


def sizes(variant: Variant) -> list[list[Panel]]:
    """Expected running times by size, for a large population."""

    def draw(results: Results, ax: Axes, parts: Parts, measures: str) -> None:
        by_label = {
            label: {n: times_of(results, match) for n, match in zip(SIZES, matches, strict=True)}
            for label, matches in parts.items()
        }
        plot_scaling(by_label, ax, legend=False)
        ax.set_xticks(SIZES, [str(n) for n in SIZES])
        ax.set_xticks([], minor=True)

    parts = {f"χ = {chi:g}": [run(n, pdcoea(LARGE, chi)) for n in SIZES] for chi in LOW}
    return [[Panel(parts, draw, 5.0, 2.4)]]


def _heading(title: str, shown: Sequence[MatchSpecs], variant: Variant) -> str:
    return title


FIGURES = [
    Figure("grid", "PDCoEA on Diagonal, n = 100: expected queries, and runs that hit", grid, _heading, {"paper": ""}),
    Figure("budgets", "Diagonal, n = 100: share of runs by budget", budgets, _heading, {"paper": ""}),
    Figure("sizes", f"PDCoEA, population {LARGE}, on Diagonal", sizes, _heading, {"paper": ""}),
]
"""The figures of the paper."""
