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
from collections.abc import Callable, Mapping, Sequence
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
from coebl.report.files import write_whole
from coebl.report.plots import LAST
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
_CONVERGENCE = ("exploitability", "tv")  # what the frontier has across, the first of them that is there
_FEWEST_RATES = 3  # that a frontier has
_CHECK_FIELDS = ("subject", "quantity", "measured", "low", "high", "wanted", "verdict")
_REPORTED_FIELDS = ("metric", "verdict", "measured", "low", "high")


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
    runs: list[dict[str, Any]]  # what made the cells: seconds, cells, and perhaps workers, command, interrupted


class _ByNoise:
    """Results with several noises as a source in which every game is there once for each of its noises."""

    def __init__(self, results: Results, cells: Sequence[Mapping[str, str]]) -> None:
        self._results = results
        self._cells = [{**cell, "name": f"{cell['game']}, {cell['noise']}"} for cell in cells]
        self.parts = {cell["name"]: (cell["game"], cell["noise"]) for cell in self._cells}

    def matches(self) -> list[tuple[str, str, str]]:
        return list(dict.fromkeys((cell["name"], cell["row"], cell["column"]) for cell in self._cells))

    def runs(self, game: str, row: str, column: str, metric: str) -> Runs:
        name, noise = self.parts[game]
        return self._results.runs(name, row, column, metric, noise=noise)


@dataclass
class _Curves:
    """What the page draws: the games with their matches and frontiers, and the rounds that several curves share."""

    games: list[dict[str, Any]] = field(default_factory=list)
    # by game: row, column, and by metric: rounds, seeds, means, half widths
    blocks: list[list[tuple[int, int, dict[str, list[Any]]]]] = field(default_factory=list)
    frontiers: list[dict[str, Any] | None] = field(default_factory=list)  # by game
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
    reference: bool = False,
) -> Path:
    """Write the page of a study's results, whole or not at all, and say where it is.

    Args:
        results: what to show. Results with several noises have each game once per noise.
        path: the file.
        title: the heading of the page.
        question: what the study is about, in a paragraph.
        verdicts: dictionaries with the keys id, variant, verdict, measured, low, high, threshold, text, note, metric,
            n, checks (with subject, quantity, measured, low, high, wanted, verdict) and reported (with metric, verdict,
            measured, low, high); all but the first three may be missing or None.
        presets: choices of lines, the first of which is shown first.
        command: what makes the study anew.
        about: what is known of the study; by default it is read from its folder.
        reference: whether the line 0.1 sqrt(K² t) is drawn beside what adds up in self-play, on games of K by K.
    """
    if about is None:
        about = about_results(results) if isinstance(results, Results) else {}
    html = render_page(
        results,
        about,
        title=title,
        question=question,
        verdicts=verdicts,
        presets=presets,
        command=command,
        reference=reference,
    )
    return write_whole(path, html)


def render_page(
    source: Source,
    about: About,
    *,
    title: str,
    question: str | None = None,
    verdicts: Sequence[Mapping[str, Any]] | None = None,
    presets: Sequence[Preset] | None = None,
    command: str | None = None,
    reference: bool = False,
) -> str:
    """The text of the page; what the arguments are, `write_page` says."""
    plotly_script, jinja2, markupsafe = _libraries()
    presets = presets or ()
    metrics = about.get("metrics") or list(METRICS)
    source = _with_noises_apart(source)
    parts = source.parts if isinstance(source, _ByNoise) else {}
    games = [
        _game(name, *parts.get(name, (name, ""))) for name in dict.fromkeys(match[0] for match in source.matches())
    ]
    games.sort(key=_game_order)
    matches = sorted(source.matches(), key=lambda match: (*map(_natural, match[1:]), match[0]))
    learners = _learners(matches, [preset.on(game["spec"]) for preset in presets for game in games])
    curves = _curves(source, matches, games, metrics, learners)
    present = _drawn(curves, metrics)
    duels = _drawn(curves, metrics, among=lambda row, column: row != column)
    table_metric = next((metrics.index(metric) for metric in _TABLE_METRICS if metric in duels), None)
    claims = _claims(verdicts or (), presets)
    data = {
        "name": about.get("name") or title,
        "games": curves.games,
        "learners": learners,
        "metrics": [_metric(metric) for metric in metrics],
        "rounds": curves.rounds,
        "presets": [_preset(preset, curves.games) for preset in presets],
        "tableMetric": table_metric,
        "frontiers": curves.frontiers,
        "last": LAST,
        "reference": reference,
        "verdicts": [_short_verdict(verdict) for verdict in verdicts or ()],
    }
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["number"] = _number_text
    environment.filters["metric"] = _metric_text
    return str(
        environment.from_string(_asset("page.html")).render(
            title=title,
            question=question,
            command=command,
            about=about,
            notices=[*about.get("notices", ()), *curves.notices],
            settings=_settings(about),
            commands=_commands(about, command),
            claims=claims,
            texts=_measured_texts,
            metrics=[_metric(metric) for metric in present],
            has_curves=bool(curves.games),
            has_table=table_metric is not None,
            has_frontier=any(curves.frontiers),
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
        "runs": store.runs(),
    }


def _with_noises_apart(source: Source) -> Source:
    """Results with several noises, which would not say which one is meant, as a source that asks for each."""
    if not isinstance(source, Results):
        return source
    cells = [source.store.metadata(path.stem)["labels"] for path in source.store.paths()]
    return _ByNoise(source, cells) if len({cell["noise"] for cell in cells}) > 1 else source


# What is drawn


def _curves(
    source: Source,
    matches: Sequence[tuple[str, str, str]],
    games: Sequence[dict[str, Any]],
    metrics: Sequence[str],
    learners: Sequence[Mapping[str, Any]],
) -> _Curves:
    curves = _Curves()
    points = max(_FEWEST_POINTS, min(_POINTS, _NUMBERS // (2 * max(1, len(matches) * len(metrics)))))
    places = {learner["spec"]: place for place, learner in enumerate(learners)}
    for game in games:
        block = []
        frontier = _Frontier(metrics)
        for name, row, column in (match for match in matches if match[0] == game["name"]):
            found, refusal = _read(source, (name, row, column), metrics)
            if not found:
                curves.notices.append(f"not shown: {row} v {column} on {name}: {refusal}")
                continue
            numbers = {}
            for metric, runs in found.items():
                kept = thinned(len(runs.rounds), points)
                band = Band.of(runs.values[kept])
                rounds = curves.shared_rounds(runs.rounds[kept].tolist())
                numbers[str(metrics.index(metric))] = [rounds, band.seeds, _short(band.mean), _short(band.half)]
            block.append((places[row], places[column], numbers))
            if learners[places[row]]["rate"] is not None:
                frontier.add(places[row], row == column, column == "best-response", found)
        if block:
            curves.games.append(game)
            curves.blocks.append(block)
            curves.frontiers.append(frontier.as_dict())
    return curves


class _Frontier:
    """COEBL with every c on a game: how far it is from converging by itself, and what a best response takes from it.

    Numbers are those of whole runs, of which the curves show some rounds.
    """

    def __init__(self, metrics: Sequence[str]) -> None:
        self._metrics = metrics
        self._selves: dict[int, dict[str, list[Any]]] = {}
        self._bests: dict[int, dict[str, list[Any]]] = {}

    def add(self, learner: int, is_self_play: bool, is_best_response: bool, found: Mapping[str, Runs]) -> None:
        """Take up a match of a learner, if it is one of those two."""
        if is_self_play:
            self._selves[learner] = _finite_ends(found)
        elif is_best_response:
            self._bests[learner] = _finite_ends({name: found[name] for name in _TABLE_METRICS if name in found})

    def as_dict(self) -> dict[str, Any] | None:
        """For the page: the metrics across, by how well they suit, and the points; None if there are too few."""
        for regret in _TABLE_METRICS:
            learners = [one for one in self._selves if regret in self._bests.get(one, ())]
            counts = {name: sum(name in self._selves[one] for one in learners) for name in self._metrics}
            across = [name for name, count in counts.items() if count >= _FEWEST_RATES]
            if across:
                across.sort(key=_suits)
                return {
                    "regret": self._metrics.index(regret),
                    "metrics": [self._metrics.index(name) for name in across],
                    "points": [
                        {
                            "learner": one,
                            "self": {str(self._metrics.index(name)): self._selves[one].get(name) for name in across},
                            "best": self._bests[one][regret],
                        }
                        for one in learners
                    ],
                }
        return None


def _suits(metric: str) -> tuple[bool, ...]:
    """A key that sorts metrics by how well they say that self-play has converged: last those that may be negative."""
    return (metric not in _CONVERGENCE[:1], metric not in _CONVERGENCE, metric in _TABLE_METRICS, _adds_up(metric))


def _finite_ends(found: Mapping[str, Runs]) -> dict[str, list[Any]]:
    """By metric: mean, half width, seeds, first and last round of the end of a match, where all of it is finite.

    The end is the last rounds, which are averaged by run; of what adds up over the rounds it is the very last.
    """
    ends = {}
    for metric, runs in found.items():
        within = runs.rounds > runs.rounds[-1] - (1 if _adds_up(metric) else LAST)
        band = Band.of(runs.values[within].mean(axis=0, keepdims=True))
        if math.isfinite(band.mean[0]):
            rounds = runs.rounds[within].tolist()
            ends[metric] = [*_short(band.mean), *_short(band.half), band.seeds, rounds[0], rounds[-1]]
    return ends


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


def _drawn(
    curves: _Curves, metrics: Sequence[str], among: Callable[[int, int], bool] = lambda row, column: True
) -> list[str]:
    """The metrics that are drawn of any match, or of any among these."""
    used = {
        place for block in curves.blocks for row, column, numbers in block if among(row, column) for place in numbers
    }
    return [metric for place, metric in enumerate(metrics) if str(place) in used]


# Names and colours


def _game(name: str, spec: str, noise: str) -> dict[str, Any]:
    """A game by the name that it has in the source; its noise only if there are several."""
    family, _, parameters = spec.partition(":")
    return {
        "name": name,
        "spec": spec,
        "family": family,
        "familyTitle": names.GAMES.get(family, family),
        "size": parameters,
        "sizeTitle": _parameters(parameters),
        "noise": noise,
        "noiseTitle": _parameters(noise.replace(":", ",")),
        "actions": _actions(spec),
    }


def _actions(game: str) -> list[int] | None:
    """How many actions the two players have, if the game is one of ours."""
    if game.partition(":")[0].endswith(".py"):
        return None  # to parse it would run the file
    try:
        return list(parse_game(game).payoff.shape)
    except InputError:
        return None


def _game_order(game: Mapping[str, Any]) -> tuple[Any, ...]:
    known = list(names.GAMES)
    place = known.index(game["family"]) if game["family"] in known else len(known)
    return (place, _natural(game["spec"]), _natural(game["noise"]))


def _natural(text: str) -> tuple[Any, ...]:
    """A key that sorts n=10 after n=9."""
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return tuple((float(part), "") if place % 2 else (-1.0, part) for place, part in enumerate(parts))


def _learners(matches: Sequence[tuple[str, str, str]], shown: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """Every learner with its looks: colour and dashes say the family, symbols the member of it.

    Those that are shown, by one preset or another, have the plainest lines.
    """
    specs = list(dict.fromkeys(spec for match in matches for spec in match[1:]))
    flat = [spec for chosen in shown for spec in chosen]
    first_shown = {spec: place for place, spec in reversed(list(enumerate(flat)))}
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


def _adds_up(metric: str) -> bool:
    """Whether a metric is a sum over the rounds."""
    return metric in METRICS and METRICS[metric].cumulative


def _metric(name: str) -> dict[str, Any]:
    words = names.metric_name(name)
    metric = METRICS.get(name)
    return {
        "name": name,
        "title": words.title,
        "definition": metric.definition if metric else "",
        "meaning": words.meaning,
        "distance": name in _DISTANCES,
        "cumulative": _adds_up(name),
    }


def _preset(preset: Preset, games: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"name": preset.name, "note": preset.note, "learners": [preset.on(game["spec"]) for game in games]}


# Verdicts and settings


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
    return _duration(about["seconds"]) + cells


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
            f"{_duration(sum(run.get('seconds') or 0 for run in runs))} in {len(runs)} run{'s' * (len(runs) > 1)}",
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
