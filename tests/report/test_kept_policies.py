"""Kept policies of a study: of the first seed, in little space, in addition to other runs, and on the page."""

import pytest

from coebl import simulate
from coebl.report.page import write_page
from coebl.study import Results, Store, parse_study
from coebl.study.errors import StudyError
from report.browser import Page
from study_runs import go, rows

PLAIN = """\
name = "kept"
rounds = 200
seeds = { first = 4, count = 5 }
seeds_per_cell = 3
games = ["biased-rps", "matching-pennies", "random-gaussian:m=17,n=2,seed=1"]
learners = ["exp3", "ucb"]
metrics = ["regret", "exploitability"]
[match-ups]
self-play = true
pairs = [["exp3", "ucb"]]
"""
TEXT = PLAIN.replace("[match-ups]", 'keep = ["policies"]\n[match-ups]')


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept") / "results"
    assert go(TEXT, folder).finished == 18 + 6  # no policies of 17 actions are kept
    return folder


def kept(folder):
    return {(record.game, record.players): record for record in Results(folder).records() if record.policies}


def test_kept_policies_are_those_of_the_first_seed_in_thousandths(folder):
    record = kept(folder)["biased-rps", ("exp3", "ucb")]
    policies = record.policies
    played = simulate("biased-rps", "exp3", "ucb", rounds=200, seeds=[4], keep=["policies"]).kept["policies"]
    assert (policies.seed, record.seeds, policies.rounds[0], policies.rounds[-1]) == (4, (4,), 1, 200)
    for seat in (0, 1):
        for place, last in enumerate(policies.rounds):
            assert policies.policies[seat][place] == pytest.approx(1000 * played[seat][last - 1, 0], abs=0.501)
            assert policies.averages[seat][place] == pytest.approx(1000 * played[seat][:last, 0].mean(0), abs=0.501)


def test_policies_are_added_to_a_folder_and_no_number_moves(folder, tmp_path):
    assert go(PLAIN, tmp_path).finished == 18
    before = rows(tmp_path)
    assert go(TEXT, tmp_path).finished == 6
    assert go(TEXT, tmp_path).finished == 0
    assert sorted(rows(tmp_path)) == sorted(before) == sorted(rows(folder))
    assert kept(tmp_path).keys() == kept(folder).keys()
    go(PLAIN, tmp_path)  # and they stay
    assert len(kept(tmp_path)) == 6


def test_kept_policies_take_little_space(folder):
    store = Store.open(folder)
    digests = [record.digest for record in kept(folder).values()]
    assert max(store.path(digest).stat().st_size for digest in digests) < 35_000  # Arrow keeps the record twice


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        ('keep = ["actions"]', "keep: this is ['actions']; accepted: [\"policies\"]"),
        ('keep = ["policies"]\nuntil = "exploitability < 0.1"', "keep: runs differ in length with until"),
    ],
)
def test_other_values_of_keep_are_rejected(line, mistake):
    with pytest.raises(StudyError, match="keep") as raised:
        parse_study(PLAIN.replace("[match-ups]", f"{line}\n[match-ups]"))
    assert mistake in str(raised.value)


def test_the_page_replays_kept_policies(driver, folder):
    page = Page(driver, write_page(Results(folder), folder / "page.html"))
    page.choose("#family", "Biased rock-paper-scissors")
    assert page.text("#replay-match") == "UCB in self-play\nExp3 v UCB\nExp3 in self-play"
    page.script("document.getElementById('now').value = 0")
    page.script("document.getElementById('now').dispatchEvent(new Event('input'))")
    assert page.text("#round") == "round 1 of 200"
    page.choose("#family", "Random, normal")
    assert "No policies were kept for" in page.text("#replay-note")
    assert not page.find("#replay").is_displayed()
    page.choose("#family", "Matching pennies")
    page.wait("return document.querySelectorAll('#charts.square .chart svg').length === 1")
    page.emulate(motion="no-preference")
    driver.refresh()
    page.settle()
    assert (page.text("#round"), page.text("#play")) == ("round 1 of 200", "Play"), "until it is visible"
    page.script("document.getElementById('replay').scrollIntoView()")
    page.wait("return document.getElementById('play').textContent === 'Pause'")
