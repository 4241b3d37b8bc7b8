"""The frontier: its points, their intervals and their labels."""

import statistics

import numpy as np
import pytest
from matplotlib.figure import Figure

from coebl import plots
from coebl.runs import Runs
from plots.made import GAME, Made, slow


def test_the_frontier_has_its_points_in_order_with_intervals_both_ways():
    points = {c: ((GAME, f"coebl:c={c}", f"coebl:c={c}"), (GAME, f"coebl:c={c}", "best-response")) for c in "0248"}
    source = Made(*(match for pair in points.values() for match in pair))
    ax = Figure().subplots()
    assert plots.plot_frontier(source, points, "exploitability", "pseudo_regret", "a best response", ax) is ax
    expected = []
    for self_play, other in points.values():
        per_run = [statistics.mean(run[-20:]) for run in source.runs(*self_play, "exploitability").values.T]
        expected.append((slow(per_run), slow(source.runs(*other, "pseudo_regret").values[-1])))
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [(x[0], y[0]) for x, y in expected])
    across, along = (bars.get_segments() for bars in ax.containers[0].lines[2])
    np.testing.assert_allclose(across, [[(x[1], y[0]), (x[2], y[0])] for x, y in expected])
    np.testing.assert_allclose(along, [[(x[0], y[1]), (x[0], y[2])] for x, y in expected])
    assert {text.get_text(): text.xy for text in ax.texts} == {
        c: pytest.approx((x[0], y[0])) for c, (x, y) in zip(points, expected, strict=True)
    }
    assert "exploitability\nin the last 100 rounds" in ax.get_xlabel()


def test_labels_of_near_points_are_not_on_top_of_each_other():
    class Source:
        def runs(self, game, row, column, metric):
            value = {"0": 5, "1": 5.001, "2": 5.002, "3": 5.003, "4": 9}[row]
            return Runs(np.array([1]), np.arange(2), np.full((1, 2), value))

    points = {str(c): (("game", str(c), "a"), ("game", str(c), "b")) for c in range(5)}
    ax = plots.plot_frontier(Source(), points, "exploitability", "pseudo_regret", "a best response")
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(one.overlaps(other) for index, one in enumerate(boxes) for other in boxes[:index])
