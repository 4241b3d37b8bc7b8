"""What the page says: verdicts, settings, and numbers as people read them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from coebl.report import names
from coebl.report._page_data import _DIGITS, Preset, _metric, _natural, _plain_number
from coebl.study.progress import duration

_VERDICTS = ("holds", "fails", "not significant", "not testable")
_CHECK_FIELDS = ("subject", "quantity", "measured", "low", "high", "wanted", "verdict")
_REPORTED_FIELDS = ("metric", "verdict", "measured", "low", "high")


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
    runs: list[dict[str, Any]]  # what made the cells: seconds, cells, and perhaps workers, command, interrupted


def _claims(verdicts: Sequence[Mapping[str, Any]], presets: Sequence[Preset]) -> dict[str, Any]:
    """The grid: variants across, claims down, and in each square what was found, the first of several in front."""
    keys = ("measured", "low", "high", "threshold", "text", "note", "metric", "n", "checks")
    whole = [
        dict.fromkeys(keys)
        | dict(verdict)
        | {"place": place, "reported": [_some(other, _REPORTED_FIELDS) for other in verdict.get("reported") or ()]}
        for place, verdict in enumerate(verdicts)
    ]
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


def _short_verdict(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """A verdict with no more of its checks than the page shows: it is by far the most that a verdict has."""
    fields = {"checks": _CHECK_FIELDS, "reported": _REPORTED_FIELDS}
    short = {key: [_some(one, fields[key]) for one in verdict[key]] for key in fields if verdict.get(key)}
    return dict(verdict) | short


def _some(values: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """These fields, with few digits."""
    return {name: _few_digits(values.get(name)) for name in fields}


def _few_digits(value: Any) -> Any:
    return _plain_number(float(f"{value:.{_DIGITS}g}")) if isinstance(value, (float, np.floating)) else value


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
        ("Wall time", _wall_time(about)),
        ("Versions", ", ".join(f"{package} {' and '.join(found)}" for package, found in versions.items())),
    ]
    return [(word, text) for word, text in pairs if text]


def _computing(about: About) -> str:
    if "seconds" not in about:
        return ""
    cells = f", summed over {about['cells']:,} cells" if "cells" in about else ""
    return duration(about["seconds"]) + cells


def _wall_time(about: About) -> str:
    """
    >>> _wall_time({"runs": [{"seconds": 100, "workers": 2}, {"seconds": 30.5, "interrupted": True}]})
    '2 min 10 s in 2 runs, of which 1 was interrupted; 2 processes'
    """
    runs = about.get("runs", ())
    if not runs:
        return ""
    stopped = sum(bool(run.get("interrupted")) for run in runs)
    workers = sorted({str(run["workers"]) for run in runs if run.get("workers")}, key=_natural)
    return "".join(
        (
            f"{duration(sum(run.get('seconds') or 0 for run in runs))} in {len(runs)} run{'s' * (len(runs) > 1)}",
            f", of which {stopped} {'was' if stopped == 1 else 'were'} interrupted" if stopped else "",
            f"; {' and '.join(workers)} process{'es' * (workers != ['1'])}" if workers else "",
        )
    )


def _commands(about: About, command: str | None) -> list[tuple[str, list[str]]]:
    """The command that makes the study, and those that have made its runs, each once."""
    made = dict.fromkeys(str(run["command"]) for run in about.get("runs", ()) if run.get("command"))
    pairs = [("Command", [command] if command else []), ("Run by", [one for one in made if one != command])]
    return [(word, found) for word, found in pairs if found]


def _time(moment: str) -> str:
    """A time for people, from one that the store has written.

    >>> _time("2026-11-15T10:33:18+00:00")
    '2026-11-15 10:33 UTC'
    """
    known = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+\+00:00", moment)
    return f"{known[1]} {known[2]} UTC" if known else moment


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


def _metric_text(name: object) -> str:
    """A metric's name inside a sentence.

    >>> _metric_text("pseudo_regret"), _metric_text("tv"), _metric_text("My_metric")
    ('pseudo-regret', 'TV distance', 'My metric')
    """
    title = names.metric_name(str(name)).title
    return names.lower(title) if name in names.METRICS else title


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
