"""Bandits that see only their reward: Exp3 and its relatives, Tsallis-INF, and magnetic mirror descent.

Where the COEBL paper and its released program differ, `exp3` and `exp3-ix` follow the paper, and the learners "as
released" follow the program, so that the published comparison can be studied.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Annotated, Literal

import numpy as np

from coebl.backend import log
from coebl.core.arrays import Floats
from coebl.core.specs import Nonnegative, Positive
from coebl.learners.base import Learner, Seat, Seen
from coebl.learners.parts import exponential_weights, normalised, softmax

_RELEASED = "The program released with Lin (2025), https://github.com/Lss1242/CoEvo_Bandit_Learning."


class _Exp3(Learner):
    """A base class with the policy of Exp3 and no update."""

    colour = 2
    importance_weighted = True

    def start(self, seat: Seat) -> None:
        self.score = seat.zeros(seat.actions)  # (runs, m), S: the estimated total reward of every action

    def policy(self, t: int) -> Floats:
        m, log_m = self.seat.actions, log(self.seat.actions)
        gamma = min(1.0, sqrt(m * log_m / t))
        weight = exponential_weights(self.score, sqrt(2 * log_m / (t * m)))
        return (1 - gamma) * weight / weight.sum(axis=-1, keepdims=True) + gamma / m


@dataclass
class Exp3(_Exp3):
    """Exp3 for matrix games (Auer et al. 1995; O'Donoghue, Lattimore and Osband 2021).

        S_i = 0 for every action
        each round t, with gamma = min(1, sqrt(m log(m) / t)) and eta = sqrt(2 log(m) / (t m)):
          P_i = (1 - gamma) softmax(eta S)_i + gamma / m
          play i ~ P; X = the reward, mapped to [0, 1]
          S_k += 1 - 1{k = i} (1 - X) / P_k, for every k

    The estimator assumes rewards in [0, 1]. Noise is not clipped, and `rewards=raw` leaves rewards in noise units.
    """

    name = "exp3"
    title = "Exp3"
    cites = (
        "Auer, Cesa-Bianchi, Freund and Schapire (1995). Gambling in a rigged casino. FOCS. "
        "Rates as in O'Donoghue, Lattimore and Osband (2021). Matrix games with bandit feedback. UAI."
    )

    rewards: Annotated[Literal["unit", "raw"], "mapped to [0, 1] by the range of the payoffs, or unchanged"] = "unit"

    def observe(self, t: int, seen: Seen) -> None:
        x = self.seat.unit(seen.reward) if self.rewards == "unit" else seen.reward  # X
        self.score += 1
        self.score[self.seat.at(seen.action)] -= (1 - x) / seen.probability


class Exp3IxNeu(Learner):
    """Exp3-IX as in Neu (2015): a loss is divided by a little more than its probability.

    This underestimates losses on average, which causes exploration. A negative loss would reverse the bias, so rewards
    are mapped to losses by the range of the payoffs and clipped to [0, 1]. Clipping noise moves the mean losses towards
    1/2, so no bound is given for unit noise. Without a horizon, t replaces T.

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
        self.loss = seat.zeros(seat.actions)  # (runs, m), the estimated total loss of every action

    def policy(self, t: int) -> Floats:
        return softmax(-self.loss, self._rate(t))

    def observe(self, t: int, seen: Seen) -> None:
        loss = np.minimum(1, np.maximum(0, self.seat.unit_loss(seen.reward)))
        self.loss[self.seat.at(seen.action)] += loss / (seen.probability + self._rate(t) / 2)

    def _rate(self, t: int) -> float:
        m = self.seat.actions
        return sqrt(2 * log(m) / (m * (self.seat.horizon or t)))


class Exp3Ix(Learner):
    """The Exp3-IX variant of Cai, Luo, Wei and Zheng (2023, Algorithm 1): regularised mirror descent.

    The source minimises a loss in [0, 1]; here the loss is (hi - r) / (hi - lo), which noise may take outside. x_{t+1}
    is chosen from the set of round t, as in the COEBL paper, so x_2 is uniform too. The source proves that the duality
    gap of the last iterate falls as t^(-1/8) in self-play, and states no bound on the regret against any opponent.

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
        self.current = seat.full(1 / seat.actions, seat.actions)  # (runs, m), x_t

    def policy(self, t: int) -> Floats:
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        """Step to x_{t+1}, the KL projection of x_t exp(-eta g)."""
        root = sqrt(sqrt(sqrt(t)))  # t^(1/8)
        eta, beta, epsilon = 1 / (sqrt(t) * root), 1 / (root * root * root), 1 / root  # t^(-5/8), t^(-3/8), t^(-1/8)
        log_policy = log(self.current)  # finite: every entry is at least 1/(m t²)
        gradient = epsilon * log_policy
        gradient[self.seat.at(seen.action)] += self._loss(seen.reward) / (seen.probability + beta)  # g
        self.current = project_kl(exponential_weights(log_policy - eta * gradient), 1 / (self.seat.actions * t**2))

    def _loss(self, reward: Floats) -> Floats:
        return self.seat.unit_loss(reward)


def project_kl(weights: Floats, floor: float) -> Floats:
    """Return the strategy x with x_a >= floor that minimises KL(x, weights), by water filling.

    By the KKT conditions x_a = max(floor, s w_a), with the scale s at which the x_a sum to 1. In decreasing order of
    weight, the r heaviest actions lie above the floor if and only if the scale that they would then share,
    s_r = (1 - (m - r) floor) / (w_1 + ... + w_r), lifts the r-th above it. The weights are (runs, m), nonnegative and
    not all zero.

    >>> project_kl(np.array([[8.0, 1.0, 1.0]]), 0.125)
    array([[0.75 , 0.125, 0.125]])
    """
    m = weights.shape[-1]
    falling = -np.sort(-weights, axis=-1)
    rank = np.cumsum(np.ones_like(falling), axis=-1)  # r = 1, 2, ..., m
    scale = (1 - (m - rank) * floor) / np.cumsum(falling, axis=-1)  # (runs, m), s_r
    above = np.count_nonzero(scale * falling > floor, axis=-1)
    index = np.maximum(above, 1) - 1  # if floor is 1/m, none is above it, and s_1 puts all on it
    return np.maximum(floor, np.take_along_axis(scale, index[:, None], axis=-1) * weights)


class Exp3AsReleased(_Exp3):
    """Exp3 with the update of the released program, which uses the reward unchanged.

    The paper adds 1 - 1{i drawn} (1 - X) / P_i to every score. The program adds only to the score of the drawn action,
    with the opposite sign, but still weights actions by exp(+eta S): an action that lost more is played more.

        as exp3, except for the last line:
          S_i += (1 - reward) / P_i, for the action i that was played
    """

    name = "exp3-as-released"
    title = "Exp3 as released"
    improves = False
    cites = _RELEASED

    def observe(self, t: int, seen: Seen) -> None:
        self.score[self.seat.at(seen.action)] += (1 - seen.reward) / seen.probability


class Exp3IxAsReleased(Exp3Ix):
    """Exp3-IX with the update of the released program, which uses the unchanged reward as a loss.

    It therefore minimises its reward. The program takes the step by SLSQP, and keeps the previous policy if that fails;
    here the step is exact.

        as exp3-ix, except for the loss:
          sigma = reward
    """

    name = "exp3-ix-as-released"
    title = "Exp3-IX as released"
    improves = False
    cites = _RELEASED

    def _loss(self, reward: Floats) -> Floats:
        return reward


_STEPS = 8  # Newton steps: a fixed number, so that no run depends on its batch; 5 suffice for 1024 actions


@dataclass
class TsallisInf(Learner):
    """Tsallis-INF with importance-weighted losses (Zimmert and Seldin 2021).

    Rewards are mapped from the range of the payoffs to [-1, 1], without clipping the noise. The regret grows as log T
    where the game has a strict pure equilibrium and as sqrt(T) otherwise (Ito, Luo, Tsuchiya and Wu 2025). The proven
    constants are for bounded losses, so no bound is given for unit noise.

        L_i = 0 for every action
        each round t, with eta = rate / sqrt(t):
          p_i = (eta (L_i - min L) + u)^-2, with u such that they add up to 1
          play i ~ p; r = the reward, mapped to [-1, 1]
          L_i += (1 - r) / p_i
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

    rate: Annotated[Positive, "the learning rate of round t is rate / sqrt(t)"] = 0.5

    def start(self, seat: Seat) -> None:
        self.loss = seat.zeros(seat.actions)  # (runs, m), L: the estimated total loss of every action

    def policy(self, t: int) -> Floats:
        return _tsallis_weights(self.rate / sqrt(t) * self.loss)

    def observe(self, t: int, seen: Seen) -> None:
        self.loss[self.seat.at(seen.action)] += 2 * self.seat.unit_loss(seen.reward) / seen.probability


def _tsallis_weights(loss: Floats) -> Floats:
    """Return p_i = (a_i + u)^-2 with a_i = loss_i - min loss, and u such that they sum to 1: (runs, m) from (runs, m).

    u lies in [1, sqrt(m)]. Newton's method is applied to (sum p_i)^(-1/2) = 1 from u = 1: the left side is a power
    mean of the a_i + u, concave and increasing in u, so the steps never pass the solution.

    >>> _tsallis_weights(np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 1e9, 1e9, 1e9]])).round(6)
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
    return normalised(inverse * inverse)


@dataclass
class Mmd(Learner):
    """Magnetic mirror descent (Sokota et al. 2023), with importance-weighted rewards and a uniform magnet.

    The magnet keeps policies from cycling, and its pull, tau, falls slowly enough for the noise of the estimates to
    average out. The source has full feedback. The estimates q, with rewards mapped to [0, 1] and not clipped, and both
    schedules are ours, so nothing is proven for them. The eta / 2 is Neu's implicit exploration: without it, a single
    draw could nearly eliminate a rare action.

        x uniform
        each round t, with eta = rate / t^(1/2) and tau = temperature / t^(1/4):
          play i ~ x; r = the reward, mapped to [0, 1]
          q_k = 1 - 1{k = i} (1 - r) / (x_k + eta / 2), for every k
          x_k in proportion to (x_k exp(eta q_k))^(1 / (1 + eta tau))
    """

    name = "mmd"
    title = "Magnetic mirror descent"
    importance_weighted = True
    cites = (
        "Sokota et al. (2023). A unified approach to reinforcement learning, quantal response equilibria, and "
        "two-player zero-sum games. ICLR."
    )

    rate: Annotated[Positive, "the step of round t is eta = rate / t^(1/2)"] = 0.3
    temperature: Annotated[Nonnegative, "the pull of the magnet in round t is tau = temperature / t^(1/4)"] = 0.3

    def start(self, seat: Seat) -> None:
        self.log_policy = seat.zeros(seat.actions)  # (runs, m), log x_t, up to a constant per run

    def policy(self, t: int) -> Floats:
        return softmax(self.log_policy)

    def observe(self, t: int, seen: Seen) -> None:
        """Step to x_{t+1}. Terms that are equal for all actions, such as the 1 of q, cancel out and are left out."""
        eta, tau = self.rate / sqrt(t), self.temperature / sqrt(sqrt(t))
        loss = self.seat.unit_loss(seen.reward)
        self.log_policy[self.seat.at(seen.action)] -= eta * loss / (seen.probability + eta / 2)
        self.log_policy /= 1 + eta * tau
