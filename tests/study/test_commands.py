"""The commands around a study, as a user runs them one after the other."""

import csv
import io
import subprocess
import sys

from coebl.study import EXAMPLE, parse_study
from coebl.study.estimate import disk_use, estimate, work_of


def coebl(*arguments, cwd):
    command = [sys.executable, "-m", "coebl.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


def test_new_show_run_results(tmp_path):
    assert coebl("study", "new", "mine.toml", cwd=tmp_path).returncode == 0
    again = coebl("study", "new", "mine.toml", cwd=tmp_path)
    assert (again.returncode, again.stderr) == (2, "coebl: mine.toml exists; name another file.\n")
    text = (tmp_path / "mine.toml").read_text()
    assert text == EXAMPLE
    (tmp_path / "mine.toml").write_text(text.replace("rounds = 500", "rounds = 30"))
    shown = coebl("study", "show", "mine.toml", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "24 matches in 24 cells" in shown.stdout
    assert "on this machine" in shown.stdout
    assert "MB on disk" in shown.stdout
    done = coebl("run", "mine.toml", "--out", "results", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    table = coebl("results", "results", "--metric", "pseudo_regret", cwd=tmp_path).stdout
    assert "95 % interval" in table
    assert "from 24 finished cells" in table
    rows = list(csv.DictReader(io.StringIO(coebl("results", "results", "--csv", cwd=tmp_path).stdout)))
    assert {row["metric"] for row in rows} >= {"regret", "pseudo_regret"}
    assert all(float(row["low"]) <= float(row["mean"]) <= float(row["high"]) for row in rows)
    assert coebl("results", "nowhere", cwd=tmp_path).returncode == 2


STUDY = """
name = "sizes"
rounds = 40
seeds = 2
games = ["rps", "diagonal:n=5"]
learners = ["exp3", "coebl"]
metrics = ["regret"]
record = 10
[match-ups]
self-play = true
"""


def test_the_longest_cells_run_first():
    works = work_of(parse_study(STUDY).cells)
    cells = sorted(works, key=works.__getitem__, reverse=True)
    assert (cells[0].game, cells[0].row) == ("diagonal:n=5", "coebl")
    assert (cells[-1].game, cells[-1].row) == ("rps", "exp3")


def test_estimates_are_positive_and_grow():
    study = parse_study(STUDY)
    longer = parse_study(STUDY.replace("rounds = 40", "rounds = 4000"))
    assert 0 < estimate(study) < estimate(longer)
    assert 0 < disk_use(study) < disk_use(longer)
