"""Statistics of samples with one number per seed: intervals for means, paired tests, correction of families of tests.

Student's tests are exact for normal data, and good for means of dozens of seeds. For skewed data, compare with the
bootstrap interval: with few samples neither covers quite as often as its level, but the bootstrap misses more evenly on
the two sides.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from coebl.core.arrays import Floats
from coebl.core.errors import InputError, shorten
from coebl.core.frames import pl
from coebl.core.text import listed, number_text

Method = Literal["student", "bootstrap"]

LEVEL = 0.95
"""The default level of an interval: the probability with which it contains the true mean."""

ALPHA = 0.05
"""The largest p value, corrected if there are several, at which a difference counts as significant."""

_RESAMPLES = 9_999
_AT_A_TIME = 1_000_000  # numbers that the bootstrap holds at once


@dataclass(frozen=True)
class Estimate:
    """A mean with its confidence interval, and the p values of its tests; NaN if there are none.

    >>> estimate = mean_interval([1.0, 2.0, 3.0, 4.0])
    >>> estimate.mean, round(estimate.low, 2), 0 in estimate
    (2.5, 0.45, False)
    """

    mean: float  # of the samples
    low: float  # the lower end of the interval
    high: float  # the upper end
    sd: float  # of the samples, with n - 1
    n: int  # the number of samples
    p: float = math.nan  # two-sided, that the mean is zero
    p_holm: float = math.nan  # corrected over the family
    p_for: float = math.nan  # one-sided, small if the samples support a statement
    p_against: float = math.nan  # one-sided, small if they refute it
    p_for_holm: float = math.nan  # corrected over the family
    p_against_holm: float = math.nan  # likewise
    family: str = ""  # the tests over which p values are corrected, in words

    @property
    def sign(self) -> int:
        """1 or -1 if the mean is above or below zero after correction, 0 if neither is shown."""
        return 0 if not self.p_holm <= ALPHA else (self.mean > 0) - (self.mean < 0)

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high

    def __str__(self) -> str:
        mean, low, high = map(number_text, (self.mean, self.low, self.high))
        return f"{mean} [{low}, {high}]"


@dataclass(frozen=True)
class Equivalence:
    """The result of a test that a mean lies between -margin and margin; true in a condition if that is shown.

    `interval` has the level of the test, 90 % for a test at 95 %: it lies within the margins exactly if equivalence is
    shown. Otherwise nothing is shown; in particular, no difference.

    >>> result = equivalent([0.1, -0.2, 0.0, 0.1], margin=0.5)
    >>> result.equivalent, round(result.p, 4), str(result.interval)
    (True, 0.0029, '0 [-0.1664, 0.1664]')
    """

    equivalent: bool  # True if shown
    p: float  # the larger of the two one-sided tests
    margin: float  # the largest mean that counts as zero
    interval: Estimate  # of the mean

    def __bool__(self) -> bool:
        return self.equivalent


@dataclass(frozen=True)
class Band:
    """The mean over seeds with Student's interval, from low to high, for each row of the values.

    A row with a value that is not finite is NaN. With a single seed, so are the ends and the sd.
    """

    mean: Floats
    low: Floats
    high: Floats
    sd: Floats  # of the samples, with n - 1
    seeds: int  # the number of samples in a row

    @classmethod
    def of(cls, values: Floats, level: float = LEVEL) -> Band:
        """Return the band of values of shape (rows, seeds): the `mean_interval` of each row.

        Args:
            values: one row per entry of the band.
            level: the level of the intervals.

        >>> band = Band.of(np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 5.0, 5.0, 5.0]]))
        >>> band.low.round(4), band.high.round(4)
        (array([0.4457, 5.    ]), array([4.5543, 5.    ]))
        """
        _check_level(level)
        rows, seeds = values.shape
        mean, sd = np.full((2, rows), math.nan)
        finite = np.isfinite(values).all(axis=1)
        kept = values[finite]
        constant = np.ptp(kept, axis=1) == 0  # for which sums would have rounding errors
        mean[finite] = np.where(constant, kept[:, 0], kept.mean(axis=1))
        if seeds > 1:
            sd[finite] = np.where(constant, 0, kept.std(axis=1, ddof=1))
        half = t_quantile(0.5 + level / 2, seeds) * sd / math.sqrt(seeds) if seeds > 1 else sd
        return cls(mean, mean - half, mean + half, sd, seeds)

    @property
    def half(self) -> Floats:
        """Half the width of the intervals."""
        return (self.high - self.low) / 2


def bands(samples: pl.Series) -> pl.DataFrame:
    """Return the columns mean, low, high, sd and n of lists of samples, whose lengths may differ; see `Band`."""
    lengths, numbers = samples.list.len(), np.full((4, len(samples)), math.nan)
    for n in filter(None, lengths.unique()):
        chosen = lengths == n
        band = Band.of(samples.filter(chosen).explode().to_numpy().reshape(-1, n))
        numbers[:, chosen.to_numpy()] = band.mean, band.low, band.high, band.sd
    return pl.DataFrame(dict(zip(("mean", "low", "high", "sd"), numbers, strict=True)) | {"n": lengths})


def mean_interval(
    samples: ArrayLike,
    level: float = LEVEL,
    method: Method = "student",
    random: np.random.Generator | None = None,
) -> Estimate:
    """Return the mean of the samples with a confidence interval.

    "student" is the t interval. "bootstrap" is the bias-corrected and accelerated interval (BCa, Efron 1987). For a
    single sample, the sd and both ends are NaN. Equal samples have an interval of width zero.

    Args:
        samples: one number per seed.
        level: the probability with which the interval should contain the true mean.
        method: "student" or "bootstrap".
        random: a generator, for the bootstrap.

    >>> print(mean_interval([1.0, 2.0, 3.0, 4.0]))
    2.5 [0.4457, 4.554]
    """
    if method not in ("student", "bootstrap"):
        raise InputError(f'method is {shorten(method)}; accepted: "student" or "bootstrap".')
    numbers = _check_samples(samples)
    band = Band.of(numbers[None], level)
    mean, low, high, sd = (float(column[0]) for column in (band.mean, band.low, band.high, band.sd))
    if method == "bootstrap":
        if not isinstance(random, np.random.Generator):
            accepted = "accepted for the bootstrap: a generator, numpy.random.default_rng(seed)"
            raise InputError(f"random is {shorten(random)}; {accepted}.")
        if sd > 0:
            from scipy.stats import bootstrap

            options: dict[str, Any] = {"method": "BCa", "n_resamples": _RESAMPLES, "rng": random}
            options["batch"] = max(1, _AT_A_TIME // len(numbers))
            ends = bootstrap((numbers,), np.mean, confidence_level=level, **options).confidence_interval
            low, high = float(ends.low), float(ends.high)
    return Estimate(mean, low, high, sd, len(numbers))


def share_interval(count: int, n: int) -> Estimate:
    """Return the share of count out of n with Wilson's score interval.

    >>> print(share_interval(3, 4))
    0.75 [0.3006, 0.9544]
    """
    from scipy.special import ndtri

    share, z = count / n, float(ndtri(0.5 + LEVEL / 2))
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    sd = math.sqrt(share * (1 - share) * n / (n - 1)) if n > 1 else math.nan
    low = middle - half if count else 0.0  # where rounding would miss the ends
    high = middle + half if count < n else 1.0
    return Estimate(share, low, high, sd, n)


def paired_difference(
    a: Mapping[int, float] | ArrayLike,
    b: Mapping[int, float] | ArrayLike,
    *,
    seeds: Sequence[int] | None = None,
    level: float = LEVEL,
    method: Method = "student",
    random: np.random.Generator | None = None,
) -> Estimate:
    """Return the mean of a - b, seed by seed, with its interval and the two-sided p value of the paired t test.

    a and b are mappings from seed to number with the same seeds, or arrays in the order of `seeds`. The p value is
    Student's for both methods. Differences that are all equal have p = 1 if they are zero and p = 0 otherwise; a single
    seed has p = NaN.

    Args:
        a: the first number of each seed.
        b: the second number of each seed.
        seeds: the seeds of arrays, in their order.
        level: the level of the interval.
        method: the method of the interval, as in `mean_interval`.
        random: a generator, for the bootstrap.

    >>> result = paired_difference({1: 5.0, 2: 7.0, 3: 9.0}, {3: 6.0, 1: 3.0, 2: 6.0})
    >>> print(result, round(result.p, 4))
    2 [-0.4841, 4.484] 0.0742
    """
    estimate = mean_interval(_pair(a, b, seeds), level, method, random)
    return replace(estimate, p=float(_two_sided_p(estimate.mean, estimate.sd, estimate.n)))


def zero_tests(samples: pl.Series) -> list[Estimate]:
    """Return the mean of each list of samples, with its interval and the test that it is zero."""
    intervals = bands(samples)
    p = _two_sided_p(*intervals.select("mean", "sd", "n").to_numpy().T)
    return [Estimate(**row) for row in intervals.with_columns(p=p).to_dicts()]


def one_sided_p(samples: ArrayLike, threshold: float, alternative: Literal["greater", "less"] = "greater") -> float:
    """Return the p value of the t test whose alternative is that the mean is greater, or less, than the threshold.

    Equal samples have p = 0 if they are beyond the threshold, else 1. A single sample has p = NaN.

    >>> round(one_sided_p([1.0, 2.0, 3.0, 4.0], threshold=0), 4)
    0.0152
    """
    if alternative not in ("greater", "less"):
        raise InputError(f'alternative is {shorten(alternative)}; accepted: "greater" or "less".')
    above, below = tail_p_values(_check_samples(samples), _check_number("threshold", threshold))
    return above if alternative == "greater" else below


def tail_p_values(numbers: Floats, threshold: float) -> tuple[float, float]:
    """Return the p values of the t tests whose alternatives are that the mean is above the threshold, and below it."""
    band = Band.of(numbers[None])
    above, below = _t_tests(band.mean, band.sd, band.seeds, threshold)
    return float(above[0]), float(below[0])


@overload
def holm(p_values: Mapping[str, float]) -> dict[str, float]: ...
@overload
def holm(p_values: Sequence[float]) -> list[float]: ...
def holm(p_values: Mapping[str, float] | Sequence[float]) -> dict[str, float] | list[float]:
    """Return Holm's adjusted p values of a family of tests, in the order and under the names of the family.

    Rejecting those at most 0.05 keeps the chance of any false rejection at most 0.05, for any dependence between the
    tests (Holm 1979).

    Args:
        p_values: the p values of the family, by name or in order.

    >>> holm({"first": 0.01, "second": 0.04, "third": 0.02})
    {'first': 0.03, 'second': 0.04, 'third': 0.04}
    """
    if isinstance(p_values, Mapping):
        return dict(zip(p_values, holm(list(p_values.values())), strict=True))
    for position, p in enumerate(p_values):
        if not 0 <= p <= 1:  # NaN included
            raise InputError(f"p value number {position + 1} is {p}; accepted: numbers from 0 to 1.")
    values = np.array(p_values, dtype=float)
    order = np.argsort(values, kind="stable")
    adjusted = np.empty(len(values))
    adjusted[order] = np.maximum.accumulate(np.arange(len(values), 0, -1) * values[order]).clip(max=1.0)
    return [float(p) for p in adjusted]


def correct(estimates: Sequence[Estimate], family: str) -> list[Estimate]:
    """Return the estimates with Holm's correction over all of them, and the name of that family.

    The two-sided p values are corrected together, those for the statements together, and those against them together.
    A NaN stays NaN and counts as no test.

    Args:
        estimates: the estimates of the family.
        family: its name, in words.

    >>> tests = [paired_difference([2.0, 3.0, 4.5], [1.0, 2.0, 3.0], seeds=[0, 1, 2]) for _ in range(2)]
    >>> [round(test.p_holm / test.p, 9) for test in correct(tests, "two tests")]
    [2.0, 2.0]
    """
    columns = []
    for name in ("p", "p_for", "p_against"):
        raw = [getattr(estimate, name) for estimate in estimates]
        adjusted = iter(holm([p for p in raw if not math.isnan(p)]))
        columns.append([p if math.isnan(p) else next(adjusted) for p in raw])
    return [
        replace(estimate, p_holm=p, p_for_holm=p_for, p_against_holm=p_against, family=family)
        for estimate, p, p_for, p_against in zip(estimates, *columns, strict=True)
    ]


def equivalent(samples: ArrayLike, margin: float, level: float = LEVEL) -> Equivalence:
    """Test that the mean lies between -margin and margin, by two one-sided t tests (TOST, Schuirmann 1987).

    Each is at 1 - level, and both must reject, so a mean outside the margins is called equivalent with probability at
    most 1 - level. For a comparison, pass the differences by seed.

    Args:
        samples: one number per seed.
        margin: the largest mean that still counts as zero.
        level: one minus the probability of a false positive.

    >>> bool(equivalent([0.1, -0.2, 0.0, 0.1], margin=0.5))
    True
    """
    _check_level(level, lowest=0.5)  # below it, the interval that belongs to the test would have a negative level
    if not (math.isfinite(_check_number("margin", margin)) and margin > 0):
        raise InputError(f"margin is {margin}; accepted: a number above 0.")
    numbers = _check_samples(samples)
    p = max(tail_p_values(numbers, -margin)[0], tail_p_values(numbers, margin)[1])
    return Equivalence(bool(p < 1 - level), p, float(margin), mean_interval(numbers, 2 * level - 1))


def t_quantile(probability: float, n: int) -> float:
    """Return the quantile of Student's t of n samples at this probability."""
    from scipy.special import stdtrit  # scipy.stats would take half a second to import

    return float(stdtrit(n - 1, probability))


def _t_tests(mean: Any, sd: Any, n: Any, threshold: float = 0.0) -> tuple[Floats, Floats]:
    """Return the p values of the t tests that each mean is above the threshold, and below it.

    Equal samples have p = 0 on their side of the threshold, else 1.
    """
    from scipy.special import stdtr

    distance, freedom = mean - threshold, np.maximum(n - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = distance / (sd / np.sqrt(n))
    above = np.where(sd == 0, distance <= 0, stdtr(freedom, -t))
    return above, np.where(sd == 0, distance >= 0, stdtr(freedom, t))


def _two_sided_p(mean: Any, sd: Any, n: Any) -> Floats:
    """Return the p value of the t test that a mean is zero."""
    return np.minimum(1.0, 2 * np.minimum(*_t_tests(mean, sd, n)))


def _pair(
    a: Mapping[int, float] | ArrayLike, b: Mapping[int, float] | ArrayLike, seeds: Sequence[int] | None
) -> Floats:
    """Return the differences in the order of the seeds."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if seeds is not None:
            raise InputError("seeds is given with mappings, which have seeds as keys; leave it out.")
        alone = {"a": a.keys() - b.keys(), "b": b.keys() - a.keys()}
        if sides := [f"{side} alone has {listed(sorted(extra), 5)}" for side, extra in alone.items() if extra]:
            raise InputError(f"the seeds differ: {'; '.join(sides)}. Accepted: the same seeds in both.")
        order = sorted(a)  # so that the result does not depend on the order of insertion
        a, b, seeds = [a[seed] for seed in order], [b[seed] for seed in order], order
    if isinstance(a, Mapping) or isinstance(b, Mapping):
        raise InputError("one of a and b is a mapping and the other is not; accepted: two mappings or two arrays.")
    if seeds is None:
        raise InputError("seeds is missing; accepted with arrays: the seed of each position, the same for a and b.")
    first, second = _check_samples(a, "a"), _check_samples(b, "b")
    if not len(first) == len(second) == len(seeds):
        lengths = f"a has {len(first)} numbers, b has {len(second)}, seeds has {len(seeds)}"
        raise InputError(f"{lengths}; accepted: equal lengths.")
    if twice := {seed for seed, count in Counter(seeds).items() if count > 1}:
        raise InputError(f"seeds repeats {listed(sorted(twice), 5)}; accepted: distinct seeds.")
    return first - second


def _check_samples(samples: ArrayLike, argument: str = "samples") -> Floats:
    try:
        numbers = np.asarray(samples, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{argument} is {shorten(samples)}; accepted: a list of numbers.") from None
    if numbers.ndim != 1:
        raise InputError(f"{argument} has shape {numbers.shape}; accepted: one dimension.")
    if len(numbers) == 0:
        raise InputError(f"{argument} is empty; accepted: one number or more.")
    if not np.isfinite(numbers).all():
        place = np.isfinite(numbers).argmin()
        raise InputError(f"{argument}[{place}] is {numbers[place]}; accepted: finite numbers.")
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
