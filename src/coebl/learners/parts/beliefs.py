"""Beliefs: what a learner knows of the payoffs."""

from __future__ import annotations

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
