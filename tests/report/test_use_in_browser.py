"""Use of the page: themes, keyboard, narrow windows, print, contrast, hostile names, and a large study."""

import re

import pytest

from coebl.report.page import Preset
from report.browser import (
    MadeUp,
    Page,
    make_page,
    mouse,
    name_of,
    plot_area,
)
from report.verdicts import make_check, make_verdict

HOSTILE = "</script><img src=x onerror=alert(1)><b>%{x}</b> \"'&amp; \u2028$x$"


def test_the_theme(page, driver, small):
    look = (
        "const axis = document.querySelector('#growth-chart .role-axis-label text');"
        "const line = document.querySelector('#growth-chart .mark-line path');"
        "return [getComputedStyle(document.body).backgroundColor, getComputedStyle(axis).fill,"
        "getComputedStyle(line).stroke, document.getElementById('theme').getAttribute('aria-checked')]"
    )
    page.traces()
    light = page.script(look)
    assert light[3] == "false"
    page.click("#theme")
    dark = page.script(look)
    assert dark[3] == "true"
    assert all(first != second for first, second in zip(light, dark, strict=True)), "charts and lines too"
    driver.refresh()
    page.traces()
    assert page.script(look) == dark, "it is remembered"
    page.click("#theme")
    assert page.script(look) == light
    page.script("localStorage.clear()")
    followed = Page(driver, small, dark=True)
    followed.traces()
    assert followed.script(look) == dark, "it follows the system"


def press(page, *keys):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(page.driver).send_keys(*keys).perform()


def tab_to(page, selector):
    """Press the Tab key until an element has the focus, visibly."""
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

    press(page, Keys.TAB, Keys.ENTER)
    assert page.script("return document.activeElement.id") == "main", "the skip link"
    page.script("document.querySelector('.skip').focus()")
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
    assert page.text("#view-title").startswith("Diagonal")
    tab_to(page, "#size")
    press(page, Keys.DOWN)
    assert page.text("#view-title").startswith("Diagonal, n = 3")
    tab_to(page, "#presets button[aria-pressed='false']")
    press(page, Keys.ENTER)
    assert set(page.traces()) == {name_of("coebl:c=2"), "UCB"}
    tab_to(page, "#growth-log")
    press(page, Keys.SPACE)
    assert page.axis("growth", "y")[0] == "log"
    tab_to(page, f"#lines input[data-line='{page.place('ucb')}']")
    press(page, Keys.SPACE)
    assert set(page.traces()) == {name_of("coebl:c=2")}
    page.script("localStorage.clear()")


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_is_wider_than_the_window(driver, small, width):
    opened = Page(driver, small, width, 800)
    opened.click("#open-claims")
    opened.click("#every-game")
    opened.click("#every-learner")
    opened.rows("growth", "curves")
    assert opened.script("return [document.documentElement.scrollWidth, document.body.scrollWidth]") <= [width, width]
    assert opened.script("scrollTo(1000, 0); return scrollX") == 0


def test_print(page):
    page.click("#theme")
    page.traces()
    page.emulate(media="print")
    for selector in ("nav", "#family", "#growth-log", "#growth-csv", "#theme", "#lines input", "#open-claims"):
        assert not page.find(selector).is_displayed(), selector
    assert page.script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    text = "return getComputedStyle(document.querySelector('#growth-chart .role-axis-title text')).fill"
    assert page.script(text) == "rgb(68, 68, 68)", "the charts are light too"
    width = "return document.querySelector('#growth-chart svg').getBoundingClientRect().width"
    page.resize(640, 900)
    assert page.script(width) <= 640
    page.emulate()
    assert page.script("return document.documentElement.dataset.theme") == "dark", "the screen is unchanged"
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
const contrast = (...colours) => {
  const [high, low] = colours.map(light).sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
};
const button = document.getElementById("copy-link");
const found = [[contrast(parts(getComputedStyle(button).borderTopColor), behind(button.parentElement)), "edge"]];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement;
  const text = walker.currentNode.data.trim();
  if (!text || node.closest("script, svg, option, :disabled") || !node.checkVisibility()) continue;
  found.push([contrast(parts(getComputedStyle(node).color), behind(node)), text.slice(0, 40)]);
}
return found;
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_and_controls_have_enough_contrast(driver, small, dark):
    opened = Page(driver, small, dark=dark)
    opened.click("#open-claims")
    opened.click("#every-learner")
    contrasts = opened.script(CONTRASTS)
    assert len(contrasts) > 100
    assert [pair for pair in contrasts if pair[0] < (3 if pair[1] == "edge" else 4.5)] == []


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
    own = [name for name in ids if not re.match("(clip|legend|topdefs|defs)", name)]
    assert len(own) == len(set(own))


def test_hostile_names_stay_names(driver, tmp_path):
    learners = [HOSTILE, "ucb"]
    matches = [(HOSTILE, row, column) for row in learners for column in learners]
    source = MadeUp(matches, [HOSTILE, "tv"], name=HOSTILE, text=HOSTILE, notices=[HOSTILE])
    path = make_page(
        source,
        tmp_path / "hostile.html",
        title=HOSTILE,
        question=HOSTILE,
        verdicts=[make_verdict(HOSTILE, HOSTILE, "holds", checks=[make_check(HOSTILE)], text=HOSTILE, note=HOSTILE)],
        presets=[Preset(HOSTILE, {"*": learners}, note=HOSTILE)],
    )
    page = Page(driver, path)
    page.keep_downloads()
    page.click("#distance-csv")
    assert re.fullmatch(r"[A-Za-z0-9-]+\.csv", page.download()[0])
    assert {row["game"] for row in page.saved_rows()} == {HOSTILE}
    page.choose("#opponent", "against UCB")
    page.click(".claim-button")
    assert page.find(".checks .subject").get_attribute("textContent") == HOSTILE
    x, y, _, _ = plot_area(page, "distance")
    action = mouse(page)
    action.pointer_action.move_to_location(x - 20, y).move_to_location(x, y)
    action.perform()
    page.wait("return document.getElementById('distance-readout').textContent.startsWith('Round')")
    assert HOSTILE in page.find("#distance-readout").get_attribute("textContent")
    assert page.all("img, .chart b, .chart a, #lines b, #matrix b, .subject b") == []
    assert len(page.all("script:not([type])")) == 3
    assert page.find("h1").get_attribute("textContent") == HOSTILE
    assert HOSTILE in page.find("#lines").get_attribute("textContent")


def test_a_large_study(driver, full):
    size = full.stat().st_size
    assert size < 8_000_000
    page = Page(driver, full)
    milliseconds = int(page.script("return document.documentElement.dataset.drawn"))
    print(f"{size / 1e6:.1f} MB, drawn after {milliseconds} ms")
    assert milliseconds < 5000  # less than a second on an idle machine
    assert len(page.traces()) == 4
    page.preset(1)
    assert len(page.traces()) == 9
