"""Means over seeds with their intervals, for many rounds at once; what plots and pages draw."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coebl.core.arrays import Floats


@dataclass(frozen=True)
class Band:
    """Means over seeds with Student's 95 % interval, an entry per row of the values."""

    mean: Floats  # NaN where a value is not finite
    low: Floats  # NaN there too, and everywhere if there is one seed: it says nothing about spread
    high: Floats
    seeds: int

    @classmethod
    def of(cls, values: Floats) -> Band:
        """The band of values of shape (rows, seeds).

        >>> band = Band.of(np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 5.0, 5.0, 5.0]]))
        >>> band.low.round(4), band.high.round(4)
        (array([0.4457, 5.    ]), array([4.5543, 5.    ]))
        """
        from scipy.special import stdtrit

        rows, seeds = values.shape
        mean, half = np.full((2, rows), math.nan)
        finite = np.isfinite(values).all(axis=1)
        kept = values[finite]
        constant = np.ptp(kept, axis=1) == 0  # of equal numbers exactly these and 0, where a sum is off by rounding
        mean[finite] = np.where(constant, kept[:, 0], kept.mean(axis=1))
        if seeds > 1:
            deviation = np.where(constant, 0, kept.std(axis=1, ddof=1))
            half[finite] = stdtrit(seeds - 1, 0.975) * deviation / math.sqrt(seeds)
        return cls(mean, mean - half, mean + half, seeds)

    @property
    def half(self) -> Floats:
        """Half the width of the intervals."""
        return (self.high - self.low) / 2


def thinned(length: int, points: int) -> NDArray[np.int64]:
    """At most so many places in a curve, evenly spread, the first and the last among them."""
    return np.unique(np.linspace(0, length - 1, min(points, length)).round().astype(np.int64))
