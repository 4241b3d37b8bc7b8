"""The frontier: its points, their intervals and their labels."""

import statistics

import numpy as np
import pytest
from matplotlib.figure import Figure

from coebl import plots
from plots.made import GAME, Made, frame, slow


def test_the_frontier_has_its_points_in_order_with_intervals_both_ways():
    points = {c: ((GAME, f"coebl:c={c}", f"coebl:c={c}"), (GAME, f"coebl:c={c}", "best-response")) for c in "0248"}
    source = Made(*(match for pair in points.values() for match in pair))
    ax = Figure().subplots()
    assert plots.plot_frontier(source, points, "exploitability", "pseudo_regret", "a best response", ax) is ax
    expected = []
    for self_play, other in points.values():
        per_run = [statistics.mean(run[-20:]) for run in source.values(*self_play, "exploitability").T]
        expected.append((slow(per_run), slow(source.values(*other, "pseudo_regret")[-1])))
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [(x[0], y[0]) for x, y in expected])
    across, along = (bars.get_segments() for bars in ax.containers[0].lines[2])
    np.testing.assert_allclose(across, [[(x[1], y[0]), (x[2], y[0])] for x, y in expected])
    np.testing.assert_allclose(along, [[(x[0], y[1]), (x[0], y[2])] for x, y in expected])
    assert {text.get_text(): text.xy for text in ax.texts} == {
        c: pytest.approx((x[0], y[0])) for c, (x, y) in zip(points, expected, strict=True)
    }
    assert "exploitability\nin the last 100 rounds" in ax.get_xlabel()


def test_labels_of_near_points_are_not_on_top_of_each_other():
    points = {str(c): (("game", str(c), "a"), ("game", str(c), "b")) for c in range(5)}
    values = dict(zip(points, (5, 5.001, 5.002, 5.003, 9), strict=True))
    runs = {match: (np.array([1]), np.full((1, 2), float(values[c]))) for c, pair in points.items() for match in pair}
    table = frame(runs, "exploitability").with_columns(pseudo_regret="exploitability")
    ax = plots.plot_frontier(table, points, "exploitability", "pseudo_regret", "a best response")
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(one.overlaps(other) for index, one in enumerate(boxes) for other in boxes[:index])
