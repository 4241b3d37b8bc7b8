"""The benchmark of players: it runs to the end, and its numbers are within the bounds that players promise."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.player import KNOWN, SETTINGS, earned, playable

ROOT = Path(__file__).parents[2]
PUBLISHED = (ROOT / "benchmarks" / "PLAYER.md").read_text()
MOST_LOST = 0.1  # of what a learner earns with known units, if it has to learn them
ROUNDS, SEEDS = 400, 3


def test_all_parts_in_small():
    command = [sys.executable, "benchmarks/player.py", "--quick", "--learners", "exp3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for row in ("| `exp3` | ", "| `tsallis-inf` | 100 | ", "| `ots-rm` | 20 | ", "| `kin` | "):
        assert row in done.stdout
    assert (ROOT / "benchmarks" / "PLAYER.md").read_text() == PUBLISHED


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("spec", playable())
def test_euros_earn_what_unit_rewards_do_and_unknown_units_hardly_less(spec):
    """The published benchmark in small, with fixed seeds."""
    in_units, known, unknown = (
        np.array([earned(spec, setting, ROUNDS, seed) for seed in range(SEEDS)]) for setting in SETTINGS
    )
    assert SETTINGS[1] is KNOWN
    np.testing.assert_allclose(in_units, known, rtol=1e-9)  # the same moves, so within any number of standard errors
    assert unknown.mean() > (1 - MOST_LOST) * known.mean()


def test_the_published_numbers_are_within_the_bounds():
    rows = re.findall(r"^\| `(.+?)` \| \d+ \((\S+) % ± (\S+)\) \| \d+ \| \d+ \((\S+) % ± \S+\) \|$", PUBLISHED, re.M)
    assert len(rows) >= 19
    assert {spec for spec, *_ in rows} <= set(playable())  # the next `make bench-player` adds new ones
    for spec, in_units, error, unknown in rows:
        assert abs(float(in_units)) <= 2 * float(error), spec
        assert float(unknown) > -100 * MOST_LOST, spec
    times = re.findall(r"^\| `\S+` \| ([\d,]+) \| ([\d.]+) \| ([\d.]+) \| \d+ \|$", PUBLISHED, re.M)
    assert max(int(rounds.replace(",", "")) for rounds, *_ in times) == 10**6
    assert max(float(ms) for _, *both in times for ms in both) < 100
