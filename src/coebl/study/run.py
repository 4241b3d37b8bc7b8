"""Running a study: here in local processes, or on any executor; nothing finished is ever lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from coebl.core.errors import InputError
from coebl.engine import Result
from coebl.games import parse_game
from coebl.solver import compile_kernels
from coebl.study.cell import Cell
from coebl.study.progress import Progress
from coebl.study.schema import Study
from coebl.study.store import Store

_POOLS = 3  # how many pools of processes may break before cells are run one by one
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Outcome:
    """How a run of a study ended."""

    finished: int  # cells run now
    found: int  # cells that were there already
    failed: tuple[Cell, ...]
    notes: tuple[str, ...]  # of files that were set aside
    seconds: float


def run(
    study: Study,
    out: str | os.PathLike[str],
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    quiet: bool = False,
    command: str | None = None,
) -> Outcome:
    """Run the cells of a study that are not in the folder yet, and keep each as soon as it is done.

    Args:
        study: what to run.
        out: the folder of the results; it is made, or resumed.
        executor: any `concurrent.futures.Executor`, such as `distributed.Client(address).get_executor()`. By default a
            pool of local processes.
        workers: how many local processes; by default one per core.
        quiet: no progress.
        command: what to note as the command in the folder's log of runs.

    A cell that fails is recorded with its traceback and does not stop the others; the next run tries it again.
    """
    started = time.perf_counter()
    store = Store.create(Path(out), study.name, study.text)
    there = store.finished(study.cells, thorough=True)
    store.retire(study.cells)
    digests = {cell: cell.digest() for cell in study.cells}
    todo = sorted((cell for cell in study.cells if digests[cell] not in there), key=work, reverse=True)
    failed: list[Cell] = []
    if todo and executor is None:
        if not quiet:
            print("starting; the solver is compiled if it is the first time", file=sys.stderr)
        warm_up(todo)
    progress = Progress(len(study.cells), len(study.cells) - len(todo), sum(map(work, todo)), quiet)
    finished, stopped = 0, True
    try:
        for cell, future in _completed(todo, executor, workers) if todo else ():
            error = future.exception()
            if error is None and cell.digest() != digests[cell]:
                error = InputError(f"{cell}: a file that it names changed while it ran; run again.")
            if error is None:
                store.save(cell, future.result())
                finished += 1
            else:
                failed.append(cell)
                store.record_failure(cell, "".join(traceback.format_exception(error)))
            progress.done(rounds_of(cell), work(cell), failed=error is not None)
        stopped = False
    finally:
        seconds = time.perf_counter() - started
        if finished:
            processes = None if executor else workers or cores()
            store.record_run(finished, seconds, workers=processes, command=command, interrupted=stopped)
    progress.close()
    store.rebuild_manifest()
    return Outcome(
        finished=finished,
        found=len(study.cells) - len(todo),
        failed=tuple(failed),
        notes=tuple(store.notes),
        seconds=time.perf_counter() - started,
    )


def rounds_of(cell: Cell) -> int:
    """Rounds to simulate, over all runs."""
    return cell.rounds * len(cell.seeds)


def work(cell: Cell) -> float:
    """About how long a cell takes, in any unit: to run the longest first, and to tell how much time is left.

    A round costs something by itself, something for each run and action, and most where large matrices are solved.
    The proportions were measured with the learners of this package.
    """
    try:
        m, n = cell.match().game.shape
    except Exception:
        return float(rounds_of(cell))  # a learner of one's own, perhaps; the run itself will tell
    solves = {"coebl": 1.0, "ucb": 0.2}  # UCB starts from its last solution
    share = sum(solves.get(spec.partition(":")[0], 0.0) for spec in (cell.row, cell.column))
    return float(cell.rounds * (100 + len(cell.seeds) * (0.03 * (m + n) + 0.0024 * share * (m * n) ** 1.25)))


def play(cell: Cell) -> Result:
    """What a worker does."""
    return cell.run()


def _completed(
    cells: Sequence[Cell], executor: Executor | None, workers: int | None
) -> Iterator[tuple[Cell, Future[Result]]]:
    """The cells with their futures, as they are done."""
    if executor is not None:
        yield from _submitted(executor, cells)
        return
    left = list(cells)
    for _ in range(_POOLS):  # when a process dies, all cells of its pool are lost, and go to a new one
        with _local_processes(workers) as pool:
            for cell, future in _submitted(pool, list(left)):
                if not isinstance(future.exception(), BrokenExecutor):
                    left.remove(cell)
                    yield cell, future
        if not left:
            return
    for cell in left:  # some cell kills its process: one by one, so that it alone is blamed
        with _local_processes(1) as pool:
            yield from _submitted(pool, [cell])


def _submitted(executor: Executor, cells: Sequence[Cell]) -> Iterator[tuple[Cell, Future[Result]]]:
    futures = {executor.submit(play, cell): cell for cell in cells}
    try:
        for future in as_completed(list(futures)):
            yield futures.pop(future), future
    finally:
        for future in futures:
            future.cancel()


@contextmanager
def _local_processes(workers: int | None) -> Iterator[Executor]:
    """A pool of fresh processes with one BLAS thread each, none of which outlives the block."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers or cores(), mp_context=context, initializer=_depend_on_the_parent)
    others = set(multiprocessing.active_children())
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        for process in set(multiprocessing.active_children()) - others:
            process.join()
        raise
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _depend_on_the_parent() -> None:
    """Leave interrupts to the parent, and end when it ends, however that comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def warm_up(cells: Iterable[Cell]) -> None:
    """Compile what these cells need into the cache, so that the workers find it there and do not all compile it."""
    for name in {cell.game for cell in cells}:
        with suppress(Exception):  # a game that cannot be read: the run itself will tell
            shape = parse_game(name).shape
            for many_ties in (False, True):
                compile_kernels(shape, many_ties)


def estimate(study: Study, workers: int | None = None) -> float:
    """Seconds that the study will take, from a few rounds of every cell's match."""
    total = 0.0
    rates: dict[tuple[str, ...], float] = {}
    for cell in study.cells:
        key = cell.game, cell.row, cell.column, str(len(cell.seeds))
        if key not in rates:
            sample = min(cell.rounds, 10)
            short = Cell(cell.game, cell.row, cell.column, sample, cell.seeds, cell.noise, "last", cell.metrics)
            started = time.perf_counter()
            try:
                short.run()
            except Exception:
                continue  # a learner of one's own, perhaps; the run itself will tell
            rates[key] = (time.perf_counter() - started) / sample
        total += rates[key] * cell.rounds
    return total / (workers or cores())


def disk_use(study: Study) -> int:
    """Bytes that the results will take, about: eight a number, little of which zstd can save."""
    total = 0
    for cell in study.cells:
        recorded = {"all": cell.rounds, "last": 1, "log": min(cell.rounds, 100)}.get(str(cell.record))
        if recorded is None:
            recorded = cell.rounds // int(cell.record) + 1
        total += 4000 + recorded * len(cell.seeds) * (8 * len(cell.metrics) + 2)
    return total
