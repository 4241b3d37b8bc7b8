"""A small study with all kinds of cells, and functions that run it in separate processes."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from coebl.study import Results, parse_study, run

STUDY = """
name = "small"
rounds = 150
seeds = 6
seeds_per_cell = 2
games = ["diagonal:n=[2,3]", "biased-rps"]
learners = ["coebl:c=2", "ucb", "exp3-ix"]
record = 50
metrics = ["regret", "pseudo_regret", "tv"]

[match-ups]
self-play = true
one-against-all = "coebl:c=2"
"""
CELLS = 3 * 5 * 3


def rows(folder):
    """Everything that was measured, in a fixed order."""
    return Results(folder).curves().rows()


def go(study, folder):
    """Run a study, or the text of one, in this process."""
    return run(
        parse_study(study) if isinstance(study, str) else study, folder, executor=ThreadPoolExecutor(1), quiet=True
    )


def command(*options):
    return [sys.executable, "-m", "coebl", "run", "study.toml", "--out", "results", *options]


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.02)


def cells_in(folder):
    return len(list((folder / "results" / "cells").glob("*.parquet")))


def start(here, *options):
    pipe = subprocess.PIPE
    return subprocess.Popen(command(*options), cwd=here, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


class MatchRuns(NamedTuple):
    """One metric of one match as arrays."""

    rounds: np.ndarray  # (recorded,)
    seeds: np.ndarray  # (runs,)
    values: np.ndarray  # (recorded, runs)


def runs_of(results, game, row, column, metric, noise=None):
    """One metric of one match of a study."""
    frame = results.curves([metric], game=game, players=(row, column), noise=noise)
    assert frame["noise"].n_unique() == 1, "name the noise"
    table = frame.pivot("seed", index="round", values=metric)
    seeds = np.array([int(name) for name in table.columns[1:]])
    return MatchRuns(table["round"].to_numpy(), seeds, table.drop("round").to_numpy())
