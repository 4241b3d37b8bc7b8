"""Heat maps: of a metric over pairs of learners, and of hitting times."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from coebl.core.arrays import Floats
from coebl.core.text import least_to_most, mean_and_half, with_minus
from coebl.evidence.checks import Bound
from coebl.evidence.judge import judge_family
from coebl.evidence.runtimes import Runtimes
from coebl.evidence.statistics import Band
from coebl.naming import known_to, metric_label
from coebl.plots.curves import Data, read_curve
from coebl.plots.style import COLUMN, NOTE, blue_orange, canvas, check_some

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_heat_map(
    data: Data,
    metric: str,
    cells: Mapping[tuple[str, str], tuple[str, ...]],
    ax: Axes | None = None,
    *,
    alike: Iterable[tuple[str, ...]] = (),
) -> Axes:
    """Plot a metric after the last round as a matrix: mean ± half of its 95 % interval, blue above 0, orange below.

    A cell is hatched if it is undecided: not significantly above or below 0, at 5 % in one-sided tests after Holm's
    correction over the cells; or if it has no interval. Colours are proportional to the square root, so that small
    numbers remain visible next to large ones.

    Args:
        data: the results of a study, or a frame in the columns of `Results.last` or `Results.curves`.
        metric: the name of the metric.
        cells: (label of the row, label of the column) to (game, row, column). Missing cells stay blank.
        ax: the axes; by default those of a new figure.
        alike: the matches of other heat maps that share the scale of colours.

    >>> from coebl.study import Results
    >>> cells = {("UCB", "UCB"): ("rps", "ucb", "ucb"), ("UCB", "Exp3"): ("rps", "ucb", "exp3")}
    >>> ax = plot_heat_map(Results("results"), "pseudo_regret", cells)
    """
    check_some("cells", cells)
    rows, columns = (list(dict.fromkeys(labels)) for labels in zip(*cells, strict=True))
    means = np.full((len(rows), len(columns)), math.nan)
    runs = {match: read_curve(data, metric, match).values[-1] for match in cells.values()}
    decided = _decided(runs)
    words, hatched, seeds = {}, set(), set()
    for (row, column), match in cells.items():
        band = Band.of(runs[match][None])
        place = rows.index(row), columns.index(column)
        mean, half = float(band.mean[0]), float(band.half[0])
        means[place] = mean
        words[place] = "infinite" if math.isnan(mean) else with_minus(" ± ".join(mean_and_half(mean, half)))
        seeds.add(band.seeds)
        if match not in decided:
            hatched.add(place)
    others = [read_curve(data, metric, match).values[-1].mean() for match in alike]
    width = max(COLUMN, 1 + 0.85 * len(columns))
    title = f"{metric_label(metric, known_to(data))} after the last round"  # the formula is on a second line
    title = title if width == COLUMN else title.replace("\n", " ")
    with canvas(ax, width, 0.9 + 0.26 * len(rows) + 0.15 * title.count("\n")) as ax:
        draw_matrix(ax, shades_of(means, [*means.ravel(), *others]), words, hatched)
        ax.set_xticks(np.arange(len(columns)) + 0.5, columns)
        ax.set_yticks(np.arange(len(rows)) + 0.5, rows)
        ax.set_title(title, pad=18, y=1)
        ax.set_xlabel(
            f"mean ± half of the 95 % interval, {least_to_most(seeds, 'seed')}\n"
            "hatched: undecided at 5 % after Holm's correction",
            color=NOTE,
        )
        return ax


def _decided(runs: Mapping[tuple[str, ...], Floats]) -> set[tuple[str, ...]]:
    """Return the matches whose mean is significantly above or below 0, as the claims of a paper are judged."""
    tested = {match: values for match, values in runs.items() if len(values) > 1 and np.isfinite(values).all()}
    checks, numbers = [Bound((), 0.0, "above")] * len(tested), [values[None] for values in tested.values()]
    results = judge_family(checks, numbers, "the matches of the figure")
    return {match for match, result in zip(tested, results, strict=True) if result.verdict in ("holds", "fails")}


def draw_times(ax: Axes, rows: Mapping[str, Sequence[Runtimes]], columns: Sequence[str]) -> None:
    """Draw expected running times as a heat map, darker where they are longer, with the number of hits.

    Args:
        ax: the axes.
        rows: label to the times of each column.
        columns: the labels of the columns.
    """
    times = {(row, column): runs for row, line in enumerate(rows.values()) for column, runs in enumerate(line)}
    ert = {cell: runs.ert().mean for cell, runs in times.items()}
    words = {cell: f"{_in_thousands(ert[cell])}\n{runs.hits} of {len(runs.times)}" for cell, runs in times.items()}
    logs = np.log10(list(ert.values()))
    longest, least = logs.max(initial=-math.inf, where=np.isfinite(logs)), logs.min()
    shades = np.where(np.isfinite(logs), (logs - least) / ((longest - least) or 1.0), math.nan)
    draw_matrix(ax, shades.reshape(len(rows), -1), words, fontsize=6.5)
    ax.set_facecolor("0.88")  # for cells without a hit
    ax.set_xticks(np.arange(len(columns)) + 0.5, columns)
    ax.set_yticks(np.arange(len(rows)) + 0.5, list(rows))
    ax.xaxis.tick_bottom()


def _in_thousands(number: float) -> str:
    """Return a large number in thousands or millions.

    >>> _in_thousands(155_790.0), _in_thousands(2_345_678.0), _in_thousands(math.inf)
    ('156k', '2.3M', 'none')
    """
    if not math.isfinite(number):
        return "none"
    return f"{number / 1e3:.0f}k" if number < 999_500 else f"{number / 1e6:.1f}M"


def shades_of(numbers: Floats, scale: ArrayLike) -> Floats:
    """Return shades from -1 to 1, in proportion to the square root; the largest finite size in `scale` is darkest."""
    sizes = np.abs(scale)
    return np.sign(numbers) * np.sqrt(np.abs(numbers) / (sizes[np.isfinite(sizes)].max(initial=0.0) or 1.0))


def draw_matrix(
    ax: Axes,
    shades: Floats,
    words: Mapping[tuple[int, int], str],
    hatched: Collection[tuple[int, int]] = (),
    fontsize: float = 7,
) -> None:
    """Draw shades, (rows, columns), from -1 (orange) to 1 (blue) as a heat map with words in its cells."""
    from matplotlib.patches import Rectangle

    end = 2 if any(words.values()) else 1.25  # so that the darkest cells are light enough for black words
    # a mesh is sharp at any size, unlike an image
    ax.pcolormesh(shades, cmap=blue_orange(), vmin=-end, vmax=end, edgecolor="white", linewidth=1)
    for (row, column), text in words.items():
        style: dict[str, Any] = {"color": "black"}
        if (row, column) in hatched:
            ax.add_patch(Rectangle((column, row), 1, 1, fill=False, hatch="////", edgecolor="0.72", linewidth=0))
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
            style |= {"fontstyle": "italic", "bbox": box}
        ax.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=fontsize, **style)
    ax.set_ylim(len(shades), 0)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.grid(visible=False)
