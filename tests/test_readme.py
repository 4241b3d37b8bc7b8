"""The README's numbers are those of the files that it links; its code blocks are doctests."""

import re
import subprocess
import sys
from pathlib import Path

from coebl.papers.ijcai2025 import PAPER
from coebl.tournament import read_suite
from coebl.tournament.suite import other_learners
from published import read_verdicts

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
WORDS = " ".join(README.split())


def test_the_result_is_that_of_the_published_verdicts():
    assert PAPER.result(read_verdicts()) in WORDS


def test_the_speed_of_the_solver_is_that_of_the_benchmarks():
    rows = re.findall(
        r"^\| \d+ x \d+ \| [\d.,]+ \| \w+ \| ([\d.]+)x", (ROOT / "benchmarks" / "RESULTS.md").read_text(), re.M
    )
    times = list(map(float, rows))
    assert len(times) == 16
    assert f"{min(times)} to {max(times)} times as fast" in WORDS


def test_the_match_is_what_the_command_prints(coebl, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    block = README.split("    $ coebl match ")[1].partition("\n\n    $ coebl list")[0].splitlines()
    words, shown = block[0].split(), [line.removeprefix("    ") for line in block[1:]]
    assert coebl("match", *words).stdout.splitlines() == shown


def test_the_field_of_the_tournament_is_that_of_the_suite():
    field = read_suite().learners
    assert f"The {len(field)} learners of the suite" in WORDS
    assert {"kin", "strain"} < set(map(str, field))
    assert {"exp3-as-released", "exp3-ix-as-released", "fictitious-play"} <= set(other_learners(field))


def test_the_script_of_a_study_runs_on_its_own(tmp_path):
    [script] = re.findall(r"```python\n(from coebl import Game\n.*?)```", README, re.S)
    (tmp_path / "script.py").write_text(script.replace("rounds=500, seeds=20", "rounds=5, seeds=2"))
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "shape: (16, 7)" in done.stdout  # two games, four ordered pairs, two seeds


def test_every_link_has_a_target():
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text())
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists() and "://" not in link] == []
