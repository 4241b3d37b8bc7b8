"""The GPU kernel, compiled for the CPU: slow, but it can be tested without a GPU."""

import ctypes
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from coebl.solver.cuda import layout, options, source
from coebl.solver.interruptible import new_answers

COMPILER = shutil.which("g++")
H200 = 232_448, 233_472  # bytes of shared memory of a block, and of a multiprocessor
_THREAD = 'asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));'  # the only line that is specific to CUDA
_HERE = Path(__file__).parent


def solve_on_host(batch, weight, real, memory=H200):
    """Return the fields of `solver.interruptible.Answers` for a batch, and the number of unsolved matrices."""
    runs, m, n = batch.shape
    answers = new_answers(runs, m, n)
    arrays = [array.ctypes.data_as(ctypes.c_void_p) for array in (batch, weight, *answers)]
    lacking = _library(m, n, real, memory).solve_on_host(*arrays[:2], len(weight), runs, *arrays[2:])
    assert lacking >= 0, "threads wait for each other forever"
    return *answers, lacking


@cache
def _library(m, n, real, memory):
    kernel = source()
    assert kernel.count(_THREAD) == 1
    parts = (_HERE / "host.h").read_text(), kernel.replace(_THREAD, "thread = turn;"), (_HERE / "host.cpp").read_text()
    with TemporaryDirectory() as folder:
        library = Path(folder) / "kernel.so"
        flags = "-O2", "-w", "-shared", "-fPIC", "-fvisibility=hidden", "-x", "c++", "-", "-o", str(library)
        arguments = [COMPILER, *options(layout(m, n, real, *memory)), *flags]
        subprocess.run(arguments, input="\n".join(parts), text=True, check=True)
        return ctypes.CDLL(str(library))
