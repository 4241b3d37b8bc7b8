"""Made-up studies for the tests of the page, and a browser that acts like a reader."""

import csv
import io
import json
import math
import shutil
import zlib
from dataclasses import fields
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

from coebl.learners import LEARNERS
from coebl.plots import Reference
from coebl.report.page import Presentation, Preset, write_page
from report.verdicts import make_check, make_verdict

NAMES = ["regret", "pseudo_regret", "absolute_pseudo_regret", "exploitability", "tv"]
BROWSER_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
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
    Preset("plain", {"rps": ["coebl:c=2", "ucb", "exp3"], "*": ["coebl", "ucb", "exp3"]}, id="text", opponent=0),
    Preset("c = 2", {"*": ["coebl:c=2", "ucb"]}, id="c=2", note="every COEBL has c = 2", opponent=0),
]
CHECKS = [
    *(make_check(f"match {place}") for place in range(39)),
    make_check("match 39", "fails", (2.0, math.nan, math.nan)),
]
VERDICTS = [
    make_verdict(claim, variant, verdict, checks=CHECKS if (claim, variant) == ("C1", "text") else [], note="why")
    for claim in ("C1", "C2")
    for variant, verdict in (("text", "holds"), ("c=2", "not significant"))
]
REFERENCE = Reference("0.1 √(K² t)", lambda actions, rounds: 0.1 * actions * np.sqrt(rounds))


class Numbers(NamedTuple):
    """A metric of a match."""

    rounds: np.ndarray  # (recorded,)
    seeds: np.ndarray  # (runs,)
    values: np.ndarray  # (recorded, runs)


class MadeUp:
    """Results of a study in which the runs depend on the match and the metric alone.

    `change` may replace the runs of a match; it receives them, the game, both players and the metric. The other
    options are what the folder stores.
    """

    def __init__(
        self,
        matches,
        metrics=NAMES,
        *,
        recorded=30,
        every=10,
        seeds=5,
        change=lambda runs, *_: runs,
        name="",
        text="",
        seconds=0.0,
        notices=(),
        versions=None,
        log=(),
    ):
        self.store = SimpleNamespace(
            folder=None,
            name=name,
            text=lambda: text,
            failures=list,
            log=SimpleNamespace(runs=lambda: log),
        )
        self.seconds = lambda: seconds
        self.notices = lambda: notices
        self.versions = lambda: versions or {}
        self._matches = list(matches)
        self.metrics = list(metrics)
        self._rounds = np.arange(1, recorded + 1) * every
        self._seeds = np.arange(seeds)
        self._change = change
        self._kept = {}
        self.learner_info, self.metric_info = {}, {}  # what cells store

    def records(self):
        shared = {
            "noise": "gaussian",
            "rounds": int(self._rounds[-1]),
            "seeds": (),
            "metrics": (),
            "created": "",
            "payoff_range": None,
            "seats": None,
        }
        stored = {"learners": self.learner_info, "metric_info": self.metric_info}
        return [
            SimpleNamespace(game=game, players=(row, column), policies=None, **shared, **stored)
            for game, row, column in self._matches
        ]

    def runtimes(self):
        return {}

    def condition(self):
        return ""

    def kinds(self):
        specs = {spec for _, *players in self._matches for spec in players}
        registered = {spec: entry.factory.kind() for spec in specs if (entry := LEARNERS.registered(spec))}
        return registered | {spec: info.kind for spec, info in self.learner_info.items()}

    def runs(self, game, row, column, metric):
        """A metric of a match, or None if it was not recorded."""
        if metric not in self.metrics:
            return None
        key = (game, row, column, metric)
        if key not in self._kept:
            self._kept[key] = self._change(self._make("|".join(key), metric), *key)
        return self._kept[key]

    def _make(self, text, metric):
        random = np.random.default_rng(zlib.crc32(text.encode()))
        steps = random.normal(random.uniform(-0.4, 1), 1, (len(self._rounds), len(self._seeds)))
        values = np.exp(-abs(steps)) if metric in ("tv", "kl", "exploitability") else np.cumsum(steps, axis=0)
        return Numbers(self._rounds, self._seeds, abs(values) if metric.startswith("absolute") else values)

    def curves(self, metrics, *, points=None, game=None, players=None, noise=None):
        empty = {"game": pl.String, "players": pl.List(pl.String), "noise": pl.String, "rounds": pl.Int64}
        empty |= {"seed": pl.Int64, "round": pl.Int64, **dict.fromkeys(metrics, pl.Float64)}
        frames = [pl.DataFrame(schema=empty)]
        for match in self._matches:
            fits = players is None or all(spec in wanted for spec, wanted in zip(match[1:], players, strict=True))
            if game in (None, match[0]) and fits:
                frames.append(self._frame(match, metrics, points))
        return pl.concat(frames, how="diagonal_relaxed").select(list(empty))

    def last(self, metrics):
        frame = self.curves(metrics)
        return frame.filter(pl.col("round") == pl.col("round").max().over("game", "players")).drop("round")

    def _frame(self, match, metrics, points):
        alike = {}  # columns of metrics with the same seeds and rounds
        for metric in metrics:
            if runs := self.runs(*match, metric):
                count = len(runs.rounds)
                kept = np.unique(np.linspace(0, count - 1, min(count, points or count)).round().astype(int))
                rounds, seeds = runs.rounds[kept], runs.seeds
                columns = {"seed": np.repeat(seeds, len(rounds)), "round": np.tile(rounds, len(seeds))}
                columns = alike.setdefault((rounds.tobytes(), seeds.tobytes()), columns)
                columns[metric] = runs.values[kept].T.ravel()
        game, *players = match
        labels = {"game": game, "players": players, "noise": "gaussian", "rounds": int(self._rounds[-1])}
        parts = [pl.DataFrame(columns) for columns in alike.values()]
        frame = parts[0] if parts else pl.DataFrame(schema={"seed": pl.Int64, "round": pl.Int64})
        for part in parts[1:]:
            frame = frame.join(part, on=["seed", "round"], how="full", coalesce=True)
        return frame.sort("seed", "round").with_columns(**{key: pl.lit(value) for key, value in labels.items()})


def make_page(results, path, **options):
    """Write a page; the options are those of `write_page` and of its presentation."""
    shown = {field.name: options.pop(field.name) for field in fields(Presentation) if field.name in options}
    return write_page(results, path, Presentation(**shown), **options)


def start_browser(folder):
    """Start the installed Chromium with an empty profile; nothing is downloaded."""
    pytest.importorskip("selenium", reason="no selenium here: pip install selenium")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("no chromium and chromedriver here: apt-get install chromium chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for option in (*BROWSER_OPTIONS, f"--user-data-dir={folder}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver))


class Page:
    """A page that is open in the browser."""

    def __init__(self, driver, path, width=1280, height=900, dark=False, address=""):
        self.driver = driver
        self.emulate(dark=dark)
        self.resize(width, height)
        driver.get("about:blank")
        driver.get_log("browser")
        driver.get(path.as_uri() + address)
        self.settle()
        if self.script("return localStorage.length"):  # all files share it: clear it
            self.script("localStorage.clear()")
            driver.refresh()
            self.settle()

    def emulate(self, media="", dark=False, motion="reduce"):  # smooth scrolling moves what is clicked on
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": motion},
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

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def text(self, selector):
        """The text of an element, with plain spaces."""
        return self.find(selector).text.replace("\u00a0", " ")

    def click(self, selector):
        element = self.find(selector)
        self.script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def choose(self, selector, text):
        """Choose an option by its text, with plain spaces."""
        from selenium.webdriver.support.ui import Select

        select = Select(self.find(selector))
        [value] = [
            option.get_attribute("value")
            for option in select.options
            if option.text.replace("\u00a0", " ").strip() == text
        ]
        select.select_by_value(value)

    def preset(self, place):
        self.click(f"#presets button:nth-of-type({place + 1})")

    def settle(self):
        """Wait until everything that is near is drawn."""
        self.wait("return document.documentElement.dataset.drawn && !document.documentElement.dataset.busy")

    def drawn(self, figure):
        """Wait until a chart shows the latest choice."""
        self.wait(f"const c = document.getElementById('{figure}-chart'); return Boolean(c.view) && !c.dataset.stale")

    def rows(self, figure, data):
        """The data of a chart, which is drawn when it comes near."""
        self.script(f"document.getElementById('{figure}-chart').scrollIntoView({{block: 'center'}})")
        self.drawn(figure)
        return self.script(
            f"return document.getElementById('{figure}-chart').view.data('{data}').map(row => Object.assign({{}}, row))"
        )

    def traces(self, figure="growth", kind="line"):
        """The lines of a figure, or its reference line: name to rounds and means."""
        titles = {learner["title"] for learner in self.data["learners"]}
        traces = {}
        for row in self.rows(figure, "curves"):
            if (row["learner"] in titles) == (kind == "line"):
                rounds, means = traces.setdefault(row["learner"], ([], []))
                rounds.append(row["round"])
                means.append(row["mean"])
        return traces

    def axis(self, figure, channel):
        """The kind and the domain of a scale of a chart."""
        self.rows(figure, "curves")
        return self.script(
            f"const s = document.getElementById('{figure}-chart').view.scale('{channel}'); return [s.type, s.domain()]"
        )

    def strings(self, figure):
        """All strings in a chart."""
        self.settle()
        return self.script(
            f"return [...document.querySelectorAll('#{figure}-chart :is(text, tspan)')].map(text => text.textContent)"
        )

    @property
    def data(self):
        return json.loads(self.find("#data").get_attribute("textContent"))

    def box(self, learner):
        """The check box of a line."""
        return self.find(f"#lines input[data-line='{self.place(learner)}']")

    def place(self, spec):
        return [learner["spec"] for learner in self.data["learners"]].index(spec)

    def keep_downloads(self):
        """Keep saved files in the page, instead of opening a dialog."""
        self.script(
            "window.kept = []; URL.createObjectURL = (blob) => { window.kept.push(blob); return 'blob:kept'; };"
            "HTMLAnchorElement.prototype.click = function () { window.keptName = this.download; };"
        )

    def download(self):
        self.settle()
        text = self.driver.execute_async_script("kept.at(-1).text().then(arguments[0])")
        return self.script("return keptName"), text

    def saved_rows(self):
        """The rows of the CSV file that was saved last."""
        return list(csv.DictReader(io.StringIO(self.download()[1], newline="")))


def name_of(spec):
    titles = {"coebl": "COEBL, c = 8", "coebl:c=2": "COEBL, c = 2", "ucb": "UCB", "exp3": "Exp3"}
    return titles[spec].replace(" = ", "\u00a0=\u00a0")


def check_lines(page, source, figure, game, pairs, metric):
    """Check that the figure shows these matches, with the right means at every round."""
    traces = page.traces(figure)
    assert set(traces) == {name_of(row) for row, _ in pairs}
    for row, column in pairs:
        runs = source.runs(game, row, column, metric)
        rounds, means = traces[name_of(row)]
        assert rounds == runs.rounds.tolist()
        assert means == pytest.approx(runs.values.mean(axis=1).tolist(), rel=1e-4)


def selves(*specs):
    return [(spec, spec) for spec in specs]


def plot_area(page, figure):
    """The middle of the plot in the window, and its width and height."""
    page.script(f"document.getElementById('{figure}-chart').scrollIntoView({{block: 'center'}})")
    page.drawn(figure)
    return page.script(
        f"const r = document.querySelector('#{figure}-chart .role-frame .background').getBoundingClientRect();"
        "return [r.left + r.width / 2, r.top + r.height / 2, r.width, r.height].map(Math.round)"
    )


def mouse(page):
    from selenium.webdriver.common.actions.action_builder import ActionBuilder

    return ActionBuilder(page.driver, duration=50)


def gaps(runs, game, row, column, metric):
    """Leave gaps in TV: means that are not finite. Other metrics have fewer seeds and rounds."""
    if metric != "tv":
        return Numbers(runs.rounds[:25], runs.seeds[:3], runs.values[:25, :3])
    runs.values[10:15, 0] = runs.values[20, 0] = math.inf
    return runs
