"""What happens when a kernel does not certify its answer."""

import numpy as np
import pytest

from coebl.errors import SolveError
from coebl.solver import _highs, _lockstep, _maximin, _simplex, fallback_count, maximin, solve


def refuse(A, *arguments):
    """A kernel that certifies nothing."""
    gap = arguments[-2]
    gap[:] = np.nan
    return len(A)


def test_the_double_precision_kernel_comes_first(monkeypatch):
    A = np.random.default_rng(0).normal(size=(3, 6, 5))
    expected = maximin(A)
    monkeypatch.setattr(_lockstep, "maximin_small", refuse)
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
    monkeypatch.setattr(_lockstep, "maximin_small", refuse)
    monkeypatch.setattr(_simplex, "maximin_batch", refuse)
    before = fallback_count()
    found = maximin(A)
    np.testing.assert_allclose(found.strategy, expected.strategy, atol=1e-9)
    np.testing.assert_allclose(found.value, expected.value, atol=1e-9)
    assert found.fallbacks == 3
    assert fallback_count() == before + 3
    assert solve(A[0]).status == "optimal (HiGHS)"


def test_an_answer_that_fails_its_certificate_is_never_returned(monkeypatch):
    monkeypatch.setattr(_lockstep, "maximin_small", refuse)
    monkeypatch.setattr(_simplex, "maximin_batch", refuse)
    monkeypatch.setattr(_maximin, "solve_with_highs", lambda scaled: (np.eye(1, 3)[0], np.eye(1, 3)[0], 0))
    with pytest.raises(SolveError, match=r"relative gap of 1\.0e\+00, more than 1e-09"):
        solve([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])


def test_highs_alone_solves_a_non_square_game():
    row, column, _ = _highs.solve_with_highs(np.array([[2, 0, 3], [0, 1, 3]]) / 3)
    np.testing.assert_allclose(row, [1 / 3, 2 / 3])
    np.testing.assert_allclose(column, [1 / 3, 2 / 3, 0], atol=1e-12)
