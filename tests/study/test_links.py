"""Links in a folder of results: their targets do not change, and a folder that is only read is not written."""

import os
import shutil

import pytest

from cells import CELL, OTHER, TEXT, one_line, ran, saved
from coebl.core.errors import InputError
from coebl.core.files import check_way, make_folder, write_whole
from coebl.study import Results
from coebl.study.cell_file import Checked
from coebl.study.errors import StoreError
from coebl.study.store import Store
from study_runs import go
from study_texts import BASE

STUDY = BASE + "all-pairs = true\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("links") / "results"
    go(STUDY, folder)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "results")


@pytest.fixture
def thesis(tmp_path):
    path = tmp_path / "thesis.tex"
    path.write_text("years of work\n")
    return path


@pytest.fixture
def data(tmp_path):
    """A folder of a user, with files like those that coebl moves, replaces and deletes in results folders."""
    path = tmp_path / "data"
    path.mkdir()
    for name in ("measured.parquet", "old.json", f".{'0' * 32}.parquet.1-0123456789ab.partial", "figure.svg"):
        (path / name).write_text("years of work\n")
        os.utime(path / name, (0, 0))
    return path


def contents(folder):
    """The entries of a folder: names, kinds, contents and times."""
    return {
        str(path.relative_to(folder)): (
            os.readlink(path) if path.is_symlink() else path.is_file() and path.read_bytes(),
            path.lstat().st_mtime_ns,
        )
        for path in folder.rglob("*")
    }


def link(path, target):
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


READING = [
    "results results",
    "results results --details",
    "results results --csv",
    "compare results ucb exp3",
    "report results --out page.html",
    "plot results --out curves.svg",
    "run results/study.toml --out results --dry-run",
    "claims results",
]


@pytest.mark.parametrize("words", READING)
def test_a_folder_that_is_only_read_does_not_change(words, folder, tmp_path, coebl):
    stale = folder / "cells" / f".{'0' * 32}.parquet.1-0123456789ab.partial"
    stale.touch()
    os.utime(stale, (0, 0))
    before = contents(folder)
    done = coebl(*words.split(), cwd=tmp_path)
    assert done.returncode == (2 if words.startswith("claims") else 0), done.stderr
    assert contents(folder) == before


FILES = ["checked.cache", "study.toml", "study-1.toml", "runs.jsonl", ".running", "report.html"]


@pytest.mark.parametrize("name", FILES)
def test_the_target_of_a_link_does_not_change(name, folder, thesis, tmp_path, coebl):
    if name == "study.toml":
        thesis.write_text((folder / name).read_text())
    before = thesis.read_bytes()
    link(folder / name, thesis)
    (tmp_path / "more.toml").write_text(STUDY.replace("seeds = 4", "seeds = 6"))
    done = coebl("run", "more.toml", "--out", "results", cwd=tmp_path)
    if name == ".running":
        assert (done.returncode, done.stderr) == (2, "coebl: results/.running is a symbolic link; remove it.\n")
    else:
        assert done.returncode == 0, done.stderr
        assert coebl("results", "results").returncode == coebl("report", "results").returncode == 0
    assert thesis.read_bytes() == before


def test_a_file_under_two_names_is_locked_but_not_written(folder, thesis):
    for name in (".running", "runs.jsonl"):
        (folder / name).unlink()
        os.link(thesis, folder / name)
    store = Store.open(folder)
    with store.log.alone(), pytest.raises(StoreError, match="is running into this folder"), store.log.alone():
        pass
    store.log.add(1, 2.0)
    assert thesis.read_text() == "years of work\n"


@pytest.mark.parametrize("name", ["cells", "failed", "set-aside"])
def test_no_run_uses_a_folder_behind_a_link(name, folder, data, tmp_path, coebl):
    link(folder / name, data)
    before = contents(data)
    done = coebl("run", "results/study.toml", "--out", "results", cwd=tmp_path)
    assert done.returncode == 2
    assert one_line(done.stderr.strip()).startswith(f"coebl: results/{name} is a symbolic link, and nothing is written")
    assert contents(data) == before


def test_a_store_moves_and_deletes_nothing_behind_a_link(folder, data):
    store = Store.open(folder)
    for name in ("cells", "failed", "set-aside"):
        link(folder / name, data)
    before = contents(data)
    for change in (
        lambda: store.finished(),
        lambda: store.set_aside(store.path("measured")),
        lambda: store.save(CELL, ran(CELL)),
        lambda: store.record_failure(CELL, "", ""),
        lambda: Store.create(folder, TEXT),
    ):
        with pytest.raises(InputError, match="symbolic link"):
            change()
    store.forget_failure("old")
    assert contents(data) == before


def test_files_in_the_place_of_links_among_cells_and_failures(tmp_path, thesis):
    store = Store.create(tmp_path / "store", TEXT)
    missing = tmp_path / "missing"
    store.path(CELL.digest()).symlink_to(missing)
    store.path(OTHER.digest()).symlink_to(thesis)
    (store.folder / "failed" / f"{CELL.digest()}.json").symlink_to(thesis)
    store.record_failure(CELL, "no luck")
    assert store.finished() == set()
    assert (store.folder / "set-aside" / store.path(OTHER.digest()).name).is_symlink()  # moved itself
    saved(store, CELL, OTHER)
    assert store.finished() == {CELL.digest(), OTHER.digest()}
    assert thesis.read_text() == "years of work\n"
    assert not missing.exists()


OUTPUTS = {
    "figures": ["plot", "results"],
    "figures/curves.svg": ["plot", "results"],
    "report.html": ["report", "results"],
    "tournament": ["tournament"],
    "tournament/summary.json": ["tournament"],
    "tournament/standings.csv": ["tournament"],
    "tournament/figure.svg": ["tournament"],
}
TOURNAMENT = ["--learners", "ucb,uniform", "--games", "rps", "--rounds", "20", "--seeds", "2", "--out", "results"]


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_in_the_folder_do_not_follow_links(name, folder, data, tmp_path, coebl):
    words = OUTPUTS[name]
    if words == ["tournament"]:
        shutil.rmtree(folder)
        words = ["tournament", *TOURNAMENT]
        assert coebl(*words, cwd=tmp_path).returncode == 0
    is_file = "." in name
    (folder / name).parent.mkdir(exist_ok=True)
    link(folder / name, data / "figure.svg" if is_file else data)
    before = contents(data)
    done = coebl(*words, cwd=tmp_path)
    assert done.returncode == (0 if is_file else 2), done.stderr
    assert is_file or "is a symbolic link" in one_line(done.stderr.splitlines()[-1])
    assert contents(data) == before


def test_a_link_that_the_user_names_is_followed(folder, thesis, tmp_path, coebl):
    (tmp_path / "page.html").symlink_to(thesis)
    assert coebl("report", "results", "--out", "page.html", cwd=tmp_path).returncode == 0
    assert thesis.read_text().startswith("<!")
    link(tmp_path / "elsewhere", "results")  # the folder itself may be reached by a link
    assert coebl("run", "results/study.toml", "--out", "elsewhere").returncode == 0


def test_a_crafted_cache_changes_no_number(folder, monkeypatch, tmp_path):
    """Neither one in the folder nor one in a cache directory that others can write."""
    honest = [row["mean"] for row in Results(folder).summary()]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "forger's"))
    store = Store.open(folder)
    for digest in store.digests():
        store.runs(digest, last=True)
    for digest, (total, brief) in store._checked._files.items():
        store._checked._files[digest] = total, brief._replace(last=bytes(len(brief.last)))
    store._checked.write()
    forged = store._checked._path.read_bytes()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user's"))
    (folder / "checked.cache").write_bytes(forged)
    assert [row["mean"] for row in Results(folder).summary()] == honest
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "shared"))
    notes = Store.open(folder)._checked._path
    notes.parent.mkdir(parents=True)
    notes.write_bytes(forged)
    assert {row["mean"] for row in Results(folder).summary()} == {0.0}  # the notes in the user's folder are trusted
    notes.parent.chmod(0o777)
    assert [row["mean"] for row in Results(folder).summary()] == honest
    assert notes.read_bytes() == forged
    notes.parent.chmod(0o700)


def test_old_notes_are_removed(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    old, young = (tmp_path / "cache" / "coebl" / "checked" / name for name in ("old.cache", "young.cache"))
    old.parent.mkdir(parents=True, mode=0o700)
    for path in (old, young):
        path.touch()
    os.utime(old, (0, 0))
    Results(folder).summary()
    assert not old.exists()
    assert young.exists()


@pytest.mark.parametrize("named", ["", "relative"])
def test_notes_are_never_kept_in_the_current_directory(named, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Checked(tmp_path)._path.parent == tmp_path / ".cache" / "coebl" / "checked"


def test_below_a_folder_no_link_is_followed(tmp_path, thesis, data):
    inside = tmp_path / "inside"
    (inside / "real").mkdir(parents=True)
    (inside / "real" / "link").symlink_to(data)
    (inside / "file").symlink_to(thesis)
    (inside / "folder").symlink_to(data)
    write_whole(inside / "file", "new", within=inside)
    write_whole(inside / "folder", "new", within=inside)
    assert (inside / "file").read_text() == (inside / "folder").read_text() == "new"
    assert thesis.read_text() == "years of work\n"
    for rejected in (
        lambda: write_whole(inside / "real" / "link" / "file", "new", within=inside),
        lambda: make_folder(inside / "real" / "link" / "new", inside),
        lambda: check_way(inside / "real" / "link", inside),
    ):
        with pytest.raises(InputError, match="real/link is a symbolic link, and nothing is written through"):
            rejected()
    assert not check_way(data, inside)
    assert not check_way(data, None)
