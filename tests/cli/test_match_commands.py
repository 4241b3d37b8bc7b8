"""The command match."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from rich.progress import Progress

from coebl import simulate
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


def test_the_reason_of_an_infinite_mean_is_that_of_the_metric(coebl, tmp_path):
    text = "from coebl.metrics import Total\nclass Far(Total):\n    name = 'far'\n    def terms(self, block):\n"
    (tmp_path / "far.py").write_text(f"{text}        return block.reward + float('inf')\n")
    words = "--seeds", 3, "--metric", "far.py:Far", "--metric", "kl"
    run = match(coebl, "diagonal:2", "ucb", "exp3", 9, *words, cwd=tmp_path)
    assert re.search(r"^far +infinite  in 3 runs$", run.stdout, re.MULTILINE)
    assert re.search(r"^kl +infinite  an action outside the equilibrium is played$", run.stdout, re.MULTILINE)


def test_match_without_a_winner_or_a_significant_difference(coebl):
    run = match(coebl, "rps", "nash", "nash", 20, "--seeds", "5")
    assert "Neither player wins more than the value of the game gives it." in run.stdout
    _, out, _ = coebl(*PLAY, "--column", "exp3", "--rounds", "30", "--seeds", "3")
    assert "Undecided: the " in out
    low, high = re.search(r"95 %\s+interval\s+(\S+) \.\. (\S+)\.\n", out).groups()
    assert float(low) < 0 < float(high)


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
def test_a_terminal_shows_a_progress_bar_and_a_file_does_not(coebl):
    reader, terminal = os.openpty()
    words = [*PLAY, "--column", "uniform", "--rounds", "40", "--seeds", "2"]
    command = [sys.executable, "-m", "coebl", *words]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, text=True, check=True)
    os.close(terminal)
    shown = os.read(reader, 100_000).decode(errors="replace")  # the buffer may end within a character
    os.close(reader)
    assert "rps, ucb v uniform, 40 rounds" in shown.replace("\r\n", " ")
    assert ", 0 of 40" in shown  # it is there before the first round, while the solver may have to be compiled
    assert "\nrps, ucb v uniform, 40 rounds, 2 seeds" in run.stdout
    assert coebl(*words).stderr == ""


def test_match_prints_its_sentence_first_then_the_selected_metrics_or_three(coebl):
    few = [*PLAY, "--rounds", "10", "--seeds", "3"]
    selection = ["--metric", "exploitability", "--metric", "tv"]
    for options, expected in (
        ([], ["regret", "pseudo_regret", "exploitability"]),
        (selection, ["exploitability", "tv"]),
    ):
        out = coebl(*few, *options).stdout
        assert out.startswith(("Undecided", "Neither player", "3 seeds are too few"))  # always about regret
        assert [line.split()[0] for line in out.splitlines()[-len(expected) :]] == expected
    assert list(json.loads(coebl(*few, *options, "--json").stdout)["metrics"]) == ["exploitability", "tv"]
    everything = coebl(*few, "--metric", "all").stdout
    assert {"tv", "regret_magnitude"} <= {line.split()[0] for line in everything.splitlines() if line}
    assert "tv" in json.loads(coebl(*few, "--json").stdout)["metrics"]  # JSON has all metrics


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("game", ["rps", "diagonal:n=7,space=bits"])
def test_match_saves_actions_and_rewards(tmp_path, suffix, game, coebl):
    """Genomes as strings of bits."""
    pandas = pytest.importorskip("pandas")
    path = tmp_path / f"rounds{suffix}"
    players = ("ucb", "exp3") if game == "rps" else ("pbil", "uniform")
    done = match(coebl, game, *players, 6, "--seeds", "3", "--first-seed", "5", "--save", path)
    assert done.returncode == 0, done.stderr
    table = pandas.read_csv(path, dtype=str) if suffix == ".csv" else pandas.read_parquet(path)
    kept = simulate(game, *players, rounds=6, seeds=range(5, 8), keep=("actions", "rewards")).kept
    assert list(table) == ["seed", "round", "row_action", "column_action", "row_reward", "column_reward"]
    assert table["seed"].astype(int).tolist() == [5] * 6 + [6] * 6 + [7] * 6
    assert table["round"].astype(int).tolist() == [1, 2, 3, 4, 5, 6] * 3
    for name, array in zip(table.columns[2:], [*kept["actions"], *kept["rewards"]], strict=True):
        if array.ndim == 3:
            genomes = ["".join(map(str, genome)) for genome in array.swapaxes(0, 1).reshape(18, 7)]
            assert table[name].tolist() == genomes
        else:
            np.testing.assert_array_equal(table[name].astype(float), array.T.ravel())


def test_match_json(coebl):
    def answer(*words):
        _, out, error = coebl(*PLAY, *words, "--rounds", "30", "--seeds", "4", "--json")
        assert error == ""
        return json.loads(out)

    words = ["--game", "diagonal:2", "--column", "coebl:c=2.0"]
    result = answer(*words, "--first-seed", "7", "--noise", "laplace")
    assert {key: result[key] for key in ("game", "row", "column", "rounds", "seeds", "noise", "first_seed")} == {
        "game": "diagonal:n=2",
        "row": "ucb",
        "column": "coebl:c=2",
        "rounds": 30,
        "seeds": 4,
        "noise": "laplace",
        "first_seed": 7,
    }
    assert set(result["metrics"]["pseudo_regret"]) == {"mean", "low", "high", "sd"}
    assert answer(*words, "--first-seed", "7", "--noise", "laplace") == result
    for others in (["--noise", "laplace"], ["--first-seed", "7"]):
        assert answer(*words, *others)["metrics"]["regret"]["mean"] != result["metrics"]["regret"]["mean"]


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
    """With few runs, Student's interval exceeds the payoffs of the game."""
    words = "diagonal:2", "exp3", "exp3", 20, "--seeds", "2", "--metric", "exploitability"
    raw = json.loads(match(coebl, *words, "--json").stdout)
    assert raw["metrics"]["exploitability"]["high"] > 2  # JSON has the interval without the cut
    cut = match(coebl, *words).stdout
    assert re.search(r"^exploitability .* 2\.0+$", cut, re.MULTILINE)


def test_a_long_match_is_announced_where_there_is_no_progress_bar_and_a_slow_one_always(coebl, monkeypatch):
    short = [*PLAY, "--rounds", "3", "--seeds", "2"]
    assert coebl(*short).stderr == ""
    monkeypatch.setattr("coebl.cli.match_commands._LONG", 1e-9)
    announced = coebl(*short).stderr
    assert re.fullmatch(r"playing: [\d.e-]+ s to [\d.e-]+ s, by the declared costs of the learners\n", announced)
    monkeypatch.setattr("coebl.study.progress.LINE_INTERVAL", 0.0)
    assert "rps, ucb v ucb, 3 rounds, 3 of 3\n" in coebl(*short).stderr
    monkeypatch.setattr("coebl.cli.match_commands._SLOW", 1e-9)
    bar = Progress(disable=True)
    bar.add_task("as on a terminal")
    monkeypatch.setattr("coebl.study.progress.open_bar", lambda *_, **__: bar)
    estimate, faster = coebl(*short).stderr.splitlines()
    assert estimate.endswith("by the declared costs of the learners")
    assert faster == "to make it faster: fewer --seeds or --rounds, or learners such as exp3"


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
