"""What plots, claims and pages read: one metric of one match at a time, for all seeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

import numpy as np

from coebl.core.arrays import Floats, Ints

MatchSpecs = tuple[str, str, str]  # of the game, the row learner and the column learner


@dataclass(frozen=True)
class Runs:
    """One metric of one match: a number per recorded round and seed."""

    rounds: Ints  # (recorded,), increasing
    seeds: Ints  # (runs,), increasing
    values: Floats  # (recorded, runs)
    horizon: int | None = None  # how many rounds the match has, and its noise, where they are known
    noise: str | None = None

    def thinned(self, points: int) -> Runs:
        """The same at so many rounds at most, evenly spread, the first and the last among them.

        >>> Runs(np.arange(1, 10), np.arange(2), np.zeros((9, 2))).thinned(3).rounds
        array([1, 5, 9])
        """
        if len(self.rounds) <= points:
            return self
        kept = _evenly_spread(len(self.rounds), points)
        return replace(self, rounds=self.rounds[kept], values=self.values[kept])

    def ending(self, rounds: int) -> Runs:
        """The same at those recorded rounds that are among the last so many of all rounds.

        >>> Runs(np.arange(10, 101, 10), np.arange(2), np.zeros((10, 2))).ending(25).rounds
        array([ 80,  90, 100])
        """
        kept = self.rounds > self.rounds[-1] - rounds
        return replace(self, rounds=self.rounds[kept], values=self.values[kept])


@lru_cache(maxsize=64)  # a page asks for the same places many thousand times
def _evenly_spread(length: int, points: int) -> Ints:
    """So many places in a list, the first and the last among them."""
    return np.unique(np.linspace(0, length - 1, points).round().astype(np.int64))


class Source(Protocol):
    """What plots and claims read from: the results of a study, or anything that answers as they do."""

    def matches(self) -> list[MatchSpecs]:
        """Game, row and column of every match."""

    def runs(self, game: str, row: str, column: str, metric: str) -> Runs:
        """One metric of one match at every recorded round, for all seeds; an InputError if it is not there."""
