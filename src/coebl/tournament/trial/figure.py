"""The figure of a test: head to head by game and opponent, the ratio against a best response, and self-play."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from coebl.core.text import one_line, with_minus
from coebl.naming.described import NOTHING, Known
from coebl.naming.sweeps import learner_titles
from coebl.plots.points import plain_log_scale
from coebl.plots.style import GUIDE, NOTE, lay_out, look, new_figure
from coebl.tournament.statements import StatementKind
from coebl.tournament.trial.judging import MISSING, Finding, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FAR, _NEAR = "#b2182b", "#2166ac"  # the ends of the map "RdBu"
_SHARE: dict[StatementKind, float] = {"head-to-head": 6.4, "best-response": 2.4, "self-play": 2.4}  # of the width


def plot_findings(findings: Sequence[Finding], known: Known = NOTHING) -> Figure:
    """A panel per statement, a line per game.

    Args:
        findings: on the statements about one subject.
        known: what the results say of their learners.
    """
    contest = findings[0].contest
    titles = learner_titles([contest.subject, *contest.opponents], known)
    games = list(contest.games)
    draw: dict[StatementKind, Callable[[Axes, Finding, dict[str, str]], None]] = {
        "head-to-head": _duels,
        "best-response": _ratios,
        "self-play": _settled,
    }
    with look():
        shares = [_SHARE[finding.statement.kind] for finding in findings]
        figure = new_figure(2.8 + 0.72 * sum(shares), 1.5 + 0.24 * len(games))
        panels = figure.subplots(1, len(findings), width_ratios=shares, sharey=True, squeeze=False)[0]
        for ax, finding in zip(panels, findings, strict=True):
            draw[finding.statement.kind](ax, finding, titles)
            ax.spines[:].set_visible(False)
            ax.tick_params(length=0)
        rounds = [arena.setting.rounds for arena in contest.games.values()]
        labels = [f"{one_line(game, 48)}  {number:,}" for game, number in zip(games, rounds, strict=True)]
        panels[0].set_yticks(np.arange(len(games)) + 0.5, labels, fontsize=6.5)
        panels[0].set_ylim(len(games), 0)
        panels[0].text(-0.01, 1.005, "game  rounds", transform=panels[0].transAxes, ha="right", va="bottom", color=NOTE)
        lay_out(figure)
    return figure


def _duels(ax: Axes, finding: Finding, titles: dict[str, str]) -> None:
    """A heat map of advantages; what is level is hatched, and where the subject is behind there is a frame."""
    from matplotlib.patches import Rectangle

    contest = finding.contest
    shape = len(contest.games), len(contest.opponents)
    shares = 100 * np.array([row.relative for row in finding.rows]).reshape(shape)
    largest = np.nanmax(np.abs(shares)) if np.isfinite(shares).any() else 1.0
    shades = np.sign(shares) * np.sqrt(np.abs(shares) / (largest or 1.0))
    ax.pcolormesh(shades, cmap="RdBu", vmin=-1.25, vmax=1.25, edgecolor="white", linewidth=1)
    for place, row in enumerate(finding.rows):
        y, x = divmod(place, shape[1])
        if row.outcome == MISSING:
            continue
        level, behind = row.outcome == "level", row.outcome == "behind"
        if level:
            ax.add_patch(Rectangle((x, y), 1, 1, fill=False, hatch="////", edgecolor="0.75", linewidth=0))
        if behind:
            ax.add_patch(Rectangle((x + 0.05, y + 0.07), 0.9, 0.86, fill=False, edgecolor="black", linewidth=1.4))
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8} if level else None
        color = "white" if abs(shades[y, x]) > 0.72 and not level else "black"
        style = "italic" if level else "normal"
        text = with_minus(_short(shares[y, x]))
        ax.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=6, color=color, fontstyle=style, bbox=box)
    ax.set_xticks(np.arange(shape[1]) + 0.5, [titles[one] for one in contest.opponents], rotation=35, ha="left")
    ax.xaxis.tick_top()
    ax.grid(visible=False)
    ax.set_xlabel(
        f"({finding.statement.id}) advantage of {titles[contest.subject]}, % of the payoff range per round, "
        "both seats\nhatched: level (not significant after Holm); black frame: behind",
        color=NOTE,
    )


def _ratios(ax: Axes, finding: Finding, titles: dict[str, str]) -> None:
    """The ratio to the best opponent, with its interval; lines at the limits."""
    statement = finding.statement
    lines = {1.0: ":", statement.ratio: "--", statement.never_above or statement.ratio: "-"}
    limits = ", ".join(f"{limit:g}" for limit in lines)
    for limit, style in lines.items():
        ax.axvline(limit, **{**GUIDE, "linestyle": style})
    rows = [(place, row) for place, row in enumerate(finding.rows) if np.isfinite(row.measured) and row.measured > 0]
    for place, row in rows:
        color = _FAR if row.measured > statement.ratio else _NEAR
        low, high = max(row.low, row.measured / 10), min(row.high, row.measured * 10)
        ax.plot([low, high], [place + 0.5] * 2, color=color, linewidth=1)
        ax.plot(row.measured, place + 0.5, "D" if row.measured > statement.ratio else "o", color=color, markersize=3.5)
    if rows:
        plain_log_scale(ax, "x")
    ax.set_xlabel(
        f"({statement.id}) regret v best-response:\nratio to the best opponent's,\n95 % interval; lines: {limits};\n"
        f"diamonds: above {statement.ratio:g}",
        color=NOTE,
    )


def _settled(ax: Axes, finding: Finding, titles: dict[str, str]) -> None:
    """How exploitable self-play leaves the subject and the best opponent."""
    contest = finding.contest
    shown = False
    for place, (game, arena) in enumerate(contest.games.items()):
        rows = [row for row in finding.rows if row.game == game and np.isfinite(row.measured)]
        if not rows:
            continue
        shown = True
        best = min(rows, key=_of_opponent)
        ours, theirs = (100 * mean / arena.width for mean in (best.subject_mean, best.opponent_mean))
        above = any(row.outcome == "above" for row in rows)
        color = _FAR if above else _NEAR
        ax.plot([ours, theirs], [place + 0.5] * 2, color="0.75", linewidth=0.8, zorder=1)
        ax.plot(theirs, place + 0.5, "|", color="black", markersize=6)
        ax.plot(ours, place + 0.5, "D" if above else "o", color=color, markersize=3.5)
    if shown:
        plain_log_scale(ax, "x")
    ax.set_xlabel(
        f"({finding.statement.id}) exploitability in self-play,\n% of the payoff range;\nbar: the least opponent's;\n"
        "diamonds: above some",
        color=NOTE,
    )


def _of_opponent(row: Row) -> float:
    return row.opponent_mean


def _short(number: float) -> str:
    """Two digits, and a sign.

    >>> _short(0.0312), _short(-1.26), _short(12.3)
    ('+0.03', '-1.3', '+12')
    """
    places = 2 if abs(number) < 0.995 else 1 if abs(number) < 9.95 else 0
    return f"{number:+.{places}f}"
