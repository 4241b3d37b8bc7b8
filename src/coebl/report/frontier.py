"""The frontier of a game: learners with many settings, by themselves and against one who sees their policies."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from coebl.plots.frontier import LAST
from coebl.plots.labels import metric_words
from coebl.report.numbers import short
from coebl.runs import Runs
from coebl.statistics import Band

OPPONENT = "best-response"  # upwards is what this learner takes from the others
REGRETS = ("pseudo_regret", "regret")  # the first that is there says who wins, by its sign
_CONVERGENCE = ("exploitability", "tv")  # what the frontier has across, the first of them that is there
_FEWEST = 3  # settings that a frontier has


class Frontier:
    """The learners of the sweeps on a game: how far each is from converging by itself, and what the opponent takes.

    Numbers are those of whole runs, of which the curves show some rounds.
    """

    def __init__(self, metrics: Sequence[str], sweeps: Mapping[int, int]) -> None:
        self._metrics = metrics
        self._sweeps = sweeps  # learner to its sweep
        self._selves: dict[int, dict[str, list[Any]]] = {}
        self._bests: dict[int, dict[str, list[Any]]] = {}

    def add(self, learner: int, row: str, column: str, found: Mapping[str, Runs]) -> None:
        """Take up a match of a learner, if it is one of those two."""
        if learner not in self._sweeps:
            return
        if row == column:
            self._selves[learner] = _finite_ends(found)
        elif column == OPPONENT:
            self._bests[learner] = _finite_ends({name: found[name] for name in REGRETS if name in found})

    def entry(self) -> dict[str, Any] | None:
        """For the script: the metrics across, by how well they suit, and the points; None if there are too few."""
        for regret in REGRETS:
            learners = [one for one in self._selves if regret in self._bests.get(one, ())]
            across = sorted((name for name in self._metrics if self._are_enough(name, learners)), key=_suits)
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


def _suits(metric: str) -> tuple[bool, ...]:
    """A key that sorts metrics by how well they say that self-play has converged: last those that may be negative."""
    adds_up = metric_words(metric).cumulative
    return (metric not in _CONVERGENCE[:1], metric not in _CONVERGENCE, metric in REGRETS, adds_up)


def _finite_ends(found: Mapping[str, Runs]) -> dict[str, list[Any]]:
    """By metric: mean, half width, seeds, first and last round of the end of a match, where all of it is finite.

    The end is the last rounds, which are averaged by run; of what adds up over the rounds it is the very last.
    """
    ends = {}
    for metric, runs in found.items():
        end = runs.ending(1 if metric_words(metric).cumulative else LAST)
        band = Band.of(end.values.mean(axis=0, keepdims=True))
        if math.isfinite(band.mean[0]):
            rounds = end.rounds.tolist()
            ends[metric] = [*short(band.mean), *short(band.half), band.seeds, rounds[0], rounds[-1]]
    return ends
