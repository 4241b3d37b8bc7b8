"""Exp3 for matrix games (Auer et al. 1995; O'Donoghue, Lattimore and Osband 2021): exponential weights."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Literal

from coebl.core.arrays import Floats
from coebl.learners.base import Learner, Seat, Seen
from coebl.learners.parts.responses import exponential_weights


@dataclass
class Exp3(Learner):
    """Exp3 for matrix games (Auer et al. 1995; O'Donoghue, Lattimore and Osband 2021).

        S_i = 0 for every action
        each round t, with gamma = min(1, sqrt(m log(m) / t)) and eta = sqrt(2 log(m) / (t m)):
          P_i = (1 - gamma) softmax(eta S)_i + gamma / m
          play i ~ P; X = the reward, mapped to [0, 1]
          S_k += 1 - 1{k = i} (1 - X) / P_k, for every k

    Args:
        rewards: the estimator assumes rewards in [0, 1]. "unit" maps them there by the range of the payoffs, without
            clipping the noise; "raw" takes them as they come.
    """

    name = "exp3"
    title = "Exp3"
    colour = 2
    cites = (
        "Auer, Cesa-Bianchi, Freund and Schapire (1995). Gambling in a rigged casino. FOCS. "
        "Rates as in O'Donoghue, Lattimore and Osband (2021). Matrix games with bandit feedback. UAI."
    )

    rewards: Literal["unit", "raw"] = "unit"

    def start(self, seat: Seat) -> None:
        """All scores are 0."""
        self.seat = seat
        self.score = seat.zeros(seat.actions)  # (runs, m), S: the estimated total reward of every action

    def policy(self, t: int) -> Floats:
        """The policy P_t: exponential weights of the scores, mixed with uniform play."""
        self.current = exp3_policy(self.score, t)  # (runs, m)
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        """S_i += 1 - 1{i drawn} (1 - X) / P_i, for every i."""
        drawn = self.seat.at(seen.action)
        x = self.seat.unit(seen.reward) if self.rewards == "unit" else seen.reward  # X
        self.score += 1
        self.score[drawn] -= (1 - x) / self.current[drawn]


def exp3_policy(score: Floats, t: int) -> Floats:
    """P_i = (1 - gamma) softmax(eta S)_i + gamma / m, with the rates of round t: (runs, m) from (runs, m)."""
    m = score.shape[-1]
    gamma = min(1.0, sqrt(m * log(m) / t))
    eta = sqrt(2 * log(m) / (t * m))
    weight = exponential_weights(score, eta)
    mixed: Floats = (1 - gamma) * weight / weight.sum(axis=-1, keepdims=True) + gamma / m
    return mixed
