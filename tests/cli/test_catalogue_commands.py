"""The commands list, show and solve, the help, and messages that any command may print."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from coebl import Game, parse_game
from coebl.games import GAMES
from coebl.kernels.cache import announce_compilation


def unwrapped(text: str) -> str:
    """The text on one line: where lines are broken depends on the width of the terminal."""
    return " ".join(text.split())


def in_a_process(*arguments, cwd=None, **environment):
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
    labels = {"row_labels": ["up\x1b[2J\n", "naïve"], "column_labels": ["l"]}
    Game(np.ones((2, 1)), name="odd\x1b[2J", **labels).write(tmp_path / "odd.json")
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
            [sys.executable, "-m", "coebl", "list", "games"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert run.returncode == 1
    assert run.stderr == (
        "coebl: the output cannot be written (No space left on device). Free some space, or write elsewhere.\n"
    )


def test_compilation_is_announced_once(capsys, tmp_path):
    """Also without a terminal; compiling custom code is not announced."""
    from coebl.kernels import cache

    def compile_again(name):
        dispatcher = numba.njit(lambda number: number + 1)
        dispatcher._cache = cache.KernelCache(dispatcher.py_func, [tmp_path / name])
        dispatcher(1)

    cache.announce.cache_clear()
    with announce_compilation():
        numba.njit(lambda number: number + 1)(1)
        assert capsys.readouterr().err == ""
        compile_again("one")
        compile_again("two")
    assert capsys.readouterr().err == (
        "coebl: compiling the solver, up to a minute; the result is kept for the next time.\n"
    )
    cache.announce.cache_clear()
    compile_again("three")
    assert capsys.readouterr().err == ""


def test_solve_a_custom_csv_file(tmp_path, coebl):
    (tmp_path / "mine.csv").write_text(",left,middle,right\nattack,2,0,3\nwait,0,1,3\n")
    run = coebl("solve", "mine.csv", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "value to the row player  0.6666666667" in run.stdout
    assert "attack  0.333333" in run.stdout
    assert "1 of 3 actions are not played" in run.stdout


@pytest.mark.parametrize(
    ("what", "lines"),
    [
        ("games", ["  rps                  The payoffs of", "(diagonal:n=3)"]),
        ("noises", ["  student-t  ", "(student-t:df=3,sigma=1)"]),
        ("metrics", ["  tv                       Total variation", "coebl show regret"]),
        ("mutations", ["  gaussian-prose  The variance that"]),
        ("recombinations", ["  both       Kin's: a pair is the offspring"]),
        ("selections", ["  elitist     The fittest of old and new"]),
        ("populations", ["  pool   Policies that", "(pool:size=1,mutants=1,play=mean,turnover=1)"]),
        (
            "learners",
            [
                "bandit: sees its own reward alone\n  exp3 ",
                "informed bandit: sees its own reward and the opponent's action\n  coebl ",
                "oracle, for reference: sees the true payoffs or the opponent's policy\n  nash ",
                "coebl show coebl",
            ],
        ),
    ],
)
def test_lists(what, lines, coebl):
    listed = coebl("list", what).stdout
    for line in lines:
        assert line in listed


def test_in_a_pipe_a_list_has_a_line_each_and_a_terminal_wraps_it_with_an_indent(coebl, monkeypatch):
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


def test_show_wraps_prose_and_keeps_pseudo_code(coebl, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    shown = coebl("show", "coebl").stdout.splitlines()
    assert all(len(line) <= 60 or len(line.split()) == 1 for line in shown)  # a spec is never broken
    wide = coebl("show", "ucb").stdout
    assert "\n    " in wide


def test_without_a_kind_all_lists_are_named(coebl):
    listed = coebl("list").stdout
    for start in ("games: rps, biased-rps", "learners: coebl, kin", "metrics: regret", "populations: pool"):
        assert f"\n{start}" in f"\n{listed}"
    assert "For descriptions: coebl list games, and so on" in listed


def test_the_meaning_of_a_sign_is_shown(coebl):
    said = "from the row player's side: below 0 the row player is ahead, above 0 the column player"
    assert said in unwrapped(coebl("show", "pseudo_regret").stdout)
    assert said not in unwrapped(coebl("show", "tv").stdout)


def test_show_prints_the_matrix_and_its_source(coebl):
    shown = coebl("show", "biased-rps").stdout
    assert "rock" in shown
    assert "-0.5" in shown
    assert "value 0" in shown
    assert "OpenSpiel's `matrix_brps`" in shown


def test_a_closed_pipe_leaves_no_traceback():
    run = subprocess.run(
        f"{sys.executable} -m coebl list games | head -1", shell=True, capture_output=True, text=True, check=False
    )
    assert run.stdout.count("\n") == 1
    assert "Traceback" not in run.stderr


def test_show_a_learner(coebl):
    shown = coebl("show", "coebl:c=2").stdout
    assert shown.startswith("coebl:c=2\n\nCOEBL\n")
    assert "c: a number, >= 0" in shown
    assert "informed bandit: sees its own reward and the opponent's action; needs the horizon" in unwrapped(shown)
