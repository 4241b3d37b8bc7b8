"""Long solves: Ctrl-C ends them, and they are the same as short ones."""

import _thread
import contextlib
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from coebl.games import solve
from coebl.kernels import lockstep, simplex
from coebl.solver import Maximin, compile_kernels, interruptible, maximin
from oracles.certificate import assert_same

ROOT = Path(__file__).parents[2]

LONG_SOLVE = """
import numpy as np
from coebl.solver import compile_kernels, maximin
payoffs = np.random.default_rng(0).normal(size=(3000, 3000))
compile_kernels(payoffs.shape)
print("ready", flush=True)
maximin(payoffs)
print("solved", flush=True)
"""


def test_ctrl_c_ends_a_long_solve():
    """The solve takes far longer than the second after which it is interrupted."""
    with subprocess.Popen(
        [sys.executable, "-c", LONG_SOLVE], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        try:
            output, errors = process.communicate(timeout=20)
        finally:
            process.kill()
        seconds = time.monotonic() - begun
    assert output == b""
    assert errors.endswith(b"KeyboardInterrupt\n")
    assert process.returncode == -signal.SIGINT
    assert seconds < 5  # one or two, and some because the machine may be busy; it used to be 40


@pytest.mark.parametrize("shape", [(2, 2), (24, 24)])
def test_ctrl_c_is_handled_while_kernels_compile(monkeypatch, shape):
    """A compiler in the main thread may drop it: LLVM calls back, and exceptions of callbacks are ignored."""
    ended = threading.Event()

    def compile_for_long(*arguments):
        with contextlib.suppress(KeyboardInterrupt):
            _thread.interrupt_main()
            ended.wait(20)
        return 0

    monkeypatch.setattr(lockstep, "solve_small", compile_for_long)
    monkeypatch.setattr(simplex, "solve_batch", compile_for_long)
    interruptible.compile_kernel.cache_clear()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        solve(np.eye(*shape))
    assert time.monotonic() - begun < 5
    ended.set()


def test_ctrl_c_is_handled_in_tests_that_run_in_the_background():
    """A shell starts background jobs with SIGINT ignored, and what is ignored is inherited."""
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", __file__, "-k", "handled_while and shape0"]
    ignored = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    done = subprocess.run(words, preexec_fn=ignored, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("shape", [(1, 50, 60), (9, 24, 20)])
def test_a_long_solve_gives_the_answer_of_a_short_one(monkeypatch, shape):
    threads = []

    def watched(*arguments):
        threads.append(threading.current_thread())
        return kernel(*arguments)

    kernel = simplex.solve_batch
    payoffs = np.random.default_rng(shape).normal(size=shape)
    short = maximin(payoffs)
    monkeypatch.setattr(interruptible, "_LONG", 0)
    monkeypatch.setattr(simplex, "solve_batch", watched)
    long, warm = maximin(payoffs), Maximin(shape)(payoffs)
    assert threading.main_thread() is not threads[-1]
    assert_same(long, short)
    assert_same(warm, short)


def test_an_error_in_a_long_solve_is_raised():
    with pytest.raises(ZeroDivisionError):
        interruptible.in_second_thread(lambda: 1 / 0)


@pytest.mark.parametrize("ties", ["first", "random"])
def test_a_batch_in_parts_gives_the_answers_of_the_whole(monkeypatch, ties):
    payoffs = np.random.default_rng(1).integers(0, 2, size=(50, 4, 3)).astype(float)
    whole = maximin(payoffs, ties=ties, random=np.random.default_rng(2))
    monkeypatch.setattr(interruptible, "_CHUNK", 16)
    parts = maximin(payoffs, ties=ties, random=np.random.default_rng(2))
    assert_same(parts, whole)


@pytest.mark.parametrize("n", [24, 60])
def test_a_solver_can_be_used_after_an_interrupt(monkeypatch, n):
    """It forgets its tableaux, which the interrupt may have left half done."""
    first, second = np.random.default_rng(n).normal(size=(2, 1, n, n))
    solver = Maximin(first.shape)
    solver(first)

    def interrupted(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(simplex, "solve_batch", interrupted)
        with pytest.raises(KeyboardInterrupt):
            solver(second)
    np.testing.assert_array_equal(solver(second).strategy, maximin(second).strategy)


def test_the_kernel_stops_on_request():
    compile_kernels((60, 60))
    payoffs = np.random.default_rng(3).normal(size=(1, 60, 60))
    solver = Maximin(payoffs.shape)
    solver(payoffs)
    solver._workspace.indices[-1] = 1
    assert interruptible.solve_large(
        payoffs + 1, np.zeros((1, 60)), solver._workspace, interruptible.new_answers(1, 60, 60)
    )
