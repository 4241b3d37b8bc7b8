"""Kinship: beliefs in which a pair of actions inherits from its row and its column."""

from __future__ import annotations

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.learners.base import Seat
from coebl.learners.parts.beliefs import Tally


def prior_variance(seat: Seat, share: float, noise: float) -> float:
    """A share of h², the largest variance that payoffs in the known range can have, in units of the noise's."""
    return share * (seat.half_width / noise) ** 2


def inherited_share(count: Floats, own: float) -> Floats:
    """g = 1 / (1 + n own): the share of its estimate that a pair with n visits has from its relatives."""
    return 1 / (1 + count * own)


class Kinship:
    """Payoffs that are the sum of an effect of the row, one of the column, and the pair's own part.

    In a breeder's words the effects are the general combining ability of an action, and the own part is the specific
    combining ability of a pair. All are normal with mean 0, counted from the middle of the known range. own, rows and
    columns are their shares of the variance h², with h half the width of the range, and noise is the standard
    deviation of the rewards' noise.

    A pair's estimate is (1 - g) mean + g (r_i + q_j), with g = 1 / (1 + n own): its own experience as far as there is
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
        self.mean = seat.zeros(seat.actions, seat.opponent_actions)  # (runs, m, k), (1 - g) mean, of the pair's own
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
        """g (r_i + q_j), what every pair has from its relatives: a new array, (runs, m, k)."""
        parents = self.row[:, :, None] + self.column[:, None, :]
        if self._clip:
            parents = np.clip(parents, -self._seat.half_width, self._seat.half_width)
        parents *= self.share
        return parents


def _shrunk_mean(values: Floats, weight: Floats, precision: float) -> Floats:
    """The weighted mean over the last axis, with a value of 0 that has the weight `precision` besides: (runs,)."""
    mean: Floats = np.sum(weight * values, axis=-1) / (np.sum(weight, axis=-1) + precision)
    return mean
