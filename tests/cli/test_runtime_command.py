"""coebl runtime; its mistakes are in test_mistakes.py."""

import json

import pytest

SHORT = ("runtime", "ucb", "--game", "diagonal:n=2", "--budget", "2e2", "--seeds", "4")


def test_it_prints_shares_and_times_and_writes_a_figure_and_files_for_iohanalyzer(coebl, tmp_path):
    code, output, _ = coebl(*SHORT, "--plot", tmp_path / "ecdf.svg", "--ioh", tmp_path / "ioh")
    assert code == 0
    for words in ("until exploitability < 0.1", "4 runs of 4 hit within 200 rounds", "(Wilson)", "(bootstrap)"):
        assert words in output
    assert (tmp_path / "ecdf.svg").stat().st_size > 1000
    assert (tmp_path / "ioh" / "ucb" / "IOHprofiler_f1.info").is_file()


def test_json_has_the_times_and_none_for_censored_runs(coebl):
    summary = json.loads(coebl(*SHORT, "--until", "exploitability < -1", "--json").stdout)
    assert summary["times"] == [None] * 4
    assert summary["budget"] == 200
    assert summary["ert"]["mean"] is None
    assert summary["share"] == {"mean": 0.0, "low": 0.0, "high": pytest.approx(0.4899, abs=1e-4)}
