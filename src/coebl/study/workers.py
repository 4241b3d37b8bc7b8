"""Worker processes: they play cells, and return the files of the results or the failures.

The pool is pebble's: if a worker dies, only its cell fails. Four features are added here: a late cell is interrupted
where it is, so that the message names the function that hangs; interrupts are left to the parent from the first moment
of a process; a worker ends with its parent; and a pool that a killed worker has blocked is replaced.
"""

from __future__ import annotations

import faulthandler
import logging
import math
import multiprocessing
import os
import re
import shlex
import signal
import socket
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from concurrent.futures import TimeoutError as LateFutureError
from contextlib import contextmanager
from functools import cache
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coebl.core.errors import UserCodeError
from coebl.core.modules import require
from coebl.core.specs import files_in
from coebl.core.text import one_line
from coebl.engine import PolicyError, simulate
from coebl.study.cell import Cell
from coebl.study.cell_file import CellFile, make_cell_file
from coebl.study.errors import ClusterError

CRASHED = "its process was killed, ran out of memory, or crashed in compiled code."
MOST_SECONDS = 10**7  # the largest time limit of a cell: timers have limits
_GRACE = 1.0  # seconds after which a cell that does not respond to its interruption is ended
_ROUNDS = 5  # rounds of a rehearsal
_TRIES = 3  # cells in which user code is rehearsed; code that fails in only some of them is still run
_REHEARSAL = 10.0  # seconds that a rehearsal may take
_STALL = 20.0  # seconds without progress after a worker died, after which the pool is replaced
_ANSWER = 10  # seconds within which the scheduler of a cluster has to answer


class Failure(NamedTuple):
    """The reason why a cell has no result, in plain strings, which can be sent to the parent after any error."""

    cause: str  # on one line
    traceback: str
    file: str = ""  # the user's file with the error, as the cell names it


class EnoughError(BaseException):
    """Enough rounds of a match have been played to try or to measure it."""


class LateError(BaseException):
    """A cell has exceeded its time limit; not an Exception, so that no learner catches it by accident."""


# The pool


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def starts_as_worker() -> bool:
    """Return True in a new process that is still importing its parent's script: the script runs a study unguarded."""
    return bool(getattr(multiprocessing.current_process(), "_inheriting", False))


class LocalPool:
    """A pool of fresh processes with one BLAS thread each, as a context: none of them outlives it.

    By default there is one per core. They record the share done of each cell in `shares`, an array that they share.
    """

    def __init__(self, workers: int | None = None, shares: Any = None) -> None:
        start_tracker()  # before the pool's locks, which would start it unprotected
        context = multiprocessing.get_context("spawn")
        self._pool = require("pebble").ProcessPool(
            workers or cores(), initializer=_begin, initargs=(shares,), context=context
        )
        self._shares = () if shares is None else shares
        self._done, self._moved = 0.0, 0.0  # the sum of the shares, and the time of its last change
        self._seen: set[int | None] = set()  # processes that have been alive
        self._lost = math.inf  # the time when a process was first missing
        self.stalled = False

    def check(self, last: float) -> bool:
        """Return False if no further call can end; `last` is the monotonic time at which the latest one ended.

        Either all processes died before they took a call, or one was killed while it held the lock of the pool's
        queue: a process is missing, and there is no progress since.
        """
        alive = {process.pid for process in multiprocessing.active_children()}
        if self._seen - alive:
            self._lost = min(self._lost, time.monotonic())
        self._seen = alive
        if (done := float(np.sum(self._shares))) != self._done:
            self._done, self._moved = done, time.monotonic()
        self.stalled = time.monotonic() - max(self._lost, last, self._moved) > _STALL
        return self.active and not self.stalled

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Call a function in one of the processes."""
        with _interrupts_deferred():  # the first call starts the processes and the threads that start others
            future: Future[Any] = self._pool.schedule(function, args=arguments)
        return future

    @property
    def active(self) -> bool:
        """False if the pool is broken: all its processes died before they took a call."""
        return bool(self._pool.active)

    def __enter__(self) -> LocalPool:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self.active and not self.stalled:
            self._pool.close()
        else:
            self._pool.stop()
        self._pool.join()


def start_tracker() -> None:
    """Start Python's process that removes semaphores, so that it survives Ctrl-C and the end of a terminal.

    It inherits the blocked SIGHUP. Meanwhile this process must not ignore SIGHUP: the signal would be lost.
    """
    if not _in_main_thread() or not hasattr(signal, "pthread_sigmask"):
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        resource_tracker.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def _interrupts_deferred() -> Iterator[None]:
    """Block interrupts for processes and threads that are started in the block; deliver them to the parent at its end.

    A process that is interrupted as it starts would print a traceback. Blocking signals is not enough for the parent:
    another thread may take them, and their handlers then run in the main thread.
    """
    if not _in_main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    came: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda number, _: came.append(number)) for number in numbers}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        if came:
            signal.raise_signal(came[0])


_shares: Any = None  # the share done of each cell, in memory that the parent reads


def _begin(shares: Any) -> None:
    """Leave hang-ups to the parent, as pebble leaves interrupts; end when the parent ends; use a single core."""
    global _shares
    _shares = shares
    if hang_up := getattr(signal, "SIGHUP", None):  # Windows has none
        signal.signal(hang_up, signal.SIG_IGN)
    require("threadpoolctl").threadpool_limits(1)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


# Cells


def play(cell: Cell, seconds: float | None = None, stack: str | None = None, number: int = 0) -> CellFile | Failure:
    """Run a cell, and record the share of its rounds that is done under its number in the shared array.

    A cell that takes longer than `seconds` is interrupted, between its rounds if the worker is a thread. A process
    whose cell does not respond to the interruption ends, and writes its stack to the file `stack`.
    """
    if seconds is not None:
        _load_modules()

    def count(rounds: int) -> None:
        still_in_time(rounds)
        if _shares is not None:
            _shares[number] = rounds / cell.rounds

    try:
        with _watchdog(seconds, stack), within(seconds) as still_in_time:
            return make_cell_file(cell, cell.run(count))
    except (Exception, SystemExit, LateError) as error:
        return _failure(cell, error, seconds)


@cache
def _load_modules() -> None:
    """Import the modules that a cell needs, so that imports do not count towards the time of the first cell."""
    Cell("rps", ("ucb", "exp3"), rounds=2, seeds=(0,)).run()


@contextmanager
def _watchdog(seconds: float | None, stack: str | None) -> Iterator[None]:
    """End this process if it overruns: compiled code that does not return to Python receives no signal."""
    if seconds is None or stack is None:
        yield
        return
    with open(stack, "w", encoding="utf-8") as file:
        faulthandler.dump_traceback_later(seconds + _GRACE, exit=True, file=file)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


@contextmanager
def within(seconds: float | None) -> Iterator[Callable[[int], None]]:
    """Interrupt the block at its time limit: by a signal where possible, otherwise between its rounds."""
    if seconds is None:
        yield lambda _: None
        return
    ends = time.monotonic() + seconds

    def still_in_time(_: int) -> None:
        if time.monotonic() > ends:
            raise LateError

    def interrupt(*_: object) -> None:
        raise LateError

    if not hasattr(signal, "setitimer") or not _in_main_thread():
        yield still_in_time
        return
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield still_in_time
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


# Failures


def _failure(cell: Cell, error: BaseException, seconds: float | None) -> Failure:
    """Return the failure of a cell: the error on one line, with its place in user code."""
    text = "".join(traceback.format_exception(error))
    files = _user_files(cell)
    if isinstance(error, LateError):
        codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
        # the line within a function is arbitrary; with its first line instead, equal causes are counted as one
        places = [
            f"{name}, {code.co_name} at line {code.co_firstlineno}"
            for code in codes
            if (name := files.get(Path(code.co_filename).resolve())) and not code.co_name.startswith("<")  # a lambda
        ]
        return Failure(_late(cell, seconds, places), text)
    if isinstance(error, UserCodeError) and error.__cause__ is not None:
        error = error.__cause__  # the same for all rounds and seats, so that equal causes are counted as one
    cause = f"{type(error).__name__}: {one_line(error, 200)}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if name := files.get(Path(frame.filename).resolve()):
            return Failure(f"{name}, line {frame.lineno}: {cause}", text, name)
    blamed = files_in(error.args[0]) if isinstance(error, PolicyError) else []
    return Failure(cause, text, files.get(Path(blamed[0]).resolve(), "") if blamed else "")


def failure_of_process(cell: Cell, seconds: float | None, stack: str) -> Failure:
    """Return the failure of a cell whose process has died; its watchdog may have written a stack to a file."""
    text = Path(stack).read_text("utf-8", "replace") if Path(stack).exists() else ""
    files, cause = _user_files(cell), CRASHED
    if text:
        calls = re.findall(r'^ +File "(.*)", line (\d+) in (.*)$', text, re.MULTILINE)  # innermost call first
        named = ((files.get(Path(file).resolve()), function, line) for file, line, function in reversed(calls))
        cause = _late(cell, seconds, [f"{name}, {function}, line {line}" for name, function, line in named if name])
    return Failure(cause, f"{cause}\n{text}")


def _late(cell: Cell, seconds: float | None, places: list[str]) -> str:
    """Return the cause of a late cell: the innermost of the user's functions that were running, or the players."""
    place = places[-1] if places else " v ".join(cell.players)
    return f"{place}: it took longer than {seconds:g} s; raise --cell-timeout, or fix the learner."


def _user_files(cell: Cell) -> dict[Path, str]:
    """Return the Python files that a cell names: resolved path to name."""
    return {Path(name).resolve(): name for *_, spec in cell.named() for name in files_in(spec)}


# Rehearsal


def user_cells(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """Return a few cells for each spec that names a user's file, of different games or seats, in the given order."""
    chosen: dict[str, dict[tuple[str, bool], Cell]] = {}
    for cell in cells:
        for *_, spec in cell.named():
            tries = chosen.setdefault(spec, {}) if files_in(spec) else {}
            if len(tries) < _TRIES:
                tries.setdefault((cell.game, spec == cell.players[0]), cell)
    return {spec: list(tries.values()) for spec, tries in chosen.items()}


def check_user_code(tries: dict[str, list[Cell]]) -> None:
    """Play the first rounds of these cells; reject user code if errors in its file make all of its cells fail."""
    for spec, cells in tries.items():
        causes = []
        for cell in cells:
            failure = _rehearse_apart(cell)
            if failure is None or failure.file not in files_in(spec):
                break
            causes.append(failure.cause)
        else:
            check = f"coebl check {shlex.quote(spec)}"
            raise UserCodeError(
                f"{causes[0]} ({spec}, in its first rounds); nothing was run. Fix the file; for details: {check}"
            )


def _rehearse_apart(cell: Cell) -> Failure | None:
    """Rehearse a cell in a copy of this process, which can be ended at any time."""
    if sys.platform != "linux" or not _in_main_thread():
        return _rehearse(cell)
    pebble = require("pebble")
    fork = multiprocessing.get_context("fork")  # a fresh process would take a second for its imports
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about threads, none of which the copy needs
        future = pebble.concurrent.process(timeout=_REHEARSAL + _GRACE, mp_context=fork)(_rehearse)(cell)
        try:
            failure: Failure | None = future.result()
        except (LateFutureError, pebble.ProcessExpired):
            return Failure(CRASHED, CRASHED)
    return failure


def _rehearse(cell: Cell) -> Failure | None:
    """Play the first rounds of a cell with one or two seeds, and return its failure, or None."""

    def stop(_: int) -> None:
        raise EnoughError

    try:
        with within(_REHEARSAL):
            match, seeds, metrics = cell.match(), cell.seeds[:2], cell.measures()
            simulate(match, seeds, record=cell.record, metrics=metrics, block_rounds=_ROUNDS, progress=stop)
    except EnoughError:
        pass
    except (Exception, SystemExit, LateError) as error:
        return _failure(cell, error, _REHEARSAL)
    return None


# Clusters


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Yield an executor on the workers of the Dask cluster at an address."""
    if not address.strip():
        raise ClusterError("--dask is empty; accepted: the address of a scheduler, such as tcp://127.0.0.1:8786.")
    client: Any = None
    distributed = require("distributed")
    logged = logging.root.manager.disable
    logging.disable()  # the library logs at length about a lost cluster; here one line reports it
    try:
        _knock(address)
        client = distributed.Client(address, timeout=_ANSWER)
        yield client.get_executor()
    except Exception as error:  # a server that is not a scheduler may cause any error
        if client is not None:
            raise
        raise ClusterError(
            f"--dask {address}: no cluster answers there ({one_line(error)}); check the address."
        ) from None
    finally:
        if client is not None:
            client.close(timeout=_ANSWER)
        logging.disable(logged)


def _knock(address: str) -> None:
    """Reject an address whose server does not send the greeting of a scheduler: the client would hang."""
    scheme, _, rest = address.rpartition("://")
    host, _, port = rest.rpartition(":")
    if scheme not in ("", "tcp") or not host or not port.isdigit():
        return  # the client handles other addresses
    with socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER) as connection:
        connection.settimeout(_ANSWER)
        if not connection.recv(1):
            raise OSError("the connection was closed")
