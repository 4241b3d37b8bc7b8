"""The page as a file: no markup from a study, nothing fetched, complete or not at all."""

import json
import re
import sys
from pathlib import Path

import pytest

from coebl.core.errors import InputError
from coebl.plots import Reference
from coebl.report import vega_script
from coebl.report.page import Preset
from coebl.study.store import RunLine
from report.browser import MadeUp
from report.pages import Elements, curves, embedded, page_text
from report.verdicts import make_check, make_verdict

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\"quoted\" and 'quoted' & <b>bold</b>",
    "line\u2028and\u2029paragraph",
    "<!--<script>",
    "{{ 7 * 7 }}{% raw %}",
]


def test_hostile_strings_stay_text(tmp_path):
    text = "".join(HOSTILE)
    clean = page_text(tmp_path)
    words = {"checks": [make_check(text, match=(text, text, text))], "text": text, "note": text, "metric": text}
    verdict = make_verdict(text, text, "holds", **words, reported=[make_verdict(text, text, "fails", **words)])
    matches = [(text, text, text), (text, "ucb", text), ("rps", "ucb", "ucb")]
    about = {"name": text, "text": text, "notices": [text], "versions": {text: [text]}}
    about["log"] = [RunLine(cells=1, seconds=1.0, workers=1, command=text + "!")]
    hostile = page_text(
        tmp_path,
        MadeUp(matches, [text, "tv"], **about),
        title=text,
        question=text,
        command=text,
        verdicts=[verdict],
        presets=[Preset(text, {"*": [text]}, id=text, note=text)],
    )
    assert text in embedded(hostile, "data")["name"]
    assert (text, text, text, text) in curves(hostile)
    elements = Elements(hostile)
    kinds = {tag for tag, _ in Elements(clean).elements}
    verdict_kinds = {"i", "details", "summary", "h4", "table", "tr", "td", "th", "svg", "path", "b", "thead", "tbody"}
    assert {tag for tag, _ in elements.elements} <= kinds | verdict_kinds | {"pre", "code", "h3", "small"}
    assert not [name for _, attributes in elements.elements for name in attributes if name.startswith("on")]
    scripts = [attributes for tag, attributes in elements.elements if tag == "script"]
    assert len(scripts) == 3 + 1 + len(embedded(hostile, "data")["games"])  # theme, library, ours; data, games
    joined = "".join(elements.strings)
    assert joined.count(text) >= 10, "it is shown unchanged"
    for name in ("data", "game-0", "game-1"):
        start = hostile.index(f'<script type="application/json" id="{name}">')
        block = hostile[hostile.index(">", start) + 1 : hostile.index("</script>", start)]
        assert json.loads(block)
        assert not re.search("[<>&\u2028\u2029]", block)


def test_nothing_is_fetched(tmp_path):
    text = page_text(tmp_path, verdicts=[make_verdict("C1", "text", "holds")], question="Why?", command="coebl run")
    addresses = [
        value
        for tag, attributes in Elements(text).elements
        for name, value in attributes.items()
        if name in ("src", "href", "srcset", "action", "data", "poster", "formaction", "xlink:href", "background")
    ]
    assert "#main" in addresses
    assert all(address == "data:," or address.startswith("#") for address in addresses)
    assets = Path(sys.modules["coebl.report.page"].__file__).parent / "assets"
    own = {path.name: path.read_text() for path in assets.iterdir()}
    elsewhere = {"page.html", "theme.js"} | {name for name in own if "replay" in name}  # replays are frames
    assert all(part in text for name, part in own.items() if name not in elsewhere)
    assert "unsafe-eval" not in text
    for part in own.values():
        rest = part.replace("http://www.w3.org/2000/svg", "")  # a namespace
        assert not re.search(r"https?:|@import|url\((?!#)|\bfetch\(|XMLHttpRequest|innerHTML|\beval\(", rest)
    [policy] = [attributes["content"] for tag, attributes in Elements(text).elements if "http-equiv" in attributes]
    assert policy.startswith("default-src 'none';")
    assert "http" not in policy
    assert "connect-src" not in policy


@pytest.mark.parametrize("module", ["jinja2", "vl_convert"])
def test_missing_packages_are_named(tmp_path, monkeypatch, module):
    vega_script.cache_clear()
    for loaded in [name for name in sys.modules if name == module or name.startswith(f"{module}.")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError) as caught:
        page_text(tmp_path)
    assert str(caught.value) == f"this needs {module}; run: pip install 'coebl[report]'"


def test_a_limit_of_address_space_is_reported_before_it_ends_the_program(tmp_path, monkeypatch):
    import resource

    vega_script.cache_clear()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (6 << 30, resource.RLIM_INFINITY))
    with pytest.raises(InputError, match=r"limited to 6 GiB, but .* remove the limit: ulimit -v unlimited$"):
        page_text(tmp_path)


def test_half_a_character_does_not_stop_the_page(tmp_path):
    assert "half ? of" in page_text(tmp_path, title="half \ud800 of")


def test_a_file_of_a_game_is_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("raise SystemExit('run')")
    line = Reference("K t", lambda actions, rounds: actions * rounds)
    text = page_text(tmp_path, MadeUp([("mine.py:Game", "ucb", "ucb")]), reference=line)
    [game] = embedded(text, "data")["games"]
    assert (game["reference"], game["family"]) == (None, "mine.py:Game")
