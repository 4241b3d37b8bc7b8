"""What a worker does with a cell: play it, and hand back the file of its results or the reason why there is none."""

from __future__ import annotations

import ctypes
import faulthandler
import multiprocessing
import re
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, TextIO, TypeVar

from coebl.core.errors import UserCodeError
from coebl.core.specs import files_in
from coebl.core.text import one_line
from coebl.engine import simulate
from coebl.study.cell import Cell
from coebl.study.cell_file import CellFile, make_cell_file

CRASHED = "its process was killed, ran out of memory, or crashed in compiled code."
_PR_SET_PDEATHSIG = 1  # of Linux's prctl.h
MOST_SECONDS = 10**7  # that a cell may be given: timers have their limits
_FEW = 5  # rounds of a rehearsal
_GRACE = 1.0  # seconds after which a cell that does not end when it is told to is ended


class Failure(NamedTuple):
    """Why a cell has no result. It is plain text, which reaches the parent whatever the error was."""

    cause: str  # on one line
    traceback: str
    file: str = ""  # of a user's own, as the cell names it, in which an error was raised


class _EnoughError(BaseException):
    """The first rounds of a cell have been played."""


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
        return _apart(partial(_play, cell, seconds, work), cell, seconds)
    return _play(cell, seconds, work)


def rehearse(cell: Cell, seconds: float) -> Failure | None:
    """Play the first rounds of a cell, for a seed or two: why they fail, or None if they do not.

    Args:
        cell: which one; it is played on the processor.
        seconds: how long they may take, as for `play`.
    """
    if sys.platform == "linux" and _in_main_thread():
        return _apart(partial(_rehearse, cell, seconds), cell, seconds)
    return _rehearse(cell, seconds)


def _rehearse(cell: Cell, seconds: float) -> Failure | None:
    def stop(_: int) -> None:
        raise _EnoughError

    try:
        with within(seconds):
            metrics, first = cell.metrics, cell.seeds[:2]
            simulate(cell.match(), first, record=cell.record, metrics=metrics, block_rounds=_FEW, progress=stop)
    except _EnoughError:
        pass
    except (Exception, SystemExit, LateError) as error:
        return _failure(cell, error, seconds)
    return None


_Outcome = TypeVar("_Outcome")


def _apart(task: Callable[[], _Outcome], cell: Cell, seconds: float) -> _Outcome | Failure:
    """Do something for a cell in a copy of this process, which can be ended whatever it does."""
    _load_modules()
    context = multiprocessing.get_context("fork")  # a fresh process would take a second to import what it needs
    receiving, sending = context.Pipe(duplex=False)
    with receiving, tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stack:
        with sending:
            process = context.Process(target=_send, args=(sending, stack, task, seconds), daemon=True)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of threads, none of which the copy needs
                process.start()
        try:
            outcome: _Outcome | Failure = receiving.recv()
        except (EOFError, OSError):  # the latter if it was ended while it sent its answer
            process.join()
            stack.seek(0)
            text = stack.read()
            cause = _late(seconds, _place_in_stack(cell, text)) if text else CRASHED
            outcome = Failure(cause, f"{cause}\n{text}")
        process.join()
        return outcome


@cache
def _load_modules() -> None:
    """Import all that a cell needs, so that no copy of this process has to."""
    _play(Cell("rps", ("ucb", "exp3"), rounds=2, seeds=(0,)), None, 0.0)


def _send(sending: Connection, stack: TextIO, task: Callable[[], object], seconds: float) -> None:
    # compiled code that does not return to Python hears no signal; the watchdog is a thread that needs no Python
    faulthandler.dump_traceback_later(seconds + _GRACE, exit=True, file=stack)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # end when the worker ends, however that comes
    sending.send(task())


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
        with within(seconds) as still_in_time:
            return make_cell_file(cell, cell.run(count))
    except (Exception, SystemExit, LateError) as error:
        return _failure(cell, error, seconds)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _failure(cell: Cell, error: BaseException, seconds: float | None) -> Failure:
    """Why a cell has no result: the error on one line, with the place in a user's own file that led to it."""
    text = "".join(traceback.format_exception(error))
    if isinstance(error, LateError):
        return Failure(_late(seconds, _place_of(cell, error.__traceback__)), text)
    if isinstance(error, UserCodeError) and error.__cause__ is not None:
        error = error.__cause__  # the same for all rounds and seats, so that alike causes are counted as one
    cause = f"{type(error).__name__}: {one_line(error)}"
    own = _own_files(cell)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if name := own.get(Path(frame.filename).resolve()):
            return Failure(f"{name}, line {frame.lineno}: {cause}", text, name)
    return Failure(cause, text)


def _own_files(cell: Cell) -> dict[Path, str]:
    """The user's own Python files that a cell names."""
    return {Path(name).resolve(): name for spec in cell.specs for name in files_in(spec)}


def _late(seconds: float | None, place: str) -> str:
    return f"{place}: it took longer than {seconds:g} s; raise --cell-timeout, or fix the learner."


def _place_of(cell: Cell, trace: TracebackType | None) -> str:
    """The last function of a user's own file that was running, with the line at which it begins, or who played.

    Where in the function it was is chance: by its beginning, alike causes are counted as one.
    """
    own, place = _own_files(cell), " v ".join(cell.players)
    while trace is not None:
        code = trace.tb_frame.f_code
        name = own.get(Path(code.co_filename).resolve())
        if name and not code.co_name.startswith("<"):  # <lambda>, <listcomp>: parts of a function
            place = f"{name}, {code.co_name} at line {code.co_firstlineno}"
        trace = trace.tb_next
    return place


def _place_in_stack(cell: Cell, stack: str) -> str:
    """As `_place_of`, from what the watchdog wrote of a process: the last call first, and without beginnings."""
    own = _own_files(cell)
    for file, line, function in re.findall(r'^ +File "(.*)", line (\d+) in (.*)$', stack, re.MULTILINE):
        if name := own.get(Path(file).resolve()):
            return f"{name}, {function}, line {line}"
    return " v ".join(cell.players)


@contextmanager
def within(seconds: float | None) -> Iterator[Callable[[int], None]]:
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
