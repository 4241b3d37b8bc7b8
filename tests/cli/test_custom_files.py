"""Learners, games and metrics from custom files, on the command line."""

import json

from sources import MINE, PLAY, SURPRISE

GAME = """
import numpy as np
from coebl import Game

def identity(n: int = 2) -> Game:
    '''Win one if both choose the same.'''
    return Game(np.eye(n))
"""


def test_classes_that_cannot_be_used_are_listed_with_the_reason(tmp_path, coebl):
    unfit = "\nclass Broken(Learner):\n    def __init__(self, x):\n        self.x = x\n\ndef helper():\n    pass\n"
    (tmp_path / "mine.py").write_text(MINE + unfit)
    error = coebl(*PLAY, "--row", "mine.py", cwd=tmp_path).stderr
    assert error == (
        "coebl: mine.py does not say which learner; accepted: mine.py:Name. It has: Mine. Broken cannot be used: the "
        "class has its own __init__; make its arguments fields of a dataclass instead.\n"
    )


def test_a_custom_game(tmp_path, coebl):
    (tmp_path / "mine.py").write_text(GAME)
    shown = coebl("show", "mine.py:identity", cwd=tmp_path).stdout
    assert "mine.py:identity: 2 x 2" in shown
    assert "Win one if both choose the same." in shown
    played = coebl(*PLAY, "--game", "mine.py:identity:n=3", "--rounds", "20", cwd=tmp_path).stdout
    assert "\nmine.py:identity:n=3, ucb v ucb, 20 rounds" in played


def test_a_custom_metric(tmp_path, monkeypatch, coebl):
    (tmp_path / "mine.py").write_text(SURPRISE)
    (tmp_path / "wrong.py").write_text(SURPRISE.replace(".earned)", ".earned) + block.rounds"))
    monkeypatch.chdir(tmp_path)
    words = ["--metric", "mine.py:Surprise", "--metric", "tv", "--rounds", "10", "--seeds", "3", "--json"]
    _, out, error = coebl(*PLAY, *words)
    assert list(json.loads(out)["metrics"]) == ["surprise", "tv"], error
    assert json.loads(out)["metrics"]["surprise"]["mean"] > 0  # the noise is Gaussian
    code, out, _ = coebl("check", "wrong.py:Surprise")
    assert code == 1
    assert "FAIL  does not depend on how rounds are cut into blocks" in out
    _, out, _ = coebl("show", "mine.py:Surprise")
    assert "abs(r_t - A[a_t, b_t]); lower is better" in out
