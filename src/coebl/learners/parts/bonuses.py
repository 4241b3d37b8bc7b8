"""Bonuses: the optimism that is added to the mean reward of a pair of actions with n visits."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from coebl.core.arrays import Floats
from coebl.learners.base import Seat


def log_of_pairs(seat: Seat) -> float:
    """Return L = log(2 T² m k), in the confidence widths of UCB and of COEBL; in rectangular games m k, not m²."""
    assert seat.horizon is not None  # a learner that uses this declares needs_horizon
    return log(2 * seat.horizon**2 * seat.actions * seat.opponent_actions)


def confidence_width(count: Floats, scale: float) -> Floats:
    """Return sqrt(scale / max(1, n)): UCB's, with scale = 2 L."""
    return np.sqrt(scale / np.maximum(1, count))


def mutation_bonus(count: Floats, scale: float) -> Floats:
    """Return sqrt(scale / (max(1, n) + 1)): COEBL's, with scale = c L."""
    return np.sqrt(scale / (np.maximum(1, count) + 1))


def bonus_for_visits_to_come(count: Floats, c: float, prior: float, to_come: float) -> Floats:
    """Return sqrt(c log(1 + kappa / nu) / nu) with nu = n + prior: Kin's, in units of the noise's deviation.

    prior is the number of visits that the prior is worth, and to_come is kappa, the visits of a pair that can still
    come, on average: what is learned pays only then.
    """
    visits = count + prior
    return np.sqrt(c * np.log1p(to_come / visits) / visits)


def proven_bonus(count: Floats, prior: float, widest: float, scale: float) -> Floats:
    """Return (sqrt(scale n) + prior * widest) / (n + prior): how far Kin's clipped estimates may be off.

    A pair with n visits has the share g = prior / (n + prior) from its relatives, which are off by at most `widest`,
    and for the rest its mean, which is off by at most sqrt(scale / n).
    """
    return (np.sqrt(scale * count) + prior * widest) / (count + prior)


def widest_mistake(half_width: float, own: float, mutation: float, L: float) -> float:
    """Return h (2 + mutation sqrt(2 own L)): how far a clipped inheritance with its mutation may be off."""
    return half_width * (2 + mutation * sqrt(2 * own * L))
