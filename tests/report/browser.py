"""What the tests of the page share: made-up studies, and a browser that is driven like a reader would."""

import shutil
import zlib

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.study import Runs

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


class MadeUp:
    """A source of numbers that look like results and are a function of the match, the metric and nothing else."""

    def __init__(self, matches, metrics=NAMES, *, recorded=30, every=10, seeds=5, only=None):
        self._matches = list(matches)
        self._metrics = list(metrics)
        self._rounds = np.arange(1, recorded + 1) * every
        self._seeds = np.arange(seeds)
        self._only = only or {}  # metric to the games that have it
        self._kept = {}

    def matches(self):
        return self._matches

    def runs(self, game, row, column, metric):
        if metric not in self._metrics or game not in self._only.get(metric, [game]):
            raise InputError(f"metric {metric!r} was not recorded for {row} v {column} on {game}.")
        key = (game, row, column, metric)
        if key not in self._kept:
            self._kept[key] = self._make("|".join(key), metric)
        return self._kept[key]

    def _make(self, text, metric):
        random = np.random.default_rng(zlib.crc32(text.encode()))
        steps = random.normal(random.uniform(-0.4, 1), 1, (len(self._rounds), len(self._seeds)))
        values = np.exp(-abs(steps)) if metric in ("tv", "kl", "exploitability") else np.cumsum(steps, axis=0)
        return Runs(self._rounds, self._seeds, abs(values) if metric.startswith("absolute") else values)


def start_browser(folder):
    """Chromium as it is installed here, with an empty profile; nothing is downloaded."""
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
