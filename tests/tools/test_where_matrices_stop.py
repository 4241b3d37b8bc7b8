"""The published times of learners of matrices and of genomes, and the statements about them."""

from pathlib import Path

from tools.templates import read_json
from tools.where_matrices_stop import RESULTS, as_csv, read_published, table

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "large-games.md").read_text()


def test_the_table_is_that_of_the_times():
    times = read_published(ROOT / RESULTS / "times.csv")
    assert as_csv(times) == (ROOT / RESULTS / "times.csv").read_text()
    assert table(times) == (ROOT / RESULTS / "table.md").read_text()
    assert table(times) in PAGE


def test_the_page_has_the_outcome_of_the_pre_registered_test():
    summary = read_json(ROOT / "results" / "gene-lr" / "summary.json")
    (trial,) = summary["trials"]
    a, b = trial["statements"]["a"], trial["statements"]["b"]
    outcomes = [row["outcome"] for row in a["rows"]]
    behind, ahead, level = (outcomes.count(word) for word in ("behind", "ahead", "level"))
    assert f"behind on {behind}, ahead on {ahead}, undecided on {level}: missed" in PAGE
    above = {row["game"] for row in b["rows"] if row["outcome"] == "above"}
    assert f"on {len(trial['games']) - len(above)}: missed" in PAGE
