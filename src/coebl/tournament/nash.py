"""Nash averaging: learners weighted by an equilibrium of the meta-game, in which one picks a learner to play.

Balduzzi et al., Re-evaluating Evaluation, 2018. Copies of a learner, or opponents that everybody beats, change nothing
in it. If the meta-game has several equilibria, the one of largest entropy is taken, as there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coebl.core.arrays import Floats
from coebl.solver import maximin

_ALIKE = 1e-6  # equilibria that differ by less are one


class NashAverage(NamedTuple):
    """An equilibrium of the meta-game."""

    mass: Floats  # (learners,), how often each is played
    score: Floats  # (learners,), its advantage over that mixture: zero for those that are played, else below it
    unique: bool  # whether it is the only one


def nash_average(against: Floats) -> NashAverage:
    """The equilibrium of largest entropy of an antisymmetric meta-game, and the learners' scores against it.

    >>> nash_average(np.array([[0.0, 1, -1], [-1, 0, 1], [1, -1, 0]])).mass.round(3)
    array([0.333, 0.333, 0.333])
    """
    count = len(against)
    # One equilibrium per learner, which plays it as often as any does: if all are the same, there is only one.
    favourites = maximin(np.repeat(against[None], count, axis=0), ties=1.0 - np.eye(count)).strategy
    unique = bool(np.ptp(favourites, axis=0).max() < _ALIKE)
    mass = favourites[0] if unique else _largest_entropy(against, favourites.mean(axis=0))
    return NashAverage(mass, against @ mass, unique)


def _largest_entropy(against: Floats, inside: Floats) -> Floats:
    """The equilibrium of largest entropy, from one that plays all learners that any equilibrium plays."""
    from scipy.optimize import LinearConstraint, minimize

    used = np.flatnonzero(inside > _ALIKE)
    unit = float(np.abs(against).max()) or 1.0
    gains = -against[:, used] / unit  # what the mixture earns against each learner, at least the value, which is zero
    found = minimize(
        lambda mass: float(mass @ np.log(mass)),
        inside[used],
        jac=lambda mass: 1 + np.log(mass),  # type: ignore[call-overload]
        method="SLSQP",
        bounds=[(1e-12, 1.0)] * len(used),
        constraints=[LinearConstraint(np.ones((1, len(used))), 1.0, 1.0), LinearConstraint(gains, 0.0, np.inf)],
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    mass = np.zeros(len(against))
    mass[used] = np.clip(found.x, 0, None)
    mass /= mass.sum()
    # What the optimiser returns is taken only if it is an equilibrium.
    return mass if (against @ mass).max() <= _ALIKE * unit else inside


def nash_masses(batch: Floats, random: np.random.Generator) -> Floats:
    """An equilibrium of each meta-game of a batch, (games, learners); ties fall at random, so that copies are equal."""
    return maximin(batch, ties="random", random=random).strategy
