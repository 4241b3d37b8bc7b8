"""The picture of the README: who wins against COEBL in the three variants, side by side on one colour scale."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coebl.core.text import number_text, with_minus
from coebl.evidence.statistics import ALPHA
from coebl.naming import game_title, learner_title
from coebl.papers import Variant
from coebl.papers.ijcai2025 import PAPER
from coebl.papers.ijcai2025.variants import BASELINES, VARIANTS, games
from coebl.plots.heat_map import draw_matrix
from coebl.plots.style import NOTE, lay_out, look, new_figure
from tools.templates import read_json

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME = "who-wins"
_OPEN = "not significant"
_WORDS = {"holds": "won", _OPEN: "undecided", "fails": "lost"}
_HEADINGS = {"text": "the paper's text", "c=2": "c = 2 everywhere", "as-released": "c = 2, baselines as released"}

CheckValues = Mapping[str, Any]  # as `coebl.evidence` has it in plain values
Checks = Mapping[str, Mapping[str, CheckValues]]  # by variant, and by what they are about


def read_checks(results: Path) -> Checks:
    """The checks of the main claim, which are all that the picture shows, from the summary of a reproduction."""
    verdicts = read_json(results / "claims.json")
    return {
        verdict["variant"]: {check["subject"]: check for check in verdict["checks"]}
        for verdict in verdicts
        if verdict["id"] == PAPER.page.headline
    }


def draw_picture(checks: Checks) -> Figure:
    """Three heat maps: games down, baselines across, blue where COEBL wins and orange where it loses."""
    chosen = {id: _matrix(variant, checks[id]) for id, variant in VARIANTS.items()}
    largest = max(abs(check["measured"]) for rows in chosen.values() for row in rows for check in row)
    seeds = {check["n"] for of_variant in checks.values() for check in of_variant.values()}
    with look():
        figure = new_figure(8.4, 4.5)
        axes = figure.subplots(1, len(chosen), sharey=True)
        for ax, (variant, rows) in zip(axes, chosen.items(), strict=True):
            _draw(ax, rows, largest)
            ax.set_title(_HEADINGS[variant], fontsize=10, pad=20, fontweight="bold")
            outcomes = [check["verdict"] for row in rows for check in row]
            counts = (f"{outcomes.count(outcome)} {word}" for outcome, word in _WORDS.items())
            ax.set_xlabel(", ".join(counts), fontsize=9)
        axes[0].set_yticks(np.arange(len(games())) + 0.5, map(game_title, games()), fontsize=9)
        figure.suptitle(
            "What COEBL wins from each baseline in 3000 rounds: blue, COEBL wins; orange, it loses", fontsize=11
        )
        figure.supxlabel(
            f"pseudo-regret of the baseline, mean of {min(seeds)} seeds; shades by square root, one scale for all.\n"
            "Hatched: undecided at 5 % after Holm's correction; °: decided before that correction only.",
            fontsize=8.5,
            color=NOTE,
        )
        lay_out(figure)
        return figure


def _matrix(variant: Variant, checks: Mapping[str, CheckValues]) -> list[list[CheckValues]]:
    """The checks by game and baseline."""
    return [[checks[str(variant.match(game, role, "coebl"))] for role in BASELINES] for game in games()]


def _text(check: CheckValues) -> str:
    """The number of a match, marked if it would be decided without Holm's correction."""
    value = float(check["measured"])
    before_only = "°" if check["verdict"] == _OPEN and min(check["p_for"], check["p_against"]) <= ALPHA else ""
    return with_minus(number_text(value, 1 + max(1, math.floor(math.log10(abs(value)))), ",")) + before_only


def _draw(ax: Axes, rows: list[list[CheckValues]], largest: float) -> None:
    checks = {(row, column): check for row, line in enumerate(rows) for column, check in enumerate(line)}
    means = np.array([[check["measured"] for check in row] for row in rows])
    undecided = {cell for cell, check in checks.items() if check["verdict"] == _OPEN}
    draw_matrix(ax, means, {cell: _text(check) for cell, check in checks.items()}, undecided, [largest], fontsize=9)
    ax.set_xticks(np.arange(len(BASELINES)) + 0.5, map(learner_title, BASELINES), fontsize=9)
