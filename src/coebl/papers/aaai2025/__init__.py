"""Lehre and Lin, "Towards runtime analysis of population-based co-evolutionary algorithms on sparse binary zero-sum
games", AAAI 2025.

`study.toml` has the experiments, `paper.toml` the claims and the words of the page. The claims are those of the
abstract: the authors' program calls its ranges examples, and publishes no numbers. Their statements are about growth
with n; a check is about a budget: most runs hit, or most do not. At n = 100 there are 2^200 pairs of genomes, and 10^7
queries are 10 n^3. The figures are the grid of the authors' program, and two that it does not have, by budget and by
size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coebl.engine.match import MatchName
from coebl.evidence import Runtimes, read_runtimes
from coebl.evidence.checks import Check, Setting, Share, Side
from coebl.papers import Checks, Variant, read_paper
from coebl.papers.reproduce import Figure, Panel, Parts
from coebl.plots import plot_ecdf, plot_scaling
from coebl.plots.heat_map import draw_times
from coebl.search import Pdcoea

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from coebl.study import Results

LONG, SHORT = Setting(10_000_000, "none"), Setting(1_000_000, "none")  # the budgets of study.toml
SIZES = (25, 50, 100, 200)
POPULATIONS = (50, 60, 70, 80, 90)
RATES = (0.1, 0.2, 0.3, 0.4, 0.5)
LARGE = 500  # the population of the first claim
_LOW = (0.1, 0.3)  # the mutation rates of the first claim
MOST = 0.5  # the share that counts as most runs


def diagonal(n: int) -> str:
    """Return the spec of the paper's game."""
    return f"diagonal:n={n},space=bits,binary=true,mask=false"


def pdcoea(population: int, chi: float) -> str:
    """Return the canonical spec of PDCoEA."""
    return str(Pdcoea(population=population, chi=chi))


def run(n: int, spec: str) -> MatchName:
    """Return the match of a search on the game of n bits."""
    return MatchName(diagonal(n), spec, spec)


def _share(side: Side, setting: Setting, match: MatchName) -> Check:
    return Share((setting.end(match),), MOST, side)


_SIDES: dict[float, Side] = {0.3: "above", 0.5: "below"}  # of the error threshold, by chi
CHECKS: dict[str, Checks] = {
    "P1": lambda _: [_share("above", LONG, run(n, pdcoea(LARGE, chi))) for n in SIZES for chi in _LOW],
    "P2": lambda _: [
        _share(side, LONG, run(100, pdcoea(population, chi)))
        for population in POPULATIONS
        for chi, side in _SIDES.items()
    ],
    "P3": lambda variant: [
        _share("below", SHORT, variant.match(diagonal(100), role)) for role in ("rls-pd", "1+1-coea")
    ],
}


# Figures


def _times_of(results: Results, match: MatchName) -> Runtimes:
    """Return the hitting times of a match."""
    frame = results.last(["hitting_time"], game=match.game, players=match.players)
    [times] = read_runtimes(frame).values()
    return times


def grid(variant: Variant) -> list[list[Panel]]:
    """Return a panel of expected running times by population and mutation rate."""

    def draw(results: Results, ax: Axes, parts: Parts, measures: str) -> None:
        rows = {label: [_times_of(results, match) for match in matches] for label, matches in parts.items()}
        draw_times(ax, rows, [f"{chi:g}" for chi in RATES])
        ax.set(xlabel="mutation rate χ", ylabel="population")

    parts = {f"{size}": [run(100, pdcoea(size, chi)) for chi in RATES] for size in POPULATIONS}
    return [[Panel(parts, draw, 5.0, 0.6, 0.32)]]


def budgets(variant: Variant) -> list[list[Panel]]:
    """Return a panel of the share of runs that have hit, by budget, with a line per algorithm."""

    def draw(results: Results, ax: Axes, parts: Parts, measures: str) -> None:
        plot_ecdf({label: _times_of(results, match) for label, (match,) in parts.items()}, ax, legend=False)

    parts = {f"PDCoEA, population {LARGE}, χ = {chi:g}": [run(100, pdcoea(LARGE, chi))] for chi in _LOW}
    parts |= {f"PDCoEA, population 90, χ = {chi:g}": [run(100, pdcoea(90, chi))] for chi in (0.1, 0.3, 0.5)}
    parts |= {"RLS-PD": [variant.match(diagonal(100), "rls-pd")]}
    parts |= {"(1+1)-CoEA": [variant.match(diagonal(100), "1+1-coea")]}
    return [[Panel(parts, draw, 5.0, 2.4)]]


def sizes(variant: Variant) -> list[list[Panel]]:
    """Return a panel of expected running times by size, for a large population."""

    def draw(results: Results, ax: Axes, parts: Parts, measures: str) -> None:
        by_label = {
            label: {n: _times_of(results, match) for n, match in zip(SIZES, matches, strict=True)}
            for label, matches in parts.items()
        }
        plot_scaling(by_label, ax, legend=False)
        ax.set_xticks(SIZES, [str(n) for n in SIZES])
        ax.set_xticks([], minor=True)

    parts = {f"χ = {chi:g}": [run(n, pdcoea(LARGE, chi)) for n in SIZES] for chi in _LOW}
    return [[Panel(parts, draw, 5.0, 2.4)]]


FIGURES = [
    Figure("grid", "PDCoEA on Diagonal, n = 100: expected queries, and runs that hit", grid),
    Figure("budgets", "Diagonal, n = 100: share of runs by budget", budgets),
    Figure("sizes", f"PDCoEA, population {LARGE}, on Diagonal", sizes),
]

PAPER = read_paper(__name__, CHECKS, FIGURES)
