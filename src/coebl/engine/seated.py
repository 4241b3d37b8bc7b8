"""A learner in its seat: what it is told before the first round and after each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from coebl.core.arrays import Booleans, Floats, Ints
from coebl.core.devices import draw_actions, is_on_cuda, is_out_of_memory, on_host
from coebl.core.errors import CoeblError, UserCodeError, shorten, where
from coebl.engine.cuda_random import CudaRandom
from coebl.engine.streams import AHEAD, BatchRandom
from coebl.games.game import SeatName
from coebl.learners import SIGHTS, Learner, Responder, Seat, Seen

_SUM_TOLERANCE = 1e-8
_DRAWS_AHEAD = 256  # of the numbers that actions are drawn with


class PolicyError(CoeblError, ValueError):
    """A learner returned something that is not a policy.

    >>> from coebl import simulate
    >>> class Careless(Learner):
    ...     def policy(self, t):
    ...         return np.array([[0.5, 0.5, 0.5]])
    >>> simulate("rps", Careless(), "uniform", rounds=5, seeds=1)
    Traceback (most recent call last):
        ...
    coebl.engine.seated.PolicyError: Careless in the row seat, round 1, seed 0: its policy sums to 1.5; accepted: ...
    """


def build_seat(
    learner: Learner,
    seeds: Sequence[int],
    shape: tuple[int, int],
    horizon: int | None,
    payoff_range: tuple[float, float],
    *,
    name: SeatName = "row",
    payoff: Floats | None = None,
    arrays: Any = np,
    unsolved: Any = None,
) -> Seat:
    """The seat of a learner, with as much in it as the learner declares that it sees.

    Args:
        learner: who will sit there.
        seeds: one per run.
        shape: the numbers of own and of the opponent's actions.
        horizon: the number of rounds, or None.
        payoff_range: of the own payoffs.
        name: whose streams of random numbers it has.
        payoff: the true payoffs in own view, if they are known. Without them, nothing that depends on them is on
            offer.
        arrays: the library of its arrays, NumPy or CuPy.
        unsolved: as `Seat` has it.
    """
    actions, opponent_actions = shape
    purpose = f"{name} learner"
    return Seat(
        runs=len(seeds),
        actions=actions,
        opponent_actions=opponent_actions,
        horizon=horizon,
        payoff_range=payoff_range,
        random=BatchRandom(seeds, purpose, AHEAD) if arrays is np else CudaRandom(seeds, purpose),
        offers=frozenset(SIGHTS) if payoff is not None else frozenset({"opponent"}),
        shown=payoff if "game" in learner.sees else None,
        arrays=arrays,
        unsolved=unsolved,
    )


class Seated:
    """A learner in its seat, with its streams, its clock, and a block of what it played."""

    def __init__(
        self,
        learner: Learner,
        seat: Seat,
        seeds: Sequence[int],
        name: SeatName = "row",
        payoff: Floats | None = None,
    ) -> None:
        """Seat a learner. The seat is `build_seat`'s, and so are the seeds, its name and the true payoffs, if known."""
        self.name = name
        self.seeds = seeds
        self.learner = learner
        self.shape = seat.runs, seat.actions  # of its policies
        self.seconds = 0.0  # that its learner has taken
        self._arrays = seat.arrays
        self._payoff = None if payoff is None else seat.array(payoff)
        self._draws = BatchRandom(seeds, f"{name} actions", _DRAWS_AHEAD, seat.arrays)
        try:
            self.learner = learner.seated(seat)
        except (Exception, SystemExit) as error:
            self._blame(error, "before the first round")

    def begin_block(self, rounds: int) -> None:
        """Make room for what is played in the next rounds."""
        runs, actions = self.shape
        self.policies: Floats = self._arrays.empty((rounds, runs, actions))
        self.actions: Ints = self._arrays.empty((rounds, runs), np.int64)
        self.rewards: Floats = self._arrays.empty((rounds, runs))

    def move(self, t: int, at: int, opponent: Seated | None = None) -> None:
        """Ask the learner for its policies of round t, the block's round number `at`, against this opponent."""
        started = time.perf_counter()
        try:
            if isinstance(self.learner, Responder) and opponent is not None:
                policy = self.learner.respond(t, opponent.policies[at])
            else:
                policy = self.learner.policy(t)
        except (Exception, SystemExit) as error:
            self._blame(error, f"round {t}")
        self.seconds += time.perf_counter() - started
        if np.shape(policy) != self.shape:
            raise PolicyError(
                f"{self.learner} in the {self.name} seat returned a policy of shape {np.shape(policy)} in round {t}; "
                f"accepted: (runs, actions) = {self.shape}."
            )
        self.policies[at] = policy

    def draw(self, at: int) -> Ints:
        """Draw the actions of a round: (runs,)."""
        action = self.actions[at] = sample(self.policies[at], self._draws.uniform(1))
        return action

    def observe(self, t: int, at: int, action: Ints, opponent: Ints | None, reward: Floats) -> None:
        """Show the learner what it sees of round t. The opponent's actions are None if nobody knows them."""
        self.rewards[at] = reward
        sees = self.learner.sees
        seen = Seen(
            action,
            reward,
            opponent if "opponent" in sees else None,
            self._payoff.T[opponent] if "payoffs" in sees and self._payoff is not None else None,
        )
        started = time.perf_counter()
        try:
            self.learner.observe(t, seen)
        except (Exception, SystemExit) as error:
            self._blame(error, f"round {t}")
        self.seconds += time.perf_counter() - started

    def _blame(self, error: BaseException, when: str) -> NoReturn:
        """Say where a learner of a user's own went wrong; other errors are raised as they are.

        A learner that ends the program is wrong too: with code 0 the program would seem to have succeeded.
        """
        line = where(error)
        if isinstance(error, SystemExit) and not line:  # of an installed package
            line = type(self.learner).__module__
        if isinstance(error, CoeblError) or is_out_of_memory(error) or not line:
            raise error
        raise UserCodeError(
            f"{line}: {type(error).__name__}: {error} ({self.learner} in the {self.name} seat, {when})"
        ) from error

    def check(self, first: int, length: int, unsolved: Booleans | None = None) -> None:
        """Refuse the first round and run of the block whose policy is not a distribution.

        Runs that are unsolved, and will be played again, may have any.
        """
        policies = self.policies[:length]
        good = (policies >= 0).all(axis=2) & (np.abs(policies.sum(axis=2) - 1) <= _SUM_TOLERANCE)
        if unsolved is not None:
            good = good | unsolved
        if good.all():
            return
        at, run = (int(index) for index in on_host(np.argwhere(~good))[0])
        policy = on_host(policies[at, run])
        if np.isnan(policy).any():
            fault = "has NaN"
        elif (policy < 0).any():
            fault = f"has the negative probability {policy.min():.3g}"
        else:
            fault = f"sums to {policy.sum():.10g}"
        raise PolicyError(
            f"{self.learner} in the {self.name} seat, round {first + at}, seed {self.seeds[run]}: its policy {fault}; "
            f"accepted: probabilities >= 0 that sum to 1. It was {shorten(policy.tolist())}."
        )


def sample(policy: Floats, uniform: Floats) -> Ints:
    """An action per run: the first whose cumulative probability exceeds the uniform number."""
    if is_on_cuda(policy):
        drawn: Ints = draw_actions(policy, uniform)
        return drawn
    cumulative = policy.cumsum(axis=1)
    below = cumulative <= uniform * cumulative[:, -1:]
    below[:, -1] = False  # only a policy that is about to be refused needs this
    action: Ints = below.argmin(axis=1)  # the first that is not below
    return action
