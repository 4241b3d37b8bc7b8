"""Each operation on vectors and pointers, against NumPy."""

import operator

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from coebl.kernels.vectors import (
    LANES,
    anywhere,
    cut,
    doubles,
    fill,
    fill_like,
    gather,
    lane_numbers,
    load,
    minimum,
    pointer,
    select,
    store,
    total,
)
from coebl.kernels.workspace import aligned


def memory(numbers, kind=np.float64):
    numbers = np.asarray(numbers, kind)
    result = aligned(numbers.size, numbers)
    result[:] = numbers
    return result


@pytest.fixture
def random():
    return np.random.default_rng(5)


@pytest.mark.parametrize(
    ("function", "kind"),
    [(f, k) for f in (operator.add, operator.sub, operator.mul) for k in (np.float64, np.float32, np.int64)]
    + [(operator.truediv, np.float64)],
)
def test_arithmetic(function, kind, random):
    first, second = (memory(random.integers(1, 9, size=32), kind) for _ in range(2))
    result = memory(np.zeros(32), kind)

    @njit
    def apply(first, second, result):
        p, q, out = pointer(first, 0), pointer(second, 0), pointer(result, 0)
        for i in range(32 * first.itemsize // 64):
            store(out, i, function(load(p, i), load(q, i)))

    apply(first, second, result)
    np.testing.assert_array_equal(result, function(first, second).astype(kind))


@pytest.mark.parametrize(
    ("function", "kind"),
    [(f, np.float64) for f in (operator.lt, operator.le, operator.gt, operator.eq, operator.ne)]
    + [(f, np.int64) for f in (operator.gt, operator.eq)],
)
def test_comparisons_select(function, kind):
    first, second = memory([0, 1, 2, 3, 4, 5, 6, 7], kind), memory([3, 3, 3, 3, 4, 4, 9, 0], kind)
    result = memory(np.zeros(LANES), kind)

    @njit
    def apply(first, second, result):
        a, b = load(pointer(first, 0), 0), load(pointer(second, 0), 0)
        store(pointer(result, 0), 0, select(function(a, b), a, b))
        return anywhere(function(a, b)), anywhere(function(a, a))

    some, same = apply(first, second, result)
    np.testing.assert_array_equal(result, np.where(function(first, second), first, second))
    assert some
    assert same == function(1, 1)


def test_comparisons_with_nan_are_false():
    numbers = memory([np.nan] * LANES)

    @njit
    def apply(numbers):
        a = load(pointer(numbers, 0), 0)
        return anywhere(a < fill(1.0)), anywhere(a <= a), anywhere(a > fill(1.0)), anywhere(a == a), anywhere(a != a)

    assert apply(numbers) == (False, False, False, False, True)


def test_masks_combine():
    result = memory(np.zeros(LANES), np.int64)

    @njit
    def apply(result):
        k = lane_numbers()
        store(pointer(result, 0), 0, select((k > fill(1)) & (fill(5) > k), k, fill(-1)))

    apply(result)
    assert list(result) == [-1, -1, 2, 3, 4, -1, -1, -1]


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_doubles_and_fill_like(kind, random):
    numbers = memory(random.normal(size=32), kind)
    wide, filled = memory(np.zeros(32)), memory(np.zeros(32), kind)

    @njit
    def apply(numbers, wide, filled):
        for i in range(32 // LANES):
            store(pointer(wide, 0), i, doubles(pointer(numbers, 0), i))
        for i in range(32 * filled.itemsize // 64):
            store(pointer(filled, 0), i, fill_like(pointer(numbers, 0), 0.1))

    apply(numbers, wide, filled)
    np.testing.assert_array_equal(wide, numbers.astype(np.float64))
    np.testing.assert_array_equal(filled, np.full(32, 0.1, kind))


def test_gather_and_folds(random):
    numbers, indices = memory(random.normal(size=64)), memory(random.integers(32, size=LANES), np.int64)
    result = memory(np.zeros(LANES))

    @njit
    def apply(numbers, indices, result):
        vector = gather(pointer(numbers, 3), load(pointer(indices, 0), 0), 5)
        store(pointer(result, 0), 0, vector)
        return total(vector), minimum(vector), minimum(load(pointer(indices, 0), 0))

    sum_, lowest, lowest_at = apply(numbers, indices, result)
    np.testing.assert_array_equal(result, numbers[indices + 8])
    assert sum_ == pytest.approx(result.sum(), rel=1e-14)
    assert (lowest, lowest_at) == (result.min(), indices.min())


def test_a_pointer_is_cut_into_parts_that_follow_each_other():
    @njit
    def apply(numbers, size):
        first, second, third = cut(pointer(numbers, 3), (size, 1, 7))
        return first[0], second[0], third[0], third[6]

    assert apply(np.arange(20.0), 5) == (3, 8, 9, 15)


def test_an_array_with_gaps_is_rejected():
    @njit
    def apply(numbers):
        return load(pointer(numbers, 0), 0)[0]

    with pytest.raises(TypingError, match="not contiguous"):
        apply(np.zeros((9, 9))[::2, ::2])
