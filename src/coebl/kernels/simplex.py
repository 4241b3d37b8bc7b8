"""The compiled kernel for large matrices: certified maximin strategies of a batch, one simplex tableau each.

`tableau` explains the linear program and the names. A solve pivots to the optimum (`primal`, `dual`), then settles:
`settle` uses the inverse inside ``T`` to refine ``p`` and ``q`` against the double-precision ``B``, recomputes ``b``
and ``c`` from them, and pivots further until they are feasible. The gap is then computed from ``B`` alone.

For a warm start, `catch_up` applies changed payoffs to a tableau. `recompute` makes a tableau again from its basis, if
the rounding of its pivots has spoiled it.
"""

import numpy as np

from coebl.kernels.cache import compiled, inlined
from coebl.kernels.tableau import bounds, dual, primal, settle, subtract, tie_parts
from coebl.kernels.vectors import LANES, anywhere, fill, load, pointer, select
from coebl.kernels.workspace import DOUBLE, MOST_GAP, layout, matrix, tableau_of, tolerances_of


@inlined
def _differs(t, A, i, base, unit):
    """Return true if row i of A differs from the payoffs in row i of B."""
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
def _find_changes(t, A):
    """List in t.changed where A differs from the payoffs of B. Returns how many, or -1 if t.changed is too short.

    It stops at the first entry too many, so that payoffs that have all changed cost next to nothing.
    """
    base, unit, B = t.scale[0], 1 / t.scale[1], matrix(t.B, t.m, t.B_stride)
    count = 0
    for i in range(t.m):
        if not _differs(t, A, i, base, unit):
            continue
        for j in range(t.n):
            if 1 + (A[i, j] - base) * unit != B[i, j]:
                if count == t.budget:
                    return -1
                t.changed[count] = i * t.n + j
                count += 1
    return count


@compiled
def _change(t, i, j, change):
    """Bring T up to date after B[i, j] has grown by change. False if the basis became singular.

    With slack[i] + change * q[j] in the place of slack[i] the old tableau still holds; substitute. norm is mostly left
    as it was: it only guides the choice of pivots.
    """
    m, n, T = t.m, t.n, matrix(t.T, t.m, t.stride)
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
        T[row_of_slack, column_of_q] += change
    elif row_of_slack >= 0:
        for s in range(n):
            T[row_of_slack, s] -= change * T[row_of_q, s]
        t.b[row_of_slack] -= change * t.b[row_of_q]
    elif column_of_q >= 0:
        for k in range(m):
            T[k, column_of_q] += change * T[k, column_of_slack]
        t.c[column_of_q] += change * t.c[column_of_slack]
    else:
        growth = 1 + change * T[row_of_q, column_of_slack]
        if abs(growth) < tolerances_of(t).growth:
            return False
        for k in range(m):
            t.factor[k] = change * T[k, column_of_slack]
        for s in range(t.width):
            t.row[s] = T[row_of_q, s] / growth
        subtract(t, t.b[row_of_q] / growth, 0.0, change * t.c[column_of_slack])
    return True


@compiled
def _has(t, number):
    """Return true if an entry of B is this number."""
    B = matrix(t.B, t.m, t.B_stride)
    for i in range(t.m):
        hits = 0
        for j in range(t.n):
            hits += B[i, j] == number
        if hits > 0:
            return True
    return False


@compiled
def catch_up(t, A):
    """Apply the changes of A to B and T. False if they are too many or too large, or made the basis singular.

    B and T can then no longer be used.
    """
    count = _find_changes(t, A)
    if count < 0:
        return False
    B = matrix(t.B, t.m, t.B_stride)
    base, unit, least, most = t.scale[0], 1 / t.scale[1], t.scale[2], t.scale[3]
    least_left = most_left = False
    tolerance = tolerances_of(t)
    for k in range(count):
        i, j = t.changed[k] // t.n, t.changed[k] % t.n
        old, new = B[i, j], 1 + (A[i, j] - base) * unit
        if not (new >= tolerance.lowest and new <= tolerance.highest):  # NaN is rejected as well
            return False
        if not _change(t, i, j, new - old):
            return False
        B[i, j] = new
        least_left |= old == least
        most_left |= old == most
        least, most = min(least, new), max(most, new)
    if (least_left and not _has(t, least)) or (most_left and not _has(t, most)):
        least, most = extent(t, B)
    t.scale[2], t.scale[3] = least, most
    return most - least >= tolerance.narrowest


@compiled
def extent(t, A):
    """The least and the largest entry in the first n columns of A, (m, ...), or NaN where one is not finite."""
    m, n = t.m, t.n
    lows, highs, check = t.spare, t.primal, t.column_sums
    for j in range(n):
        lows[j] = highs[j] = A[m - 1, j]
        check[j] = A[m - 1, j] * 0.0
    for i in range(0, m - 1, 2):  # two rows a pass: three comparisons for two entries, and fewer loads
        for j in range(n):
            first, second = A[i, j], A[i + 1, j]
            small, large = (first, second) if first < second else (second, first)
            check[j] += (first + second) * 0.0
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
def invert(G, stop):
    """Invert G in place, by Gauss and Jordan with row exchanges.

    False if it is singular, to working precision, or if the solve is to stop.
    """
    size = G.shape[0]
    exchanged = np.empty(size, np.int64)
    for k in range(size):
        if stop[0] != 0:
            return False
        r = k
        for i in range(k + 1, size):
            if abs(G[i, k]) > abs(G[r, k]):
                r = i
        exchanged[k] = r
        if not abs(G[r, k]) > DOUBLE.singular:
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
def recompute(t):
    """Compute T, b, c and norm of this basis from B alone, without the rounding of pivots.

    False if the basis is singular, or if the solve is to stop.

    The basic q solve the constraints whose slacks are nonbasic, and that square part of B is G. Its inverse gives the
    rows of T that belong to q; those of the slacks follow by substitution.
    """
    m, n = t.m, t.n
    T, B = matrix(t.T, m, t.stride), matrix(t.B, m, t.B_stride)
    q_rows = np.array([i for i in range(m) if t.basic[i] < n])
    slack_columns = np.array([s for s in range(n) if t.nonbasic[s] >= n])
    size = q_rows.size
    G = np.empty((size, size))
    for a in range(size):
        for k in range(size):
            G[a, k] = B[t.nonbasic[slack_columns[a]] - n, t.basic[q_rows[k]]]
    if not invert(G, t.stop):
        return False
    solved = np.zeros((size, n))  # inverse of G times its constraints: each basic q as a function of all q
    for k in range(size):
        if t.stop[0] != 0:
            return False
        for a in range(size):
            constraint = t.nonbasic[slack_columns[a]] - n
            for j in range(n):
                solved[k, j] += G[k, a] * B[constraint, j]
    for s in range(t.width):
        t.c[s] = 1.0 if s < n and t.nonbasic[s] < n else 0.0
        t.norm[s] = 1
    of_q, of_slacks = np.empty(n), np.empty(size)
    for i in range(m):
        if t.basic[i] < n:
            continue
        if t.stop[0] != 0:
            return False
        slack = t.basic[i] - n
        t.b[i] = 1.0
        of_q[:] = B[slack, :n]
        of_slacks[:] = 0.0
        for k in range(size):
            share = B[slack, t.basic[q_rows[k]]]
            for j in range(n):
                of_q[j] -= share * solved[k, j]
            for a in range(size):
                of_slacks[a] -= share * G[k, a]
                t.b[i] -= share * G[k, a]
        _fill_row(t, i, of_q, of_slacks, slack_columns)
    for k in range(size):
        i = q_rows[k]
        t.b[i] = 0.0
        for a in range(size):
            t.b[i] += G[k, a]
        _fill_row(t, i, solved[k], G[k], slack_columns)
        for s in range(n):
            t.c[s] -= T[i, s]
    for i in range(m):
        for s in range(n):
            t.norm[s] += T[i, s] * T[i, s]
    return True


@compiled
def _fill_row(t, i, of_q, of_slacks, slack_columns):
    """Row i of T, from the coefficients of all q and of the nonbasic slacks."""
    T = matrix(t.T, t.m, t.stride)
    for s in range(t.n):
        if t.nonbasic[s] < t.n:
            T[i, s] = of_q[t.nonbasic[s]]
    for a in range(slack_columns.size):
        T[i, slack_columns[a]] = of_slacks[a]


@compiled
def _scale(t, A):
    """Scale A into B, with entries in [1, 2]."""
    m, n, B = t.m, t.n, matrix(t.B, t.m, t.B_stride)
    low, high = extent(t, A)
    span = high - low if high != low else 1.0
    unit = 1 / span
    for i in range(m):
        for j in range(n):
            B[i, j] = 1 + (A[i, j] - low) * unit
        for j in range(n, t.B_stride):
            B[i, j] = 0.0
    t.scale[0], t.scale[1], t.scale[2], t.scale[3] = low, span, 1.0, 1 + (high - low) * unit


@compiled
def _begin(t, weight):
    """The tableau of t.B with every slack basic."""
    m, n, T, B = t.m, t.n, matrix(t.T, t.m, t.stride), matrix(t.B, t.m, t.B_stride)
    for j in range(t.width):
        t.norm[j] = 1
        t.c[j] = 1 if j < n else 0
    for i in range(m):
        t.b[i] = 1.0
        t.e[i] = weight[i]
        t.basic[i] = n + i
        for j in range(n):
            T[i, j] = B[i, j]
        for j in range(n, t.width):
            T[i, j] = 0
        for j in range(t.width):
            t.norm[j] += T[i, j] * T[i, j]
    for j in range(n):
        t.nonbasic[j] = j


@compiled
def _continue(t, weight, zero, exact):
    """Pivot from this tableau to the optimum, and settle. Returns the number of pivots, or -1 if it cannot continue.

    Entries of b and c up to zero, and once they are refined up to exact, count as zero.
    """
    m, n = t.m, t.n
    if t.lanes == LANES:
        tie_parts(t, weight)
    else:  # ties are left to settle
        for i in range(m):
            t.e[i] = 0.0
    repairs = dual(t, zero, m + n)
    improvements = primal(t, zero, m + n) if repairs >= 0 else -1
    more = settle(t, weight, exact) if improvements >= 0 else -1
    return repairs + improvements + more if more >= 0 else -1


@compiled
def _from_tableau(t, A, weight):
    """Solve from the tableau of the last solve. Returns the number of pivots, or -1 if that fails."""
    tolerance = tolerances_of(t)
    zero, exact = tolerance.zero, tolerance.exact
    if not (t.scale[1] > 0.0 and catch_up(t, A)):
        return -1
    count = _continue(t, weight, zero, exact)
    if count < 0 and recompute(t):
        count = _continue(t, weight, zero, exact)
    return count


@compiled
def _from_scratch(t, A, weight):
    """Solve from the payoffs alone. Returns the number of pivots, or -1 if this precision is not enough."""
    tolerance = tolerances_of(t)
    zero, exact, loose = tolerance.zero, tolerance.exact, tolerance.loose
    _scale(t, A)
    _begin(t, weight)
    count = primal(t, zero, 10 * (t.m + t.n) + 50)
    if count >= 0:
        more = settle(t, weight, exact)
        count = count + more if more >= 0 else -1
    if count < 0 and recompute(t):
        count = _continue(t, weight, max(zero, loose), loose)
    return count


@compiled
def solve_batch(A, weight, workspace, row, column, value, gap, pivots):
    """Solve every A[k], from its tableau of the last call if possible, and keep the tableau for the next call.

    A: (runs, m, n). weight: (runs, m) or (1, m), the tie weights. workspace: a `Workspace`; if it keeps a single
    tableau for several runs, every run is solved from scratch. row, column, value, gap, pivots: the arrays for the
    answers. Returns how many gaps are not at most MOST_GAP; payoffs that are not finite, or too nearly degenerate
    for this precision, are among them. Another thread may set the last of workspace.indices, stop, to end it soon.
    """
    runs, m, n = A.shape
    lay = layout(m, n, workspace.coefficients)
    remembered = workspace.tableaux == runs
    failures = 0
    for k in range(runs):
        t = tableau_of(workspace, lay, k if remembered else 0)
        if t.stop[0] != 0:
            return runs
        payoffs = matrix(pointer(A, k * m * n), m, n)
        ties = pointer(weight, k * m if weight.shape[0] > 1 else 0)
        count = _from_tableau(t, payoffs, ties) if remembered else -1
        if count < 0:
            count = _from_scratch(t, payoffs, ties)
        if count < 0:
            t.scale[1] = 0.0
            gap[k] = np.nan
            failures += 1
            continue
        pivots[k] = count
        lower, upper = bounds(t, pointer(row, k * m), pointer(column, k * n))
        value[k] = t.scale[0] + (0.5 * (lower + upper) - 1) * t.scale[1]
        gap[k] = (upper - lower) / (t.scale[3] - t.scale[2] or 1.0)
        failures += not abs(gap[k]) <= MOST_GAP  # also if it is NaN
    return failures
