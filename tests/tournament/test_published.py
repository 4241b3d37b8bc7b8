"""Only the outcome of the registered test is published, with made-up numbers."""

import json
import subprocess

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.evidence.checks import Setting
from coebl.evidence.judge import judge
from coebl.tournament.outcome import write_trials
from coebl.tournament.statements import Trial, claim_of
from coebl.tournament.suite import read_suite
from made_curves import MadeCurves, MadeRuns
from tools.kin import document
from tools.trial import SUITES, publish

SUITE = "pre-registered"
SUITE_FILE = SUITES / f"{SUITE}.toml"


PLAYED = ("rps", "biased-rps")


class MadeUp(MadeCurves):
    """Head to head the subject wins 5 against exp3 and loses 5 against ucb; its regret is twice the least."""

    def matches(self):
        learners = ("kin", "ucb", "exp3", "best-response")
        return [(game, row, column) for game in PLAYED for row in learners for column in learners]

    def runs(self, game, row, column, metric):
        random = np.random.default_rng(len(game + row + column))
        if "best-response" in (row, column):
            mean = {"kin": 20.0, "ucb": 10.0, "exp3": 30.0}[column if row == "best-response" else row]
            mean *= -1 if row == "best-response" else 1
        else:
            mean = {("kin", "exp3"): -5, ("exp3", "kin"): 5, ("kin", "ucb"): 5, ("ucb", "kin"): -5}.get(
                (row, column), 1
            )
        values = mean + 0.1 * random.normal(size=4)
        return MadeRuns(np.array([10]), np.arange(4), values[None], 10)


@pytest.fixture
def folder(tmp_path):
    """A folder in which a test with made-up numbers has left its files."""
    suite = read_suite(SUITE)
    trial = Trial("kin", ("ucb", "exp3"), dict.fromkeys(PLAYED, Setting(10, "gaussian")), dict.fromkeys(PLAYED, 2.0))
    about = {
        "title": "Made up",
        "suite_sha256": suite.digest,
        "seeds": 4,
        "notes": [],
        "command": "coebl tournament --out /somewhere/else",
        "cells": 18,
        "worker_seconds": 120,
        "begun": "2026-01-02T03:04:05+00:00",
    }
    (tmp_path / "out").mkdir()
    verdicts = judge(MadeUp(), map(claim_of, suite.statements), {"kin": trial})
    write_trials(suite, [trial], verdicts, tmp_path / "out", about)
    return tmp_path / "out"


@pytest.fixture
def checkout(tmp_path):
    """A checkout in which the suite's file has one commit."""
    root = tmp_path / "checkout"
    file = root / SUITE_FILE
    file.parent.mkdir(parents=True)
    file.write_text("as registered")
    git(root, "init", "--quiet")
    commit(root)
    return root


def git(root, *words):
    who = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    return subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True, text=True).stdout


def commit(root):
    git(root, "add", "-A")
    git(root, "commit", "--quiet", "--message", "a commit")


def test_the_published_page_cites_the_commit_and_lists_failures(folder, checkout):
    publish(SUITE, folder, checkout)
    summary = json.loads((checkout / "results" / "kin" / "summary.json").read_text())
    assert summary["registered"]["commit"] == git(checkout, "log", "--format=%H").strip()
    page = document(checkout / "results" / "kin")
    assert summary["registered"]["commit"][:12] in page
    assert "somewhere" not in page + json.dumps(summary)
    assert "| `rps` | UCB | -5" in page  # behind
    assert "it is behind on 2 of 4 pairs of game and opponent. By opponent: UCB 2." in page
    assert "the ratio to the best opponent is above 1.5 on 2 of 2 games" in page
    assert "In self-play** it is not more exploitable than any opponent on any game." in page
    assert "| `rps` | 10 | 1/0/1 | 20" in page  # rounds; ahead, level, behind; regret
    assert (checkout / "results" / "kin" / "figure.svg").read_text().startswith("<?xml")


def test_only_the_registered_test_is_published(folder, checkout):
    (checkout / SUITE_FILE).write_text("changed after the run")
    commit(checkout)
    with pytest.raises(InputError, match="has 2 commits; accepted: one, before the run"):
        publish(SUITE, folder, checkout)
    assert not (checkout / "results").exists()
    path = folder / "tournament" / "summary.json"
    path.write_text(path.read_text().replace(read_suite(SUITE).digest, "another"))
    with pytest.raises(InputError, match="this is not the test of the suite pre-registered"):
        publish(SUITE, folder, checkout)
    path.unlink()
    with pytest.raises(InputError, match=r"there is no summary.json; run: coebl tournament"):
        publish(SUITE, folder, checkout)
