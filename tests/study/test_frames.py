"""The one table: a row per match and seed at the last round, or per recorded round."""

import dataclasses
import math

import numpy as np
import polars
import pytest

from cells import ran
from coebl.core.errors import InputError
from coebl.study.cell import Cell
from coebl.study.errors import StoreError
from coebl.study.results import Results
from coebl.study.store import Store

BASE = Cell("matching-pennies", ("exp3", "uniform"), 20, (0, 1, 2), metrics=("regret",))
DIAGONAL = Cell("diagonal:4", ("coebl:3", "uniform"), 20, (0, 1, 2), metrics=("regret", "pseudo_regret"))
CELLS = (BASE, dataclasses.replace(BASE, seeds=(3, 4)), DIAGONAL, dataclasses.replace(BASE, noise="bernoulli"))
LABELS = ["game", "players", "noise", "rounds", "seed"]


def study(folder, *cells: Cell) -> Results:
    store = Store.create(folder, 'name = "demo"\n')
    for cell in cells:
        store.save(cell, ran(cell))
    return Results(folder)


@pytest.fixture
def results(tmp_path):
    return study(tmp_path / "study", *CELLS)


def test_last_has_a_row_per_match_and_seed(results):
    frame = results.last()
    assert frame.columns == [*LABELS, *results.metrics]
    assert frame.schema["players"] == polars.List(polars.String)
    assert set(frame.schema.values()) == {polars.String, polars.List(polars.String), polars.Int64, polars.Float64}
    assert frame.select(LABELS).rows() == [
        *(("diagonal:n=4", ["coebl:c=3", "uniform"], "gaussian", 20, seed) for seed in range(3)),
        *(("matching-pennies", ["exp3", "uniform"], "bernoulli", 20, seed) for seed in range(3)),
        *(("matching-pennies", ["exp3", "uniform"], "gaussian", 20, seed) for seed in range(5)),
    ]
    finals = [ran(cell).final("regret") for cell in (CELLS[2], CELLS[3], CELLS[0], CELLS[1])]
    assert frame["regret"].to_numpy().tobytes() == np.concatenate(finals).tobytes()
    assert frame["pseudo_regret"].to_list() == [*ran(DIAGONAL).final("pseudo_regret").tolist(), *[None] * 8]


def test_last_at_another_round(results):
    frame = results.last(["regret"], game="diagonal:n=4", rounds=7)
    assert frame["regret"].to_list() == ran(DIAGONAL).metrics["regret"][6].tolist()
    with pytest.raises(InputError, match="nearest is 20"):
        results.last(rounds=500)


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
        ({"players": ("exp4", None)}, "did you mean 'exp3'"),
        ({"game": "diagonal:5"}, "no finished cell has the game"),
        ({"metrics": ["regrets"]}, "'regret'"),
        ({"metrics": "regret"}, "a list of names"),
    ],
)
def test_mistaken_filters_are_one_line(results, filters, message):
    for read in (results.last, results.curves):
        with pytest.raises(InputError, match=message) as caught:
            read(**filters)
        assert "\n" not in str(caught.value)


def test_overlapping_cells_are_joined(tmp_path):
    """A study that has grown holds other metrics of the same runs in other cells."""
    overlapping = dataclasses.replace(BASE, seeds=(2, 3), metrics=("regret", "pseudo_regret"))
    results = study(tmp_path / "study", BASE, overlapping)
    frame = results.last()
    assert frame["seed"].to_list() == [0, 1, 2, 3]
    assert frame["regret"].to_list() == [*ran(BASE).final("regret"), ran(overlapping).final("regret")[1]]
    assert frame["pseudo_regret"].to_list() == [None, None, *ran(overlapping).final("pseudo_regret")]
    assert len(results.curves()) == 4 * 20


def test_a_run_with_two_values_is_an_error(tmp_path):
    results = study(tmp_path / "study", BASE)
    overlapping = dataclasses.replace(BASE, seeds=(2, 3))
    result = ran(overlapping)
    changed = dataclasses.replace(result, metrics={"regret": result.metrics["regret"] + 1})
    results.store.save(overlapping, changed)
    for read in (results.last, results.curves):
        with pytest.raises(StoreError, match="seed 2 has two values of regret"):
            read()


def test_nan_and_infinity_are_numbers_and_not_nulls(tmp_path):
    results = study(tmp_path / "study")
    result = ran(BASE)
    values = result.metrics["regret"].copy()
    values[-1] = [math.nan, math.inf, 0.0]
    for seeds in (BASE.seeds, (2, 1, 0)):
        cell = dataclasses.replace(BASE, seeds=seeds)
        order = list(seeds)
        runs = dataclasses.replace(result, seeds=np.array(seeds), metrics={"regret": values[:, order]})
        results.store.save(cell, runs)
    frame = results.last()
    np.testing.assert_equal(frame["regret"].to_list(), [math.nan, math.inf, 0.0])


def test_without_cells_the_frame_is_empty(tmp_path):
    results = study(tmp_path / "study")
    assert results.last().columns == LABELS
    assert results.curves().columns == [*LABELS, "round"]
    assert len(results.last()) == len(results.curves()) == 0
