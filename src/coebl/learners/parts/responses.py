"""Responses: from scores to policies, and their rates. The response to a matrix is `seat.maximin`."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from coebl.core.arrays import Floats
from coebl.learners.base import Seat


def exponential_weights(score: Floats, rate: float = 1.0) -> Floats:
    """Return exp(rate * score), up to scale: the largest on the last axis is 1, so exp cannot overflow."""
    weights: Floats = np.exp(rate * (score - score.max(axis=-1, keepdims=True)))
    return weights


def softmax(score: Floats, rate: float = 1.0) -> Floats:
    """Return the policies in proportion to exp(rate * score), as in Hedge: (runs, m) from (runs, m)."""
    weights = exponential_weights(score, rate)
    policy: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return policy


def regret_matching(regret: Floats) -> Floats:
    """Return the policies in proportion to the positive regrets, uniform if none is positive: (runs, m) from (runs, m).

    >>> regret_matching(np.array([[3.0, 1.0, -5.0], [-1.0, 0.0, -2.0]]))
    array([[0.75      , 0.25      , 0.        ],
           [0.33333333, 0.33333333, 0.33333333]])
    """
    positive = np.maximum(0, regret)
    weights = np.where(positive.max(axis=-1, keepdims=True) > 0, positive, 1.0)
    policy: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return policy


def log_of_pairs(seat: Seat) -> float:
    """Return L = log(2 T² m k), in the confidence widths of UCB and of COEBL; in rectangular games m k, not m²."""
    assert seat.horizon is not None  # a learner that uses this declares needs_horizon
    return log(2 * seat.horizon**2 * seat.actions * seat.opponent_actions)


def hedge_rate(seat: Seat) -> float:
    """Return sqrt(8 log m / T), the rate of Hedge for payoffs in [0, 1] (Cesa-Bianchi and Lugosi 2006, Theorem 2.2)."""
    assert seat.horizon is not None  # a learner that uses this declares needs_horizon
    return sqrt(8 * log(seat.actions) / seat.horizon)


def regret_of(payoffs: Floats, policy: Floats) -> Floats:
    """Return u_i - x'u, what each action would have earned more than the policy did: (runs, m) from two (runs, m)."""
    earned: Floats = (policy * payoffs).sum(axis=-1, keepdims=True)
    return payoffs - earned


def project_kl(weights: Floats, floor: float) -> Floats:
    """Return the strategy x with x_a >= floor that is nearest to the weights in KL(x, weights), by water filling.

    By the KKT conditions x_a = max(floor, s w_a), with the scale s at which the x_a sum to 1. In falling order of
    weight, the r heaviest actions lie above the floor if and only if the scale that they would then share,
    s_r = (1 - (m - r) floor) / (w_1 + ... + w_r), lifts the r-th above it. That costs one sort, O(m log m).

    Args:
        weights: (runs, m), nonnegative and not all zero; their scale does not matter.
        floor: at most 1/m, and there the answer is the uniform strategy.

    >>> project_kl(np.array([[8.0, 1.0, 1.0]]), 0.125)
    array([[0.75 , 0.125, 0.125]])
    """
    m = weights.shape[-1]
    falling = -np.sort(-weights, axis=-1)
    rank = np.cumsum(np.ones_like(falling), axis=-1)  # r = 1, 2, ..., m
    scale = (1 - (m - rank) * floor) / np.cumsum(falling, axis=-1)  # (runs, m), s_r
    above = np.count_nonzero(scale * falling > floor, axis=-1)
    at = np.maximum(above, 1) - 1  # none is above where floor is 1/m: then s_1 puts all on it
    clipped: Floats = np.maximum(floor, np.take_along_axis(scale, at[:, None], axis=-1) * weights)
    return clipped
