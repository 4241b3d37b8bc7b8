"""The policies of one run of a match, round by round: what the static plot and the replay draw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.engine.policies import MOST_AREAS, sample_policies
from coebl.games import Game
from coebl.naming import game_title, known_of, learner_titles, looks

if TYPE_CHECKING:
    from coebl.engine.result import Result

Picture = Literal["square", "triangle", "areas"]

HEIGHT = math.sqrt(3) / 2  # of the triangle
CORNERS: Floats = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, HEIGHT]])  # of the triangle, one per action


@dataclass(frozen=True)
class PolicyPaths:
    """The policies of one run at some rounds, with their averages and exploitability."""

    game: Game
    seed: int
    titles: tuple[str, ...]  # of the learner in each seat
    colours: tuple[str, ...]  # of the learner in each seat, as #RRGGBB
    rounds: Ints  # (points,), increasing; the first and the last are those of the match
    policies: tuple[Floats, ...]  # per seat: (points, actions)
    averages: tuple[Floats, ...]  # per seat: the mean of the policies up to the round, (points, actions)

    @property
    def picture(self) -> Picture:
        """The picture that suits the numbers of actions."""
        return "square" if self.game.shape == (2, 2) else "triangle" if self.game.shape == (3, 3) else "areas"

    @property
    def equilibrium(self) -> tuple[Floats, Floats]:
        """The strategies of an equilibrium."""
        return self.game.solution.row, self.game.solution.column

    @property
    def equilibrium_label(self) -> str:
        """The label of the equilibrium in a legend."""
        return "equilibrium" if self.game.unique_equilibrium.answer == "yes" else "an equilibrium"

    @property
    def title(self) -> str:
        """The game, the learners and the seed."""
        players = f"{self.titles[0]} in self-play" if len(set(self.titles)) == 1 else " v ".join(self.titles)
        return f"{game_title(self.game.spec or self.game.name)}: {players}, one run (seed {self.seed})"

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the actions of each player."""
        return self.game.row_labels, self.game.column_labels

    def exploitability(self, policies: tuple[Floats, ...]) -> Floats:
        """Return what two best responses would gain against these policies: (points,)."""
        row, column = policies
        gain: Floats = (column @ self.game.payoff.T).max(axis=1) - (row @ self.game.payoff).min(axis=1)
        return gain

    def up_to(self, last: int) -> slice:
        """Return the points up to a round."""
        return slice(0, int(np.searchsorted(self.rounds, last, side="right")))


def policy_paths(result: Result, seed: int | None = None, points: int = 500, also: tuple[int, ...] = ()) -> PolicyPaths:
    """Return the policies of one run, at rounds with evenly spaced logarithms.

    Args:
        result: of `simulate(..., keep=["policies"])`, on a game with a matrix.
        seed: of the run; by default the first.
        points: the largest number of rounds.
        also: rounds that are kept in any case.

    >>> from coebl import simulate
    >>> paths = policy_paths(simulate("rps", "ucb", "exp3", rounds=900, seeds=2, keep=["policies"]), points=4)
    >>> paths.rounds, paths.policies[1].shape, paths.picture
    (array([  1,  10,  93, 900]), (4, 3), 'triangle')
    """
    game = result.match.game
    sampled = sample_policies(result, seed, points, also)
    assert isinstance(game, Game)  # sample_policies accepts no other
    known = known_of(result.match.players, [])
    specs = [str(player) for player in result.match.players]
    titles, styles = learner_titles(specs, known), looks(specs, known=known)
    return PolicyPaths(
        game=game,
        seed=sampled.seed,
        titles=tuple(titles[spec] for spec in specs),
        colours=tuple(styles[spec].colour for spec in specs),
        rounds=sampled.rounds,
        policies=sampled.policies,
        averages=sampled.averages,
    )


def on_triangle(policies: Floats) -> Floats:
    """Return policies of three actions as points of the triangle: (points, 2).

    >>> on_triangle(np.array([[0.0, 0.0, 1.0], [0.5, 0.5, 0.0]]))[:, 0]
    array([0.5, 0.5])
    """
    points: Floats = policies @ CORNERS
    return points


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
class Areas:
    """The actions of a player, few enough to have an area each."""

    names: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]  # the actions of each area

    def share(self, policies: Floats) -> Floats:
        """Return the probability of each area: (points, areas)."""
        return np.stack([policies[..., list(group)].sum(axis=-1) for group in self.groups], axis=-1)


def areas_of(paths: PolicyPaths, seat: int) -> Areas:
    """Return the areas of a player: an action each, or the most played ones and one for all others."""
    names, played = paths.labels[seat], np.maximum(paths.averages[seat][-1], paths.equilibrium[seat])
    if len(names) <= MOST_AREAS:
        return Areas(names, tuple((action,) for action in range(len(names))))
    chosen = sorted(np.argsort(-played, kind="stable")[: MOST_AREAS - 1].tolist())
    rest = tuple(action for action in range(len(names)) if action not in chosen)
    return Areas((*(names[action] for action in chosen), f"{len(rest)} others"), (*((one,) for one in chosen), rest))
