"""Speed of `maximin` compared with other zero-sum solvers in one run, with answers cross-checked. Writes RESULTS.md.

    python benchmarks/solvers.py                  all sizes
    python benchmarks/solvers.py --sizes 3 16     some, printed only

Each time is the best of several repetitions, since the machine may be shared and other work only adds time. The times
of warm starts depend on the changed entry, so they and the cold times next to them are medians.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from coebl.core.text import markdown_table
from coebl.solver import Maximin, compile_kernels, maximin
from options import chosen_sizes, cpu_model, write_page
from peers import PEERS, best_time, measure

Floats = NDArray[np.float64]

SIZES = (3, 4, 8, 16, 32, 64, 128, 256)
BATCH = 64
GOALS = {3: 10, 4: 10, 8: 5, 16: 3, 32: 3, 64: 3, 128: 8, 256: 8}


def random_games(n: int) -> Floats:
    """Return matrices like COEBL's: a constant plus unit Gaussian noise."""
    return 4 + np.random.default_rng([1, n]).normal(size=(BATCH, n, n))


def tied_games(n: int) -> Floats:
    """Return matrices like UCB's: most entries unvisited and equal, the others lower."""
    random = np.random.default_rng([2, n])
    count = random.poisson(0.5, size=(BATCH, n, n))
    mean = np.where(count > 0, random.normal(size=(BATCH, n, n)) / np.sqrt(np.maximum(1, count)), 0)
    return mean + np.sqrt(2 * np.log(2 * 3000**2 * n * n) / np.maximum(1, count))


def compare(batch: Floats, processes: dict[str, Executor]) -> dict[str, float]:
    """Return the microseconds per solve, ours and each peer's. Raises if an answer differs."""
    ours = maximin(batch)
    result = {"coebl": best_time(lambda: maximin(batch), 1.0) / len(batch) * 1e6}
    for name, process in processes.items():
        if name == "gurobipy" and batch.shape[1] > 128:
            continue  # beyond the limit of the licence that comes with the package
        result[name], values = process.submit(measure, name, batch).result()
        tolerance = 1e-6 * float(np.ptp(batch))
        np.testing.assert_allclose(values, ours.value[: len(values)], rtol=0, atol=tolerance, err_msg=name)
    return result


def warm_start(n: int) -> tuple[float, float, float]:
    """Return the microseconds of a cold solve and of a warm one after a changed entry, and the pivots of the latter."""
    random = np.random.default_rng([3, n])
    batch = random_games(n)
    solver = Maximin(batch.shape)
    solution = solver(batch)
    cold, warm, pivots = [], [], []
    for _ in range(60):
        begun = time.perf_counter()
        maximin(batch)
        cold.append(time.perf_counter() - begun)
    for _ in range(60):
        changed = np.arange(BATCH), random.integers(n, size=BATCH), random.integers(n, size=BATCH)
        batch[changed] = 4 + random.normal(size=BATCH)  # in place, as in a learner
        begun = time.perf_counter()
        solution = solver(batch)
        warm.append(time.perf_counter() - begun)
        pivots.append(solution.pivots.mean())
    np.testing.assert_allclose(solution.value, maximin(batch).value, atol=1e-8)
    per_solve = 1e6 / BATCH
    return float(np.median(cold)) * per_solve, float(np.median(warm)) * per_solve, float(np.mean(pivots))


def machine() -> str:
    names = ("numpy", "numba", "scipy", "quantecon", "nashpy", "highspy", "ortools", "gurobipy")
    versions = []
    for name in names:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} not installed")
    python = f"{platform.system()}, Python {platform.python_version()}"
    return ", ".join([cpu_model(), f"{os.cpu_count()} cores", python, *versions])


def table(title: str, make: Callable[[int], Floats], sizes: list[int], processes: dict[str, Executor]) -> str:
    rows = [[title, "coebl, µs", "best peer", "times faster", "goal", *PEERS]]
    for n in sizes:
        times = compare(make(n), processes)
        ours = times.pop("coebl")
        best = min(times, key=lambda name: times[name])
        cells = [f"{times[name] / ours:,.1f}x" if name in times else "-" for name in PEERS]
        goal = f">= {GOALS[n]}x" if n in GOALS and title == "random" else ""
        rows.append([f"{n} x {n}", f"{ours:,.2f}", best, f"{times[best] / ours:.1f}x", goal, *cells])
        print(" | ".join(rows[-1]), flush=True)
    return markdown_table(rows)


def warm_table(sizes: list[int]) -> str:
    rows = [["one entry changed", "cold, µs", "warm, µs", "times faster", "goal", "pivots"]]
    for n in sizes:
        cold, warm, pivots = warm_start(n)
        goal = ">= 10x" if n == 128 else ""
        rows.append([f"{n} x {n}", f"{cold:,.2f}", f"{warm:,.2f}", f"{cold / warm:.1f}x", goal, f"{pivots:.1f}"])
        print(" | ".join(rows[-1]), flush=True)
    return markdown_table(rows)


def main() -> None:
    chosen = chosen_sizes(__doc__, "RESULTS.md")
    sizes = chosen or list(SIZES)
    for n in sizes:
        compile_kernels((n, n))
    parts = [
        "# Speed",
        "Generated by `make bench`. " + machine() + ".",
        f"Microseconds per solve for `maximin` on a batch of {BATCH} matrices, single-threaded, certificate included, "
        "and how many times longer each peer takes per matrix, called as its users call it. Best of several "
        "repetitions, all in the same run; the answers are compared.",
    ]
    processes: dict[str, Executor] = {name: ProcessPoolExecutor(1, mp_context=get_context("spawn")) for name in PEERS}
    parts.append(table("random", random_games, sizes, processes))
    parts.append(table("UCB-like, tied", tied_games, sizes, processes))
    for process in processes.values():
        process.shutdown()
    parts.append(
        "Warm starts: `Maximin`, called again after one entry of each matrix was replaced; medians. Small matrices "
        "are solved from scratch, which is faster."
    )
    parts.append(warm_table([n for n in sizes if n >= 16]))
    if not chosen:
        write_page("RESULTS.md", parts)


if __name__ == "__main__":
    main()
