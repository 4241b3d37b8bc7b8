"""All that the page shows of a source, read once: its curves, and what its games, learners and metrics are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coebl.plots.frontier import LAST
from coebl.plots.looks import natural
from coebl.plots.sweeps import find_sweeps
from coebl.report.curves import Curves, read_curves
from coebl.report.frontier import OPPONENT, REGRETS
from coebl.report.legend import Preset, game_entry, game_order, learner_entries, metric_entry, sweep_entry
from coebl.runs import MatchSpecs, Runs, Source
from coebl.study import Results


@dataclass(frozen=True)
class Content:
    """What the page draws, as plain values."""

    metrics: Sequence[str]
    learners: list[dict[str, Any]]
    sweeps: list[dict[str, str]]
    curves: Curves
    presets: Sequence[Preset]

    @property
    def drawn_metrics(self) -> list[dict[str, Any]]:
        """The metrics that any curve shows."""
        return [metric_entry(metric) for metric in self.curves.drawn(self.metrics)]

    @property
    def table_metric(self) -> int | None:
        """The place of the metric that the head-to-head table shows; None if there is no such table."""
        duels = self.curves.drawn(self.metrics, among=lambda row, column: row != column)
        return next((self.metrics.index(metric) for metric in REGRETS if metric in duels), None)

    @property
    def frontier_sweeps(self) -> list[dict[str, str]]:
        """The sweeps that have points in any frontier."""
        return [self.sweeps[place] for place in sorted({self.learners[one]["sweep"] for one in self._in_frontiers()})]

    def _in_frontiers(self) -> set[int]:
        return {point["learner"] for found in self.curves.frontiers if found for point in found["points"]}

    def for_script(self) -> dict[str, Any]:
        """What the page's script reads; the curves themselves are in blocks of their own."""
        return {
            "games": self.curves.games,
            "learners": self.learners,
            "sweeps": self.sweeps,
            "metrics": [metric_entry(metric) for metric in self.metrics],
            "rounds": self.curves.rounds,
            "presets": [preset.entry(self.curves.games) for preset in self.presets],
            "tableMetric": self.table_metric,
            "frontiers": self.curves.frontiers,
            "frontierOpponent": OPPONENT,
            "last": LAST,
        }


def read_content(source: Source, metrics: Sequence[str], presets: Sequence[Preset]) -> Content:
    """Read all of a source; of results with several noises, each game once per noise."""
    source = _with_noises_apart(source)
    parts = source.parts if isinstance(source, _ByNoise) else {}
    matches = sorted(source.matches(), key=lambda match: (*map(natural, match[1:]), match[0]))
    games = [game_entry(name, *parts.get(name, (name, ""))) for name in dict.fromkeys(match[0] for match in matches)]
    games.sort(key=game_order)
    specs = list(dict.fromkeys(spec for match in matches for spec in match[1:]))
    shown = [spec for preset in presets for game in games for spec in preset.on(game["spec"])]
    sweeps = find_sweeps(specs)
    learners = learner_entries(specs, shown, sweeps)
    curves = read_curves(source, matches, games, metrics, learners)
    return Content(metrics, learners, [sweep_entry(sweep) for sweep in sweeps], curves, presets)


class _ByNoise:
    """Results with several noises as a source in which every game is there once for each of its noises."""

    def __init__(self, results: Results, labels: Sequence[Mapping[str, str]]) -> None:
        self._results = results
        named = [(f"{label['game']}, {label['noise']}", label) for label in labels]
        self.parts = {name: (label["game"], label["noise"]) for name, label in named}
        self._matches = list(dict.fromkeys((name, label["row"], label["column"]) for name, label in named))

    def matches(self) -> list[MatchSpecs]:
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
