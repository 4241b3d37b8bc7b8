"""Speed on a graphics processor, against what was aimed at and against the processor of the same machine.

Writes GPU.md. Needs CuPy and a graphics processor.

python benchmarks/gpu.py            some six minutes
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
    """Seconds of a match; if fewer rounds are played, extrapolated. NaN where the noise of the clock hides a round.

    Streams are set up before the first round, which takes as long as many rounds. So a difference of two lengths that
    is not well above what two equal lengths differ by says nothing, and is not taken for a fast round.
    """
    _match(game, row, column, 2, seeds, device)  # compile, and have the memory
    if played >= rounds:
        return _match(game, row, column, rounds, seeds, device)
    short = [_match(game, row, column, played // 4, seeds, device) for _ in range(2)]
    long = _match(game, row, column, played, seeds, device)
    grown = long - min(short)
    if grown <= 2 * abs(short[0] - short[1]):
        return float("nan")
    return long + (rounds - played) * grown / (played - played // 4)


def coebl_line() -> str:
    """Played in full."""
    seconds = _whole("random-gaussian:m=128,n=128,seed=0", "coebl", "coebl", 3000, 1000, 3000)
    return f"COEBL self-play, 128 actions, 1000 seeds, 3000 rounds, played in full: {seconds:.1f} s; the aim is 15 s."


def learner_table() -> list[str]:
    """Every learner at 16 actions, played in full on the device, against the processor of the machine."""
    lines = ["| learner | here, s | two cores here, s | times faster |", "|---" * 4 + "|"]
    game = "random-gaussian:m=16,n=16,seed=1"
    for name in LEARNERS.names:
        if name in ("fixed", "switching"):  # which name their actions
            continue
        ours = _whole(game, name, "uniform", 1000, 10_000, 1000)
        cores = _whole(game, name, "uniform", 1000, 1000, 200, "cpu") * 10 / 2
        lines.append(f"| `{name}` | {ours:.1f} | {_shown(cores)} | {_shown(cores / ours)} |")
        print(lines[-1], flush=True)
    return lines


def _shown(number: float) -> str:
    return "not measurable" if np.isnan(number) else f"{number:.1f}"


def paper_line() -> str:
    """Extrapolated match by match; those that cannot be are counted, not left out in silence."""
    times = {
        f"{game}, {row} v {column}": _whole(game, row, column, 3000, 1000, 120)
        for game in GAMES
        for row, column in MATCH_UPS
    }
    known = {match: seconds for match, seconds in times.items() if not np.isnan(seconds)}
    longest = max(known, key=known.__getitem__)
    return (
        f"The paper's 13 games and 7 match-ups with 1000 seeds and 3000 rounds: {sum(known.values()) / 60:.1f} min for "
        f"{len(known)} of {len(times)} matches, extrapolated from 120 rounds of each; the others could not be "
        f"extrapolated. The aim is 20 min for all. The longest is {longest}, {known[longest]:.0f} s."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "GPU.md")
    options = parser.parse_args()
    cupy = array_module("cuda")
    parts = [
        "# Speed on a graphics processor\n",
        f"Made by `make bench-gpu` on a machine with one {device_title('cuda')}, {os.cpu_count()} cores "
        f"({platform.machine()}), Python {platform.python_version()}, NumPy {np.__version__}, CuPy {cupy.__version__}.",
    ]

    def add(*lines: str) -> None:
        parts.append("\n".join(lines))
        options.out.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        print(parts[-1], flush=True)

    add("## The solver\n", f"{MATRICES} matrices of normal payoffs, the certificate included.\n", *solver_table())
    add("## COEBL on a large game\n", coebl_line())
    method = "10,000 seeds, 1000 rounds, against uniform play. The device plays them in full. The cores' time is " + (
        "extrapolated from 200 rounds of 1000 seeds on one of them, times ten, divided by two."
    )
    add("## Every learner at 16 actions\n", method + "\n", *learner_table())
    add("## The paper's experiments\n", paper_line())


if __name__ == "__main__":
    main()
