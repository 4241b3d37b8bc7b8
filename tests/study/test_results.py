"""Results: tidy tables, filters that mean what they say, summaries with intervals."""

import dataclasses
import math
import os
import platform
from functools import cache

import duckdb
import numpy as np
import polars
import pyarrow
import pytest

from coebl.core.errors import InputError
from coebl.engine import Result
from coebl.evidence.statistics import mean_interval
from coebl.study import about
from coebl.study import results as results_module
from coebl.study.cell import Cell
from coebl.study.errors import StoreError
from coebl.study.results import Results
from coebl.study.store import Store

BASE = Cell("matching-pennies", "exp3", "uniform", 20, (0, 1, 2), metrics=("regret",))
CELLS = (
    BASE,
    dataclasses.replace(BASE, seeds=(3, 4)),
    dataclasses.replace(BASE, game="diagonal:4", row="coebl:3.0", metrics=("pseudo_regret", "regret")),
    dataclasses.replace(BASE, noise="bernoulli"),
)
COLUMNS = ["game", "row", "column", "noise", "horizon", "seed", "round"]


@cache
def ran(cell: Cell) -> Result:
    return cell.run()


def study(folder, *cells: Cell) -> Results:
    store = Store.create(folder, "demo", 'name = "demo"\n')
    for cell in cells:
        store.save(cell, ran(cell))
    return Results(folder)


@pytest.fixture
def results(tmp_path):
    return study(tmp_path / "study", *CELLS)


def test_cells_are_the_descriptions(results):
    key = str
    assert sorted(results.cells(), key=key) == sorted((cell.description() for cell in CELLS), key=key)


def test_the_whole_table(results):
    table = results.table()
    assert table.column_names[:7] == COLUMNS
    assert set(table.column_names[7:]) == {"regret", "pseudo_regret"}
    assert table.num_rows == 20 * (3 + 2 + 3 + 3)
    rows = {
        (row["game"], row["noise"], row["seed"], row["round"]): (row["regret"], row["pseudo_regret"])
        for row in table.to_pylist()
    }
    assert len(rows) == table.num_rows
    for cell in CELLS:
        result = ran(cell)
        game = {"diagonal:4": "diagonal:n=4"}.get(cell.game, cell.game)
        for run, seed in enumerate(cell.seeds):
            for at, number in enumerate(result.rounds.tolist()):
                regret, pseudo = rows[game, str(result.match.game.noise), seed, number]
                assert regret == result.metrics["regret"][at, run]
                if "pseudo_regret" in cell.metrics:
                    assert pseudo == result.metrics["pseudo_regret"][at, run]
                else:
                    assert pseudo is None  # a null, not NaN


@pytest.mark.parametrize("spec", ["diagonal:4", "diagonal:n=4", ["diagonal:n=4"]])
def test_games_are_compared_by_meaning(results, spec):
    table = results.table(game=spec)
    assert table.num_rows == 60
    assert table.column("game").unique().to_pylist() == ["diagonal:n=4"]


@pytest.mark.parametrize("spec", ["coebl:c=3", "coebl:3", "coebl:c=3.0", " coebl:3"])
def test_learners_are_compared_by_meaning(results, spec):
    assert results.table(row=spec).column("row").unique().to_pylist() == ["coebl:c=3"]


def test_filters_combine(results):
    assert results.table(game="matching-pennies").num_rows == 160
    assert results.table(game="matching-pennies", noise="gaussian:1").num_rows == 100
    assert results.table(game="matching-pennies", row="coebl:3").num_rows == 0
    assert results.table(row=["exp3", "coebl:3"]).num_rows == 220
    assert results.table(game="matching-pennies", noise="bernoulli", rounds=20).column("seed").to_pylist() == [0, 1, 2]


def test_the_column_seat_is_not_the_row_seat(tmp_path):
    swapped = dataclasses.replace(BASE, row="uniform", column="exp3")
    results = study(tmp_path / "study", BASE, swapped)
    (rows,) = {tuple(row.items()) for row in results.table(column="exp3").select(["row", "column"]).to_pylist()}
    assert dict(rows) == {"row": "uniform", "column": "exp3"}


@pytest.mark.parametrize(
    ("filters", "hint"),
    [
        ({"game": "matching-penny"}, "'matching-pennies'"),
        ({"game": "diagonal:n=5"}, "'diagonal:n=4'"),
        ({"row": "coebl:c=2"}, "'coebl:c=3'"),
        ({"row": "exp"}, "'exp3'"),
        ({"column": "exp3"}, "uniform"),
        ({"noise": "bernouli"}, "'bernoulli'"),
        ({"metrics": ["regrets"]}, "'regret'"),
        ({"metrics": "regret"}, "['regret']"),
        ({"rounds": [3, 25]}, "nearest is 20"),
        ({"rounds": [1, 0]}, "counted from 1"),
        ({"row": ["exp3", "ucbb"]}, "'ucbb'"),
    ],
)
def test_unknown_filters_name_the_nearest(results, filters, hint):
    with pytest.raises(InputError) as caught:
        results.table(**filters)
    assert hint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_filter_does_not_run_a_file(results, tmp_path):
    path = tmp_path / "learner.py"
    path.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with pytest.raises(InputError, match="no finished cell"):
        results.table(row=f"{path}:Mine")
    assert not (tmp_path / "ran").exists()


def test_metrics_and_rounds_are_chosen(results):
    table = results.table(metrics=["pseudo_regret"])
    assert table.column_names == [*COLUMNS, "pseudo_regret"]
    assert table.num_rows == 60  # of the one cell that has it
    assert table.column("pseudo_regret").null_count == 0
    table = results.table(metrics=["pseudo_regret", "regret"], rounds=(5, 20))
    assert table.column_names == [*COLUMNS, "pseudo_regret", "regret"]
    assert set(table.column("round").to_pylist()) == {5, 20}


def test_frames_hold_the_table(results):
    table = results.table()
    frame = results.to_polars()
    assert isinstance(frame, polars.DataFrame)
    assert frame.columns == table.column_names
    assert frame["pseudo_regret"].null_count() == 160
    assert frame["regret"].to_numpy().tobytes() == table.column("regret").to_numpy().tobytes()
    data = results.to_pandas(game="diagonal:4", metrics=["regret"])
    assert len(data) == 60
    assert data["regret"].to_numpy().tobytes() == results.table(game="diagonal:4").column("regret").to_numpy().tobytes()


@pytest.mark.parametrize("name", ["study", "results[1] *"])
def test_lazy_equals_the_table(tmp_path, name):
    results = study(tmp_path / name, *CELLS)
    lazy = results.lazy()
    assert isinstance(lazy, polars.LazyFrame)
    order = ["game", "noise", "seed", "round"]
    texts = [polars.col(label).cast(polars.String) for label in ("game", "row", "column", "noise")]
    ours = results.to_polars().with_columns(texts).sort(order)
    assert lazy.with_columns(texts).collect().select(ours.columns).sort(order).equals(ours)
    last = lazy.filter(polars.col("round") == 20, polars.col("game").cast(polars.String) == "diagonal:n=4").collect()
    assert last["pseudo_regret"].to_list() == ran(CELLS[2]).final("pseudo_regret").tolist()


def test_duckdb_gives_the_same_means(results):
    query = """
        select game, noise, avg(regret), count(*) from read_parquet(?, union_by_name = true)
        where round = horizon group by game, noise order by game, noise
    """
    theirs = duckdb.execute(query, [str(results.store.folder / "cells" / "*.parquet")]).fetchall()
    ours = [(row["game"], row["noise"], row["mean"], row["n"]) for row in results.summary(metrics=["regret"])]
    assert [(*row[:2], row[3]) for row in theirs] == [(*row[:2], row[3]) for row in sorted(ours)]
    np.testing.assert_allclose([row[2] for row in theirs], [row[2] for row in sorted(ours)], rtol=1e-12)


def test_summary_over_all_blocks_of_seeds(results):
    rows = results.summary()
    assert [(row["game"], row["noise"], row["metric"], row["n"]) for row in rows] == [
        ("diagonal:n=4", "gaussian", "pseudo_regret", 3),
        ("diagonal:n=4", "gaussian", "regret", 3),
        ("matching-pennies", "bernoulli", "regret", 3),
        ("matching-pennies", "gaussian", "regret", 5),
    ]
    values = np.concatenate([ran(CELLS[0]).final("regret"), ran(CELLS[1]).final("regret")])
    interval = mean_interval(values)
    row = rows[-1]
    assert (row["mean"], row["low"], row["high"], row["sd"]) == (
        interval.mean,
        interval.low,
        interval.high,
        interval.sd,
    )
    assert (row["row"], row["column"], row["round"], row["horizon"]) == ("exp3", "uniform", 20, 20)


def test_summary_at_a_round(results):
    (row,) = results.summary(metrics=["pseudo_regret"], rounds=7)
    assert row["round"] == 7
    assert row["mean"] == mean_interval(ran(CELLS[2]).metrics["pseudo_regret"][6]).mean
    with pytest.raises(InputError, match="nearest is 20"):
        results.summary(rounds=500)
    with pytest.raises(InputError, match="'regret'"):
        results.summary(metrics=["regre"])


def test_matches_of_different_lengths_are_kept_apart(tmp_path):
    longer = dataclasses.replace(BASE, rounds=30)
    rows = study(tmp_path / "study", BASE, longer).summary()
    assert [(row["horizon"], row["round"], row["n"]) for row in rows] == [(20, 20, 3), (30, 30, 3)]


def test_a_run_in_two_cells_counts_once(tmp_path):
    overlapping = dataclasses.replace(BASE, seeds=(2, 3))
    (row,) = study(tmp_path / "study", BASE, overlapping).summary()
    assert row["n"] == 4
    assert row["mean"] == mean_interval([*ran(BASE).final("regret"), ran(overlapping).final("regret")[1]]).mean


def test_a_run_with_two_values_is_refused(tmp_path):
    results = study(tmp_path / "study", BASE)
    overlapping = dataclasses.replace(BASE, seeds=(2, 3))
    result = ran(overlapping)
    changed = dataclasses.replace(result, metrics={"regret": result.metrics["regret"] + 1})
    results.store.save(overlapping, changed)
    with pytest.raises(StoreError, match="seed 2 has two values of regret"):
        results.summary()


@pytest.mark.parametrize(
    ("numbers", "mean"),
    [
        ([1.0, math.inf, 2.0], math.inf),
        ([1.0, -math.inf, 2.0], -math.inf),
        ([math.inf, -math.inf, 2.0], math.nan),
        ([1.0, math.nan, math.inf], math.nan),
    ],
)
def test_infinite_values_have_no_interval(tmp_path, numbers, mean):
    results = study(tmp_path / "study")
    result = ran(BASE)
    values = result.metrics["regret"].copy()
    values[-1] = numbers
    results.store.save(BASE, dataclasses.replace(result, metrics={"regret": values}))
    (row,) = results.summary()
    np.testing.assert_equal(row["mean"], mean)
    assert row["n"] == 3
    assert all(math.isnan(row[key]) for key in ("low", "high", "sd"))


def test_nothing_finished_is_an_empty_table(tmp_path):
    results = study(tmp_path / "study")
    assert results.cells() == results.summary() == results.summary(rounds=3) == []
    assert isinstance(results.table(), pyarrow.Table)
    assert results.table().num_rows == 0
    assert results.table().column_names == COLUMNS
    assert results.lazy().collect().columns == COLUMNS
    assert len(results.to_polars()) == len(results.to_pandas()) == 0
    with pytest.raises(InputError, match="no cell is finished yet"):
        results.table(game="matching-pennies")


def test_cells_that_finish_later_are_seen(tmp_path):
    results = study(tmp_path / "study", CELLS[0])
    assert len(results.cells()) == 1
    results.store.save(CELLS[1], ran(CELLS[1]))
    assert len(results.cells()) == 2
    assert results.table().num_rows == 100


def test_a_folder_that_mixes_processors_says_so(tmp_path, monkeypatch):
    here = about.versions()
    assert here["exp and log"].startswith(platform.machine())
    assert study(tmp_path / "one", CELLS[0]).notices() == []
    results = study(tmp_path / "two", CELLS[0])
    monkeypatch.setattr(about, "versions", lambda *_: here | {"exp and log": "another one"})
    results.store.save(CELLS[1], ran(CELLS[1]))
    [notice] = results.notices()
    assert "processors whose exp and log differ in the last bit (another one, " in notice


def test_damage_is_refused_and_left_to_the_next_run(results):
    path = results.store.path(CELLS[1].digest())
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    with pytest.raises(StoreError, match="Run the study again") as caught:
        results.table()
    assert path.name in str(caught.value)
    assert path.exists()


def test_a_folder_without_a_study_is_refused(tmp_path):
    with pytest.raises(StoreError, match="does not hold a study"):
        Results(tmp_path)


def test_runs_are_one_metric_of_one_match_by_round_and_seed(results):
    runs = results.runs("matching-pennies", "exp3", "uniform", "regret", noise="gaussian")
    assert runs.seeds.tolist() == [0, 1, 2, 3, 4]
    assert runs.rounds.tolist() == sorted({*ran(BASE).rounds.tolist()})
    assert (runs.horizon, runs.noise) == (20, "gaussian")
    expected = np.hstack([ran(BASE).metrics["regret"], ran(CELLS[1]).metrics["regret"]])
    np.testing.assert_array_equal(runs.values, expected)
    assert ("diagonal:n=4", "coebl:c=3", "uniform") in results.matches()


def test_runs_of_several_noises_have_to_be_told_apart(results):
    with pytest.raises(InputError, match="cells of noise bernoulli and gaussian; name one as noise="):
        results.runs("matching-pennies", "exp3", "uniform", "regret")


def test_runs_that_are_not_there(results):
    with pytest.raises(InputError, match="metric 'pseudo_regret' was not recorded for exp3 v uniform"):
        results.runs("matching-pennies", "exp3", "uniform", "pseudo_regret", noise="gaussian")
    with pytest.raises(InputError, match="no finished cell has the row learner 'ucb'"):
        results.runs("matching-pennies", "ucb", "uniform", "regret")


def test_two_learners_of_one_name_are_not_mixed(tmp_path):
    """Cells are labelled by the names of files without their folders: equal seeds must then have equal numbers."""
    cells = []
    for folder, chance in (("a", 0.2), ("b", 0.9)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(MINE.format(chance=chance))
        cells.append(dataclasses.replace(BASE, row=f"{tmp_path / folder / 'mine.py'}:Mine"))
    results = study(tmp_path / "study", *cells)
    with pytest.raises(StoreError, match="seed 0 has two values of regret"):
        results.runs("matching-pennies", "mine.py:Mine", "uniform", "regret")


MINE = """
from dataclasses import dataclass
import numpy as np
from coebl import Learner

@dataclass
class Mine(Learner):
    name = "mine"
    def start(self, seat):
        self.seat = seat
    def policy(self, t):
        return np.tile([{chance}, 1 - {chance}], (self.seat.runs, 1))
"""


def test_to_read_a_cell_costs_the_same_however_many_there_are(tmp_path, monkeypatch):
    """The folder is not listed again, and what was read before is not added up again."""
    results = study(tmp_path / "study", *(dataclasses.replace(BASE, seeds=(seed,)) for seed in range(8)))
    os.utime(results.store.folder / "cells", (1e9, 1e9))
    measured, listed = [], []
    size, digests = results_module._size, results.store.digests
    monkeypatch.setattr(results_module, "_size", lambda columns: measured.append(columns) or size(columns))
    monkeypatch.setattr(results.store, "digests", lambda: listed.append("listed") or digests())
    for _ in range(5):
        assert len(results.runs("matching-pennies", "exp3", "uniform", "regret").seeds) == 8
    assert (len(measured), len(listed)) == (8, 1)


def test_what_was_read_is_kept_within_bounds(results, monkeypatch):
    loads = []
    read = results.store.columns
    monkeypatch.setattr(results.store, "columns", lambda digest: loads.append(digest) or read(digest))
    for _ in range(3):
        results.runs("diagonal:4", "coebl:3", "uniform", "regret")
    assert len(loads) == 1
    monkeypatch.setattr(results_module, "_MOST_BYTES", 0)
    for _ in range(2):
        results.runs("diagonal:4", "coebl:3", "uniform", "regret")
        results.runs("matching-pennies", "exp3", "uniform", "regret", noise="bernoulli")
    assert len(loads) == 1 + 3  # the first was still there
