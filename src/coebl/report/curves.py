"""What the page draws: curves and frontiers, as plain values for its script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coebl.core.errors import InputError
from coebl.plots.described import MetricWords
from coebl.report.frontier import Frontier, FrontierPoints
from coebl.report.numbers import short
from coebl.runs import Runs, Source
from coebl.statistics import Band

_POINTS = 100  # rounds of a curve that are kept
_FEWEST_POINTS = 20
_NUMBERS = 1_200_000  # that the curves of a page have together, at most: about six bytes each

MatchRuns = tuple[int, int, dict[str, Runs]]  # row, column, and by metric its runs
GameCurves = list[tuple[int, int, dict[str, list[Any]]]]  # row, column, by metric: rounds, seeds, means, half widths


@dataclass
class Curves:
    """What the page draws: the games with their matches and frontiers, and the rounds that several curves share."""

    games: list[dict[str, Any]] = field(default_factory=list)
    blocks: list[GameCurves] = field(default_factory=list)  # by game
    frontiers: list[dict[str, Any] | None] = field(default_factory=list)  # by game
    rounds: list[list[int]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    _places: dict[bytes, int] = field(default_factory=dict)  # of the rounds in their list, by their bytes

    def shared_rounds(self, runs: Runs) -> int:
        """The place of these rounds in the list of those in use."""
        place = self._places.setdefault(runs.rounds.tobytes(), len(self.rounds))
        if place == len(self.rounds):
            self.rounds.append(runs.rounds.tolist())
        return place

    def drawn(self, metrics: Sequence[str], among: Callable[[int, int], bool] = lambda row, column: True) -> list[str]:
        """The metrics that are drawn of any match, or of any among these."""
        used = {
            place for block in self.blocks for row, column, numbers in block if among(row, column) for place in numbers
        }
        return [metric for place, metric in enumerate(metrics) if str(place) in used]


def read_curves(
    source: Source,
    matches: Sequence[tuple[str, str, str]],
    games: Sequence[dict[str, Any]],
    metrics: Mapping[str, MetricWords],
    learners: Sequence[Mapping[str, Any]],
    frontier: Frontier | None,
) -> Curves:
    """The curves and frontiers of these matches; what cannot be read is left out, and a notice says why."""
    curves = Curves()
    points = max(_FEWEST_POINTS, min(_POINTS, _NUMBERS // (2 * max(1, len(matches) * len(metrics)))))
    names = list(metrics)
    places = {learner["spec"]: place for place, learner in enumerate(learners)}
    sweeps = {place: one["sweep"] for place, one in enumerate(learners) if one["sweep"] is not None}
    by_game: dict[str, list[tuple[str, str, str]]] = {}
    for match in matches:
        by_game.setdefault(match[0], []).append(match)
    for game in games:
        block: list[MatchRuns] = []
        ends = FrontierPoints(frontier, metrics, sweeps)
        for name, row, column in by_game[game["name"]]:
            found, refusal = _read(source, (name, row, column), names)
            if not found:
                curves.notices.append(f"not shown: {row} v {column} on {name}: {refusal}")
                continue
            thinned = {str(names.index(metric)): runs.thinned(points) for metric, runs in found.items()}
            block.append((places[row], places[column], thinned))
            ends.add(places[row], row, column, found)
        if block:
            curves.games.append(game)
            curves.blocks.append(_with_bands(curves, block))
            curves.frontiers.append(ends.entry())
    return curves


def _with_bands(curves: Curves, block: Sequence[MatchRuns]) -> GameCurves:
    """The matches of a game with means and half widths; all of one number of seeds are computed at once."""
    everything = [runs for _, _, found in block for runs in found.values()]
    numbers: list[Any] = [None] * len(everything)
    alike: dict[int, list[int]] = {}  # by the number of seeds, places among them all
    for place, runs in enumerate(everything):
        alike.setdefault(len(runs.seeds), []).append(place)
    for seeds, places in alike.items():
        band = Band.of(np.concatenate([everything[place].values for place in places]))
        means, halves = short(band.mean), short(band.half)
        end = 0
        for place in places:
            start, end = end, end + len(everything[place].rounds)
            numbers[place] = [curves.shared_rounds(everything[place]), seeds, means[start:end], halves[start:end]]
    in_turn = iter(numbers)
    return [(row, column, {metric: next(in_turn) for metric in found}) for row, column, found in block]


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
