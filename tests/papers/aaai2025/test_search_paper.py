"""The second paper: its study has what its claims and figures need; they are judged and drawn from hitting times."""

import json
from pathlib import Path

import numpy as np
import polars
import pytest
from scipy.stats import binomtest

from coebl.engine.match import MatchName
from coebl.evidence.checks import Setting, Share
from coebl.papers import load_paper
from coebl.papers.aaai2025 import LONG, POPULATIONS, SHORT, pdcoea, run
from coebl.papers.reproduce import draw, experiments

PAPER = load_paper("aaai2025")


class Made:
    """Results in which PDCoEA hits below chi = 0.45, and nothing else does."""

    folder = "made"

    def __init__(self, matches):
        self._matches = matches

    @property
    def metrics(self):
        return ["hitting_time", "hit"]

    def matches(self):
        return self._matches

    def _frame(self, game, row, round_column):
        hits = "pdcoea" in row and "chi=0.5" not in row
        n = int(game.partition("n=")[2].partition(",")[0])
        budget = LONG.rounds if "pdcoea" in row else SHORT.rounds
        rows = [
            {
                "game": game,
                "players": [row, row],
                "noise": "none",
                "rounds": budget,
                "seed": seed,
                **({"round": budget} if round_column else {}),
                "hitting_time": 30.0 * n**2 + 100 * seed if hits else float("nan"),
                "hit": float(hits),
            }
            for seed in range(20)
        ]
        return polars.DataFrame(rows)

    def last(self, metrics=None, *, game, players):
        return self._frame(game, players[0], round_column=False)

    def curves(self, metrics=None, *, game, players):
        return self._frame(game, players[0], round_column=True)


@pytest.fixture(scope="module")
def study():
    return PAPER.study


def test_the_study_has_what_claims_and_figures_need(study):
    needed = PAPER.needed(PAPER.figures, PAPER.claims)
    assert set(needed) <= set(study.matches())
    assert {cell.until for cell in study.cells} == {"optimum"}
    assert {cell.rounds for cell in study.cells if "pdcoea" in cell.players[0]} == {LONG.rounds}
    assert {cell.rounds for cell in study.cells if "pdcoea" not in cell.players[0]} == {SHORT.rounds}
    assert {str(cell.noise) for cell in study.cells} == {LONG.noise} == {SHORT.noise}


def test_a_quick_run_is_a_part_of_the_study(study):
    quick = experiments(PAPER, quick=True)
    assert set(quick.cells) < set(study.cells)
    assert quick.cells


def test_claims_are_judged_by_shares(study):
    verdicts = PAPER.judge(Made(study.matches()))
    assert [(verdict.id, verdict.verdict) for verdict in verdicts] == [(id, "holds") for id in ("P1", "P2", "P3")]
    assert "10 hold and 0 fail" in PAPER.result(verdicts)


def test_a_claim_can_fail(study):
    class Never(Made):
        def _frame(self, game, row, round_column):
            return super()._frame(game, row, round_column).with_columns(hit=0.0)

    verdicts = {verdict.id: verdict.verdict for verdict in PAPER.judge(Never(study.matches()))}
    assert verdicts == {"P1": "fails", "P2": "fails", "P3": "holds"}


def test_figures_are_drawn(study, tmp_path):
    paths = draw(PAPER, Made(study.matches()), tmp_path, formats=["svg"])
    assert sorted(path.name for path in paths) == ["budgets.svg", "grid.svg", "sizes.svg"]
    assert all(path.stat().st_size > 5000 for path in paths)


@pytest.mark.parametrize(("hits", "threshold"), [(0, 0.5), (20, 0.5), (13, 0.5), (15, 0.5), (3, 0.1), (10, 0.8)])
def test_the_test_of_a_share_is_the_binomial_one(hits, threshold):
    numbers = np.array([[1.0] * hits + [0.0] * (20 - hits)])
    sample = Setting(10, "none").end(MatchName("rps", "ucb", "ucb"))
    for side, alternative, other in (("above", "greater", "less"), ("below", "less", "greater")):
        estimate = Share((sample,), threshold, side).measure(numbers)
        assert estimate.p_for == pytest.approx(binomtest(hits, 20, threshold, alternative).pvalue)
        assert estimate.p_against == pytest.approx(binomtest(hits, 20, threshold, other).pvalue)
        assert estimate.mean == hits / 20


def test_the_page_states_the_published_verdicts():
    root = Path(__file__).parents[3]
    claims = {claim["id"]: claim for claim in json.loads((root / "results/aaai2025/claims.json").read_text())}
    assert {id: claim["verdict"] for id, claim in claims.items()} == {
        "P1": "holds",
        "P2": "not significant",
        "P3": "holds",
    }
    shares = {
        (row["game"], row["row"]): row["mean"]
        for row in json.loads((root / "results/aaai2025/means.json").read_text())
        if row["metric"] == "hit"
    }
    high = [round(20 * shares[run(100, pdcoea(size, 0.5))[:2]]) for size in POPULATIONS]
    assert high == [1, 0, 2, 3, 13]
    assert {shares[run(100, pdcoea(size, 0.3))[:2]] for size in POPULATIONS} == {1.0}
    assert "with chi = 0.5, 1, 0, 2, 3 and 13 of 20" in (root / "docs/large-games.md").read_text(encoding="utf-8")
