"""The GPU kernel, run on the CPU, thread by thread."""

import sys

import numpy as np
import pytest

from coebl.solver.maximin import first_weights
from gpu.games import check_answers, games
from gpu.on_host import COMPILER, H200, solve_on_host
from oracles.integers import solve_with_integers
from ucb_solves import hard_matrices

pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler: apt install g++"),
    pytest.mark.skipif(sys.platform != "linux", reason="needs Linux"),
]


@pytest.mark.parametrize(
    ("m", "n", "real", "memory"),
    [
        (1, 5, "double", H200),
        (5, 1, "double", H200),
        (3, 7, "double", H200),
        (20, 33, "double", H200),
        (24, 20, "double", (4_000, 8_000)),  # most rows are in global memory
        (60, 50, "float", H200),
        (70, 64, "float", (20_000, 40_000)),  # some rows are in registers
    ],
)
def test_the_kernel_finds_the_solutions_of_the_cpu(m, n, real, memory):
    for kind, batch in games(m, n, count=3):
        weight = first_weights(m)
        strategy, _, value, gap, _, lacking = solve_on_host(batch, weight, real, memory)
        if real == "float":  # double precision solves the rest
            again = np.isnan(gap)
            assert lacking == again.sum()
            assert lacking == 0 or kind == "wild"
            batch, strategy, value, gap = batch[~again], strategy[~again], value[~again], gap[~again]
        if len(batch):
            check_answers(kind, batch, strategy, value, gap)


def test_every_run_has_separate_weights():
    batch = np.ones((3, 21, 22))
    weight = np.random.default_rng(0).permuted(np.repeat(first_weights(21), 3, axis=0), axis=1)
    strategy = solve_on_host(batch, weight, "double")[0]
    assert strategy.argmax(axis=1).tolist() == weight.argmin(axis=1).tolist()
    assert (strategy.max(axis=1) == 1).all()


@pytest.mark.parametrize("n", [5, 6])
def test_pivots_end_on_ucbs_hardest_matrices(n):
    batch = hard_matrices(n)
    weight = first_weights(batch.shape[1])
    strategy, _, _, gap, _, lacking = solve_on_host(batch, weight, "double")
    assert lacking == 0
    assert (abs(gap) <= 1e-9).all()
    for matrix, policy in zip(batch, strategy, strict=True):
        exact = solve_with_integers((matrix - matrix.min()) / np.ptp(matrix), weight[0])
        np.testing.assert_allclose(policy, exact[0], atol=1e-8)


def test_a_matrix_is_solved_even_if_the_rule_for_ties_cannot_be_applied():
    batch = np.random.default_rng(0).normal(size=(2, 21, 22))
    batch[:, 11:] = batch[:, :10]  # so that there are ties
    weight = first_weights(21).repeat(2, axis=0)
    weight[0] = np.nan  # only for the first matrix
    strategy, _, value, gap, _, lacking = solve_on_host(batch, weight, "double")
    assert lacking == 0
    check_answers("wild", batch, strategy, value, gap)
    check_answers("tied", batch[1:], strategy[1:], value[1:], gap[1:])


def test_unsolved_matrices_are_counted():
    batch = np.random.default_rng(0).normal(size=(3, 21, 22))
    batch[1, 2, 3] = np.nan
    strategy, _, _, gap, _, lacking = solve_on_host(batch, first_weights(21), "double")
    assert lacking == 1
    assert np.isnan(gap).tolist() == [False, True, False]
    assert (strategy[1] == 1 / 21).all()
