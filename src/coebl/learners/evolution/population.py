"""Populations: the number of policies and of mutants, what is played, and the opponent's actions that count.

To add one, write a class here and put ``@POPULATIONS.add("name")`` above it. A spec may set its fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from coebl.core.arrays import Booleans, Floats, Ints
from coebl.core.registry import Component, Registry
from coebl.core.specs import Range
from coebl.learners.base import Seat


@dataclass(frozen=True)
class Population(Component):
    """The number of policies that survive, and of mutants in a round.

    >>> Pool(size=2).played(seat=None, before=None, policies=np.array([[[1.0, 0.0], [0.5, 0.5]]]))  # the mean
    array([[0.75, 0.25]])
    """

    size: Annotated[int, Range(1)] = 1  # of the survivors
    mutants: Annotated[int, Range(1)] = 1  # bred in a round

    def played(self, seat: Seat, before: Floats, policies: Floats) -> Floats:
        """Return what the seat plays, (runs, m): from the policies, (runs, size, m), and what was played before."""
        raise NotImplementedError

    def rivals(self, seat: Seat) -> Parasites | None:
        """Return the opponent's side of the population in a seat, where it has one."""
        return None


POPULATIONS = Registry("population", "populations", base=Population)
"""The populations by name."""


@POPULATIONS.add("pool")
@dataclass(frozen=True)
class Pool(Population):
    """Policies that survive, mutants in each round, and the mean of the policies, which is played.

    The defaults are the paper's: one policy, one mutant, and the policy is played.

    Args:
        size: mu, the policies that survive a round.
        mutants: lambda, the mutants that are bred and solved in a round.
        play: the mean of the policies, or one of them, drawn in every round.
        turnover: the share of what is played that a round replaces. Below 1, what is played is a moving average.
    """

    play: Literal["mean", "draw"] = "mean"
    turnover: Annotated[float, Range(0, 1, open_low=True)] = 1.0

    def played(self, seat: Seat, before: Floats, policies: Floats) -> Floats:
        new: Floats
        if self.play == "mean":
            new = policies[:, 0] if self.size == 1 else policies.mean(axis=1)
        else:
            drawn = (seat.random.uniform() * self.size).astype(np.int64)
            new = policies[seat.at(drawn)]
        return new if self.turnover == 1 else (1 - self.turnover) * before + self.turnover * new


@POPULATIONS.add("hosts")
@dataclass(frozen=True)
class Hosts(Pool):
    """Policies and their parasites: those of the opponent's actions that did best against us, which alone count.

    The fitness of a policy is then the least that it earns against a parasite, not against any action. So a selection
    prefers policies that do well against what the opponent is good at, though they may be bad elsewhere. Selection
    by "none" has no use for it.

    Args:
        size: as in a pool.
        mutants: as in a pool.
        play: as in a pool.
        turnover: as in a pool.
        parasites: the number of the opponent's actions that count.
    """

    parasites: Annotated[int, Range(1)] = 3

    def rivals(self, seat: Seat) -> Parasites:
        return Parasites(seat, self.parasites)


class Parasites:
    """The opponent's actions against which the learner earned least on average, out of those that were played."""

    def __init__(self, seat: Seat, number: int) -> None:
        self._seat, self._number = seat, number
        self._count = seat.zeros(seat.opponent_actions)  # (runs, k), rounds in which the action was played
        self._mean = seat.full(np.inf, seat.opponent_actions)  # (runs, k), what was earned in them

    def add(self, opponent: Ints, reward: Floats) -> None:
        """Learn from one reward per run."""
        at = self._seat.at(opponent)
        self._count[at] += 1
        before = np.where(self._count[at] > 1, self._mean[at], 0.0)
        self._mean[at] = before + (reward - before) / self._count[at]

    def alive(self) -> Booleans:
        """Return a mask of the parasites, (runs, k): before the first round all, later none that was never played."""
        rank = np.argsort(np.argsort(self._mean, axis=-1, kind="stable"), axis=-1, kind="stable")  # the first of equals
        chosen = (rank < self._number) & (self._count > 0)
        return chosen | ~chosen.any(axis=-1, keepdims=True)
