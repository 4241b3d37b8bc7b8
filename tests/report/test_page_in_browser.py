"""The page in a browser: drawn without a complaint, right after every choice, and usable by hand, eye and keyboard."""

import csv
import io
import json
import math
import re

import numpy as np
import pytest

from coebl.plots import Reference
from coebl.report.page import Frontier, Preset, write_page
from coebl.statistics import mean_interval
from coebl.study import Cell, Results, Runs, Store
from report.browser import NAMES, MadeUp, start_browser

RATED = ["coebl:c=0", "coebl:c=0.5", "coebl:c=2", "coebl"]
PLAYED = ["rps", "diagonal:n=2", "diagonal:n=3"]
MATCHES = [
    (game, row, column)
    for game in PLAYED
    for row, column in [
        *((spec, spec) for spec in (*RATED, "ucb", "exp3")),
        *((spec, "best-response") for spec in RATED),
        ("ucb", "coebl"),
        ("exp3", "coebl"),
        ("ucb", "coebl:c=2"),
    ]
]
PRESETS = [
    Preset("plain", {"rps": ["coebl:c=2", "ucb", "exp3"], "*": ["coebl", "ucb", "exp3"]}, id="text"),
    Preset("c = 2", {"*": ["coebl:c=2", "ucb"]}, id="c=2", note="every COEBL has c = 2"),
]
CHECK = {"quantity": "the mean", "measured": 2, "wanted": "above 1"}
CHECKS = [
    *({"subject": f"match {place}", **CHECK, "low": 1.5, "high": 2.5, "verdict": "holds"} for place in range(39)),
    {"subject": "match 39", **CHECK, "low": None, "high": None, "verdict": "fails"},
]
VERDICTS = [
    {"id": claim, "variant": variant, "verdict": verdict, "measured": 3.25, "low": 3.0, "high": 3.5, "note": "why"}
    for claim in ("C1", "C2")
    for variant, verdict in (("text", "holds"), ("c=2", "not significant"))
]
VERDICTS[0]["checks"] = CHECKS
REFERENCE = Reference("0.1 √(K² t)", lambda actions, rounds: 0.1 * actions * np.sqrt(rounds))
HOSTILE = "</script><img src=x onerror=alert(1)><b>%{x}</b> \"'&amp; \u2028$x$"


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    browser = start_browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def source():
    return MadeUp(MATCHES, [*NAMES, "kl"], only={"kl": ["rps"]})


@pytest.fixture(scope="module")
def small(tmp_path_factory, source):
    folder = tmp_path_factory.mktemp("small")
    about = {"name": "demo", "metrics": [*NAMES, "kl"], "text": "x = 1\n" * 3, "seconds": 100.0, "cells": 3}
    return write_page(
        source,
        folder / "page.html",
        title="A demonstration",
        question="Does it work?",
        verdicts=VERDICTS,
        presets=PRESETS,
        command="coebl run demo.toml",
        about=about,
        first=["absolute_pseudo_regret", "pseudo_regret", "tv"],
        frontier=Frontier("best-response", ["exploitability", "tv"]),
        reference=REFERENCE,
    )


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """A large study: 15 games, 495 matches, 300 recorded rounds, 50 seeds, seven metrics."""
    rates = [*(f"coebl:c={c}" for c in (0, 0.5, 1, 2, 4, 6, 12, 16)), "coebl"]
    others = ["ucb", "exp3", "exp3-ix", "exp3-as-released", "exp3-ix-as-released"]
    pairs = [
        *((spec, spec) for spec in (*rates, *others)),
        *((spec, "best-response") for spec in rates),
        *((spec, column) for spec in others for column in ("coebl", "coebl:c=2")),
    ]
    games = ["rps", *(f"{family}:n={n}" for family in ("diagonal", "bigger-number") for n in range(2, 9))]
    metrics = [*NAMES, "absolute_regret", "regret_magnitude"]
    source = MadeUp([(game, *pair) for game in games for pair in pairs], metrics, recorded=300, seeds=50)
    presets = [Preset("four", {"*": ["coebl", *others[:3]]}), Preset("by c", {"*": rates})]
    path = tmp_path_factory.mktemp("full") / "page.html"
    return write_page(source, path, title="Full", presets=presets)


@pytest.fixture
def page(driver, small):
    """The small page, freshly opened at the size of a desktop; in the end nothing may have been complained about."""
    yield Page(driver, small)
    assert driver.get_log("browser") == []
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


class Page:
    """A page that is open in the browser."""

    def __init__(self, driver, path, width=1280, height=900, dark=False):
        self.driver = driver
        self.emulate(dark=dark)
        self.resize(width, height)
        driver.get("about:blank")
        driver.get_log("browser")
        driver.get(path.as_uri())
        self.wait("return document.documentElement.dataset.drawn")
        if self.script("return localStorage.length"):  # shared by all files: start from nothing
            self.script("localStorage.clear()")
            driver.get(path.as_uri())
            self.wait("return document.documentElement.dataset.drawn")

    def emulate(self, media="", dark=False):
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},  # smooth scrolling moves what is clicked on
        ]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})

    def resize(self, width, height):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def wait(self, condition, *arguments):
        from selenium.webdriver.support.wait import WebDriverWait

        return WebDriverWait(self.driver, 20, 0.05).until(lambda driver: driver.execute_script(condition, *arguments))

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def click(self, selector):
        found = self.find(selector)
        self.script("arguments[0].scrollIntoView({block: 'center'})", found)
        found.click()

    def choose(self, selector, text):
        """Choose an option by its text, in which spaces may be of either kind."""
        from selenium.webdriver.support.ui import Select

        select = Select(self.find(selector))
        [value] = [
            one.get_attribute("value") for one in select.options if one.text.replace("\u00a0", " ").strip() == text
        ]
        select.select_by_value(value)

    def preset(self, place):
        self.click(f"#presets button:nth-of-type({place + 1})")

    def traces(self, figure="growth", kind="line"):
        """What Plotly was given: name to rounds and means."""
        traces = self.script(
            f"return document.getElementById('{figure}-chart').data.filter(trace => trace.uid.startsWith('{kind}'))"
            ".map(trace => [trace.name, Array.from(trace.x), Array.from(trace.y)])"
        )
        return {name: (x, y) for name, x, y in traces}

    def box(self, learner):
        """The check box of a line."""
        return self.find(f"#lines input[data-line='{self.place(learner)}']")

    def place(self, spec):
        data = json.loads(self.find("#data").get_attribute("textContent"))
        return [learner["spec"] for learner in data["learners"]].index(spec)

    def keep_downloads(self):
        """Catch what is saved, instead of letting the browser ask where to."""
        self.script(
            "window.kept = []; URL.createObjectURL = (blob) => { window.kept.push(blob); return 'blob:kept'; };"
            "HTMLAnchorElement.prototype.click = function () { window.keptName = this.download; };"
        )

    def download(self):
        text = self.driver.execute_async_script("kept.at(-1).text().then(arguments[0])")
        return self.script("return keptName"), text


def name_of(spec):
    titles = {"coebl": "COEBL, c = 8", "coebl:c=2": "COEBL, c = 2", "ucb": "UCB", "exp3": "Exp3"}
    return titles[spec].replace(" = ", "\u00a0=\u00a0")


def check_lines(page, source, figure, game, pairs, metric):
    """The figure shows these matches, with these numbers at every round."""
    found = page.traces(figure)
    assert set(found) == {name_of(row) for row, _ in pairs}
    for row, column in pairs:
        runs = source.runs(game, row, column, metric)
        rounds, means = found[name_of(row)]
        assert rounds == runs.rounds.tolist()
        assert means == pytest.approx(runs.values.mean(axis=1).tolist(), rel=1e-4)


def selves(*specs):
    return [(spec, spec) for spec in specs]


def test_it_opens_with_both_figures_drawn(page, source):
    check_lines(page, source, "growth", "rps", selves("coebl:c=2", "ucb", "exp3"), "absolute_pseudo_regret")
    check_lines(page, source, "distance", "rps", selves("coebl:c=2", "ucb", "exp3"), "tv")
    count = "return document.querySelectorAll(`#${arguments[0]}-chart .scatterlayer .js-line[d]`).length"
    fills = "return document.querySelectorAll(`#${arguments[0]}-chart .scatterlayer .js-fill[d]`).length"
    # Three lines and three bands; a band has an outline of width zero. The first figure has the reference line too.
    assert page.script(count, "growth") == 7
    assert page.script(count, "distance") == 6
    assert page.script(fills, "growth") == page.script(fills, "distance") == 3
    assert "95 % interval of the mean over 5 seeds" in page.find("#growth-caption").text


def test_the_band_is_the_interval(page, source):
    [band] = [
        trace
        for trace in page.script(
            "return document.getElementById('growth-chart').data.map(t => [t.uid, t.fillcolor, Array.from(t.y)])"
        )
        if trace[0].startswith("band") and trace[1].startswith("rgba(213, 94, 0")
    ]
    values = source.runs("rps", "ucb", "ucb", "absolute_pseudo_regret").values
    intervals = [mean_interval(samples) for samples in values]
    expected = [one.high for one in intervals] + [one.low for one in reversed(intervals)]
    assert band[2] == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_the_reference_line_is_for_self_play_regret(page):
    [(name, (rounds, values))] = page.traces(kind="reference").items()
    assert name == "0.1 √(K² t), K = 3"
    assert values == pytest.approx([0.1 * math.sqrt(9 * t) for t in rounds], rel=1e-4)
    assert (rounds[0], rounds[-1]) == (10, 300)
    assert "0.1 √(K² t), K = 3" in page.find("#lines").text
    assert page.traces("distance", "reference") == {}
    page.choose("#family", "Diagonal")
    [(name, _)] = page.traces(kind="reference").items()
    assert name == "0.1 √(K² t), K = 4"
    page.click("#lines input[data-line='reference']")
    assert page.traces(kind="reference") == {}
    page.click("#lines input[data-line='reference']")
    page.choose("#opponent", "against COEBL, c = 8")
    assert page.traces(kind="reference") == {}


def test_choosing_game_size_opponent_and_metric(page, source):
    page.choose("#family", "Diagonal")
    page.choose("#size", "n = 3")
    check_lines(page, source, "growth", "diagonal:n=3", selves("coebl", "ucb", "exp3"), "absolute_pseudo_regret")
    page.choose("#opponent", "against COEBL, c = 8")
    against = [("ucb", "coebl"), ("exp3", "coebl")]
    check_lines(page, source, "growth", "diagonal:n=3", against, "pseudo_regret")
    check_lines(page, source, "distance", "diagonal:n=3", against, "tv")
    page.choose("#growth-metric", "Regret")
    page.choose("#distance-metric", "Exploitability")
    check_lines(page, source, "growth", "diagonal:n=3", against, "regret")
    check_lines(page, source, "distance", "diagonal:n=3", against, "exploitability")
    assert page.find("#view-title").text.replace("\u00a0", " ") == "Diagonal, n = 3, against COEBL, c = 8"
    assert "Regret" in page.find("#growth-caption").text


def test_a_metric_that_a_game_lacks_is_not_offered(page, source):
    page.choose("#distance-metric", "KL divergence")
    check_lines(page, source, "distance", "rps", selves("coebl:c=2", "ucb", "exp3"), "kl")
    page.choose("#family", "Diagonal")
    assert "KL divergence" not in page.find("#distance-metric").text
    check_lines(page, source, "distance", "diagonal:n=2", selves("coebl", "ucb", "exp3"), "tv")
    page.choose("#family", "Rock-paper-scissors")
    check_lines(page, source, "distance", "rps", selves("coebl:c=2", "ucb", "exp3"), "kl")


def test_check_boxes_turn_lines_on_and_off(page):
    assert set(page.traces()) == {name_of("coebl:c=2"), "UCB", "Exp3"}
    page.box("ucb").click()
    assert set(page.traces()) == set(page.traces("distance")) == {name_of("coebl:c=2"), "Exp3"}
    assert page.script("return document.activeElement.dataset.line") == str(page.place("ucb")), "the focus stays"
    page.click("#more-lines")
    page.box("coebl").click()
    assert set(page.traces()) == {name_of("coebl:c=2"), name_of("coebl"), "Exp3"}
    page.click("#no-lines")
    assert page.traces() == {}
    assert page.find("#growth-caption").text == "No line is shown."
    page.click("#all-lines")
    assert len(page.traces()) == 6


def test_the_list_of_lines_has_the_last_values(page, source):
    row = page.box("ucb").find_element("xpath", "ancestor::tr")
    for place, metric in enumerate(("absolute_pseudo_regret", "tv")):
        interval = mean_interval(source.runs("rps", "ucb", "ucb", metric).values[-1])
        mean, half = map(float, row.find_elements("css selector", "td")[place].text.replace("−", "-").split(" ± "))
        assert mean == pytest.approx(interval.mean, abs=0.06 * interval.sd)
        assert half == pytest.approx(interval.high - interval.mean, rel=0.06)


def test_presets(page):
    buttons = page.driver.find_elements("css selector", "#presets button")
    assert [button.get_attribute("aria-pressed") for button in buttons] == ["true", "false"]
    page.choose("#family", "Diagonal")
    page.choose("#opponent", "against COEBL, c = 8")
    page.preset(1)
    assert [button.get_attribute("aria-pressed") for button in buttons] == ["false", "true"]
    assert page.find("#view-title").text.replace("\u00a0", " ").endswith("against COEBL, c = 2"), "the like of it"
    assert set(page.traces()) == {"UCB"}
    assert page.find("#preset-note").text == "every COEBL has c = 2"
    page.choose("#opponent", "against best response")
    page.preset(0)
    assert set(page.traces()) == {name_of("coebl")}, "a best response is in no preset, and stays"
    page.box("coebl").click()
    assert "true" not in [button.get_attribute("aria-pressed") for button in buttons]


def test_the_log_axis(page):
    page.click("#distance-log")
    assert page.script("return document.getElementById('distance-chart').layout.yaxis.type") == "log"
    assert page.script("return document.getElementById('growth-chart').layout.yaxis.type") == "linear"
    page.choose("#family", "Diagonal")
    page.choose("#opponent", "against COEBL, c = 8")
    page.click("#growth-log")
    assert all(value is None or value > 0 for _, values in page.traces().values() for value in values)


def plot_area(page, figure):
    """The middle of the plot in the window, and its width and height."""
    page.script(f"document.getElementById('{figure}-chart').scrollIntoView({{block: 'center'}})")
    return page.script(
        f"const r = document.querySelector('#{figure}-chart .nsewdrag').getBoundingClientRect();"
        "return [r.left + r.width / 2, r.top + r.height / 2, r.width, r.height].map(Math.round)"
    )


def mouse(page):
    from selenium.webdriver.common.actions.action_builder import ActionBuilder

    return ActionBuilder(page.driver, duration=50)


def test_zoom_and_reset(page):
    ranges = "const l = document.getElementById('growth-chart').layout; return [...l.xaxis.range, ...l.yaxis.range]"
    before = page.script(ranges)
    assert before[:2] == [0, 300]
    reset = page.find("#growth-reset")
    assert not reset.is_enabled()
    x, y, width, height = plot_area(page, "growth")

    def drag():
        action = mouse(page)
        action.pointer_action.move_to_location(x - width // 4, y - height // 4).pointer_down()
        action.pointer_action.move_to_location(x, y).move_to_location(x + width // 4, y + height // 4).pointer_up()
        action.perform()
        page.wait("return !document.getElementById('growth-reset').disabled")

    drag()
    assert page.script(ranges)[:2] == pytest.approx([75, 225], abs=5)
    page.box("ucb").click()
    assert page.script(ranges)[:2] == pytest.approx([75, 225], abs=5), "a line less is no reason to zoom out"
    page.box("ucb").click()
    page.click("#growth-reset")
    page.wait("return document.getElementById('growth-reset').disabled")
    assert page.script(ranges) == pytest.approx(before)
    x, y, width, height = plot_area(page, "growth")
    drag()
    action = mouse(page)
    action.pointer_action.move_to_location(x, y).click().click()
    action.perform()
    page.wait("return document.getElementById('growth-reset').disabled")
    assert page.script(ranges) == pytest.approx(before)


def test_hovering_shows_the_values(page, source):
    x, y, _, _ = plot_area(page, "growth")
    action = mouse(page)
    action.pointer_action.move_to_location(x - 20, y).move_to_location(x, y)
    action.perform()
    page.wait("return document.querySelector('#growth-chart .hoverlayer .legend')")
    shown = page.script(
        "return [...document.querySelectorAll('#growth-chart .hoverlayer text')].map(t => t.textContent)"
    )
    [at] = [int(found[1]) for found in map(re.compile(r"round (\d+)").fullmatch, shown) if found]
    assert 140 <= at <= 160
    [text] = [line for line in shown if line.startswith("UCB")]
    runs = source.runs("rps", "ucb", "ucb", "absolute_pseudo_regret")
    interval = mean_interval(runs.values[runs.rounds.tolist().index(at)])
    mean, low, high = (float(number) for number in re.findall(r"-?[\d.]+", text.replace("−", "-")))
    tolerance = 0.03 * (interval.high - interval.low)
    assert (mean, low, high) == pytest.approx((interval.mean, interval.low, interval.high), abs=tolerance)


def test_the_theme(page, driver, small):
    look = (
        "const chart = document.getElementById('growth-chart');"
        "return [getComputedStyle(document.body).backgroundColor, chart.layout.font.color,"
        "chart.data.find(t => t.uid === 'reference').line.color,"
        "document.getElementById('theme').getAttribute('aria-checked')]"
    )
    light = page.script(look)
    assert light[2:] == ["#000000", "false"]
    page.click("#theme")
    dark = page.script(look)
    assert dark[2:] == ["#ffffff", "true"]
    assert dark[0] != light[0]
    assert dark[1] != light[1]
    driver.refresh()
    page.wait("return document.documentElement.dataset.drawn")
    assert page.script(look) == dark, "it is remembered"
    page.click("#theme")
    assert page.script(look) == light
    page.script("localStorage.clear()")
    followed = Page(driver, small, dark=True)
    assert followed.script(look) == dark, "it follows the system"


def press(page, *keys):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(page.driver).send_keys(*keys).perform()


def tab_to(page, selector):
    """Go on with the Tab key alone, until an element has the focus, and that can be seen."""
    from selenium.webdriver.common.keys import Keys

    for _ in range(80):
        press(page, Keys.TAB)
        if page.script("return document.activeElement.matches(arguments[0])", selector):
            style = page.script(
                "const s = getComputedStyle(document.activeElement);return [s.outlineStyle, parseFloat(s.outlineWidth)]"
            )
            assert style[0] == "solid"
            assert style[1] >= 2
            return
    pytest.fail(f"the Tab key does not reach {selector}")


def test_by_keyboard_alone(page):
    from selenium.webdriver.common.keys import Keys

    press(page, Keys.TAB)
    assert page.script("return document.activeElement.className") == "skip"
    tab_to(page, "#theme")
    press(page, Keys.SPACE)
    assert page.script("return document.documentElement.dataset.theme") == "dark"
    tab_to(page, ".claim-button")
    press(page, Keys.ENTER)
    assert page.find("#claim-1").is_displayed()
    press(page, Keys.SPACE)
    assert not page.find("#claim-1").is_displayed()
    tab_to(page, "#family")
    press(page, "d")
    assert page.find("#view-title").text.startswith("Diagonal")
    tab_to(page, "#size")
    press(page, Keys.DOWN)
    assert page.find("#view-title").text.replace("\u00a0", " ").startswith("Diagonal, n = 3")
    tab_to(page, "#presets button[aria-pressed='false']")
    press(page, Keys.ENTER)
    assert set(page.traces()) == {name_of("coebl:c=2"), "UCB"}
    tab_to(page, "#growth-log")
    press(page, Keys.SPACE)
    assert page.script("return document.getElementById('growth-chart').layout.yaxis.type") == "log"
    tab_to(page, f"#lines input[data-line='{page.place('ucb')}']")
    press(page, Keys.SPACE)
    assert set(page.traces()) == {name_of("coebl:c=2")}
    page.script("localStorage.clear()")


def test_the_skip_link(page):
    from selenium.webdriver.common.keys import Keys

    press(page, Keys.TAB, Keys.ENTER)
    assert page.script("return document.activeElement.id") == "main"


def test_the_claims_open(page):
    detail = page.find("#claim-2")
    assert not detail.is_displayed()
    page.click(".claim-button[aria-controls='claim-2']")
    assert detail.is_displayed()
    assert "why" in detail.text
    assert page.find(".claim-button[aria-controls='claim-2']").get_attribute("aria-expanded") == "true"
    cells = page.driver.find_elements("css selector", ".claim")[0].find_elements("css selector", "td")
    assert [cell.text.replace("\n", " ") for cell in cells] == [
        "holds 3.25 [3.00, 3.50]",
        "not significant 3.25 [3.00, 3.50]",
    ]
    assert len(page.driver.find_elements("css selector", ".claim td svg.icon path")) == 4, "never colour alone"


def test_the_checks_of_a_claim(page):
    assert page.driver.find_elements("css selector", ".checks-scroll") == [], "only when they are asked for"
    for _ in range(3):
        page.click(".claim-button[aria-controls='claim-1']")
    [title] = [one.text for one in page.driver.find_elements("css selector", "#claim-1 .checks h5")]
    assert title == "All 40 checks: 39 hold, 1 fails"
    items = page.driver.find_elements("css selector", "#claim-1 .checks li")
    assert items[0].text == "match 0\nholds · the mean 2.00 [1.50, 2.50], wanted: above 1"
    assert items[39].get_attribute("textContent") == "match 39fails · the mean 2, wanted: above 1"
    assert len(items) == 40
    box = "const box = document.querySelector('.checks-scroll'); return [box.clientHeight, box.scrollHeight]"
    shown, whole = page.script(box)
    assert shown < 300 < whole, "it scrolls"
    page.emulate(media="print")
    assert not page.find("#claim-1 .checks").is_displayed()
    page.emulate()


def test_the_head_to_head_table(page, source):
    page.choose("#family", "Diagonal")

    def cell(row, column):
        [head] = [h for h in page.driver.find_elements("css selector", "#matrix tbody th") if h.text == row]
        columns = [h.text.replace("\u00a0", " ") for h in page.driver.find_elements("css selector", "#matrix thead th")]
        return head.find_element("xpath", "..").find_elements("css selector", "td")[columns.index(column) - 1]

    for row in ("ucb", "exp3"):
        interval = mean_interval(source.runs("diagonal:n=2", row, "coebl", "pseudo_regret").values[-1])
        words = "n.s." if interval.low <= 0 <= interval.high else "column wins" if interval.mean > 0 else "row wins"
        number, found_words = cell(name_of(row), "v COEBL, c = 8").text.split("\n")
        assert found_words == words
        mean, half = map(float, number.replace("−", "-").split(" ± "))
        assert mean == pytest.approx(interval.mean, abs=0.06 * interval.sd)
        assert half == pytest.approx(interval.high - interval.mean, rel=0.06)
    assert "Positive: the column player wins" in page.find("#table-lead").text
    assert cell("Exp3", "v best response †").text == "·"
    assert page.find("#matrix-marks").text.startswith("† best response: oracle, sees the true payoffs or")
    page.click("#every-game")
    heads = [h.text.replace("\u00a0", " ") for h in page.driver.find_elements("css selector", "#matrix thead th")]
    assert heads == ["Row v column", "Rock-paper-scissors", "Diagonal, n = 2", "Diagonal, n = 3"]
    before = len(page.driver.find_elements("css selector", "#matrix tbody tr"))
    page.click("#every-learner")
    assert len(page.driver.find_elements("css selector", "#matrix tbody tr")) == 7 > before


def test_the_frontier(page, source):
    page.choose("#family", "Diagonal")
    trace = page.script(
        "const [t] = document.getElementById('frontier-chart').data;"
        "return [t.text, Array.from(t.x), Array.from(t.y), Array.from(t.error_y.array)]"
    )
    assert trace[0] == ["c = 0", "c = 0.5", "c = 2", "c = 8"]
    for place, spec in enumerate(RATED):
        across = source.runs("diagonal:n=2", spec, spec, "exploitability").values[-10:]  # 100 rounds
        up = mean_interval(source.runs("diagonal:n=2", spec, "best-response", "pseudo_regret").values[-1])
        assert trace[1][place] == pytest.approx(across.mean(), rel=1e-4)
        assert trace[2][place] == pytest.approx(up.mean, rel=1e-4)
        assert trace[3][place] == pytest.approx(up.high - up.mean, rel=1e-4)
    title = "return document.getElementById('frontier-chart').layout.xaxis.title.text"
    assert page.script(title) == "Exploitability in self-play<br>mean over the last 100 rounds"
    assert "mean of the recorded rounds from 210 to 300. Up: at round 300." in page.find("#frontier-caption").text
    page.choose("#frontier-metric", "TV distance")
    page.choose("#opponent", "against COEBL, c = 8")
    assert page.script(title) == "TV distance in self-play<br>mean over the last 100 rounds", "it stays"
    page.choose("#frontier-metric", "Absolute pseudo-regret")
    assert page.script(title) == "Absolute pseudo-regret in self-play"
    types = "const l = document.getElementById('frontier-chart').layout; return [l.xaxis.type, l.yaxis.type]"
    assert page.script(types) == ["linear", "log"]
    page.click("#across-log")
    page.click("#frontier-log")
    assert page.script(types) == ["log", "linear"]


def test_downloads(page, source):
    page.keep_downloads()
    page.choose("#family", "Diagonal")
    page.choose("#opponent", "against COEBL, c = 8")
    page.click("#growth-csv")
    name, text = page.download()
    assert re.fullmatch(r"demo-[A-Za-z0-9-]+-pseudo-regret\.csv", name)
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert list(rows[0]) == ["game", "row", "column", "metric", "round", "mean", "low", "high", "seeds"]
    assert len(rows) == 2 * 30
    for row in rows:
        runs = source.runs(row["game"], row["row"], row["column"], row["metric"])
        interval = mean_interval(runs.values[runs.rounds.tolist().index(int(row["round"]))])
        found = [float(row[key]) for key in ("mean", "low", "high")]
        assert found == pytest.approx([interval.mean, interval.low, interval.high], rel=1e-3, abs=1e-3)
    page.click("#table-csv")
    _, text = page.download()
    assert {(row["row"], row["column"]) for row in csv.DictReader(io.StringIO(text, newline=""))} == {
        ("ucb", "coebl"),
        ("exp3", "coebl"),
        ("coebl", "best-response"),
    }
    page.click("#frontier-csv")
    rows = list(csv.DictReader(io.StringIO(page.download()[1], newline="")))
    assert len(rows) == 2 * len(RATED)
    assert [rows[0][key] for key in ("metric", "column", "round")] == ["exploitability", rows[0]["row"], "210 to 300"]
    assert [rows[1][key] for key in ("metric", "column", "round")] == ["pseudo_regret", "best-response", "300"]
    page.click("#save-verdicts")
    name, text = page.download()
    assert name == "demo-verdicts.json"
    assert json.loads(text) == VERDICTS


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_sticks_out(driver, small, page, width):
    opened = Page(driver, small, width, 800)
    opened.click("#open-claims")
    opened.click("#every-game")
    opened.click("#every-learner")
    opened.wait("return document.querySelector('#growth-chart .main-svg').getBoundingClientRect().width <= innerWidth")
    assert opened.script("return [document.documentElement.scrollWidth, document.body.scrollWidth]") <= [width, width]
    assert opened.script("scrollTo(1000, 0); return scrollX") == 0


REFERENCE_COLOUR = (
    "return document.getElementById('growth-chart').data.find(trace => trace.uid === 'reference').line.color"
)


def test_on_paper(page):
    page.click("#theme")
    page.emulate(media="print")
    page.wait("return document.getElementById('growth-chart').layout.width === 640")
    for selector in ("nav", "#family", "#growth-log", "#growth-csv", "#theme", "#lines input", "#open-claims"):
        assert not page.find(selector).is_displayed(), selector
    assert page.find("#claim-1").is_displayed(), "what was closed is open"
    assert page.script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    font = page.script("return document.getElementById('growth-chart').layout.font.color")
    assert font == page.script("return getComputedStyle(document.documentElement).getPropertyValue('--soft')").strip()
    assert font == "#444", "the charts are light too"
    assert page.script(REFERENCE_COLOUR) == "#000000"
    page.emulate()
    page.wait("return document.getElementById('growth-chart').layout.width !== 640")
    page.script("dispatchEvent(new Event('beforeprint'))")  # comes before the style sheet for paper is in force
    assert page.script("return document.getElementById('growth-chart').layout.font.color") == "#5a5f66"
    page.script("dispatchEvent(new Event('afterprint'))")
    assert page.script(REFERENCE_COLOUR) == "#ffffff"
    assert page.script("return document.documentElement.dataset.theme") == "dark", "the screen is as it was"
    page.script("localStorage.clear()")


CONTRASTS = """
const parts = (text) => {
  const numbers = text.match(/[\\d.]+/g).map(Number);
  const scale = text.startsWith("color(srgb") ? 255 : 1;
  return [...numbers.slice(0, 3).map((part) => part * scale), numbers[3] ?? 1];
};
const behind = (node) => {
  for (let at = node; at; at = at.parentElement) {
    const colour = parts(getComputedStyle(at).backgroundColor);
    if (colour[3] > 0) return colour;
  }
  return [255, 255, 255, 1];
};
const light = (colour) => colour.slice(0, 3).map((part) => part / 255)
  .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement;
  const text = walker.currentNode.data.trim();
  if (!text || node.closest("script, svg, option, :disabled") || !node.checkVisibility()) continue;
  const pair = [light(parts(getComputedStyle(node).color)), light(behind(node))].sort((a, b) => b - a);
  found.push([(pair[0] + 0.05) / (pair[1] + 0.05), text.slice(0, 40)]);
}
return found;
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_stands_out(driver, small, page, dark):
    opened = Page(driver, small, dark=dark)
    opened.click("#open-claims")
    opened.click("#every-learner")
    found = opened.script(CONTRASTS)
    assert len(found) > 100
    assert [pair for pair in found if pair[0] < 4.5] == []


def test_every_control_has_a_name(page):
    unnamed = page.script(
        "const own = (node) => [...node.childNodes].filter(child => child.nodeName !== 'SELECT')"
        ".map(child => child.textContent).join('').trim();"
        "return [...document.querySelectorAll('button, select, input, [role=img], [role=region]')].filter(node =>"
        "!node.hidden && !(node.labels?.[0] ? own(node.labels[0]) : node.nodeName === 'BUTTON' && own(node) ||"
        "node.getAttribute('aria-label') || node.getAttribute('aria-labelledby'))).map(node => node.id)"
    )
    assert unnamed == []
    ids = page.script("return [...document.querySelectorAll('[id]')].map(node => node.id)")
    own = [one for one in ids if not re.match("(clip|legend|topdefs|defs)", one)]
    assert len(own) == len(set(own))


def test_hostile_names_stay_names(driver, tmp_path):
    learners = [HOSTILE, "ucb"]
    source = MadeUp([(HOSTILE, row, column) for row in learners for column in learners], [HOSTILE, "tv"])
    path = write_page(
        source,
        tmp_path / "hostile.html",
        title=HOSTILE,
        question=HOSTILE,
        verdicts=[
            dict.fromkeys(("id", "variant", "verdict", "text", "note"), HOSTILE)
            | {"checks": [dict.fromkeys(("subject", "quantity", "wanted", "verdict"), HOSTILE)]}
        ],
        presets=[Preset(HOSTILE, {"*": learners}, note=HOSTILE)],
        about={"name": HOSTILE, "metrics": [HOSTILE, "tv"], "text": HOSTILE, "notices": [HOSTILE]},
    )
    page = Page(driver, path)
    page.keep_downloads()
    page.click("#growth-csv")
    name, text = page.download()
    assert re.fullmatch(r"[A-Za-z0-9-]+\.csv", name)
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {row["game"] for row in rows} == {HOSTILE}
    page.choose("#opponent", "against UCB")
    page.click(".claim-button")
    assert page.find(".checks .subject").get_attribute("textContent") == HOSTILE
    x, y, _, _ = plot_area(page, "growth")
    action = mouse(page)
    action.pointer_action.move_to_location(x - 20, y).move_to_location(x, y)
    action.perform()
    page.wait("return document.querySelector('#growth-chart .hoverlayer text')")
    hovered = page.script("return document.querySelector('#growth-chart .hoverlayer').textContent")
    assert HOSTILE.replace("\u2028", "")[:20] in hovered.replace("\u00a0", " ")
    assert "%{x}" in hovered, "a name is no template"
    assert page.driver.find_elements("css selector", "img, .chart b, .chart a, #lines b, #matrix b, .subject b") == []
    assert len(page.driver.find_elements("css selector", "script:not([type])")) == 3
    assert page.find("h1").get_attribute("textContent") == HOSTILE
    assert HOSTILE in page.find("#lines").get_attribute("textContent")
    assert driver.get_log("browser") == []


def test_a_large_study(driver, full):
    size = full.stat().st_size
    assert size < 12_000_000
    page = Page(driver, full)
    milliseconds = int(page.script("return document.documentElement.dataset.drawn"))
    print(f"{size / 1e6:.1f} MB, drawn after {milliseconds} ms")
    assert milliseconds < 5000  # under two seconds on a machine that has nothing else to do
    assert len(page.traces()) == 4
    page.preset(1)
    assert len(page.traces()) == 9
    assert driver.get_log("browser") == []


def test_a_page_without_presets_shows_the_first_few_lines(driver, tmp_path):
    specs = [f"mine:k={number}" for number in range(12)]
    source = MadeUp([("rps", spec, spec) for spec in specs], ["regret"])
    page = Page(driver, write_page(source, tmp_path / "page.html", title="Plain", about={"metrics": ["regret"]}))
    assert list(page.traces()) == specs[:8]
    assert not page.find("#distance").is_displayed()
    assert not page.driver.find_elements("css selector", "#table, #frontier")
    page.click("#all-lines")
    assert len(page.traces()) == 12
    assert driver.get_log("browser") == []


def test_no_reference_line_unless_asked_for_and_square(driver, tmp_path):
    def shown(**options):
        source = MadeUp([(game, "ucb", "ucb") for game in ("rps", "robust-bandit")], ["regret"])
        options = {"title": "Plain", "about": {"metrics": ["regret"]}} | options
        page = Page(driver, write_page(source, tmp_path / "page.html", **options))
        found = []
        for game in ("Rock-paper-scissors", "Robust bandit"):
            page.choose("#family", game)
            found.append([list(page.traces(kind="reference")), "0.1" in page.find("#lines").text])
        return found

    assert shown() == [[[], False], [[], False]]
    assert shown(reference=REFERENCE) == [[["0.1 √(K² t), K = 3"], True], [[], False]]


def test_the_noises_of_a_study(driver, tmp_path):
    store = Store.create(tmp_path / "study", "noisy", 'name = "noisy"\n')
    for game in ("rps", "diagonal:n=2", "diagonal:n=3"):
        for noise in ("gaussian:sigma=0.5", "bernoulli"):
            cell = Cell(game, "exp3", "uniform", 20, (0, 1, 2), noise, metrics=("regret",))
            store.save(cell, cell.run())
    results = Results(tmp_path / "study")
    page = Page(driver, write_page(results, tmp_path / "page.html", title="Noises"))

    def check(title, game, noise):
        assert page.find("#view-title").text.replace("\u00a0", " ") == f"{title}, against uniform"
        values = results.runs(game, "exp3", "uniform", "regret", noise=noise).values
        [(_, means)] = page.traces().values()
        assert means == pytest.approx(values.mean(axis=1).tolist(), rel=1e-4)

    assert [page.find(f"#{part}").is_enabled() for part in ("family", "size", "noise")] == [True, False, True]
    check("Rock-paper-scissors, bernoulli", "rps", "bernoulli")
    page.choose("#noise", "gaussian, sigma = 0.5")
    check("Rock-paper-scissors, gaussian, sigma = 0.5", "rps", "gaussian:sigma=0.5")
    page.choose("#family", "Diagonal")
    check("Diagonal, n = 2, gaussian, sigma = 0.5", "diagonal:n=2", "gaussian:sigma=0.5")
    page.choose("#size", "n = 3")
    check("Diagonal, n = 3, gaussian, sigma = 0.5", "diagonal:n=3", "gaussian:sigma=0.5")
    page.choose("#noise", "bernoulli")
    check("Diagonal, n = 3, bernoulli", "diagonal:n=3", "bernoulli")
    page.keep_downloads()
    page.click("#growth-csv")
    row = next(csv.DictReader(io.StringIO(page.download()[1], newline="")))
    assert (row["game"], row["noise"]) == ("diagonal:n=3", "bernoulli")
    assert driver.get_log("browser") == []


def test_one_noise_has_no_selector(page):
    assert not page.find("#noise").is_displayed()


class Gaps(MadeUp):
    """A source whose means are not finite in some of 30 rounds, and whose metrics have different seeds and rounds."""

    def runs(self, game, row, column, metric):
        runs = super().runs(game, row, column, metric)
        values = runs.values.copy()
        values[10:15, 0] = math.inf
        values[20, 0] = math.inf
        if metric == "tv":
            return Runs(runs.rounds, runs.seeds, values)
        return Runs(runs.rounds[:25], runs.seeds[:3], runs.values[:25, :3])


def test_a_band_has_the_gaps_of_its_line(driver, tmp_path):
    source = Gaps([("rps", "ucb", "ucb")], ["regret", "tv"])
    path = write_page(source, tmp_path / "page.html", title="Gaps", about={"metrics": ["regret", "tv"]})
    page = Page(driver, path)
    x, y = page.script(
        "const t = document.getElementById('distance-chart').data.find(t => t.uid.startsWith('band'));"
        "return [Array.from(t.x), Array.from(t.y)]"
    )
    pieces = [[]]
    for place, height in zip(x, y, strict=True):
        if height is None:
            assert place is None
            pieces.append([])
        else:
            pieces[-1].append(place)
    rounds = list(range(10, 301, 10))
    expected = [rounds[:10], rounds[15:20], rounds[21:]]
    assert pieces == [piece + piece[::-1] for piece in expected]
    outlines = page.script(
        "return [...document.querySelectorAll('#distance-chart .js-fill')].map(path => path.getAttribute('d'))"
    )
    assert [outline.count("M") for outline in outlines] == [3], "three areas, and none between them"
    assert driver.get_log("browser") == []


def test_captions_and_files_have_the_seeds_and_rounds_of_the_metric(driver, tmp_path):
    source = Gaps([("rps", "ucb", "ucb"), ("rps", "ucb", "exp3")], ["regret", "tv"])
    path = write_page(source, tmp_path / "page.html", title="Uneven", about={"metrics": ["regret", "tv"]})
    page = Page(driver, path)
    page.keep_downloads()
    for figure, seeds, last in (("growth", 3, 250), ("distance", 5, 300)):
        assert f"over {seeds} seeds" in page.find(f"#{figure}-caption").text
        assert page.find(f"#{figure}-head").text.endswith(f"at round {last}")
        page.click(f"#{figure}-csv")
        rows = list(csv.DictReader(io.StringIO(page.download()[1], newline="")))
        assert {row["seeds"] for row in rows} == {str(seeds)}
        assert rows[-1]["round"] == str(last)
    page.click("#table-csv")
    [row] = csv.DictReader(io.StringIO(page.download()[1], newline=""))
    assert (row["seeds"], row["round"]) == ("3", "250")
    assert page.find("#matrix td").get_attribute("title").endswith("3 seeds")


def test_a_game_without_a_frontier_says_so(driver, tmp_path):
    source = MadeUp([*(match for match in MATCHES if match[0] == "diagonal:n=2"), ("rps", "ucb", "ucb")])
    path = write_page(source, tmp_path / "page.html", title="Partly", about={"metrics": NAMES})
    page = Page(driver, path)
    assert page.find("#frontier-caption").text.startswith("No frontier was run on Rock-paper-scissors.")
    assert not page.find("#frontier-controls").is_displayed()
    assert not page.find("#frontier-chart").is_displayed()
    page.choose("#family", "Diagonal")
    assert page.find("#frontier-controls").is_displayed()
    assert len(page.script("return document.getElementById('frontier-chart').data[0].x")) == len(RATED)
    assert driver.get_log("browser") == []


def test_every_sweep_has_a_line_of_its_own_in_the_frontier(driver, tmp_path):
    specs = [*RATED[:3], *(f"mine:rate={rate}" for rate in (10, 9, 0.5, 1))]
    source = MadeUp([("rps", spec, other) for spec in specs for other in (spec, "best-response")])
    page = Page(driver, write_page(source, tmp_path / "page.html", title="Two", about={"metrics": NAMES}))
    assert page.find("#frontier-title").text == "Frontier over c and rate"
    traces = page.script(
        "return document.getElementById('frontier-chart').data.map(t => [t.line.color, t.text, Array.from(t.y)])"
    )
    texts = [
        [f"COEBL, c = {c}" for c in ("0", "0.5", "2")],
        [f"mine, rate = {rate}" for rate in ("0.5", "1", "9", "10")],
    ]
    assert [text for _, text, _ in traces] == texts
    assert len({colour for colour, _, _ in traces}) == 2
    ends = [source.runs("rps", f"mine:rate={rate}", "best-response", "regret") for rate in (0.5, 1, 9, 10)]
    assert traces[1][2] == pytest.approx([runs.values[-1].mean() for runs in ends], rel=1e-4)
    page.click("#frontier-log")
    page.keep_downloads()
    page.click("#frontier-csv")
    name, text = page.download()
    assert name == "Two-frontier-over-c-and-rate-Rock-paper-scissors.csv"
    assert len(list(csv.DictReader(io.StringIO(text, newline="")))) == 2 * len(specs)
    assert driver.get_log("browser") == []


def test_the_other_sections_work_without_the_figures(driver, small, tmp_path):
    text = small.read_text(encoding="utf-8")
    start = text.index('<section id="figures"')
    end = text.index("</section>", start) + len("</section>")
    path = tmp_path / "page.html"
    path.write_text(text[:start] + text[end:], encoding="utf-8")
    page = Page(driver, path)
    assert len(page.driver.find_elements("css selector", "#matrix tbody tr")) > 1
    page.click("#every-game")
    assert "on every game" in page.find("#table-lead").text
    page.choose("#frontier-metric", "TV distance")
    assert "TV distance" in page.script("return document.getElementById('frontier-chart').layout.xaxis.title.text")
    page.click("#theme")
    page.script("localStorage.clear()")
    assert driver.get_log("browser") == []
