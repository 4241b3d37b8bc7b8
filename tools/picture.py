"""Pictures of the README and of docs/findings.md, from stored numbers: who wins against COEBL, and COEBL by c."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coebl import simulate
from coebl.core.text import number_text, with_minus
from coebl.evidence import Estimate
from coebl.naming import game_title, learner_style, learner_title, metric_words
from coebl.papers import Variant
from coebl.papers.ijcai2025 import (
    BASELINES,
    BEST_RESPONSE,
    MAIN_SIZES,
    PAPER,
    RATES,
    VARIANTS,
    coebl,
    family_of_games,
    games,
)
from coebl.plots import plot_simplex
from coebl.plots.heat_map import draw_matrix, shades_of
from coebl.plots.style import GUIDE, NOTE, drawing
from coebl.plots.sweep import draw_sweep
from tools.templates import read_json

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME = "who-wins"
_OPEN = "not significant"
_WORDS = {"holds": "won", _OPEN: "undecided", "fails": "lost"}
_HEADINGS = {"text": "the paper's text", "c=2": "c = 2 everywhere", "as-released": "c = 2, baselines as released"}

_NAMED_RATES = {False: {"2": "released", "8": "text"}, True: {"2": "released, text"}}  # on rock-paper-scissors or not
_SMALL: dict[str, Any] = {"rotation": 90, "fontsize": 7, "va": "top", "ha": "right", "color": NOTE}

CheckValues = Mapping[str, Any]  # a check of `coebl.evidence` in plain values
Checks = Mapping[str, Mapping[str, CheckValues]]  # by variant, and by subject


def read_checks(results: Path) -> Checks:
    """Return the checks of the main claim, which the picture shows, from the summary of a reproduction."""
    verdicts = read_json(results / "claims.json")
    return {
        verdict["variant"]: {check["subject"]: check for check in verdict["checks"]}
        for verdict in verdicts
        if verdict["id"] == PAPER.page.headline
    }


def draw_picture(checks: Checks) -> Figure:
    """Draw three heat maps: games down, baselines across, blue where COEBL wins and orange where it loses."""
    chosen = {id: _matrix(variant, checks[id]) for id, variant in VARIANTS.items()}
    largest = max(abs(check["measured"]) for rows in chosen.values() for row in rows for check in row)
    seeds = {check["n"] for of_variant in checks.values() for check in of_variant.values()}
    with drawing(8.4, 4.5) as figure:
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
            "Hatched: undecided at 5 % after Holm's correction over the matches of a panel.",
            fontsize=8.5,
            color=NOTE,
        )
    return figure


def draw_by_c(results: Path) -> Figure:
    """Draw COEBL by c, as in the figure by-c of the paper, from the published means at the last round."""
    means = {(row["game"], row["row"], row["column"], row["metric"]): row for row in read_json(results / "means.json")}
    rows = (("pseudo_regret", "against a best response"), ("exploitability", "in self-play"))
    shown = ["rps", *family_of_games("diagonal", MAIN_SIZES)]
    with drawing(8.4, 4.2) as figure:
        for place, ((metric, against), game) in enumerate(product(rows, shown)):
            ax = figure.add_subplot(2, len(shown), place + 1)
            columns = [BEST_RESPONSE if metric == "pseudo_regret" else coebl(rate) for rate in RATES]
            ends = [means[game, coebl(rate), column, metric] for rate, column in zip(RATES, columns, strict=True)]
            ticks = [f"{rate:g}" for rate in RATES]
            points = [Estimate(**{key: end[key] for key in ("mean", "low", "high", "sd", "n")}) for end in ends]
            best = draw_sweep(ax, dict(zip(ticks, points, strict=True)), learner_style("coebl"))
            if metric == "pseudo_regret":
                ax.set_title(f"{game_title(game)}\nleast at c = {best}", fontsize=8)
                for rate, name in _NAMED_RATES[game == "rps"].items():
                    ax.text(ticks.index(rate), 0.98, name, transform=ax.get_xaxis_transform(), **_SMALL)
            ax.set_ylim(0, None)
            ax.tick_params(axis="x", labelsize=7, rotation=60)
            for rate in _NAMED_RATES[game == "rps"]:
                ax.axvline(ticks.index(rate), **GUIDE)
            if game == "rps":
                ax.set_ylabel(f"{metric_words(metric).in_a_sentence}\n{against}")
        figure.suptitle(
            "On Diagonal, c = 0.5 loses the least to a best response; the text's c = 8 loses several times as much",
            fontsize=11,
        )
        figure.supxlabel(
            "c of COEBL, evenly spaced; mean after 3000 rounds with its 95 % interval, 50 seeds; lower is better",
            fontsize=8.5,
            color=NOTE,
        )
    return figure


def draw_policies() -> Figure:
    """Draw the policies in one run of COEBL against Exp3."""
    return plot_simplex(simulate("rps", "coebl:c=2", "exp3", rounds=3000, seeds=1, keep=["policies"]))


def _matrix(variant: Variant, checks: Mapping[str, CheckValues]) -> list[list[CheckValues]]:
    """Return the checks by game and baseline."""
    return [[checks[str(variant.match(game, role, "coebl"))] for role in BASELINES] for game in games()]


def _text(check: CheckValues) -> str:
    """Return the number of a match."""
    value = float(check["measured"])
    return with_minus(number_text(value, 1 + max(1, math.floor(math.log10(abs(value)))), ","))


def _draw(ax: Axes, rows: list[list[CheckValues]], largest: float) -> None:
    checks = {(row, column): check for row, line in enumerate(rows) for column, check in enumerate(line)}
    means = np.array([[check["measured"] for check in row] for row in rows])
    undecided = {cell for cell, check in checks.items() if check["verdict"] == _OPEN}
    words = {cell: _text(check) for cell, check in checks.items()}
    draw_matrix(ax, shades_of(means, [largest]), words, undecided, fontsize=9)
    ax.set_xticks(np.arange(len(BASELINES)) + 0.5, map(learner_title, BASELINES), fontsize=9)
