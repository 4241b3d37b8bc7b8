"""Learners with a posterior of the payoffs: Thompson sampling, and Hedge or regret matching on optimistic payoffs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Annotated, Literal

import numpy as np

from coebl.backend import exp
from coebl.core.arrays import Floats, Ints
from coebl.core.specs import Nonnegative, Range
from coebl.learners.base import Learner, Seat, Seen
from coebl.learners.full_information import Hedge, RegretMatching
from coebl.learners.parts import BeliefLearner, Posterior, learn_weights


class Thompson(BeliefLearner):
    """Thompson sampling for matrix games: each round the maximin strategy of a draw from the posterior.

    It is here as a negative control: its regret can be linear (O'Donoghue, Lattimore and Osband 2021, equation 9). A
    draw is not optimistic, and an opponent who never plays an action keeps the learner guessing about it. On `trap:r=1`
    against an opponent fixed on the second action it loses 0.151 a round; the source's 1/4 is for a prior on r = -1
    and 1.

        each round, with n_ij the visits of a pair and s_ij the sum of its rewards:
          B_ij ~ N(s_ij / (n_ij + 1), 1 / (n_ij + 1))
          play i ~ maximin(B); see j and the reward; update n_ij and s_ij
    """

    name = "thompson"
    aim = "security"
    title = "Thompson sampling"
    colour = 7
    pair_cost = 0.02  # the cost of a normal number
    solve_cost = 0.0025
    cites = "O'Donoghue, Lattimore and Osband (2021). Matrix games with bandit feedback. UAI."

    def start(self, seat: Seat) -> None:
        self.posterior = Posterior(seat, self.forgetting)
        self.solve = seat.maximin(remember=False)

    def policy(self, t: int) -> Floats:
        mean, deviation = self.posterior.mean, self.posterior.deviation
        return self.solve(self.seat.random.normal(*mean.shape[1:], deviation=deviation, mean=mean)).strategy

    def observe(self, t: int, seen: Seen) -> None:
        self.posterior.add(seen.action, seen.opponent, seen.reward)


class _Imagining(BeliefLearner):
    """A mix-in that shows a full-information learner imagined payoffs: optimistic, from the posterior before the round.

    That learner is the other base class.
    """

    regret_bound = Learner.regret_bound  # none: that of the other base class is for the true payoffs

    def start(self, seat: Seat) -> None:
        super().start(seat)
        self.posterior: Posterior | GaussianProcess = Posterior(seat, self.forgetting)

    def observe(self, t: int, seen: Seen) -> None:
        super().observe(t, replace(seen, shown_payoffs=self.imagine(seen.opponent)))
        self.posterior.add(seen.action, seen.opponent, seen.reward)

    def imagine(self, opponent: Ints) -> Floats:
        """Return the optimistic payoff of each action, clipped to the range: (runs, m)."""
        mean, deviation = self.posterior.against(opponent)
        return np.clip(mean + deviation * self._optimism(), *self.seat.payoff_range)

    def _optimism(self) -> float | Floats:
        """Return the number of deviations that are added to the mean of a payoff: a scalar, or (runs, m)."""
        raise NotImplementedError


@dataclass
class _Ots(_Imagining):
    """A learner whose optimistic payoffs are the largest of several draws from the posterior."""

    action_cost = 0.33  # with normal numbers
    cites = (
        "Li, Liu, Pu, Liang and Luo (2024). Optimistic Thompson sampling for no-regret learning in unknown games. "
        "arXiv:2402.09456."
    )

    draws: Annotated[int, Range(1), "the number of draws of each payoff; more are more optimistic"] = 10

    def _optimism(self) -> Floats:
        return self.seat.random.normal(self.draws, self.seat.actions).max(axis=1)


class OtsHedge(_Ots, Hedge):
    """Hedge on optimistic posterior draws (Li et al. 2024).

    After a round it imagines what each action would have earned. A priori, payoffs are independent ~ N(0, 1). The
    authors' bound is in terms of the information gain; none is declared here.

        S_i = 0 for every action
        each round, with eta = sqrt(8 log(m) / T):
          play i ~ softmax(eta S); see j
          u_a = the largest of `draws` draws ~ N(mean_aj, variance_aj), clipped to [lo, hi], for every a
          S_a += (u_a - lo) / (hi - lo), for every a
          the posterior of (i, j) learns from the reward
    """

    name = "ots-hedge"
    title = "OTS-Hedge"


class OtsRm(_Ots, RegretMatching):
    """Regret matching on optimistic posterior draws (Li et al. 2024).

    Like OTS-Hedge, but with a step of regret matching, so it needs no rate and no horizon.

        R_i = 0 for every action
        each round:
          x in proportion to max(0, R), uniform if that is 0; play i ~ x; see j
          u_a = the largest of `draws` draws ~ N(mean_aj, variance_aj), clipped to [lo, hi], for every a
          R_a += u_a - x'u, for every a
          the posterior of (i, j) learns from the reward
    """

    name = "ots-rm"
    title = "OTS-RM"


_NEGLIGIBLE = 1e-10  # the variance of a payoff that may be neglected


@dataclass
class GpMw(_Imagining, Hedge):
    """Hedge on upper confidence bounds of a Gaussian process (Sessa et al. 2019, Algorithm 1).

    Like OTS-Hedge, but with an upper confidence bound instead of draws. The proven bound has a beta that grows with the
    rounds and is in terms of the information gain; none is declared for the constant beta of the authors' program.

    With the kernel "independent", every pair of actions has a separate posterior (UCB-Hedge). With "rbf", pairs with
    close indices are correlated, with length scale m/5 over its actions and k/5 over the opponent's; use it if the
    order of the actions has a meaning. A run then keeps (p q)² numbers, with p and q at most 17 for any number of
    actions: 0.7 MB, and 0.35 ms a round at 32 actions, seventy times the time of "independent".

        S_i = 0 for every action
        each round, with eta = sqrt(8 log(m) / T):
          play i ~ softmax(eta S); see j
          u_a = mean_aj + beta deviation_aj by the posterior, clipped to [lo, hi], for every a
          S_a += (u_a - lo) / (hi - lo), for every a
          the posterior learns from the reward of (i, j)
    """

    name = "gp-mw"
    title = "GP-MW"
    cites = (
        "Sessa, Bogunovic, Kamgarpour and Krause (2019). No-regret learning in unknown games with correlated payoffs. "
        "NeurIPS."
    )

    beta: Annotated[Nonnegative, "the optimism, in standard deviations"] = 2.0
    kernel: Annotated[Literal["independent", "rbf"], "the covariance of payoffs"] = "independent"

    def cost(self, actions: int, opponent_actions: int) -> float:
        usual = super().cost(actions, opponent_actions)
        return usual + (0.0042 * min(actions, 17) ** 2 * min(opponent_actions, 17) ** 2 if self.kernel == "rbf" else 0)

    def start(self, seat: Seat) -> None:
        super().start(seat)
        if self.kernel == "rbf":
            self.posterior = GaussianProcess(seat, self.forgetting)

    def _optimism(self) -> float:
        return self.beta


class GaussianProcess:
    """The posterior of payoffs ~ GP(0, k) seen with N(0, 1) noise.

    k((i, j), (i', j')) = k_m(i, i') k_k(j, j') with the RBF kernel k_n(a, b) = exp(-(a - b)² / (2 (n/5)²)) on the
    indices of n actions. Each factor is F F' with features F (n, p) by Cholesky's method. So the payoff of (i, j) is
    f_i' W g_j with p q weights W ~ N(0, 1), and the posterior of W is that of Bayesian linear regression. Few
    eigenvalues of an RBF kernel matter, p = 17 of 32, so W has a twelfth as many covariances as the payoffs.

    With forgetting < 1, every round moves the posterior towards the prior by this factor: the covariances as a mixture
    of both, and the means by its root, as if the payoffs were an autoregressive process.
    """

    def __init__(self, seat: Seat, forgetting: float = 1.0) -> None:
        self._seat, self._forgetting = seat, forgetting
        self._own = seat.array(_features(seat.actions))  # (m, p)
        self._other = seat.array(_features(seat.opponent_actions))  # (k, q)
        p, q = self._own.shape[1], self._other.shape[1]
        self._shape = p, q
        self._weights = seat.zeros(p * q)  # (runs, p q), the posterior mean of W
        identity = np.eye(p * q)[None]
        self._covariance = seat.zeros(p * q, p * q) + seat.array(identity)  # (runs, p q, p q), that of W

    def add(self, action: Ints, opponent: Ints, reward: Floats) -> None:
        """Learn from one reward per run, in O(p² q²)."""
        feature = self._seat.einsum("rp,rq->rpq", self._own[action], self._other[opponent]).reshape(self._weights.shape)
        learn_weights(self._seat, self._weights, self._covariance, feature, reward)
        if self._forgetting < 1:
            self._weights *= sqrt(self._forgetting)
            self._covariance *= self._forgetting
            diagonal = list(range(self._covariance.shape[-1]))
            self._covariance[:, diagonal, diagonal] += 1 - self._forgetting

    def against(self, opponent: Ints) -> tuple[Floats, Floats]:
        """Return means and deviations of all actions against one action of the opponent per run: two (runs, m)."""
        p, q = self._shape
        other = self._other[opponent]  # (runs, q)
        weights = self._seat.einsum("rpq,rq->rp", self._weights.reshape((-1, p, q)), other)
        mean = self._seat.einsum("mp,rp->rm", self._own, weights)
        half = self._seat.einsum("rapq,rq->rap", self._covariance.reshape((-1, p * q, p, q)), other)
        both = self._seat.einsum("raqp,rq->rap", half.reshape((-1, p, q, p)), other)  # (runs, p, p), that of W g
        product = self._seat.einsum("ma,rap->rmp", self._own, both)
        variance = (product * self._own).sum(axis=-1)
        return mean, np.sqrt(np.maximum(variance, 0))


def _features(actions: int) -> Floats:
    """Return F with F F' = the RBF kernel on the indices of the actions, up to rounding: (actions, p).

    >>> [_features(actions).shape[1] for actions in (1, 3, 16, 32)]
    [1, 3, 15, 17]
    """
    index = np.arange(actions)
    kernel = exp(-((index[:, None] - index) ** 2) / (2 * (actions / 5) * (actions / 5)))
    features: list[Floats] = []
    rest = np.ones(actions)  # (actions,), the diagonal of the remaining kernel
    while rest.max() > _NEGLIGIBLE:  # Cholesky's method with the largest pivot
        pivot = rest.argmax()
        column = (kernel[:, pivot] - sum(feature * feature[pivot] for feature in features)) / np.sqrt(rest[pivot])
        features.append(column)
        rest = rest - column * column
    return np.stack(features, axis=1)
