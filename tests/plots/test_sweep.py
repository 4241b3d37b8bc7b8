"""Sweeps: a metric by the number in which settings differ, with the default and the best value."""

import itertools
import statistics

import numpy as np
import pytest
from matplotlib.figure import Figure

from coebl import plots
from coebl.core.errors import InputError
from coebl.naming import learner_style
from plots.made import GAME, Made, slow

RATES = {f"{c:g}": f"coebl:c={c:g}" for c in (0, 0.5, 2)} | {"8": "coebl"}


@pytest.mark.parametrize("metric", ["exploitability", "pseudo_regret"])
def test_a_sweep_has_every_mean_with_its_interval_and_the_best(metric):
    points = {c: (GAME, spec, "best-response") for c, spec in RATES.items()}
    source = Made(*points.values())
    ax = Figure().subplots()
    best = plots.plot_sweep(source, metric, points, ax)
    span = 1 if metric == "pseudo_regret" else 20  # 100 rounds, of which every fifth is recorded
    expected = [
        slow([statistics.mean(run[-span:]) for run in source.values(*match, metric).T]) for match in points.values()
    ]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [mean for mean, _, _ in expected])
    np.testing.assert_allclose([bar[:, 1] for bar in ax.collections[0].get_segments()], [ends for _, *ends in expected])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == list(points)
    assert ax.lines[0].get_color() == learner_style("coebl")["color"]
    least = min(range(len(expected)), key=lambda place: expected[place][0])
    assert best.value == list(points)[least]
    assert (best.estimate.mean, best.estimate.low, best.estimate.high) == pytest.approx(expected[least])
    assert ax.lines[1].get_xydata() == pytest.approx(np.array([[least, expected[least][0]]])), "it has a ring"


def panels(figure):
    return {ax.get_title().split("\n")[0].replace("\u00a0", " "): ax for ax in figure.axes}


def test_every_sweep_has_a_panel_per_game_and_a_line_per_opponent():
    matches = [(game, spec, column) for game in (GAME, "rps") for spec in RATES.values() for column in (spec, "exp3")]
    figure = plots.plot_sweeps(Made(*matches), "exploitability", matches)
    by_title = panels(figure)
    assert list(by_title) == ["Diagonal, n = 2, COEBL", "Rock-paper-scissors, COEBL"]
    for ax in by_title.values():
        assert ax.get_legend_handles_labels()[1] == ["self-play", "against Exp3"]
        assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "0.5", "2", "8\ndefault"]
        assert "best self-play: c = " in ax.get_title()
        own, _, other, _ = ax.lines
        assert [own.get_color(), other.get_color()] == [learner_style(spec)["color"] for spec in ("coebl", "exp3")]


def test_long_names_of_opponents_are_not_cut_off_and_do_not_overlap():
    opponents = [f"{'long/' * 12}opponents.py:{name}" for name in ("Mine", "Yours", "Theirs")]
    matches = [
        (game, spec, other) for game in (GAME, "rps", "biased-rps") for spec in RATES.values() for other in opponents
    ]
    figure = plots.plot_sweeps(Made(*matches), "tv", matches)
    [legend] = figure.legends
    boxes = [legend.get_window_extent(), *(ax.title.get_window_extent() for ax in figure.axes)]
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)
    titles = boxes[1:]
    assert all(left.x1 <= right.x0 for left, right in itertools.pairwise(titles))
    assert max(title.y1 for title in titles) <= boxes[0].y0


def test_a_default_that_was_not_run_is_named_beside_the_parameter():
    matches = [(GAME, f"coebl:c={c}", "ucb") for c in (0.5, 2)]
    [ax] = plots.plot_sweeps(Made(*matches), "tv", matches).axes
    assert ax.get_xlabel() == "c of COEBL (default 8)"


def test_without_a_sweep_the_message_explains_sweeps():
    with pytest.raises(InputError, match=r"there is no sweep: .*learners = \['coebl:c="):
        plots.plot_sweeps(Made((GAME, "ucb", "exp3")), "tv", [(GAME, "ucb", "exp3")])
