"""The published study of games that are not zero-sum: its numbers, verdicts and page."""

import re
import tomllib
from pathlib import Path

import pytest

from coebl.evidence.judge import as_json
from tools.general_sum import PLAN, RESULTS, claims_table, game_table, play, read_runs, verdicts_on

ROOT = Path(__file__).parents[2]
NUMBER = r"(?<![\w.])-?\d+\.?\d*(?:e[-+]?\d+)?(?![\w.])"
PUBLISHED = tomllib.loads((ROOT / PLAN).read_text())


@pytest.fixture(scope="module")
def runs():
    return read_runs(ROOT / RESULTS / "runs.csv")


def test_the_page_has_the_tables_and_verdicts_of_the_runs(runs):
    verdicts = verdicts_on(runs, PUBLISHED)
    computed, published = as_json(verdict for verdict, _ in verdicts), (ROOT / RESULTS / "verdicts.json").read_text()
    assert re.sub(NUMBER, "", computed) == re.sub(NUMBER, "", published.rstrip("\n"))
    digits = [list(map(float, re.findall(NUMBER, text))) for text in (computed, published)]
    assert digits[0] == pytest.approx(digits[1], rel=1e-9)  # SciPy's last digits differ between versions
    tables = [claims_table(verdicts), *(game_table(runs, PUBLISHED, game) for game in PUBLISHED["games"])]
    assert "\n".join(tables) == (ROOT / RESULTS / "table.md").read_text()
    page = (ROOT / "docs" / "general-sum.md").read_text()
    for table in tables:
        assert table in page


def test_a_run_can_be_played_again(runs):
    """The first seed of fictitious play in Bertrand's game, to the five digits that are published."""
    measures = play("bertrand", "fictitious-play", PUBLISHED["rounds"], [PUBLISHED["first_seed"]])
    for measure, numbers in runs["bertrand", "fictitious-play"].items():
        assert measures[measure][0] == pytest.approx(numbers[0], rel=1e-5, abs=1e-6), measure
