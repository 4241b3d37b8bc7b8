"""The contract of a learner, on one page.

To write one, copy `_template.py`. A learner is a dataclass: its fields are its hyper-parameters, and two learners with
equal fields are equal, print the same spec and play the same. All arrays carry the runs of a batch on axis 0, so the
code reads like the pseudo-code of one run and pays Python's cost once a round. The order of calls is

    start(seat)                                  once; allocate state for seat.runs runs
    policy(t)                                    for t = 1, 2, ...: the mixed strategies of round t, (runs, actions)
    observe(t, action, opponent, reward)         what happened in round t, each of shape (runs,)

Everything is in own view: own actions are the rows, the own reward is to be maximised, in either seat.

Rules that `coebl.testing.check_learner` holds a learner to:

- A run must not depend on the other runs of its batch, to the last bit: sum over the last axis, not over runs; no `@`,
  whose rounding depends on the size of the batch (use `numpy.einsum`).
- Random numbers come from `seat.random` and from nowhere else.
- A learner sees what it declares in `sees`, no more. With "reward", `opponent` is None.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Sees = Literal["reward", "opponent", "game", "policy"]
SEES: dict[Sees, str] = {
    "reward": "its own reward alone",
    "opponent": "its own reward and the opponent's action",
    "game": "the true payoffs",
    "policy": "the true payoffs and the opponent's current policy",
}


class BatchRandom(Protocol):
    """A learner's private random numbers: (runs, *shape), each run's from a stream of its own."""

    def uniform(self, *shape: int) -> Floats:
        """Uniform on [0, 1)."""

    def normal(self, *shape: int) -> Floats:
        """Standard normal."""


@dataclass(frozen=True)
class Seat:
    """What a learner is told before the first round."""

    runs: int
    actions: int
    opponent_actions: int
    horizon: int | None  # the number of rounds, None where it is not known
    payoff_range: tuple[float, float]  # of the own payoffs; rewards carry noise and may lie outside
    random: BatchRandom  # the learner's private streams, one per run
    payoff: Floats | None = None  # (actions, opponent_actions), only for learners that see the game or the policy


@dataclass
class Learner:
    """A way of learning to play. See the module's text for the contract."""

    name: ClassVar[str]  # its spec name
    sees: ClassVar[Sees] = "opponent"
    needs_horizon: ClassVar[bool] = False
    learns: ClassVar[bool] = True  # False for opponents with a fixed plan: nothing is then expected of it
    cites: ClassVar[str] = ""

    def start(self, seat: Seat) -> None:
        """Allocate the state of seat.runs runs."""
        raise NotImplementedError

    def policy(self, t: int) -> Floats:
        """The mixed strategies of round t, which counts from 1: (runs, actions)."""
        raise NotImplementedError

    def respond(self, t: int, opponent_policy: Floats) -> Floats:
        """As `policy`, for a learner that sees the opponent's policy of this very round: (runs, opponent_actions)."""
        return self.policy(t)

    def observe(self, t: int, action: Ints, opponent: Ints | None, reward: Floats) -> None:
        """What happened in round t, each of shape (runs,). opponent is None if the learner sees its reward alone."""

    @classmethod
    def regret_bound(cls, actions: int, opponent_actions: int, rounds: int) -> float | None:
        """The proven bound on the expected Nash regret against any opponent, with payoffs in [0, 1] and unit noise."""
        return None

    def __str__(self) -> str:
        from coebl.learners.registry import LEARNERS

        return LEARNERS.spec_of(self)

    def hyper_parameters(self) -> dict[str, object]:
        """The fields, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Tally:
    """Visits and mean rewards of every pair of actions."""

    def __init__(self, seat: Seat) -> None:
        shape = seat.runs, seat.actions, seat.opponent_actions
        self.count = np.zeros(shape)  # (runs, m, k), visits to the pair
        self.mean = np.zeros(shape)  # (runs, m, k), average reward, 0 when unvisited
        self._runs = np.arange(seat.runs)

    def add(self, action: Ints, opponent: Ints, reward: Floats) -> tuple[Ints, Ints, Ints]:
        """Count one visit per run. Returns the index of what changed, so that only that need be computed anew."""
        at = self._runs, action, opponent
        self.count[at] += 1
        self.mean[at] += (reward - self.mean[at]) / self.count[at]
        return at
