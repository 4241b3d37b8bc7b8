"""The published times of learners of matrices and of genomes, and the statements about them."""

from pathlib import Path

import pytest

from tools.templates import read_json
from tools.where_matrices_stop import RESULTS, as_csv, read_published, table

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "large-games.md").read_text()


@pytest.fixture(scope="module")
def times():
    return read_published(ROOT / RESULTS / "times.csv")


def test_the_table_is_that_of_the_times(times):
    assert as_csv(times) == (ROOT / RESULTS / "times.csv").read_text()
    assert table(times) == (ROOT / RESULTS / "table.md").read_text()
    assert table(times) in PAGE


PROBE = {  # the medians of the first measurement, with prototypes
    ("diagonal", "pbil"): {5: 328, 7: 457, 8: 510, 10: 662, 20: 1288, 50: 3267, 100: 6506, 1000: 59413},
    ("diagonal", "gene-lr"): {10: 1263, 20: 2942, 50: 8688, 100: 21630, 1000: 469448},
    ("diagonal", "kin"): {5: 589, 7: 1162, 8: 1947},
    ("bigger-number", "pbil:step=safe"): {10: 1400, 20: 4878, 50: 29352, 100: 114744},
    ("bigger-number", "gene-lr"): {10: 1638, 20: 4161, 50: 16636, 100: 48476},
}


@pytest.mark.parametrize(("game", "learner"), PROBE)
def test_every_run_succeeds_in_the_rounds_of_the_probe(times, game, learner):
    for n, median in PROBE[game, learner].items():
        runs = times[game][learner][n]
        assert runs.hits == len(runs.times)
        assert runs.quantile(0.5) == pytest.approx(median, rel=0.25)


def test_the_page_has_the_outcome_of_the_pre_registered_test():
    summary = read_json(ROOT / "results" / "gene-lr" / "summary.json")
    (trial,) = summary["trials"]
    a, b = trial["statements"]["a"], trial["statements"]["b"]
    outcomes = [row["outcome"] for row in a["rows"]]
    behind, ahead, level = (outcomes.count(word) for word in ("behind", "ahead", "level"))
    assert f"behind on {behind}, ahead on {ahead}, undecided on {level}: missed" in PAGE
    above = {row["game"] for row in b["rows"] if row["outcome"] == "above"}
    assert f"on {len(trial['games']) - len(above)}: missed" in PAGE
