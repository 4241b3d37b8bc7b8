"""Equilibria checked from their definition, and answers of solvers that must be equal."""

import numpy as np
import pytest


def certify(payoff, row, column, value, tolerance=1e-9):
    """Assert that the strategies are strategies, and optimal to the tolerance, from the payoffs alone."""
    A = np.asarray(payoff, dtype=float)
    spread = (A.max() - A.min()) or 1.0
    for strategy in (row, column):
        assert (strategy >= 0).all()
        assert strategy.sum() == pytest.approx(1, abs=1e-12)
    lower, upper = (row @ (A - A.min())).min() / spread, ((A - A.min()) @ column).max() / spread
    assert upper - lower <= tolerance
    tolerance += 4 * np.spacing(np.abs(A).max()) / spread  # the value itself can be no finer than a float
    assert lower - tolerance <= (value - A.min()) / spread <= upper + tolerance


def certify_batch(batch, solution):
    """Certify every answer to a batch of games."""
    for payoff, row, column, value in zip(batch, solution.strategy, solution.opponent, solution.value, strict=True):
        certify(payoff, row, column, value)


def assert_same(solution, expected, run=...):
    """Assert that an answer equals another one, or this run of it, to the last bit."""
    for name in ("strategy", "opponent", "value", "gap", "pivots"):
        np.testing.assert_array_equal(getattr(solution, name), getattr(expected, name)[run], err_msg=name)
