"""The answers that a kernel could not certify: each is solved again by more patient methods, or refused."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coebl.core.errors import InputError, SolveError, shorten
from coebl.solver.highs import solve_with_highs
from coebl.solver.kernels import simplex, workspace
from coebl.solver.kernels.tolerances import MOST_GAP

Floats = NDArray[np.float64]

_fallbacks = 0


def fallback_count() -> int:
    """The number of matrices that this process has handed to HiGHS because no kernel could certify its answer."""
    return _fallbacks


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

    The methods are tried in this order: the kernel for large matrices in double precision, the same without the rule
    for ties, HiGHS. Returns the number of runs that HiGHS solved.

    Raises:
        InputError: the payoffs of a run are not finite.
        SolveError: no method came within MOST_GAP.
    """
    global _fallbacks
    fallbacks = 0
    m = batch.shape[1]
    for run in np.flatnonzero(~(np.abs(gap) <= MOST_GAP)):
        low, high = batch[run].min(), batch[run].max()
        if not high / 2 - low / 2 <= np.finfo(np.float64).max / 2:
            raise InputError(_not_finite(batch[run], int(run), len(batch)))
        span = (high - low) or 1.0
        scaled = (batch[run] - low) / span
        again = _double_precision(scaled, weight[run if len(weight) > 1 else 0])
        if again is None:  # the rule for ties asks for more digits than there are: any optimal strategy will do
            again = _double_precision(scaled, np.zeros(m))
        if again is None:
            again = solve_with_highs(scaled)
            fallbacks += 1
        row[run], column[run], pivots[run] = again
        lower, upper = (row[run] @ scaled).min(), (scaled @ column[run]).max()
        gap[run] = upper - lower
        value[run] = low + 0.5 * (lower + upper) * span
        if not gap[run] <= MOST_GAP:
            raise SolveError(
                f"run {run}: the best answer has a relative gap of {gap[run]:.1e}, more than {MOST_GAP:.0e}; "
                "neither the kernels nor HiGHS came nearer. Payoffs of very different sizes do this: rescale them."
            )
    _fallbacks += fallbacks
    return fallbacks


def _double_precision(scaled: Floats, weight: Floats) -> tuple[Floats, Floats, int] | None:
    """Both strategies and the pivots of one matrix, from the kernel for large matrices. None if it fails."""
    m, n = scaled.shape
    memory = workspace.new_workspace(1, m, n, np.empty(0, np.float64))
    row, column = np.zeros((1, m)), np.zeros((1, n))
    value, gap, pivots = np.empty(1), np.empty(1), np.empty(1, np.int64)
    if simplex.solve_batch(scaled[None], weight[None], memory, row, column, value, gap, pivots):
        return None
    return row[0], column[0], int(pivots[0])


def _not_finite(matrix: Floats, run: int, runs: int) -> str:
    bad = np.argwhere(~np.isfinite(matrix))
    where = "payoffs" if runs == 1 else f"payoffs[{run}]"
    if len(bad) == 0:
        return f"{where} spans more than a float can hold; accepted: finite numbers. Divide them by a constant."
    i, j = bad[0]
    entry = shorten(float(matrix[i, j]))
    return f"{where}[{i}, {j}] is {entry}; accepted: finite numbers. Replace it, or leave that action out."
