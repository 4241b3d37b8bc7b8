"""Compiled kernels: which are compiled, where they are cached, and that a stale or missing cache does no harm."""

import os
import pickle
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import config, njit

from coebl.kernels import cache, lockstep, simplex
from coebl.solver import Maximin, compile_kernels, maximin
from study_texts import BASE


def add(x, y):
    return x + y


def kept(folder, *others, function=add):
    """Compile a function with its cache in this folder; its cache hits show whether it was loaded from there."""
    dispatcher = njit(function)
    dispatcher._cache = cache.KernelCache(function, [folder, *others])
    return dispatcher


def hits(folder, *others):
    dispatcher = kept(folder, *others)
    assert dispatcher(1, 2) == 3
    return sum(dispatcher.stats.cache_hits.values())


@pytest.fixture
def sources(tmp_path):
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "one.py").write_text("x = 1\n")
    (folder / "other.py").write_text("x = 2\n")
    return folder


def test_any_changed_source_gives_another_folder_and_the_old_one_goes(sources, tmp_path):
    first = cache.make_folder(sources, [tmp_path])
    (first / "something.kernel").touch()
    assert cache.make_folder(sources, [tmp_path]) == first
    assert (first / "something.kernel").exists()
    (sources / "other.py").write_text("x = 3\n")
    second = cache.make_folder(sources, [tmp_path])
    assert second != first
    assert not first.exists()
    (sources / "third.py").touch()
    third = cache.make_folder(sources, [tmp_path])
    assert third not in (first, second)
    shutil.copytree(sources, tmp_path / "copy")
    (tmp_path / "copy" / "one.py").write_text("x = 4\n")
    cache.make_folder(tmp_path / "copy", [tmp_path])
    assert third.is_dir()  # folders of another copy stay


def test_the_folder_is_that_of_these_sources():
    assert cache.default_folder().name.endswith(cache.digest(cache.SOURCES))
    for kernel in (simplex.solve_batch, lockstep.solve_small):
        assert kernel._cache._folders[0] == cache.default_folder()


def test_the_page_of_the_solver_lists_every_source():
    page = (Path(__file__).parents[2] / "docs" / "solver.md").read_text()
    grant_by_access_list = re.findall(r"^\| `(\w+\.py)` \|", page, re.MULTILINE)
    assert sorted(grant_by_access_list) == sorted(path.name for path in cache.SOURCES.glob("[!_]*.py"))


def test_the_first_parent_that_is_writable_is_taken(sources, tmp_path):
    (tmp_path / "file").touch()
    below_a_file = tmp_path / "file" / "folder"
    assert cache.make_folder(sources, [below_a_file, tmp_path / "new"]).parent == tmp_path / "new"
    assert cache.make_folder(sources, [below_a_file]) is None


@pytest.mark.parametrize("damage", ["empty", "truncated", "nonsense", "a folder"])
def test_a_damaged_file_is_compiled_again_and_replaced(tmp_path, capsys, damage):
    assert [hits(tmp_path), hits(tmp_path)] == [0, 1]
    capsys.readouterr()  # that it is compiled
    [path] = tmp_path.iterdir()
    content = path.read_bytes()
    path.unlink()
    if damage == "a folder":
        path.mkdir()
    else:
        path.write_bytes({"empty": b"", "truncated": content[: len(content) // 2], "nonsense": b"nonsense"}[damage])
    cache.complain.cache_clear()
    assert hits(tmp_path) == 0
    if damage == "a folder":
        assert capsys.readouterr().err.count("\n") == 1
    else:
        assert hits(tmp_path) == 1
        assert capsys.readouterr().err == ""


ANNOUNCED = "coebl: compiling the solver, up to a minute; the result is kept for the next time.\n"


def test_compilation_is_announced_once(tmp_path, capsys):
    """Not if kernels are loaded, nor for custom code."""
    cache.announce.cache_clear()
    assert njit(add)(1, 2) == 3
    assert capsys.readouterr().err == ""
    hits(tmp_path / "one")
    hits(tmp_path / "two")
    assert capsys.readouterr().err == ANNOUNCED
    cache.announce.cache_clear()
    assert hits(tmp_path / "one") == 1
    assert capsys.readouterr().err == ""


def test_a_full_disk_does_not_matter(tmp_path, monkeypatch, capsys):
    dispatcher = kept(tmp_path)

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    cache.complain.cache_clear()
    assert dispatcher(1, 2) == 3
    assert dispatcher(1.0, 2.0) == 3.0
    assert capsys.readouterr().err.count("No space left on device") == 1


def test_without_any_folder_it_compiles(capsys):
    """One line reports it, if at all."""
    cache.announce.cache_clear()
    cache.complain.cache_clear()
    dispatcher = njit(add)
    dispatcher._cache = cache.KernelCache(add, [])
    assert dispatcher(1, 2) == 3
    assert capsys.readouterr().err.count("\n") <= 1


SOLVE = "from coebl import solve; print(solve([[3, 0], [1, 2]]).value)"


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )


def replace_by_link(folder):
    folder.rename(folder.parent / "elsewhere")
    folder.symlink_to(folder.parent / "elsewhere")


def give_to_another_user(part):
    """Give a part of the folder to another user, which only root can do."""
    root = hasattr(os, "getuid") and os.getuid() == 0
    spoil = lambda folder: os.chown(folder / part, 12345, 12345)  # noqa: E731
    return pytest.param(spoil, False, marks=pytest.mark.skipif(not root, reason="only root can give files away"))


def grant_by_access_list(part, rights):
    """Give another user rights to a part of the folder by an access control list, as setfacl -m u:12345:RIGHTS does."""
    entries = [(1, 7, -1), (2, rights, 12345), (4, 0, -1), (16, rights, -1), (32, 0, -1)]  # owner, user, group, ...
    content = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)

    def change(folder):
        try:
            os.setxattr(folder / part, "system.posix_acl_access", content)
        except (AttributeError, OSError):
            pytest.skip("this file system has no access control lists")

    return change


@pytest.mark.parametrize(
    ("change", "used"),
    [
        (lambda folder: None, True),
        (grant_by_access_list(".", 5), True),
        (grant_by_access_list(".", 7), False),
        (grant_by_access_list("something.kernel", 6), False),
        (grant_by_access_list("..", 7), False),
        (lambda folder: folder.chmod(0o755), True),
        (lambda folder: folder.parent.chmod(0o1777), True),  # as /tmp is
        (lambda folder: folder.parent.chmod(0o777), False),  # anyone could put another folder in its place
        (lambda folder: folder.chmod(0o777), False),
        (lambda folder: (folder / "something.kernel").chmod(0o666), False),
        (replace_by_link, False),
        give_to_another_user("."),
        give_to_another_user("something.kernel"),
        give_to_another_user(".."),
    ],
)
def test_a_folder_that_others_may_have_written_is_not_used(sources, tmp_path, change, used):
    folder = cache.make_folder(sources, [tmp_path / "shared"])
    assert folder.stat().st_mode & 0o777 == 0o700
    (folder / "something.kernel").touch()
    change(folder)
    assert cache.find_folders(sources, [tmp_path / "shared"]) == [folder] * used
    assert cache.make_folder(sources, [tmp_path / "shared"]) == (folder if used else None)
    assert cache.make_folder(sources, [tmp_path / "shared", tmp_path / "own"]) == (
        folder if used else tmp_path / "own" / folder.name
    )


class Canary:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_folder_open_to_others_is_not_loaded(tmp_path):
    """One line reports it, and the solver is compiled."""
    maximin(np.eye(2))  # so that there are names to take
    shared = tmp_path / "shared"
    planted = shared / cache.default_folder().name
    planted.mkdir(parents=True)
    for kept in cache.default_folder().glob("*.kernel"):
        (planted / kept.name).write_bytes(pickle.dumps(Canary(tmp_path / "canary")))
    shared.chmod(0o777)
    done = run(SOLVE, NUMBA_CACHE_DIR=str(shared), TMPDIR=str(tmp_path))
    assert done.stdout == "1.5\n"
    assert "or others can write there too. Set NUMBA_CACHE_DIR to a folder of yours alone" in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shared"]


def test_the_users_directory_is_used_and_may_be_missing(tmp_path):
    done = run(SOLVE, NUMBA_CACHE_DIR=str(tmp_path / "new"))
    assert (done.stdout, done.stderr) == ("1.5\n", ANNOUNCED)
    [folder] = (tmp_path / "new").iterdir()
    assert folder.name == cache.default_folder().name
    assert list(folder.glob("lockstep.solve_small-*.kernel"))


def test_without_a_writable_directory_it_solves_with_a_note(tmp_path):
    (tmp_path / "file").touch()
    done = run(SOLVE, NUMBA_CACHE_DIR=str(tmp_path / "file" / "below"), TMPDIR=str(tmp_path))
    assert done.stdout == "1.5\n"
    assert done.stderr.startswith("coebl: compiling the solver, up to a minute; it cannot be kept for the next time")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]  # and no temporary folder is left behind


READ_ONLY = """
import os, tempfile
make = tempfile.TemporaryFile
def refuse(*arguments, dir=None, **options):  # root can write anywhere: the check for it has to fail
    if str(dir).startswith(os.environ["NUMBA_CACHE_DIR"]):
        raise OSError(30, "Read-only file system")
    return make(*arguments, dir=dir, **options)
tempfile.TemporaryFile = refuse
"""


def test_a_complete_read_only_folder_is_used(tmp_path):
    run(SOLVE, NUMBA_CACHE_DIR=str(tmp_path / "kept"))
    [folder] = (tmp_path / "kept").iterdir()
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    compiled = "; from coebl.kernels import lockstep as l; print(sum(l.solve_small.stats.cache_misses.values()))"
    done = run(READ_ONLY + SOLVE + compiled, NUMBA_CACHE_DIR=str(tmp_path / "kept"), TMPDIR=str(tmp_path))
    assert (done.stdout, done.stderr) == ("1.5\n0\n", "")
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_a_kernel_in_another_folder_is_not_compiled(tmp_path):
    hits(tmp_path / "full")
    assert hits(tmp_path / "empty", tmp_path / "full") == 1
    assert not (tmp_path / "empty").exists()
    assert hits(tmp_path / "empty", tmp_path / "none") == 0  # compiled, and kept in the first
    assert hits(tmp_path / "empty") == 1


def test_only_folders_of_these_sources_are_read(sources, tmp_path):
    mine = cache.make_folder(sources, [tmp_path / "one"])
    (tmp_path / "one" / "coebl-0123abcd-0123456789abcdef").mkdir()
    assert cache.find_folders(sources, [tmp_path / "missing", tmp_path / "one"]) == [mine]
    (sources / "other.py").write_text("x = 3\n")
    assert cache.find_folders(sources, [tmp_path / "one"]) == []


@pytest.mark.parametrize("named", ["", "relative"])
def test_no_folder_is_made_in_the_current_directory(sources, tmp_path, monkeypatch, named):
    """The variable counts as not set if it is empty or relative."""
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.parents(sources) == [sources / "__pycache__", tmp_path / ".cache" / "numba"]
    monkeypatch.setenv("HOME", "relative")
    assert all(path.is_absolute() for path in cache.parents(sources))


def test_one_line_reports_that_nothing_is_kept_and_the_workers_share_the_folder(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "study.toml").write_text(BASE)
    words = [sys.executable, "-m", "coebl", "run", "study.toml", "--out", "results", "--workers", "2"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "file" / "below"), "TMPDIR": str(tmp_path)}
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr.count("it cannot be kept") == done.stderr.count("coebl:") == 1
    assert not list(tmp_path.glob("coebl-*"))


@pytest.mark.parametrize(
    ("shape", "many_ties"), [((3, 5), False), ((24, 30), True), ((60, 50), False), ((60, 50), True)]
)
def test_nothing_is_left_to_compile(shape, many_ties):
    """After compile_kernels, neither a solver nor a one-off solve of that shape needs another version of a kernel."""
    compile_kernels(shape, many_ties)

    def versions():
        return [len(kernel.signatures) for kernel in (lockstep.solve_small, simplex.solve_batch)]

    before = versions()
    payoffs = np.random.default_rng(0).normal(size=(2, *shape))
    solver = Maximin(payoffs.shape, many_ties=many_ties)
    weights = np.ones((2, shape[0]))
    solver(payoffs)
    Maximin(payoffs.shape, ties=lambda: weights, many_ties=many_ties)(payoffs)
    payoffs.flags.writeable = False
    solver(payoffs)
    if not many_ties:
        maximin(payoffs)
        maximin(payoffs[0], ties=weights[0])
    assert versions() == before


def test_a_large_shape_takes_no_memory():
    compile_kernels((10**6, 10**6))
