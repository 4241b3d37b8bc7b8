"""Speed on a graphics processor, against what was aimed at and against the processor of the same machine.

Writes GPU.md. Needs CuPy and a graphics processor.

python benchmarks/gpu.py            everything: some ten minutes
python benchmarks/gpu.py --quick    fewer rounds, from which the times are extrapolated: some minutes
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from coebl.core.devices import Device, array_module, device_title
from coebl.engine import simulate
from coebl.learners import LEARNERS
from coebl.solver import maximin
from coebl.solver.cuda import CudaMaximin
from coebl.solver.cuda.maximin import processor_count

MATRICES = 1000
AIMS = {64: 0.5, 128: 2.0, 256: 15.0}  # microseconds a matrix
GAMES = [*(f"diagonal:n={n}" for n in range(2, 8)), *(f"bigger-number:n={n}" for n in range(2, 8)), "rps"]
MATCH_UPS = [
    ("coebl", "coebl"),
    ("ucb", "ucb"),
    ("exp3", "exp3"),
    ("exp3-ix", "exp3-ix"),
    ("exp3", "coebl"),
    ("exp3-ix", "coebl"),
    ("ucb", "coebl"),
]


def solver_table() -> list[str]:
    """Microseconds a matrix, certificate included."""
    cupy = array_module("cuda")
    lines = [
        "| actions | aim, µs | here, µs | one core here, µs | pivots | not certified on the device |",
        "|---" * 6 + "|",
    ]
    for n, aim in AIMS.items():
        payoffs = np.random.default_rng(1).normal(size=(MATRICES, n, n))
        batch, solve = cupy.asarray(payoffs), CudaMaximin((MATRICES, n, n))
        before, found = processor_count(), solve(batch)
        left = processor_count() - before
        times = [_seconds(lambda: solve(batch), cupy) for _ in range(7)]  # noqa: B023
        few = payoffs[:30]
        maximin(few)
        started = time.perf_counter()
        maximin(few)
        core = (time.perf_counter() - started) / len(few)
        ours = float(np.median(times)) / MATRICES
        lines.append(
            f"| {n} x {n} | {aim} | {ours * 1e6:.2f} | {core * 1e6:.0f} | {float(found.pivots.mean()):.0f} | {left} |"
        )
    return lines


def _seconds(call: Callable[[], object], cupy: Any) -> float:
    cupy.cuda.Device().synchronize()
    started = time.perf_counter()
    call()
    cupy.cuda.Device().synchronize()
    return time.perf_counter() - started


def _match(game: str, row: str, column: str, rounds: int, seeds: int, device: Device) -> float:
    """Seconds of a match, all in: streams, metrics, and the copies back."""
    started = time.perf_counter()
    simulate(game, row, column, rounds=rounds, seeds=seeds, record=100, device=device)
    return time.perf_counter() - started


def _whole(game: str, row: str, column: str, rounds: int, seeds: int, played: int, device: Device = "cuda") -> float:
    """Seconds of a match of so many rounds, of which `played` are played: the rest is extrapolated."""
    _match(game, row, column, 2, seeds, device)  # compile, and have the memory
    if played >= rounds:
        return _match(game, row, column, rounds, seeds, device)
    short, long = (_match(game, row, column, length, seeds, device) for length in (played // 4, played))
    return long + (rounds - played) * max(0.0, long - short) / (played - played // 4)


def coebl_line(quick: bool) -> str:
    seconds = _whole("random-gaussian:m=128,n=128,seed=0", "coebl", "coebl", 3000, 1000, 400 if quick else 3000)
    return f"COEBL self-play, 128 actions, 1000 seeds, 3000 rounds: {seconds:.0f} s, all in; the aim is 15 s."


def learner_table(quick: bool) -> list[str]:
    """Every learner at 16 actions, against the processor of the machine."""
    lines = ["| learner | here, s | two cores here, s | times faster |", "|---" * 4 + "|"]
    game = "random-gaussian:m=16,n=16,seed=1"
    for name in LEARNERS.names:
        if name in ("fixed", "switching"):  # which name their actions
            continue
        ours = _whole(game, name, "uniform", 1000, 10_000, 60 if quick else 300)
        core = _whole(game, name, "uniform", 1000, 1000, 16 if quick else 40, "cpu") * 10
        lines.append(f"| `{name}` | {ours:.1f} | {core / 2:.1f} | {core / 2 / ours:.1f} |")
        print(lines[-1], flush=True)
    return lines


def paper_line() -> str:
    total, longest = 0.0, ("", 0.0)
    for game in GAMES:
        for row, column in MATCH_UPS:
            seconds = _whole(game, row, column, 3000, 1000, 24)
            total += seconds
            longest = max(longest, (f"{game}, {row} v {column}", seconds), key=lambda item: item[1])
    return (
        f"The paper's 13 games and 7 match-ups with 1000 seeds and 3000 rounds: {total / 60:.1f} min, extrapolated from "
        f"24 rounds of each; the aim is 20 min. The longest is {longest[0]}, {longest[1]:.0f} s."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "GPU.md")
    options = parser.parse_args()
    cupy = array_module("cuda")
    parts = [
        "# Speed on a graphics processor\n",
        f"Made by `make bench-gpu` on a machine with one {device_title('cuda')}, {os.cpu_count()} cores "
        f"({platform.machine()}), Python {platform.python_version()}, NumPy {np.__version__}, CuPy {cupy.__version__}.",
    ]
    extrapolated = " Longer matches are extrapolated from their first rounds." if options.quick else ""

    def add(*lines: str) -> None:
        parts.append("\n".join(lines))
        options.out.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        print(parts[-1], flush=True)

    add("## The solver\n", f"{MATRICES} matrices of normal payoffs, the certificate included.\n", *solver_table())
    add("## COEBL on a large game\n", coebl_line(options.quick) + extrapolated)
    add(
        "## Every learner at 16 actions\n",
        f"10,000 seeds, 1000 rounds, against uniform play.{extrapolated} The cores' "
        "time is that of 1000 seeds on one of them, times ten, divided by two.\n",
        *learner_table(options.quick),
    )
    add("## The paper's experiments\n", paper_line())


if __name__ == "__main__":
    main()
