"""The frontiers of the page, and its sections."""

import math

import pytest

from coebl.evidence.statistics import mean_interval
from coebl.plots.sweep import LAST
from coebl.study import Results, Study
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
    assert [one for one in ("figures", "table", "frontier") if f'<section id="{one}"' in text] == sections
    assert [one for one in ("figures", "table", "frontier") if f'href="#{one}"' in text] == sections


def test_a_sweep_without_a_frontier_says_what_it_needs(tmp_path):
    text = page_text(tmp_path, without(lambda row, column, metric: row == RATES[1]))
    assert "There is no chart of c. It needs three or more values on one game" in text
    assert "<code>coebl plot DIR --sweep</code>" in text
    assert "There is no chart" not in page_text(tmp_path, without(lambda row, column, metric: False))
    assert "There is no chart" not in page_text(tmp_path, MadeUp([("rps", "ucb", "ucb")]))


def test_the_frontier_is_the_mean_over_the_last_rounds_of_whole_runs(tmp_path):
    source = MadeUp(FRONTIER, recorded=1500, every=2)
    data = embedded(page_text(tmp_path, source, first=["pseudo_regret"]), "data")
    [frontier] = data["frontiers"]
    assert frontier["metrics"] == ["exploitability", "tv", "absolute_pseudo_regret", "pseudo_regret", "regret"]
    assert frontier["regret"] == "pseudo_regret"
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
            assert point["self"][metric] == expected | {"seeds": 5, "first": first, "last": 3000}
        end = source.runs("rps", spec, "best-response", "pseudo_regret").values[-1]
        assert point["best"]["mean"] == pytest.approx(end.mean(), rel=1e-4)


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
    tv = [point["self"]["tv"] for point in frontier["points"]]
    assert [end is None for end in tv] == [True, False, False, False]


def test_a_custom_sweep_has_a_frontier_with_its_names(tmp_path):
    rates = [f"mine.py:Mine:rate={rate}" for rate in (0.5, 10, 9)]
    matches = [("rps", rate, column) for rate in rates for column in (rate, "best-response")]
    text = page_text(tmp_path, MadeUp(matches))
    data = embedded(text, "data")
    points = [data["learners"][point["learner"]] for point in data["frontiers"][0]["points"]]
    assert sorted((point["value"], point["spec"]) for point in points) == [
        (0.5, rates[0]),
        (9, rates[2]),
        (10, rates[1]),
    ]
    seen = " ".join(Elements(text).strings)
    assert "Which rate?" in seen
    assert "mine.py:Mine for each rate: how much it loses to a best response, and how it does against itself." in seen


def test_a_sweep_without_opponents_is_shown_in_self_play(tmp_path):
    study = Study(games=["rps"], learners=RATES, self_play=True, rounds=30, seeds=2, metrics=["pseudo_regret", "tv"])
    study.run(tmp_path / "run", workers=1)
    text = page_text(tmp_path, Results(tmp_path / "run"))
    data = embedded(text, "data")
    [frontier] = data["frontiers"]
    assert frontier["metrics"] == ["tv"]  # lower regret is no better
    assert (frontier["regret"], {point["best"] for point in frontier["points"]}) == (None, {None})
    assert len(frontier["points"]) == len(RATES)
    assert "for each c: how it does against itself. Lower is better." in " ".join(Elements(text).strings)


def test_a_metric_that_should_be_high_has_no_frontier(tmp_path):
    """The chart says that lower is better."""
    Study(games=["chicken"], learners=RATES, self_play=True, rounds=30, seeds=2, metrics=["welfare", "nash_conv"]).run(
        tmp_path / "run", workers=1
    )
    text = page_text(tmp_path, Results(tmp_path / "run"))
    [frontier] = embedded(text, "data")["frontiers"]
    assert frontier["metrics"] == ["nash_conv"]
    assert "Holm" not in " ".join(Elements(text).strings), "nothing is tested on this page"


def test_two_sweeps_share_a_frontier_and_short_ones_have_none(tmp_path):
    def frontier(*counts):
        specs = [f"{name}:{key}={n}" for name, key, count in counts for n in range(count)]
        text = page_text(
            tmp_path, MadeUp([("rps", spec, other) for spec in specs for other in (spec, "best-response")])
        )
        data = embedded(text, "data")
        if not data["frontiers"][0]:
            return None, text
        return [data["learners"][point["learner"]]["sweep"] for point in data["frontiers"][0]["points"]], text

    sweeps, text = frontier(("coebl", "c", 3), ("mine", "rate", 4))
    assert sorted(sweeps) == [0] * 3 + [1] * 4
    assert "Which c and rate?" in text
    assert "COEBL for each c, and mine for each rate: how" in text
    assert frontier(("coebl", "c", 2), ("mine", "rate", 2))[0] is None


def test_the_caller_chooses_the_opponent_of_the_frontier(tmp_path):
    rates = ["coebl:c=1", "coebl:c=2", "coebl"]
    source = MadeUp([("rps", rate, other) for rate in rates for other in (rate, "nash", "best-response")])
    data = embedded(page_text(tmp_path, source, strongest="nash", convergence=["tv"]), "data")
    [frontier] = data["frontiers"]
    assert data["frontierOpponent"] == "nash"
    assert frontier["metrics"][0] == "tv"
    for point in frontier["points"]:
        end = source.runs("rps", data["learners"][point["learner"]]["spec"], "nash", "pseudo_regret").values[-1]
        assert point["best"]["mean"] == pytest.approx(end.mean(), rel=1e-4)
