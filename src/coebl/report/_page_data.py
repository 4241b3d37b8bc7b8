"""What the page draws: curves, the frontier, names and colours, as plain values for its script."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coebl.core.errors import InputError
from coebl.games import parse_game
from coebl.learners import parse_learner
from coebl.metrics import METRICS, metric_class
from coebl.report import names
from coebl.report.bands import Band, Floats, thinned
from coebl.report.plots import LAST
from coebl.report.style import STYLES
from coebl.study import Runs, Source

_POINTS = 100  # rounds of a curve that are kept
_FEWEST_POINTS = 20
_NUMBERS = 1_200_000  # that the curves of a page have together, at most: about six bytes each
_DIGITS = 5
_FAMILY_COLOURS = {name: str(STYLES[name]["color"]) for name in ("coebl", "ucb", "exp3", "exp3-ix")}
_OTHER_COLOURS = (str(STYLES["fifth"]["color"]), str(STYLES["sixth"]["color"]), "#7F7F7F", "#A6761D")
_DASHES = ("solid", "8px,4px", "9px,3px,2px,3px", "16px,4px", "16px,4px,3px,4px", "4px,3px")  # dots: the reference
_SYMBOLS = ("", "circle", "square", "diamond", "triangle-up", "x", "star", "cross", "triangle-down", "hexagon")
_DISTANCES = ("tv", "kl", "exploitability", "average_exploitability")  # the second figure; the first has the others
_TABLE_METRICS = ("pseudo_regret", "regret")  # of the head-to-head table: whose sign says who wins
_CONVERGENCE = ("exploitability", "tv")  # what the frontier has across, the first of them that is there
_FEWEST_RATES = 3  # that a frontier has


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
    return metric in METRICS and metric_class(metric).cumulative


def _metric(name: str) -> dict[str, Any]:
    words = names.metric_name(name)
    metric = metric_class(name) if name in METRICS else None
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
