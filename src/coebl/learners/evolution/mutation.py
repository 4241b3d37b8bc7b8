"""Mutations: how the estimated payoff of a pair of actions with n visits becomes a mutant's.

To add one, write a class here and put ``@MUTATIONS.add("its-name")`` above it. Its fields are what a spec may set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.registry import Registry
from coebl.learners.base import Seat
from coebl.learners.parts.bonuses import mutation_bonus

MUTATIONS: Registry[Mutation] = Registry("mutation", "mutations")


@dataclass(frozen=True)
class Mutation:
    """mean + N(bonus, deviation²): the paper's Mutate, whose deviation each mutation chooses.

    Where the mutants are centred and how far they are spread depends on the visits alone, so a learner keeps both and
    computes anew only what a visit changes.
    """

    def centre(self, mean: Floats, count: Floats, scale: float) -> Floats:
        """Where the mutants are centred, mean and bonus: of the shape of mean and count. scale is c L."""
        return mean + mutation_bonus(count, scale)

    def deviation(self, count: Floats) -> Floats:
        """Their standard deviation, of the shape of count."""
        raise NotImplementedError

    def draw(self, seat: Seat, centre: Floats, deviation: Floats) -> Floats:
        """The mutants of a round: (runs, m, k)."""
        mutant = seat.random.normal(seat.actions, seat.opponent_actions)
        mutant *= deviation  # in place: large games are bound by memory
        mutant += centre  # ~ N(centre, deviation²), the paper's Mutate
        return mutant


@MUTATIONS.add("gaussian")
@dataclass(frozen=True)
class Gaussian(Mutation):
    """The formula of the paper's Mutate, which its proof uses: deviation 1 / max(1, n)."""

    def deviation(self, count: Floats) -> Floats:
        return 1 / np.maximum(1, count)


@MUTATIONS.add("gaussian-prose")
@dataclass(frozen=True)
class GaussianProse(Mutation):
    """The variance that the paper's prose states: deviation 1 / sqrt(1 + n)."""

    def deviation(self, count: Floats) -> Floats:
        return 1 / np.sqrt(1 + count)
