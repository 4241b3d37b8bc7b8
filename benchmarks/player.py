"""Players in euros: the cost of other units and of unknown units, and the time to save a player.

    python benchmarks/player.py                    # all, written to benchmarks/PLAYER.md
    python benchmarks/player.py --learners ots-rm  # some learners, printed only
    python benchmarks/player.py --quick            # all parts in small, printed only: a check of this script

The game has 6 x 8 payoffs between 0 and 5000 euros, and noise of standard deviation 500. Each learner plays 800 rounds
as a `Player` against Tsallis-INF, three times: with rewards in units of the noise, measured from the middle of the
range; in euros, with range and noise known; in euros, with both unknown. The table shows its earnings per round,
without the noise, and the difference from euros with known units, with its standard error over seeds.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from timeit import repeat
from typing import Any, cast

import numpy as np

from coebl import Player, solve
from coebl.core.files import write_whole
from coebl.core.text import markdown_table
from coebl.learners import LEARNERS, Learner

PAYOFF = np.random.default_rng(24).uniform(0, 5000, (6, 8))
NOISE = 500.0
MIDDLE = 2500.0
WRITTEN = Path(__file__).with_name("PLAYER.md")


@dataclass(frozen=True)
class Sizes:
    """The size of a benchmark."""

    rounds: int = 800
    seeds: int = 10
    milestones: tuple[tuple[str, tuple[int, ...]], ...] = (
        ("tsallis-inf", (10, 10_000, 1_000_000)),
        ("ots-rm", (10, 10_000)),
    )
    players: int = 1000


QUICK = Sizes(20, 2, (("tsallis-inf", (10, 100)), ("ots-rm", (10, 20))), 20)


def playable() -> list[str]:
    """Return the learners that a player can use, except those that do not learn."""
    classes = {name: cast(type[Learner], LEARNERS[name].factory) for name in LEARNERS.names}
    seen = {name: kind for name, kind in classes.items() if set(kind.sees) <= {"opponent"}}
    return [kind.example or name for name, kind in seen.items() if kind.improves and "indices" in kind.plays]


@dataclass(frozen=True, eq=False)
class Setting:
    """The information about units that a player receives."""

    title: str
    arguments: dict[str, Any]
    unit: float = 1.0  # euros
    zero: float = 0.0  # euros


KNOWN = Setting("euros, range and noise known", {"payoff_range": (0.0, 5000.0), "noise": NOISE})
SETTINGS = (
    Setting("units of the noise", {"payoff_range": (-5.0, 5.0), "noise": 1.0}, unit=NOISE, zero=MIDDLE),
    KNOWN,
    Setting("euros, both unknown", {}),
)


def earned(spec: str, setting: Setting, rounds: int, seed: int) -> float:
    """Return the earnings of a learner per round, in euros, without the noise."""
    random = np.random.default_rng(seed)
    noise = NOISE * random.standard_normal(rounds)
    player = Player(spec, 6, 8, horizon=rounds, seed=seed, **setting.arguments)
    opponent = Player("tsallis-inf", 8, seed=seed + 1000, payoff_range=(-5000.0, 0.0), noise=NOISE)
    total = 0.0
    for t in range(rounds):
        i, j = player.act(), opponent.act()
        total += PAYOFF[i, j]
        reward = PAYOFF[i, j] + noise[t]
        player.observe(reward=(reward - setting.zero) / setting.unit, opponent=int(j))
        opponent.observe(reward=-reward)
    return total / rounds


def compare(spec: str, sizes: Sizes) -> list[str]:
    """Return a row of the table."""
    earnings = {
        setting: np.array([earned(spec, setting, sizes.rounds, seed) for seed in range(sizes.seeds)])
        for setting in SETTINGS
    }
    cells = [f"`{spec}`"]
    for setting, euros in earnings.items():
        difference = euros - earnings[KNOWN]
        error = difference.std(ddof=1) / np.sqrt(sizes.seeds)
        share = 100 * difference.mean() / earnings[KNOWN].mean()
        change = "" if setting is KNOWN else f" ({share:+.1f} % ± {100 * error / earnings[KNOWN].mean():.1f})"
        cells.append(f"{euros.mean():.0f}{change}")
    return cells


def save_times(spec: str, milestones: Sequence[int]) -> list[list[str]]:
    """Play, and return rows: rounds, milliseconds to save, to load, and the size of the file."""
    player = Player(spec, 6, 8, horizon=milestones[-1], seed=1)
    random, rows = np.random.default_rng(1), []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "player.npz")
        for milestone in milestones:
            while player.round <= milestone:
                opponent = int(random.integers(8))
                player.observe(reward=PAYOFF[player.act(), opponent] + NOISE * random.normal(), opponent=opponent)
            save, load = (
                min(repeat(call, number=1, repeat=7)) for call in (lambda: player.save(path), lambda: Player.load(path))
            )
            size = path.stat().st_size / 1000
            rows.append([f"`{spec}`", f"{milestone:,}", f"{1e3 * save:.1f}", f"{1e3 * load:.1f}", f"{size:.0f}"])
    return rows


def _play_rounds(players: Sequence[Player]) -> None:
    for t in range(20):
        for player in players:
            player.observe(reward=PAYOFF[player.act(), t % 8], opponent=t % 8)


def crowd(spec: str, number: int) -> list[str]:
    """Return a row: the memory of many players after 20 rounds, the CPU time to create them, and that of a round."""
    _play_rounds([Player(spec, 6, 8, horizon=1000)])  # loads compiled code, which all share
    before, started = _memory(), time.process_time()
    players = [Player(spec, 6, 8, horizon=1000, seed=seed) for seed in range(number)]
    made = time.process_time()
    _play_rounds(players)
    played = time.process_time()
    return [
        f"`{spec}`",
        f"{_memory() - before:.0f}",
        f"{made - started:.2f}",
        f"{1e6 * (played - made) / (20 * number):.0f}",
    ]


def crowds(specs: Sequence[str], number: int) -> list[list[str]]:
    """Return rows of `crowd`, each from a separate process, so that none reuses memory that another has freed."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        return list(pool.map(crowd, specs, [number] * len(specs)))


def _memory() -> float:
    """Return the memory of this process in MB (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def main() -> None:
    """Run the benchmark and write or print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learners", nargs="+", default=[], help=f"only these, and do not write {WRITTEN.name}")
    parser.add_argument("--quick", action="store_true", help=f"a small run that does not write {WRITTEN.name}")
    options = parser.parse_args()
    sizes = QUICK if options.quick else Sizes()
    warnings.simplefilter("ignore")
    rows = []
    for spec in options.learners or playable():
        rows.append(compare(spec, sizes))
        print(" | ".join(rows[-1]), flush=True)
    if options.learners and not options.quick:
        return
    value = solve(PAYOFF).value
    times = [row for spec, milestones in sizes.milestones for row in save_times(spec, milestones)]
    parts = [
        "# Players in euros",
        "Generated by `python benchmarks/player.py`. Do not edit it.",
        "What a learner earns per round, in euros, in a game of 6 x 8 payoffs between 0 and 5000 with value "
        f"{value:.0f} and noise of standard deviation 500, against Tsallis-INF: means over {sizes.rounds} rounds and "
        f"{sizes.seeds} seeds. In brackets: the difference from euros with known units, in percent, with its standard "
        "error.",
        markdown_table([["learner", *(setting.title for setting in SETTINGS)], *rows]),
        "The time to save and to load a player of this game, in milliseconds (best of seven), and the size of its "
        "file, in kB.",
        markdown_table([["learner", "rounds", "save", "load", "file"], *times]),
        f"{sizes.players:,} players of 6 x 8 actions in one process, units unknown: memory after 20 rounds, in MB, CPU "
        "seconds to create them, and CPU microseconds per round, for `act` and `observe` together.",
        markdown_table(
            [["learner", "memory", "created in", "round"], *crowds(("ots-rm", "kin", "tsallis-inf"), sizes.players)]
        ),
    ]
    text = "\n\n".join(part.rstrip() for part in parts) + "\n"
    if options.quick:
        print(text)
    else:
        write_whole(WRITTEN, text)


if __name__ == "__main__":
    main()
