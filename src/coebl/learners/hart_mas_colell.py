"""The reinforcement procedure of Hart and Mas-Colell (2001): regret matching for a player who sees only its rewards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from coebl.backend import exp, log
from coebl.core.arrays import Floats
from coebl.core.specs import Range
from coebl.learners.base import Learner, Seat, Seen


@dataclass
class HartMasColell(Learner):
    """Modified regret matching (Hart and Mas-Colell 2001), whose joint play approaches the correlated equilibria.

    A player repeats its last action j, and leaves it for another one k in proportion to the regret of not having played
    k where it played j. What k would have earned there is estimated from the rounds in which it was played, weighed
    by how likely j was. `regret-matching` is the procedure of 2000 for external regret, with full information.

    Rewards are mapped from the known range to [-1, 1], without clipping the noise.

        W_jk = 0 for every pair of its actions
        each round t, after the last action j, with mu = 2 inertia (m - 1) and delta = explore / t^decay:
          Q_k = max(0, W_jk - W_jj) / (t - 1)
          p_k = (1 - delta) min(Q_k / mu, 1 / (m - 1)) + delta / m for k other than j; p_j is the rest
          play k ~ p; W_ik += p_i / p_k times the reward from -1 to 1, for every i

    Args:
        inertia: how strongly it stays with its last action; the theorem asks for 1 or more.
        explore: the share of exploration in the first round.
        decay: the power of t with which exploration falls; the theorem asks for less than 1/4.
    """

    name = "hart-mas-colell"
    title = "Hart-Mas-Colell"
    importance_weighted = True
    cites = (
        "Hart and Mas-Colell (2001). A reinforcement procedure leading to correlated equilibrium. In: Economics "
        "essays, a Festschrift for Werner Hildenbrand. Springer."
    )

    inertia: Annotated[float, Range(0, open_low=True)] = 1.0
    explore: Annotated[float, Range(0, 1, open_low=True)] = 1.0
    decay: Annotated[float, Range(0, 1)] = 0.24

    def start(self, seat: Seat) -> None:
        self.seat = seat
        self.outcomes = 0
        self.last = seat.at(seat.zeros().astype(np.int64))  # the index of the last action, if there was one
        self.earned = seat.zeros(seat.actions, seat.actions)  # (runs, m, m), W
        self.current = seat.full(1 / seat.actions, seat.actions)  # (runs, m)

    def policy(self, t: int) -> Floats:
        m = self.seat.actions
        if self.outcomes and m > 1:
            delta = self.explore * exp(-self.decay * log(t))
            earned = self.earned[self.last]  # (runs, m)
            regret = np.maximum(0, earned - earned[self.last][:, None]) / self.outcomes
            move = np.minimum(regret / (2 * self.inertia * (m - 1)), 1 / (m - 1))  # 0 for the last action itself
            self.current = (1 - delta) * move + delta / m
            self.current[self.last] = 0
            self.current[self.last] = 1 - self.current.sum(axis=-1)
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        self.outcomes += 1
        self.last = self.seat.at(seen.action)
        weighted = (2 * self.seat.unit(seen.reward) - 1) / seen.probability
        self.earned[self.last[0], :, seen.action] += self.current * weighted[:, None]
