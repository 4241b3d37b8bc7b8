"""The curves of many matches: a panel per game, and one legend below that has room for all of them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from coebl.core.modules import require
from coebl.core.text import counted
from coebl.games import GAMES
from coebl.learners import LEARNERS, REFERENCES
from coebl.naming.described import known_to
from coebl.naming.sweeps import learner_titles
from coebl.naming.titles import game_title, learner_words
from coebl.plots.curves import BAND_LABEL, line_styles, plot_curves
from coebl.plots.style import COLUMN, WIDTH, check_some, lay_out, look, new_figure
from coebl.runs import Source

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

MOST_LINES = 40  # of a panel: more cannot be told apart
MOST_PANELS = 24

_MARK = "*"  # behind the titles of learners that see more than bandits do
_ACROSS = 3  # panels side by side
_TITLE = 26  # characters of a panel's title in a line
_HEIGHT = 1.75  # of a panel, in inches
_MARGIN = 0.1  # around the legend, in inches


def plot_panels(source: Source, metric: str, matches: Iterable[tuple[str, str, str]], log: bool = False) -> Figure:
    """The mean of a metric by round, with the band of its 95 % interval: a panel per game, a line per match.

    Games and learners are in the order of their names and numbers. A pair of learners looks the same in every panel.
    Beyond MOST_PANELS games and MOST_LINES pairs, the legend says how many are left out.

    Args:
        source: where the runs are.
        metric: which.
        matches: game, row and column of each.
        log: whether rounds are on a logarithmic axis.

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
    labels = _labels(source, pairs)
    styles = line_styles(source, {labels[pair]: ("", *pair) for pair in pairs[:MOST_LINES]})
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    with look():
        figure = new_figure(WIDTH if across > 1 else COLUMN + 1, _HEIGHT * down + (across == 1))
        axes = figure.subplots(down, across, squeeze=False).ravel()
        for place, (ax, (game, of_game)) in enumerate(zip(axes, panels, strict=False)):
            lines = {labels[pair]: (game, *pair) for pair in of_game}
            plot_curves(source, metric, lines, ax, styles, legend=False)
            ax.set_title(textwrap.fill(game_title(game), _TITLE), fontsize="medium")
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


def _labels(source: Source, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    known = known_to(source)
    titles = {
        spec: title + _MARK * (learner_words(spec, known).kind in REFERENCES)
        for spec, title in learner_titles((spec for pair in pairs for spec in pair), known).items()
    }
    return {(row, column): f"{titles[row]} v {titles[column]}" for row, column in pairs}


def _left_out(games: int, pairs: int) -> str:
    """What is not drawn, in words."""
    more = [(games, "more game", "more games"), (pairs, "more match of each game", "more matches of each game")]
    parts = [counted(*one) for one in more if one[0] > 0]
    return f"not shown: {' and '.join(parts)}" if parts else ""


def _add_legend(figure: Figure, note: str) -> None:
    """One legend for all panels, below them, in as many columns as fit; the figure grows until it has room."""
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
