"""The simplex tableau of a large matrix, and its pivots. Compiled; `simplex` is the kernel that uses them.

The linear program. A payoff matrix is scaled into ``B`` with entries in [1, 2]. The column player's program is
``max 1'q`` subject to ``Bq <= 1, q >= 0``, and the row player's is its dual, ``min 1'p`` subject to
``B'p >= 1, p >= 0``. Divided by their sums, ``q`` and ``p`` are the two optimal strategies.

The tableau is the condensed one of Tucker: (m, n) coefficients ``T``, the right-hand side ``b`` and the reduced costs
``c``, which are stored separately so that the rows of ``T`` stay aligned. ``basic[i]`` is the variable of tableau
row i, ``nonbasic[s]`` that of tableau column s: variable ``j < n`` is ``q[j]``, variable ``n + i`` is the slack of
constraint i. At the end ``q`` is read from ``b``, and ``p`` from ``-c``. docs/solver.md pivots a 2 x 3 game on paper.

The pivot column is chosen by steepest edge with exact column norms, which are recomputed in the pass that updates
``T``.

Ties. With a right-hand side of ``1 + epsilon * weight[i]`` and an infinitesimal epsilon, the row player takes, of all
optimal strategies, the one of least mean ``weight``. Unless two strategies have equal means, the program is then not
degenerate either. ``e`` is the part of the right-hand side that belongs to epsilon; it decides where ``b`` ties.

Precision. ``T`` may be single precision. It then only steers, and `refine` computes the answer.

In what follows ``t`` is a `Tableau` and ``w`` a `Scratch`, both of `workspace`.
"""

import numpy as np

from coebl.kernels.cache import compiled, inlined
from coebl.kernels.vectors import LANES, doubles, fill, fill_like, lane_numbers, load, minimum, select, store, total
from coebl.kernels.workspace import tolerances_of

_PATIENCE = 20  # pivots of `dual` before it changes the costs; it seldom takes as many
_GOLDEN = 0.6180339887498949  # the fractional parts of its multiples are spread evenly, and all different


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
            k, f = i * stride + j, fill(factor[i])
            t0 = load(T, k) - f * row0
            t1 = load(T, k + 1) - f * row1
            t2 = load(T, k + 2) - f * row2
            t3 = load(T, k + 3) - f * row3
            store(T, k, t0)
            store(T, k + 1, t1)
            store(T, k + 2, t2)
            store(T, k + 3, t3)
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
    best, column, here = fill(0.0), fill(0), lane_numbers()
    for j in range(w.width // LANES):
        gain = load(t.c, j) - fill(zero)
        gain = select(gain > fill(0.0), gain, fill(0.0))
        score = fill(0.0) - gain * gain / doubles(t.norm, j)
        better = score < best
        best, column = select(better, score, best), select(better, here, column)
        here = here + fill(LANES)
    highest = minimum(best)
    return minimum(select(best == fill(highest), column, fill(np.iinfo(np.int64).max))) if highest < 0.0 else -1


@compiled
def _tie(t, w, step, zero):
    """Of the rows that tie in b, the one of least tie part leaves; but not by a pivot so small that it ruins T."""
    m, tiny, share = t.m, tolerances_of(w).tiny, tolerances_of(w).share
    largest = 0.0
    for i in range(m):
        if t.b[i] - step * w.factor[i] <= zero and w.factor[i] > largest:
            largest = w.factor[i]
    r = -1
    for i in range(m):
        if t.b[i] - step * w.factor[i] <= zero and w.factor[i] > tiny and w.factor[i] >= share * largest:
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
    tiny, none, nothing = fill(tolerances_of(w).tiny), fill(np.inf), fill(zero)
    least = none
    for i in range(vectors):
        entry = doubles(w.factor, i)
        ratio = select(entry > tiny, (load(t.b, i) + nothing) / entry, none)
        least = select(ratio < least, ratio, least)
    step = minimum(least)
    if step == np.inf:
        return -1
    ties, row, here = fill(0), fill(np.iinfo(np.int64).max), lane_numbers()
    for i in range(vectors):
        entry = doubles(w.factor, i)
        tied = (entry > tiny) & (load(t.b, i) - fill(step) * entry <= nothing)
        ties, row = select(tied, ties + fill(1), ties), select(tied, here, row)
        here = here + fill(LANES)
    return minimum(row) if total(ties) == 1 else _tie(t, w, step, zero)


@compiled
def primal(t, w, zero, limit):
    """Pivot until no reduced cost exceeds zero. Return the number of pivots, or -1 if it cannot continue."""
    for pivots in range(limit):
        if w.stop[0] != 0:
            return -1
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

    A positive reduced cost counts as zero here; `primal` handles it afterwards. Two things keep a double-precision
    tableau from endless pivots. What counts as zero in b is set to zero at the start: divided by a small pivot, it
    might count as negative. And after _PATIENCE pivots the costs are made different from each other, since pivots that
    cost nothing may lead round in a circle; `settle` computes them again. A single-precision tableau goes without: its
    tie parts are too coarse to decide between so many zeros, and it is better to give up.
    """
    m, tiny, loose, nudge = t.m, tolerances_of(w).tiny, tolerances_of(w).loose, tolerances_of(w).nudge
    double = w.lanes == LANES
    for i in range(m):
        if double and abs(t.b[i]) <= zero:
            t.b[i] = 0.0
    pivots = 0
    for _ in range(limit):
        if w.stop[0] != 0:
            return -1
        r, worst = -1, -zero
        for i in range(m):
            if t.b[i] < worst:
                r, worst = i, t.b[i]
        if r < 0:
            worst = -tiny
            for i in range(m):
                if t.b[i] <= zero and w.e[i] < worst and w.e[i] < -tiny * _largest(t, w, i):
                    r, worst = i, w.e[i]
        if r < 0:
            return pivots
        largest = _largest(t, w, r)
        s, best, size = -1, np.inf, 0.0
        for j in range(w.width):
            entry = -t.T[r * t.stride + j]
            if entry > tiny * largest:
                cost = (-t.c[j] if t.c[j] < -zero else 0.0) / entry
                if cost < best or (cost == best and entry > size):
                    s, best, size = j, cost, entry
        if s < 0:
            if t.b[r] < -loose:
                return -1
            t.b[r] = w.e[r] = 0.0  # nothing in the row can make up for it: it is a zero, rounded
            continue
        for i in range(m):
            w.factor[i] = t.T[i * t.stride + s]
        _pivot(t, w, r, s)
        pivots += 1
        if double and pivots == _PATIENCE:
            for j in range(t.n):
                t.c[j] = min(t.c[j], 0.0) - nudge * (1 + j * _GOLDEN % 1)
    return -1
