"""The figures of the page in a browser: drawn without errors, and correct after every choice."""

import math
import re

import numpy as np
import pytest

from coebl.evidence.statistics import mean_interval
from report.browser import MadeUp, check_lines, gaps, mouse, name_of, plot_area, selves


def test_it_opens_with_both_figures_drawn_and_described(page, source):
    check_lines(page, source, "growth", "rps", selves("coebl:c=2", "ucb", "exp3"), "absolute_pseudo_regret")
    check_lines(page, source, "distance", "rps", selves("coebl:c=2", "ucb", "exp3"), "tv")
    # Three lines and three bands; the first figure has the reference line too.
    for figure, lines in (("growth", 4), ("distance", 3)):
        assert len(page.all(f"#{figure}-chart .mark-line path[d]")) == lines
        assert len(page.all(f"#{figure}-chart .mark-area path[d]")) >= 3
    assert {"Absolute pseudo-regret", "round"} <= set(page.strings("growth")), "both axes have titles"
    assert "95 % interval of the mean over 5 seeds" in page.text("#growth-caption")
    for figure in ("growth", "distance"):
        hidden = page.script(
            f"return [...document.querySelectorAll('#{figure}-chart .role-axis-label text')]"
            ".filter(one => getComputedStyle(one).opacity === '0').length"
        )
        assert hidden == 0, "every tick has its label"
    ends = {
        name: source.runs("rps", spec, spec, "absolute_pseudo_regret").values[-1].mean()
        for spec, name in (("coebl:c=2", "COEBL, c = 2"), ("ucb", "UCB"), ("exp3", "Exp3"))
    }
    label = page.find("#growth-chart").get_attribute("aria-label").replace("\u00a0", " ")
    assert f"{min(ends, key=ends.get)} lowest (" in label
    assert f"{max(ends, key=ends.get)} highest (" in label
    assert "at round 300" in label
    assert page.find("#growth-chart").get_attribute("tabindex") == "0"


def test_a_distant_chart_is_drawn_when_it_comes_near(page):
    """Charts are also drawn when the browser is idle, which is disabled here."""
    never = {"source": "window.requestIdleCallback = () => 0"}
    added = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", never)
    try:
        page.resize(1280, 300)
        page.driver.refresh()
        page.settle()
        charts = "[...document.querySelectorAll('[id$=-chart]')]"
        far = f"const far = {charts}.filter((one) => one.checkVisibility()).at(-1);"
        assert page.script(far + "return far.view === undefined && far.dataset.stale === 'yes'")
        page.script(far + "far.scrollIntoView()")
        page.wait(far + "return far.view && !far.dataset.stale")
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def test_bands_and_the_list_of_lines_have_the_intervals(page, source):
    rows = [row for row in page.rows("growth", "curves") if row["learner"] == "UCB"]
    values = source.runs("rps", "ucb", "ucb", "absolute_pseudo_regret").values
    intervals = [mean_interval(samples) for samples in values]
    tolerance = [0.01 * (interval.high - interval.low) for interval in intervals]
    for row, interval, within in zip(rows, intervals, tolerance, strict=True):
        assert row["high"] == pytest.approx(interval.high, abs=within)
        assert row["low"] == pytest.approx(max(0, interval.low), abs=within), "no run is below 0"
    assert any(interval.low < 0 for interval in intervals)
    assert "No run is below 0, so bands are cut off there." in page.text("#growth-caption")
    row = page.box("ucb").find_element("xpath", "ancestor::tr")
    for place, metric in enumerate(("absolute_pseudo_regret", "tv")):
        interval = mean_interval(source.runs("rps", "ucb", "ucb", metric).values[-1])
        mean, half = map(float, row.find_elements("css selector", "td")[place].text.replace("−", "-").split(" ± "))
        assert mean == pytest.approx(interval.mean, abs=0.06 * interval.sd)
        assert half == pytest.approx(interval.high - interval.mean, rel=0.06)


def test_the_reference_line_is_for_self_play_regret(page):
    [(name, (rounds, values))] = page.traces(kind="reference").items()
    assert name == "0.1 √(K² t), K\u00a0=\u00a03"
    assert values == pytest.approx([0.1 * math.sqrt(9 * t) for t in rounds], rel=1e-4)
    assert (rounds[0], rounds[-1]) == (10, 300)
    assert "0.1 √(K² t), K = 3" in page.text("#lines")
    assert page.traces("distance", "reference") == {}
    page.choose("#family", "Diagonal")
    [(name, _)] = page.traces(kind="reference").items()
    assert name == "0.1 √(K² t), K\u00a0=\u00a04"
    page.click("#lines input[data-line='reference']")
    assert page.traces(kind="reference") == {}
    page.click("#lines input[data-line='reference']")
    page.choose("#opponent", "against COEBL, c = 8")
    assert page.traces(kind="reference") == {}


def test_choosing_game_size_opponent_and_metric(page, source):
    assert not page.find("#noise").is_displayed(), "there is one noise"
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
    assert page.text("#view-title") == "Diagonal, n = 3, against COEBL, c = 8"
    assert "Regret" in page.text("#growth-caption")


def test_a_metric_that_a_game_lacks_is_not_offered(page, source):
    page.choose("#distance-metric", "KL divergence")
    check_lines(page, source, "distance", "rps", selves("coebl:c=2", "ucb", "exp3"), "kl")
    page.choose("#family", "Diagonal")
    assert "KL divergence" not in page.text("#distance-metric")
    check_lines(page, source, "distance", "diagonal:n=2", selves("coebl", "ucb", "exp3"), "tv")
    page.choose("#family", "Rock-paper-scissors")
    check_lines(page, source, "distance", "rps", selves("coebl:c=2", "ucb", "exp3"), "kl")


def test_check_boxes_turn_lines_on_and_off(page, source):
    assert set(page.traces()) == {name_of("coebl:c=2"), "UCB", "Exp3"}
    page.box("ucb").click()
    assert set(page.traces()) == set(page.traces("distance")) == {name_of("coebl:c=2"), "Exp3"}
    assert page.script("return document.activeElement.dataset.line") == str(page.place("ucb")), "the focus stays"
    page.choose("#family", "Diagonal")
    assert set(page.traces()) == {name_of("coebl"), "Exp3"}, "the preset's c, without the line that was turned off"
    page.box("ucb").click()
    check_lines(page, source, "growth", "diagonal:n=2", selves("coebl", "ucb", "exp3"), "absolute_pseudo_regret")
    assert not page.find("#preset-note").is_displayed()
    page.click("#more-lines")
    page.box("coebl:c=2").click()
    assert set(page.traces()) == {name_of("coebl:c=2"), name_of("coebl"), "UCB", "Exp3"}
    page.click("#no-lines")
    assert page.traces() == {}
    assert page.text("#growth-caption") == "No line is shown."
    page.click("#all-lines")
    assert len(page.traces()) == 6
    page.click("#reset-lines")
    assert len(page.traces()) == 3


def test_presets_and_opponents(page):
    buttons = page.all("#presets button")
    assert [button.get_attribute("aria-pressed") for button in buttons] == ["true", "false"]
    page.choose("#family", "Diagonal")
    page.choose("#opponent", "against COEBL, c = 2")
    assert set(page.traces()) == {"UCB"}
    assert "The opponent, COEBL, c = 2, is not in “plain”." in page.text("#preset-note")
    page.choose("#size", "n = 3")
    assert page.text("#view-title") == "Diagonal, n = 3, against COEBL, c = 2", "an opponent that is chosen stays"
    page.choose("#opponent", "against COEBL, c = 8")
    page.choose("#family", "Rock-paper-scissors")
    assert page.text("#view-title").endswith("against COEBL, c = 2"), "the learner in the same role"
    page.choose("#family", "Diagonal")
    assert page.text("#view-title").endswith("against COEBL, c = 8")
    page.preset(1)
    assert [button.get_attribute("aria-pressed") for button in buttons] == ["false", "true"]
    assert page.text("#view-title").endswith("against COEBL, c = 2"), "the learner in the same role"
    assert set(page.traces()) == {"UCB"}
    assert page.text("#preset-note") == "every COEBL has c = 2"
    page.choose("#opponent", "against best response")
    page.preset(0)
    assert set(page.traces()) == {name_of("coebl")}, "a best response is in no preset, and stays"
    page.box("coebl").click()
    assert [button.get_attribute("aria-pressed") for button in buttons] == ["true", "false"], "the preset stays"
    assert "Hidden: COEBL, c = 8." in page.text("#preset-note")


def test_an_opponent_without_matches_is_named(opened):
    page = opened(MadeUp([("rps", "ucb", "exp3"), ("diagonal:n=2", "ucb", "ucb")], ["regret"]))
    page.choose("#family", "Diagonal")
    assert page.text("#preset-note") == "No learner played against Exp3 on Diagonal, n = 2."
    assert page.text("#view-title").endswith("self-play")


def test_the_log_axis(page):
    page.click("#distance-log")
    assert page.axis("distance", "y")[0] == "log"
    assert page.axis("growth", "y")[0] == "linear"
    page.choose("#family", "Diagonal")
    page.choose("#opponent", "against COEBL, c = 8")
    page.click("#growth-log")
    assert all(value is None or value > 0 for _, values in page.traces().values() for value in values)


def test_zoom_and_reset(page):
    before = page.axis("growth", "x"), page.axis("growth", "y")
    assert before[0] == ["linear", [0, 300]]
    reset = page.find("#growth-reset")
    assert not reset.is_enabled()

    def drag():
        x, y, width, height = plot_area(page, "growth")
        action = mouse(page)
        action.pointer_action.move_to_location(x - width // 4, y - height // 4).pointer_down()
        action.pointer_action.move_to_location(x, y).move_to_location(x + width // 4, y + height // 4).pointer_up()
        action.perform()
        page.wait("return !document.getElementById('growth-reset').disabled")

    drag()
    assert page.axis("growth", "x")[1] == pytest.approx([75, 225], abs=5)
    page.box("ucb").click()
    assert page.axis("growth", "x")[1] == pytest.approx([75, 225], abs=5), "removing a line does not reset the zoom"
    page.box("ucb").click()
    page.click("#growth-reset")
    page.wait("return document.getElementById('growth-reset').disabled")
    assert (page.axis("growth", "x"), page.axis("growth", "y")) == before
    drag()
    x, y, _, _ = plot_area(page, "growth")
    action = mouse(page)
    action.pointer_action.move_to_location(x, y).click().click()
    action.perform()
    page.wait("return document.getElementById('growth-reset').disabled")
    assert (page.axis("growth", "x"), page.axis("growth", "y")) == before


def test_values_are_read_below_the_chart_by_pointer_and_keys(page, source):
    from selenium.webdriver.common.keys import Keys

    def check(text, round_number):
        runs = source.runs("rps", "ucb", "ucb", "absolute_pseudo_regret")
        interval = mean_interval(runs.values[runs.rounds.tolist().index(round_number)])
        [value] = re.findall(r"UCB ([^·]*)", text.replace("−", "-"))
        mean, low, high = (float(number) for number in re.findall(r"-?[\d.]+", value))
        tolerance = 0.03 * (interval.high - interval.low)
        assert (mean, low, high) == pytest.approx((interval.mean, interval.low, interval.high), abs=tolerance)

    x, y, _, _ = plot_area(page, "growth")
    action = mouse(page)
    action.pointer_action.move_to_location(x - 20, y).move_to_location(x, y)
    action.perform()
    page.wait("return document.getElementById('growth-readout').textContent.startsWith('Round')")
    text = page.text("#growth-readout")
    round_number = int(re.match(r"Round (\d+):", text)[1])
    assert 140 <= round_number <= 160
    check(text, round_number)
    page.find("#growth-chart").send_keys(Keys.END)
    check(page.text("#growth-readout"), 300)
    page.find("#growth-chart").send_keys(Keys.ARROW_LEFT)
    assert page.text("#growth-readout").startswith("Round 290:")


def test_rounds_by_logarithm_have_a_log_axis(opened):
    def doubling(runs, *_):
        return runs._replace(rounds=2 ** np.arange(10), values=runs.values[:10])

    page = opened(MadeUp([("rps", "ucb", "ucb")], ["regret"], change=doubling))
    assert page.axis("growth", "x") == ["log", [1, 512]]


def test_a_page_without_presets_shows_the_first_few_lines(opened):
    specs = [f"mine:k={number}" for number in range(12)]
    page = opened(MadeUp([("rps", spec, spec) for spec in specs], ["regret"]))
    assert list(page.traces()) == specs[:8]
    assert not page.find("#distance").is_displayed()
    assert not page.all("#table, #frontier")
    page.click("#all-lines")
    assert len(page.traces()) == 12


def test_a_band_has_the_gaps_of_its_line(opened):
    page = opened(MadeUp([("rps", "ucb", "ucb")], ["regret", "tv"], change=gaps))
    rounds = [row["round"] for row in page.rows("distance", "curves") if row["low"] is not None]
    every = list(range(10, 301, 10))
    assert rounds == [*every[:10], *every[15:20], *every[21:]]
    outlines = page.script(
        "return [...document.querySelectorAll('#distance-chart .mark-area path')].map(path => path.getAttribute('d'))"
    )
    assert [outline.count("M") for outline in outlines if outline] == [3], "three areas, and none between them"


def test_a_single_round_has_no_curves(opened):
    matches = [(game, spec, spec) for game in ("rps", "diagonal:n=2") for spec in ("ucb", "exp3")]
    page = opened(MadeUp(matches, ["regret"], recorded=1))
    for part in ("#multiples", "#growth-chart", "#growth-svg", "#growth-png"):
        assert not page.find(part).is_displayed()
    assert page.text("#growth-caption").startswith("Regret: only round 10 was recorded, so there are no curves.")
    assert len(page.all("#lines tbody tr")) == 2


def test_a_study_without_results_has_a_page(opened):
    page = opened(MadeUp([]))
    assert not page.all("#figures, #table, #frontier")
    page.click("#theme")
    assert page.find("#settings").is_displayed()
