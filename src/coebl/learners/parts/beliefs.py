"""Beliefs: what a learner knows of the payoffs."""

from __future__ import annotations

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.learners.base import Seat


class Tally:
    """Visits and mean rewards of every pair of an own and an opponent's action."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self.count = seat.zeros(seat.actions, seat.opponent_actions)  # (runs, m, k), visits to the pair
        self.mean = seat.zeros(seat.actions, seat.opponent_actions)  # (runs, m, k), average reward, 0 when unvisited

    def add(self, action: Ints, opponent: Ints, reward: Floats) -> tuple[Ints, ...]:
        """Count one visit per run. Returns the index of what changed, so that the rest is not computed again."""
        at = self._seat.at(action, opponent)
        self._seat.backend.count_visit(self.count, self.mean, at, reward)
        return at


class Posterior:
    """The posterior of independent payoffs ~ N(0, 1) seen with N(0, 1) noise: N(sum of r / (n + 1), 1 / (n + 1))."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        shape = seat.actions, seat.opponent_actions
        self._total = seat.zeros(*shape)  # (runs, m, k), sum of the rewards of the pair
        self.count = seat.zeros(*shape)  # (runs, m, k), n, visits to the pair
        self.mean = seat.zeros(*shape)  # (runs, m, k)
        self.variance = seat.full(1.0, *shape)  # (runs, m, k)
        self.deviation = seat.full(1.0, *shape)  # (runs, m, k), its root

    def add(self, action: Ints, opponent: Ints, reward: Floats) -> tuple[Ints, ...]:
        """Learn from one reward per run. Returns the index of what changed, so that the rest is not computed again."""
        at, backend = self._seat.at(action, opponent), self._seat.backend
        count, total = backend.take(self.count, at) + 1, backend.take(self._total, at) + reward
        variance = 1 / (count + 1)
        backend.put(self.count, at, count)
        backend.put(self._total, at, total)
        backend.put(self.variance, at, variance)
        backend.put(self.deviation, at, np.sqrt(variance))
        backend.put(self.mean, at, total * variance)
        return at

    def against(self, opponent: Ints) -> tuple[Floats, Floats]:
        """Means and standard deviations of all own actions against one opponent's action per run: two (runs, m)."""
        rows = self._seat.arange(self._seat.runs)
        return self.mean[rows, :, opponent], self.deviation[rows, :, opponent]
