"""The README's numbers are those of the files that it links; its code blocks are doctests."""

import json
import re
from pathlib import Path

from coebl.papers.ijcai2025 import PAPER
from coebl.tournament import read_suite
from coebl.tournament.plan import left_out

ROOT = Path(__file__).parents[1]
WORDS = " ".join((ROOT / "README.md").read_text().split())


def test_what_came_out_is_what_the_verdicts_say():
    assert PAPER.answer(json.loads((ROOT / "results" / "ijcai2025" / "claims.json").read_text())) in WORDS


def test_the_speed_of_the_solver_is_that_of_the_benchmarks():
    rows = re.findall(
        r"^\| \d+ x \d+ \| [\d.,]+ \| \w+ \| ([\d.]+)x", (ROOT / "benchmarks" / "RESULTS.md").read_text(), re.M
    )
    times = list(map(float, rows))
    assert len(times) == 16
    assert f"{min(times)} to {max(times)} times as fast" in WORDS


def test_the_field_of_the_tournament_is_that_of_the_suite():
    field = read_suite().learners
    assert f"The {len(field)} learners of the suite" in WORDS
    assert left_out(field) == ["kin", "exp3-as-released", "exp3-ix-as-released"]


def test_every_link_leads_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text())
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists() and "://" not in link] == []
