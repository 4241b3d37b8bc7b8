"""The pool of local processes, and signals that arrive while it starts."""

import os
import signal
import threading
import time

import pebble
import pytest
import threadpoolctl

from coebl.study.workers import LocalPool, start_tracker


def test_a_process_has_one_thread_for_linear_algebra(monkeypatch):
    """Set by a call, not by environment variables, which other processes would inherit."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "2")
    before = dict(os.environ)
    with LocalPool(1) as pool:
        libraries = pool.submit(threadpoolctl.threadpool_info).result()
    assert {library["num_threads"] for library in libraries} == {1}
    assert dict(os.environ) == before


def test_a_process_that_dies_fails_only_its_task():
    with LocalPool(1) as pool:
        futures = [pool.submit(os._exit, 3), pool.submit(divmod, 7, 2), pool.submit(os._exit, 4), pool.submit(abs, -1)]
        outcomes = [future.exception() or future.result() for future in futures]
    assert [outcome for outcome in outcomes if not isinstance(outcome, Exception)] == [(3, 1), 1]


def test_no_process_outlives_an_error():
    pool = LocalPool(1)
    worker = pool.submit(os.getpid).result()
    pool.submit(time.sleep, 60)
    with pytest.raises(ZeroDivisionError), pool:
        raise ZeroDivisionError
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_workers_leave_the_signals_of_a_terminal_to_the_parent(number):
    with LocalPool(1) as pool:
        worker = pool.submit(os.getpid).result()
        pool.submit(signal.raise_signal, number).result()
        assert pool.submit(os.getpid).result() == worker


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_waits_until_a_process_is_started(monkeypatch, number):
    """Also if another thread takes it, which does not block it."""
    starting, reached = threading.Event(), []

    def interrupt(*_):
        raise KeyboardInterrupt

    def send():
        starting.wait(10)
        os.kill(os.getpid(), number)

    def schedule(self, *_, **__):
        starting.set()
        other.join()
        time.sleep(0.1)
        reached.append("started")

    monkeypatch.setattr(pebble.ProcessPool, "schedule", schedule)
    before = signal.signal(number, interrupt)
    other = threading.Thread(target=send)  # started here, so that its signals are not blocked
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt), LocalPool(1) as pool:
            pool.submit(print)
    finally:
        signal.signal(number, before)
    assert reached == ["started"]


def test_a_hangup_while_the_tracker_starts_is_not_lost(monkeypatch):
    """The signal used to be ignored at that moment, so that a run continued without its terminal."""
    came = []
    monkeypatch.setattr("multiprocessing.resource_tracker.ensure_running", lambda: os.kill(os.getpid(), signal.SIGHUP))
    before = signal.signal(signal.SIGHUP, lambda number, _: came.append(number))
    try:
        start_tracker()
    finally:
        signal.signal(signal.SIGHUP, before)
    assert came == [signal.SIGHUP]
