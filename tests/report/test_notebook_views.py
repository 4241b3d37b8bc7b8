"""HTML of games, results and comparisons in notebooks: well-formed, small, correct and safe."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from coebl import Game, simulate
from coebl.evidence.compare import Comparison, Contest
from coebl.evidence.statistics import Estimate, mean_interval
from coebl.games import parse_game

HOSTILE = "<script>alert('x')</script>\"&\n\x07"


def shown(thing, most=30_000):
    """The elements of the HTML of an object; parsing it as XML shows that every tag is closed."""
    html = thing._repr_html_()
    assert "<script" not in html
    assert len(html) < most
    return ET.fromstring(html)


def texts(root, tag):
    return ["".join(element.itertext()) for element in root.iter(tag)]


def test_a_game_shows_its_payoffs_an_equilibrium_and_its_value():
    game = Game([[3, 0, 5], [1, 2, 4]], name=HOSTILE, row_labels=["a", HOSTILE])
    root = shown(game)
    rows = [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]
    assert rows[1] == ["a", "3", "0", "5", "0.250"]
    assert rows[2][1:] == ["1", "2", "4", "0.750"]
    assert rows[3] == ["column plays", "0.500", "0.500", "0.000", ""]
    assert "value 1.5; the bars are the equilibrium" in texts(root, "p")[0]
    styles = [cell.get("style") for cell in list(root.iter("tr"))[1]]
    assert "0,114,178,0.28" in styles[1]  # (3 - 1.5) / 3.5 of 0.65, above the value
    assert "230,126,34" in styles[2]


def test_an_interval_is_cut_at_the_bounds_of_its_metric():
    result = simulate("diagonal:2", "ucb", "coebl:c=2", rounds=600, seeds=10, metrics=["tv"], record="last")
    assert mean_interval(result.final("tv")).low < 0
    assert next(row for row in texts(shown(result), "tr") if row.startswith("TV")) == "TV distance0.100.00 to 0.33"


def test_a_value_that_differs_from_zero_by_rounding_is_zero():
    assert "value 0;" in texts(shown(Game([[0.1, -0.3], [-0.3, 0.9]])), "p")[0]
    assert "value 0;" in texts(shown(parse_game("blotto")), "p")[0]


@pytest.mark.parametrize(("shape", "rows"), [((30, 2), 14), ((100, 100), 13), ((1, 1), 3)])
def test_a_large_game_is_shown_in_part(shape, rows):
    root = shown(Game(np.random.default_rng(1).normal(size=shape)))
    assert len(list(root.iter("tr"))) == rows  # 100 x 100 payoffs are not solved, and have no line of bars
    assert ("actions are shown" in texts(root, "p")[0]) == (max(shape) > 12)


def test_a_result_shows_a_curve_and_the_last_numbers():
    result = simulate(Game([[3, 0], [1, 2]], name=HOSTILE), "exp3", "uniform", rounds=50, seeds=6)
    root = shown(result)
    interval = mean_interval(result.final("regret"))
    places = 1 if (interval.high - interval.low) / 2 < 10 else 0
    row = next(row for row in texts(root, "tr") if row.startswith("Regret"))
    ends = f"{interval.mean:.{places}f}{interval.low:.{places}f} to {interval.high:.{places}f}".replace("-", "−")
    assert row == f"Regret{ends}"
    assert len(list(root.iter("svg"))) == 1


@pytest.mark.parametrize("options", [{"seeds": 1}, {"seeds": 3, "record": "last"}, {"seeds": 2, "metrics": ["kl"]}])
def test_results_without_a_band_or_a_curve_or_finite_numbers_are_shown_too(options):
    root = shown(simulate([[2, 1], [1, 0]], "exp3", "uniform", rounds=5, **({"metrics": ["regret"]} | options)))
    assert len(list(root.iter("table"))) == 1
    assert "nan" not in ET.tostring(root, encoding="unicode")


def test_a_comparison_shows_a_bar_per_game_and_names_winners_after_correction():
    decided = Estimate(-2.0, -3.0, -1.0, 1.0, 9, p=0.001, p_holm=0.002)
    open_ = Estimate(0.5, -1.5, 2.5, 1.0, 9, p=0.03, p_holm=0.06)
    one_seed = Estimate(0.5, float("nan"), float("nan"), float("nan"), 1)
    contests = [Contest("head to head", game, (), "both", estimate) for game, estimate in
                (("rps", decided), (HOSTILE, open_), ("one", one_seed))]  # fmt: skip
    root = shown(Comparison("a", HOSTILE, "regret", "regret", "lower", tuple(contests)))
    rows = [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")][1:]
    assert [row[3:] for row in rows] == [
        ["−2.0 [−3.0, −1.0]", "a"],
        ["0.5 [−1.5, 2.5]", "undecided"],
        ["0.5", "undecided"],
    ]
    first = next(root.iter("svg"))
    paths = [path.get("d") for path in first.iter("path")]
    assert paths == ["M120.0 0V16", "M4.8 8H81.6"]  # 3 of 3 and 1 of 3, to the left of the middle
