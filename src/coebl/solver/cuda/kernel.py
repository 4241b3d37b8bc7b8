"""The kernel of the solver, compiled for one shape and one precision of the tableau, and how it is launched."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from coebl.core.errors import InputError
from coebl.core.modules import require
from coebl.kernels.tolerances import DOUBLE, MOST_GAP, SINGLE

MOST_ACTIONS = 512

_WARP = 32
_MOST_THREADS = 384  # measured: more of them wait for each other longer than they work
_ROWS_EACH = 26  # rows of T that a thread updates, unless there would be too many threads
_RESERVED = 1024  # bytes of shared memory that the system takes for each block
_BLOCKS = 8  # on a multiprocessor: more of them gain nothing, as each has work for many cycles
_REGISTERS = 65536  # of a multiprocessor, for all its threads
_OWN_REGISTERS = 40  # that a thread needs besides the rows that it holds
_MOST_HELD = 24  # rows of a thread: more gain nothing
_CLOSE_SHARE = 0.95  # of T, that is kept in shared memory and registers rather than have more blocks
_PARTS = ("block", "tableau", "refine", "simplex")  # of the source, which are compiled as one
_LIMITS = ("zero", "tiny", "exact", "loose", "near", "nudge", "rounding", "singular", "share")  # of the tolerances
_TIE_LIMITS = ("tie_error", "tie_error_relative")


@dataclass(frozen=True)
class Layout:
    """How a block of threads shares a tableau: the constants of `block.cu`, and what follows from them."""

    m: int
    n: int
    real: str  # "float" or "double", of T
    threads: int
    stride: int  # from row to row of T
    shared_rows: int  # rows of T in shared memory; the others are in global memory
    held: int  # of the others, those that a thread has in registers while it pivots
    blocks: int  # on a multiprocessor at a time

    @property
    def item(self) -> int:
        """Bytes of an entry of T."""
        return 4 if self.real == "float" else 8

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory that rows of T take, for each block."""
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
    own = groups * stride * item + (m + stride) * item + 8 * (2 * m + n) + 2 * (m + n) + 24 * (threads // _WARP) + 384
    for blocks in range(min(_BLOCKS, 2048 // threads), 0, -1):
        room = min(block_bytes, all_bytes // blocks - _RESERVED) - own
        shared_rows = max(0, min(m, room // (stride * item)))
        registers = _REGISTERS // (threads * blocks) // 8 * 8  # a thread gets them by eights
        most_held = min(_MOST_HELD, m // groups, max(0, registers - _OWN_REGISTERS) // 4) // 4 * 4  # read by fours
        held = most_held if shared_rows < m else 0
        if blocks == 1 or shared_rows + held * groups >= _CLOSE_SHARE * m:
            break
    shared_rows = min(shared_rows, max(0, m - held * groups))  # registers are the faster ones
    return Layout(m, n, real, threads, stride, shared_rows, held, blocks)


def source() -> str:
    """The source of the kernel, CUDA C++."""
    return "\n".join((Path(__file__).parent / f"{part}.cu").read_text(encoding="utf-8") for part in _PARTS)


def options(lay: Layout) -> tuple[str, ...]:
    """What the compiler is told: the constants that the source leaves open."""
    tolerances = SINGLE if lay.real == "float" else DOUBLE
    constants = {
        "M": lay.m,
        "N": lay.n,
        "REAL": lay.real,
        "THREADS": lay.threads,
        "SHARED_ROWS": lay.shared_rows,
        "HELD": lay.held,
        "BLOCKS": lay.blocks,
        "WARP": _WARP,
        "MOST_GAP": repr(MOST_GAP),
        **{name.upper(): repr(float(getattr(tolerances, name))) for name in (*_LIMITS, *_TIE_LIMITS)},
    }
    return ("--std=c++17", *(f"-D{name}={value}" for name, value in constants.items()))


class Kernel:
    """The kernel for one layout. Compiled when it is made; CuPy keeps the compiled code for the next process."""

    def __init__(self, lay: Layout) -> None:
        cupy = require("cupy")
        self.layout = lay
        self._kernel = cupy.RawKernel(source(), "solve_batch", options=options(lay))
        self._kernel.max_dynamic_shared_size_bytes = lay.shared_bytes
        processors = cupy.cuda.Device().attributes["MultiProcessorCount"]
        self._grid = processors * lay.blocks
        self._numbers = cupy.empty(self._grid * lay.numbers)
        self._rest = cupy.empty(max(1, self._grid * lay.rest), "f4" if lay.real == "float" else "f8")

    def __call__(
        self,
        batch: Any,
        weight: Any,
        chosen: Any,
        counts: Any,
        failed: Any,
        marks: Any,
        each: int,
        answers: tuple[Any, ...],
    ) -> None:
        """Write the answers to a batch, or to the matrices that are chosen, without waiting for them.

        Args:
            batch: (runs, m, n).
            weight: of ties, (1, m) or (runs, m).
            chosen: the numbers of the matrices to solve, as many as counts[0] says; None: all of them.
            counts: (3,), of which the last two are 0; the last one becomes the number of failures.
            failed: (runs,), gets the numbers of the matrices without an answer. Their gap is NaN.
            marks: (runs / each,), becomes true where one of these matrices has no answer; None: nothing is marked.
            each: see there.
            answers: as `solver.interruptible.Answers` has them.
        """
        shape, runs = self.layout, len(batch)
        numbers = np.int32(len(weight)), np.int32(runs)
        told = counts, failed, _pointer(marks), np.int32(each)
        arguments = batch, weight, *numbers, _pointer(chosen), *told, self._numbers, self._rest, *answers
        self._kernel((min(runs, self._grid),), (shape.threads,), arguments, shared_mem=shape.shared_bytes)


def _pointer(array: Any) -> Any:
    """An array as an argument of a kernel, or none."""
    return np.uint64(0) if array is None else array


@cache
def kernel(m: int, n: int, real: str) -> Kernel:
    """The kernel for (m, n) matrices, on the current device."""
    attributes = require("cupy").cuda.Device().attributes
    block, whole = (attributes[f"MaxSharedMemoryPer{part}"] for part in ("BlockOptin", "Multiprocessor"))
    return Kernel(layout(m, n, real, block, whole))
