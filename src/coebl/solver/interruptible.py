"""Calls of compiled code that Ctrl-C can interrupt.

Python handles signals in the main thread, and only between calls of compiled code. So a long solve runs in a second
thread, while the main thread waits. If the wait is interrupted, a flag stops the kernel within a pivot. Compilation
has no such flag, so its thread is abandoned. It runs in a second thread for another reason too: a signal that arrives
during compilation is most likely handled inside a callback from LLVM, where Python drops the exception.
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
_Returned = TypeVar("_Returned")

_LONG = 1e10  # runs * m * n * (m + n) of a solve that takes a few tenths of a second
_CHUNK = 16_384  # the number of small games that take as long; a multiple of the lanes
_PATIENCE = 0.2  # seconds between checks for signals, on systems where the wait cannot be interrupted
_GRACE = 10.0  # seconds that a kernel is given to stop; a pivot takes hundredths of a second


def solve_small(batch: Floats, weight: Floats, answers: Answers) -> int:
    """Call `lockstep.solve_small` on parts of the batch in turn; a run's answer does not depend on its batch."""
    if len(batch) <= _CHUNK:
        return int(lockstep.solve_small(batch, weight, *answers))
    failures = 0
    for first in range(0, len(batch), _CHUNK):
        part = slice(first, first + _CHUNK)
        ties = weight[part] if len(weight) > 1 else weight
        failures += lockstep.solve_small(batch[part], ties, *(array[part] for array in answers))
    return failures


def solve_large(batch: Floats, weight: Floats, memory: Any, answers: Answers) -> int:
    """Call `simplex.solve_batch`, in a second thread if it takes long. After an interrupt, discard the memory."""

    def solve() -> int:
        return int(simplex.solve_batch(batch, weight, memory, *answers))

    runs, m, n = batch.shape
    if runs * m * n * (m + n) < _LONG:
        return solve()
    return in_second_thread(solve, stop=lambda: memory.indices.__setitem__(-1, 1))


def new_workspace(tableaux: int, m: int, n: int, precision: Precision | None) -> Any:
    """Compile the kernel, and return its workspace; None for `solve_small`, which needs no memory."""
    compile_kernel(precision)
    return precision and workspace.new_workspace(tableaux, m, n, np.empty(0, precision))


@cache
def compile_kernel(precision: Precision | None) -> None:
    """Compile `simplex.solve_batch` for a tableau of this precision, or `lockstep.solve_small` for None.

    It solves a 2 x 2 game.
    """

    def solve() -> None:
        memory = [workspace.new_workspace(1, 2, 2, np.empty(0, precision))] if precision else []
        kernel = simplex.solve_batch if precision else lockstep.solve_small
        kernel(np.eye(2)[None], np.zeros((1, 2)), *memory, *new_answers(1, 2, 2))

    in_second_thread(solve)


def in_second_thread(call: Callable[[], _Returned], stop: Callable[[], None] | None = None) -> _Returned:
    """Run a long call in a second thread, so that Ctrl-C ends the wait. Outside the main thread, call it directly.

    After an interrupt, `stop` is called, and the thread is given time to end. Without `stop`, the thread is abandoned:
    it ends with its call or with the process, and its result is dropped.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    result: Future[_Returned] = Future()

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
            wait([result], timeout=_GRACE)  # its code may be unloaded when the process ends
        raise
    return result.result()


def new_answers(runs: int, m: int, n: int) -> Answers:
    """Allocate arrays for the answers of a batch."""
    return np.empty((runs, m)), np.empty((runs, n)), np.empty(runs), np.empty(runs), np.empty(runs, np.int64)
