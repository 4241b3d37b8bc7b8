"""The data of the page: right numbers, and the same titles and looks as in figures."""

import math
import re
import statistics
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

from coebl.naming import PALETTE, LearnerWords, MetricWords, looks
from coebl.plots import Reference
from coebl.report.page import Preset
from report.browser import NAMES, MadeUp, Numbers
from report.pages import MATCHES, Elements, curves, embedded, page_text


def test_the_numbers_are_the_means_and_student_intervals(tmp_path):
    """Long curves are thinned, and keep both ends."""
    source = MadeUp(MATCHES, seeds=7, recorded=300)
    by_match = curves(page_text(tmp_path, source))
    assert set(by_match) == {(*match, metric) for match in MATCHES for metric in NAMES}
    factor = student.ppf(0.975, 6) / math.sqrt(7)
    for key, (rounds, means, halves, seeds) in by_match.items():
        runs = source.runs(*key)
        samples_at = dict(zip(runs.rounds.tolist(), runs.values.tolist(), strict=True))
        assert (len(rounds), rounds[0], rounds[-1], max(np.diff(rounds)) <= 70) == (50, 10, 3000, True)
        assert (seeds, len(means), len(halves)) == (7, 50, 50)
        for place, samples in enumerate(map(samples_at.get, rounds)):
            assert means[place] == pytest.approx(statistics.mean(samples), rel=1e-4)
            assert halves[place] == pytest.approx(factor * statistics.stdev(samples), rel=1e-3)


@pytest.mark.parametrize(
    ("values", "means", "halves"),
    [
        ([[1.0], [2.0]], [1, 2], [None, None]),
        (
            [[1.0, 3.0], [math.inf, 1.0], [math.nan, 1.0]],
            [2, None, None],
            [pytest.approx(12.706, rel=5e-3), None, None],
        ),
        ([[0.1, 0.1, 0.1], [math.inf] * 3], [0.1, None], [0, None]),
    ],
    ids=["one seed has no interval", "what is not finite is null", "equal samples have width zero"],
)
def test_special_values(tmp_path, values, means, halves):
    numbers = Numbers(np.arange(1, len(values) + 1), np.arange(len(values[0])), np.array(values, dtype=float))
    source = MadeUp([("rps", "ucb", "ucb")], ["tv"], change=lambda *_: numbers)
    _, found_means, found_halves, _ = curves(page_text(tmp_path, source))["rps", "ucb", "ucb", "tv"]
    assert (found_means, found_halves) == (means, halves)


def test_games_and_sizes_are_in_natural_order(tmp_path):
    games = embedded(page_text(tmp_path), "data")["games"]
    assert [game["spec"] for game in games] == ["rps", "diagonal:n=2", "diagonal:n=10"]


def test_learners_look_as_in_figures(tmp_path):
    specs = ["coebl", "coebl:c=2", "coebl:c=0.5", "exp3", "exp3-as-released", "ucb", "exp3-ix", "mine.py:Mine"]
    shown = ["coebl:c=2", "ucb"]
    text = page_text(tmp_path, MadeUp([("rps", spec, spec) for spec in specs]), presets=[Preset("one", {"rps": shown})])
    learners = {learner["spec"]: learner for learner in embedded(text, "data")["learners"]}
    for spec, look in looks(specs, plainest=shown).items():
        learner = learners[spec]
        assert (learner["colour"], learner["shape"]) == (look.colour, look.symbol)
        assert [length / 2 for length in learner["dash"]] == list(look.dashes)
    assert learners["coebl:c=2"]["shape"] == "", "a learner of a preset is plain"
    assert [learners[spec]["value"] for spec in specs[:4]] == [8, 2, 0.5, None]


def test_the_reference_line_is_that_of_the_caller(tmp_path):
    line = Reference("<2> K", lambda actions, rounds: np.full(len(rounds), 2 * actions))  # they may be integers
    source = MadeUp([("rps", "ucb", "ucb"), ("robust-bandit", "ucb", "ucb"), ("chess", "ucb", "ucb")], recorded=3)
    games = embedded(page_text(tmp_path, source, reference=line), "data")["games"]
    assert {game["name"]: game["reference"] for game in games} == {
        "rps": {"label": "<2> K, K\u00a0=\u00a03", "heights": {"0": [6, 6, 6]}},
        "robust-bandit": None,  # it is not square
        "chess": None,
    }
    assert embedded(page_text(tmp_path), "data")["games"][0]["reference"] is None


def test_the_caller_chooses_the_first_metrics(tmp_path):
    data = embedded(page_text(tmp_path, first=["tv", "unheard_of", "pseudo_regret"]), "data")
    names = list(data["metrics"])
    assert names == ["tv", "pseudo_regret", "regret", "absolute_pseudo_regret", "exploitability"]
    assert data["tableMetric"] == "pseudo_regret"
    assert names.index("regret") == 2 > names.index("pseudo_regret"), "the table has the first signed metric"


def test_learners_that_see_more_than_bandits_are_marked(tmp_path):
    source = MadeUp([("rps", spec, "best-response") for spec in ("ucb", "coebl", "nash", "mine.py:Mine")])
    source.learner_info["mine.py:Mine"] = LearnerWords(title="My learner", kind="oracle", colour=7, parameters={})
    learners = {learner["spec"]: learner for learner in embedded(page_text(tmp_path, source), "data")["learners"]}
    assert {spec: learner["sees"].split(",")[0] for spec, learner in learners.items()} == {
        "best-response": "oracle",
        "ucb": "",
        "coebl": "",
        "nash": "oracle",
        "mine.py:Mine": "oracle",
    }
    assert learners["mine.py:Mine"]["title"] == "My learner"
    assert learners["mine.py:Mine"]["colour"] == PALETTE[7][0]


def test_metrics_have_the_titles_that_cells_store(tmp_path):
    source = MadeUp([("rps", "ucb", "ucb")], ["mine"])
    source.metric_info["mine"] = MetricWords("My metric", meaning="What it means.", cumulative=True)
    text = page_text(tmp_path, source)
    [metric] = embedded(text, "data")["metrics"].values()
    assert (metric["title"], metric["cumulative"]) == ("My metric", True)
    assert {"My metric", "What it means."} <= set(Elements(text).strings)


def test_the_report_is_independent_of_papers():
    folder = Path(sys.modules["coebl.report.page"].__file__).parent
    files = [path for path in folder.rglob("*") if path.suffix in (".py", ".html", ".js", ".css")]
    assert len(files) > 9
    wrong = {path.name for path in files if re.search(r"COEBL|ijcai|coebl\.papers|[Tt]he paper\b", path.read_text())}
    assert not wrong
