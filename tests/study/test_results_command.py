"""The command results: the means that it prints, their order and form, and the lines below them."""

import csv
import io
import json
import os
import shutil

import pytest

from cells import notes_on
from coebl.study import Results, Store
from coebl.study.workers import within
from study_runs import go, runs_of
from study_texts import small_study

STUDY = small_study(
    games=["bigger-number:n=[10,2]"],
    learners=["exp3", "best-response"],
    match_ups={"one-against-all": "best-response", "self-play": ["exp3"]},
    rounds=20,
    record=10,
    metrics=["regret", "pseudo_regret"],
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    go(STUDY, folder)
    return folder


@pytest.fixture
def results(folder, coebl):
    def words(*arguments):
        done = coebl("results", folder, *arguments)
        assert done.returncode == (2 if done.stderr else 0), done.stderr
        return done.stderr or done.stdout

    return words


def test_games_of_a_sweep_are_in_the_order_of_their_numbers(results):
    lines = results("--metric", "regret").splitlines()
    assert [line.split()[:3] for line in lines[2:6]] == [
        ["bigger-number:n=2", "exp3", "best-response"],
        ["bigger-number:n=2", "exp3", "exp3"],
        ["bigger-number:n=10", "exp3", "best-response"],
        ["bigger-number:n=10", "exp3", "exp3"],
    ]


def test_below_the_table_are_learners_that_see_more_than_a_bandit_and_the_number_of_cells(results):
    lines = results().splitlines()
    assert lines[-2] == "best-response: oracle, sees the true payoffs or the opponent's policy"
    assert lines[-1] == "from 4 of 4 cells"
    assert "oracle" not in results("--column", "exp3")


def test_filters_accept_any_equivalent_spec(results):
    chosen = json.loads(results("--json", "--game", "bigger-number:2", "--row", "exp3", "--column", "best-response"))
    assert {(row["game"], row["column"]) for row in chosen} == {("bigger-number:n=2", "best-response")}
    assert [row["metric"] for row in chosen] == ["regret", "pseudo_regret"]
    assert results("--game", "bigger-number:2").splitlines()[-1] == "from 2 of 4 cells"
    assert "no finished cell has the game 'rps'" in results("--game", "rps")


def test_any_recorded_round(results, folder):
    rows = json.loads(results("--json", "--round", "10"))
    assert {row["round"] for row in rows} == {10}
    expected = runs_of(Results(folder), "bigger-number:n=10", "exp3", "exp3", "regret").values[0].mean()
    [mean] = [
        r["mean"] for r in rows if (r["game"], r["column"], r["metric"]) == ("bigger-number:n=10", "exp3", "regret")
    ]
    assert mean == pytest.approx(expected, rel=1e-12)
    assert "round 11 was not recorded in any of these cells. The nearest is 10." in results("--round", "11")


def test_csv_and_json_hold_the_same_numbers(results):
    table, rows = list(csv.DictReader(io.StringIO(results("--csv")))), json.loads(results("--json"))
    assert [float(row["mean"]) for row in table] == [row["mean"] for row in rows]
    assert all(float(row["low"]) <= float(row["mean"]) <= float(row["high"]) for row in table)
    assert "--csv and --json are both given" in results("--csv", "--json")


def test_a_string_that_a_spreadsheet_would_run_is_quoted(results, monkeypatch):
    [row, *_] = json.loads(results("--json"))
    odd = [row | {"game": game, "mean": -1.5} for game in ('=HYPERLINK("x")', "+1", "-1", "@x", "\tx", "a=1")]
    monkeypatch.setattr(Results, "summary", lambda *_: odd)
    table = list(csv.DictReader(io.StringIO(results("--csv"))))
    assert [row["game"] for row in table] == ['\'=HYPERLINK("x")', "'+1", "'-1", "'@x", r"\x09x", "a=1"]
    assert {row["mean"] for row in table} == {"-1.5"}  # numbers stay numbers
    assert r"\tx" in results()  # and no control character reaches the terminal


def test_notices_are_printed_by_results_and_run(folder, coebl, monkeypatch):
    assert coebl("results", folder).stderr == ""
    monkeypatch.setattr(Results, "notices", lambda _: ["made on two kinds of CPUs"])
    assert coebl("results", folder).stderr == "made on two kinds of CPUs\n"
    assert coebl("run", folder / "study.toml", "--out", folder).stderr.endswith("made on two kinds of CPUs\n")


def test_a_pipe_in_the_place_of_the_cache_is_left_alone(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    notes = notes_on(Store.open(copy))
    notes.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    os.mkfifo(notes)
    with within(20):  # it would wait for a reader of the pipe
        assert len(Results(copy).summary()) == 8
        store = Store.open(copy)
        store.finished()
    assert notes.is_file()


def test_cells_that_are_missing_are_counted(results, folder, tmp_path):
    store = Store.open(folder)
    moved = store.paths()[0]
    moved.rename(tmp_path / moved.name)
    try:
        assert results().splitlines()[-1] == "from 3 of 4 cells"
    finally:
        (tmp_path / moved.name).rename(moved)


def test_a_round_is_named_as_in_python_too(results):
    assert results("--rounds", "10") == results("--round", "10")
