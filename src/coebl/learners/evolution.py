"""The evolutionary parts of COEBL: mutations of the estimated payoffs, and selections between policies.

Each part has a name. To add one: write it, put it into its table, and its name into the Literal above.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from coebl.learners.base import Floats

MutationName = Literal["gaussian", "gaussian-prose"]
SelectionName = Literal["elitist", "none"]

# (previous policies, new policies, both (runs, m), mutated matrices (runs, m, k)) -> the policies to play, (runs, m)
Selection = Callable[[Floats, Floats, Floats], Floats]


@dataclass(frozen=True)
class Mutation:
    """mean + N(sqrt(c L / (max(1, n) + 1)), deviation(n)²), for a pair of actions with n visits: the paper's Mutate."""

    deviation: Callable[[Floats], Floats]

    def centre(self, mean: Floats, count: Floats, scale: float) -> Floats:
        """Where the mutated entries are centred, the mean and the bonus: of the shape of mean and count."""
        return mean + np.sqrt(scale / (np.maximum(1, count) + 1))

    def __call__(self, mean: Floats, count: Floats, scale: float, normal: Floats) -> Floats:
        """The mutated entries, from standard normal draws; scale is c L."""
        return self.centre(mean, count, scale) + self.deviation(count) * normal


def formula(count: Floats) -> Floats:
    """1 / max(1, n): the formula of the paper's Mutate, which its proof uses."""
    return 1 / np.maximum(1, count)


def prose(count: Floats) -> Floats:
    """1 / sqrt(1 + n): the variance that the paper's prose states."""
    return 1 / np.sqrt(1 + count)


def fitness(policy: Floats, matrix: Floats) -> Floats:
    """Fitness(x, B) = min over y of x'By, attained by a pure y: (runs,)."""
    earned: Floats = np.einsum("ri,rij->rj", policy, matrix)
    least: Floats = earned.min(axis=-1)
    return least


def elitist(previous: Floats, new: Floats, matrix: Floats) -> Floats:
    """The new policy where it is strictly fitter, else the previous one (the paper's Algorithm 1, lines 7 to 10).

    The new policy maximises the very fitness by which it is compared, and almost surely alone: so apart from
    rounding this plays as `newest` does.
    """
    fitter = fitness(new, matrix) > fitness(previous, matrix)
    return np.where(fitter[:, None], new, previous)


def newest(previous: Floats, new: Floats, matrix: Floats) -> Floats:
    """The new policy, always: no selection."""
    return new


MUTATIONS: dict[MutationName, Mutation] = {"gaussian": Mutation(formula), "gaussian-prose": Mutation(prose)}
SELECTIONS: dict[SelectionName, Selection] = {"elitist": elitist, "none": newest}
