"""The paper's learners as a researcher would write them today: NumPy, one run at a time, library optimisers.

The baselines in the table "Learners" of RESULTS.md. They are correct and readable, not fast.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize

Floats = NDArray[np.float64]


def maximin(B: Floats) -> Floats:
    m, n = B.shape
    result: Any = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=np.hstack([-B.T, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
        method="highs",
    )
    policy: Floats = np.maximum(result.x[:m], 0)
    policy /= policy.sum()
    return policy


class Optimist:
    """The estimates that UCB and COEBL share."""

    def __init__(self, m: int, k: int, horizon: int, random: np.random.Generator) -> None:
        self.count, self.mean = np.zeros((m, k)), np.zeros((m, k))
        self.log_term = math.log(2 * horizon**2 * m * k)
        self.random = random

    def observe(self, action: int, opponent: int, reward: float) -> None:
        self.count[action, opponent] += 1
        self.mean[action, opponent] += (reward - self.mean[action, opponent]) / self.count[action, opponent]


class Ucb(Optimist):
    def policy(self, t: int) -> Floats:
        return maximin(self.mean + np.sqrt(2 * self.log_term / np.maximum(1, self.count)))


class Coebl(Optimist):
    def policy(self, t: int) -> Floats:
        visits = np.maximum(1, self.count)
        noise = self.random.normal(size=visits.shape) / visits
        mutated = self.mean + np.sqrt(8 * self.log_term / (visits + 1)) + noise
        candidate = maximin(mutated)
        previous = getattr(self, "previous", np.full(len(candidate), 1 / len(candidate)))
        fitter = (candidate @ mutated).min() > (previous @ mutated).min()
        self.previous: Floats = candidate if fitter else previous
        return self.previous


class Exp3:
    def __init__(self, m: int, k: int, horizon: int, random: np.random.Generator) -> None:
        self.score = np.zeros(m)

    def policy(self, t: int) -> Floats:
        m = len(self.score)
        gamma, eta = min(1.0, math.sqrt(m * math.log(m) / t)), math.sqrt(2 * math.log(m) / (t * m))
        weights = np.exp(eta * (self.score - self.score.max()))
        played: Floats = (1 - gamma) * weights / weights.sum() + gamma / m
        self.played = played
        return played

    def observe(self, action: int, opponent: int, reward: float) -> None:
        self.score += 1
        self.score[action] -= (1 - (reward + 1) / 2) / self.played[action]


class Exp3Ix:
    def __init__(self, m: int, k: int, horizon: int, random: np.random.Generator) -> None:
        self.x = np.full(m, 1 / m)
        self.t = 1

    def policy(self, t: int) -> Floats:
        return self.x

    def observe(self, action: int, opponent: int, reward: float) -> None:
        m, t, x = len(self.x), self.t, self.x
        gradient = t ** (-1 / 8) * np.log(x)
        gradient[action] += (1 - reward) / 2 / (x[action] + t ** (-3 / 8))
        eta = t ** (-5 / 8)
        floor = 1 / (m * max(t, 2) ** 2)
        result = minimize(  # type: ignore[call-overload]
            lambda z: z @ gradient + (z * np.log(z / x)).sum() / eta,
            x,
            bounds=[(floor, 1)] * m,
            constraints={"type": "eq", "fun": lambda z: z.sum() - 1},
            method="SLSQP",
        )
        self.x = np.maximum(result.x, floor)
        self.x /= self.x.sum()
        self.t += 1


PLAIN_LEARNERS: dict[str, Callable[..., Ucb | Coebl | Exp3 | Exp3Ix]] = {
    "ucb": Ucb,
    "coebl": Coebl,
    "exp3": Exp3,
    "exp3-ix": Exp3Ix,
}


def play(payoff: Floats, row: str, column: str, horizon: int, seconds: float) -> tuple[int, float]:
    """Return the number of rounds played within about the given seconds, and the seconds they took."""
    random = np.random.default_rng(0)
    m, n = payoff.shape
    row_player = PLAIN_LEARNERS[row](m, n, horizon, random)
    column_player = PLAIN_LEARNERS[column](n, m, horizon, random)
    started = time.perf_counter()
    regret, t = 0.0, 0
    while t < horizon and time.perf_counter() - started < seconds:
        t += 1
        x, y = row_player.policy(t), column_player.policy(t)
        i, j = random.choice(m, p=x), random.choice(n, p=y)
        reward = payoff[i, j] + random.normal()
        row_player.observe(i, j, reward)
        column_player.observe(j, i, -reward)
        regret += 0.0 - float(x @ payoff @ y)
    return t, time.perf_counter() - started
