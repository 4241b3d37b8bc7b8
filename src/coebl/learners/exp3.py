"""Exp3 and its relatives, which see only their reward: Exp3, Exp3-IX of Neu, that of Cai et al., and two as released.

Where the program that the COEBL paper released differs from the text, `exp3` and `exp3-ix` follow the text, and the
learners "as released" follow the program, so that the published comparison can be studied.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from coebl.backend import log
from coebl.core.arrays import Floats, Ints
from coebl.learners.base import Learner, Seat, Seen
from coebl.learners.parts import exponential_weights, project_kl, softmax

_RELEASED = "The program released with Lin (2025), https://github.com/Lss1242/CoEvo_Bandit_Learning."


@dataclass
class _Exp3(Learner):
    """The policy of Exp3, without its update."""

    colour = 2
    importance_weighted = True

    def start(self, seat: Seat) -> None:
        self.seat = seat
        self.score = seat.zeros(seat.actions)  # (runs, m), S: the estimated total reward of every action

    def policy(self, t: int) -> Floats:
        return exp3_policy(self.score, t)


def exp3_policy(score: Floats, t: int) -> Floats:
    """Return P_i = (1 - gamma) softmax(eta S)_i + gamma / m, with the rates of round t: (runs, m) from (runs, m)."""
    m = score.shape[-1]
    log_m = log(m)
    gamma = min(1.0, sqrt(m * log_m / t))
    eta = sqrt(2 * log_m / (t * m))
    weight = exponential_weights(score, eta)
    mixed: Floats = (1 - gamma) * weight / weight.sum(axis=-1, keepdims=True) + gamma / m
    return mixed


@dataclass
class Exp3(_Exp3):
    """Exp3 for matrix games (Auer et al. 1995; O'Donoghue, Lattimore and Osband 2021).

        S_i = 0 for every action
        each round t, with gamma = min(1, sqrt(m log(m) / t)) and eta = sqrt(2 log(m) / (t m)):
          P_i = (1 - gamma) softmax(eta S)_i + gamma / m
          play i ~ P; X = the reward, mapped to [0, 1]
          S_k += 1 - 1{k = i} (1 - X) / P_k, for every k

    Args:
        rewards: the estimator assumes rewards in [0, 1]. "unit" maps them there by the range of the payoffs, without
            clipping the noise; "raw" takes them as they come, in units of the noise.
    """

    name = "exp3"
    title = "Exp3"
    cites = (
        "Auer, Cesa-Bianchi, Freund and Schapire (1995). Gambling in a rigged casino. FOCS. "
        "Rates as in O'Donoghue, Lattimore and Osband (2021). Matrix games with bandit feedback. UAI."
    )

    rewards: Literal["unit", "raw"] = "unit"

    def observe(self, t: int, seen: Seen) -> None:
        drawn = self.seat.at(seen.action)
        x = self.seat.unit(seen.reward) if self.rewards == "unit" else seen.reward  # X
        self.score += 1
        self.score[drawn] -= (1 - x) / seen.probability


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
    importance_weighted = True
    cites = "Neu (2015). Explore no more: improved high-probability regret bounds for non-stochastic bandits. NeurIPS."

    def start(self, seat: Seat) -> None:
        self.seat = seat
        self.loss = seat.zeros(seat.actions)  # (runs, m), the estimated total loss of every action

    def policy(self, t: int) -> Floats:
        return softmax(-self.loss, self._rate(t))

    def observe(self, t: int, seen: Seen) -> None:
        drawn = self.seat.at(seen.action)
        loss = np.minimum(1, np.maximum(0, self.seat.unit_loss(seen.reward)))
        self.loss[drawn] += loss / (seen.probability + self._rate(t) / 2)

    def _rate(self, t: int) -> float:
        m = self.seat.actions
        return sqrt(2 * log(m) / (m * (self.seat.horizon or t)))


@dataclass
class Exp3Ix(Learner):
    """The Exp3-IX variant of Cai, Luo, Wei and Zheng (2023, Algorithm 1): regularised mirror descent.

    In its source the player minimises a loss in [0, 1]; here that is (hi - r) / (hi - lo), not clipped, so noise may
    take it outside. x_{t+1} is chosen from the set of round t, as in the COEBL paper: x_2 is uniform too.
    The source proves that the duality gap of the last iterate falls as t^(-1/8) in self-play; a bound on the
    regret against any opponent is not stated for these rates.

        x uniform
        each round t, with eta = t^(-5/8), beta = t^(-3/8), epsilon = t^(-1/8):
          play a ~ x; sigma = (hi - reward) / (hi - lo)
          g_b = 1{b = a} sigma / (x_b + beta) + epsilon ln x_b, for every b
          x = argmin of x'g + KL(x, old x) / eta over {x : x_b >= 1 / (m t²)}
    """

    name = "exp3-ix"
    title = "Exp3-IX"
    colour = 3
    importance_weighted = True
    cites = (
        "Cai, Luo, Wei and Zheng (2023). Uncoupled and convergent learning in two-player zero-sum Markov games "
        "with bandit feedback. NeurIPS."
    )

    def start(self, seat: Seat) -> None:
        self.seat = seat
        self.current = seat.full(1 / seat.actions, seat.actions)  # (runs, m), x_t

    def policy(self, t: int) -> Floats:
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        drawn, loss = self.seat.at(seen.action), self.seat.unit_loss(seen.reward)
        self.current = descend(self.current, drawn, seen.probability, loss, t)


def descend(policy: Floats, drawn: tuple[Ints, ...], probability: Floats, loss: Floats, t: int) -> Floats:
    """Return x_{t+1} = argmin of x'g + KL(x, x_t) / eta over {x : x_a >= 1/(m t²)}, (runs, m), from the policy x_t.

    The minimum without the bounds is x_t exp(-eta g), up to scale; with them, its KL projection. `drawn` is the index
    of the action that each run has drawn, with this probability.
    """
    m = policy.shape[-1]
    root = sqrt(sqrt(sqrt(t)))  # t^(1/8)
    eta, beta, epsilon = 1 / (sqrt(t) * root), 1 / (root * root * root), 1 / root  # t^(-5/8), t^(-3/8), t^(-1/8)
    log_policy = log(policy)  # finite: every entry is at least 1/(m t²)
    gradient = epsilon * log_policy
    gradient[drawn] += loss / (probability + beta)  # g_a = 1{a drawn} sigma / (x_a + beta) + epsilon ln x_a
    return project_kl(exponential_weights(log_policy - eta * gradient), 1 / (m * t**2))


@dataclass
class Exp3AsReleased(_Exp3):
    """Exp3 with the update of the released program, which takes the reward as it comes.

    The text adds 1 - 1{i drawn} (1 - X) / P_i to every score. The program adds (1 - r) / P to the score of the drawn
    action and nothing to the others, and weighs by exp(+eta S) all the same: an action that lost more is played more.
    The softmax is computed stably here, which changes nothing but rounding.

        as exp3, except for the last line:
          S_i += (1 - reward) / P_i, for the action i that was played, and nothing for the others
    """

    name = "exp3-as-released"
    title = "Exp3 as released"
    improves = False
    cites = _RELEASED

    def observe(self, t: int, seen: Seen) -> None:
        drawn = self.seat.at(seen.action)
        self.score[drawn] += (1 - seen.reward) / seen.probability


@dataclass
class Exp3IxAsReleased(Exp3Ix):
    """Exp3-IX with the update of the released program, which takes the reward as it comes.

    It differs from `exp3-ix` only in the loss: the program puts the player's reward there, for both players, and
    minimises it. The program takes the step by SLSQP, and keeps the previous policy if that fails; here the step is
    exact.

        as exp3-ix, except for the loss:
          sigma = reward
    """

    name = "exp3-ix-as-released"
    title = "Exp3-IX as released"
    improves = False
    cites = _RELEASED

    def observe(self, t: int, seen: Seen) -> None:
        self.current = descend(self.current, self.seat.at(seen.action), seen.probability, seen.reward, t)
