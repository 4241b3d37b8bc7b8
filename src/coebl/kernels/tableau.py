"""The simplex tableau of a large matrix: its pivots, and its refinement to an answer. Compiled; `simplex` uses it.

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

Precision. ``T`` may be single precision. It then only steers, and refinement against ``B`` gives the answer.

In what follows ``t`` is a `Tableau` of `workspace`.
"""

import numpy as np

from coebl.kernels.cache import compiled, inlined
from coebl.kernels.vectors import LANES, doubles, fill, fill_like, lane_numbers, load, minimum, select, store, total
from coebl.kernels.workspace import tolerances_of

_PATIENCE = 20  # pivots of `dual` before it changes the costs; it seldom takes as many
_GOLDEN = 0.6180339887498949  # the fractional parts of its multiples are spread evenly, and all different
_ROUNDS = 12  # how often `settle` refines and pivots before it gives up
_REFINEMENTS = 8  # how often `_refine` may correct its solution; each time at least halves the error


@compiled
def _eliminate(t):
    """Subtract t.factor x t.row from T, and leave 1 + the squared norm of each column in norm."""
    T, norm, factor, row = t.T, t.norm, t.factor, t.row
    stride, vectors = t.stride // t.lanes, t.width // t.lanes
    for j in range(t.width):
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
def _pivot(t, r, s):
    """Exchange the variables of tableau row r and tableau column s; t.factor holds column s."""
    inverse = 1 / t.factor[r]
    here = r * t.stride // t.lanes
    for j in range(t.width // t.lanes):
        store(t.row, j, load(t.T, here + j) * fill_like(t.T, inverse))
    t.row[s] = 1 + inverse  # these two make one formula right
    t.factor[r] -= 1  # for row r and column s too
    subtract(t, t.b[r] * inverse, t.e[r] * inverse, t.c[s])
    t.basic[r], t.nonbasic[s] = t.nonbasic[s], t.basic[r]


@compiled
def subtract(t, step, tie_step, price):
    """Subtract t.factor x t.row from T, and likewise from b, e and c."""
    for i in range(-(-t.m // LANES)):
        factor = doubles(t.factor, i)
        store(t.b, i, load(t.b, i) - factor * fill(step))
        store(t.e, i, load(t.e, i) - factor * fill(tie_step))
    for j in range(t.width // LANES):
        store(t.c, j, load(t.c, j) - fill(price) * doubles(t.row, j))
    _eliminate(t)


@inlined
def _choose_column(t, zero):
    """The steepest edge, or -1 where none improves."""
    best, column, here = fill(0.0), fill(0), lane_numbers()
    for j in range(t.width // LANES):
        gain = load(t.c, j) - fill(zero)
        gain = select(gain > fill(0.0), gain, fill(0.0))
        score = fill(0.0) - gain * gain / doubles(t.norm, j)
        better = score < best
        best, column = select(better, score, best), select(better, here, column)
        here = here + fill(LANES)
    highest = minimum(best)
    return minimum(select(best == fill(highest), column, fill(np.iinfo(np.int64).max))) if highest < 0.0 else -1


@compiled
def _tie(t, step, zero):
    """Of the rows that tie in b, the one of least tie part, among those whose pivots are not so small as to ruin T."""
    m, tiny, share = t.m, tolerances_of(t).tiny, tolerances_of(t).share
    largest = 0.0
    for i in range(m):
        if t.b[i] - step * t.factor[i] <= zero and t.factor[i] > largest:
            largest = t.factor[i]
    r = -1
    for i in range(m):
        if t.b[i] - step * t.factor[i] <= zero and t.factor[i] > tiny and t.factor[i] >= share * largest:
            if r < 0 or t.e[i] * t.factor[r] < t.e[r] * t.factor[i]:
                r = i
    return r


@inlined
def _choose_row(t, zero):
    """The row of least ratio of b to t.factor, ties by the tie part, or -1 where there is none.

    The least ratio is found with b raised by what counts as zero: a rounded b over a small entry would set it too low,
    and hide the rows that tie.
    """
    vectors = -(-t.m // LANES)
    tiny, none, nothing = fill(tolerances_of(t).tiny), fill(np.inf), fill(zero)
    least = none
    for i in range(vectors):
        entry = doubles(t.factor, i)
        ratio = select(entry > tiny, (load(t.b, i) + nothing) / entry, none)
        least = select(ratio < least, ratio, least)
    step = minimum(least)
    if step == np.inf:
        return -1
    ties, row, here = fill(0), fill(np.iinfo(np.int64).max), lane_numbers()
    for i in range(vectors):
        entry = doubles(t.factor, i)
        tied = (entry > tiny) & (load(t.b, i) - fill(step) * entry <= nothing)
        ties, row = select(tied, ties + fill(1), ties), select(tied, here, row)
        here = here + fill(LANES)
    return minimum(row) if total(ties) == 1 else _tie(t, step, zero)


@compiled
def primal(t, zero, limit):
    """Pivot until no reduced cost exceeds zero. Return the number of pivots, or -1 if it cannot continue."""
    for pivots in range(limit):
        if t.stop[0] != 0:
            return -1
        s = _choose_column(t, zero)
        if s < 0:
            return pivots
        for i in range(t.m):
            t.factor[i] = t.T[i * t.stride + s]
        r = _choose_row(t, zero)
        if r < 0:
            return -1
        t.b[r] = max(t.b[r], 0.0)
        _pivot(t, r, s)
    return -1


@compiled
def _largest(t, r):
    """The largest coefficient of row r, or 1."""
    largest = 1.0
    for j in range(t.width):
        largest = max(largest, abs(t.T[r * t.stride + j]))
    return largest


@compiled
def dual(t, zero, limit):
    """Pivot until no right-hand side is negative, nor zero with a negative tie part. Return as primal does.

    A positive reduced cost counts as zero here; `primal` handles it afterwards. Two things keep a double-precision
    tableau from endless pivots. What counts as zero in b is set to zero at the start: divided by a small pivot, it
    might count as negative. And after _PATIENCE pivots the costs are made different from each other, since pivots that
    cost nothing may cycle; `settle` computes them again. A single-precision tableau goes without: its
    tie parts are too coarse to decide between so many zeros, and it is better to give up.
    """
    m, tiny, loose, nudge = t.m, tolerances_of(t).tiny, tolerances_of(t).loose, tolerances_of(t).nudge
    double = t.lanes == LANES
    for i in range(m):
        if double and abs(t.b[i]) <= zero:
            t.b[i] = 0.0
    pivots = 0
    for _ in range(limit):
        if t.stop[0] != 0:
            return -1
        r, worst = -1, -zero
        for i in range(m):
            if t.b[i] < worst:
                r, worst = i, t.b[i]
        if r < 0:
            worst = -tiny
            for i in range(m):
                if t.b[i] <= zero and t.e[i] < worst and t.e[i] < -tiny * _largest(t, i):
                    r, worst = i, t.e[i]
        if r < 0:
            return pivots
        largest = _largest(t, r)
        s, best, size = -1, np.inf, 0.0
        for j in range(t.width):
            entry = -t.T[r * t.stride + j]
            if entry > tiny * largest:
                cost = (-t.c[j] if t.c[j] < -zero else 0.0) / entry
                if cost < best or (cost == best and entry > size):
                    s, best, size = j, cost, entry
        if s < 0:
            if t.b[r] < -loose:
                return -1
            t.b[r] = t.e[r] = 0.0  # nothing in the row can make up for it: it is a zero, rounded
            continue
        for i in range(m):
            t.factor[i] = t.T[i * t.stride + s]
        _pivot(t, r, s)
        pivots += 1
        if double and pivots == _PATIENCE:
            for j in range(t.n):
                t.c[j] = min(t.c[j], 0.0) - nudge * (1 + j * _GOLDEN % 1)
    return -1


# From a tableau to an answer: refinement against the payoffs, the rule for ties, and the bounds of the certificate


@compiled
def _products(M, m, n, stride, lanes, p, q, row_sums, column_sums):
    """row_sums = M q and column_sums = M' p, in one sweep; stride is from row to row of M, lanes are of its vectors."""
    stride, vectors, zero = stride // lanes, -(-n // lanes), fill_like(M, 0.0)
    for j in range(vectors):
        store(column_sums, j, zero)
    i = 0
    while i + 4 <= m:  # four rows a pass: q and column_sums are then read once for four
        p0, p1, p2, p3 = fill(p[i]), fill(p[i + 1]), fill(p[i + 2]), fill(p[i + 3])
        sum0 = sum1 = sum2 = sum3 = zero
        for j in range(vectors):
            k, here = i * stride + j, load(q, j)
            m0, m1, m2, m3 = load(M, k), load(M, k + stride), load(M, k + 2 * stride), load(M, k + 3 * stride)
            sum0, sum1, sum2, sum3 = sum0 + m0 * here, sum1 + m1 * here, sum2 + m2 * here, sum3 + m3 * here
            store(column_sums, j, load(column_sums, j) + ((m0 * p0 + m1 * p1) + (m2 * p2 + m3 * p3)))
        row_sums[i], row_sums[i + 1] = total(sum0), total(sum1)
        row_sums[i + 2], row_sums[i + 3] = total(sum2), total(sum3)
        i += 4
    while i < m:
        p0, sum0 = fill(p[i]), zero
        for j in range(vectors):
            m0 = load(M, i * stride + j)
            sum0 = sum0 + m0 * load(q, j)
            store(column_sums, j, load(column_sums, j) + m0 * p0)
        row_sums[i] = total(sum0)
        i += 1


@inlined
def _place(t, variable):
    """The index of a variable in t.primal and t.dual; slacks start at the stride of T."""
    return variable + (t.stride - t.n) * (variable >= t.n)


@compiled
def _refine(t, enough):
    """Solve for the p and q of this basis by iterative refinement; recompute b and c. False if it diverges.

    It ends when the error is at most `enough`, or no longer halves. False also if it halves for too long.

    Where row i of T is basic in q[j] and column s nonbasic in slack k, T[i, s] is the inverse of the basis. A basic
    variable should have no price, a nonbasic one no value: the price or value that they have is the error.
    Leaves Bq in t.row_sums and B'p in t.column_sums.
    """
    m, n = t.m, t.n
    for i in range(m):
        place = _place(t, t.basic[i])
        t.primal[place], t.dual[place] = t.b[i], 0.0
    for s in range(n):
        place = _place(t, t.nonbasic[s])
        t.primal[place], t.dual[place] = 0.0, -t.c[s]
    before = np.inf
    for _ in range(_REFINEMENTS):
        _products(t.B, m, n, t.B_stride, LANES, t.p, t.primal, t.row_sums, t.column_sums)
        for i in range(m):
            t.slacks[i] = 1 - t.row_sums[i]
        for j in range(n):
            t.dual[j] = t.column_sums[j] - 1
        error = 0.0
        for i in range(m):
            place = _place(t, t.basic[i])
            t.b[i], t.factor[i] = t.primal[place], -t.dual[place]
            error = max(error, abs(t.dual[place]))
        for s in range(n):
            place = _place(t, t.nonbasic[s])
            t.c[s], t.row[s] = -t.dual[place], t.primal[place]
            error = max(error, abs(t.primal[place]))
        if error <= enough:
            return True
        if not error < 0.5 * before:  # also if it is NaN
            return error <= 0.1 * tolerances_of(t).exact
        before = error
        _products(t.T, m, n, t.stride, t.lanes, t.factor, t.row, t.row_steps, t.column_steps)
        for i in range(m):
            t.primal[_place(t, t.basic[i])] += t.row_steps[i]
        for s in range(n):
            t.dual[_place(t, t.nonbasic[s])] += t.column_steps[s]
    return False


@compiled
def bounds(t, row, column):
    """Write the strategies to row and column. Return their guarantees, min p'B and max Bq. Comes after `settle`."""
    m, n = t.m, t.n
    p, q = t.p, t.primal
    clipped, rounding = False, tolerances_of(t).rounding
    total_p = total_q = 0.0
    for i in range(m):
        if p[i] != 0.0 and p[i] < rounding:
            p[i] = 0.0
            clipped = True
        total_p += p[i]
    for j in range(n):
        if q[j] != 0.0 and q[j] < rounding:
            q[j] = 0.0
            clipped = True
        total_q += q[j]
    if clipped:
        _products(t.B, m, n, t.B_stride, LANES, p, q, t.row_sums, t.column_sums)
    low, high = t.column_sums[0], t.row_sums[0]
    for j in range(1, n):
        low = min(low, t.column_sums[j])
    for i in range(1, m):
        high = max(high, t.row_sums[i])
    for i in range(m):
        row[i] = p[i] / total_p
    for j in range(n):
        column[j] = q[j] / total_q
    return low / total_p, high / total_q


@compiled
def tie_parts(t, weight):
    """Compute e, the part of the right-hand side that belongs to the perturbation 1 + epsilon * weight."""
    m, n = t.m, t.n
    for s in range(n):
        k = t.nonbasic[s]
        t.row[s] = weight[k - n] if k >= n else 0.0
    _products(t.T, m, n, t.stride, t.lanes, t.factor, t.row, t.row_steps, t.column_steps)
    for i in range(m):
        t.e[i] = t.row_steps[i] + (weight[t.basic[i] - n] if t.basic[i] >= n else 0.0)


@compiled
def _ties_hold(t, weight):
    """True if e solves B e + slack = weight. If not, the basis is singular and T is not its inverse.

    The strategies may be optimal all the same, so that nothing else would notice.
    """
    m, n = t.m, t.n
    for j in range(n):
        t.spare[j] = 0.0
    for i in range(m):
        t.row_steps[i] = 0
    largest = 1.0
    for i in range(m):
        if t.basic[i] < n:
            t.spare[t.basic[i]] = t.e[i]
        else:
            t.row_steps[t.basic[i] - n] = t.e[i]
        largest = max(largest, abs(t.e[i]))
    tolerance = tolerances_of(t)
    most = tolerance.tie_error + tolerance.tie_error_relative * largest
    vectors = t.B_stride // LANES
    for i in range(m):
        row_sum = fill(0.0)
        for j in range(vectors):
            row_sum = row_sum + load(t.B, i * vectors + j) * load(t.spare, j)
        if not abs(total(row_sum) + t.row_steps[i] - weight[i]) <= most:
            return False
    return True


@inlined
def _extremes(t):
    """The least b, and the largest c."""
    least, most = t.b[0], t.c[0]
    for i in range(1, t.m):
        least = min(least, t.b[i])
    for s in range(1, t.n):
        most = max(most, t.c[s])
    return least, most


@compiled
def settle(t, weight, exact):
    """Refine, and pivot further until the basis is optimal in double precision, ties included.

    Entries of b and c up to exact count as zero. Returns the number of pivots, or -1 if it cannot continue.
    """
    m, n = t.m, t.n
    limit = m + n
    pivots = 0
    for _ in range(_ROUNDS):
        if not _refine(t, 0.1 * tolerances_of(t).exact):
            return -1
        least, most = _extremes(t)
        if least > tolerances_of(t).near and most <= exact:
            return pivots
        if not _refine(t, 0.0):  # to the last digits: a zero must not look like a positive number, nor the reverse
            return -1
        least, most = _extremes(t)
        if least > exact and most <= exact:
            return pivots
        tie_parts(t, weight)
        repairs = dual(t, exact, limit)
        improvements = primal(t, exact, limit) if repairs >= 0 else -1
        if repairs < 0 or improvements < 0:
            return -1
        if repairs + improvements == 0:
            return pivots if _ties_hold(t, weight) else -1
        pivots += repairs + improvements
    return -1
