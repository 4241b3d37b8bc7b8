"""UMDA: generations of genomes, the better half of which gives the next marginals."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Annotated

import numpy as np

from coebl.backend import log
from coebl.core.arrays import Floats
from coebl.core.specs import Range
from coebl.learners.base import Learner, Seat, Seen


@dataclass
class Umda(Learner):
    """The univariate marginal distribution algorithm, by observed rewards.

        p = 1/2; a generation is L = size sqrt(n) ln n rounds, at least 4
        each round: play x ~ p; see r
        after each generation: p = the mean of the L / 2 genomes of largest r, the earlier of equals

    Args:
        size: the rounds of a generation, in units of sqrt(n) ln n.
    """

    name = "umda"
    title = "UMDA"
    plays = frozenset({"bits"})
    cites = "Mühlenbein and Paass (1996). From recombination of genes to the estimation of distributions. PPSN IV."

    size: Annotated[float, Range(0, open_low=True)] = 8.0

    def start(self, seat: Seat) -> None:
        n = seat.actions
        self.length = max(4, round(self.size * sqrt(n) * log(n)))
        self.current = seat.full(0.5, n)  # (runs, n), p
        self.genomes = seat.zeros(self.length, n)  # (runs, L, n), of this generation
        self.rewards = seat.zeros(self.length)  # (runs, L)
        self._played = 0

    def policy(self, t: int) -> Floats:
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        self.genomes[:, self._played] = seen.action
        self.rewards[:, self._played] = seen.reward
        self._played += 1
        if self._played == self.length:
            better = np.argsort(-self.rewards, axis=-1, kind="stable")[:, : self.length // 2]
            self.current = np.take_along_axis(self.genomes, better[..., None], axis=1).mean(axis=1)
            self._played = 0

    def cost(self, actions: int, opponent_actions: int) -> float:
        """Return the approximate microseconds of a round per run: a copy of the genome."""
        return 0.3 + 0.003 * actions
