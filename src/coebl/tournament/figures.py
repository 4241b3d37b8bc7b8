"""The figures of a tournament: the standings, and the verdicts on the statements about a learner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.text import one_line, with_minus
from coebl.evidence.statistics import Estimate
from coebl.learners.base import Kind
from coebl.naming import NOTHING, Known, Style, learner_titles, looks
from coebl.plots.heat_map import draw_matrix
from coebl.plots.style import (
    AGAINST,
    FOR,
    GUIDE,
    NOTE,
    WIDTH,
    canvas,
    label_points,
    lay_out,
    look,
    new_figure,
    plain_log_scale,
)
from coebl.tournament.standings import Standings, kinds_in
from coebl.tournament.statements import MISSING
from coebl.tournament.suite import StatementKind

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS: dict[Kind, str] = {"bandit": "o", "informed bandit": "s", "full information": "^", "oracle": "D"}
_RISES = (5, -5, 0, 12, -12, 19, -19, 26, -26)  # of labels, in points of print: there is a crowd in the middle
_POINT: Style = {"markersize": 5, "markeredgecolor": "white", "markeredgewidth": 0.5, "zorder": 3}


def plot_standings(standings: Standings, known: Known = NOTHING, ax: Axes | None = None) -> Axes:
    """Mean advantage to the right, worst-case regret upwards: the best learners are on the right and below."""
    rows = standings.standings
    specs = [entry.learner for entry in rows]
    look = looks(sorted(specs), known=known)
    titles = learner_titles(specs, known)
    x, across = _with_bars([entry.advantage for entry in rows])
    y, along = _with_bars([entry.regret for entry in rows])
    colours = [str(look[spec].style["color"]) for spec in specs]
    with canvas(ax, width=WIDTH, height=5.0) as ax:
        ax.axvline(0, **GUIDE)
        for place, entry in enumerate(rows):
            ends = along[:, place : place + 1], across[:, place : place + 1]
            ax.errorbar(x[place], y[place], *ends, fmt="none", ecolor=colours[place], elinewidth=0.8, alpha=0.35)
            ax.plot(x[place], y[place], _MARKERS[entry.kind], color=colours[place], **_POINT)
        for kind in kinds_in(rows):
            ax.plot([], [], _MARKERS[kind], color="0.4", label=kind, **_POINT)
        ax.plot([], [], "-", color="0.6", linewidth=0.8, label="95 % interval, games and seeds resampled")
        if y.min() > 0 and y.max() > 5 * y.min():
            plain_log_scale(ax)
        ax.set_xlabel("mean advantage over all others, % of the payoff range per round  →  wins more")
        ax.set_ylabel("regret against best-response, % per round\nharder to exploit  ←")
        ax.set_title(f"{len(standings.games)} games, {standings.seeds} seeds, both seats", loc="left", color=NOTE)
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.03), ncols=4)
        ax.margins(0.08)
        lay_out(ax.figure)  # type: ignore[arg-type]
        label_points(ax, [titles[spec] for spec in specs], x, y, rises=_RISES)
        return ax


def _with_bars(estimates: list[Estimate]) -> tuple[Floats, Floats]:
    """Values in percent, and how far the ends of their intervals are, (2, values)."""
    value, low, high = 100 * np.array([(estimate.mean, estimate.low, estimate.high) for estimate in estimates]).T
    return value, np.maximum(0, np.stack([value - low, high - value]))


# The verdicts

_SHARE: dict[StatementKind, float] = {"head-to-head": 6.4, "best-response": 2.4, "self-play": 2.4}  # of the width


def plot_trial(trial: Mapping[str, Any], known: Known = NOTHING) -> Figure:
    """A panel per statement about a learner, a line per game."""
    titles = learner_titles([trial["subject"], *trial["opponents"]], known)
    games, statements = trial["games"], trial["statements"].values()
    draw: dict[StatementKind, Callable[[Axes, Mapping[str, Any], Mapping[str, Any], dict[str, str]], None]] = {
        "head-to-head": _draw_duels,
        "best-response": _draw_ratios,
        "self-play": _draw_self_play,
    }
    with look():
        shares = [_SHARE[statement["kind"]] for statement in statements]
        figure = new_figure(2.8 + 0.72 * sum(shares), 1.5 + 0.24 * len(games))
        panels = figure.subplots(1, len(shares), width_ratios=shares, sharey=True, squeeze=False)[0]
        for ax, statement in zip(panels, statements, strict=True):
            draw[statement["kind"]](ax, statement, trial, titles)
            ax.spines[:].set_visible(False)
            ax.tick_params(length=0)
        labels = [f"{one_line(game, 48)}  {played['rounds']:,}" for game, played in games.items()]
        panels[0].set_yticks(np.arange(len(games)) + 0.5, labels, fontsize=6.5)
        panels[0].set_ylim(len(games), 0)
        panels[0].text(-0.01, 1.005, "game  rounds", transform=panels[0].transAxes, ha="right", va="bottom", color=NOTE)
        lay_out(figure)
    return figure


def _draw_duels(ax: Axes, statement: Mapping[str, Any], trial: Mapping[str, Any], titles: dict[str, str]) -> None:
    """A heat map of advantages; level ones are hatched, and those where the subject is behind have a frame."""
    from matplotlib.patches import Rectangle

    shape = len(trial["games"]), len(trial["opponents"])
    shares = 100 * np.array([row["relative"] for row in statement["rows"]]).reshape(shape)
    outcomes = dict(zip(np.ndindex(shape), (row["outcome"] for row in statement["rows"]), strict=True))
    words = {cell: with_minus(_short(float(shares[cell]))) for cell, outcome in outcomes.items() if outcome != MISSING}
    level = {cell for cell, outcome in outcomes.items() if outcome == "level"}
    draw_matrix(ax, shares, words, level, shares, fontsize=6)
    for (y, x), outcome in outcomes.items():
        if outcome == "behind":
            ax.add_patch(Rectangle((x + 0.05, y + 0.07), 0.9, 0.86, fill=False, edgecolor="black", linewidth=1.4))
    ax.set_xticks(np.arange(shape[1]) + 0.5, [titles[spec] for spec in trial["opponents"]], rotation=35, ha="left")
    ax.set_xlabel(
        f"({statement['id']}) advantage of {titles[trial['subject']]}, % of the payoff range per round, both seats\n"
        "hatched: level (not significant after Holm); black frame: behind",
        color=NOTE,
    )


def _draw_ratios(ax: Axes, statement: Mapping[str, Any], trial: Mapping[str, Any], titles: dict[str, str]) -> None:
    """The ratio to the best opponent, with its interval; lines at the limits."""
    ratio = statement["ratio"]
    lines = {1.0: ":", ratio: "--", statement["never_above"] or ratio: "-"}
    for limit, style in lines.items():
        ax.axvline(limit, **{**GUIDE, "linestyle": style})
    for place, row in enumerate(statement["rows"]):
        number = row["measured"]
        if np.isfinite(number) and number > 0:
            color, marker = (AGAINST, "D") if number > ratio else (FOR, "o")
            ends = max(row["low"], number / 10), min(row["high"], number * 10)
            ax.plot(ends, [place + 0.5] * 2, color=color, linewidth=1)
            ax.plot(number, place + 0.5, marker, color=color, markersize=3.5)
    if len(ax.lines) > len(lines):
        plain_log_scale(ax, "x")
    limits = ", ".join(f"{limit:g}" for limit in lines)
    ax.set_xlabel(
        f"({statement['id']}) regret v best-response:\nratio to the best opponent's,\n95 % interval; lines: {limits};\n"
        f"diamonds: above {ratio:g}",
        color=NOTE,
    )


def _draw_self_play(ax: Axes, statement: Mapping[str, Any], trial: Mapping[str, Any], titles: dict[str, str]) -> None:
    """The exploitability of the subject and of the best opponent in self-play."""
    for place, (game, played) in enumerate(trial["games"].items()):
        rows = [row for row in statement["rows"] if row["game"] == game and np.isfinite(row["measured"])]
        if rows:
            best = min(rows, key=lambda row: float(row["opponent_mean"]))
            ours, opponents = (100 * best[key] / played["width"] for key in ("subject_mean", "opponent_mean"))
            color, marker = (AGAINST, "D") if any(row["outcome"] == "above" for row in rows) else (FOR, "o")
            ax.plot([ours, opponents], [place + 0.5] * 2, color="0.75", linewidth=0.8, zorder=1)
            ax.plot(opponents, place + 0.5, "|", color="black", markersize=6)
            ax.plot(ours, place + 0.5, marker, color=color, markersize=3.5)
    if ax.lines:
        plain_log_scale(ax, "x")
    ax.set_xlabel(
        f"({statement['id']}) exploitability in self-play,\n% of the payoff range;\nbar: the least opponent's;\n"
        "diamonds: above some",
        color=NOTE,
    )


def _short(number: float) -> str:
    """Two digits, and a sign.

    >>> _short(0.0312), _short(-1.26), _short(12.3)
    ('+0.03', '-1.3', '+12')
    """
    places = 2 if abs(number) < 0.995 else 1 if abs(number) < 9.95 else 0
    return f"{number:+.{places}f}"
