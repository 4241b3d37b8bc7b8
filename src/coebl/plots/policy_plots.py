"""Plots of the policies of a run: in the triangle, in the unit square, or as areas."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.errors import check_integer
from coebl.engine.policy_paths import MOST_AREAS, PolicyPaths, policy_paths
from coebl.naming import PALETTE, lighter
from coebl.plots.style import NOTE, WIDTH, drawable, drawing, legend_entries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from coebl.engine.result import Result

_HEIGHT = math.sqrt(3) / 2  # of the triangle
CORNERS: Floats = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, _HEIGHT]])  # of the triangle, one per action
ROUNDS = (10, 100, 1000, 3000)

_OLD, _NEW = 0.25, 0.8  # opacity of the trail before and after the round of the previous panel
_PANEL = 1.7  # inches
AREA_COLOURS = (  # for 16 actions; the last is also for all other actions
    *(colour for colour, _ in PALETTE),
    *(lighter(PALETTE[place][0], 0.55) for place in (0, 4, 2, 1, 3, 6, 5)),  # neighbours differ with any colour vision
    "#CFCFCF",
)


def on_triangle(policies: Floats) -> Floats:
    """Return policies of three actions as points of the triangle: (points, 2).

    >>> on_triangle(np.array([[0.0, 0.0, 1.0], [0.5, 0.5, 0.0]]))[:, 0]
    array([0.5, 0.5])
    """
    return policies @ CORNERS


def replicator_arrows(payoff: Floats, across: int = 9) -> tuple[Floats, Floats]:
    """Return places of the unit square, and the direction of the replicator dynamics there, both (places, 2).

    A point is the probability of the first action, of the row player and of the column player.

    >>> places, arrows = replicator_arrows(np.array([[1.0, -1.0], [-1.0, 1.0]]), across=3)
    >>> places[1].round(3), arrows[1].round(3)  # a rare first action of the opponent: the first action falls
    (array([0.5  , 0.167]), array([-0.333,  0.   ]))
    """
    steps = (np.arange(across) + 0.5) / across
    x, y = (axis.ravel() for axis in np.meshgrid(steps, steps))
    row, column = np.column_stack([x, 1 - x]), np.column_stack([y, 1 - y])
    gain, loss = column @ payoff.T, row @ payoff
    arrows = np.column_stack([x * (1 - x) * (gain[:, 0] - gain[:, 1]), y * (1 - y) * (loss[:, 1] - loss[:, 0])])
    return np.column_stack([x, y]), arrows


@dataclass(frozen=True)
class _Areas:
    """The actions of a player in groups, few enough to have an area each."""

    names: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]  # the actions of each area

    def share(self, policies: Floats) -> Floats:
        """Return the probability of each area: (points, areas)."""
        return np.stack([policies[..., list(group)].sum(axis=-1) for group in self.groups], axis=-1)


def areas_of(paths: PolicyPaths, seat: int) -> _Areas:
    """Return the areas of a player: one per action, or one for each of the most played actions and one for the rest."""
    names, played = paths.labels[seat], np.maximum(paths.averages[seat][-1], paths.equilibrium[seat])
    if len(names) <= MOST_AREAS:
        return _Areas(names, tuple((action,) for action in range(len(names))))
    chosen = sorted(np.argsort(-played, kind="stable")[: MOST_AREAS - 1].tolist())
    rest = tuple(action for action in range(len(names)) if action not in chosen)
    return _Areas(
        (*(names[action] for action in chosen), f"{len(rest)} others"), (*((action,) for action in chosen), rest)
    )


# Plots


def plot_simplex(result: Result, seed: int | None = None, rounds: Iterable[int] = ROUNDS) -> Figure:
    """Plot the path of both policies in one run, with their averages and the equilibrium.

    With three actions each, a policy is a point of a triangle, and there is a panel per player and round. In a 2 x 2
    game both policies together are one point of the unit square, over the arrows of the replicator dynamics, and there
    is a panel per round. In all other games the probabilities of the actions are areas over the rounds; of more than 16
    actions, the least played share one area.

    Args:
        result: the result of `simulate(..., keep=["policies"])`, on a game with a matrix.
        seed: the seed of the run; by default the first.
        rounds: the rounds of the panels, without those that were not played; the last round always has a panel.

    >>> from coebl import simulate
    >>> result = simulate("rps", "coebl:c=2", "exp3", rounds=300, seeds=1, keep=["policies"])
    >>> figure = plot_simplex(result)
    >>> [ax.get_title() for ax in figure.axes[:3]]
    ['round 10', 'round 100', 'round 300']
    """
    last = result.match.rounds
    stops = sorted({check_integer("rounds", stop, 1) for stop in rounds if stop <= last} | {last})
    paths = policy_paths(result, seed, also=tuple(stops))
    draw, width, height = {
        "square": (_draw_squares, max(WIDTH / 2, (_PANEL + 0.1) * len(stops)), _PANEL + 0.8),
        "triangle": (_draw_triangles, max(WIDTH / 2, _PANEL * len(stops)), 2 * _PANEL + 0.2),
        "areas": (_draw_areas, WIDTH, 2 * _PANEL + 0.9),
    }[paths.picture]
    with drawing(width, height) as figure:
        draw(figure, paths, stops)
        title = drawable(paths.title).replace("\u00a0", " ")
        figure.suptitle(textwrap.fill(title, int(18 * figure.get_figwidth())), fontsize="medium")
    return figure


def _draw_triangles(figure: Figure, paths: PolicyPaths, stops: list[int]) -> None:
    axes = figure.subplots(2, len(stops), squeeze=False)
    for seat, (line, labels) in enumerate(zip(axes, paths.labels, strict=True)):
        star = on_triangle(paths.equilibrium[seat])
        trail, means = on_triangle(paths.policies[seat]), on_triangle(paths.averages[seat])
        for place, (ax, stop) in enumerate(zip(line, stops, strict=True)):
            ax.fill(*CORNERS.T, facecolor="none", edgecolor="0.6", linewidth=0.8)
            _draw_path(ax, paths, stops, place, trail, means, star, paths.colours[seat])
            ax.set(aspect="equal", xlim=(-0.14, 1.14), ylim=(-0.16, 1.02))
            ax.set_title(f"round {stop:,}" if seat == 0 else "")
            ax.axis("off")
            for (x, y), label, ha in zip(CORNERS, labels, ("left", "right", "center"), strict=True):
                name = textwrap.shorten(drawable(label), 12, placeholder="…")
                shift = {"left": -0.12, "right": 0.12, "center": 0}[ha]  # long names stay inside the panel
                up, va = (0.03, "bottom") if y > 0 else (-0.03, "top")
                ax.text(x + shift, y + up, name, fontsize=6, color=NOTE, ha=ha, va=va)
        line[0].annotate(_player(paths, seat), (0, 0.5), (-4, 0), xycoords="axes fraction", textcoords="offset points",
                         rotation=90, ha="right", va="center", fontsize=7)  # fmt: skip
    _add_key(figure, axes[0, -1])


def _player(paths: PolicyPaths, seat: int) -> str:
    """Return the seat and the learner in it, for the side of a panel."""
    learner = textwrap.fill(drawable(paths.titles[seat]).replace("\u00a0", " "), 22)
    return f"{paths.game.seats[seat]}:\n{learner}"


def _draw_squares(figure: Figure, paths: PolicyPaths, stops: list[int]) -> None:
    axes = figure.subplots(1, len(stops), squeeze=False)[0]
    places, arrows = replicator_arrows(paths.game.payoff)
    trail, means = (np.column_stack([seat[:, 0] for seat in kind]) for kind in (paths.policies, paths.averages))
    star = np.array([strategy[0] for strategy in paths.equilibrium])
    row, column = (drawable(names[0]) for names in paths.labels)
    for place, (ax, stop) in enumerate(zip(axes, stops, strict=True)):
        ax.quiver(*places.T, *arrows.T, color="0.75", width=0.007, pivot="mid", zorder=1)
        _draw_path(ax, paths, stops, place, trail, means, star, paths.colours[0])
        ax.set(aspect="equal", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
        ax.set_title(f"round {stop:,}")
        ax.grid(visible=False)
        ax.set_xlabel(textwrap.fill(f"row plays {row}", 24))
        ax.set_ylabel(textwrap.fill(f"column plays {column}", 24) if place == 0 else "")
    axes[0].plot([], [], color="0.75", label="replicator dynamics", marker=r"$\rightarrow$", linestyle="none")
    _add_key(figure, axes[-1], axes[0])


def _draw_path(
    ax: Axes, paths: PolicyPaths, stops: list[int], place: int, trail: Floats, means: Floats, star: Floats, colour: str
) -> None:
    """Draw the trail up to a round, the policy and the average of that round, and the equilibrium."""
    ends = np.searchsorted(paths.rounds, stops, side="right")
    until, since = ends[place], ends[place - 1] - 1 if place else 0
    style: dict[str, Any] = {"color": colour, "linewidth": 0.7, "solid_joinstyle": "round"}
    ax.plot(*trail[: since + 1].T, alpha=_OLD, **style)
    ax.plot(*trail[since:until].T, alpha=_NEW, label="trail (pale: before the last panel)", **style)
    ax.plot(*star, "P", color="black", markersize=6, markeredgewidth=0.4, markeredgecolor="white", zorder=4,
            label=paths.equilibrium_label)  # fmt: skip
    ring: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": colour, "markeredgewidth": 1.2}
    ax.plot(*means[until - 1], "o", markersize=5.5, zorder=5, label="average so far", **ring)
    ax.plot(*trail[until - 1], "o", color=colour, markersize=4.5, zorder=6, label="policy of the round")


def _draw_areas(figure: Figure, paths: PolicyPaths, stops: list[int]) -> None:
    axes = figure.subplots(2, 2, width_ratios=[7, 1], squeeze=False)
    for seat, (ax, bars) in enumerate(axes):
        areas = areas_of(paths, seat)
        colours = AREA_COLOURS[: len(areas.names)]
        ax.stackplot(paths.rounds, areas.share(paths.policies[seat]).T, colors=colours, linewidth=0)
        ax.set(xscale="log", xlim=(1, paths.rounds[-1]), ylim=(0, 1), yticks=(0, 0.5, 1))
        ax.grid(visible=False)
        ax.set_ylabel(_player(paths, seat))
        ax.set_xlabel("round" if seat else "")
        columns = np.array([areas.share(strategy) for strategy in (paths.averages[seat][-1], paths.equilibrium[seat])])
        feet = columns.cumsum(axis=1) - columns
        for area, name in enumerate(areas.names):
            label = textwrap.shorten(drawable(name), 24, placeholder="…")
            bars.bar([0, 1], columns[:, area], 0.85, feet[:, area], color=colours[area], edgecolor="white",
                     linewidth=0.3, label=label)  # fmt: skip
        bars.set(ylim=(0, 1), yticks=[], xlim=(-0.5, 1.5))
        words = ["average", paths.equilibrium_label] if seat else ["", ""]
        bars.set_xticks([0, 1], words, rotation=90)
        bars.spines[:].set_visible(False)
        bars.tick_params(length=0)
        bars.grid(visible=False)
        handles, names = bars.get_legend_handles_labels()
        bars.legend(handles[::-1], names[::-1], loc="center left", bbox_to_anchor=(1, 0.5), fontsize=6,
                    handlelength=1, labelspacing=0.2)  # fmt: skip


def _add_key(figure: Figure, *axes: Axes) -> None:
    """Add one legend for all panels, below them."""
    entries = legend_entries(axes)
    columns = 2 if figure.get_figwidth() < WIDTH * 0.8 else len(entries)
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=columns)
