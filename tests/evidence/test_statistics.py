"""Intervals and tests against tables, SciPy and textbook examples. Their error rates: statistical/test_coverage.py."""

import math
from dataclasses import replace

import numpy as np
import polars
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from coebl.core.errors import InputError
from coebl.evidence.statistics import (
    Band,
    Estimate,
    bands,
    equivalent,
    holm,
    mean_interval,
    one_sided_p,
    paired_difference,
    zero_tests,
)

# Student's 1908 paper: hours of sleep gained by ten patients with two drugs.
FIRST = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SECOND = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def generator(seed=1):
    return np.random.default_rng(seed)


class TestMeanInterval:
    def test_by_hand(self):
        # mean 5/2, sd sqrt(5/3), t table at 3 degrees of freedom, two-sided 95 %: 3.182
        interval = mean_interval([1.0, 2.0, 3.0, 4.0])
        half = 3.182446 * math.sqrt(5 / 3) / 2
        assert interval.mean == 2.5
        assert interval.sd == pytest.approx(math.sqrt(5 / 3))
        assert (interval.low, interval.high) == pytest.approx((2.5 - half, 2.5 + half), abs=1e-5)
        assert interval.n == 4
        assert 4.5 in interval
        assert 4.6 not in interval

    @pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
    def test_against_scipy(self, level):
        expected = scipy.stats.ttest_1samp(FIRST, 0).confidence_interval(level)
        interval = mean_interval(FIRST, level)
        assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), rel=1e-12)

    @pytest.mark.parametrize("seed", [1, 2])
    def test_bootstrap_against_scipy(self, seed):
        expected = scipy.stats.bootstrap((FIRST,), np.mean, rng=generator(seed), batch=10_000).confidence_interval
        interval = mean_interval(FIRST, method="bootstrap", random=generator(seed))
        assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), rel=1e-9)

    def test_bootstrap_leans_to_the_long_tail(self):
        skewed = generator().exponential(size=40)
        interval = mean_interval(skewed, method="bootstrap", random=generator())
        assert interval.high - interval.mean > 1.1 * (interval.mean - interval.low)

    @pytest.mark.parametrize("method", ["student", "bootstrap"])
    def test_equal_samples_have_no_width(self, method):
        # 0.1 ten times: a sum would give 0.09999999999999999
        assert mean_interval([0.1] * 10, method=method, random=generator()) == Estimate(0.1, 0.1, 0.1, 0.0, 10)

    @pytest.mark.parametrize("method", ["student", "bootstrap"])
    def test_one_sample_has_no_ends(self, method):
        interval = mean_interval([3.0], method=method, random=generator())
        assert interval.mean == 3.0
        assert all(math.isnan(number) for number in (interval.sd, interval.low, interval.high))
        assert 3.0 not in interval

    @given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30), st.floats(0.01, 0.99))
    def test_the_interval_holds_the_mean(self, samples, level):
        interval = mean_interval(samples, level)
        assert interval.low <= interval.mean <= interval.high

    @pytest.mark.parametrize("method", ["student", "bootstrap"])
    @pytest.mark.parametrize("samples", [[0.0, 1.0], [0.0] * 20 + [1.0], [1e9, 1e9 + 1, 1e9 + 2]])
    def test_hard_samples_give_finite_ends_without_warnings(self, samples, method):
        interval = mean_interval(samples, method=method, random=generator())
        assert -math.inf < interval.low < interval.mean < interval.high < math.inf


class TestBand:
    @pytest.mark.parametrize("level", [0.5, 0.95])
    def test_each_row_is_the_interval_of_its_numbers(self, level):
        values = np.array([FIRST, SECOND, [0.1] * 10, [1e9, *[1e9 + 1] * 9]])
        band = Band.of(values, level)
        intervals = [mean_interval(row, level) for row in values]
        for name in ("mean", "low", "high", "sd"):
            assert getattr(band, name).tolist() == [getattr(interval, name) for interval in intervals]
        assert band.half == pytest.approx([interval.high - interval.mean for interval in intervals], rel=1e-6)
        assert band.seeds == 10

    def test_what_is_not_finite_has_no_mean_and_no_ends(self):
        band = Band.of(np.array([[1.0, math.inf], [math.nan, 1.0], [1.0, 3.0]]))
        assert np.isnan([band.mean[:2], band.low[:2], band.high[:2]]).all()
        assert band.mean[2] == 2


class TestPairedDifference:
    def test_students_sleep_data(self):
        # Student (1908) and every textbook since: t = -4.0621, p = 0.002833, interval -2.4599 .. -0.7001
        result = paired_difference(FIRST, SECOND, seeds=range(10))
        assert result.p == pytest.approx(0.002833, abs=5e-7)
        assert result.mean == pytest.approx(-1.58)
        assert (result.low, result.high) == pytest.approx((-2.4598858, -0.7001142), abs=1e-7)

    def test_seeds_pair_the_samples_in_any_order(self):
        a = dict(enumerate(FIRST))
        b = dict(reversed(list(enumerate(SECOND))))
        assert paired_difference(a, b) == paired_difference(FIRST, SECOND, seeds=range(10))
        # the bootstrap sees the order of its samples, so it must come from the seeds
        forward, backward = (
            paired_difference(dict(pairs), b, method="bootstrap", random=generator())
            for pairs in (a.items(), reversed(a.items()))
        )
        assert forward == backward

    def test_the_bootstrap_gives_the_interval(self):
        result = paired_difference(FIRST, SECOND, seeds=range(10), method="bootstrap", random=generator(), level=0.9)
        expected = mean_interval(np.subtract(FIRST, SECOND), 0.9, "bootstrap", generator())
        assert replace(result, p=expected.p) == expected
        assert result.p == paired_difference(FIRST, SECOND, seeds=range(10)).p

    def test_equal_differences(self):
        assert paired_difference({1: 2.0, 2: 3.0}, {1: 2.0, 2: 3.0}).p == 1
        assert paired_difference({1: 2.0, 2: 3.0}, {1: 1.0, 2: 2.0}).p == 0
        assert paired_difference({1: 1.0, 2: 2.0}, {1: 2.0, 2: 3.0}).p == 0
        assert math.isnan(paired_difference({1: 2.0}, {1: 1.0}).p)

    @pytest.mark.parametrize(
        ("a", "b", "seeds", "message"),
        [
            ([1.0, 2.0], [1.0, 2.0], None, "seeds is missing"),
            ([1.0, 2.0], [1.0], [1, 2], "a has 2 numbers, b has 1, seeds has 2"),
            ([1.0, 2.0], [1.0, 2.0], [1], "seeds has 1"),
            ([1.0, 2.0], [1.0, 2.0], [0, 0], "seeds repeats 0"),
            ({1: 1.0}, {1: 1.0}, [1], "leave it out"),
            ({1: 1.0}, [1.0], None, "two mappings or two arrays"),
            ({1: 1.0, 2: math.nan}, {1: 1.0, 2: 1.0}, None, r"a\[1\] is nan"),
            ({}, {}, None, "a is empty"),
            ({1: 1.0, 3: 1.0}, {1: 1.0, 4: 1.0, 5: 0.0}, None, r"differ: a alone has 3; b alone has 4, 5\. Accepted"),
            (dict.fromkeys(range(21), 0.0), {20: 1.0}, None, r"a alone has 0, 1, 2, 3, 4 and 15 more\."),
        ],
    )
    def test_rejections(self, a, b, seeds, message):
        with pytest.raises(InputError, match=message):
            paired_difference(a, b, seeds=seeds)


class TestOneSided:
    @pytest.mark.parametrize("alternative", ["greater", "less"])
    @pytest.mark.parametrize("threshold", [-2.0, 0.75, 3.0])
    def test_against_scipy(self, threshold, alternative):
        expected = scipy.stats.ttest_1samp(FIRST, threshold, alternative=alternative).pvalue
        assert one_sided_p(FIRST, threshold, alternative) == pytest.approx(expected, rel=1e-10)

    def test_equal_samples(self):
        assert [one_sided_p([2.0, 2.0], c) for c in (1, 2, 3)] == [0, 1, 1]
        assert [one_sided_p([2.0, 2.0], c, "less") for c in (1, 2, 3)] == [1, 1, 0]
        assert math.isnan(one_sided_p([2.0], 0))


class TestHolm:
    def test_textbook(self):
        # Holm's procedure at 0.05 on 0.01, 0.04, 0.03, 0.005 rejects the first and the last: R's p.adjust documents
        # 0.03, 0.06, 0.06, 0.02. By hand: 4 * 0.005, 3 * 0.01, 2 * 0.03, max(0.06, 1 * 0.04).
        assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])

    def test_names_and_their_order_are_kept(self):
        adjusted = holm({"b": 0.04, "a": 0.01, "c": 0.9})
        assert list(adjusted) == ["b", "a", "c"]
        assert adjusted == pytest.approx({"b": 0.08, "a": 0.03, "c": 0.9})

    def test_ends(self):
        assert holm([]) == []
        assert holm({}) == {}
        assert holm([0.2]) == [0.2]
        assert holm([0.0, 0.7, 0.8]) == [0.0, 1.0, 1.0]

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
    def test_rejects_what_the_stepwise_procedure_rejects(self, p_values):
        adjusted = holm(p_values)
        alpha, rejected = 0.05, set()
        for step, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
            if p_values[index] * (len(p_values) - step) > alpha:
                break
            rejected.add(index)
        assert {index for index, p in enumerate(adjusted) if p <= alpha} == rejected
        assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))

    @pytest.mark.parametrize("bad", [math.nan, -0.1, 1.1])
    def test_rejections(self, bad):
        with pytest.raises(InputError, match="p value number 2"):
            holm([0.5, bad])
        with pytest.raises(InputError, match="p value number 2"):
            holm({"a": 0.5, "b": bad})


class TestEquivalent:
    def test_by_hand(self):
        # mean 0.1, sd 1, n = 16, so the standard error is 1/4: t = (0.1 + 1) / 0.25 = 4.4 and (0.1 - 1) / 0.25 = -3.6
        samples = np.array([-1.0, 1.0] * 8)
        samples = 0.1 + samples / samples.std(ddof=1)
        result = equivalent(samples, margin=1)
        assert result.p == pytest.approx(scipy.stats.t.cdf(-3.6, 15))
        assert result
        # the table's one-sided 95 % quantile at 15 degrees of freedom: 1.7531
        assert result.interval.high == pytest.approx(0.1 + 1.7531 / 4, abs=1e-4)

    @given(st.lists(st.floats(-3, 3), min_size=2, max_size=12), st.floats(0.1, 3), st.sampled_from([0.9, 0.95]))
    def test_yes_exactly_if_the_interval_lies_within_the_margins(self, samples, margin, level):
        result = equivalent(samples, margin, level)
        if min(abs(result.interval.low + margin), abs(result.interval.high - margin)) > 1e-9:
            assert result.equivalent == (-margin < result.interval.low and result.interval.high < margin)

    def test_equal_samples_and_one_sample(self):
        assert equivalent([0.0, 0.0, 0.0], margin=0.1)
        assert not equivalent([0.1, 0.1, 0.1], margin=0.1)
        assert not equivalent([0.0], margin=0.1)

    @pytest.mark.parametrize("margin", [0, -1, math.nan, math.inf, "wide"])
    def test_bad_arguments_are_rejected(self, margin):
        with pytest.raises(InputError, match="margin is"):
            equivalent([0.0, 1.0], margin)
        with pytest.raises(InputError, match=r"level is 0\.5; accepted: a number between 0\.5 and 1"):
            equivalent([0.0, 1.0], 1, level=0.5)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([], "samples is empty"),
        ([1.0, math.nan], r"samples\[1\] is nan"),
        ([math.inf, 1.0], r"samples\[0\] is inf"),
        ([[1.0, 2.0]], r"shape \(1, 2\)"),
        (["one"], "a list of numbers"),
        (3.0, r"shape \(\)"),
    ],
)
def test_bad_samples_are_rejected_everywhere(samples, message):
    for function in (mean_interval, lambda s: one_sided_p(s, 0), lambda s: equivalent(s, 1)):
        with pytest.raises(InputError, match=message) as error:
            function(samples)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, math.nan, "high"])
def test_bad_levels_are_rejected(level):
    with pytest.raises(InputError, match="level is"):
        mean_interval([1.0, 2.0], level)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (mean_interval, {"method": "jackknife"}, "method is 'jackknife'"),
        (mean_interval, {"method": "bootstrap"}, "random is None"),
        (one_sided_p, {"threshold": 0, "alternative": "two-sided"}, "alternative is 'two-sided'"),
        (one_sided_p, {"threshold": math.nan}, "threshold is nan"),
    ],
)
def test_other_bad_arguments_are_rejected(function, arguments, message):
    with pytest.raises(InputError, match=message):
        function([1.0, 2.0], **arguments)


@pytest.mark.parametrize("count", [0, 1, 4, 9])
def test_lists_of_several_lengths_have_the_bands_of_each(count):
    random = np.random.default_rng(count)
    lists = [random.normal(size=random.integers(1, 5)).tolist() for _ in range(count)]
    table = bands(polars.Series([*lists, []], dtype=polars.List(polars.Float64)))
    for samples, row in zip(lists, table.rows(), strict=False):
        band = Band.of(np.array([samples]))
        np.testing.assert_array_equal(row, [*np.ravel([band.mean, band.low, band.high, band.sd]), len(samples)])
    np.testing.assert_array_equal(table.row(-1), [math.nan] * 4 + [0])


def test_many_rows_are_tested_as_each_of_them():
    values = np.array([FIRST, SECOND, [0.0] * 10, [2.0] * 10, [-1e-9] * 9 + [0.0]])
    for row, estimate in zip(values, zero_tests(polars.Series(values.tolist())), strict=True):
        expected = paired_difference(row, 0 * row, seeds=range(10))
        assert replace(estimate, p=0) == replace(expected, p=0)
        assert estimate.p == pytest.approx(expected.p, rel=1e-12)
    [single] = zero_tests(polars.Series([[3.0]]))
    assert math.isnan(single.p)
