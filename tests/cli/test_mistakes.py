"""Mistakes on the command line: each is reported on one line that names what is accepted."""

import os

import pytest

from sources import MINE, PLAY
from study_runs import go
from study_texts import small_study

RUNTIME = ["runtime", "ucb", "--game", "diagonal:n=2"]
MISTAKES = [  # words of the command, part of the line
    (["solve", "rsp"], "unknown game 'rsp': did you mean 'rps'? See: coebl list games"),
    (["solve", "RPS"], "unknown game 'RPS': did you mean 'rps'? See: coebl list games"),
    (["solve", "diagonal:0"], "diagonal: n is 0; accepted: an integer, 1 .. 5000 with space=bits, 1 .. 10 without."),
    (["solve", "diagonal:k=2"], "diagonal has no parameter 'k'"),
    (["solve", "nowhere.csv"], "nowhere.csv: there is no such file"),
    (["solve", "broken.csv"], "broken.csv: line 2 has 1 cell; accepted: 2, as on line 1."),
    (["solve", "game.xlsx"], "game.xlsx: the suffix is '.xlsx'; accepted: .csv, .npy, .json, .nfg."),
    (["solve", "endless.csv"], "endless.csv: cannot be read (this is a pipe or a device, not a file)"),
    (["solve", "pipe.csv"], "pipe.csv: cannot be read (this is a pipe or a device, not a file)"),
    (["solve", "large.csv"], "large.csv: this is larger than the limit of 64 MiB; save the game"),
    (["run", "/dev/zero", "--out", "new"], "/dev/zero: this is a pipe or a device, not a file; accepted: a study"),
    (["run", "large.csv", "--out", "new"], "large.csv: this is larger than the limit of 64 MiB"),
    (["check", "endless.py:Mine"], "endless.py: this is a pipe or a device, not a file; accepted: path/to/file.py"),
    (["solve", "x" * 300], "See: coebl list games"),
    (["solve", "x" * 300 + ".csv"], "a name that is too long"),
    (["solve", "a\nb\x1b[2J"], r"unknown game 'a\nb\x1b[2J'"),
    (["solve", "labels.csv"], r"column_labels has 'a\nb' twice"),
    (["results", "new", "--html"], "coebl: No such option: --html. See: coebl results --help\n"),
    (["results", "new", "--metrc", "tv"], " --metric"),
    (["solve"], "Missing argument 'GAME'. See: coebl solve --help"),
    (["show", "rps:4"], "'4' has no name; accepted: rps, without parameters"),
    (
        ["show", "fixd"],
        "unknown game, learner or metric 'fixd': did you mean 'fixed'? See: coebl list games, coebl list learners, ",
    ),
    (
        ["check", "student:freedom=4"],
        "student is a mutation; accepted: a game, a learner or a metric. Check a learner that has it: "
        "coebl:mutation=student. See: coebl list mutations",
    ),
    (["check", "pool"], "pool is a population; accepted: a game, a learner or a metric."),
    (
        ["check", "bernoulli"],
        "bernoulli is a noise; accepted: a game, a learner or a metric. Check a game that has it",
    ),
    (["check", "silent.py:Silent"], "Check a game that has it: scaled:game=rps,noise=silent.py:Silent."),
    (["check", "constant.py:Constant"], "Check a learner that has it: coebl:mutation=constant.py:Constant."),
    (
        ["list", "leaners"],
        "WHAT is 'leaners'; accepted: games, learners, metrics, noises, mutations, "
        "recombinations, selections, populations, operators: did you mean 'learners'?",
    ),
    (["check", "own.py"], "own.py does not say which learner; accepted: own.py:Name. It has: Mine."),
    (["check", "own.py:Mien"], "own.py has no learner 'Mien': did you mean 'Mine'? It has: Mine."),
    ([*PLAY, "--row", "ubc"], "unknown learner 'ubc': did you mean 'ucb'?"),
    ([*PLAY, "--row", "coebl:c=-1"], "coebl: c is -1.0; accepted: a number, >= 0."),
    ([*PLAY, "--row", "coebl:c=[2,8]"], "coebl: c is '[2'; accepted: a number, >= 0. Lists in brackets are f"),
    ([*PLAY, "--row", "fixed:1/0"], "fixed"),
    ([*PLAY, "--row", "mine.py:Mine"], "mine.py: no such file"),
    ([*PLAY, "--row", "own.py"], "own.py does not say which learner; accepted: own.py:Name. It has: Mine."),
    ([*PLAY, "--row", "best-response", "--column", "best-response"], "each would have to see the other's policy"),
    ([*PLAY, "--noise", "gausian"], "did you mean 'gaussian'?"),
    ([*PLAY, "--rounds", "0"], "coebl: --rounds is 0; accepted: an integer, 1 .. 1,000,000,000."),
    ([*PLAY, "--rounds", "1" + "0" * 30], "coebl: --rounds is 1000000000000000000000000000000; accepted"),
    ([*PLAY, "--rounds", "9" * 400], "99; accepted: an integer, 1 .. 1,000,000,000."),
    ([*PLAY, "--rounds", "many"], "--rounds is 'many'; accepted: an integer, in digits only. See: coebl match --"),
    ([*PLAY, "--rounds=1e4"], "--rounds is '1e4'; accepted: an integer, in digits only. See: coebl match --help"),
    (["run", "a.toml", "--out", "new", "--workers", "0"], "--workers is '0'; accepted: an integer, 1 .. 1,000. See: "),
    (
        ["run", "a.toml", "--out", "new", "--cell-timeout", "-1"],
        "--cell-timeout is '-1'; accepted: a number, 0.001 .. 1",
    ),
    (["run", "a.toml", "--out", "new", "--cell-timeout", "x"], "--cell-timeout is 'x'; accepted: a number such as 0.5"),
    (["run", "a.toml", "--out", ""], "--out is ''; accepted: the name of a file or folder. See: coebl run --help"),
    (["report", ""], "DIR is ''; accepted: the name of a file or folder. See: coebl report --help"),
    (["run", "broken.csv", "--out", "new"], "broken.csv: this is not a study file, which is TOML. For an example: c"),
    (["mach"], " See: coebl --help"),
    (["solve", "diagonal"], "diagonal needs n; accepted: diagonal:n=...,space=indices,binary=false,mask=true.\n"),
    (["solve", "genomes.py:payoff"], "genomes.py:payoff has no exact value for 12 genes; accepted: at most 10 genes"),
    (["solve", "flat.json"], "flat.json: payoff has 1 dimension; accepted: a matrix"),
    (["check", "syntax.py:Mine"], "syntax.py, line 2: SyntaxError: invalid syntax; fix the file."),
    ([*PLAY, "--seeds", "0"], "--seeds is 0; accepted: an integer, 1 .. 1,000,000."),
    ([*PLAY, "--seeds", "1000000000000"], "--seeds is 1000000000000; accepted: an integer, 1 .. 1,000,000."),
    ([*PLAY, "--first-seed", "9" * 20], "--first-seed is 99999999999999999999; accepted: an integer, 0 .. 9"),
    ([*PLAY, "--game", "huge.csv"], "huge has payoffs or a payoff range up to 8e+307; accepted in a match: at most"),
    ([*PLAY, "--metric", "regrt"], "unknown metric 'regrt': did you mean 'regret'? Accepted: regret, "),
    ([*PLAY, "--metric", "own.py:Mine"], "accepted: a class that extends coebl.metrics.Metric."),
    ([*PLAY, "--metric", "second.py:Regret"], "second.py:Regret: its name is 'pseudo_regret', that of a registered"),
    (["check", "second.py:regret"], "second.py has no metric 'regret'. Regret cannot be used: its name is"),
    (["check", "constant.py:constant"], "constant.py has no mutation 'constant': did you mean 'Constant'? It has: "),
    (["check", "more.py:More"], "more.py:More: better is 'more'; accepted: 'lower', 'higher', or None if"),
    (["check", "more.py:Other"], "more.py has no metric 'Other'. More cannot be used: better is"),
    (["check", "more.py:Needy"], 'needs is "payoffs", a string; accepted: a set. Write needs = {"payoffs"}.'),
    (["check", "nameless.py:Metric"], "it has no name; accepted: a class attribute such as"),
    ([*PLAY, "--game", "blotto", "--metric", "kl"], "kl needs a unique equilibrium, but blotto has more than one"),
    ([*PLAY, "--save", "rounds.txt"], "--save is rounds.txt; accepted: a file that ends in .parquet or .csv."),
    ([*PLAY, "--save", "no/rounds.csv"], "--save is no/rounds.csv, and the folder no does not exist. Create it."),
    ([*PLAY, "--save", "a.csv", "--rounds", "999999"], "--save would write 49,999,950 lines; accepted: at most 20"),
    ([*RUNTIME, "--budget", "2.5"], "--budget is 2.5; accepted: an integer"),
    ([*RUNTIME, "--budget", "1e10"], "--budget is 10000000000; accepted: an integer, 1 .. 1,000,000,000."),
    ([*RUNTIME, "--budget", "inf"], "--budget is inf; accepted: an integer"),
    ([*RUNTIME, "--budget", "1e400"], "--budget is inf; accepted: an integer"),
    ([*RUNTIME, "--seeds", "1000000000000"], "--seeds is 1000000000000; accepted: an integer, 1 .. 1,000,000"),
    ([*RUNTIME, "--first-seed", "9" * 30], f"--first-seed is {'9' * 30}; accepted: an integer"),
    ([*RUNTIME, "--plot", "x.gif"], "--plot is x.gif; accepted"),
    ([*RUNTIME, "--until", ""], "until is ''; accepted"),
    ([*RUNTIME, "--until", "x"], "until is 'x'; accepted"),
    (["play", "--game", "rps", "--against", "nobody"], "unknown learner 'nobody'"),
    (["play", "--game", "rps", "--against", "best-response"], "best-response"),
    (
        ["play", "--game", "rps", "--against", "ucb", "--rounds", "0"],
        "--rounds is '0'; accepted: an integer, 1 .. 1,000,",
    ),
    (["play", "--game", "rps", "--against", "ucb", "--seed", "-1"], "--seed is '-1'; accepted: an integer >= 0."),
    (["plot", "new", "--players", "ucb"], "--players is 'ucb'; accepted: a learner for each seat, or - for any, such"),
    (["results", "new", "--round", "0"], "--round is '0'; accepted: an integer >= 1. See: coebl results --help"),
    (["compare", "new", "ucb", "exp3", "--margin", "nan"], "--margin is 'nan'; accepted: a number such as 0.5"),
    (["compare", "new", "ucb", "exp3", "--margin", "0"], "--margin is 0; accepted: a number above 0."),
    (["run", "a.toml", "--out", "new", "--workers", "1001"], "--workers is '1001'; accepted: an integer, 1 .. 1,000."),
    (["run", "a.toml", "--out", "new", "--cell-timeout", "inf"], "'inf'; accepted: a number, 0.001 .. 10,000,000."),
    (["play", "--game", "nothing", "--against", "ucb"], "unknown game 'nothing'"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_a_mistake_is_one_line(tmp_path, monkeypatch, arguments, message, coebl):
    (tmp_path / "broken.csv").write_text("1,2\n3\n")
    (tmp_path / "huge.csv").write_text("8e307,-8e307\n-8e307,8e307\n")
    (tmp_path / "labels.csv").write_text('"a\nb","a\nb"\n1,2\n')
    (tmp_path / "own.py").write_text(MINE)
    (tmp_path / "genomes.py").write_text("def payoff(x, y, n: int = 12):\n    return x[..., 0] * y[..., 0]\n")
    (tmp_path / "flat.json").write_text("[1, 2]")
    (tmp_path / "syntax.py").write_text("x = 1\ny = = 2\n")
    (tmp_path / "more.py").write_text(
        "from coebl.metrics import Metric\nclass More(Metric):\n    name, better = 'more', 'more'\n"
        "class Needy(Metric):\n    name, needs = 'needy', 'payoffs'\n"
    )
    (tmp_path / "nameless.py").write_text("from coebl.metrics import Metric\n")
    (tmp_path / "constant.py").write_text(
        "from coebl.learners.evolution import Mutation\nclass Constant(Mutation):\n    pass\n"
    )
    (tmp_path / "silent.py").write_text("from coebl.games import Noise\nclass Silent(Noise):\n    pass\n")
    (tmp_path / "second.py").write_text(
        "from coebl.metrics.measures import Regret as Base\nclass Regret(Base):\n    name = 'pseudo_regret'\n"
    )
    for ending in ("csv", "py"):
        (tmp_path / f"endless.{ending}").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.csv")
    with (tmp_path / "large.csv").open("wb") as file:
        file.truncate((64 << 20) + 1)
    monkeypatch.chdir(tmp_path)
    stopped, out, error = coebl(*arguments)
    assert (stopped, out, error.count("\n")) == (2, "", 1), error
    assert error.startswith("coebl: ")
    assert message in error
    assert "?." not in error


WRITERS = {  # the words of a command that writes a file, the ending of the file
    "plot": (["plot", "results", "--out"], ".png"),
    "explain": (["explain", "results", "ucb", "--out"], ".png"),
    "report": (["report", "results", "--out"], ".html"),
    "match": ([*PLAY, "--save"], ".csv"),
    "runtime": ([*RUNTIME, "--budget", "1e9", "--plot"], ".png"),
    "study new": (["study", "new"], ".toml"),
}


@pytest.mark.parametrize("command", WRITERS)
def test_a_file_is_written_only_into_a_folder_that_exists(tmp_path, monkeypatch, command, coebl):
    go(small_study(learners=["ucb", "exp3"], rounds=9, seeds=2), tmp_path / "results")
    for module in ("study.Results.summary", "engine.simulate", "plots.save"):
        monkeypatch.setattr(f"coebl.{module}", None)  # nothing is computed first
    (tmp_path / "file").touch()
    words, ending = WRITERS[command]
    option = words[-1] if words[-1].startswith("-") else "FILE"
    for path, reason in (
        (f"no/way/x{ending}", "the folder no/way does not exist. Create it."),
        (f"file/x{ending}", "file is not a folder that you can write to. Choose another path."),
    ):
        done = coebl(*words, path, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (2, f"coebl: {option} is {path}, and {reason}\n")
    (tmp_path / f"folder{ending}").mkdir()
    done = coebl(*words, f"folder{ending}", cwd=tmp_path)
    message = f"{option} is folder{ending}, which is a folder; accepted: the name of a file. Add one."
    assert (done.returncode, done.stderr) == (2, f"coebl: {message}\n")
    assert not (tmp_path / "no").exists()


def test_a_folder_that_cannot_be_made_is_rejected_before_anything_is_run(tmp_path, coebl):
    (tmp_path / "file").touch()
    done = coebl(*RUNTIME, "--budget", "1e9", "--ioh", "file/x", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--ioh is file/x, and file is not a folder that you can write to. Choose another path." in done.stderr
    done = coebl(*RUNTIME[:-1], "stag-hunt", "--ioh", "new/x", cwd=tmp_path)
    assert done.returncode == 2
    assert not (tmp_path / "new").exists(), "a rejected command creates nothing"
