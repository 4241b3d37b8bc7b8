"""Units: the scale in which every learner sees its rewards."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from coebl.core.arrays import Floats, check_range
from coebl.core.errors import InputError, shorten
from coebl.games import AnyGame

_Rewards = TypeVar("_Rewards", float, Floats)


@dataclass(frozen=True)
class Units:
    """The units of the rewards of a seat: their known range, and the standard deviation of their noise.

    A learner sees its rewards, and payoffs if it sees these, relative to the middle of the range, in units of the
    noise. So no policy depends on the unit or the zero of the payoffs, and formulas that assume noise of deviation 1
    are right for any noise. If the noise is below a thousandth of half the width of the range, the unit is half the
    width.

    >>> euros = Units((0.0, 5000.0), noise=500.0)
    >>> euros.seen(3000.0), euros.seen_range
    (1.0, (-5.0, 5.0))
    >>> Units((0.0, 5000.0)).seen_range
    (-1.0, 1.0)
    """

    payoff_range: tuple[float, float]  # the ends between which payoffs, without noise, are known to lie
    noise: float = 0.0  # the standard deviation of the noise; 0 if there is none

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

    def as_given(self, seen: Floats) -> Floats:
        """Return payoffs that a learner sees in the units of the game."""
        return self.middle + self.scale * seen


def check_scale(payoff_range: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of a payoff range, if calculations with them neither overflow nor underflow."""
    low, high = check_range(payoff_range)
    if not (max(-low, high) <= _MOST and high - low >= _LEAST):
        raise InputError(
            f"payoff_range is ({low}, {high}); accepted: numbers up to {_MOST:g}, {_LEAST:g} apart or more. Choose "
            "other units."
        )
    return low, high


def check_noise(noise: object) -> float:
    """Return the standard deviation of noise, if it is within the same limits."""
    if not isinstance(noise, _NUMBERS) or not (noise == 0 or _LEAST <= noise <= _MOST):
        raise InputError(
            f"noise is {shorten(noise)}; accepted: a standard deviation, 0 or {_LEAST:g} .. {_MOST:g}. Choose other "
            "units."
        )
    return float(noise)


def check_reward(reward: object) -> float:
    """Return a reward, if learners can square it and divide it by range and noise; a tiny one counts as 0."""
    if not isinstance(reward, _NUMBERS) or not -_MOST <= reward <= _MOST:
        raise InputError(f"reward is {shorten(reward)}; accepted: a finite number, up to {_MOST:g}.")
    number = float(reward)
    return number if abs(number) >= _LEAST else 0.0


_NUMBERS = (int, float, np.integer, np.floating)
_LEAST, _MOST = 1e-60, 1e60  # of a width or a noise, and of any number: the square of their ratio is finite
