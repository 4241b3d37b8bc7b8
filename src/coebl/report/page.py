"""The page: the results of a study as one HTML file that needs no network, with figures that answer to a reader.

The page is made from a `Source`, which says what was measured, and an `About`, which says where it comes from. All that
they hold is data, never markup: Jinja2 escapes what becomes HTML, `_embed` what becomes JSON, and the script writes
text nodes only. A content security policy in the page forbids every connection.
"""

from __future__ import annotations

import json
import math
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from coebl.errors import InputError
from coebl.games import parse_game
from coebl.learners import parse_learner
from coebl.metrics import METRICS
from coebl.report import names
from coebl.report.bands import Band, Floats, thinned
from coebl.report.style import STYLES
from coebl.study import Results, Runs, Source

_POINTS = 100  # rounds of a curve that are kept
_FEWEST_POINTS = 20
_NUMBERS = 1_200_000  # that the curves of a page have together, at most: about six bytes each
_DIGITS = 5

_FAMILY_COLOURS = {name: str(STYLES[name]["color"]) for name in ("coebl", "ucb", "exp3", "exp3-ix")}
_OTHER_COLOURS = (str(STYLES["fifth"]["color"]), str(STYLES["sixth"]["color"]), "#7F7F7F", "#A6761D")
_DASHES = ("solid", "8px,4px", "9px,3px,2px,3px", "16px,4px", "16px,4px,3px,4px", "4px,3px")  # dots: the reference
_SYMBOLS = ("", "circle", "square", "diamond", "triangle-up", "x", "star", "cross", "triangle-down", "hexagon")

_VERDICTS = ("holds", "fails", "not significant", "not testable")

_DISTANCES = ("tv", "kl", "exploitability", "average_exploitability")  # the second figure; the first has the others
_TABLE_METRICS = ("pseudo_regret", "regret")  # of the head-to-head table: whose sign says who wins


@dataclass(frozen=True)
class Preset:
    """A choice of lines: which learners are shown on a game, by spec; "*" stands for every game not named.

    >>> Preset("the text", {"rps": ["coebl:c=2", "ucb"], "*": ["coebl", "ucb"]}, id="text").on("diagonal:n=2")
    ['coebl', 'ucb']
    """

    name: str
    learners: Mapping[str, Sequence[str]]
    id: str = ""  # the variant of the verdicts that these learners are, if any: it is then shown by this name
    note: str = ""  # what the choice is, in a sentence

    def on(self, game: str) -> list[str]:
        """The learners on a game."""
        return list(self.learners.get(game, self.learners.get("*", ())))


class About(TypedDict, total=False):
    """What is known of a study besides its numbers; whatever is left out is not shown."""

    name: str
    text: str  # its file
    rounds: list[int]  # that matches have
    seeds: int
    noises: list[str]
    metrics: list[str]
    cells: int
    seconds: float  # of computing, over all cells
    versions: dict[str, list[str]]  # of each package, all that cells were made with
    created: list[str]  # the first and the last time that a cell was finished
    notices: list[str]  # what a reader should know, such as cells that failed


@dataclass
class _Curves:
    """What the page draws: the games with their matches, and the rounds that several curves share."""

    games: list[dict[str, Any]] = field(default_factory=list)
    blocks: list[list[list[Any]]] = field(default_factory=list)  # by game: row, column, rounds, seeds, metrics
    rounds: list[list[int]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def shared_rounds(self, rounds: list[int]) -> int:
        """The place of these rounds in the list of those in use."""
        if rounds not in self.rounds:
            self.rounds.append(rounds)
        return self.rounds.index(rounds)


def write_page(
    results: Source,
    path: str | os.PathLike[str],
    *,
    title: str,
    question: str | None = None,
    verdicts: Sequence[Mapping[str, Any]] | None = None,
    presets: Sequence[Preset] | None = None,
    command: str | None = None,
    about: About | None = None,
) -> Path:
    """Write the page of a study's results, whole or not at all, and say where it is.

    `about` is read from the study's folder if it is not given. `verdicts` are dictionaries with the keys id, variant,
    verdict, measured, low, high, threshold, text, note, metric, n; all but the first three may be missing or None.
    """
    target = Path(path)
    if about is None:
        about = about_results(results) if isinstance(results, Results) else {}
    html = render_page(
        results, about, title=title, question=question, verdicts=verdicts, presets=presets, command=command
    )
    partial = target.with_name(f"{target.name}.{secrets.token_hex(4)}.partial")
    try:
        partial.write_text(html, encoding="utf-8", errors="replace")  # half a character becomes ?
        os.replace(partial, target)
    except OSError as error:
        raise InputError(f"{target}: {error.strerror or error}; write the page elsewhere.") from None
    finally:
        partial.unlink(missing_ok=True)
    return target


def render_page(
    source: Source,
    about: About,
    *,
    title: str,
    question: str | None = None,
    verdicts: Sequence[Mapping[str, Any]] | None = None,
    presets: Sequence[Preset] | None = None,
    command: str | None = None,
) -> str:
    """The text of the page."""
    plotly_script, jinja2, markupsafe = _libraries()
    presets = presets or ()
    metrics = about.get("metrics") or list(METRICS)
    matches = sorted(source.matches(), key=lambda match: (_game_order(match[0]), *map(_natural, match[1:])))
    learners = _learners(matches, presets)
    curves = _curves(source, matches, metrics, [learner["spec"] for learner in learners])
    present = _present(curves, metrics)
    claims = _claims(verdicts or (), presets)
    data = {
        "name": about.get("name") or title,
        "games": curves.games,
        "learners": learners,
        "metrics": [_metric(metric) for metric in metrics],
        "rounds": curves.rounds,
        "presets": [_preset(preset, curves.games) for preset in presets],
        "tableMetric": next((metrics.index(metric) for metric in _TABLE_METRICS if metric in present), None),
        "verdicts": [dict(verdict) for verdict in verdicts or ()],
    }
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["number"] = _number_text
    return str(
        environment.from_string(_asset("page.html")).render(
            title=title,
            question=question,
            command=command,
            about=about,
            notices=[*about.get("notices", ()), *curves.notices],
            settings=_settings(about),
            claims=claims,
            texts=_measured_texts,
            metrics=[_metric(metric) for metric in present],
            has_curves=bool(curves.games),
            has_table=data["tableMetric"] is not None and any(row != column for _, row, column in matches),
            has_frontier=_has_frontier(matches, learners),
            css=markupsafe.Markup(_asset("page.css")),
            script=markupsafe.Markup(_asset("tools.js") + _asset("page.js")),
            plotly_script=markupsafe.Markup(plotly_script.replace("</script", "<\\/script")),
            data=markupsafe.Markup(_embed(_finite(data))),
            blocks=[markupsafe.Markup(_embed(block)) for block in curves.blocks],
        )
    )


def about_results(results: Results) -> About:
    """What a study's folder says about itself."""
    store = results.store
    cells = [store.metadata(path.stem) for path in store.paths()]
    versions: dict[str, set[str]] = {}
    for cell in cells:
        for package, version in cell["versions"].items():
            versions.setdefault(package, set()).add(version)
    created = sorted(cell["created"] for cell in cells)
    return {
        "name": store.name,
        "text": store.text(),
        "rounds": sorted({cell["description"]["rounds"] for cell in cells}),
        "seeds": len({seed for cell in cells for seed in cell["description"]["seeds"]}),
        "noises": sorted({cell["labels"]["noise"] for cell in cells}),
        "metrics": list(dict.fromkeys(metric for cell in cells for metric in cell["metrics"])),
        "cells": len(cells),
        "seconds": sum(sum(cell["seconds"].values()) for cell in cells),
        "versions": {package: sorted(found) for package, found in sorted(versions.items())},
        "created": [created[0], created[-1]] if created else [],
        "notices": [f"failed: {record['cell']}: {_last_line(record['traceback'])}" for record in store.failures()],
    }


# What is drawn


def _curves(
    source: Source, matches: Sequence[tuple[str, str, str]], metrics: Sequence[str], learners: Sequence[str]
) -> _Curves:
    curves = _Curves()
    points = max(_FEWEST_POINTS, min(_POINTS, _NUMBERS // (2 * max(1, len(matches) * len(metrics)))))
    for game in dict.fromkeys(match[0] for match in matches):
        block = []
        for row, column in (match[1:] for match in matches if match[0] == game):
            found, refusal = _read(source, (game, row, column), metrics)
            if not found:
                curves.notices.append(f"not shown: {row} v {column} on {game}: {refusal}")
                continue
            numbers = {}
            for metric, runs in found.items():
                kept = thinned(len(runs.rounds), points)
                band = Band.of(runs.values[kept])
                rounds = curves.shared_rounds(runs.rounds[kept].tolist())
                numbers[str(metrics.index(metric))] = [_short(band.mean), _short(band.half)]
            entry = [learners.index(row), learners.index(column), rounds, len(runs.seeds), numbers]
            block.append(entry)
        if block:
            curves.games.append(_game(game))
            curves.blocks.append(block)
    return curves


def _read(source: Source, match: tuple[str, str, str], metrics: Sequence[str]) -> tuple[dict[str, Runs], str]:
    """The metrics that a match has; and if it has none, why not."""
    found: dict[str, Runs] = {}
    refusal = "nothing was recorded"
    for metric in metrics:
        try:
            found[metric] = source.runs(*match, metric)
        except InputError as error:
            refusal = str(error)
    return found, refusal


def _short(numbers: Floats) -> list[float | int | None]:
    """With few digits; whole numbers without a point, and null for what is not finite."""
    return [_plain_number(float(f"{number:.{_DIGITS}g}")) for number in numbers.tolist()]


def _plain_number(number: float) -> float | int | None:
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _present(curves: _Curves, metrics: Sequence[str]) -> list[str]:
    """The metrics that any match has."""
    used = {place for block in curves.blocks for match in block for place in match[4]}
    return [metric for place, metric in enumerate(metrics) if str(place) in used]


# Names and colours


def _game(spec: str) -> dict[str, Any]:
    name, _, parameters = spec.partition(":")
    return {
        "spec": spec,
        "family": name,
        "familyTitle": names.GAMES.get(name, name),
        "size": parameters,
        "sizeTitle": _parameters(parameters),
        "actions": _actions(spec),
    }


def _actions(game: str) -> list[int] | None:
    """How many actions the two players have, if the game is one of ours."""
    try:
        return list(parse_game(game).payoff.shape)
    except InputError:
        return None


def _game_order(spec: str) -> tuple[Any, ...]:
    name = spec.partition(":")[0]
    known = list(names.GAMES)
    return (known.index(name) if name in known else len(known), *_natural(spec))


def _natural(text: str) -> tuple[Any, ...]:
    """A key that sorts n=10 after n=9."""
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return tuple((float(part), "") if place % 2 else (-1.0, part) for place, part in enumerate(parts))


def _learners(matches: Sequence[tuple[str, str, str]], presets: Sequence[Preset]) -> list[dict[str, Any]]:
    """Every learner with its looks: colour and dashes say the family, symbols the member of it.

    Those that a preset shows have the plainest lines.
    """
    specs = list(dict.fromkeys(spec for match in matches for spec in match[1:]))
    shown = [spec for preset in presets for game in dict.fromkeys(m[0] for m in matches) for spec in preset.on(game)]
    first_shown = {spec: place for place, spec in reversed(list(enumerate(shown)))}
    present = dict.fromkeys(map(_family, specs))
    families = [*(name for name in _FAMILY_COLOURS if name in present), *sorted(present.keys() - _FAMILY_COLOURS)]
    others = [family for family in families if family not in _FAMILY_COLOURS]
    learners = []
    for place, family in enumerate(families):
        members = [spec for spec in specs if _family(spec) == family]
        members.sort(key=lambda spec: (_rate(spec) or 0, _natural(spec)))
        ranks = sorted(members, key=lambda spec: first_shown.get(spec, math.inf))
        shades = _shades(members)
        for spec in members:
            colour = _FAMILY_COLOURS.get(family) or _OTHER_COLOURS[others.index(family) % len(_OTHER_COLOURS)]
            learners.append(
                {
                    "spec": spec,
                    "title": _learner_title(spec),
                    "colour": colour,
                    "shade": shades[spec],
                    "dash": _DASHES[place % len(_DASHES)],
                    "symbol": _SYMBOLS[ranks.index(spec) % len(_SYMBOLS)],
                    "rate": _rate(spec),
                }
            )
    return learners


def _shades(members: Sequence[str]) -> dict[str, float]:
    """How much each member of a family is away from its colour; COEBLs by their c, from the largest down."""
    rates = {spec: _rate(spec) for spec in members}
    ordered = sorted(members, key=lambda spec: -math.inf if (rate := rates[spec]) is None else -rate)
    deepest = 0.65 if len(members) > 4 else 0.4
    return {spec: round(deepest * place / max(1, len(members) - 1), 3) for place, spec in enumerate(ordered)}


def _family(spec: str) -> str:
    return spec.partition(":")[0].removesuffix("-as-released")


def _learner_title(spec: str) -> str:
    name, _, parameters = spec.partition(":")
    if name not in names.LEARNERS:
        return spec
    if (rate := _rate(spec)) is not None:
        parameters = f"c={rate:g}"  # also where it is the default
    return ", ".join(filter(None, [names.LEARNERS[name], _parameters(parameters)]))


def _parameters(text: str) -> str:
    """The parameters of a spec as they are printed: no line ends at an equals sign."""
    return text.replace("=", "\u00a0=\u00a0").replace(",", ", ")


def _rate(spec: str) -> float | None:
    """The c of a COEBL that has no other setting: its place on the frontier."""
    if not re.fullmatch(r"coebl(:c=[\d.e+-]+)?", spec):
        return None
    try:
        return float(getattr(parse_learner(spec), "c", math.nan))
    except InputError:
        return None


def _has_frontier(matches: Sequence[tuple[str, str, str]], learners: Sequence[Mapping[str, Any]]) -> bool:
    """Whether COEBL with three or more c plays itself and a best response, on any one game."""
    rates = [learner["spec"] for learner in learners if learner["rate"] is not None]
    known = set(matches)
    return any(
        sum({(game, rate, rate), (game, rate, "best-response")} <= known for rate in rates) >= 3
        for game in dict.fromkeys(match[0] for match in matches)
    )


def _metric(name: str) -> dict[str, Any]:
    words = names.metric_name(name)
    metric = METRICS.get(name)
    return {
        "name": name,
        "title": words.title,
        "definition": metric.definition if metric else "",
        "meaning": words.meaning,
        "distance": name in _DISTANCES,
        "cumulative": bool(metric and metric.cumulative),
    }


def _preset(preset: Preset, games: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"name": preset.name, "note": preset.note, "learners": [preset.on(game["spec"]) for game in games]}


# Verdicts and settings


def _claims(verdicts: Sequence[Mapping[str, Any]], presets: Sequence[Preset]) -> dict[str, Any]:
    """The grid: variants across, claims down, and in each square what was found, the first of several in front."""
    keys = ("measured", "low", "high", "threshold", "text", "note", "metric", "n")
    whole = [dict.fromkeys(keys) | dict(verdict) for verdict in verdicts]
    titles = {preset.id: preset.name for preset in presets if preset.id}
    variants = []
    for variant in dict.fromkeys(str(verdict["variant"]) for verdict in whole):
        fronts: dict[str, str] = {}
        for verdict in whole:
            if str(verdict["variant"]) == variant:
                fronts.setdefault(str(verdict["id"]), str(verdict["verdict"]))
        words = list(dict.fromkeys([*_VERDICTS, *fronts.values()]))
        counts = {word: list(fronts.values()).count(word) for word in words}
        variants.append({"id": variant, "title": titles.get(variant, variant), "counts": counts})
    rows = []
    for claim in dict.fromkeys(str(verdict["id"]) for verdict in whole):
        own = [verdict for verdict in whole if str(verdict["id"]) == claim]
        squares = [[verdict for verdict in own if str(verdict["variant"]) == variant["id"]] for variant in variants]
        text = next((verdict["text"] for verdict in own if verdict["text"]), "")
        rows.append({"id": claim, "text": text, "squares": squares})
    return {"variants": variants, "rows": rows, "kinds": {word: word.replace(" ", "-") for word in _VERDICTS}}


def _settings(about: About) -> list[tuple[str, str]]:
    """What the settings list says, as pairs of a word and a text."""
    metrics = ", ".join(str(_metric(metric)["title"]) for metric in about.get("metrics", ()))
    versions = about.get("versions", {})
    pairs = [
        ("Study", about.get("name", "")),
        ("Rounds", ", ".join(map(str, about.get("rounds", ())))),
        ("Seeds", str(about["seeds"]) if "seeds" in about else ""),
        ("Noise", ", ".join(about.get("noises", ()))),
        ("Metrics", metrics),
        ("Made", " to ".join(dict.fromkeys(map(_time, about.get("created", ()))))),
        ("Computing", _computing(about)),
        ("Versions", ", ".join(f"{package} {' and '.join(found)}" for package, found in versions.items())),
    ]
    return [(word, text) for word, text in pairs if text]


def _computing(about: About) -> str:
    if "seconds" not in about:
        return ""
    cells = f", summed over {about['cells']:,} cells" if "cells" in about else ""
    return _duration(about["seconds"]) + cells


def _time(moment: str) -> str:
    """A time for people, from one that the store has written.

    >>> _time("2026-11-15T10:33:18+00:00")
    '2026-11-15 10:33 UTC'
    """
    known = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+\+00:00", moment)
    return f"{known[1]} {known[2]} UTC" if known else moment


def _duration(seconds: float) -> str:
    """
    >>> _duration(7384), _duration(95), _duration(8.25)
    ('2 h 3 min', '1 min 35 s', '8.2 s')
    """
    if seconds >= 3600:
        return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} min"
    if seconds >= 60:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return f"{seconds:.1f} s"


# Text


def _number_text(number: object) -> str:
    """A number for people; nothing for what is not there.

    >>> _number_text(-12.3456), _number_text(1234.5), _number_text(None), _number_text("T = 3000")
    ('−12.35', '1,234', '', 'T = 3000')
    """
    if number is None:
        return ""
    if isinstance(number, (bool, str)) or not isinstance(number, (int, float, np.number)):
        return str(number)
    value = float(number)
    if not math.isfinite(value):
        return "" if math.isnan(value) else "∞" if value > 0 else "−∞"
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return text.replace("-", "−")


def _measured_texts(verdict: Mapping[str, Any]) -> tuple[str, str]:
    """What was measured and its interval, to as many places as tell the ends of the interval apart.

    >>> _measured_texts({"measured": 12.3456, "low": 11.9, "high": 12.8})
    ('12.35', '[11.90, 12.80]')
    >>> _measured_texts({"measured": 12.3456, "low": 11.9, "high": None})
    ('12.35', '[11.9, –]')
    """
    measured, low, high = (verdict[key] for key in ("measured", "low", "high"))
    numbers = [float(number) for number in (measured, low, high) if isinstance(number, (int, float, np.number))]
    if len(numbers) == 3 and all(map(math.isfinite, numbers)) and low < high:
        places = max(0, 1 - math.floor(math.log10((high - low) / 2)))
        texts = [f"{number:,.{min(places, 9)}f}".replace("-", "−") for number in numbers]
    else:
        texts = [_number_text(number) for number in (measured, low, high)]
    return texts[0], f"[{texts[1] or '–'}, {texts[2] or '–'}]" if texts[1] or texts[2] else ""


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no reason is known"


def _embed(data: object) -> str:
    """JSON that can stand in a script element: no <, > or &, and no line separators that scripts once choked on."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_scalar)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _finite(data: Any) -> Any:
    """The same with null for every number that is not finite: JSON has no word for it."""
    if isinstance(data, (float, np.floating)):
        return float(data) if math.isfinite(data) else None
    if isinstance(data, Mapping):
        return {str(key): _finite(value) for key, value in data.items()}
    return [_finite(value) for value in data] if isinstance(data, (list, tuple)) else data


def _scalar(value: object) -> Any:
    """What JSON does not know: NumPy's numbers as their own, the rest as text."""
    return value.item() if isinstance(value, np.generic) else str(value)


def _asset(name: str) -> str:
    return resources.files("coebl.report").joinpath("assets", name).read_text(encoding="utf-8")


def _libraries() -> tuple[str, Any, Any]:
    """plotly.js, Jinja2 and MarkupSafe, imported when they are first needed."""
    try:
        import jinja2
        import markupsafe
        from plotly.offline import get_plotlyjs  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise InputError("this needs plotly and jinja2; run: pip install 'coebl[report]'") from None
    return get_plotlyjs(), jinja2, markupsafe
