"""The rule that chooses among several optimal strategies, and that it is kept."""

import numpy as np
import pytest

from coebl.engine import Match, simulate
from coebl.solver import Maximin, maximin
from coebl.solver.interruptible import new_answers, new_workspace, solve_large
from coebl.solver.maximin import first_weights, scaled_weights
from coebl.testing import StrictArray
from oracles.highs import least_mean_weight
from oracles.integers import solve_with_integers
from oracles.simplex import solve_exactly
from ucb_solves import hard_matrices, on_every_solve


def ucb_like(random, m, n, rounds):
    """A matrix like UCB's: most entries unvisited and equal, the others a little lower."""
    count = np.zeros((m, n))
    np.add.at(count, (random.integers(m, size=rounds), random.integers(n, size=rounds)), 1)
    mean = np.where(count > 0, random.integers(-1, 2, size=(m, n)), 0)
    return mean + 4 / np.sqrt(np.maximum(1, count))


@pytest.mark.parametrize(("m", "n"), [(3, 3), (8, 5), (16, 16), (30, 24), (64, 64)])
@pytest.mark.parametrize("rounds", [0, 5, 60])
def test_first_is_the_optimal_strategy_of_least_mean_weight(m, n, rounds):
    random = np.random.default_rng([m, n, rounds])
    batch = np.stack([ucb_like(random, m, n, rounds) for _ in range(20)])
    weight = np.sqrt(np.arange(m) / m)
    solution = maximin(batch)
    for k in range(len(batch)):
        assert solution.strategy[k] @ weight == pytest.approx(
            least_mean_weight(batch[k], solution.value[k], weight), abs=1e-6
        )


def test_first_holds_on_matrices_of_ucb(monkeypatch):
    """Most of b is zero there, up to rounding; a rounded zero over a small entry must not hide what ties with it."""
    batches = []
    on_every_solve(monkeypatch, lambda payoffs, solution: batches.append(payoffs.copy()))
    simulate(Match.of("bigger-number:4", "ucb", "ucb", rounds=75), 20, record="last", metrics=["regret"])
    weight = np.sqrt(np.arange(16) / 16)
    for batch in batches[-60::13]:
        strategies = maximin(batch).strategy
        for matrix, strategy in zip(batch, strategies, strict=True):
            exact = [float(share) for share in solve_exactly(matrix, weight).row]
            np.testing.assert_allclose(strategy, exact, atol=1e-9)


@pytest.mark.parametrize("game", ["diagonal:5", "bigger-number:5"])
def test_a_warm_start_keeps_the_rule_on_matrices_of_ucb(monkeypatch, game):
    """Its bases may be singular; then the tableau's tie parts mean nothing, but the strategies are still optimal."""
    weight = np.sqrt(np.arange(32) / 32)
    solves = []

    def compare(payoffs, warm):
        cold = Maximin(payoffs.shape, many_ties=True)(payoffs)
        np.testing.assert_allclose(warm.strategy @ weight, cold.strategy @ weight, atol=1e-7)
        solves.append(len(payoffs))

    on_every_solve(monkeypatch, compare)
    simulate(Match.of(game, "ucb", "ucb", rounds=400), 20, record="last", metrics=["regret"])
    assert sum(solves) == 2 * 400 * 20


@pytest.mark.parametrize("n", [5, 6])
def test_pivots_end_on_ucbs_hardest_matrices(n):
    """A zero of b, divided by a small pivot, counted as negative, and the pivots that repaired it created another."""
    batch = hard_matrices(n)
    runs, m, _ = batch.shape
    weight, answers = first_weights(m), new_answers(runs, m, m)
    assert solve_large(batch, weight, new_workspace(1, m, m, "float64"), answers) == 0  # without a rescue
    for matrix, strategy in zip(batch, answers[0], strict=True):
        exact = solve_with_integers((matrix - matrix.min()) / np.ptp(matrix), weight[0])
        np.testing.assert_allclose(strategy, exact[0], atol=1e-9)


@pytest.mark.parametrize("change", [lambda weight: weight + 1e7, lambda weight: weight * 1e308])
def test_weights_may_be_shifted_and_scaled(change):
    random = np.random.default_rng(4)
    batch = np.stack([ucb_like(random, 60, 60, 600) for _ in range(20)])
    weight = random.random((20, 60))
    expected = (maximin(batch, ties=weight).strategy * weight).sum(axis=1)
    solution = maximin(batch, ties=change(weight))
    np.testing.assert_allclose((solution.strategy * weight).sum(axis=1), expected, atol=1e-4)


def test_weights_are_scaled_by_one_rule_on_every_device():
    weight = np.array([[2.0, 6.0, 3.0], [5.0, 5.0, 5.0], [-1e308, 0.0, 1e308]])
    scaled = scaled_weights(StrictArray(weight.copy())).plain
    np.testing.assert_array_equal(scaled, [[0, 1, 0.25], [0, 0, 0], [0, 0.5, 1]])
    np.testing.assert_array_equal(scaled_weights(weight), scaled)


def test_a_constant_matrix_leaves_the_choice_to_the_rule():
    for m in (1, 4, 30, 60):
        strategy = maximin(np.full((2, m, m + 1), 2.5)).strategy
        np.testing.assert_array_equal(strategy, np.tile(np.eye(1, m), (2, 1)))
    strategy = maximin(np.ones((2, 3, 3)), ties=np.array([[2.0, 1.0, 3.0], [3.0, 2.0, 1.0]])).strategy
    np.testing.assert_array_equal(strategy, [[0, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize("m", [4, 30])
def test_random_is_uniform_over_relabellings(m):
    # 4,000 draws of one of m actions: chi-square with m - 1 degrees of freedom stays below its mean + 4 sd
    runs = 4000 if m == 4 else 400
    chosen = maximin(np.ones((runs, m, m)), ties="random", random=np.random.default_rng(8)).strategy
    assert (chosen.max(axis=1) == 1).all()
    counts = chosen.sum(axis=0)
    statistic = ((counts - runs / m) ** 2 / (runs / m)).sum()
    assert statistic < m - 1 + 4 * np.sqrt(2 * (m - 1))


def test_random_depends_on_the_callers_generator_alone():
    batch = np.ones((50, 6, 4))
    first = maximin(batch, ties="random", random=np.random.default_rng(1)).strategy
    np.random.seed(99)  # noqa: NPY002 - the global state must not matter
    again = maximin(batch, ties="random", random=np.random.default_rng(1)).strategy
    other = maximin(batch, ties="random", random=np.random.default_rng(2)).strategy
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    batch = np.random.default_rng(4).normal(size=(30, 5, 7))  # with unique answers, which it does not change
    shuffled = maximin(batch, ties="random", random=np.random.default_rng(1)).strategy
    np.testing.assert_allclose(shuffled, maximin(batch).strategy, atol=1e-12)


@pytest.mark.parametrize("n", [3, 30])
def test_a_solver_asks_for_weights_once_per_solve(n):
    random = np.random.default_rng(2)
    asked = []

    def weights():
        asked.append(random.random((4, n)))
        return asked[-1]

    solver = Maximin((4, n, n), ties=weights)
    for _ in range(3):
        strategy = solver(np.ones((4, n, n))).strategy
        np.testing.assert_array_equal(strategy.argmax(axis=1), asked[-1].argmin(axis=1))
    assert len(asked) == 3
