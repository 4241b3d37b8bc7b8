"""Projections onto the simplex of mixed strategies."""

from __future__ import annotations

import numpy as np

from coebl.core.arrays import Floats


def project_kl(weights: Floats, floor: float) -> Floats:
    """The strategy x with x_a >= floor that is nearest to the weights in KL(x, weights), by water filling.

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
