"""The example of a deployment, over HTTP on the loopback interface: several players, restarts, monitoring, mistakes."""

import json
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("fastapi")
uvicorn = pytest.importorskip("uvicorn")

SERVICE = Path(__file__).parents[1] / "examples" / "service"
PAYOFF = np.array([[12.0, -20.0, -4.0], [-6.0, 10.0, -9.0]])


class Server:
    """The service of a folder, in a thread."""

    def __init__(self, folder, monkeypatch):
        monkeypatch.syspath_prepend(str(SERVICE))
        sys.modules.pop("app", None)
        import app

        self._server = uvicorn.Server(uvicorn.Config(app.service(folder), port=0, log_level="warning"))
        self._thread = threading.Thread(target=self._server.run)

    def __enter__(self):
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self._address = f"http://127.0.0.1:{port}"
        return self

    def __exit__(self, *_):
        self._server.should_exit = True
        self._thread.join()

    def __call__(self, method, path, **body):
        request = urllib.request.Request(self._address + path, json.dumps(body).encode(), method=method)
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request) as answer:
            text = answer.read().decode()
        return json.loads(text) if text.startswith(("{", "[")) else text

    def mistake(self, *request, **body):
        with pytest.raises(urllib.error.HTTPError) as raised:
            self(*request, **body)
        return raised.value.code, str(json.loads(raised.value.read())["detail"])


def test_players_play_over_http_and_continue_after_a_restart(tmp_path, monkeypatch):
    random = np.random.default_rng(1)

    def play(server, rounds):
        for _ in range(rounds):
            for name in ("prices", "sites"):
                ticket = server("POST", f"/players/{name}/tickets")
                opponent = int(random.integers(3))
                reward = float(PAYOFF[ticket["action"], opponent] + random.normal())
                server("POST", f"/players/{name}/outcomes", ticket=ticket["ticket"], reward=reward, opponent=opponent)

    with Server(tmp_path, monkeypatch) as server:
        assert server("GET", "/players") == []
        contest = {"actions": ["left", "right"], "opponent_actions": 3}
        fresh = server("PUT", "/players/prices", **contest)
        assert (fresh["round"], fresh["value"]) == (1, {"value": 0.0, "low": None, "high": None})
        server("PUT", "/players/sites", learner="tsallis-inf", **contest)
        play(server, 20)
        late = server("POST", "/players/prices/tickets")
        lost = server("POST", "/players/prices/tickets")
        before = server("GET", "/players/prices")
        assert before["open_tickets"] == [21, 22]
        assert sum(before["policy"].values()) == pytest.approx(1)
        assert before["value"]["low"] <= before["value"]["value"] <= before["value"]["high"]
        assert before["exploitability"]["value"] >= 0
        assert before["payoff_range"][0] < -5
        assert before["payoff_range"][1] > 5

    with Server(tmp_path, monkeypatch) as server:  # another process would do the same
        assert server("GET", "/players") == ["prices", "sites"]
        assert server("GET", "/players/prices") == before
        server("DELETE", f"/players/prices/tickets/{lost['ticket']}")
        server("POST", "/players/prices/outcomes", ticket=late["ticket"], reward=1.0, opponent=2, action="right")
        server("POST", "/players/prices/outcomes", action="left", reward=1.0, opponent=2)  # made without asking
        play(server, 5)
        assert server("GET", "/players/prices")["open_tickets"] == []
        assert "<table" in server("GET", "/players/prices/page")


@pytest.mark.filterwarnings("ignore:reward is")
def test_mistakes_are_answered_in_a_sentence_and_warnings_are_watched(tmp_path, monkeypatch):
    with Server(tmp_path, monkeypatch) as server:
        server("PUT", "/players/one", learner="tsallis-inf", actions=2, payoff_range=[0, 1])
        assert server.mistake("PUT", "/players/one", actions=2) == (
            409,
            "there is a player 'one' already; choose another name.",
        )
        assert server.mistake("PUT", "/players/two", learner="tsallis-inf", actions=0) == (
            422,
            "actions is 0; accepted: an integer, >= 1.",
        )
        assert server.mistake("GET", "/players/two")[0] == 404
        assert server.mistake("POST", "/players/one/outcomes", ticket=7, reward=1.0)[0] == 404
        code, words = server.mistake("POST", "/players/one/outcomes", reward=1.0)
        assert (code, words[:35]) == (422, "observe was called before act; ask ")
        assert server.mistake("PUT", "/players/two", learner="evil.py:Evil", actions=2)[0] == 422  # runs no file
        assert server.mistake("PUT", "/players/..%2Ftwo", actions=2)[0] in (404, 422)
        server("POST", "/players/one/outcomes", action=1, reward=5000.0)
        assert "further outside payoff_range" in server("GET", "/players/one")["warnings"][0]
    assert [path.name for path in tmp_path.iterdir()] == ["one.npz"]
