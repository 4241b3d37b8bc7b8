"""Only a file that a user names is run; files named in cells, saved players and games never are, at any depth.

A canary, a Python file that leaves a trace when it is imported, is named wherever data contain a spec.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from cells import TEXT, forged
from coebl import Player
from coebl.core.errors import InputError
from coebl.core.specs import escape, files_in
from coebl.games import GAMES, NOISES, parse_game, read_game
from coebl.learners import LEARNERS, parse_learner
from coebl.naming import game_title, learner_title, learner_titles, looks, spelled_out
from coebl.study import Results, Store

CANARY = """\
from dataclasses import dataclass
from pathlib import Path
from coebl import Game
from coebl.games import Noise
from coebl.learners.evolution import Mutation
from coebl.learners.opponents import Uniform
from coebl.metrics import Metric

Path({trace!r}).touch()

def game(n: int = 2) -> Game:
    return Game([[1, -1], [-1, 1]])

class Own(Uniform):
    pass

@dataclass(frozen=True)
class Silent(Noise):
    def draw(self, random, size):
        return 0 * random.random(size)

@dataclass(frozen=True)
class Constant(Mutation):
    def deviation(self, seat, count):
        return 0 * count + 1

class Count(Metric):
    name = "count"
    def __call__(self, block):
        return block.reward
"""
SPECS = {
    "game": [
        "evil.py:game",
        "permuted:game=evil.py:game",
        "permuted:evil.py:game",
        "permuted:game=scaled:game=permuted:game=evil.py:game:n=2++seed=1+scale=2,seed=3",
    ],
    "row": [
        "evil.py:Own",
        "coebl:mutation=evil.py:Constant",
        "coebl:c=2,mutation= evil.py:Constant",
        "coebl:mutation=sparse:of=evil.py:Constant+probability=0.5,c=2",
        "coebl:mutation=sparse:of=adaptive:of=evil.py:Constant++step=0.5+probability=1",
        "coebl:selection=evil.py:Own,population=evil.py:Own,recombination=evil.py:Own",
        "evil.py:Own:mutation=evil.py:Constant",
    ],
    "noise": ["evil.py:Silent"],
    "metric": ["evil.py:Count"],
}
SPECS["column"] = SPECS["row"]


@pytest.fixture
def trace(tmp_path, monkeypatch):
    """The trace that the canary leaves; it is named as seen from the current folder."""
    path = tmp_path / "it-ran"
    (tmp_path / "evil.py").write_text(CANARY.format(trace=str(path)))
    monkeypatch.chdir(tmp_path)
    return path


def folder_of_forged_cells(folder, described):
    """A results folder with the canary in every place of a cell, in the study's file and in a tournament's summary."""
    every = json.dumps(SPECS["row"])
    study = TEXT + f'learners = {every}\ngames = {json.dumps(SPECS["game"])}\nmetrics = ["evil.py:Count"]\n'
    store = Store.create(folder, study + 'noise = "evil.py:Silent"\nrounds = 20\n')
    forged(store, described)
    forged(store, described, row="exp3-ix")
    for label in ("game", "row", "column", "noise"):
        for spec in SPECS[label]:
            forged(store, described, **{label: spec})
    for spec in SPECS["metric"]:
        forged(store, described, metric=spec)
    page = {"sentences": ["evil.py:Own"], "header": ["evil.py:Own"], "rows": [["evil.py:Own"]], "legend": "evil.py:Own"}
    (folder / "tournament").mkdir()
    (folder / "tournament" / "summary.json").write_text(json.dumps({"page": page, "learners": SPECS["row"]}))
    (folder / "tournament" / "figure.svg").write_text("<svg/>")
    return folder


@pytest.mark.parametrize("described", [True, False], ids=["described", "of-an-older-version"])
def test_reading_results_runs_no_file_that_they_name(tmp_path, trace, coebl, described):
    folder = folder_of_forged_cells(tmp_path / "shared", described)
    row, other = SPECS["row"][1], SPECS["row"][3]
    commands = [["results", folder, *options] for options in ([], ["--details"], ["--csv"], ["--json"], ["--row", row])]
    for words in (
        *commands,
        ["results", folder, "--game", SPECS["game"][1]],
        ["compare", folder, row, other, "--metric", "regret"],
        ["compare", folder, "exp3", "exp3-ix", "--metric", "regret"],
        ["plot", folder, "--metric", "regret", "--noise", "gaussian"],
        ["report", folder],
    ):
        done = coebl(*words)
        assert done.returncode == 0, (words, done.stderr)
        assert not trace.exists(), words
    (tmp_path / "study.toml").write_text(
        TEXT + 'rounds = 20\ngames = ["matching-pennies"]\n[match-ups]\npairs = [["exp3", "uniform"]]\n'
    )
    for words in (
        ["run", "study.toml", "--out", folder, "--dry-run"],
        ["run", "study.toml", "--out", folder, "--workers", "1"],
        ["claims", folder],
        ["figures", folder],
        ["results", folder, "--latex"],
        ["explain", folder, "exp3"],
    ):
        coebl(*words)
        assert not trace.exists(), words
    results = Results(folder)
    results.kinds()
    results.plot("regret", noise="gaussian")
    results.last(players=(row, None))
    assert not trace.exists()


def test_titles_run_no_file(trace):
    for label, registry in (("row", LEARNERS), ("game", GAMES), ("noise", NOISES)):
        for spec in SPECS[label]:
            assert registry.known(spec) is None
            registry.order(spec)
            spelled_out(SPECS[label])
            learner_title(spec)
            game_title(spec)
    learner_titles(SPECS["row"])
    looks(SPECS["row"])
    assert not trace.exists()


@pytest.mark.parametrize("noise", [*SPECS["noise"], " evil.py:Silent ", "evil.py"])
def test_reading_a_game_runs_no_file_that_it_names(tmp_path, trace, coebl, noise):
    (tmp_path / "game.json").write_text(json.dumps({"payoff": [[1, 2], [3, 4]], "noise": noise}))
    with pytest.raises(InputError, match=r"^game\.json: noise is .*, and a game file runs none; accepted"):
        read_game("game.json")
    (tmp_path / "study.toml").write_text(
        'name = "a"\nrounds = 2\nseeds = 1\ngames = ["game.json"]\n[match-ups]\npairs = [["exp3", "exp3"]]\n'
    )
    for words in (
        ["solve", "game.json"],
        ["show", "game.json"],
        ["check", "game.json"],
        ["match", "--game", "game.json", "--row", "exp3", "--column", "exp3"],
        ["study", "show", "study.toml"],
        ["run", "study.toml", "--out", "out"],
        ["tournament", "--games", "game.json", "--out", "out"],
    ):
        done = coebl(*words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), (words, done.stderr)
    assert not trace.exists()


def test_labels_and_names_of_games_are_strings(tmp_path, trace, coebl):
    label = "evil.py:game"
    (tmp_path / "a.csv").write_text(f",{label},b\n{label},1,2\nc,3,4\n")
    (tmp_path / "a.nfg").write_text(f'NFG 1 R "{label}" {{ "a" "b" }} {{ {{ "{label}" }} {{ "{label}" }} }}\n1 -1\n')
    (tmp_path / "a.json").write_text(json.dumps({"payoff": [[1]], "name": label, "row_labels": [label]}))
    for name in ("a.csv", "a.nfg", "a.json"):
        assert coebl("solve", name).returncode == 0
    assert not trace.exists()


@pytest.mark.parametrize("spec", SPECS["row"])
def test_loading_a_player_runs_no_file_that_it_names(tmp_path, trace, spec):
    Player("coebl", actions=2, opponent_actions=2, horizon=9).save("player.npz")
    with np.load("player.npz") as stored:
        arrays = dict(stored)
    settings = json.loads(arrays["settings"].tobytes()) | {"learner": spec}
    np.savez("player.npz", **{**arrays, "settings": np.frombuffer(json.dumps(settings).encode(), np.uint8)})
    with pytest.raises(InputError, match="not built in, and files that it names are never run; pass an equal learner"):
        Player.load("player.npz")
    assert not trace.exists()


@pytest.mark.parametrize("spec", ["evil.py:Own", "coebl:mutation=evil.py:Constant"])
def test_a_player_of_a_custom_file_is_loaded_if_the_file_is_named_again(tmp_path, trace, spec):
    player = Player(spec, actions=2, opponent_actions=2, horizon=9)  # this loads the file, which must not matter
    player.act()
    player.observe(reward=1.0, opponent=0)
    player.save("player.npz")
    with pytest.raises(InputError, match="not built in, and files that it names are never run; pass an equal learner"):
        Player.load("player.npz")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "evil.py").rename(tmp_path / "elsewhere" / "evil.py")
    moved = spec.replace("evil.py", f"{tmp_path}/elsewhere/evil.py")
    for learner in (moved, parse_learner(moved)):
        again = Player.load("player.npz", learner=learner)
        assert again.round == 2
        np.testing.assert_array_equal(again.policy, player.policy)
    with pytest.raises(InputError, match="and learner is exp3; pass an equal one"):
        Player.load("player.npz", learner="exp3")


def test_a_file_that_a_user_names_is_run(trace):
    parse_game("permuted:game=evil.py:game")
    assert trace.exists()


def test_loading_a_file_does_not_register_its_names(trace):
    parse_learner("evil.py:Own")
    assert "evil.py:Own" not in LEARNERS
    assert LEARNERS.known("evil.py:Own") is None


def nested(depth, inner="evil.py:Constant"):
    for _ in range(depth):
        inner = f"sparse:of={escape(inner)}"
    return f"coebl:mutation={escape(inner)}"


def test_a_spec_of_any_depth_is_searched_for_files_or_rejected():
    assert files_in(nested(10)) == ["evil.py"]
    for spec in (nested(18), nested(400, "gaussian"), "a:" * 100_000 + "evil.py:X"):
        with pytest.raises(InputError, match="nests specs too deeply; accepted: at most 16 colons"):
            files_in(spec)
        assert LEARNERS.known(spec) is None


def test_the_page_on_security_names_tests_that_exist():
    root = Path(__file__).parents[1]
    named = re.findall(r"`(tests/\S+\.py)`", (root / "docs" / "security.md").read_text("utf-8"))
    assert len(set(named)) > 10
    assert [name for name in named if not (root / name).is_file()] == []
