"""The policies of one run, round by round, for pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.core.errors import InputError, shorten
from coebl.games import AnyGame, Game
from coebl.games.game import has_matrix
from coebl.naming import game_title, known_of, learner_titles, looks

if TYPE_CHECKING:
    from coebl.engine.result import Result

MOST_AREAS = 16  # actions of a player that a picture shows one by one
_MOST_FRAMES, _FEWEST_FRAMES = 450, 60
_NUMBERS = 5000  # in all frames of a picture together: about 20 kB


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
    def picture(self) -> Literal["square", "triangle", "areas"]:
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
        """Return the total gain of both players' best responses to these policies: (points,)."""
        row, column = policies
        return (column @ self.game.payoff.T).max(axis=1) - (row @ self.game.payoff).min(axis=1)


def policy_paths(result: Result, seed: int | None = None, points: int = 500, also: tuple[int, ...] = ()) -> PolicyPaths:
    """Return the policies of one run, at rounds with evenly spaced logarithms.

    Args:
        result: the result of `simulate(..., keep=["policies"])`, on a game with a matrix.
        seed: the seed of the run; by default the first.
        points: the largest number of rounds.
        also: rounds that are always included.

    >>> from coebl import simulate
    >>> paths = policy_paths(simulate("rps", "ucb", "exp3", rounds=900, seeds=2, keep=["policies"]), points=4)
    >>> paths.rounds, paths.policies[1].shape, paths.picture
    (array([  1,  10,  93, 900]), (4, 3), 'triangle')
    """
    match = result.match
    if "policies" not in result.kept:
        raise InputError('the result has no policies of every round; simulate with keep=["policies"].')
    if not has_matrix(match.game):
        raise InputError(
            f"{match.game.name} has no payoff matrix, or more than one; accepted: results of a game with one."
        )
    seeds = [int(present) for present in result.seeds]
    seed = seeds[0] if seed is None else seed
    if seed not in seeds:
        present = ", ".join(map(str, seeds[:5])) + ", ..." * (len(seeds) > 5)
        raise InputError(f"seed is {shorten(seed)}; accepted: a seed of the result, out of {present}.")
    spaced = np.geomspace(1, match.rounds, max(2, points)).round().astype(np.int64)
    rounds = np.unique([*spaced, *(kept for kept in also if 1 <= kept <= match.rounds)])
    runs = [policies[:, seeds.index(seed)] for policies in result.kept["policies"]]
    counts = np.arange(1, match.rounds + 1)[:, None]
    known = known_of(match.players, [])
    specs = [str(player) for player in match.players]
    titles, styles = learner_titles(specs, known), looks(specs, known=known)
    return PolicyPaths(
        game=match.game,
        seed=seed,
        titles=tuple(titles[spec] for spec in specs),
        colours=tuple(styles[spec].colour for spec in specs),
        rounds=rounds,
        policies=tuple(run[rounds - 1] for run in runs),
        averages=tuple((run.cumsum(axis=0) / counts)[rounds - 1] for run in runs),
    )


def frames_for(game: AnyGame) -> int:
    """Return the number of rounds in a replay, chosen so that it stays small.

    >>> from coebl import parse_game
    >>> frames_for(parse_game("rps")), frames_for(parse_game("diagonal:n=4"))
    (450, 74)
    """
    actions = [space.width for space in game.spaces]
    frame_size = 8 if max(actions) <= 3 else 2 * sum(min(number, MOST_AREAS) for number in actions)
    return max(_FEWEST_FRAMES, min(_MOST_FRAMES, _NUMBERS // (frame_size + 3)))
