"""The drawings on the pages that explain, one idea each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from coebl import Game, simulate, solve
from coebl.core.text import with_minus
from coebl.games import parse_matrix
from coebl.plots.policy_plots import CORNERS, on_triangle
from coebl.plots.style import AGAINST, COLUMN, FOR, GUIDE, NOTE, WIDTH, blue_orange, drawing, look
from inside import plot_beliefs

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from coebl.core.arrays import Floats

_SHADE, _PALE = "#86BCE0", "0.93"


def draw_benchmarks() -> Figure:
    """Draw the total reward of a player, the value of the game, and the total of the best fixed action."""
    rounds = 300
    result = simulate("rps", "exp3", "fixed:1/0/0", rounds=rounds, seeds=50, metrics=["pseudo_regret"])
    earned = -result.metrics["pseudo_regret"].mean(axis=1)
    best = float(parse_matrix("rps").payoff[:, 0].max())
    with drawing(COLUMN * 1.25, 2.4) as figure:
        ax = figure.add_subplot()
        ax.plot([0, rounds], [0, best * rounds], color="black", linestyle=(0, (4, 2)))
        ax.plot(result.rounds, earned, color=FOR, linewidth=1.6)
        ax.plot([0, rounds], [0, 0], color="black", linestyle=(0, (1, 1.6)))
        ax.text(150, 162, "the best fixed action", ha="right", va="bottom")
        ax.text(230, earned[229] - 12, "Exp3", color=FOR, ha="left", va="top")
        ax.text(rounds / 2, -6, "the value of the game", va="top")
        ends = [(best * rounds, "external regret"), (0.0, "− Nash regret")]
        for end, name in ends:
            ax.annotate("", (rounds + 6, end), (rounds + 6, earned[-1]), arrowprops={"arrowstyle": "<->", "lw": 0.8})
            ax.text(rounds + 14, (end + earned[-1]) / 2, name, va="center")
        ax.set(xlabel="round", ylabel="earned so far", xlim=(0, rounds * 1.42), ylim=(-40, 310))
        ax.set_xticks(range(0, rounds + 1, 100))
    return figure


def draw_exploiting() -> Figure:
    """Draw what playing more paper earns against an opponent who always plays rock, and against one who notices."""
    with drawing(COLUMN * 1.25, 2.2) as figure:
        ax = figure.add_subplot()
        ax.axhline(0, **GUIDE)
        ax.plot([0, 1], [0, 1], color=FOR, linewidth=1.6)
        ax.plot([0, 1], [0, -1], color=AGAINST, linewidth=1.6)
        ax.text(1.02, 1, "against always rock", color=FOR, va="center")
        ax.text(1.02, -1, "against one who notices\nand plays scissors", color=AGAINST, va="center")
        ax.text(0.01, -0.75, "equilibrium:\n1/3 each", color=NOTE)
        ax.text(0.99, 0.1, "always\npaper", color=NOTE, ha="right")
        ax.set(xlim=(0, 1.75), xticks=[0, 0.5, 1], xticklabels=["0 %", "50 %", "100 %"], yticks=[-1, 0, 1])
        ax.set_ylim(-1.25, 1.15)
        ax.set_xlabel("of the way from the equilibrium to always paper", loc="left")
        ax.set_ylabel("earned per round")
    return figure


def draw_sights() -> Figure:
    """Draw the payoffs that each kind of learner sees after one round."""
    kinds: dict[str, tuple[Floats, str]] = {
        "bandit": (np.array([[0, 0, 0], [0.5, 0.5, 0.5], [0, 0, 0.0]]), "one reward,\nsomewhere in its row"),
        "informed bandit": (np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0.0]]), "one reward,\nof a known pair"),
        "full information": (np.array([[0, 0, 1], [0, 0, 1], [0, 0, 1.0]]), "all it could have earned,\nwithout noise"),
        "oracle": (np.ones((3, 3)), "all payoffs, or the\nopponent's policy"),
    }
    with drawing(WIDTH * 0.9, 2.1) as figure:
        for place, (ax, (kind, (seen, words))) in enumerate(zip(figure.subplots(1, 4), kinds.items(), strict=True)):
            for (i, j), share in np.ndenumerate(seen):
                fill = {0.0: _PALE, 0.5: "white", 1.0: _SHADE}[float(share)]
                hatch = {"hatch": "////", "edgecolor": _SHADE} if share == 0.5 else {"edgecolor": "white"}
                ax.add_patch(_square(j, i, facecolor=fill, linewidth=1.5, **hatch))
            ax.add_patch(_square(2, 1, facecolor="none", edgecolor="black", linewidth=1.4))
            ax.set(xlim=(-0.1, 3.1), ylim=(3.1, -0.1), aspect="equal", xticks=[], yticks=[], xlabel=words)
            ax.set_title(kind)
            ax.spines[:].set_visible(False)
            ax.grid(visible=False)
            if place == 0:
                ax.set_ylabel("its actions")
        figure.axes[0].text(1.5, 3.05, "the opponent's actions", ha="center", va="top", color=NOTE, fontsize=6)
        for ax in figure.axes:
            ax.xaxis.labelpad = 12
    return figure


def _square(x: float, y: float, **style: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), 1, 1, **style)


def draw_ties() -> Figure:
    """Draw the optimal strategies of two games, and the strategy that the solver returns."""
    games: dict[str, tuple[list[list[float]], Floats]] = {
        "all payoffs are equal": ([[1, 1], [1, 1], [1, 1]], np.eye(3)),
        "actions 1 and 3 are equal": ([[1, 0], [0, 1], [1, 0]], np.array([[0.5, 0.5, 0], [0, 0.5, 0.5]])),
    }
    with drawing(COLUMN * 1.5, 2.3) as figure:
        for ax, (title, (payoff, ends)) in zip(figure.subplots(1, 2), games.items(), strict=True):
            ax.fill(*CORNERS.T, facecolor="none", edgecolor="0.6", linewidth=0.8)
            ax.fill(*on_triangle(ends).T, facecolor=_SHADE, edgecolor=_SHADE, linewidth=4, joinstyle="round")
            [first] = on_triangle(solve(payoff).row[None])
            ax.plot(*first, "o", color="black", markersize=6)
            for (x, y), name in zip(CORNERS, ("action 1", "action 2", "action 3"), strict=True):
                ax.text(x, y + (0.05 if y else -0.05), name, ha="center", va="bottom" if y else "top", color=NOTE)
            ax.set(aspect="equal", xlim=(-0.2, 1.2), ylim=(-0.15, 1.0))
            ax.set_title(title)
            ax.axis("off")
        figure.axes[0].plot([], [], color=_SHADE, linewidth=4, label="all optimal strategies")
        figure.axes[0].plot([], [], "o", color="black", label="the one returned")
        figure.legend(loc="outside lower center", ncols=2)
    return figure


def draw_generation() -> Figure:
    """Draw one generation of COEBL with three mutants: belief, bonus, mutants, their policies, selection, play."""
    game, rounds, c = parse_matrix("biased-rps"), 150, 0.5
    result = simulate(game, f"coebl:c={c}", "uniform", rounds=rounds, seeds=1, metrics=["regret"], keep=["beliefs"])
    belief = result.kept["beliefs"][0]
    visits, means = belief["count"][-1, 0], belief["mean"][-1, 0]
    optimistic = means + np.sqrt(c * np.log(2 * rounds**2 * means.size) / (np.maximum(1, visits) + 1))
    noise = np.random.default_rng(2).normal(size=(3, *means.shape))
    mutants = optimistic + noise * 4 / np.maximum(1, visits)  # four times the usual deviation, so that it is seen
    policies = [solve(mutant).row for mutant in mutants]
    fitness = [float((policy @ means).min()) for policy in policies]
    winner = int(np.argmax(fitness))
    with look():
        figure = Figure(figsize=(WIDTH, 2.8))
        margins = {"left": 0.01, "right": 0.92, "top": 0.91, "bottom": 0.05, "wspace": 0.5, "hspace": 0.25}
        grid = figure.add_gridspec(3, 5, width_ratios=[1, 1, 0.75, 1, 1.1], **margins)
        titles = ("1. belief", "2. + bonus", "3. + noise: mutants", "4. maximin of each", "5. selection, 6. play")
        first, second, last = (figure.add_subplot(grid[:, place]) for place in (0, 1, 4))
        thirds, fourths = ([figure.add_subplot(grid[place, column]) for place in range(3)] for column in (2, 3))
        for ax, matrix in zip((first, second, *thirds), (means, optimistic, *mutants), strict=True):
            ax.imshow(matrix, cmap=blue_orange(), vmin=-4, vmax=4)
            ax.set(xticks=[], yticks=[])
            ax.spines[:].set_visible(False)
        for place, (ax, policy) in enumerate(zip((*fourths, last), (*policies, policies[winner]), strict=True)):
            ax.barh(range(3), policy, color=FOR if place in (winner, 3) else "0.7", height=0.7)
            ax.set(xlim=(0, 1), ylim=(2.6, -0.6), xticks=[])
            ax.set_yticks(range(3), game.row_labels, fontsize=6)
            ax.tick_params(length=0)
        for ax, value in zip(fourths, fitness, strict=True):
            ax.text(1.02, 2.4, with_minus(f"fitness {value:.2f}"), ha="right", va="bottom", fontsize=6, color=NOTE)
        last.set_box_aspect(0.7)
        last.yaxis.tick_right()
        for ax in figure.axes:
            ax.grid(visible=False)
        for ax, title in zip((first, second, thirds[0], fourths[0], last), titles, strict=True):
            ax.set_title(title, fontsize=7.5)
        figure.canvas.draw()  # places the panels
        _arrow(figure, first, second)
        for third, fourth in zip(thirds, fourths, strict=True):
            _arrow(figure, second, third)
            _arrow(figure, third, fourth, labels=True)
        _arrow(figure, fourths[winner], last, FOR)
    return figure


def _arrow(figure: Figure, left: Axes, right: Axes, colour: str = "0.45", labels: bool = False) -> None:
    from matplotlib.patches import FancyArrowPatch

    start, end = left.get_position(), right.get_position()
    before = end.x0 - (0.045 if labels else 0.005)  # room for the names of the actions
    ends = [(start.x1 + 0.007, (start.y0 + start.y1) / 2), (before, (end.y0 + end.y1) / 2)]
    figure.add_artist(FancyArrowPatch(*ends, arrowstyle="-|>", mutation_scale=7, color=colour, linewidth=0.9))


def draw_optimism() -> Figure:
    """Draw the optimistic payoff of a pair by its visits: it approaches the payoff from above."""
    half, own, rate, actions, rounds, payoff = 1.0, 0.5, 0.5, 9, 3000, 0.3
    log = np.log(4 * actions * rounds**2)
    visits = np.arange(501)
    random = np.random.default_rng(3)
    means = np.cumsum(random.normal(payoff, 1, 500)) / visits[1:]
    g = 1 / (1 + visits * own * half**2)
    width = g * half * (2 + rate * np.sqrt(2 * own * log))
    width[1:] += (1 - g[1:]) * np.sqrt(2 * log / visits[1:])
    estimate = np.concatenate([[0.0], (1 - g[1:]) * means]) + rate * np.sqrt(own) * half * g * random.normal(size=501)
    with drawing(COLUMN * 1.4, 2.3) as figure:
        ax = figure.add_subplot()
        ax.fill_between(visits, payoff, payoff + 2 * width, color=FOR, alpha=0.15, linewidth=0)
        ax.plot(visits, estimate + width, color=FOR, linewidth=1.2)
        ax.axhline(payoff, color="black", linestyle=(0, (4, 2)), linewidth=1)
        ax.text(500, payoff - 0.1, "the payoff, $A_{ij}$", ha="right", va="top")
        ax.text(505, float((estimate + width)[-1]), "$B_{ij}$", color=FOR, va="center")
        ax.text(60, 3.2, "$A_{ij} + 2 w(n)$", color=FOR, va="center")
        ax.set(xlim=(0, 640), xticks=range(0, 501, 100), ylim=(-0.6, 7), xlabel="visits of the pair, n")
    return figure


def draw_lock_in() -> Figure:
    """Draw the regret of twenty runs of Strain on the game of (6), with little and with much neglect."""
    payoffs = [[1.0 if i == 199 else 0.5 * (i % 10 == 0)] for i in range(200)]
    game = Game(payoffs, payoff_range=(-1, 1), noise="gaussian:sigma=0.1")
    lines = {"neglect = 0.2": ("0.2", AGAINST), "neglect = 3": ("3", FOR)}
    with drawing(COLUMN * 1.5, 2.3) as figure:
        ax = figure.add_subplot()
        for name, (neglect, colour) in lines.items():
            learner = f"strain:neglect={neglect},kinship=0"
            result = simulate(game, learner, "uniform", rounds=4000, seeds=20, metrics=["pseudo_regret"], record=50)
            curves = result.metrics["pseudo_regret"]
            ax.plot(result.rounds, curves, color=colour, linewidth=0.7, alpha=0.7)
            ax.text(4060, float(np.median(curves[-1])), name, color=colour, va="center")
        ax.set(
            xlabel="round", ylabel="regret, 20 runs each", xlim=(0, 5900), ylim=(0, None), xticks=range(0, 4001, 1000)
        )
    return figure


DRAWINGS: dict[str, Callable[[], Figure]] = {
    "explanation/beliefs.svg": plot_beliefs,
    "explanation/benchmarks.svg": draw_benchmarks,
    "explanation/exploiting.svg": draw_exploiting,
    "explanation/sights.svg": draw_sights,
    "explanation/optimal.svg": draw_ties,
    "generation.svg": draw_generation,
    "optimism.svg": draw_optimism,
    "lock-in.svg": draw_lock_in,
}
"""The drawings, by their places on the site."""
