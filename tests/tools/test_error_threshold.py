"""The published error thresholds: the page has the table of the stored times."""

from pathlib import Path

from coebl.evidence import Runtimes
from tools.error_threshold import BUDGET, RESULTS, as_csv, read_published, table

ROOT = Path(__file__).parents[2]


def test_the_page_has_the_table_of_the_stored_times():
    published = read_published(ROOT / RESULTS / "times.csv")
    assert as_csv(published) == (ROOT / RESULTS / "times.csv").read_text(encoding="utf-8")
    assert table(published) == (ROOT / RESULTS / "table.md").read_text(encoding="utf-8")
    assert table(published) in (ROOT / "docs" / "large-games.md").read_text(encoding="utf-8")
    assert {len(runs.times) for by_rate in published.values() for runs in by_rate.values()} == {10}


def test_the_table_names_both_sides_of_the_threshold():
    hit, miss = Runtimes((5, 7, None), BUDGET), Runtimes((None, None, 9), BUDGET)
    rows = table({0.0: {0.1: hit, 0.2: hit, 0.3: miss}, 1.0: {0.1: miss}}).splitlines()
    assert rows[2] == "| 0 | 0.2 | 0.3 | 0.1 | 7 |"
    assert rows[3] == "| 1 | none | 0.1 | none |  |"
