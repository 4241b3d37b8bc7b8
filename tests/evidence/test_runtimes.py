"""Shares of hits, expected running times, slopes, and files for IOHanalyzer."""

import csv
import math
import re

import numpy as np
import polars
import pytest

from coebl.core.errors import InputError
from coebl.evidence.runtimes import Problem, Runtimes, read_runtimes, slope, write_ioh

MIXED = Runtimes((300, None, 100, 200, None), budget=1000)


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


def test_quantiles_and_the_distribution_account_for_censoring():
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


def read_ioh(folder):
    """Return the runs in a folder as IOHanalyzer's reader finds them: by algorithm, function and dimension.

    It takes the lines of an .info file in threes, splits fields at commas and at the first equals sign, and begins a
    run of a .dat file at each line whose first column has no digit; two columns are its two-column format.
    """
    runs = {}
    for path in folder.rglob("*.info"):
        lines = path.read_text().splitlines()
        assert len(lines) % 3 == 0
        for first, comment, third in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
            fields = [field.strip().partition("=") for field in next(csv.reader([first], quotechar="'"))]
            header = {name.strip(): value.strip().strip("'") for name, _, value in fields}
            assert comment.startswith("%")
            assert (header["suite"], header["maximization"]) == ("coebl", "T")
            name, *records = (part.strip() for part in third.split(","))
            listed = [re.fullmatch(r"(\d+):(\d+)\|([\d.]+)", record).groups() for record in records]
            blocks = []
            for row in csv.reader((path.parent / name).read_text().splitlines(), delimiter=" "):
                assert len(row) == 2
                if re.search(r"\d", row[0]):
                    blocks[-1].append((int(row[0]), float(row[1])))
                else:
                    assert row == ["function evaluation", "best-so-far f(x)"]  # by which the format is recognised
                    blocks.append([])
            assert [(int(evaluations), float(value)) for _, evaluations, value in listed] == [run[-1] for run in blocks]
            runs[header["algId"], header["funcName"], int(header["DIM"])] = blocks
    return runs


def test_the_files_for_iohanalyzer_read_back(tmp_path):
    problems = [Problem(1, "diagonal:space=bits,mask=no", n) for n in (10, 20)] + [Problem(2, 'it\'s "odd"', 7)]
    runs = dict(zip(problems, (MIXED, Runtimes((1, 2), 80), Runtimes((None,), 1)), strict=True))
    paths = [path for spec in ("pdcoea:population=5,chi=0.1", "cga") for path in write_ioh(tmp_path, spec, runs)]
    assert sorted(paths) == sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert tmp_path / "pdcoea_population=5_chi=0.1" / "IOHprofiler_f1.info" in paths
    contents = read_ioh(tmp_path)
    assert {algorithm for algorithm, _, _ in contents} == {"pdcoea:population=5 chi=0.1", "cga"}
    assert {name for _, name, _ in contents} == {"diagonal:space=bits mask=no", "its odd"}
    assert len(contents) == 6
    for (_, _, size), blocks in contents.items():
        [expected] = [times for problem, times in runs.items() if problem.size == size]
        # The time at which a run reaches the target 1, and the budget of those that do not.
        assert tuple(next((t for t, value in run if value >= 1), None) for run in blocks) == expected.times
        assert [run[-1][0] for run in blocks] == expected.spent.tolist()
        assert all([t for t, _ in run] == sorted({1, run[-1][0]}) for run in blocks)
