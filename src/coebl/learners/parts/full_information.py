"""Responses to the payoffs of all own actions, round by round: Hedge and regret matching."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from coebl.core.arrays import Floats
from coebl.learners.base import Seat
from coebl.learners.parts.responses import exponential_weights


def hedge_rate(seat: Seat) -> float:
    """sqrt(8 log m / T), the rate of Hedge for payoffs in [0, 1] (Cesa-Bianchi and Lugosi 2006, Theorem 2.2)."""
    assert seat.horizon is not None  # a learner that uses this declares needs_horizon
    return sqrt(8 * log(seat.actions) / seat.horizon)


def hedge_policy(score: Floats, rate: float) -> Floats:
    """x_i proportional to exp(rate * S_i), S_i the sum of the payoffs of action i: (runs, m) from (runs, m).

    >>> hedge_policy(np.array([[1.0, 1.0], [2e9, 0.0]]), 1.0)
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    weights = exponential_weights(score, rate)
    policy: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return policy


def regret_matching_policy(regret: Floats) -> Floats:
    """x_i proportional to the positive part of the regret R_i, uniform where none is positive: (runs, m) both.

    >>> regret_matching_policy(np.array([[3.0, 1.0], [-1.0, 0.0]]))
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    """
    positive = np.maximum(regret, 0)
    positive = np.where(positive.max(axis=-1, keepdims=True) > 0, positive, 1.0)
    policy: Floats = positive / positive.sum(axis=-1, keepdims=True)
    return policy


def regret_of(payoffs: Floats, policy: Floats) -> Floats:
    """u_i - x'u, what each action would have earned more than the policy did: (runs, m) from two (runs, m)."""
    earned: Floats = (policy * payoffs).sum(axis=-1, keepdims=True)
    return payoffs - earned
