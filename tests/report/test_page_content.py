"""The page besides its curves: verdicts, settings, noises, missing data."""

import re
from dataclasses import replace

import pytest

from coebl.naming import NOTHING
from coebl.report.legend import page_learners
from coebl.report.page import Preset
from coebl.study import Cell, Results, Store
from report.browser import MadeUp, make_page
from report.pages import MATCHES, Elements, curves, embedded, page_text
from report.verdicts import make_check, make_verdict
from study_runs import runs_of


def test_all_verdicts_are_shown(tmp_path):
    verdicts = [
        make_verdict("C1", "text", "holds", checks=[make_check(numbers=(12.3456, 11.9, 12.8))]),
        make_verdict("C1", "c=2", "not testable", note="too few rounds"),
        make_verdict("C2", "text", "fails", checks=[make_check(numbers=(-3.0, -3.0, -3.0))], text="the sentence"),
        make_verdict("C2", "c=2", "holds", checks=[], text="the sentence"),
    ]
    text = page_text(tmp_path, verdicts=verdicts, presets=[Preset("as written", {}, id="text")])
    seen = " ".join(" ".join(Elements(text).strings).split())
    for part in ("12.35 [11.90, 12.80]", "too few rounds", "the sentence", "−3", "as written", "c=2"):
        assert part in seen, part
    assert "as written 1 holds, 1 fails c=2 1 holds, 1 not testable" in seen
    data = embedded(text, "data")["verdicts"]
    assert [verdict["verdict"] for verdict in data] == ["holds", "not testable", "fails", "holds"]
    assert data[3]["measured"] is None


def test_a_match_that_cannot_be_read_is_named(tmp_path):
    def only_rps(runs, game, *_):
        return runs if game == "rps" else None

    source = MadeUp([*MATCHES, ("diagonal:n=3", "ucb", "coebl")], change=only_rps)
    text = page_text(tmp_path, source)
    seen = " ".join(Elements(text).strings)
    assert "not shown: ucb v coebl on diagonal:n=3: none of the metrics on this page was recorded." in seen
    assert [game["spec"] for game in embedded(text, "data")["games"]] == ["rps"]


def test_a_folder_shows_what_it_stores(tmp_path, monkeypatch):
    monkeypatch.setattr(Results, "notices", lambda _: ["made on two kinds of processors"])
    store = Store.create(tmp_path / "study", 'name = "<demo>" # & so on\n')
    cell = Cell("matching-pennies", ("exp3", "uniform"), 20, (0, 1, 2), metrics=("regret",))
    store.save(cell, cell.run())
    store.record_failure(Cell("rps", ("exp3", "uniform"), 20, (0,)), "Traceback\nValueError: <no>")
    for number in (1, 2):
        store.log.add(number, 100.0, workers=number, command="coebl run <my>.toml", interrupted=number == 1)
    store.log.add(1, 3400.0)
    results = Results(tmp_path / "study")
    text = make_page(results, tmp_path / "page.html", title="From a folder", command="coebl run study.toml").read_text()
    seen = " ".join(" ".join(Elements(text).strings).split())
    for part in (
        'name = "<demo>" # & so on',
        "ValueError: <no>",
        "Wall time 1 h in 3 runs, of which 1 was interrupted; 1 and 2 processes",
        "Command coebl run study.toml Also run by coebl run <my>.toml",
        "numpy",
        "made on two kinds of processors",
        "Rounds 20 Seeds 3 Noise gaussian Metrics Regret Created",
        "summed over 1 cell",
    ):
        assert part in seen, part
    assert seen.count("coebl run <my>.toml") == 1
    alone = " ".join(Elements(make_page(results, tmp_path / "page.html", title="Alone").read_text()).strings)
    assert "Also run by" not in alone
    assert "Run by coebl run <my>.toml" in " ".join(alone.split())
    assert not re.search("Wall time|run by", page_text(tmp_path), re.IGNORECASE)
    [game] = embedded(text, "data")["games"]
    assert (game["name"], game["noise"]) == ("matching-pennies", ""), "a single noise is not named"
    rounds, means, _, seeds = curves(text)["matching-pennies", "exp3", "uniform", "regret"]
    assert (rounds[-1], seeds) == (20, 3)
    expected = runs_of(results, "matching-pennies", "exp3", "uniform", "regret").values[-1].mean()
    assert means[-1] == pytest.approx(expected, rel=1e-4)


def store_of(folder, cells):
    """Run these cells in a folder, and return the results."""
    store = Store.create(folder, 'name = "demo"\n')
    for cell in cells:
        store.save(cell, cell.run())
    return Results(folder)


def test_a_study_with_several_noises_has_each_game_once_per_noise(tmp_path):
    results = store_of(
        tmp_path / "study",
        [
            Cell(game, (row, "uniform"), 20, (0, 1, 2), noise, metrics=("regret",))
            for game in ("rps", "diagonal:n=2")
            for row in ("exp3", "uniform")
            for noise in ("gaussian:sigma=1", "bernoulli")
        ],
    )
    presets = [Preset("one", {"rps": ["exp3"], "*": ["uniform"]})]
    text = make_page(results, tmp_path / "page.html", title="Noises", presets=presets).read_text()
    data = embedded(text, "data")
    named = ["rps, bernoulli", "rps, gaussian", "diagonal:n=2, bernoulli", "diagonal:n=2, gaussian"]
    assert [game["name"] for game in data["games"]] == named
    assert [game["spec"] for game in data["games"]] == ["rps"] * 2 + ["diagonal:n=2"] * 2
    assert [game["family"] for game in data["games"]] == ["Rock-paper-scissors"] * 2 + ["Diagonal"] * 2
    assert [game["noise"] for game in data["games"]] == ["bernoulli", "gaussian"] * 2
    assert data["presets"][0]["learners"] == [["exp3"], ["exp3"], ["uniform"], ["uniform"]], "by game, for all noises"
    assert "not shown" not in " ".join(Elements(text).strings)
    assert len(curves(text)) == 8  # their numbers are in test_sections_in_browser.py


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"rounds": 30}, "there are matches of 20 and 30 rounds; keep them in two folders."),
        ({"record": 5}, "regret was recorded at different rounds; keep the cells in two folders."),
    ],
)
def test_a_match_of_mixed_lengths_or_rounds_is_named(tmp_path, other, reason):
    first = Cell("rps", ("exp3", "uniform"), 20, (0, 1), metrics=("regret",))
    cells = [first, replace(first, seeds=(2,), **other), replace(first, game="matching-pennies")]
    text = make_page(store_of(tmp_path / "study", cells), tmp_path / "page.html", title="Mixed").read_text()
    notices = [string for string in Elements(text).strings if string.startswith("not shown")]
    assert notices == [f"not shown: exp3 v uniform on rps: {reason}"], "one notice"
    assert [game["spec"] for game in embedded(text, "data")["games"]] == ["matching-pennies"]


def test_a_study_is_read_once(tmp_path, monkeypatch):
    cells = [
        Cell("rps", ("exp3", "uniform"), 20, (seed,), noise) for seed in range(3) for noise in ("bernoulli", "none")
    ]
    results = store_of(tmp_path / "study", cells)
    read = []
    record = Store.record
    monkeypatch.setattr(Store, "record", lambda store, digest: read.append(digest) or record(store, digest))
    make_page(results, tmp_path / "page.html", title="Once")
    assert len(read) == len(set(read)) == len(cells)


def test_a_claim_shows_the_decisive_check_and_other_metrics(tmp_path):
    regret, tv = make_check(numbers=(-13.91, -30.93, 3.02)), make_check(verdict="not testable")
    verdict = make_verdict(
        "C1",
        "text",
        "fails",
        checks=[make_check(None, "fails", (1.23456789, 1.0, 1.5), 5.0)],
        reported=[
            make_verdict("C1", "text", "not significant", metric="regret", checks=[regret]),
            make_verdict("C1", "text", "not testable", metric="tv", checks=[tv]),
        ],
    )
    text = page_text(tmp_path, verdicts=[verdict])
    seen = " ".join("".join(Elements(text).strings).split())
    assert "Decided bypseudo-regret" in seen
    assert "on regret: undecided, −14 [−31, 3]" in seen
    assert "on TV distance: not testable " in seen
    [entry] = embedded(text, "data")["verdicts"]
    assert entry["checks"] == [
        {
            "subject": "ucb v coebl on rps",
            "match": ["rps", "ucb", "coebl"],
            "title": "UCB v COEBL on Rock-paper-scissors",
            "quantity": "the mean",
            "measured": 1.2346,
            "low": 1,
            "high": 1.5,
            "wanted": "above 5",
            "threshold": 5,
            "published": False,
            "outcome": "fails",
            "verdict": "fails",
            "before": "",
        }
    ]
    assert entry["reported"][1] == dict.fromkeys(("measured", "low", "high")) | {
        "metric": "tv",
        "verdict": "not testable",
    }


def test_a_metric_that_no_match_has_is_not_explained(tmp_path):
    source = MadeUp(MATCHES, ["regret", "tv"], change=lambda runs, *key: None if key[-1] == "tv" else runs)
    text = page_text(tmp_path, source)
    assert "<dt>Regret</dt>" in text
    assert "<dt>TV distance</dt>" not in text


def test_a_group_of_learners_may_have_a_file_whose_name_is_like_a_match():
    mine = "old v new.py:Mine"
    *_, group = page_learners([mine, "ucb"], [], [], NOTHING, {f"{mine} v ucb": (mine, "ucb")})
    assert group.spec == f"{mine} v ucb"
    assert group.title.endswith(" v UCB")
