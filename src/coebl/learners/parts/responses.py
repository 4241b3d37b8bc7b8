"""Responses: from scores to policies. That to a matrix of payoffs is `seat.maximin`."""

from __future__ import annotations

import numpy as np

from coebl.core.arrays import Floats


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
    """The policies in proportion to the positive regrets, uniform where none is positive: (runs, m) from (runs, m).

    >>> regret_matching(np.array([[3.0, 1.0, -5.0], [-1.0, 0.0, -2.0]]))
    array([[0.75      , 0.25      , 0.        ],
           [0.33333333, 0.33333333, 0.33333333]])
    """
    positive = np.maximum(0, regret)
    weights = np.where(positive.max(axis=-1, keepdims=True) > 0, positive, 1.0)
    policy: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return policy
