"""A made-up paper is run, judged, drawn and written like a real one."""

import json
from pathlib import Path

import pytest

from coebl.core.errors import InputError
from coebl.engine.match import MatchName
from coebl.evidence.checks import Setting, above, below
from coebl.evidence.judge import Claim
from coebl.papers import PAPERS, Paper, QuickRun, Variant, load_paper, paper_of
from coebl.papers.ijcai2025 import curves
from coebl.papers.reproduce import Figure, experiments, means, reproduce
from coebl.report.page import Presentation
from coebl.study import Results, parse_study, run
from study_runs import runs_of

STUDY = """
name = "tiny"
title = "A tiny paper"
rounds = 30
record = 10
seeds = 4
seeds_per_cell = 2
noise = "gaussian"
games = ["rps", "diagonal:n=2"]
learners = ["ucb", "exp3"]
metrics = ["pseudo_regret", "tv"]
[[parts]]
[parts.match-ups]
self-play = true
pairs = [["uniform", "exp3"]]
"""
SETTING = Setting(30, "gaussian")
VARIANTS = {"a": Variant("a", "the first", {"it": "ucb"}), "b": Variant("b", "the second", {"it": "exp3"})}
CLAIMS = {
    "near": Claim("near", "Below 3, the largest there is being 2.", ("tv",), lambda v: [below(end(v, "rps"), 3)]),
    "far": Claim("far", "The distance is above 3.", ("tv",), lambda v: [above(end(v, "diagonal:n=2"), 3)]),
    "uniform": Claim(
        "uniform",
        "The row player has no policy but one.",
        ("tv",),
        lambda v: [above(SETTING.end(MatchName("rps", "uniform", "exp3")), -1)],
    ),
}


def end(variant, game):
    return SETTING.end(variant.match(game, "it"))


def line(name, game, varied=True):
    """A figure with one line."""

    def panels(variant):
        return [[curves(name, {"only": "tv"}, {"ucb": variant.match(game, "it")})]]

    return Figure(name, name, panels, lambda title, shown, variant: title, {"only": "-drawn"}, varied)


@pytest.mark.parametrize(
    "name", ["figures", "figures/a", "figures/a/small-drawn.pdf", "summary", "summary/means.json", "report.html"]
)
def test_nothing_is_written_through_a_link_in_the_folder(name, tmp_path):
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "thesis.tex").write_text("years of work")
    (out / name).parent.mkdir(parents=True)
    run(experiments(tiny(), quick=True), tmp_path / "made", quiet=True)
    for part in (tmp_path / "made").iterdir():
        part.rename(out / part.name)
    is_file = "." in name
    (out / name).symlink_to(elsewhere / "thesis.tex" if is_file else elsewhere)
    if is_file:
        reproduce(tiny(), out, quick=True, workers=1)
        assert not (out / name).is_symlink()
    else:
        with pytest.raises(InputError, match="is a symbolic link, and nothing is written through a link"):
            reproduce(tiny(), out, quick=True, workers=1)
    assert [path.name for path in elsewhere.iterdir()] == ["thesis.tex"]
    assert (elsewhere / "thesis.tex").read_text() == "years of work"


def tiny(**changes):
    figures = [line("small", "rps"), line("large", "diagonal:n=2"), line("fixed", "rps", varied=False)]
    fields = {
        "name": "tiny",
        "page": Presentation("A tiny paper", "Is it small?"),
        "file": STUDY,
        "variants": VARIANTS,
        "claims": CLAIMS,
        "figures": {figure.name: figure for figure in figures},
        "quick": QuickRun(["rps"], 2, ["small"]),
        "averaged": {"tv": 20},
    }
    return Paper(**fields | changes)


def quietly(study, out):
    return run(study, out, workers=1, quiet=True, command="made by a test")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("tiny") / "results"
    return out, reproduce(tiny(), out, workers=1, run=quietly, command="coebl reproduce tiny")


def test_a_paper_is_run_judged_drawn_and_written(made):
    out, reproduction = made
    assert reproduction.ran.finished == 12  # six matches, two blocks of seeds
    assert {(verdict.id, verdict.variant): verdict.verdict for verdict in reproduction.verdicts} == {
        (claim, variant): "fails" if claim == "far" else "holds" for claim in CLAIMS for variant in "ab"
    }
    stems = ["a/small", "a/large", "a/fixed", "b/small", "b/large"]
    assert reproduction.figures == [out / f"figures/{s}-drawn.{kind}" for s in stems for kind in ("pdf", "svg", "png")]
    page = reproduction.page.read_text()
    assert "Is it small?" in page
    assert "made by a test" in page


def test_the_summary(made):
    out, reproduction = made
    claims = json.loads((out / "summary" / "claims.json").read_text())
    assert claims == [verdict.as_dict() for verdict in reproduction.verdicts]
    assert (out / "summary" / "claims.md").read_text().startswith("| id | claim | the first | the second |\n")
    about = json.loads((out / "summary" / "made.json").read_text())
    assert (about["command"], about["cells"], about["seeds"]) == ("coebl reproduce tiny", 12, 4)
    rows = json.loads((out / "summary" / "means.json").read_text())
    assert {(row["metric"], row["n"]) for row in rows} == {("pseudo_regret", 4), ("tv", 4), ("tv_last_20", 4)}
    (row,) = (row for row in rows if (row["game"], row["row"], row["metric"]) == ("rps", "exp3", "tv_last_20"))
    runs = runs_of(Results(out), "rps", "exp3", "exp3", "tv")
    assert row["mean"] == pytest.approx(runs.values[runs.rounds > 10].mean(), rel=1e-5)
    rows = means(tiny(averaged={"pseudo_regret": 10}), Results(out))
    last = {row["mean"] for row in rows if row["metric"] == "pseudo_regret"}
    assert {row["mean"] for row in rows if row["metric"] == "pseudo_regret_last_10"} == last


def test_a_quick_run_draws_its_figures_and_the_page_says_what_it_leaves_out(tmp_path, made):
    reproduction = reproduce(tiny(), tmp_path, quick=True, workers=1, run=quietly)
    left_out = "1 game (Diagonal, n\u00a0=\u00a02); 2 of 4 seeds, so 2 were run"
    notice = f"Left out: {left_out}. For the full run: <code>coebl reproduce tiny --out {tmp_path}</code>"
    assert notice in reproduction.page.read_text(encoding="utf-8")
    assert "Left out" not in made[1].page.read_text(encoding="utf-8")
    assert {path.name for path in reproduction.figures} == {f"small-drawn.{kind}" for kind in ("pdf", "svg", "png")}
    assert {verdict.verdict for verdict in reproduction.verdicts if verdict.id == "far"} == {"not testable"}


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (
            lambda paper: paper.needed(claims=["nearr"]),
            r"unknown claim 'nearr': did you mean 'near'\? Accepted: near,.*",
        ),
        (lambda paper: paper.needed(figures=["smal"]), r"unknown figure 'smal': did you mean 'small'\? Accepted: .*"),
        (lambda paper: paper.judge(None, ["near", "no"]), r"unknown claim 'no'.*"),
        (lambda paper: paper.judge(None, "near", "c"), r"unknown variant 'c'\. Accepted: a, b\."),
        (lambda paper: load_paper("ijcai25"), r"unknown paper 'ijcai25': did you mean 'ijcai2025'\? Accepted: .*"),
    ],
)
def test_unknown_names(action, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        action(tiny())


@pytest.mark.parametrize("name", PAPERS)
def test_a_registered_paper_agrees_with_its_study(name):
    paper = load_paper(name)
    assert paper.name == name == paper.study.name
    assert set(paper.study.matches()) >= set(paper.needed(paper.figures, paper.claims))
    quick = experiments(paper, quick=True).cells
    assert set(quick) < set(paper.study.cells)
    assert {seed for cell in quick for seed in cell.seeds} == set(range(paper.quick.seeds))
    assert paper_of(name) is paper
    assert set(paper.quick.figures) <= set(paper.figures)
    assert all(key == figure.name for key, figure in paper.figures.items())
    assert all(key == variant.id for key, variant in paper.variants.items())
    assert paper_of("mine") is None


def test_a_changed_paper_is_judged_beside_the_original(tmp_path):
    paper = tiny(
        role="it", page=Presentation("A tiny paper", "Is it small?", headline="near", words=["won", "-", "lost"])
    )
    what_if = paper.changed("it=coebl:c=1")
    assert list(what_if.variants) == ["a", "b", "a-it=coebl:c=1"]  # both variants become the same
    assert what_if.command_in(Path("its results")).endswith(" --out 'its results' --set it=coebl:c=1")
    new = set(what_if.study.matches()) - set(parse_study(STUDY).matches())
    assert new == {(game, "coebl:c=1", "coebl:c=1") for game in ("rps", "diagonal:n=2")}
    reproduce(paper, tmp_path, workers=1)
    done = reproduce(what_if, tmp_path, workers=1)
    assert (done.ran.found, done.ran.finished) == (12, 4)  # nothing of the original is run again
    original = {(verdict.id, verdict.variant): verdict for verdict in paper.judge(Results(tmp_path))}
    judged = {(verdict.id, verdict.variant): verdict for verdict in done.verdicts}
    assert original.items() <= judged.items()
    assert judged["near", "a-it=coebl:c=1"].estimate != judged["near", "a"].estimate
    assert [line.split(":")[0] for line in what_if.scores(done.verdicts)][:2] == ["the first", "the second"]
    assert "the first, it = coebl:c=1" in (tmp_path / "report.html").read_text().replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("c", "--set is 'c'; accepted: NAME=VALUE"),
        ("=2", "accepted: NAME=VALUE"),
        ("exp3=mine.py:Mine", "without a Python file in VALUE"),
        ("d=1", "--set is 'd=1': coebl has no parameter 'd'"),
        ("c=-1", "--set is 'c=-1': coebl: c is -1.0; accepted: a number, >= 0"),
        ("exp3=exp4", "--set is 'exp3=exp4': unknown learner 'exp4'"),
        ("c=2", "changes no match"),
    ],
)
def test_a_change_that_cannot_be_made_is_one_line(change, reason, coebl):
    run = coebl("reproduce", "--set", change)
    assert run.returncode == 2
    assert reason in run.stderr
    assert run.stderr.count("\n") == 1
