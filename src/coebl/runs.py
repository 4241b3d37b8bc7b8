"""What plots, claims and pages read: one metric of one match at a time, for all seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

import numpy as np

from coebl.core.arrays import Floats, Ints


@dataclass(frozen=True)
class Runs:
    """One metric of one match: a number per recorded round and seed."""

    rounds: Ints  # (recorded,), increasing
    seeds: Ints  # (runs,), increasing
    values: Floats  # (recorded, runs)
    horizon: int | None = None  # how many rounds the match has, if that is known
    noise: str | None = None  # its spec, if it is known

    def thinned(self, points: int) -> Runs:
        """Thin to at most `points` rounds, evenly spread, including the first and last.

        >>> Runs(np.arange(1, 10), np.arange(2), np.zeros((9, 2))).thinned(3).rounds
        array([1, 5, 9])
        """
        if len(self.rounds) <= points:
            return self
        kept = _evenly_spread(len(self.rounds), points)
        return replace(self, rounds=self.rounds[kept], values=self.values[kept])

    def ending(self, rounds: int) -> Runs:
        """The recorded rounds within the last `rounds` rounds.

        >>> Runs(np.arange(10, 101, 10), np.arange(2), np.zeros((10, 2))).ending(25).rounds
        array([ 80,  90, 100])
        """
        kept = self.rounds > self.rounds[-1] - rounds
        return replace(self, rounds=self.rounds[kept], values=self.values[kept])


@lru_cache(maxsize=64)  # a page asks for the same places many thousand times
def _evenly_spread(length: int, points: int) -> Ints:
    """The indices of `points` entries of a list, evenly spread, including the first and last."""
    return np.unique(np.linspace(0, length - 1, points).round().astype(np.int64))


class Source(Protocol):
    """What plots and claims read from: the results of a study, or anything that answers as they do.

    >>> from coebl import simulate
    >>> class Played:
    ...     def matches(self):
    ...         return [("rps", "ucb", "exp3")]
    ...
    ...     def runs(self, game, row, column, metric):
    ...         result = simulate(game, row, column, rounds=50, seeds=4, metrics=[metric])
    ...         return Runs(result.rounds, result.seeds, result.metrics[metric])
    >>> from coebl.plots import plot_panels
    >>> figure = plot_panels(Played(), "pseudo_regret", Played().matches())
    """

    def matches(self) -> Sequence[tuple[str, str, str]]:
        """Game, row and column of every match."""

    def runs(self, game: str, row: str, column: str, metric: str) -> Runs:
        """One metric of one match at every recorded round, for all seeds; an InputError if it is not there.

        Args:
            game: its spec.
            row: the row learner's spec.
            column: the column learner's spec.
            metric: its name.
        """
