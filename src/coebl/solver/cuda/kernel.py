"""The kernel of `simplex.cu`, compiled for one shape and one precision of the tableau, and how it is launched."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from coebl.core.errors import InputError
from coebl.core.modules import require
from coebl.kernels.tolerances import DOUBLE, SINGLE

MOST_ACTIONS = 512

_WARP = 32
_MOST_THREADS = 384  # measured: more of them wait for each other longer than they work
_ROWS_EACH = 24  # rows of T that a thread updates, unless there would be too many threads
_RESERVED = 1024  # bytes of shared memory that the system takes for each block
_BLOCKS = 8  # on a multiprocessor: more of them gain nothing, as each has work for many cycles
_SHARED_SHARE = 0.95  # of T, that is kept in shared memory rather than have more blocks
_TOLERANCES = ("zero", "tiny", "exact", "loose", "rounding", "share", "tie_error", "tie_error_relative")


@dataclass(frozen=True)
class Layout:
    """How a block of threads shares a tableau: the constants of `simplex.cu`, and what follows from them."""

    m: int
    n: int
    real: str  # "float" or "double", of T
    threads: int
    stride: int  # from row to row of T
    shared_rows: int  # rows of T in shared memory; the others are in global memory
    blocks: int  # on a multiprocessor at a time

    @property
    def item(self) -> int:
        """Bytes of an entry of T."""
        return 4 if self.real == "float" else 8

    @property
    def shared_bytes(self) -> int:
        """Of T in shared memory."""
        return self.shared_rows * self.stride * self.item

    @property
    def numbers(self) -> int:
        """Double-precision numbers of working memory for each block."""
        return 4 * (self.m + self.n) + self.threads // _WARP * self.n

    @property
    def rest(self) -> int:
        """Entries of T in global memory, for each block."""
        return (self.m - self.shared_rows) * self.stride


def layout(m: int, n: int, real: str, block_bytes: int, all_bytes: int) -> Layout:
    """The layout of an (m, n) tableau.

    Args:
        m: rows.
        n: columns.
        real: "float" or "double".
        block_bytes: shared memory that a block may have.
        all_bytes: that of a multiprocessor, for all its blocks.
    """
    if max(m, n) > MOST_ACTIONS:
        raise InputError(
            f"the game has {m} x {n} actions; accepted on a graphics processor: at most {MOST_ACTIONS} each. "
            'Use device="cpu".'
        )
    item = 4 if real == "float" else 8
    vector = 16 // item
    vectors = -(-n // vector)
    stride = (vectors + (vectors % 8 == 0)) * vector
    threads = min(_MOST_THREADS, -(-vectors * -(-m // _ROWS_EACH) // _WARP) * _WARP)
    groups = threads // vectors
    own = groups * stride * item + (m + stride) * item + 8 * (2 * m + n) + 2 * (m + n) + 24 * (threads // _WARP) + 256
    most = own + _SHARED_SHARE * m * stride * item + _RESERVED  # bytes that a block asks for, at least
    blocks = max(1, min(_BLOCKS, 2048 // threads, int(all_bytes / most)))
    room = min(block_bytes, all_bytes // blocks - _RESERVED) - own
    shared_rows = max(0, min(m, room // (stride * item)))
    return Layout(m, n, real, threads, stride, shared_rows, blocks)


class Kernel:
    """The kernel for one layout. Compiled when it is made; CuPy keeps the compiled code for the next process."""

    def __init__(self, lay: Layout) -> None:
        cupy = require("cupy")
        tolerances = SINGLE if lay.real == "float" else DOUBLE
        constants = {
            "M": lay.m,
            "N": lay.n,
            "REAL": lay.real,
            "THREADS": lay.threads,
            "SHARED_ROWS": lay.shared_rows,
            "BLOCKS": lay.blocks,
            "WARP": _WARP,
            **{name.upper(): repr(float(getattr(tolerances, name))) for name in _TOLERANCES},
        }
        options = ("--std=c++17", *(f"-D{name}={value}" for name, value in constants.items()))
        source = (Path(__file__).parent / "simplex.cu").read_text(encoding="utf-8")
        self.layout = lay
        self._kernel = cupy.RawKernel(source, "solve_batch", options=options)
        self._kernel.max_dynamic_shared_size_bytes = lay.shared_bytes
        processors = cupy.cuda.Device().attributes["MultiProcessorCount"]
        self._grid = processors * lay.blocks
        self._numbers = cupy.empty(self._grid * lay.numbers)
        self._rest = cupy.empty(max(1, self._grid * lay.rest), "f4" if lay.real == "float" else "f8")
        self._queue = cupy.zeros(1, "i4")

    def __call__(self, batch: Any, weight: Any) -> tuple[Any, Any, Any, Any, Any]:
        """The answers to a batch, as `solver.interruptible.Answers` has them; a gap is NaN where the solve fails."""
        cupy = require("cupy")
        runs, m, n = batch.shape
        row, column = cupy.zeros((runs, m)), cupy.zeros((runs, n))
        value, gap, pivots = cupy.empty(runs), cupy.empty(runs), cupy.empty(runs, "i8")
        self._queue.fill(0)
        memory = self._numbers, self._rest, self._queue
        arguments = batch, weight, _int(len(weight)), _int(runs), *memory, row, column, value, gap, pivots
        shape = self.layout
        self._kernel((min(runs, self._grid),), (shape.threads,), arguments, shared_mem=shape.shared_bytes)
        return row, column, value, gap, pivots


def _int(number: int) -> Any:
    """A number as a C int."""
    import numpy as np

    return np.int32(number)


@cache
def kernel(m: int, n: int, real: str) -> Kernel:
    """The kernel for (m, n) matrices, on the current device."""
    attributes = require("cupy").cuda.Device().attributes
    block, whole = (attributes[f"MaxSharedMemoryPer{part}"] for part in ("BlockOptin", "Multiprocessor"))
    return Kernel(layout(m, n, real, block, whole))
