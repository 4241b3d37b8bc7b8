"""The commands and scripts of the page on clusters, run on one machine."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coebl.study import Results

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "run-on-a-cluster.md").read_text("utf-8")
COMMANDS = re.findall(r"^```bash\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FILES = dict(re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL))
STUDY = """\
name = "small"
rounds = 50
seeds = 8
seeds_per_cell = 2
games = ["rps"]
[match-ups]
pairs = [["ucb", "exp3"]]
"""
SRUN = '#!/bin/bash\nfor task in $(seq "$SLURM_NTASKS"); do "$@" & done\nwait\n'  # as SLURM does, on one node


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.fixture
def shell(tmp_path):
    """Start a script in a folder with a study, where `coebl`, `dask` and `srun` are."""
    pytest.importorskip("distributed")
    (tmp_path / "study.toml").write_text(STUDY)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in {"srun": SRUN, "coebl": f'#!/bin/bash\nexec {sys.executable} -m coebl "$@"\n'}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    path = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    started = []

    def start(script, **variables):
        environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT / "src"), **variables}
        process = subprocess.Popen(["bash", "-c", script], cwd=tmp_path, env=environment, start_new_session=True)
        started.append(process)
        return process

    yield start
    for process in started:
        try:
            os.killpg(process.pid, 15)
        except ProcessLookupError:
            continue
        process.wait()


def test_its_scripts_are_valid_bash():
    for script in (*COMMANDS, FILES["study.sbatch"]):
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    head, _, _ = FILES["study.sbatch"].partition("set -euo")
    assert re.fullmatch(r"#!/bin/bash\n(?:#SBATCH --[\w-]+=\S+\n)+", head), "SLURM reads options only at the top"


@pytest.mark.slow
def test_its_cluster_runs_a_study_from_the_command_line_and_from_python(shell, tmp_path):
    port = str(free_port())
    cluster, command = (script.replace("8786", port) for script in COMMANDS)
    shell(f"{cluster} wait")
    deadline = time.monotonic() + 30
    while not _answers(int(port)):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert shell(command).wait(60) == 0
    assert len(Results(tmp_path / "results").records()) == 4
    (tmp_path / "on_dask.py").write_text(FILES["on_dask.py"].replace("8786", port).replace('"results"', '"again"'))
    assert shell("python on_dask.py").wait(60) == 0
    assert len(Results(tmp_path / "again").records()) == 4


@pytest.mark.slow
def test_its_slurm_script_runs_a_study_and_leaves_no_process_behind(shell, tmp_path):
    spy = 'cp -r "$private" copy; ls -ld "$private" > mode; coebl run'
    script = FILES["study.sbatch"].replace("coebl run", spy)
    assert shell(script, SLURM_NTASKS="2", SLURMD_NODENAME="127.0.0.1").wait(120) == 0
    assert len(Results(tmp_path / "results").records()) == 4
    address = json.loads((tmp_path / "copy" / "scheduler.json").read_text())["address"]
    assert address.startswith("tls://127.0.0.1:")
    assert not _answers(int(address.rpartition(":")[2]))
    assert (tmp_path / "mode").read_text().startswith("drwx------")
    assert not list(tmp_path.glob(".dask-*")), "the key is gone"


@pytest.mark.slow
def test_its_slurm_scheduler_rejects_clients_without_a_key(shell, tmp_path):
    distributed = pytest.importorskip("distributed")
    script = FILES["study.sbatch"].replace("coebl run", 'echo "$address" > address; sleep 60; coebl run')
    shell(script, SLURM_NTASKS="1", SLURMD_NODENAME="127.0.0.1")
    deadline = time.monotonic() + 60
    while not (tmp_path / "address").exists() or not (tmp_path / "address").read_text().endswith("\n"):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    address = (tmp_path / "address").read_text().strip()
    assert _answers(int(address.rpartition(":")[2]))
    for scheme in ("tcp", "tls"):
        with pytest.raises((OSError, TypeError, ValueError)):
            distributed.Client(f"{scheme}://{address.partition('://')[2]}", timeout=3)


def _answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False
