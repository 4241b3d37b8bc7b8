"""The compiled kernel for large matrices: certified maximin strategies of a batch, one simplex tableau each.

`tableau` explains the linear program and the names. A solve pivots to the optimum there, and settles here: ``_settle``
uses the inverse inside ``T`` to refine ``p`` and ``q`` against the double-precision ``B``, recomputes ``b`` and ``c``
from them, and pivots on until they are feasible to 1e-11. The gap is then computed from ``B`` alone.
"""

import numpy as np

from coebl.solver.kernels.tableau import LOOSE, compiled, dual, inlined, lay_out, primal, subtract, tableau_of
from coebl.solver.kernels.vectors import LANES, anywhere, fill, fill_like, load, pointer, select, store, total

MOST_GAP = 1e-9  # the largest duality gap, relative to the payoff range, of an answer that stands
ROUNDING = 1e-13  # a probability below this is no probability
_ROUNDS = 12  # how often _settle refines and pivots on before it gives up
_REFINEMENTS = 8
_EXACT = 1e-11  # what counts as zero in b and c once they are refined


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
            at, here = i * stride + j, load(q, j)
            m0, m1, m2, m3 = load(M, at), load(M, at + stride), load(M, at + 2 * stride), load(M, at + 3 * stride)
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
    """Where a variable stands in w.primal and w.dual; slacks start at the stride."""
    return variable + (t.stride - t.n) * (variable >= t.n)


@compiled
def _refine(t, w):
    """Solve for the p and q of this basis by iterative refinement; recompute b and c. False if it diverges.

    Where row i of T is basic in q[j] and column s nonbasic in slack k, T[i, s] is the inverse of the basis. A basic
    variable should have no price, a nonbasic one no value: what is left of these is the error.
    Leaves Bq in w.row_sums and B'p in w.column_sums.
    """
    m, n = t.m, t.n
    for i in range(m):
        at = _place(t, t.basic[i])
        w.primal[at], w.dual[at] = t.b[i], 0.0
    for s in range(n):
        at = _place(t, t.nonbasic[s])
        w.primal[at], w.dual[at] = 0.0, -t.c[s]
    before = np.inf
    for _ in range(_REFINEMENTS):
        _products(t.B, m, n, t.B_stride, LANES, w.p, w.primal, w.row_sums, w.column_sums)
        for i in range(m):
            w.slacks[i] = 1 - w.row_sums[i]
        for j in range(n):
            w.dual[j] = w.column_sums[j] - 1
        error = 0.0
        for i in range(m):
            at = _place(t, t.basic[i])
            t.b[i], w.factor[i] = w.primal[at], -w.dual[at]
            error = max(error, abs(w.dual[at]))
        for s in range(n):
            at = _place(t, t.nonbasic[s])
            t.c[s], w.row[s] = -w.dual[at], w.primal[at]
            error = max(error, abs(w.primal[at]))
        if error <= 0.1 * _EXACT:
            return True
        if not error < 0.5 * before:  # also when it is not a number
            return False
        before = error
        _products(t.T, m, n, t.stride, w.lanes, w.factor, w.row, w.row_steps, w.column_steps)
        for i in range(m):
            w.primal[_place(t, t.basic[i])] += w.row_steps[i]
        for s in range(n):
            w.dual[_place(t, t.nonbasic[s])] += w.column_steps[s]
    return False


@compiled
def _bounds(t, w, row, column):
    """Leave the strategies in row and column. Return what they guarantee, min p'B and max Bq. Comes after _refine."""
    m, n = t.m, t.n
    p, q = w.p, w.primal
    clipped = False
    total_p = total_q = 0.0
    for i in range(m):
        if p[i] != 0.0 and p[i] < ROUNDING:
            p[i] = 0.0
            clipped = True
        total_p += p[i]
    for j in range(n):
        if q[j] != 0.0 and q[j] < ROUNDING:
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
def _tie_parts(t, w, weight):
    """e, the part of the right-hand side that belongs to the perturbation 1 + epsilon * weight."""
    m, n = t.m, t.n
    for s in range(n):
        k = t.nonbasic[s]
        w.row[s] = weight[k - n] if k >= n else 0.0
    _products(t.T, m, n, t.stride, w.lanes, w.factor, w.row, w.row_steps, w.column_steps)
    for i in range(m):
        w.e[i] = w.row_steps[i] + (weight[t.basic[i] - n] if t.basic[i] >= n else 0.0)


@compiled
def _ties_hold(t, w, weight):
    """Whether e solves B e + slack = weight. If not, the basis is singular and T no inverse; p and q do not tell."""
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
    most = 1e-6 + 1e-13 * largest if w.lanes == LANES else 1e-2 * largest
    for i in range(m):
        row_sum = fill(0.0)
        for j in range(-(-n // LANES)):
            row_sum = row_sum + load(t.B, i * t.B_stride // LANES + j) * load(w.spare, j)
        if not abs(total(row_sum) + w.row_steps[i] - weight[i]) <= most:
            return False
    return True


@compiled
def _settle(t, w, weight, exact):
    """Refine, and pivot on until the basis is optimal in double precision, ties included. Return as primal does."""
    m, n = t.m, t.n
    limit = m + n
    pivots = 0
    for _ in range(_ROUNDS):
        if not _refine(t, w):
            return -1
        least, most = t.b[0], t.c[0]
        for i in range(1, m):
            least = min(least, t.b[i])
        for s in range(1, n):
            most = max(most, t.c[s])
        if least > exact and most <= exact:
            return pivots
        _tie_parts(t, w, weight)
        repairs = dual(t, w, exact, limit)
        improvements = primal(t, w, exact, limit) if repairs >= 0 else -1
        if repairs < 0 or improvements < 0:
            return -1
        if repairs + improvements == 0:
            return pivots if _ties_hold(t, w, weight) else -1
        pivots += repairs + improvements
    return -1


@compiled
def _change(t, w, i, j, change):
    """Bring T up to date after B[i, j] has grown by change. False if the basis became singular.

    With slack[i] + change * q[j] in the place of slack[i] the old tableau still holds; substitute. norm is mostly left
    as it was: it only guides the choice of pivots.
    """
    m, n = t.m, t.n
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
        t.T[row_of_slack * t.stride + column_of_q] += change
    elif row_of_slack >= 0:
        for s in range(n):
            t.T[row_of_slack * t.stride + s] -= change * t.T[row_of_q * t.stride + s]
        t.b[row_of_slack] -= change * t.b[row_of_q]
    elif column_of_q >= 0:
        for k in range(m):
            t.T[k * t.stride + column_of_q] += change * t.T[k * t.stride + column_of_slack]
        t.c[column_of_q] += change * t.c[column_of_slack]
    else:
        growth = 1 + change * t.T[row_of_q * t.stride + column_of_slack]
        if abs(growth) < 1e-3:
            return False
        for k in range(m):
            w.factor[k] = change * t.T[k * t.stride + column_of_slack]
        for s in range(w.width):
            w.row[s] = t.T[row_of_q * t.stride + s] / growth
        subtract(t, w, t.b[row_of_q] / growth, 0.0, change * t.c[column_of_slack])
    return True


@compiled
def _has(t, number):
    """Whether an entry of B is this number."""
    for i in range(t.m):
        hits = 0
        for j in range(t.n):
            hits += t.B[i * t.B_stride + j] == number
        if hits > 0:
            return True
    return False


@inlined
def _differs(t, A, i, base, unit):
    """Whether row i of A has changed since it became row i of B."""
    here, there = pointer(A, i * t.n), pointer(t.B, i * t.B_stride)
    vectors = t.n // LANES
    changes = fill(0)
    for j in range(vectors):
        changed = fill(1.0) + (load(here, j) - fill(base)) * fill(unit) != load(there, j)
        changes = select(changed, fill(1), changes)
    for j in range(vectors * LANES, t.n):
        if 1 + (here[j] - base) * unit != there[j]:
            return True
    return anywhere(changes > fill(0))


@compiled
def _catch_up(t, w, A, scale):
    """Apply to B and T what has changed in A. False if it is too much, too far off, or made the basis singular."""
    m, n = t.m, t.n
    base, unit, least, most = scale[0], 1 / scale[1], scale[2], scale[3]
    budget = 1 + min(m, n) // 4  # a change costs up to a pivot, and a pivot or two to repair
    least_left = most_left = False
    for i in range(m):
        if not _differs(t, A, i, base, unit):
            continue
        for j in range(n):
            old, new = t.B[i * t.B_stride + j], 1 + (A[i * n + j] - base) * unit
            if new != old:
                budget -= 1
                if budget < 0:
                    return False
                if not (new >= 0.5 and new <= 3) or not _change(t, w, i, j, new - old):  # NaN is refused as well
                    return False
                t.B[i * t.B_stride + j] = new
                least_left |= old == least
                most_left |= old == most
                least, most = min(least, new), max(most, new)
    if (least_left and not _has(t, least)) or (most_left and not _has(t, most)):
        least, most = _extent(t.B, m, n, t.B_stride, w.spare, w.primal, w.column_sums)
    scale[2], scale[3] = least, most
    return most - least >= 0.25


@compiled
def _scale(t, w, A, scale):
    """Make B of A, with entries in [1, 2]."""
    m, n = t.m, t.n
    low, high = _extent(A, m, n, n, w.spare, w.primal, w.column_sums)
    span = high - low if high != low else 1.0
    unit = 1 / span
    for i in range(m):
        for j in range(n):
            t.B[i * t.B_stride + j] = 1 + (A[i * n + j] - low) * unit
        for j in range(n, t.B_stride):
            t.B[i * t.B_stride + j] = 0.0
    scale[0], scale[1], scale[2], scale[3] = low, span, 1.0, 1 + (high - low) * unit


@compiled
def _begin(t, w, weight):
    """The tableau of t.B with every slack basic."""
    m, n = t.m, t.n
    for j in range(w.width):
        t.norm[j] = 1
        t.c[j] = 1 if j < n else 0
    for i in range(m):
        t.b[i] = 1.0
        w.e[i] = weight[i]
        t.basic[i] = n + i
        for j in range(n):
            t.T[i * t.stride + j] = t.B[i * t.B_stride + j]
        for j in range(n, w.width):
            t.T[i * t.stride + j] = 0
        for j in range(w.width):
            t.norm[j] += t.T[i * t.stride + j] * t.T[i * t.stride + j]
    for j in range(n):
        t.nonbasic[j] = j


@compiled
def _extent(A, m, n, stride, lows, highs, check):
    """The least and the largest entry of A, or NaN where one is not finite. The last three are scratch."""
    for j in range(n):
        lows[j] = highs[j] = A[(m - 1) * stride + j]
        check[j] = A[(m - 1) * stride + j] * 0.0
    for i in range(0, m - 1, 2):
        for j in range(n):
            one, other = A[i * stride + j], A[(i + 1) * stride + j]
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


@compiled
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


@compiled
def _compute_anew(t, w):
    """Compute T, b, c and norm of this basis from B alone, without the rounding of pivots. False if it is singular.

    The basic q solve the constraints whose slacks are nonbasic; the inverse of that square part of B gives all.
    """
    m, n = t.m, t.n
    q_rows = np.array([i for i in range(m) if t.basic[i] < n])
    slack_columns = np.array([s for s in range(n) if t.nonbasic[s] >= n])
    size = q_rows.size
    G = np.empty((size, size))
    for a in range(size):
        for k in range(size):
            G[a, k] = t.B[(t.nonbasic[slack_columns[a]] - n) * t.B_stride + t.basic[q_rows[k]]]
    if not _invert(G):
        return False
    solved = np.zeros((size, n))  # inverse of G times the constraints: q as a function of all q
    for k in range(size):
        for a in range(size):
            constraint = t.nonbasic[slack_columns[a]] - n
            for j in range(n):
                solved[k, j] += G[k, a] * t.B[constraint * t.B_stride + j]
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
            rest[j] = t.B[slack * t.B_stride + j]
        for a in range(size):
            w.spare[a] = 0.0
        for k in range(size):
            share = t.B[slack * t.B_stride + t.basic[q_rows[k]]]
            for j in range(n):
                rest[j] -= share * solved[k, j]
            for a in range(size):
                w.spare[a] -= share * G[k, a]
                t.b[i] -= share * G[k, a]
        _fill_row(t, i, rest, w.spare, slack_columns)
    for k in range(size):
        i = q_rows[k]
        t.b[i] = 0.0
        for a in range(size):
            t.b[i] += G[k, a]
        _fill_row(t, i, solved[k], G[k], slack_columns)
        for s in range(n):
            t.c[s] -= t.T[i * t.stride + s]
    for i in range(m):
        for s in range(n):
            t.norm[s] += t.T[i * t.stride + s] * t.T[i * t.stride + s]
    return True


@compiled
def _fill_row(t, i, of_q, of_slacks, slack_columns):
    """Row i of T, from the coefficients of all q and of the nonbasic slacks."""
    for s in range(t.n):
        if t.nonbasic[s] < t.n:
            t.T[i * t.stride + s] = of_q[t.nonbasic[s]]
    for a in range(slack_columns.size):
        t.T[i * t.stride + slack_columns[a]] = of_slacks[a]


@compiled
def _go_on(t, w, weight, zero, exact):
    """Pivot from this tableau to the optimum, and settle. zero and exact are what counts as zero before and after."""
    m, n = t.m, t.n
    if w.lanes == LANES:
        _tie_parts(t, w, weight)
    else:  # ties are left to _settle
        for i in range(m):
            w.e[i] = 0.0
    repairs = dual(t, w, zero, m + n)
    improvements = primal(t, w, zero, m + n) if repairs >= 0 else -1
    more = _settle(t, w, weight, exact) if improvements >= 0 else -1
    return repairs + improvements + more if more >= 0 else -1


@compiled
def maximin_batch(A, weight, states, scale, row, column, value, gap, pivots):
    """Solve every A[k], from its state where that helps, and leave the state for a later call.

    A: (runs, m, n). weight: (runs, m) or (1, m), the tie weights. scale: (runs, 4), what B was made with and is: the
    payoff that became 1, the width that became 1, the least and the largest entry of B; a width of 0 says that there is
    no state yet. row, column, value, gap, pivots: the answers of each run. Returns how many gaps are not at most
    MOST_GAP: payoffs that are not finite, or too nearly degenerate for this precision, end there.
    """
    runs, m, n = A.shape
    w = lay_out(states)
    failures = 0
    for k in range(runs):
        t = tableau_of(states, k)
        payoffs, scaling = pointer(A, k * m * n), pointer(scale, 4 * k)
        ties = pointer(weight, k * m if weight.shape[0] > 1 else 0)
        count = -1
        if scaling[1] > 0.0 and _catch_up(t, w, payoffs, scaling):
            count = _go_on(t, w, ties, w.zero, _EXACT)
            if count < 0 and _compute_anew(t, w):
                count = _go_on(t, w, ties, w.zero, _EXACT)
        if count < 0:
            _scale(t, w, payoffs, scaling)
            _begin(t, w, ties)
            count = primal(t, w, w.zero, 10 * (m + n) + 50)
            if count >= 0:
                more = _settle(t, w, ties, _EXACT)
                count = count + more if more >= 0 else -1
            if count < 0 and _compute_anew(t, w):
                count = _go_on(t, w, ties, max(w.zero, LOOSE), LOOSE)
        if count < 0:
            scaling[1] = 0.0
            gap[k] = np.nan
            failures += 1
            continue
        pivots[k] = count
        lower, upper = _bounds(t, w, pointer(row, k * m), pointer(column, k * n))
        value[k] = scaling[0] + (0.5 * (lower + upper) - 1) * scaling[1]
        gap[k] = (upper - lower) / (scaling[3] - scaling[2] or 1.0)
        failures += not abs(gap[k]) <= MOST_GAP  # also when it is not a number
    return failures
