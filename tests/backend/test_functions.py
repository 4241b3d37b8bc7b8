"""Elementary functions: accurate, also for special numbers, equal in every batch, and usable with other libraries."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from coebl.backend import cos_of_turns, exp, expm1, log, log1p, rel_entr
from coebl.testing import StrictArray

RANDOM = np.random.default_rng(1)
SMALL = np.concatenate([10.0 ** RANDOM.uniform(-18, 0, 2000), -(10.0 ** RANDOM.uniform(-18, -0.01, 2000))])
NUMBERS = {
    exp: np.concatenate([RANDOM.uniform(-700, 700, 2000), RANDOM.normal(size=2000), SMALL]),
    expm1: np.concatenate([RANDOM.uniform(-50, 700, 2000), RANDOM.normal(size=2000), SMALL]),
    log: np.concatenate([10.0 ** RANDOM.uniform(-307, 307, 2000), RANDOM.uniform(0.5, 2, 2000), 1 + SMALL / 1e3]),
    log1p: np.concatenate([10.0 ** RANDOM.uniform(0, 300, 2000), RANDOM.uniform(-1, 1, 2000), SMALL]),
}
EXACT = {exp: Decimal.exp, expm1: lambda x: x.exp() - 1, log: Decimal.ln, log1p: lambda x: (1 + x).ln()}
NUMPYS = {exp: np.exp, expm1: np.expm1, log: np.log, log1p: np.log1p}


@pytest.mark.parametrize("function", NUMBERS, ids=lambda function: function.__name__)
def test_the_error_is_below_one_unit_in_the_last_place(function):
    x = NUMBERS[function]
    values = function(x)
    with localcontext() as context:
        context.prec = 60
        exact = [EXACT[function](Decimal(number)) for number in x.tolist()]
        errors = [
            abs((Decimal(y) - z) / Decimal(np.spacing(abs(y)))) for y, z in zip(values.tolist(), exact, strict=True)
        ]
    assert max(errors) < 1


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="there is no wider float")
def test_the_error_of_the_cosine():
    x = RANDOM.random(20_000)
    exact = np.cos(x * 8 * np.arctan(np.longdouble(1)))
    assert np.abs(cos_of_turns(x) - exact).max() < np.spacing(1.0)
    np.testing.assert_array_equal(cos_of_turns(np.array([0, 0.25, 0.5, 0.75, 1, -0.5])), [1, 0, -1, 0, 1, -1])


@pytest.mark.parametrize("function", NUMBERS, ids=lambda function: function.__name__)
def test_special_numbers(function):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 710, -746, 5e-324, 1e-310, -2, 1e308, 2e-308])
    with np.errstate(all="ignore"):
        expected = NUMPYS[function](x)
    np.testing.assert_allclose(function(x), expected, rtol=1e-15)
    np.testing.assert_array_equal(np.signbit(function(x[:2])), np.signbit(expected[:2]))


@pytest.mark.parametrize("function", [*NUMBERS, cos_of_turns], ids=lambda function: function.__name__)
def test_a_number_has_the_same_bits_in_any_array(function):
    x = RANDOM.random((7, 5, 3))
    whole = function(x)
    assert whole.shape == x.shape
    np.testing.assert_array_equal(function(x[::2, :, 1]), whole[::2, :, 1])  # not contiguous
    np.testing.assert_array_equal([function(float(number)) for number in x.ravel()], whole.ravel())
    assert function(np.float64(x[0, 0, 0])) == function(x[0, 0, 0, ...]) == whole[0, 0, 0]
    assert function(np.empty((0, 3))).shape == (0, 3)
    np.testing.assert_array_equal(function(StrictArray(x)).plain, whole)


def test_integers_are_accepted():
    assert log(8) == log(8.0) == log(np.array([8]))[0]


class Lacking(StrictArray):
    """An array of a library that has none of our functions."""

    def __array_ufunc__(self, ufunc, *arguments, **options):
        ours = not isinstance(ufunc, np.ufunc)
        return NotImplemented if ours else super().__array_ufunc__(ufunc, *arguments, **options)


def test_relative_entropy():
    p, q = np.array([[0.5, 0.0, 0.0, 0.5]]), np.array([0.25, 0.5, 0.0, 0.0])
    np.testing.assert_allclose(rel_entr(p, q), [[0.5 * np.log(2), 0, 0, np.inf]])
    np.testing.assert_array_equal(rel_entr(StrictArray(p), StrictArray(q)).plain, rel_entr(p, q))
    with np.errstate(divide="ignore", invalid="ignore"):  # which other libraries do not report
        np.testing.assert_allclose(rel_entr(Lacking(p), Lacking(q)).plain, rel_entr(p, q))


def test_another_library_has_its_own_functions():
    x = np.array([0.1, 0.2])
    np.testing.assert_array_equal(exp(Lacking(x)).plain, np.exp(x))
    np.testing.assert_array_equal(cos_of_turns(Lacking(x)).plain, np.cos(2 * np.pi * x))
