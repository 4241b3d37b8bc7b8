"""Running studies with real processes: resumed after any interruption, the same to the last bit."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from coebl.study import Results, Store, Study, read_study
from coebl.study.cell import Cell
from study_runs import CELLS, STUDY, cells_in, command, go, rows, start, wait_for
from study_texts import small_study


@pytest.mark.parametrize("workers", [1, 2, pytest.param(4, marks=pytest.mark.slow)])
def test_any_number_of_workers_gives_the_same_bits(here, workers, undisturbed, coebl):
    done = coebl("run", "study.toml", "--out", "results", "--workers", workers, cwd=here)
    assert done.returncode == 0, done.stderr
    assert f"{CELLS} cells run, 0 found" in done.stdout
    assert rows(here / "results") == undisturbed


def children_of(session):
    """The processes of a session, by /proc."""
    children = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                children.append(int(entry))
    return children


@pytest.mark.parametrize("times", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_a_run_that_is_killed_and_resumed_loses_nothing(here, undisturbed, times):
    """The whole session is killed at random moments, as by a power cut."""
    chance = random.Random(len(undisturbed) + times)
    for _ in range(times):
        process = start(here, "--workers", "2")
        time.sleep(chance.uniform(0.3, 3.0))
        for victim in children_of(process.pid):
            os.kill(victim, signal.SIGKILL)
        process.communicate(timeout=60)
    outcome = go(STUDY, here / "results")
    assert outcome.failed == outcome.notes == ()
    assert rows(here / "results") == undisturbed
    suffixes = {path.suffix for path in (here / "results" / "cells").iterdir()}
    assert suffixes <= {".parquet", ".partial"}
    assert not list((here / "results").glob("set-aside/*"))


def test_a_killed_worker_is_replaced(here, undisturbed):
    process = start(here, "--workers", "2")
    wait_for(lambda: cells_in(here) >= 3)
    workers = [child for child in children_of(process.pid) if child != process.pid]
    os.kill(workers[-1], signal.SIGKILL)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert rows(here / "results") == undisturbed


BLOCKING = """
import multiprocessing, os, pathlib, signal, sys
from coebl.learners.opponents import Uniform


class Blocking(Uniform):
    def policy(self, t):
        marker = pathlib.Path(__file__).with_name("killed")
        if multiprocessing.parent_process() is not None and not marker.exists():
            marker.touch()
            frame = sys._getframe()
            while "channel" not in frame.f_locals:
                frame = frame.f_back
            frame.f_locals["channel"].mutex.acquire()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().policy(t)
"""


def test_a_worker_that_is_killed_with_the_lock_of_the_pool_does_not_block_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr("coebl.study.workers._STALL", 2.0)
    (tmp_path / "blocking.py").write_text(BLOCKING)
    learners = ["uniform", f"{tmp_path}/blocking.py:Blocking"]
    study = Study(games=["rps"], learners=learners, seeds=6, rounds=20, seeds_per_cell=1)
    summary = study.run(tmp_path / "results", workers=2, quiet=True)
    assert (summary.finished, summary.failed) == (24, ())


def test_control_c_keeps_what_is_finished_and_leaves_no_process(here, undisturbed, coebl):
    process = start(here, "--workers", "2")
    wait_for(lambda: cells_in(here) >= 3)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped; finished cells are kept; to continue: coebl run study.toml --out results --workers 2\n" in errors
    assert "Traceback" not in errors
    wait_for(lambda: children_of(process.pid) == [])
    kept = cells_in(here)
    assert 3 <= kept < CELLS
    done = coebl("run", "study.toml", "--out", "results", "--workers", 1, cwd=here)
    assert re.search(rf"\b{CELLS - kept} cells? run, {kept} found", done.stdout)
    assert rows(here / "results") == undisturbed
    first, second = Store.open(here / "results").log.runs()
    assert (first.interrupted, second.interrupted) == (True, False)
    assert first.cells in (kept - 1, kept)  # the interrupt may come between storing a cell and counting it
    assert second.cells == CELLS - kept
    assert second.command == "coebl run study.toml --out results"


def test_only_kernels_that_the_games_need_are_compiled(monkeypatch):
    compiled = []
    running = sys.modules["coebl.study.runner"]  # the package's `run` is the function
    monkeypatch.setattr(running, "compile_kernels", lambda shape, many_ties: compiled.append((shape, many_ties)))
    monkeypatch.setattr(running, "compile_normals", lambda: compiled.append(((), False)))
    cells = [Cell("rps", ("ucb", "ucb"), 5, (0,), shape=(size, size)) for size in (3, 8, 3)]
    running.warm_up(cells)
    assert sorted(compiled) == [((), False), ((3, 3), False), ((3, 3), True), ((8, 8), False), ((8, 8), True)]


def test_workers_end_with_a_killed_parent(here):
    process = start(here, "--workers", "2")
    wait_for(lambda: cells_in(here) >= 1)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=20)
    wait_for(lambda: children_of(process.pid) == [], seconds=20)


def test_two_runs_do_not_do_the_same_work(here, coebl):
    store = Store.create(here / "results", STUDY)
    with store.log.alone():
        done = coebl("run", "study.toml", "--out", "results", cwd=here)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert f"process {os.getpid()} on " in done.stderr
    assert "is running into this folder" in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_to_all_processes_as_they_start_is_one_line(here, number, code):
    process = start(here, "--workers", "2")
    wait_for(lambda: len(children_of(process.pid)) >= 3)  # the parent, its resource tracker, and a worker
    os.killpg(process.pid, number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code, errors
    assert "stopped; finished cells are kept; to continue: coebl run study.toml --out results --workers 2\n" in errors
    assert "Traceback" not in errors
    assert "semaphore" not in errors


def test_a_run_of_a_part_leaves_the_other_cells(tmp_path):
    """Also cells made from files: only one whose file has another content is replaced."""
    (tmp_path / "g.csv").write_text("1,0\n0,2\n")
    (tmp_path / "h.csv").write_text("1,0\n0,3\n")
    whole = read_study(small_study(tmp_path, games=["g.csv", "h.csv", "rps"]))
    go(whole, tmp_path / "results")
    for cells in (whole.cells[:1], whole.cells[2:]):
        outcome = go(whole.with_(cells=cells), tmp_path / "results")
        assert (outcome.found, outcome.notes) == (1, ())
    assert len(Results(tmp_path / "results").matches()) == 3


@pytest.mark.parametrize("damage", ["truncated", "flipped"])
def test_a_damaged_cell_is_named_set_aside_and_run_again(tmp_path, finished, undisturbed, damage):
    folder = shutil.copytree(finished, tmp_path / "results")
    victim = sorted((folder / "cells").iterdir())[4]
    data = bytearray(victim.read_bytes())
    if damage == "truncated":
        del data[200:]
    else:
        data[120] ^= 1  # in the first column's page
    victim.write_bytes(data)
    outcome = go(STUDY, folder)
    assert (outcome.finished, outcome.found) == (1, CELLS - 1)
    [note] = outcome.notes
    assert victim.name in note
    assert len(list((folder / "set-aside").iterdir())) == 1
    assert rows(folder) == undisturbed


def test_dry_run_runs_nothing(here, coebl):
    done = coebl("run", "study.toml", "--out", "results", "--dry-run", cwd=here)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == CELLS + 1
    assert not (here / "results").exists()


def test_a_full_disk_stops_the_run_with_one_line_and_nothing_half_written(here):
    # no measuring of coverage there, whose own file would not fit either
    limited = f"ulimit -f 3; trap '' XFSZ; unset COVERAGE_PROCESS_CONFIG; {' '.join(command('--workers', '1'))}"
    done = subprocess.run(["bash", "-c", limited], cwd=here, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert ".parquet cannot be written (File too large). Free some space, or choose another path." in done.stderr
    assert "Traceback" not in done.stderr
    assert all(path.suffix == ".parquet" for path in (here / "results" / "cells").iterdir())
