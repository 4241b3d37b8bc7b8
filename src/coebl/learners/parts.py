"""Parts that several learners share: beliefs about the payoffs of pairs of actions, and policies from scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from coebl.backend import exp, log
from coebl.core.arrays import Floats, Ints
from coebl.learners.base import Learner, Positive, PositiveShare, Seat

_FORGOTTEN = 1e-100  # the least number of visits; so few have no weight
_ROUNDS_PER_PAIR = 0.3  # after which the effects of rows and columns are halved
OwnShare = Annotated[PositiveShare, "the share of the payoffs' variance that is specific to a pair"]
AssumedNoise = Annotated[Positive, "the assumed standard deviation of the noise, relative to the seat's"]
_EVERY_PAIR: tuple[Any, ...] = (...,)  # the index of all pairs, which change together if old visits are forgotten


@dataclass
class BeliefLearner(Learner):
    """A learner with a belief about the payoffs of pairs of actions, `tally` or `posterior`, which can forget."""

    sees = frozenset({"opponent"})

    forgetting: Annotated[
        PositiveShare,
        "the factor by which the weight of an outcome falls in every later round; 1 forgets nothing, 0.999 remembers "
        "about the last 1000 rounds, for payoffs that change",
    ] = field(default=1.0, kw_only=True)

    def beliefs(self) -> tuple[Floats, Floats] | None:
        held = getattr(self, "tally", None) or getattr(self, "posterior", None)
        return (held.mean, held.count) if isinstance(held, (Tally, Posterior)) else None


class Tally:
    """Visits and mean rewards of every pair of the learner's and the opponent's actions."""

    def __init__(self, seat: Seat, forgetting: float = 1.0) -> None:
        self._seat, self._forgetting = seat, forgetting
        self.count = seat.zeros(seat.actions, seat.opponent_actions)  # (runs, m, k), visits to the pair
        self.mean = seat.zeros(seat.actions, seat.opponent_actions)  # (runs, m, k), average reward, 0 when unvisited

    def add(self, action: Ints, opponent: Ints, reward: Floats) -> tuple[Ints, ...]:
        """Count one visit per run, and return the index of the pairs that changed."""
        index = self._seat.at(action, opponent)
        if self._forgetting < 1:
            self.count *= self._forgetting
        self._seat.backend.count_visit(self.count, self.mean, index, reward)
        return index if self._forgetting == 1 else _EVERY_PAIR


class Posterior:
    """The posterior of independent payoffs ~ N(0, 1) seen with N(0, 1) noise: N(sum of r / (n + 1), 1 / (n + 1)).

    With forgetting < 1, sum and n fall by this factor in every round, so the posterior returns to the prior.
    """

    def __init__(self, seat: Seat, forgetting: float = 1.0) -> None:
        self._seat, self._forgetting = seat, forgetting
        shape = seat.actions, seat.opponent_actions
        self._total = seat.zeros(*shape)  # (runs, m, k), sum of the rewards of the pair
        self.count = seat.zeros(*shape)  # (runs, m, k), n, visits to the pair
        self.mean = seat.zeros(*shape)  # (runs, m, k)
        self.variance = seat.full(1.0, *shape)  # (runs, m, k)
        self.deviation = seat.full(1.0, *shape)  # (runs, m, k), the root of the variance

    def add(self, action: Ints, opponent: Ints, reward: Floats) -> tuple[Ints, ...]:
        """Learn from one reward per run, and return the index of the pairs that changed."""
        index, backend = self._seat.at(action, opponent), self._seat.backend
        if self._forgetting < 1:
            self.count *= self._forgetting
            self._total *= self._forgetting
        count, total = backend.take(self.count, index) + 1, backend.take(self._total, index) + reward
        backend.put(self.count, index, count)
        backend.put(self._total, index, total)
        if self._forgetting < 1:
            index, count, total = _EVERY_PAIR, self.count, self._total
        variance = 1 / (count + 1)
        backend.put(self.variance, index, variance)
        backend.put(self.deviation, index, np.sqrt(variance))
        backend.put(self.mean, index, total * variance)
        return index

    def against(self, opponent: Ints) -> tuple[Floats, Floats]:
        """Return means and deviations of all actions against one action of the opponent per run: two (runs, m)."""
        rows = self._seat.arange(self._seat.runs)
        return self.mean[rows, :, opponent], self.deviation[rows, :, opponent]


def prior_variance(seat: Seat, share: float, noise: float) -> float:
    """Return a share of h², the largest variance of payoffs in the known range, in units of the noise's variance."""
    ratio = seat.half_width / noise
    return share * ratio * ratio


def inherited_share(count: Floats, own: float | Floats) -> Floats:
    """Return g = 1 / (1 + n own): the share of its estimate that a pair with n visits inherits."""
    return 1 / (1 + count * own)


class Kinship:
    """A belief in which a payoff is the sum of a row effect, a column effect, and a part specific to the pair.

    All three are normal with mean 0, the middle of the known range. Their variances are the shares own, rows and
    columns of h², with h half the width of the range. `noise` is the assumed standard deviation of the rewards' noise,
    relative to the seat's. Breeders call the effects general, and the pair's part specific, combining ability.

    A pair's estimate is (1 - g) mean + g (r_i + q_j), with g = 1 / (1 + n own): the more visits, the less it inherits.
    A visit updates the effect of its row, then that of its column, as means of the residuals of their pairs with
    weights n g, shrunk to 0. With `clip`, r_i + q_j is clipped to the known range of payoffs.
    """

    def __init__(
        self,
        seat: Seat,
        *,
        own: float,
        rows: float,
        columns: float,
        noise: float,
        clip: bool = False,
        forgetting: float = 1.0,
    ) -> None:
        self._seat, self._clip = seat, clip
        self._own, self._rows, self._columns = (prior_variance(seat, share, noise) for share in (own, rows, columns))
        self._tally = Tally(seat, forgetting)
        self.count = self._tally.count  # (runs, m, k), n, visits to the pair
        self.mean = seat.zeros(seat.actions, seat.opponent_actions)  # (runs, m, k), (1 - g) mean
        self.share = seat.full(1.0, seat.actions, seat.opponent_actions)  # (runs, m, k), g
        self.row = seat.zeros(seat.actions)  # (runs, m), r, the effects of the rows
        self.column = seat.zeros(seat.opponent_actions)  # (runs, k), q, the effects of the columns
        self._weight = seat.zeros(seat.actions, seat.opponent_actions)  # (runs, m, k), n g

    def add(self, action: Ints, opponent: Ints, reward: Floats) -> tuple[Ints, ...]:
        """Learn from one reward per run, and return the index of the pairs whose count, mean and share changed."""
        index = self._tally.add(action, opponent, reward)
        share = inherited_share(self.count[index], self._own)
        self.share[index] = share
        self.mean[index] = (1 - share) * self._tally.mean[index]
        self._weight[index] = self.count[index] * share
        in_row, in_column = self._seat.at(action), self._seat.at(opponent)
        every = (in_row[0], slice(None), opponent)  # the pairs of a column: (runs, m)
        if self._rows:
            residual = self._tally.mean[in_row] - self.column  # (runs, k)
            self.row[in_row] = _shrunk_mean(residual, self._weight[in_row], 1 / self._rows)
        if self._columns:
            residual = self._tally.mean[every] - self.row  # (runs, m)
            self.column[in_column] = _shrunk_mean(residual, self._weight[every], 1 / self._columns)
        return index

    def inherited(self) -> Floats:
        """Return g (r_i + q_j), the part of its estimate that a pair inherits: a new array, (runs, m, k)."""
        parents = self.row[:, :, None] + self.column[:, None, :]
        if self._clip:
            parents = np.clip(parents, -self._seat.half_width, self._seat.half_width)
        parents *= self.share
        return parents


def _shrunk_mean(values: Floats, weight: Floats, precision: float | Floats) -> Floats:
    """Return the weighted mean over the last axis, with an additional value of 0 whose weight is `precision`."""
    mean: Floats = np.sum(weight * values, axis=-1) / (np.sum(weight, axis=-1) + precision)
    return mean


class EstimatedPrior:
    """A belief in payoffs ~ N(mu + r_i + q_j, v) seen with N(0, 1) noise, where mu, r, q and v are estimated.

    A pair's estimate is (1 - g) mean + g (mu' + f (r_i + q_j)), with g = 1 / (1 + n v). The effects r and q of rows and
    columns have the variance kinship v, and count while there are few rounds per pair, f = 1 / (1 + t / (0.3 m k)).
    A negative mu is reduced by the share `hope`, since an opponent lets the learner try bad pairs.
    """

    def __init__(self, seat: Seat, hope: float, kinship: float = 0.0, forgetting: float = 1.0) -> None:
        m, k = seat.actions, seat.opponent_actions
        self._hope, self._kinship, self._most = hope, kinship, seat.half_width**2
        self._enough = _ROUNDS_PER_PAIR * m * k
        self._tally = Tally(seat, forgetting)
        self._row, self._column = seat.zeros(m), seat.zeros(k)  # (runs, m) and (runs, k), r and q
        self._inherited = seat.zeros(m, k)  # (runs, m, k), mu' + f (r_i + q_j)
        self.variance = seat.full(self._most)  # (runs,), v
        self.prior = seat.zeros()  # (runs,), mu'
        self.share = seat.full(1.0, m, k)  # (runs, m, k), g
        self.mean = seat.zeros(m, k)  # (runs, m, k)

    @property
    def count(self) -> Floats:
        """The visits to each pair, n: (runs, m, k)."""
        return self._tally.count

    def add(self, action: Ints, opponent: Ints, reward: Floats) -> bool:
        """Learn from one reward per run, and return True if all pairs changed, because old visits lost weight."""
        index = self._tally.add(action, opponent, reward)
        if index is _EVERY_PAIR:
            self._inherit()
            return True
        share = inherited_share(self.count[index], self.variance)
        self.share[index] = share
        self.mean[index] = (1 - share) * self._tally.mean[index] + share * self._inherited[index]
        return False

    def estimate_prior(self, t: int) -> None:
        """After round t, estimate mu, r and q by the means of the pairs, and v by their spread beyond the noise."""
        count, mean, most = self.count, self._tally.mean, self._most
        variance = self.variance[:, None, None]
        weight = count / (1 + count * variance)
        known = (weight * variance) ** 2  # (1 - g)²
        spread = known * ((mean - self.prior[:, None, None]) ** 2 - 1 / np.maximum(count, _FORGOTTEN))
        prior = _of_pairs(weight * mean) / (_of_pairs(weight) + 4 / most)
        if self._kinship:
            residual = mean - prior[:, None, None]
            precision = 1 / (self._kinship * self.variance)[:, None]
            self._row = _shrunk_mean(residual - self._column[:, None, :], weight, precision)
            # Contiguous copies, so that sums are the same for every batch.
            residual = (residual - self._row[:, :, None]).swapaxes(-1, -2).copy()
            self._column = _shrunk_mean(residual, weight.swapaxes(-1, -2).copy(), precision)
        self.variance = np.clip((3 * most + _of_pairs(spread)) / (3 + _of_pairs(known)), most / 100, most)
        self.prior = prior + self._hope * np.maximum(0, -prior)
        fresh = 1 / (1 + t / self._enough)
        effects = self._row[:, :, None] + self._column[:, None, :]
        self._inherited = self.prior[:, None, None] + fresh * effects
        self._inherit()

    def _inherit(self) -> None:
        """Compute the shares and the estimates of all pairs."""
        self.share = inherited_share(self.count, self.variance[:, None, None])
        self.mean = (1 - self.share) * self._tally.mean + self.share * self._inherited


def _of_pairs(numbers: Floats) -> Floats:
    """Return the sums over all pairs: (runs,) from (runs, m, k)."""
    total: Floats = numbers.sum(axis=-1).sum(axis=-1)
    return total


def exponential_weights(score: Floats, rate: float = 1.0) -> Floats:
    """Return exp(rate * score), up to scale: the largest on the last axis is 1, so exp cannot overflow."""
    weights: Floats = exp(rate * (score - score.max(axis=-1, keepdims=True)))
    return weights


def softmax(score: Floats, rate: float = 1.0) -> Floats:
    """Return the policies proportional to exp(rate * score), as in Hedge: (runs, m) from (runs, m)."""
    return normalised(exponential_weights(score, rate))


def normalised(weights: Floats) -> Floats:
    """Return the policies proportional to these weights: (runs, m) from (runs, m)."""
    policy: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return policy


def pure(seat: Seat, action: Ints) -> Floats:
    """Return policies that play one action per run: (runs, m) from (runs,)."""
    policy = seat.zeros(seat.actions)
    policy[seat.at(action)] = 1
    return policy


def log_of_pairs(seat: Seat) -> float:
    """Return L = log(2 T² m k), which appears in the confidence widths of UCB and COEBL."""
    assert seat.horizon is not None  # a learner that uses this declares needs_horizon
    return log(2 * seat.horizon**2 * seat.actions * seat.opponent_actions)


def project_kl(weights: Floats, floor: float) -> Floats:
    """Return the strategy x with x_a >= floor that minimises KL(x, weights), by water filling.

    By the KKT conditions x_a = max(floor, s w_a), with the scale s at which the x_a sum to 1. In decreasing order of
    weight, the r heaviest actions lie above the floor if and only if the scale that they would then share,
    s_r = (1 - (m - r) floor) / (w_1 + ... + w_r), lifts the r-th above it. The weights are (runs, m), nonnegative and
    not all zero.

    >>> project_kl(np.array([[8.0, 1.0, 1.0]]), 0.125)
    array([[0.75 , 0.125, 0.125]])
    """
    m = weights.shape[-1]
    falling = -np.sort(-weights, axis=-1)
    rank = np.cumsum(np.ones_like(falling), axis=-1)  # r = 1, 2, ..., m
    scale = (1 - (m - rank) * floor) / np.cumsum(falling, axis=-1)  # (runs, m), s_r
    above = np.count_nonzero(scale * falling > floor, axis=-1)
    index = np.maximum(above, 1) - 1  # if floor is 1/m, none is above it, and s_1 puts all on it
    clipped: Floats = np.maximum(floor, np.take_along_axis(scale, index[:, None], axis=-1) * weights)
    return clipped
