"""coebl runtime."""

import json

import pytest
from typer.testing import CliRunner

from coebl.cli import app
from coebl.core.errors import InputError


def run(*words):
    result = CliRunner().invoke(app, ["runtime", *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


SHORT = ("ucb", "--game", "diagonal:n=2", "--budget", "2e2", "--seeds", "4")


def test_it_prints_shares_and_times():
    output = run(*SHORT)
    assert "until exploitability < 0.1" in output
    assert "4 runs of 4 hit within 200 rounds" in output
    assert "(Wilson)" in output
    assert "(bootstrap)" in output


def test_json_has_the_times_and_none_for_censored_runs():
    summary = json.loads(run(*SHORT, "--until", "exploitability < -1", "--json"))
    assert summary["times"] == [None] * 4
    assert summary["budget"] == 200
    assert summary["ert"]["mean"] is None
    assert summary["share"] == {"mean": 0.0, "low": 0.0, "high": pytest.approx(0.4899, abs=1e-4)}


def test_it_writes_a_figure_and_files_for_iohanalyzer(tmp_path):
    run(*SHORT, "--plot", str(tmp_path / "ecdf.svg"), "--ioh", str(tmp_path / "ioh"))
    assert (tmp_path / "ecdf.svg").stat().st_size > 1000
    assert (tmp_path / "ioh" / "ucb" / "IOHprofiler_f1.info").is_file()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--budget", "2.5"), "--budget is 2.5; accepted: an integer"),
        (("--budget", "inf"), "--budget is inf; accepted: an integer"),
        (("--budget", "1e400"), "--budget is inf; accepted: an integer"),
        (("--seeds", "1000000000000"), r"--seeds is 1000000000000; accepted: an integer, 1 \.\. 1,000,000"),
        (("--first-seed", "9" * 30), "--first-seed is 9+; accepted: an integer"),
        (("--plot", "x.gif"), "--plot is x.gif; accepted"),
        (("--until", "x"), "until is 'x'; accepted"),
    ],
)
def test_mistakes_are_one_line(words, message):
    with pytest.raises(InputError, match=message) as error:
        run(*SHORT, *words)
    assert "\n" not in str(error.value)
