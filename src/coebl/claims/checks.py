"""Checks of statements about matches, from one number per seed: what is measured, and two p values.

One p value is for the statement and one for its opposite, so that a check is shown, refuted, or neither. The tests are
Student's. Intervals are two-sided, at 95 %, and not corrected for the number of checks: the p values are.

Where a metric takes few values, as the distance to a pure equilibrium does late in a run, Student's interval is an
approximation: it cannot know of rare runs that no seed has met.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from coebl.core.errors import InputError
from coebl.papers.ijcai2025.experiments import NOISE, ROUNDS, Pairing
from coebl.statistics import Floats, holm, mean_interval, one_sided_p

if TYPE_CHECKING:
    from coebl.study.results import Runs, Source

Side = Literal["above", "below"]
Outcome = Literal["holds", "fails", "not significant", "not testable"]

LEVEL = 0.95
SUBLINEAR = 0.9  # the exponent below which growth is called sublinear: that of a root is 0.5, of a line 1
TOLERANCE = 0.1  # how far, in proportion, a mean may be from a number that it is said to be


def shorten_number(number: float, digits: int = 4) -> str:
    """A number for reading, or a dash for NaN.

    >>> shorten_number(-24.6123), shorten_number(12345.6), shorten_number(math.nan)
    ('-24.61', '12346', '-')
    """
    if math.isnan(number):
        return "-"
    return f"{number:.0f}" if 10**digits <= abs(number) < math.inf else f"{number:.{digits}g}"


class Sample(NamedTuple):
    """A number per seed: the mean of a metric over the recorded rounds (every tenth) from the first to the last."""

    pairing: Pairing
    first: int = ROUNDS
    last: int = ROUNDS

    def __str__(self) -> str:
        match = f"{self.pairing.row} v {self.pairing.column} on {self.pairing.game}"
        if self.first < self.last:
            return f"{match}, rounds {self.first} to {self.last}"
        return match if self.last == ROUNDS else f"{match}, round {self.last}"


class Gap(NamedTuple):
    """A match without the data that a check needs, and why, unless it is not there at all."""

    pairing: Pairing
    reason: str


class Reader:
    """Reads samples from a source, each match and metric once."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.present = {Pairing(*match) for match in source.matches()}
        self._runs: dict[tuple[Pairing, str], Runs | str] = {}

    def read(self, samples: Sequence[Sample], metric: str) -> Floats | list[Gap]:
        """The samples, of shape (samples, seeds), at the seeds that they share, sorted; or what is missing."""
        gaps: list[Gap] = []
        found: list[dict[int, float]] = []
        for sample in samples:
            numbers = self._numbers(sample, metric)
            if isinstance(numbers, str):
                gaps.append(Gap(sample.pairing, numbers))
            else:
                found.append(numbers)
        if gaps:
            return gaps
        shared = sorted(set.intersection(*(set(numbers) for numbers in found)))
        if len(shared) < 2:
            return [Gap(samples[0].pairing, f"{samples[0]}: fewer than two seeds")]
        return np.array([[numbers[seed] for seed in shared] for numbers in found])

    def _numbers(self, sample: Sample, metric: str) -> dict[int, float] | str:
        """Seed to number, or why there are none."""
        runs = self._read(sample.pairing, metric)
        if isinstance(runs, str):
            return runs
        if runs.horizon not in (None, ROUNDS) or runs.noise not in (None, NOISE):
            return f"{sample}: this is not the paper's match but one of {runs.horizon} rounds with noise {runs.noise}"
        if sample.last not in runs.rounds:  # a shorter match has no such window, not a part of it
            return f"{sample}: round {sample.last} is not recorded"
        window = runs.values[(sample.first <= runs.rounds) & (runs.rounds <= sample.last)]
        if not np.isfinite(window).all():
            return f"{sample}: {metric} is not finite in every run"
        return dict(zip(runs.seeds.tolist(), window.mean(axis=0).tolist(), strict=True))

    def _read(self, pairing: Pairing, metric: str) -> Runs | str:
        key = pairing, metric
        if key not in self._runs:
            try:
                self._runs[key] = self.source.runs(*pairing, metric)
            except InputError as error:  # of a match that is there, the error says what is wrong with it
                self._runs[key] = str(error).rstrip(".") if pairing in self.present else ""
        return self._runs[key]


@dataclass(frozen=True)
class Measurement:
    """What a check finds: a number with its interval, and the p values for and against the statement."""

    subject: str
    measured: float
    low: float
    high: float
    n: int  # seeds
    shown: float
    refuted: float


@dataclass(frozen=True)
class Check(ABC):
    """A statement about samples."""

    samples: tuple[Sample, ...]
    threshold: float

    beside: ClassVar[bool] = False  # a number mentioned beside the statement: it does not decide if anything else does

    @property
    @abstractmethod
    def words(self) -> tuple[str, str]:
        """What the number is, and what it is said to be."""

    @property
    def subject(self) -> str:
        """What the number is of."""
        return " minus ".join(map(str, self.samples))

    @abstractmethod
    def measure(self, numbers: Floats) -> Measurement:
        """Test the statement on numbers of shape (samples, seeds)."""

    def _of(self, numbers: Floats, shown: float, refuted: float, subject: str = "") -> Measurement:
        """A measurement of the mean of these numbers."""
        interval = mean_interval(numbers, LEVEL)
        return Measurement(
            subject or self.subject, interval.mean, interval.low, interval.high, interval.n, shown, refuted
        )


@dataclass(frozen=True)
class Bound(Check):
    """The mean, or the mean difference by seed of two samples, is above or below a number."""

    side: Side

    @property
    def words(self) -> tuple[str, str]:
        return "the mean" + " difference" * (len(self.samples) > 1), f"{self.side} {shorten_number(self.threshold, 5)}"

    def measure(self, numbers: Floats) -> Measurement:
        contrast = numbers[0] - numbers[1:].sum(axis=0)
        return self._of(
            contrast, p_value(contrast, self.threshold, self.side), p_value(contrast, self.threshold, other(self.side))
        )


@dataclass(frozen=True)
class Near(Check):
    """The largest, or the least, of the means is within the tolerance of a number.

    That it is, is shown by two one-sided tests (equivalence). It is refuted on either side, each at half the level. For
    the largest to be above a bound some mean must be, which Bonferroni's correction allows to choose; for it to be
    below, every mean must be. The interval is that of the sample with the largest mean, as if it had not been chosen.
    """

    extreme: Literal["largest", "least"]

    beside: ClassVar[bool] = True

    @property
    def subject(self) -> str:
        return f"{len(self.samples)} matches"

    @property
    def words(self) -> tuple[str, str]:
        return f"the {self.extreme} mean", f"within {100 * TOLERANCE:g} % of {shorten_number(self.threshold, 5)}"

    def measure(self, numbers: Floats) -> Measurement:
        sign = 1 if self.extreme == "largest" else -1  # the least is the largest of the negatives
        rows = sign * numbers
        low, high = sorted(sign * self.threshold * (1 + change) for change in (-TOLERANCE, TOLERANCE))

        def largest(side: Side, bound: float) -> float:
            p_values = [p_value(row, bound, side) for row in rows]
            return some(p_values) if side == "above" else every(p_values)

        shown = max(largest("above", low), largest("below", high))
        refuted = min(1.0, 2 * min(largest("above", high), largest("below", low)))
        chosen = int(rows.mean(axis=1).argmax())
        return self._of(numbers[chosen], shown, refuted, str(self.samples[chosen]))


@dataclass(frozen=True)
class Largest(Check):
    """The largest of all means is among those of the first samples: the difference to the largest other is above 0.

    Shown if one of the first is above each of the others, refuted if one of the others is above each of the first;
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
        return self._of(ours[best] - others[rival], self._lead(ours, others), self._lead(others, ours), subject)

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
            return Measurement(self.subject, 0.0, 0.0, 0.0, len(late), shown=0.0, refuted=1.0)
        stretch = self.samples[0].last / self.samples[1].last
        contrast = late - stretch**self.threshold * early
        ratios = _ratio(late.mean(), early.mean()), *fieller(late, early)
        exponent, low, high = (math.log(ratio, stretch) if ratio > 0 else -math.inf for ratio in ratios)
        shown, refuted = p_value(contrast, 0, "below"), p_value(contrast, 0, "above")
        return Measurement(self.subject, exponent, low, high, len(late), shown, refuted)


def above(sample: Sample, threshold: float = 0, minus: Sample | None = None) -> Check:
    """The mean, or mean difference, is above the threshold."""
    return Bound((sample, minus) if minus else (sample,), threshold, "above")


def below(sample: Sample, threshold: float) -> Check:
    """The mean is below the threshold."""
    return Bound((sample,), threshold, "below")


def sublinear(pairing: Pairing) -> Check:
    """The mean grows sublinearly over the last two thirds of the rounds."""
    return Sublinear((Sample(pairing), Sample(pairing, ROUNDS // 3, ROUNDS // 3)), SUBLINEAR)


def p_value(numbers: Floats, threshold: float, side: Side) -> float:
    """The p value of the t test that the mean is on this side of the threshold."""
    return one_sided_p(numbers, threshold, "greater" if side == "above" else "less")


def other(side: Side) -> Side:
    """The opposite side."""
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
    from scipy.special import stdtrit

    means = np.array([late.mean(), early.mean()])
    factor = float(stdtrit(len(late) - 1, (1 + LEVEL) / 2)) ** 2 / len(late)
    (c, b), (_, a) = np.outer(means, means) - factor * np.cov(late, early)
    root = b + math.sqrt(max(0.0, b * b - a * c))
    return _ratio(c, root) if c > 0 else 0.0, _ratio(root, a) if a > 0 else math.inf


def _ratio(numerator: float, denominator: float) -> float:
    return float(numerator / denominator) if denominator else math.inf


@dataclass(frozen=True)
class CheckResult(Measurement):
    """A check on data, with its p values also as Holm corrects them for the family that it was tested in."""

    quantity: str
    wanted: str
    threshold: float
    beside: bool
    shown_adjusted: float
    refuted_adjusted: float
    missing: list[Gap]

    @property
    def verdict(self) -> Outcome:
        """What the corrected p values say."""
        if self.missing:
            return "not testable"
        if self.refuted_adjusted <= 1 - LEVEL:
            return "fails"
        return "holds" if self.shown_adjusted <= 1 - LEVEL else "not significant"

    def __str__(self) -> str:
        said = {"holds": "is", "fails": "is not", "not significant": "is not shown to be", "not testable": "has to be"}
        return f"{self.subject}: {self.quantity} {shorten_number(self.measured)} {said[self.verdict]} {self.wanted}"


def judge_family(checks: Sequence[Check], reader: Reader, metric: str) -> list[CheckResult]:
    """Test the checks on a metric as one family, with Holm's correction for each of the two directions.

    A check without data counts in the family with p = 1, so that what is decided without it stays so with it.
    """
    found: list[tuple[Measurement, list[Gap]]] = []
    for check in checks:
        numbers = reader.read(check.samples, metric)
        if isinstance(numbers, list):
            found.append((Measurement(check.subject, math.nan, math.nan, math.nan, 0, 1.0, 1.0), numbers))
        else:
            found.append((check.measure(numbers), []))
    shown = holm([measurement.shown for measurement, _ in found])
    refuted = holm([measurement.refuted for measurement, _ in found])
    return [
        CheckResult(**vars(measurement), **_named(check), shown_adjusted=for_it, refuted_adjusted=against, missing=gaps)
        for check, (measurement, gaps), for_it, against in zip(checks, found, shown, refuted, strict=True)
    ]


def _named(check: Check) -> dict[str, Any]:
    quantity, wanted = check.words
    return {"quantity": quantity, "wanted": wanted, "threshold": check.threshold, "beside": check.beside}
