"""What the page draws: curves and frontiers, as plain values for its script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.errors import InputError
from coebl.evidence.statistics import ALPHA, Band, holm, paired_difference
from coebl.naming import MetricWords
from coebl.report.frontier import Frontier, FrontierPoints
from coebl.report.numbers import HALF_DIGITS, short
from coebl.runs import Runs, Source

_POINTS = 50  # rounds of a curve that are kept
_FEWEST_POINTS = 20
_NUMBERS = 500_000  # that the curves of a page have together, at most, but for very many: about eight bytes each

MatchRuns = tuple[int, int, dict[str, Runs]]  # row, column, and by metric its runs
# Row, column, and by metric: rounds, seeds, means, half widths, and in head-to-heads,
# where the sign says who is ahead: 0 if nobody is, 1 if somebody is before Holm's correction only, 2 if also after it.
GameCurves = list[tuple[int, int, dict[str, list[Any]]]]


@dataclass
class Curves:
    """What the page draws: the games with their matches and frontiers, and the rounds that several curves share."""

    games: list[dict[str, Any]] = field(default_factory=list)
    blocks: list[GameCurves] = field(default_factory=list)  # by game
    frontiers: list[dict[str, Any] | None] = field(default_factory=list)  # by game
    rounds: list[list[int]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    below_zero: set[str] = field(default_factory=set)  # metrics that any run has below 0
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
    signed = {str(place) for place, name in enumerate(names) if metrics[name].signed}
    last_rounds: dict[str, list[tuple[list[Any], Floats]]] = {}  # by metric, of every head-to-head
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
            curves.below_zero |= {metric for metric, runs in found.items() if runs.values.min() < 0}
            thinned = {str(names.index(metric)): runs.thinned(points) for metric, runs in found.items()}
            block.append((places[row], places[column], thinned))
            ends.add(places[row], row, column, found)
        if block:
            curves.games.append(game)
            curves.blocks.append(_with_bands(curves, block))
            for (first, second, numbers), (_, _, of_match) in zip(curves.blocks[-1], block, strict=True):
                for place in signed.intersection(numbers if first != second else ()):
                    last = of_match[place].values[-1].copy()  # a view would keep all rounds in memory
                    last_rounds.setdefault(place, []).append((numbers[place], last))
            curves.frontiers.append(ends.entry())
    _add_standings(curves, last_rounds)
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
        means, halves = short(band.mean), short(band.half, HALF_DIGITS)
        end = 0
        for place in places:
            start, end = end, end + len(everything[place].rounds)
            numbers[place] = [curves.shared_rounds(everything[place]), seeds, means[start:end], halves[start:end]]
    in_turn = iter(numbers)
    return [(row, column, {metric: next(in_turn) for metric in found}) for row, column, found in block]


def _add_standings(curves: Curves, ends: Mapping[str, Sequence[tuple[list[Any], Floats]]]) -> None:
    """Add to each head-to-head what its last round says; by metric, all head-to-heads of the page are one family."""
    for duels in ends.values():
        raw = [_p_value(last) for _, last in duels]
        for (numbers, _), before, after in zip(duels, raw, holm(raw), strict=True):
            numbers.append((before <= ALPHA) + (after <= ALPHA))


def _p_value(last: Floats) -> float:
    """Of a mean of 0, two-sided; 1 where there is nothing to test."""
    if len(last) < 2 or not np.isfinite(last).all():
        return 1.0
    return paired_difference(last, 0 * last, seeds=range(len(last))).p


def are_logarithmic(rounds: Sequence[int]) -> bool:
    """Whether rounds were recorded ever more rarely, so that they are to be drawn on a logarithmic axis.

    >>> are_logarithmic([1, 2, 4, 8, 16, 32]), are_logarithmic([10, 20, 30, 40, 50, 55])
    (True, False)
    """
    steps = [after - before for before, after in pairwise(rounds)]
    return len(steps) > 3 and steps[-1] >= 8 * steps[0] and all(0.7 * b <= a for b, a in pairwise(steps[:-1]))


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
