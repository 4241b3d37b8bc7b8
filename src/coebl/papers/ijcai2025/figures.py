"""The figures of the paper, and two that it does not have, from the results of `coebl.papers.ijcai2025.experiments`.

A figure is one function that lists its panels. What it draws and what data it needs both follow from that list:
`rps_self_play.needs()` is what to run for it, and `rps_self_play(results)` is the matplotlib figure.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from coebl import plots
from coebl.core.errors import InputError, look_up
from coebl.learners import parse_learner
from coebl.learners.coebl import Coebl
from coebl.papers.ijcai2025.experiments import (
    BASELINES,
    QUICK_SIZES,
    RATES,
    ROLES,
    ROUNDS,
    SIZES,
    VARIANTS,
    Pairing,
    Role,
    Variant,
    actions_of,
    frontier,
    games,
)
from coebl.plots import game_title, learner_style, learner_title
from coebl.plots.style import COLUMN, GUIDE, WIDTH, lay_out, look, new_figure
from coebl.runs import Source

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Measures = Literal["paper", "text", "noise-free"]
"""What the panels show. "paper": what the published figures do, which come from the paper's program; "text": what the
text defines; "noise-free": the same without the noise of the rewards, and exploitability for KL and TV."""

Measure = Mapping[Measures, str]  # to the metric
SELF_PLAY: Measure = {"paper": "regret_magnitude", "text": "absolute_regret", "noise-free": "absolute_pseudo_regret"}
HEAD_TO_HEAD: Measure = {"paper": "regret", "text": "regret", "noise-free": "pseudo_regret"}
DIVERGENCE: Measure = {"paper": "kl", "text": "kl", "noise-free": "exploitability"}
DISTANCE: Measure = {"paper": "tv", "text": "tv", "noise-free": "exploitability"}

TEXT = VARIANTS["text"]

Matches = Collection[tuple[str, str, str]]


class Panel(Protocol):
    """A part of a figure."""

    @property
    def needs(self) -> list[Pairing]:
        """The data."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""

    def within(self, present: Matches) -> Panel | None:
        """As much of the panel as these matches allow."""

    def draw(self, source: Source, ax: Axes, measures: Measures) -> None:
        """Draw it."""


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
        metric = self.measure[measures]
        lines = {_title(role, pairing): pairing for role, pairing in self.lines.items()}
        styles = dict(zip(lines, (learner_style(role) for role in self.lines), strict=True))
        plots.plot_curves(source, metric, lines, ax, styles, legend=False)
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
        rounds = range(0, ROUNDS + 1, ROUNDS // 100)
        plots.plot_reference(ax, rounds, actions_of(game), label=rf"$0.1\sqrt{{K^2 t}}$, {count}")


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
            (_game(game), learner_title(role)): pairing
            for game, row in self.rows.items()
            for role, pairing in row.items()
        }
        plots.plot_heat_map(source, "pseudo_regret", cells, ax)


@dataclass(frozen=True)
class Frontier:
    """COEBL by c on one game. A c that lacks one of its two matches is left out."""

    points: dict[float, tuple[Pairing, Pairing]]

    size = WIDTH / 4, 2.25

    @property
    def needs(self) -> list[Pairing]:
        return [pairing for pair in self.points.values() for pairing in pair]

    def within(self, present: Matches) -> Panel | None:
        points = {rate: pair for rate, pair in self.points.items() if set(pair) <= set(present)}
        return replace(self, points=points) if points else None

    def draw(self, source: Source, ax: Axes, measures: Measures) -> None:
        plots.plot_frontier(source, {f"{rate:g}": pair for rate, pair in self.points.items()}, ax)
        ax.set_title(_game(self.needs[0].game))
        ax.locator_params(axis="x", nbins=4)


Groups = list[list[Panel]]  # each begins a new row


@dataclass(frozen=True)
class FigureOfPaper:
    """A figure. Call it to draw it."""

    name: str
    title: str
    panels: Callable[[Variant, Sequence[int]], Groups]
    sizes: tuple[int, ...] = ()  # the n of its games
    measured: bool = True  # whether there are measures to choose from
    varied: bool = True  # whether it depends on the variant

    def needs(self, variant: Variant = TEXT, sizes: Iterable[int] | None = None) -> list[Pairing]:
        """What has to be run for it."""
        groups = self.panels(variant, self._chosen(sizes))
        return list(dict.fromkeys(pairing for group in groups for panel in group for pairing in panel.needs))

    def __call__(
        self,
        source: Source,
        variant: Variant = TEXT,
        sizes: Iterable[int] | None = None,
        measures: Measures = "paper",
    ) -> Figure:
        """Draw it: those of its panels for which there is data, and of these sizes."""
        if measures not in SELF_PLAY:
            raise InputError(f"measures is {measures!r}; accepted: {', '.join(SELF_PLAY)}.")
        rows = self.rows(source, variant, sizes)
        if not rows:
            raise self.no_data(variant)
        with look():
            figure = _drawn(rows, source, measures)
            _add_legend(figure, self._heading(rows, variant))
            lay_out(figure)
            return figure

    def rows(self, source: Source, variant: Variant, sizes: Iterable[int] | None = None) -> list[list[Panel]]:
        """The panels that there is data for, row by row."""
        present = source.matches()
        groups = self.panels(variant, self._chosen(sizes))
        return [row for group in groups for row in _rows(group, present)]

    def no_data(self, variant: Variant) -> InputError:
        """What to say if there are none."""
        return InputError(
            f"there is no data for figure {self.name} ({variant.title}); into the same folder, run: "
            f"coebl reproduce --figure {self.name}"
        )

    def _chosen(self, sizes: Iterable[int] | None) -> list[int]:
        wanted = set(self.sizes if sizes is None else sizes)
        return [size for size in self.sizes if size in wanted]

    def _heading(self, rows: list[list[Panel]], variant: Variant) -> str:
        if not self.varied:
            return self.title
        specs = {spec for row in rows for panel in row for pairing in panel.needs for spec in pairing[1:]}
        learners = (parse_learner(spec) for spec in specs)
        rates = sorted({learner.c for learner in learners if isinstance(learner, Coebl)})
        named = f"{variant.title}, c = {' or '.join(f'{rate:g}' for rate in rates)}"
        return f"{self.title} ({variant.title if 'c =' in variant.title else named})"


FIGURES: dict[str, FigureOfPaper] = {}


def _figure(
    name: str, title: str, sizes: tuple[int, ...] = (), measured: bool = True, varied: bool = True
) -> Callable[[Callable[[Variant, Sequence[int]], Groups]], FigureOfPaper]:
    """Make a figure, and enter it, from the function that lists its panels."""

    def enter(panels: Callable[[Variant, Sequence[int]], Groups]) -> FigureOfPaper:
        FIGURES[name] = FigureOfPaper(name, title, panels, sizes, measured, varied)
        return FIGURES[name]

    return enter


_AHEAD = "head-to-head; above 0, COEBL is ahead"


@_figure("rps-self-play", "Rock-paper-scissors, self-play")
def rps_self_play(variant: Variant, sizes: Sequence[int]) -> Groups:
    """Regret, and distance to equilibrium twice; the paper zooms in on small ones, a logarithm shows all."""
    lines = _self_plays(variant, "rps")
    return [
        [
            Curves("regret", SELF_PLAY, lines),
            Curves("distance to equilibrium", DIVERGENCE, lines),
            Curves("the same, zoomed: log scale", DIVERGENCE, lines, zoomed=True),
        ]
    ]


@_figure("rps-head-to-head", f"Rock-paper-scissors, {_AHEAD}")
def rps_head_to_head(variant: Variant, sizes: Sequence[int]) -> Groups:
    """A panel per baseline."""
    lines = _against_coebl(variant, "rps")
    return [[Curves(_title(role, pairing), HEAD_TO_HEAD, {role: pairing}) for role, pairing in lines.items()]]


@_figure("diagonal-self-play", "Diagonal, self-play", QUICK_SIZES)
def diagonal_self_play(variant: Variant, sizes: Sequence[int]) -> Groups:
    """Regret, then TV distance, by n."""
    return _by_size("diagonal", sizes, _self_plays, variant, SELF_PLAY, DISTANCE)


@_figure("diagonal-head-to-head", f"Diagonal, {_AHEAD}", QUICK_SIZES)
def diagonal_head_to_head(variant: Variant, sizes: Sequence[int]) -> Groups:
    """Regret by n."""
    return _by_size("diagonal", sizes, _against_coebl, variant, HEAD_TO_HEAD)


@_figure("bigger-number-self-play", "BiggerNumber, self-play", QUICK_SIZES)
def bigger_number_self_play(variant: Variant, sizes: Sequence[int]) -> Groups:
    """Regret, then TV distance, by n."""
    return _by_size("bigger-number", sizes, _self_plays, variant, SELF_PLAY, DISTANCE)


@_figure("bigger-number-head-to-head", f"BiggerNumber, {_AHEAD}", QUICK_SIZES)
def bigger_number_head_to_head(variant: Variant, sizes: Sequence[int]) -> Groups:
    """Regret by n."""
    return _by_size("bigger-number", sizes, _against_coebl, variant, HEAD_TO_HEAD)


@_figure("diagonal-self-play-all", "Diagonal, self-play", SIZES)
def diagonal_self_play_all(variant: Variant, sizes: Sequence[int]) -> Groups:
    """Regret, then TV distance, by n."""
    return _by_size("diagonal", sizes, _self_plays, variant, SELF_PLAY, DISTANCE)


@_figure("diagonal-head-to-head-all", f"Diagonal, {_AHEAD}", SIZES)
def diagonal_head_to_head_all(variant: Variant, sizes: Sequence[int]) -> Groups:
    """Regret, then TV distance, by n."""
    return _by_size("diagonal", sizes, _against_coebl, variant, HEAD_TO_HEAD, DISTANCE)


@_figure("bigger-number-self-play-all", "BiggerNumber, self-play", SIZES)
def bigger_number_self_play_all(variant: Variant, sizes: Sequence[int]) -> Groups:
    """Regret, then TV distance, by n."""
    return _by_size("bigger-number", sizes, _self_plays, variant, SELF_PLAY, DISTANCE)


@_figure("bigger-number-head-to-head-all", f"BiggerNumber, {_AHEAD}", SIZES)
def bigger_number_head_to_head_all(variant: Variant, sizes: Sequence[int]) -> Groups:
    """Regret, then TV distance, by n."""
    return _by_size("bigger-number", sizes, _against_coebl, variant, HEAD_TO_HEAD, DISTANCE)


@_figure("heat-map", "Baselines against COEBL; above 0, COEBL is ahead", SIZES, measured=False)
def heat_map(variant: Variant, sizes: Sequence[int]) -> Groups:
    """Every game by every baseline."""
    return [[HeatMap({game: _against_coebl(variant, game) for game in games(sizes)})]]


@_figure("frontier", "COEBL by c; better is left and below", SIZES, measured=False, varied=False)
def frontier_of_rates(variant: Variant, sizes: Sequence[int]) -> Groups:
    """What a best response takes against how near self-play comes to equilibrium; a panel per game."""
    pairings = [frontier(game) for game in games(sizes)]  # self-play and best response by turns, c by c
    pairs = [list(zip(both[::2], both[1::2], strict=True)) for both in pairings if both]
    return [[Frontier(dict(zip(RATES, by_rate, strict=True))) for by_rate in pairs]]


MAIN_TEXT = [name for name in FIGURES if not name.endswith("-all")]  # the others are the appendix's


def draw(
    source: Source,
    folder: str | os.PathLike[str],
    names: Iterable[str] | None = None,
    variants: Iterable[str] | None = None,
    formats: Sequence[str] = plots.FORMATS,
    workers: int | None = None,
) -> list[Path]:
    """Write figures as folder/variant/name.format, with a twin name-noise-free.format; returns the paths.

    Args:
        source: the results.
        folder: where to.
        names: which figures, of `FIGURES`; by default all for which there is data.
        variants: which, of `VARIANTS`; by default all for which there is data. What does not depend on the variant is
            written once, under text.
        formats: of pdf, svg, png.
        workers: how many processes write files; by default this one does.
    """
    figures = look_up("figure", names, FIGURES)
    source = _Remembered(source)
    wanted = dict.fromkeys(
        (figure, variant if figure.varied else TEXT)
        for variant in look_up("variant", variants, VARIANTS)
        for figure in figures
    )
    present = [(figure, variant) for figure, variant in wanted if figure.rows(source, variant)]
    for figure, variant in wanted:
        if not present or (names is not None and all(figure is not other for other, _ in present)):
            raise figure.no_data(variant)
    jobs = (
        (figure(source, variant, measures=measures), Path(folder) / variant.id, figure.name + suffix, formats)
        for figure, variant in present
        for measures, suffix in _TWINS[: 1 + figure.measured]
    )
    if workers is None or workers == 1:
        written = [plots.save(*job) for job in jobs]
    else:
        with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
            written = [future.result() for future in [pool.submit(plots.save, *job) for job in jobs]]
    return [path for paths in written for path in paths]


_TWINS: tuple[tuple[Measures, str], ...] = (("paper", ""), ("noise-free", "-noise-free"))


class _Remembered:
    """A source that reads everything once: many figures show the same runs."""

    def __init__(self, source: Source) -> None:
        self.matches = cache(source.matches)
        self.runs = cache(source.runs)


def _self_plays(variant: Variant, game: str) -> dict[Role, Pairing]:
    return {role: variant.self_play(role, game) for role in ROLES}


def _against_coebl(variant: Variant, game: str) -> dict[Role, Pairing]:
    return {role: variant.against_coebl(role, game) for role in BASELINES}


def _by_size(
    family: str,
    sizes: Iterable[int],
    lines: Callable[[Variant, str], dict[Role, Pairing]],
    variant: Variant,
    *measures: Measure,
) -> Groups:
    """A panel per measure and size."""
    by_size = {f"n = {size}": lines(variant, f"{family}:n={size}") for size in sizes}
    return [[Curves(title, measure, lines) for title, lines in by_size.items()] for measure in measures]


def _title(role: Role, pairing: Pairing) -> str:
    """A line by what the row player is, and against whom."""
    return learner_title(role) if pairing.row == pairing.column else f"{learner_title(role)} v {learner_title('coebl')}"


def _game(game: str) -> str:
    return game_title(game).replace("\u00a0", " ")


def _rows(group: list[Panel], present: Matches) -> list[list[Panel]]:
    """What is there of a group, as many in a row as the page is wide."""
    panels = [part for panel in group if (part := panel.within(present))]
    across = round(WIDTH / panels[0].size[0]) if panels else 1
    return [panels[first : first + across] for first in range(0, len(panels), across)]


def _drawn(rows: list[list[Panel]], source: Source, measures: Measures) -> Figure:
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
