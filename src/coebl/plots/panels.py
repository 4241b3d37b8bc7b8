"""The curves of many matches: a panel per game, and one legend below."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from coebl.core.modules import require
from coebl.core.text import counted
from coebl.games import GAMES
from coebl.learners import LEARNERS, REFERENCES
from coebl.naming import Known, game_title, known_to, learner_titles, learner_words
from coebl.plots.curves import BAND_LABEL, Data, line_styles, plot_curves
from coebl.plots.style import COLUMN, WIDTH, check_some, drawable, lay_out, look, new_figure

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

MOST_LINES = 40  # of a panel: more cannot be distinguished
MOST_PANELS = 24

_MARK = "*"  # behind the titles of learners that see more than bandits do
_ACROSS = 3  # panels side by side
_TITLE = 26  # characters of a panel's title in a line
_HEIGHT = 1.75  # of a panel, in inches
_MARGIN = 0.1  # around the legend, in inches


def plot_panels(
    data: Data,
    metric: str,
    matches: Iterable[tuple[str, str, str]],
    log: bool = False,
    noise: str | None = None,
    known: Known | None = None,
) -> Figure:
    """Plot the mean of a metric by round, with the band of its 95 % interval: a panel per game, a line per match.

    Games and learners are in the order of their names and numbers. A pair of learners looks the same in every panel.
    Beyond MOST_PANELS games and MOST_LINES pairs, the legend gives the number of those that are left out.

    Args:
        data: the results of a study, or a frame in the columns of `Results.curves`.
        metric: the name of the metric.
        matches: game, row and column of each.
        log: put rounds on a logarithmic axis.
        noise: the noise, if matches were played with several.
        known: titles and colours of learners and metrics that are not built in; by default those of the results.

    >>> from coebl.study import Results
    >>> results = Results("results")
    >>> figure = plot_panels(results, "exploitability", results.matches())
    """
    present = set(matches)
    check_some("matches", dict.fromkeys(present))
    games = sorted({game for game, _, _ in present}, key=GAMES.order)
    pairs = sorted({(row, column) for _, row, column in present}, key=lambda pair: tuple(map(LEARNERS.order, pair)))
    kept = [(game, [pair for pair in pairs[:MOST_LINES] if (game, *pair) in present]) for game in games]
    panels = [(game, of_game) for game, of_game in kept if of_game][:MOST_PANELS]
    known = known_to(data) if known is None else known
    labels = {pair: drawable(label) for pair, label in _labels(pairs, known).items()}
    styles = line_styles(data, {labels[pair]: ("", *pair) for pair in pairs[:MOST_LINES]}, known)
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    with look():
        figure = new_figure(WIDTH if across > 1 else COLUMN + 1, _HEIGHT * down + (across == 1))
        axes = figure.subplots(down, across, squeeze=False).ravel()
        for place, (ax, (game, of_game)) in enumerate(zip(axes, panels, strict=False)):
            lines = {labels[pair]: (game, *pair) for pair in of_game}
            plot_curves(data, metric, lines, ax, styles, legend=False, noise=noise, known=known)
            ax.set_title(textwrap.fill(drawable(game_title(game)), _TITLE), fontsize="medium")
            if log:
                ax.set_xscale("log")
                ax.set_xlim(1, None)
            ax.set_ylabel(ax.get_ylabel() if place % across == 0 else "")
            ax.set_xlabel(ax.get_xlabel() if place + across >= len(panels) else "")
        for ax in axes[len(panels) :]:
            ax.remove()
        _add_legend(figure, _left_out(len(games) - len(panels), len(pairs) - len(pairs[:MOST_LINES])))
        lay_out(figure)
    return figure


def _labels(pairs: Sequence[tuple[str, str]], known: Known) -> dict[tuple[str, str], str]:
    titles = {
        spec: title + _MARK * (learner_words(spec, known).kind in REFERENCES)
        for spec, title in learner_titles((spec for pair in pairs for spec in pair), known).items()
    }
    return {(row, column): f"{titles[row]} v {titles[column]}" for row, column in pairs}


def _left_out(games: int, pairs: int) -> str:
    """Return a note on the matches that are not drawn."""
    more = [(games, "more game", "more games"), (pairs, "more match of each game", "more matches of each game")]
    parts = [counted(*words) for words in more if words[0] > 0]
    return f"not shown: {' and '.join(parts)}" if parts else ""


def _add_legend(figure: Figure, note: str) -> None:
    """Add one legend for all panels, below them, in as many columns as fit; the figure grows to make room."""
    entries: dict[str, Artist] = {}
    for ax in figure.axes:
        entries |= {
            label: entries.get(label, handle) for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
        }
    lines = {label: handle for label, handle in entries.items() if not label.startswith(BAND_LABEL)}
    bands = {label: handle for label, handle in entries.items() if label not in lines}
    notes = [f"{_MARK} sees more than a bandit does, for reference"] * any(_MARK in label for label in lines) + [note]
    for note in filter(None, notes):
        bands[note] = require("matplotlib.lines").Line2D([], [], linestyle="none")
    shown = lines | bands
    for columns in range(min(len(shown), 6), 0, -1):
        legend = figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=columns)
        box = legend.get_window_extent()
        width, height = box.width / figure.dpi + 2 * _MARGIN, box.height / figure.dpi
        if width <= figure.get_figwidth() or columns == 1:
            break
        legend.remove()
    figure.set_size_inches(max(width, figure.get_figwidth()), figure.get_figheight() + height + _MARGIN)
