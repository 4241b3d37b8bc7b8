"""Progress: the time left goes by work, since the longest cells are run first."""

import multiprocessing

import pytest

from coebl.study import parse_study, work
from coebl.study.cell import Cell
from coebl.study.cell_file import CellFile
from coebl.study.estimate import work_of
from coebl.study.progress import Progress

STUDY = """
name = "mixed"
rounds = 100
seeds = 10
games = ["rps", "diagonal:7"]
[match-ups]
pairs = [["coebl", "coebl"], ["ucb", "ucb"], ["uniform", "uniform"]]
"""


def test_large_games_and_cold_solves_weigh_more():
    weights = {(cell.game, cell.row): weight for cell, weight in work_of(parse_study(STUDY).cells).items()}
    large = [weights["diagonal:n=7", learner] for learner in ("coebl", "ucb", "uniform")]
    assert large == sorted(large, reverse=True)
    assert large[0] > 20 * weights["rps", "coebl"]
    assert large[2] < 5 * weights["rps", "uniform"]


def test_the_time_left_is_in_proportion_to_the_work_left(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("coebl.study.progress.time.monotonic", lambda: now[0])
    progress = Progress(cells=3, found=1, work=10.0, quiet=True)
    now[0] = 60.0
    progress.done(rounds=500, work=7.5, failed=False)  # one of two cells, but three quarters of the work
    assert str(progress) == "2 of 3 cells, 8 rounds a second, 20 s left"
    now[0] = 80.0
    progress.done(rounds=300, work=2.5, failed=True)
    assert str(progress) == "3 of 3 cells, 1 failed, 10 rounds a second, took 1 min 20 s"


def test_work_inside_a_cell_counts(monkeypatch):
    class Counter:
        value = 2.5

    now = [0.0]
    monkeypatch.setattr("coebl.study.progress.time.monotonic", lambda: now[0])
    progress = Progress(cells=3, found=1, work=10.0, quiet=True, counter=Counter)
    assert str(Progress(cells=3, found=1, work=10.0, quiet=True)) == "1 of 3 cells"  # nothing to go by yet
    now[0] = 30.0
    assert str(progress) == "1 of 3 cells, 1 min 30 s left"  # a quarter of the work took half a minute
    progress.done(rounds=500, work=7.5, failed=False)
    assert progress.work_done == 7.5  # a cell that is done counts in full


def test_a_worker_adds_up_what_it_has_done():
    cell = Cell("rps", "exp3", "exp3", rounds=600, seeds=(0, 1), metrics=("regret",))
    counter = multiprocessing.Value("d", 0.0)
    work.count_into(counter)
    try:
        assert isinstance(work.play(cell, work=8.0), CellFile)
    finally:
        work.count_into(None)
    assert counter.value == pytest.approx(8.0)
