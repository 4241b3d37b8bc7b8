"""Diagonal and BiggerNumber with 256 to 1024 actions, which the paper could not reach.

Writes LARGE_GAMES.md. Takes about three minutes of one core.

python benchmarks/large_games.py                all of it
python benchmarks/large_games.py --sizes 8      some n, printed only
"""

from __future__ import annotations

import os
import resource
import time
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

from coebl.engine import simulate
from coebl.games import parse_game
from options import chosen_sizes

FAMILIES = ("diagonal", "bigger-number")
ROUNDS = {"kin": {8: 3000, 9: 100, 10: 10}, "coebl:c=2": {8: 100, 9: 15, 10: 2}}  # by learner and n
MEASURED = ["pseudo_regret", "exploitability"]

TEXT = """\
# Large games

Made by `make large-games`. Diagonal and BiggerNumber at n = 8, 9 and 10: 256, 512 and 1024 actions a player. That is up
to a million payoffs to learn, each observed with noise of deviation 1. The paper stops at n = 7. Times are of one
CPU core. They include the first rounds, which are the slowest. Every entry is a single run, of as
many rounds as fit into a few minutes for the whole table.

- *ms a round*: against Exp3, which takes next to none of it.
- *memory*: the peak memory of the process, with one run.
- *regret*: per round, where 1 is to lose every round; in brackets that of uniform play in as many rounds. Below 0 the
  learner earns more than the value.
- *exploitability*: of the last policies in self-play, at most 2; in brackets that of uniform play.

"""


class Case(NamedTuple):
    """One learner on one game."""

    game: str
    n: int
    learner: str


class Measured(NamedTuple):
    """The cost of a learner on a game, and its results."""

    milliseconds: float  # of CPU time, per round, against Exp3
    megabytes: float
    best_response: float  # regret per round
    exp3: float
    exploitability: float


def measure(case: Case) -> Measured:
    """Play the three match-ups. Call this in a new process, so that its memory can be measured."""
    n, learner = case.n, case.learner
    game, rounds = parse_game(f"{case.game}:{n}"), ROUNDS[learner][n]
    simulate(game, learner, "exp3", rounds=2, seeds=1, metrics=MEASURED, record="last")  # compile; solve the game
    started = time.process_time()
    against_exp3 = simulate(game, learner, "exp3", rounds=rounds, seeds=1, metrics=MEASURED, record="last")
    milliseconds = (time.process_time() - started) / rounds * 1e3
    answered = simulate(game, learner, "best-response", rounds=rounds, seeds=1, metrics=MEASURED, record="last")
    alone = simulate(game, learner, learner, rounds=rounds, seeds=1, metrics=MEASURED, record="last")
    return Measured(
        milliseconds,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        float(answered.final("pseudo_regret")[0]) / rounds,
        float(against_exp3.final("pseudo_regret")[0]) / rounds,
        float(alone.final("exploitability")[0]),
    )


def uniform(case: Case) -> tuple[float, float, float]:
    """Return the numbers of uniform play: regret against a best response and against Exp3, and exploitability."""
    rounds, game = ROUNDS[case.learner][case.n], f"{case.game}:{case.n}"
    results = [
        simulate(game, "uniform", column, rounds=rounds, seeds=1, metrics=MEASURED, record="last")
        for column in ("best-response", "exp3", "uniform")
    ]
    regrets = [float(result.final("pseudo_regret")[0]) / rounds for result in results[:2]]
    return regrets[0], regrets[1], float(results[2].final("exploitability")[0])


def line(case: Case, found: Measured) -> str:
    """Return a row of the table."""
    answered, exp3, exploitability = uniform(case)
    rounds = ROUNDS[case.learner][case.n]
    cells = [
        case.game,
        f"{case.n}, {2**case.n:,}",
        case.learner,
        f"{rounds:,}",
        f"{found.milliseconds:,.3g}",
        f"{found.megabytes:,.0f} MB",
        f"{found.best_response:.2f} ({answered:.2f})",
        f"{found.exp3:.2f} ({exp3:.2f})",
        f"{found.exploitability:.2f} ({exploitability:.2f})",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    chosen = chosen_sizes(__doc__, "LARGE_GAMES.md")
    header = "game | n, actions | learner | rounds | ms a round | memory | regret v best-response | v Exp3 | "
    lines = [f"| {header}exploitability |", "|---" * 9 + "|"]
    for n in chosen or ROUNDS["kin"]:
        for case in (Case(game, n, learner) for game in FAMILIES for learner in ROUNDS):
            with get_context("spawn").Pool(1) as pool:
                lines.append(line(case, pool.apply(measure, (case,))))
            print(lines[-1], flush=True)
    if not chosen:
        path = Path(__file__).parent / "LARGE_GAMES.md"
        said = path.read_text().split("\n\n## ", 1)[1:] if path.exists() else []
        path.write_text("\n\n## ".join([TEXT + "\n".join(lines), *(text.rstrip() for text in said)]) + "\n")


if __name__ == "__main__":
    main()
