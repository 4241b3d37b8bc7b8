"""Results: the one table of runs, filters, and summaries with intervals."""

import dataclasses
import math
import os
import platform

import numpy as np
import polars
import pytest

import coebl
from cells import ran
from coebl.core.errors import InputError
from coebl.evidence.statistics import mean_interval
from coebl.study import cell as record_module
from coebl.study.cell import Cell
from coebl.study.errors import StoreError
from coebl.study.results import Results
from coebl.study.store import Store

BASE = Cell("matching-pennies", ("exp3", "uniform"), 20, (0, 1, 2), metrics=("regret",))
DIAGONAL = Cell("diagonal:4", ("coebl:3.0", "uniform"), 20, (0, 1, 2), metrics=("pseudo_regret", "regret"))
CELLS = (
    BASE,
    dataclasses.replace(BASE, seeds=(3, 4)),
    DIAGONAL,
    dataclasses.replace(BASE, noise="exponential:sigma=1.0"),
)
LABELS = ["game", "players", "noise", "rounds", "seed"]


def study(folder, *cells: Cell) -> Results:
    store = Store.create(folder, 'name = "demo"\n')
    for cell in cells:
        store.save(cell, ran(cell))
    return Results(folder)


@pytest.fixture
def results(tmp_path):
    return study(tmp_path / "study", *CELLS)


def test_records_are_of_the_cells(results):
    records = results.records()
    assert {record.digest for record in records} == {cell.digest() for cell in CELLS}
    assert [(record.game, record.noise, record.seeds) for record in records] == [
        ("diagonal:n=4", "gaussian", (0, 1, 2)),
        ("matching-pennies", "exponential", (0, 1, 2)),
        ("matching-pennies", "gaussian", (0, 1, 2)),
        ("matching-pennies", "gaussian", (3, 4)),
    ]


def test_last_has_a_row_per_match_and_seed(results):
    frame = results.last()
    assert frame.columns == [*LABELS, *results.metrics]
    assert frame.schema["players"] == polars.List(polars.String)
    assert set(frame.schema.values()) == {polars.String, polars.List(polars.String), polars.Int64, polars.Float64}
    assert frame.select(LABELS).rows() == [
        *(("diagonal:n=4", ["coebl:c=3", "uniform"], "gaussian", 20, seed) for seed in range(3)),
        *(("matching-pennies", ["exp3", "uniform"], "exponential", 20, seed) for seed in range(3)),
        *(("matching-pennies", ["exp3", "uniform"], "gaussian", 20, seed) for seed in range(5)),
    ]
    finals = [ran(cell).final("regret") for cell in (CELLS[2], CELLS[3], CELLS[0], CELLS[1])]
    assert frame["regret"].to_numpy().tobytes() == np.concatenate(finals).tobytes()
    assert frame["pseudo_regret"].to_list() == [*ran(DIAGONAL).final("pseudo_regret").tolist(), *[None] * 8]


def test_another_round(results):
    at_seven = ran(DIAGONAL).metrics["pseudo_regret"][6]
    assert results.last(["pseudo_regret"], rounds=7)["pseudo_regret"].to_list() == at_seven.tolist()
    [row] = results.summary(["pseudo_regret"], rounds=7)
    assert (row["round"], row["mean"]) == (7, mean_interval(at_seven).mean)
    for read in (results.last, results.summary):
        with pytest.raises(InputError, match="nearest is 20"):
            read(rounds=500)


def test_curves_have_a_row_per_recorded_round(results):
    frame = results.curves(["regret"], game="diagonal:4")
    assert frame.columns == [*LABELS, "round", "regret"]
    result = ran(DIAGONAL)
    assert frame["round"].to_list() == result.rounds.tolist() * 3
    assert frame["regret"].to_numpy().tobytes() == result.metrics["regret"].T.tobytes()
    last = frame.filter(polars.col("round") == polars.col("rounds")).drop("round")
    assert last.equals(results.last(["regret"], game="diagonal:4"))
    thinned = results.curves(["regret"], points=3, game="diagonal:4")
    assert thinned["round"].to_list() == [1, 11, 20] * 3


@pytest.mark.parametrize(
    ("filters", "rows"),
    [
        ({"players": ("exp3", None)}, 8),
        ({"players": (None, "uniform")}, 11),
        ({"players": (["exp3", "coebl:c=3.0"], "uniform"), "noise": "gaussian:1"}, 8),
        ({"game": ["diagonal:4", "matching-pennies"]}, 11),
        ({"game": "diagonal:4", "players": ("exp3", None)}, 0),
        ({"metrics": ["pseudo_regret"]}, 3),
    ],
)
def test_filters_are_specs(results, filters, rows):
    assert len(results.last(**filters)) == rows
    assert len(results.curves(**filters)) == 20 * rows


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"players": "exp3"}, "a learner for each seat"),
        ({"players": ("exp3",)}, "a learner for each seat"),
        ({"players": (None,)}, "a learner for each seat"),
        ({"players": ("exp3", None, "exp3")}, "has so many seats"),
        ({"players": (3, None)}, "the row learner is 3; accepted: a spec"),
        ({"game": ["diagonal:4", 3]}, "the game is 3; accepted: a spec"),
        ({"metrics": [3]}, "metric 3 was not recorded"),
        ({"players": ("exp4", None)}, "did you mean 'exp3'"),
        ({"game": "diagonal:5"}, "no finished cell has the game"),
        ({"metrics": ["regrets"]}, "'regret'"),
        ({"metrics": "regret"}, "a list of names"),
        ({"metrics": "x"}, "metric 'x' was not recorded. "),
    ],
)
def test_mistaken_filters_are_one_line(results, filters, message):
    for read in (results.last, results.curves):
        with pytest.raises(InputError, match=message) as caught:
            read(**filters)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", [0, 2.5, "3"])
def test_mistaken_numbers_of_rounds_are_one_line(results, number):
    with pytest.raises(InputError, match=f"rounds is {number!r}; accepted: an integer, >= 1"):
        results.last(rounds=number)
    with pytest.raises(InputError, match=f"points is {number!r}; accepted: an integer, >= 1"):
        results.curves(points=number)


def test_a_filter_does_not_run_a_file(results, tmp_path):
    path = tmp_path / "learner.py"
    path.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with pytest.raises(InputError, match="no finished cell"):
        results.last(players=(f"{path}:Mine", None))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["study", "results[1] *"])
def test_lazy_equals_the_curves(tmp_path, name):
    results = study(tmp_path / name, *CELLS)
    lazy = results.lazy()
    assert isinstance(lazy, polars.LazyFrame)
    ours = results.curves()
    assert lazy.sort("game", "noise", "seed", "round").collect().equals(ours)
    last = lazy.filter(polars.col("round") == 20, polars.col("game") == "diagonal:n=4").collect()
    assert last["pseudo_regret"].to_list() == ran(CELLS[2]).final("pseudo_regret").tolist()


def test_summary_over_all_blocks_of_seeds(results):
    rows = results.summary()
    assert [(row["game"], row["noise"], row["metric"], row["n"]) for row in rows] == [
        ("diagonal:n=4", "gaussian", "pseudo_regret", 3),
        ("diagonal:n=4", "gaussian", "regret", 3),
        ("matching-pennies", "exponential", "regret", 3),
        ("matching-pennies", "gaussian", "regret", 5),
    ]
    values = np.concatenate([ran(CELLS[0]).final("regret"), ran(CELLS[1]).final("regret")])
    interval = mean_interval(values)
    assert {key: rows[-1][key] for key in ("mean", "low", "high", "sd")} == {
        key: getattr(interval, key) for key in ("mean", "low", "high", "sd")
    }
    assert [rows[-1][key] for key in ("row", "column", "round", "horizon")] == ["exp3", "uniform", 20, 20]


def test_matches_of_different_lengths_are_kept_apart(tmp_path):
    longer = dataclasses.replace(BASE, rounds=30)
    rows = study(tmp_path / "study", BASE, longer).summary()
    assert [(row["horizon"], row["round"], row["n"]) for row in rows] == [(20, 20, 3), (30, 30, 3)]


def test_overlapping_cells_are_joined_and_a_run_counts_once(tmp_path):
    """A study that has grown holds other metrics of the same runs in other cells."""
    overlapping = dataclasses.replace(BASE, seeds=(2, 3), metrics=("regret", "pseudo_regret"))
    results = study(tmp_path / "study", BASE, overlapping)
    frame = results.last()
    regrets = [*ran(BASE).final("regret"), ran(overlapping).final("regret")[1]]
    assert frame["seed"].to_list() == [0, 1, 2, 3]
    assert frame["regret"].to_list() == regrets
    assert frame["pseudo_regret"].to_list() == [None, None, *ran(overlapping).final("pseudo_regret")]
    assert len(results.curves()) == 4 * 20
    assert [(row["mean"], row["n"]) for row in results.summary(["regret"])] == [(mean_interval(regrets).mean, 4)]


def test_a_run_with_two_values_is_an_error(tmp_path):
    results = study(tmp_path / "study", BASE)
    overlapping = dataclasses.replace(BASE, seeds=(2, 3))
    result = ran(overlapping)
    changed = dataclasses.replace(result, metrics={"regret": result.metrics["regret"] + 1})
    results.store.save(overlapping, changed)
    for read in (results.last, results.curves, results.summary):
        with pytest.raises(StoreError, match="seed 2 has two values of regret"):
            read()


def ending_with(numbers):
    """The result of a cell with other regrets after the last round."""
    values = ran(BASE).metrics["regret"].copy()
    values[-1] = numbers
    return dataclasses.replace(ran(BASE), metrics={"regret": values})


def test_nan_and_infinity_are_numbers_and_not_nulls(tmp_path):
    results = study(tmp_path / "study")
    result = ending_with([math.nan, math.inf, 0.0])
    for seeds in (BASE.seeds, (2, 1, 0)):
        runs = {"seeds": np.array(seeds), "metrics": {"regret": result.metrics["regret"][:, list(seeds)]}}
        results.store.save(dataclasses.replace(BASE, seeds=seeds), dataclasses.replace(result, **runs))
    np.testing.assert_equal(results.last()["regret"].to_list(), [math.nan, math.inf, 0.0])


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
    results.store.save(BASE, ending_with(numbers))
    (row,) = results.summary()
    np.testing.assert_equal(row["mean"], mean)
    assert row["n"] == 3
    assert all(math.isnan(row[key]) for key in ("low", "high", "sd"))


def test_without_cells_the_table_is_empty(tmp_path):
    results = study(tmp_path / "study")
    assert results.records() == results.summary() == results.summary(rounds=3) == []
    assert results.last().columns == LABELS
    assert results.lazy().collect().columns == results.curves().columns == [*LABELS, "round"]
    assert len(results.last()) == len(results.curves()) == 0
    for filters in ({"game": "matching-pennies"}, {"metrics": ["regret"]}):
        with pytest.raises(InputError, match="no cell is finished yet"):
            results.last(**filters)


def test_cells_that_finish_later_are_seen(tmp_path):
    results = study(tmp_path / "study", CELLS[0])
    assert len(results.records()) == 1
    results.store.save(CELLS[1], ran(CELLS[1]))
    assert len(results.records()) == 2
    assert len(results.curves()) == 100


@pytest.mark.parametrize(
    ("version", "notice"),
    [
        ({"exp and log": "another one"}, "CPUs whose exp and log differ in the last bit (another one, "),
        (
            {"coebl": "0.1.0"},
            f"the cells were made by coebl 0.1.0 and {coebl.__version__}; a seed may lead to different",
        ),
    ],
)
def test_a_folder_that_mixes_cpus_or_versions_has_a_notice(tmp_path, monkeypatch, version, notice):
    here = record_module.versions()
    assert here["exp and log"].startswith(platform.machine())
    results = study(tmp_path / "study", CELLS[0])
    assert results.notices() == []
    monkeypatch.setattr(record_module, "versions", lambda *_: here | version)
    results.store.save(CELLS[1], ran(CELLS[1]))
    [message] = results.notices()
    assert notice in message


def test_damage_is_rejected_and_left_to_the_next_run(results):
    path = results.store.path(CELLS[1].digest())
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    with pytest.raises(StoreError, match="Run the study again") as caught:
        results.last()
    assert path.name in str(caught.value)
    assert path.exists()


def test_the_folder_is_not_listed_again_while_it_does_not_change(tmp_path, monkeypatch):
    results = study(tmp_path / "study", *(dataclasses.replace(BASE, seeds=(seed,)) for seed in range(8)))
    os.utime(results.store.folder / "cells", (1e9, 1e9))
    listed = []
    digests = results.store.digests
    monkeypatch.setattr(results.store, "digests", lambda: listed.append("listed") or digests())
    for _ in range(5):
        assert len(results.last(game="matching-pennies")) == 8
    assert len(listed) == 1
