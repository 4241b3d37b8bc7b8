"""Values and tie-breaking by HiGHS, through SciPy: a third opinion, independent of our tableau."""

import numpy as np
from scipy.optimize import linprog


def value_by_highs(payoff) -> float:
    """The value of a game, in units of its payoffs."""
    A = np.asarray(payoff, dtype=float)
    m, n = A.shape
    result = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=np.hstack([-A.T, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
    )
    assert result.status == 0, result.message
    return -result.fun


def least_mean_weight(payoff, value, weight, slack=1e-9) -> float:
    """The least mean weight of a row strategy that earns the value."""
    A = np.asarray(payoff, dtype=float)
    m, n = A.shape
    result = linprog(
        weight, A_ub=-A.T, b_ub=np.full(n, slack - value), A_eq=np.ones((1, m)), b_eq=[1.0], bounds=[(0, None)] * m
    )
    assert result.status == 0, result.message
    return result.fun
