"""The evolutionary parts of COEBL: mutations of the estimated payoffs, and selections between policies.

Each part is a function with a name. To add one: write it, put it into its table, and its name into the Literal above.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from coebl.learners.base import Floats

MutationName = Literal["gaussian", "gaussian-prose"]
SelectionName = Literal["elitist", "none"]

# (mean, count, c L, standard normal draws), all but c L of shape (runs, m, k) -> the mutated matrices, (runs, m, k)
Mutation = Callable[[Floats, Floats, float, Floats], Floats]
# (previous policies, new policies, both (runs, m), mutated matrices (runs, m, k)) -> the policies to play, (runs, m)
Selection = Callable[[Floats, Floats, Floats], Floats]


def gaussian(mean: Floats, count: Floats, scale: float, normal: Floats) -> Floats:
    """mean + N(sqrt(c L / (max(1, n) + 1)), 1 / max(1, n)²): the paper's formula of Mutate, which its proof uses."""
    visits = np.maximum(1, count)
    return mean + np.sqrt(scale / (visits + 1)) + normal / visits


def gaussian_prose(mean: Floats, count: Floats, scale: float, normal: Floats) -> Floats:
    """mean + N(sqrt(c L / (max(1, n) + 1)), 1 / (1 + n)): the variance that the paper's prose states."""
    return mean + np.sqrt(scale / (np.maximum(1, count) + 1)) + normal / np.sqrt(1 + count)


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


MUTATIONS: dict[MutationName, Mutation] = {"gaussian": gaussian, "gaussian-prose": gaussian_prose}
SELECTIONS: dict[SelectionName, Selection] = {"elitist": elitist, "none": newest}
