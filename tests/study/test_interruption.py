"""The store under interruption, with concurrent writers, and on a full disk: complete files or none."""

import dataclasses
import os
from concurrent.futures import ThreadPoolExecutor

from cells import CELL, loaded, partials, ran, run_python
from coebl.study.store import Store

KILLED_IN_THE_MIDDLE = """
import os, signal, sys
from cells import CELL, ran, saved
from coebl.study.store import Store
ran(CELL)
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
saved(Store.open(sys.argv[1]))
"""


def test_killed_before_the_rename_leaves_no_cell(store):
    assert run_python(KILLED_IN_THE_MIDDLE, store.folder).returncode == -9
    (left,) = partials(store)
    assert store.paths() == []
    assert store.finished() == set()
    assert store.notes == []
    assert left.exists()  # it might be another process's, still at work
    os.utime(left, (1e9, 1e9))
    store.finished()
    assert not left.exists()


KILLED_AT_RANDOM = """
import os, random, signal, sys, time
from dataclasses import replace
import numpy
from coebl.study.cell import Cell
from coebl.study.store import Store
store, kills = Store.open(sys.argv[1]), int(sys.argv[2])
cell = Cell("matching-pennies", ("exp3", "uniform"), 3000, tuple(range(20)), record="all", metrics=("regret",))
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
        store.runs(path.stem)
print(len(store.paths()))
"""


def test_killed_at_any_time_only_whole_files_remain(store):
    done = run_python(KILLED_AT_RANDOM, store.folder, 40)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 1
    assert partials(store)
    assert all(path.name.endswith((".parquet", ".partial")) for path in (store.folder / "cells").iterdir())
    store.finished()
    assert store.notes == []


RIVAL = """
import sys
from dataclasses import replace
from cells import CELL, TEXT, saved
from coebl.study.store import Store
store = Store.create(sys.argv[1], TEXT)
for _ in range(6):
    for seed in range(8):
        [path] = saved(store, replace(CELL, seeds=(seed,)))
        store.runs(path.stem)
    assert len(store.finished()) == 8 and not store.notes, store.notes
"""


def test_two_processes_do_no_harm(tmp_path):
    folder = tmp_path / "study"
    with ThreadPoolExecutor(2) as threads:
        for rival in threads.map(run_python, [RIVAL] * 2, [folder] * 2):
            assert rival.returncode == 0, rival.stderr
    store = Store.open(folder)
    cells = [dataclasses.replace(CELL, seeds=(seed,)) for seed in range(8)]
    assert store.finished() == {cell.digest() for cell in cells}
    assert store.notes == partials(store) == []
    for cell in cells:
        stored = loaded(store, cell.digest()).column("regret").to_numpy()
        assert stored.tobytes() == ran(cell).columns()["regret"].tobytes()
