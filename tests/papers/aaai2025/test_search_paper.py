"""The second paper: its study has what its claims and figures need; they are judged and drawn from hitting times."""

import json
from pathlib import Path

import numpy as np
import pytest

from coebl.papers import load_paper
from coebl.papers.aaai2025 import LONG, POPULATIONS, SHORT, pdcoea, run
from coebl.papers.reproduce import draw
from made_curves import MadeCurves, MadeRuns

PAPER = load_paper("aaai2025")


class Made(MadeCurves):
    """Results in which PDCoEA hits below chi = 0.45, and nothing else does; or in which nothing hits."""

    folder = "made"
    metrics = ("hitting_time", "hit")

    def __init__(self, matches, any_hits=True):
        self.present, self.any_hits = matches, any_hits

    def matches(self):
        return self.present

    def runs(self, game, row, column, metric):
        hits = "pdcoea" in row and "chi=0.5" not in row and self.any_hits
        n = int(game.partition("n=")[2].partition(",")[0])
        budget = LONG.rounds if "pdcoea" in row else SHORT.rounds
        seeds = np.arange(20)
        values = np.full(20, float(hits)) if metric == "hit" else 30.0 * n**2 + 100 * seeds if hits else np.nan * seeds
        return MadeRuns(np.array([budget]), seeds, values[None], budget, "none")


@pytest.fixture(scope="module")
def study():
    return PAPER.study


def test_the_budgets_are_those_of_the_study(study):
    assert {cell.until for cell in study.cells} == {"optimum"}
    assert {cell.rounds for cell in study.cells if "pdcoea" in cell.players[0]} == {LONG.rounds}
    assert {cell.rounds for cell in study.cells if "pdcoea" not in cell.players[0]} == {SHORT.rounds}
    assert {str(cell.noise) for cell in study.cells} == {LONG.noise} == {SHORT.noise}


def test_claims_are_judged_by_shares(study):
    verdicts = PAPER.judge(Made(study.matches()))
    assert [(verdict.id, verdict.verdict) for verdict in verdicts] == [(id, "holds") for id in ("P1", "P2", "P3")]
    assert "10 hold and 0 fail" in PAPER.result(verdicts)


def test_a_claim_can_fail(study):
    verdicts = {verdict.id: verdict.verdict for verdict in PAPER.judge(Made(study.matches(), any_hits=False))}
    assert verdicts == {"P1": "fails", "P2": "fails", "P3": "holds"}


def test_figures_are_drawn(study, tmp_path):
    paths = draw(PAPER, Made(study.matches()), tmp_path, formats=["svg"])
    assert sorted(path.name for path in paths) == ["budgets.svg", "grid.svg", "sizes.svg"]
    assert all(path.stat().st_size > 5000 for path in paths)


def test_the_page_states_the_published_shares():
    root = Path(__file__).parents[3]
    shares = {
        (row["game"], row["row"]): row["mean"]
        for row in json.loads((root / "results/aaai2025/means.json").read_text())
        if row["metric"] == "hit"
    }
    high = [round(20 * shares[run(100, pdcoea(size, 0.5))[:2]]) for size in POPULATIONS]
    assert high == [1, 0, 2, 3, 13]
    assert {shares[run(100, pdcoea(size, 0.3))[:2]] for size in POPULATIONS} == {1.0}
    assert "with chi = 0.5, 1, 0, 2, 3 and 13 of 20" in (root / "docs/large-games.md").read_text(encoding="utf-8")
