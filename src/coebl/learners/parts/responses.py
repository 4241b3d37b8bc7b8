"""Responses: from scores to policies. That to a matrix of payoffs is `seat.maximin`."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from coebl.core.arrays import Floats
from coebl.learners.base import Seat


def exponential_weights(score: Floats, rate: float = 1.0) -> Floats:
    """exp(rate * score), up to scale: the largest on the last axis is 1, so exp cannot overflow."""
    weights: Floats = np.exp(rate * (score - score.max(axis=-1, keepdims=True)))
    return weights


def softmax(score: Floats, rate: float = 1.0) -> Floats:
    """The policies in proportion to exp(rate * score), as in Hedge: (runs, m) from (runs, m)."""
    weights = exponential_weights(score, rate)
    policy: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return policy


def regret_matching(regret: Floats) -> Floats:
    """The policies in proportion to the positive regrets, uniform if none is positive: (runs, m) from (runs, m).

    >>> regret_matching(np.array([[3.0, 1.0, -5.0], [-1.0, 0.0, -2.0]]))
    array([[0.75      , 0.25      , 0.        ],
           [0.33333333, 0.33333333, 0.33333333]])
    """
    positive = np.maximum(0, regret)
    weights = np.where(positive.max(axis=-1, keepdims=True) > 0, positive, 1.0)
    policy: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return policy


def hedge_rate(seat: Seat) -> float:
    """sqrt(8 log m / T), the rate of Hedge for payoffs in [0, 1] (Cesa-Bianchi and Lugosi 2006, Theorem 2.2)."""
    assert seat.horizon is not None  # a learner that uses this declares needs_horizon
    return sqrt(8 * log(seat.actions) / seat.horizon)


def regret_of(payoffs: Floats, policy: Floats) -> Floats:
    """u_i - x'u, what each action would have earned more than the policy did: (runs, m) from two (runs, m)."""
    earned: Floats = (policy * payoffs).sum(axis=-1, keepdims=True)
    return payoffs - earned
