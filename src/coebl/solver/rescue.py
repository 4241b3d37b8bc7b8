"""The answers that a kernel could not certify: each is solved again by more patient methods, or rejected.

First the kernels again, in double precision and on rounded payoffs, then HiGHS through SciPy, then the simplex
algorithm of the kernels in fixed-point arithmetic of 77 decimal places. For the latter, Python's integers hold the
tableau, in units of ``2**-256``. `kernels.tableau` explains the linear program and the names; here ``b`` is the last
column of ``T`` and ``c`` the last row. It is a thousand times slower than a kernel. In return, its rounding is so small
that a basis which is singular in double precision does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coebl.core.arrays import Floats
from coebl.core.errors import InputError, SolveError, shorten
from coebl.kernels.tolerances import MOST_GAP
from coebl.solver.interruptible import in_second_thread, new_answers, new_workspace, solve_large

Answer = tuple[Floats, Floats, int] | None  # both strategies and the pivots, or None where a method fails

# Payoffs rounded to multiples of 1 / grid, plus a shift of as many grid steps. That moves the gap by at most 1 / grid,
# which is less than MOST_GAP, and payoffs that are almost equal become equal, which the kernels like better. Another
# grid or shift leads to other bases: of 62 matrices of 150 x 150 on which the kernels fail, the first of these leaves
# 42, the first four 27 and all of them 12, in a few ms each, where HiGHS takes some tenths of a second.
_GRIDS = tuple((2.0**bits, shift) for shift in (0.5, 0.25, 0.0, 0.75) for bits in (30, 32))

_HIGHS_TOLERANCE = 1e-10  # the least that HiGHS takes
_HIGHS_PATIENCE = 20  # iterations per action of either player: 1 to 5 are usual, and in rare games it would never end
_LONG = 1e7  # m * n * (m + n) of a game that takes some tenths of a second

_BITS = 256  # fraction bits of every number
_ONE = 1 << _BITS
_PAYOFF_BITS = 62  # those of a payoff in [0, 1]: all that a double in [1, 2] has, and they fit an int64
_TIE_BITS = 40  # ties are decided by a right-hand side of 1 + 2**-40 * weight, which adds about 1e-12 to the gap
_NOISE_BITS = 60  # where the weights tie too, noise of this size decides, so that the pivots do not cycle
_OPTIMAL_BITS = 40  # a reduced cost of at most 2**-40 counts as zero; it adds no more than that to the gap
_PIVOT_BITS = 128  # an entry of T of at most 2**-128 counts as zero: far above its rounding, far below what matters
_MOST_WORK = 300_000_000  # entries that are updated before it gives up: a few minutes


def rescue(
    batch: Floats,
    weight: Floats,
    row: Floats,
    column: Floats,
    value: Floats,
    gap: Floats,
    pivots: NDArray[np.int64],
) -> int:
    """Solve again the runs whose gap is too large, and write their answers to the same arrays.

    Returns the number of runs that the kernels could not solve, and that were passed to HiGHS.

    Raises:
        InputError: the payoffs of a run are not finite.
        SolveError: no method came within MOST_GAP.
    """
    fallbacks = 0
    for run in np.flatnonzero(~(np.abs(gap) <= MOST_GAP)):
        low, high = batch[run].min(), batch[run].max()
        if not high / 2 - low / 2 <= np.finfo(np.float64).max / 2:
            raise InputError(_not_finite(batch[run], int(run), len(batch)))
        span = (high - low) or 1.0
        scaled = (batch[run] - low) / span
        ties = weight[run if len(weight) > 1 else 0]
        certified = _first_certified(scaled, _by_kernels(scaled, ties))
        if certified is None:
            fallbacks += 1
            certified = _first_certified(scaled, _by_other_methods(scaled, ties))
        if certified is None:
            raise SolveError(
                f"{_name(int(run), len(batch))}: neither the kernels nor HiGHS nor integers came within a relative gap "
                f"of {MOST_GAP:.0e}. Round the payoffs to a billionth of their range, or leave out some actions."
            )
        (row[run], column[run], pivots[run]), lower, upper = certified
        gap[run] = upper - lower
        value[run] = low + 0.5 * (lower + upper) * span
    return fallbacks


def _first_certified(
    scaled: Floats, answers: Iterator[Answer]
) -> tuple[tuple[Floats, Floats, int], float, float] | None:
    """Return the first answer whose gap is small enough, and its guarantees to both players; None if there is none."""
    for answer in answers:
        if answer is not None:
            lower, upper = (answer[0] @ scaled).min(), (scaled @ answer[1]).max()
            if upper - lower <= MOST_GAP:
                return answer, lower, upper
    return None


def _by_kernels(scaled: Floats, weight: Floats) -> Iterator[Answer]:
    yield _double_precision(scaled, weight)
    m, n = scaled.shape
    yield _double_precision(scaled, np.zeros(m))  # the rule for ties may ask for more digits than there are
    for grid, shift in _GRIDS:
        rounded = (np.rint(scaled * grid + shift) - shift) / grid
        yield _double_precision(rounded, np.zeros(m))
        mirrored = _double_precision(np.ascontiguousarray(1 - rounded.T), np.zeros(n))  # the column player's seat
        yield mirrored and (mirrored[1], mirrored[0], mirrored[2])


def _by_other_methods(scaled: Floats, weight: Floats) -> Iterator[Answer]:
    yield solve_with_highs(scaled)
    yield solve_with_integers(scaled, weight)


def _double_precision(scaled: Floats, weight: Floats) -> Answer:
    """Solve one matrix by the kernel for large matrices."""
    m, n = scaled.shape
    memory = new_workspace(1, m, n, "float64")
    answers = new_answers(1, m, n)
    if solve_large(scaled[None], weight[None], memory, answers):
        return None
    row, column, _, _, pivots = answers
    return row[0], column[0], int(pivots[0])


def _name(run: int, runs: int) -> str:
    return "payoffs" if runs == 1 else f"payoffs[{run}]"


def _not_finite(matrix: Floats, run: int, runs: int) -> str:
    bad = np.argwhere(~np.isfinite(matrix))
    where = _name(run, runs)
    if len(bad) == 0:
        return f"{where} spans more than a float can hold; accepted: finite numbers. Divide them by a constant."
    i, j = bad[0]
    entry = shorten(float(matrix[i, j]))
    return f"{where}[{i}, {j}] is {entry}; accepted: finite numbers. Replace it, or leave that action out."


def solve_with_highs(scaled: Floats) -> Answer:
    """Solve a matrix with entries in [0, 1] by HiGHS, one player at a time."""
    row = _one_player(scaled)
    column = _one_player(1 - scaled.T) if row else None
    return (row[0], column[0], row[1] + column[1]) if row and column else None


def _one_player(payoff: Floats) -> tuple[Floats, int] | None:
    """Maximise v subject to payoff' x >= v, x a strategy. Returns x and the iterations, or None."""
    from scipy.optimize import linprog

    m, n = payoff.shape
    program = partial(
        linprog,
        c=np.append(np.zeros(m), -1.0),
        A_ub=np.hstack([-payoff.T, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
        method="highs-ds",
        options={
            "primal_feasibility_tolerance": _HIGHS_TOLERANCE,
            "dual_feasibility_tolerance": _HIGHS_TOLERANCE,
            "maxiter": _HIGHS_PATIENCE * (m + n) + 100,
        },
    )
    result = program() if m * n * (m + n) < _LONG else in_second_thread(program)
    if result.x is None:
        return None
    strategy = np.maximum(result.x[:m], 0.0)
    return strategy / strategy.sum(), int(result.nit)


def solve_with_integers(scaled: Floats, weight: Floats) -> Answer:
    """Solve a matrix with entries in [0, 1] in fixed-point arithmetic, unless it takes too long."""
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
    """Convert numbers in [0, 1] to fixed-point numbers."""
    integers: NDArray[np.object_] = np.rint(np.ldexp(share, _PAYOFF_BITS)).astype(np.int64).astype(object)
    integers <<= _BITS - _PAYOFF_BITS
    return integers


def _choose_column(T: NDArray[np.object_]) -> int:
    """Return the column of the steepest edge, or -1 if none improves."""
    improving = np.flatnonzero(T[-1, :-1] > _ONE >> _OPTIMAL_BITS)
    if len(improving) == 0:
        return -1
    squares = (T[:, improving] / _ONE).astype(np.float64) ** 2
    return int(improving[np.argmax(squares[-1] / (1 + squares[:-1].sum(axis=0)))])


def _choose_row(T: NDArray[np.object_], s: int) -> int:
    """Return the row of least ratio, or -1 if there is none."""
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
    """Read both players' strategies off the tableau."""
    m, n = len(basic), len(nonbasic)
    primal, dual = np.zeros(n + m, dtype=object), np.zeros(n + m, dtype=object)
    primal[basic], dual[nonbasic] = np.maximum(T[:m, n], 0), np.maximum(-T[m, :n], 0)
    row, column = dual[n:], primal[:n]
    return (row / row.sum()).astype(np.float64), (column / column.sum()).astype(np.float64)
