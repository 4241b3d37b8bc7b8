"""Noise: the difference between a payoff and the observed reward. Every model has mean zero."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.errors import InputError, shorten
from coebl.core.modules import undefined
from coebl.core.registry import Component, Registry
from coebl.core.specs import Range

# At most 1e100, as payoffs in a match, so that rewards can be added up and squared
Sigma = Annotated[float, Range(0, 1e100), "the standard deviation of the noise"]


@dataclass(frozen=True)
class Noise(Component):
    """A noise model.

    Randomness and payoffs are separate: `draw` takes numbers from a generator and does not depend on the game, and
    `reward` combines payoffs with these numbers. So the same draws can be used for any actions.

    >>> noise = parse_noise("laplace:sigma=0.5")
    >>> draw = noise.draw(np.random.default_rng(0), 4)
    >>> noise.reward(np.ones(4), draw, payoff_range=(0.0, 1.0)).round(2)
    array([ 1.11,  0.78,  0.12, -0.21])
    """

    def draw(self, random: np.random.Generator, size: int | tuple[int, ...]) -> Floats:
        """Return an array of this size with independent, identically distributed numbers from the generator random."""
        raise undefined(self, "draw(self, random, size)", "an array of this size")

    def drawn(self, random: np.random.Generator, size: int | tuple[int, ...]) -> Floats:
        """Return `draw(random, size)`; raise an InputError if its size is wrong or an entry is no finite number."""
        numbers = self.draw(random, size)
        try:
            good = np.isfinite(numbers)
        except (TypeError, ValueError):  # strings, or a list of lists of several lengths
            raise InputError(f"{self}: draw returned {shorten(numbers)}; accepted: an array of numbers.") from None
        if (shape := np.shape(numbers)) != (expected := np.broadcast_shapes(size)):
            raise InputError(f"{self}: draw returned an array of shape {shape}; accepted: {expected}, that of size.")
        if not good.all():
            raise InputError(f"{self}: draw returned {np.extract(~good, numbers)[0]}; accepted: finite numbers.")
        return numbers

    def reward(self, payoff: Floats, draw: Floats, payoff_range: tuple[float, float]) -> Floats:
        """Return the observed reward of each payoff: by default the payoff plus the number of the draw.

        A noise may also depend on payoff_range, the known limits of the payoffs.
        """
        return payoff + draw

    def deviation(self, payoff_range: tuple[float, float]) -> float:
        """Return the standard deviation of rewards, a learner's unit, for a payoff in the middle of payoff_range.

        By default it is measured, on 65,536 draws from a fixed seed.

        >>> parse_noise("laplace:sigma=0.5").deviation((0.0, 1.0)), parse_noise("bernoulli").deviation((0.0, 1.0))
        (0.5, 0.5)
        """
        low, high = payoff_range
        middle = np.full(2**16, low / 2 + high / 2)
        rewards = self.reward(middle, self.drawn(np.random.default_rng(0), middle.size), payoff_range)
        if np.shape(rewards) != middle.shape:
            raise InputError(f"{self}: reward returned {shorten(rewards)}; accepted: an array of the shape of payoff.")
        return math.sqrt(np.mean((rewards - middle) ** 2))


@dataclass(frozen=True)
class _Scaled(Noise):
    """A noise whose parameter sigma is its standard deviation."""

    sigma: Sigma = 1.0

    def deviation(self, payoff_range: tuple[float, float]) -> float:
        return self.sigma


NOISES = Registry("noise", "noises", base=Noise)
"""The noises by name: `@NOISES.add(name)` above a class adds one."""


@NOISES.add("gaussian", title="Gaussian")
@dataclass(frozen=True)
class Gaussian(_Scaled):
    """Normal, with standard deviation sigma. The paper uses sigma = 1."""

    def draw(self, random: np.random.Generator, size: int | tuple[int, ...]) -> Floats:
        return self.sigma * random.standard_normal(size)


@NOISES.add("misstated", title="Misstated")
@dataclass(frozen=True)
class Misstated(Gaussian):
    """Normal, with standard deviation sigma, while learners receive another value for it."""

    sigma: Sigma = 2.0
    told: Annotated[float, Range(0, open_low=True), "the standard deviation that learners receive"] = 1.0

    def deviation(self, payoff_range: tuple[float, float]) -> float:
        """Return the deviation that learners receive."""
        return self.told


@NOISES.add("none", title="No noise")
@dataclass(frozen=True)
class NoNoise(Noise):
    """No noise: the reward is the payoff."""

    def draw(self, random: np.random.Generator, size: int | tuple[int, ...]) -> Floats:
        return np.zeros(size)

    def deviation(self, payoff_range: tuple[float, float]) -> float:
        return 0.0


@NOISES.add("bernoulli", title="Bernoulli")
@dataclass(frozen=True)
class Bernoulli(Noise):
    """The reward is the low or the high end of the payoff range, with the payoff as its mean."""

    def draw(self, random: np.random.Generator, size: int | tuple[int, ...]) -> Floats:
        return random.random(size)

    def reward(self, payoff: Floats, draw: Floats, payoff_range: tuple[float, float]) -> Floats:
        low, high = payoff_range
        return np.where(draw * (high - low) < payoff - low, high, low)

    def deviation(self, payoff_range: tuple[float, float]) -> float:
        """Return half the width of the range, the largest standard deviation of any payoff's reward."""
        low, high = payoff_range
        return high / 2 - low / 2


@NOISES.add("laplace", title="Laplace")
@dataclass(frozen=True)
class Laplace(_Scaled):
    """Laplace (double exponential), scaled to standard deviation sigma."""

    def draw(self, random: np.random.Generator, size: int | tuple[int, ...]) -> Floats:
        from coebl.backend import log  # imports Numba

        uniform = random.random(size)
        upper = uniform >= 0.5
        size_of = -log(2 * np.where(upper, 1 - uniform, np.maximum(uniform, 2.0**-54)))  # ~ Exponential(1)
        return self.sigma * math.sqrt(0.5) * np.where(upper, size_of, -size_of)


@NOISES.add("student-t", title="Student's t")
@dataclass(frozen=True)
class StudentT(Noise):
    """Student's t with df degrees of freedom, heavy-tailed, scaled to standard deviation sigma."""

    df: Annotated[float, Range(2, open_low=True), "the degrees of freedom; fewer have heavier tails"] = 3.0
    sigma: Sigma = 1.0

    def draw(self, random: np.random.Generator, size: int | tuple[int, ...]) -> Floats:
        return self.sigma * math.sqrt((self.df - 2) / self.df) * random.standard_t(self.df, size)

    def deviation(self, payoff_range: tuple[float, float]) -> float:
        return self.sigma


@NOISES.add("exponential", title="Exponential")
@dataclass(frozen=True)
class Exponential(_Scaled):
    """Exponential, shifted to mean zero, scaled to standard deviation sigma: skewed, with a long upper tail."""

    def draw(self, random: np.random.Generator, size: int | tuple[int, ...]) -> Floats:
        return self.sigma * (random.standard_exponential(size) - 1)


def parse_noise(spec: str | Noise) -> Noise:
    """Return the noise model of a spec.

    >>> parse_noise("laplace:sigma=0.5")
    Laplace(sigma=0.5)
    """
    return NOISES.resolve(spec)
