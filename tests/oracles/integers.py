"""A twin of the kernels in fixed-point arithmetic of 77 decimal places, for games that are too large for fractions.

Python's integers hold the tableau, in units of ``2**-256``. `coebl.kernels.tableau` explains the linear program and the
names; here ``b`` is the last column of ``T`` and ``c`` the last row. A basis that is singular in double precision does
no harm.
"""

import numpy as np

_BITS = 256  # fraction bits of every number
_ONE = 1 << _BITS
_PAYOFF_BITS = 62  # those of a payoff in [0, 1]: all that a double in [1, 2] has, and they fit an int64
_TIE_BITS = 40  # ties are decided by a right-hand side of 1 + 2**-40 * weight, which adds about 1e-12 to the gap
_NOISE_BITS = 60  # where the weights tie too, noise of this size decides, so that the pivots do not cycle
_OPTIMAL_BITS = 40  # a reduced cost of at most 2**-40 counts as zero; it adds no more than that to the gap
_PIVOT_BITS = 128  # an entry of T of at most 2**-128 counts as zero: far above its rounding, far below what matters


def solve_with_integers(scaled, weight):
    """Return both strategies of a matrix with entries in [0, 1]."""
    m, n = scaled.shape
    T = _first_tableau(scaled, weight)
    basic, nonbasic = np.arange(n, n + m), np.arange(n)
    while (s := _choose_column(T)) >= 0:
        r = _choose_row(T, s)
        _pivot(T, r, s)
        basic[r], nonbasic[s] = nonbasic[s], basic[r]
    return _strategies(T, basic, nonbasic)


def _first_tableau(scaled, weight):
    m, n = scaled.shape
    T = np.full((m + 1, n + 1), _ONE, dtype=object)
    T[:m, :n] += _integers(scaled)
    T[:m, n] += _integers(weight) >> _TIE_BITS
    T[:m, n] += _integers(np.random.default_rng(0).random((m,))) >> _NOISE_BITS
    T[m, n] = 0
    return T


def _integers(share):
    """Convert numbers in [0, 1] to fixed-point numbers."""
    integers = np.rint(np.ldexp(share, _PAYOFF_BITS)).astype(np.int64).astype(object)
    integers <<= _BITS - _PAYOFF_BITS
    return integers


def _choose_column(T):
    """Return the column of the steepest edge, or -1 if none improves."""
    improving = np.flatnonzero(T[-1, :-1] > _ONE >> _OPTIMAL_BITS)
    if len(improving) == 0:
        return -1
    squares = (T[:, improving] / _ONE).astype(np.float64) ** 2
    return int(improving[np.argmax(squares[-1] / (1 + squares[:-1].sum(axis=0)))])


def _choose_row(T, s):
    """Return the row of least ratio."""
    rows = np.flatnonzero(T[:-1, s] > _ONE >> _PIVOT_BITS)
    return int(rows[np.argmin((T[rows, -1] << _BITS) // T[rows, s])])


def _pivot(T, r, s):
    """Exchange the variables of row r and column s, in place."""
    pivot = T[r, s]
    row, column = (T[r] << _BITS) // pivot, T[:, s].copy()
    T -= (column[:, None] * row) >> _BITS
    T[r] = row
    T[:, s] = -((column << _BITS) // pivot)
    T[r, s] = (_ONE << _BITS) // pivot


def _strategies(T, basic, nonbasic):
    """Read both players' strategies off the tableau."""
    m, n = len(basic), len(nonbasic)
    primal, dual = np.zeros(n + m, dtype=object), np.zeros(n + m, dtype=object)
    primal[basic], dual[nonbasic] = np.maximum(T[:m, n], 0), np.maximum(-T[m, :n], 0)
    row, column = dual[n:], primal[:n]
    return (row / row.sum()).astype(np.float64), (column / column.sum()).astype(np.float64)
