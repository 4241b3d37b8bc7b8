"""A small study with all kinds of cells, and functions that run it in separate processes."""

import subprocess
import sys
import time

from coebl.study import Results

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


def command(folder, *options, file="study.toml"):
    return [sys.executable, "-m", "coebl", "run", file, "--out", "results", *options]


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def cells_in(folder):
    return len(list((folder / "results" / "cells").glob("*.parquet")))


def start(here, *options):
    return subprocess.Popen(
        command(here, *options),
        cwd=here,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
