"""The picture of the README: who wins against COEBL in the three variants, side by side on one colour scale."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coebl.core.text import number_text, with_minus
from coebl.papers.ijcai2025.experiments import BASELINES, VARIANTS, Variant, games
from coebl.plots import game_title, learner_title
from coebl.plots.style import NOTE, lay_out, look, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METRIC = "pseudo_regret"
NAME = "who-wins"
_HEADINGS = {"text": "the paper's text", "c=2": "c = 2 everywhere", "as-released": "c = 2, baselines as released"}

Means = Mapping[tuple[str, str, str], Mapping[str, Any]]  # by game, row and column


def read_means(results: Path) -> Means:
    """The means of the metric, from the summary of a reproduction."""
    rows = json.loads((results / "means.json").read_text(encoding="utf-8"))
    return {(row["game"], row["row"], row["column"]): row for row in rows if row["metric"] == METRIC}


def draw_picture(means: Means) -> Figure:
    """Three heat maps: games down, baselines across, blue where COEBL wins and red where it loses."""
    chosen = {variant: _matrix(variant, means) for variant in VARIANTS.values()}
    largest = max(np.abs(matrix[0]).max() for matrix in chosen.values())
    seeds = {int(row["n"]) for row in means.values()}
    with look():
        figure = new_figure(8.4, 4.5)
        axes = figure.subplots(1, len(chosen), sharey=True)
        for ax, (variant, (mean, low, high)) in zip(axes, chosen.items(), strict=True):
            _draw(ax, mean, (low > 0) | (high < 0), largest)
            ax.set_title(_HEADINGS[variant.id], fontsize=10, pad=20, fontweight="bold")
        axes[0].set_yticks(np.arange(len(games())) + 0.5, map(game_title, games()), fontsize=9)
        figure.suptitle(
            "What COEBL wins from each baseline in 3000 rounds: blue, COEBL wins; red, it loses", fontsize=11
        )
        figure.supxlabel(
            f"pseudo-regret of the baseline, mean of {min(seeds)} seeds; shades by square root, one scale for all.\n"
            "Hatched: the 95 % interval, not corrected for the number of matches, contains 0.",
            fontsize=8.5,
            color=NOTE,
        )
        lay_out(figure)
        return figure


def _matrix(variant: Variant, means: Means) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Mean, low and high, each by game and baseline."""
    rows = [[means[variant.against_coebl(role, game)] for role in BASELINES] for game in games()]
    return np.array([[[cell[key] for cell in row] for row in rows] for key in ("mean", "low", "high")])


def _draw(ax: Axes, mean: np.ndarray[Any, Any], apart: np.ndarray[Any, Any], largest: float) -> None:
    from matplotlib.patches import Rectangle

    shades = np.sign(mean) * np.sqrt(np.abs(mean) / largest)
    ax.pcolormesh(shades, cmap="RdBu", vmin=-1.25, vmax=1.25, edgecolor="white", linewidth=1)
    for (row, column), value in np.ndenumerate(mean):
        dark = abs(shades[row, column]) > 0.72
        if not apart[row, column]:
            ax.add_patch(Rectangle((column, row), 1, 1, fill=False, hatch="////", edgecolor="0.72", linewidth=0))
        ax.text(
            column + 0.5,
            row + 0.5,
            with_minus(number_text(value, 1 + max(1, math.floor(math.log10(abs(value)))), ",")),
            ha="center",
            va="center",
            fontsize=9,
            color="white" if dark else "black",
            bbox=None if apart[row, column] else {"facecolor": "white", "edgecolor": "none", "pad": 1},
        )
    ax.set_xticks(np.arange(len(BASELINES)) + 0.5, map(learner_title, BASELINES), fontsize=9)
    ax.set_ylim(len(mean), 0)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.grid(visible=False)
