"""The panels of the paper's figures: curves, the heat map, the frontier.

What a panel draws and what data it needs both follow from its matches.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from coebl.claims.reading import Pairing
from coebl.papers.ijcai2025.experiments import BEST_RESPONSE, REFERENCE, SETTING, Role, actions_of
from coebl.plots import (
    game_title,
    learner_style,
    learner_title,
    plot_curves,
    plot_frontier,
    plot_heat_map,
    plot_reference,
)
from coebl.plots.style import GUIDE, WIDTH
from coebl.runs import MatchSpecs, Source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Measures = Literal["paper", "text", "noise-free"]
"""What the panels show. "paper": what the published figures do, which come from the paper's program; "text": what the
text defines; "noise-free": the same without the noise of the rewards, and exploitability for KL and TV."""

Measure = Mapping[Measures, str]  # to the metric
SELF_PLAY: Measure = {"paper": "regret_magnitude", "text": "absolute_regret", "noise-free": "absolute_pseudo_regret"}
HEAD_TO_HEAD: Measure = {"paper": "regret", "text": "regret", "noise-free": "pseudo_regret"}
DIVERGENCE: Measure = {"paper": "kl", "text": "kl", "noise-free": "exploitability"}
DISTANCE: Measure = {"paper": "tv", "text": "tv", "noise-free": "exploitability"}

CONVERGENCE = "exploitability"  # of the frontier

Matches = Collection[MatchSpecs]


class Panel(Protocol):
    """A part of a figure."""

    @property
    def needs(self) -> list[Pairing]:
        """The matches that it shows."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""

    def within(self, present: Matches) -> Panel | None:
        """As much of the panel as these matches allow."""

    def draw(self, source: Source, ax: Axes, measures: Measures) -> None:
        """Draw the panel on these axes."""


@dataclass(frozen=True)
class Curves:
    """Lines over the rounds. A panel that lacks one of its lines is left out."""

    title: str
    measure: Measure
    lines: dict[Role, Pairing]
    zoomed: bool = False

    size = WIDTH / 3, 1.55

    @property
    def needs(self) -> list[Pairing]:
        return list(self.lines.values())

    def within(self, present: Matches) -> Panel | None:
        return self if set(self.needs) <= set(present) else None

    def draw(self, source: Source, ax: Axes, measures: Measures) -> None:
        lines = {line_title(role, pairing): pairing for role, pairing in self.lines.items()}
        styles = dict(zip(lines, (learner_style(role) for role in self.lines), strict=True))
        plot_curves(source, self.measure[measures], lines, ax, styles, legend=False)
        ax.set_title(self.title)
        ax.locator_params(axis="x", nbins=3)
        ax.locator_params(axis="y", nbins=5)
        if self.measure is SELF_PLAY:
            self._draw_reference(ax)
        if self.measure is HEAD_TO_HEAD:
            ax.axhline(0, **GUIDE)
        if self.zoomed:
            ax.set_yscale("log")
        elif self.measure is DISTANCE:
            ax.set_ylim(-0.08, 2.08)  # all that is possible in these games, so that panels compare at a glance

    def _draw_reference(self, ax: Axes) -> None:
        game = self.needs[0].game
        count = "K = 3" if game == "rps" else "$K = 2^n$"  # one entry of the legend for all panels
        rounds = range(0, SETTING.rounds + 1, SETTING.rounds // 100)
        plot_reference(ax, REFERENCE, actions_of(game), rounds, rf"$0.1\sqrt{{K^2 t}}$, {count}")


@dataclass(frozen=True)
class HeatMap:
    """Games by baselines. A game that lacks one of them is left out."""

    rows: dict[str, dict[Role, Pairing]]  # by game

    @property
    def needs(self) -> list[Pairing]:
        return [pairing for row in self.rows.values() for pairing in row.values()]

    @property
    def size(self) -> tuple[float, float]:
        return 4.2, 0.5 + 0.26 * len(self.rows)

    def within(self, present: Matches) -> Panel | None:
        rows = {game: row for game, row in self.rows.items() if set(row.values()) <= set(present)}
        return replace(self, rows=rows) if rows else None

    def draw(self, source: Source, ax: Axes, measures: Measures) -> None:
        cells = {
            (game_title(game), learner_title(role)): pairing
            for game, row in self.rows.items()
            for role, pairing in row.items()
        }
        plot_heat_map(source, HEAD_TO_HEAD["noise-free"], cells, ax)


@dataclass(frozen=True)
class Frontier:
    """COEBL by c on one game. A c that lacks one of its two matches is left out."""

    points: dict[float, tuple[Pairing, Pairing]]  # by c: self-play, and against a best response

    size = WIDTH / 4, 2.25

    @property
    def needs(self) -> list[Pairing]:
        return [pairing for pair in self.points.values() for pairing in pair]

    def within(self, present: Matches) -> Panel | None:
        points = {rate: pair for rate, pair in self.points.items() if set(pair) <= set(present)}
        return replace(self, points=points) if points else None

    def draw(self, source: Source, ax: Axes, measures: Measures) -> None:
        points = {f"{rate:g}": pair for rate, pair in self.points.items()}
        plot_frontier(source, points, CONVERGENCE, HEAD_TO_HEAD["noise-free"], f"a {learner_title(BEST_RESPONSE)}", ax)
        ax.set_title(game_title(self.needs[0].game))
        ax.locator_params(axis="x", nbins=4)


def line_title(role: Role, pairing: Pairing) -> str:
    """A line by what the row player is, and against whom."""
    row = learner_title(role)
    return row if pairing.row == pairing.column else f"{row} v {learner_title('coebl')}"
