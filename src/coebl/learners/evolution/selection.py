"""Selections: which of two policies is played, the previous or the new one.

To add one, write a class here and put ``@SELECTIONS.add("its-name")`` above it. Its fields are what a spec may set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.registry import Registry

SELECTIONS: Registry[Selection] = Registry("selection", "selections")


@dataclass(frozen=True)
class Selection:
    """A choice between policies."""

    def __call__(self, previous: Floats, new: Floats, matrix: Floats) -> Floats:
        """The policies to play, (runs, m), from two of that shape and the mutants, (runs, m, k)."""
        raise NotImplementedError


def fitness(policy: Floats, matrix: Floats) -> Floats:
    """Fitness(x, B) = min over y of x'By, attained by a pure y: (runs,)."""
    earned: Floats = np.einsum("ri,rij->rj", policy, matrix)
    least: Floats = earned.min(axis=-1)
    return least


@SELECTIONS.add("elitist")
@dataclass(frozen=True)
class Elitist(Selection):
    """The new policy where it is strictly fitter, else the previous one (the paper's Algorithm 1, lines 7 to 10).

    The new policy maximises the very fitness by which it is compared, and almost surely alone: so apart from
    rounding this plays as "none" does.
    """

    def __call__(self, previous: Floats, new: Floats, matrix: Floats) -> Floats:
        fitter = fitness(new, matrix) > fitness(previous, matrix)
        return np.where(fitter[:, None], new, previous)


@SELECTIONS.add("none")
@dataclass(frozen=True)
class Newest(Selection):
    """The new policy, always."""

    def __call__(self, previous: Floats, new: Floats, matrix: Floats) -> Floats:
        return new
