"""The kernels, called in such a way that Ctrl-C ends a long solve.

Python handles signals in the main thread, and only between calls of compiled code. So a long solve runs in a second
thread, while the main thread waits. If the wait is interrupted, the kernel is told to stop, which it does within a
pivot.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coebl.solver.kernels import lockstep, simplex, workspace

Floats = NDArray[np.float64]
Answers = tuple[Floats, Floats, Floats, Floats, NDArray[np.int64]]  # row, column, value, gap, pivots

_LONG = 1e10  # runs * m * n * (m + n) of a solve that takes some tenths of a second
_CHUNK = 16_384  # small games that take as long; a multiple of the lanes
_PATIENCE = 0.2  # seconds between two looks for signals, where the wait itself cannot be interrupted


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
    """`simplex.solve_batch`, in a second thread if it is long. After an interrupt the memory is of no use any more."""
    runs, m, n = batch.shape
    if runs * m * n * (m + n) < _LONG or threading.current_thread() is not threading.main_thread():
        return int(simplex.solve_batch(batch, weight, memory, *answers))
    compile_large(memory.coefficients)  # here, since a thread that compiles cannot be told to stop
    with ThreadPoolExecutor(1) as pool:
        try:
            solving = pool.submit(lambda: int(simplex.solve_batch(batch, weight, memory, *answers)))
            while not wait([solving], timeout=_PATIENCE).done:
                pass
        except BaseException:
            memory.indices[-1] = 1  # stop
            raise
        return solving.result()


def compile_large(precision: NDArray[np.floating]) -> None:
    """Compile `simplex.solve_batch` for a tableau of the dtype of this array, by a game of two by two actions."""
    memory = workspace.new_workspace(1, 2, 2, precision[:0])
    simplex.solve_batch(np.eye(2)[None], np.zeros((1, 2)), memory, *new_answers(1, 2, 2))


def new_answers(runs: int, m: int, n: int) -> Answers:
    """Arrays for the answers of a batch."""
    return np.zeros((runs, m)), np.zeros((runs, n)), np.empty(runs), np.empty(runs), np.empty(runs, np.int64)
