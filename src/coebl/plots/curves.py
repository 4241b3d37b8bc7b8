"""Curves of a metric over the rounds, with bands of intervals: of some matches, or of a study with a panel per game."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from coebl.core.arrays import Floats, Ints, evenly_spread
from coebl.core.errors import InputError, nearest
from coebl.core.frames import pl
from coebl.core.modules import require
from coebl.core.text import counted, least_to_most
from coebl.engine.until import HittingTime
from coebl.evidence.runtimes import Runtimes, read_runtimes
from coebl.evidence.statistics import Band
from coebl.games import GAMES
from coebl.learners import LEARNERS, REFERENCES
from coebl.naming import (
    SYMBOLS,
    Known,
    Look,
    Style,
    game_title,
    known_to,
    learner_titles,
    learner_words,
    looks,
    metric_label,
)
from coebl.plots.hitting import plot_ecdf
from coebl.plots.style import BAND, REFERENCE, add_legend, canvas, check_some, drawable, legend_entries, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from coebl.study import Results

_BAND_LABEL = "band: 95 % interval of the mean"
POINTS = 300  # points of a curve; more cannot be seen, and would make large files
_MARK = "*"  # after the titles of learners that see more than bandits do
_TITLE = 26  # characters per line of a panel's title
_HEIGHT = 1.75  # of a panel, in inches


Data: TypeAlias = "pl.DataFrame | Results"


class Curve(NamedTuple):
    """A metric of a match."""

    rounds: Ints  # (recorded,), increasing
    values: Floats  # (recorded, runs)


def plot_curves(
    data: Data,
    metric: str,
    lines: Mapping[str, Sequence[str]],
    ax: Axes | None = None,
    styles: Mapping[str, Style] | None = None,
    legend: bool = True,
    points: int = POINTS,
    noise: str | None = None,
    known: Known | None = None,
) -> Axes:
    """Plot the mean of a metric over seeds, round by round, with the band of its 95 % interval: a line per match.

    Args:
        data: the results of a study, or a frame in the columns of `Results.curves`.
        metric: the name of the metric.
        lines: label to (game, row, column), or the game and the learner in each of its seats.
        ax: the axes; by default those of a new figure.
        styles: label to the keywords of its line. By default a line has the look of its first learner, or of its
            second if only the second learners distinguish the lines; if neither do, it has the colour of the first
            and the dashes of the second.
        legend: draw a legend above the axes. Otherwise, `ax.legend()` includes all entries, with that of the band.
        points: the largest number of rounds that are drawn, evenly spaced. Infinite values leave gaps in the line.
        noise: the noise, if matches were played with several.
        known: titles and colours of learners and metrics that are not built in; by default those of the results.

    >>> from coebl.study import Results
    >>> lines = {"against itself": ("rps", "ucb", "ucb"), "against Exp3": ("rps", "ucb", "exp3")}
    >>> ax = plot_curves(Results("results"), "exploitability", lines)
    >>> ax.get_legend_handles_labels()[1]
    ['against itself', 'against Exp3', 'band: 95 % interval of the mean, 5 seeds']
    """
    check_some("lines", lines)
    known = known_to(data) if known is None else known
    if styles is None:
        styles = _line_styles(data, lines, known)
    curves = [read_curve(data, metric, match, points, noise) for match in lines.values()]
    with canvas(ax, height=2.4 + 0.15 * max(0, len(lines) - 3)) as ax:  # the legend takes part of the height
        drawn = zip(lines, curves, strict=True)
        seeds = {draw_mean(ax, *curve, label, styles.get(label, {})) for label, curve in drawn} - {1}
        ax.set_xlabel("round $t$")
        ax.set_ylabel(metric_label(metric, known))
        ax.set_xlim(0, max(1, ax.dataLim.x1))
        band = f"{_BAND_LABEL}, {least_to_most(seeds, 'seed')}" if seeds else ""
        if band and band not in ax.get_legend_handles_labels()[1]:
            ax.fill_between([], [], color="0.5", alpha=0.35, linewidth=0, label=band)
        if legend:  # above the axes, in two columns if the figure is wide enough
            place: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1)}
            if ax.legend(**place, ncols=min(2, len(lines))).get_window_extent().width > ax.figure.bbox.width:
                ax.legend(**place)
        return ax


def read_curve(
    data: Any, metric: str, match: Sequence[str], points: int | None = None, noise: str | None = None
) -> Curve:
    """Return a metric of a match, given as the game followed by the players, at some or all recorded rounds."""
    game, *players = match
    name = f"{game}, {' v '.join(players)}"
    if hasattr(data, "curves"):
        rows = data.curves([metric], points=points, game=game, players=[[player] for player in players], noise=noise)
    else:
        fits = (pl.col("game") == game) & (pl.col("players").list.join(" v ") == " v ".join(players))
        rows = data.filter(fits if noise is None else fits & (pl.col("noise") == noise))
    if metric not in rows.columns:
        raise InputError(f"metric {metric!r} was not recorded{nearest(metric, rows.columns)} Name it in metrics=.")
    rows = rows.filter(pl.col(metric).is_not_null())
    if not len(rows):
        raise InputError(f"{name}: no finished run has the metric {metric!r}.")
    for label, repair in (("noise", "name one as noise="), ("rounds", "keep them in two folders")):
        if len(several := rows[label].unique().sort()) > 1:
            raise InputError(f"{name}: there are runs of {label} {' and '.join(map(str, several))}; {repair}.")
    if "round" not in rows.columns:  # a frame of last rounds
        rows = rows.with_columns(round="rounds")
    rounds, seeds = rows["round"].unique().sort().to_numpy(), rows["seed"].n_unique()
    if len(rows) != len(rounds) * seeds:
        raise InputError(f"{name}: seeds differ in the recorded rounds; keep them in two folders.")
    values = rows.sort("seed", "round")[metric].to_numpy().reshape(seeds, -1)
    kept = evenly_spread(len(rounds), len(rounds) if points is None else points)
    return Curve(rounds[kept], np.ascontiguousarray(values.T[kept]))


@dataclass(frozen=True)
class Reference:
    """A line to compare regrets with, on games in which both players have the same number of actions.

    >>> root = Reference("sqrt(m t)", lambda actions, rounds: np.sqrt(actions * rounds))
    >>> root.height(4, np.array([1.0, 25.0, 100.0]))
    array([ 2., 10., 20.])
    """

    label: str  # in the legend
    height: Callable[[int, Floats], Floats]  # (number of actions, rounds) to one height per round


def plot_reference(ax: Axes, reference: Reference, actions: int, rounds: ArrayLike, label: str = "") -> Axes:
    """Draw a dotted reference line on axes that have curves.

    Args:
        ax: axes that have curves.
        reference: the line.
        actions: the number of actions of each player.
        rounds: the rounds at which it is drawn.
        label: the label in the legend; by default that of the reference.

    >>> from coebl.study import Results
    >>> ax = plot_curves(Results("results"), "pseudo_regret", {"UCB": ("rps", "ucb", "exp3")})
    >>> root = Reference("sqrt(m t)", lambda actions, rounds: np.sqrt(actions * rounds))
    >>> ax = plot_reference(ax, root, actions=3, rounds=range(1, 101))
    """
    t = np.asarray(rounds, dtype=float)
    ax.plot(t, reference.height(actions, t), label=label or reference.label, **REFERENCE)
    return ax


def _line_styles(data: Any, lines: Mapping[str, Sequence[str]], known: Known) -> dict[str, Style]:
    """Return the style of each line: the look of its first learner if all first learners differ, else of its second.

    If neither differ, it has the colour of the first learner and the dashes of the second; symbols distinguish lines
    that would still look the same.
    """
    if hasattr(data, "matches"):
        everyone = [spec for match in data.matches() for spec in match[1:]]
    else:
        everyone = data["players"].unique(maintain_order=True).explode().to_list()
    seats = [[match[seat] for match in lines.values()] for seat in (1, 2)]
    for specs in seats:
        if len(set(specs)) == len(specs):
            by_spec = looks([*everyone, *specs], plainest=specs, known=known)
            return {label: by_spec[spec].style for label, spec in zip(lines, specs, strict=True)}
    by_row, by_column = (looks([*everyone, *specs], plainest=specs, known=known) for specs in seats)
    symbols: dict[Look, Iterator[str]] = {}
    styles: dict[str, Style] = {}
    for label, row, column in zip(lines, *seats, strict=True):
        look = Look(by_row[row].colour, by_column[column].dashes)
        styles[label] = look._replace(symbol=next(symbols.setdefault(look, cycle(SYMBOLS)))).style
    return styles


def draw_mean(ax: Axes, rounds: Ints, values: Floats, label: str, style: Style) -> int:
    """Draw the mean over the runs with the band of its interval, if there is one; return the number of seeds."""
    band = Band.of(values)
    note = "" if np.isfinite(band.mean).any() else " (infinite)"
    (line,) = ax.plot(rounds, band.mean, label=label + note, **style)
    if band.seeds > 1:
        ax.fill_between(rounds, band.low, band.high, color=line.get_color(), alpha=BAND, linewidth=0)
    return band.seeds


# Panels

MOST_LINES = 40  # in a panel; more cannot be distinguished
MOST_PANELS = 24


def plot_panels(
    data: Data,
    metric: str,
    matches: Iterable[tuple[str, ...]],
    log: bool = False,
    noise: str | None = None,
    known: Known | None = None,
) -> Figure:
    """Plot the mean of a metric by round, with the band of its 95 % interval: a panel per game, a line per match.

    For `hitting_time` it plots the share of runs that have hit, by budget.

    Games and learners are sorted by name and number. A pair of learners looks the same in every panel. Only the first
    24 games and 40 pairs are drawn; the legend gives the number of others.

    Args:
        data: the results of a study, or a frame in the columns of `Results.curves`.
        metric: the name of the metric.
        matches: the game and the players of each.
        log: put rounds on a logarithmic axis.
        noise: the noise, if matches were played with several.
        known: titles and colours of learners and metrics that are not built in; by default those of the results.

    >>> from coebl.study import Results
    >>> results = Results("results")
    >>> figure = plot_panels(results, "exploitability", results.matches())
    """
    present = set(matches)
    check_some("matches", present)
    games = sorted({game for game, *_ in present}, key=GAMES.order)
    pairs = sorted({match[1:] for match in present}, key=lambda players: tuple(map(LEARNERS.order, players)))
    kept = [(game, [pair for pair in pairs[:MOST_LINES] if (game, *pair) in present]) for game in games]
    shown = [(game, of_game) for game, of_game in kept if of_game][:MOST_PANELS]
    known = known_to(data) if known is None else known
    times = _times(data, noise) if metric == HittingTime.name else {}
    labels = {pair: drawable(label) for pair, label in _labels(pairs, known, short=bool(times)).items()}
    styles = _line_styles(data, {labels[pair]: ("", *pair) for pair in pairs[:MOST_LINES]}, known)
    with panels(len(shown), _HEIGHT, margin=len(shown) == 1) as (figure, axes):
        for ax, (game, of_game) in zip(axes, shown, strict=True):
            if times:
                plot_ecdf({labels[pair]: times[game, pair] for pair in of_game}, ax, legend=False, styles=styles)
            else:
                lines = {labels[pair]: (game, *pair) for pair in of_game}
                plot_curves(data, metric, lines, ax, styles, legend=False, noise=noise, known=known)
            ax.set_title(textwrap.fill(drawable(game_title(game)), _TITLE), fontsize="medium")
            if log and not times:
                ax.set_xscale("log")
                ax.set_xlim(1, None)
        for above in axes[:-3]:  # panels with another panel below
            above.set_xlabel("")
        left_out = [
            (len(games) - len(shown), "more game", "more games"),
            (len(pairs[MOST_LINES:]), "more match of each game", "more matches of each game"),
        ]
        notes = " and ".join(counted(*words) for words in left_out if words[0])
        _add_common_legend(figure, f"not shown: {notes}" if notes else "")
    return figure


def _times(data: Any, noise: str | None) -> dict[tuple[str, tuple[str, ...]], Runtimes]:
    """Return the hitting times by game and players, with one noise."""
    runtimes = read_runtimes(data.last([HittingTime.name]) if hasattr(data, "last") else data)
    noises = list(dict.fromkeys(match.noise for match in runtimes))
    if noise is None and len(noises) > 1:
        raise InputError(f"there are matches with several noises, {', '.join(noises)}; name one as noise=.")
    return {(match.game, match.players): runs for match, runs in runtimes.items() if noise in (None, match.noise)}


def _labels(pairs: Sequence[tuple[str, ...]], known: Known, short: bool = False) -> dict[tuple[str, ...], str]:
    """Return the label of the players of each match; if `short`, a learner in self-play is named once."""
    titles = {
        spec: title + _MARK * (learner_words(spec, known).kind in REFERENCES)
        for spec, title in learner_titles((spec for pair in pairs for spec in pair), known).items()
    }
    return {
        players: titles[players[0]] if short and len({*players}) == 1 else " v ".join(map(titles.__getitem__, players))
        for players in pairs
    }


def _add_common_legend(figure: Figure, note: str) -> None:
    """Add one legend for all panels, below them: the lines, their bands, and notes."""
    entries = legend_entries(figure.axes)
    bands = {label: handle for label, handle in entries.items() if label.startswith(_BAND_LABEL)}
    lines = {label: handle for label, handle in entries.items() if label not in bands}
    marked = f"{_MARK} sees more than a bandit does, for reference" if any(_MARK in label for label in lines) else ""
    empty = require("matplotlib.lines").Line2D([], [], linestyle="none")
    shown = lines | bands | dict.fromkeys(filter(None, (marked, note)), empty)
    add_legend(figure, shown, "outside lower center", most=6)
