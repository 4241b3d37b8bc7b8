"""Warm starts: the same answers, by the same rules, for less work."""

import sys

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.engine import Match, simulate
from coebl.solver import Maximin, maximin
from coebl.solver.maximin import first_weights
from oracles.certificate import assert_same, certify_batch
from oracles.highs import value_by_highs
from oracles.integers import solve_with_integers
from oracles.memory import tableau


@pytest.mark.parametrize(
    ("m", "n", "in_place"), [(24, 20, False), (30, 45, True), (50, 64, False), (60, 60, True), (96, 70, False)]
)
def test_a_walk_of_changed_entries_equals_solving_again(m, n, in_place):
    random = np.random.default_rng([m, n])
    batch = random.normal(size=(6, m, n))
    solver = Maximin(batch.shape)
    solution = solver(batch)
    cold = solution.pivots.mean()
    warm = []
    for step in range(60):
        batch = batch if in_place else batch.copy()
        for k in range(len(batch)):
            size = random.choice([1e-6, 0.1, 1.0, 3.0])
            batch[k, random.integers(m), random.integers(n)] += size * random.normal()
        solution = solver(batch)
        warm.append(solution.pivots.mean())
        if step % 10 == 9:
            again = maximin(batch)
            np.testing.assert_allclose(solution.strategy, again.strategy, atol=1e-9)
            np.testing.assert_allclose(solution.value, again.value, atol=1e-9)
    certify_batch(batch, solution)
    assert solution.value == pytest.approx([value_by_highs(payoff) for payoff in batch], abs=1e-6)
    assert np.mean(warm) < 0.2 * cold


@pytest.mark.parametrize("m", [24, 64])
def test_tied_matrices_as_ucb_meets_them(m):
    random = np.random.default_rng(m)
    runs = 3
    count, total = np.zeros((runs, m, m)), np.zeros((runs, m, m))
    solver = Maximin(count.shape)
    for step in range(150):
        batch = total / np.maximum(1, count) + 5 / np.sqrt(np.maximum(1, count))
        solution = solver(batch)
        if step % 15 == 0:
            np.testing.assert_allclose(solution.strategy, maximin(batch).strategy, atol=1e-8)
        for k in range(runs):
            i = random.choice(m, p=solution.strategy[k])
            j = random.integers(m)
            count[k, i, j] += 1
            total[k, i, j] += random.choice([-1, 0, 1])
    assert solution.fallbacks == 0


@pytest.mark.parametrize("n", [24, 64])
def test_where_too_much_has_changed_it_starts_from_scratch(n):
    """To the last bit: one entry more than the budget, or all, or payoffs on another scale."""
    random = np.random.default_rng(n)
    batch = random.normal(size=(3, n, n))
    solver = Maximin(batch.shape)
    cold = solver(batch)
    few, many = batch.copy(), batch.copy()
    few.reshape(3, -1)[:, :: n + 1][:, : 1 + n // 4] += 0.01
    many.reshape(3, -1)[:, :: n + 1][:, : 2 + n // 4] += 0.01
    assert (solver(few).pivots < cold.pivots).all()
    for payoffs in (batch, many, random.normal(size=batch.shape), 1e6 * batch, 1e-6 * batch):
        solver = Maximin(batch.shape)
        solver(batch + 1 if payoffs is batch else batch)
        assert_same(solver(payoffs), maximin(payoffs))


def test_solvers_do_not_share_what_they_remember_nor_overwrite_their_answers():
    random = np.random.default_rng(8)
    batches = [random.normal(size=(3, 30, 30)) for _ in range(3)]
    solvers = [Maximin(batch.shape) for batch in batches]
    answers = [solver(batch).strategy for solver, batch in zip(solvers, batches, strict=True)]
    for solver, batch, answer in zip(solvers, batches, answers, strict=True):
        kept = answer.copy()
        batch[:, 3, 4] += 0.5
        solution, cold = solver(batch), maximin(batch)
        np.testing.assert_array_equal(answer, kept)
        np.testing.assert_allclose(solution.strategy, cold.strategy, atol=1e-9)
        assert solution.pivots.sum() < 0.3 * cold.pivots.sum()


@pytest.mark.parametrize("sign", [1, -1])
def test_the_gap_is_relative_to_the_current_range(sign):
    """The extreme entry is removed, or was one of two, or a new one is added: the range follows."""
    random = np.random.default_rng(7)
    batch = random.uniform(-1, 1, size=(1, 40, 40))
    solver = Maximin(batch.shape)
    solver(batch)
    for i, j, payoff in [(3, 5, 2.0), (8, 1, 2.0), (3, 5, 0.1), (8, 1, 0.2), (8, 1, -2.0), (8, 1, 0.0)]:
        batch[0, i, j] = sign * payoff
        solution = solver(batch)
        x, y = solution.strategy[0], solution.opponent[0]
        gap = (batch[0] @ y).max() - (x @ batch[0]).min()
        assert solution.gap[0] == pytest.approx(gap / np.ptp(batch[0]), abs=1e-13)
        t = tableau(solver)  # gaps are too small to compare
        assert t.scale[2:].tolist() == [t.B.min(), t.B.max()]
        assert solution.value[0] == pytest.approx(value_by_highs(batch[0]), abs=1e-8)


def test_nan_is_rejected_and_the_solver_can_be_used_again():
    random = np.random.default_rng(9)
    batch = random.normal(size=(2, 30, 30))
    solver = Maximin(batch.shape)
    before = solver(batch)
    broken = batch.copy()
    broken[1, 4, 6] = np.nan
    with pytest.raises(InputError, match=r"payoffs\[1\]\[4\]\[6\] is nan"):
        solver(broken)
    assert_same(solver(batch), before)


def test_ucb_on_a_large_game_needs_no_fallback(monkeypatch):
    """Self-play on Diagonal: the matrices are tied all over, and single precision once gave up on them."""
    monkeypatch.setattr(sys.modules[Maximin.__module__], "_MOST_STARTS", None)  # using it would fail
    result = simulate(Match.of("diagonal:6", "ucb", "ucb", rounds=150), 6, metrics=["exploitability"])
    assert np.isfinite(result.final("exploitability")).all()


def test_the_answer_does_not_depend_on_many_ties():
    random = np.random.default_rng(6)
    count = random.poisson(0.02, size=(4, 64, 64))
    batch = np.where(count > 0, random.normal(size=count.shape), 0) + 5 / np.sqrt(np.maximum(1, count))
    np.testing.assert_allclose(Maximin(batch.shape, many_ties=True)(batch).strategy, maximin(batch).strategy, atol=1e-7)


@pytest.mark.parametrize("shape", [(3, 6, 5), (3, 24, 20), (3, 50, 52), (1, 24, 20)])
def test_a_solver_that_remembers_nothing_solves_from_scratch(shape):
    batch = np.random.default_rng(shape).normal(size=shape)
    solver = Maximin(shape, remember=False)
    for _ in range(3):
        assert_same(solver(batch), maximin(batch))
        batch[:, 2, 3] += 0.1


def near_ties(random, m):
    """Equal rows that come to differ by about 1e-10 to 1e-7 of the range."""
    payoff = random.normal(size=(m // 3, m))[random.integers(m // 3, size=m)]
    for _ in range(100):
        yield payoff.copy()
        payoff[random.integers(m), random.integers(m)] += random.choice([1e-10, 1e-9, 1e-7]) * random.normal()


def sizes(random, m):
    """Entries of very different sizes."""
    payoff = random.choice([0, 1e-7, 1], size=(m, m))
    for _ in range(100):
        yield payoff.copy()
        payoff[random.integers(m), random.integers(m)] = random.choice([0, 1e-7, 1])


@pytest.mark.parametrize(("walk", "m"), [(near_ties, 24), (near_ties, 32), (sizes, 21)])
def test_where_warm_and_cold_differ_both_are_optimal(walk, m):
    """Both strategies guarantee the value that integers find, within 1e-9 of the range: the game has a tie there."""
    weight = first_weights(m)[0]
    differences = 0
    for seed in range(8):
        solver = Maximin((1, m, m), many_ties=True)
        for payoff in walk(np.random.default_rng([3, m, seed]), m):
            strategies = solver(payoff[None]).strategy[0], maximin(payoff).strategy
            if np.abs(strategies[0] - strategies[1]).max() <= 1e-8:
                continue
            differences += 1
            scaled = (payoff - payoff.min()) / np.ptp(payoff)
            value = (solve_with_integers(scaled, weight)[0] @ scaled).min()
            for strategy in strategies:
                assert (strategy @ scaled).min() == pytest.approx(value, abs=1e-9)
            if differences == 10:
                return
    assert differences > 0
