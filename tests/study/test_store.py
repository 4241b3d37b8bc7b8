"""The store keeps whole files or none, notices damage, and never runs what it reads."""

import ast
import dataclasses
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import pyarrow
import pyarrow.parquet as parquet
import pytest

import coebl
from coebl.core.errors import InputError
from coebl.engine import Result
from coebl.study import about as about_module
from coebl.study import store as store_module
from coebl.study.cell import FORMAT, Cell, digest_of
from coebl.study.errors import MissingError, StoreError, UnsoundError
from coebl.study.store import Store

TEXT = 'name = "demo"\nseeds = 3\n'
CELL = Cell("matching-pennies", "exp3", "uniform", 20, (0, 1, 2), metrics=("regret",))
OTHER = dataclasses.replace(CELL, seeds=(3, 4, 5))


@cache
def ran(cell: Cell) -> Result:
    return cell.run()


@pytest.fixture
def store(tmp_path):
    return Store.create(tmp_path / "study", "demo", TEXT)


def saved(store: Store, *cells: Cell) -> list[Path]:
    return [store.save(cell, ran(cell)) for cell in cells or (CELL,)]


def rewrite(path: Path, change) -> None:
    """Change the metadata of a stored cell, and leave its numbers."""
    table = parquet.read_table(path)
    about = json.loads(table.schema.metadata[b"coebl"])
    text = change(about)
    table = table.replace_schema_metadata({b"coebl": text if isinstance(text, bytes) else json.dumps(about)})
    parquet.write_table(table, path)


def one_line(error: BaseException) -> str:
    text = str(error)
    assert text
    assert "\n" not in text
    assert len(text) < 600
    return text


def run_python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def partials(store: Store) -> list[Path]:
    return [path for path in store.folder.rglob("*") if path.name.endswith(".partial")]


# Saving and loading


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
        "better": "higher",
    }


def test_cells_of_older_versions_do_not_say_it(store):
    (path,) = saved(store)
    rewrite(path, lambda about: about.pop("things") and None)
    assert "things" not in store.metadata(path.stem)
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


# Damage


def check_set_aside(store: Store, path: Path) -> str:
    """The file is named, moved with its content, and its cell is unfinished; the other cell still counts."""
    content = path.read_bytes()
    aside = store.folder / "set-aside"
    before = set(aside.iterdir()) if aside.exists() else set()
    assert store.finished([CELL, OTHER]) == {OTHER.digest()}
    assert len(store.notes) == 1
    assert path.name in store.notes[0]
    assert "\n" not in store.notes[0]
    assert not path.exists()
    (moved,) = set(aside.iterdir()) - before
    assert moved.read_bytes() == content
    assert f"set-aside/{moved.name}" in store.notes[0]
    assert store.finished([CELL, OTHER]) == {OTHER.digest()}
    assert store.notes == []
    return moved.name


def test_sound_files_are_finished(store):
    saved(store, CELL, OTHER)
    assert store.finished([CELL, OTHER]) == {CELL.digest(), OTHER.digest()}
    assert store.notes == []
    assert store.finished([OTHER]) == {OTHER.digest()}
    assert store.finished([dataclasses.replace(CELL, rounds=21)]) == set()


def test_a_file_that_was_found_sound_is_not_decoded_again_unless_a_byte_changes(store, monkeypatch):
    path, _ = saved(store, CELL, OTHER)
    decoded = []
    read = store_module.parse_cell
    monkeypatch.setattr(store_module, "parse_cell", lambda path, data: decoded.append(path) or read(path, data))
    both = {CELL.digest(), OTHER.digest()}
    assert Store.open(store.folder).finished([CELL, OTHER]) == both
    assert len(decoded) == 2  # of another process, for all that is known
    assert Store.open(store.folder).finished([CELL, OTHER]) == both
    assert len(decoded) == 2
    data = bytearray(path.read_bytes())
    data[120] ^= 1
    stamp = path.stat().st_mtime_ns
    path.write_bytes(data)
    os.utime(path, ns=(stamp, stamp))
    check_set_aside(Store.open(store.folder), path)


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"coebl": "9.8.7", "files": {}}', f'{{"coebl": "{coebl.__version__}", "files": [3]}}']
)
def test_a_damaged_list_of_checked_files_does_not_matter(store, content):
    path, _ = saved(store, CELL, OTHER)
    store.finished([CELL])
    (store.folder / "checked.json").write_text(content)
    path.write_bytes(path.read_bytes()[:-1])
    check_set_aside(Store.open(store.folder), path)


def test_truncated_files_are_set_aside(store):
    path, _ = saved(store, CELL, OTHER)
    whole = path.read_bytes()
    lengths = {*np.linspace(1, len(whole) - 1, 20).astype(int).tolist(), len(whole) - 8, len(whole) - 4}
    for length in sorted(lengths):
        path.write_bytes(whole[:length])
        with pytest.raises(UnsoundError) as caught:
            store.load(CELL.digest())
        assert path.name in one_line(caught.value)
        check_set_aside(store, path)
        shutil.rmtree(store.folder / "set-aside")
    path.write_bytes(whole)
    assert store.finished([CELL]) == {CELL.digest()}


def test_flipped_bytes_never_change_what_is_read(store):
    path, _ = saved(store, CELL, OTHER)
    whole = path.read_bytes()
    table, description = store.load(CELL.digest()), CELL.description()
    noticed = 0
    for place in range(4, len(whole), 23):
        damaged = bytearray(whole)
        damaged[place] ^= 0x41
        path.write_bytes(damaged)
        try:
            same = store.load(CELL.digest())
        except StoreError as error:
            one_line(error)
            noticed += 1
        else:  # in a place that carries nothing of ours
            assert same.equals(table)
            assert store.metadata(CELL.digest())["description"] == description
    assert noticed > 100


def test_a_flipped_number_is_set_aside(store):
    path, _ = saved(store, CELL, OTHER)
    table = parquet.read_table(path)
    values = table.column("regret").to_numpy().copy()
    values[7] = np.nextafter(values[7], np.inf)
    index = table.column_names.index("regret")
    parquet.write_table(table.set_column(index, "regret", pyarrow.array(values)), path)
    assert store.metadata(CELL.digest())["description"] == CELL.description()  # the end of the file is sound
    check_set_aside(store, path)


@pytest.mark.parametrize("column", ["seed", "round", "game", "horizon"])
def test_every_column_is_checked(store, column):
    (path,) = saved(store)
    table = parquet.read_table(path)
    index = table.column_names.index(column)
    if column == "game":
        changed = pyarrow.array(["diagonal"] * table.num_rows).dictionary_encode()
    else:
        changed = pyarrow.array(table.column(column).to_numpy() + 1)
    parquet.write_table(table.set_column(index, column, changed), path)
    with pytest.raises(UnsoundError, match="checksum"):
        store.load(CELL.digest())


def test_swapped_rows_are_noticed(store):
    (path,) = saved(store)
    table = parquet.read_table(path)
    parquet.write_table(table.take(list(range(table.num_rows))[::-1]), path)
    with pytest.raises(UnsoundError, match="checksum"):
        store.load(CELL.digest())


class Bomb:
    def __reduce__(self):
        return os.mkdir, (os.environ["COEBL_TEST_BOMB"],)


@pytest.mark.parametrize("kind", ["foreign", "pickle", "text", "empty", "renamed", "missing column", "fewer rows"])
def test_foreign_files_are_set_aside(store, kind, tmp_path, monkeypatch):
    path, other = saved(store, CELL, OTHER)
    table = parquet.read_table(path)
    if kind == "foreign":
        parquet.write_table(pyarrow.table({"a": [1, 2]}), path)
    elif kind == "pickle":
        monkeypatch.setenv("COEBL_TEST_BOMB", str(tmp_path / "bomb"))
        path.write_bytes(pickle.dumps(Bomb()))
    elif kind == "text":
        path.write_text("PAR1 is how it begins, but then it is a text PAR1")
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "renamed":
        shutil.copy(other, path)
    elif kind == "missing column":
        parquet.write_table(table.drop_columns(["regret"]), path)
    else:
        parquet.write_table(table.slice(0, 20), path)
    check_set_aside(store, path)
    assert not (tmp_path / "bomb").exists()


def test_a_folder_named_like_a_cell_is_set_aside(store):
    saved(store, OTHER)
    (store.path(CELL.digest()) / "inside").mkdir(parents=True)
    assert store.finished([CELL, OTHER]) == {OTHER.digest()}
    assert (store.folder / "set-aside" / f"{CELL.digest()}.parquet" / "inside").is_dir()


def test_names_that_are_taken_get_a_suffix(store):
    saved(store, OTHER)
    names = []
    for text in ("first", "second", "third"):
        store.path(CELL.digest()).write_text(text)
        names.append(check_set_aside(store, store.path(CELL.digest())))
    aside = store.folder / "set-aside"
    assert sorted(path.read_text() for path in aside.iterdir()) == ["first", "second", "third"]
    assert (aside / f"{CELL.digest()}.parquet").read_text() == "first"


@pytest.mark.parametrize("number", [0, FORMAT - 1, FORMAT + 1, 10**30])
def test_another_format_is_refused_and_stays(store, number):
    (path,) = saved(store)

    def change(about):
        about["format"] = about["description"]["format"] = number
        about["versions"]["coebl"] = "9.8.7"

    rewrite(path, change)
    before = path.read_bytes()
    for read in (lambda: store.finished([CELL]), lambda: store.load(CELL.digest())):
        with pytest.raises(StoreError) as caught:
            read()
        assert not isinstance(caught.value, UnsoundError)
        text = one_line(caught.value)
        assert "another folder" in text
        assert "9.8.7" in text
    assert path.read_bytes() == before


def _description(**changes):
    def change(about):
        about["description"] = {**about["description"], **changes}

    return change


def _about(**changes):
    return lambda about: about.update(changes)


def _things(**learner):
    return _about(things={"learners": {"exp3": learner}, "metrics": {}})


HOSTILE = {
    "no json": lambda about: b"{",
    "not utf-8": lambda about: b"\xff\xfe\xfa",
    "a list": lambda about: b"[1, 2]",
    "deep": lambda about: b"[" * 200_000,
    "long number": lambda about: b'{"format": ' + b"9" * 100_000 + b"}",
    "huge": lambda about: b'"' + b"x" * 5_000_000 + b'"',
    "huge value": _about(labels="x" * 5_000_000),
    "format text": _about(format="1"),
    "format true": _about(format=True),
    "one format flipped": _about(format=7),
    "no checksum": lambda about: about.pop("checksum") and None,
    "checksum number": _about(checksum=3),
    "rows text": _about(rows="many"),
    "rows negative": _about(rows=-60),
    "rows none": _about(rows=0),
    "metrics number": _about(metrics=4),
    "metrics of numbers": _about(metrics=[1]),
    "metrics other": _about(metrics=["kl"]),
    "labels list": _about(labels=["a"]),
    "labels of lists": _about(labels={key: [] for key in ("game", "row", "column", "noise")}),
    "seconds text": _about(seconds={"a": "b"}),
    "description list": _about(description=[]),
    "seeds text": _description(seeds="012"),
    "seeds empty": _description(seeds=[]),
    "rounds null": _description(rounds=None),
    "other row": _description(row="ucb"),
    "lone surrogate": _description(row="\ud800"),
    "versions number": _about(versions=3),
    "versions of numbers": _about(versions={"coebl": 1}),
    "infinite seconds": _about(seconds={"row": float("inf")}),
    "seconds beyond floats": _about(seconds={"row": 10**400}),
    "things null inside": _about(things={"learners": None, "metrics": {}}),
    "things list": _about(things=[]),
    "things half": _about(things={"learners": {}}),
    "things of lists": _about(things={"learners": {"exp3": []}, "metrics": {}}),
    "things without a title": _about(things={"learners": {"exp3": {"colour": 1, "kind": "bandit"}}, "metrics": {}}),
    "things of a strange kind": _things(title="x", colour=None, kind=["bandit"]),
    "things of an unknown kind": _things(title="x", colour=None, kind="wizard"),
    "things with a huge colour": _things(title="x", colour=10**400, kind="bandit"),
    "things with a true colour": _things(title="x", colour=True, kind="bandit"),
    "things with a number as title": _things(title=1, colour=None, kind="bandit"),
    "things with a metric's text": _about(things={"learners": {}, "metrics": {"regret": "lower"}}),
    "other labels": _about(labels={"game": "matching-pennies", "row": "ucb", "column": "uniform", "noise": "none"}),
}

# Descriptions that a file may have under the name that they ask for.
CRAFTED = {
    "record list": {"record": [1]},
    "noise number": {"noise": 3},
    "files list": {"files": ["a"]},
    "rounds beyond 64 bits": {"rounds": 2**64},
    "seeds twice": {"seeds": [0, 0, 1]},
    "seeds that do not divide the rows": {"seeds": [0, 1, 2, 3, 4, 5, 6]},
    "other seeds": {"seeds": [0, 1, 3]},
    "fewer seeds": {"seeds": [0, 1]},
    "another horizon": {"rounds": 21},
    "another row": {"row": "ucb"},
    "another class of a file": {"row": "mine.py:Other"},
}


@pytest.mark.parametrize("kind", CRAFTED)
def test_a_crafted_description_is_one_line_and_set_aside(store, kind):
    path, _ = saved(store, CELL, OTHER)
    rewrite(path, _description(**CRAFTED[kind]))
    crafted = store.path(digest_of({**CELL.description(), **CRAFTED[kind]}))
    path.rename(crafted)
    with pytest.raises(UnsoundError) as caught:
        store.load(crafted.stem)
    assert crafted.name in one_line(caught.value)
    assert store.finished([CELL, OTHER]) == {OTHER.digest()}
    assert not crafted.exists()


def test_a_pipe_among_the_files_does_not_hang(store):
    saved(store, OTHER)
    for name in (f"cells/{CELL.digest()}.parquet", "runs.jsonl", "failed/x.json"):
        os.mkfifo(store.folder / name)
    assert store.finished([CELL, OTHER]) == {OTHER.digest()}
    assert "not a file" in store.notes[0]
    store.record_run(1, 1.0)
    assert store.runs() == []
    assert [record["digest"] for record in store.failures()] == ["x"]


@pytest.mark.parametrize(
    "line", ['{"cells": 1, "seconds": 1e999}', '{"cells": 1, "seconds": 1' + "0" * 400 + "}", "[1]", "{"]
)
def test_damaged_lines_on_runs_are_left_out(store, line):
    (store.folder / "runs.jsonl").write_text(f"{line}\n")
    store.record_run(3, 1.25)
    [record] = store.runs()
    assert (record["cells"], record["seconds"]) == (3, 1.2)


def test_a_result_of_another_match_is_refused(store):
    with pytest.raises(InputError, match="its row is 'exp3' instead of 'ucb'"):
        store.save(dataclasses.replace(CELL, row="ucb"), ran(CELL))


def test_only_partial_files_of_the_store_are_removed(store):
    theirs = [store.folder / "thesis.partial", store.folder / "mine" / ".x.parquet.1-0123456789ab.partial"]
    ours = [
        store.folder / "cells" / ".x.parquet.1-0123456789ab.partial",
        store.folder / ".study.toml.2-0123456789ab.partial",
    ]
    (store.folder / "mine").mkdir()
    for path in (*theirs, *ours):
        path.write_text("x")
        os.utime(path, (1e9, 1e9))
    store.finished([])
    assert [path.exists() for path in (*theirs, *ours)] == [True, True, False, False]


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_metadata_is_one_line(store, kind):
    path, _ = saved(store, CELL, OTHER)
    rewrite(path, HOSTILE[kind])
    with pytest.raises(UnsoundError) as caught:
        store.metadata(CELL.digest())
    assert path.name in one_line(caught.value)
    check_set_aside(store, path)


def test_metadata_above_the_limit_is_not_parsed(store, monkeypatch):
    (path,) = saved(store)
    monkeypatch.setattr(about_module, "_MOST_BYTES", 100)
    with pytest.raises(UnsoundError, match="bytes"):
        store.metadata(CELL.digest())
    assert path.exists()


# Interruption, rivals, and lack of room


KILLED_IN_THE_MIDDLE = """
import os, signal, sys
from coebl.study.cell import Cell
from coebl.study.store import Store
store = Store.open(sys.argv[1])
cell = Cell("matching-pennies", "exp3", "uniform", 20, (0, 1, 2), metrics=("regret",))
result = cell.run()
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
store.save(cell, result)
"""


def test_killed_before_the_rename_leaves_no_cell(store):
    assert run_python(KILLED_IN_THE_MIDDLE, store.folder).returncode == -9
    (left,) = partials(store)
    assert store.paths() == []
    assert store.finished([CELL]) == set()
    assert store.notes == []
    assert left.exists()  # it might be another process's, still at work
    os.utime(left, (1e9, 1e9))
    store.finished([CELL])
    assert not left.exists()


KILLED_AT_RANDOM = """
import os, random, signal, sys, time
from dataclasses import replace
import numpy
from coebl.study.cell import Cell
from coebl.study.store import Store
store, kills = Store.open(sys.argv[1]), int(sys.argv[2])
cell = Cell("matching-pennies", "exp3", "uniform", 3000, tuple(range(20)), record="all", metrics=("regret",))
result = cell.run()
store.save(cell, result)  # the first is slow: it imports
sync, os.fsync = os.fsync, lambda descriptor: (time.sleep(0.005), sync(descriptor))  # a third of the kills hit here
started = time.monotonic()
store.save(cell, result)
a_save = time.monotonic() - started
random.seed(1)
while kills > 0 or not list(store.folder.glob("cells/.*.partial")):  # until some were killed while they wrote
    kills -= 1
    ready, go = os.pipe()
    child = os.fork()
    if not child:
        os.write(go, b"x")
        for first in range(10**6):
            seeds = tuple(range(first, first + 20))
            store.save(replace(cell, seeds=seeds), replace(result, seeds=numpy.array(seeds)))
    os.read(ready, 1)
    time.sleep(random.uniform(0, 3 * a_save))
    os.kill(child, signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    os.close(ready), os.close(go)
    for path in store.paths():
        store.load(path.stem)
print(len(store.paths()))
"""


def test_killed_at_any_time_only_whole_files_remain(store):
    done = run_python(KILLED_AT_RANDOM, store.folder, 40)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 1
    assert partials(store)
    assert all(path.name.endswith((".parquet", ".partial")) for path in (store.folder / "cells").iterdir())
    store.finished([])
    assert store.notes == []


RIVAL = """
import sys
from coebl.study.cell import Cell
from coebl.study.store import Store
store = Store.create(sys.argv[1], "demo", sys.argv[2])
cells = [Cell("matching-pennies", "exp3", "uniform", 20, (seed,), metrics=("regret",)) for seed in range(8)]
results = [cell.run() for cell in cells]
for _ in range(6):
    for cell, result in zip(cells, results):
        store.save(cell, result)
        store.load(cell.digest())
    assert len(store.finished(cells)) == 8 and not store.notes, store.notes
"""


def test_two_processes_do_no_harm(tmp_path):
    folder = tmp_path / "study"
    command = [sys.executable, "-c", RIVAL, str(folder), TEXT]
    rivals = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for rival in rivals:
        _, errors = rival.communicate(timeout=120)
        assert rival.returncode == 0, errors
    store = Store.open(folder)
    cells = [dataclasses.replace(CELL, seeds=(seed,)) for seed in range(8)]
    assert store.finished(cells) == {cell.digest() for cell in cells}
    assert store.notes == partials(store) == []
    for cell in cells:
        assert (
            store.load(cell.digest()).column("regret").to_numpy().tobytes() == ran(cell).columns()["regret"].tobytes()
        )


FULL = """
import resource, signal, sys
from coebl.study.cell import Cell
import pyarrow.parquet
from coebl.core.errors import InputError
from coebl.study.store import Store
store = Store.open(sys.argv[1])
cell = Cell("matching-pennies", "exp3", "uniform", 20, (0, 1, 2), metrics=("regret",))
result = cell.run()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))
try:
    store.save(cell, result)
except InputError as error:
    print(error)
"""


def test_a_full_disk_is_one_line_and_leaves_nothing(store):
    done = run_python(FULL, store.folder)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert f"{CELL.digest()}.parquet cannot be written" in line
    assert "File too large" in line
    assert list((store.folder / "cells").iterdir()) == []


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failing_rename_keeps_the_old_file(store, monkeypatch, failure):
    (path,) = saved(store)
    before = path.read_bytes()

    def fail(*_):
        raise failure

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(KeyboardInterrupt if isinstance(failure, KeyboardInterrupt) else InputError):
        saved(store)
    assert path.read_bytes() == before
    assert partials(store) == []


# The folder


def test_create_continues_the_same_study(store):
    saved(store)
    again = Store.create(store.folder, "demo", '# a remark\nname    = "demo"\n\nseeds = 3 # three\n')
    assert again.finished([CELL]) == {CELL.digest()}
    assert again.text() == TEXT
    assert Store.open(store.folder).name == "demo"


@pytest.mark.parametrize("text", ['name = "demo"\nseeds = 4\n', 'name = "demo"\nseeds = 3.0\n', 'name = "demo"\n'])
def test_a_changed_study_is_refused(store, text):
    with pytest.raises(StoreError) as caught:
        Store.create(store.folder, "demo", text)
    line = one_line(caught.value)
    assert "the study file has changed since; use another folder, or put the old file back" in line
    assert store.text() == TEXT


def test_a_folder_in_use_is_refused(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(StoreError, match="does not hold a study"):
        Store.create(tmp_path, "demo", TEXT)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
    (tmp_path / "study.toml").write_text(TEXT)  # the user's own folder, where the study's file lies
    with pytest.raises(StoreError, match="does not hold a study"):
        Store.create(tmp_path, "demo", TEXT)
    with pytest.raises(StoreError, match="does not hold a study"):
        Store.open(tmp_path)


def test_an_interrupted_create_is_taken_up(tmp_path):
    (tmp_path / "study" / "cells").mkdir(parents=True)
    (tmp_path / "study" / ".study.toml.1-0123456789ab.partial").write_text("name")
    assert Store.create(tmp_path / "study", "demo", TEXT).text() == TEXT


def test_an_empty_folder_and_missing_parents_will_do(tmp_path):
    (tmp_path / "empty").mkdir()
    Store.create(tmp_path / "empty", "demo", TEXT)
    Store.create(tmp_path / "a" / "b" / "c", "demo", TEXT)


def test_a_file_is_refused(tmp_path):
    path = tmp_path / "file"
    path.write_text("x")
    for make in (lambda: Store.create(path, "demo", TEXT), lambda: Store.open(path)):
        with pytest.raises(StoreError) as caught:
            make()
        assert str(path) in one_line(caught.value)
    with pytest.raises(StoreError) as caught:
        Store.create(path / "below", "demo", TEXT)
    one_line(caught.value)
    with pytest.raises(StoreError, match="is not a folder"):
        Store.open(tmp_path / "nowhere")


def test_a_text_that_is_no_toml_is_refused(tmp_path, store):
    with pytest.raises(StoreError) as caught:
        Store.create(tmp_path / "new", "demo", "name = \n")
    assert "TOML" in one_line(caught.value)
    assert not (tmp_path / "new").exists()
    (store.folder / "study.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(StoreError) as caught:
        Store.create(store.folder, "demo", TEXT)
    one_line(caught.value)


READ_ONLY = """
import os, sys, tempfile
from coebl.study.cell import Cell
from coebl.core.errors import CoeblError
from coebl.study.store import Store
cell = Cell("matching-pennies", "exp3", "uniform", 20, (0, 1, 2), metrics=("regret",))
result = cell.run()
with tempfile.TemporaryDirectory() as other:  # imports all that is needed, while it can be read
    Store.create(other + "/study", "demo", "").save(cell, result)
if os.getuid() == 0:
    os.setuid(65534)  # nobody: the rights of files mean nothing to root
folder, text = sys.argv[1:]
for attempt in (
    lambda: Store.create(folder + "/study", "demo", text),
    lambda: Store.create(folder + "/new", "demo", text),
    lambda: Store.open(folder + "/study").save(cell, result),
    lambda: Store.open(folder + "/study").record_failure(cell, "oh"),
):
    try:
        attempt()
    except CoeblError as error:
        print(error)
print(Store.open(folder + "/study").finished([cell]) == {cell.digest()})
"""


def test_a_read_only_folder_is_one_line_and_can_be_read():
    folder = Path(tempfile.mkdtemp())  # not tmp_path, whose parents are closed to other users
    saved(Store.create(folder / "study", "demo", TEXT))
    folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    try:
        for path in folders:
            path.chmod(0o555)
        done = run_python(READ_ONLY, folder, TEXT)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert len(lines) == 5
        assert "read-only" in lines[0]
        assert all("Permission denied" in line for line in lines[1:4])
        assert lines[4] == "True"
    finally:
        for path in folders:
            path.chmod(0o755)
        shutil.rmtree(folder)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc, a folder where nobody can write")
def test_a_file_system_without_writing_is_one_line():
    with pytest.raises(StoreError) as caught:
        Store.create("/proc/coebl-study", "demo", TEXT)
    assert "/proc/coebl-study" in one_line(caught.value)


def test_removed_cells_are_made_anew(store):
    saved(store)
    shutil.rmtree(store.folder / "cells")
    assert Store.open(store.folder).digests() == []
    again = Store.create(store.folder, "demo", TEXT)
    assert again.finished([CELL]) == set()
    saved(again)
    assert again.finished([CELL]) == {CELL.digest()}


def test_a_folder_with_a_manifest_of_old_still_opens(store):
    saved(store)
    (store.folder / "manifest.json").write_text('{"name": "older", "cells": []}')
    again = Store.create(store.folder, "demo", TEXT)
    assert again.finished([CELL]) == {CELL.digest()}
    assert Store.open(store.folder).name == "demo"


def test_a_title_may_be_changed(store):
    text = 'title = "Better"\ndescription = "At length."\n' + TEXT
    Store.create(store.folder, "demo", text)
    again = Store.open(store.folder)
    assert (again.text(), again.title, again.description) == (text, "Better", "At length.")


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


# No code in data


ROOT = Path(coebl.__file__).parent
MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
NUMPY_FILES = {"load", "save"}


def dangers(path: Path) -> list[str]:
    """The imports of pickle and its like, calls of eval and exec, and calls of numpy.load that allow pickle."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.partition(".")[0] in MODULES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in MODULES:
            found.append(node.module or "")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec"):
            found.append(node.func.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in NUMPY_FILES:
            if isinstance(node.func.value, ast.Name) and node.func.value.id in ("np", "numpy"):
                given = {keyword.arg: keyword.value for keyword in node.keywords}
                allowed = given.get("allow_pickle")
                if not (isinstance(allowed, ast.Constant) and allowed.value is False):
                    found.append(f"np.{node.func.attr} without allow_pickle=False")
    return found


def test_nothing_unpickles_or_evaluates():
    found = {str(path.relative_to(ROOT)): dangers(path) for path in ROOT.rglob("*.py")}
    assert found.pop("testing/learners.py") == ["pickle"]  # of a learner that it has just made
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from marshal import loads",
        "import shelve as s",
        "eval('1')",
        "exec(x)",
        "np.load(f)",
        "np.load(f, allow_pickle=True)",
        "def f():\n    from pickle import loads",
    ],
)
def test_the_search_finds_each(tmp_path, code):
    path = tmp_path / "code.py"
    path.write_text(code)
    assert len(dangers(path)) == 1
