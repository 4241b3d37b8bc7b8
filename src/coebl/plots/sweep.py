"""Sweeps: a metric against the number in which settings of a learner differ."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from coebl.core.errors import InputError
from coebl.core.frames import pl
from coebl.core.specs import split_spec
from coebl.core.text import number_text, one_line, with_minus
from coebl.evidence.statistics import Estimate, bands
from coebl.games import GAMES
from coebl.learners import LEARNERS
from coebl.naming import (
    PALETTE,
    Known,
    Look,
    Style,
    Sweep,
    find_sweeps,
    game_title,
    known_to,
    learner_style,
    learner_titles,
    looks,
    metric_label,
    metric_words,
)
from coebl.plots.curves import MOST_PANELS, Data, read_curve
from coebl.plots.style import NOTE, add_legend, canvas, check_some, drawable, legend_entries, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LAST = 100  # rounds over which metrics that are not cumulative are averaged
_MOST = len(PALETTE)  # lines of a panel
_MOST_BEST = 3  # of these, the lines whose best value is in the title
_TITLE = 47  # characters of a line of the title in which that value is


class Best(NamedTuple):
    """The value of a sweep with the best mean.

    >>> str(Best("0.5", Estimate(61.23, -55.1, 67.3, sd=98.1, n=12)))
    '0.5: 61.2 [−55.1, 67.3]'
    """

    value: str
    estimate: Estimate

    def __str__(self) -> str:
        """Return the value, the mean and the interval."""
        ends = self.estimate.mean, self.estimate.low, self.estimate.high
        mean, low, high = (with_minus(number_text(number, 3)) for number in ends)
        return f"{self.value}: {mean} [{low}, {high}]"


def plot_sweep(
    data: Data,
    metric: str,
    points: Mapping[str, Sequence[str]],
    ax: Axes | None = None,
    style: Style | None = None,
    label: str = "",
    noise: str | None = None,
    known: Known | None = None,
) -> Best:
    """Plot a metric by the settings of a learner, with 95 % intervals, and return the best setting, marked by a ring.

    A cumulative metric is drawn at the last round, any other as its mean over the last 100 rounds. Settings are evenly
    spaced, in their order.

    Args:
        data: the results of a study, or a frame in the columns of `Results.curves`.
        metric: the name of the metric.
        points: the number of a setting, as its tick shows it, to (game, row, column).
        ax: the axes; by default those of a new figure.
        style: keywords of the line; by default those of the learner.
        label: the label in the legend.
        noise: the noise, if matches were played with several.
        known: titles and colours of learners and metrics that are not built in; by default those of the results.

    >>> from coebl.study import Results
    >>> points = {"first": ("rps", "ucb", "exp3"), "second": ("rps", "ucb", "ucb")}
    >>> plot_sweep(Results("results"), "exploitability", points).value in points
    True
    """
    check_some("points", points)
    known = known_to(data) if known is None else known
    words = metric_words(metric, known)
    span = 1 if words.cumulative else LAST
    curves = [read_curve(data, metric, match, noise=noise) for match in points.values()]
    samples = [values[rounds > rounds[-1] - span].mean(axis=0).tolist() for rounds, values in curves]
    estimates = [Estimate(**row) for row in bands(pl.Series(samples)).to_dicts()]
    _, first, _ = next(iter(points.values()))
    style = learner_style(first, known) if style is None else style
    with canvas(ax) as ax:
        ax.set_ylabel(metric_label(metric, known))
        return draw_sweep(ax, dict(zip(points, estimates, strict=True)), style, label, words.better)


def draw_sweep(
    ax: Axes,
    points: Mapping[str, Estimate],
    style: Style,
    label: str = "",
    better: Literal["lower", "higher"] | None = "lower",
) -> Best:
    """Draw estimates by tick, and return the best one; if `better` is None, the least.

    A ring marks the best unless it is tied.
    """
    mean, low, high = np.array([(point.mean, point.low, point.high) for point in points.values()]).T
    x, ticks = np.arange(len(points)), list(points)
    kept = {key: value for key, value in style.items() if key != "markevery"} | {"marker": "o", "markersize": 3}
    (line,) = ax.plot(x, mean, label=label, **kept)
    ax.vlines(x, low, high, color=line.get_color(), linewidth=0.9)
    place = int(np.argmin(np.nan_to_num(-mean if better == "higher" else mean, nan=np.inf)))
    if better and np.sum(mean == mean[place]) == 1:
        ax.plot(x[place], mean[place], "o", markersize=7, markerfacecolor="none", markeredgecolor=line.get_color())
    ax.set_xticks(x, ticks)
    ax.set_xlim(-0.5, len(ticks) - 0.5)
    return Best(ticks[place], points[ticks[place]])


def plot_sweeps(data: Data, metric: str, matches: Iterable[tuple[str, ...]], noise: str | None = None) -> Figure:
    """Plot a metric against the swept number of every learner that has one: a panel per game, a line per opponent.

    The default value is named below its tick, and the title of a panel has the best value with its interval.

    Args:
        data: the results of a study, or a frame in the columns of `Results.curves`.
        metric: the name of the metric.
        matches: the game and the players of each.
        noise: the noise, if matches were played with several.

    >>> import polars
    >>> both = {1: ("rps", "coebl:c=1", "ucb"), 8: ("rps", "coebl", "ucb")}
    >>> labels = {"noise": "none", "rounds": 1, "round": 1}
    >>> rows = [
    ...     {"game": game, "players": players, "seed": seed, "tv": c + seed, **labels}
    ...     for c, (game, *players) in both.items() for seed in range(3)
    ... ]
    >>> figure = plot_sweeps(polars.DataFrame(rows), "tv", both.values())
    >>> figure.axes[0].get_xlabel()
    'c of COEBL'
    """
    known = known_to(data)
    present = set(matches)
    shown = [
        (sweep, game, lines)
        for sweep in find_sweeps(sorted({match[1] for match in present}, key=LEARNERS.order), known)
        for game in sorted({match[0] for match in present}, key=GAMES.order)
        if (lines := _lines(sweep, game, present))
    ]
    if not shown:
        raise InputError(
            "there is no sweep: no two row learners of a game differ in one number alone and met the same opponent. "
            "In the study file: learners = ['coebl:c=[0.5,2,8]']"
        )
    left_out, shown = len(shown[MOST_PANELS:]), shown[:MOST_PANELS]
    titles = learner_titles({spec for match in present for spec in match[1:]}, known)
    words = metric_words(metric, known)
    with panels(len(shown), height=2.1, margin=0.6) as (figure, axes):
        for ax, (sweep, game, lines) in zip(axes, shown, strict=True):
            first, *_ = sweep.values
            others = [opponents[0] for opponents in lines if opponents]
            styles = looks([*sweep.values, *others], plainest=others, known=known)
            best_values = []
            for opponents, points in lines.items():
                style = (styles[opponents[0]] if opponents else Look(styles[first].colour, ())).style
                against = " v ".join(drawable(titles[spec]) for spec in opponents)
                label = f"against {against}" if opponents else "self-play"
                best_values.append((label, plot_sweep(data, metric, points, ax, style, label, noise, known)))
            name = drawable(sweep.title)
            heading = textwrap.fill(f"{drawable(game_title(game))}, {name}", 34)
            named = best_values[: _MOST_BEST * bool(words.better)]
            best = [_in_title(label, f"{sweep.parameter} = {value}") for label, value in named]
            ax.set_title("\n".join([heading, *best]), fontsize="small")
            ax.set_xlabel(f"{sweep.parameter} of {name}{_missing_default(sweep)}")
        add_legend(figure, legend_entries(figure.axes), "outside upper center", most=4)
        note = f"; {left_out} more panels are not shown" if left_out else ""
        when = "last round" if words.cumulative else f"mean over the last {LAST} rounds"
        ring = "; ring: the best value" if words.better else ""
        caption = f"{when}; bars: 95 % intervals of the mean{ring}{note}"
        figure.supxlabel(textwrap.fill(caption, int(14 * figure.get_figwidth())), color=NOTE, fontsize=8)
    return figure


def _in_title(label: str, value: str) -> str:
    """Return the best value of a line, on a second line if the first is full."""
    start = f"best {one_line(label, _TITLE - 9)}:"
    space = " " if len(start) + len(value) < _TITLE else "\n"
    return f"{start}{space}{value}"


def _missing_default(sweep: Sweep) -> str:
    """Return a note with the default value if no tick shows it; the default of a custom learner is not stored."""
    entry = LEARNERS.registered(next(iter(sweep.values)))
    default = None if entry is None else entry.defaults.get(sweep.parameter)
    return "" if not isinstance(default, int | float) or default in sweep.values.values() else f" (default {default:g})"


def _lines(sweep: Sweep, game: str, present: set[tuple[str, ...]]) -> dict[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Return the points of each opponent that met at least two settings on a game; () stands for self-play."""
    ticks = {
        spec: f"{value:g}" + ("" if sweep.parameter in split_spec(spec).arguments else "\ndefault")
        for spec, value in sweep.values.items()
    }
    of_game = [match for match in present if match[0] == game and match[1] in ticks]
    lines: dict[tuple[str, ...], dict[str, tuple[str, ...]]] = {
        (): {ticks[match[1]]: match for spec in ticks for match in of_game if {*match[1:]} == {spec}}
    }
    for opponents in sorted({match[2:] for match in of_game}, key=lambda specs: tuple(map(LEARNERS.order, specs))):
        met = {match[1]: match for match in of_game if match[2:] == opponents}
        lines[opponents] = {tick: met[spec] for spec, tick in ticks.items() if spec in met}
    return dict([(opponents, points) for opponents, points in lines.items() if len(points) > 1][:_MOST])
