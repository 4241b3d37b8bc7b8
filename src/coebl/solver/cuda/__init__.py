"""Maximin strategies of a batch on a GPU, each with the certificate of `coebl.solver.maximin`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from coebl.core.errors import InputError
from coebl.core.modules import require
from coebl.kernels.workspace import DOUBLE, MOST_GAP, SINGLE
from coebl.solver.maximin import BatchSolution, first_weights, maximin, scaled_weights, tableau_precision

_MOST_ACTIONS = 512

_WARP = 32
_MOST_THREADS = 384  # measured: more threads wait for each other longer than they work
_ROWS_EACH = 26  # rows of T that a thread updates, unless there would be too many threads
_RESERVED = 1024  # bytes of shared memory that the system takes for each block
_BLOCKS = 8  # on a multiprocessor: more gain nothing, since each block has work for many cycles
_REGISTERS = 65536  # of a multiprocessor, for all its threads
_OWN_REGISTERS = 40  # registers that a thread needs besides those for its rows
_MOST_HELD = 24  # rows in the registers of a thread: more gain nothing
_CLOSE_SHARE = 0.95  # of T: with less of it in shared memory and registers, fewer blocks are used
_PARTS = ("block", "tableau", "refine", "simplex")  # of the source, compiled as one


@dataclass(frozen=True)
class _BlockLayout:
    """The division of a tableau among a block of threads: the constants of `block.cu`, and derived sizes."""

    m: int
    n: int
    real: str  # "float" or "double", of T
    threads: int
    stride: int  # from row to row of T
    shared_rows: int  # rows of T in shared memory; the others are in global memory
    held: int  # the number of other rows that a thread has in registers while it pivots
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


def layout(m: int, n: int, real: str, block_bytes: int, all_bytes: int) -> _BlockLayout:
    """Return the layout of an (m, n) tableau, for the shared memory of a block and of a multiprocessor."""
    if max(m, n) > _MOST_ACTIONS:
        raise InputError(
            f'the game has {m} x {n} actions; accepted on a GPU: at most {_MOST_ACTIONS} each. Use device="cpu".'
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
        registers = _REGISTERS // (threads * blocks) // 8 * 8  # they are allocated in eights
        most_held = min(_MOST_HELD, m // groups, max(0, registers - _OWN_REGISTERS) // 4) // 4 * 4  # read in fours
        held = most_held if shared_rows < m else 0
        if blocks == 1 or shared_rows + held * groups >= _CLOSE_SHARE * m:
            break
    shared_rows = min(shared_rows, max(0, m - held * groups))  # registers are faster
    return _BlockLayout(m, n, real, threads, stride, shared_rows, held, blocks)


def source() -> str:
    """Return the source of the kernel, CUDA C++."""
    return "\n".join((Path(__file__).parent / f"{part}.cu").read_text(encoding="utf-8") for part in _PARTS)


def options(lay: _BlockLayout) -> tuple[str, ...]:
    """Return the compiler options, which define the constants of the source."""
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
        **{name.upper(): repr(float(size)) for name, size in tolerances._asdict().items()},
    }
    return ("--std=c++17", *(f"-D{name}={value}" for name, value in constants.items()))


class Kernel:
    """The kernel for (m, n) matrices, on the current device. CuPy caches the compiled code for other processes."""

    def __init__(self, m: int, n: int, real: str) -> None:
        cupy = require("cupy")
        attributes = cupy.cuda.Device().attributes
        block, whole = (attributes[f"MaxSharedMemoryPer{part}"] for part in ("BlockOptin", "Multiprocessor"))
        self.layout = lay = layout(m, n, real, block, whole)
        self._kernel = cupy.RawKernel(source(), "solve_batch", options=options(lay))
        self._kernel.max_dynamic_shared_size_bytes = lay.shared_bytes
        self._grid = attributes["MultiProcessorCount"] * lay.blocks
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
        group: int,
        answers: tuple[Any, ...],
    ) -> None:
        """Write the answers to a batch, or to the chosen matrices, without waiting for the GPU.

        Args:
            batch: (runs, m, n).
            weight: the tie weights, (1, m) or (runs, m).
            chosen: the indices of the matrices to solve, counts[0] of them; None: all matrices.
            counts: (3,), with 0 in the last two; the last becomes the number of failures.
            failed: (runs,), receives the indices of the matrices without an answer. Their gap is NaN.
            marks: (runs / group,), becomes true if one of a group of matrices has no answer; None: nothing is marked.
            group: the number of consecutive matrices that share a mark.
            answers: as in `solver.interruptible.Answers`.
        """
        shape, runs = self.layout, len(batch)
        sizes = np.int32(len(weight)), np.int32(runs)
        report = counts, failed, _pointer(marks), np.int32(group)
        arguments = batch, weight, *sizes, _pointer(chosen), *report, self._numbers, self._rest, *answers
        self._kernel((min(runs, self._grid),), (shape.threads,), arguments, shared_mem=shape.shared_bytes)


_kernel = cache(Kernel)


def _pointer(array: Any) -> Any:
    """Return an array as an argument of a kernel; a null pointer for None."""
    return np.uint64(0) if array is None else array


class CudaMaximin:
    """`Maximin` for CuPy's arrays: the same rule for ties, the same certificate, no warm starts.

    A matrix whose single-precision tableau does not lead to a certified answer is solved again in double precision,
    then without the rule for ties, as on the CPU, and if that fails too, by the CPU. `BatchSolution.fallbacks` counts
    the matrices that the CPU solves. To know whether there are any, the host has to wait for the GPU. With `unsolved`
    it does not wait: such matrices are left without an answer, with uniform strategies and a gap of NaN, and their runs
    are marked.

    Args:
        shape: (matrices, m, n), of every batch that will be solved.
        ties: as for `Maximin`; a function returns a CuPy array.
        many_ties: as for `Maximin`.
        unsolved: (runs,), CuPy Booleans that become true for the runs of matrices without an answer.
        number: the number of consecutive matrices that belong to a run.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        *,
        ties: Literal["first"] | Callable[[], Any] = "first",
        many_ties: bool = False,
        unsolved: Any = None,
        number: int = 1,
    ) -> None:
        self._cupy = cupy = require("cupy")
        self.shape = shape
        self._ties, self._unsolved, self._number = ties, unsolved, number
        runs, m, n = shape
        single = tableau_precision(m, n, many_ties) == "float32"
        self._kernels = [_kernel(m, n, real) for real in (("float", "double") if single else ("double",))]
        self._first = cupy.asarray(first_weights(m))
        self._counts = cupy.zeros(2 * len(self._kernels) + 1, np.int32)  # see `Kernel`: consecutive parts overlap
        self._failed = cupy.empty((len(self._kernels), runs), np.int32)

    def __call__(self, payoffs: Any) -> BatchSolution:
        """Solve a batch of games for the row player, who maximises. The arrays of the answer are new in every call."""
        cupy = self._cupy
        if payoffs.shape != self.shape:
            raise InputError(f"payoffs has shape {payoffs.shape}; accepted: {self.shape}, as for this solver.")
        batch = cupy.ascontiguousarray(payoffs, "f8")
        weight = self._first if isinstance(self._ties, str) else scaled_weights(self._ties())
        runs, m, n = self.shape
        value, gap = cupy.empty((2, runs))
        answers = cupy.empty((runs, m)), cupy.empty((runs, n)), value, gap, cupy.empty(runs, np.int64)
        self._counts.fill(0)
        chosen = None
        for stage, solve in enumerate(self._kernels):
            failed = self._failed[stage]
            marks = self._unsolved if stage == len(self._kernels) - 1 else None
            solve(batch, weight, chosen, self._counts[2 * stage :], failed, marks, self._number, answers)
            chosen = failed
        fallbacks = self._rescue(batch, weight, answers) if self._unsolved is None else 0
        return BatchSolution(*answers, fallbacks)

    def _rescue(self, batch: Any, weight: Any, answers: tuple[Any, ...]) -> int:
        """Solve on the CPU the matrices that the kernels could not, and return their number."""
        cupy = self._cupy
        count = int(self._counts[-1])  # waits for the kernels
        if count == 0:
            return 0
        failed = cupy.sort(self._failed[-1, :count])
        ties = cupy.asnumpy(cupy.broadcast_to(weight, (len(batch), self.shape[1]))[failed])
        solved = maximin(cupy.asnumpy(batch[failed]), ties=ties)
        parts = solved.strategy, solved.opponent, solved.value, solved.gap, solved.pivots
        for answer, part in zip(answers, parts, strict=True):
            answer[failed] = cupy.asarray(part)
        return count
