"""Tournaments: computed by hand for fixed learners, and run as a user does."""

import csv
import json
import os
import re

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.learners import parse_learner
from coebl.study import Results, parse_study
from coebl.tournament.outcome import columns_of
from coebl.tournament.standings import measure
from coebl.tournament.suite import Part, Suite, study_of
from sources import FIRST_ACTION, TINY_SUITE
from study_runs import go

FIRST = "fixed:strategy=1/0"


def suite_of(name, rounds, game):
    part = Part(rounds=rounds, games=[game])
    return Suite(name=name, version=1, title=name, description="-", learners=["ucb"], parts=[part])


def played(suite, learners, seeds, folder):
    """Return the study of a tournament, run into a folder."""
    study = study_of(suite, [*map(parse_learner, learners)], seeds)
    go(study, folder)
    return study


def test_measures_by_hand(tmp_path, monkeypatch):
    """Value 1.5, range 3, and the seats are not alike: uniform gets 1.5 or 2 of (1, 0), by its seat."""
    (tmp_path / "game.csv").write_text("3,0\n1,2\n")
    suite = suite_of("by-hand", 8, str(tmp_path / "game.csv"))
    study = played(suite, ["uniform", FIRST, "hedge"], 3, tmp_path / "out")
    monkeypatch.setattr("coebl.tournament.standings.parse_game", None)  # the results have the range of payoffs
    measured = measure(study, Results(tmp_path / "out"))
    assert (measured.learners, measured.games, measured.seeds) == (
        ("uniform", FIRST, "hedge"),
        {"game.csv": 8},
        (0, 1, 2),
    )
    assert measured.kinds == ("bandit", "bandit", "full information")
    assert measured.advantage.shape == (1, 3, 3, 3)
    assert np.array_equal(measured.advantage, -measured.advantage.swapaxes(2, 3))
    assert measured.advantage[0, :, 0, 1] == pytest.approx([(2 - 1.5) / 2 / 3] * 3)
    # in the row seat uniform loses 0.5 to the best response, in the column seat nothing; (1, 0) loses 1.5 in both
    assert measured.regret[0, 0, :2] == pytest.approx([0.5 / 2 / 3, 1.5 / 3])
    assert measured.exploitability[0, 0, :2] == pytest.approx([0.5 / 3, 1.0])
    assert (measured.microseconds > 0).all()
    assert measured.missing == ()


@pytest.fixture
def coebl(coebl, tmp_path):
    """The command, with a suite and a learner in the folder that it is run in."""
    (tmp_path / "tiny.toml").write_text(TINY_SUITE)
    (tmp_path / "mine.py").write_text(FIRST_ACTION)
    return coebl


QUICK = ["tournament", "--suite", "tiny.toml", "--quick", "--learners", "mine.py:Mine", "--out", "out"]


def test_how_good_is_mine(coebl, tmp_path):
    _, before, _ = coebl("tournament", "--suite", "tiny.toml", "--quick", "--out", "out")
    assert "30 cells run, 0 found" in before
    code, said, _ = coebl(*QUICK)  # it joins what was played before
    assert code == 0
    assert "Tiny, quick: 4 learners, 2 games, 5 rounds, 3 seeds, 48 matches" in said
    assert "18 cells run, 30 found" in said
    assert "mine.py:Mine is " in said
    assert "A quick look, not the suite itself" in said.replace("\n", " ")
    assert len(said.splitlines()) < 40
    summary = json.loads((tmp_path / "out" / "tournament" / "summary.json").read_text())
    assert sorted(row["learner"] for row in summary["standings"]) == ["exp3", "hedge", "mine.py:Mine", "uniform"]
    assert summary["suite"] == "tiny-quick-1"
    assert len(summary["duels"]) == 6
    for name in ("standings", "head-to-head"):
        with (tmp_path / "out" / "tournament" / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == {"standings": 4, "head-to-head": 3 * 6}[name]
        assert (tmp_path / "out" / "tournament" / f"{name}.parquet").exists()
    assert (tmp_path / "out" / "tournament" / "figure.svg").stat().st_size > 5000

    _, again, _ = coebl(*QUICK)  # everything is there
    assert "0 cells run, 48 found" in again
    assert again.splitlines()[-1] == said.splitlines()[-1]
    _, full, _ = coebl(*QUICK, "--details")
    for text in (again, full):
        assert text.index("mine.py:Mine is ") < text.index("\n\nrank ") < text.index("advantage, %: ")
    for column in columns_of(general=False, names={}):
        explained = f"{column.header}: {column.meaning}" if column.header != "learner" else "learner"
        assert explained in " ".join(full.split())
    _, same, _ = coebl("run", "out/study.toml", "--out", "out")  # it is an ordinary study
    assert "0 cells run, 48 found" in same

    coebl("report", "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert '<h2 id="ranking-title">Ranking</h2>' in page
    assert re.search('<tr class="own"><td>[1-4]</td><td>mine.py:Mine</td>', page)
    assert page.count('class="own"') == 1
    assert re.search('<p class="answer">[^<]*</p><p class="numbers">mine.py:Mine is ', page)
    assert (page.count("mine.py:Mine is "), "/mine.py" in page) == (1, False)
    assert "data:image/svg+xml;base64," in page
    summary = tmp_path / "out" / "tournament" / "summary.json"
    entire, header = summary.read_text(), '"header": ['
    summary.write_text("{}")
    code, _, complaint = coebl("report", "out")
    assert code == 2
    for damaged in ('{"page": 3}', '{"page": []}', "[]", "[" * 100_000, entire.replace(header, header + "3, ")):
        summary.write_text(damaged)
        assert coebl("report", "out") == (code, "", complaint)
    summary.unlink()
    os.mkfifo(summary)
    assert coebl("report", "out") == (code, "", complaint)  # and is not waited for
    assert "its files are damaged. To recreate them: coebl tournament" in complaint


def test_what_is_not_finished_is_left_out_and_named(coebl, tmp_path):
    words = ["tournament", "--suite", "tiny.toml", "--seeds", "2", "--out", "out", "--learners", "mine.py:Mine"]
    code, said, complaint = coebl(*words, "--learners", "uniform,exp3")
    assert code == 1
    assert "diagonal:n=2 is left out: not all matches on it are finished." in said
    assert "too many actions" in complaint
    summary = json.loads((tmp_path / "out" / "tournament" / "summary.json").read_text())
    assert summary["games"] == {"rps": 20, "matching-pennies": 20}


def test_settings_of_learners_are_distinguished_and_named_by_any_equivalent_spec(coebl, tmp_path):
    settings = FIRST_ACTION.replace("class", "from dataclasses import dataclass\n@dataclass\nclass").replace(
        'name = "mine"', 'name = "mine"\n    c: int = 1'
    )
    (tmp_path / "mine.py").write_text(settings)
    learners = "exp3-ix,coebl:c=2,coebl:c=8,mine.py:Mine:c=1,mine.py:Mine:c=3"
    _, said, _ = coebl(*QUICK, "--learners", learners, "--games", "rps", "--details")
    for name in ("coebl:c=2", "coebl:c=8", "mine.py:Mine:c=1", "mine.py:Mine:c=3"):
        assert f"{name} is " in said
    assert "  coebl " not in said


def test_a_learner_that_never_plays_is_left_out(coebl, tmp_path):
    (tmp_path / "mine.py").write_text(FIRST_ACTION.replace("seat.actions > 3", "seat.runs > 2"))  # after its first try
    _, said, _ = coebl(*QUICK)
    assert "mine.py:Mine is left out: none of its matches is finished." in said
    assert "48 matches" in said
    assert "uniform" in said


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        ("actions > 3", "actions > 0", "mine.py, line 13: ArithmeticError: too many actions"),
        (
            "return self.moves",
            "return self.moves[:, 1:]",
            "PolicyError: mine.py:Mine in the row seat returned a policy of shape (2, 1) in round 1; accepted: "
            "an array of shape (runs, actions) = (2, 2)",
        ),
    ],
)
def test_a_learner_that_fails_from_the_first_round_is_reported_before_the_run(coebl, tmp_path, old, new, cause):
    (tmp_path / "mine.py").write_text(FIRST_ACTION.replace(old, new))
    code, said, complaint = coebl(*QUICK)
    assert (code, "cells run" in said) == (2, False)
    end = "(mine.py:Mine, in its first rounds); nothing was run. Fix the file; for details: coebl check mine.py:Mine\n"
    assert complaint == f"coebl: {cause} {end}"
    assert not (tmp_path / "out").exists()


def test_nothing_can_be_ranked_before_a_game_is_complete(tmp_path):
    study = study_of(suite_of("none", 3, "rps"), ["uniform", "exp3"], 2)
    go(study.select([match for match in study.matches() if "best-response" not in match]), tmp_path)
    with pytest.raises(InputError, match="no game has been played by all learners yet"):
        measure(study, Results(tmp_path))


def test_cells_of_another_noise_are_not_counted(tmp_path):
    study = played(suite_of("noisy", 10, "rps"), ["exp3", "hedge"], 3, tmp_path / "out")
    before = measure(study, Results(tmp_path / "out")).advantage
    go(f'noise = "none"\n{study.text}', tmp_path / "out")
    assert np.array_equal(measure(study, Results(tmp_path / "out")).advantage, before)


def test_seeds_that_are_not_finished_everywhere_are_not_counted_and_are_reported(tmp_path):
    study = study_of(suite_of("part", 5, "rps"), ["exp3", "hedge"], 6)
    cut = parse_study(f"seeds_per_cell = 3\n{study.text}")
    go(cut, tmp_path / "out")
    results = Results(tmp_path / "out")
    lost = next(cell for cell in cut.cells if cell.seeds == (3, 4, 5))
    results.store.path(lost.digest()).unlink()
    measured = measure(study, Results(tmp_path / "out"))
    assert [*measured.seeds] == [0, 1, 2]
    assert measured.missing == ("only 3 of 6 seeds are counted: the others are not finished everywhere",)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--out", "mine.py"], "--out is mine.py, and mine.py is not a folder that you can write to."),
        (
            ["--out", "new", "--learners", "nobody,ucb,no-one"],
            "--learners: unknown learner 'nobody'. See: coebl list learners. And 1 more mistake.",
        ),
        (["--out", "new", "--seeds", "1"], "--seeds is '1'; accepted: an integer >= 2."),
        (["--out", "new", "--learners", ","], "--learners is ','; accepted: specs, separated by commas."),
        (["--out", "new", "--games", "dagonal:3"], "--games: unknown game 'dagonal': did you mean 'diagonal'?"),
        (
            ["--out", "new", "--games", "bilinear:n=3"],
            "--learners: exp3 cannot take the row seat of bilinear:n=3: exp3 plays numbered actions, but the game has "
            "genomes; pick another learner; with up to 10 genes, as-atoms:learner=... can seat it. And 1 more mistake. "
            "If --learners names a learner of the suite, such as uniform, only the named learners play.",
        ),
        (["--out", "new", "--seeds", "100000000"], "--seeds: this is 100000000; accepted: how many"),
        (["--out", "new", "--seeds", "1000000"], "--suite: this study has "),
    ],
)
def test_mistakes_name_the_option(coebl, tmp_path, words, line):
    code, _, error = coebl("tournament", "--suite", "tiny.toml", *words)
    assert (code, error.count("\n")) == (2, 1), error
    assert error.startswith(f"coebl: {line}")
    assert not (tmp_path / "new").exists()


def test_a_learner_may_be_in_a_file_whose_name_is_like_a_match(tmp_path):
    (tmp_path / "old v new.py").write_text(FIRST_ACTION)
    learners = [f"{tmp_path / 'old v new.py'}:Mine", "uniform"]
    study = played(suite_of("none", 3, "rps"), learners, 2, tmp_path / "out")
    assert measure(study, Results(tmp_path / "out")).advantage.shape == (1, 2, 2, 2)


def test_every_learner_that_is_named_gets_a_sentence(coebl):
    _, said, _ = coebl(*(word.replace("mine.py:Mine", "k-learning") for word in QUICK))
    assert "k-learning is " in said
    others = said.partition("--learners adds others of the package: ")[2].partition(".")[0].split(",")
    assert [other.strip() for other in others][:3] == ["coebl", "kin", "strain"]
    assert "k-learning" not in ",".join(others)
    _, said, _ = coebl("tournament", "--suite", "tiny.toml", "--quick", "--learners", "exp3,hedge", "--out", "out")
    assert "exp3 is " in said
    assert "hedge is " in said
    assert "--learners adds others" not in said
    assert "Largest advantage: exp3 (" in said
    assert "own kind" not in said, "each is the only one of its kind"
