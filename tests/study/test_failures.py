"""Cells that fail, and mistakes in custom learners: the messages, their time, and which other cells continue."""

from dataclasses import replace

from coebl.study import Store, read_study
from coebl.study.cell import Cell
from coebl.study.workers import play
from study_texts import small_study

MOODY = """
from pathlib import Path
from coebl.learners.opponents import Uniform

class Moody(Uniform):
    def policy(self, t):
        if t > 20 and not Path("cheered-up").exists():
            raise RuntimeError("not today")
        return super().policy(t)
"""
RUN = ["run", "study.toml", "--out", "results", "--workers", 1]


def write_study(folder, old="", new="", learners=("exp3",), **keys):
    """Return the file of a study of the learner above, with part of its code replaced, and of others."""
    (folder / "moody.py").write_text(MOODY.replace(old, new) if old else MOODY)
    return small_study(folder, rounds=40, seeds=2, learners=["moody.py:Moody", *learners], **keys)


def test_a_failing_cell_does_not_stop_the_others_and_is_tried_again(tmp_path, coebl):
    write_study(tmp_path, learners=["exp3", "uniform"])
    done = coebl(*RUN, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "2 cells run, 0 found, 1 failed, in" in done.stdout
    assert "1 cell failed: moody.py, line 8: RuntimeError: not today" in done.stderr
    [failure] = Store.open(tmp_path / "results").failures()
    assert "RuntimeError: not today" in str(failure)
    (tmp_path / "cheered-up").touch()
    done = coebl(*RUN, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 cell run, 2 found" in done.stdout
    assert Store.open(tmp_path / "results").failures() == []


def run_failing_learner(coebl, folder, code, *options):
    """Run a study of two cells; the learner of the first one runs this code in round 21."""
    write_study(folder, 'raise RuntimeError("not today")', code)
    return coebl(*RUN, *options, cwd=folder)


def test_only_the_cell_that_kills_its_process_fails(tmp_path, coebl):
    done = run_failing_learner(coebl, tmp_path, "import os; os._exit(3)")
    assert done.returncode == 1, done.stderr
    assert "1 cell run, 0 found" in done.stdout
    assert "1 cell failed: its process was killed" in done.stderr


def test_a_learner_that_never_returns_to_python_does_not_block_the_cells_behind_it(tmp_path, coebl):
    done = run_failing_learner(coebl, tmp_path, "all(__import__('itertools').repeat(1))", "--cell-timeout", 5)
    assert done.returncode == 1, done.stderr
    assert "1 cell run, 0 found" in done.stdout
    assert "1 cell failed: moody.py, policy, line 8: it took longer than 5 s; raise --cell-timeout" in done.stderr
    text = next((tmp_path / "results" / "failed").glob("*.txt")).read_text()
    assert 'moody.py", line 8 in' in text  # where it was


def test_a_cell_that_is_late_is_interrupted():
    long = Cell("rps", ("exp3", "uniform"), 10**7, (1,), metrics=("regret",))
    assert play(long, 0.2).cause.startswith("exp3 v uniform: it took longer than 0.2 s;")
    assert "LateError" in play(long, 0.2).traceback
    short = replace(long, rounds=40)
    assert play(short, 60.0).digest == play(short).digest == short.digest()


def test_an_error_that_cannot_travel_is_reported_with_its_line(tmp_path, coebl):
    code = "error = RuntimeError('odd\\nor'); error.lock = __import__('threading').Lock(); raise error"
    done = run_failing_learner(coebl, tmp_path, code)
    assert "1 cell failed: moody.py, line 8: RuntimeError: odd or\n" in done.stderr
    assert done.stderr.count("odd") == 2  # at once, and with the number of cells at the end
    assert len(list((tmp_path / "results" / "failed").glob("*.txt"))) == 1


SLOW = """
import time
from coebl.learners.opponents import Uniform

class Slow(Uniform):
    def policy(self, t):
        while t > 20:
            time.sleep(0.001)
        return super().policy(t)

class Slower(Uniform):
    def policy(self, t):
        return self.wait(t)
    def wait(self, t):
        return super().policy(t) if t < 20 else [time.sleep(0.001) for _ in range(10**9)]
"""


def test_learners_that_are_late_are_distinguished(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    path = small_study(tmp_path, rounds=40, seeds=1, learners=["slow.py:Slow", "slow.py:Slower"])
    causes = [play(cell, 1.0).cause for cell in read_study(path).cells]
    end = "it took longer than 1 s; raise --cell-timeout, or fix the learner."
    places = ("policy at line 6", "wait at line 14")
    assert causes == [f"{tmp_path}/slow.py, {place}: {end}" for place in places]


def test_a_mistake_in_a_custom_learner_is_reported_before_the_work_and_leaves_earlier_results(tmp_path, coebl):
    write_study(tmp_path, "t > 20", "tt > 20", games=["rps", "diagonal:2"], match_ups="all-pairs")
    line = (
        "coebl: moody.py, line 7: NameError: name 'tt' is not defined (moody.py:Moody, in its first rounds); nothing "
        "was run. Fix the file; for details: coebl check moody.py:Moody\n"
    )
    assert coebl(*RUN, cwd=tmp_path) == (2, "", line)
    shown = coebl("study", "show", "study.toml")
    assert (shown.returncode, "on this machine" in shown.stdout, shown.stderr) == (2, False, line)
    assert not (tmp_path / "results").exists()
    (tmp_path / "moody.py").write_text(MOODY.replace("t > 20", "t > 99"))
    assert "cells run, 0 found" in coebl(*RUN).stdout
    cells = sorted((tmp_path / "results" / "cells").iterdir())
    (tmp_path / "moody.py").write_text(MOODY.replace("t > 20", "tt > 20"))  # now the folder exists
    assert coebl(*RUN) == (2, "", line)
    assert sorted((tmp_path / "results" / "cells").iterdir()) == cells
    (tmp_path / "moody.py").write_text(MOODY.replace("t > 20", "t > 99"))
    assert f"0 cells run, {len(cells)} found" in coebl(*RUN).stdout


def test_a_learner_that_fails_in_some_games_only_is_run(tmp_path, coebl):
    write_study(
        tmp_path, "t > 20", "self.seat.actions == 3", learners=[], seeds_per_cell=1, games=["rps", "diagonal:2"]
    )
    done = coebl(*RUN, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    lines = done.stderr.splitlines()
    cause = "moody.py, line 8: RuntimeError: not today"
    assert [line for line in lines if "failed: " in line] == [f"a cell failed: {cause}", f"2 cells failed: {cause}"]
