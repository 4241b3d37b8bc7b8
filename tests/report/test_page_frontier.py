"""The frontiers of the page, and its sections."""

import math

import pytest

from coebl.evidence.statistics import mean_interval
from coebl.plots.sweep import LAST
from report.browser import MadeUp
from report.pages import Elements, embedded, page_text

RATES = ["coebl:c=0", "coebl:c=1", "coebl:c=2"]
FRONTIER = [("rps", rate, column) for rate in RATES for column in (rate, "best-response")]


def without(lacks):
    """A source that lacks a metric in some matches."""
    return MadeUp(FRONTIER, change=lambda runs, game, *key: None if lacks(*key) else runs)


@pytest.mark.parametrize(
    ("lacks", "sections"),
    [
        (lambda row, column, metric: False, ["figures", "table", "frontier"]),
        (lambda row, column, metric: row != column, ["figures", "frontier"]),
        (lambda row, column, metric: row != column and "regret" in metric, ["figures", "frontier"]),
        (lambda row, column, metric: row == column, ["figures", "table"]),
        (lambda row, column, metric: row == RATES[1], ["figures", "table"]),
        (lambda row, column, metric: row != column and metric == "pseudo_regret", ["figures", "table", "frontier"]),
        (lambda row, column, metric: True, []),
    ],
    ids=["all", "no other", "no regret of others", "no self-play", "two rates", "the second choice", "nothing"],
)
def test_a_section_is_shown_if_it_has_content(tmp_path, lacks, sections):
    text = page_text(tmp_path, without(lacks))
    assert [section for section in ("figures", "table", "frontier") if f'<section id="{section}"' in text] == sections
    assert [section for section in ("figures", "table", "frontier") if f'href="#{section}"' in text] == sections
    needed = "There is no chart of c. It needs three or more values on one game"
    assert (needed in text, "<code>coebl plot DIR --sweep</code>" in text) == ("frontier" not in sections,) * 2


def test_the_frontier_leaves_out_values_that_are_not_finite(tmp_path):
    def change(runs, game, row, column, metric):
        if metric == "exploitability" or (metric == "tv" and row == RATES[0]):
            runs.values[-1, 0] = math.inf
        return runs

    matches = [*FRONTIER, ("rps", "coebl:c=4", "coebl:c=4"), ("rps", "coebl:c=4", "best-response")]
    data = embedded(page_text(tmp_path, MadeUp(matches, change=change)), "data")
    [frontier] = data["frontiers"]
    assert frontier["metrics"][0] == "tv"
    assert "exploitability" not in frontier["metrics"]
    tv = [point["self_play"]["tv"] for point in frontier["points"]]
    assert [end is None for end in tv] == [True, False, False, False]


@pytest.mark.parametrize(
    ("opponent", "options", "metrics"),
    [
        ("best-response", {}, ["exploitability", "tv", "absolute_pseudo_regret", "pseudo_regret", "regret"]),
        (
            "nash",
            {"strongest": "nash", "convergence": ["tv"]},
            ["tv", "exploitability", "absolute_pseudo_regret", "pseudo_regret", "regret"],
        ),
    ],
)
def test_the_frontier_is_the_mean_over_the_last_rounds_of_whole_runs(tmp_path, opponent, options, metrics):
    matches = [("rps", rate, other) for rate in RATES for other in (rate, "nash", "best-response")]
    source = MadeUp(matches, recorded=1500, every=2)
    data = embedded(page_text(tmp_path, source, first=["pseudo_regret"], **options), "data")
    [frontier] = data["frontiers"]
    assert (data["frontierOpponent"], frontier["metrics"], frontier["regret"]) == (opponent, metrics, "pseudo_regret")
    assert len(frontier["points"]) == len(RATES)
    for point in frontier["points"]:
        spec = data["learners"][point["learner"]]["spec"]
        for metric, last in (("exploitability", LAST), ("tv", LAST), ("absolute_pseudo_regret", 1)):
            runs = source.runs("rps", spec, spec, metric)
            within = runs.rounds > 3000 - last
            interval = mean_interval(runs.values[within].mean(axis=0))
            half = interval.high - interval.mean
            first = runs.rounds[within][0]
            expected = {"mean": pytest.approx(interval.mean, rel=1e-4), "half": pytest.approx(half, rel=1e-4)}
            assert point["self_play"][metric] == expected | {"seeds": 5, "first": first, "last": 3000}
        end = source.runs("rps", spec, opponent, "pseudo_regret").values[-1]
        assert point["against"]["mean"] == pytest.approx(end.mean(), rel=1e-4)


@pytest.mark.parametrize(
    ("game", "metrics", "shown"),
    [
        ("rps", ["pseudo_regret", "tv"], ["tv"]),  # lower regret is no better in self-play
        ("chicken", ["welfare", "nash_conv"], ["nash_conv"]),  # the chart says that lower is better
    ],
)
def test_a_sweep_without_opponents_is_shown_in_self_play(tmp_path, game, metrics, shown):
    text = page_text(tmp_path, MadeUp([(game, rate, rate) for rate in RATES], metrics))
    [frontier] = embedded(text, "data")["frontiers"]
    assert (frontier["metrics"], frontier["regret"]) == (shown, None)
    assert [point["against"] for point in frontier["points"]] == [None] * len(RATES)
    seen = " ".join(Elements(text).strings)
    assert "for each c: how it does against itself. Lower is better." in seen
    assert "Holm" not in seen, "nothing is tested on this page"


def test_a_sweep_of_two_settings_has_no_frontier(tmp_path):
    rates = ["coebl:c=0", "coebl:c=1", "mine:rate=0", "mine:rate=1"]
    source = MadeUp([("rps", rate, other) for rate in rates for other in (rate, "best-response")])
    text = page_text(tmp_path, source)
    assert embedded(text, "data")["frontiers"] == [None]
    assert "There is no chart" in text
    assert "There is no chart" not in page_text(tmp_path, source, family="the pairings of a game"), "of a tournament"
    assert "There is no chart" not in page_text(tmp_path, MadeUp([("rps", "ucb", "ucb")]))
