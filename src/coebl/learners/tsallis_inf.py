"""Tsallis-INF (Zimmert and Seldin 2021): follow the regularised leader with 1/2-Tsallis entropy."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Annotated

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.specs import Range
from coebl.learners.base import Learner, Seat, Seen

# Of Newton's method; 5 reach the last bit at 1024 actions. A fixed number, so that no run depends on its batch.
_STEPS = 8


@dataclass
class TsallisInf(Learner):
    """Tsallis-INF with importance-weighted losses (Zimmert and Seldin 2021).

    Rewards are mapped from the range of the payoffs to [-1, 1], without clipping the noise. The regret grows as log T
    where the game has a strict pure equilibrium and as sqrt(T) otherwise (Ito, Luo, Tsuchiya and Wu 2025). The proven
    constants are for losses in a bounded range, so that no bound is given for unit noise.

        L_i = 0 for every action
        each round t, with eta = rate / sqrt(t):
          p_i = (eta (L_i - min L) + u)^-2, with u such that they add up to 1
          play i ~ p; r = the reward, mapped to [-1, 1]
          L_i += (1 - r) / p_i

    Args:
        rate: the learning rate of round t is rate / sqrt(t).
    """

    name = "tsallis-inf"
    title = "Tsallis-INF"
    colour = 6
    importance_weighted = True
    cites = (
        "Zimmert and Seldin (2021). Tsallis-INF: an optimal algorithm for stochastic and adversarial bandits. JMLR. "
        "In games: Ito, Luo, Tsuchiya and Wu (2025). Instance-dependent regret bounds for learning two-player "
        "zero-sum games with bandit feedback. arXiv:2502.17625."
    )

    rate: Annotated[float, Range(0, open_low=True)] = 0.5

    def start(self, seat: Seat) -> None:
        self.seat = seat
        self.loss = seat.zeros(seat.actions)  # (runs, m), L: the estimated total loss of every action

    def policy(self, t: int) -> Floats:
        return tsallis_weights(self.rate / sqrt(t) * self.loss)

    def observe(self, t: int, seen: Seen) -> None:
        # The reward form 1 - 1{i drawn} (1 - r) / p_i adds 1 to every action as well, which changes no policy.
        drawn = self.seat.at(seen.action)
        self.loss[drawn] += 2 * self.seat.unit_loss(seen.reward) / seen.probability


def tsallis_weights(loss: Floats) -> Floats:
    """Return p_i = (a_i + u)^-2 with a_i = loss_i - min loss, and u such that they sum to 1: (runs, m) from (runs, m).

    u lies in [1, sqrt(m)]. Newton's method is applied to (sum p_i)^(-1/2) = 1 from u = 1: the left side is a power
    mean of the a_i + u, which is concave and increasing in u. The steps therefore never pass the solution; one is
    enough where all losses are equal.

    >>> tsallis_weights(np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 1e9, 1e9, 1e9]])).round(6)
    array([[0.25, 0.25, 0.25, 0.25],
           [1.  , 0.  , 0.  , 0.  ]])
    """
    a = loss - loss.min(axis=-1, keepdims=True)
    u = np.ones_like(a[..., :1])
    for _ in range(_STEPS):
        inverse = 1 / (a + u)
        square = inverse * inverse
        total = square.sum(axis=-1, keepdims=True)
        step = total * (np.sqrt(total) - 1) / (square * inverse).sum(axis=-1, keepdims=True)
        u = np.minimum(u + step, sqrt(a.shape[-1]))
    inverse = 1 / (a + u)
    weights = inverse * inverse
    policy: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return policy
