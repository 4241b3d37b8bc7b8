"""Units that a player does not know: the range and the noise of the rewards, learned from the rewards."""

from __future__ import annotations

from math import sqrt

from coebl.engine.records import Records
from coebl.engine.units import Units

_FLOOR = 0.1  # the least noise, as a share of half the width: with much less, learners would hardly explore
_LEAST_SHARE = 0.2  # of the width of the rewards, that is left for the payoffs
_SURE = 8  # degrees of freedom at which half of the noise is taken off the range
_RANGE_MOVED = 0.1  # of the width: ends that have moved by more are taken over
_NOISE_MOVED = 1.25  # likewise, a factor


def learn_units(records: Records, payoff_range: tuple[float, float] | None, noise: float | None) -> Units:
    """Return the units of the rewards; what is not given is estimated.

    The noise is the pooled deviation of the rewards of a pair of actions. Half the width of the range, the most that
    payoffs can deviate, counts as one degree of freedom: there is an estimate before any pair was visited twice.
    The range is that of all rewards so far, and its width is reduced by the share of the noise in their variance.

    >>> learn_units(Records(2, 2), None, None)  # before the first reward: any will do
    Units(payoff_range=(-1.0, 1.0), noise=1.0)
    """
    if payoff_range is None:
        payoff_range = _learn_range(records, noise)
    if noise is None:
        low, high = payoff_range
        half = high / 2 - low / 2
        deviation, freedom = records.pooled()
        variance = (half**2 + (freedom * deviation**2 if freedom else 0.0)) / (1 + freedom)
        noise = max(sqrt(variance), _FLOOR * half)
    return Units(payoff_range, noise)


def _learn_range(records: Records, noise: float | None) -> tuple[float, float]:
    if not records.outcomes:
        return -1.0, 1.0
    deviation, freedom = records.pooled()
    all_noise = deviation if noise is None else noise
    around, share = records.deviation(), 1.0
    if freedom and around and records.visits.shape[1] > 1:  # else the opponent's choices look like noise
        variance = 1 - (all_noise / around) ** 2 * freedom / (freedom + _SURE)
        share = sqrt(max(variance, _LEAST_SHARE**2))
    middle = records.mean_reward
    return middle + share * (records.least - middle), middle + share * (records.largest - middle)


def have_moved(units: Units, used: Units) -> bool:
    """Return True if units differ from those in use by so much that what was learned should be learned again."""
    (low, high), (used_low, used_high) = units.payoff_range, used.payoff_range
    if max(abs(low - used_low), abs(high - used_high)) > _RANGE_MOVED * max(high - low, used_high - used_low):
        return True
    least, largest = sorted((units.noise, used.noise))
    return largest > _NOISE_MOVED * least
