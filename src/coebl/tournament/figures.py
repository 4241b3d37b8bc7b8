"""The figures of a tournament: the standings, and the verdicts on the statements about a learner."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from coebl.core.specs import split_spec, unescape
from coebl.core.text import counted, one_line
from coebl.evidence.judge import AimRow, Verdict
from coebl.learners.base import KINDS, REFERENCES, Kind
from coebl.naming import NOTHING, Known, Style, game_title, learner_titles, looks, parameters_text
from coebl.plots.heat_map import draw_matrix, shades_of
from coebl.plots.style import AGAINST, FOR, GUIDE, NOTE, drawable, drawing, plain_log_scale
from coebl.tournament.standings import Standing, Standings, kinds_in
from coebl.tournament.statements import Trial
from coebl.tournament.suite import Statement, StatementKind

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEADING: Style = {
    "fontsize": 7,
    "fontweight": "bold",
    "color": NOTE,
    "va": "center",
    "ha": "left",
    "in_layout": False,
    "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1},
}


def plot_standings(standings: Standings, known: Known = NOTHING, own: Collection[str] = ()) -> Figure:
    """Plot the earnings and the losses of each learner: two columns of dots by kind, with a ring for those in `own`."""
    rows = standings.standings
    titles = learner_titles((entry.learner for entry in rows), known)
    colours = {spec: look.colour for spec, look in looks(titles, known=known).items()}
    lines: list[Standing | Kind] = []
    for kind in kinds_in(rows):
        lines += [kind, *(entry for entry in rows if entry.kind == kind)]
    with drawing(5.2, 1.35 + 0.185 * len(lines)) as figure:
        axes = figure.subplots(1, 2, sharey=True)
        for y, line in enumerate(lines):
            if isinstance(line, str):
                heading = KINDS[line] + " (reference)" * (line in REFERENCES)
                axes[0].text(0, y + 0.15, heading, transform=axes[0].get_yaxis_transform(), **_HEADING)
                continue
            ring = {"markeredgecolor": "black", "markeredgewidth": 1.2} if line.learner in own else {}
            for ax, estimate in zip(axes, (line.advantage, line.regret), strict=True):
                color = colours[line.learner]
                ends = [100 * estimate.low, 100 * estimate.high]
                ax.plot(ends, [y, y], color=color, linewidth=1.2, alpha=0.6, solid_capstyle="butt")
                ax.plot(100 * estimate.mean, y, "o", color=color, **{"markersize": 5, **ring})
        axes[0].axvline(0, **GUIDE)
        axes[0].set_zorder(2)  # to draw its headings over the lines of both axes
        least, scale = min(entry.regret.low for entry in rows), ""
        if least > 0 and max(entry.regret.high for entry in rows) > 5 * least:
            plain_log_scale(axes[1], "x")
            axes[1].xaxis.set_major_formatter("{x:g}")
            scale = "; log scale"
        earned, lost = "earned from the others", "lost to a best response"
        if standings.general:
            earned, lost = "earned above the mean", "swap regret"
        axes[0].set_title(f"{earned}\n(right is better)", fontsize="medium")
        axes[1].set_title(f"{lost}\n(left is better{scale})", fontsize="medium")
        named = {y: line for y, line in enumerate(lines) if not isinstance(line, str)}
        axes[0].set_yticks(list(named), [drawable(titles[entry.learner]) for entry in named.values()])
        axes[0].set_ylim(len(lines) - 0.4, -0.8)
        for label, entry in zip(axes[0].get_yticklabels(), named.values(), strict=True):
            label.set_fontweight("bold" if entry.learner in own else "normal")
        for ax in axes:
            ax.patch.set_visible(False)  # over the headings
            ax.tick_params(axis="y", length=0)
            ax.spines["left"].set_visible(False)
            ax.grid(visible=False, axis="y")
        figure.suptitle(textwrap.fill(drawable(leaders(standings, titles)), 56), fontsize=9, fontweight="bold")
        seats = "every seat" if standings.general else "both seats"
        figure.supxlabel(
            "% of the payoff range per round, with 95 % intervals over games\n"
            f"{counted(len(standings.games), 'game')}, {standings.seeds} seeds, {seats}; colours as in all figures",
            fontsize=8,
            color=NOTE,
        )
    return figure


def leaders(standings: Standings, titles: Mapping[str, str]) -> str:
    """Return the leaders by their means, in words; references are left out."""
    rows = standings.standings
    contenders = [entry for entry in rows if entry.kind not in REFERENCES]
    who = "Of learners that see only what is played, " if 0 < len(contenders) < len(rows) else ""
    most = max(contenders or rows, key=lambda entry: entry.advantage.mean)
    least = min(contenders or rows, key=lambda entry: entry.regret.mean)
    names = [titles[entry.learner] for entry in (most, least)]
    joint = " and" if most is least else f", and {names[1]}"
    least_of = "has the least swap regret" if standings.general else "loses least to a best response"
    return f"{who}{names[0]} earns the most on average{joint} {least_of}"


# The verdicts


def plot_trial(
    trial: Trial, statements: Sequence[Statement], verdicts: Sequence[Verdict], known: Known = NOTHING
) -> Figure:
    """Plot a panel per statement about a learner, with a line per game, from the verdicts on them."""
    titles = learner_titles([trial.subject, *trial.opponents], known)
    # The widths of the panels in inches; together with the names of the games they are as wide as a page of the site.
    widths = [2.5 if statement.kind == "head-to-head" else 1.1 for statement in statements]
    with drawing(2.9 + sum(widths), 1.9 + 0.17 * len(trial.games)) as figure:
        panels = figure.subplots(1, len(widths), width_ratios=widths, sharey=True, squeeze=False)[0]
        for ax, statement, verdict in zip(panels, statements, verdicts, strict=True):
            _DRAW_PANEL[statement.kind](ax, statement, verdict.aim.rows if verdict.aim else [], trial, titles)
            ax.spines[:].set_visible(False)
            ax.tick_params(length=0)
            if statement.kind != "head-to-head":
                ax.tick_params(axis="x", labelsize=6, rotation=90)
        labels = [f"{one_line(_short_title(game), 52)}  {played.rounds:,}" for game, played in trial.games.items()]
        panels[0].set_yticks(np.arange(len(labels)) + 0.5, labels, fontsize=6)
        panels[0].set_ylim(len(labels), 0)
        panels[0].text(-0.01, 1.005, "game  rounds", transform=panels[0].transAxes, ha="right", va="bottom", color=NOTE)
    return figure


def _short_title(game: str) -> str:
    """Return the title of a game without its seed; of a modified game, that of the inner game and the modification.

    >>> _short_title("scaled:game=permuted:game=random-gaussian:m=6++n=3++seed=7+seed=1,scale=0.1")
    'Random, normal, 6 × 3, permuted, scaled'
    """
    name, values = split_spec(game).name, split_spec(game).arguments
    shown = ",".join(f"{key}={value}" for key, value in values.items() if key not in ("seed", "noise"))
    title, m, n = game_title(f"{name}:{shown}" if shown else name), values.get("m"), values.get("n")
    words = [title.replace(parameters_text(f"m={m},n={n}"), f"{m} × {n}")]
    if "game" in values:
        words = [_short_title(unescape(values["game"])), name]
    if "noise" in values:
        words.append(f"{split_spec(unescape(values['noise'])).name} noise")
    return ", ".join(words)


def _draw_duels(
    ax: Axes, statement: Statement, rows: Sequence[AimRow], trial: Trial, titles: Mapping[str, str]
) -> None:
    """Draw a heat map of advantages; undecided ones are hatched, and those where the subject is behind are framed."""
    from matplotlib.patches import Rectangle

    shape = len(trial.games), len(trial.opponents)
    shares = 100 * np.array([row.relative for row in rows]).reshape(shape)
    outcomes = dict(zip(np.ndindex(shape), (row.outcome for row in rows), strict=True))
    undecided = {cell for cell, outcome in outcomes.items() if outcome == "level"}
    draw_matrix(ax, shades_of(shares, shares), dict.fromkeys(outcomes, ""), undecided)
    for (y, x), outcome in outcomes.items():
        if outcome == "behind":
            ax.add_patch(Rectangle((x + 0.05, y + 0.07), 0.9, 0.86, fill=False, edgecolor="black", linewidth=1.2))
    names = [titles[spec] for spec in trial.opponents]
    ax.set_xticks(np.arange(shape[1]) + 0.5, names, rotation=60, ha="left", rotation_mode="anchor", fontsize=6)
    for column in range(shape[1]):
        counts = Counter(outcomes[row, column] for row in range(shape[0]))
        tally = "\n".join(str(counts[word]) for word in ("ahead", "level", "behind"))
        ax.text(column + 0.5, shape[0] + 0.15, tally, ha="center", va="top", fontsize=6)
    ax.text(-0.15, shape[0] + 0.15, "ahead\nundecided\nbehind", ha="right", va="top", fontsize=6, color=NOTE)
    ax.set_xlabel(
        f"({statement.id}) {titles[trial.subject]} head to head, both seats. Blue: it\nearns more; orange: less. "
        "Hatched: undecided after\nHolm's correction; black frame: behind.",
        color=NOTE,
        labelpad=26,
        fontsize=6,
    )


def _draw_ratios(
    ax: Axes, statement: Statement, rows: Sequence[AimRow], trial: Trial, titles: Mapping[str, str]
) -> None:
    """Draw the ratio to the best opponent with its interval, or of the worst run to the median, and their limits."""
    ratio = statement.ratio
    lines = {1.0: ":", ratio: "--", statement.never_above or ratio: "-"}
    for limit, style in lines.items():
        ax.axvline(limit, **{**GUIDE, "linestyle": style})
    for place, estimate in enumerate(row.estimate for row in rows):
        number = estimate.mean
        if np.isfinite(number) and number > 0:
            color, marker = (AGAINST, "D") if number > ratio else (FOR, "o")
            if np.isfinite(estimate.low):
                ends = max(estimate.low, number / 10), min(estimate.high, number * 10)
                ax.plot(ends, [place + 0.5] * 2, color=color, linewidth=1)
            ax.plot(number, place + 0.5, marker, color=color, markersize=3.5)
    if len(ax.lines) > len(lines):
        plain_log_scale(ax, "x")
    limits = ", ".join(f"{limit:g}" for limit in lines)
    single = statement.kind == "single-runs"
    what = "the worst\nrun's by the median's" if single else "ratio to\nthe best opponent's"
    ax.set_xlabel(
        f"({statement.id}) regret v a best\nresponse: {what};\nlines: {limits}; orange\ndiamonds: above {ratio:g}",
        color=NOTE,
        fontsize=6,
    )


def _draw_self_play(
    ax: Axes, statement: Statement, rows: Sequence[AimRow], trial: Trial, titles: Mapping[str, str]
) -> None:
    """Draw the exploitability of the subject and of the best opponent in self-play."""
    for place, game in enumerate(trial.games):
        of_game = [row for row in rows if row.game == game and np.isfinite(row.estimate.mean)]
        if of_game:
            best = min(of_game, key=lambda row: row.means[1])
            ours, opponents = (100 * mean / trial.widths[game] for mean in best.means)
            color, marker = (AGAINST, "D") if any(row.outcome == "above" for row in of_game) else (FOR, "o")
            ax.plot([ours, opponents], [place + 0.5] * 2, color="0.75", linewidth=0.8, zorder=1)
            ax.plot(opponents, place + 0.5, "|", color="black", markersize=6)
            ax.plot(ours, place + 0.5, marker, color=color, markersize=3.5)
    if ax.lines:
        plain_log_scale(ax, "x")
    ax.set_xlabel(
        f"({statement.id}) exploitability in\nself-play, % of the range;\nblack tick: the least\n"
        "exploitable opponent;\norange diamond:\nsignificantly more\nthan some opponent",
        color=NOTE,
        fontsize=6,
    )


_DrawPanel = Callable[["Axes", Statement, Sequence[AimRow], Trial, Mapping[str, str]], None]
_DRAW_PANEL: dict[StatementKind, _DrawPanel] = {
    "head-to-head": _draw_duels,
    "best-response": _draw_ratios,
    "self-play": _draw_self_play,
    "single-runs": _draw_ratios,
}
