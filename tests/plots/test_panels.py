"""Panels of many matches: sorted, consistent, and with a legend that is never cut off."""

import itertools

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.naming import learner_style, looks
from coebl.plots.curves import MOST_LINES, plot_panels
from plots.made import frame

SHOWN = ("coebl:c=16", "coebl", "coebl:c=2", "ucb")


def drawn(matches, log=False):
    runs = dict.fromkeys(matches or [("rps", "ucb", "ucb")], (np.array([1, 10, 100]), np.arange(9.0).reshape(3, 3)))
    return plot_panels(frame(runs, "tv"), "tv", matches, log)


def labels(figure):
    return [text.get_text().replace("\u00a0", " ") for text in figure.legends[0].get_texts()]


def test_games_and_learners_are_in_the_order_of_their_numbers():
    games = [f"diagonal:n={n}" for n in (10, 2, 9)]
    figure = drawn([(game, learner, learner) for game in games for learner in SHOWN], log=True)
    titles = [ax.get_title().replace("\u00a0", " ") for ax in figure.axes]
    assert titles == ["Diagonal, n = 2", "Diagonal, n = 9", "Diagonal, n = 10"]
    cs = [f"COEBL, c = {c} v COEBL, c = {c}" for c in (2, 8, 16)]
    assert labels(figure) == [*cs, "UCB v UCB", "band: 95 % interval of the mean, 3 seeds"]
    assert {ax.get_xscale() for ax in figure.axes} == {"log"}
    assert [bool(ax.get_ylabel()) for ax in figure.axes] == [True, False, False]


def test_a_pair_looks_the_same_in_every_panel():
    pairs = list(itertools.product(SHOWN, SHOWN))
    figure = drawn([("rps", *pair) for pair in pairs] + [("diagonal:n=2", *pair) for pair in pairs[5:]])
    few, many = (
        {line.get_label(): (line.get_color(), line._unscaled_dash_pattern, line.get_marker()) for line in ax.lines}
        for ax in figure.axes
    )
    assert len(few) == 11
    assert all(many[label] == look for label, look in few.items())
    assert len({str(look) for look in many.values()}) == 16  # all differ


def test_a_line_has_the_colour_of_its_row_and_the_dashes_of_its_column_learner():
    figure = drawn([("rps", *pair) for pair in itertools.product(["coebl:c=2", "ucb", "exp3"], repeat=2)])
    for line in figure.axes[0].lines:
        row, column = (word.partition(",")[0].lower() for word in line.get_label().split(" v "))
        assert line.get_color() == learner_style(row)["color"]
        assert line._unscaled_dash_pattern[1] == (looks([column])[column].dashes or None)


@pytest.mark.parametrize("length", [1, 30, 120])
@pytest.mark.parametrize("count", [1, 6])
def test_the_legend_lies_inside_the_figure_and_below_the_panels(count, length):
    specs = [f"mine.py:{'L' * length}{place}" for place in range(count)]
    figure = drawn([("rps", *pair) for pair in itertools.product(specs, specs)][:30])
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert 0 <= box.x0 < box.x1 <= figure.bbox.width
    assert 0 <= box.y0 < box.y1 <= figure.bbox.height
    assert figure.axes[0].get_tightbbox().y0 >= box.y1 - 1
    assert figure.axes[0].get_window_extent().height > figure.dpi  # the panel keeps its size


def test_the_number_of_omitted_matches_is_reported():
    specs = [f"mine.py:L{place}" for place in range(7)]
    figure = drawn([("rps", *pair) for pair in itertools.product(specs, specs)])
    assert len(figure.axes[0].lines) == MOST_LINES == 40
    assert labels(figure)[-1] == "not shown: 9 more matches of each game"
    with pytest.raises(InputError, match="matches is empty"):
        drawn([])


def test_long_titles_do_not_overlap():
    games = [f"permuted:game=diagonal:n={n},seed=12" for n in (3, 4, 5)]
    figure = drawn([(game, "ucb", "ucb") for game in games])
    figure.draw_without_rendering()
    boxes = [ax.title.get_window_extent() for ax in figure.axes]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_learners_that_see_more_than_a_bandit_are_marked():
    note = "* sees more than a bandit does, for reference"
    assert {"UCB v Hedge*", note} <= set(labels(drawn([("rps", "ucb", "hedge")])))
    assert note not in labels(drawn([("rps", "ucb", "exp3")]))
