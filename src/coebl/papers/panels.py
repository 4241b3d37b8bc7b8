"""The panels of a paper's figures: curves, heat maps, frontiers.

What a panel draws and what data it needs both follow from its matches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from coebl.naming.looks import Style
from coebl.plots import plot_curves, plot_frontier, plot_heat_map
from coebl.plots.style import WIDTH
from coebl.runs import MatchSpecs, Source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Measure = Mapping[str, str]  # which metric a panel shows, by the name of a choice of measures
Finish = Callable[["Axes"], object]  # what is drawn on the axes of a panel besides its data


class Panel(Protocol):
    """A part of a figure."""

    @property
    def needs(self) -> list[MatchSpecs]:
        """The matches that it shows."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""

    def within(self, present: Collection[tuple[str, str, str]]) -> Panel | None:
        """As much of the panel as these matches allow."""

    def draw(self, source: Source, ax: Axes, measures: str) -> None:
        """Draw the panel on these axes, with the metrics of this choice of measures."""


@dataclass(frozen=True)
class Curves:
    """Lines over the rounds. A panel that lacks one of its lines is left out."""

    title: str
    measure: Measure
    lines: Mapping[str, MatchSpecs]  # by label
    styles: Mapping[str, Style]  # likewise
    finish: Finish = lambda ax: None

    size = WIDTH / 3, 1.55

    @property
    def needs(self) -> list[MatchSpecs]:
        return list(self.lines.values())

    def within(self, present: Collection[tuple[str, str, str]]) -> Panel | None:
        return self if set(self.needs) <= set(present) else None

    def draw(self, source: Source, ax: Axes, measures: str) -> None:
        plot_curves(source, self.measure[measures], self.lines, ax, self.styles, legend=False)
        ax.set_title(self.title)
        ax.locator_params(axis="x", nbins=3)
        ax.locator_params(axis="y", nbins=5)
        self.finish(ax)


@dataclass(frozen=True)
class HeatMap:
    """A metric by two labels, of the row and of the column. A row that lacks one of its matches is left out."""

    metric: str
    rows: Mapping[str, Mapping[str, MatchSpecs]]
    alike: Collection[MatchSpecs] = ()  # matches of other figures that are shaded by the same scale

    @property
    def needs(self) -> list[MatchSpecs]:
        return [match for row in self.rows.values() for match in row.values()]

    @property
    def size(self) -> tuple[float, float]:
        return 4.2, 0.5 + 0.26 * len(self.rows)

    def within(self, present: Collection[tuple[str, str, str]]) -> Panel | None:
        rows = {label: row for label, row in self.rows.items() if set(row.values()) <= set(present)}
        return replace(self, rows=rows) if rows else None

    def draw(self, source: Source, ax: Axes, measures: str) -> None:
        cells = {(label, column): match for label, row in self.rows.items() for column, match in row.items()}
        present = set(source.matches())
        plot_heat_map(source, self.metric, cells, ax, alike=[match for match in self.alike if tuple(match) in present])


@dataclass(frozen=True)
class Frontier:
    """A learner by one of its settings on one game. A setting that lacks one of its two matches is left out."""

    title: str
    convergence: str  # a metric of self-play
    regret: str  # a metric of the match against the opponent
    opponent: str  # what it is called
    points: Mapping[str, tuple[MatchSpecs, MatchSpecs]]  # by label: self-play, and against the opponent

    size = WIDTH / 4, 2.25

    @property
    def needs(self) -> list[MatchSpecs]:
        return [match for pair in self.points.values() for match in pair]

    def within(self, present: Collection[tuple[str, str, str]]) -> Panel | None:
        points = {label: pair for label, pair in self.points.items() if set(pair) <= set(present)}
        return replace(self, points=points) if points else None

    def draw(self, source: Source, ax: Axes, measures: str) -> None:
        plot_frontier(source, self.points, self.convergence, self.regret, self.opponent, ax)
        ax.set_title(self.title)
        ax.locator_params(axis="x", nbins=4)
