"""Bonuses: how much optimism adds to the mean reward of a pair of actions that was visited n times."""

from __future__ import annotations

from math import log

import numpy as np

from coebl.core.arrays import Floats
from coebl.learners.base import Seat


def log_of_pairs(seat: Seat) -> float:
    """L = log(2 T² m k), in the confidence widths of UCB and of COEBL; in rectangular games m k, not m²."""
    assert seat.horizon is not None  # a learner that uses this declares needs_horizon
    return log(2 * seat.horizon**2 * seat.actions * seat.opponent_actions)


def confidence_width(count: Floats, scale: float) -> Floats:
    """sqrt(scale / max(1, n)): UCB's, with scale = 2 L."""
    return np.sqrt(scale / np.maximum(1, count))


def mutation_bonus(count: Floats, scale: float) -> Floats:
    """sqrt(scale / (max(1, n) + 1)): COEBL's, with scale = c L."""
    return np.sqrt(scale / (np.maximum(1, count) + 1))
