"""Spaces: the actions of a seat, and the policies over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from coebl.core.arrays import Booleans, Floats, Ints

_SUM_TOLERANCE = 1e-8


@dataclass(frozen=True)
class Space:
    """The actions of a seat: `Indices` or `Bits`. A policy has `width` numbers. Arrays may be on any device.

    >>> space: Space = Indices(3)
    >>> space.width
    3
    """

    width: int  # the length of a policy
    accepted: ClassVar[str]  # as a policy

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of an action: () for a number, (width,) for a genome."""
        return ()

    @property
    def uniforms(self) -> int:
        """The number of uniform random numbers per action."""
        return 1

    def draw(self, policy: Floats, uniform: Floats) -> Ints:
        """Return an action, (runs, *shape), of each policy, (runs, width), by uniform numbers, (runs, uniforms)."""
        raise NotImplementedError

    def are_policies(self, policies: Floats) -> Booleans:
        """Return true where policies, (rounds, runs, width), are valid: (rounds, runs)."""
        raise NotImplementedError

    def fault(self, policy: Floats) -> str | None:
        """Return why a policy, (width,), is not valid, as the end of a sentence; None if it is valid."""
        if self.are_policies(policy):
            return None
        return f"{'has NaN' if np.isnan(policy).any() else self._fault(policy)}; accepted: {self.accepted}"

    def _fault(self, policy: Floats) -> str:
        raise NotImplementedError


class Indices(Space):
    """The actions 0 .. width - 1. A policy has a probability for each.

    >>> coin = Indices(2)
    >>> coin.draw(np.array([[0.5, 0.5], [0.5, 0.5]]), np.array([[0.2], [0.7]]))
    array([0, 1])
    >>> coin.fault(np.array([0.5, 0.4]))
    'sums to 0.9; accepted: probabilities >= 0 that sum to 1'
    """

    accepted = "probabilities >= 0 that sum to 1"

    def draw(self, policy: Floats, uniform: Floats) -> Ints:
        """Return the first action whose cumulative probability exceeds the uniform number of the run."""
        cumulative = policy.cumsum(axis=1)
        below = cumulative <= uniform * cumulative[:, -1:]
        below[:, -1] = False  # matters only for an invalid policy, which is about to be rejected
        return below.argmin(axis=1)  # the first that is not below

    def are_policies(self, policies: Floats) -> Booleans:
        return (policies >= 0).all(axis=-1) & (np.abs(policies.sum(axis=-1) - 1) <= _SUM_TOLERANCE)

    def _fault(self, policy: Floats) -> str:
        negative = (policy < 0).any()
        return f"has the negative probability {policy.min():.3g}" if negative else f"sums to {policy.sum():.10g}"


class Bits(Space):
    """The genomes of `width` genes, each 0 or 1. A policy has the probability of a 1 for each gene: its marginals.

    A genome is an array of int8, so that 2 * x - 1 is -1 or 1.

    >>> genes = Bits(3)
    >>> genes.draw(np.array([[0.0, 0.5, 1.0]]), np.array([[0.2, 0.7, 0.9]]))
    array([[0, 0, 1]], dtype=int8)
    >>> genes.fault(np.array([0.5, 1.5, 0.0]))
    'has the marginal 1.5; accepted: numbers in 0 .. 1, one per gene'
    """

    accepted = "numbers in 0 .. 1, one per gene"

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.width,)

    @property
    def uniforms(self) -> int:
        return self.width

    def draw(self, policy: Floats, uniform: Floats) -> Ints:
        """Return a genome per run, (runs, width): a gene is 1 if its uniform number is below its marginal."""
        return (uniform < policy).astype(np.int8)

    def are_policies(self, policies: Floats) -> Booleans:
        return (policies >= 0).all(axis=-1) & (policies.max(axis=-1) <= 1)

    def _fault(self, policy: Floats) -> str:
        return f"has the marginal {policy[~((policy >= 0) & (policy <= 1))][0]:.3g}"
