"""Checks of statements about matches, from one number per seed: what is measured, and two p values.

One p value is for the statement and one against it, so that a check holds, fails, or decides nothing. The tests are
Student's. Intervals are two-sided, at 95 %, and not corrected for the number of checks; the p values are, by
`coebl.evidence.judge`.

If a metric takes few values, as the distance to a pure equilibrium does late in a run, Student's interval is an
approximation: it does not account for rare runs that no seed has shown.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.text import number_text
from coebl.evidence.samples import Sample
from coebl.evidence.statistics import LEVEL, mean_interval, one_sided_p, t_quantile

Side = Literal["above", "below"]

SUBLINEAR = 0.9  # the exponent below which growth is called sublinear: that of a square root is 0.5, of a line 1
TOLERANCE = 0.1  # how far, in proportion, a mean may be from a number that it is said to be


@dataclass(frozen=True)
class Measurement:
    """What a check finds: a number with its interval, and the p values for and against the statement."""

    subject: str
    measured: float
    low: float
    high: float
    n: int  # seeds
    p_for: float
    p_against: float


@dataclass(frozen=True)
class Check(ABC):
    """A statement about samples that is tested against a threshold, with a p value for it and one against it."""

    samples: tuple[Sample, ...]
    threshold: float

    beside: ClassVar[bool] = False  # a number mentioned in passing: it decides only if nothing else does

    @property
    @abstractmethod
    def words(self) -> tuple[str, str]:
        """What the measured number is, and what it is said to be, as in "the mean", "above 5"."""

    @property
    def subject(self) -> str:
        """The match or matches that the number is about."""
        return " minus ".join(map(str, self.samples))

    @abstractmethod
    def measure(self, numbers: Floats) -> Measurement:
        """Test the statement on numbers of shape (samples, seeds)."""

    def _mean(self, numbers: Floats, p_for: float, p_against: float, subject: str = "") -> Measurement:
        """A measurement of the mean of these numbers."""
        interval = mean_interval(numbers, LEVEL)
        return Measurement(
            subject or self.subject, interval.mean, interval.low, interval.high, interval.n, p_for, p_against
        )


@dataclass(frozen=True)
class Bound(Check):
    """The mean, or the mean difference by seed of two samples, is above or below a number."""

    side: Side

    @property
    def words(self) -> tuple[str, str]:
        return "the mean" + " difference" * (len(self.samples) > 1), f"{self.side} {number_text(self.threshold, 5)}"

    def measure(self, numbers: Floats) -> Measurement:
        contrast = numbers[0] - numbers[1:].sum(axis=0)
        p_for, p_against = (p_value(contrast, self.threshold, side) for side in (self.side, other(self.side)))
        return self._mean(contrast, p_for, p_against)


@dataclass(frozen=True)
class Contrast(Bound):
    """The mean of a weighted sum of samples, taken by seed, is above or below a number."""

    weights: tuple[float, ...]  # of the samples

    @property
    def words(self) -> tuple[str, str]:
        return "the mean", f"{self.side} {number_text(self.threshold, 5)}"

    def measure(self, numbers: Floats) -> Measurement:
        return super().measure(weighted(self.weights, numbers)[None])


@dataclass(frozen=True)
class TimesLeast(Check):
    """The mean of a first number is at most `threshold` times the least of the means of the others.

    Each number is a weighted sum of as many samples as there are weights. The statement is true if it is of every other
    number, whichever is the least: the p value for it is that of all comparisons together, and the p value against it
    that of some of them, where Bonferroni's correction pays for choosing which. What is measured is the ratio to the
    least mean. Its interval is Fieller's, as if the least had not been chosen.
    """

    weights: tuple[float, ...]

    @property
    def words(self) -> tuple[str, str]:
        return "the ratio to the least mean", f"at most {number_text(self.threshold, 5)}"

    @property
    def subject(self) -> str:
        return str(self.samples[0])

    def measure(self, numbers: Floats) -> Measurement:
        size = len(self.weights)
        first, *others = (
            weighted(self.weights, numbers[start : start + size]) for start in range(0, len(numbers), size)
        )
        contrasts = [first - self.threshold * one for one in others]
        least = min(others, key=lambda one: float(one.mean()))
        return Measurement(
            self.subject,
            _ratio(first.mean(), least.mean()),
            *fieller(first, least),
            len(first),
            p_for=every(p_value(contrast, 0, "below") for contrast in contrasts),
            p_against=some(p_value(contrast, 0, "above") for contrast in contrasts),
        )


@dataclass(frozen=True)
class Near(Check):
    """The largest, or the least, of the means is within the tolerance of a number.

    Two one-sided tests (equivalence) give the p value for it. The p value against it is that of either side, doubled.
    The largest mean is above a bound if some mean is, and Bonferroni's correction pays for the choice; it is below a
    bound if every mean is. The interval is that of the sample with the largest mean, as if it had not been chosen.
    """

    extreme: Literal["largest", "least"]

    beside: ClassVar[bool] = True

    @property
    def subject(self) -> str:
        return f"{len(self.samples)} matches"

    @property
    def words(self) -> tuple[str, str]:
        return f"the {self.extreme} mean", f"within {100 * TOLERANCE:g} % of {number_text(self.threshold, 5)}"

    def measure(self, numbers: Floats) -> Measurement:
        sign = 1 if self.extreme == "largest" else -1  # the least is the largest of the negatives
        rows = sign * numbers
        low, high = sorted(sign * self.threshold * (1 + change) for change in (-TOLERANCE, TOLERANCE))

        def largest(side: Side, bound: float) -> float:
            p_values = [p_value(row, bound, side) for row in rows]
            return some(p_values) if side == "above" else every(p_values)

        p_for = max(largest("above", low), largest("below", high))
        p_against = min(1.0, 2 * min(largest("above", high), largest("below", low)))
        chosen = int(rows.mean(axis=1).argmax())
        return self._mean(numbers[chosen], p_for, p_against, str(self.samples[chosen]))


@dataclass(frozen=True)
class Largest(Check):
    """The largest of all means is among those of the first samples: the difference to the largest other is above 0.

    It is if one of the first is above each of the others, and is not if one of the others is above each of the first;
    Bonferroni's correction pays for choosing which one. The interval is that of the difference between the two largest
    means, as if they had not been chosen.
    """

    first: int

    beside: ClassVar[bool] = True

    @property
    def subject(self) -> str:
        return f"the largest of the first {self.first} of {len(self.samples)} matches minus the largest of the others"

    @property
    def words(self) -> tuple[str, str]:
        return "the mean difference", "above 0"

    def measure(self, numbers: Floats) -> Measurement:
        ours, others = numbers[: self.first], numbers[self.first :]
        best, rival = (int(rows.mean(axis=1).argmax()) for rows in (ours, others))
        subject = f"{self.samples[best]} minus {self.samples[self.first + rival]}"
        return self._mean(ours[best] - others[rival], self._lead(ours, others), self._lead(others, ours), subject)

    @staticmethod
    def _lead(ones: Floats, others: Floats) -> float:
        """The p value that some one has a larger mean than all the others."""
        return some(every(p_value(one - another, 0, "above") for another in others) for one in ones)


@dataclass(frozen=True)
class Sublinear(Check):
    """The mean grows like the time to a power below the threshold between two rounds; the later sample is first.

    The power is a = log(R(late) / R(early)) / log(late / early), of the mean R. It is below b exactly if the mean of
    R(late) - (late / early)^b R(early) is below 0, which is tested by seed. The interval is Fieller's: the powers that
    this test, two-sided, does not reject.
    """

    @property
    def words(self) -> tuple[str, str]:
        return "the growth exponent", f"below {self.threshold:g}"

    @property
    def subject(self) -> str:
        return str(self.samples[0])

    def measure(self, numbers: Floats) -> Measurement:
        late, early = numbers
        if not late.any():
            return Measurement(self.subject, 0.0, 0.0, 0.0, len(late), p_for=0.0, p_against=1.0)
        stretch = self.samples[0].last / self.samples[1].last
        contrast = late - stretch**self.threshold * early
        ratios = _ratio(late.mean(), early.mean()), *fieller(late, early)
        exponent, low, high = (math.log(ratio, stretch) if ratio > 0 else -math.inf for ratio in ratios)
        p_for, p_against = p_value(contrast, 0, "below"), p_value(contrast, 0, "above")
        return Measurement(self.subject, exponent, low, high, len(late), p_for, p_against)


def above(sample: Sample, threshold: float = 0, minus: Sample | None = None) -> Check:
    """The mean, or mean difference, is above the threshold."""
    return Bound((sample, minus) if minus else (sample,), threshold, "above")


def below(sample: Sample, threshold: float) -> Check:
    """The mean is below the threshold."""
    return Bound((sample,), threshold, "below")


def sublinear(early: Sample, late: Sample) -> Check:
    """The mean grows sublinearly between two rounds of a match."""
    return Sublinear((late, early), SUBLINEAR)


def p_value(numbers: Floats, threshold: float, side: Side) -> float:
    """The p value of the t test that the mean is on this side of the threshold."""
    return one_sided_p(numbers, threshold, "greater" if side == "above" else "less")


def other(side: Side) -> Side:
    """Below for above, and above for below."""
    return "below" if side == "above" else "above"


def some(p_values: Iterable[float]) -> float:
    """The p value that at least one of these alternatives is true (Bonferroni)."""
    listed = list(p_values)
    return min(1.0, len(listed) * min(listed))


def every(p_values: Iterable[float]) -> float:
    """The p value that all of these alternatives are true (intersection-union)."""
    return max(p_values)


def fieller(late: Floats, early: Floats) -> tuple[float, float]:
    """Fieller's interval for the ratio of two positive means, paired by seed; its ends may be 0 and infinity.

    It holds the ratios r for which late - r early has a mean that the t test does not tell from 0. They solve
    a r² - 2 b r + c <= 0; where they are not an interval of positive numbers, the least one around them is given.

    >>> low, high = fieller(np.array([4.0, 6.0, 9.0]), np.array([2.0, 3.0, 4.0]))
    >>> round(low, 3), round(high, 3)
    (0.153, 2.372)
    """
    means = np.array([late.mean(), early.mean()])
    factor = t_quantile((1 + LEVEL) / 2, len(late)) ** 2 / len(late)
    (c, b), (_, a) = np.outer(means, means) - factor * np.cov(late, early)
    root = b + math.sqrt(max(0.0, b * b - a * c))
    return _ratio(c, root) if c > 0 else 0.0, _ratio(root, a) if a > 0 else math.inf


def _ratio(numerator: float, denominator: float) -> float:
    """The ratio of two numbers that are not negative; that of 0 to 0 is infinite too."""
    return float(numerator / denominator) if denominator else math.inf


def weighted(weights: Sequence[float], numbers: Floats) -> Floats:
    """The weighted sum of samples, (samples, seeds), by seed: (seeds,)."""
    total: Floats = np.tensordot(np.array(weights), numbers, axes=1)
    return total
