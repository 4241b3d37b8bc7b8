"""The command match."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from rich.progress import Progress

from coebl import Match, simulate
from sources import PLAY


def match(coebl, game, row, column, rounds, *options, cwd=None):
    seats = ("--row", row, "--column", column)
    return coebl("match", "--game", game, *seats, "--rounds", rounds, *options, cwd=cwd)


def test_match_prints_intervals_and_the_winner(coebl):
    run = match(coebl, "matching-pennies", "fixed:1/0", "best-response", 50)
    assert run.returncode == 0, run.stderr
    assert re.search(r"^pseudo_regret +50  50 \.\. 50$", run.stdout, re.MULTILINE)
    assert (
        "The column player, best-response, wins 1 a round more than the value of the game gives it, "
        "95 % interval 1 .. 1." in " ".join(run.stdout.split())
    )


def test_intervals_are_cut_at_the_bounds_of_a_metric(coebl):
    """Student's interval would go below 0 if one run in ten is off the equilibrium."""
    words = ["--metric", "tv", "--metric", "regret_magnitude", "--seeds", "10"]
    lines = match(coebl, "diagonal:2", "ucb", "coebl:c=2", 600, *words).stdout.splitlines()[-2:]
    assert [line.split()[0] for line in lines] == ["tv", "regret_magnitude"]
    assert all(float(line.split()[2]) >= 0 for line in lines)
    raw = json.loads(match(coebl, "diagonal:2", "ucb", "coebl:c=2", 600, *words, "--json").stdout)["metrics"]["tv"]
    assert raw["low"] < 0 < raw["mean"]


def test_match_without_a_winner_or_a_significant_difference(coebl):
    run = match(coebl, "rps", "nash", "nash", 20, "--seeds", "5")
    assert "Neither player wins more than the value of the game gives it." in run.stdout
    _, out, _ = coebl(*PLAY, "--column", "exp3", "--rounds", "30", "--seeds", "3")
    assert "Undecided: the " in out
    low, high = re.search(r"95 %\s+interval\s+(\S+) \.\. (\S+)\.\n", out).groups()
    assert float(low) < 0 < float(high)


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
def test_a_terminal_sees_a_bar_and_a_file_does_not(coebl):
    ours, theirs = os.openpty()
    words = [*PLAY, "--column", "uniform", "--rounds", "40", "--seeds", "2"]
    command = [sys.executable, "-m", "coebl", *words]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, text=True, check=True)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode(errors="replace")  # a slow run fills it, which may cut a character
    os.close(ours)
    assert "rps, ucb v uniform, 40 rounds" in shown.replace("\r\n", " ")
    assert ", 0 of 40" in shown  # it is there before the first round, while the solver may have to be compiled
    assert "\nrps, ucb v uniform, 40 rounds, 2 seeds" in run.stdout
    assert coebl(*words).stderr == ""


def test_match_prints_the_selected_metrics(coebl):
    wanted = ["--metric", "exploitability", "--metric", "tv", "--rounds", "10", "--seeds", "3"]
    _, out, _ = coebl(*PLAY, *wanted, "--json")
    assert list(json.loads(out)["metrics"]) == ["exploitability", "tv"]
    _, out, _ = coebl(*PLAY, *wanted)
    assert [line.split()[0] for line in out.splitlines()[-2:]] == ["exploitability", "tv"]
    assert out.startswith(("Undecided", "Neither player", "The "))  # still about regret


def test_match_prints_its_sentence_first_and_three_metrics_by_default(coebl):
    few = [*PLAY, "--rounds", "10", "--seeds", "3"]
    out = coebl(*few).stdout
    assert out.startswith(("Undecided", "Neither player", "3 seeds are too few"))
    assert [line.split()[0] for line in out.splitlines()[-3:]] == ["regret", "pseudo_regret", "exploitability"]
    everything = coebl(*few, "--metric", "all").stdout
    assert {"tv", "regret_magnitude"} <= {line.split()[0] for line in everything.splitlines() if line}
    assert "tv" in json.loads(coebl(*few, "--json").stdout)["metrics"]  # JSON has all metrics


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_match_saves_actions_and_rewards(tmp_path, suffix, coebl):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / f"rounds{suffix}"
    words = ["--rounds", "6", "--seeds", "3", "--first-seed", "5", "--save", str(path)]
    code, _, error = coebl(*PLAY, "--column", "exp3", *words)
    assert code == 0, error
    table = pandas.read_csv(path, dtype=str).astype(float) if suffix == ".csv" else pandas.read_parquet(path)
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


def test_one_seed_has_no_interval(coebl):
    out = coebl(*PLAY, "--rounds", "30", "--seeds", "1").stdout
    assert "nan" not in out
    assert "\nrps, ucb v ucb, 30 rounds, 1 seed, noise gaussian\n" in out
    assert re.search(r"^regret +-?[\d.]+  none: one seed$", out, re.MULTILINE)


def test_too_few_seeds_do_not_make_a_winner(coebl):
    few, enough = (match(coebl, "rps", "fixed:1/0/0", "best-response", 50, "--seeds", str(n)).stdout for n in (2, 5))
    too_few = "2 seeds are too few to decide who wins; use 5 or more --seeds. In these runs the column player"
    assert too_few in " ".join(few.split())
    assert "The column player, best-response, wins" in enough


def test_an_interval_of_exploitability_ends_at_the_width_of_the_payoffs(coebl):
    """With few runs, Student's interval goes beyond what a game can pay."""
    out = match(coebl, "matching-pennies", "fixed:1/0", "exp3", 3, "--seeds", "2", "--metric", "exploitability").stdout
    [line] = [line for line in out.splitlines() if line.startswith("exploitability")]
    mean, low, _, high = line.split()[1:]
    assert 0 <= float(low) <= float(mean) <= float(high) <= 2
    words = "diagonal:2", "exp3", "exp3", 20, "--seeds", "2", "--metric", "exploitability"
    raw = json.loads(match(coebl, *words, "--json").stdout)
    assert raw["metrics"]["exploitability"]["high"] > 2  # so that the cut is needed: JSON has the numbers as they are
    cut = match(coebl, *words).stdout
    assert re.search(r"^exploitability .* 2\.0+$", cut, re.MULTILINE)


def test_a_long_match_is_announced_where_there_is_no_bar_and_a_slow_one_everywhere(coebl, monkeypatch):
    short = [*PLAY, "--rounds", "3", "--seeds", "2"]
    assert coebl(*short).stderr == ""
    monkeypatch.setattr("coebl.cli.match_commands._LONG", 1e-9)
    announced = coebl(*short).stderr
    assert re.fullmatch(r"playing: [\d.e-]+ s to [\d.e-]+ s, by the declared costs of the learners\n", announced)
    monkeypatch.setattr("coebl.cli.match_commands._SLOW", 1e-9)
    bar = Progress(disable=True)
    bar.add_task("as on a terminal")
    monkeypatch.setattr("coebl.study.progress.open_bar", lambda *_, **__: bar)
    estimate, faster = coebl(*short).stderr.splitlines()
    assert estimate.endswith("by the declared costs of the learners")
    assert faster == "to make it faster: fewer --seeds or --rounds, or learners such as exp3"


def test_saved_genomes_are_strings_of_bits(coebl, tmp_path):
    run = match(coebl, "diagonal:n=7,space=bits", "pbil", "uniform", 4, "--seeds", "3", "--save", "r.csv", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    header, *lines = (tmp_path / "r.csv").read_text().splitlines()
    assert header == "seed,round,row_action,column_action,row_reward,column_reward"
    result = simulate("diagonal:n=7,space=bits", "pbil", "uniform", rounds=4, seeds=3, keep=("actions",))
    played = result.kept["actions"]
    expected = [
        [str(seed), str(t + 1), *("".join(map(str, actions[t, seed])) for actions in played)]
        for seed in range(3)
        for t in range(4)
    ]
    assert [line.split(",")[:4] for line in lines] == expected


def test_a_game_without_a_value_is_played_and_its_rewards_are_printed(coebl, tmp_path):
    (tmp_path / "mine.py").write_text(
        "def payoff(x, y, n: int = 12):\n    return x.mean(axis=-1) * (1 - y.mean(axis=-1))\n"
    )
    options = ["--seeds", "5", "--noise", "none"]
    players = "fixed-genome:ones", "fixed-genome:zeros"
    run = match(coebl, "mine.py:payoff", *players, 20, *options, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert re.match(
        r"The row player earns \S+ a round, 95 % interval \S+ \.\. \S+; the value of the game is not known\.",
        " ".join(run.stdout.split()),  # lines are broken at the width of the terminal
    )
    assert "value of the game not known" in run.stdout
    summary = json.loads(match(coebl, "mine.py:payoff", *players, 20, *options, "--json", cwd=tmp_path).stdout)
    assert summary["value"] is None
    assert list(summary["metrics"]) == ["entropy"]
    run = match(coebl, "mine.py:payoff", *players, 20, *options, "--metric", "exploitability", cwd=tmp_path)
    assert run.returncode == 2
    assert run.stderr.startswith("coebl: exploitability needs a game with an exact best response")
