"""Warm starts: a tableau is brought up to date with the entries of the payoffs that have changed.

Compiled; part of the kernel for large matrices. `tableau` explains the names.
"""

from coebl.kernels.cache import compiled, inlined
from coebl.kernels.tableau import subtract
from coebl.kernels.vectors import LANES, anywhere, fill, load, pointer, select
from coebl.kernels.workspace import matrix, tolerances_of


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
def _find_changes(t, w, A):
    """List in w.changed where A differs from what B was made of. Returns how many, or -1 if w.changed is too short.

    It stops at the first entry too many, so that payoffs that have all changed cost next to nothing.
    """
    base, unit, B = t.scale[0], 1 / t.scale[1], matrix(t.B, t.m, t.B_stride)
    count = 0
    for i in range(t.m):
        if not _differs(t, A, i, base, unit):
            continue
        for j in range(t.n):
            if 1 + (A[i, j] - base) * unit != B[i, j]:
                if count == w.budget:
                    return -1
                w.changed[count] = i * t.n + j
                count += 1
    return count


@compiled
def _change(t, w, i, j, change):
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
        if abs(growth) < tolerances_of(w).growth:
            return False
        for k in range(m):
            w.factor[k] = change * T[k, column_of_slack]
        for s in range(w.width):
            w.row[s] = T[row_of_q, s] / growth
        subtract(t, w, t.b[row_of_q] / growth, 0.0, change * t.c[column_of_slack])
    return True


@compiled
def _has(t, number):
    """Whether an entry of B is this number."""
    B = matrix(t.B, t.m, t.B_stride)
    for i in range(t.m):
        hits = 0
        for j in range(t.n):
            hits += B[i, j] == number
        if hits > 0:
            return True
    return False


@compiled
def catch_up(t, w, A):
    """Apply to B and T what has changed in A. False if it is too much, too far off, or made the basis singular.

    B and T are then of no use any more.
    """
    count = _find_changes(t, w, A)
    if count < 0:
        return False
    B = matrix(t.B, t.m, t.B_stride)
    base, unit, least, most = t.scale[0], 1 / t.scale[1], t.scale[2], t.scale[3]
    least_left = most_left = False
    tolerance = tolerances_of(w)
    for k in range(count):
        i, j = w.changed[k] // t.n, w.changed[k] % t.n
        old, new = B[i, j], 1 + (A[i, j] - base) * unit
        if not (new >= tolerance.lowest and new <= tolerance.highest):  # what is not a number is refused as well
            return False
        if not _change(t, w, i, j, new - old):
            return False
        B[i, j] = new
        least_left |= old == least
        most_left |= old == most
        least, most = min(least, new), max(most, new)
    if (least_left and not _has(t, least)) or (most_left and not _has(t, most)):
        least, most = extent(B, t.n, w)
    t.scale[2], t.scale[3] = least, most
    return most - least >= tolerance.narrowest


@compiled
def extent(A, n, w):
    """The least and the largest entry in the first n columns of A, or NaN where one is not finite."""
    m = A.shape[0]
    lows, highs, check = w.spare, w.primal, w.column_sums
    for j in range(n):
        lows[j] = highs[j] = A[m - 1, j]
        check[j] = A[m - 1, j] * 0.0
    for i in range(0, m - 1, 2):  # two rows a pass: three comparisons for two entries, and fewer loads
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
