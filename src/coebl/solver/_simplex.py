"""The compiled kernel: certified maximin strategies of a batch of matrices, one simplex tableau each.

The linear program. Scale a payoff matrix into ``B`` with entries in [1, 2]. The column player's program is
``max 1'q`` subject to ``Bq <= 1, q >= 0`` and the row player's is its dual, ``min 1'p`` subject to
``B'p >= 1, p >= 0``. Normalised, ``q`` and ``p`` are the two optimal strategies.

The tableau is the condensed one of Tucker: (m, n) coefficients ``T``, the right-hand side ``b`` and the
reduced costs ``c``, kept apart so that the rows of ``T`` stay aligned. ``basic[i]`` names the variable of
tableau row i, ``nonbasic[s]`` that of tableau column s: variable ``j < n`` is ``q[j]``, variable ``n + i`` is
the slack of constraint i. At the end ``q`` is read off ``b``, and ``p`` off ``-c``.

Pivoting is by steepest edge with exact column norms, which are recomputed in the pass that updates ``T``.

Ties. A right-hand side ``1 + epsilon * weight[i]`` with an infinitesimal epsilon makes the program
non-degenerate, and means that among its optimal strategies the row player takes the one of least mean
``weight``. ``e`` carries the part of the right-hand side that belongs to epsilon; it decides where ``b`` ties.

Precision. ``T`` may be single precision. It only steers: ``settle`` uses the inverse inside it to refine ``p``
and ``q`` against the double-precision ``B``, recomputes ``b`` and ``c`` from them, and pivots on until they are
feasible to 1e-11. The gap it then returns is computed from ``B`` alone.

Every function below works in place on arrays that its caller allocated.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

MOST_GAP = 1e-9  # the largest duality gap, relative to the payoff range, of an answer that stands
_ROUNDS = 12  # how often _settle refines and pivots on before it gives up
_REFINEMENTS = 8
_ROUNDING = 1e-13  # a probability below this is no probability
_EXACT = 1e-11  # what counts as zero in b and c once they are refined
_LOOSE = 1e-10  # the same where the basis is nearly singular, so that rounding reaches further
_compiled = njit(nogil=True, cache=True, error_model="numpy")
_inlined = njit(nogil=True, cache=True, error_model="numpy", inline="always")  # a call counts references to each array


class Tableau(NamedTuple):
    """One condensed tableau. Of the arrays with a stride, the first n columns count; the others stay zero."""

    T: Any  # (m, stride), single or double precision
    b: Any  # (m,), right-hand side
    c: Any  # (stride,), reduced costs
    norm: Any  # (stride,), 1 + squared norm of each column
    basic: Any  # (m,), the variable of each row
    nonbasic: Any  # (n,), the variable of each column
    B: Any  # (m, n), the scaled payoffs


class Scratch(NamedTuple):
    """Working memory, allocated once a call."""

    e: Any  # (m,), the tie part of the right-hand side
    factor: Any  # (m,), the pivot column
    row: Any  # (stride,), the pivot row
    ratio: Any  # (m,)
    score: Any  # (stride,)
    over_rows: Any  # (m,)
    over_columns: Any  # (stride,)
    row_sums: Any  # (m,)
    column_sums: Any  # (stride,)
    support: Any  # (stride,), integers
    width: int  # columns to sweep: n, or n rounded up to whole vectors
    zero: float  # what counts as zero in b and c while they come from T alone
    tiny: float  # what counts as zero in T


@_compiled
def _eliminate(T, width, factor, row, norm):
    """Subtract factor x row from T, and leave 1 + the squared norm of each column in norm."""
    m = T.shape[0]
    for j in range(width):
        norm[j] = 1
    i = 0
    while i + 4 <= m:  # four rows a pass: row and norm are then read once for four
        f0, f1, f2, f3 = factor[i], factor[i + 1], factor[i + 2], factor[i + 3]
        for j in range(width):
            t0 = T[i, j] - f0 * row[j]
            t1 = T[i + 1, j] - f1 * row[j]
            t2 = T[i + 2, j] - f2 * row[j]
            t3 = T[i + 3, j] - f3 * row[j]
            T[i, j] = t0
            T[i + 1, j] = t1
            T[i + 2, j] = t2
            T[i + 3, j] = t3
            norm[j] += (t0 * t0 + t1 * t1) + (t2 * t2 + t3 * t3)
        i += 4
    while i < m:
        f0 = factor[i]
        for j in range(width):
            t0 = T[i, j] - f0 * row[j]
            T[i, j] = t0
            norm[j] += t0 * t0
        i += 1


@_inlined
def _pivot(t, w, r, s):
    """Exchange the variables of tableau row r and tableau column s; w.factor holds column s."""
    m = t.b.size
    inverse = 1 / w.factor[r]
    for j in range(w.width):
        w.row[j] = t.T[r, j] * inverse
    w.row[s] = 1 + inverse  # these two make one formula right
    w.factor[r] -= 1  # for row r and column s too
    step, tie_step, price = t.b[r] * inverse, w.e[r] * inverse, t.c[s]
    for i in range(m):
        t.b[i] -= w.factor[i] * step
        w.e[i] -= w.factor[i] * tie_step
    for j in range(w.width):
        t.c[j] -= price * w.row[j]
    _eliminate(t.T, w.width, w.factor, w.row, t.norm)
    t.basic[r], t.nonbasic[s] = t.nonbasic[s], t.basic[r]


@_compiled
def _tie(t, w, step, zero):
    """Of the rows that tie in b, the one of least tie part leaves; but not by a pivot so small that it ruins T."""
    m = t.b.size
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


@_compiled
def _primal(t, w, zero, limit):
    """Pivot until no reduced cost exceeds zero. Return the number of pivots, or -1 if it cannot go on."""
    m = t.b.size
    factor, ratio, score = w.factor, w.ratio, w.score
    for pivots in range(limit):
        for j in range(w.width):
            gain = np.float32(t.c[j] - zero)
            gain = gain if gain > 0 else np.float32(0)  # no branch around a division: it would be taken at random
            score[j] = gain * gain / t.norm[j]
        s, best = 0, score[0]
        for j in range(1, w.width):
            if score[j] > best:
                s, best = j, score[j]
        if best == 0.0:
            return pivots
        for i in range(m):
            factor[i] = t.T[i, s]
        for i in range(m):
            usable = factor[i] > w.tiny
            quotient = t.b[i] / (factor[i] if usable else 1.0)
            ratio[i] = quotient if usable else np.inf
        r, step = 0, ratio[0]
        for i in range(1, m):
            if ratio[i] < step:
                r, step = i, ratio[i]
        if step == np.inf:
            return -1
        ties = 0
        for i in range(m):
            ties += (t.b[i] - step * factor[i] <= zero) & (factor[i] > w.tiny)
        if ties > 1:
            r = _tie(t, w, step, zero)
        t.b[r] = max(t.b[r], 0.0)
        _pivot(t, w, r, s)
    return -1


@_compiled
def _dual(t, w, zero, limit):
    """Pivot until no right-hand side is negative, nor zero with a negative tie part. Return as _primal does.

    A positive reduced cost counts as zero here; _primal, which comes after, sees to it.
    """
    m = t.b.size
    pivots = 0
    for _ in range(limit):
        r, worst = -1, -zero
        for i in range(m):
            if t.b[i] < worst:
                r, worst = i, t.b[i]
        if r < 0:
            largest = 1.0
            for i in range(m):
                largest = max(largest, abs(w.e[i]))
            worst = -w.tiny * largest
            for i in range(m):
                if t.b[i] <= zero and w.e[i] < worst:
                    r, worst = i, w.e[i]
        if r < 0:
            return pivots
        largest = 1.0
        for j in range(w.width):
            largest = max(largest, abs(t.T[r, j]))
        s, best, size = -1, np.inf, 0.0
        for j in range(w.width):
            entry = -t.T[r, j]
            if entry > w.tiny * largest:
                cost = (-t.c[j] if t.c[j] < -zero else 0.0) / entry
                if cost < best or (cost == best and entry > size):
                    s, best, size = j, cost, entry
        if s < 0:
            if t.b[r] < -_LOOSE:
                return -1
            t.b[r] = w.e[r] = 0.0  # nothing in the row can make up for it: it is a zero, rounded
            continue
        for i in range(m):
            w.factor[i] = t.T[i, s]
        _pivot(t, w, r, s)
        pivots += 1
    return -1


@_compiled
def _times(M, v, n, support, out):
    """out = M v, over the first n columns. support is scratch: the columns where v is not zero."""
    m = M.shape[0]
    size = 0
    for j in range(n):
        support[size] = j
        size += v[j] != 0.0
    i = 0
    while i + 8 <= m:  # eight sums at once: a single chain of additions would wait for each
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
        for k in range(size):
            j = support[k]
            s0 += M[i, j] * v[j]
            s1 += M[i + 1, j] * v[j]
            s2 += M[i + 2, j] * v[j]
            s3 += M[i + 3, j] * v[j]
            s4 += M[i + 4, j] * v[j]
            s5 += M[i + 5, j] * v[j]
            s6 += M[i + 6, j] * v[j]
            s7 += M[i + 7, j] * v[j]
        out[i], out[i + 1], out[i + 2], out[i + 3] = s0, s1, s2, s3
        out[i + 4], out[i + 5], out[i + 6], out[i + 7] = s4, s5, s6, s7
        i += 8
    while i < m:
        s0 = 0.0
        for k in range(size):
            s0 += M[i, support[k]] * v[support[k]]
        out[i] = s0
        i += 1


@_compiled
def _transposed_times(M, v, n, out):
    """out = M' v, over the first n columns."""
    for j in range(n):
        out[j] = 0.0
    for i in range(M.shape[0]):
        if v[i] != 0.0:
            for j in range(n):
                out[j] += M[i, j] * v[i]


@_inlined
def _refine(t, w, p, q):
    """Solve for the p and q of this basis by iterative refinement; recompute b and c. False if it diverges.

    Where row i of T is basic in q[j] and column s nonbasic in slack k, T[i, s] is the inverse of the basis.
    Leaves Bq in w.row_sums and B'p in w.column_sums.
    """
    m, n = t.B.shape
    for i in range(m):
        p[i] = 0.0
    for j in range(n):
        q[j] = 0.0
    for i in range(m):
        if t.basic[i] < n:
            q[t.basic[i]] = t.b[i]
    for s in range(n):
        if t.nonbasic[s] >= n:
            p[t.nonbasic[s] - n] = -t.c[s]
    before = np.inf
    for _ in range(_REFINEMENTS):
        _times(t.B, q, n, w.support, w.row_sums)
        _transposed_times(t.B, p, n, w.column_sums)
        error = 0.0
        for i in range(m):
            k = t.basic[i]
            if k < n:
                t.b[i] = q[k]
                w.over_rows[i] = 1 - w.column_sums[k]
                error = max(error, abs(w.over_rows[i]))
            else:
                t.b[i] = 1 - w.row_sums[k - n]
                w.over_rows[i] = 0.0
        for s in range(n):
            k = t.nonbasic[s]
            if k < n:
                t.c[s] = 1 - w.column_sums[k]
                w.over_columns[s] = 0.0
            else:
                t.c[s] = -p[k - n]
                w.over_columns[s] = 1 - w.row_sums[k - n]
                error = max(error, abs(w.over_columns[s]))
        if error <= 0.1 * _EXACT:
            return True
        if not error < 0.5 * before:  # also when it is not a number
            return False
        before = error
        _times(t.T, w.over_columns, n, w.support, w.row_sums)
        _transposed_times(t.T, w.over_rows, n, w.column_sums)
        for i in range(m):
            if t.basic[i] < n:
                q[t.basic[i]] += w.row_sums[i]
        for s in range(n):
            if t.nonbasic[s] >= n:
                p[t.nonbasic[s] - n] += w.column_sums[s]
    return False


@_inlined
def _bounds(t, w, p, q):
    """Make p and q strategies. Return what they guarantee, min p'B and max Bq. Comes after _refine."""
    m, n = t.B.shape
    clipped = False
    total_p = total_q = 0.0
    for i in range(m):
        if p[i] != 0.0 and p[i] < _ROUNDING:
            p[i] = 0.0
            clipped = True
        total_p += p[i]
    for j in range(n):
        if q[j] != 0.0 and q[j] < _ROUNDING:
            q[j] = 0.0
            clipped = True
        total_q += q[j]
    if clipped:
        _times(t.B, q, n, w.support, w.row_sums)
        _transposed_times(t.B, p, n, w.column_sums)
    low, high = w.column_sums[0], w.row_sums[0]
    for j in range(1, n):
        low = min(low, w.column_sums[j])
    for i in range(1, m):
        high = max(high, w.row_sums[i])
    for i in range(m):
        p[i] /= total_p
    for j in range(n):
        q[j] /= total_q
    return low / total_p, high / total_q


@_inlined
def _tie_parts(t, w, weight):
    """e, the part of the right-hand side that belongs to the perturbation 1 + epsilon * weight."""
    n = t.nonbasic.size
    for s in range(n):
        k = t.nonbasic[s]
        w.over_columns[s] = weight[k - n] if k >= n else 0.0
    _times(t.T, w.over_columns, n, w.support, w.e)
    for i in range(t.b.size):
        if t.basic[i] >= n:
            w.e[i] += weight[t.basic[i] - n]


@_inlined
def _settle(t, w, weight, p, q, exact):
    """Refine, and pivot on until the basis is optimal in double precision, ties included. Return as _primal does."""
    m, n = t.B.shape
    limit = m + n
    pivots = 0
    for _ in range(_ROUNDS):
        if not _refine(t, w, p, q):
            return -1
        least, most = t.b[0], t.c[0]
        for i in range(1, m):
            least = min(least, t.b[i])
        for s in range(1, n):
            most = max(most, t.c[s])
        if least > exact and most <= exact:
            return pivots
        _tie_parts(t, w, weight)
        repairs = _dual(t, w, exact, limit)
        improvements = _primal(t, w, exact, limit) if repairs >= 0 else -1
        if repairs < 0 or improvements < 0:
            return -1
        if repairs + improvements == 0:
            return pivots
        pivots += repairs + improvements
    return -1


@_compiled
def _change(t, w, i, j, change):
    """Bring T up to date after B[i, j] has grown by change. False if the basis became singular.

    With slack[i] + change * q[j] in the place of slack[i] the old tableau still holds; substitute. norm is mostly left
    as it was: it only guides the choice of pivots.
    """
    m = t.b.size
    n = t.nonbasic.size
    row_of_q = row_of_slack = column_of_q = column_of_slack = -1
    for k in range(m):
        if t.basic[k] == j:
            row_of_q = k
        elif t.basic[k] == n + i:
            row_of_slack = k
    for s in range(n):
        if t.nonbasic[s] == j:
            column_of_q = s
        elif t.nonbasic[s] == n + i:
            column_of_slack = s
    if row_of_slack >= 0 and column_of_q >= 0:
        t.T[row_of_slack, column_of_q] += change
    elif row_of_slack >= 0:
        for s in range(n):
            t.T[row_of_slack, s] -= change * t.T[row_of_q, s]
        t.b[row_of_slack] -= change * t.b[row_of_q]
    elif column_of_q >= 0:
        for k in range(m):
            t.T[k, column_of_q] += change * t.T[k, column_of_slack]
        t.c[column_of_q] += change * t.c[column_of_slack]
    else:
        growth = 1 + change * t.T[row_of_q, column_of_slack]
        if abs(growth) < 1e-3:
            return False
        step, price = t.b[row_of_q] / growth, change * t.c[column_of_slack]
        for k in range(m):
            w.factor[k] = change * t.T[k, column_of_slack]
            t.b[k] -= w.factor[k] * step
        for s in range(w.width):
            w.row[s] = t.T[row_of_q, s] / growth
            t.c[s] -= price * w.row[s]
        _eliminate(t.T, w.width, w.factor, w.row, t.norm)
    return True


@_compiled
def _has(B, number):
    """Whether an entry of B is this number."""
    m, n = B.shape
    for i in range(m):
        hits = 0
        for j in range(n):
            hits += B[i, j] == number
        if hits > 0:
            return True
    return False


@_inlined
def _catch_up(t, w, A, k, scale):
    """Apply to B and T what has changed in A[k]. False if it is too much, too far off, or made the basis singular."""
    m, n = t.B.shape
    base, unit, least, most = scale[k, 0], 1 / scale[k, 1], scale[k, 2], scale[k, 3]
    budget = 1 + min(m, n) // 4  # a change costs up to a pivot, and a pivot or two to repair
    least_left = most_left = False
    for i in range(m):
        differing = 0
        for j in range(n):
            differing += 1 + (A[k, i, j] - base) * unit != t.B[i, j]
        if differing == 0:
            continue
        budget -= differing
        if budget < 0:
            return False
        for j in range(n):
            old, new = t.B[i, j], 1 + (A[k, i, j] - base) * unit
            if new != old:
                if not (new >= 0.5 and new <= 3) or not _change(t, w, i, j, new - old):  # NaN is refused as well
                    return False
                t.B[i, j] = new
                least_left |= old == least
                most_left |= old == most
                least, most = min(least, new), max(most, new)
    if (least_left and not _has(t.B, least)) or (most_left and not _has(t.B, most)):
        least, most = _extent(t.B, w.score, w.over_columns, w.column_sums)
    scale[k, 2], scale[k, 3] = least, most
    return most - least >= 0.25


@_inlined
def _scale(t, w, A, k, scale):
    """Make B of A[k], with entries in [1, 2]."""
    m, n = t.B.shape
    low, high = _extent(A[k], w.score, w.over_columns, w.column_sums)
    span = high - low if high != low else 1.0
    unit = 1 / span
    for i in range(m):
        for j in range(n):
            t.B[i, j] = 1 + (A[k, i, j] - low) * unit
    scale[k, 0], scale[k, 1], scale[k, 2], scale[k, 3] = low, span, 1.0, 1 + (high - low) * unit


@_inlined
def _begin(t, w, weight):
    """The tableau of t.B with every slack basic."""
    m, n = t.B.shape
    for j in range(w.width):
        t.norm[j] = 1
        t.c[j] = 1 if j < n else 0
    for i in range(m):
        t.b[i] = 1.0
        w.e[i] = weight[i]
        t.basic[i] = n + i
        for j in range(n):
            t.T[i, j] = t.B[i, j]
        for j in range(n, w.width):
            t.T[i, j] = 0
        for j in range(w.width):
            t.norm[j] += t.T[i, j] * t.T[i, j]
    for j in range(n):
        t.nonbasic[j] = j


@_compiled
def _extent(A, lows, highs, check):
    """The smallest and the largest entry of A, or NaN where one is not finite. The rest is scratch."""
    m, n = A.shape
    for j in range(n):
        lows[j] = highs[j] = A[m - 1, j]
        check[j] = A[m - 1, j] * 0.0
    for i in range(0, m - 1, 2):
        for j in range(n):
            one, other = A[i, j], A[i + 1, j]
            small, large = (one, other) if one < other else (other, one)
            check[j] += (one + other) * 0.0
            lows[j] = small if small < lows[j] else lows[j]
            highs[j] = large if large > highs[j] else highs[j]
    low, high = lows[0], highs[0]
    for j in range(1, n):
        low = lows[j] if lows[j] < low else low
        high = highs[j] if highs[j] > high else high
    for j in range(n):
        high += check[j]
    return low, high


@_compiled
def _invert(G):
    """Invert G in place, by Gauss and Jordan with row exchanges. False if it is singular, to working precision."""
    size = G.shape[0]
    exchanged = np.empty(size, np.int64)
    for k in range(size):
        r = k
        for i in range(k + 1, size):
            if abs(G[i, k]) > abs(G[r, k]):
                r = i
        exchanged[k] = r
        if not abs(G[r, k]) > 1e-13:
            return False
        for j in range(size):
            G[k, j], G[r, j] = G[r, j], G[k, j]
        inverse = 1 / G[k, k]
        G[k, k] = 1.0
        for j in range(size):
            G[k, j] *= inverse
        for i in range(size):
            if i != k:
                factor = G[i, k]
                G[i, k] = 0.0
                for j in range(size):
                    G[i, j] -= factor * G[k, j]
    for k in range(size - 1, -1, -1):
        r = exchanged[k]
        for i in range(size):
            G[i, k], G[i, r] = G[i, r], G[i, k]
    return True


@_compiled
def _compute_anew(t, w):
    """Compute T, b, c and norm of this basis from B alone, without the rounding of pivots. False if it is singular.

    The basic q solve the constraints whose slacks are nonbasic; the inverse of that square part of B gives all.
    """
    m, n = t.B.shape
    q_rows = np.flatnonzero(t.basic < n)
    slack_columns = np.flatnonzero(t.nonbasic >= n)
    size = q_rows.size
    G = np.empty((size, size))
    for a in range(size):
        for k in range(size):
            G[a, k] = t.B[t.nonbasic[slack_columns[a]] - n, t.basic[q_rows[k]]]
    if not _invert(G):
        return False
    solved = np.zeros((size, n))  # inverse of G times the constraints: q as a function of all q
    for k in range(size):
        for a in range(size):
            constraint = t.nonbasic[slack_columns[a]] - n
            for j in range(n):
                solved[k, j] += G[k, a] * t.B[constraint, j]
    rest = np.empty(n)
    for s in range(w.width):
        t.c[s] = 1.0 if s < n and t.nonbasic[s] < n else 0.0
        t.norm[s] = 1
    for i in range(m):
        if t.basic[i] < n:
            continue
        slack = t.basic[i] - n
        t.b[i] = 1.0
        for j in range(n):
            rest[j] = t.B[slack, j]
        for a in range(size):
            w.over_columns[a] = 0.0
        for k in range(size):
            share = t.B[slack, t.basic[q_rows[k]]]
            for j in range(n):
                rest[j] -= share * solved[k, j]
            for a in range(size):
                w.over_columns[a] -= share * G[k, a]
                t.b[i] -= share * G[k, a]
        _fill_row(t, i, rest, w.over_columns, slack_columns)
    for k in range(size):
        i = q_rows[k]
        t.b[i] = 0.0
        for a in range(size):
            t.b[i] += G[k, a]
        _fill_row(t, i, solved[k], G[k], slack_columns)
        for s in range(n):
            t.c[s] -= t.T[i, s]
    for i in range(m):
        for s in range(n):
            t.norm[s] += t.T[i, s] * t.T[i, s]
    return True


@_inlined
def _fill_row(t, i, of_q, of_slacks, slack_columns):
    """Row i of T, from the coefficients of all q and of the nonbasic slacks."""
    for s in range(t.nonbasic.size):
        if t.nonbasic[s] < t.nonbasic.size:
            t.T[i, s] = of_q[t.nonbasic[s]]
    for a in range(slack_columns.size):
        t.T[i, slack_columns[a]] = of_slacks[a]


@_inlined
def _go_on(t, w, weight, p, q, zero, exact):
    """Pivot from this tableau to the optimum, and settle. zero and exact are what counts as zero before and after."""
    m, n = t.B.shape
    if t.T.itemsize == 8:
        _tie_parts(t, w, weight)
    else:  # ties are left to _settle
        for i in range(m):
            w.e[i] = 0.0
    repairs = _dual(t, w, zero, m + n)
    improvements = _primal(t, w, zero, m + n) if repairs >= 0 else -1
    more = _settle(t, w, weight, p, q, exact) if improvements >= 0 else -1
    return repairs + improvements + more if more >= 0 else -1


@_compiled
def _aligned(size, like):
    """An array of this size and the dtype of like, at an address that suits whole cache lines."""
    buffer = np.empty(size * like.itemsize + 64, np.uint8)
    start = -buffer.ctypes.data % 64
    return buffer[start : start + size * like.itemsize].view(like.dtype)


@_compiled
def maximin_batch(A, weight, states, scale, row, column, value, gap, pivots):
    """Solve every A[k], from its state where that helps, and leave the state for a later call.

    A: (runs, m, n). weight: (runs, m) or (1, m), the tie weights. states: a Tableau whose arrays have runs on axis 0.
    scale: (runs, 4), what B was made with and is: the payoff that became 1, the width that became 1, the least and the
    largest entry of B; a width of 0 says that there is no state yet. row, column, value, gap, pivots: the answers of
    each run. Returns how many gaps are not at most MOST_GAP: payoffs that are not finite, or too nearly degenerate for
    this precision, end there.
    """
    runs, m, n = A.shape
    T, b = states.T, states.b
    stride = T.shape[2]
    single = T.itemsize == 4
    w = Scratch(
        _aligned(m, b),
        _aligned(m, T),
        _aligned(stride, T),
        _aligned(m, b),
        _aligned(stride, b),
        _aligned(m, b),
        _aligned(stride, b),
        _aligned(m, b),
        _aligned(stride, b),
        np.empty(stride, np.int64),
        n if n < 16 else (n + 15) // 16 * 16,
        1e-6 if single else 1e-12,
        1e-5 if single else 1e-9,
    )
    failures = 0
    for k in range(runs):
        t = Tableau(
            states.T[k],
            states.b[k],
            states.c[k],
            states.norm[k],
            states.basic[k],
            states.nonbasic[k],
            states.B[k],
        )
        ties = weight[k if weight.shape[0] > 1 else 0]
        count = -1
        if scale[k, 1] > 0.0 and _catch_up(t, w, A, k, scale):
            count = _go_on(t, w, ties, row[k], column[k], w.zero, _EXACT)
            if count < 0 and _compute_anew(t, w):
                count = _go_on(t, w, ties, row[k], column[k], w.zero, _EXACT)
        if count < 0:
            _scale(t, w, A, k, scale)
            _begin(t, w, ties)
            count = _primal(t, w, w.zero, 10 * (m + n) + 50)
            if count >= 0:
                more = _settle(t, w, ties, row[k], column[k], _EXACT)
                count = count + more if more >= 0 else -1
            if count < 0 and _compute_anew(t, w):
                count = _go_on(t, w, ties, row[k], column[k], max(w.zero, _LOOSE), _LOOSE)
        if count < 0:
            scale[k, 1] = 0.0
            gap[k] = np.nan
            failures += 1
            continue
        pivots[k] = count
        lower, upper = _bounds(t, w, row[k], column[k])
        value[k] = scale[k, 0] + (0.5 * (lower + upper) - 1) * scale[k, 1]
        gap[k] = (upper - lower) / (scale[k, 3] - scale[k, 2] or 1.0)
        failures += not abs(gap[k]) <= MOST_GAP  # also when it is not a number
    return failures
