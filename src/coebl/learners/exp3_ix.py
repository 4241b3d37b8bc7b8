"""The Exp3-IX variant of Cai, Luo, Wei and Zheng (2023, Algorithm 1): regularised mirror descent, own reward alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from coebl.learners.base import Floats, Ints, Learner, Seat, Sees


@dataclass
class Exp3Ix(Learner):
    """The Exp3-IX variant of Cai, Luo, Wei and Zheng (2023, Algorithm 1).

    In its source the player minimises a loss in [0, 1]; here that is (hi - r) / (hi - lo), not clipped, so noise may
    take it outside. The set x_{t+1} is sought in is that of round t, as in the COEBL paper: x_2 is uniform too.
    The source proves that the duality gap of the last iterate falls as t^(-1/8) in self-play; a bound on the
    regret against any opponent is not stated for these rates.
    """

    name: ClassVar[str] = "exp3-ix"
    sees: ClassVar[Sees] = "reward"
    needs_horizon: ClassVar[bool] = False
    cites: ClassVar[str] = (
        "Cai, Luo, Wei and Zheng (2023). Uncoupled and convergent learning in two-player zero-sum Markov games "
        "with bandit feedback. NeurIPS."
    )

    def start(self, seat: Seat) -> None:
        """x_1 is uniform."""
        low, self.high = seat.payoff_range
        self.width = (self.high - low) or 1.0  # a constant game has no width: any will do
        self.current = np.full((seat.runs, seat.actions), 1 / seat.actions)  # (runs, m), x_t

    def policy(self, t: int) -> Floats:
        """x_t."""
        return self.current

    def observe(self, t: int, action: Ints, opponent: Ints | None, reward: Floats) -> None:
        """Step to x_{t+1} against the loss."""
        loss = (self.high - reward) / self.width  # sigma
        self.current = descend(self.current, action, loss, t)


def descend(policy: Floats, action: Ints, loss: Floats, t: int) -> Floats:
    """x_{t+1} = argmin of x'g + KL(x, x_t) / eta over {x : x_a >= 1/(m t²)}: (runs, m), from x_t of the same shape.

    The minimum without the bounds is x_t exp(-eta g), up to scale; with them, its KL projection.
    """
    runs, m = policy.shape
    eta, beta, epsilon = t ** (-5 / 8), t ** (-3 / 8), t ** (-1 / 8)
    drawn = np.arange(runs), action
    log_policy = np.log(policy)  # finite: every entry is at least 1/(m t²)
    gradient = epsilon * log_policy
    gradient[drawn] += loss / (policy[drawn] + beta)  # g_a = 1{a drawn} sigma / (x_a + beta) + epsilon ln x_a
    log_weight = log_policy - eta * gradient
    weight = np.exp(log_weight - log_weight.max(axis=-1, keepdims=True))  # scale is free: the largest is 1
    return project_kl(weight, 1 / (m * t**2))


def project_kl(weights: Floats, floor: float) -> Floats:
    """The strategy x with x_a >= floor that is nearest to the weights in KL(x, weights), by water filling.

    By the KKT conditions x_a = max(floor, s w_a), with the scale s at which the x_a sum to 1. In falling order of
    weight, the k heaviest actions lie above the floor if and only if the scale that they would then share,
    s_k = (1 - (m - k) floor) / (w_1 + ... + w_k), lifts the k-th above it. That costs one sort, O(m log m).

    Args:
        weights: (runs, m), nonnegative and not all zero; their scale does not matter.
        floor: at most 1/m, and there the answer is the uniform strategy.

    >>> project_kl(np.array([[8.0, 1.0, 1.0]]), 0.125)
    array([[0.75 , 0.125, 0.125]])
    """
    m = weights.shape[-1]
    falling = -np.sort(-weights, axis=-1)
    rank = np.arange(1, m + 1)
    scale = (1 - (m - rank) * floor) / np.cumsum(falling, axis=-1)  # (runs, m), s_k
    above = np.count_nonzero(scale * falling > floor, axis=-1)
    at = np.maximum(above, 1) - 1  # none is above where floor is 1/m: then s_1 puts all on it
    clipped: Floats = np.maximum(floor, np.take_along_axis(scale, at[:, None], axis=-1) * weights)
    return clipped
