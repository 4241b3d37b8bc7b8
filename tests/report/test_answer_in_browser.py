"""The top of the page in a browser: the answer, heat maps and claims; also links, pictures and print."""

import re
from itertools import pairwise

import numpy as np
import pytest

from coebl.report.page import Preset
from report.browser import MATCHES, PRESETS, VERDICTS, MadeUp, Page, make_page, name_of
from report.verdicts import make_check, make_verdict

MET = "rps", "ucb", "coebl:c=2"
CHECKS = [
    make_check("ucb on rps", "fails", (0.005, -0.005, 0.015), 0.05),
    make_check("exp3", "not significant", (2.9, 2.0, 3.8), 3.0, match=MET, before=0.04, near=True),
    make_check("more", "not testable"),
]
CLAIM = make_verdict("C9", "text", "fails", checks=CHECKS, text="It wins.")
NOT_RUN = make_verdict("C9", "c=2", "not testable", checks=CHECKS[2:], text="It wins.")


@pytest.fixture(scope="module")
def path(tmp_path_factory, source):
    return make_page(
        source,
        tmp_path_factory.mktemp("answer") / "page.html",
        title="Answers",
        verdicts=[*VERDICTS, CLAIM, NOT_RUN],
        headline="C9",
        source="On demos",
        link="https://example.org/paper",
        answer="Does it win? No.\nIt loses {text[fails]} of {tested} matches{which}.",
        presets=PRESETS,
        left_out="2 games",
        whole="coebl reproduce",
        citation="@misc{demo}",
        switches={"coebl:c=2": "D3: as released"},
    )


@pytest.fixture
def answer(driver, path):
    return Page(driver, path)


def test_the_answer_and_what_is_left_out_come_first(answer):
    assert answer.find(".kicker a").get_attribute("href") == "https://example.org/paper"
    assert answer.text(".answer") == "Does it win? No."
    assert answer.text(".numbers") == "It loses 1 of 2 matches that were run (3 in all)."
    assert answer.text(".scores b") == "plain"
    assert answer.find(".score").get_attribute("aria-label") == "0 hold, 1 undecided, 1 fail"
    assert answer.text(".score").split() == ["1", "1"], "an outcome that does not occur has no bar"
    assert answer.all(".score")[1].text == "not run"
    assert "Left out: 2 games. For the full run: coebl reproduce" in answer.text(".banner")
    assert answer.text("#citation-text") == "@misc{demo}"


def test_every_number_of_a_claim_has_its_subject(answer):
    cell = answer.all(".claim")[2].find_element("css selector", "td")
    assert cell.text == "fails 1/2", "of those that were run"
    assert cell.find_element("css selector", ".found").get_attribute("title").startswith("ucb on rps: the mean 0.005")
    assert cell.size["height"] <= 29, "it fits a line"
    strip = cell.find_element("css selector", ".strip")
    assert strip.get_attribute("aria-label") == "2 checks: 1 fails, 1 undecided"
    heights = answer.script("return [...arguments[0].children].map(bar => bar.getBoundingClientRect().height)", strip)
    assert len(set(heights)) == 2, "different without colour"


def test_the_heat_maps_have_one_scale(answer, source):
    cells = answer.rows("maps", "cells")
    assert {cell["panel"] for cell in cells} == {"plain", "c = 2"}
    means = {}
    for cell in cells:
        row = {"UCB": "ucb", "Exp3": "exp3"}[cell["learner"]]
        game = {"Rock-paper-scissors": "rps"}.get(cell["game"]) or f"diagonal:n={cell['game'][-1]}"
        column = "coebl:c=2" if cell["panel"] == "c = 2" or game == "rps" else "coebl"
        end = source.runs(game, row, column, "pseudo_regret").values[-1].mean()
        assert cell["mean"] == pytest.approx(end, rel=1e-4)
        means[cell["panel"], cell["game"], cell["learner"]] = cell
    largest = max(abs(cell["mean"]) for cell in cells)
    for cell in cells:
        assert abs(cell["shade"]) == pytest.approx((abs(cell["mean"]) / largest) ** 0.5)
    assert answer.text("#maps-title") == "Who beats COEBL?"
    assert answer.text("#maps-opponent") == "COEBL"
    family = "the checks of the main claim in a panel; in matches that it does not check, over all pairings."
    assert answer.text("#maps-caption").endswith(f"after correction over {family}")
    checked = {cell["learner"]: cell["decided"] for cell in cells if (cell["panel"], cell["game"][0]) == ("plain", "R")}
    assert checked == {"UCB": False}, "as the claim decides"
    fills = answer.script(
        "return [...document.querySelectorAll('#maps-chart path[fill]')].map(one => one.getAttribute('fill'))"
    )
    assert fills.count("url(#undecided)") == sum(not cell["decided"] for cell in cells) > 0
    assert answer.find("#maps .key").location["y"] < answer.find("#maps-chart").location["y"]
    assert answer.find("#choices").location["y"] > answer.find("#verdicts").location["y"], (
        "the choices are below the sections that they do not affect"
    )


@pytest.mark.parametrize(
    ("checked", "family", "decided"),
    [(["ucb", "exp3"], "the checks of the main claim in a panel", 2), ([], "all pairings", 0)],
)
def test_heat_maps_of_one_family_of_tests_name_it(opened, checked, family, decided):
    def undecided(runs, *_):
        return runs._replace(values=np.resize([-1.0, 1, 1, -1, 1], runs.values.shape))

    checks = [make_check(match=("rps", spec, "coebl")) for spec in checked]
    page = opened(
        MadeUp([("rps", spec, "coebl") for spec in ("ucb", "exp3")], change=undecided),
        verdicts=[make_verdict("C1", "text", "holds", checks=checks)],
        headline="C1",
        presets=[Preset("plain", {"*": ["coebl", "ucb", "exp3"]}, id="text", opponent=0)],
    )
    assert page.text("#maps-title") == "Who beats COEBL?"
    assert page.text("#maps-caption").endswith(f"after correction over {family}.")
    assert sum(cell["decided"] for cell in page.rows("maps", "cells")) == decided
    label = page.find("#maps-chart").get_attribute("aria-label")
    assert label.endswith(f"COEBL: plain: ahead in {decided} of 2. The numbers are in the head-to-head table.")


def test_a_cell_of_the_heat_maps_shows_its_numbers_and_opens_its_curves(answer):
    cells = answer.rows("maps", "cells")
    answer.script(
        "const cell = document.querySelectorAll('#maps-chart .mark-rect path')[arguments[0]];"
        "for (const what of ['pointerover', 'click']) cell.dispatchEvent(new Event(what, {bubbles: true}))",
        next(place for place, cell in enumerate(cells) if cell["game"].startswith("Diagonal")),
    )
    assert re.match(r"\w+ v COEBL, c = \d, Diagonal, n = 2: .* seeds", answer.text("#maps-readout"))
    assert answer.text("#view-title").startswith("Diagonal, n = 2, against COEBL")


def test_every_game_has_a_small_chart_that_opens_the_large_one(answer):
    rows = answer.rows("small-growth", "curves")
    titles = [game["title"].replace("\u00a0=\u00a0", "=") for game in answer.data["games"]]
    assert {row["game"] for row in rows} == {*titles}
    rows += [row | {"game": f"distance {row['game']}"} for row in answer.rows("small-distance", "curves")]
    for game in {row["game"] for row in rows}:
        own = [row for row in rows if row["game"] == game]
        places = sorted(row["label"] for row in own if row.get("label") is not None)
        assert len(places) == len({row["learner"] for row in own}) == 3
        height = max(0, *(row["mean"] for row in own)) - min(0, *(row["mean"] for row in own))
        assert all(after - before > height / 8 for before, after in pairwise(places)), "labels do not overlap"
    assert "UCB" in answer.strings("small-growth")
    answer.script(
        "[...document.querySelectorAll('#small-growth-chart .mark-line path')]"
        ".find(line => line.__data__.datum.game === arguments[0]).dispatchEvent(new Event('click', {bubbles: true}))",
        titles[-1],
    )
    assert answer.text("#view-title").startswith(answer.data["games"][-1]["title"].replace("\u00a0", " "))


def test_a_claim_is_drawn_with_its_thresholds(answer):
    answer.click(".claim-button[data-claim='C9']")
    rows = answer.rows("checks-4", "checks")  # the fifth verdict
    assert [(row["measured"], row["threshold"], row["outcome"]) for row in rows] == [
        (0.005, 0.05, "fails"),
        (2.9, 3, "undecided"),
    ]
    assert "published" in answer.strings("checks-4")
    listed, not_run = (checks.text for checks in answer.all(".detail:not([hidden]) .checks"))
    assert "undecided (before correction only: holds) · the largest mean" in listed
    assert "2 checks: 1 fails, 1 undecided; 1 was not run" in listed
    assert not_run == "One check was not run", "without an empty chart"


def test_the_address_stores_the_choices_and_can_be_copied(answer, driver):
    answer.choose("#family", "Diagonal")
    answer.choose("#opponent", "against COEBL, c = 2")
    answer.preset(1)
    answer.preset(0)
    answer.choose("#opponent", "against COEBL, c = 2")
    answer.choose("#growth-metric", "Regret")
    answer.click("#growth-log")
    answer.click(".claim-button[data-claim='C2']")
    before = answer.text("#view-title"), answer.traces()
    driver.refresh()
    answer.settle()
    assert (answer.text("#view-title"), answer.traces()) == before
    assert answer.axis("growth", "y")[0] == "log"
    assert answer.find(".claim-button[data-claim='C2']").get_attribute("aria-expanded") == "true"
    pressed = answer.all("#presets button[aria-pressed='true']")
    assert [button.text for button in pressed] == ["plain"]
    answer.click("nav a[href='#settings']")
    answer.wait("return location.hash.includes('game=diagonal')")
    answer.script("window.copied = []; navigator.clipboard.writeText = async (text) => { copied.push(text); };")
    answer.click("#copy-link")
    answer.click("#copy-citation")
    assert answer.script("return copied") == [driver.current_url, "@misc{demo}"]


def test_an_address_opens_a_claim(driver, path):
    page = Page(driver, path, address="#C9")
    assert page.find(".claim-button[data-claim='C9']").get_attribute("aria-expanded") == "true"
    assert page.find(".claim-button[data-claim='C1']").get_attribute("aria-expanded") == "false"
    page = Page(driver, path, address="#%E0%A4%A")
    assert page.text("h1") == "Answers", "a malformed URL does no harm"


def test_the_slider_and_the_switches(answer, source):
    from selenium.webdriver.common.keys import Keys

    answer.choose("#family", "Diagonal")
    answer.choose("#size", "n = 2")

    def shown():
        return {row["learner"]: row["mean"] for row in answer.rows("duels", "duels")}

    assert shown() == {
        row_title: pytest.approx(source.runs("diagonal:n=2", row, "coebl", "pseudo_regret").values[-1].mean(), rel=1e-4)
        for row, row_title in (("ucb", "UCB"), ("exp3", "Exp3"))
    }
    answer.find("#rate").send_keys(Keys.ARROW_LEFT)
    assert answer.text("#rate-title") == "COEBL, c = 2 (available: c = 2, 8)"
    means = shown()
    assert means["Exp3"] is None
    end = source.runs("diagonal:n=2", "ucb", "coebl:c=2", "pseudo_regret").values[-1]
    assert means["UCB"] == pytest.approx(end.mean(), rel=1e-4)
    assert any("not run against it, only against COEBL" in text for text in answer.strings("duels"))
    boxes = answer.all("#switches input")
    assert [box.is_selected() for box in boxes] == [True], "the switch follows the slider"
    boxes[0].click()
    assert shown()["Exp3"] is not None
    assert answer.text("#rate-title") == "COEBL, c = 8 (available: c = 2, 8)", "and the slider follows the switch"
    assert answer.script("return document.activeElement.dataset.replaces") == str(answer.place("coebl:c=2"))
    answer.choose("#family", "Rock-paper-scissors")
    [box] = answer.all("#switches input")
    assert (box.is_selected(), box.is_enabled()) == (True, False), "it has that role without a switch"


def test_a_saved_picture_has_its_title_and_colours(answer):
    answer.keep_downloads()
    answer.click("#theme")
    for figure, words in (("growth", "band: 95 % interval of the mean over 5 seeds"), ("maps", "Who beats COEBL?")):
        answer.drawn(figure)
        answer.click(f"#{figure}-svg")
        name, text = answer.download()
        assert name.endswith(".svg")
        assert words in text.replace("\u00a0", " ")
        assert "var(--" not in text
        assert "absolute_pseudo_regret" not in text
        assert re.search(r'(fill|background-color)[:=] ?"?white', text), "light, in the dark theme too"
    assert name_of("ucb") in text
    assert '<pattern id="undecided"' in text, "undecided cells are hatched there too"
    answer.click("#growth-png")
    answer.settle()
    assert answer.script("return keptName").endswith(".png")
    assert answer.script("return [kept.at(-1).type, kept.at(-1).size > 5000]") == ["image/png", True]
    answer.script("localStorage.clear()")


def test_controls_can_be_touched(driver, path):
    page = Page(driver, path, 390, 800)
    small = page.script(
        "return [...document.querySelectorAll('button, select, nav a, .check')].filter(one => one.checkVisibility())"
        ".filter(one => one.getBoundingClientRect().height < 43.5).map(one => one.id || one.textContent)"
    )
    assert small == []


def test_it_prints_on_few_pages(driver, path):
    import base64

    page = Page(driver, path)
    page.drawn("growth")
    printed = base64.b64decode(page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) <= 6


def test_without_scripts_there_are_tables(tmp_path):
    path = make_page(MadeUp(MATCHES), tmp_path / "page.html", title="Plain")
    text = path.read_text(encoding="utf-8")
    [table] = re.findall(r"<noscript>(.*?)</noscript>", text, re.DOTALL)
    games = [text.replace("\u00a0", " ") for text in re.findall(r"<caption>(.*?)</caption>", table)]
    assert games == ["Rock-paper-scissors", "Diagonal, n = 2", "Diagonal, n = 3"]
    assert table.count("<tr><td>") == sum(row != column for _, row, column in MATCHES)
    assert "Ranking" in text, "an ordinary study begins with the ranking"
    assert "<td>best response</td>" not in text, "it sees more than the others"
    assert "Left out, since they see more than a bandit does: best response." in text
    assert re.search(r"ranks first among 4 learners|share first place|is shown to beat another", text)
    assert text.index('id="ranking"') < text.index('id="table"') < text.index('id="figures"')
