"""The compiled kernel for small matrices: many simplex tableaux in lockstep, one per lane of a vector.

The method is that of `_simplex`: same linear program, same pivot rule, same rule for ties; the names are explained
there. What differs is the layout. Every array ends in an axis of LANES runs, flattened and of a length known to the
compiler, so that each operation of a pivot is a sweep over neighbouring numbers and becomes vector instructions; a
small tableau on its own is too short for those. A lane whose run is finished takes the next run at once. Double
precision throughout, and no state is kept: at these sizes solving anew costs less than a warm start.
"""

import numpy as np

from coebl.solver._simplex import _ROUNDING, MOST_GAP, _aligned, _compiled

LANES = 32
_ZERO = 1e-12  # what counts as zero in b and c
_TINY = 1e-9  # what counts as zero in T


@_compiled
def _load(A, run, weight, lane, T, b, e, c, norm, basic, nonbasic):
    """Put the first tableau of A[run] into a lane. Return the payoffs' low end, their width, and the first column.

    The column is the one _choose_column would take, which has already been called in this round: all costs are
    equal, so the steepest is that of least norm.
    """
    _, m, n = A.shape
    low = high = A[run, 0, 0]
    check = 0.0
    for i in range(m):
        for j in range(n):
            entry = A[run, i, j]
            low = entry if entry < low else low
            high = entry if entry > high else high
            check += entry * 0.0  # not a number where the entry is not finite; it then spreads to all
    span = (high - low if high > low else 1.0) + check
    unit = 1 / span
    for j in range(n):
        at = j * LANES + lane
        c[at] = norm[at] = 1.0
        nonbasic[at] = j
    for i in range(m):
        at = i * LANES + lane
        b[at] = 1.0
        e[at] = weight[run if weight.shape[0] > 1 else 0, i]
        basic[at] = n + i
        for j in range(n):
            entry = 1 + (A[run, i, j] - low) * unit
            T[(i * (n | 1) + j) * LANES + lane] = entry
            norm[j * LANES + lane] += entry * entry
    steepest = 0
    for j in range(1, n):
        if norm[j * LANES + lane] < norm[steepest * LANES + lane]:
            steepest = j
    return low, span, steepest


@_compiled
def _unload(A, run, low, span, lane, b, c, basic, nonbasic, row, column):
    """Read the strategies of a run off its lane. Return what they guarantee, in units of the scaled payoffs."""
    _, m, n = A.shape
    for i in range(m):
        row[run, i] = 0.0
    for j in range(n):
        column[run, j] = 0.0
    total_row = total_column = 0.0
    for at in range(lane, m * LANES, LANES):
        if basic[at] < n and b[at] > _ROUNDING:
            column[run, basic[at]] = b[at]
            total_column += b[at]
    for at in range(lane, n * LANES, LANES):
        if nonbasic[at] >= n and c[at] < -_ROUNDING:
            row[run, nonbasic[at] - n] = -c[at]
            total_row -= c[at]
    for i in range(m):
        row[run, i] /= total_row
    for j in range(n):
        column[run, j] /= total_column
    lower, upper = np.inf, -np.inf
    for j in range(n):
        total = 0.0
        for i in range(m):
            total += row[run, i] * (A[run, i, j] - low)
        lower = total if total < lower else lower
    for i in range(m):
        total = 0.0
        for j in range(n):
            total += column[run, j] * (A[run, i, j] - low)
        upper = total if total > upper else upper
    return lower / span, upper / span


@_compiled
def _choose_column(n, width, c, norm, entering, best):
    """The steepest edge of every lane; best is 0 where none improves."""
    for k in range(width):
        best[k] = 0.0
        entering[k] = 0
    for j in range(n):
        for k in range(width):
            gain = c[j * LANES + k] - _ZERO
            gain = gain if gain > 0.0 else 0.0
            score = gain * gain / norm[j * LANES + k]
            better = score > best[k]
            best[k] = score if better else best[k]
            entering[k] = j if better else entering[k]


@_compiled
def _choose_row(m, width, b, e, factor, leaving, step, tie_step):
    """The row of least ratio in every lane, ties by the tie part; step is infinite where there is none."""
    for k in range(width):
        step[k] = tie_step[k] = np.inf
        leaving[k] = 0
    for i in range(m):
        for k in range(width):
            entry = factor[i * LANES + k]
            usable = entry > _TINY
            entry = entry if usable else 1.0
            ratio = b[i * LANES + k] / entry if usable else np.inf
            tie_ratio = e[i * LANES + k] / entry
            behind = (ratio - step[k]) * entry
            better = (behind < -_ZERO) | ((behind <= _ZERO) & (tie_ratio < tie_step[k]))
            step[k] = ratio if better else step[k]
            tie_step[k] = tie_ratio if better else tie_step[k]
            leaving[k] = i if better else leaving[k]


@_compiled
def _eliminate(m, n, width, T, b, e, c, norm, factor, row, step, tie_step, price):
    """Subtract factor x row from T, likewise from b, e and c, in every lane; leave new column norms in norm."""
    for i in range(m):
        for k in range(width):
            b[i * LANES + k] -= factor[i * LANES + k] * step[k]
            e[i * LANES + k] -= factor[i * LANES + k] * tie_step[k]
    for j in range(n):
        for k in range(width):
            c[j * LANES + k] -= price[k] * row[j * LANES + k]
            norm[j * LANES + k] = 1.0
    stride = (n | 1) * LANES
    for i in range(0, m - 1, 2):  # two rows a pass: row and norm are then read once for two
        for j in range(n):
            above, factors, here = np.uint64(i * stride + j * LANES), np.uint64(i * LANES), np.uint64(j * LANES)
            below, next_factors = above + np.uint64(stride), factors + np.uint64(LANES)
            for lane in range(width):
                k = np.uint64(lane)  # unsigned, so that no index may count from the end, which would forbid vectors
                one = T[above + k] - factor[factors + k] * row[here + k]
                other = T[below + k] - factor[next_factors + k] * row[here + k]
                T[above + k] = one
                T[below + k] = other
                norm[here + k] += one * one + other * other
    if m % 2:
        for j in range(n):
            for k in range(width):
                entry = T[(m - 1) * stride + j * LANES + k] - factor[(m - 1) * LANES + k] * row[j * LANES + k]
                T[(m - 1) * stride + j * LANES + k] = entry
                norm[j * LANES + k] += entry * entry


@_compiled
def maximin_small(A, weight, row_strategy, column_strategy, value, gap, pivots):
    """Solve every A[k] from the start. Arguments as in `_simplex.maximin_batch`."""
    runs, m, n = A.shape
    stride = n | 1  # odd, in lanes: rows that lie a power of two apart would fight for the same cache lines
    T = _aligned(m * stride * LANES, A)
    b = _aligned(m * LANES, A)
    e = _aligned(m * LANES, A)
    factor = _aligned(m * LANES, A)
    c = _aligned(n * LANES, A)
    norm = _aligned(n * LANES, A)
    row = _aligned(n * LANES, A)
    best = _aligned(LANES, A)
    step = _aligned(LANES, A)
    tie_step = _aligned(LANES, A)
    price = _aligned(LANES, A)
    basic = np.empty(m * LANES, np.int64)
    nonbasic = np.empty(n * LANES, np.int64)
    entering = np.empty(LANES, np.int64)
    leaving = np.empty(LANES, np.int64)
    count = np.empty(LANES, np.int64)
    low = np.empty(LANES)
    span = np.empty(LANES)
    run_of = np.full(LANES, -1)  # -1: the lane is idle
    for idle in (T, b, e, c, norm, row):
        idle[:] = 1.0
    width = LANES if runs > 8 else 8  # lanes in use
    limit = 50 * (m + n) + 100
    upcoming = active = failures = 0
    while True:
        _choose_column(n, width, c, norm, entering, best)
        for k in range(width):
            run = run_of[k]
            if run >= 0 and (best[k] == 0.0 or count[k] == limit):
                lower, upper = _unload(A, run, low[k], span[k], k, b, c, basic, nonbasic, row_strategy, column_strategy)
                value[run] = low[k] + 0.5 * (lower + upper) * span[k]
                gap[run] = upper - lower
                pivots[run] = count[k]
                failures += not abs(gap[run]) <= MOST_GAP  # also when it is not a number
                run_of[k] = -1
                active -= 1
            if run_of[k] < 0 and upcoming < runs:
                low[k], span[k], entering[k] = _load(A, upcoming, weight, k, T, b, e, c, norm, basic, nonbasic)
                run_of[k], count[k] = upcoming, 0
                active += 1
                upcoming += 1
            at = entering[k] * LANES + k
            for i in range(m):
                factor[i * LANES + k] = T[i * stride * LANES + at]
        if active == 0:
            return failures
        _choose_row(m, width, b, e, factor, leaving, step, tie_step)
        for k in range(width):
            at_row, at_column = leaving[k] * LANES + k, entering[k] * LANES + k
            if run_of[k] < 0 or not step[k] < np.inf:  # idle, or stuck: subtract nothing, and end
                price[k] = step[k] = tie_step[k] = 0.0
                count[k] = limit
                for i in range(m):
                    factor[i * LANES + k] = 0.0
                continue
            inverse = 1 / factor[at_row]
            for j in range(n):
                row[j * LANES + k] = T[(leaving[k] * stride + j) * LANES + k] * inverse
            row[at_column] = 1 + inverse  # these two make one formula right for
            factor[at_row] -= 1  # the pivot row and the pivot column too
            step[k] = max(step[k], 0.0)
            price[k] = c[at_column]
            basic[at_row], nonbasic[at_column] = nonbasic[at_column], basic[at_row]
            count[k] += 1
        _eliminate(m, n, width, T, b, e, c, norm, factor, row, step, tie_step, price)
