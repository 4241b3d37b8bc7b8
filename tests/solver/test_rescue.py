"""What happens when a kernel does not certify its answer."""

import sys

import numpy as np
import pytest
from numba import njit

from coebl.core.errors import SolveError
from coebl.engine import Match, simulate
from coebl.solver import fallback_count, highs, maximin, solve
from coebl.solver.kernels import lockstep, simplex
from coebl.solver.kernels import tableau as tableaux


def refuse(A, *arguments):
    """A kernel that certifies nothing."""
    gap = arguments[-2]
    gap[:] = np.nan
    return len(A)


def test_the_double_precision_kernel_comes_first(monkeypatch):
    A = np.random.default_rng(0).normal(size=(3, 6, 5))
    expected = maximin(A)
    monkeypatch.setattr(lockstep, "maximin_small", refuse)
    before = fallback_count()
    found = maximin(A)
    np.testing.assert_allclose(found.strategy, expected.strategy, atol=1e-12)
    np.testing.assert_allclose(found.value, expected.value, atol=1e-12)
    assert (found.gap <= 1e-9).all()
    assert found.fallbacks == 0
    assert fallback_count() == before


def test_then_highs_and_it_is_counted(monkeypatch):
    A = np.random.default_rng(0).normal(size=(3, 6, 5))
    expected = maximin(A)
    monkeypatch.setattr(lockstep, "maximin_small", refuse)
    monkeypatch.setattr(simplex, "maximin_batch", refuse)
    before = fallback_count()
    found = maximin(A)
    np.testing.assert_allclose(found.strategy, expected.strategy, atol=1e-9)
    np.testing.assert_allclose(found.value, expected.value, atol=1e-9)
    assert found.fallbacks == 3
    assert fallback_count() == before + 3
    assert solve(A[0]).status == "optimal (HiGHS)"


def test_an_answer_that_fails_its_certificate_is_never_returned(monkeypatch):
    monkeypatch.setattr(lockstep, "maximin_small", refuse)
    monkeypatch.setattr(simplex, "maximin_batch", refuse)
    monkeypatch.setattr(
        sys.modules["coebl.solver.maximin"], "solve_with_highs", lambda scaled: (np.eye(1, 3)[0], np.eye(1, 3)[0], 0)
    )
    with pytest.raises(SolveError, match=r"relative gap of 1\.0e\+00, more than 1e-09"):
        solve([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])


def test_highs_alone_solves_a_non_square_game():
    row, column, _ = highs.solve_with_highs(np.array([[2, 0, 3], [0, 1, 3]]) / 3)
    np.testing.assert_allclose(row, [1 / 3, 2 / 3])
    np.testing.assert_allclose(column, [1 / 3, 2 / 3, 0], atol=1e-12)


@pytest.mark.parametrize(("m", "n"), [(30, 24), (24, 30), (41, 41)])
def test_a_spoiled_tableau_is_computed_anew(m, n):
    """Noise on a finished tableau goes away: what is computed from the basis is what pivoting had arrived at."""
    random = np.random.default_rng([m, n])
    found = maximin(random.normal(size=(1, m, n)), tied=True)
    states = found._state[0].tableaux
    assert states.T.dtype == np.float64
    tableau = tableaux.States(*(array[0] for array in states[:-2]), *states[-2:])
    expected = [np.array(array, dtype=float)[..., :n] for array in tableau]
    assert 1 < (tableau.basic < n).sum() < min(m, n)
    for array in (tableau.T, tableau.b, tableau.c, tableau.norm):
        array += random.normal(size=array.shape)
    assert _anew(states)
    for name, array, wanted in zip(tableau._fields[:-2], tableau, expected, strict=False):
        if name != "b":
            np.testing.assert_allclose(array[..., :n], wanted, atol=1e-9, err_msg=name)
    basis = np.hstack([tableau.B[:, :n], np.eye(m)])[:, tableau.basic]  # the basic columns of Bq + slack = 1
    np.testing.assert_allclose(tableau.b[:m], np.linalg.solve(basis, np.ones(m)), atol=1e-9)


@njit
def _anew(states):
    return simplex._compute_anew(tableaux.tableau_of(states, 0), tableaux.lay_out(states))


def test_inverting():
    random = np.random.default_rng(5)
    matrix = random.normal(size=(17, 17))
    inverse = matrix.copy()
    assert simplex._invert(inverse)
    np.testing.assert_allclose(inverse @ matrix, np.eye(17), atol=1e-10)
    matrix[3] = 2 * matrix[5] - matrix[8]
    assert not simplex._invert(matrix)


def test_ucb_plays_on_where_its_matrices_are_nearly_singular():
    """Once this run met a matrix that no method solved: rounding had spoiled the tableau, and HiGHS was too loose."""
    result = simulate(Match.of("bigger-number:7", "ucb", "ucb"), [27], record="last", metrics=["exploitability"])
    assert np.isfinite(result.final("exploitability")).all()
