"""The statements of docs/evolution.md about Strain's test and about last policies agree with the results."""

from pathlib import Path

import pytest

from tools.last_iterate import RESULTS, over_games, read_published, table
from tools.templates import read_json

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "evolution.md").read_text()


@pytest.mark.parametrize(
    ("name", "undecided"),
    [
        ("strain", {"k-learning", "kin"}),
        ("strain-2", {"k-learning", "ots-rm", "coebl:c=0.1", "thompson", "kin"}),
    ],
)
def test_the_page_quotes_the_published_test(name, undecided):
    summary = read_json(ROOT / "results" / name / "summary.json")
    (trial,) = summary["trials"]
    for id, statement in trial["statements"].items():
        assert f"- ({id}) " in PAGE
        assert statement["said"] in PAGE
        assert statement["reached"] is False, "the page says that all aims were missed"
    head_to_head = {row["opponent"]: row["outcome"] for row in trial["statements"]["a"]["overall"]}
    assert {opponent for opponent, outcome in head_to_head.items() if outcome != "ahead"} == undecided
    assert f"{summary['worker_seconds'] / 60:.0f} minutes of CPU time" in PAGE


def test_the_page_has_the_table_of_last_policies():
    means = read_published(ROOT / RESULTS / "means.csv")
    assert table(means) == (ROOT / RESULTS / "table.md").read_text()
    assert table(means) in PAGE
    rows = over_games(means)
    assert rows[0][0] == "kin"
    estimates_of = {learner: estimates for learner, estimates, _ in rows}
    assert estimates_of["strain:mutation=0.02"]["last"].mean == pytest.approx(
        estimates_of["strain:mutation=0.02"]["average"].mean, rel=0.02
    )
    assert estimates_of["strain:mutation=0.02"]["average"].mean < 1.05 * estimates_of["strain"]["average"].mean
    for learner in ("ots-rm", "ots-hedge", "gp-mw"):
        assert estimates_of[learner]["last"].mean > 1.7 * estimates_of[learner]["average"].mean
