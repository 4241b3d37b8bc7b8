"""Running studies on a Dask cluster: the same bits, and an error of one line when the cluster is gone."""

import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from coebl.study import parse_study, run
from coebl.study.errors import ClusterError
from coebl.study.workers import dask_executor
from study_runs import CELLS, STUDY, cells_in, rows, start, wait_for


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "host": "127.0.0.1"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.parametrize("killed", [False, True])
def test_a_dask_cluster_gives_the_same_bits_even_if_a_worker_dies(tmp_path, client, undisturbed, killed):
    executor = client.get_executor()
    if killed:
        workers = client.run(os.getpid)
        with ThreadPoolExecutor(1) as thread:
            running = thread.submit(run, parse_study(STUDY), tmp_path / "results", executor=executor, quiet=True)
            wait_for(lambda: cells_in(tmp_path) >= 2)
            os.kill(next(iter(workers.values())), signal.SIGKILL)
            outcome = running.result(timeout=120)
    else:
        outcome = run(parse_study(STUDY), tmp_path / "results", executor=executor, quiet=True)
    assert outcome.failed == ()
    assert rows(tmp_path / "results") == undisturbed


@pytest.mark.parametrize(
    ("address", "message"),
    [("", "--dask is empty; accepted: the address of a scheduler"), ("tcp://127.0.0.1:1", "no cluster answers there")],
)
def test_an_address_without_a_cluster_is_rejected(here, coebl, address, message):
    done = coebl("run", "study.toml", "--out", "results", "--dask", address, cwd=here)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr


@pytest.mark.parametrize(
    ("scheme", "greeting"),
    [
        ("tcp", b""),
        ("tls", b""),
        *(("tcp", text) for text in (bytes(64), b"\xff" * 64, b"HTTP/1.1 400 Bad Request\r\n\r\n")),
    ],
)
def test_a_port_that_is_silent_or_greets_otherwise_is_not_a_cluster(scheme, greeting, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("coebl.study.workers._ANSWER", 2 if greeting else 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as thread:

        def greet():
            server.settimeout(0.2)
            while not ended:
                with suppress(OSError):
                    connections.append(server.accept()[0])
                    connections[-1].sendall(greeting)

        ended, connections = [], []
        thread.submit(greet)
        address = f"{scheme}://127.0.0.1:{server.getsockname()[1]}"
        try:
            with pytest.raises(ClusterError, match="no cluster answers there") as caught, dask_executor(address):
                pass
        finally:
            ended.append(True)
    for connection in connections:
        connection.close()
    assert "\n" not in str(caught.value)


CLUSTER = """
import time
from distributed import LocalCluster
if __name__ == "__main__":
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "host": "127.0.0.1"}
    print(LocalCluster(**options).scheduler_address, flush=True)
    time.sleep(600)
"""


def test_a_cluster_that_is_killed_is_one_line_and_keeps_what_is_finished(here):
    pytest.importorskip("distributed")
    (here / "cluster.py").write_text(CLUSTER)
    cluster = subprocess.Popen(
        [sys.executable, "cluster.py"], cwd=here, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    address = cluster.stdout.readline().strip()
    (here / "study.toml").write_text(STUDY.replace("rounds = 150", "rounds = 1500"))
    process = start(here, "--dask", address)
    wait_for(lambda: cells_in(here) >= 2)
    os.killpg(cluster.pid, signal.SIGKILL)
    _, errors = process.communicate(timeout=60)
    cluster.wait()
    cluster.stdout.close()
    assert process.returncode == 2, errors
    assert (
        "coebl: the workers no longer answer; finished cells are kept. Start them again. To continue: coebl run "
        f"study.toml --out results --dask {address}\n"
    ) in errors
    assert "Traceback" not in errors
    assert 2 <= cells_in(here) < CELLS
