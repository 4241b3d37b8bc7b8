"""gene-lr: a belief about the effect of each gene, played by its likelihood ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from coebl.backend import exp
from coebl.core.arrays import Floats
from coebl.core.specs import Range
from coebl.learners.base import Learner, Seat, Seen

_INFORMATION = 4.0  # I0, of the belief before the first round
_LEAST_VARIANCE = 0.02


@dataclass
class GeneLr(Learner):
    """The effect of each gene by regression on x - p, and odds by the likelihood ratio that its sign is right.

    A gene is decided as fast as the evidence allows, and there is no step size to choose. A gene that is undecided
    forgets slowly, since its effect depends on the opponent.

        h_i = 0, I_i = I0 = 4, w_i = 0, b = 0, s2 = 2; lam = 1 / (memory n); border = 0.02 / n
        each round: z_i = w_i sqrt(I_i); p_i = 1 / (1 + exp(-z_i |z_i| / 2)), kept in [border, 1 - border]
          play x ~ p; see r, in units of half the known range; d_i = x_i - p_i; e = r - b - sum_i w_i d_i
          f_i = 1 - 4 lam p_i (1 - p_i)
          h_i = f_i h_i + (e + w_i d_i) d_i / s2; I_i = f_i I_i + (1 - f_i) I0 + d_i² / s2; w_i = h_i / I_i
          b += max(0.02, 1/t) e; s2 = max(0.02, s2 + 0.01 (e² - s2))

    Args:
        memory: the number of rounds per gene after which an undecided gene has forgotten.
        border: n times the least probability of either bit.
    """

    name = "gene-lr"
    title = "Gene-LR"
    plays = frozenset({"bits"})
    cites = "This library: docs/large-games.md."

    memory: Annotated[float, Range(1)] = 50.0
    border: Annotated[float, Range(0, 1)] = 0.02

    def start(self, seat: Seat) -> None:
        n = seat.actions
        self.seat = seat
        self._forget = 4 / (self.memory * n)
        self._border = min(0.5, self.border / n)
        self.score = seat.zeros(n)  # (runs, n), h
        self.information = seat.full(_INFORMATION, n)  # (runs, n), I
        self.effect = seat.zeros(n)  # (runs, n), w
        self.usual = seat.zeros()  # (runs,), b
        self.variance = seat.full(2.0)  # (runs,), s2: payoffs and noise of one unit each
        self.current = seat.full(0.5, n)  # (runs, n), p

    def policy(self, t: int) -> Floats:
        # z |z| / 2 in terms of h and w: the exponent is bounded so that exp stays finite.
        exponent = np.clip(self.score * np.abs(self.effect) / 2, -700.0, 700.0)
        self.current = np.clip(1 / (1 + exp(-exponent)), self._border, 1 - self._border)
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        p = self.current
        deviation = seen.action - p
        predicted = self.effect * deviation
        error = 2 * self.seat.unit(seen.reward) - 1 - self.usual - predicted.sum(axis=-1)
        forgotten = self._forget * p * (1 - p)
        weight = deviation / self.variance[:, None]
        self.score = (1 - forgotten) * self.score + (error[:, None] + predicted) * weight
        self.information = self.information + forgotten * (_INFORMATION - self.information) + deviation * weight
        self.effect = self.score / self.information
        self.usual = self.usual + max(0.02, 1 / t) * error
        self.variance = np.maximum(_LEAST_VARIANCE, self.variance + 0.01 * (error**2 - self.variance))

    def cost(self, actions: int, opponent_actions: int) -> float:
        """Return the approximate microseconds of a round per run: some twenty operations per gene."""
        return 0.5 + 0.02 * actions
