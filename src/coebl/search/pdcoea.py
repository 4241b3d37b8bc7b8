"""PDCoEA, the pairwise dominance co-evolutionary algorithm (Lehre 2024)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.specs import Range
from coebl.learners.base import Seat
from coebl.search.base import Genomes, Pairs, Search
from coebl.search.operators import choose, dominates, draw_integers, first_genomes, mutate


@dataclass
class Pdcoea(Search):
    """PDCoEA: two populations, from which pairs are drawn, compared by pairwise dominance, and mutated.

    A generation takes 3 population queries. With noise, each of them has its own.

        P, Q = population random genomes each
        each generation, population times:
          draw x1, x2 from P and y1, y2 from Q, uniformly and with replacement
          keep (x1, y1) if g(x1, y2) >= g(x1, y1) >= g(x2, y1), else (x2, y2)
          flip each bit of both with probability chi / n; they go into the next P and Q

    It recommends the majority of each population, bit by bit; all of P and Q are candidates.

    Args:
        population: the number of genomes on each side.
        chi: the expected number of bits that a mutation flips in a genome.
    """

    name = "pdcoea"
    title = "PDCoEA"
    cites = (
        "Lehre (2024). Runtime analysis of competitive co-evolutionary algorithms for maximin optimisation of a "
        "bilinear function. Algorithmica 86."
    )

    population: Annotated[int, Range(1, 10**6)] = 500
    chi: Annotated[float, Range(0)] = 0.3

    def start(self, seat: Seat) -> None:
        """Draw both populations."""
        self.seat = seat
        self.P = first_genomes(seat, self.population, seat.actions)  # (runs, population, n)
        self.Q = first_genomes(seat, self.population, seat.opponent_actions)  # (runs, population, m)

    def ask(self) -> Pairs:
        """Return (x1, y2), (x1, y1) and (x2, y1) of every pair of pairs."""
        index = draw_integers(self.seat, self.population, 4 * self.population)
        i1, i2, j1, j2 = np.split(index, 4, axis=1)
        self.first, self.second = np.stack([i1, j1], axis=1), np.stack([i2, j2], axis=1)  # (runs, 2, population)
        i, j = np.concatenate([i1, i1, i2], axis=1), np.concatenate([j2, j1, j1], axis=1)
        return Pairs(self.P, self.Q, i, j)

    def tell(self, values: Floats) -> None:
        """Keep the dominant pairs, mutated."""
        kept = dominates(*np.split(values, 3, axis=1))  # (runs, population)
        chosen = np.where(kept[:, None], self.first, self.second)
        self.P, self.Q = choose(self.P, chosen[:, 0]), choose(self.Q, chosen[:, 1])
        mutate(self.seat, self.P, self.chi)
        mutate(self.seat, self.Q, self.chi)

    def recommend(self) -> tuple[Floats, Floats]:
        """Return the majority of each population."""
        x, y = ((2 * genomes.sum(axis=1) > self.population).astype(np.float64) for genomes in (self.P, self.Q))
        return x, y

    def candidates(self) -> tuple[Genomes, Genomes]:
        """Return both populations."""
        return self.P, self.Q
