"""The other sections of the page in a browser: claims, tables, sweeps, downloads."""

import json
import re

import pytest

from coebl.evidence.statistics import holm, mean_interval, one_sided_p
from coebl.study import Cell, Results, Store
from report.browser import (
    CHECKS,
    MATCHES,
    RATED,
    VERDICTS,
    MadeUp,
    gaps,
    name_of,
)
from study_runs import runs_of


def test_the_claims_open_and_list_their_checks(page):
    detail = page.find("#claim-2")
    assert not detail.is_displayed()
    page.click(".claim-button[aria-controls='claim-2']")
    assert detail.is_displayed()
    assert "why" in detail.text
    assert page.find(".claim-button[aria-controls='claim-2']").get_attribute("aria-expanded") == "true"
    cells = page.all(".claim")[0].find_elements("css selector", "td")
    assert [cell.text.replace("\n", " ") for cell in cells] == ["holds", "undecided"]
    assert len(page.all(".claim td svg.icon path")) == 4, "never colour alone"
    assert page.all("#claim-1 .checks-scroll") == [], "only when the claim is opened"
    for _ in range(3):
        page.click(".claim-button[aria-controls='claim-1']")
    [title] = [heading.text for heading in page.all("#claim-1 .checks h5")]
    assert title == "40 checks: 39 holds, 1 fails"
    items = page.all("#claim-1 .checks li")
    assert items[0].text == "match 0\nholds · the mean 2.00 [1.50, 2.50], required: above 1"
    assert items[39].get_attribute("textContent") == "match 39fails · the mean 2, required: above 1"
    assert len(items) == 40
    box = "const box = document.querySelector('.checks-scroll'); return [box.clientHeight, box.scrollHeight]"
    shown, whole = page.script(box)
    assert shown < 300 < whole, "it scrolls"
    page.emulate(media="print")
    assert not page.find("#claim-1 .checks-scroll").is_displayed()
    page.emulate()


def expected_words(source, game):
    """The winners against COEBL with c = 8 on a game, with Holm's correction over all head-to-heads of the page."""
    duels = [match for match in MATCHES if match[1] != match[2]]
    ends = {match: source.runs(*match, "pseudo_regret").values[-1] for match in duels}
    raw = {match: 2 * min(one_sided_p(end, 0), one_sided_p(end, 0, "less")) for match, end in ends.items()}
    adjusted = dict(zip(raw, holm(list(raw.values())), strict=True))
    words = {}
    for match, end in ends.items():
        _, row, column = match
        if match[0] == game and column == "coebl":
            winner = name_of("coebl" if end.mean() > 0 else row).replace("\u00a0", " ")
            sure, before = adjusted[match] <= 0.05, raw[match] <= 0.05
            words[row] = f"{winner} wins" if sure else f"{winner}, before correction only" if before else "undecided"
    return words


def test_the_head_to_head_table(page, source):
    page.choose("#family", "Diagonal")

    def cell(row, column):
        [head] = [h for h in page.all("#matrix tbody th") if h.text == row]
        columns = [h.text.replace("\u00a0", " ") for h in page.all("#matrix thead th")]
        return head.find_element("xpath", "..").find_elements("css selector", "td")[columns.index(column) - 1]

    words = expected_words(source, "diagonal:n=2")
    for row in ("ucb", "exp3"):
        interval = mean_interval(source.runs("diagonal:n=2", row, "coebl", "pseudo_regret").values[-1])
        number, found_words = cell(name_of(row), "v COEBL, c = 8").text.split("\n")
        assert found_words == words[row]
        mean, half = map(float, number.replace("−", "-").split(" ± "))
        assert mean == pytest.approx(interval.mean, abs=0.06 * interval.sd)
        assert half == pytest.approx(interval.high - interval.mean, rel=0.06)
    assert "Above 0, the column learner is ahead" in page.text("#table-lead")
    assert cell("Exp3", "v best response †").text == "·"
    assert page.text("#matrix-marks").startswith("† best response: oracle, sees the true payoffs or")
    page.click("#every-game")
    heads = [h.text.replace("\u00a0", " ") for h in page.all("#matrix thead th")]
    assert heads == ["Row v column", "Rock-paper-scissors", "Diagonal, n = 2", "Diagonal, n = 3"]
    before = len(page.all("#matrix tbody tr"))
    page.click("#every-learner")
    assert len(page.all("#matrix tbody tr")) == 7 > before


def test_the_sweep_has_its_parameter_on_the_x_axis(page):
    page.choose("#family", "Diagonal")
    rows = page.rows("sweep", "points")
    named = {row["value"]: row["named"] for row in rows if row["named"]}
    assert named == {2: "c = 2", 8: "plain, default"}, "the presets, and the default"
    panels = "Pseudo-regret against a best response", "Exploitability in self-play"
    lost, own = ({row["value"]: row["mean"] for row in rows if row["panel"] == panel} for panel in panels)
    assert len(rows) == len(lost) + len(own)
    points = {point["learner"]: point for point in page.data["frontiers"][1]["points"]}  # see test_page_frontier.py
    for value, spec in zip((0, 0.5, 2, 8), RATED, strict=True):
        point = points[page.place(spec)]
        assert (lost[value], own[value]) == (point["against"]["mean"], point["self_play"]["exploitability"]["mean"])
    assert "mean of the recorded rounds from 210 to 300" in page.text("#sweep-caption")
    least = min(lost, key=lost.get)
    assert f"Smallest loss to a best response: c = {least:g}, " in page.text("#sweep-caption")
    assert f"Smallest in self-play: c = {min(own, key=own.get):g}, " in page.text("#sweep-caption")
    page.choose("#frontier-metric", "TV distance")
    page.choose("#opponent", "against COEBL, c = 8")
    assert {row["panel"] for row in page.rows("sweep", "points")} >= {"TV distance in self-play"}, "it stays"


def test_downloads(page, source):
    page.keep_downloads()
    page.choose("#family", "Diagonal")
    page.choose("#opponent", "against COEBL, c = 8")
    page.click("#growth-csv")
    assert re.fullmatch(r"demo-[A-Za-z0-9-]+-Pseudo-regret\.csv", page.download()[0])
    rows = page.saved_rows()
    assert list(rows[0]) == ["game", "row", "column", "metric", "round", "mean", "low", "high", "seeds"]
    assert len(rows) == 2 * 30
    for row in rows:
        runs = source.runs(row["game"], row["row"], row["column"], row["metric"])
        interval = mean_interval(runs.values[runs.rounds.tolist().index(int(row["round"]))])
        numbers = [float(row[key]) for key in ("mean", "low", "high")]
        assert numbers == pytest.approx([interval.mean, interval.low, interval.high], rel=1e-3, abs=1e-3)
    page.click("#table-csv")
    assert {(row["row"], row["column"]) for row in page.saved_rows()} == {
        ("ucb", "coebl"),
        ("exp3", "coebl"),
        ("coebl", "best-response"),
    }
    page.click("#sweep-csv")
    rows = page.saved_rows()
    assert len(rows) == 2 * len(RATED)
    assert [rows[0][key] for key in ("metric", "column", "round")] == ["exploitability", rows[0]["row"], "210 to 300"]
    assert [rows[1][key] for key in ("metric", "column", "round")] == ["pseudo_regret", "best-response", "300"]
    page.click("#save-verdicts")
    name, text = page.download()
    assert name == "demo-verdicts.json"
    saved = json.loads(text)
    keys = "id", "variant", "verdict", "measured", "low", "high", "note"
    plain = [verdict.as_dict() for verdict in VERDICTS]
    assert [[verdict[key] for key in keys] for verdict in saved] == [
        [verdict[key] for key in keys] for verdict in plain
    ]
    assert [(check["subject"], check["verdict"]) for check in saved[0]["checks"]] == [
        (c.subject, c.verdict) for c in CHECKS
    ]


def test_the_noises_of_a_study(opened, tmp_path):
    store = Store.create(tmp_path / "study", 'name = "noisy"\n')
    for game in ("rps", "diagonal:n=2", "diagonal:n=3", "random-gaussian:m=2,n=2,seed=1"):
        for noise in ("gaussian:sigma=0.5", "bernoulli"):
            cell = Cell(game, ("exp3", "uniform"), 20, (0, 1, 2), noise, metrics=("regret",))
            store.save(cell, cell.run())
    results = Results(tmp_path / "study")
    page = opened(results, title="Noises")

    def check(title, game, noise):
        assert page.text("#view-title") == f"{title}, against uniform"
        values = runs_of(results, game, "exp3", "uniform", "regret", noise=noise).values
        [(_, means)] = page.traces().values()
        assert means == pytest.approx(values.mean(axis=1).tolist(), rel=1e-4)

    page.rows("small-growth", "curves")
    assert "…" not in "".join(page.strings("small-growth")), "titles differ only in the noise, at their ends"
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
    row = page.saved_rows()[0]
    assert (row["game"], row["noise"]) == ("diagonal:n=3", "bernoulli")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_table_of_many_learners_fits_the_window_and_its_cells_can_be_read(opened, width):
    specs = ["coebl", "coebl:c=2", "ucb", "exp3", "exp3-ix", "kin", "strain", "thompson", "mmd", "hedge", "uniform"]
    source = MadeUp([("rps", row, column) for row in specs for column in specs], ["pseudo_regret"])
    page = opened(source, width, title="Many")
    assert (
        page.script("const box = document.querySelector('#table .scroll'); return box.scrollWidth - box.clientWidth")
        <= 1
    )
    cell = page.find("#matrix tbody tr td:nth-of-type(2)")
    assert cell.size["width"] >= 12
    page.script("arguments[0].click()", cell)
    assert " ± " in page.text("#matrix-readout")
    assert page.text("#matrix-readout") == cell.get_attribute("title").replace("\u00a0", " ")


def test_captions_and_files_have_the_seeds_and_rounds_of_the_metric(opened):
    page = opened(MadeUp([("rps", "ucb", "ucb"), ("rps", "ucb", "exp3")], ["regret", "tv"], change=gaps))
    page.keep_downloads()
    for figure, seeds, last in (("growth", 3, 250), ("distance", 5, 300)):
        assert f"over {seeds} seeds" in page.text(f"#{figure}-caption")
        assert page.text(f"#{figure}-head").endswith(f"at round {last}")
        page.click(f"#{figure}-csv")
        rows = page.saved_rows()
        assert {row["seeds"] for row in rows} == {str(seeds)}
        assert rows[-1]["round"] == str(last)
    page.click("#table-csv")
    [row] = page.saved_rows()
    assert (row["seeds"], row["round"]) == ("3", "250")
    assert page.find("#matrix td").get_attribute("title").endswith("3 seeds")


def test_a_game_without_a_frontier_says_so(opened):
    page = opened(MadeUp([*(match for match in MATCHES if match[0] == "diagonal:n=2"), ("rps", "ucb", "ucb")]))
    page.choose("#family", "Rock-paper-scissors")
    assert page.text("#sweep-caption").startswith("Too few settings were run on Rock-paper-scissors.")
    assert not page.find("#sweep-controls").is_displayed()
    assert not page.find("#sweep-chart").is_displayed()
    page.choose("#family", "Diagonal")
    assert page.find("#sweep-controls").is_displayed()
    assert len(page.rows("sweep", "points")) == 2 * len(RATED)


def test_every_sweep_has_a_separate_line_in_the_frontier(opened):
    mine = [f"mine.py:Mine:rate={rate}" for rate in (0.5, 1, 9, 10)]
    specs = [*RATED[:3], *mine[::-1]]
    source = MadeUp([("rps", spec, other) for spec in specs for other in (spec, "best-response")])
    page = opened(source, title="Two")
    assert page.text("#frontier-title") == "Which c and rate?"
    loses = "how much it loses to a best response, and how it does against itself. Lower is better in both."
    assert page.text("#frontier .lead") == f"COEBL for each c, and mine.py:Mine for each rate: {loses}"
    rows = [row for row in page.rows("sweep", "points") if row["panel"].endswith("a best response")]
    assert [row["value"] for row in rows] == [0, 0.5, 2, 0.5, 1, 9, 10]
    assert [row["sweep"] for row in rows] == [0] * 3 + [1] * 4
    ends = [source.runs("rps", spec, "best-response", "pseudo_regret") for spec in mine]
    assert [row["mean"] for row in rows[3:]] == pytest.approx([runs.values[-1].mean() for runs in ends], rel=1e-4)
    page.keep_downloads()
    page.click("#sweep-csv")
    assert len(page.saved_rows()) == 2 * len(specs)
    assert page.download()[0] == "Two-by-c-and-rate-Rock-paper-scissors.csv"
