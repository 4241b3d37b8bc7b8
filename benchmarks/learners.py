"""Speed of the engine on the paper's seven match-ups, against a plain implementation. Adds a table to RESULTS.md.

python benchmarks/learners.py               n = 2 .. 7
python benchmarks/learners.py --sizes 2 3   some, printed only
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from coebl.engine import Match, simulate
from plain import play

RUNS = 50
MATCH_UPS = [
    ("coebl", "coebl"),
    ("ucb", "ucb"),
    ("exp3", "exp3"),
    ("exp3-ix", "exp3-ix"),
    ("exp3", "coebl"),
    ("exp3-ix", "coebl"),
    ("ucb", "coebl"),
]
MARK = "\n## Learners\n"


def ours(n: int, row: str, column: str, rounds: int) -> tuple[float, str]:
    """Microseconds per run and round, metrics included, and where the time goes."""
    match = Match.of(f"diagonal:{n}", row, column, rounds)
    simulate(Match.of(f"diagonal:{n}", row, column, 5), 2)  # compile
    best, where = float("inf"), ""
    for _ in range(3 if n < 6 else 1):
        started = time.perf_counter()
        result = simulate(match, RUNS, record=100, metrics=["regret", "pseudo_regret", "tv"])
        taken = time.perf_counter() - started
        if taken < best:
            total = sum(result.seconds.values())
            best, where = taken, ", ".join(f"{k} {v / total:.0%}" for k, v in result.seconds.items())
    return best / (RUNS * rounds) * 1e6, where


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", help="only these n, and do not write RESULTS.md")
    chosen = parser.parse_args().sizes
    lines = [
        MARK.strip(),
        "",
        f"Microseconds per run and round on Diagonal, a batch of {RUNS} runs, metrics included, and how many times "
        "longer a plain implementation takes (benchmarks/plain.py: NumPy, one run at a time, SciPy's HiGHS and SLSQP), "
        "in the same run.",
        "",
        "| n | match-up | coebl, µs | plain, µs | times faster | where the time goes |",
        "|---|---|---|---|---|---|",
    ]
    for n in chosen or range(2, 8):
        rounds = 1000 if n < 5 else 300 if n < 7 else 100
        for row, column in MATCH_UPS:
            mine, where = ours(n, row, column, rounds)
            played, seconds = play(Match.of(f"diagonal:{n}", row, column).game.payoff, row, column, rounds, 1.5)
            plain = seconds / played * 1e6
            lines.append(f"| {n} | {row} v {column} | {mine:,.2f} | {plain:,.0f} | {plain / mine:,.0f}x | {where} |")
            print(lines[-1], flush=True)
    if not chosen:
        path = Path(__file__).parent / "RESULTS.md"
        before = path.read_text().split(MARK)[0] if path.exists() else "# Speed\n"
        path.write_text(before.rstrip() + "\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
