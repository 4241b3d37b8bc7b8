"""A pool of local processes that leave nothing behind: no process, no warning, no traceback."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import ParamSpec, TypeVar

from coebl.core.modules import require

_Arguments = ParamSpec("_Arguments")
_Value = TypeVar("_Value")

_GRACE = 5.0  # seconds that the thread of a pool has to end after its processes; it takes hundredths


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def local_processes(workers: int | None, prepare: Callable[[], object] | None = None) -> Iterator[Executor]:
    """A pool of fresh processes with one BLAS thread each, none of which outlives the block.

    Each of them calls `prepare` first, which has to be picklable.
    """
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    pool = _Pool(workers or cores(), mp_context=context, initializer=_begin, initargs=(prepare,))
    complain = threading.excepthook
    threading.excepthook = _unless_cancelled(complain)
    try:
        yield pool
        pool.shutdown()
        threading.excepthook = complain
    except BaseException:  # the thread of the pool may end later than this block, so that the hook stays
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        for process in set(multiprocessing.active_children()) - others:
            process.join()
        for thread in threading.enumerate():  # at its exit, Python wakes the pool's, which must not be ending just then
            if type(thread).__module__ == ProcessPoolExecutor.__module__:
                thread.join(_GRACE)
        raise


def _unless_cancelled(
    complain: Callable[[threading.ExceptHookArgs], object],
) -> Callable[[threading.ExceptHookArgs], object]:
    """A hook for threads that keeps still where the pool's own finds a future cancelled that it wants to fail.

    That is so if the processes die, of a signal to all, while the futures are being cancelled for the same signal.
    """

    def hook(args: threading.ExceptHookArgs) -> None:
        if not issubclass(args.exc_type, InvalidStateError):
            complain(args)

    return hook


class _Pool(ProcessPoolExecutor):
    """A pool whose processes, which are started by `submit`, inherit what they need from the very first moment."""

    def submit(
        self, fn: Callable[_Arguments, _Value], /, *args: _Arguments.args, **kwargs: _Arguments.kwargs
    ) -> Future[_Value]:
        with _inherited():
            return super().submit(fn, *args, **kwargs)


@contextmanager
def _inherited() -> Iterator[None]:
    """Start processes in the block with interrupts left to the parent.

    A signal that comes meanwhile is delivered to the parent at the end: a process whose start is broken off would
    complain of it.
    """
    resource_tracker.ensure_running()  # it would lift the block of signals as it starts
    with _deferred(signal.SIGINT, signal.SIGTERM):
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
        try:
            yield
        finally:
            if mask is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def _deferred(*numbers: signal.Signals) -> Iterator[None]:
    """Hold these signals back until the end of the block, whichever thread of this process they reach.

    To block them is not enough: another thread may take them, and their handlers then run in the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.signal(number, lambda number, _: came.append(number)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        if came:
            signal.raise_signal(came[0])


def _begin(prepare: Callable[[], object] | None) -> None:
    """Leave interrupts to the parent, end when it ends, however that comes, and leave the other cores to others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    require("threadpoolctl").threadpool_limits(1)
    if prepare is not None:
        prepare()
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
