"""Beliefs: estimates of the payoffs of all pairs of actions, from the rewards that were seen."""

from __future__ import annotations

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.learners.base import Seat

_NEGLIGIBLE = 1e-12  # eigenvalues below this share of the largest are left out


class Tally:
    """Visits and mean rewards of every pair of an action and an action of the opponent."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self.count = seat.zeros(seat.actions, seat.opponent_actions)  # (runs, m, k), visits to the pair
        self.mean = seat.zeros(seat.actions, seat.opponent_actions)  # (runs, m, k), average reward, 0 when unvisited

    def add(self, action: Ints, opponent: Ints, reward: Floats) -> tuple[Ints, ...]:
        """Count one visit per run. Returns the index of what changed, so that the rest is not computed again."""
        at = self._seat.at(action, opponent)
        self._seat.backend.count_visit(self.count, self.mean, at, reward)
        return at


class Posterior:
    """The posterior of independent payoffs ~ N(0, 1) seen with N(0, 1) noise: N(sum of r / (n + 1), 1 / (n + 1))."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        shape = seat.actions, seat.opponent_actions
        self._total = seat.zeros(*shape)  # (runs, m, k), sum of the rewards of the pair
        self.count = seat.zeros(*shape)  # (runs, m, k), n, visits to the pair
        self.mean = seat.zeros(*shape)  # (runs, m, k)
        self.variance = seat.full(1.0, *shape)  # (runs, m, k)
        self.deviation = seat.full(1.0, *shape)  # (runs, m, k), its root

    def add(self, action: Ints, opponent: Ints, reward: Floats) -> tuple[Ints, ...]:
        """Learn from one reward per run. Returns the index of what changed, so that the rest is not computed again."""
        at, backend = self._seat.at(action, opponent), self._seat.backend
        count, total = backend.take(self.count, at) + 1, backend.take(self._total, at) + reward
        variance = 1 / (count + 1)
        backend.put(self.count, at, count)
        backend.put(self._total, at, total)
        backend.put(self.variance, at, variance)
        backend.put(self.deviation, at, np.sqrt(variance))
        backend.put(self.mean, at, total * variance)
        return at

    def against(self, opponent: Ints) -> tuple[Floats, Floats]:
        """Return means and standard deviations of all actions against one of the opponent's per run: two (runs, m)."""
        rows = self._seat.arange(self._seat.runs)
        return self.mean[rows, :, opponent], self.deviation[rows, :, opponent]


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
        """Return the same as `Posterior.against`."""
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
    """Return F with F F' = the RBF kernel on the indices of the actions, to rounding: (actions, p).

    >>> [_features(actions).shape[1] for actions in (1, 3, 16, 32)]
    [1, 3, 15, 17]
    """
    index = np.arange(actions)
    kernel = np.exp(-((index[:, None] - index) ** 2) / (2 * (actions / 5) ** 2))
    values, vectors = np.linalg.eigh(kernel)
    matters = values > _NEGLIGIBLE * values[-1]
    features: Floats = vectors[:, matters] * np.sqrt(values[matters])
    return features


def prior_variance(seat: Seat, share: float, noise: float) -> float:
    """Return a share of h², the largest variance that payoffs in the known range can have, in units of the noise's."""
    return share * (seat.half_width / noise) ** 2


def inherited_share(count: Floats, own: float) -> Floats:
    """Return g = 1 / (1 + n own): the share of its estimate that a pair with n visits has from its relatives."""
    return 1 / (1 + count * own)


class Kinship:
    """Payoffs that are the sum of an effect of the row, one of the column, and a part of the pair alone.

    In a breeder's words the effects are the general combining ability of an action, and the pair's part is the
    specific combining ability. All are normal with mean 0, counted from the middle of the known range. own, rows and
    columns are their shares of the variance h², with h half the width of the range, and noise is the standard
    deviation of the rewards' noise.

    A pair's estimate is (1 - g) mean + g (r_i + q_j), with g = 1 / (1 + n own): its experience as far as there is
    any, and for the rest what it inherits. A visit updates the effect of its row, then that of its column: the
    mean of what the other effects leave of the means of its pairs, with weights n g, shrunk to 0. With `clip`, what a
    pair inherits, r_i + q_j, is brought into the known range of payoffs.
    """

    def __init__(
        self, seat: Seat, *, own: float, rows: float, columns: float, noise: float, clip: bool = False
    ) -> None:
        self._seat, self._clip = seat, clip
        low, high = seat.payoff_range
        self._middle = (low + high) / 2
        self._own, self._rows, self._columns = (prior_variance(seat, share, noise) for share in (own, rows, columns))
        self._tally = Tally(seat)
        self.count = self._tally.count  # (runs, m, k), n, visits to the pair
        self.mean = seat.zeros(seat.actions, seat.opponent_actions)  # (runs, m, k), (1 - g) mean
        self.share = seat.full(1.0, seat.actions, seat.opponent_actions)  # (runs, m, k), g
        self.row = seat.zeros(seat.actions)  # (runs, m), r, the effects of the rows
        self.column = seat.zeros(seat.opponent_actions)  # (runs, k), q, those of the columns
        self._weight = seat.zeros(seat.actions, seat.opponent_actions)  # (runs, m, k), n g

    def add(self, action: Ints, opponent: Ints, reward: Floats) -> tuple[Ints, ...]:
        """Learn from one reward per run. Returns the index of the pair whose count, mean and share changed."""
        at = self._tally.add(action, opponent, reward - self._middle)
        share = inherited_share(self.count[at], self._own)
        self.share[at] = share
        self.mean[at] = (1 - share) * self._tally.mean[at]
        self._weight[at] = self.count[at] * share
        in_row, in_column = self._seat.at(action), self._seat.at(opponent)
        every = (in_row[0], slice(None), opponent)  # the pairs of a column: (runs, m)
        if self._rows:
            left = self._tally.mean[in_row] - self.column  # (runs, k)
            self.row[in_row] = _shrunk_mean(left, self._weight[in_row], 1 / self._rows)
        if self._columns:
            left = self._tally.mean[every] - self.row  # (runs, m)
            self.column[in_column] = _shrunk_mean(left, self._weight[every], 1 / self._columns)
        return at

    def inherited(self) -> Floats:
        """Return g (r_i + q_j), what every pair has from its relatives: a new array, (runs, m, k)."""
        parents = self.row[:, :, None] + self.column[:, None, :]
        if self._clip:
            parents = np.clip(parents, -self._seat.half_width, self._seat.half_width)
        parents *= self.share
        return parents


def _shrunk_mean(values: Floats, weight: Floats, precision: float) -> Floats:
    """Return the weighted mean over the last axis and a value of 0 with the weight `precision`: (runs,)."""
    mean: Floats = np.sum(weight * values, axis=-1) / (np.sum(weight, axis=-1) + precision)
    return mean
