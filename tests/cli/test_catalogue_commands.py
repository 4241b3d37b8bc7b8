"""The commands list, show and solve, the help, and messages that any command may print."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from coebl import Game, parse_game
from coebl.games import GAMES, NOISES
from coebl.learners.evolution import MUTATIONS, POPULATIONS, RECOMBINATIONS, SELECTIONS

SUMMARISED = [GAMES, NOISES, MUTATIONS, RECOMBINATIONS, SELECTIONS, POPULATIONS]
SIGN = "from the row player's side: below 0 the row player is ahead, above 0 the column player"


def run_in_a_new_process(*arguments, cwd=None, **environment):
    return subprocess.run(
        [sys.executable, "-m", "coebl", *arguments],
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        env=os.environ | environment,
        check=False,
    )


def test_help_is_quick_because_it_imports_nothing_heavy():
    code = (
        "import sys; from typer.testing import CliRunner; from coebl.cli import app; "
        "result = CliRunner().invoke(app, ['--help']); assert 'solve' in result.output, result.output; "
        "print(sorted({'numpy', 'scipy', 'numba', 'pandas', 'polars', 'pyarrow', 'matplotlib'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


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


def test_the_gap_is_not_negative(coebl):
    specs = (f"random-gaussian:m=3,n=3,seed={seed}" for seed in range(100))
    below = next(spec for spec in specs if parse_game(spec).solution.gap < 0)
    assert json.loads(coebl("solve", below, "--json").stdout)["gap"] == 0


@pytest.mark.parametrize("command", ["solve", "show"])
def test_labels_are_escaped_and_printed_on_any_terminal(tmp_path, coebl, command):
    labels = {"row_labels": ["up\x1b[2J\n", "naïve"], "column_labels": ["l"]}
    Game(np.ones((2, 1)), name="odd\x1b[2J", **labels).write(tmp_path / "odd.json")
    ascii_only = run_in_a_new_process(command, "odd.json", cwd=tmp_path, PYTHONIOENCODING="ascii")
    for run, shown in ((coebl(command, "odd.json", cwd=tmp_path), "naïve"), (ascii_only, r"na\xefve")):
        assert run.returncode == 0, run.stderr
        assert r"up\x1b[2J\n" in run.stdout
        assert shown in run.stdout or command == "solve"
        assert "\x1b" not in run.stdout


def test_operators_lists_all_four_kinds(coebl):
    done = coebl("list", "operators")
    assert done.returncode == 0, done.stderr
    listed = [coebl("list", known.plural).stdout for known in (MUTATIONS, RECOMBINATIONS, SELECTIONS, POPULATIONS)]
    kinds = ("mutations", "recombinations", "selections", "populations")
    assert done.stdout == "\n".join(f"{kind}\n{text}" for kind, text in zip(kinds, listed, strict=True))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_one_line():
    words = [sys.executable, "-m", "coebl", "list", "games"]
    with open("/dev/full", "w") as full:
        run = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    message = "the output cannot be written (No space left on device). Free some space, or write elsewhere."
    assert (run.returncode, run.stderr) == (1, f"coebl: {message}\n")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("list", ["games: rps, biased-rps", "\nlearners: coebl, kin", "\nmetrics: regret", "\npopulations: pool"]),
        ("list", ["For descriptions: coebl list games, and so on"]),
        ("list games", ["  rps                  ", "(diagonal:n=3)"]),
        ("list noises", ["  student-t  ", "(student-t:df=3,sigma=1)"]),
        ("list metrics", ["  tv                       ", "coebl show regret"]),
        ("list mutations", ["  gaussian-prose  "]),
        ("list recombinations", ["  both       "]),
        ("list selections", ["  elitist     "]),
        ("list populations", ["  pool   ", "(pool:size=1,mutants=1,play=mean,turnover=1)"]),
        ("list learners", ["bandit: sees its own reward alone\n  exp3 ", "coebl show coebl"]),
        ("list learners", ["informed bandit: sees its own reward and the opponent's action\n  coebl "]),
        ("list learners", ["oracle, for reference: sees the true payoffs or the opponent's policy\n  nash "]),
        ("show biased-rps", ["rock", "-0.5", "value 0", "OpenSpiel's `matrix_brps`"]),
        ("show coebl:c=2", ["coebl:c=2\n\nCOEBL\n", "c: a number, >= 0"]),
        ("show coebl:c=2", ["informed bandit: sees its own reward and the opponent's action; needs the horizon"]),
        ("show pseudo_regret", [SIGN]),
        ("show tv", ["lower is better"]),
        (
            "show pool:size=2",
            ["pool, a population\n", "usage: pool:size=1,mutants=1", "  size: an integer, 1 .. 1000000\n"],
        ),
        ("show gaussian", ["gaussian, a mutation\n", "\ngaussian, a noise\n"]),
        ("solve rps", ["value to the row player  0\n", "scissors  0.333333", "yes: neither player"]),
        ("solve mine.csv", ["value to the row player  0.6666666667", "attack  0.333333"]),
        ("solve mine.csv", ["1 of 3 actions are not played"]),
    ],
)
def test_commands_print_these_parts(words, parts, coebl, tmp_path, monkeypatch):
    (tmp_path / "mine.csv").write_text(",left,middle,right\nattack,2,0,3\nwait,0,1,3\n")
    monkeypatch.setenv("COLUMNS", "120")
    code, out, error = coebl(*words.split(), cwd=tmp_path)
    assert (code, error) == (0, "")
    for part in parts:
        assert part in out
    assert (SIGN in out) == (words == "show pseudo_regret")
    listed = [registry for registry in SUMMARISED if words == f"list {registry.plural}"]
    assert all(entry.summary in out for registry in listed for entry in registry)


def test_a_list_has_one_line_per_entry_in_a_pipe_and_is_wrapped_on_a_terminal(coebl, monkeypatch):
    lines = coebl("list", "games").stdout.splitlines()
    assert [line.split()[0] for line in lines[:-2]] == GAMES.names
    assert lines[GAMES.names.index("diagonal")].startswith("  diagonal ")
    assert lines[GAMES.names.index("diagonal")].endswith("(diagonal:n=3)")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    wrapped = coebl("list", "learners").stdout.splitlines()
    assert max(map(len, wrapped)) <= 60
    start = next(place for place, line in enumerate(wrapped) if line.startswith("  exp3 "))
    assert wrapped[start + 1].startswith(" " * 10)


def test_show_prints_a_sentence_once(coebl):
    out = " ".join(coebl("show", "swap_regret:2").stdout.split())
    assert out.count("best swap of each action for another") == 1
    assert out.count("correlated equilibrium") == 1


def test_a_metric_needs_neither_a_title_nor_a_definition(tmp_path, coebl):
    lines = ["from coebl.metrics import Metric", "class Bare(Metric):", '    name, by_seat = "bare", True']
    lines += ["    def __call__(self, block):", "        return block.rewards[self.seat or 0]"]
    (tmp_path / "bare.py").write_text("\n".join(lines))
    for spec, words in {"bare.py:Bare": "bare bare", "bare.py:Bare:2": "bare:2 bare, seat 2"}.items():
        assert " ".join(coebl("show", spec, cwd=tmp_path).stdout.split()) == f"{words} lower is better"


def test_show_wraps_prose_and_keeps_pseudo_code(coebl, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    shown = coebl("show", "coebl").stdout.splitlines()
    assert all(len(line) <= 60 or len(line.split()) == 1 for line in shown)  # a spec is never broken
    wide = coebl("show", "ucb").stdout
    assert "\n    " in wide


def test_a_closed_pipe_leaves_no_traceback():
    run = subprocess.run(
        f"{sys.executable} -m coebl list games | head -1", shell=True, capture_output=True, text=True, check=False
    )
    assert run.stdout.count("\n") == 1
    assert "Traceback" not in run.stderr
