"""The memory of the kernel for large matrices, and the tolerances of all kernels.

A workspace is three flat arrays, one for each kind of number. Each holds a part for every tableau that is kept, and
behind these the working memory that all runs share. `layout` computes the sizes; `tableau_of` cuts the memory into
parts, each of which begins where the one before ends.

The parts are pointers (see `vectors`), not arrays: Numba counts the references to every array of a tuple that a
function is given, and that takes as long as a pivot of a small tableau. A pointer is read and written by index, like an
array of one axis. For T and B, which have two axes, `matrix` makes an array of the pointer where time is not critical.
Pointers are valid as long as the workspace is.

Payoffs are scaled into ``B`` with entries in [1, 2] first, so that all tolerances are relative to the payoff range.
There is one tuple of them for each precision of the tableau ``T``; ``b``, ``c``, ``B`` and the answers are double
precision with either. `tableau` explains the names.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.np.numpy_support import carray

from coebl.kernels.cache import compiled, inlined
from coebl.kernels.vectors import BYTES, LANES, cut, pointer

# The largest duality gap, relative to the payoff range, of an answer that is returned. 1e-9 is promised: the difference
# is for the rounding of a user who computes the gap again from the strategies and the payoffs, in another order.
MOST_GAP = 1e-9 - 1e-12


class Tolerances(NamedTuple):
    """The sizes that count as zero, and as too large, for a double-precision tableau."""

    # An entry of b or c while it comes out of pivots alone: some thousand roundings of 2e-16.
    zero: float = 1e-12
    # An entry of T. To pivot on it multiplies the rounding of its row, and 2e-16 times 1e9 is what refinement can still
    # repair.
    tiny: float = 1e-9
    # An entry of b or c once it is recomputed from B. Refinement goes on until its error is a tenth of this, and what
    # is left in the gap is well below MOST_GAP.
    exact: float = 1e-11
    # As exact, on the last attempt: where the basis is nearly singular, refinement does not reach as far. It is a tenth
    # of MOST_GAP.
    loose: float = 1e-10
    # An entry of b that may be a zero as long as refinement has not gone as far as it can: its error is a tenth of
    # exact, times entries of T. Where there is one, refinement goes on, and the rule for ties is applied.
    near: float = 1e-8
    # The change that makes equal costs differ. It is far above their rounding, even times large entries of T, and far
    # below most costs, so that few pivots are needed once it is gone.
    nudge: float = 1e-6
    # A probability. Smaller ones are rounding left by refinement, and are set to 0 before the gap is computed.
    rounding: float = 1e-13
    # The pivot of an inversion from scratch, which exchanges rows: below this, the matrix is singular to working
    # precision, a few hundred times the rounding of an entry of B.
    singular: float = 1e-13
    # The factor by which a changed entry scales the determinant of the basis. Below this, the update loses three
    # digits, and beginning again is the better choice.
    growth: float = 1e-3
    # The least pivot in a tie, relative to the largest one that ties. The rule for ties picks the row; this keeps it
    # from picking one whose pivot is mostly rounding.
    share: float = 0.01
    # The error in the equations of the tie parts e, absolute, and relative to the largest of them. A tie part decides
    # only by its sign and order, so six digits are enough; a singular basis gives errors of order 1.
    tie_error: float = 1e-6
    tie_error_relative: float = 1e-13
    # How far the entries of B may move before it is rescaled, and how narrow their range may become. They start
    # in [1, 2]; a factor of about 2 to 4 loses no more than a bit or two of the tolerances above.
    lowest: float = 0.5
    highest: float = 3.0
    narrowest: float = 0.25


DOUBLE = Tolerances()
SINGLE = DOUBLE._replace(
    # A tableau with a rounding of 6e-8 steers, and refinement against B gives the answer. So only what T itself is
    # compared with becomes larger, by the ratio of the two roundings less some digits.
    zero=1e-6,
    tiny=1e-5,
    # Tie parts come from a single-precision product. This only rejects nonsense.
    tie_error=0.0,
    tie_error_relative=1e-2,
)


class Workspace(NamedTuple):
    """The memory of a batch."""

    numbers: Any  # float64
    coefficients: Any  # float32 or float64: the precision of T
    indices: Any  # int64
    tableaux: int  # how many are kept: one per run, or a single one that all runs use in turn


class Tableau(NamedTuple):
    """One tableau, the payoffs that it belongs to, and the working memory. `tableau` explains the names.

    `layout` has the sizes of the parts, in this order. Rows of matrices start at whole vectors: rows is m, rounded up.
    """

    m: int
    n: int
    stride: int  # from row to row of T
    B_stride: int  # from row to row of B
    width: int  # columns of T to sweep: n, rounded up to whole vectors
    lanes: int  # numbers in a vector of T
    budget: int  # how many changed entries a warm start takes on
    b: Any  # (rows,), right-hand side
    c: Any  # (stride,), reduced costs
    B: Any  # (m, B_stride), the scaled payoffs
    scale: Any  # (4,): the payoff that became 1, the width that became 1, or 0 if there is no tableau yet, and
    #                   the least and the largest entry of B
    T: Any  # (m, stride), single or double precision
    norm: Any  # (stride,), 1 + squared norm of each column
    basic: Any  # (m,), the variable of each row
    nonbasic: Any  # (n,), the variable of each column

    # The working memory, which all tableaux use in turn:
    primal: Any  # (stride + rows,), the value of each variable: q, then the slacks
    slacks: Any  # (rows,), its end
    dual: Any  # (stride + rows,), the price of each variable: those of q, then p
    p: Any  # (rows,), its end
    e: Any  # (rows,), the tie part of the right-hand side
    row_sums: Any  # (rows,), Bq
    column_sums: Any  # (stride,), B'p
    spare: Any  # (stride,)
    factor: Any  # (rows,), the pivot column, or what is multiplied with T; this and the next three have T's precision
    row_steps: Any  # (rows,), its products
    row: Any  # (stride,), the pivot row, or what is multiplied with T
    column_steps: Any  # (stride,), its products
    changed: Any  # (budget,), the entries of the payoffs that have changed
    stop: Any  # (1,), not 0 once the solve is to be given up


@inlined
def _whole(size, lanes):
    """A size, rounded up to whole vectors."""
    return -(-size // lanes) * lanes


@compiled
def layout(m, n, like):
    """The lengths of a `Tableau` of (m, n) payoffs, with a T of the dtype of like, and the sizes of its parts.

    The sizes are those of float64, of the coefficients and of the indices, first of the tableau, then of the working
    memory.
    """
    lanes = BYTES // like.itemsize
    rows, B_stride, width, stride = _whole(m, LANES), _whole(n, LANES), _whole(n, lanes), _whole(n, 2 * LANES)
    if stride // lanes % 8 == 0:
        stride += 2 * LANES  # rows that lie a power of two apart would compete for the same cache lines
    budget = 1 + min(m, n) // 4  # a change costs up to a pivot, and one or two more to repair

    own = (rows, stride, m * B_stride, LANES), (m * stride, stride), (m, n)
    working = (stride, rows, stride, rows, rows, rows, stride, stride), (rows, rows, stride, stride), (budget, 1)
    return (m, n, stride, B_stride, width, lanes, budget), own, working


@compiled
def aligned(size, like):
    """An array of this size, rounded up to whole vectors, of the dtype of like, at the start of a cache line."""
    size = -(-size * like.itemsize // BYTES) * BYTES
    buffer = np.empty(size + BYTES, np.uint8)
    start = -buffer.ctypes.data % BYTES
    return buffer[start : start + size].view(like.dtype)


@compiled
def new_workspace(tableaux, m, n, like):
    """Memory for this number of tableaux of (m, n) matrices, with a T of the dtype of like. All are empty."""
    _, own, working = layout(m, n, like)
    size = sum(own[0])
    numbers = aligned(tableaux * size + sum(working[0]), np.empty(0, np.float64))
    coefficients = aligned(tableaux * sum(own[1]) + sum(working[1]), like)
    indices = np.empty(tableaux * sum(own[2]) + sum(working[2]), np.int64)
    indices[-1] = 0  # stop
    for k in range(tableaux):
        for i in range(own[0][0]):
            numbers[k * size + i] = 0  # b beyond m is read with the last vector, and must be a number
        numbers[(k + 1) * size - LANES + 1] = 0  # the width in scale: there is no tableau yet
    numbers[tableaux * size :] = 0
    coefficients[tableaux * sum(own[1]) :] = 0
    return Workspace(numbers, coefficients, indices, tableaux)


@inlined
def matrix(memory, rows, columns):
    """An array of this shape on the memory of a pointer."""
    return carray(memory, (rows, columns))


@inlined
def tableau_of(workspace, lay, k):
    """Tableau k of a workspace with this layout, and the working memory."""
    numbers, coefficients, indices, tableaux = workspace
    lengths, own, working = lay
    return Tableau(
        *lengths,
        *cut(pointer(numbers, k * sum(own[0])), own[0]),
        *cut(pointer(coefficients, k * sum(own[1])), own[1]),
        *cut(pointer(indices, k * sum(own[2])), own[2]),
        *cut(pointer(numbers, tableaux * sum(own[0])), working[0]),
        *cut(pointer(coefficients, tableaux * sum(own[1])), working[1]),
        *cut(pointer(indices, tableaux * sum(own[2])), working[2]),
    )


@inlined
def tolerances_of(t):
    """The tolerances of the precision of T. They are constants: in Tableau they would be passed to every function."""
    return DOUBLE if t.lanes == LANES else SINGLE
