"""PBIL: marginals that move towards the genomes that earned more than usual."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Annotated, Literal

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.specs import Range
from coebl.learners.base import Learner, Seat, Seen

_BASELINE = 0.02  # the share of a reward in the running mean
_DRIFT = 0.3  # of 1 / eta², the rounds after which chance alone moves a gene that does not matter


@dataclass
class Pbil(Learner):
    """Population-based incremental learning from one genome a round: the natural gradient of independent bits.

    The step size decides between speed and genetic drift, the movement of genes whose effect is hidden. "smart" is the
    restart of Doerr and Zheng: when drift would have moved a gene without effect, it restarts with half the step.

        p = 1/2, b = 0; eta = 0.05 / sqrt(n) (fast) or 0.1 / n (safe)
        each round: play x ~ p; see r, in units of half the known range
          p += eta (r - b) (x - p) + eta magnet (1/2 - p), kept in [0, 1]; b += 0.02 (r - b)
        smart: begin with the fast step; after 0.3 / eta² rounds set p = 1/2, b = 0 and halve eta

    Args:
        step: how eta depends on the number of genes: fast, safe, or smart restarts.
        magnet: the pull towards 1/2, which keeps genes from being decided for good.
    """

    name = "pbil"
    title = "PBIL"
    plays = frozenset({"bits"})
    cites = "Baluja (1994). Population-based incremental learning. Technical report CMU-CS-94-163."

    step: Literal["fast", "safe", "smart"] = "fast"
    magnet: Annotated[float, Range(0)] = 0.0

    def start(self, seat: Seat) -> None:
        n = seat.actions
        self.seat = seat
        self.eta = 0.1 / n if self.step == "safe" else 0.05 / sqrt(n)
        self._begin(1)

    def _begin(self, t: int) -> None:
        self.current = self.seat.full(0.5, self.seat.actions)  # (runs, n), p
        self.usual = self.seat.zeros()  # (runs,), b
        self._restart_at = t + int(_DRIFT / self.eta**2) if self.step == "smart" else 0

    def policy(self, t: int) -> Floats:
        if t == self._restart_at:
            self.eta /= 2
            self._begin(t)
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        surprise = 2 * self.seat.unit(seen.reward) - 1 - self.usual
        moved = self.current + (self.eta * surprise)[:, None] * (seen.action - self.current)
        if self.magnet:
            moved += self.eta * self.magnet * (0.5 - self.current)
        self.current = np.clip(moved, 0.0, 1.0)
        self.usual = self.usual + _BASELINE * surprise

    def cost(self, actions: int, opponent_actions: int) -> float:
        """Return the approximate microseconds of a round per run: a few operations per gene."""
        return 0.3 + 0.008 * actions
