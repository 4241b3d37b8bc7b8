"""Units: the scale in which every learner sees its rewards, and how to learn it where it is not known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import TypeVar

from coebl.core.arrays import Floats
from coebl.core.errors import InputError, shorten
from coebl.games import AnyGame

_Rewards = TypeVar("_Rewards", float, Floats)


@dataclass(frozen=True)
class Units:
    """The units of the rewards of a seat: their known range, and the standard deviation of their noise.

    A learner sees its rewards, and payoffs if it sees these, counted from the middle of the range, in units of the
    noise. So no learner depends on the unit or on the zero of the payoffs, and formulas that assume noise of deviation
    1 are right for any. Without noise, or with less than a thousandth of that, the unit is half the width of the range.

    Args:
        payoff_range: the ends between which payoffs, without noise, are known to lie.
        noise: the standard deviation of the noise; 0 if there is none.

    >>> euros = Units((0.0, 5000.0), noise=500.0)
    >>> euros.seen(3000.0), euros.seen_range
    (1.0, (-5.0, 5.0))
    >>> Units((0.0, 5000.0)).seen_range
    (-1.0, 1.0)
    """

    payoff_range: tuple[float, float]
    noise: float = 0.0

    @classmethod
    def of(cls, game: AnyGame, number: int) -> Units:
        """Return the units of a seat of a game, by its number."""
        return cls(game.ranges[number], game.noise.deviation(game.ranges[number]))

    @cached_property
    def middle(self) -> float:
        """The middle of the range, which a learner sees as 0."""
        low, high = self.payoff_range
        return low / 2 + high / 2

    @cached_property
    def scale(self) -> float:
        """The difference of two rewards that a learner sees as 1."""
        low, high = self.payoff_range
        half = high / 2 - low / 2
        return self.noise if self.noise > half / 1000 else (half or 1.0)  # neither noise nor width: any number works

    @property
    def seen_range(self) -> tuple[float, float]:
        """The range as a learner sees it."""
        low, high = self.payoff_range
        return self.seen(low), self.seen(high)

    def seen(self, reward: _Rewards) -> _Rewards:
        """Return rewards, or payoffs, as a learner sees them."""
        if self.middle == 0 and self.scale == 1:  # as in the paper's games
            return reward
        return (reward - self.middle) / self.scale


def check_range(payoff_range: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of a payoff range, if they are finite numbers in order."""
    try:
        low, high = (float(end) for end in payoff_range)
    except (TypeError, ValueError):
        raise InputError(f"payoff_range is {shorten(payoff_range)}; accepted: two numbers, (low, high).") from None
    if not (isfinite(low) and isfinite(high) and low < high):
        raise InputError(f"payoff_range is ({low}, {high}); accepted: finite numbers, low < high.")
    return low, high
