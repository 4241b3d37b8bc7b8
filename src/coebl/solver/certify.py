"""The answers that a kernel could not certify: each is solved again by more patient methods, or refused."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from coebl.core.arrays import Floats
from coebl.core.errors import InputError, SolveError, shorten
from coebl.kernels.tolerances import MOST_GAP
from coebl.solver.highs import solve_with_highs
from coebl.solver.integers import solve_with_integers
from coebl.solver.interruptible import new_answers, new_workspace, solve_large

Answer = tuple[Floats, Floats, int] | None  # both strategies and the pivots, or None where a method fails

# Payoffs rounded to multiples of 1 / grid, plus a shift of as many grid steps. That moves the gap by at most 1 / grid,
# which is less than MOST_GAP, and payoffs that are almost equal become equal, which the kernels like better. Another
# grid or shift leads to other bases: of 62 matrices of 150 x 150 on which the kernels fail, the first of these leaves
# 42, the first four 27 and all of them 12, in a few ms each, where HiGHS takes some tenths of a second.
_GRIDS = tuple((2.0**bits, shift) for shift in (0.5, 0.25, 0.0, 0.75) for bits in (30, 32))


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

    Returns the number of runs that the kernels could not solve, and that were handed to HiGHS.

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
    """The first answer whose gap is small enough, and what it guarantees to either player. None if there is none."""
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
    """Both strategies and the pivots of one matrix, from the kernel for large matrices. None if it fails."""
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
