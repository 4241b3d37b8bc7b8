"""A learner in its seat: what it is told before the first round and after each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from coebl.backend import CPU, Backend, is_out_of_memory
from coebl.backend.streams import actions_key, fill_uniform, learner_key
from coebl.core.arrays import Floats, Ints
from coebl.core.errors import CoeblError, UserCodeError, shorten, where
from coebl.games.game import SEATS, SeatName
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
    backend: Backend = CPU,
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
        backend: where its arrays live.
    """
    actions, opponent_actions = shape
    return Seat(
        runs=len(seeds),
        actions=actions,
        opponent_actions=opponent_actions,
        horizon=horizon,
        payoff_range=payoff_range,
        random=backend.random(seeds, learner_key(SEATS.index(name))),
        offers=frozenset(SIGHTS) if payoff is not None else frozenset({"opponent"}),
        shown=payoff if "game" in learner.sees else None,
        backend=backend,
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
        self._backend = seat.backend
        self._payoff = None if payoff is None else seat.array(payoff)
        self._draws = seat.backend.stream(seeds, actions_key(SEATS.index(name)), "uniform", fill_uniform, _DRAWS_AHEAD)
        try:
            self.learner = learner.seated(seat)
        except (Exception, SystemExit) as error:
            self._blame(error, "before the first round")

    def begin_block(self, rounds: int) -> None:
        """Make room for what is played in the next rounds."""
        runs, actions = self.shape
        self.policies: Floats = self._backend.arrays.empty((rounds, runs, actions))
        self.actions: Ints = self._backend.arrays.empty((rounds, runs), np.int64)
        self.rewards: Floats = self._backend.arrays.empty((rounds, runs))

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
        action: Ints = self._backend.draw(self.policies[at], self._draws.take(1))
        self.actions[at] = action
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

    def check(self, first: int, length: int) -> None:
        """Reject the first round and run of the block whose policy is not a distribution.

        Runs that will be played again may have any.
        """
        policies = self.policies[:length]
        good = (policies >= 0).all(axis=2) & (np.abs(policies.sum(axis=2) - 1) <= _SUM_TOLERANCE)
        good = self._backend.excuse(good)
        if good.all():
            return
        at, run = (int(index) for index in self._backend.to_host(np.argwhere(~good))[0])
        policy = self._backend.to_host(policies[at, run])
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
