"""The page as a text: right numbers, nothing from a file taken for markup, nothing fetched, whole or not at all."""

import html.parser
import json
import math
import os
import re
import statistics
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

from coebl.core.errors import InputError
from coebl.plots import Reference, learner_style
from coebl.plots.frontier import LAST
from coebl.plots.looks import PALETTE
from coebl.report.page import Frontier, Preset, about_results, write_page
from coebl.statistics import mean_interval
from coebl.study import Cell, Results, Runs, Store
from report.browser import NAMES, MadeUp

MATCHES = [
    ("rps", "ucb", "ucb"),
    ("rps", "ucb", "coebl"),
    ("diagonal:n=10", "ucb", "ucb"),
    ("diagonal:n=2", "ucb", "ucb"),
    ("diagonal:n=2", "exp3", "coebl"),
]
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\"quoted\" and 'quoted' & <b>bold</b>",
    "line\u2028and\u2029paragraph",
    "<!--<script>",
    "{{ 7 * 7 }}{% raw %}",
]


def page_text(folder, source=None, **options) -> str:
    source = source or MadeUp(MATCHES)
    options = {"title": "A title", "about": {"name": "demo", "metrics": NAMES}} | options
    return write_page(source, folder / "page.html", **options).read_text(encoding="utf-8")


def embedded(text: str, name: str):
    [found] = re.findall(rf'<script type="application/json" id="{name}">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


def curves(text: str) -> dict[tuple[str, str, str, str], tuple]:
    """Every curve of a page by game, row, column and metric: rounds, means, half widths, seeds."""
    data = embedded(text, "data")
    found = {}
    for place, game in enumerate(data["games"]):
        for row, column, metrics in embedded(text, f"game-{place}"):
            for metric, (rounds, seeds, means, halves) in metrics.items():
                row_spec, column_spec = data["learners"][row]["spec"], data["learners"][column]["spec"]
                key = (game["name"], row_spec, column_spec, data["metrics"][int(metric)]["name"])
                found[key] = (data["rounds"][rounds], means, halves, seeds)
    return found


class Elements(html.parser.HTMLParser):
    """The elements of a page with their attributes, and the texts outside of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._open = tag

    def handle_endtag(self, tag):
        self._open = ""

    def handle_data(self, data):
        if self._open not in ("script", "style"):
            self.texts.append(data)


def test_the_numbers_are_the_means_and_student_intervals(tmp_path):
    source = MadeUp(MATCHES, seeds=7)
    found = curves(page_text(tmp_path, source))
    assert set(found) == {(*match, metric) for match in MATCHES for metric in NAMES}
    factor = student.ppf(0.975, 6) / math.sqrt(7)
    for key, (rounds, means, halves, seeds) in found.items():
        runs = source.runs(*key)
        assert rounds == runs.rounds.tolist()
        assert seeds == 7
        for place, samples in enumerate(runs.values.tolist()):
            assert means[place] == pytest.approx(statistics.mean(samples), rel=1e-4)
            assert halves[place] == pytest.approx(factor * statistics.stdev(samples), rel=1e-4)


def test_the_last_interval_is_that_of_the_library(tmp_path):
    source = MadeUp(MATCHES)
    _, means, halves, _ = curves(page_text(tmp_path, source))["rps", "ucb", "coebl", "regret"]
    interval = mean_interval(source.runs("rps", "ucb", "coebl", "regret").values[-1])
    assert means[-1] - halves[-1] == pytest.approx(interval.low, rel=1e-4)
    assert means[-1] + halves[-1] == pytest.approx(interval.high, rel=1e-4)


def test_long_curves_are_thinned_and_keep_both_ends(tmp_path):
    source = MadeUp(MATCHES, recorded=300)
    rounds, means, halves, _ = curves(page_text(tmp_path, source))["rps", "ucb", "ucb", "tv"]
    assert len(rounds) == len(means) == len(halves) == 100
    assert (rounds[0], rounds[-1]) == (10, 3000)
    assert max(np.diff(rounds)) <= 40
    runs = source.runs("rps", "ucb", "ucb", "tv")
    at = runs.rounds.tolist().index(rounds[50])
    assert means[50] == pytest.approx(runs.values[at].mean(), rel=1e-4)


class Fixed(MadeUp):
    """One match with given values."""

    def __init__(self, values):
        super().__init__([("rps", "ucb", "ucb")], ["tv"])
        self._values = np.array(values, dtype=float)

    def runs(self, game, row, column, metric):
        if metric != "tv":
            raise InputError("no")
        recorded, seeds = self._values.shape
        return Runs(np.arange(1, recorded + 1), np.arange(seeds), self._values)


@pytest.mark.parametrize(
    ("values", "means", "halves"),
    [
        ([[1.0], [2.0]], [1, 2], [None, None]),
        (
            [[1.0, 3.0], [math.inf, 1.0], [math.nan, 1.0]],
            [2, None, None],
            [pytest.approx(12.706, rel=1e-4), None, None],
        ),
        ([[0.1, 0.1, 0.1], [math.inf] * 3], [0.1, None], [0, None]),
    ],
    ids=["one seed has no interval", "what is not finite is null", "equal samples have width zero"],
)
def test_special_values(tmp_path, values, means, halves):
    _, found_means, found_halves, _ = curves(page_text(tmp_path, Fixed(values)))["rps", "ucb", "ucb", "tv"]
    assert (found_means, found_halves) == (means, halves)


def test_games_and_sizes_are_in_natural_order(tmp_path):
    games = embedded(page_text(tmp_path), "data")["games"]
    assert [game["spec"] for game in games] == ["rps", "diagonal:n=2", "diagonal:n=10"]
    assert games[1]["actions"] == [4, 4]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_texts(tmp_path, text):
    clean = page_text(tmp_path)
    verdict = dict.fromkeys(("id", "variant", "verdict", "text", "note", "metric", "threshold"), text)
    verdict["reported"] = [{"metric": text, "verdict": text}]
    verdict["checks"] = [dict.fromkeys(("subject", "quantity", "wanted", "verdict"), text)]
    matches = [(text, text, text), (text, "ucb", text), ("rps", "ucb", "ucb")]
    about = {"name": text, "text": text, "metrics": [text, "tv"], "notices": [text], "versions": {text: [text]}}
    about["runs"] = [{"seconds": 1.0, "workers": text, "command": text + "!"}]
    hostile = page_text(
        tmp_path,
        MadeUp(matches, [text, "tv"]),
        title=text,
        question=text,
        command=text,
        verdicts=[verdict],
        presets=[Preset(text, {"*": [text]}, id=text, note=text)],
        about=about,
    )
    assert text in embedded(hostile, "data")["name"]
    assert (text, text, text, text) in curves(hostile)
    found = Elements(hostile)
    kinds = {tag for tag, _ in Elements(clean).elements}
    verdict_kinds = {"details", "summary", "h4", "table", "tr", "td", "th", "svg", "path", "b", "thead", "tbody"}
    assert {tag for tag, _ in found.elements} <= kinds | verdict_kinds | {"pre", "code", "h3"}
    assert not [name for _, attributes in found.elements for name in attributes if name.startswith("on")]
    scripts = [attributes for tag, attributes in found.elements if tag == "script"]
    assert len(scripts) == 3 + 1 + len(embedded(hostile, "data")["games"])  # theme, plotly, ours; data, games
    joined = "".join(found.texts)
    assert joined.count(text) >= 10, "it is shown as it is"
    for name in ("data", "game-0", "game-1"):
        start = hostile.index(f'<script type="application/json" id="{name}">')
        block = hostile[hostile.index(">", start) + 1 : hostile.index("</script>", start)]
        assert json.loads(block)
        assert not re.search("[<>&\u2028\u2029]", block)


def test_nothing_is_fetched(tmp_path):
    verdicts = [{"id": "C1", "variant": "text", "verdict": "holds"}]
    text = page_text(tmp_path, verdicts=verdicts, question="Why?", command="coebl run")
    addresses = [
        value
        for tag, attributes in Elements(text).elements
        for name, value in attributes.items()
        if name in ("src", "href", "srcset", "action", "data", "poster", "formaction", "xlink:href", "background")
    ]
    assert "#main" in addresses
    assert all(address == "data:," or address.startswith("#") for address in addresses)
    assets = Path(sys.modules["coebl.report.page"].__file__).parent / "assets"
    own = {name: (assets / name).read_text() for name in ("page.html", "page.css", "tools.js", "page.js")}
    assert all(part in text for part in (own["page.css"], own["tools.js"], own["page.js"]))
    for part in own.values():
        without_namespace = part.replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|@import|url\(|\bfetch\(|XMLHttpRequest|innerHTML|\beval\(", without_namespace)
    [policy] = [attributes["content"] for tag, attributes in Elements(text).elements if "http-equiv" in attributes]
    assert policy.startswith("default-src 'none';")
    assert "http" not in policy
    assert "connect-src" not in policy


def test_the_verdicts_are_all_there(tmp_path):
    verdicts = [
        {"id": "C1", "variant": "text", "verdict": "holds", "measured": 12.3456, "low": 11.9, "high": 12.8, "n": 20},
        {"id": "C1", "variant": "c=2", "verdict": "not testable", "note": "too few rounds"},
        {"id": "C2", "variant": "text", "verdict": "fails", "measured": np.float64(-3), "text": "the sentence"},
        {"id": "C2", "variant": "text", "verdict": "holds", "measured": math.nan, "metric": "regret"},
    ]
    text = page_text(tmp_path, verdicts=verdicts, presets=[Preset("as written", {}, id="text")])
    seen = " ".join(" ".join(Elements(text).texts).split())
    for part in ("12.35 [11.90, 12.80]", "too few rounds", "the sentence", "−3", "as written", "c=2"):
        assert part in seen, part
    assert re.search(r"as written 1 holds 1 fails 0 not significant 0 not testable", seen), "the first one counts"
    data = embedded(text, "data")["verdicts"]
    assert [verdict["verdict"] for verdict in data] == ["holds", "not testable", "fails", "holds"]
    assert data[3]["measured"] is None


def test_a_match_that_cannot_be_read_is_named(tmp_path):
    source = MadeUp([*MATCHES, ("diagonal:n=3", "ucb", "coebl")], only={metric: ["rps"] for metric in NAMES})
    text = page_text(tmp_path, source)
    seen = " ".join(Elements(text).texts)
    assert "not shown: ucb v coebl on diagonal:n=3: metric 'tv' was not recorded" in seen
    assert [game["spec"] for game in embedded(text, "data")["games"]] == ["rps"]


def test_a_study_without_results_has_a_page(tmp_path):
    text = page_text(tmp_path, MadeUp([]))
    assert 'id="figures"' not in text
    assert 'id="settings"' in text


def test_a_folder_tells_what_it_knows(tmp_path):
    store = Store.create(tmp_path / "study", "<demo>", 'name = "<demo>"  # & so on\n')
    cell = Cell("matching-pennies", "exp3", "uniform", 20, (0, 1, 2), metrics=("regret",))
    store.save(cell, cell.run())
    store.record_failure(Cell("rps", "exp3", "uniform", 20, (0,)), "Traceback\nValueError: <no>")
    results = Results(tmp_path / "study")
    about = about_results(results)
    assert (about["name"], about["rounds"], about["seeds"], about["cells"]) == ("<demo>", [20], 3, 1)
    assert about["metrics"] == ["regret"]
    assert about["seconds"] > 0
    text = write_page(results, tmp_path / "page.html", title="From a folder", command="coebl run").read_text()
    seen = " ".join(Elements(text).texts)
    for part in ('name = "<demo>"  # & so on', "ValueError: <no>", "coebl run", "numpy"):
        assert part in seen, part
    rounds, means, _, seeds = curves(text)["matching-pennies", "exp3", "uniform", "regret"]
    assert (rounds[-1], seeds) == (20, 3)
    expected = results.runs("matching-pennies", "exp3", "uniform", "regret").values[-1].mean()
    assert means[-1] == pytest.approx(expected, rel=1e-4)


def test_the_file_is_whole_or_as_before(tmp_path, monkeypatch):
    page_text(tmp_path)
    assert os.listdir(tmp_path) == ["page.html"]
    (tmp_path / "page.html").write_text("as before")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(InputError, match=r"page\.html cannot be written \(No space left on device\)"):
        page_text(tmp_path)
    assert os.listdir(tmp_path) == ["page.html"]
    assert (tmp_path / "page.html").read_text() == "as before"


@pytest.mark.parametrize("place", [".", "there", "nowhere/page.html"])
def test_a_place_that_is_not_a_file_is_refused_in_one_line(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    Path("there").mkdir()
    reason = "the folder nowhere does not exist" if "/" in place else "is a folder; accepted: the name of a file"
    with pytest.raises(InputError, match=rf"^{re.escape(place)}.*{reason}.*\.$"):
        write_page(MadeUp(MATCHES), place, title="Nowhere")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["there"]


def test_the_target_of_a_link_is_written_and_the_link_stays(tmp_path):
    (tmp_path / "target").mkdir()
    link = tmp_path / "page.html"
    link.symlink_to(tmp_path / "target" / "real.html")
    assert "A title" in page_text(tmp_path)
    assert link.is_symlink()
    assert "A title" in (tmp_path / "target" / "real.html").read_text()
    assert os.listdir(tmp_path / "target") == ["real.html"]


@pytest.mark.parametrize("module", ["jinja2", "markupsafe", "plotly"])
def test_missing_packages_are_named(tmp_path, monkeypatch, module):
    for loaded in [name for name in sys.modules if name == module or name.startswith(f"{module}.")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError) as caught:
        page_text(tmp_path)
    assert str(caught.value) == f"this needs {module}; run: pip install 'coebl[report]'"


def test_half_a_character_does_not_stop_the_page(tmp_path):
    assert "half ? of" in page_text(tmp_path, title="half \ud800 of")


def test_colours_say_the_family_and_looks_differ(tmp_path):
    specs = ["coebl", "coebl:c=2", "coebl:c=0.5", "exp3", "exp3-as-released", "ucb", "exp3-ix", "mine.py:Mine"]
    source = MadeUp([("rps", spec, spec) for spec in specs])
    text = page_text(tmp_path, source, presets=[Preset("one", {"rps": ["coebl:c=2", "ucb"]})])
    learners = {learner["spec"]: learner for learner in embedded(text, "data")["learners"]}
    families = [["coebl", "coebl:c=2", "coebl:c=0.5"], ["exp3", "exp3-as-released"], ["ucb"], ["exp3-ix"]]
    colours = [{learners[spec]["colour"] for spec in family} for family in [*families, ["mine.py:Mine"]]]
    assert all(len(colour) == 1 for colour in colours)
    assert len(set.union(*colours)) == 5
    dashes = {learners[spec]["dash"] for spec in ("coebl", "exp3", "ucb", "exp3-ix", "mine.py:Mine")}
    assert len(dashes) == 5
    looks = {(learner["colour"], learner["dash"], learner["symbol"]) for learner in learners.values()}
    assert len(looks) == len(specs)
    assert learners["coebl:c=2"]["symbol"] == "", "what a preset shows is plain"
    assert [learners[spec]["value"] for spec in specs[:4]] == [8, 2, 0.5, None]


def store_of(folder, cells):
    """A folder with these cells run."""
    store = Store.create(folder, "demo", 'name = "demo"\n')
    for cell in cells:
        store.save(cell, cell.run())
    return Results(folder)


def test_a_study_with_several_noises_has_each_game_once_per_noise(tmp_path):
    noises = ["gaussian:sigma=1", "bernoulli"]
    results = store_of(
        tmp_path / "study",
        [
            Cell(game, row, "uniform", 20, (0, 1, 2), noise, metrics=("regret",))
            for game in ("rps", "diagonal:n=2")
            for row in ("exp3", "uniform")
            for noise in noises
        ],
    )
    presets = [Preset("one", {"rps": ["exp3"], "*": ["uniform"]})]
    text = write_page(results, tmp_path / "page.html", title="Noises", presets=presets).read_text()
    data = embedded(text, "data")
    named = ["rps, bernoulli", "rps, gaussian", "diagonal:n=2, bernoulli", "diagonal:n=2, gaussian"]
    assert [game["name"] for game in data["games"]] == named
    assert [game["spec"] for game in data["games"]] == ["rps"] * 2 + ["diagonal:n=2"] * 2
    assert [game["familyTitle"] for game in data["games"]] == ["Rock-paper-scissors"] * 2 + ["Diagonal"] * 2
    assert [game["noiseTitle"] for game in data["games"]] == ["bernoulli", "gaussian"] * 2
    assert [game["actions"] for game in data["games"]] == [[3, 3]] * 2 + [[4, 4]] * 2
    assert data["presets"][0]["learners"] == [["exp3"], ["exp3"], ["uniform"], ["uniform"]], "by the game alone"
    assert "not shown" not in " ".join(Elements(text).texts)
    found = curves(text)
    assert len(found) == 8
    for game in ("rps", "diagonal:n=2"):
        ends = {}
        for noise in noises:
            runs = results.runs(game, "exp3", "uniform", "regret", noise=noise)
            ends[noise] = found[f"{game}, {noise.partition(':')[0]}", "exp3", "uniform", "regret"][1][-1]
            assert ends[noise] == pytest.approx(runs.values[-1].mean(), rel=1e-4)
        assert len(set(ends.values())) == 2


def test_a_study_with_one_noise_does_not_name_it(tmp_path):
    results = store_of(tmp_path / "study", [Cell("rps", "exp3", "uniform", 20, (0, 1), "bernoulli")])
    [game] = embedded(write_page(results, tmp_path / "page.html", title="One").read_text(), "data")["games"]
    assert (game["name"], game["noise"]) == ("rps", "")


RATES = ["coebl:c=0", "coebl:c=1", "coebl:c=2"]
FRONTIER = [("rps", rate, column) for rate in RATES for column in (rate, "best-response")]


class Without(MadeUp):
    """A source that lacks a metric in some matches."""

    def __init__(self, lacks, **options):
        super().__init__(FRONTIER, **options)
        self._lacks = lacks  # of a match and a metric

    def runs(self, game, row, column, metric):
        if self._lacks(row, column, metric):
            raise InputError("no")
        return super().runs(game, row, column, metric)


@pytest.mark.parametrize(
    ("lacks", "sections"),
    [
        (lambda row, column, metric: False, ["figures", "table", "frontier"]),
        (lambda row, column, metric: row != column, ["figures"]),
        (lambda row, column, metric: row != column and "regret" in metric, ["figures"]),
        (lambda row, column, metric: row == column, ["figures", "table"]),
        (lambda row, column, metric: row == RATES[1], ["figures", "table"]),
        (lambda row, column, metric: row != column and metric == "pseudo_regret", ["figures", "table", "frontier"]),
        (lambda row, column, metric: True, []),
    ],
    ids=["all", "no other", "no regret of others", "no self-play", "two rates", "the second choice", "nothing"],
)
def test_sections_are_there_if_they_have_something_to_draw(tmp_path, lacks, sections):
    text = page_text(tmp_path, Without(lacks))
    assert [one for one in ("figures", "table", "frontier") if f'<section id="{one}"' in text] == sections
    assert [one for one in ("figures", "table", "frontier") if f'href="#{one}"' in text] == sections


class Uneven(MadeUp):
    """A source whose metrics were recorded by different numbers of seeds, at different rounds."""

    def runs(self, game, row, column, metric):
        runs = super().runs(game, row, column, metric)
        if metric != NAMES[-1]:
            return runs
        return Runs(runs.rounds[:20], runs.seeds[:3], runs.values[:20, :3])


def test_every_metric_has_its_own_seeds_and_rounds(tmp_path):
    found = curves(page_text(tmp_path, Uneven(MATCHES, seeds=7)))
    for (*_, metric), (rounds, means, halves, seeds) in found.items():
        length = 20 if metric == NAMES[-1] else 30
        assert (len(rounds), rounds[-1], len(means), len(halves)) == (length, 10 * length, length, length)
        assert seeds == (3 if metric == NAMES[-1] else 7)


def test_the_frontier_is_the_mean_over_the_last_rounds_of_whole_runs(tmp_path):
    source = MadeUp(FRONTIER, recorded=1500, every=2)
    data = embedded(page_text(tmp_path, source, first=["pseudo_regret"]), "data")
    places = {metric["name"]: str(place) for place, metric in enumerate(data["metrics"])}
    [frontier] = data["frontiers"]
    offered = [data["metrics"][place]["name"] for place in frontier["metrics"]]
    assert offered == ["exploitability", "tv", "absolute_pseudo_regret", "pseudo_regret", "regret"]
    assert data["metrics"][frontier["regret"]]["name"] == "pseudo_regret"
    assert len(frontier["points"]) == len(RATES)
    for point in frontier["points"]:
        spec = data["learners"][point["learner"]]["spec"]
        for metric, last in (("exploitability", LAST), ("tv", LAST), ("absolute_pseudo_regret", 1)):
            runs = source.runs("rps", spec, spec, metric)
            within = runs.rounds > 3000 - last
            interval = mean_interval(runs.values[within].mean(axis=0))
            half = interval.high - interval.mean
            first = runs.rounds[within][0]
            expected = [*(pytest.approx(number, rel=1e-4) for number in (interval.mean, half)), 5, first, 3000]
            assert point["self"][places[metric]] == expected
        end = source.runs("rps", spec, "best-response", "pseudo_regret").values[-1]
        assert point["best"][0] == pytest.approx(end.mean(), rel=1e-4)


def test_the_frontier_leaves_out_what_is_not_finite(tmp_path):
    class Infinite(MadeUp):
        def runs(self, game, row, column, metric):
            runs = super().runs(game, row, column, metric)
            if metric == "exploitability" or (metric == "tv" and row == RATES[0]):
                runs.values[-1, 0] = math.inf
            return runs

    matches = [*FRONTIER, ("rps", "coebl:c=4", "coebl:c=4"), ("rps", "coebl:c=4", "best-response")]
    data = embedded(page_text(tmp_path, Infinite(matches)), "data")
    [frontier] = data["frontiers"]
    names = [data["metrics"][place]["name"] for place in frontier["metrics"]]
    assert names[0] == "tv"
    assert "exploitability" not in names
    tv = [point["self"][str(NAMES.index("tv"))] for point in frontier["points"]]
    assert [end is None for end in tv] == [True, False, False, False]


def test_any_sweep_has_a_frontier_and_is_called_by_its_names(tmp_path):
    rates = [f"mine.py:Mine:rate={rate}" for rate in (0.5, 10, 9)]
    matches = [("rps", rate, column) for rate in rates for column in (rate, "best-response")]
    text = page_text(tmp_path, MadeUp(matches))
    data = embedded(text, "data")
    points = [data["learners"][point["learner"]] for point in data["frontiers"][0]["points"]]
    assert sorted((point["value"], point["spec"]) for point in points) == [
        (0.5, rates[0]),
        (9, rates[2]),
        (10, rates[1]),
    ]
    seen = " ".join(Elements(text).texts)
    assert "Frontier over rate" in seen
    assert "mine.py:Mine with every rate: how it does against itself, and what a best response takes from it." in seen


def test_two_sweeps_share_a_frontier_and_one_that_is_short_makes_none(tmp_path):
    def frontier(*counts):
        specs = [f"{name}:{key}={n}" for name, key, count in counts for n in range(count)]
        text = page_text(
            tmp_path, MadeUp([("rps", spec, other) for spec in specs for other in (spec, "best-response")])
        )
        data = embedded(text, "data")
        if not data["frontiers"][0]:
            return None, text
        return [data["learners"][point["learner"]]["sweep"] for point in data["frontiers"][0]["points"]], text

    sweeps, text = frontier(("coebl", "c", 3), ("mine", "rate", 4))
    assert sorted(sweeps) == [0] * 3 + [1] * 4
    assert "Frontier over c and rate" in text
    assert "COEBL with every c, and mine with every rate: how" in text
    assert frontier(("coebl", "c", 2), ("mine", "rate", 2))[0] is None


def test_the_reference_line_is_what_the_caller_hands_in(tmp_path):
    line = Reference("<0.2> K t", lambda actions, rounds: 0.2 * actions * rounds)
    source = MadeUp([("rps", "ucb", "ucb"), ("robust-bandit", "ucb", "ucb"), ("chess", "ucb", "ucb")], recorded=3)
    games = embedded(page_text(tmp_path, source, reference=line), "data")["games"]
    assert {game["name"]: game["reference"] for game in games} == {
        "rps": {"label": "<0.2> K t, K = 3", "heights": {"0": [6, 12, 18]}},
        "robust-bandit": None,  # it is not square
        "chess": None,
    }
    assert embedded(page_text(tmp_path), "data")["games"][0]["reference"] is None


def test_the_caller_says_which_metrics_come_first(tmp_path):
    data = embedded(page_text(tmp_path, first=["tv", "unheard_of", "pseudo_regret"]), "data")
    names = [metric["name"] for metric in data["metrics"]]
    assert names == ["tv", "pseudo_regret", "regret", "absolute_pseudo_regret", "exploitability"]
    assert names[data["tableMetric"]] == "pseudo_regret"
    assert names.index("regret") == 2 > names.index("pseudo_regret"), "the table has the first that has a sign"


def test_the_frontier_is_against_whom_the_caller_says(tmp_path):
    rates = ["coebl:c=1", "coebl:c=2", "coebl"]
    source = MadeUp([("rps", rate, other) for rate in rates for other in (rate, "nash", "best-response")])
    data = embedded(page_text(tmp_path, source, frontier=Frontier("nash", ["tv"])), "data")
    [frontier] = data["frontiers"]
    assert data["frontierOpponent"] == "nash"
    assert data["metrics"][frontier["metrics"][0]]["name"] == "tv"
    for point in frontier["points"]:
        end = source.runs("rps", data["learners"][point["learner"]]["spec"], "nash", "regret").values[-1]
        assert point["best"][0] == pytest.approx(end.mean(), rel=1e-4)


def test_learners_that_see_more_than_bandits_are_marked(tmp_path):
    source = MadeUp([("rps", spec, "best-response") for spec in ("ucb", "coebl", "nash", "mine.py:Mine")])
    things = {"learners": {"mine.py:Mine": {"title": "My learner", "kind": "oracle", "colour": 7}}}
    source.metadata = lambda: [{"things": things}]
    learners = {one["spec"]: one for one in embedded(page_text(tmp_path, source), "data")["learners"]}
    assert {spec: one["sees"].split(",")[0] for spec, one in learners.items()} == {
        "best-response": "oracle",
        "ucb": "",
        "coebl": "",
        "nash": "oracle",
        "mine.py:Mine": "oracle",
    }
    assert learners["mine.py:Mine"]["title"] == "My learner"
    assert learners["mine.py:Mine"]["colour"] == PALETTE[7][0]


def test_metrics_are_called_as_the_cells_say(tmp_path):
    source = MadeUp([("rps", "ucb", "ucb")], ["mine"])
    stored = {"title": "My metric", "meaning": "What it means.", "cumulative": True}
    source.metadata = lambda: [{"things": {"metrics": {"mine": stored}}}]
    text = page_text(tmp_path, source, about={"metrics": ["mine"]})
    [metric] = embedded(text, "data")["metrics"]
    assert (metric["title"], metric["cumulative"]) == ("My metric", True)
    assert {"My metric", "What it means."} <= set(Elements(text).texts)


def test_the_dashes_and_colours_of_the_page_are_those_of_figures(tmp_path):
    specs = ["coebl", "ucb", "exp3", "exp3-ix"]
    learners = embedded(page_text(tmp_path, MadeUp([("rps", spec, spec) for spec in specs])), "data")["learners"]
    assert [learner["spec"] for learner in learners] == specs
    for learner in learners:
        style = learner_style(learner["spec"])
        assert learner["colour"] == style["color"]
        lengths = (
            () if learner["dash"] == "solid" else [float(one.removesuffix("px")) for one in learner["dash"].split(",")]
        )
        expected = () if style["linestyle"] == "-" else style["linestyle"][1]
        assert [length / 2 for length in lengths] == list(expected)


def test_the_report_knows_no_paper():
    folder = Path(sys.modules["coebl.report.page"].__file__).parent
    files = [path for path in folder.rglob("*") if path.suffix in (".py", ".html", ".js", ".css")]
    assert len(files) > 10
    wrong = {path.name for path in files if re.search(r"COEBL|ijcai|coebl\.papers|[Tt]he paper\b", path.read_text())}
    assert not wrong


def test_a_study_is_read_once(tmp_path, monkeypatch):
    cells = [Cell("rps", "exp3", "uniform", 20, (seed,), noise) for seed in range(3) for noise in ("bernoulli", "none")]
    results = store_of(tmp_path / "study", cells)
    read = []
    metadata = Store.metadata
    monkeypatch.setattr(Store, "metadata", lambda store, digest: read.append(digest) or metadata(store, digest))
    write_page(results, tmp_path / "page.html", title="Once")
    assert len(read) == len(set(read)) == len(cells)


def test_a_file_of_a_game_is_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("raise SystemExit('run')")
    [game] = embedded(page_text(tmp_path, MadeUp([("mine.py:Game", "ucb", "ucb")])), "data")["games"]
    assert (game["actions"], game["familyTitle"]) == (None, "mine.py:Game")


def test_a_claim_says_what_decided_and_what_other_metrics_say(tmp_path):
    check = {"subject": "ucb on rps", "quantity": "the mean", "wanted": "above 5", "verdict": "fails"}
    numbers = {"measured": 1.23456789, "low": 1.0, "high": 1.5, "n": 50, "shown": 0.123456789, "missing": []}
    verdict = {
        "id": "C1",
        "variant": "text",
        "verdict": "fails",
        "metric": "pseudo_regret",
        "checks": [check | numbers],
        "reported": [
            {"metric": "regret", "verdict": "not significant", "measured": -13.91, "low": -30.93, "high": 3.02},
            {"metric": "tv", "verdict": "not testable", "measured": None, "low": math.nan, "high": None},
        ],
    }
    text = page_text(tmp_path, verdicts=[verdict])
    seen = " ".join("".join(Elements(text).texts).split())
    assert "Decided onpseudo-regret" in seen
    assert "on regret: not significant, −14 [−31, 3]" in seen
    assert "on TV distance: not testable " in seen
    assert "ucb on rps" not in seen, "the checks are listed when they are asked for"
    [found] = embedded(text, "data")["verdicts"]
    assert found["checks"] == [check | {"measured": 1.2346, "low": 1, "high": 1.5}]
    assert found["reported"][1] == {
        "metric": "tv",
        "verdict": "not testable",
        "measured": None,
        "low": None,
        "high": None,
    }


def test_the_runs_of_a_study_are_told(tmp_path):
    results = store_of(tmp_path / "study", [Cell("rps", "exp3", "uniform", 20, (0, 1))])
    for number in (1, 2):
        results.store.record_run(number, 100.0, workers=number, command="coebl run <my>.toml", interrupted=number == 1)
    results.store.record_run(1, 3400.0)
    text = write_page(results, tmp_path / "page.html", title="Runs", command="coebl run study.toml").read_text()
    seen = " ".join("".join(Elements(text).texts).split())
    assert "Wall time1 h 0 min in 3 runs, of which 1 was interrupted; 1 and 2 processes" in seen
    assert seen.count("coebl run <my>.toml") == 1
    assert "Commandcoebl run study.toml" in seen
    without = page_text(tmp_path)
    assert "Wall time" not in without
    assert "Run by" not in without
