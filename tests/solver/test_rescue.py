"""The fallbacks for answers that a kernel does not certify."""

import numpy as np
import pytest

from coebl.core.errors import SolveError
from coebl.engine import Match, simulate
from coebl.games import solve
from coebl.kernels import lockstep, restart
from coebl.solver import Maximin, maximin, rescue
from oracles import certificate
from oracles.integers import solve_with_integers
from oracles.memory import recompute, tableau
from oracles.simplex import solve_exactly


def refuse(A, *arguments):
    """A kernel that certifies nothing."""
    gap = arguments[-2]
    gap[:] = np.nan
    return len(A)


def attempts(monkeypatch, answer):
    """Let answer(number, matrix) replace the kernels; True: what the one for large games finds. Return the matrices."""
    kernel, given = rescue._double_precision, []

    def attempt(scaled, weight=None):
        given.append(scaled)
        chosen = answer(len(given), scaled)
        return kernel(scaled, weight) if chosen is True else chosen

    monkeypatch.setattr(lockstep, "solve_small", refuse)
    monkeypatch.setattr(rescue, "_double_precision", attempt)
    return given


def test_the_double_precision_kernel_comes_first(monkeypatch):
    A = np.random.default_rng(0).normal(size=(3, 6, 5))
    expected = maximin(A)
    monkeypatch.setattr(lockstep, "solve_small", refuse)
    found = maximin(A)
    np.testing.assert_allclose(found.strategy, expected.strategy, atol=1e-12)
    np.testing.assert_allclose(found.value, expected.value, atol=1e-12)
    assert (found.gap <= 1e-9).all()
    assert found.fallbacks == 0


def test_no_game_needs_many_times_as_many_attempts_as_others(monkeypatch):
    """Each attempt takes about the same time, so this bounds the longest solve: rows scaled by 1e-5 to 1e5."""
    tried, generate = [], rescue._attempts

    def counted(scaled, weight):
        tried.append(0)
        for answer in generate(scaled, weight):
            tried[-1] += 1
            yield answer

    monkeypatch.setattr(rescue, "_attempts", counted)
    random = np.random.default_rng(1)
    for _ in range(60):
        maximin(random.normal(size=(80, 80)) * 10.0 ** random.uniform(-5, 5, size=(80, 1)))
    assert len(tried) > 30
    assert max(tried) <= 10 * np.median(tried)


def test_then_rounded_payoffs(monkeypatch):
    """From the row player's seat, then from the column player's; the answer is certified against the payoffs."""
    A = np.random.default_rng(1).normal(size=(6, 5))
    given = attempts(monkeypatch, lambda number, matrix: True if number == 6 else None)
    found = solve(A)
    moved = [(np.abs((matrix if matrix.shape == (6, 5) else 1 - matrix.T) - given[0])).max() for matrix in given]
    seats, sizes = [matrix.shape for matrix in given], [0 if size == 0 else int(-np.log2(size)) for size in moved]
    assert seats == [(6, 5), (6, 5), (6, 5), (5, 6), (6, 5), (5, 6)]
    assert sizes == [0, 0, 31, 31, 33, 33]
    assert found.status == "optimal"
    certificate.certify(A, found.row, found.column, found.value)


@pytest.mark.parametrize("seat", [0, 1])
def test_then_other_orders_of_the_actions_and_they_are_counted(monkeypatch, seat):
    A = np.random.default_rng(0).normal(size=(3, 6, 5))
    expected = maximin(A)
    given = attempts(monkeypatch, lambda number, matrix: True if number % 24 == (23 + seat) % 24 else None)
    found = maximin(A)
    np.testing.assert_allclose(found.strategy, expected.strategy, atol=1e-8)
    np.testing.assert_allclose(found.opponent, expected.opponent, atol=1e-8)
    np.testing.assert_allclose(found.value, expected.value, atol=1e-9)
    assert found.fallbacks == 3
    assert np.abs(np.sort(given[22], axis=None) - np.sort(given[0], axis=None)).max() < 2.0**-29
    given.clear()
    assert solve(A[0]).status == "optimal (second method)"


def test_an_answer_that_fails_its_certificate_is_never_returned(monkeypatch):
    monkeypatch.setattr(rescue, "_MOST_ORDERS", 3)
    given = attempts(monkeypatch, lambda number, matrix: (np.eye(1, 3)[0], np.eye(1, 3)[0], 0))
    game = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    with pytest.raises(
        SolveError, match=r"payoffs: no attempt came within a relative gap of 1e-09\. Round the payoffs"
    ):
        solve(game)
    assert len(given) == 2 + 2 * (8 + 10 + 3)
    with pytest.raises(SolveError, match=r"payoffs\[0\]: no attempt"):
        maximin(np.stack([game, game]))


def test_the_gap_is_at_most_what_is_promised_however_it_is_computed(monkeypatch):
    """Of answers at the limit, those are rejected whose gap, computed from the payoffs as given, may be above 1e-9."""
    random = np.random.default_rng(3)
    monkeypatch.setattr(rescue, "_MOST_ORDERS", -10)
    accepted = rejected = 0
    for excess in [*np.linspace(-4e-12, 4e-12, 401), *np.linspace(-2e-15, 2e-15, 401)]:
        A = random.uniform(0.1, 10) * np.eye(2) + random.uniform(-1, 1)
        row = np.array([0.5 + (1e-9 + excess), 0.5 - (1e-9 + excess)])
        with monkeypatch.context() as patch:
            attempts(patch, lambda number, matrix, row=row: (row, np.full(2, 0.5), 1) if number == 1 else None)
            try:
                found = solve(A)
            except SolveError:
                rejected += 1
                continue
        accepted += 1
        for unit in (1, 3, 1 / 7):  # as a user computes it
            payoffs = unit * A
            assert (payoffs @ found.column).max() - (found.row @ payoffs).min() <= 1e-9 * np.ptp(payoffs)
    assert accepted > 100
    assert rejected > 100


@pytest.mark.parametrize("seed", [0, 1])
def test_games_that_only_another_order_solves(seed):
    """Of rank 3, plus 1e-8: HiGHS gives up on them."""
    random = np.random.default_rng([seed, 150])
    A = random.normal(size=(150, 3)) @ random.normal(size=(3, 150)) + 1e-8 * random.normal(size=(150, 150))
    found = solve(A)
    certificate.certify(A, found.row, found.column, found.value)


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


def test_a_game_on_which_highs_goes_on_for_ever_is_solved():
    """With HiGHS 1.12, of SciPy 1.17, it had not ended after 28 minutes."""
    random = np.random.default_rng([23, 60, 60, 304200])
    scale = 10 ** random.uniform(0, 0, (60, 1)), 10 ** random.uniform(-8, 8, (1, 60))
    payoff = random.normal(size=(60, 60)) * scale[0] * scale[1]
    found = maximin(payoff)
    certificate.certify(payoff, found.strategy, found.opponent, found.value)


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
    assert restart.invert(inverse, np.array([0]))
    np.testing.assert_allclose(inverse @ matrix, np.eye(17), atol=1e-10)
    assert not restart.invert(matrix.copy(), np.array([1]))  # a request to stop
    matrix[3] = 2 * matrix[5] - matrix[8]
    assert not restart.invert(matrix, np.array([0]))


def test_ucb_plays_on_where_its_matrices_are_nearly_singular():
    """Once this run met a matrix that no method solved: rounding had spoiled the tableau, and HiGHS was too loose."""
    result = simulate(Match.of("bigger-number:7", "ucb", "ucb"), [27], record="last", metrics=["exploitability"])
    assert np.isfinite(result.final("exploitability")).all()
