"""The memory of the kernel for large matrices: its layout, and the names of its parts.

A workspace is three flat arrays, one for each kind of number. Each holds a part for every tableau that is kept, and
behind these the working memory that all runs share. `layout` alone knows where everything is; `new_workspace`
allocates by it, and `tableau_of` and `scratch_of` cut up by it.

The parts are pointers (see `vectors`), not arrays: Numba counts the references to every array of a tuple that a
function is given, and that takes as long as a pivot of a small tableau. A pointer is read and written by index, like an
array of one axis. For T and B, which have two axes, `matrix` makes an array of the pointer where time is not critical.
Pointers are valid as long as the workspace is.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import carray  # type: ignore[attr-defined]

from coebl.kernels.cache import compiled, inlined
from coebl.kernels.tolerances import DOUBLE, SINGLE
from coebl.kernels.vectors import BYTES, LANES, pointer


class Workspace(NamedTuple):
    """The memory of a batch."""

    numbers: Any  # float64
    coefficients: Any  # float32 or float64: the precision of T
    indices: Any  # int64
    tableaux: int  # how many are kept: one per run, or a single one that all runs use in turn


class Layout(NamedTuple):
    """Sizes, and where each part starts, in elements. Rows of matrices start at whole vectors."""

    m: int
    n: int
    rows: int  # m, rounded up to whole vectors
    B_stride: int  # from row to row of B
    stride: int  # from row to row of T
    width: int  # columns of T to sweep: n, rounded up to whole vectors
    budget: int  # how many changed entries a warm start takes on
    # the float64 of a tableau, and how many there are in all
    b: int
    c: int
    B: int
    scale: int
    numbers: int
    # its coefficients
    T: int
    norm: int
    coefficients: int
    # its indices
    basic: int
    nonbasic: int
    indices: int
    # the float64 of the working memory
    primal: int
    dual: int
    e: int
    row_sums: int
    column_sums: int
    spare: int
    scratch_numbers: int
    # its coefficients
    factor: int
    row_steps: int
    row: int
    column_steps: int
    scratch_coefficients: int


class Tableau(NamedTuple):
    """One tableau, and the payoffs that it belongs to. `tableau` explains the names."""

    m: int
    n: int
    T: Any  # (m, stride), single or double precision
    b: Any  # (rows,), right-hand side
    c: Any  # (stride,), reduced costs
    norm: Any  # (stride,), 1 + squared norm of each column
    basic: Any  # (m,), the variable of each row
    nonbasic: Any  # (n,), the variable of each column
    B: Any  # (m, B_stride), the scaled payoffs
    scale: Any  # (4,): the payoff that became 1, the width that became 1, or 0 if there is no tableau yet, and
    #                   the least and the largest entry of B
    stride: int  # from row to row of T
    B_stride: int  # from row to row of B


class Scratch(NamedTuple):
    """The working memory, which all runs use in turn."""

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
    budget: int
    lanes: int  # numbers in a vector of T
    width: int  # columns of T to sweep


@inlined
def _whole(size, lanes):
    """A size, rounded up to whole vectors."""
    return -(-size // lanes) * lanes


@compiled
def layout(m, n, like):
    """The layout for (m, n) matrices and a T of the dtype of like."""
    lanes = BYTES // like.itemsize
    rows, B_stride, width, stride = _whole(m, LANES), _whole(n, LANES), _whole(n, lanes), _whole(n, 2 * LANES)
    if stride // lanes % 8 == 0:
        stride += 2 * LANES  # rows that lie a power of two apart would compete for the same cache lines
    budget = 1 + min(m, n) // 4  # a change costs up to a pivot, and one or two more to repair

    b = 0
    c = b + rows
    B = c + stride
    scale = B + m * B_stride
    numbers = scale + LANES

    T = 0
    norm = T + m * stride
    coefficients = norm + stride

    basic = 0
    nonbasic = basic + m
    indices = nonbasic + n

    primal = 0
    dual = primal + stride + rows
    e = dual + stride + rows
    row_sums = e + rows
    column_sums = row_sums + rows
    spare = column_sums + stride
    scratch_numbers = spare + stride

    factor = 0
    row_steps = factor + rows
    row = row_steps + rows
    column_steps = row + stride
    scratch_coefficients = column_steps + stride
    return Layout(
        *(m, n, rows, B_stride, stride, width, budget),
        *(b, c, B, scale, numbers),
        *(T, norm, coefficients),
        *(basic, nonbasic, indices),
        *(primal, dual, e, row_sums, column_sums, spare, scratch_numbers),
        *(factor, row_steps, row, column_steps, scratch_coefficients),
    )


@compiled
def aligned(size, like):
    """An array of this size, rounded up to whole vectors, of the dtype of like, at the start of a cache line."""
    size = -(-size * like.itemsize // BYTES) * BYTES
    buffer = np.empty(size + BYTES, np.uint8)
    start = -buffer.ctypes.data % BYTES
    return buffer[start : start + size].view(like.dtype)


@compiled
def new_workspace(tableaux, m, n, like):
    """Memory for this number of tableaux of (m, n) matrices, with a T of the dtype of like. None holds anything yet."""
    lay = layout(m, n, like)
    numbers = aligned(tableaux * lay.numbers + lay.scratch_numbers, np.empty(0, np.float64))
    coefficients = aligned(tableaux * lay.coefficients + lay.scratch_coefficients, like)
    indices = np.empty(tableaux * lay.indices + lay.budget + 1, np.int64)
    indices[-1] = 0  # stop
    for k in range(tableaux):
        for i in range(lay.b, lay.b + lay.rows):
            numbers[k * lay.numbers + i] = 0  # what lies beyond m is read with the last vector, and must be a number
        numbers[k * lay.numbers + lay.scale + 1] = 0
    numbers[tableaux * lay.numbers :] = 0
    coefficients[tableaux * lay.coefficients :] = 0
    return Workspace(numbers, coefficients, indices, tableaux)


@inlined
def matrix(memory, rows, columns):
    """An array of this shape for what a pointer points to."""
    return carray(memory, (rows, columns))


@inlined
def tableau_of(workspace, lay, k):
    """Tableau k of a workspace with this layout."""
    numbers = pointer(workspace.numbers, k * lay.numbers)
    coefficients = pointer(workspace.coefficients, k * lay.coefficients)
    indices = pointer(workspace.indices, k * lay.indices)
    return Tableau(
        lay.m,
        lay.n,
        pointer(coefficients, lay.T),
        pointer(numbers, lay.b),
        pointer(numbers, lay.c),
        pointer(coefficients, lay.norm),
        pointer(indices, lay.basic),
        pointer(indices, lay.nonbasic),
        pointer(numbers, lay.B),
        pointer(numbers, lay.scale),
        lay.stride,
        lay.B_stride,
    )


@inlined
def scratch_of(workspace, lay):
    """The working memory of a workspace with this layout."""
    lanes = BYTES // workspace.coefficients.itemsize
    numbers = pointer(workspace.numbers, workspace.tableaux * lay.numbers)
    coefficients = pointer(workspace.coefficients, workspace.tableaux * lay.coefficients)
    return Scratch(
        pointer(numbers, lay.primal),
        pointer(numbers, lay.primal + lay.stride),
        pointer(numbers, lay.dual),
        pointer(numbers, lay.dual + lay.stride),
        pointer(numbers, lay.e),
        pointer(numbers, lay.row_sums),
        pointer(numbers, lay.column_sums),
        pointer(numbers, lay.spare),
        pointer(coefficients, lay.factor),
        pointer(coefficients, lay.row_steps),
        pointer(coefficients, lay.row),
        pointer(coefficients, lay.column_steps),
        pointer(workspace.indices, workspace.tableaux * lay.indices),
        pointer(workspace.indices, workspace.tableaux * lay.indices + lay.budget),
        lay.budget,
        lanes,
        lay.width,
    )


@inlined
def tolerances_of(w):
    """The tolerances of the precision of T. They are constants: in Scratch they would be passed to every function."""
    return DOUBLE if w.lanes == LANES else SINGLE
