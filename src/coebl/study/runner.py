"""The runner of a study: in local processes, or on any executor. Finished cells are never lost."""

from __future__ import annotations

import math
import multiprocessing
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from multiprocessing.reduction import ForkingPickler
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from coebl.backend import backend_class, backend_for
from coebl.backend.streams import compile_normals
from coebl.core.errors import InputError, check_integer, printable
from coebl.core.files import check_path
from coebl.core.modules import USERS
from coebl.core.text import one_line
from coebl.solver import compile_kernels
from coebl.study import workers as processes
from coebl.study.cell import Cell
from coebl.study.cell_file import CellFile
from coebl.study.errors import LostError
from coebl.study.plan import make_plan
from coebl.study.progress import Progress, work_of
from coebl.study.store import Store, is_new
from coebl.study.studies import Study
from coebl.study.workers import Failure, LocalPool, play, user_cells

MOST_WORKERS = 1000  # processes: more is a typo
_ATTEMPTS = 3  # attempts for a cell whose process dies
_PATIENCE = 2.0  # seconds between checks of the pool while no cell ends


@dataclass(frozen=True)
class RunSummary:
    """The outcome of a run of a study.

    >>> from coebl.study import read_study
    >>> summary = run(read_study("study.toml"), "results", quiet=True)  # which were run before
    >>> summary.finished, summary.found, summary.failed
    (0, 2, ())
    """

    finished: int  # cells run now
    found: int  # cells that were there already
    failed: tuple[Cell, ...]  # cells that failed
    notes: tuple[str, ...]  # notes on files that were set aside
    seconds: float  # the duration of the run
    left_alone: int = 0  # cells in the folder that the study does not ask for
    used: int = 0  # stored cells with runs that it asks for, perhaps only some of their runs if the study has grown
    causes: dict[str, int] = field(default_factory=dict)  # reasons of failures, each with its number of cells


def run(
    study: Study,
    out: str | os.PathLike[str],
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    cell_timeout: float | None = None,
    quiet: bool = False,
    command: str | None = None,
    rehearse: bool = False,
) -> RunSummary:
    """Run the cells of a study that its folder does not hold yet, and store each as soon as it is done.

    Args:
        study: the study to run.
        out: the folder of the results; it is created, or resumed.
        executor: any `concurrent.futures.Executor`, such as `distributed.Client(address).get_executor()`. By default a
            pool of local processes.
        workers: the number of local processes, up to 1000; by default one per core, or a single one for a GPU.
        cell_timeout: seconds that a cell may take before it fails, so that a learner that hangs does not block others.
        quiet: do not show progress.
        command: the command to record in the folder's log of runs.
        rehearse: first try the learners, games, noises and metrics of your files for a few rounds. If an error in its
            file makes one fail, it is rejected before anything is run.

    A cell that fails is recorded with its traceback and does not stop the others; the next run tries it again.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from coebl.study import read_study
    >>> with ThreadPoolExecutor() as executor:
    ...     summary = run(read_study("study.toml"), "new", executor=executor, quiet=True)
    >>> summary.finished, summary.failed
    (2, ())
    """
    if executor is None and processes.starts_as_worker():
        raise SystemExit(1)  # the parent reports what to do: once, and without the traceback of every worker
    if workers is not None:
        check_integer("workers", workers, 1, MOST_WORKERS)
    elif study.cells:
        workers = backend_class(study.cells[0].device).workers
    if cell_timeout is not None and not 0 < cell_timeout <= processes.MOST_SECONDS:
        accepted = f"seconds above 0, at most {processes.MOST_SECONDS:,}. Leave it out for no limit"
        raise InputError(f"cell_timeout is {cell_timeout:g}; accepted: {accepted}.")
    started = time.perf_counter()
    new = is_new(check_path("out", out))
    if executor is None and new and study.cells:
        backend_for(study.cells[0].device)  # rejects one that cannot be used before anything is written
    if rehearse and new:
        try_user_code(study.cells)
    store = Store.create(out, study.text)
    with store.log.alone():
        if rehearse and not new and user_cells(study.cells):
            try_user_code(make_plan(study, store, dry=True).todo)  # before files are set aside
        plan = make_plan(study, store)
        store.keep_files(study.files)
        store.keep_text(study.text)
        todo = sorted(plan.todo, key=work_of, reverse=True)
        failed: list[Cell] = []
        causes: Counter[str] = Counter()
        first = {cells[0] for cells in user_cells(reversed(todo)).values()}
        todo.sort(key=lambda cell: cell not in first)  # so that mistakes in user code show early
        if todo and executor is None:
            backend_for(todo[0].device)
            if not quiet:
                print("starting; the solver is compiled if it is the first time", file=sys.stderr)
            warm_up(todo)
        finished, stopped = 0, True
        try:
            numbers = {cell: number for number, cell in enumerate(todo)}
            shares = _shared_array(len(todo))
            with Progress(plan.found, [*map(work_of, todo)], shares, quiet) as progress:
                for cell, outcome in _outcomes(numbers, executor, workers, cell_timeout, shares):
                    if isinstance(outcome, CellFile) and outcome.digest != plan.todo[cell]:
                        reason = "a file that it names changed while it ran, or differs on the worker; run again."
                        outcome = Failure(reason, reason)
                    if isinstance(outcome, CellFile):
                        store.keep(outcome)
                        finished += 1
                    else:
                        if outcome.cause not in causes:
                            progress.say(f"a cell failed: {printable(outcome.cause)}")
                        failed.append(cell)
                        causes[outcome.cause] += 1
                        store.record_failure(cell, outcome.traceback, outcome.cause)
                    rounds = cell.rounds * len(cell.seeds)
                    progress.done(numbers[cell], rounds, failed=isinstance(outcome, Failure))
            stopped = False
        finally:
            files = plan.stored + len(plan.todo)  # in the folder when all cells are done
            if finished or store.log.planned() not in (0, files):
                seconds = time.perf_counter() - started
                used = None if executor else workers or processes.cores()
                store.remember()
                store.log.add(finished, seconds, of=files, workers=used, command=command, interrupted=stopped)
    return RunSummary(
        finished=finished,
        found=plan.found,
        failed=tuple(failed),
        notes=plan.notes,
        seconds=time.perf_counter() - started,
        left_alone=plan.left_alone,
        used=plan.stored - plan.left_alone,
        causes=dict(causes.most_common()),
    )


def try_user_code(cells: Iterable[Cell]) -> None:
    """Reject user code that fails in its first rounds; only the quickest cells are tried."""
    tries = user_cells(sorted(cells, key=work_of))
    if tries:
        warm_up(cell for cells in tries.values() for cell in cells)
        processes.check_user_code(tries)


def _shared_array(cells: int) -> Any:
    """Return zeros that local processes share with this one, if there is shared memory."""
    with suppress(OSError):
        return multiprocessing.get_context("spawn").RawArray("d", cells)
    return np.zeros(cells)


def _outcomes(
    numbers: Mapping[Cell, int], executor: Executor | None, workers: int | None, seconds: float | None, shares: Any
) -> Iterator[tuple[Cell, CellFile | Failure]]:
    """Yield the cells with their outcomes, as they are done; local processes record the share done of each cell."""
    cells = [*numbers]
    if executor is not None:  # its workers may run in another folder
        futures = {executor.submit(play, cell.absolute(), seconds): cell for cell in cells}
        yield from _completed(futures, seconds)
    elif not _can_travel(cells):
        for cell in cells:
            yield cell, play(cell, seconds)
    else:
        with tempfile.TemporaryDirectory() as folder:
            stacks = {cell: f"{folder}/{number}" for cell, number in numbers.items()}
            attempt = 1
            while cells and attempt <= _ATTEMPTS:
                crashed, finished = [], 0
                with LocalPool(workers, shares) as pool:
                    futures = {pool.submit(play, cell, seconds, stacks[cell], numbers[cell]): cell for cell in cells}
                    for cell, outcome in _completed(futures, seconds, pool, stacks):
                        if isinstance(outcome, Failure) and outcome.cause == processes.CRASHED and attempt < _ATTEMPTS:
                            crashed.append(cell)  # its process may have been killed through no fault of the cell
                        else:
                            finished += 1
                            yield cell, outcome
                cells = [*crashed, *futures.values()]
                if not (crashed or finished or pool.stalled):
                    break  # no process has even begun: another attempt would take as long, and fail in the same way
                attempt += not (pool.stalled and finished)
            if cells:
                raise LostError(
                    "all worker processes ended at once; finished cells are kept. In a script, run studies under "
                    'if __name__ == "__main__": only.'
                )


def _completed(
    futures: dict[Future[CellFile | Failure], Cell],
    seconds: float | None,
    pool: LocalPool | None = None,
    stacks: Mapping[Cell, str] | None = None,
) -> Iterator[tuple[Cell, CellFile | Failure]]:
    done: SimpleQueue[Future[CellFile | Failure]] = SimpleQueue()
    for future in futures:
        future.add_done_callback(done.put)
    try:
        last = time.monotonic()  # when a cell has ended
        while futures:
            if pool is not None and not pool.check(last):
                return  # the rest is left in `futures`
            try:
                future = done.get(timeout=_PATIENCE)
            except Empty:
                continue
            last = time.monotonic()
            cell = futures.pop(future)
            outcome: CellFile | Failure
            try:
                outcome = future.result()
            except CancelledError:
                raise LostError("the workers no longer answer; finished cells are kept. Start them again.") from None
            except Exception as error:  # raised by the executor: an error in a cell is returned as a Failure
                if pool is not None and not pool.active:
                    futures[future] = cell
                    return
                if stacks is not None:
                    outcome = processes.failure_of_process(cell, seconds, stacks[cell])
                elif isinstance(error, BrokenExecutor):
                    raise
                else:
                    outcome = Failure(f"{type(error).__name__}: {one_line(error)}", str(error))
            yield cell, outcome
    finally:
        for future in futures:
            future.cancel()


def _can_travel(cells: Iterable[Cell]) -> bool:
    """Return False if a cell has an object with a class in a notebook, script or file: no other process imports it."""
    try:
        pickled = [bytes(ForkingPickler.dumps(cell.objects)) for cell in cells if cell.objects]
    except Exception:  # raised by user code
        return False
    return not any(module in objects for objects in pickled for module in (b"__main__", USERS.encode()))


def warm_up(cells: Iterable[Cell]) -> None:
    """Compile the kernels of cells into the cache, once for all workers."""
    compile_normals()
    for shape in {cell.shape for cell in cells}:
        for own, many_ties in product({*shape[1:]}, (False, True)):
            compile_kernels((own, math.prod(shape) // own), many_ties)
