"""Plots of any results: curves with bands, the reference line, heat maps, the frontier.

Each function reads a `Source`, draws on the matplotlib axes that it is given, or on those of a figure of its own, and
returns them.

    results = Results("results")
    ax = plot_curves(results, "pseudo_regret", {"UCB": ("rps", "ucb", "coebl:c=2")})
    save(ax.figure, "figures", "ucb-v-coebl")
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.errors import InputError
from coebl.engine import Result
from coebl.report.bands import Band, thinned
from coebl.report.names import lower, metric_name
from coebl.report.style import BAND, COLUMN, NOTE, REFERENCE, STYLES, Style, canvas, look
from coebl.study.results import Runs, Source

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Matched = tuple[str, str, str]  # game, row, column

POINTS = 300  # of a curve: more cannot be seen, and make large files
LAST = 100  # rounds, over which the end of a run is averaged
FORMATS = ("pdf", "svg", "png")


def axis_label(metric: str) -> str:
    """A metric as a label: its name, and its formula on a second line where there is one.

    >>> axis_label("average_exploitability")
    'average exploitability'
    """
    return "\n".join(filter(None, (_name(metric), metric_name(metric).formula)))


def _name(metric: str) -> str:
    return lower(metric_name(metric).title)


def plot_curves(
    source: Source,
    metric: str,
    lines: Mapping[str, Matched],
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
        styles: label to the keywords of its line. By default the learners of the paper, each in the row seat of one
            line at most, have the colours of its figures; other lines take the styles in turn.
        legend: whether to draw it, above the axes. Without it, `ax.legend()` has all entries, the band's among them.
        points: at most so many rounds are drawn, evenly chosen. Where a value is infinite the line has a gap.
    """
    _check_some("lines", lines)
    if styles is None:
        styles = _default_styles(lines)
    with canvas(ax) as ax:
        seeds = set()
        for label, match in lines.items():
            runs = source.runs(*match, metric)
            shown = thinned(len(runs.rounds), points)
            rounds, band = runs.rounds[shown], Band.of(runs.values[shown])
            unseen = "" if np.isfinite(band.mean).any() else " (infinite)"
            (line,) = ax.plot(rounds, band.mean, label=label + unseen, **styles.get(label, {}))
            if band.seeds > 1:
                ax.fill_between(rounds, band.low, band.high, color=line.get_color(), alpha=BAND, linewidth=0)
                seeds.add(band.seeds)
        ax.set_xlabel("round $t$")
        ax.set_ylabel(axis_label(metric))
        ax.set_xlim(0, max(1, ax.dataLim.x1))
        if seeds:
            _name_the_band(ax, seeds)
        if legend:
            ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=min(2, len(lines)))  # above: it hides nothing
        return ax


def plot_reference(
    ax: Axes, rounds: Iterable[float], actions: int, factor: float = 0.1, label: str | None = None
) -> Axes:
    """The dotted line factor sqrt(K² t) for K actions, which the paper draws beside its regrets."""
    t = np.asarray(list(rounds), dtype=float)
    formula = rf"${factor:g}\sqrt{{K^2 t}}$"
    ax.plot(t, factor * np.sqrt(actions**2 * t), label=label or f"{formula}, K = {actions}", **REFERENCE)
    return ax


def head_to_head(source: Source, game: str) -> dict[tuple[str, str], Matched]:
    """The cells of the heat map of a game: row learner and column learner to their match."""
    return {(row, column): (name, row, column) for name, row, column in source.matches() if name == game}


def plot_heat_map(
    source: Source, metric: str, cells: Mapping[tuple[str, str], Matched], ax: Axes | None = None
) -> Axes:
    """A metric after the last round as a matrix: mean ± half of its 95 % interval, blue above 0 and red below.

    Hatched cells are those whose interval contains 0, or which have no interval. Colours grow with the square root, so
    that small numbers do not vanish beside large ones.

    Args:
        source: where the runs are.
        metric: which.
        cells: (label of the row, label of the column) to (game, row, column), such as `head_to_head` makes them. Those
            that are left out stay blank.
        ax: where to draw; by default in a figure of its own.
    """
    _check_some("cells", cells)
    rows, columns = (list(dict.fromkeys(labels)) for labels in zip(*cells, strict=True))
    bands = {labels: Band.of(source.runs(*match, metric).values[-1:]) for labels, match in cells.items()}
    means = np.full((len(rows), len(columns)), math.nan)
    for (row, column), band in bands.items():
        means[rows.index(row), columns.index(column)] = band.mean[0]
    largest = np.nanmax(np.abs(means)) if np.isfinite(means).any() else 1.0
    shades = np.sign(means) * np.sqrt(np.abs(means) / (largest or 1.0))
    with canvas(ax, max(COLUMN, 1 + 0.85 * len(columns)), 0.9 + 0.26 * len(rows)) as ax:
        # not an image: a mesh stays sharp at any size; 1.25 keeps the darkest cells light enough for their numbers
        ax.pcolormesh(shades, cmap="RdBu", vmin=-1.25, vmax=1.25, edgecolor="white", linewidth=1)
        for (row, column), band in bands.items():
            dark = abs(shades[rows.index(row), columns.index(column)]) > 0.72
            _annotate(ax, columns.index(column), rows.index(row), band, "white" if dark else "black")
        ax.set_xticks(np.arange(len(columns)) + 0.5, columns)
        ax.set_yticks(np.arange(len(rows)) + 0.5, rows)
        ax.set_ylim(len(rows), 0)
        ax.xaxis.tick_top()
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        ax.grid(visible=False)
        ax.set_title(f"{axis_label(metric)} after the last round".replace("\n", " "), pad=18, y=1)
        seeds = {band.seeds for band in bands.values()}
        ax.set_xlabel(f"mean ± half of the 95 % interval, {_span(seeds)}\nhatched: the interval contains 0", color=NOTE)
        return ax


def plot_frontier(
    source: Source,
    points: Mapping[str, tuple[Matched, Matched]],
    ax: Axes | None = None,
    convergence: str = "exploitability",
    regret: str = "pseudo_regret",
    last: int = LAST,
) -> Axes:
    """What converging costs: one point per learner, joined in their order, with 95 % intervals both ways.

    To the right is how far its self-play is from equilibrium, upwards what a best response takes from it, on a
    logarithmic scale: better is left and below.

    Args:
        source: where the runs are.
        points: label to the (game, row, column) of its self-play and of its match against a best response.
        ax: where to draw; by default in a figure of its own.
        convergence: a metric of the self-play, averaged over the last rounds.
        regret: a metric of the other match, after the last round.
        last: how many rounds are averaged.
    """
    _check_some("points", points)
    selves = [Band.of(_at_the_end(source.runs(*match, convergence), last)) for match, _ in points.values()]
    others = [Band.of(source.runs(*match, regret).values[-1:]) for _, match in points.values()]
    x, y = (np.concatenate([band.mean for band in bands]) for bands in (selves, others))
    across, along = (np.nan_to_num(np.concatenate([band.half for band in bands])) for bands in (selves, others))
    color = STYLES["coebl"]["color"]
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
            label=f"mean with {_interval(selves)}",
        )
        ax.set_yscale("log")
        _label_some(ax)
        _label_points(ax, list(points), x, y)
        ax.set_xlabel(f"self-play {_name(convergence)}\nin the last {last} rounds")
        ax.set_ylabel(f"{_name(regret)}\nagainst a best response")
        return ax


def plot_result(result: Result, metric: str | None = None, ax: Axes | None = None) -> Axes:
    """`Result.plot`: one metric of one simulation, by default the first that was recorded."""
    if metric is None:
        metric = next(iter(result.metrics))
    match = result.match
    pairing = (match.game.spec or match.game.name, str(match.row), str(match.column))
    return plot_curves(_One(result, pairing), metric, {f"{match.row} v {match.column}": pairing}, ax)


def save(figure: Figure, folder: str | os.PathLike[str], name: str, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write a figure as folder/name.format for each format, and return the paths. The folder is made if need be.

    The same figure gives the same bytes. A file is there when it is complete, or not at all.
    """
    undated: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
    for format in formats:
        if format not in undated:
            raise InputError(f"format is {format!r}; accepted: {', '.join(undated)}.")
    folder = Path(folder)
    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with look():
            for format in formats:
                path, temporary = folder / f"{name}.{format}", folder / f".{name}.{os.getpid()}.{format}"
                try:
                    figure.savefig(temporary, format=format, metadata=undated[format])
                    temporary.replace(path)
                finally:
                    temporary.unlink(missing_ok=True)
                paths.append(path)
    except OSError as error:
        raise InputError(f"cannot write {folder / name}: {error.strerror}.") from None
    return paths


@dataclass(frozen=True)
class _One:
    """A simulation as a source with one match."""

    result: Result
    match: Matched

    def matches(self) -> list[Matched]:
        return [self.match]

    def runs(self, game: str, row: str, column: str, metric: str) -> Runs:
        self.result.final(metric)  # complains if it is not there
        return Runs(self.result.rounds, self.result.seeds, self.result.metrics[metric])


def _check_some(argument: str, given: Mapping[Any, Any]) -> None:
    if not given:
        raise InputError(f"{argument} is empty; accepted: one or more, each with a match.")


def _default_styles(lines: Mapping[str, Matched]) -> dict[str, Style]:
    """By learner in the row seat if that tells all lines apart, in turn otherwise."""
    names = [row.partition(":")[0].removesuffix("-as-released") for _, row, _ in lines.values()]
    if len(set(names)) < len(names) or not set(names) <= STYLES.keys():
        names = [list(STYLES)[position % len(STYLES)] for position in range(len(lines))]
    return {label: STYLES[name] for label, name in zip(lines, names, strict=True)}


def _at_the_end(runs: Runs, last: int) -> Floats:
    """The mean of each run over the last rounds: (1, runs)."""
    mean: Floats = runs.values[runs.rounds > runs.rounds[-1] - last].mean(axis=0, keepdims=True)
    return mean


def _span(seeds: Iterable[int]) -> str:
    low, high = min(seeds := set(seeds)), max(seeds)
    return f"{low} seed{'s' * (low > 1)}" if low == high else f"{low} to {high} seeds"


def _interval(bands: Iterable[Band]) -> str:
    return f"95 % intervals, {_span(band.seeds for band in bands)}"


def _name_the_band(ax: Axes, seeds: set[int]) -> None:
    """An entry of the legend that says what the bands are."""
    label = f"band: 95 % interval of the mean, {_span(seeds)}"
    if label not in ax.get_legend_handles_labels()[1]:
        ax.fill_between([], [], color="0.5", alpha=0.35, linewidth=0, label=label)


def _annotate(ax: Axes, column: int, row: int, band: Band, color: str) -> None:
    """The number of a cell of the heat map, and hatching if it is not told apart from 0."""
    from matplotlib.patches import Rectangle

    mean, low, high, half = (float(numbers[0]) for numbers in (band.mean, band.low, band.high, band.half))
    apart = low > 0 or high < 0  # not so if they are NaN
    if not apart:
        ax.add_patch(Rectangle((column, row), 1, 1, fill=False, hatch="////", edgecolor="0.72", linewidth=0))
    box = None if apart else {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
    style = "normal" if apart else "italic"
    text = _plus_minus(mean, half)
    place = column + 0.5, row + 0.5
    ax.text(*place, text, ha="center", va="center", fontsize=7, color=color, fontstyle=style, bbox=box)


def _plus_minus(mean: float, half: float) -> str:
    """A number with as many digits as its interval supports.

    >>> _plus_minus(-2.276, 1.54), _plus_minus(1142.2, 32.1), _plus_minus(3.14159, math.nan)
    ('−2.3 ± 1.5', '1142 ± 32', '3.142')
    """
    if not half > 0:
        return ("infinite" if math.isnan(mean) else f"{mean:.4g}").replace("-", "−")
    digits = max(0, 1 - math.floor(math.log10(half)))
    return f"{mean:.{digits}f} ± {half:.{digits}f}".replace("-", "−")


def _label_some(ax: Axes) -> None:
    """Plain numbers on a logarithmic axis, at 1, 2 and 5: a range of less than a decade has few powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(ScalarFormatter())
    ax.yaxis.set_minor_formatter(NullFormatter())


def _label_points(ax: Axes, labels: Sequence[str], x: Floats, y: Floats) -> None:
    """Write a label beside each point, on the side where it covers the fewest points, labels and the left axis."""
    from matplotlib.patheffects import withStroke

    ax.margins(0.28, 0.12)
    ax.get_xlim(), ax.get_ylim()  # brings the scales up to date, on which the transformation depends
    scale = 72 / ax.figure.dpi  # from dots to points of print
    taken = list(ax.transData.transform(np.column_stack([x, y])) * scale)
    edge = ax.transAxes.transform((0, 0))[0] * scale  # of the axes, on the left
    for label, right, up, place in zip(labels, x, y, taken.copy(), strict=True):
        reach = 2.2 * len(label)  # half of its width: a digit of 7 points is some 4.4 wide
        offsets = [np.array((side * (reach + 3.5), rise)) for rise in (4.5, -4.5, 0, 9, -9) for side in (1, -1)]
        crowds = [
            _covered(place + offset, reach, taken) + 2 * (place[0] + offset[0] - reach < edge) for offset in offsets
        ]
        offset = offsets[crowds.index(min(crowds))]  # the first, which is the nearest
        taken += [place + offset + (shift, 0) for shift in np.linspace(-reach, reach, 3)]
        ax.annotate(
            label,
            (right, up),
            xytext=(offset[0], offset[1]),
            textcoords="offset points",
            ha="center",
            va="center_baseline",
            fontsize=7,
            path_effects=[withStroke(linewidth=1.5, foreground="white")],
        )


def _covered(middle: Floats, reach: float, taken: Sequence[Floats]) -> int:
    """How many of the taken places a label would cover."""
    across, up = np.abs(middle - np.array(taken)).T
    return int(np.sum((across < reach + 2.5) & (up < 7)))
