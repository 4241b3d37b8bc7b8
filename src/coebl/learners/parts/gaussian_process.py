"""A Gaussian process over pairs of actions with an RBF kernel, one per run."""

from __future__ import annotations

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.learners.base import Seat

_NEGLIGIBLE = 1e-12  # eigenvalues below this share of the largest are left out


class GaussianProcess:
    """The posterior of payoffs ~ GP(0, k) seen with N(0, 1) noise, updated by one visit at a time.

    k((i, j), (i', j')) = k_m(i, i') k_k(j, j') with the RBF kernel k_n(a, b) = exp(-(a - b)² / (2 (n/5)²)) on the
    indices of n actions. Each factor is F F' with features F (n, p) from its eigenvectors. So the payoff of (i, j) is
    f_i' W g_j with weights W ~ N(0, 1), p q of them, and their posterior is that of Bayesian linear regression.

    An RBF kernel has few eigenvalues that matter, p = 17 of 32, so the (p q)² covariances of the weights that a run
    keeps are about a twelfth of the (m k)² of the payoffs. A round reads and writes them once.
    """

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._own = seat.array(_features(seat.actions))  # (m, p)
        self._other = seat.array(_features(seat.opponent_actions))  # (k, q)
        p, q = self._own.shape[1], self._other.shape[1]
        self._shape = p, q
        self._weights = seat.zeros(p * q)  # (runs, p q), the posterior mean of W
        identity = np.eye(p * q)[None]
        self._covariance = seat.zeros(p * q, p * q) + seat.array(identity)  # (runs, p q, p q), of W

    def add(self, action: Ints, opponent: Ints, reward: Floats) -> None:
        """Learn from one reward per run: a rank-one (Kalman) step, O(p² q²)."""
        feature = self._seat.einsum("rp,rq->rpq", self._own[action], self._other[opponent]).reshape(self._weights.shape)
        spread = self._seat.einsum("rab,rb->ra", self._covariance, feature)  # the covariance of W with the payoff
        variance = 1 + (spread * feature).sum(axis=-1)  # of the reward
        surprise = reward - (self._weights * feature).sum(axis=-1)
        self._weights += spread * (surprise / variance)[:, None]
        self._covariance -= spread[:, :, None] * (spread / variance[:, None])[:, None, :]

    def against(self, opponent: Ints) -> tuple[Floats, Floats]:
        """Means and standard deviations of all own actions against one opponent's action per run: two (runs, m)."""
        p, q = self._shape
        other = self._other[opponent]  # (runs, q)
        weights = self._seat.einsum("rpq,rq->rp", self._weights.reshape((-1, p, q)), other)
        mean = self._seat.einsum("mp,rp->rm", self._own, weights)
        half = self._seat.einsum("rapq,rq->rap", self._covariance.reshape((-1, p * q, p, q)), other)
        both = self._seat.einsum("raqp,rq->rap", half.reshape((-1, p, q, p)), other)  # (runs, p, p), of the W g
        product = self._seat.einsum("ma,rap->rmp", self._own, both)
        variance = (product * self._own).sum(axis=-1)
        return mean, np.sqrt(np.maximum(variance, 0))


def _features(actions: int) -> Floats:
    """F with F F' = the RBF kernel on the indices of so many actions, to rounding: (actions, p).

    >>> [_features(actions).shape[1] for actions in (1, 3, 16, 32)]
    [1, 3, 15, 17]
    """
    index = np.arange(actions)
    kernel = np.exp(-((index[:, None] - index) ** 2) / (2 * (actions / 5) ** 2))
    values, vectors = np.linalg.eigh(kernel)
    matters = values > _NEGLIGIBLE * values[-1]
    features: Floats = vectors[:, matters] * np.sqrt(values[matters])
    return features
