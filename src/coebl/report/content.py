"""All that the page shows of a source, read once: its curves, and what its games, learners and metrics are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from coebl.core.text import natural
from coebl.naming import Known, MetricWords, find_sweeps, known_to, metric_words
from coebl.plots.curves import Reference
from coebl.plots.frontier import LAST
from coebl.report.curves import Curves, are_logarithmic, read_curves
from coebl.report.frontier import Frontier, default_frontier
from coebl.report.legend import Preset, game_entry, game_order, learner_entries, metric_entry, sweep_entry
from coebl.report.numbers import short
from coebl.runs import Runs, Source
from coebl.study import Results


@dataclass(frozen=True)
class Content:
    """What the page draws, as plain values."""

    metrics: Mapping[str, MetricWords]
    learners: list[dict[str, Any]]
    sweeps: list[dict[str, str]]
    curves: Curves
    presets: Sequence[Preset]
    frontier: Frontier | None
    reference: Reference | None
    known: Known

    @property
    def drawn_metrics(self) -> list[dict[str, Any]]:
        """The metrics that any curve shows."""
        return [metric_entry(metric, self.metrics[metric]) for metric in self.curves.drawn(list(self.metrics))]

    @cached_property
    def table_metric(self) -> int | None:
        """The place of the metric that the head-to-head table shows; None if there is no such table."""
        names = list(self.metrics)
        duels = self.curves.drawn(names, among=lambda row, column: row != column)
        return next((names.index(metric) for metric in duels if self.metrics[metric].signed), None)

    @property
    def table_title(self) -> str:
        """What the head-to-head table shows."""
        return "" if self.table_metric is None else list(self.metrics.values())[self.table_metric].title

    @property
    def frontier_opponent(self) -> str:
        """The title of the opponent of the frontiers."""
        opponent = self.frontier and self.frontier.opponent
        return next((str(one["title"]) for one in self.learners if one["spec"] == opponent), "")

    @property
    def frontier_sweeps(self) -> list[dict[str, str]]:
        """The sweeps that have points in any frontier."""
        return [self.sweeps[place] for place in sorted({self.learners[one]["sweep"] for one in self._in_frontiers()})]

    def _in_frontiers(self) -> set[int]:
        return {point["learner"] for found in self.curves.frontiers if found for point in found["points"]}

    def for_script(self) -> dict[str, Any]:
        """What the page's script reads; the curves themselves are in blocks of their own."""
        return {
            "games": [game | {"reference": self._reference(place)} for place, game in enumerate(self.curves.games)],
            "learners": self.learners,
            "sweeps": self.sweeps,
            "metrics": [
                metric_entry(name, words) | {"floored": name not in self.curves.below_zero}
                for name, words in self.metrics.items()
            ],
            "rounds": self.curves.rounds,
            "logarithmic": [are_logarithmic(rounds) for rounds in self.curves.rounds],
            "presets": [preset.entry(self.curves.games) for preset in self.presets],
            "tableMetric": self.table_metric,
            "frontiers": self.curves.frontiers,
            "frontierOpponent": self.frontier and self.frontier.opponent,
            "last": LAST,
        }

    def _reference(self, place: int) -> dict[str, Any] | None:
        """The reference line of a square game, by the place of the rounds that it is drawn at."""
        rows, columns = self.curves.games[place]["actions"] or (0, 1)
        if self.reference is None or rows != columns:
            return None
        selves = [found for row, column, found in self.curves.blocks[place] if row == column]
        used = {numbers[0] for found in selves for numbers in found.values()}
        heights = {str(at): self.reference.height(rows, np.array(self.curves.rounds[at], float)) for at in sorted(used)}
        return {
            "label": f"{self.reference.label}, K = {rows}",
            "heights": {at: short(numbers) for at, numbers in heights.items()},
        }


def read_content(
    source: Source,
    metrics: Sequence[str],
    presets: Sequence[Preset],
    frontier: Frontier | None,
    reference: Reference | None,
) -> Content:
    """Read all of a source; results with several noises have each game once per noise."""
    known = known_to(source)
    words = {name: metric_words(name, known) for name in metrics}
    source = _with_noises_apart(source)
    parts = source.parts if isinstance(source, _ByNoise) else {}
    matches = sorted(source.matches(), key=lambda match: (*map(natural, match[1:]), match[0]))
    games = [game_entry(name, *parts.get(name, (name, ""))) for name in dict.fromkeys(match[0] for match in matches)]
    games.sort(key=game_order)
    specs = list(dict.fromkeys(spec for match in matches for spec in match[1:]))
    shown = [spec for preset in presets for game in games for spec in preset.on(game["spec"])]
    sweeps = find_sweeps(specs, known)
    learners = learner_entries(specs, shown, sweeps, known)
    frontier = frontier or default_frontier(specs)
    curves = read_curves(source, matches, games, words, learners, frontier)
    entries = [sweep_entry(sweep, known) for sweep in sweeps]
    return Content(words, learners, entries, curves, presets, frontier, reference, known)


class _ByNoise:
    """Results with several noises as a source in which every game is there once for each of its noises."""

    def __init__(self, results: Results, labels: Sequence[Mapping[str, str]]) -> None:
        self._results = results
        named = [(f"{label['game']}, {label['noise']}", label) for label in labels]
        self.parts = {name: (label["game"], label["noise"]) for name, label in named}
        self._matches = list(dict.fromkeys((name, label["row"], label["column"]) for name, label in named))

    def matches(self) -> list[tuple[str, str, str]]:
        return self._matches

    def runs(self, game: str, row: str, column: str, metric: str) -> Runs:
        name, noise = self.parts[game]
        return self._results.runs(name, row, column, metric, noise=noise)


def _with_noises_apart(source: Source) -> Source:
    """Results with several noises, which would not say which one is meant, as a source that asks for each."""
    if not isinstance(source, Results):
        return source
    labels = [cell["labels"] for cell in source.metadata()]
    return _ByNoise(source, labels) if len({label["noise"] for label in labels}) > 1 else source
