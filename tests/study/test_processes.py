"""The pool of local processes: what a signal may and may not break off."""

import os
import signal
import threading
import time
from concurrent.futures import InvalidStateError, ProcessPoolExecutor
from concurrent.futures.process import _ExecutorManagerThread as Manager

import pytest
import threadpoolctl

from coebl.study.processes import local_processes


def test_a_process_has_one_thread_for_linear_algebra(monkeypatch):
    """By a call, and not by variables that this process would hand to others."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "2")
    before = dict(os.environ)
    with local_processes(1) as pool:
        libraries = pool.submit(threadpoolctl.threadpool_info).result()
    assert {library["num_threads"] for library in libraries} == {1}
    assert dict(os.environ) == before


def test_a_cancelled_future_is_no_complaint_and_other_errors_of_threads_are(monkeypatch):
    """A pool whose processes die while its futures are cancelled has a thread that raises the first."""
    told = []
    monkeypatch.setattr(threading, "excepthook", lambda args: told.append(args.exc_type))
    before = threading.excepthook

    def in_a_thread(error):
        def fail():
            raise error

        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()

    with local_processes(1):
        in_a_thread(InvalidStateError())
        in_a_thread(ValueError())
    assert told == [ValueError]
    assert threading.excepthook is before


def test_the_thread_of_a_stopped_pool_has_ended(monkeypatch):
    """Python wakes it at its exit, through a pipe that the thread closes as it ends: the two must not meet."""
    threads = []
    end = Manager.join_executor_internals

    def end_slowly(thread):
        threads.append(thread)
        time.sleep(0.5)
        end(thread)

    monkeypatch.setattr(Manager, "join_executor_internals", end_slowly)
    with pytest.raises(ZeroDivisionError), local_processes(1) as pool:
        pool.submit(divmod, 1, 0).result()
    assert [thread.is_alive() for thread in threads] == [False]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_until_a_process_is_started(monkeypatch, number):
    """Also if another thread takes it, which does not block it."""
    starting, reached = threading.Event(), []

    def interrupt(*_):
        raise KeyboardInterrupt

    def send():
        starting.wait(10)
        os.kill(os.getpid(), number)

    def submit(self, *_):
        starting.set()
        other.join()
        time.sleep(0.1)
        reached.append("started")

    monkeypatch.setattr(ProcessPoolExecutor, "submit", submit)
    before = signal.signal(number, interrupt)
    other = threading.Thread(target=send)  # started here, so that its signals are not blocked
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt), local_processes(1) as pool:
            pool.submit(print)
    finally:
        signal.signal(number, before)
    assert reached == ["started"]
