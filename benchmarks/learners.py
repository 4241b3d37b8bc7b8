"""Speed of the engine on the paper's seven match-ups, compared with a plain implementation, and of every learner.

Adds three tables to RESULTS.md, the last one on normal random numbers.

python benchmarks/learners.py               the match-ups at n = 2 .. 7, every learner, normal numbers
python benchmarks/learners.py --sizes 2 3   some match-ups, printed only
"""

from __future__ import annotations

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from coebl.backend.streams import BatchRandom, learner_key
from coebl.core.text import markdown_table
from coebl.engine import Match, simulate
from coebl.games import parse_matrix
from coebl.learners import LEARNERS, parse_learner
from matches import MATCH_UPS
from options import HERE, chosen_sizes, write_page
from peers import best_time
from plain import play

RUNS = 50
ACTIONS = {3: 1000, 16: 300, 64: 40}  # of each player, and rounds, for every learner
MARK = "\n## Learners\n"


def ours(n: int, row: str, column: str, rounds: int) -> tuple[float, str]:
    """Return the microseconds per run and round, metrics included, and where the time goes."""
    match = Match.of(f"diagonal:{n}", row, column, rounds=rounds)
    simulate(Match.of(f"diagonal:{n}", row, column, rounds=5), 2)  # compile
    best, where = float("inf"), ""
    for _ in range(3 if n < 6 else 1):
        started = time.perf_counter()
        result = simulate(match, RUNS, record=100, metrics=["regret", "pseudo_regret", "tv"])
        taken = time.perf_counter() - started
        if taken < best:
            total = sum(result.seconds.values())
            best, where = taken, ", ".join(f"{k} {v / total:.0%}" for k, v in result.seconds.items())
    return best / (RUNS * rounds) * 1e6, where


def alone(learner: str, actions: int) -> float:
    """Return the microseconds per run and round of a learner's methods, against uniform play. Best of three."""
    game = f"random-gaussian:m={actions},n={actions},seed=1"
    simulate(Match.of(game, learner, "uniform", rounds=5), 2, record="last")  # compile
    match = Match.of(game, learner, "uniform", rounds=ACTIONS[actions])
    seconds = [simulate(match, RUNS, record="last", metrics=["regret"]).seconds["row learner"] for _ in range(3)]
    return min(seconds) / (RUNS * match.rounds) * 1e6


def every_learner() -> list[str]:
    """Return the table of all learners that improve, after its caption."""
    caption = (
        f"Every learner: microseconds per run and round of the learner alone, against uniform play on a random normal "
        f"game with {', '.join(map(str, ACTIONS))} actions per player, in a batch of {RUNS} runs, best of three."
    )
    rows = [["learner", "sees", *(f"{actions} actions, µs" for actions in ACTIONS)]]
    for learner in (parse_learner(entry.example or entry.name) for entry in LEARNERS):
        if not learner.improves or "indices" not in learner.plays:
            continue
        times = (f"{alone(str(learner), actions):,.1f}" for actions in ACTIONS)
        rows.append([str(learner), learner.kind(), *times])
        print(" | ".join(rows[-1]), flush=True)
    return [caption, markdown_table(rows)]


def normals(actions: int) -> tuple[float, float]:
    """Return the nanoseconds per scaled and shifted normal number, with our kernel and with NumPy."""
    shape = RUNS, actions, actions
    deviation, mean = np.random.default_rng(0).uniform(size=(2, *shape))
    generators = [np.random.Generator(np.random.SFC64(seed)) for seed in range(RUNS)]
    random, drawn = BatchRandom(range(RUNS), learner_key(0)), np.empty(shape)

    def ours() -> None:
        random.normal(actions, actions, deviation=deviation, mean=mean)

    def numpys() -> None:
        for generator, numbers in zip(generators, drawn, strict=True):
            generator.standard_normal(out=numbers)
        np.multiply(drawn, deviation, out=drawn)
        np.add(drawn, mean, out=drawn)

    ours()  # compile
    return best_time(ours, 0.5) / drawn.size * 1e9, best_time(numpys, 0.5) / drawn.size * 1e9


def normal_numbers() -> list[str]:
    """Return the table of normal numbers, after its caption."""
    caption = (
        f"Normal numbers with given means and standard deviations, one for each pair of actions, for {RUNS} runs: "
        "nanoseconds per number of `seat.random.normal`, and how many times longer NumPy takes for as many numbers, in "
        "the same run: one call of each run's generator, a product and a sum."
    )
    rows = [["actions", "coebl, ns", "NumPy, ns", "times faster"]]
    for actions in (4, 16, 64, 128):
        mine, numpys = normals(actions)
        rows.append([str(actions), f"{mine:.1f}", f"{numpys:.1f}", f"{numpys / mine:.1f}x"])
        print(" | ".join(rows[-1]), flush=True)
    return [caption, markdown_table(rows)]


def main() -> None:
    chosen = chosen_sizes(__doc__, "RESULTS.md")
    caption = (
        f"Microseconds per run and round on Diagonal, in a batch of {RUNS} runs, metrics included, and how many times "
        "longer a plain implementation takes in the same run (benchmarks/plain.py: NumPy, one run at a time, SciPy's "
        "HiGHS and SLSQP)."
    )
    rows = [["n", "match-up", "coebl, µs", "plain, µs", "times faster", "where the time goes"]]
    for n in chosen or range(2, 8):
        rounds = 1000 if n < 5 else 300 if n < 7 else 100
        for row, column in MATCH_UPS:
            mine, where = ours(n, row, column, rounds)
            played, seconds = play(parse_matrix(f"diagonal:{n}").payoff, row, column, rounds, 1.5)
            plain = seconds / played * 1e6
            rows.append([str(n), f"{row} v {column}", f"{mine:,.2f}", f"{plain:,.0f}", f"{plain / mine:,.0f}x", where])
            print(" | ".join(rows[-1]), flush=True)
    if not chosen:
        path = HERE / "RESULTS.md"
        before = path.read_text().partition(MARK)[0] if path.exists() else "# Speed"
        tables = [caption, markdown_table(rows), *every_learner(), *normal_numbers()]
        write_page(path.name, [before, MARK.strip(), *tables])


if __name__ == "__main__":
    main()
