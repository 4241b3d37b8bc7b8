"""The figure of an explanation, in three panels: the matches, the rounds of the largest loss, and the policy there."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from coebl.core.text import counted
from coebl.engine.policy_paths import policy_paths
from coebl.evidence.explain import Explanation, Play
from coebl.naming import looks
from coebl.plots.curves import draw_mean
from coebl.plots.policy_plots import AREA_COLOURS, areas_of
from coebl.plots.style import AGAINST, FOR, GUIDE, NOTE, WIDTH, drawable, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 12  # matches shown, those with the largest losses
_DOMINATED = "////"
_WINDOWS = 30  # windows of rounds


def plot_explanation(explanation: Explanation) -> Figure:
    """Plot the largest losses of a learner, its largest loss over the rounds, and its policy in that match.

    Args:
        explanation: the result of `coebl.evidence.explain`.

    >>> from coebl.evidence.explain import explain
    >>> from coebl.study import Results
    >>> figure = plot_explanation(explain(Results("results"), "exp3"))
    >>> [ax.get_title() for ax in figure.axes][:2]
    ['Lost, % of the payoff range a round', 'Lost to UCB on Rock-paper-scissors']
    """
    shown = min(_MOST, len(explanation.losses))
    heights = [0.9 + 0.2 * shown, 1.9]
    with drawing(WIDTH, sum(heights)) as figure:
        top, below = figure.subfigures(2, 1, height_ratios=heights, squeeze=False)[:, 0]
        _draw_matches(top.subplots(), explanation)
        if isinstance(explanation.play, Play):
            left, right = below.subplots(1, 2)
            _draw_policy(right, explanation.play)
        else:
            left = below.subplots()
        _draw_rounds(left, explanation)
    return figure


def _draw_matches(ax: Axes, explanation: Explanation) -> None:
    """Draw the largest losses with their intervals; a hollow mark is undecided."""
    losses = explanation.losses[:_MOST]
    for place, loss in enumerate(losses):
        share, sign = loss.advantage, loss.advantage.sign
        colour = {1: AGAINST, 0: NOTE, -1: FOR}[sign]
        ax.plot([100 * share.low, 100 * share.high], [place, place], color=colour, linewidth=1.4)
        ax.plot(100 * share.mean, place, "o", color=colour, markersize=5, markerfacecolor=colour if sign else "white")
    ax.axvline(0, **GUIDE)
    ax.set_yticks(
        range(len(losses)), [textwrap.shorten(drawable(explanation.match_title(loss)), 64) for loss in losses]
    )
    ax.set(ylim=(len(losses) - 0.5, -0.5))
    ax.grid(visible=False, axis="y")
    ax.set_title("Lost, % of the payoff range a round")
    for colour, face, label in ((AGAINST, AGAINST, "lost"), (NOTE, "white", "undecided"), (FOR, FOR, "won")):
        ax.plot([], [], "o", color=colour, markerfacecolor=face, label=label)
    ax.legend(loc="lower right", fontsize=6)


def _draw_rounds(ax: Axes, explanation: Explanation) -> None:
    """Draw the loss up to each round, in payoff ranges, with the band of its interval."""
    colour = looks([explanation.learner], known=explanation.known)[explanation.learner].colour
    marker = "o" if len(explanation.rounds) == 1 else None
    draw_mean(ax, explanation.rounds, explanation.curve, "", {"color": colour, "marker": marker})
    ax.set(xlim=(0, explanation.rounds[-1]), xlabel="round", ylabel="payoff ranges, up to the round")
    title = f"Lost to {explanation.match_title(explanation.losses[0])}"
    ax.set_title(textwrap.fill(drawable(title), 40))


def _draw_policy(ax: Axes, play: Play) -> None:
    """Draw the mean policy over the runs in windows of rounds; dominated actions are hatched."""
    paths, last = policy_paths(play.result), play.result.match.rounds
    seat = paths.game.seats.index(play.seat)
    areas = areas_of(paths, seat)
    starts = np.unique(np.geomspace(1, last + 1, _WINDOWS + 1).round().astype(int))
    shares = areas.share(play.result.kept["policies"][seat].mean(axis=1))  # (rounds, areas)
    means = np.add.reduceat(shares, starts[:-1] - 1) / np.diff(starts)[:, None]
    steps = np.vstack([means, means[-1:]]).T
    drawn = ax.stackplot(starts, steps, colors=AREA_COLOURS, linewidth=0, step="post")
    for area, name, group in zip(drawn, areas.names, areas.groups, strict=True):
        worse = bool(play.dominated[list(group)].all())
        area.set(hatch=_DOMINATED if worse else None, edgecolor="white", linewidth=0)
        area.set_label(textwrap.shorten(drawable(name), 18, placeholder="…") + ", dominated" * worse)
    ax.set(xscale="log", xlim=(1, last), ylim=(0, 1), yticks=(0, 0.5, 1), xlabel="round")
    ax.grid(visible=False)
    handles, names = ax.get_legend_handles_labels()
    ax.legend(handles[::-1], names[::-1], loc="center left", bbox_to_anchor=(1, 0.5), fontsize=6, handlelength=1,
              ncols=1 + (len(names) > 9), columnspacing=0.6)  # fmt: skip
    ax.set_title(f"What it plays there, mean of {counted(len(play.result.seeds), 'run')}")
