"""Magnetic mirror descent (Sokota et al. 2023), in a form for bandits: last iterates that approach the equilibrium."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Annotated

from coebl.core.arrays import Floats
from coebl.core.specs import Range
from coebl.learners.base import Learner, Seat, Seen
from coebl.learners.parts import softmax


@dataclass
class Mmd(Learner):
    """Magnetic mirror descent (Sokota et al. 2023), with importance-weighted rewards and a uniform magnet.

    x_{t+1} is in proportion to (x_t rho^(eta tau) exp(eta q))^(1 / (1 + eta tau)), with rho uniform. The magnet keeps
    policies from cycling, and its pull, tau, falls slowly enough for the noise of the estimates to average out. The
    source has full feedback. The estimates, q_i = 1 - 1{i drawn} (1 - r) / (x_i + eta / 2) with r mapped to [0, 1] and
    not clipped, and both schedules are ours, so that nothing is proven of them. The eta / 2 is Neu's implicit
    exploration: without it one draw of a rare action could nearly end its play.

        x uniform
        each round t, with eta = rate / t^(1/2) and tau = temperature / t^(1/4):
          play i ~ x; r = the reward, mapped to [0, 1]
          q_k = 1 - 1{k = i} (1 - r) / (x_k + eta / 2), for every k
          x_k in proportion to (x_k exp(eta q_k))^(1 / (1 + eta tau))

    Args:
        rate: the step of round t is eta = rate / t^(1/2).
        temperature: the pull of the magnet in round t is tau = temperature / t^(1/4).
    """

    name = "mmd"
    title = "Magnetic mirror descent"
    importance_weighted = True
    cites = (
        "Sokota et al. (2023). A unified approach to reinforcement learning, quantal response equilibria, and "
        "two-player zero-sum games. ICLR."
    )

    rate: Annotated[float, Range(0, open_low=True)] = 0.3
    temperature: Annotated[float, Range(0)] = 0.3

    def start(self, seat: Seat) -> None:
        self.seat = seat
        self.log_policy = seat.zeros(seat.actions)  # (runs, m), log x_t, up to a constant per run

    def policy(self, t: int) -> Floats:
        return softmax(self.log_policy)

    def observe(self, t: int, seen: Seen) -> None:
        """Step to x_{t+1}. What is the same for every action, rho and the 1 of q, cancels out and is left out."""
        eta, tau = self.rate / sqrt(t), self.temperature / sqrt(sqrt(t))
        drawn = self.seat.at(seen.action)
        self.log_policy[drawn] -= eta * self.seat.unit_loss(seen.reward) / (seen.probability + eta / 2)
        self.log_policy /= 1 + eta * tau
