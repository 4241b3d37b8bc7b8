"""The replay of a run: its numbers, its size, and its controls in a browser."""

import re
import time

import pytest

from coebl import Game, simulate
from coebl.report import embed
from report.browser import Page

HOSTILE = "</script><script>window.hacked=1</script>"
GAME = Game([[0, -2, 1], [1, 0, -1], [-1, 3, 0]], name=HOSTILE, row_labels=[HOSTILE, "b", "c"])


@pytest.fixture(scope="module")
def result():
    return simulate(GAME, "exp3", "hedge", rounds=400, seeds=[2, 5], keep=["policies"])


@pytest.fixture(scope="module")
def path(result, tmp_path_factory):
    return result.replay(seed=5).save(tmp_path_factory.mktemp("replay") / "replay.html")


def test_the_data_are_the_policies_in_thousandths(result):
    data = result.replay(seed=5).data()
    played = result.kept["policies"][1][:, 1]
    for frame, round in enumerate(data["rounds"]):
        policy, average = played[round - 1], played[:round].mean(axis=0)
        assert data["charts"][1]["x"][0][frame] == pytest.approx(1000 * (policy[1] + policy[2] / 2), abs=0.501)
        assert data["charts"][1]["y"][1][frame] == pytest.approx(1000 * average[2] * 3**0.5 / 2, abs=0.501)
    assert data["exploitability"][0][-1] == pytest.approx(result.metrics["exploitability"][-1, 1], rel=0.01)


@pytest.mark.parametrize(("game", "least"), [("rps", 250), ("random-gaussian:m=20,n=16,seed=1", 50)])
def test_a_replay_of_a_long_run_has_about_20_kilobytes(game, least):
    replay = simulate(game, "exp3", "uniform", rounds=3000, seeds=1, metrics=["regret"], keep=["policies"]).replay()
    assert len(embed(replay.data())) < 25_000
    assert len(replay.paths.rounds) > least


def test_names_are_escaped_on_the_page_and_in_notebooks(result, path):
    for text in (path.read_text("utf-8"), result.replay()._repr_html_()):
        assert HOSTILE not in text
    assert result.replay()._repr_html_().count("<") == 2  # the frame alone; the page in it is escaped
    assert re.search(r"Content-Security-Policy\" content=\"default-src 'none'", path.read_text("utf-8"))


def place(page, mark):
    """The place of a mark of the first chart, in the coordinates of the triangle."""
    return page.script(
        f"const c = document.querySelector('#charts .chart'), m = c.querySelector('.{mark}_marks path');"
        "const [x, y] = m.getAttribute('transform').match(/-?[\\d.]+/g).map(Number);"
        "return [c.view.scale('x').invert(x), c.view.scale('y').invert(y)]"
    )


def move_to(page, frame):
    page.script(
        "const s = document.getElementById('now'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))", frame
    )
    page.wait("return document.querySelector('#charts .chart').view.signal('now') === arguments[0]", frame)
    time.sleep(0.3)


def test_the_slider_moves_the_marks_to_the_policy_and_the_average_of_the_round(driver, result, path):
    page = Page(driver, path)
    data = result.replay(seed=5).data()
    for frame in (len(data["rounds"]) // 2, 3):
        move_to(page, frame)
        chart = data["charts"][0]
        for kind, mark in enumerate(("policy", "average")):
            expected = [chart["x"][kind][frame] / 1000, chart["y"][kind][frame] / 1000]
            assert place(page, mark) == pytest.approx(expected, abs=0.01)
        assert place(page, "star") == pytest.approx([chart["x"][2] / 1000, chart["y"][2] / 1000], abs=0.01)
        assert page.text("#round") == f"round {data['rounds'][frame]} of 400"
        assert page.find("#now").get_attribute("aria-valuetext") == f"round {data['rounds'][frame]} of 400"
    assert page.script("return window.hacked") is None


def test_play_starts_from_the_beginning_and_pause_stops(driver, path):
    page = Page(driver, path)  # with reduced motion
    last = int(page.find("#now").get_attribute("max"))
    assert page.text("#play") == "Play"  # paused, at the last round
    assert int(page.find("#now").get_attribute("value")) == last
    page.click("#play")
    assert page.text("#play") == "Pause"
    page.wait("const now = Number(document.getElementById('now').value); return 0 < now && now < arguments[0]", last)
    page.click("#play")
    stopped = page.find("#now").get_property("value")
    time.sleep(1.5)  # longer than a jump
    assert page.find("#now").get_property("value") == stopped
    assert page.text("#play") == "Play"


def test_it_plays_by_itself_unless_reduced_motion_is_set(driver, path):
    page = Page(driver, path)
    page.emulate(motion="no-preference")
    driver.refresh()
    page.settle()
    assert page.text("#play") == "Pause"
    page.wait("const now = Number(document.getElementById('now').value); return 20 < now && now < 200")


@pytest.mark.parametrize("game", ["matching-pennies", "diagonal:n=3"])
def test_squares_and_areas_fit_the_window(driver, tmp_path, game):
    result = simulate(game, "exp3", "uniform", rounds=30, seeds=1, metrics=["regret"], keep=["policies"])
    path = result.replay().save(tmp_path / "replay.html")
    for width in (1280, 390):
        page = Page(driver, path, width=width)
        assert page.find("#marks").is_displayed() == (game == "matching-pennies"), "areas have no such marks"
        move_to(page, 5)
        assert page.script("return document.documentElement.scrollWidth") <= width
        assert page.data["rounds"][-1] == 30
