"""Checks on made-up numbers, against SciPy's tests."""

import math

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from coebl.engine.match import MatchName
from coebl.evidence.checks import Bound, Largest, Near, Setting, Share, Sublinear, TimesLeast, fieller

SETTING = Setting(3000, "gaussian")
ALONE = MatchName("rps", "exp3", "exp3")


class TestSublinear:
    check = Sublinear((SETTING.end(ALONE), SETTING.at(ALONE, 1000)))

    @pytest.mark.parametrize("exponent", [0.2, 0.5, 0.85, 1.0])
    def test_finds_the_exponent(self, exponent):
        scale = np.random.default_rng(2).uniform(0.5, 2, 30)  # runs differ, their growth does not
        noise = np.random.default_rng(3).normal(1, 0.01, (2, 30))
        estimate = self.check.measure(scale * noise * np.array([[3000.0], [1000.0]]) ** exponent)
        assert estimate.mean == pytest.approx(exponent, abs=0.01)
        assert estimate.low < exponent < estimate.high
        assert estimate.high - estimate.low < 0.02
        assert (estimate.p_for < 0.05, estimate.p_against < 0.05) == (exponent < 0.9, exponent > 0.9)

    def test_zeros_are_sublinear_and_growth_from_zero_is_not(self):
        estimate = self.check.measure(np.zeros((2, 5)))
        assert (estimate.mean, estimate.p_for, estimate.p_against) == (0, 0, 1)
        estimate = self.check.measure(np.array([[1.0, 2.0, 1.5], [0.0, 0.0, 0.0]]))
        assert (estimate.mean, estimate.high) == (math.inf, math.inf)
        assert estimate.p_against < 0.05

    @pytest.mark.parametrize("seed", range(8))
    def test_fieller_against_the_test_that_it_inverts(self, seed):
        random = np.random.default_rng(seed)
        early = random.gamma(3, 1, 12)
        late = early * random.uniform(1, 3) + random.gamma(2, 1, 12)

        def rejection(ratio):
            return scipy.stats.ttest_1samp(late - ratio * early, 0).pvalue - 0.05

        middle = late.mean() / early.mean()
        expected = scipy.optimize.brentq(rejection, 0, middle), scipy.optimize.brentq(rejection, middle, 100)
        assert fieller(late, early) == pytest.approx(expected, rel=1e-6)

    def test_fieller_without_ends(self):
        early = np.array([0.0, 0.0, 0.0, 9.0, 0.0])  # not distinguishable from 0, so that no ratio is too large
        late = np.array([4.0, 5.0, 6.0, 5.0, 4.0])
        low, high = fieller(late, early)
        assert high == math.inf
        assert scipy.stats.ttest_1samp(late - 0.999 * low * early, 0).pvalue < 0.05
        for ratio in (1.001 * low, 10 * low, 1e6):
            assert scipy.stats.ttest_1samp(late - ratio * early, 0).pvalue > 0.05
        assert fieller(early, early + np.array([0, 5.0, 0, 0, 0]))[0] == 0


class TestExtremes:
    samples = tuple(SETTING.end(MatchName("diagonal", row, "coebl")) for row in ("exp3", "exp3-ix", "ucb"))
    noise = np.random.default_rng(4).standard_normal((3, 20))

    def near(self, means, extreme, noise=1.0):
        return Near(self.samples, 100, extreme).measure(np.array(means)[:, None] + noise * self.noise)

    @pytest.mark.parametrize(
        ("means", "extreme", "holds", "fails"),
        [
            ((20, 105, 30), "largest", True, False),
            ((20, 80, 30), "largest", False, True),
            ((20, 105, 130), "largest", False, True),
            ((95, 800, 300), "least", True, False),
            ((120, 800, 300), "least", False, True),
            ((95, 80, 300), "least", False, True),
            ((20, 110, 30), "largest", False, False),  # on the margin
            ((90, 800, 300), "least", False, False),
        ],
    )
    def test_near(self, means, extreme, holds, fails):
        estimate = self.near(means, extreme)
        assert (estimate.p_for < 0.01, estimate.p_against < 0.01) == (holds, fails)
        assert estimate.mean == pytest.approx(max(means) if extreme == "largest" else min(means), abs=1)

    def test_near_pays_for_the_choice(self):
        low, high = 90, 110
        rows = np.array([20, 105, 30])[:, None] + 20 * self.noise
        estimate = self.near((20, 105, 30), "largest", noise=20)
        above = min(scipy.stats.ttest_1samp(row, low, alternative="greater").pvalue for row in rows)
        below = max(scipy.stats.ttest_1samp(row, high, alternative="less").pvalue for row in rows)
        assert estimate.p_for == pytest.approx(max(3 * above, below))
        beyond = min(scipy.stats.ttest_1samp(row, high, alternative="greater").pvalue for row in rows)
        assert estimate.p_against == pytest.approx(min(1, 6 * beyond))

    def largest(self, means):
        return Largest(self.samples, 0, first=2).measure(np.array(means)[:, None] + self.noise)

    def test_largest(self):
        ours, theirs, tie = self.largest((5, 20, 10)), self.largest((5, 20, 30)), self.largest((5, 20, 20))
        assert (ours.p_for < 0.001, ours.p_against) == (True, 1)
        assert (theirs.p_for, theirs.p_against < 0.001) == (1, True)
        assert min(tie.p_for, tie.p_against) > 0.05
        assert ours.mean == pytest.approx(10, abs=1)
        check = Largest(self.samples, 0, first=2)
        assert check.subject(np.array([[5.0], [20.0], [10.0]])) == f"{self.samples[1]} minus {self.samples[2]}"


SAMPLE = SETTING.end(ALONE)


def test_a_difference_is_tested_by_seed():
    numbers = np.array([[3.0, 5.0, 10.0], [1.0, 1.0, 2.0]])
    estimate = Bound((SAMPLE, SAMPLE), 1.0, "above").measure(numbers)
    expected = scipy.stats.ttest_1samp([2.0, 4.0, 8.0], 1.0, alternative="greater").pvalue
    assert estimate.mean == pytest.approx(14 / 3)
    assert (estimate.p_for, estimate.p_against) == pytest.approx((expected, 1 - expected))


@pytest.mark.parametrize("hits", [0, 3, 58, 60])
@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("side", ["above", "below"])
def test_a_share_against_scipy(hits, threshold, side):
    numbers = np.repeat([1.0, 0.0], [hits, 60 - hits])[None]
    estimate = Share((SAMPLE,), threshold, side).measure(numbers)
    sides = ("greater", "less") if side == "above" else ("less", "greater")
    expected = [scipy.stats.binomtest(hits, 60, threshold, alternative=alternative).pvalue for alternative in sides]
    assert (estimate.p_for, estimate.p_against) == pytest.approx(expected, rel=1e-9, abs=0)  # also below 1e-16
    ends = scipy.stats.binomtest(hits, 60).proportion_ci(method="wilson")
    assert (estimate.mean, estimate.low, estimate.high) == pytest.approx((hits / 60, ends.low, ends.high))


class TestTimesLeast:
    check = TimesLeast((SAMPLE,) * 3, 1.5)
    ours = np.array([12.0, 14.0, 16.0, 15.0])
    others = (np.array([10.0, 12.0, 11.0, 13.0]), np.array([8.0, 9.0, 12.0, 10.0]))

    def numbers(self, ours):
        return np.array([ours, *self.others])

    def p(self, ours, other, alternative):
        return scipy.stats.ttest_1samp(ours - 1.5 * other, 0, alternative=alternative).pvalue

    def test_against_scipy(self):
        estimate = self.check.measure(self.numbers(self.ours))
        assert estimate.mean == pytest.approx(57 / 39)  # the second has the least mean
        assert (estimate.low, estimate.high) == pytest.approx(fieller(self.ours, self.others[1]))
        below, above = ([self.p(self.ours, other, side) for other in self.others] for side in ("less", "greater"))
        assert estimate.p_for == pytest.approx(max(below))  # it holds for the least if it holds for all
        assert estimate.p_against == pytest.approx(min(1, 2 * min(above)))  # Bonferroni

    def test_directions(self):
        small, large = self.check.measure(self.numbers(self.ours / 5)), self.check.measure(self.numbers(self.ours * 5))
        assert small.p_for < 0.01 < 0.9 < small.p_against
        assert large.p_against < 0.01 < 0.9 < large.p_for
