"""`solve` and `maximin`: certified, equal to independent solvers, indifferent to units, order and seat.

Ill-conditioned and degenerate games are in test_ill_conditioned.py.
"""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from coebl.core.errors import InputError
from coebl.games import Game, solve
from coebl.solver import Maximin, Solution, maximin
from oracles.certificate import assert_same, certify, certify_batch
from oracles.highs import value_by_highs
from oracles.simplex import solve_exactly

SMALL = [(1, 1), (1, 7), (7, 1), (2, 2), (3, 5), (9, 4), (16, 16), (19, 21)]
LARGE = [(21, 22), (30, 40), (47, 50), (60, 49), (64, 96)]


@pytest.mark.parametrize(("m", "n"), SMALL + LARGE)
def test_agrees_with_highs(m, n):
    random = np.random.default_rng([m, n])
    runs = 400 if m * n <= 64 else 60 if m * n < 1000 else 12
    batch = random.normal(size=(runs, m, n)) + random.normal(size=(runs, 1, 1))
    solution = maximin(batch)
    certify_batch(batch, solution)
    assert (solution.gap <= 1e-9).all()
    assert solution.value == pytest.approx([value_by_highs(payoff) for payoff in batch], abs=1e-6)


@pytest.mark.parametrize(("m", "n"), [(2, 2), (3, 3), (2, 5), (5, 3), (4, 4), (6, 6)])
def test_agrees_with_exact_fractions_on_integer_games(m, n):
    random = np.random.default_rng([7, m, n])
    batch = random.integers(-2, 3, size=(120, m, n)).astype(float)  # small integers: most of these games are degenerate
    weight = np.sqrt(np.arange(m) / m)
    solution = maximin(batch)
    for k in range(len(batch)):
        exact = solve_exactly(batch[k].astype(int).tolist(), weight.tolist())
        assert solution.value[k] == pytest.approx(float(exact.value), abs=1e-12)
        np.testing.assert_allclose(solution.strategy[k], [float(x) for x in exact.row], atol=1e-10)


@pytest.mark.parametrize(("m", "n"), [(3, 4), (12, 9), (24, 20), (25, 30)])
def test_the_kernels_take_the_twins_pivots(m, n):
    random = np.random.default_rng([11, m, n])
    batch = random.integers(-99, 100, size=(6, m, n)).astype(float)
    solution = maximin(batch)
    for k in range(len(batch)):
        exact = solve_exactly(batch[k].astype(int).tolist(), np.sqrt(np.arange(m) / m).tolist())
        assert solution.pivots[k] == exact.pivots
        np.testing.assert_allclose(solution.strategy[k], [float(x) for x in exact.row], atol=1e-9)
        np.testing.assert_allclose(solution.opponent[k], [float(y) for y in exact.column], atol=1e-9)


matrices = st.tuples(st.integers(1, 9), st.integers(1, 9)).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.integers(-8, 8).map(float) | st.floats(-8, 8, width=32))
)


@given(matrices, st.floats(-1e3, 1e3))
def test_shift(A, shift):
    assert solve(A + shift).value == pytest.approx(solve(A).value + shift, abs=1e-7)


@given(matrices, st.integers(-8, 8))
def test_scale(A, exponent):
    scale = 10.0**exponent
    spread = (A.max() - A.min()) or 1.0
    assert solve(scale * A).value / scale == pytest.approx(solve(A).value, abs=1e-9 * (spread + abs(A).max()))
    certify(scale * A, solve(scale * A).row, solve(scale * A).column, solve(scale * A).value)


@given(matrices)
def test_transpose_and_negate_swaps_the_players(A):
    solution, swapped = solve(A), solve(-A.T)
    assert swapped.value == pytest.approx(-solution.value, abs=1e-9)
    certify(A, swapped.column, swapped.row, solution.value)


@given(matrices, st.randoms(use_true_random=False))
def test_relabelling(A, shuffler):
    rows, columns = list(range(A.shape[0])), list(range(A.shape[1]))
    shuffler.shuffle(rows)
    shuffler.shuffle(columns)
    again = solve(A[np.ix_(rows, columns)])
    assert again.value == pytest.approx(solve(A).value, abs=1e-9)
    certify(A, again.row[np.argsort(rows)], again.column[np.argsort(columns)], again.value)


@given(matrices, st.floats(0, 3))
def test_duplicated_and_dominated_actions_change_nothing(A, margin):
    worse_row = A[:1] - margin
    worse_column = np.vstack([A, A[-1:], worse_row])[:, :1] + margin
    larger = np.hstack([np.vstack([A, A[-1:], worse_row]), worse_column])
    assert solve(larger).value == pytest.approx(solve(A).value, abs=1e-9)


def test_known_solution_of_a_non_square_game():
    solution = solve([[2, 0, 3], [0, 1, 3]])
    assert isinstance(solution, Solution)
    assert solution.value == pytest.approx(2 / 3)
    np.testing.assert_allclose(solution.row, [1 / 3, 2 / 3])
    np.testing.assert_allclose(solution.column, [1 / 3, 2 / 3, 0], atol=1e-15)
    assert solution.status == "optimal"
    np.testing.assert_array_equal(maximin(Game([[2, 0, 3], [0, 1, 3]])).strategy, solution.row)  # a game is its matrix


def test_the_callers_matrix_is_left_alone():
    A = np.random.default_rng(0).normal(size=(30, 30))
    before = A.copy()
    A.flags.writeable = False
    solve(A)
    maximin(A[None])
    np.testing.assert_array_equal(A, before)


def test_a_run_does_not_depend_on_its_batch():
    random = np.random.default_rng(3)
    for m, n in [(3, 4), (16, 16), (22, 25), (50, 60)]:
        batch = random.normal(size=(70, m, n))
        together = maximin(batch)
        for k in (0, 13, 69):
            assert_same(maximin(batch[k]), together, run=k)


@pytest.mark.parametrize("shape", [(2, 3, 3), (2, 30, 30), (2, 60, 60)])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_payoffs_that_are_not_finite(shape, bad):
    batch = np.random.default_rng(0).normal(size=shape)
    batch[1, 2, 0] = bad
    with pytest.raises(InputError, match=r"payoffs\[1\]\[2\]\[0\] is .*; accepted: finite numbers"):
        maximin(batch)


@pytest.mark.parametrize("n", [2, 30, 60])
def test_the_largest_and_the_smallest_range(n):
    payoffs = np.zeros((2, n, n))
    payoffs[1, 0, 0], payoffs[1, 1, 0] = 1.7e308, -1.7e308
    with pytest.raises(InputError, match=r"payoffs\[1\] spans .*, more than a float can hold"):
        maximin(payoffs)
    np.testing.assert_array_equal(maximin([[0.0] * n, [5e-324] * n]).strategy, [0.0, 1.0])  # the smallest range


@pytest.mark.parametrize("n", [5, 30])
def test_kinds_of_arrays(n):
    """For any memory layout of the payoffs, the answer is that of a plain array."""
    plain = np.random.default_rng(n).normal(size=(3, n, n + 1)).astype(np.float32).astype(float)
    expected = maximin(plain)
    locked = plain.copy()
    locked.flags.writeable = False
    apart = np.zeros((6, 2 * n, 2 * n + 2))
    apart[::2, ::2, ::2] = plain
    shifted = np.zeros(plain.size * 8 + 1, np.uint8)[1:].view(float).reshape(plain.shape)
    shifted[:] = plain
    kinds = [plain.astype(np.float32), plain.astype(">f8"), locked, apart[::2, ::2, ::2], shifted, plain.tolist()]
    kinds += [np.asfortranarray(plain), plain.transpose(0, 2, 1).copy().transpose(0, 2, 1)]
    for payoffs in kinds:
        assert_same(maximin(payoffs), expected)


@pytest.mark.parametrize(("m", "n"), [(2, 3), (24, 20)])
def test_the_answer_to_a_single_matrix_has_no_axis_of_runs(m, n):
    matrix = np.random.default_rng([m, n]).normal(size=(m, n))
    alone, batch = maximin(matrix), maximin(matrix[None])
    assert (alone.strategy.shape, alone.opponent.shape, np.shape(alone.value)) == ((m,), (n,), ())
    assert_same(alone, batch, run=0)


def test_solve_breaks_ties_by_the_given_rule():
    constant = np.ones((5, 3))
    np.testing.assert_array_equal(solve(constant, ties="first").row, [1, 0, 0, 0, 0])
    chosen = {
        int(solve(constant, ties="random", random=np.random.default_rng(seed)).row.argmax()) for seed in range(40)
    }
    assert chosen == {0, 1, 2, 3, 4}  # each is missed with probability 0.8 ** 40, about 1e-4


ONES = np.ones((1, 2, 2))
SHAPES = [(3,), (0, 2), (2, 0, 3), (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("solve", "message"),
    [
        *((partial(maximin, np.zeros(shape)), r"payoffs has shape .* accepted: \(runs, m, n\)") for shape in SHAPES),
        (lambda: Maximin((2, 0, 3)), r"shape is \(2, 0, 3\); accepted: \(runs, m, n\)"),
        (lambda: Maximin((2, 4, 3))(np.ones((2, 3, 4))), r"payoffs has shape \(2, 3, 4\); accepted: \(2, 4, 3\)"),
        (lambda: Maximin((1, 2, 2), ties="random"), "ties is 'random'; accepted: \"first\", or a function"),
        (lambda: Maximin((1, 2, 2), ties=lambda: np.ones(2))(ONES), r"ties has shape \(2,\); accepted: finite weights"),
        (lambda: maximin(ONES, ties="random"), "random is None; pass random="),
        (lambda: maximin(ONES, ties="last"), "ties is 'last'; accepted"),
        (lambda: maximin(ONES, ties=np.ones(2)), r"ties has shape \(2,\); accepted: finite weights"),
        (lambda: maximin(ONES, ties=np.full((1, 2), np.nan)), "ties has entries that are not finite"),
    ],
)
def test_mistakes(solve, message):
    with pytest.raises(InputError, match=message):
        solve()
