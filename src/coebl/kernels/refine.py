"""From a tableau to an answer: refinement against the payoffs, the rule for ties, and the bounds of the certificate.

Compiled; part of the kernel for large matrices. `tableau` explains the linear program and the names.
"""

import numpy as np

from coebl.kernels.cache import compiled, inlined
from coebl.kernels.tableau import dual, primal
from coebl.kernels.vectors import LANES, fill, fill_like, load, store, total
from coebl.kernels.workspace import tolerances_of

_ROUNDS = 12  # how often `settle` refines and pivots before it gives up
_REFINEMENTS = 8  # how often `_refine` may correct its solution; each time at least halves the error


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
    """The index of a variable in w.primal and w.dual; slacks start at the stride of T."""
    return variable + (t.stride - t.n) * (variable >= t.n)


@compiled
def _refine(t, w, enough):
    """Solve for the p and q of this basis by iterative refinement; recompute b and c. False if it diverges.

    It ends when the error is at most `enough`, or no longer halves. False also if it halves for too long.

    Where row i of T is basic in q[j] and column s nonbasic in slack k, T[i, s] is the inverse of the basis. A basic
    variable should have no price, a nonbasic one no value: the price or value that they have is the error.
    Leaves Bq in w.row_sums and B'p in w.column_sums.
    """
    m, n = t.m, t.n
    for i in range(m):
        place = _place(t, t.basic[i])
        w.primal[place], w.dual[place] = t.b[i], 0.0
    for s in range(n):
        place = _place(t, t.nonbasic[s])
        w.primal[place], w.dual[place] = 0.0, -t.c[s]
    before = np.inf
    for _ in range(_REFINEMENTS):
        _products(t.B, m, n, t.B_stride, LANES, w.p, w.primal, w.row_sums, w.column_sums)
        for i in range(m):
            w.slacks[i] = 1 - w.row_sums[i]
        for j in range(n):
            w.dual[j] = w.column_sums[j] - 1
        error = 0.0
        for i in range(m):
            place = _place(t, t.basic[i])
            t.b[i], w.factor[i] = w.primal[place], -w.dual[place]
            error = max(error, abs(w.dual[place]))
        for s in range(n):
            place = _place(t, t.nonbasic[s])
            t.c[s], w.row[s] = -w.dual[place], w.primal[place]
            error = max(error, abs(w.primal[place]))
        if error <= enough:
            return True
        if not error < 0.5 * before:  # also if it is NaN
            return error <= 0.1 * tolerances_of(w).exact
        before = error
        _products(t.T, m, n, t.stride, w.lanes, w.factor, w.row, w.row_steps, w.column_steps)
        for i in range(m):
            w.primal[_place(t, t.basic[i])] += w.row_steps[i]
        for s in range(n):
            w.dual[_place(t, t.nonbasic[s])] += w.column_steps[s]
    return False


@compiled
def bounds(t, w, row, column):
    """Write the strategies to row and column. Return their guarantees, min p'B and max Bq. Comes after `settle`."""
    m, n = t.m, t.n
    p, q = w.p, w.primal
    clipped, rounding = False, tolerances_of(w).rounding
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
        _products(t.B, m, n, t.B_stride, LANES, p, q, w.row_sums, w.column_sums)
    low, high = w.column_sums[0], w.row_sums[0]
    for j in range(1, n):
        low = min(low, w.column_sums[j])
    for i in range(1, m):
        high = max(high, w.row_sums[i])
    for i in range(m):
        row[i] = p[i] / total_p
    for j in range(n):
        column[j] = q[j] / total_q
    return low / total_p, high / total_q


@compiled
def tie_parts(t, w, weight):
    """Compute e, the part of the right-hand side that belongs to the perturbation 1 + epsilon * weight."""
    m, n = t.m, t.n
    for s in range(n):
        k = t.nonbasic[s]
        w.row[s] = weight[k - n] if k >= n else 0.0
    _products(t.T, m, n, t.stride, w.lanes, w.factor, w.row, w.row_steps, w.column_steps)
    for i in range(m):
        w.e[i] = w.row_steps[i] + (weight[t.basic[i] - n] if t.basic[i] >= n else 0.0)


@compiled
def _ties_hold(t, w, weight):
    """True if e solves B e + slack = weight. If not, the basis is singular and T is not its inverse.

    The strategies may be optimal all the same, so that nothing else would notice.
    """
    m, n = t.m, t.n
    for j in range(n):
        w.spare[j] = 0.0
    for i in range(m):
        w.row_steps[i] = 0
    largest = 1.0
    for i in range(m):
        if t.basic[i] < n:
            w.spare[t.basic[i]] = w.e[i]
        else:
            w.row_steps[t.basic[i] - n] = w.e[i]
        largest = max(largest, abs(w.e[i]))
    tolerance = tolerances_of(w)
    most = tolerance.tie_error + tolerance.tie_error_relative * largest
    vectors = t.B_stride // LANES
    for i in range(m):
        row_sum = fill(0.0)
        for j in range(vectors):
            row_sum = row_sum + load(t.B, i * vectors + j) * load(w.spare, j)
        if not abs(total(row_sum) + w.row_steps[i] - weight[i]) <= most:
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
def settle(t, w, weight, exact):
    """Refine, and pivot further until the basis is optimal in double precision, ties included.

    Entries of b and c up to exact count as zero. Returns the number of pivots, or -1 if it cannot continue.
    """
    m, n = t.m, t.n
    limit = m + n
    pivots = 0
    for _ in range(_ROUNDS):
        if not _refine(t, w, 0.1 * tolerances_of(w).exact):
            return -1
        least, most = _extremes(t)
        if least > tolerances_of(w).near and most <= exact:
            return pivots
        if not _refine(t, w, 0.0):  # to the last digits: a zero must not look like a positive number, nor the reverse
            return -1
        least, most = _extremes(t)
        if least > exact and most <= exact:
            return pivots
        tie_parts(t, w, weight)
        repairs = dual(t, w, exact, limit)
        improvements = primal(t, w, exact, limit) if repairs >= 0 else -1
        if repairs < 0 or improvements < 0:
            return -1
        if repairs + improvements == 0:
            return pivots if _ties_hold(t, w, weight) else -1
        pivots += repairs + improvements
    return -1
