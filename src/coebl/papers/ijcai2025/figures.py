"""The figures of the paper, and two that it does not have.

A figure is one function that lists its panels in a variant. What it draws and what data it needs both follow from that
list: `FIGURES["rps-self-play"].needs(variant)` is what to run for it, and `FIGURES["rps-self-play"](results)` is the
matplotlib figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from coebl.claims.reading import Pairing
from coebl.core.errors import InputError
from coebl.learners import parse_learner
from coebl.learners.coebl import Coebl
from coebl.papers import no_data
from coebl.papers.ijcai2025.experiments import (
    BASELINES,
    BEST_RESPONSE,
    FAMILIES,
    MAIN_SIZES,
    RATES,
    ROLES,
    SIZES,
    VARIANTS,
    Role,
    Variant,
    coebl,
    family_of_games,
    games,
    size_of,
)
from coebl.papers.ijcai2025.panels import (
    DISTANCE,
    DIVERGENCE,
    HEAD_TO_HEAD,
    SELF_PLAY,
    Curves,
    Frontier,
    HeatMap,
    Matches,
    Measure,
    Measures,
    Panel,
    line_title,
)
from coebl.plots import game_title
from coebl.plots.style import COLUMN, WIDTH, lay_out, look, new_figure
from coebl.runs import Source

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEXT = VARIANTS["text"]

Groups = list[list[Panel]]  # each begins a new row
Lines = dict[Role, Pairing]

_TWINS: tuple[tuple[Measures, str], ...] = (("paper", ""), ("noise-free", "-noise-free"))
_AHEAD = "head-to-head; above 0, COEBL is ahead"


@dataclass(frozen=True)
class PaperFigure:
    """A figure. Call it to draw it."""

    name: str
    title: str
    panels: Callable[[Variant], Groups]
    measured: bool = True  # whether there are measures to choose from
    varied: bool = True  # whether it depends on the variant

    def needs(self, variant: Variant = TEXT) -> list[Pairing]:
        """The matches that it shows when there is data for all of them."""
        groups = self.panels(variant)
        return list(dict.fromkeys(pairing for group in groups for panel in group for pairing in panel.needs))

    def has_data(self, source: Source, variant: Variant = TEXT) -> bool:
        """Whether there is data for any of its panels."""
        return bool(self._rows(source, variant))

    def __call__(self, source: Source, variant: Variant = TEXT, measures: Measures = "paper") -> Figure:
        """Draw those of its panels for which there is data."""
        if measures not in SELF_PLAY:
            raise InputError(f"measures is {measures!r}; accepted: {', '.join(SELF_PLAY)}.")
        rows = self._rows(source, variant)
        if not rows:
            raise no_data(self, variant)
        with look():
            figure = _on_a_grid(rows, source, measures)
            _add_legend(figure, self._heading(rows, variant))
            lay_out(figure)
            return figure

    def drawings(self, source: Source, variant: Variant) -> Iterator[tuple[str, Figure]]:
        """The figure as published, with a twin without noise where there are measures to choose from."""
        for measures, ending in _TWINS[: 1 + self.measured]:
            yield self.name + ending, self(source, variant, measures)

    def _rows(self, source: Source, variant: Variant) -> list[list[Panel]]:
        """The panels that there is data for, row by row."""
        present = source.matches()
        return [row for group in self.panels(variant) for row in _rows_of(group, present)]

    def _heading(self, rows: list[list[Panel]], variant: Variant) -> str:
        if not self.varied:
            return self.title
        specs = {spec for row in rows for panel in row for pairing in panel.needs for spec in pairing[1:]}
        learners = (parse_learner(spec) for spec in specs)
        rates = sorted({learner.c for learner in learners if isinstance(learner, Coebl)})
        named = f"{variant.title}, c = {' or '.join(f'{rate:g}' for rate in rates)}"
        return f"{self.title} ({variant.title if 'c =' in variant.title else named})"


def self_plays(variant: Variant, game: str) -> Lines:
    """Every learner against itself."""
    return {role: variant.self_play(role, game) for role in ROLES}


def duels(variant: Variant, game: str) -> Lines:
    """Every baseline against COEBL."""
    return {role: variant.against_coebl(role, game) for role in BASELINES}


def rps_self_play(variant: Variant) -> Groups:
    """Regret, and distance to equilibrium twice; the paper zooms in on small ones, a logarithm shows all."""
    lines = self_plays(variant, "rps")
    return [
        [
            Curves("regret", SELF_PLAY, lines),
            Curves("distance to equilibrium", DIVERGENCE, lines),
            Curves("the same, zoomed: log scale", DIVERGENCE, lines, zoomed=True),
        ]
    ]


def rps_head_to_head(variant: Variant) -> Groups:
    """A panel per baseline."""
    lines = duels(variant, "rps")
    return [[Curves(line_title(role, pairing), HEAD_TO_HEAD, {role: pairing}) for role, pairing in lines.items()]]


def by_size(
    family: str, sizes: Sequence[int], lines: Callable[[Variant, str], Lines], *measures: Measure
) -> Callable[[Variant], Groups]:
    """A row of panels per measure, and in it a panel per size."""

    def panels(variant: Variant) -> Groups:
        by_game = {f"n = {size_of(game)}": lines(variant, game) for game in family_of_games(family, sizes)}
        return [[Curves(title, measure, lines) for title, lines in by_game.items()] for measure in measures]

    return panels


def heat_map(variant: Variant) -> Groups:
    """Every game by every baseline."""
    return [[HeatMap({game: duels(variant, game) for game in games()})]]


def frontier(variant: Variant) -> Groups:
    """What a best response takes against how near self-play comes to equilibrium: a panel per game, a point per c."""
    learners = {rate: coebl(rate) for rate in RATES}
    return [
        [
            Frontier({c: (Pairing(game, it, it), Pairing(game, it, BEST_RESPONSE)) for c, it in learners.items()})
            for game in games(MAIN_SIZES)
        ]
    ]


def _by_size_figures(sizes: Sequence[int], ending: str, *second: Measure) -> list[PaperFigure]:
    """Self-play and head to head on both families; `second` has what the panels head to head show below regret."""
    return [
        figure
        for family in FAMILIES
        for title in [game_title(family)]
        for figure in (
            PaperFigure(
                f"{family}-self-play{ending}",
                f"{title}, self-play",
                by_size(family, sizes, self_plays, SELF_PLAY, DISTANCE),
            ),
            PaperFigure(
                f"{family}-head-to-head{ending}",
                f"{title}, {_AHEAD}",
                by_size(family, sizes, duels, HEAD_TO_HEAD, *second),
            ),
        )
    ]


MAIN_TEXT = [
    PaperFigure("rps-self-play", "Rock-paper-scissors, self-play", rps_self_play),
    PaperFigure("rps-head-to-head", f"Rock-paper-scissors, {_AHEAD}", rps_head_to_head),
    *_by_size_figures(MAIN_SIZES, ""),
]
APPENDIX = _by_size_figures(SIZES, "-all", DISTANCE)
FURTHER = [
    PaperFigure("heat-map", "Baselines against COEBL; above 0, COEBL is ahead", heat_map, measured=False),
    PaperFigure("frontier", "COEBL by c; better is left and below", frontier, measured=False, varied=False),
]
FIGURES = {figure.name: figure for figure in (*MAIN_TEXT, *APPENDIX, *FURTHER)}


def _rows_of(group: list[Panel], present: Matches) -> list[list[Panel]]:
    """What is there of a group, as many in a row as the page is wide."""
    panels = [part for panel in group if (part := panel.within(present))]
    across = round(WIDTH / panels[0].size[0]) if panels else 1
    return [panels[first : first + across] for first in range(0, len(panels), across)]


def _on_a_grid(rows: list[list[Panel]], source: Source, measures: Measures) -> Figure:
    """The panels on a grid; what a neighbour to the left or below says is not said again."""
    columns = max(map(len, rows))
    width, _ = rows[0][0].size
    figure = new_figure(max(COLUMN, columns * width), 0.5 + sum(row[0].size[1] for row in rows))
    axes = figure.subplots(len(rows), columns, squeeze=False)
    for row, places in zip(rows, axes, strict=True):
        for panel, place in zip(row, places, strict=False):
            panel.draw(source, place, measures)
        for left, right in reversed(list(pairwise(places))):
            if left.get_ylabel() == right.get_ylabel():
                right.set_ylabel("")
        for place in places[len(row) :]:
            place.remove()
    for upper, lower in pairwise(axes):
        for above, below in zip(upper, lower, strict=True):
            if below.figure and above.get_xlabel() == below.get_xlabel():
                above.set_xlabel("")
                above.tick_params(labelbottom=above.get_xlim() != below.get_xlim())
    return figure


def _add_legend(figure: Figure, heading: str) -> None:
    """Above the panels, one for all."""
    entries: dict[str, Any] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    columns = len(entries) if figure.get_figwidth() > 6 else 2
    labels = sorted(entries, key=lambda label: label.startswith("band"))  # at the end
    handles = [entries[label] for label in labels]
    figure.legend(handles, labels, loc="outside upper center", ncols=max(1, columns), title=heading)
