"""The answers that a kernel could not certify: each is solved again by the kernel for large matrices, or rejected.

First in double precision, then without the rule for ties, then on rounded payoffs, and at last on rounded payoffs with
the actions in another order, again and again. Rounding moves the gap by less than MOST_GAP, and payoffs that are almost
equal become equal, which the kernels like better. Another grid or another order leads to other bases, until one of them
is not nearly singular.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from coebl.core.arrays import Floats
from coebl.core.errors import InputError, SolveError, shorten
from coebl.kernels.tolerances import MOST_GAP
from coebl.solver.interruptible import new_answers, new_workspace, solve_large

Answer = tuple[Floats, Floats, int] | None  # both strategies and the pivots, or None where a method fails

# Multiples of 1 / grid to which payoffs are rounded, plus a shift of as many grid steps. Of 62 matrices of 150 x 150 on
# which the kernels fail, the first of these leaves 42, the first four 27 and all of them 12, in a few ms each.
_GRIDS = tuple((2.0**bits, shift) for shift in (0.5, 0.25, 0.0, 0.75) for bits in (30, 32))

# Orders of the actions that are tried. Of 92 matrices of 100 x 100 to 200 x 200 that no grid solves, all are solved by
# the 61st, and half by the 6th; of six of rank 3, plus 1e-8, the last by the 234th.
_MOST_ORDERS = 1000
_MOST_WORK = 100_000_000_000  # orders * m * n * (m + n), beyond ten orders: a few minutes


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

    Returns the number of runs that were solved in another order of their actions.

    Raises:
        InputError: the payoffs of a run are not finite.
        SolveError: no attempt came within MOST_GAP.
    """
    fallbacks = 0
    for run in np.flatnonzero(~(np.abs(gap) <= MOST_GAP)):
        name = "payoffs" if len(batch) == 1 else f"payoffs[{run}]"
        low, high = batch[run].min(), batch[run].max()
        if not high / 2 - low / 2 <= np.finfo(np.float64).max / 2:
            raise InputError(_not_finite(batch[run], name))
        span = (high - low) or 1.0
        scaled = (batch[run] - low) / span
        certified = _first_certified(scaled, weight[run if len(weight) > 1 else 0])
        if certified is None:
            raise SolveError(
                f"{name}: no attempt came within a relative gap of {MOST_GAP:.0e}. Round the payoffs to a billionth of "
                "their range, or leave out some actions."
            )
        reordered, (row[run], column[run], pivots[run]), lower, upper = certified
        fallbacks += reordered
        gap[run] = upper - lower
        value[run] = low + 0.5 * (lower + upper) * span
    return fallbacks


def _first_certified(scaled: Floats, weight: Floats) -> tuple[bool, tuple[Floats, Floats, int], float, float] | None:
    """Return the first attempt whose gap is small enough, and its guarantees to both players; None if there is none."""
    for reordered, answer in _attempts(scaled, weight):
        if answer is not None:
            lower, upper = (answer[0] @ scaled).min(), (scaled @ answer[1]).max()
            if upper - lower <= MOST_GAP:
                return reordered, answer, lower, upper
    return None


def _attempts(scaled: Floats, weight: Floats) -> Iterator[tuple[bool, Answer]]:
    """Yield the answers of one attempt after another, each with True if the actions were in another order."""
    m, n = scaled.shape
    yield False, _double_precision(scaled, weight)
    yield False, _double_precision(scaled)  # the rule for ties may ask for more digits than there are
    random = np.random.default_rng(0)
    orders = 10 + min(_MOST_ORDERS, _MOST_WORK // (m * n * (m + n)))
    for place in range(len(_GRIDS) + orders):
        if reordered := place >= len(_GRIDS):
            grid, shift = float(2 ** random.integers(30, 33)), random.random()
            rows, columns = random.permutation(m), random.permutation(n)
        else:
            (grid, shift), rows, columns = _GRIDS[place], np.arange(m), np.arange(n)
        rounded = (np.rint(scaled[np.ix_(rows, columns)] * grid + shift) - shift) / grid
        for solve in (_double_precision, _from_the_other_seat):
            answer = solve(rounded)
            yield reordered, answer and (answer[0][np.argsort(rows)], answer[1][np.argsort(columns)], answer[2])


def _double_precision(scaled: Floats, weight: Floats | None = None) -> Answer:
    """Solve one matrix by the kernel for large matrices, without the rule for ties if it is given no weights."""
    m, n = scaled.shape
    memory = new_workspace(1, m, n, "float64")
    answers = new_answers(1, m, n)
    if solve_large(scaled[None], np.zeros((1, m)) if weight is None else weight[None], memory, answers):
        return None
    row, column, _, _, pivots = answers
    return row[0], column[0], int(pivots[0])


def _from_the_other_seat(scaled: Floats) -> Answer:
    answer = _double_precision(np.ascontiguousarray(1 - scaled.T))
    return answer and (answer[1], answer[0], answer[2])


def _not_finite(matrix: Floats, name: str) -> str:
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad) == 0:
        return f"{name} spans more than a float can hold; accepted: finite numbers. Divide them by a constant."
    i, j = bad[0]
    entry = shorten(float(matrix[i, j]))
    return f"{name}[{i}, {j}] is {entry}; accepted: finite numbers. Replace it, or leave that action out."
