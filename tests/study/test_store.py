"""The store: what is saved is what is loaded, and what failed is remembered."""

import dataclasses
import json
import sys

import duckdb
import numpy as np
import pytest

import coebl
from cells import CELL, OTHER, TEXT, one_line, ran, rewrite, saved
from coebl.core.errors import InputError
from coebl.study.cell import digest_of
from coebl.study.errors import MissingError
from coebl.study.store import Store


def test_a_round_trip_is_equal_to_the_last_bit(store):
    odd = np.array([-0.0, np.inf, -np.inf, 5e-324, 1 / 3, 0.1 + 0.2])
    payload = np.array([0x7FF8000000000000, 0x7FF8000000000123, 0xFFF8000000000001], np.uint64).view(np.float64)
    values = np.concatenate([odd, payload, np.zeros(3)]).reshape(4, 3)
    result = dataclasses.replace(ran(CELL), rounds=np.array([1, 2, 10, 20]), metrics={"regret": values})
    path = store.save(CELL, result)
    assert path == store.folder / "cells" / f"{CELL.digest()}.parquet"
    table = store.load(CELL.digest())
    expected = result.columns()
    assert table.num_rows == 12
    for name, array in expected.items():
        kind = {"seed": np.int64, "round": np.int32, "regret": np.float64}[name]
        assert table.column(name).to_numpy().tobytes() == array.astype(kind).tobytes()
        assert table.column(name).to_numpy().dtype == kind


def test_what_travels_with_a_table(store):
    saved(store)
    about = store.metadata(CELL.digest())
    assert about["description"] == CELL.description()
    assert set(about["versions"]) == {"coebl", "numpy", "numba", "python", "exp and log"}
    assert about["versions"]["coebl"] == coebl.__version__
    assert about["seconds"] == ran(CELL).seconds
    assert about["created"].endswith("+00:00")
    assert json.loads(store.load(CELL.digest()).schema.metadata[b"coebl"]) == about


def test_what_its_learners_and_metrics_are_called_travels_with_a_cell(store, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from coebl.learners.opponents import Uniform\n"
        "from coebl.metrics import Metric\n\n\n"
        "class Mine(Uniform):\n    title = 'My learner'\n    colour = 7\n    sees = frozenset({'opponent'})\n\n\n"
        "class Zero(Metric):\n    name = 'zero'\n    title = 'Zero'\n    formula = '$0$'\n    definition = '0'\n"
        "    meaning = 3\n    better = 'higher'\n    cumulative = True\n\n"
        "    def __call__(self, block):\n        return 0 * block.reward\n"
    )
    metrics = ("tv", f"{tmp_path}/mine.py:Zero")
    cell = dataclasses.replace(CELL, row=f"{tmp_path}/mine.py:Mine", column="best-response", metrics=metrics)
    store.save(cell, cell.run())
    (tmp_path / "mine.py").unlink()  # it is not needed to read the cell
    things = store.metadata(store.digests()[0])["things"]
    assert things["learners"] == {
        "mine.py:Mine": {"title": "My learner", "colour": 7, "kind": "informed bandit"},
        "best-response": {"title": "best response", "colour": None, "kind": "oracle"},
    }
    assert list(things["metrics"]) == ["tv", "zero"]
    assert things["metrics"]["tv"]["title"] == "TV distance"
    assert things["metrics"]["zero"] == {
        "title": "Zero",
        "formula": "$0$",
        "meaning": "3",
        "definition": "0",
        "cumulative": True,
        "signed": False,
        "better": "higher",
    }


def test_cells_of_older_versions_do_not_say_it(store):
    (path,) = saved(store)
    rewrite(path, lambda about: about.pop("things") and None)
    assert "things" not in store.metadata(path.stem)
    assert store.finished([CELL]) == {CELL.digest()}


def test_cells_of_older_versions_do_not_say_whether_a_metric_is_signed(store):
    (path,) = saved(store)
    rewrite(path, lambda about: [metric.pop("signed") for metric in about["things"]["metrics"].values()] and None)
    assert "signed" not in store.metadata(path.stem)["things"]["metrics"]["regret"]
    assert store.finished([CELL]) == {CELL.digest()}


def test_file_names_are_the_digests_of_cells(tmp_path):
    game = tmp_path / "game.csv"
    game.write_text("1,-1\n-2,3\n")
    for cell in (CELL, OTHER, dataclasses.replace(CELL, game=str(game), noise="bernoulli", record=3)):
        assert digest_of(cell.description()) == cell.digest()
        assert digest_of(json.loads(json.dumps(cell.description()))) == cell.digest()


def test_the_same_result_gives_the_same_table(store, tmp_path):
    saved(store)
    second = Store.create(tmp_path / "second", "demo", TEXT)
    second.save(CELL, CELL.run())
    first, again = store.load(CELL.digest()), second.load(CELL.digest())
    assert first.equals(again)
    assert store.metadata(CELL.digest())["checksum"] == second.metadata(CELL.digest())["checksum"]


def test_labels_are_canonical(store):
    cell = dataclasses.replace(CELL, game="diagonal:4", row="coebl:3.0", noise="laplace:sigma=1.0", column="exp3")
    saved(store, cell)
    row = store.load(cell.digest()).slice(0, 1).to_pylist()[0]
    expected = {"game": "diagonal:n=4", "row": "coebl:c=3", "column": "exp3", "noise": "laplace"}
    assert {key: row[key] for key in expected} == expected
    assert row["horizon"] == 20


def test_a_result_of_other_seeds_is_refused(store):
    with pytest.raises(InputError) as caught:
        store.save(CELL, ran(OTHER))
    assert "[3, 4, 5]" in one_line(caught.value)
    assert store.paths() == []


def test_a_metric_with_the_name_of_a_column_is_refused(store):
    result = dataclasses.replace(ran(CELL), metrics={"seed": ran(CELL).metrics["regret"]})
    with pytest.raises(InputError, match="'seed'"):
        store.save(CELL, result)


def test_a_missing_cell_is_one_line(store):
    with pytest.raises(MissingError) as caught:
        store.load("0" * 32)
    assert "0" * 32 in one_line(caught.value)


def test_duckdb_reads_the_same(store):
    saved(store, CELL, OTHER)
    query = 'select seed, round, regret, game, row, "column" from read_parquet(?) order by seed, round'
    rows = duckdb.execute(query, [str(store.folder / "cells" / "*.parquet")]).fetchall()
    ours = []
    for cell in (CELL, OTHER):
        columns = ran(cell).columns()
        ours += zip(columns["seed"].tolist(), columns["round"].tolist(), columns["regret"].tolist(), strict=True)
    assert [row[:3] for row in rows] == ours
    assert {row[3:] for row in rows} == {("matching-pennies", "exp3", "uniform")}


def test_without_pyarrow_the_extra_is_named(store, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'coebl\[study\]'"):
        store.save(CELL, ran(CELL))


# Failures


def test_failures_are_kept_until_the_cell_succeeds(store):
    assert store.failures() == []
    store.record_failure(CELL, "Traceback: first")
    store.record_failure(CELL, "Traceback: second\nline")
    store.record_failure(OTHER, "Traceback: other")
    assert "Traceback: second\nline" in (store.folder / "failed" / f"{CELL.digest()}.txt").read_text()
    records = {record["digest"]: record for record in store.failures()}
    assert records.keys() == {CELL.digest(), OTHER.digest()}
    assert records[CELL.digest()]["traceback"] == "Traceback: second\nline"
    assert records[CELL.digest()]["cell"] == str(CELL)
    assert records[CELL.digest()]["description"] == CELL.description()
    assert store.finished([CELL]) == set()
    saved(store)
    assert [record["digest"] for record in store.failures()] == [OTHER.digest()]
    assert not list((store.folder / "failed").glob(f"{CELL.digest()}*"))


def test_a_damaged_failure_record_is_still_a_failure(store):
    store.record_failure(CELL, "oh").write_text("{")
    (record,) = store.failures()
    assert record["digest"] == CELL.digest()
    assert "damaged" in record["traceback"]
