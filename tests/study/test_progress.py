"""Progress: the time left is estimated by work, since the longest cells are run first."""

import sys

import pytest

from coebl.study import parse_study, run
from coebl.study.progress import Progress, work_of
from study_texts import small_study

PAIRS = [[learner, learner] for learner in ("coebl", "ucb", "uniform")]
STUDY = small_study(rounds=100, seeds=10, games=["rps", "diagonal:7"], match_ups={"pairs": PAIRS})


def test_large_games_and_cold_solves_weigh_more():
    weights = {(cell.game, cell.players[0]): work_of(cell) for cell in parse_study(STUDY).cells}
    large = [weights["diagonal:n=7", learner] for learner in ("coebl", "ucb", "uniform")]
    assert large == sorted(large, reverse=True)
    assert large[0] > 20 * weights["rps", "coebl"]
    assert large[2] < 5 * weights["rps", "uniform"]


@pytest.fixture
def now(monkeypatch):
    """The clock, to be set by the test."""
    clock = [0.0]
    monkeypatch.setattr("coebl.study.progress.time.monotonic", lambda: clock[0])
    return clock


def test_the_time_left_is_in_proportion_to_the_work_left(now):
    progress = Progress(1, [2.5, 5.0, 2.5], [0.0] * 3, quiet=True)
    now[0] = 60.0
    progress.done(0, rounds=480, failed=False)
    assert str(progress) == "2 of 4 cells, 8 rounds a second"  # the clock starts with the first work that is seen
    now[0] = 80.0
    progress.done(1, rounds=240, failed=True)  # half of the work in 20 s
    assert str(progress) == "3 of 4 cells, 1 failed, 9 rounds a second, about 10 s left"
    progress.done(2, rounds=80, failed=False)
    assert str(progress) == "4 of 4 cells, 1 failed, 10 rounds a second"  # the summary of the run says how long


def test_work_inside_a_cell_counts(now):
    shares = [0.0, 0.0]
    progress = Progress(1, [7.5, 2.5], shares, quiet=True)
    assert str(progress) == "1 of 3 cells"  # no estimate yet
    now[0], shares[1] = 4.0, 0.2
    assert str(progress) == "1 of 3 cells"
    now[0], shares[0] = 34.0, 1 / 3
    assert str(progress) == "1 of 3 cells, about 1.4 min left"  # a quarter of the work took half a minute
    progress.done(0, rounds=500, failed=False)
    assert progress.work_done == 8.0  # a cell that is done counts in full


@pytest.mark.parametrize(
    ("seconds", "share", "said"), [(4, 0.5, False), (6, 0.5, True), (30, 0.01, False), (61, 0.01, True)]
)
def test_the_time_left_is_reported_once_it_is_reliable(now, seconds, share, said):
    """A run of 22 s began with "9 min 53 s left": its processes had just started."""
    shares = [0.0]
    progress = Progress(0, [100.0], shares, quiet=True)
    now[0], shares[0] = 5.0, 0.001
    assert "left" not in str(progress)
    now[0], shares[0] = 5.0 + seconds, 0.001 + share
    assert ("left" in str(progress)) == said


def test_workers_record_the_share_done_of_their_cells(tmp_path, monkeypatch):
    runner, arrays = sys.modules["coebl.study.runner"], []
    shared_array = runner._shared_array
    monkeypatch.setattr(runner, "_shared_array", lambda cells: arrays.append(shared_array(cells)) or arrays[0])
    monkeypatch.setattr(Progress, "done", lambda *_, **__: None)  # it would record them too
    run(parse_study(small_study(rounds=600, learners=["exp3", "uniform"])), tmp_path, workers=1, quiet=True)
    assert list(arrays[0]) == [1.0, 1.0]


def test_a_terminal_has_a_bar_that_follows_the_work(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    shares = [0.0, 0.0]
    with Progress(1, [2.0, 8.0], shares) as progress:
        shares[1] = 0.5
        progress.done(0, rounds=100, failed=True)
        assert progress.work_done == 6.0
    printed = capsys.readouterr().err
    assert printed.startswith("1 of 3 cells are there already\n")
    assert "2 of 3 cells, 1 failed" in printed
    assert "\u2501" in printed  # of the bar


def test_only_the_first_lines_are_printed_above_the_bar(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    with Progress(0, [5.0, 5.0], [0.0, 0.0]) as progress:
        for number in range(8):
            progress.say(f"a cell failed: [bold]{'x' * 80} {number}")
    printed = capsys.readouterr().err
    assert [f"a cell failed: [bold]{'x' * 80} {number}\n" in printed for number in range(8)] == [True] * 5 + [False] * 3
    with Progress(0, [5.0, 5.0], [0.0, 0.0], quiet=True) as progress:
        progress.say("not printed")
    assert capsys.readouterr().err == ""


def test_a_log_has_lines_while_no_cell_ends(now, capsys):
    shares = [0.0]
    progress = Progress(0, [10.0], shares)
    progress.show(30.0)
    assert capsys.readouterr().err == ""
    now[0], shares[0] = 31.0, 0.2
    progress.show(30.0)
    now[0], shares[0] = 40.0, 0.5
    progress.show(30.0)
    assert capsys.readouterr().err == "0 of 1 cells\n"
    now[0] = 62.0
    progress.show(30.0)
    assert capsys.readouterr().err == "0 of 1 cells, about 52 s left\n"
