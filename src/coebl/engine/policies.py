"""The policies of one run at a few rounds: what pictures of learning draw, and what a study keeps for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.core.errors import InputError, shorten
from coebl.games import AnyGame, DriftingGame, Game

if TYPE_CHECKING:
    from coebl.engine.result import Result

MOST_AREAS = 16  # actions of a player that a picture shows one by one
_MOST_FRAMES, _FEWEST_FRAMES = 450, 60
_NUMBERS = 5000  # of the frames of a picture together: about 20 kB


class SampledPolicies(NamedTuple):
    """The policies of one run at some rounds, and their averages so far."""

    seed: int
    rounds: Ints  # (points,), increasing; the first and the last are those of the match
    policies: tuple[Floats, ...]  # per seat: (points, actions)
    averages: tuple[Floats, ...]  # per seat: the mean of the policies up to the round, (points, actions)


def frames_for(actions: tuple[int, ...]) -> int:
    """Return the number of rounds that a replay has, so that it stays small.

    >>> frames_for((3, 3)), frames_for((16, 16))
    (450, 74)
    """
    each = 8 if max(actions) <= 3 else 2 * sum(min(number, MOST_AREAS) for number in actions)
    return max(_FEWEST_FRAMES, min(_MOST_FRAMES, _NUMBERS // (each + 3)))


def has_pictures(game: AnyGame) -> bool:
    """True if the policies of a game can be drawn: it has one payoff matrix."""
    return isinstance(game, Game) and not isinstance(game, DriftingGame)  # which has an equilibrium per phase


def sample_policies(
    result: Result, seed: int | None = None, points: int = 500, also: tuple[int, ...] = ()
) -> SampledPolicies:
    """Return the policies of one run, at rounds with evenly spaced logarithms.

    Args:
        result: of `simulate(..., keep=["policies"])`, on a game with a matrix.
        seed: of the run; by default the first.
        points: the largest number of rounds.
        also: rounds that are kept in any case.

    >>> from coebl import simulate
    >>> sampled = sample_policies(simulate("rps", "ucb", "exp3", rounds=900, seeds=2, keep=["policies"]), points=4)
    >>> sampled.rounds, sampled.policies[1].shape
    (array([  1,  10,  93, 900]), (4, 3))
    """
    game = result.match.game
    if "policies" not in result.kept:
        raise InputError('the result has no policies of every round; simulate with keep=["policies"].')
    if not has_pictures(game):
        raise InputError(f"{game.name} has no payoff matrix, or more than one; accepted: results of a game with one.")
    seeds = [int(present) for present in result.seeds]
    seed = seeds[0] if seed is None else seed
    if seed not in seeds:
        present = ", ".join(map(str, seeds[:5])) + ", ..." * (len(seeds) > 5)
        raise InputError(f"seed is {shorten(seed)}; accepted: a seed of the result, out of {present}.")
    last = result.match.rounds
    spaced = np.geomspace(1, last, max(2, points)).round().astype(np.int64)
    rounds = np.unique([*spaced, *(kept for kept in also if 1 <= kept <= last)])
    runs = [policies[:, seeds.index(seed)] for policies in result.kept["policies"]]
    counts = np.arange(1, last + 1)[:, None]
    return SampledPolicies(
        seed,
        rounds,
        policies=tuple(run[rounds - 1] for run in runs),
        averages=tuple((run.cumsum(axis=0) / counts)[rounds - 1] for run in runs),
    )
