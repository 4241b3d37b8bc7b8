"""The benchmark of players runs to its end."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_all_parts_in_small():
    command = [sys.executable, "benchmarks/player.py", "--quick", "--learners", "exp3"]
    published = (ROOT / "benchmarks" / "PLAYER.md").read_bytes()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for row in ("| `exp3` | ", "| `tsallis-inf` | 100 | ", "| `ots-rm` | 20 | ", "| `kin` | "):
        assert row in done.stdout
    assert (ROOT / "benchmarks" / "PLAYER.md").read_bytes() == published
