"""Statistics that one can trust: intervals for means, tests paired by seed, correction of families of tests.

Samples are one number per seed. Student's tests are used throughout: exact for normal data, and good for the means of
the dozens of seeds that a study has. If the data are skewed, compare with the bootstrap interval: with few samples
neither covers quite as often as it says, but the bootstrap's misses are more even on the two sides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from coebl.core.arrays import Floats
from coebl.core.errors import InputError, shorten

Method = Literal["student", "bootstrap"]
Spread = TypeVar("Spread", float, Floats)

LEVEL = 0.95
"""How often an interval holds the true mean, unless another level is asked for."""

ALPHA = 0.05
"""The largest p value, corrected if there are several, at which a difference counts as significant."""

_RESAMPLES = 9_999
_AT_A_TIME = 1_000_000  # numbers that the bootstrap holds at once


@dataclass(frozen=True)
class Interval:
    """A mean with a confidence interval.

    >>> interval = mean_interval([1.0, 2.0, 3.0, 4.0])
    >>> interval.mean, round(interval.low, 2), 0 in interval
    (2.5, 0.45, False)
    """

    mean: float  # of the samples
    low: float  # the lower end
    high: float  # the upper end
    sd: float  # of the samples, with n - 1
    n: int  # how many samples there are
    level: float  # how often such an interval holds the true mean
    method: Method  # how it was computed

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high

    def __str__(self) -> str:
        return f"{self.mean:.4g} [{self.low:.4g}, {self.high:.4g}]"


@dataclass(frozen=True)
class PairedDifference:
    """The mean of a - b over seeds, and the two-sided p value of the paired t test that it is zero.

    >>> result = paired_difference([5.0, 7.0, 9.0], [3.0, 6.0, 6.0], seeds=[0, 1, 2])
    >>> result.interval.mean, round(result.p, 3)
    (2.0, 0.074)
    """

    interval: Interval  # of the mean difference
    p: float  # Student's, two-sided


@dataclass(frozen=True)
class Equivalence:
    """Whether a mean was shown to lie within -margin and margin; true in a condition if so.

    `interval` has the level that goes with the test, 90 % for a test at 95 %: it lies within the margins exactly if the
    test says yes. A no means "not shown", never "different".

    >>> result = equivalent([0.1, -0.2, 0.0, 0.1], margin=0.5)
    >>> result.equivalent, round(result.p, 4), str(result.interval)
    (True, 0.0029, '0 [-0.1664, 0.1664]')
    """

    equivalent: bool  # the answer
    p: float  # the larger of the two one-sided tests
    margin: float  # the largest mean that counts as none
    interval: Interval  # of the mean

    def __bool__(self) -> bool:
        return self.equivalent


def mean_interval(
    samples: ArrayLike,
    level: float = LEVEL,
    method: Method = "student",
    random: np.random.Generator | None = None,
    resamples: int = _RESAMPLES,
) -> Interval:
    """The mean of the samples with a confidence interval.

    "student" is the t interval. "bootstrap" is the bias-corrected and accelerated interval (BCa, Efron 1987) from that
    many resamples, drawn from the generator that is then needed. For a single sample, the sd and both ends are NaN:
    one number says nothing about spread. Equal samples have an interval of width zero.

    Args:
        samples: one number per seed.
        level: how often the interval should hold the true mean.
        method: "student" or "bootstrap".
        random: for the bootstrap.
        resamples: of the bootstrap.

    >>> print(mean_interval([1.0, 2.0, 3.0, 4.0]))
    2.5 [0.4457, 4.554]
    """
    _check_level(level)
    if method not in ("student", "bootstrap"):
        raise InputError(f'method is {shorten(method)}; accepted: "student" or "bootstrap".')
    if method == "bootstrap" and not isinstance(random, np.random.Generator):
        raise InputError(
            f"random is {shorten(random)}; accepted for the bootstrap: a generator, numpy.random.default_rng(seed)."
        )
    if resamples < 1:
        raise InputError(f"resamples is {resamples}; accepted: an integer, >= 1.")
    numbers = _check_samples(samples)
    mean, sd = _moments(numbers)
    if len(numbers) == 1:
        low = high = math.nan
    elif sd == 0:
        low = high = mean
    elif method == "student":
        half = half_width(sd, len(numbers), level)
        low, high = mean - half, mean + half
    else:
        assert random is not None
        low, high = _bootstrap(numbers, level, random, resamples)
    return Interval(mean, low, high, sd, len(numbers), level, method)


@dataclass(frozen=True)
class Band:
    """Means over seeds with Student's intervals, an entry per row of the values."""

    mean: Floats  # NaN where a value is not finite
    low: Floats  # NaN there too, and everywhere if there is one seed: it says nothing about spread
    high: Floats  # as low
    sd: Floats  # of the samples, with n - 1; NaN where the ends are
    seeds: int  # how many samples a row has

    @classmethod
    def of(cls, values: Floats, level: float = LEVEL) -> Band:
        """The band of values of shape (rows, seeds): what `mean_interval` says of each row.

        Args:
            values: one row per entry of the band.
            level: of the intervals.

        >>> band = Band.of(np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 5.0, 5.0, 5.0]]))
        >>> band.low.round(4), band.high.round(4)
        (array([0.4457, 5.    ]), array([4.5543, 5.    ]))
        """
        _check_level(level)
        rows, seeds = values.shape
        mean, sd = np.full((2, rows), math.nan)
        finite = np.isfinite(values).all(axis=1)
        kept = values[finite]
        constant = np.ptp(kept, axis=1) == 0  # gives exactly that number and 0, where a sum is off by rounding
        mean[finite] = np.where(constant, kept[:, 0], kept.mean(axis=1))
        if seeds > 1:
            sd[finite] = np.where(constant, 0, kept.std(axis=1, ddof=1))
        half = half_width(sd, seeds, level) if seeds > 1 else sd
        return cls(mean, mean - half, mean + half, sd, seeds)

    @property
    def half(self) -> Floats:
        """Half the width of the intervals."""
        return (self.high - self.low) / 2


def paired_difference(
    a: Mapping[int, float] | ArrayLike,
    b: Mapping[int, float] | ArrayLike,
    *,
    seeds: Sequence[int] | None = None,
    level: float = LEVEL,
    method: Method = "student",
    random: np.random.Generator | None = None,
) -> PairedDifference:
    """The mean of a - b, seed by seed, with its interval and the two-sided p value of the paired t test.

    a and b are mappings from seed to number with the same seeds, or arrays in the order of `seeds`. The p value is
    Student's whichever method gives the interval. Differences that are all equal have p = 1 if they are zero and p = 0
    otherwise; a single seed has p = NaN.

    Args:
        a: the first number of each seed.
        b: the second.
        seeds: of arrays, in their order.
        level: of the interval.
        method: of the interval, as in `mean_interval`.
        random: for the bootstrap.

    >>> result = paired_difference({1: 5.0, 2: 7.0, 3: 9.0}, {3: 6.0, 1: 3.0, 2: 6.0})
    >>> print(result.interval, round(result.p, 4))
    2 [-0.4841, 4.484] 0.0742
    """
    differences = _pair(a, b, seeds)
    interval = mean_interval(differences, level, method, random)
    t = _t_statistic(differences, 0.0)
    return PairedDifference(interval, 2 * _t_below(-abs(t), len(differences)))


def one_sided_p(samples: ArrayLike, threshold: float, alternative: Literal["greater", "less"] = "greater") -> float:
    """The p value of the t test whose alternative is that the mean is greater, or less, than the threshold.

    Equal samples have p = 0 if they are beyond the threshold, else 1. A single sample has p = NaN.

    >>> round(one_sided_p([1.0, 2.0, 3.0, 4.0], threshold=0), 4)
    0.0152
    """
    if alternative not in ("greater", "less"):
        raise InputError(f'alternative is {shorten(alternative)}; accepted: "greater" or "less".')
    numbers = _check_samples(samples)
    t = _t_statistic(numbers, _check_number("threshold", threshold))
    if t == 0 and numbers.min() == numbers.max():
        return 1.0  # on the threshold is not beyond it
    return _t_below(-t if alternative == "greater" else t, len(numbers))


@overload
def holm(p_values: Mapping[str, float]) -> dict[str, float]: ...
@overload
def holm(p_values: Sequence[float]) -> list[float]: ...
def holm(p_values: Mapping[str, float] | Sequence[float]) -> dict[str, float] | list[float]:
    """Holm's adjusted p values of a family of tests, in the order and under the names of the family.

    Rejecting those at most 0.05 keeps the chance of any false rejection at most 0.05, whatever the dependence
    between the tests (Holm 1979).

    Args:
        p_values: those of the family, by name or in order.

    >>> holm({"first": 0.01, "second": 0.04, "third": 0.02})
    {'first': 0.03, 'second': 0.04, 'third': 0.04}
    """
    if isinstance(p_values, Mapping):
        return dict(zip(p_values, holm(list(p_values.values())), strict=True))
    for position, p in enumerate(p_values):
        if not 0 <= p <= 1:  # NaN included
            raise InputError(f"p value number {position + 1} is {p}; accepted: numbers from 0 to 1.")
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        largest = max(largest, (len(p_values) - rank) * float(p_values[index]))
        adjusted[index] = min(1.0, largest)
    return adjusted


def equivalent(samples: ArrayLike, margin: float, level: float = LEVEL) -> Equivalence:
    """Whether the mean is shown to lie between -margin and margin, by two one-sided t tests (TOST, Schuirmann 1987).

    Each is at 1 - level, and both must reject, so the chance to call a mean outside the margins equivalent is at most
    1 - level. For a comparison, pass the differences by seed.

    Args:
        samples: one number per seed.
        margin: the largest mean that still counts as none.
        level: one minus the chance of a false yes.

    >>> bool(equivalent([0.1, -0.2, 0.0, 0.1], margin=0.5))
    True
    """
    _check_level(level, lowest=0.5)  # below it, the interval that goes with the test would have a negative level
    if not (math.isfinite(_check_number("margin", margin)) and margin > 0):
        raise InputError(f"margin is {margin}; accepted: a number above 0.")
    numbers = _check_samples(samples)
    above = one_sided_p(numbers, -margin, "greater")
    below = one_sided_p(numbers, margin, "less")
    p = max(above, below)
    return Equivalence(bool(p < 1 - level), p, float(margin), mean_interval(numbers, 2 * level - 1))


def t_quantile(probability: float, n: int) -> float:
    """The number that Student's t of n samples is below with this probability.

    >>> round(t_quantile(0.975, 4), 6)
    3.182446
    """
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, probability))


def half_width(sd: Spread, n: int, level: float = LEVEL) -> Spread:
    """Half the width of Student's interval of a mean, from the standard deviation of the n samples, or from many.

    Args:
        sd: the standard deviation.
        n: how many samples it comes from.
        level: of the interval.

    >>> round(half_width(1.0, 4), 6)
    1.591223
    """
    return t_quantile(0.5 + level / 2, n) * sd / math.sqrt(n)


def _bootstrap(numbers: Floats, level: float, random: np.random.Generator, resamples: int) -> tuple[float, float]:
    from scipy.stats import bootstrap

    result = bootstrap(
        (numbers,),
        np.mean,
        confidence_level=level,
        method="BCa",
        n_resamples=resamples,
        batch=max(1, _AT_A_TIME // len(numbers)),
        random_state=random,  # called rng from SciPy 1.15 on, which still takes this name
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def _moments(numbers: Floats) -> tuple[float, float]:
    """Mean and sd; for equal samples, exactly that number and 0, where a sum would be off by rounding."""
    if len(numbers) == 1:
        return float(numbers[0]), math.nan
    if numbers.min() == numbers.max():
        return float(numbers[0]), 0.0
    return float(numbers.mean()), float(numbers.std(ddof=1))


def _t_statistic(numbers: Floats, threshold: float) -> float:
    mean, sd = _moments(numbers)
    if math.isnan(sd):
        return math.nan
    if sd == 0:
        return math.copysign(math.inf, mean - threshold) if mean != threshold else 0.0
    return (mean - threshold) / (sd / math.sqrt(len(numbers)))


def _t_below(t: float, n: int) -> float:
    """The probability that Student's t of n samples is below t."""
    if not math.isfinite(t):
        return math.nan if math.isnan(t) else float(t > 0)
    from scipy.special import stdtr

    return float(stdtr(n - 1, t))


def _pair(
    a: Mapping[int, float] | ArrayLike, b: Mapping[int, float] | ArrayLike, seeds: Sequence[int] | None
) -> Floats:
    """The differences in the order of the seeds."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if seeds is not None:
            raise InputError("seeds is given with mappings, which carry their own; leave it out.")
        if a.keys() != b.keys():
            sides = [
                f"{side} alone has {_some(alone)}"
                for side, alone in (("a", a.keys() - b.keys()), ("b", b.keys() - a.keys()))
                if alone
            ]
            raise InputError(f"the seeds differ: {'; '.join(sides)}. Accepted: the same seeds in both.")
        order = sorted(a)  # so that the result does not depend on the order of insertion
        return _check_samples([a[seed] for seed in order], "a") - _check_samples([b[seed] for seed in order], "b")
    if isinstance(a, Mapping) or isinstance(b, Mapping):
        raise InputError("one of a and b is a mapping and the other is not; accepted: two of a kind.")
    if seeds is None:
        raise InputError("seeds is missing; accepted with arrays: the seed of each position, the same for a and b.")
    first, second = _check_samples(a, "a"), _check_samples(b, "b")
    if not len(first) == len(second) == len(seeds):
        raise InputError(
            f"a has {len(first)} numbers, b has {len(second)}, seeds has {len(seeds)}; accepted: three of one length."
        )
    if len(set(seeds)) != len(seeds):
        twice = {seed for seed in seeds if list(seeds).count(seed) > 1}
        raise InputError(f"seeds has more than once {_some(twice)}; accepted: seeds that all differ.")
    return first - second


def _some(seeds: set[int]) -> str:
    """A few seeds by name, and how many more there are."""
    shown = ", ".join(str(seed) for seed in sorted(seeds)[:5])
    return f"{shown} and {len(seeds) - 5} more" if len(seeds) > 5 else shown


def _check_samples(samples: ArrayLike, argument: str = "samples") -> Floats:
    try:
        numbers = np.asarray(samples, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{argument} is {shorten(samples)}; accepted: a list of numbers.") from None
    if numbers.ndim != 1:
        raise InputError(f"{argument} has shape {numbers.shape}; accepted: one dimension.")
    if len(numbers) == 0:
        raise InputError(f"{argument} is empty; accepted: one number or more.")
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        raise InputError(f"{argument}[{bad[0]}] is {numbers[bad[0]]}; accepted: finite numbers.")
    return numbers


def _check_level(level: float, lowest: float = 0.0) -> None:
    if not lowest < _check_number("level", level) < 1:
        raise InputError(f"level is {level}; accepted: a number between {lowest:g} and 1, such as 0.95.")


def _check_number(argument: str, number: float) -> float:
    try:
        converted = float(number)
    except (TypeError, ValueError):
        raise InputError(f"{argument} is {shorten(number)}; accepted: a number.") from None
    if math.isnan(converted):
        raise InputError(f"{argument} is nan; accepted: a number.")
    return converted
