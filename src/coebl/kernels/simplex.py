"""The compiled kernel for large matrices: certified maximin strategies of a batch, one simplex tableau each.

`tableau` explains the linear program and the names. A solve pivots to the optimum (`primal`, `dual`), then settles:
`settle` uses the inverse inside ``T`` to refine ``p`` and ``q`` against the double-precision ``B``, recomputes ``b``
and ``c`` from them, and pivots further until they are feasible. The gap is then computed from ``B`` alone.
"""

import numpy as np

from coebl.kernels.cache import compiled
from coebl.kernels.refine import bounds, settle, tie_parts
from coebl.kernels.restart import catch_up, extent, recompute
from coebl.kernels.tableau import dual, primal
from coebl.kernels.tolerances import MOST_GAP
from coebl.kernels.vectors import LANES, pointer
from coebl.kernels.workspace import layout, matrix, scratch_of, tableau_of, tolerances_of


@compiled
def _scale(t, w, A):
    """Scale A into B, with entries in [1, 2]."""
    m, n, B = t.m, t.n, matrix(t.B, t.m, t.B_stride)
    low, high = extent(A, n, w)
    span = high - low if high != low else 1.0
    unit = 1 / span
    for i in range(m):
        for j in range(n):
            B[i, j] = 1 + (A[i, j] - low) * unit
        for j in range(n, t.B_stride):
            B[i, j] = 0.0
    t.scale[0], t.scale[1], t.scale[2], t.scale[3] = low, span, 1.0, 1 + (high - low) * unit


@compiled
def _begin(t, w, weight):
    """The tableau of t.B with every slack basic."""
    m, n, T, B = t.m, t.n, matrix(t.T, t.m, t.stride), matrix(t.B, t.m, t.B_stride)
    for j in range(w.width):
        t.norm[j] = 1
        t.c[j] = 1 if j < n else 0
    for i in range(m):
        t.b[i] = 1.0
        w.e[i] = weight[i]
        t.basic[i] = n + i
        for j in range(n):
            T[i, j] = B[i, j]
        for j in range(n, w.width):
            T[i, j] = 0
        for j in range(w.width):
            t.norm[j] += T[i, j] * T[i, j]
    for j in range(n):
        t.nonbasic[j] = j


@compiled
def _continue(t, w, weight, zero, exact):
    """Pivot from this tableau to the optimum, and settle. Returns the number of pivots, or -1 if it cannot continue.

    Entries of b and c up to zero, and once they are refined up to exact, count as zero.
    """
    m, n = t.m, t.n
    if w.lanes == LANES:
        tie_parts(t, w, weight)
    else:  # ties are left to settle
        for i in range(m):
            w.e[i] = 0.0
    repairs = dual(t, w, zero, m + n)
    improvements = primal(t, w, zero, m + n) if repairs >= 0 else -1
    more = settle(t, w, weight, exact) if improvements >= 0 else -1
    return repairs + improvements + more if more >= 0 else -1


@compiled
def _from_tableau(t, w, A, weight):
    """Solve from the tableau of the last solve. Returns the number of pivots, or -1 if that fails."""
    tolerance = tolerances_of(w)
    zero, exact = tolerance.zero, tolerance.exact
    if not (t.scale[1] > 0.0 and catch_up(t, w, A)):
        return -1
    count = _continue(t, w, weight, zero, exact)
    if count < 0 and recompute(t, w):
        count = _continue(t, w, weight, zero, exact)
    return count


@compiled
def _from_scratch(t, w, A, weight):
    """Solve from the payoffs alone. Returns the number of pivots, or -1 if this precision is not enough."""
    tolerance = tolerances_of(w)
    zero, exact, loose = tolerance.zero, tolerance.exact, tolerance.loose
    _scale(t, w, A)
    _begin(t, w, weight)
    count = primal(t, w, zero, 10 * (t.m + t.n) + 50)
    if count >= 0:
        more = settle(t, w, weight, exact)
        count = count + more if more >= 0 else -1
    if count < 0 and recompute(t, w):
        count = _continue(t, w, weight, max(zero, loose), loose)
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
    w = scratch_of(workspace, lay)
    failures = 0
    for k in range(runs):
        if w.stop[0] != 0:
            return runs
        t = tableau_of(workspace, lay, k if workspace.tableaux == runs else 0)
        payoffs = matrix(pointer(A, k * m * n), m, n)
        ties = pointer(weight, k * m if weight.shape[0] > 1 else 0)
        count = _from_tableau(t, w, payoffs, ties) if workspace.tableaux == runs else -1
        if count < 0:
            count = _from_scratch(t, w, payoffs, ties)
        if count < 0:
            t.scale[1] = 0.0
            gap[k] = np.nan
            failures += 1
            continue
        pivots[k] = count
        lower, upper = bounds(t, w, pointer(row, k * m), pointer(column, k * n))
        value[k] = t.scale[0] + (0.5 * (lower + upper) - 1) * t.scale[1]
        gap[k] = (upper - lower) / (t.scale[3] - t.scale[2] or 1.0)
        failures += not abs(gap[k]) <= MOST_GAP  # also if it is NaN
    return failures
