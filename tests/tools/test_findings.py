"""docs/findings.md and its pictures: they agree with the committed results."""

import json
from pathlib import Path

import numpy as np

from coebl.papers.ijcai2025 import PAPER, SETTING
from tools.findings import document
from tools.picture import draw_by_c, draw_picture, read_checks

SEEDS = 50

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "ijcai2025"


def test_the_results_are_those_of_the_whole_study():
    verdicts = json.loads((RESULTS / "claims.json").read_text())
    assert [(verdict["id"], verdict["variant"]) for verdict in verdicts] == [
        (claim, variant) for claim in PAPER.claims for variant in PAPER.variants
    ]
    assert {verdict["n"] for verdict in verdicts} <= {SEEDS, 0}
    means = json.loads((RESULTS / "means.json").read_text())
    assert {(row["game"], row["row"], row["column"]) for row in means} == set(PAPER.needed(PAPER.figures, PAPER.claims))
    assert {row["n"] for row in means} == {SEEDS}
    made = json.loads((RESULTS / "made.json").read_text())
    assert made["command"] == "coebl reproduce"
    assert made["rounds"] == [SETTING.rounds]
    assert set(made["versions"]) >= {"coebl", "numpy", "numba", "python"}


def test_the_picture_has_every_mean_on_one_scale():
    axes = draw_picture(read_checks(RESULTS)).axes
    assert [ax.get_title() for ax in axes] == ["the paper's text", "c = 2 everywhere", "c = 2, baselines as released"]
    scales = {(ax.collections[0].norm.vmin, ax.collections[0].norm.vmax) for ax in axes}
    assert len(scales) == 1
    shades = [np.asarray(ax.collections[0].get_array()) for ax in axes]
    assert max(np.abs(shade).max() for shade in shades) == 1
    assert min(np.abs(shade).max() for shade in shades) < 0.8  # not scaled by itself
    labels = [[text.get_text() for text in ax.texts] for ax in axes]
    assert list(map(len, labels)) == [39] * 3
    assert labels[0][:6] == ["−0.84", "53", "−1.3", "−211", "−146", "1,132"]
    assert (RESULTS / "figures" / "who-wins.png").read_bytes()[:4] == b"\x89PNG"


def test_the_picture_by_c_agrees_with_its_numbers():
    axes = draw_by_c(RESULTS).axes
    for ax in axes[1:4]:
        assert "least at c = 0.5: " in ax.get_title()
        mean = ax.lines[0].get_ydata()
        assert mean[-1] > 5 * min(mean), "several times as much"


def test_the_picture_and_the_sentence_have_one_rule():
    """The first sentence counts the matches that are not hatched: those decided after Holm's correction."""
    checks = read_checks(RESULTS)
    figure = draw_picture(checks)
    for variant, ax in zip(PAPER.variants, figure.axes, strict=True):
        outcomes = [check["verdict"] for check in checks[variant].values()]
        hatched = {patch.get_xy() for patch in ax.patches if patch.get_hatch()}
        assert len(hatched) == outcomes.count("not significant")
        won, undecided, lost = (outcomes.count(word) for word in ("holds", "not significant", "fails"))
        assert ax.get_xlabel() == f"{won} won, {undecided} undecided, {lost} lost"
        assert {text.get_color() for text in ax.texts} == {"black"}, "on every shade"
    assert "after Holm's correction" in figure.get_supxlabel()
    wins, losses = (sum(check["verdict"] == word for check in checks["text"].values()) for word in ("holds", "fails"))
    assert f"As the paper's text states the algorithms, it wins {wins} and loses {losses};" in document(RESULTS)
