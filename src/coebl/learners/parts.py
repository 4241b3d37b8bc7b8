"""Parts that several learners share: beliefs about the payoffs of pairs of actions, and policies from scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from coebl.backend import exp, log
from coebl.core.arrays import Floats, Ints
from coebl.core.specs import Positive, PositiveShare
from coebl.learners.base import Learner, Seat

OwnShare = Annotated[PositiveShare, "the share of the payoffs' variance that is specific to a pair"]
AssumedNoise = Annotated[Positive, "the assumed standard deviation of the noise, relative to the seat's"]
EVERY_PAIR: tuple[Any, ...] = (...,)  # the index of all pairs, which change together if old visits are forgotten


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
        return index if self._forgetting == 1 else EVERY_PAIR


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
        self.deviation = seat.full(1.0, *shape)  # (runs, m, k)

    def add(self, action: Ints, opponent: Ints, reward: Floats) -> None:
        """Learn from one reward per run."""
        index, backend = self._seat.at(action, opponent), self._seat.backend
        if self._forgetting < 1:
            self.count *= self._forgetting
            self._total *= self._forgetting
        count, total = backend.take(self.count, index) + 1, backend.take(self._total, index) + reward
        backend.put(self.count, index, count)
        backend.put(self._total, index, total)
        if self._forgetting < 1:
            index, count, total = EVERY_PAIR, self.count, self._total
        variance = 1 / (count + 1)
        backend.put(self.deviation, index, np.sqrt(variance))
        backend.put(self.mean, index, total * variance)

    def against(self, opponent: Ints) -> tuple[Floats, Floats]:
        """Return means and deviations of all actions against one action of the opponent per run: two (runs, m)."""
        column = self._seat.at(slice(None), opponent)
        return self.mean[column], self.deviation[column]


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
        self, seat: Seat, *, own: float, rows: float, columns: float, noise: float, clip: bool, forgetting: float
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
        every = self._seat.at(slice(None), opponent)  # the pairs of a column: (runs, m)
        if self._rows:
            residual = self._tally.mean[in_row] - self.column  # (runs, k)
            self.row[in_row] = shrunk_mean(residual, self._weight[in_row], 1 / self._rows)
        if self._columns:
            residual = self._tally.mean[every] - self.row  # (runs, m)
            self.column[in_column] = shrunk_mean(residual, self._weight[every], 1 / self._columns)
        return index

    def inherited(self) -> Floats:
        """Return g (r_i + q_j), the part of its estimate that a pair inherits: a new array, (runs, m, k)."""
        parents = self.row[:, :, None] + self.column[:, None, :]
        if self._clip:
            parents = np.clip(parents, -self._seat.half_width, self._seat.half_width)
        parents *= self.share
        return parents


def shrunk_mean(values: Floats, weight: Floats, precision: float | Floats) -> Floats:
    """Return the weighted mean over the last axis, with an additional value of 0 whose weight is `precision`."""
    return np.sum(weight * values, axis=-1) / (np.sum(weight, axis=-1) + precision)


def learn_weights(seat: Seat, mean: Floats, covariance: Floats, feature: Floats, reward: Floats) -> None:
    """Update the posterior N(mean, covariance) of weights, in place, from one reward per run (a Kalman step).

    A reward is ~ N(weights' feature, 1). mean and feature are (runs, p), covariance is (runs, p, p).
    """
    spread = seat.einsum("rab,rb->ra", covariance, feature)  # the covariance of the weights with the reward
    variance = 1 + (spread * feature).sum(axis=-1)  # the variance of the reward
    surprise = reward - (mean * feature).sum(axis=-1)
    mean += spread * (surprise / variance)[:, None]
    covariance -= spread[:, :, None] * (spread / variance[:, None])[:, None, :]


def exponential_weights(score: Floats, rate: float = 1.0) -> Floats:
    """Return exp(rate * score), up to scale: the largest on the last axis is 1, so exp cannot overflow."""
    return exp(rate * (score - score.max(axis=-1, keepdims=True)))


def softmax(score: Floats, rate: float = 1.0) -> Floats:
    """Return the policies proportional to exp(rate * score), as in Hedge: (runs, m) from (runs, m)."""
    return normalised(exponential_weights(score, rate))


def normalised(weights: Floats) -> Floats:
    """Return the policies proportional to these weights: (runs, m) from (runs, m)."""
    return weights / weights.sum(axis=-1, keepdims=True)


def draw_integers(seat: Seat, below: int, *shape: int) -> Ints:
    """Draw uniform integers from 0 .. below - 1: (runs, *shape)."""
    return (seat.random.uniform(*shape) * below).astype(np.int64)


def pure(seat: Seat, action: Ints) -> Floats:
    """Return policies that play one action per run: (runs, m) from (runs,)."""
    policy = seat.zeros(seat.actions)
    policy[seat.at(action)] = 1
    return policy


def log_of_pairs(seat: Seat) -> float:
    """Return L = log(2 T² m k), which appears in the confidence widths of UCB and COEBL."""
    assert seat.horizon is not None  # a learner that uses this declares needs_horizon
    return log(2 * seat.horizon**2 * seat.actions * seat.opponent_actions)
