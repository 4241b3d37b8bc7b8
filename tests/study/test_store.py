"""The store: cells load as they were saved, and failures are recorded."""

import dataclasses

import numpy as np
import pytest

import coebl
from cells import CELL, OTHER, in_earlier_format, loaded, one_line, plain, ran, rewrite, saved
from coebl.core.errors import InputError
from coebl.naming import LearnerWords, MetricWords
from coebl.study.cell import Cell, CellRecord
from coebl.study.errors import DamagedFileError, MissingError
from coebl.study.results import Results
from coebl.study.store import Store


def test_a_round_trip_is_equal_to_the_last_bit(store):
    odd = np.array([-0.0, np.inf, -np.inf, 5e-324, 1 / 3, 0.1 + 0.2])
    payload = np.array([0x7FF8000000000000, 0x7FF8000000000123, 0xFFF8000000000001], np.uint64).view(np.float64)
    values = np.concatenate([odd, payload, np.zeros(3)]).reshape(4, 3)
    result = dataclasses.replace(ran(CELL), rounds=np.array([1, 2, 10, 20]), metrics={"regret": values})
    path = store.save(CELL, result)
    assert path == store.folder / "cells" / f"{CELL.digest()}.parquet"
    table = loaded(store, CELL.digest())
    expected = result.columns()
    assert table.num_rows == 12
    for name, array in expected.items():
        kind = {"seed": np.int64, "round": np.int32, "regret": np.float64}[name]
        assert table.column(name).to_numpy().tobytes() == array.astype(kind).tobytes()
        assert table.column(name).to_numpy().dtype == kind


def test_the_record_of_a_cell(store):
    saved(store)
    record = store.record(CELL.digest())
    assert record.description == CELL.description()
    assert set(record.versions) == {"coebl", "numpy", "numba", "python", "exp and log"}
    assert record.versions["coebl"] == coebl.__version__
    assert record.seconds == ran(CELL).seconds
    assert record.created.endswith("+00:00")
    stored = loaded(store, CELL.digest()).schema.metadata[b"coebl"]
    assert CellRecord.model_validate_json(stored) == record


NAMED = """
from dataclasses import dataclass
from coebl.learners.opponents import Uniform
from coebl.metrics import Metric

@dataclass
class Mine(Uniform):
    rate: float = 0.5
    title = "My learner"
    colour = 7
    sees = frozenset({"opponent"})

class Zero(Metric):
    name = "zero"
    title = "Zero"
    formula = "$0$"
    definition = "0"
    meaning = 3
    better = "higher"
    cumulative = True
    def __call__(self, block):
        return 0 * block.reward
"""


def test_a_cell_stores_the_names_of_its_learners_and_metrics(store, tmp_path):
    (tmp_path / "mine.py").write_text(NAMED)
    metrics = ("tv", f"{tmp_path}/mine.py:Zero")
    cell = dataclasses.replace(CELL, players=(f"{tmp_path}/mine.py:Mine", "best-response"), metrics=metrics)
    store.save(cell, cell.run())
    (tmp_path / "mine.py").unlink()  # it is not needed to read the cell
    record = store.record(store.digests()[0])
    assert record.learners == {
        "mine.py:Mine": LearnerWords("My learner", 7, "informed bandit", {"rate": "0.5"}),
        "best-response": LearnerWords(title="best response", colour=11, kind="oracle"),
    }
    assert list(record.metric_info) == ["tv", "zero"]
    assert record.metric_info["tv"].title == "TV distance"
    words = {"formula": "$0$", "meaning": "3", "definition": "0", "cumulative": True, "better": "higher"}
    assert record.metric_info["zero"] == MetricWords(title="Zero", signed=False, in_payoffs=False, **words)


def test_cells_of_older_versions_lack_some_keys(store):
    path, other = saved(store, CELL, OTHER)
    rewrite(path, lambda about: [about.pop(key) for key in ("learners", "metric_info", "payoff_range")] and None)
    rewrite(other, lambda about: [metric.pop("signed") for metric in about["metric_info"].values()] and None)
    record = store.record(path.stem)
    assert (record.learners, record.metric_info, record.payoff_range) == ({}, {}, None)
    assert store.record(other.stem).metric_info["regret"].signed is False
    assert store.finished() == {CELL.digest(), OTHER.digest()}


def test_cells_of_the_earlier_format_are_read_and_count_as_finished(store):
    _, old = saved(store, CELL, OTHER)
    before, *numbers = plain(store.runs(old.stem))
    in_earlier_format(old)
    store = Store.open(store.folder)
    assert store.finished() == {CELL.digest(), OTHER.digest()}
    assert store.notes == []
    record, *same = plain(store.runs(old.stem))
    assert record == before.model_copy(update={"format": 3, "checksum": record.checksum})
    assert same == numbers
    results = Results(store.folder)
    assert results.last()["seed"].to_list() == [0, 1, 2, 3, 4, 5]
    frame = results.curves()
    assert results.lazy().sort("seed", "round").collect().equals(frame)
    assert frame["players"].to_list() == [["exp3", "uniform"]] * 6 * 20


@pytest.mark.parametrize("key", ["description", "labels", "checksum", "things", "rows"])
def test_damage_in_a_cell_of_the_earlier_format_is_noticed(store, key):
    (path,) = saved(store)
    in_earlier_format(path)
    for value in ({}, [], 3, "x"):
        rewrite(path, lambda about, value=value: about.update({key: value}))
        with pytest.raises(DamagedFileError) as caught:
            loaded(store, path.stem)
        assert path.name in one_line(caught.value)


@pytest.mark.parametrize(
    ("cell", "changes", "message"),
    [
        ({}, {"seeds": np.array(OTHER.seeds)}, r"\[3, 4, 5\]"),
        ({}, {"metrics": {"seed": ran(CELL).metrics["regret"]}}, "'seed'"),
        ({"players": ("ucb", "uniform")}, {}, "its players are 'exp3 v uniform' instead of 'ucb v uniform'"),
    ],
)
def test_a_result_that_is_not_of_the_cell_is_rejected(store, cell, changes, message):
    with pytest.raises(InputError, match=message) as caught:
        store.save(dataclasses.replace(CELL, **cell), dataclasses.replace(ran(CELL), **changes))
    one_line(caught.value)
    assert store.paths() == []


def test_a_missing_cell_is_one_line(store):
    with pytest.raises(MissingError) as caught:
        loaded(store, "0" * 32)
    assert "0" * 32 in one_line(caught.value)


# Failures


def test_failures_are_kept_until_the_cell_succeeds(store):
    assert store.failures() == []
    store.record_failure(CELL, "Traceback: first")
    store.record_failure(CELL, "Traceback: second\nline")
    store.record_failure(OTHER, "Traceback: other")
    assert "Traceback: second\nline" in (store.folder / "failed" / f"{CELL.digest()}.txt").read_text()
    records = {record.digest: record for record in store.failures()}
    assert records.keys() == {CELL.digest(), OTHER.digest()}
    assert records[CELL.digest()].traceback == "Traceback: second\nline"
    assert records[CELL.digest()].cell == str(CELL)
    assert records[CELL.digest()].description == CELL.description()
    assert store.finished() == set()
    saved(store)
    assert [record.digest for record in store.failures()] == [OTHER.digest()]
    assert not list((store.folder / "failed").glob(f"{CELL.digest()}*"))


def test_a_damaged_failure_record_is_still_a_failure(store):
    store.record_failure(CELL, "oh").write_text("{")
    (record,) = store.failures()
    assert record.digest == CELL.digest()
    assert "damaged" in record.traceback


@pytest.mark.parametrize(
    ("changes", "digest"),
    [
        ({}, "dc63dfc5020319608c34bd1a350c0ec3"),
        ({"noise": "laplace:sigma=0.5", "record": 3, "metrics": ("tv",)}, "c69cb5cd8c3cfae9d43ffc1eca1bdeb3"),
        ({"record": "last", "until": "exploitability < 0.1"}, "20c681222b7ae7bc9801a1cbab5405d7"),
        ({"seeds": (0,), "keep": ("policies",)}, "4c6edd05a2b84e81a3c2b17c2deb2306"),
        ({"device": "cuda"}, "7b02c435ac66591f29f4086ca0dcea16"),
        ({"game": "jordan", "players": ("ucb", "exp3", "hedge")}, "eafb6a5b975f360dc536fd2946cd80c3"),
    ],
)
def test_the_names_of_cells_stay_as_in_earlier_versions(changes, digest):
    """With another name, every cell of an existing folder would be run again."""
    cell = Cell("rps", ("ucb", "exp3"), 9, (0, 1))
    assert dataclasses.replace(cell, **changes).digest() == digest
