"""The compiled kernel for small matrices: LANES simplex tableaux in lockstep, one per lane of a vector.

The method is that of `simplex`: the same linear program, pivot rule and rule for ties; `tableau` explains the names.
The difference is the layout. A small tableau is too short for vector instructions, so every number of it is a vector
here, with one game in each lane. T lies column by column, so that a column's norm, and with it the choice of the next
pivot, comes out of the sweep that updates it. Lanes that have finished wait for the slowest; the last group is filled
up with copies of the last game. Everything is double precision, and no state is kept: at these sizes solving from
scratch costs less than a warm start.
"""

from typing import Any, NamedTuple

import numpy as np

from coebl.kernels.cache import compiled, inlined
from coebl.kernels.vectors import LANES, anywhere, cut, fill, gather, lane_numbers, load, pointer, select, store
from coebl.kernels.workspace import DOUBLE, MOST_GAP, aligned

ZERO, TINY, ROUNDING = DOUBLE.zero, DOUBLE.tiny, DOUBLE.rounding


class Group(NamedTuple):
    """LANES tableaux: memory of vectors."""

    m: int
    n: int
    T: Any  # n * m vectors, entry (i, j) at j * m + i
    B: Any  # n * m, likewise
    b: Any  # m
    e: Any  # m
    factor: Any  # m, the pivot column
    c: Any  # n
    primal: Any  # n + m, the value of each variable: q, then the slacks
    dual: Any  # n + m, its reduced cost, negated: the opponent's slacks, then p
    answers: Any  # 2, value and gap
    basic: Any  # m
    nonbasic: Any  # n
    counts: Any  # 3, scratch, scratch, pivots


@inlined
def _sizes(m, n):
    """The sizes of the parts of a group, in order: of those that hold floats, and of those that hold integers."""
    rows, columns = m * LANES, n * LANES
    floats = m * columns, m * columns, rows, rows, rows, columns, rows + columns, rows + columns, 2 * LANES
    return floats, (rows, columns, 3 * LANES)


@inlined
def _better(score, best, index, chosen):
    """The larger of two scores, and its index; the first if they are equal."""
    better = score > best
    return select(better, score, best), select(better, fill(index), chosen)


@inlined
def _load(g, A, weight, weight_stride, run):
    """The first tableaux of these runs' games. Return low end and width of the payoffs, the first column, its score."""
    m, n = g.m, g.n
    zero, one = fill(0.0), fill(1.0)
    game = run * fill(m * n)
    low = high = gather(A, game, 0)
    check = zero
    for i in range(m):
        for j in range(n):
            entry = gather(A, game, i * n + j)
            low = select(entry < low, entry, low)
            high = select(entry > high, entry, high)
            check = check + entry * zero  # NaN where the entry is not finite; it then spreads to all
            store(g.B, j * m + i, entry)
    span = select(high > low, high - low, one) + check + (high - low) * zero  # likewise where the range is too large
    unit = one / span
    best, entering = zero, fill(0)
    for j in range(n):
        norm = one
        for i in range(m):
            entry = one + (load(g.B, j * m + i) - low) * unit
            store(g.B, j * m + i, entry)
            store(g.T, j * m + i, entry)
            norm = norm + entry * entry
        store(g.c, j, one)
        store(g.nonbasic, j, fill(j))
        best, entering = _better(one / norm, best, j, entering)
    weights = run * fill(weight_stride)
    for i in range(m):
        store(g.b, i, one)
        store(g.e, i, gather(weight, weights, i))
        store(g.basic, i, fill(n + i))
    return low, span, entering, best


@inlined
def _choose_row(g, at_column):
    """The row of least ratio, ties by the tie part, and whether there is one. Leaves the pivot column in g.factor."""
    m = g.m
    zero, tiny, none = fill(ZERO), fill(TINY), fill(np.inf)
    step = none
    for i in range(m):
        entry = gather(g.T, at_column, i * LANES)
        store(g.factor, i, entry)
        ratio = select(entry > tiny, (load(g.b, i) + zero) / entry, none)
        step = select(ratio < step, ratio, step)
    ties, leaving = fill(0), fill(0)
    for i in range(m):
        entry = load(g.factor, i)
        tied = (entry > tiny) & (load(g.b, i) - step * entry <= zero)
        ties, leaving = select(tied, ties + fill(1), ties), select(tied, fill(i), leaving)
    if anywhere(ties > fill(1)):
        tie_step = none
        for i in range(m):
            entry = load(g.factor, i)
            tied = (entry > tiny) & (load(g.b, i) - step * entry <= zero)
            ratio = select(tied, load(g.e, i) / entry, none)
            nearer = ratio < tie_step
            tie_step, leaving = select(nearer, ratio, tie_step), select(nearer, fill(i), leaving)
    return leaving, step < none


@inlined
def _pivot(g, entering, leaving, active):
    """Exchange the variables of these columns and rows in the active lanes. Return the next column and its score."""
    m, n = g.m, g.n
    zero, one, lanes = fill(0.0), fill(1.0), lane_numbers()
    at_row = leaving * fill(LANES) + lanes
    inverse = one / gather(g.factor, at_row, 0)
    step = gather(g.b, at_row, 0) * inverse
    step = select(step > zero, step, zero)
    tie_step = gather(g.e, at_row, 0) * inverse
    price = select(active, gather(g.c, entering * fill(LANES) + lanes, 0), zero)
    for i in range(m):
        factor = load(g.factor, i)
        factor = select(leaving == fill(i), factor - one, factor)  # this, and 1 + inverse below, make one
        factor = select(active, factor, zero)  # formula right for the pivot row and the pivot column too
        store(g.factor, i, factor)
        store(g.b, i, load(g.b, i) - factor * step)
        store(g.e, i, load(g.e, i) - factor * tie_step)
    best, upcoming = zero, fill(0)
    for j in range(n):
        row = gather(g.T, at_row, j * m * LANES) * inverse
        row = select(entering == fill(j), one + inverse, row)
        norm = one
        for i in range(m):
            entry = load(g.T, j * m + i) - load(g.factor, i) * row
            store(g.T, j * m + i, entry)
            norm = norm + entry * entry
        cost = load(g.c, j) - price * row
        store(g.c, j, cost)
        gain = cost - fill(ZERO)
        gain = select(gain > zero, gain, zero)
        best, upcoming = _better(gain * gain / norm, best, j, upcoming)
    store(g.counts, 0, select(active, entering, fill(-1)))
    store(g.counts, 1, leaving)
    for k in range(LANES):
        if g.counts[k] >= 0:
            s, r = g.counts[k] * LANES + k, g.counts[LANES + k] * LANES + k
            g.basic[r], g.nonbasic[s] = g.nonbasic[s], g.basic[r]
    return upcoming, best


@inlined
def _certify(g, low, span):
    """Read the strategies off the tableaux; leave them, their values and their gaps, in units of the payoff range."""
    m, n = g.m, g.n
    zero = fill(0.0)
    for k in range(m * LANES):
        variable = g.basic[k] * LANES + k % LANES
        g.primal[variable], g.dual[variable] = g.b[k], 0.0
    for k in range(n * LANES):
        variable = g.nonbasic[k] * LANES + k % LANES
        g.primal[variable], g.dual[variable] = 0.0, -g.c[k]
    total_row = total_column = zero
    for i in range(n, n + m):
        p = load(g.dual, i)
        p = select(p > fill(ROUNDING), p, zero)
        total_row = total_row + p
        store(g.dual, i, p)
    for j in range(n):
        q = load(g.primal, j)
        q = select(q > fill(ROUNDING), q, zero)
        total_column = total_column + q
        store(g.primal, j, q)
    for i in range(m):
        store(g.dual, n + i, load(g.dual, n + i) / total_row)
        store(g.factor, i, zero)
    lower, upper = fill(np.inf), zero
    for j in range(n):
        q = load(g.primal, j) / total_column
        store(g.primal, j, q)
        total = zero
        for i in range(m):
            entry = load(g.B, j * m + i)
            total = total + entry * load(g.dual, n + i)
            store(g.factor, i, load(g.factor, i) + entry * q)
        lower = select(total < lower, total, lower)
    for i in range(m):
        total = load(g.factor, i)
        upper = select(total > upper, total, upper)
    store(g.answers, 0, low + (fill(0.5) * (lower + upper) - fill(1.0)) * span)
    store(g.answers, 1, upper - lower)


@compiled
def _solve(floats, integers, A, weight, row, column, value, gap, pivots):
    """`solve_small`, given its working memory."""
    runs, m, n = A.shape
    sizes = _sizes(m, n)
    g = Group(m, n, *cut(pointer(floats, 0), sizes[0]), *cut(pointer(integers, 0), sizes[1]))
    payoffs, weights, weight_stride = pointer(A, 0), pointer(weight, 0), m if weight.shape[0] > 1 else 0
    failures = 0
    for first in range(0, runs, LANES):
        run = fill(first) + lane_numbers()
        run = select(run > fill(runs - 1), fill(runs - 1), run)
        low, span, entering, best = _load(g, payoffs, weights, weight_stride, run)
        active = best > fill(0.0)
        count = fill(0)
        for _ in range(50 * (m + n) + 100):  # many times what any game needs
            if not anywhere(active):
                break
            leaving, bounded = _choose_row(g, entering * fill(m * LANES) + lane_numbers())
            active = active & bounded
            entering, best = _pivot(g, entering, leaving, active)
            count = count + select(active, fill(1), fill(0))
            active = active & (best > fill(0.0))
        _certify(g, low, span)
        store(g.counts, 2, count)
        for k in range(min(LANES, runs - first)):
            value[first + k], gap[first + k] = g.answers[k], g.answers[LANES + k]
            pivots[first + k] = g.counts[2 * LANES + k]
            failures += not abs(gap[first + k]) <= MOST_GAP  # also if it is NaN
            for i in range(m):
                row[first + k, i] = g.dual[(n + i) * LANES + k]
            for j in range(n):
                column[first + k, j] = g.primal[j * LANES + k]
    return failures


@compiled
def solve_small(A, weight, row, column, value, gap, pivots):
    """Solve every A[k] from scratch. Arguments as in `simplex.solve_batch`."""
    _, m, n = A.shape
    sizes = _sizes(m, n)
    floats, integers = aligned(sum(sizes[0]), value), aligned(sum(sizes[1]), pivots)
    return _solve(floats, integers, A, weight, row, column, value, gap, pivots)
