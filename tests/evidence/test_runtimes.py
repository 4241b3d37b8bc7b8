"""Shares of hits, expected running times, slopes, and files for IOHanalyzer."""

import csv
import math
import re

import numpy as np
import polars
import pytest
from scipy.stats import binomtest

from coebl.core.errors import InputError
from coebl.evidence.runtimes import Problem, Runtimes, read_runtimes, slope, write_ioh

MIXED = Runtimes((300, None, 100, 200, None), budget=1000)


@pytest.mark.parametrize(("hits", "runs"), [(0, 7), (7, 7), (3, 7), (1, 50), (49, 50)])
def test_the_interval_of_a_share_is_wilsons(hits, runs):
    share = Runtimes((5,) * hits + (None,) * (runs - hits), 10).share()
    expected = binomtest(hits, runs).proportion_ci(method="wilson")
    assert share.mean == hits / runs
    assert (share.low, share.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert share.method == "wilson"


def test_runs_without_a_condition_have_not_hit():
    labels = {"game": "rps", "players": [["ucb", "exp3"]] * 3, "noise": "none", "rounds": 9}
    frame = polars.DataFrame(labels | {"hitting_time": [5.0, math.nan, None]})
    assert read_runtimes(frame) == {("rps", ("ucb", "exp3"), "none", 9): Runtimes((5, None, None), budget=9)}


def test_the_expected_running_time_counts_failed_runs():
    ert = MIXED.ert()
    assert ert.mean == (300 + 1000 + 100 + 200 + 1000) / 3
    assert ert.low < ert.mean < ert.high
    assert Runtimes((None, None), 50).ert().mean == math.inf


def test_the_interval_of_the_expected_running_time_covers():
    """Times are geometric, a fifth of the runs fail: of 400 intervals from 40 runs, about 95 % contain the truth."""
    random, budget, covered = np.random.default_rng(5), 400, 0
    rate = 1 - 0.2 ** (1 / budget)  # P(time > budget) = 0.2
    truth = 1 / rate  # restarts of a memoryless time change nothing
    for _ in range(400):
        times = random.geometric(rate, 40)
        ert = Runtimes(tuple(int(t) if t <= budget else None for t in times), budget).ert()
        covered += ert.low <= truth <= ert.high
    assert 0.89 <= covered / 400 <= 0.985  # 4 standard errors, and the bootstrap's bias with 40 runs


def test_quantiles_and_the_distribution_know_of_censoring():
    assert [MIXED.quantile(share) for share in (0.2, 0.21, 0.6, 0.61, 1)] == [100, 200, 300, None, None]
    times, shares = MIXED.ecdf()
    assert times.tolist() == [100, 200, 300]
    assert shares.tolist() == [0.2, 0.4, 0.6]


def test_the_slope_of_a_power_law():
    random = np.random.default_rng(2)
    by_size = {
        n: Runtimes(tuple(int(t) for t in 7 * n**1.5 * random.lognormal(0, 0.1, 30)), 10**9) for n in (10, 20, 40, 80)
    }
    fit = slope(by_size)
    assert abs(fit.mean - 1.5) < 4 * fit.sd
    assert fit.low < 1.5 < fit.high
    assert fit.high - fit.low < 0.1


def test_missing_hits_and_runs_are_rejected():
    with pytest.raises(InputError, match=r"two sizes.*\[10\]"):
        slope({10: MIXED})
    with pytest.raises(InputError, match="two sizes"):
        slope({10: MIXED, 20: Runtimes((None,), 10)})
    with pytest.raises(InputError, match="times is empty"):
        Runtimes((), 10)


def test_the_files_for_iohanalyzer(tmp_path):
    """As the tool's page on its formats describes them; every block ends with the last evaluation."""
    small, large = Problem(1, "diagonal:space=bits,mask=no", 10), Problem(1, "diagonal:space=bits,mask=no", 20)
    runs = {small: MIXED, large: Runtimes((1, 77), 80)}
    paths = write_ioh(tmp_path, "pdcoea:population=5,chi=0.1", runs)
    home = tmp_path / "pdcoea_population=5_chi=0.1"
    info = (home / "IOHprofiler_f1.info").read_text().splitlines()
    assert home / "IOHprofiler_f1.info" in paths
    assert info[0] == (
        "suite = 'coebl', funcId = 1, funcName = 'diagonal:space=bits mask=no', DIM = 10, maximization = T, "
        "algId = 'pdcoea:population=5 chi=0.1'"
    )
    assert info[1].startswith("%")
    assert info[2] == ("data_f1/IOHprofiler_f1_DIM10.dat, 1:300|1.0, 1:1000|0.0, 1:100|1.0, 1:200|1.0, 1:1000|0.0")
    assert "DIM = 20" in info[3]
    header = '"function evaluation" "best-so-far f(x)"'
    data = (home / "data_f1/IOHprofiler_f1_DIM20.dat").read_text()
    assert data == f"{header}\n1 1\n{header}\n1 0\n77 1\n"


def read_ioh(folder):
    """Return the runs in a folder as IOHanalyzer's reader finds them: by algorithm, function and dimension.

    It takes the lines of an .info file in threes, splits fields at commas and at the first equals sign, and begins a
    run of a .dat file at each line whose first column has no digit; two columns are its two-column format.
    """
    found = {}
    for path in folder.rglob("*.info"):
        lines = path.read_text().splitlines()
        assert len(lines) % 3 == 0
        for first, comment, third in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
            fields = [field.strip().partition("=") for field in next(csv.reader([first], quotechar="'"))]
            header = {name.strip(): value.strip().strip("'") for name, _, value in fields}
            assert comment.startswith("%")
            assert header["maximization"] == "T"
            name, *records = (part.strip() for part in third.split(","))
            listed = [re.fullmatch(r"(\d+):(\d+)\|([\d.]+)", record).groups() for record in records]
            blocks = []
            for row in csv.reader((path.parent / name).read_text().splitlines(), delimiter=" "):
                assert len(row) == 2
                if re.search(r"\d", row[0]):
                    blocks[-1].append((int(row[0]), float(row[1])))
                else:
                    assert row[0].startswith("function")  # by which the format is recognised
                    blocks.append([])
            assert [(int(evaluations), float(value)) for _, evaluations, value in listed] == [run[-1] for run in blocks]
            found[header["algId"], header["funcName"], int(header["DIM"])] = blocks
    return found


def test_the_files_for_iohanalyzer_read_back(tmp_path):
    problems = [Problem(1, "diagonal:space=bits,mask=no", n) for n in (10, 20)] + [Problem(2, 'it\'s "odd"', 7)]
    runs = dict(zip(problems, (MIXED, Runtimes((1, 2), 80), Runtimes((None,), 1)), strict=True))
    for spec in ("pdcoea:population=5,chi=0.1", "cga"):
        write_ioh(tmp_path, spec, runs)
    found = read_ioh(tmp_path)
    assert {algorithm for algorithm, _, _ in found} == {"pdcoea:population=5 chi=0.1", "cga"}
    assert len(found) == 6
    for (_, _, size), blocks in found.items():
        [expected] = [times for problem, times in runs.items() if problem.size == size]
        # The time at which a run reaches the target 1, and the budget of those that do not.
        assert tuple(next((t for t, value in run if value >= 1), None) for run in blocks) == expected.times
        assert [run[-1][0] for run in blocks] == expected.spent.tolist()
        assert all(run[0][0] == 1 for run in blocks)
