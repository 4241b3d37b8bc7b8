"""Speed on a GPU, compared with the targets and with the CPU of the same machine.

Writes GPU.md. Measurements are kept in a file, so that parts can be measured one at a time. Needs CuPy and a GPU.

python benchmarks/gpu.py                      all parts, about eight minutes
python benchmarks/gpu.py solver coebl         two of them
python benchmarks/gpu.py paper --workers 1    the paper's experiments, by one process
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from coebl.backend import Device, backend_for
from coebl.core.arrays import machine_memory
from coebl.core.files import write_whole
from coebl.core.text import markdown_table
from coebl.engine import simulate
from coebl.learners import LEARNERS
from coebl.solver import maximin
from coebl.solver.cuda import CudaMaximin
from matches import MATCH_UPS, PAPER_GAMES
from options import HERE, cpu_model

MATRICES, FEW = 1000, 30  # on the device, and on one core
AIMS = {64: 0.5, 128: 2.0, 256: 15.0}  # microseconds per matrix


class Length(NamedTuple):
    """The size of an experiment."""

    rounds: int
    seeds: int


LARGE, LARGE_AIM = Length(3000, 1000), 15  # seconds
SIXTEEN, CORE = Length(1000, 10_000), Length(400, 1000)  # on the device, and on one core
PAPER, PAPER_AIM = Length(3000, 1000), 20  # minutes


def _seconds(call: Callable[[], object]) -> float:
    cupy = backend_for("cuda").arrays
    cupy.cuda.Device().synchronize()
    started = time.perf_counter()
    call()
    cupy.cuda.Device().synchronize()
    return time.perf_counter() - started


def measure_solver() -> Iterator[Any]:
    """Yield the seconds per matrix, certificate included: the measurements so far, as from every part."""
    cupy = backend_for("cuda").arrays
    rows = []
    for n in AIMS:
        payoffs = np.random.default_rng(1).normal(size=(MATRICES, n, n))
        batch, solve = cupy.asarray(payoffs), CudaMaximin((MATRICES, n, n))
        solution = solve(batch)
        times = [_seconds(lambda: solve(batch)) for _ in range(7)]  # noqa: B023
        few = payoffs[:FEW]
        maximin(few)
        core = _seconds(lambda: maximin(few)) / len(few)  # noqa: B023
        here = float(np.median(times)) / MATRICES
        rows.append([n, here, core, float(solution.pivots.mean()), solution.fallbacks])
        yield rows


def _match(game: str, row: str, column: str, length: Length, device: Device = "cuda") -> float:
    """Return the seconds of a match, including streams, metrics, and the copies back."""
    started = time.perf_counter()
    simulate(game, row, column, rounds=length.rounds, seeds=length.seeds, record=100, device=device)
    return time.perf_counter() - started


def measure_coebl() -> Iterator[Any]:
    """Yield the seconds of COEBL on a large game, played in full."""
    game = "random-gaussian:m=128,n=128,seed=0"
    _match(game, "coebl", "coebl", LARGE._replace(rounds=2))  # compile, and allocate the memory
    yield _match(game, "coebl", "coebl", LARGE)


def measure_learners() -> Iterator[Any]:
    """Yield the seconds of all learners, from full runs on the device.

    On a core, they are those of fewer rounds and seeds, less the time of two rounds.
    """
    game, two_rounds = "random-gaussian:m=16,n=16,seed=1", CORE._replace(rounds=2)
    rows = []
    for name in LEARNERS.names:
        learner: Any = LEARNERS[name].factory
        if name in ("fixed", "switching") or "indices" not in learner.plays:  # their specs name actions
            continue
        _match(game, name, "uniform", SIXTEEN._replace(rounds=2))
        here = _match(game, name, "uniform", SIXTEEN)
        _match(game, name, "uniform", two_rounds, "cpu")
        start = min(_match(game, name, "uniform", two_rounds, "cpu") for _ in range(2))
        grown = _match(game, name, "uniform", CORE, "cpu") - start
        core = (start + grown * SIXTEEN.rounds / CORE.rounds) * SIXTEEN.seeds / CORE.seeds
        rows.append([name, here, core / 2])
        print(name, f"{here:.2f} {core / 2:.2f}", flush=True)
        yield rows


def _paper_match(match: tuple[str, str, str]) -> float:
    return _match(*match, PAPER)


def measure_paper(workers: int) -> Iterator[Any]:
    """Yield the minutes of every match in full, in processes that share the device: a small game leaves it idle."""
    matches = [
        (game, row, column) for game in reversed(PAPER_GAMES) for row, column in MATCH_UPS
    ]  # the long matches first
    started, done = time.perf_counter(), {}
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        running = {pool.submit(_paper_match, match): match for match in matches}
        for finished in as_completed(running):
            game, row, column = running[finished]
            done[f"{game}, {row} v {column}"] = finished.result()
            minutes = (time.perf_counter() - started) / 60
            yield {"all": len(matches), "workers": workers, "minutes": minutes, "of": done}
            print(len(done), game, row, column, f"{finished.result():.1f} s", flush=True)


def machine() -> list[str]:
    """Describe the GPU and its host, one line each."""
    cupy = backend_for("cuda").arrays
    runtime = cupy.cuda.runtime
    about = runtime.getDeviceProperties(0)
    driver = runtime.driverGetVersion()
    return [
        f"The GPU: one {backend_for('cuda').versions['device']}, {about['multiProcessorCount']} multiprocessors, "
        f"{about['totalGlobalMem'] / 2**30:.0f} GiB, CUDA {driver // 1000}.{driver % 1000 // 10}.",
        f"The CPU: {cpu_model()} ({platform.machine()}), {os.cpu_count()} cores, "
        f"{machine_memory() / 2**30:.0f} GiB, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"CuPy {cupy.__version__}.",
    ]


def page(measured: dict[str, Any]) -> str:
    """Return the content of GPU.md, from the measurements."""
    sections = [
        "# Speed on a GPU",
        "Generated by `make bench-gpu`. The solver's times on the GPU are medians of seven calls; every other number "
        "is a single measurement. Kernels are compiled in advance, except for the paper's experiments.",
        "\n".join(f"- {line}" for line in measured["machine"]),
    ]
    if any(n == 128 for n, *_ in measured.get("solver", [])):
        sections.append(about_cores(measured["solver"]))
    sections += [write(measured[part]) for part, (_, write) in PARTS.items() if part in measured]
    return "\n\n".join(section.rstrip() for section in sections) + "\n"


def about_cores(solver: Any) -> str:
    """Compare the cores of the host with those of RESULTS.md."""
    here = next(core for n, _, core, *_ in solver if n == 128) * 1e6
    lines = (HERE / "RESULTS.md").read_text(encoding="utf-8").splitlines()
    there = float(next(line for line in lines if line.startswith("| 128 x 128 |")).split("|")[2])
    return (
        "CPU times are those of the GPU's host, described above. The machine of [RESULTS.md](RESULTS.md) has other "
        f"cores: a 128 x 128 solve takes {here:.0f} µs here and {there:.0f} µs there. Against those cores, the "
        f"speedups below would be about {there / here:.1f} times as large."
    )


def solver_section(rows: Any) -> str:
    head = ["actions", "target, µs", "GPU, µs", "one core of the host, µs", "pivots", "not certified on the device"]
    numbers = [
        [f"{n} x {n}", str(AIMS[n]), f"{here * 1e6:.2f}", f"{core * 1e6:.0f}", f"{pivots:.0f}", str(left)]
        for n, here, core, pivots, left in rows
    ]
    return (
        f"## The solver\n\nTime per matrix for {MATRICES} matrices of normal payoffs, certificate included. On one "
        f"core of the host, {FEW} of them are solved.\n\n{markdown_table([head, *numbers])}"
    )


def coebl_section(seconds: Any) -> str:
    return (
        f"## COEBL on a large game\n\nCOEBL in self-play, 128 actions, {LARGE.seeds} seeds, {LARGE.rounds} rounds, "
        f"played in full: {seconds:.1f} s. The target is {LARGE_AIM} s."
    )


def learners_section(rows: Any) -> str:
    head = ["learner", "GPU, s", "two cores of the host, s", "times faster"]
    numbers = [[f"`{name}`", f"{here:.1f}", f"{cores:.1f}", f"{cores / here:.1f}"] for name, here, cores in rows]
    return (
        f"## Every learner with 16 actions\n\n{SIXTEEN.seeds:,} seeds, {SIXTEEN.rounds} rounds, against uniform play. "
        f"The GPU plays them in full. The time of two cores is that of {CORE.rounds} rounds of {CORE.seeds} seeds on "
        f"one core, scaled up to all rounds and seeds and divided by two.\n\n{markdown_table([head, *numbers])}"
    )


def paper_section(measured: Any) -> str:
    times, workers = measured["of"], measured["workers"]
    longest = max(times, key=times.__getitem__)
    by = "one process" if workers == 1 else f"{workers} processes at a time"
    return (
        f"## The paper's experiments\n\nThe paper's {len(PAPER_GAMES)} games and {len(MATCH_UPS)} match-ups with "
        f"{PAPER.seeds} seeds and {PAPER.rounds} rounds, {len(times)} of {measured['all']} matches played in full, by "
        f"{by}, compilation included: {measured['minutes']:.1f} min. The target is {PAPER_AIM} min. The longest match "
        f"is {longest}: {times[longest]:.0f} s."
    )


PARTS: dict[str, tuple[Callable[..., Iterator[Any]], Callable[[Any], str]]] = {
    "solver": (measure_solver, solver_section),
    "coebl": (measure_coebl, coebl_section),
    "learners": (measure_learners, learners_section),
    "paper": (measure_paper, paper_section),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"any of {', '.join(PARTS)}; default: all")
    parser.add_argument("--out", type=Path, default=HERE / "GPU.md")
    parser.add_argument("--data", type=Path, default=HERE / "gpu.json", help="the file with the measurements")
    parser.add_argument("--workers", type=int, default=5, help="processes that play the paper's experiments")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"parts are {', '.join(sorted(unknown))}; accepted: {', '.join(PARTS)}.")
    measured = json.loads(options.data.read_text(encoding="utf-8")) if options.data.exists() else {}
    measured["machine"] = machine()
    for part in options.parts or PARTS:
        measure, write = PARTS[part]
        for measurements in measure(options.workers) if part == "paper" else measure():
            measured[part] = measurements
            write_whole(options.data, json.dumps(measured, indent=1) + "\n")
            write_whole(options.out, page(measured))
        print(write(measured[part]), flush=True)


if __name__ == "__main__":
    main()
