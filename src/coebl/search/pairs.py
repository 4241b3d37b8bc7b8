"""Searches with one pair: RLS-PD, the (1+1)-CoEA and the (1, lambda)-CoEA (Lehre and Lin 2024, 2025)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.specs import Range
from coebl.learners.base import Seat
from coebl.search.base import Genomes, Search
from coebl.search.operators import as_policies, choose, dominates, draw_integers, first_genomes, mutate


@dataclass
class _OnePair(Search):
    """A search that keeps and recommends one pair."""

    def start(self, seat: Seat) -> None:
        """Draw the pair."""
        self.seat = seat
        self.x = first_genomes(seat, 1, seat.actions)  # (runs, 1, n)
        self.y = first_genomes(seat, 1, seat.opponent_actions)  # (runs, 1, m)

    def recommend(self) -> tuple[Floats, Floats]:
        """Return the pair."""
        return as_policies(self.x[:, 0], self.y[:, 0])


@dataclass
class _Dominance(_OnePair):
    """A pair that is replaced by a mutant of it which dominates it."""

    def vary(self) -> tuple[Genomes, Genomes]:
        """Return a mutant of the pair, in new arrays."""
        raise NotImplementedError

    def ask(self) -> tuple[Genomes, Genomes]:
        """Return (x', y), (x', y') and (x, y'), where (x', y') is the mutant."""
        self.new_x, self.new_y = self.vary()
        x = np.concatenate([self.new_x, self.new_x, self.x], axis=1)
        y = np.concatenate([self.y, self.new_y, self.new_y], axis=1)
        return x, y

    def tell(self, values: Floats) -> None:
        """Replace the pair where the mutant dominates it."""
        better = dominates(*values.T)[:, None, None]
        self.x, self.y = np.where(better, self.new_x, self.x), np.where(better, self.new_y, self.y)


@dataclass
class RlsPd(_Dominance):
    """RLS-PD: randomised local search on a pair, by pairwise dominance.

    An iteration takes 3 queries.

        x, y = random genomes
        each iteration: (x', y') = (x, y) with one bit flipped, uniform among the n + m bits of the pair
          replace (x, y) by (x', y') if g(x', y) >= g(x', y') >= g(x, y')
    """

    name = "rls-pd"
    title = "RLS-PD"
    cites = (
        "Lehre and Lin (2024). Concentration tail-bound analysis of coevolutionary and bandit learning algorithms. "
        "IJCAI."
    )

    def vary(self) -> tuple[Genomes, Genomes]:
        """Flip one bit of the pair."""
        bits = self.seat.actions
        both = np.concatenate([self.x[:, 0], self.y[:, 0]], axis=1)  # (runs, n + m)
        place = draw_integers(self.seat, both.shape[1], 1)
        both[np.arange(len(both))[:, None], place] ^= 1
        return both[:, None, :bits], both[:, None, bits:]


@dataclass
class OnePlusOneCoea(_Dominance):
    """(1+1)-CoEA: bitwise mutation of a pair, by pairwise dominance.

    An iteration takes 3 queries.

        x, y = random genomes
        each iteration: (x', y') = (x, y), each bit flipped with probability chi / n
          replace (x, y) by (x', y') if g(x', y) >= g(x', y') >= g(x, y')

    Args:
        chi: the expected number of bits that a mutation flips in a genome.
    """

    name = "1+1-coea"
    title = "(1+1)-CoEA"
    cites = (
        "Lehre and Lin (2025). Towards runtime analysis of population-based co-evolutionary algorithms on sparse "
        "binary zero-sum games. AAAI 39."
    )

    chi: Annotated[float, Range(0)] = 1.0

    def vary(self) -> tuple[Genomes, Genomes]:
        """Mutate both genomes."""
        x, y = self.x.copy(), self.y.copy()
        mutate(self.seat, x, self.chi)
        mutate(self.seat, y, self.chi)
        return x, y


@dataclass
class LambdaCoea(_OnePair):
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
        super().start(seat)
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
