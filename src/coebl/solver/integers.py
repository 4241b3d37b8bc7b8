"""The last method: the simplex algorithm of the kernels, in fixed-point arithmetic of 77 decimal places.

Python's integers hold the tableau, in units of ``2**-256``. `kernels.tableau` explains the linear program and the
names; here ``b`` is the last column of ``T`` and ``c`` the last row. It is a thousand times slower than a kernel. In
return, its rounding is so small that a basis which is singular in double precision does no harm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coebl.core.arrays import Floats

_BITS = 256  # fraction bits of every number
_ONE = 1 << _BITS
_PAYOFF_BITS = 62  # those of a payoff in [0, 1]: all that a double in [1, 2] has, and they fit an int64
_TIE_BITS = 40  # ties are decided by a right-hand side of 1 + 2**-40 * weight, which adds about 1e-12 to the gap
_NOISE_BITS = 60  # where the weights tie too, noise of this size decides, so that the pivots do not cycle
_OPTIMAL_BITS = 40  # a reduced cost of at most 2**-40 counts as zero; it adds no more than that to the gap
_PIVOT_BITS = 128  # an entry of T of at most 2**-128 counts as zero: far above its rounding, far below what matters
_MOST_WORK = 300_000_000  # entries that are updated before it gives up: a few minutes


def solve_with_integers(scaled: Floats, weight: Floats) -> tuple[Floats, Floats, int] | None:
    """Both strategies and the pivots of a matrix with entries in [0, 1]. None if it takes too long."""
    m, n = scaled.shape
    T = _first_tableau(scaled, weight)
    basic, nonbasic = np.arange(n, n + m), np.arange(n)
    for pivots in range(min(10 * (m + n) + 50, _MOST_WORK // (m * n))):
        s = _choose_column(T)
        if s < 0:
            return (*_strategies(T, basic, nonbasic), pivots)
        r = _choose_row(T, s)
        if r < 0:
            return None
        _pivot(T, r, s)
        basic[r], nonbasic[s] = nonbasic[s], basic[r]
    return None


def _first_tableau(scaled: Floats, weight: Floats) -> NDArray[np.object_]:
    m, n = scaled.shape
    T = np.full((m + 1, n + 1), _ONE, dtype=object)
    T[:m, :n] += _integers(scaled)
    T[:m, n] += _integers(weight) >> _TIE_BITS
    T[:m, n] += _integers(np.random.default_rng(0).random((m,))) >> _NOISE_BITS
    T[m, n] = 0
    return T


def _integers(share: Floats) -> NDArray[np.object_]:
    """Numbers in [0, 1] as fixed-point numbers."""
    whole: NDArray[np.object_] = np.rint(np.ldexp(share, _PAYOFF_BITS)).astype(np.int64).astype(object)
    result: NDArray[np.object_] = whole << (_BITS - _PAYOFF_BITS)
    return result


def _choose_column(T: NDArray[np.object_]) -> int:
    """The steepest edge, or -1 if none improves."""
    improving = np.flatnonzero(T[-1, :-1] > _ONE >> _OPTIMAL_BITS)
    if len(improving) == 0:
        return -1
    squares = (T[:, improving] / _ONE).astype(np.float64) ** 2
    return int(improving[np.argmax(squares[-1] / (1 + squares[:-1].sum(axis=0)))])


def _choose_row(T: NDArray[np.object_], s: int) -> int:
    """The row of least ratio, or -1 if there is none."""
    rows = np.flatnonzero(T[:-1, s] > _ONE >> _PIVOT_BITS)
    if len(rows) == 0:
        return -1
    return int(rows[np.argmin((T[rows, -1] << _BITS) // T[rows, s])])


def _pivot(T: NDArray[np.object_], r: int, s: int) -> None:
    """Exchange the variables of row r and column s, in place."""
    pivot = T[r, s]
    row, column = (T[r] << _BITS) // pivot, T[:, s].copy()
    T -= (column[:, None] * row) >> _BITS
    T[r] = row
    T[:, s] = -((column << _BITS) // pivot)
    T[r, s] = (_ONE << _BITS) // pivot


def _strategies(T: NDArray[np.object_], basic: NDArray[Any], nonbasic: NDArray[Any]) -> tuple[Floats, Floats]:
    """The strategies of both players that the tableau stands for."""
    m, n = len(basic), len(nonbasic)
    primal, dual = np.zeros(n + m, dtype=object), np.zeros(n + m, dtype=object)
    primal[basic], dual[nonbasic] = np.maximum(T[:m, n], 0), np.maximum(-T[m, :n], 0)
    row, column = dual[n:], primal[:n]
    return (row / row.sum()).astype(np.float64), (column / column.sum()).astype(np.float64)
