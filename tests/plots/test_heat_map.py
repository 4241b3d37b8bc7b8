"""Heat maps: the numbers in the cells, their marks and their colours."""

import math
import statistics

import numpy as np
import pytest
import scipy.stats

from coebl import plots
from plots.made import GAME, UCB, Made, frame


def heat_map_of(means, half=1.04, rows=None):
    """A heat map whose cells have these means, and intervals of exactly this half width; for all rows, or the first."""
    spread = half / scipy.stats.t.ppf(0.975, 3) * 2 / statistics.stdev([-1, 1, -1, 1])
    cells = {
        (f"row {i}", f"column {j}"): (GAME, str(i), str(j)) for i, row in enumerate(means) for j in range(len(row))
    }

    def values(row, column):
        return np.array([np.zeros(4), means[int(row)][int(column)] + spread * np.array([-1, 1, -1, 1])])

    table = frame({match: (np.array([1, 2]), values(*match[1:])) for match in cells.values()}, "pseudo_regret")
    shown = dict(list(cells.items())[: len(means[0]) * (rows or len(means))])
    axes = [
        plots.plot_heat_map(data, "pseudo_regret", shown, alike=cells.values())
        for data in (table, table.filter(table["round"] == table["rounds"]).drop("round"))
    ]
    assert len({str([text.get_text() for text in ax.texts]) for ax in axes}) == 1  # last rounds are enough
    return axes[0]


def test_each_cell_has_the_mean_and_the_half_width_and_a_mark_if_it_does_not_differ_from_zero():
    ax = heat_map_of([[5.0, -20.0, 0.0], [300.0, -0.25, 1.5]])
    labels = {tuple(text.get_position()): text.get_text() for text in ax.texts}
    assert labels == {
        (0.5, 0.5): "5.0 ± 1.0",
        (1.5, 0.5): "−20.0 ± 1.0",
        (2.5, 0.5): "0.0 ± 1.0",
        (0.5, 1.5): "300.0 ± 1.0",
        (1.5, 1.5): "−0.2 ± 1.0",
        (2.5, 1.5): "1.5 ± 1.0",
    }
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["row 0", "row 1"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["column 0", "column 1", "column 2"]
    assert ax.get_ylim() == (2, 0)  # the first row is on top
    hatched = {patch.get_xy() for patch in ax.patches if patch.get_hatch()}
    assert hatched == {(2, 0), (1, 1)}
    italic = {tuple(text.get_position()) for text in ax.texts if text.get_fontstyle() == "italic"}
    assert italic == {(2.5, 0.5), (1.5, 1.5)}
    assert "hatched: undecided at 5 % after Holm's correction" in ax.get_xlabel()
    assert "4 seeds" in ax.get_xlabel()


def test_the_colours_of_the_heat_map_diverge_at_zero():
    ax = heat_map_of([[5.0, -5.0, 0.0]], half=0.1)
    above, below, middle = ax.collections[0].to_rgba(ax.collections[0].get_array()).reshape(3, 4)
    assert above[2] > above[0]  # blue
    assert below[0] > below[2]  # orange
    assert middle[:3] == pytest.approx([0.97] * 3, abs=0.01)


def test_heat_maps_that_are_alike_have_one_scale():
    together = heat_map_of([[5.0, -5.0], [80.0, 0.0]]).collections[0].get_array().ravel().tolist()
    alone = heat_map_of([[5.0, -5.0], [80.0, 0.0]], rows=1).collections[0].get_array().ravel().tolist()
    assert alone == pytest.approx([0.25, -0.25])
    assert alone == pytest.approx(together[:2])


def test_missing_cells_are_blank_and_infinite_means_are_named():
    class Source(Made):
        def values(self, game, row, column, metric):
            return super().values(game, row, column, metric) + (math.inf if row == column else 0)

    source = Source((GAME, "a", "b"), (GAME, "b", "a"), ("rps", "a", "b"), (GAME, "b", "b"))
    cells = {(row, column): (game, row, column) for game, row, column in source.listed if game == GAME}
    assert cells == {("a", "b"): (GAME, "a", "b"), ("b", "a"): (GAME, "b", "a"), ("b", "b"): (GAME, "b", "b")}
    ax = plots.plot_heat_map(source, "regret", cells)
    labels = {tuple(text.get_position()): text.get_text() for text in ax.texts}
    assert labels.keys() == {(0.5, 0.5), (0.5, 1.5), (1.5, 1.5)}  # columns are b and a
    assert labels[(0.5, 1.5)] == "infinite"
    assert np.ma.getmaskarray(ax.collections[0].get_array()).tolist() == [[False, True], [True, False]]


def test_one_seed_in_the_heat_map_has_no_interval():
    ax = plots.plot_heat_map(Made(UCB, seeds=1), "regret", {("a", "b"): UCB})
    assert "±" not in ax.texts[0].get_text()
    assert ax.patches[0].get_hatch()


def test_a_cell_that_is_decided_before_correction_only_is_hatched():
    alone, among_others = heat_map_of([[1.2]]), heat_map_of([[1.2, 0.0, 0.0, 0.0]])
    assert not alone.patches, "the interval is 0.16 .. 2.24"
    assert {patch.get_xy() for patch in among_others.patches} == {(0, 0), (1, 0), (2, 0), (3, 0)}
