"""Responses: from scores to policies. That to a matrix of payoffs is `seat.maximin`."""

from __future__ import annotations

import numpy as np

from coebl.core.arrays import Floats


def exponential_weights(score: Floats, rate: float = 1.0) -> Floats:
    """exp(rate * score), up to scale: the largest on the last axis is 1, so exp cannot overflow."""
    weights: Floats = np.exp(rate * (score - score.max(axis=-1, keepdims=True)))
    return weights
