"""Spaces of actions: the actions of a seat, and the policies over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from coebl.core.arrays import Booleans, Floats, Ints

_SUM_TOLERANCE = 1e-8


class Space(Protocol):
    """The actions of a seat. A policy has `width` numbers; arrays may be those of any library.

    >>> space: Space = Indices(3)
    >>> space.width
    3
    """

    @property
    def width(self) -> int:
        """The length of a policy."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of an action: () for a number, (width,) for a genome."""

    @property
    def uniforms(self) -> int:
        """The number of uniform numbers that the draw of an action takes."""

    def draw(self, policy: Floats, uniform: Floats) -> Ints:
        """Return an action per run: (runs, *shape).

        Args:
            policy: (runs, width).
            uniform: numbers per run, uniform on [0, 1): (runs, uniforms).
        """

    def are_policies(self, policies: Floats) -> Booleans:
        """Return true where policies are valid: (rounds, runs).

        Args:
            policies: (rounds, runs, width).
        """

    def fault(self, policy: Floats) -> str | None:
        """Return why a policy is not valid, to follow "its policy"; None if it is.

        Args:
            policy: of one run: (width,).
        """


@dataclass(frozen=True)
class Indices:
    """The actions 0 .. width - 1. A policy has a probability for each.

    >>> coin = Indices(2)
    >>> coin.draw(np.array([[0.5, 0.5], [0.5, 0.5]]), np.array([[0.2], [0.7]]))
    array([0, 1])
    >>> coin.fault(np.array([0.5, 0.4]))
    'sums to 0.9; accepted: probabilities >= 0 that sum to 1'
    """

    width: int  # the number of actions, m
    shape: ClassVar[tuple[int, ...]] = ()
    uniforms: ClassVar[int] = 1

    def draw(self, policy: Floats, uniform: Floats) -> Ints:
        """Return the first action whose cumulative probability exceeds the uniform number of a run, for each policy."""
        cumulative = policy.cumsum(axis=1)
        below = cumulative <= uniform * cumulative[:, -1:]
        below[:, -1] = False  # only a policy that is about to be rejected needs this
        action: Ints = below.argmin(axis=1)  # the first that is not below
        return action

    def are_policies(self, policies: Floats) -> Booleans:
        """Return true where policies, (rounds, runs, width), are valid: (rounds, runs)."""
        good: Booleans = (policies >= 0).all(axis=-1) & (np.abs(policies.sum(axis=-1) - 1) <= _SUM_TOLERANCE)
        return good

    def fault(self, policy: Floats) -> str | None:
        """Return why a policy of one run is not valid, to follow "its policy"; None if it is."""
        if self.are_policies(policy):
            return None
        if np.isnan(policy).any():
            fault = "has NaN"
        elif (policy < 0).any():
            fault = f"has the negative probability {policy.min():.3g}"
        else:
            fault = f"sums to {policy.sum():.10g}"
        return f"{fault}; accepted: probabilities >= 0 that sum to 1"


@dataclass(frozen=True)
class Bits:
    """The genomes of `width` genes, each 0 or 1. A policy has the probability of a 1 for each gene: its marginals.

    A genome is an array of int8, so that 2 * x - 1 is -1 or 1.

    >>> genes = Bits(3)
    >>> genes.draw(np.array([[0.0, 0.5, 1.0]]), np.array([[0.2, 0.7, 0.9]]))
    array([[0, 0, 1]], dtype=int8)
    >>> genes.fault(np.array([0.5, 1.5, 0.0]))
    'has the marginal 1.5; accepted: numbers in 0 .. 1, one per gene'
    """

    width: int  # the number of genes, n

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a genome: (width,)."""
        return (self.width,)

    @property
    def uniforms(self) -> int:
        """The number of uniform numbers of a draw: one per gene."""
        return self.width

    def draw(self, policy: Floats, uniform: Floats) -> Ints:
        """Return a genome for each policy, (runs, width): a gene is 1 if its uniform number is below its marginal."""
        genome: Ints = (uniform < policy).astype(np.int8)
        return genome

    def are_policies(self, policies: Floats) -> Booleans:
        """Return true where policies, (rounds, runs, width), are valid: (rounds, runs)."""
        good: Booleans = (policies >= 0).all(axis=-1) & (policies.max(axis=-1) <= 1)
        return good

    def fault(self, policy: Floats) -> str | None:
        """Return why a policy of one run is not valid, to follow "its policy"; None if it is."""
        if self.are_policies(policy):
            return None
        outside = policy[~((policy >= 0) & (policy <= 1))]
        fault = "has NaN" if np.isnan(outside).any() else f"has the marginal {outside[0]:.3g}"
        return f"{fault}; accepted: numbers in 0 .. 1, one per gene"
