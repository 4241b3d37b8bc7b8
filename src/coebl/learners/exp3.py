"""Exp3 for matrix games (Auer et al. 1995; O'Donoghue, Lattimore and Osband 2021): exponential weights."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar, Literal

import numpy as np

from coebl.core.errors import InputError
from coebl.learners.base import Floats, Ints, Learner, Seat, Sees


@dataclass
class Exp3(Learner):
    """Exp3 for matrix games (Auer et al. 1995; O'Donoghue, Lattimore and Osband 2021).

    Args:
        rewards: the estimator assumes rewards in [0, 1]. "unit" maps them there by the range of the payoffs, without
            clipping the noise; "raw" takes them as they come.
    """

    name: ClassVar[str] = "exp3"
    sees: ClassVar[Sees] = "reward"
    needs_horizon: ClassVar[bool] = False
    cites: ClassVar[str] = (
        "Auer, Cesa-Bianchi, Freund and Schapire (1995). Gambling in a rigged casino. FOCS. "
        "Rates as in O'Donoghue, Lattimore and Osband (2021). Matrix games with bandit feedback. UAI."
    )

    rewards: Literal["unit", "raw"] = "unit"

    def __post_init__(self) -> None:
        if self.rewards not in ("unit", "raw"):
            raise InputError(f"exp3: rewards is {self.rewards!r}; accepted: one of unit, raw.")

    def start(self, seat: Seat) -> None:
        """All scores are 0."""
        low, high = seat.payoff_range if self.rewards == "unit" else (0.0, 1.0)
        self.low, self.width = low, (high - low) or 1.0  # a constant game has no width: any will do
        self.score = np.zeros((seat.runs, seat.actions))  # (runs, m), S: the estimated total reward of every action
        self.runs = np.arange(seat.runs)

    def policy(self, t: int) -> Floats:
        """P_t."""
        self.current = exp3_policy(self.score, t)  # (runs, m)
        return self.current

    def observe(self, t: int, action: Ints, opponent: Ints | None, reward: Floats) -> None:
        """S_i += 1 - 1{i drawn} (1 - X) / P_i, for every i."""
        drawn = self.runs, action
        unit_reward = (reward - self.low) / self.width  # X
        self.score += 1
        self.score[drawn] -= (1 - unit_reward) / self.current[drawn]


def exp3_policy(score: Floats, t: int) -> Floats:
    """P_i = (1 - gamma) softmax(eta S)_i + gamma / m, with the rates of round t: (runs, m) from (runs, m)."""
    m = score.shape[-1]
    gamma = min(1.0, sqrt(m * log(m) / t))
    eta = sqrt(2 * log(m) / (t * m))
    weight = np.exp(eta * (score - score.max(axis=-1, keepdims=True)))  # at most 1: exp cannot overflow
    mixed: Floats = (1 - gamma) * weight / weight.sum(axis=-1, keepdims=True) + gamma / m
    return mixed
