"""The folder of a study: made, continued, rejected; and nothing in it is ever executed."""

import ast
import errno
import os
import shutil
import tempfile
from pathlib import Path

import pytest

import coebl
from cells import CELL, TEXT, one_line, run_python, saved
from coebl.core.errors import CoeblError
from coebl.study.errors import StoreError
from coebl.study.store import Store


def test_a_folder_in_use_is_rejected(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(StoreError, match="does not hold a study"):
        Store.create(tmp_path, TEXT)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
    (tmp_path / "study.toml").write_text(TEXT)  # the folder of a user, with the study's file
    with pytest.raises(StoreError, match="does not hold a study"):
        Store.create(tmp_path, TEXT)
    with pytest.raises(StoreError, match="does not hold a study"):
        Store.open(tmp_path)


def test_an_interrupted_create_an_empty_folder_and_missing_parents_are_accepted(tmp_path):
    (tmp_path / "study" / "cells").mkdir(parents=True)
    (tmp_path / "study" / ".study.toml.1-0123456789ab.partial").write_text("name")
    (tmp_path / "empty").mkdir()
    for folder in ("study", "empty", "a/b/c"):
        assert Store.create(tmp_path / folder, TEXT).text() == TEXT


def test_a_file_is_rejected(tmp_path):
    path = tmp_path / "file"
    path.write_text("x")
    for make in (lambda: Store.create(path, TEXT), lambda: Store.open(path), lambda: Store.create(path / "new", TEXT)):
        with pytest.raises(CoeblError) as caught:
            make()
        assert str(path) in one_line(caught.value)
    with pytest.raises(StoreError, match="there is no such folder"):
        Store.open(tmp_path / "nowhere")


def test_a_text_that_is_not_toml_is_rejected(tmp_path, store):
    with pytest.raises(StoreError) as caught:
        Store.create(tmp_path / "new", "name = \n")
    assert "TOML" in one_line(caught.value)
    assert not (tmp_path / "new").exists()
    (store.folder / "study.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(StoreError) as caught:
        Store.create(store.folder, TEXT)
    one_line(caught.value)


READ_ONLY = """
import os, sys, tempfile
from cells import CELL, TEXT, saved
from coebl.core.errors import CoeblError
from coebl.study.store import Store
with tempfile.TemporaryDirectory() as other:  # imports all that is needed, while it can be read
    saved(Store.create(other + "/study", TEXT))
if os.getuid() == 0:
    os.setuid(65534)  # nobody: the rights of files mean nothing to root
folder = sys.argv[1]
for attempt in (
    lambda: Store.create(folder + "/study", TEXT),
    lambda: Store.create(folder + "/new", TEXT),
    lambda: saved(Store.open(folder + "/study")),
    lambda: Store.open(folder + "/study").record_failure(CELL, "oh"),
):
    try:
        attempt()
    except CoeblError as error:
        print(error)
print(Store.open(folder + "/study").finished() == {CELL.digest()})
"""


def test_a_read_only_folder_is_one_line_and_can_be_read():
    folder = Path(tempfile.mkdtemp())  # not tmp_path, whose parents are closed to other users
    saved(Store.create(folder / "study", TEXT))
    folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    try:
        for path in folders:
            path.chmod(0o555)
        done = run_python(READ_ONLY, folder)
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


def test_removed_cells_are_made_again(store):
    saved(store)
    shutil.rmtree(store.folder / "cells")
    assert Store.open(store.folder).digests() == []
    again = Store.create(store.folder, TEXT)
    assert again.finished() == set()
    saved(again)
    assert again.finished() == {CELL.digest()}


def test_a_title_may_be_changed(store):
    text = 'title = "Better"\ndescription = "At length."\n' + TEXT
    store.keep_text(text)
    again = Store.open(store.folder)
    assert (again.text(), again.words("title"), again.words("description")) == (text, "Better", "At length.")


# No code in data


ROOT = Path(coebl.__file__).parent
MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
CALLS = {"eval", "exec"}
NUMPY_FILES = {"np.load", "np.save", "numpy.load", "numpy.save"}


def unsafe_calls(path: Path) -> list[str]:
    """Return imports of pickle and similar modules, calls of eval and exec, and of numpy.load with pickles."""
    calls = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            calls += [name for name in names if name.partition(".")[0] in MODULES]
        elif isinstance(node, ast.Call):
            name, options = ast.unparse(node.func), [ast.unparse(keyword) for keyword in node.keywords]
            if name in CALLS or (name in NUMPY_FILES and "allow_pickle=False" not in options):
                calls.append(name)
    return calls


def test_nothing_unpickles_or_evaluates():
    by_path = {str(path.relative_to(ROOT)): unsafe_calls(path) for path in ROOT.rglob("*.py")}
    assert by_path.pop("testing/learner_kit.py") == ["pickle"]  # for a learner that it has just created
    assert by_path.pop("kernels/cache.py") == ["pickle"]  # in private folders only: tests/solver/test_compiling.py
    assert {path: names for path, names in by_path.items() if names} == {}


CODES = ["import pickle", "from marshal import loads", "import shelve as s", "def f():\n    from pickle import loads"]
CODES += ["eval('1')", "exec(x)", "np.load(f)", "np.load(f, allow_pickle=True)"]


@pytest.mark.parametrize("code", CODES)
def test_every_unsafe_call_is_found(tmp_path, code):
    path = tmp_path / "code.py"
    path.write_text(code)
    assert len(unsafe_calls(path)) == 1


KILLED_WHILE_RUNNING = """
import os, signal, sys
from coebl.study.store import Store
with Store.open(sys.argv[1]).log.alone():
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_run_that_was_killed_does_not_keep_others_out(store):
    assert run_python(KILLED_WHILE_RUNNING, store.folder).returncode == -9
    with store.log.alone():
        assert f"process {os.getpid()} " in (store.folder / ".running").read_text()


def test_a_file_system_without_locks_blocks_no_one(store, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def flock(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    with store.log.alone(), Store.open(store.folder).log.alone():
        pass
