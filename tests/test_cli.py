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


def test_list_games_and_noises():
    games = coebl("list", "games").stdout
    assert "kuhn-poker" in games
    assert "diagonal:n=3" in games
    assert "student-t:df=3,sigma=1" in coebl("list", "noises").stdout


def test_show_prints_the_matrix_and_where_it_comes_from():
    shown = coebl("show", "biased-rps").stdout
    assert "rock" in shown
    assert "-0.5" in shown
    assert "value 0" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "rsp"], "unknown game 'rsp': did you mean 'rps'? See: coebl list games"),
        (["solve", "diagonal:0"], "diagonal: n is 0; accepted: a whole number, 1 .. 10."),
        (["solve", "diagonal:k=2"], "diagonal has no parameter 'k'"),
        (["solve", "nowhere.csv"], "nowhere.csv"),
        (["solve", "broken.csv"], "broken.csv"),
        (["show", "rps:4"], "'4' has no name; accepted: rps, without parameters"),
        (["list", "planets"], "WHAT is 'planets'; accepted: games or noises"),
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
