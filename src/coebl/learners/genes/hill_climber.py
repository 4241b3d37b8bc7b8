"""The (1+1) hill climber: a genome, and a mutant that replaces it if it earns as much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.specs import Range
from coebl.learners.base import Learner, Seat, Seen


@dataclass
class HillClimber(Learner):
    """The (1+1) evolutionary algorithm: parent and mutant play in turn, and the better of the two stays.

    A baseline: with noise, or against an opponent that moves, a single comparison decides.

        x = a random genome
        in odd rounds: play x; see r
        in even rounds: play z, x with each gene flipped with probability rate / n; see r'; if r' >= r then x = z

    Args:
        rate: the mean number of genes that a mutant flips.
    """

    name = "hill-climber"
    title = "(1+1) hill climber"
    plays = frozenset({"bits"})
    improves = False  # not reliably: noise decides many comparisons
    cites = "Mühlenbein (1992). How genetic algorithms really work: mutation and hillclimbing. PPSN II."

    rate: Annotated[float, Range(0, open_low=True)] = 1.0

    def start(self, seat: Seat) -> None:
        self.seat = seat
        self.parent = (seat.random.uniform(seat.actions) < 0.5).astype(np.float64)  # (runs, n), x
        self.earned = seat.zeros()  # (runs,), r
        self._chance = min(1.0, self.rate / seat.actions)

    def policy(self, t: int) -> Floats:
        if t % 2:
            return self.parent
        flips = (self.seat.random.uniform(self.seat.actions) < self._chance).astype(np.float64)
        return np.abs(self.parent - flips)

    def observe(self, t: int, seen: Seen) -> None:
        if t % 2:
            self.earned = seen.reward
        else:
            better = (seen.reward >= self.earned)[:, None]
            self.parent = np.where(better, seen.action.astype(np.float64), self.parent)

    def cost(self, actions: int, opponent_actions: int) -> float:
        """Return the approximate microseconds of a round per run: a draw per gene every second round."""
        return 0.3 + 0.005 * actions
