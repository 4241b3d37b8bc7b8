"""The look of the page: titles, controls that fit, axes with labels, one ranking."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from coebl.evidence.pairwise import pairwise, rank
from coebl.study import Results, parse_study, run
from report.browser import Page, make_page
from report.pages import embedded, page_text
from report.verdicts import make_check, make_verdict

STUDY = """
name = "small"
rounds = 60
seeds = 6
games = ["rps"]
learners = ["fixed:strategy=1/0/0", "fixed:strategy=0/1/0", "hedge", "ucb"]
metrics = ["pseudo_regret"]
noise = "none"
record = "last"
[match-ups]
all-pairs = true
"""

# The widths of the text that is chosen in a select, and of the room for it.
CHOSEN = """
return [...document.querySelectorAll(arguments[0])].filter(one => one.checkVisibility()).map(select => {
  const style = getComputedStyle(select), pen = document.createElement("canvas").getContext("2d");
  pen.font = style.font;
  const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  return [select.id, pen.measureText(select.selectedOptions[0].text).width, room];
})
"""


@pytest.mark.parametrize("width", [390, 1280])
def test_chosen_options_fit_their_controls(driver, small, width):
    page = Page(driver, small, width, 800)
    assert page.script("return document.getElementById('choices').open") == (width == 1280)  # folded on a phone
    page.script("document.getElementById('choices').open = true")
    widths = page.script(CHOSEN, "#sweep-controls select, .figure-controls select, .controls select")
    assert {"frontier-metric", "growth-metric", "family"} <= {name for name, *_ in widths}
    for name, text, room in widths:
        assert text <= room + 1, name


def test_links_are_in_the_order_of_the_sections(driver, tmp_path, source, small):
    plain = make_page(source, tmp_path / "page.html", title="Plain")
    for path in (small, plain):
        page = Page(driver, path)
        links = [link.get_attribute("href").partition("#")[2] for link in page.all("nav a")]
        places = page.script("return arguments[0].map(id => document.getElementById(id).offsetTop)", links)
        assert places == sorted(places)
        assert page.find("#every-game").is_displayed()
        assert page.find("#every-learner").is_displayed() == (path == small), "without presets every learner is shown"


def test_checks_name_learners_and_games_as_the_charts_do(tmp_path):
    subject = "ucb v ucb on diagonal:n=2, round 5"
    check = make_check(subject, "fails", (-1205.0, -1300.0, -1100.0), 0.0, match=("diagonal:n=2", "ucb", "ucb"))
    verdict = make_verdict("C1", "text", "fails", checks=[check], text="For n >= 4 it wins.", note="the mean is -3")
    text = page_text(tmp_path, verdicts=[verdict]).replace("\u00a0", " ")
    assert "UCB in self-play on Diagonal, n = 2, round 5: the mean −1,205" in text
    assert "For n ≥ 4 it wins." in text
    assert "the mean is −3" in text
    [entry] = embedded(text, "data")["verdicts"][0]["checks"]
    assert entry["subject"] == subject, "the download has the spec"


def run_study(text, folder):
    run(parse_study(text), folder / "out", executor=ThreadPoolExecutor(1), quiet=True)
    return Results(folder / "out")


def test_the_page_ranks_as_the_terminal_does(tmp_path):
    results = run_study(STUDY, tmp_path)
    text = make_page(results, tmp_path / "page.html", title="Small").read_text(encoding="utf-8")
    ranking = rank(results)
    rows = [
        rf"<td>{entry.rank}</td><td>{{}}</td><td>[^<]+</td><td>[^<]+</td>"
        f"<td>{entry.won}</td><td>{entry.undecided}</td><td>{entry.lost}</td>"
        for entry in ranking.learners
    ]
    titles = {learner["spec"]: learner["title"] for learner in embedded(text, "data")["learners"]}
    assert len(rows) == 3
    for row, entry in zip(rows, ranking.learners, strict=True):
        assert re.search(row.format(re.escape(titles[entry.learner])), text)
    check_winners(text, ranking.pairings)
    assert embedded(text, "data")["firstOpponent"] == ranking.learners[0].learner
    family = "the pairings of a game"
    text = make_page(results, tmp_path / "page.html", title="Small", family=family).read_text(encoding="utf-8")
    check_winners(text, pairwise(results.last(["pseudo_regret"]), family=family))


def check_winners(text, pairings):
    """Check that the page names the winners of these pairings, and no others."""
    data = embedded(text, "data")
    specs = [learner["spec"] for learner in data["learners"]]
    tested = {(pairing.game, frozenset((pairing.first, pairing.second))): pairing.winner for pairing in pairings}
    winners = {}
    for place, game in enumerate(data["games"]):
        for match in embedded(text, f"game-{place}"):
            pair = frozenset((specs[match["row"]], specs[match["column"]]))
            if match["decided"] != "untested":
                winner = specs[match["winner"]] if match["decided"] == "after" else ""
                assert winners.setdefault((game["spec"], pair), winner) == winner, "the same in both seats"
    assert winners == tested


def test_a_page_warns_if_not_all_learners_met(tmp_path):
    pairs = 'pairs = [["ucb", "exp3"], ["ucb", "uniform"]]'
    results = run_study(STUDY.replace("all-pairs = true", pairs), tmp_path)
    text = make_page(results, tmp_path / "page.html", title="Small").read_text(encoding="utf-8")
    assert rank(results).caveat in text
    assert "<td>1 of 2</td>" in text
