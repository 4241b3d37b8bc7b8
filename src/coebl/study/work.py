"""What a worker does with a cell: play it, and hand back the file of its results or the reason why there is none."""

from __future__ import annotations

import ctypes
import faulthandler
import multiprocessing
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from coebl.core.errors import UserCodeError
from coebl.core.specs import split_spec
from coebl.core.text import one_line
from coebl.study.cell import Cell
from coebl.study.cell_file import CellFile, make_cell_file

CRASHED = "its process was killed, ran out of memory, or crashed in compiled code."
_PR_SET_PDEATHSIG = 1  # of Linux's prctl.h
MOST_SECONDS = 10**7  # that a cell may be given: timers have their limits
_GRACE = 1.0  # seconds after which a cell that does not end when it is told to is ended


class Failure(NamedTuple):
    """Why a cell has no result. It is plain text, which reaches the parent whatever the error was."""

    cause: str  # on one line
    traceback: str


class LateError(BaseException):
    """A cell has taken longer than it may; not an Exception, so that no learner catches it by accident."""


_counter: Any = None  # of the work that all workers have done, shared with the parent


def count_into(counter: Any) -> None:
    """Add the work that this process does from now on to a number that it shares with its parent."""
    global _counter
    _counter = counter


def play(cell: Cell, seconds: float | None = None, work: float = 0.0) -> CellFile | Failure:
    """Run a cell.

    Args:
        cell: which one.
        seconds: how long it may take. A cell that overruns is interrupted, and ended if it does not hear: on Linux,
            unless the worker is a thread. Elsewhere it is told between its rounds.
        work: how much is added to the shared counter of work, little by little.
    """
    if seconds is not None and sys.platform == "linux" and _in_main_thread():
        return _play_apart(cell, seconds, work)
    return _play(cell, seconds, work)


def _play_apart(cell: Cell, seconds: float, work: float) -> CellFile | Failure:
    """Run a cell in a copy of this process, which can be ended whatever it does."""
    _load_modules()
    context = multiprocessing.get_context("fork")  # a fresh process would take a second to import what it needs
    receiving, sending = context.Pipe(duplex=False)
    with receiving, tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stack:
        with sending:
            process = context.Process(target=_play_into, args=(sending, stack, cell, seconds, work), daemon=True)
            process.start()
        try:
            outcome: CellFile | Failure = receiving.recv()
        except (EOFError, OSError):  # the latter if it was ended while it sent its answer
            process.join()
            stack.seek(0)
            text = stack.read()
            cause = _late(seconds) if text else CRASHED
            outcome = Failure(cause, f"{cause}\n{text}")
        process.join()
        return outcome


@cache
def _load_modules() -> None:
    """Import all that a cell needs, so that no copy of this process has to."""
    _play(Cell("rps", "ucb", "exp3", rounds=2, seeds=(0,)), None, 0.0)


def _play_into(sending: Connection, stack: TextIO, cell: Cell, seconds: float, work: float) -> None:
    # compiled code that does not return to Python hears no signal; the watchdog is a thread that needs no Python
    faulthandler.dump_traceback_later(seconds + _GRACE, exit=True, file=stack)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # end when the worker ends, however that comes
    sending.send(_play(cell, seconds, work))


def _play(cell: Cell, seconds: float | None, work: float) -> CellFile | Failure:
    done = 0

    def count(rounds: int) -> None:
        nonlocal done
        still_in_time(rounds)
        if _counter is not None:
            with _counter.get_lock():
                _counter.value += work * (rounds - done) / cell.rounds
            done = rounds

    try:
        with _within(seconds) as still_in_time:
            return make_cell_file(cell, cell.run(count))
    except LateError:
        return Failure(_late(seconds), traceback.format_exc())
    except (Exception, SystemExit) as error:
        return Failure(_cause(cell, error), "".join(traceback.format_exception(error)))


def _late(seconds: float | None) -> str:
    return f"it took longer than {seconds:g} s; raise --cell-timeout, or repair the learner."


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _cause(cell: Cell, error: BaseException) -> str:
    """The error on one line, with the last line of a user's own file that led to it."""
    if isinstance(error, UserCodeError) and error.__cause__ is not None:
        error = error.__cause__  # the same for all rounds and seats, so that alike causes are counted as one
    cause = f"{type(error).__name__}: {one_line(error)}"
    names = (split_spec(spec).file for spec in (cell.game, cell.row, cell.column, cell.noise or "", *cell.metrics))
    own = {Path(name).resolve(): name for name in names if name}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if name := own.get(Path(frame.filename).resolve()):
            return f"{name}, line {frame.lineno}: {cause}"
    return cause


@contextmanager
def _within(seconds: float | None) -> Iterator[Callable[[int], None]]:
    """Interrupt the block when its time is over: by a signal where that is possible, otherwise between its rounds."""
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
