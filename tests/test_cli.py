"""The command line, run as a user runs it."""

import json
import subprocess
import sys

import pytest


def coebl(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "coebl.cli", *arguments], capture_output=True, text=True, cwd=cwd, check=False
    )


def test_help_is_quick_because_it_imports_nothing_heavy():
    code = (
        "import sys; from typer.testing import CliRunner; from coebl.cli import app; "
        "result = CliRunner().invoke(app, ['--help']); assert 'solve' in result.output, result.output; "
        "print(sorted({'numpy', 'scipy', 'numba', 'pandas'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_solve_prints_value_strategies_and_labels():
    run = coebl("solve", "rps")
    assert run.returncode == 0, run.stderr
    assert "value to the row player  0" in run.stdout
    assert run.stdout.count("0.333333") == 6
    assert "scissors" in run.stdout
    assert "yes: neither player" in run.stdout


def test_solve_json():
    run = coebl("solve", "hide-and-seek:1/2/4", "--json")
    answer = json.loads(run.stdout)
    assert set(answer) == {"value", "row", "column", "gap", "status", "pivots"}
    assert answer["value"] == pytest.approx(4 / 7)
    assert answer["row"] == pytest.approx([4 / 7, 2 / 7, 1 / 7])
    assert answer["gap"] <= 1e-9
    assert answer["status"] == "optimal"


def test_solve_a_csv_of_ones_own(tmp_path):
    (tmp_path / "mine.csv").write_text(",left,middle,right\nattack,2,0,3\nwait,0,1,3\n")
    run = coebl("solve", "mine.csv", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "value to the row player  0.6666666667" in run.stdout
    assert "attack  0.333333" in run.stdout
    assert "1 of 3 actions are not played" in run.stdout


def test_kuhn_poker():
    run = coebl("solve", "kuhn-poker", "--json")
    assert json.loads(run.stdout)["value"] == pytest.approx(-1 / 18, abs=1e-12)


@pytest.mark.parametrize(
    ("what", "lines"),
    [
        ("games", ["  rps               Rock-paper-scissors", "diagonal:n=..."]),
        ("noises", ["  student-t    Student's t", "student-t:df=3,sigma=1"]),
        ("metrics", ["  tv                      TV distance", "sum of V - x_t' A y_t; lower is better"]),
        ("mutations", ["  gaussian-prose  The variance that"]),
        ("selections", ["  elitist  The new policy where"]),
        (
            "learners",
            [
                "bandit: sees its own reward alone\n\n  exp3 ",
                "informed bandit: sees its own reward and the opponent's action\n\n  coebl  COEBL",
                "         needs the number of rounds in advance",
                "oracle, for reference: sees the true payoffs or the opponent's policy\n\n  nash ",
                "Lin (2025)",
            ],
        ),
    ],
)
def test_lists(what, lines):
    listed = coebl("list", what).stdout
    for line in lines:
        assert line in listed


def test_show_prints_the_matrix_and_where_it_comes_from():
    shown = coebl("show", "biased-rps").stdout
    assert "rock" in shown
    assert "-0.5" in shown
    assert "value 0" in shown
    assert "OpenSpiel's `matrix_brps`" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "rsp"], "unknown game 'rsp': did you mean 'rps'? See: coebl list games"),
        (["solve", "diagonal:0"], "diagonal: n is 0; accepted: a whole number, 1 .. 10."),
        (["solve", "diagonal:k=2"], "diagonal has no parameter 'k'"),
        (["solve", "nowhere.csv"], "nowhere.csv"),
        (["solve", "broken.csv"], "broken.csv"),
        (["show", "rps:4"], "'4' has no name; accepted: rps, without parameters"),
        (["show", "fixd"], "unknown game or learner 'fixd': did you mean 'fixed'? See: coebl list games, coebl"),
        (["solve", "game.xlsx"], "game.xlsx: the suffix is '.xlsx'; accepted: .csv, .npy, .json, .nfg."),
        (["list", "planets"], "WHAT is 'planets'; accepted: games, learners, metrics, noises, mutations, selections."),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_two(tmp_path, arguments, message):
    (tmp_path / "broken.csv").write_text("1,2\n3\n")
    run = coebl(*arguments, cwd=tmp_path)
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.count("\n") == 1
    assert run.stderr.startswith("coebl: ")
    assert message in run.stderr


def test_the_reader_may_leave_early():
    run = subprocess.run(
        f"{sys.executable} -m coebl.cli list games | head -1", shell=True, capture_output=True, text=True, check=False
    )
    assert run.stdout.count("\n") == 1
    assert "Traceback" not in run.stderr


def match(game, row, column, rounds, *options, cwd=None):
    named = {"--game": game, "--row": row, "--column": column, "--rounds": str(rounds)}
    return coebl("match", *(part for pair in named.items() for part in pair), *options, cwd=cwd)


def test_match_prints_intervals_and_a_reading():
    run = match("matching-pennies", "fixed:1/0", "best-response", 50)
    assert run.returncode == 0, run.stderr
    assert "pseudo_regret                 50.0000   50.0000 .. 50.0000" in run.stdout
    assert "The column player, best-response, wins 1 a round more than the value of the game gives it." in run.stdout


def test_match_that_nobody_wins():
    run = match("rps", "nash", "nash", 20, "--seeds", "5")
    assert "Neither player wins more than the value of the game gives it." in run.stdout


def test_match_json():
    run = match(
        "diagonal:2", "ucb", "coebl:c=2.0", 30, "--seeds", "4", "--first-seed", "7", "--noise", "laplace", "--json"
    )
    answer = json.loads(run.stdout)
    assert {key: answer[key] for key in ("game", "row", "column", "rounds", "seeds")} == {
        "game": "diagonal:n=2",
        "row": "ucb",
        "column": "coebl:c=2",
        "rounds": 30,
        "seeds": 4,
    }
    assert set(answer["metrics"]["pseudo_regret"]) == {"mean", "low", "high", "sd"}
    again = coebl(
        "match", "--game", "diagonal:2", "--row", "ucb", "--column", "coebl:c=2", "--rounds", "30", "--seeds", "4"
    )
    assert str(answer["metrics"]["regret"]["mean"])[:6] not in again.stdout  # other seeds and noise


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--game", "rps", "--row", "ubc", "--column", "ucb"], "unknown learner 'ubc': did you mean 'ucb'?"),
        (["--game", "rps", "--row", "coebl:c=-1", "--column", "ucb"], "coebl: c is -1.0; accepted: a number, >= 0."),
        (["--game", "rps", "--row", "ucb", "--column", "ucb", "--rounds", "0"], "rounds is 0; accepted"),
        (["--game", "rps", "--row", "ucb", "--column", "ucb", "--seeds", "0"], "--seeds is 0"),
        (["--game", "rps", "--row", "fixed:1/0", "--column", "ucb"], "fixed"),
        (["--game", "rps", "--row", "mine.py:Mine", "--column", "ucb"], "mine.py: no such file"),
        (["--game", "rps", "--row", "ucb", "--column", "ucb", "--noise", "gausian"], "did you mean 'gaussian'?"),
    ],
)
def test_match_mistakes(options, message):
    run = coebl("match", *options)
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1), run.stderr
    assert message in run.stderr


MINE = """
from dataclasses import dataclass
import numpy as np
from coebl import Learner

@dataclass
class Mine(Learner):
    rate: float = 0.5

    def start(self, seat):
        self.seat, self.score = seat, seat.zeros(seat.actions)

    def policy(self, t):
        weights = np.exp(self.rate * (self.score - self.score.max(axis=1, keepdims=True)) / np.sqrt(t))
        self.played = weights / weights.sum(axis=1, keepdims=True)
        return self.played

    def observe(self, t, seen):
        played = self.seat.at(seen.action)
        self.score[played] += SIGN * seen.reward / np.maximum(0.05, self.played[played])
"""


def test_a_learner_of_ones_own_in_a_file(tmp_path):
    (tmp_path / "mine.py").write_text(MINE.replace("SIGN", "1"))
    report = coebl("check", "mine.py:Mine", cwd=tmp_path)
    assert report.returncode == 0, report.stdout + report.stderr
    assert "checks, no failures" in report.stdout
    run = coebl(
        "match", "--game", "rps", "--row", "mine.py:Mine:rate=0.2", "--column", "ucb", "--rounds", "40", cwd=tmp_path
    )
    assert "mine.py:Mine:rate=0.2 v ucb" in run.stdout, run.stderr
    (tmp_path / "wrong.py").write_text(MINE.replace("SIGN", "-1"))
    report = coebl("check", "wrong.py:Mine", cwd=tmp_path)
    assert report.returncode == 1
    assert "FAIL  learns a dominant action in both seats" in report.stdout
    assert "did you mean 'Mine'?" in coebl("check", "mine.py:Mien", cwd=tmp_path).stderr


def test_show_a_learner():
    shown = coebl("show", "coebl:c=2").stdout
    assert shown.startswith("coebl:c=2\n\nCOEBL\n")
    assert "c: a number, >= 0" in shown
    assert "informed bandit: sees its own reward and the opponent's action; needs the horizon" in shown


def test_a_game_of_ones_own_in_a_file(tmp_path):
    (tmp_path / "mine.py").write_text(GAME)
    assert "value to the row player  0.3333333333" in coebl("solve", "mine.py:identity:3", cwd=tmp_path).stdout
    shown = coebl("show", "mine.py:identity", cwd=tmp_path).stdout
    assert "mine.py:identity: 2 x 2" in shown
    assert "Win one if both choose the same." in shown
    assert "ok    its equilibrium is certified" in coebl("check", "mine.py:identity", cwd=tmp_path).stdout
    played = match("mine.py:identity:n=3", "uniform", "uniform", 20, cwd=tmp_path).stdout
    assert played.startswith("mine.py:identity:n=3, uniform v uniform, 20 rounds")


GAME = """
import numpy as np
from coebl import Game

def identity(n: int = 2) -> Game:
    '''Win one if both choose the same.'''
    return Game(np.eye(n))
"""
