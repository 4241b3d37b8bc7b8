"""The simplex tableau of a large matrix, and its pivots. Compiled; `simplex` is the kernel that uses them.

The linear program. Scale a payoff matrix into ``B`` with entries in [1, 2]. The column player's program is
``max 1'q`` subject to ``Bq <= 1, q >= 0`` and the row player's is its dual, ``min 1'p`` subject to
``B'p >= 1, p >= 0``. Normalised, ``q`` and ``p`` are the two optimal strategies.

The tableau is the condensed one of Tucker: (m, n) coefficients ``T``, the right-hand side ``b`` and the
reduced costs ``c``, kept apart so that the rows of ``T`` stay aligned. ``basic[i]`` names the variable of
tableau row i, ``nonbasic[s]`` that of tableau column s: variable ``j < n`` is ``q[j]``, variable ``n + i`` is
the slack of constraint i. At the end ``q`` is read off ``b``, and ``p`` off ``-c``.

Pivoting is by steepest edge with exact column norms, which are recomputed in the pass that updates ``T``.

Ties. A right-hand side ``1 + epsilon * weight[i]`` with an infinitesimal epsilon means that among its optimal
strategies the row player takes the one of least mean ``weight``; but for strategies of equal mean it also makes the
program non-degenerate. ``e`` carries the part of the right-hand side that belongs to epsilon, and decides where ``b``
ties.

Precision. ``T`` may be single precision; it then only steers, and `simplex` refines the answer.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from coebl.solver.kernels.vectors import (
    BYTES,
    LANES,
    doubles,
    fill,
    fill_like,
    lane_numbers,
    load,
    minimum,
    pointer,
    select,
    store,
    total,
)

ZERO = 1e-12  # what counts as zero in b and c of a double-precision tableau
TINY = 1e-9  # what counts as zero in its T
LOOSE = 1e-10  # what counts as zero in b and c where the basis is nearly singular, so that rounding reaches further
compiled = njit(nogil=True, cache=True, error_model="numpy")
inlined = njit(nogil=True, cache=True, error_model="numpy", inline="always")  # for what takes or returns vectors


class States(NamedTuple):
    """The tableaux of a batch: arrays with runs on axis 0. The last axis of floats is whole vectors long."""

    T: Any  # (runs, m, stride), single or double precision
    b: Any  # (runs, m), right-hand side
    c: Any  # (runs, stride), reduced costs
    norm: Any  # (runs, stride), 1 + squared norm of each column
    basic: Any  # (runs, m), the variable of each row
    nonbasic: Any  # (runs, n), the variable of each column
    B: Any  # (runs, m, n), the scaled payoffs
    floats: Any  # working memory, 4 * (m + stride)
    coefficients: Any  # likewise, of the type of T, 2 * (m + stride)


class Tableau(NamedTuple):
    """The memory of one of them."""

    m: int
    n: int
    T: Any
    b: Any
    c: Any
    norm: Any
    basic: Any
    nonbasic: Any
    B: Any
    stride: int  # of T, from row to row
    B_stride: int


class Scratch(NamedTuple):
    """Working memory, for all runs."""

    primal: Any  # stride + m, the value of each variable: q, then
    slacks: Any
    dual: Any  # stride + m, the price of each: those of q, then p
    p: Any
    e: Any  # m, the tie part of the right-hand side
    row_sums: Any  # m, Bq
    column_sums: Any  # stride, B'p
    spare: Any  # stride
    factor: Any  # m, the pivot column, or what is to be multiplied with T; this and the rest have the type of T
    row_steps: Any  # m, its products
    row: Any  # stride, the pivot row, or what is to be multiplied with T
    column_steps: Any  # stride, its products
    lanes: int  # of the vectors of T
    width: int  # columns of T to sweep: n, rounded up to whole vectors
    zero: float  # what counts as zero in b and c while they come from T alone
    tiny: float  # what counts as zero in T


@compiled
def aligned(size, like):
    """An array of this size, rounded up to whole vectors, and of the dtype of like."""
    size = -(-size * like.itemsize // BYTES) * BYTES
    buffer = np.empty(size + BYTES, np.uint8)
    start = -buffer.ctypes.data % BYTES
    return buffer[start : start + size].view(like.dtype)


@inlined
def tableau_of(states, k):
    """The tableau of run k."""
    m, n = states.basic.shape[1], states.nonbasic.shape[1]
    stride, B_stride = states.T.shape[2], states.B.shape[2]
    return Tableau(
        m,
        n,
        pointer(states.T, k * m * stride),
        pointer(states.b, k * states.b.shape[1]),
        pointer(states.c, k * stride),
        pointer(states.norm, k * stride),
        pointer(states.basic, k * m),
        pointer(states.nonbasic, k * n),
        pointer(states.B, k * m * B_stride),
        stride,
        B_stride,
    )


@inlined
def lay_out(states):
    """Cut up the working memory."""
    n, stride, lanes = states.nonbasic.shape[1], states.T.shape[2], BYTES // states.T.itemsize
    rows = states.b.shape[1]
    primal = pointer(states.floats, 0)
    slacks = pointer(primal, stride)
    dual = pointer(slacks, rows)
    p = pointer(dual, stride)
    e = pointer(p, rows)
    row_sums = pointer(e, rows)
    column_sums = pointer(row_sums, rows)
    spare = pointer(column_sums, stride)
    factor = pointer(states.coefficients, 0)
    row_steps = pointer(factor, rows)
    row = pointer(row_steps, rows)
    column_steps = pointer(row, stride)
    width = -(-n // lanes) * lanes
    zero, tiny = (ZERO, TINY) if lanes == LANES else (1e-6, 1e-5)
    solution, sums = (primal, slacks, dual, p), (e, row_sums, column_sums, spare)
    return Scratch(*solution, *sums, factor, row_steps, row, column_steps, lanes, width, zero, tiny)


@compiled
def _eliminate(t, w):
    """Subtract w.factor x w.row from T, and leave 1 + the squared norm of each column in norm."""
    T, norm, factor, row = t.T, t.norm, w.factor, w.row
    stride, vectors = t.stride // w.lanes, w.width // w.lanes
    for j in range(w.width):
        norm[j] = 1
    j = 0
    while j + 4 <= vectors:  # a strip of four vectors: their parts of row and norm stay in registers
        row0, row1, row2, row3 = load(row, j), load(row, j + 1), load(row, j + 2), load(row, j + 3)
        norm0, norm1, norm2, norm3 = load(norm, j), load(norm, j + 1), load(norm, j + 2), load(norm, j + 3)
        for i in range(t.m):
            at, f = i * stride + j, fill(factor[i])
            t0 = load(T, at) - f * row0
            t1 = load(T, at + 1) - f * row1
            t2 = load(T, at + 2) - f * row2
            t3 = load(T, at + 3) - f * row3
            store(T, at, t0)
            store(T, at + 1, t1)
            store(T, at + 2, t2)
            store(T, at + 3, t3)
            norm0, norm1, norm2, norm3 = norm0 + t0 * t0, norm1 + t1 * t1, norm2 + t2 * t2, norm3 + t3 * t3
        store(norm, j, norm0)
        store(norm, j + 1, norm1)
        store(norm, j + 2, norm2)
        store(norm, j + 3, norm3)
        j += 4
    while j < vectors:
        row0, norm0 = load(row, j), load(norm, j)
        for i in range(t.m):
            t0 = load(T, i * stride + j) - fill(factor[i]) * row0
            store(T, i * stride + j, t0)
            norm0 = norm0 + t0 * t0
        store(norm, j, norm0)
        j += 1


@compiled
def _pivot(t, w, r, s):
    """Exchange the variables of tableau row r and tableau column s; w.factor holds column s."""
    inverse = 1 / w.factor[r]
    here = r * t.stride // w.lanes
    for j in range(w.width // w.lanes):
        store(w.row, j, load(t.T, here + j) * fill_like(t.T, inverse))
    w.row[s] = 1 + inverse  # these two make one formula right
    w.factor[r] -= 1  # for row r and column s too
    subtract(t, w, t.b[r] * inverse, w.e[r] * inverse, t.c[s])
    t.basic[r], t.nonbasic[s] = t.nonbasic[s], t.basic[r]


@compiled
def subtract(t, w, step, tie_step, price):
    """Subtract w.factor x w.row from T, and likewise from b, e and c."""
    for i in range(-(-t.m // LANES)):
        factor = doubles(w.factor, i)
        store(t.b, i, load(t.b, i) - factor * fill(step))
        store(w.e, i, load(w.e, i) - factor * fill(tie_step))
    for j in range(w.width // LANES):
        store(t.c, j, load(t.c, j) - fill(price) * doubles(w.row, j))
    _eliminate(t, w)


@inlined
def _choose_column(t, w, zero):
    """The steepest edge, or -1 where none improves."""
    best, found, here = fill(0.0), fill(0), lane_numbers()
    for j in range(w.width // LANES):
        gain = load(t.c, j) - fill(zero)
        gain = select(gain > fill(0.0), gain, fill(0.0))
        score = fill(0.0) - gain * gain / doubles(t.norm, j)
        better = score < best
        best, found = select(better, score, best), select(better, here, found)
        here = here + fill(LANES)
    highest = minimum(best)
    return minimum(select(best == fill(highest), found, fill(np.iinfo(np.int64).max))) if highest < 0.0 else -1


@compiled
def _tie(t, w, step, zero):
    """Of the rows that tie in b, the one of least tie part leaves; but not by a pivot so small that it ruins T."""
    m = t.m
    largest = 0.0
    for i in range(m):
        if t.b[i] - step * w.factor[i] <= zero and w.factor[i] > largest:
            largest = w.factor[i]
    r = -1
    for i in range(m):
        if t.b[i] - step * w.factor[i] <= zero and w.factor[i] > w.tiny and w.factor[i] >= 0.01 * largest:
            if r < 0 or w.e[i] * w.factor[r] < w.e[r] * w.factor[i]:
                r = i
    return r


@inlined
def _choose_row(t, w, zero):
    """The row of least ratio of b to w.factor, ties by the tie part, or -1 where there is none.

    The least ratio is found with b raised by what counts as zero: a rounded b over a small entry would set it too low,
    and hide the rows that tie.
    """
    vectors = -(-t.m // LANES)
    tiny, none, nothing = fill(w.tiny), fill(np.inf), fill(zero)
    least = none
    for i in range(vectors):
        entry = doubles(w.factor, i)
        ratio = select(entry > tiny, (load(t.b, i) + nothing) / entry, none)
        least = select(ratio < least, ratio, least)
    step = minimum(least)
    if step == np.inf:
        return -1
    ties, found, here = fill(0), fill(np.iinfo(np.int64).max), lane_numbers()
    for i in range(vectors):
        entry = doubles(w.factor, i)
        tied = (entry > tiny) & (load(t.b, i) - fill(step) * entry <= nothing)
        ties, found = select(tied, ties + fill(1), ties), select(tied, here, found)
        here = here + fill(LANES)
    return minimum(found) if total(ties) == 1 else _tie(t, w, step, zero)


@compiled
def primal(t, w, zero, limit):
    """Pivot until no reduced cost exceeds zero. Return the number of pivots, or -1 if it cannot go on."""
    for pivots in range(limit):
        s = _choose_column(t, w, zero)
        if s < 0:
            return pivots
        for i in range(t.m):
            w.factor[i] = t.T[i * t.stride + s]
        r = _choose_row(t, w, zero)
        if r < 0:
            return -1
        t.b[r] = max(t.b[r], 0.0)
        _pivot(t, w, r, s)
    return -1


@compiled
def _largest(t, w, r):
    """The largest coefficient of row r, or 1."""
    largest = 1.0
    for j in range(w.width):
        largest = max(largest, abs(t.T[r * t.stride + j]))
    return largest


@compiled
def dual(t, w, zero, limit):
    """Pivot until no right-hand side is negative, nor zero with a negative tie part. Return as primal does.

    A positive reduced cost counts as zero here; primal, which comes after, sees to it.
    """
    m = t.m
    pivots = 0
    for _ in range(limit):
        r, worst = -1, -zero
        for i in range(m):
            if t.b[i] < worst:
                r, worst = i, t.b[i]
        if r < 0:
            worst = -w.tiny
            for i in range(m):
                if t.b[i] <= zero and w.e[i] < worst and w.e[i] < -w.tiny * _largest(t, w, i):
                    r, worst = i, w.e[i]
        if r < 0:
            return pivots
        largest = _largest(t, w, r)
        s, best, size = -1, np.inf, 0.0
        for j in range(w.width):
            entry = -t.T[r * t.stride + j]
            if entry > w.tiny * largest:
                cost = (-t.c[j] if t.c[j] < -zero else 0.0) / entry
                if cost < best or (cost == best and entry > size):
                    s, best, size = j, cost, entry
        if s < 0:
            if t.b[r] < -LOOSE:
                return -1
            t.b[r] = w.e[r] = 0.0  # nothing in the row can make up for it: it is a zero, rounded
            continue
        for i in range(m):
            w.factor[i] = t.T[i * t.stride + s]
        _pivot(t, w, r, s)
        pivots += 1
    return -1
