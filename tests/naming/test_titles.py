"""Titles in figures, tables and on the page, for built-in and custom objects."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from coebl.core.registry import Registry
from coebl.learners import LEARNERS, Learner
from coebl.metrics import METRICS, Metric
from coebl.naming import find_sweeps, game_title, learner_title, learner_titles, metric_label, metric_words


def plain(text):
    return text.replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("spec", "shown", "title"),
    [
        ("ucb", [], "UCB"),
        ("exp3-as-released", [], "Exp3 as released"),
        ("best-response", [], "best response"),
        ("uniform", [], "uniform"),
        ("coebl:c=2", ["c"], "COEBL, c = 2"),
        ("coebl:c=2,selection=none", [], "COEBL, c = 2, selection = none"),
        ("coebl:selection=none", ["c"], "COEBL, c = 8, selection = none"),
        ("coebl:unheard=1", [], "COEBL, unheard = 1"),
        ("unheard-of", ["c"], "unheard-of"),
        ("unheard-of:c=2", [], "unheard-of:c=2"),
        ("some/mine.py:Mine:c=2", [], "some/mine.py:Mine:c=2"),
    ],
)
def test_learners(spec, shown, title):
    assert plain(learner_title(spec, shown)) == title


def test_two_learners_with_the_same_title_get_different_labels(monkeypatch):
    monkeypatch.setattr(LEARNERS["ucb"], "title", "Exp3")
    assert learner_titles(["ucb", "exp3", "nash"]) == {"ucb": "Exp3 (ucb)", "exp3": "Exp3 (exp3)", "nash": "Nash"}


@pytest.mark.parametrize(
    ("spec", "title"),
    [("rps", "Rock-paper-scissors"), ("diagonal:n=4", "Diagonal, n = 4"), ("chess:n=8", "chess:n=8")],
)
def test_games(spec, title):
    assert plain(game_title(spec)) == title


def test_a_file_is_not_run_to_name_what_is_in_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("raise SystemExit('run')")
    assert learner_title("mine.py:Mine") == game_title("mine.py:Mine") == metric_words("mine.py:Mine").title
    assert find_sweeps(["mine.py:Mine:rate=0.1", "mine.py:Mine:rate=2"])[0].values == {
        "mine.py:Mine:rate=0.1": 0.1,
        "mine.py:Mine:rate=2": 2,
    }


def test_metrics():
    for name in METRICS.names:
        words = metric_words(name)
        assert words.title != name
        assert words.definition
        assert metric_label(name).split("\n")[0] == words.in_a_sentence
    assert metric_label("regret") == "regret\n" + r"$\Sigma\,(V - r_t)$"
    assert metric_words("kl").in_a_sentence == "KL divergence"


def test_an_unregistered_metric_has_its_name_as_title():
    words = metric_words("My_own")
    assert (words.title, words.in_a_sentence, words.definition) == ("My own", "my own", "")


def test_a_custom_entry_has_its_title(monkeypatch):
    learners, metrics = Registry("learner", "learners"), Registry("metric", "metrics")
    monkeypatch.setattr("coebl.naming.LEARNERS", learners)
    monkeypatch.setattr("coebl.metrics.registry.METRICS", metrics)

    @learners.add("mine")
    @dataclass
    class Mine(Learner):
        title = "My learner"

    @metrics.add("bare_one")
    class Bare(Metric):
        name = "bare_one"
        cumulative = True

    assert learner_title("mine") == "My learner"
    words = metric_words("bare_one")
    assert (words.title, words.definition, words.cumulative) == ("bare one", "", True)


@pytest.mark.parametrize(
    ("specs", "parameter", "values"),
    [
        (["ucb", "coebl", "coebl:c=10", "coebl:c=9", "coebl:c=1,selection=none", "ucb:ties=random"], "c", [8, 9, 10]),
        (["coebl:c=2", "ucb", "coebl:c=3,selection=none"], "", []),
        (["mine:a=1,b=1", "mine:a=1,b=2", "mine:a=2,b=2", "mine:a=3,b=2"], "a", [1, 2, 3]),
        (["mine:a=x", "mine:a=y", "mine:a=nan", "mine:a=inf"], "", []),
    ],
    ids=["the default is a member", "one setting is no sweep", "of two, the longer", "strings are no numbers"],
)
def test_sweeps(specs, parameter, values):
    sweeps = [(sweep.parameter, list(sweep.values.values())) for sweep in find_sweeps(specs)]
    assert sweeps == ([(parameter, values)] if values else [])
