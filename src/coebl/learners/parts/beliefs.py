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
        """Count one visit per run. Returns the index of what changed, so that only that need be computed anew."""
        at = self._seat.at(action, opponent)
        self.count[at] += 1
        self.mean[at] += (reward - self.mean[at]) / self.count[at]
        return at


class GaussianPosterior:
    """An independent Gaussian posterior for the payoff of every pair: prior N(0, 1), rewards with unit noise."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self.mean = seat.zeros(seat.actions, seat.opponent_actions)  # (runs, m, k), sum of rewards / (n + 1)
        self.deviation = seat.full(1.0, seat.actions, seat.opponent_actions)  # (runs, m, k), 1 / sqrt(n + 1)
        self._weight = seat.full(1.0, seat.actions, seat.opponent_actions)  # (runs, m, k), n + 1

    def add(self, action: Ints, opponent: Ints, reward: Floats) -> tuple[Ints, ...]:
        """Take in one reward per run. Returns the index of what changed."""
        at = self._seat.at(action, opponent)
        self._weight[at] += 1
        self.mean[at] += (reward - self.mean[at]) / self._weight[at]
        self.deviation[at] = 1 / np.sqrt(self._weight[at])
        return at
