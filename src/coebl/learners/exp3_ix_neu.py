"""Exp3-IX as in Neu (2015): exponential weights with implicit exploration, own reward alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from coebl.core.arrays import Floats
from coebl.learners.base import Learner, Seat, Seen
from coebl.learners.parts.responses import softmax


@dataclass
class Exp3IxNeu(Learner):
    """Exp3-IX as in Neu (2015): a loss is divided by a little more than its probability.

    That makes the estimated losses smaller than the true ones on average, which is what explores. It is true of losses
    >= 0 alone, so rewards are mapped to losses in [0, 1] by the range of the payoffs and clipped there: a negative loss
    would turn the bias around. Clipping noise moves the mean losses towards 1/2, so no bound is given for unit noise.

    Without a horizon it is anytime, with t instead of T.

        L_i = 0 for every action
        each round, with eta = sqrt(2 log(m) / (m T)):
          p = softmax(-eta L); play i ~ p
          l = (hi - reward) / (hi - lo), clipped to [0, 1]
          L_i += l / (p_i + eta / 2)
    """

    name = "exp3-ix-neu"
    title = "Exp3-IX (Neu)"
    cites = "Neu (2015). Explore no more: improved high-probability regret bounds for non-stochastic bandits. NeurIPS."

    def start(self, seat: Seat) -> None:
        """All estimated losses are 0."""
        self.seat = seat
        self.loss = seat.zeros(seat.actions)  # (runs, m), the estimated total loss of every action

    def policy(self, t: int) -> Floats:
        """p_i in proportion to exp(-eta L_i)."""
        self.current = softmax(-self.loss, self._rate(t))  # (runs, m)
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        """L_i += 1{i drawn} l / (p_i + gamma), with gamma = eta / 2."""
        drawn = self.seat.at(seen.action)
        loss = np.minimum(1, np.maximum(0, self.seat.unit_loss(seen.reward)))
        self.loss[drawn] += loss / (self.current[drawn] + self._rate(t) / 2)

    def _rate(self, t: int) -> float:
        """eta = sqrt(2 log(m) / (m T))."""
        m = self.seat.actions
        return sqrt(2 * log(m) / (m * (self.seat.horizon or t)))
