"""Helpers for tests of the page's HTML: write a page, and read its content."""

import html.parser
import json
import re

from report.browser import MadeUp, make_page

MATCHES = [
    ("rps", "ucb", "ucb"),
    ("rps", "ucb", "coebl"),
    ("diagonal:n=10", "ucb", "ucb"),
    ("diagonal:n=2", "ucb", "ucb"),
    ("diagonal:n=2", "exp3", "coebl"),
]


def page_text(folder, source=None, **options) -> str:
    source = source or MadeUp(MATCHES, name="demo")
    return make_page(source, folder / "page.html", **{"title": "A title", **options}).read_text(encoding="utf-8")


def embedded(text: str, name: str):
    [content] = re.findall(rf'<script type="application/json" id="{name}">(.*?)</script>', text, re.DOTALL)
    return json.loads(content)


def curves(text: str) -> dict[tuple[str, str, str, str], tuple]:
    """Every curve of a page by game, row, column and metric: rounds, means, half widths, seeds."""
    data = embedded(text, "data")
    by_match = {}
    for place, game in enumerate(data["games"]):
        for match in embedded(text, f"game-{place}"):
            players = [data["learners"][match[seat]]["spec"] for seat in ("row", "column")]
            for metric, curve in match["curves"].items():
                by_match[game["name"], *players, metric] = (
                    data["rounds"][curve["grid"]],
                    curve["means"],
                    curve["halves"],
                    curve["seeds"],
                )
    return by_match


class Elements(html.parser.HTMLParser):
    """The elements of a page with their attributes, and the strings outside of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.strings: list[str] = []
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._open = tag

    def handle_endtag(self, tag):
        self._open = ""

    def handle_data(self, data):
        if self._open not in ("script", "style"):
            self.strings.append(data)
