"""Compiled code, called in such a way that Ctrl-C ends a long solve.

Python handles signals in the main thread, and only between calls of compiled code. So a long solve runs in a second
thread, while the main thread waits. If the wait is interrupted, a flag stops the kernel within a pivot. The compiler
has no such flag, so its thread is abandoned. It needs one for another reason too: a signal that arrives during it is
most likely handled inside a callback from LLVM, where Python drops the exception.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import cache
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from coebl.core.arrays import Floats
from coebl.kernels import lockstep, simplex, workspace

Answers = tuple[Floats, Floats, Floats, Floats, NDArray[np.int64]]  # row, column, value, gap, pivots
Precision = Literal["float32", "float64"]  # of the tableau
Result = TypeVar("Result")

_LONG = 1e10  # runs * m * n * (m + n) of a solve that takes some tenths of a second
_CHUNK = 16_384  # small games that take as long; a multiple of the lanes
_PATIENCE = 0.2  # seconds between two looks for signals, where the wait itself cannot be interrupted
_GRACE = 10.0  # seconds that a kernel has to stop; it takes those of a pivot, hundredths


def solve_small(batch: Floats, weight: Floats, answers: Answers) -> int:
    """`lockstep.solve_small`, a part of the batch at a time: a run's answer does not depend on its batch."""
    if len(batch) <= _CHUNK:
        return int(lockstep.solve_small(batch, weight, *answers))
    failures = 0
    for first in range(0, len(batch), _CHUNK):
        part = slice(first, first + _CHUNK)
        ties = weight[part] if len(weight) > 1 else weight
        failures += lockstep.solve_small(batch[part], ties, *(array[part] for array in answers))
    return failures


def solve_large(batch: Floats, weight: Floats, memory: Any, answers: Answers) -> int:
    """`simplex.solve_batch`, in a second thread if it is long. After an interrupt the memory cannot be used again."""

    def solve() -> int:
        return int(simplex.solve_batch(batch, weight, memory, *answers))

    runs, m, n = batch.shape
    if runs * m * n * (m + n) < _LONG:
        return solve()
    return in_second_thread(solve, stop=lambda: memory.indices.__setitem__(-1, 1))


def new_workspace(tableaux: int, m: int, n: int, precision: Precision | None) -> Any:
    """`workspace.new_workspace`, after what needs it is compiled; None for `solve_small`, which needs no memory."""
    compile_kernel(precision)
    return precision and workspace.new_workspace(tableaux, m, n, np.empty(0, precision))


@cache
def compile_kernel(precision: Precision | None) -> None:
    """Compile `simplex.solve_batch` for a tableau of this precision, or `lockstep.solve_small` for None.

    A game of two by two actions is solved.
    """

    def solve() -> None:
        memory = [workspace.new_workspace(1, 2, 2, np.empty(0, precision))] if precision else []
        kernel = simplex.solve_batch if precision else lockstep.solve_small
        kernel(np.eye(2)[None], np.zeros((1, 2)), *memory, *new_answers(1, 2, 2))

    in_second_thread(solve)


def in_second_thread(call: Callable[[], Result], stop: Callable[[], None] | None = None) -> Result:
    """Return the result of a long call; Ctrl-C ends the wait for it. Outside of the main thread it is a plain call.

    After an interrupt, stop is called, and the thread is given time to end. Without stop it is abandoned: it ends with
    its call or with the process, and its result is dropped.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    result: Future[Result] = Future()

    def work() -> None:
        try:
            result.set_result(call())
        except BaseException as error:
            result.set_exception(error)

    try:
        threading.Thread(target=work, daemon=True).start()
        while not wait([result], timeout=_PATIENCE).done:
            pass
    except BaseException:
        if stop is not None:
            stop()
            wait([result], timeout=_GRACE)  # it runs code that the end of the process may unload
        raise
    return result.result()


def new_answers(runs: int, m: int, n: int) -> Answers:
    """Allocate arrays for the answers of a batch."""
    return np.empty((runs, m)), np.empty((runs, n)), np.empty(runs), np.empty(runs), np.empty(runs, np.int64)
