"""The command line, run as a user runs it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from coebl import Game, Match, parse_game, simulate
from coebl.cli.waiting import compilation_told
from sources import SURPRISE


def in_a_process(*arguments, cwd=None, **environment):
    return subprocess.run(
        [sys.executable, "-m", "coebl.cli", *arguments],
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        env=os.environ | environment,
        check=False,
    )


PLAY = ["match", "--game", "rps", "--row", "ucb", "--column", "ucb"]  # a later --row counts
MISTAKES = [  # words of the command, exit code, part of the line
    (["solve", "rsp"], 2, "unknown game 'rsp': did you mean 'rps'? See: coebl list games"),
    (["solve", "diagonal:0"], 2, "diagonal: n is 0; accepted: a whole number, 1 .. 10."),
    (["solve", "diagonal:k=2"], 2, "diagonal has no parameter 'k'"),
    (["solve", "nowhere.csv"], 2, "nowhere.csv: there is no such file"),
    (["solve", "broken.csv"], 2, "broken.csv: line 2 has 1 cells; accepted: 2, as on line 1."),
    (["solve", "game.xlsx"], 2, "game.xlsx: the suffix is '.xlsx'; accepted: .csv, .npy, .json, .nfg."),
    (["solve", "x" * 300], 2, "See: coebl list games"),
    (["solve", "x" * 300 + ".csv"], 2, "cannot be read (File name too long)"),
    (["solve", "a\nb\x1b[2J"], 2, r"unknown game 'a\nb\x1b[2J'"),
    (["solve", "labels.csv"], 2, r"column_labels has 'a\nb' twice"),
    (["solve"], 2, "Missing argument 'GAME'. See: coebl solve --help"),
    (["show", "rps:4"], 2, "'4' has no name; accepted: rps, without parameters"),
    (
        ["show", "fixd"],
        2,
        "unknown game, learner or metric 'fixd': did you mean 'fixed'? See: coebl list games, coebl list learners, ",
    ),
    (
        ["list", "planets"],
        2,
        "WHAT is 'planets'; accepted: games, learners, metrics, noises, mutations, "
        "recombinations, selections, populations.",
    ),
    (["check", "own.py"], 2, "own.py does not say which learner; accepted: own.py:Name. It has: Mine."),
    (["check", "own.py:Mien"], 2, "own.py has no learner 'Mien': did you mean 'Mine'? It has: Mine."),
    ([*PLAY, "--row", "ubc"], 2, "unknown learner 'ubc': did you mean 'ucb'?"),
    ([*PLAY, "--row", "coebl:c=-1"], 2, "coebl: c is -1.0; accepted: a number, >= 0."),
    (
        [*PLAY, "--row", "coebl:c=[2,8]"],
        2,
        "coebl: c is '[2'; accepted: a number, >= 0. Lists in brackets are f",
    ),
    ([*PLAY, "--row", "fixed:1/0"], 2, "fixed"),
    ([*PLAY, "--row", "mine.py:Mine"], 2, "mine.py: no such file"),
    ([*PLAY, "--row", "own.py"], 2, "own.py does not say which learner; accepted: own.py:Name. It has: Mine."),
    ([*PLAY, "--row", "best-response", "--column", "best-response"], 2, "each would have to see the other's policy"),
    ([*PLAY, "--noise", "gausian"], 2, "did you mean 'gaussian'?"),
    ([*PLAY, "--rounds", "0"], 2, "rounds is 0; accepted: a whole number, 1 .. 1,000,000,000."),
    ([*PLAY, "--rounds", "1" + "0" * 30], 2, "rounds is 1000000000000000000000000000000; accepted: a whole number"),
    ([*PLAY, "--rounds", "many"], 2, "Invalid value for '--rounds': "),
    ([*PLAY, "--seeds", "0"], 2, "--seeds is 0; accepted: a whole number, 1 .. 1,000,000."),
    ([*PLAY, "--seeds", "1000000000000"], 2, "--seeds is 1000000000000; accepted: a whole number, 1 .. 1,000,000."),
    ([*PLAY, "--first-seed", "9" * 20], 2, "--first-seed is 99999999999999999999; accepted: a whole number, 0 .. 9"),
    ([*PLAY, "--game", "huge.csv"], 2, "huge has payoffs or a payoff range up to 8e+307; accepted in a match: at most"),
    ([*PLAY, "--metric", "regrt"], 2, "unknown metric 'regrt': did you mean 'regret'? Accepted: regret, "),
    ([*PLAY, "--metric", "own.py:Mine"], 2, "accepted: a class that extends coebl.metrics.Metric."),
    ([*PLAY, "--metric", "second.py:Regret"], 2, "two metrics are called 'pseudo_regret'; accepted: names that differ"),
    (["check", "nameless.py:Metric"], 2, "it has no name; accepted: a class attribute such as"),
    ([*PLAY, "--game", "blotto", "--metric", "kl"], 2, "kl needs a unique equilibrium, and blotto has more than one"),
    ([*PLAY, "--save", "rounds.txt"], 2, "--save is rounds.txt; accepted: a file that ends in .parquet or .csv."),
    ([*PLAY, "--save", "no/rounds.csv"], 2, "--save is no/rounds.csv, and the folder no does not exist. Make it."),
    (
        [*PLAY, "--save", "a.csv", "--rounds", "999999"],
        2,
        "--save would write 49,999,950 lines; accepted: at most 20",
    ),
]


@pytest.mark.parametrize(("arguments", "code", "message"), MISTAKES)
def test_a_mistake_is_one_line(tmp_path, monkeypatch, arguments, code, message, coebl):
    (tmp_path / "broken.csv").write_text("1,2\n3\n")
    (tmp_path / "huge.csv").write_text("8e307,-8e307\n-8e307,8e307\n")
    (tmp_path / "labels.csv").write_text('"a\nb","a\nb"\n1,2\n')
    (tmp_path / "own.py").write_text(MINE)
    (tmp_path / "nameless.py").write_text("from coebl.metrics import Metric\n")
    (tmp_path / "second.py").write_text(
        "from coebl import metrics\nclass Regret(metrics.Regret):\n    name = 'pseudo_regret'\n"
    )
    monkeypatch.chdir(tmp_path)
    stopped, out, error = coebl(*arguments)
    assert (stopped, out, error.count("\n")) == (code, "", 1), error
    assert error.startswith("coebl: ")
    assert message in error


def test_help_is_quick_because_it_imports_nothing_heavy():
    code = (
        "import sys; from typer.testing import CliRunner; from coebl.cli import app; "
        "result = CliRunner().invoke(app, ['--help']); assert 'solve' in result.output, result.output; "
        "print(sorted({'numpy', 'scipy', 'numba', 'pandas'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_solve_prints_value_strategies_and_labels():
    run = in_a_process("solve", "rps")
    assert run.returncode == 0, run.stderr
    assert "value to the row player  0" in run.stdout
    assert run.stdout.count("0.333333") == 6
    assert "scissors" in run.stdout
    assert "yes: neither player" in run.stdout


def test_solve_json(coebl):
    code, out, _ = coebl("solve", "hide-and-seek:1/2/4", "--json")
    assert code == 0
    answer = json.loads(out)
    assert answer["name"] == "hide-and-seek"
    assert answer["value"] == pytest.approx(4 / 7)
    assert answer["row"] == pytest.approx([4 / 7, 2 / 7, 1 / 7])
    assert answer["row_labels"] == answer["column_labels"] == ["0", "1", "2"]
    assert answer["unique"]["answer"] == "yes"
    assert 0 <= answer["gap"] <= 1e-9
    assert answer["status"] == "optimal"


def test_the_gap_is_not_negative(tmp_path, coebl):
    below = next(game for game in (random_game(seed) for seed in range(100)) if game.solution.gap < 0)
    below.write(tmp_path / "below.npy")
    _, out, _ = coebl("solve", str(tmp_path / "below.npy"), "--json")
    assert json.loads(out)["gap"] == 0


def random_game(seed):
    return parse_game(f"random-gaussian:m=3,n=3,seed={seed}")


@pytest.mark.parametrize("command", ["solve", "show"])
def test_labels_are_escaped_and_shown_on_any_terminal(tmp_path, coebl, command):
    Game(np.ones((2, 1)), row_labels=["up\x1b[2J\n", "naïve"], column_labels=["l"]).write(tmp_path / "odd.json")
    ascii_only = in_a_process(command, "odd.json", cwd=tmp_path, PYTHONIOENCODING="ascii")
    for run, shown in ((coebl(command, "odd.json", cwd=tmp_path), "naïve"), (ascii_only, r"na\xefve")):
        assert run.returncode == 0, run.stderr
        assert r"up\x1b[2J\n" in run.stdout
        assert shown in run.stdout or command == "solve"
        assert "\x1b" not in run.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "coebl.cli", "list", "games"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert run.returncode == 1
    assert run.stderr == (
        "coebl: the output cannot be written (No space left on device). Make room there, or write elsewhere.\n"
    )


def test_compilation_is_told_once(capsys):
    numba = pytest.importorskip("numba")
    with compilation_told():
        for _ in range(2):
            numba.njit(lambda number: number + 1)(1)
    assert capsys.readouterr().err == "coebl: compiling the solver, once for this machine; about a minute\n"
    numba.njit(lambda number: number + 2)(1)
    assert capsys.readouterr().err == ""


def test_solve_a_csv_of_ones_own(tmp_path, coebl):
    (tmp_path / "mine.csv").write_text(",left,middle,right\nattack,2,0,3\nwait,0,1,3\n")
    run = coebl("solve", "mine.csv", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "value to the row player  0.6666666667" in run.stdout
    assert "attack  0.333333" in run.stdout
    assert "1 of 3 actions are not played" in run.stdout


def test_kuhn_poker(coebl):
    run = coebl("solve", "kuhn-poker", "--json")
    assert json.loads(run.stdout)["value"] == pytest.approx(-1 / 18, abs=1e-12)


@pytest.mark.parametrize(
    ("what", "lines"),
    [
        ("games", ["  rps               Rock-paper-scissors", "diagonal:n=..."]),
        ("noises", ["  student-t    Student's t", "student-t:df=3,sigma=1"]),
        ("metrics", ["  tv                      TV distance", "sum of V - x_t' A y_t; lower is better"]),
        ("mutations", ["  gaussian-prose  The variance that"]),
        ("recombinations", ["  both       Kin's: a pair is the offspring"]),
        ("selections", ["  elitist     The fittest of old and new"]),
        ("populations", ["  pool   So many policies", "pool:size=1,mutants=1,play=mean,turnover=1"]),
        (
            "learners",
            [
                "bandit: sees its own reward alone\n\n  exp3 ",
                "informed bandit: sees its own reward and the opponent's action\n\n  coebl ",
                "         needs the number of rounds in advance",
                "oracle, for reference: sees the true payoffs or the opponent's policy\n\n  nash ",
                "Lin (2025)",
            ],
        ),
    ],
)
def test_lists(what, lines, coebl):
    listed = coebl("list", what).stdout
    for line in lines:
        assert line in listed


def test_show_prints_the_matrix_and_where_it_comes_from(coebl):
    shown = coebl("show", "biased-rps").stdout
    assert "rock" in shown
    assert "-0.5" in shown
    assert "value 0" in shown
    assert "OpenSpiel's `matrix_brps`" in shown


def test_the_reader_may_leave_early():
    run = subprocess.run(
        f"{sys.executable} -m coebl.cli list games | head -1", shell=True, capture_output=True, text=True, check=False
    )
    assert run.stdout.count("\n") == 1
    assert "Traceback" not in run.stderr


def match(coebl, game, row, column, rounds, *options, cwd=None):
    named = {"--game": game, "--row": row, "--column": column, "--rounds": str(rounds)}
    return coebl("match", *(part for pair in named.items() for part in pair), *options, cwd=cwd)


def test_match_prints_intervals_and_a_reading(coebl):
    run = match(coebl, "matching-pennies", "fixed:1/0", "best-response", 50)
    assert run.returncode == 0, run.stderr
    assert "pseudo_regret                 50.0000   50.0000 .. 50.0000" in run.stdout
    assert (
        "The column player, best-response, wins 1 a round more than the value of the game gives it, "
        "95 % interval 1 .. 1." in run.stdout
    )


def test_match_that_nobody_wins(coebl):
    run = match(coebl, "rps", "nash", "nash", 20, "--seeds", "5")
    assert "Neither player wins more than the value of the game gives it." in run.stdout


def test_match_within_the_noise_says_so(coebl):
    _, out, _ = coebl(*PLAY, "--column", "exp3", "--rounds", "30", "--seeds", "3")
    assert "Neither player is ahead: the " in out
    low, high = re.search(r"95 % interval (\S+) \.\. (\S+)\.\n", out).groups()
    assert float(low) < 0 < float(high)


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
def test_a_terminal_sees_a_bar_and_a_file_does_not(coebl):
    ours, theirs = os.openpty()
    words = [*PLAY, "--column", "uniform", "--rounds", "40", "--seeds", "2"]
    command = [sys.executable, "-m", "coebl.cli", *words]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, text=True, check=True)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode(errors="replace")  # a slow run fills it, and cuts a character
    os.close(ours)
    assert "rps, ucb v uniform, 40 rounds" in shown.replace("\r\n", " ")
    assert "0/40" in shown  # it is there before the first round, while the solver may have to be compiled
    assert run.stdout.startswith("rps, ucb v uniform, 40 rounds, 2 seeds")
    assert coebl(*words).stderr == ""


def test_match_prints_the_metrics_that_are_asked_for(coebl):
    wanted = ["--metric", "exploitability", "--metric", "tv", "--rounds", "10", "--seeds", "3"]
    _, out, _ = coebl(*PLAY, *wanted, "--json")
    assert list(json.loads(out)["metrics"]) == ["exploitability", "tv"]
    _, out, _ = coebl(*PLAY, *wanted)
    assert [line.split()[0] for line in out.splitlines()[4:6]] == ["exploitability", "tv"]
    assert out.splitlines()[6] == ""
    assert out.splitlines()[7].startswith(("Neither player", "The "))  # the sentence is still about regret


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_match_saves_what_happened_in_every_round(tmp_path, suffix, coebl):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / f"rounds{suffix}"
    words = ["--rounds", "6", "--seeds", "3", "--first-seed", "5", "--save", str(path)]
    code, _, error = coebl(*PLAY, "--column", "exp3", *words)
    assert code == 0, error
    table = pandas.read_csv(path) if suffix == ".csv" else pandas.read_parquet(path)
    kept = simulate(Match.of("rps", "ucb", "exp3", 6), range(5, 8), keep=("actions", "rewards")).kept
    assert list(table) == ["seed", "round", "row_action", "column_action", "row_reward", "column_reward"]
    assert table["seed"].tolist() == [5] * 6 + [6] * 6 + [7] * 6
    assert table["round"].tolist() == [1, 2, 3, 4, 5, 6] * 3
    for name, array in zip(table.columns[2:], [*kept["actions"], *kept["rewards"]], strict=True):
        np.testing.assert_array_equal(table[name], array.T.ravel())


def test_match_json(coebl):
    def answer(*words):
        _, out, error = coebl(*PLAY, *words, "--rounds", "30", "--seeds", "4", "--json")
        assert error == ""
        return json.loads(out)

    words = ["--game", "diagonal:2", "--column", "coebl:c=2.0"]
    found = answer(*words, "--first-seed", "7", "--noise", "laplace")
    assert {key: found[key] for key in ("game", "row", "column", "rounds", "seeds", "noise", "first_seed")} == {
        "game": "diagonal:n=2",
        "row": "ucb",
        "column": "coebl:c=2",
        "rounds": 30,
        "seeds": 4,
        "noise": "laplace",
        "first_seed": 7,
    }
    assert set(found["metrics"]["pseudo_regret"]) == {"mean", "low", "high", "sd"}
    assert answer(*words, "--first-seed", "7", "--noise", "laplace") == found
    for others in (["--noise", "laplace"], ["--first-seed", "7"]):
        assert answer(*words, *others)["metrics"]["regret"]["mean"] != found["metrics"]["regret"]["mean"]


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
        self.score[played] += seen.reward / np.maximum(0.05, self.played[played])
"""


def test_a_learner_of_ones_own_in_a_file(tmp_path, coebl):
    (tmp_path / "mine.py").write_text(MINE)
    report = coebl("check", "mine.py:Mine", cwd=tmp_path)
    assert report.returncode == 0, report.stdout + report.stderr
    assert "no failures" in report.stdout
    run = coebl(
        "match", "--game", "rps", "--row", "mine.py:Mine:rate=0.2", "--column", "ucb", "--rounds", "40", cwd=tmp_path
    )
    assert "mine.py:Mine:rate=0.2 v ucb" in run.stdout, run.stderr
    (tmp_path / "wrong.py").write_text(MINE.replace("+= seen", "-= seen"))
    report = coebl("check", "wrong.py:Mine", cwd=tmp_path)
    assert report.returncode == 1
    assert "FAIL  comes to play a dominant action in both seats" in report.stdout


def test_show_a_learner(coebl):
    shown = coebl("show", "coebl:c=2").stdout
    assert shown.startswith("coebl:c=2\n\nCOEBL\n")
    assert "c: a number, >= 0" in shown
    assert "informed bandit: sees its own reward and the opponent's action; needs the horizon" in shown


def test_a_game_of_ones_own_in_a_file(tmp_path, coebl):
    (tmp_path / "mine.py").write_text(GAME)
    assert "value to the row player  0.3333333333" in coebl("solve", "mine.py:identity:3", cwd=tmp_path).stdout
    shown = coebl("show", "mine.py:identity", cwd=tmp_path).stdout
    assert "mine.py:identity: 2 x 2" in shown
    assert "Win one if both choose the same." in shown
    assert "ok    its equilibrium is certified" in coebl("check", "mine.py:identity", cwd=tmp_path).stdout
    played = match(coebl, "mine.py:identity:n=3", "uniform", "uniform", 20, cwd=tmp_path).stdout
    assert played.startswith("mine.py:identity:n=3, uniform v uniform, 20 rounds")


GAME = """
import numpy as np
from coebl import Game

def identity(n: int = 2) -> Game:
    '''Win one if both choose the same.'''
    return Game(np.eye(n))
"""


def test_a_metric_of_ones_own_in_a_file(tmp_path, monkeypatch, coebl):
    (tmp_path / "mine.py").write_text(SURPRISE)
    (tmp_path / "wrong.py").write_text(SURPRISE.replace(".earned)", ".earned) + block.rounds"))
    monkeypatch.chdir(tmp_path)
    words = ["--metric", "mine.py:Surprise", "--metric", "tv", "--rounds", "10", "--seeds", "3", "--json"]
    _, out, error = coebl(*PLAY, *words)
    assert list(json.loads(out)["metrics"]) == ["surprise", "tv"], error
    assert json.loads(out)["metrics"]["surprise"]["mean"] > 0  # the noise is Gaussian
    code, out, _ = coebl("check", "mine.py:Surprise")
    assert (code, "no failures" in out) == (0, True), out
    code, out, _ = coebl("check", "wrong.py:Surprise")
    assert code == 1
    assert "FAIL  does not depend on how rounds are cut into blocks" in out
    _, out, _ = coebl("show", "mine.py:Surprise")
    assert "abs(r_t - A[a_t, b_t]); lower is better" in out


@pytest.mark.parametrize("outcome", [130, KeyboardInterrupt])
def test_control_c_says_stopped_whether_typer_returns_or_raises(coebl, monkeypatch, outcome):
    def interrupted(**_):
        if outcome == 130:
            return outcome
        raise outcome

    monkeypatch.setattr("coebl.cli.app", interrupted)
    done = coebl("solve", "rps")
    assert done[:1] + done[-1:] == (130, "coebl: stopped\n")
