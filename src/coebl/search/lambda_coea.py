"""The (1, lambda)-CoEA (Lehre and Lin 2024): one pair, whose sides are renewed in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.specs import Range
from coebl.learners.base import Seat
from coebl.search.base import Genomes, Search
from coebl.search.operators import as_policies, choose, first_genomes, mutate


@dataclass
class LambdaCoea(Search):
    """(1, lambda)-CoEA: in turn, one side is replaced by the best of its mutants against the other side.

    A step takes as many queries as there are mutants. The best one is drawn uniformly if several are equal.

        x, y = random genomes
        each step, x and y in turn: draw mutants of it, each bit flipped with probability chi / n
          x becomes the mutant of largest g(x', y), or y that of smallest g(x, y')

    Args:
        mutants: lambda, the number of mutants of a step.
        chi: the expected number of bits that a mutation flips in a genome.
    """

    name = "1-lambda-coea"
    title = "(1, λ)-CoEA"
    cites = "Lehre and Lin (2024). Overcoming binary adversarial optimisation with competitive coevolution. PPSN XVIII."

    mutants: Annotated[int, Range(1, 10**6)] = 100
    chi: Annotated[float, Range(0)] = 0.6

    def start(self, seat: Seat) -> None:
        """Draw the pair; x begins."""
        self.seat = seat
        self.x = first_genomes(seat, 1, seat.actions)  # (runs, 1, n)
        self.y = first_genomes(seat, 1, seat.opponent_actions)  # (runs, 1, m)
        self.x_moves = True

    def ask(self) -> tuple[Genomes, Genomes]:
        """Return the mutants of one side with the genome of the other."""
        x, y = np.repeat(self.x, self.mutants, axis=1), np.repeat(self.y, self.mutants, axis=1)
        self.offspring = x if self.x_moves else y
        mutate(self.seat, self.offspring, self.chi)
        return x, y

    def tell(self, values: Floats) -> None:
        """Keep the best mutant."""
        gain = values if self.x_moves else -values
        best = gain == gain.max(axis=1, keepdims=True)
        lot = np.where(best, self.seat.random.uniform(self.mutants), -1.0)
        winner = choose(self.offspring, lot.argmax(axis=1)[:, None])
        if self.x_moves:
            self.x = winner
        else:
            self.y = winner
        self.x_moves = not self.x_moves

    def recommend(self) -> tuple[Floats, Floats]:
        """Return the pair."""
        return as_policies(self.x[:, 0], self.y[:, 0])
