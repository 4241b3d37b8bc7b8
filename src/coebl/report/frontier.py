"""The frontier of a game: the settings of a learner, each by itself and against one opponent."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coebl.evidence.statistics import Band
from coebl.learners import LEARNERS
from coebl.naming import MetricWords
from coebl.plots.frontier import LAST
from coebl.report.numbers import short
from coebl.runs import Runs

_FEWEST = 3  # settings that a frontier has


@dataclass(frozen=True)
class Frontier:
    """What a frontier has across, a metric of self-play, and upwards, what an opponent takes."""

    opponent: str  # its spec
    metrics: Sequence[str] = ()  # to have across, the first of them that is there; the reader may choose another


def default_frontier(specs: Iterable[str]) -> Frontier | None:
    """The frontier of a study that names none: against the first learner that sees the policy of the other."""
    entries = {spec: LEARNERS.registered(spec) for spec in specs}
    seers = (spec for spec, entry in entries.items() if entry and "policy" in getattr(entry.factory, "sees", ()))
    opponent = next(seers, None)
    return None if opponent is None else Frontier(opponent)


class FrontierPoints:
    """The learners of the sweeps on a game: how far each is from converging by itself, and what the opponent takes.

    Numbers are those of whole runs, of which the curves show some rounds. What the opponent takes is measured by the
    first metric that is there of those whose sign says who is ahead.
    """

    def __init__(
        self, frontier: Frontier | None, metrics: Mapping[str, MetricWords], sweeps: Mapping[int, int]
    ) -> None:
        self._frontier = frontier
        self._words = metrics
        self._metrics = list(metrics)
        self._leads = [name for name, words in metrics.items() if words.signed]
        self._sweeps = sweeps  # learner to its sweep
        self._selves: dict[int, dict[str, list[Any]]] = {}
        self._bests: dict[int, dict[str, list[Any]]] = {}

    def add(self, learner: int, row: str, column: str, found: Mapping[str, Runs]) -> None:
        """Take up a match of a learner, if it is one of those two."""
        if learner not in self._sweeps or self._frontier is None:
            return
        if row == column:
            self._selves[learner] = self._finite_ends(found)
        elif column == self._frontier.opponent:
            self._bests[learner] = self._finite_ends({name: found[name] for name in self._leads if name in found})

    def entry(self) -> dict[str, Any] | None:
        """For the script: the metrics across, by how well they suit, and the points; None if there are too few."""
        for regret in self._leads:
            learners = [one for one in self._selves if regret in self._bests.get(one, ())]
            across = sorted((name for name in self._metrics if self._are_enough(name, learners)), key=self._suits)
            if across:
                return {
                    "regret": self._metrics.index(regret),
                    "metrics": [self._metrics.index(name) for name in across],
                    "points": [self._point(one, across, regret) for one in learners],
                }
        return None

    def _are_enough(self, metric: str, learners: Sequence[int]) -> bool:
        """Whether one of the sweeps has this metric often enough."""
        counts = Counter(self._sweeps[one] for one in learners if metric in self._selves[one])
        return max(counts.values(), default=0) >= _FEWEST

    def _point(self, learner: int, across: Sequence[str], regret: str) -> dict[str, Any]:
        ends = self._selves[learner]
        own = {str(self._metrics.index(name)): ends.get(name) for name in across}
        return {"learner": learner, "self": own, "best": self._bests[learner][regret]}

    def _suits(self, metric: str) -> tuple[bool | int, ...]:
        """A key that sorts metrics by how well they say that self-play has converged: the signed ones are last."""
        wanted = list(self._frontier.metrics) if self._frontier else []
        words = self._words[metric]
        return (wanted.index(metric) if metric in wanted else len(wanted), words.signed, words.cumulative)

    def _finite_ends(self, found: Mapping[str, Runs]) -> dict[str, list[Any]]:
        """By metric: mean, half width, seeds, first and last round of the end of a match, where all of it is finite.

        The end is the last rounds, which are averaged by run; for cumulative metrics it is the last round.
        """
        ends = {}
        for metric, runs in found.items():
            end = runs.ending(1 if self._words[metric].cumulative else LAST)
            band = Band.of(end.values.mean(axis=0, keepdims=True))
            if math.isfinite(band.mean[0]):
                rounds = end.rounds.tolist()
                ends[metric] = [*short(band.mean), *short(band.half), band.seeds, rounds[0], rounds[-1]]
        return ends
