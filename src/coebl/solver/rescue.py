"""The answers that a kernel could not certify: each is solved again by the kernel for large matrices, or rejected.

First in double precision, then without the rule for ties, then on rounded payoffs, and at last by a part of the actions
that grows. Rounding moves the gap by less than MOST_GAP, and payoffs that are almost equal become equal, which the
kernels like better. A part leaves out most of the actions that are almost equal to others, and it is small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

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

_LOW_RANK = 1e-8  # of the payoff range: the largest error with which payoffs count as those of a matrix of low rank
_MOST_STARTS = 20  # of a part that grows


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

    Returns the number of runs that were solved by a part of their actions.

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
        certified = _first_certified(scaled, _attempts(scaled, weight[run if len(weight) > 1 else 0]))
        if certified is None:
            raise SolveError(
                f"{name}: no attempt came within a relative gap of {MOST_GAP:.0e}. Round the payoffs to a billionth of "
                "their range, or leave out some actions."
            )
        grown, (row[run], column[run], pivots[run]), lower, upper = certified
        fallbacks += grown
        gap[run] = upper - lower
        value[run] = low + 0.5 * (lower + upper) * span
    return fallbacks


def _first_certified(
    scaled: Floats, attempts: Iterable[tuple[bool, Answer]]
) -> tuple[bool, tuple[Floats, Floats, int], float, float] | None:
    """Return the first attempt whose gap is small enough, and its guarantees to both players; None if there is none."""
    for grown, answer in attempts:
        if answer is not None:
            lower, upper = (answer[0] @ scaled).min(), (scaled @ answer[1]).max()
            if upper - lower <= MOST_GAP:
                return grown, answer, lower, upper
    return None


def _attempts(scaled: Floats, weight: Floats) -> Iterator[tuple[bool, Answer]]:
    """Yield the answers of one attempt after another, each with True if it is that of a part of the actions."""
    yield False, _double_precision(scaled, weight)
    yield False, _double_precision(scaled)  # the rule for ties may ask for more digits than there are
    parts = ((True, _by_a_part(scaled, start)) for start in range(min(len(scaled), _MOST_STARTS)))
    # Where the rank is low, all large bases are nearly singular, and most grids fail.
    yield from chain(parts, _on_grids(scaled)) if _has_low_rank(scaled) else chain(_on_grids(scaled), parts)


def _on_grids(scaled: Floats) -> Iterator[tuple[bool, Answer]]:
    for grid, shift in _GRIDS:
        rounded = (np.rint(scaled * grid + shift) - shift) / grid
        yield False, _double_precision(rounded)
        yield False, _from_the_other_seat(rounded)


def _by_a_part(scaled: Floats, start: int) -> Answer:
    """Solve the game of some actions, add each player's best answer, and repeat until this no longer changes it.

    It begins with one row and the best answer to it. None if one of these games is not solved.
    """
    (m, n), by_column, pivots = scaled.shape, scaled.T.copy(), 0
    rows, columns = [start], [int(scaled[start].argmin())]
    while True:
        part = scaled[np.ix_(rows, columns)]
        certified = _first_certified(part, chain([(False, _double_precision(part))], _on_grids(part)))
        if certified is None:
            return None
        _, (row, column, more), _, _ = certified
        pivots += more
        # Sums of rows, which are the same on every CPU; the order in which BLAS adds is not.
        lower, upper = (row[:, None] * scaled[rows]).sum(axis=0), (column[:, None] * by_column[columns]).sum(axis=0)
        best_row, best_column = int(upper.argmax()), int(lower.argmin())
        if upper[best_row] - lower[best_column] <= MOST_GAP or (best_row in rows and best_column in columns):
            answer = np.zeros(m), np.zeros(n), pivots
            answer[0][rows], answer[1][columns] = row, column
            return answer
        rows += [best_row] * (best_row not in rows)
        columns += [best_column] * (best_column not in columns)


def _has_low_rank(scaled: Floats) -> bool:
    """True if a matrix of at most a quarter of the full rank differs by _LOW_RANK or less: elimination finds it."""
    rest = scaled.copy()
    for _ in range(min(scaled.shape) // 4):
        i, j = np.unravel_index(np.abs(rest).argmax(), rest.shape)
        if np.abs(rest[i, j]) <= _LOW_RANK:
            return True
        rest -= rest[:, j, None] * (rest[i] / rest[i, j])
    return bool(np.abs(rest).max() <= _LOW_RANK)


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
