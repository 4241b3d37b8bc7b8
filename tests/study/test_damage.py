"""Damaged and foreign files among the cells: each is named, set aside, and never read as numbers."""

import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet as parquet
import pytest

import coebl
from cells import CELL, OTHER, loaded, notes_on, one_line, plain, rewrite, saved
from coebl.study import cell as record_module
from coebl.study import cell_file
from coebl.study.cell import EARLIER, FORMAT
from coebl.study.errors import DamagedFileError, StoreError
from coebl.study.store import Store


def check_set_aside(store: Store, path: Path) -> str:
    """The file is named, moved with its content, and its cell is unfinished; the other cell still counts."""
    content = path.read_bytes()
    aside = store.folder / "set-aside"
    before = set(aside.iterdir()) if aside.exists() else set()
    assert store.finished() == {OTHER.digest()}
    assert len(store.notes) == 1
    assert path.name in store.notes[0]
    assert "\n" not in store.notes[0]
    assert not path.exists()
    (moved,) = set(aside.iterdir()) - before
    assert moved.read_bytes() == content
    assert f"set-aside/{moved.name}" in store.notes[0]
    assert store.finished() == {OTHER.digest()}
    assert store.notes == []
    return moved.name


@pytest.fixture
def decoded(monkeypatch):
    """The paths of the files that are decoded from now on."""
    paths = []
    read = cell_file.parse_cell
    monkeypatch.setattr(cell_file, "parse_cell", lambda path, data: paths.append(path) or read(path, data))
    return paths


def test_a_file_that_was_checked_is_not_decoded_again_unless_a_byte_changes(store, decoded):
    path, _ = saved(store, CELL, OTHER)
    for _ in range(2):
        assert Store.open(store.folder).finished() == {CELL.digest(), OTHER.digest()}
        assert len(decoded) == 2  # by the first store, which has no notes of the one that wrote them
    data = bytearray(path.read_bytes())
    data[120] ^= 1
    stamp = path.stat().st_mtime_ns
    path.write_bytes(data)
    os.utime(path, ns=(stamp, stamp))
    check_set_aside(Store.open(store.folder), path)


@pytest.mark.parametrize("content", [b"", b"{", b"PAR1 and no more"])
def test_a_damaged_list_of_checked_files_does_not_matter(store, content):
    path, _ = saved(store, CELL, OTHER)
    store.finished()
    notes_on(store).write_bytes(content)
    path.write_bytes(path.read_bytes()[:-1])
    check_set_aside(Store.open(store.folder), path)


def test_a_flipped_bit_in_the_list_of_checked_files_never_changes_a_number(store):
    saved(store, CELL)
    before = plain(store.runs(CELL.digest(), last=True))
    store.remember()
    path = notes_on(store)
    data = path.read_bytes()
    for place in range(0, len(data), 3):
        flipped = bytearray(data)
        flipped[place] ^= 1
        path.write_bytes(flipped)
        assert plain(Store.open(store.folder).runs(CELL.digest(), last=True)) == before


def test_the_list_of_another_version_is_not_used(store, decoded, monkeypatch):
    saved(store, CELL)
    store.remember()
    Store.open(store.folder).runs(CELL.digest(), last=True)
    assert decoded == []
    monkeypatch.setattr(coebl, "__version__", "9.8.7")
    Store.open(store.folder).runs(CELL.digest(), last=True)
    assert len(decoded) == 1


@pytest.mark.parametrize("last", [True, False])
def test_checked_runs_equal_decoded_runs(store, last):
    saved(store, CELL)
    before = store.runs(CELL.digest(), last=last)
    notes_on(store).unlink(missing_ok=True)
    assert plain(Store.open(store.folder).runs(CELL.digest(), last=last)) == plain(before)
    rows = loaded(store, CELL.digest()).select(["seed", "round", *before.record.metrics]).to_pylist()
    ours = {name: values.tolist() for name, values in before.columns().items()}
    assert ours == {name: [row[name] for row in rows if not last or row["round"] == CELL.rounds] for name in rows[0]}


def test_truncated_files_are_set_aside(store):
    path, _ = saved(store, CELL, OTHER)
    whole = path.read_bytes()
    lengths = {*np.linspace(1, len(whole) - 1, 20).astype(int).tolist(), len(whole) - 8, len(whole) - 4}
    for length in sorted(lengths):
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedFileError) as caught:
            loaded(store, CELL.digest())
        assert path.name in one_line(caught.value)
        check_set_aside(store, path)
        shutil.rmtree(store.folder / "set-aside")
    path.write_bytes(whole)
    assert store.finished() == {CELL.digest(), OTHER.digest()}


def test_a_file_with_a_hole_is_not_read(store):
    """A valid file, zeros that take no space on the disk, and the file again: all offsets at its end are right."""
    path, _ = saved(store, CELL, OTHER)
    whole = path.read_bytes()
    with path.open("r+b") as stream:
        stream.seek(1 << 28)
        stream.write(whole)
    with pytest.raises(DamagedFileError, match=r"it has 268,[0-9,]+ bytes; 60 rows take at most [0-9,]+\.$"):
        loaded(store, CELL.digest())
    assert store.finished() == {OTHER.digest()}


def test_flipped_bytes_never_change_the_numbers(store):
    path, _ = saved(store, CELL, OTHER)
    whole = path.read_bytes()
    table, description = loaded(store, CELL.digest()), CELL.description()
    noticed = 0
    for place in range(4, len(whole), 23):
        damaged = bytearray(whole)
        damaged[place] ^= 0x41
        path.write_bytes(damaged)
        try:
            same = loaded(store, CELL.digest())
        except StoreError as error:
            one_line(error)
            noticed += 1
        else:  # at a position that holds none of our data
            assert same.equals(table)
            assert Store.open(store.folder).record(CELL.digest()).description == description
    assert noticed > 100


def with_column(table, name, values):
    return table.set_column(table.column_names.index(name), name, values)


WRONG_TABLES = {
    **{
        name: lambda table, name=name: with_column(table, name, pyarrow.array(table.column(name).to_numpy() + 1))
        for name in ("seed", "round", "rounds")
    },
    "game": lambda table: with_column(table, "game", pyarrow.array(["diagonal"] * len(table)).dictionary_encode()),
    "players": lambda table: with_column(table, "players", pyarrow.array([["ucb", "uniform"]] * len(table))),
    "regret": lambda table: with_column(table, "regret", pyarrow.array(np.nextafter(table.column("regret"), np.inf))),
    "swapped rows": lambda table: table.take(list(range(len(table)))[::-1]),
}


@pytest.mark.parametrize("wrong", WRONG_TABLES)
def test_every_column_and_the_order_of_rows_are_checked(store, wrong):
    (path,) = saved(store)
    parquet.write_table(WRONG_TABLES[wrong](parquet.read_table(path)), path)
    with pytest.raises(DamagedFileError, match="checksum"):
        loaded(store, CELL.digest())


class Bomb:
    def __reduce__(self):
        return os.mkdir, (os.environ["COEBL_TEST_BOMB"],)


FOREIGN = {
    "another table": lambda path, table: parquet.write_table(pyarrow.table({"a": [1, 2]}), path),
    "pickle": lambda path, table: path.write_bytes(pickle.dumps(Bomb())),
    "text": lambda path, table: path.write_text("PAR1 is how it begins, but then it is a text PAR1"),
    "empty": lambda path, table: path.write_bytes(b""),
    "missing column": lambda path, table: parquet.write_table(table.drop_columns(["regret"]), path),
    "fewer rows": lambda path, table: parquet.write_table(table.slice(0, 20), path),
    "another cell": lambda path, table: shutil.copy(path.with_stem(OTHER.digest()), path),
}


def test_a_folder_named_like_a_cell_is_set_aside(store):
    saved(store, OTHER)
    (store.path(CELL.digest()) / "inside").mkdir(parents=True)
    assert store.finished() == {OTHER.digest()}
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


@pytest.mark.parametrize("number", [0, EARLIER - 1, FORMAT + 1, 10**30])
def test_another_format_is_rejected_and_stays(store, number):
    (path,) = saved(store)

    def change(about):
        about["format"] = about["description"]["rules"] = number
        about["versions"]["coebl"] = "9.8.7"

    rewrite(path, change)
    before = path.read_bytes()
    for read in (lambda: store.finished(), lambda: loaded(store, CELL.digest())):
        with pytest.raises(StoreError) as caught:
            read()
        assert not isinstance(caught.value, DamagedFileError)
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


def _players(*specs):
    return lambda about: about.update(players=specs, description=about["description"] | {"players": specs})


def _learner(**info):
    return _about(learners={"exp3": info})


HOSTILE = {
    "no json": lambda about: b"{",
    "not utf-8": lambda about: b"\xff\xfe\xfa",
    "a list": lambda about: b"[1, 2]",
    "deep": lambda about: b"[" * 200_000,
    "long number": lambda about: b'{"format": ' + b"9" * 100_000 + b"}",
    "huge": lambda about: b'"' + b"x" * 5_000_000 + b'"',
    "huge value": _about(game="x" * 5_000_000),
    "format text": _about(format="1"),
    "format true": _about(format=True),
    "the format flipped": _about(format=7),
    "the earlier format": _about(format=EARLIER),
    "an unknown key": _about(labels={}),
    "no checksum": lambda about: about.pop("checksum") and None,
    "checksum number": _about(checksum=3),
    "rows text": _about(rows="many"),
    "rows negative": _about(rows=-60),
    "rows none": _about(rows=0),
    "metrics number": _about(metrics=4),
    "metrics of numbers": _about(metrics=[1]),
    "metrics other": _about(metrics=["kl"]),
    "players text": _about(players="exp3"),
    "players of lists": _about(players=[[], []]),
    "one player": _about(players=["exp3"]),
    "game list": _about(game=["a"]),
    "noise null": _about(noise=None),
    "seconds text": _about(seconds={"a": "b"}),
    "description list": _about(description=[]),
    "seeds text": _description(seeds="012"),
    "seeds empty": _description(seeds=[]),
    "rounds null": _description(rounds=None),
    "other players": _description(players=["ucb", "uniform"]),
    "lone surrogate": _description(players=["\ud800", "uniform"]),
    "versions number": _about(versions=3),
    "versions of numbers": _about(versions={"coebl": 1}),
    "infinite seconds": _about(seconds={"row": float("inf")}),
    "seconds beyond floats": _about(seconds={"row": 10**400}),
    "learners null": _about(learners=None),
    "learners list": _about(learners=[]),
    "learners of lists": _about(learners={"exp3": []}),
    "a learner without a title": _learner(colour=1, kind="bandit"),
    "a learner of a strange kind": _learner(title="x", colour=None, kind=["bandit"]),
    "a learner of an unknown kind": _learner(title="x", colour=None, kind="wizard"),
    "a learner with a huge colour": _learner(title="x", colour=10**400, kind="bandit"),
    "a learner with a true colour": _learner(title="x", colour=True, kind="bandit"),
    "a learner with a number as title": _learner(title=1, colour=None, kind="bandit"),
    "a metric's text": _about(metric_info={"regret": "lower"}),
    "a payoff range of text": _about(payoff_range=["0", "1"]),
    "a payoff range upside down": _about(payoff_range=[1.0, 0.0]),
    "an infinite payoff range": _about(payoff_range=[0.0, float("inf")]),
    "another learner": _about(players=["ucb", "uniform"]),
    "another noise": _about(noise=3),
}

# Invalid descriptions in files whose names are the digests of these descriptions.
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
    "another row": {"players": ["ucb", "uniform"]},
    "another class of a file": {"players": ["mine.py:Other", "uniform"]},
}


@pytest.mark.parametrize("kind", CRAFTED)
def test_a_crafted_description_is_one_line_and_set_aside(store, kind):
    path, _ = saved(store, CELL, OTHER)
    rewrite(path, _description(**CRAFTED[kind]))
    crafted = store.path(CELL.description().model_copy(update=CRAFTED[kind]).digest())
    path.rename(crafted)
    with pytest.raises(DamagedFileError) as caught:
        loaded(store, crafted.stem)
    assert crafted.name in one_line(caught.value)
    assert store.finished() == {OTHER.digest()}
    assert not crafted.exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_description(seeds=[0, 0, 1]), "description: seeds: (0, 0, 1) has a seed twice."),
        (_description(noise="a" + ":a" * 17), "16 colons. Nest less."),
        (_players("a" + ":a" * 17, "uniform"), "16 colons. Nest less."),
        (_learner(title="x", colour=1, kind=None), "learners.exp3: it has no kind"),
        (_about(rows=63), "its description has rows = 63."),
        (_description(players=["exp3"]), "description: players is ['exp3']"),
        (_players("exp3", "uniform", "ucb"), "its game has 2 seats, and its players are 'exp3 v uniform v ucb'"),
    ],
)
def test_the_reason_to_reject_a_value_is_reported(store, change, reason):
    (path,) = saved(store)
    rewrite(path, change)
    with pytest.raises(DamagedFileError) as caught:
        store.record(path.stem)
    assert reason in one_line(caught.value)


def test_a_pipe_among_the_files_does_not_hang(store):
    saved(store, OTHER)
    for name in (f"cells/{CELL.digest()}.parquet", "runs.jsonl", "failed/x.json"):
        os.mkfifo(store.folder / name)
    assert store.finished() == {OTHER.digest()}
    assert "not a file" in store.notes[0]
    store.log.add(1, 1.0)
    assert store.log.runs() == []
    assert [record.digest for record in store.failures()] == ["x"]


@pytest.mark.parametrize(
    "line", ['{"cells": 1, "seconds": 1e999}', '{"cells": 1, "seconds": 1' + "0" * 400 + "}", "[1]", "{"]
)
def test_damaged_lines_on_runs_are_left_out(store, line):
    (store.folder / "runs.jsonl").write_text(f"{line}\n")
    store.log.add(3, 1.25)
    [record] = store.log.runs()
    assert (record.cells, record.seconds) == (3, 1.2)


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
    store.finished()
    assert [path.exists() for path in (*theirs, *ours)] == [True, True, False, False]


@pytest.mark.parametrize("kind", [*FOREIGN, *HOSTILE])
def test_foreign_files_and_hostile_metadata_are_one_line_and_set_aside(store, kind, tmp_path, monkeypatch):
    monkeypatch.setenv("COEBL_TEST_BOMB", str(tmp_path / "bomb"))
    path, _ = saved(store, CELL, OTHER)
    if kind in FOREIGN:
        FOREIGN[kind](path, parquet.read_table(path))
    else:
        rewrite(path, HOSTILE[kind])
    with pytest.raises(DamagedFileError) as caught:
        store.record(CELL.digest())
    assert path.name in one_line(caught.value)
    check_set_aside(store, path)
    assert not (tmp_path / "bomb").exists()


def test_metadata_above_the_limit_is_not_parsed(store, monkeypatch):
    (path,) = saved(store)
    monkeypatch.setattr(record_module, "_MOST_BYTES", 100)
    with pytest.raises(DamagedFileError, match="bytes"):
        store.record(CELL.digest())
    assert path.exists()
