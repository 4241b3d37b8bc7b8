"""Checks of statements about matches, on one number per seed: an estimate, with p values for and against it.

A check holds, fails, or is undecided. The tests are Student's. Intervals are two-sided, at 95 %, and not corrected
for the number of checks; `coebl.evidence.judge` corrects the p values.

If a metric takes few values, as the distance to a pure equilibrium does late in a run, Student's interval is an
approximation: it does not account for rare runs that no seed has shown.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.errors import InputError
from coebl.core.frames import pl
from coebl.core.text import number_text
from coebl.engine.match import MatchName
from coebl.evidence.pairwise import SETTING, by_seat, pooled, seat_columns, seat_name
from coebl.evidence.statistics import LEVEL, Estimate, mean_interval, share_interval, t_quantile, tail_p_values
from coebl.naming import known_to, metric_words

if TYPE_CHECKING:
    from coebl.study import Results

Side = Literal["above", "below"]

_SUBLINEAR = 0.9  # the exponent below which growth is called sublinear: that of a square root is 0.5, of a line 1
TOLERANCE = 0.1  # the largest relative distance of a mean from its stated value


# Samples: one number per seed


class Setting(NamedTuple):
    """The rounds and the noise of the matches of a claim. Matches with other rounds or noise do not count."""

    rounds: int
    noise: str

    def end(self, match: MatchName, every_seat: bool = False) -> Sample:
        """Return a sample of the last round of a match, for its first player in the first seat or in every seat."""
        return Sample(self, match, self.rounds, self.rounds, every_seat)

    def at(self, match: MatchName, round: int) -> Sample:
        """Return a sample of one round of a match."""
        return Sample(self, match, round, round)

    def between(self, match: MatchName, first: int, last: int) -> Sample:
        """Return a sample of the rounds of a match from the first to the last, both included."""
        return Sample(self, match, first, last)


class Sample(NamedTuple):
    """A number per seed: the mean of a metric over the recorded rounds of a match from the first to the last.

    The number is that of the first player, see `coebl.evidence.pairwise`. With `every_seat`, it is the mean over the
    matches in which this player takes each seat in turn and the others keep their order.
    """

    setting: Setting
    match: MatchName
    first: int
    last: int
    every_seat: bool = False

    @property
    def matches(self) -> list[MatchName]:
        """The match, or one for each seat of its first player."""
        game, (player, *others) = self.match.game, self.match.players
        seats = range(len(others) + 1) if self.every_seat else [0]
        return [MatchName(game, *others[:seat], player, *others[seat:]) for seat in seats]

    def __str__(self) -> str:
        seats = "both" if len(self.match.players) == 2 else "all"
        words = f"{self.match}, {seats} seats" if self.every_seat else str(self.match)
        if self.first < self.last:
            return f"{words}, rounds {self.first} to {self.last}"
        return words if self.last == self.setting.rounds else f"{words}, round {self.last}"


class Missing(NamedTuple):
    """A match without the data that a check needs, with the reason, which is empty if the match was not played."""

    match: MatchName
    reason: str


class Reader:
    """A reader of samples from results, for all seeds or the given ones. It reads each match once for all metrics."""

    def __init__(self, results: Results, metrics: Iterable[str], seeds: Collection[int] | None = None) -> None:
        self._results = results
        self._columns = [name for metric in dict.fromkeys(metrics) for name in seat_columns(metric, results.metrics)]
        self._seeds = None if seeds is None else sorted(seeds)
        self._present, self._known = set(results.matches()), known_to(results)
        self._frame, self._side = cache(self._read_frame), cache(self._read_side)

    def read(self, checks: Sequence[Check], metric: str) -> list[Floats | list[Missing]]:
        """Return the samples of each check, (samples, seeds), at the seeds that they share; or the missing data."""
        parts: list[pl.DataFrame] = []
        missing: list[list[Missing]] = [[] for _ in checks]
        for number, check in enumerate(checks):
            for place, sample in enumerate(check.samples):
                for seat, match in enumerate(sample.matches):
                    if match not in self._present:
                        missing[number].append(Missing(match, ""))
                        continue
                    part = sample._replace(match=match, every_seat=False)
                    try:
                        parts.append(self._side(part, seat, metric).with_columns(check=number, sample=place))
                    except InputError as error:
                        missing[number].append(Missing(match, f"{part}: {str(error).rstrip('.')}"))
        numbers: dict[int, list[float]] = {}
        if parts:
            table = pl.concat(parts)
            shared = table.join(pooled(table, ["check"], ["sample", "seat"]), on=["check", "seed"], how="semi")
            means = pooled(shared, ["check", "sample"], ["seat"]).sort("sample", "seed")
            numbers = dict(means.group_by("check").agg("value").iter_rows())
        for number, check in enumerate(checks):
            if not missing[number] and len(numbers.get(number, ())) < 2 * len(check.samples):
                missing[number].append(Missing(check.samples[0].match, f"{check.samples[0]}: fewer than two seeds"))
        return [
            lack or np.reshape(numbers[number], (len(check.samples), -1))
            for number, (check, lack) in enumerate(zip(checks, missing, strict=True))
        ]

    def _read_side(self, sample: Sample, seat: int, metric: str) -> pl.DataFrame:
        """Return the metric of a seat by seed, in one match; raise an InputError with the reason if there is none."""
        setting, frame = sample.setting, self._frame(sample.match)
        fitting = frame.filter(rounds=setting.rounds, noise=setting.noise)
        if len(frame) and not len(fitting):
            length, noise = frame.select("rounds", "noise").row(0)
            expected = f"where the claim is about {setting.rounds} rounds and noise {setting.noise}"
            raise InputError(f"the match has {length} rounds and noise {noise}, {expected}")
        recorded = fitting.drop_nulls(metric) if metric in fitting.columns else fitting.clear()
        if not len(recorded):
            raise InputError(f"{metric} was not recorded")
        if len(recorded) != recorded["seed"].n_unique() * recorded["round"].n_unique():
            raise InputError("its runs were recorded at different rounds")
        if sample.last not in recorded["round"]:  # a match that ends inside the window does not count
            raise InputError(f"round {sample.last} is not recorded")
        columns = pl.col(seat_columns(metric, recorded.columns))
        window = recorded.filter(pl.col("round").is_between(sample.first, sample.last))
        if not window.select(pl.all_horizontal(columns.is_finite().all())).item():
            raise InputError(f"{metric} is not finite in every run")
        # Lists, as the last bit of a mean of groups depends on the number of threads.
        runs = window.sort("seed", "round").group_by("seed", maintain_order=True)
        means = runs.agg(pl.col(*SETTING, "players").first(), columns).with_columns(columns.list.mean())
        name = seat_name(seat, len(sample.match.players))
        side = by_seat(means, metric, metric_words(metric, self._known).signed).filter(seat=name)
        if not len(side):
            raise InputError(f"{metric} of the {name} seat was not recorded")
        return side.select("seat", "seed", "value")

    def _read_frame(self, match: MatchName) -> pl.DataFrame:
        frame = self._results.curves(self._columns, game=match.game, players=match.players)
        return frame if self._seeds is None else frame.filter(frame["seed"].is_in(self._seeds))


# Checks


@dataclass(frozen=True)
class Check(ABC):
    """A statement about samples that is tested against a threshold, with p values for and against it."""

    samples: tuple[Sample, ...]
    threshold: float

    quantity: ClassVar[str]  # the measured quantity, in words
    relation: ClassVar[str] = "at most"  # of the quantity to the threshold, as stated
    beside: ClassVar[bool] = False  # a minor number: it decides only if nothing else does
    published: ClassVar[bool] = False  # the threshold is a number that was published

    @property
    def words(self) -> tuple[str, str]:
        """The measured quantity, and the stated condition, as in "the mean", "above 5"."""
        return self.quantity, f"{self.relation} {number_text(self.threshold, 5)}"

    def subject(self, numbers: Floats | None = None) -> str:
        """Return the match or matches that the number is about, with data or without."""
        return str(self.samples[0])

    @abstractmethod
    def measure(self, numbers: Floats) -> Estimate:
        """Test the statement on numbers of shape (samples, seeds)."""

    def means(self, numbers: Floats) -> Floats:
        """Return the means of the numbers that are compared."""
        return numbers.mean(axis=1)


@dataclass(frozen=True)
class Bound(Check):
    """The mean of a sample, or of its difference to others by seed, is above or below a number."""

    side: Side

    quantity = "the mean"

    def subject(self, numbers: Floats | None = None) -> str:
        return " minus ".join(map(str, self.samples))

    @property
    def words(self) -> tuple[str, str]:
        quantity = self.quantity + " difference" * (len(self.samples) > 1)
        return quantity, f"{self.side} {number_text(self.threshold, 5)}"

    def measure(self, numbers: Floats) -> Estimate:
        difference = numbers[0] - numbers[1:].sum(axis=0)
        return self._tested(mean_interval(difference), *tail_p_values(difference, self.threshold))

    def _tested(self, estimate: Estimate, above: float, below: float) -> Estimate:
        """Return the estimate with the p values for and against the statement."""
        p_for, p_against = (above, below) if self.side == "above" else (below, above)
        return replace(estimate, p_for=p_for, p_against=p_against)


@dataclass(frozen=True)
class Share(Bound):
    """The share of runs with a 1, of a metric that is 0 or 1, is above or below a number: the exact binomial test.

    Its interval is Wilson's.
    """

    quantity = "the share"

    def measure(self, numbers: Floats) -> Estimate:
        from scipy.special import bdtr, bdtrc

        n, hits = numbers.shape[1], int(numbers[0].sum())
        at_least, at_most = float(bdtrc(hits - 1, n, self.threshold)), float(bdtr(hits, n, self.threshold))
        return self._tested(share_interval(hits, n), at_least, at_most)


@dataclass(frozen=True)
class TimesLeast(Check):
    """The mean of the first sample is at most `threshold` times the least mean of the others.

    The statement is true if it is true of every other sample. So the p value for it is the largest one of the
    comparisons; the p value against it is the smallest one, with Bonferroni's correction. The measured number is the
    ratio to the least mean, with Fieller's interval, as if the least had not been chosen.
    """

    quantity = "the ratio to the least mean"

    def measure(self, numbers: Floats) -> Estimate:
        first, *others = numbers
        above, below = zip(*(tail_p_values(first - self.threshold * rival, 0) for rival in others), strict=True)
        least = min(others, key=lambda rival: float(rival.mean()))
        ratios = _ratio(first.mean(), least.mean()), *fieller(first, least)
        return Estimate(*ratios, math.nan, len(first), p_for=max(below), p_against=_bonferroni(above))


@dataclass(frozen=True)
class TimesMedian(Check):
    """No run has a number of more than `threshold` times the median of the runs.

    The statement is only about these runs, so there is nothing to test: its p values are 0 and 1.
    """

    quantity = "the largest by the median"

    def measure(self, numbers: Floats) -> Estimate:
        largest, median = self.means(numbers)
        ratio = _ratio(largest, max(0.0, median))
        p_against = float(ratio <= self.threshold)
        return Estimate(ratio, math.nan, math.nan, math.nan, numbers.shape[1], p_for=1 - p_against, p_against=p_against)

    def means(self, numbers: Floats) -> Floats:
        return np.array([numbers[0].max(), np.median(numbers[0])])


@dataclass(frozen=True)
class Near(Check):
    """The largest, or the least, of the means is within the tolerance of a number.

    Two one-sided tests (equivalence) give the p value for it. The p value against it is twice the smaller one of the
    two sides. The largest mean is above a bound if any mean is, with Bonferroni's correction for the choice; it is
    below a bound if every mean is. The interval is that of the sample with the largest mean, as if it were not chosen.
    """

    extreme: Literal["largest", "least"]

    beside = published = True

    def subject(self, numbers: Floats | None = None) -> str:
        return f"{len(self.samples)} matches" if numbers is None else str(self.samples[self._chosen(numbers)])

    @property
    def words(self) -> tuple[str, str]:
        return f"the {self.extreme} mean", f"within {100 * TOLERANCE:g} % of {number_text(self.threshold, 5)}"

    def _chosen(self, numbers: Floats) -> int:
        means = numbers.mean(axis=1)
        return int(means.argmax() if self.extreme == "largest" else means.argmin())

    def measure(self, numbers: Floats) -> Estimate:
        sign = 1 if self.extreme == "largest" else -1  # the least is the largest of the negatives
        low, high = sorted(sign * self.threshold * (1 + change) for change in (-TOLERANCE, TOLERANCE))

        def largest(bound: float) -> tuple[float, float]:
            """Return the p values for the largest mean above the bound, and below it."""
            above, below = zip(*(tail_p_values(row, bound) for row in sign * numbers), strict=True)
            return _bonferroni(above), max(below)

        (above_low, below_low), (above_high, below_high) = largest(low), largest(high)
        p_for, p_against = max(above_low, below_high), min(1.0, 2 * min(above_high, below_low))
        return replace(mean_interval(numbers[self._chosen(numbers)]), p_for=p_for, p_against=p_against)


@dataclass(frozen=True)
class Largest(Check):
    """The largest of all means is among those of the first samples: the difference to the largest other is above 0.

    It holds if one of the first is above each of the others, and fails if one of the others is above each of the first,
    with Bonferroni's correction for the choice. The interval is that of the difference between the two largest means,
    as if they had not been chosen.
    """

    first: int

    quantity, relation, beside = "the mean difference", "above", True

    def subject(self, numbers: Floats | None = None) -> str:
        if numbers is None:
            return (
                f"the largest of the first {self.first} of {len(self.samples)} matches minus the largest of the others"
            )
        best, rival = self._chosen(numbers)
        return f"{self.samples[best]} minus {self.samples[rival]}"

    def _chosen(self, numbers: Floats) -> tuple[int, int]:
        means = numbers.mean(axis=1)
        return int(means[: self.first].argmax()), self.first + int(means[self.first :].argmax())

    def measure(self, numbers: Floats) -> Estimate:
        def lead(ours: Floats, others: Floats) -> float:
            return _bonferroni([max(tail_p_values(row - rival, 0)[0] for rival in others) for row in ours])

        best, rival = self._chosen(numbers)
        first, others = numbers[: self.first], numbers[self.first :]
        estimate = mean_interval(numbers[best] - numbers[rival])
        return replace(estimate, p_for=lead(first, others), p_against=lead(others, first))


@dataclass(frozen=True)
class Sublinear(Check):
    """Between two rounds, the mean grows like a power of time below the threshold; the later sample is first.

    The exponent is a = log(R(late) / R(early)) / log(late / early), of the mean R. It is below b exactly if the mean of
    R(late) - (late / early)^b R(early) is below 0, which is tested by seed. The interval is Fieller's: the exponents
    that the two-sided test does not reject.
    """

    threshold: float = _SUBLINEAR

    quantity, relation = "the growth exponent", "below"

    def measure(self, numbers: Floats) -> Estimate:
        late, early = numbers
        if not late.any():
            return Estimate(0.0, 0.0, 0.0, math.nan, len(late), p_for=0.0, p_against=1.0)
        stretch = self.samples[0].last / self.samples[1].last
        contrast = late - stretch**self.threshold * early
        ratios = _ratio(late.mean(), early.mean()), *fieller(late, early)
        exponent, low, high = (math.log(ratio, stretch) if ratio > 0 else -math.inf for ratio in ratios)
        p_against, p_for = tail_p_values(contrast, 0)
        return Estimate(exponent, low, high, math.nan, len(late), p_for=p_for, p_against=p_against)


def above(sample: Sample, threshold: float = 0, minus: Sample | None = None) -> Check:
    """Return the check that the mean, or mean difference, is above the threshold."""
    return Bound((sample, minus) if minus else (sample,), threshold, "above")


def below(sample: Sample, threshold: float) -> Check:
    """Return the check that the mean is below the threshold."""
    return Bound((sample,), threshold, "below")


def _bonferroni(p_values: Sequence[float]) -> float:
    """Return the p value for the statement that at least one of these alternatives is true."""
    return min(1.0, len(p_values) * min(p_values))


def fieller(late: Floats, early: Floats) -> tuple[float, float]:
    """Return Fieller's interval for the ratio of two positive means, paired by seed; its ends may be 0 and infinity.

    It contains the ratios r for which the t test does not reject that late - r early has mean 0. They solve
    a r² - 2 b r + c <= 0; if they are not an interval of positive numbers, the smallest one around them is returned.
    """
    means = np.array([late.mean(), early.mean()])
    factor = t_quantile((1 + LEVEL) / 2, len(late)) ** 2 / len(late)
    (c, b), (_, a) = np.outer(means, means) - factor * np.cov(late, early)
    root = b + math.sqrt(max(0.0, b * b - a * c))
    return _ratio(c, root) if c > 0 else 0.0, _ratio(root, a) if a > 0 else math.inf


def _ratio(numerator: float, denominator: float) -> float:
    """Return the ratio of two nonnegative numbers; infinity if the denominator is 0."""
    return float(numerator / denominator) if denominator else math.inf
