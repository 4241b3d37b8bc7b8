"""Forged folders of results: reading them is quick, takes little memory, and ends in one line."""

import os
import time

import numpy as np
import pytest

from cells import TEXT, forged, rewrite
from coebl.study import cell_file

READING = [["results"], ["results", "--csv"], ["compare", "exp3", "uniform"], ["plot"], ["report"]]


def read_all(coebl, store, commands=READING):
    """The outcomes of commands that read a folder; none of them ends in a traceback, or takes long."""
    outcomes = []
    for command, *others in commands:
        began = time.monotonic()
        done = coebl(command, store.folder, *others)
        assert done.stderr.count("\n") == (done.returncode != 0), done.stderr
        assert time.monotonic() - began < 30
        outcomes.append(done)
    return outcomes


@pytest.mark.parametrize("metric", ["row", "column"])
def test_a_metric_named_like_a_column_is_damage(store, coebl, metric):
    forged(store, True)
    forged(store, True, metric=metric)
    for done in read_all(coebl, store):
        assert "its columns are not those of a cell" in done.stderr


def test_a_small_file_that_expands_to_more_than_memory_is_not_read(store, coebl, monkeypatch):
    """Equal numbers compress without limit."""
    forged(store, True)
    monkeypatch.setattr(cell_file, "machine_memory", lambda: 6_000)  # half of it is less than 60 rows of 7 columns
    for done in read_all(coebl, store):
        assert "it asks for more memory than there is" in done.stderr


@pytest.mark.parametrize("key", ["a" + ".b" * 50_000, 'a."b"' + '."b"' * 50_000, "['a'" + ".'b'" * 50_000 + "]\nc"])
def test_dots_in_the_study_of_a_folder_take_no_time(store, coebl, key):
    forged(store, True)
    (store.folder / "study.toml").write_text(f"{TEXT}{key} = 1\n")
    [done] = read_all(coebl, store, [["report"]])
    assert "it is nested too deep" in done.stderr


def test_files_without_end_are_not_read(store, coebl):
    """A file with a hole takes no room on a disk."""
    forged(store, True)
    (store.folder / "failed" / "0.json").touch()
    (store.folder / "runs.jsonl").touch()
    for path in (store.folder / "runs.jsonl", store.folder / "failed" / "0.json"):
        os.truncate(path, 1 << 36)
    assert {done.returncode for done in read_all(coebl, store, [["results"], ["report"]])} == {0}
    os.truncate(store.folder / "study.toml", 1 << 36)
    [done] = read_all(coebl, store, [["report"]])
    assert "larger than the limit of 64 MiB" in done.stderr


@pytest.mark.parametrize("name", ["../../elsewhere", "/elsewhere", "..", "a/../../b", ".hidden"])
def test_a_figure_of_a_metric_of_any_name_is_written_inside_the_folder(store, coebl, tmp_path, name):
    metric = name if name != "/elsewhere" else f"{tmp_path}/elsewhere"
    forged(store, True, metric=metric)
    before = {path for path in tmp_path.rglob("*") if store.folder not in path.parents}
    assert coebl("plot", store.folder, "--metric", metric).returncode == 0
    assert {path for path in tmp_path.rglob("*") if store.folder not in path.parents} == before
    [figure] = (store.folder / "figures").iterdir()
    assert figure.suffix == ".svg"


def test_tables_print_no_control_characters(store, coebl):
    forged(store, False, row="exp3\x1b]0;title\x07", game="=1+1\x1b[2J", metric="regret")
    for done in read_all(coebl, store, [["results", *option] for option in ([], ["--details"], ["--csv"], ["--json"])]):
        assert done.returncode == 0
        assert not np.isin([*done.stdout], ["\x1b", "\x07"]).any()
    assert "'=1+1\\x1b[2J" in coebl("results", store.folder, "--csv").stdout


@pytest.mark.parametrize("name", ["$\\frac{1}{$", "a" * 100_000, "a\x01b\x1b", "$x$ $"])
@pytest.mark.filterwarnings("error")
def test_any_name_can_be_drawn(store, coebl, name):
    forged(store, False, row=name)
    forged(store, False, game=name)
    [done] = read_all(coebl, store, [["plot"]])
    assert done.returncode == 0, done.stderr


def test_a_name_with_nul_is_rejected_in_one_line(store, coebl):
    forged(store, False, row="a\x00b")
    [done] = read_all(coebl, store, [["plot"]])
    assert done.returncode == 2
    assert "has the character NUL" in done.stderr


def test_a_formula_that_cannot_be_drawn_is_one_line(store, coebl):
    forged(store, True, metric="own")

    def change(about):
        about["metric_info"] = {"own": about["metric_info"]["regret"] | {"formula": "$\\frac{1}{$"}}

    rewrite(store.paths()[0], change)
    [done] = read_all(coebl, store, [["plot", "--metric", "own"]])
    assert done.returncode == 2
    assert "a formula or a title cannot be drawn (\\frac{1}{" in done.stderr
