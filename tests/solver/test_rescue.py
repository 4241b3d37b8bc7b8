"""The fallbacks for answers that a kernel does not certify."""

import sys

import numpy as np
import pytest

from coebl.core.errors import SolveError
from coebl.engine import Match, simulate
from coebl.games import solve
from coebl.kernels import lockstep, simplex
from coebl.solver import Maximin, maximin
from oracles import certificate
from oracles.integers import solve_with_integers
from oracles.memory import recompute, tableau
from oracles.simplex import solve_exactly

rescue = sys.modules[Maximin.__module__]  # "coebl.solver.maximin" is the function


def certify_nothing(A, *arguments):
    """A kernel that certifies nothing."""
    gap = arguments[-2]
    gap[:] = np.nan
    return len(A)


def attempts(monkeypatch, answer):
    """Replace the kernels by answer(number, matrix); True calls the one for large games. Return the matrices."""
    kernel, given = rescue._double_precision, []

    def attempt(scaled, weight=None):
        given.append(scaled)
        chosen = answer(len(given), scaled)
        return kernel(scaled, weight) if chosen is True else chosen

    monkeypatch.setattr(lockstep, "solve_small", certify_nothing)
    monkeypatch.setattr(rescue, "_double_precision", attempt)
    return given


def test_the_double_precision_kernel_comes_first(monkeypatch):
    A = np.random.default_rng(0).normal(size=(3, 6, 5))
    expected = maximin(A)
    monkeypatch.setattr(lockstep, "solve_small", certify_nothing)
    solution = maximin(A)
    np.testing.assert_allclose(solution.strategy, expected.strategy, atol=1e-12)
    np.testing.assert_allclose(solution.value, expected.value, atol=1e-12)
    assert (solution.gap <= 1e-9).all()
    assert solution.fallbacks == 0


def wild_rows(random):
    return random.normal(size=(80, 80)) * 10.0 ** random.uniform(-5, 5, size=(80, 1))


def rank_three(random):
    return random.normal(size=(80, 3)) @ random.normal(size=(3, 80)) + 1e-9 * random.normal(size=(80, 80))


@pytest.mark.parametrize("family", [wild_rows, rank_three])
def test_no_game_takes_many_times_as_long_as_others(monkeypatch, family):
    """Counted in attempts on all actions, which take about the same time each; attempts on a part take less."""
    tried, generate = [], rescue._attempts

    def counted(scaled, weight):
        for answer in generate(scaled, weight):
            tried[-1] += 1
            yield answer

    monkeypatch.setattr(rescue, "_attempts", counted)
    random = np.random.default_rng(1)
    for _ in range(60):
        tried.append(1)  # that of the kernel itself
        maximin(family(random))
    assert sum(count > 1 for count in tried) > 30
    assert max(tried) <= 10 * np.median(tried)


def test_then_rounded_payoffs(monkeypatch):
    """From the row player's seat, then from the column player's; the answer is certified against the payoffs."""
    A = np.random.default_rng(1).normal(size=(6, 5))
    given = attempts(monkeypatch, lambda number, matrix: True if number == 6 else None)
    solution = solve(A)
    moved = [(np.abs((matrix if matrix.shape == (6, 5) else 1 - matrix.T) - given[0])).max() for matrix in given]
    seats, sizes = [matrix.shape for matrix in given], [0 if size == 0 else int(-np.log2(size)) for size in moved]
    assert seats == [(6, 5), (6, 5), (6, 5), (5, 6), (6, 5), (5, 6)]
    assert sizes == [0, 0, 31, 31, 33, 33]
    assert solution.status == "optimal"
    certificate.certify(A, solution.row, solution.column, solution.value)


def test_then_a_growing_part_of_the_actions_which_is_counted(monkeypatch):
    A = np.random.default_rng(0).normal(size=(3, 6, 5))
    expected = maximin(A)
    given = attempts(monkeypatch, lambda number, matrix: None if 5 in matrix.shape and 6 in matrix.shape else True)
    solution = maximin(A)
    np.testing.assert_allclose(solution.strategy, expected.strategy, atol=1e-8)
    np.testing.assert_allclose(solution.opponent, expected.opponent, atol=1e-8)
    np.testing.assert_allclose(solution.value, expected.value, atol=1e-9)
    assert solution.fallbacks == 3
    sizes = [matrix.shape for matrix in given[2 + 16 :]]
    assert sizes[0] == (1, 1)
    assert sizes[1] in [(1, 2), (2, 1), (2, 2)]
    assert solve(A[0]).status == "optimal (second method)"


def test_a_part_whose_game_is_not_solved_begins_again_at_another_action(monkeypatch):
    A = np.random.default_rng(0).normal(size=(6, 5))
    whole, first_part = 2 + 16, 1 + 16
    given = attempts(monkeypatch, lambda number, matrix: None if number <= whole + first_part else True)
    solution = solve(A)
    assert [matrix.shape for matrix in given[whole:][: first_part + 1]] == [(1, 1)] * (first_part + 1)
    assert given[whole][0, 0] != given[whole + first_part][0, 0]
    certificate.certify(A, solution.row, solution.column, solution.value)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 9), (9, 1), (7, 12), (40, 30)])
def test_a_part_has_the_value_of_the_game_from_any_start(m, n):
    A = np.random.default_rng([m, n]).uniform(size=(m, n))
    for start in range(m):
        row, column, _ = rescue._by_a_part(A, start)
        certificate.certify(A, row, column, solve(A).value)


@pytest.mark.parametrize(
    ("noise", "rank", "expected"), [(1e-9, 3, True), (1e-6, 3, False), (0, 10, True), (0, 11, False)]
)
def test_low_rank_is_recognised(noise, rank, expected):
    """At most a quarter of 40 actions."""
    random = np.random.default_rng(4)
    A = random.uniform(size=(40, rank)) @ random.uniform(size=(rank, 50)) / rank + noise * random.normal(size=(40, 50))
    assert rescue._has_low_rank(A) == expected


def test_an_answer_that_fails_its_certificate_is_never_returned(monkeypatch):
    given = attempts(monkeypatch, lambda number, matrix: (*(np.eye(1, size)[0] for size in matrix.shape), 0))
    game = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    with pytest.raises(
        SolveError, match=r"payoffs: no attempt came within a relative gap of 1e-09\. Round the payoffs"
    ):
        solve(game)
    assert {len(matrix) for matrix in given[18:]} >= {1, 2}  # parts of the actions too
    with pytest.raises(SolveError, match=r"payoffs\[0\]: no attempt"):
        maximin(np.stack([game, game]))


def test_the_gap_is_at_most_1e_9_however_it_is_computed(monkeypatch):
    """Of answers at the limit, those are rejected whose gap, computed from the payoffs as given, may be above 1e-9."""
    random = np.random.default_rng(3)
    monkeypatch.setattr(rescue, "_MOST_STARTS", 0)
    accepted = rejected = 0
    for excess in [*np.linspace(-4e-12, 4e-12, 401), *np.linspace(-2e-15, 2e-15, 401)]:
        A = random.uniform(0.1, 10) * np.eye(2) + random.uniform(-1, 1)
        row = np.array([0.5 + (1e-9 + excess), 0.5 - (1e-9 + excess)])
        with monkeypatch.context() as patch:
            attempts(patch, lambda number, matrix, row=row: (row, np.full(2, 0.5), 1) if number == 1 else None)
            try:
                solution = solve(A)
            except SolveError:
                rejected += 1
                continue
        accepted += 1
        for unit in (1, 3, 1 / 7):  # as a user computes it
            payoffs = unit * A
            assert (payoffs @ solution.column).max() - (solution.row @ payoffs).min() <= 1e-9 * np.ptp(payoffs)
    assert accepted > 100
    assert rejected > 100


@pytest.mark.parametrize("seed", [0, 1])
def test_games_that_are_solved_only_by_a_part_of_their_actions(seed):
    """Of rank 3, plus 1e-8: HiGHS gives up on them."""
    random = np.random.default_rng([seed, 150])
    A = random.normal(size=(150, 3)) @ random.normal(size=(3, 150)) + 1e-8 * random.normal(size=(150, 150))
    solution = solve(A)
    certificate.certify(A, solution.row, solution.column, solution.value)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 4), (4, 1), (3, 5), (7, 4), (12, 12)])
def test_the_twin_of_integers_agrees_with_exact_fractions(m, n):
    """Also in the rule for ties, on small integers, most of which are degenerate."""
    random = np.random.default_rng([13, m, n])
    weight = np.sqrt(np.arange(m) / m)
    for _ in range(20):
        A = random.integers(0, 4, size=(m, n)) / 4
        row, column = solve_with_integers(A, weight)
        exact = solve_exactly(A.tolist(), weight.tolist())
        np.testing.assert_allclose(row, [float(x) for x in exact.row], atol=1e-9)
        certificate.certify(A, row, column, float(exact.value), tolerance=1e-11)


def test_a_game_on_which_highs_does_not_end_is_solved():
    """With HiGHS 1.12, of SciPy 1.17, it had not ended after 28 minutes."""
    random = np.random.default_rng([23, 60, 60, 304200])
    scale = 10 ** random.uniform(0, 0, (60, 1)), 10 ** random.uniform(-8, 8, (1, 60))
    payoff = random.normal(size=(60, 60)) * scale[0] * scale[1]
    solution = maximin(payoff)
    certificate.certify(payoff, solution.strategy, solution.opponent, solution.value)


@pytest.mark.parametrize(("m", "n"), [(30, 24), (24, 30), (41, 41)])
def test_a_spoiled_tableau_is_recomputed(m, n):
    """Noise on a finished tableau is removed: recomputing it from the basis gives what pivoting gave."""
    random = np.random.default_rng([m, n])
    solver = Maximin((1, m, n), many_ties=True)
    solver(random.normal(size=(1, m, n)))
    t = tableau(solver)
    assert t.T.dtype == np.float64
    expected = {name: getattr(t, name).copy() for name in ("T", "c", "norm", "basic", "nonbasic", "B")}
    assert 1 < (t.basic < n).sum() < min(m, n)
    for array in (t.T, t.b, t.c, t.norm):
        array += random.normal(size=array.shape)
    assert recompute(solver)
    for name, wanted in expected.items():
        np.testing.assert_allclose(getattr(t, name), wanted, atol=1e-9, err_msg=name)
    basis = np.hstack([t.B, np.eye(m)])[:, t.basic]  # the basic columns of Bq + slack = 1
    np.testing.assert_allclose(t.b, np.linalg.solve(basis, np.ones(m)), atol=1e-9)


def test_inverting():
    random = np.random.default_rng(5)
    matrix = random.normal(size=(17, 17))
    inverse = matrix.copy()
    assert simplex.invert(inverse, np.array([0]))
    np.testing.assert_allclose(inverse @ matrix, np.eye(17), atol=1e-10)
    assert not simplex.invert(matrix.copy(), np.array([1]))  # a request to stop
    matrix[3] = 2 * matrix[5] - matrix[8]
    assert not simplex.invert(matrix, np.array([0]))


def test_ucb_can_play_where_its_matrices_are_nearly_singular():
    """Once this run met a matrix that no method solved: rounding had spoiled the tableau, and HiGHS was too loose."""
    result = simulate(Match.of("bigger-number:7", "ucb", "ucb"), [27], record="last", metrics=["exploitability"])
    assert np.isfinite(result.final("exploitability")).all()
