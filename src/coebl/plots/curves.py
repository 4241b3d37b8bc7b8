"""Curves: a metric over the rounds, with the band of its interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from coebl.core.arrays import Floats
from coebl.evidence.statistics import Band
from coebl.learners import Learner
from coebl.metrics import Metric
from coebl.naming.described import describe, known_to
from coebl.naming.looks import Style, looks, slot_look
from coebl.naming.titles import learner_title, metric_label
from coebl.plots.style import BAND, REFERENCE, canvas, check_some, seeds_text
from coebl.runs import Runs, Source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAND_LABEL = "band: 95 % interval of the mean"
POINTS = 300  # of a curve: more cannot be seen, and make large files


def plot_curves(
    source: Source,
    metric: str,
    lines: Mapping[str, tuple[str, str, str]],
    ax: Axes | None = None,
    styles: Mapping[str, Style] | None = None,
    legend: bool = True,
    points: int = POINTS,
) -> Axes:
    """The mean of a metric over seeds, round by round, with the band of its 95 % interval: a line per match.

    Args:
        source: where the runs are.
        metric: which.
        lines: label to (game, row, column).
        ax: where to draw; by default in a figure of its own.
        styles: label to the keywords of its line. By default a line looks as its row learner does everywhere, or as
            its column learner if these tell the lines apart; if neither does, lines take the palette in turn.
        legend: whether to draw it, above the axes. Without it, `ax.legend()` has all entries, the band's among them.
        points: at most so many rounds are drawn, evenly chosen. Where a value is infinite the line has a gap.

    >>> from coebl.study import Results
    >>> lines = {"against itself": ("rps", "ucb", "ucb"), "against Exp3": ("rps", "ucb", "exp3")}
    >>> ax = plot_curves(Results("results"), "exploitability", lines)
    >>> ax.get_legend_handles_labels()[1]
    ['against itself', 'against Exp3', 'band: 95 % interval of the mean, 5 seeds']
    """
    check_some("lines", lines)
    if styles is None:
        styles = line_styles(source, lines)
    with canvas(ax, height=2.4 + 0.15 * max(0, len(lines) - 3)) as ax:  # the legend has its share
        bands = [
            _draw(ax, label, source.runs(*match, metric).thinned(points), styles.get(label, {}))
            for label, match in lines.items()
        ]
        ax.set_xlabel("round $t$")
        ax.set_ylabel(metric_label(metric, known_to(source)))
        ax.set_xlim(0, max(1, ax.dataLim.x1))
        _name_the_bands(ax, {band.seeds for band in bands} - {1})
        if legend:
            _add_legend(ax, len(lines))
        return ax


def plot_runs(runs: Runs, metric: type[Metric], row: Learner, column: Learner, ax: Axes | None = None) -> Axes:
    """One metric of one match of two learners, as `Result.plot` draws it.

    Args:
        runs: the numbers.
        metric: the class of the metric.
        row: the row player's learner.
        column: that of the column player.
        ax: where to draw; by default in a figure of its own.

    >>> from coebl.learners import Exp3, Ucb
    >>> from coebl.metrics import PseudoRegret
    >>> from coebl.study import Results
    >>> runs = Results("results").runs("rps", "ucb", "exp3", "pseudo_regret")
    >>> ax = plot_runs(runs, PseudoRegret, Ucb(), Exp3())
    """
    match = ("", str(row), str(column))
    source = _One(match, runs, describe([row, column], [metric]))
    titles = [learner_title(spec, known=known_to(source)) for spec in match[1:]]
    return plot_curves(source, metric.name, {" v ".join(titles): match}, ax)


@dataclass(frozen=True)
class Reference:
    """A line to hold regrets against, on games in which both players have as many actions.

    >>> root = Reference("sqrt(m t)", lambda actions, rounds: np.sqrt(actions * rounds))
    >>> root.height(4, np.array([1.0, 25.0, 100.0]))
    array([ 2., 10., 20.])
    """

    label: str  # what the legend calls it
    height: Callable[[int, Floats], Floats]  # by the number of actions and the rounds: one height per round


def plot_reference(ax: Axes, reference: Reference, actions: int, rounds: ArrayLike, label: str = "") -> Axes:
    """Draw a reference line, dotted, on axes that have curves; by default with its own label.

    Args:
        ax: axes that have curves.
        reference: what to draw.
        actions: how many each player has.
        rounds: where to draw it.
        label: another label than its own.

    >>> from coebl.study import Results
    >>> ax = plot_curves(Results("results"), "pseudo_regret", {"UCB": ("rps", "ucb", "exp3")})
    >>> root = Reference("sqrt(m t)", lambda actions, rounds: np.sqrt(actions * rounds))
    >>> ax = plot_reference(ax, root, actions=3, rounds=range(1, 101))
    """
    t = np.asarray(rounds, dtype=float)
    ax.plot(t, reference.height(actions, t), label=label or reference.label, **REFERENCE)
    return ax


def line_styles(source: Source, lines: Mapping[str, tuple[str, str, str]]) -> dict[str, Style]:
    """The keywords of each line: by the row learner, else the column learner, if that tells all apart; else in turn."""
    everyone = [spec for match in source.matches() for spec in match[1:]]
    for seat in (1, 2):
        specs = [match[seat] for match in lines.values()]
        if len(set(specs)) == len(specs):
            found = looks([*everyone, *specs], plainest=specs, known=known_to(source))
            return {label: found[spec].style for label, spec in zip(lines, specs, strict=True)}
    return {label: slot_look(place).style for place, label in enumerate(lines)}


class _One(NamedTuple):
    """A source with one match."""

    match: tuple[str, str, str]
    found: Runs
    things: dict[str, Any]

    def matches(self) -> list[tuple[str, str, str]]:
        return [self.match]

    def runs(self, game: str, row: str, column: str, metric: str) -> Runs:
        return self.found

    def metadata(self) -> list[dict[str, Any]]:
        return [{"things": self.things}]


def _draw(ax: Axes, label: str, runs: Runs, style: Style) -> Band:
    """A line with its band, as far as there is one."""
    band = Band.of(runs.values)
    unseen = "" if np.isfinite(band.mean).any() else " (infinite)"
    (line,) = ax.plot(runs.rounds, band.mean, label=label + unseen, **style)
    if band.seeds > 1:
        ax.fill_between(runs.rounds, band.low, band.high, color=line.get_color(), alpha=BAND, linewidth=0)
    return band


def _add_legend(ax: Axes, lines: int) -> None:
    """A legend above the axes, where it hides nothing; in two columns if the figure is wide enough."""
    place: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1)}
    legend = ax.legend(**place, ncols=min(2, lines))
    if legend.get_window_extent().width > ax.figure.bbox.width:
        ax.legend(**place)


def _name_the_bands(ax: Axes, seeds: set[int]) -> None:
    """An entry of the legend that says what the bands are, once."""
    label = f"{BAND_LABEL}, {seeds_text(seeds)}" if seeds else ""
    if label and label not in ax.get_legend_handles_labels()[1]:
        ax.fill_between([], [], color="0.5", alpha=0.35, linewidth=0, label=label)
