"""OTS-Hedge and OTS-RM (Li et al. 2024): no-regret learning on optimistic posterior draws of the payoffs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.core.specs import Range
from coebl.learners.base import Seat, Seen
from coebl.learners.parts import BeliefLearner, Posterior, hedge_rate, regret_matching, regret_of, softmax

_CITES = (
    "Li, Liu, Pu, Liang and Luo (2024). Optimistic Thompson sampling for no-regret learning in unknown games. "
    "arXiv:2402.09456."
)


@dataclass
class _Ots(BeliefLearner):
    """Imagined payoffs against the opponent's action: the largest of several posterior draws each."""

    sees = frozenset({"opponent"})
    cites = _CITES

    draws: Annotated[int, Range(1)] = 10

    def start(self, seat: Seat) -> None:
        self.seat = seat
        self.posterior = Posterior(seat, self.forgetting)
        self.score = seat.zeros(seat.actions)  # (runs, m), sums of imagined payoffs, or of regrets

    def imagine(self, opponent: Ints) -> Floats:
        """Return the largest of the draws ~ N(mean, variance) of each action, clipped to the range: (runs, m)."""
        mean, deviation = self.posterior.against(opponent)
        largest = self.seat.random.normal(self.draws, self.seat.actions).max(axis=1)  # (runs, m)
        low, high = self.seat.payoff_range
        payoffs: Floats = np.clip(mean + deviation * largest, low, high)
        return payoffs

    def cost(self, actions: int, opponent_actions: int) -> float:
        """Ten normal numbers per action and round."""
        return super().cost(actions, opponent_actions) + 0.3 * actions


@dataclass
class OtsHedge(_Ots):
    """Hedge on optimistic posterior draws (Li et al. 2024).

    Once it has seen the opponent's action, it imagines the payoff of each action against it: the largest of a few
    draws from the posterior, clipped to the range of the payoffs. A step of Hedge follows, with these payoffs mapped to
    [0, 1]. The posterior is that of the rounds before; the reward of the round enters after the draw. The payoffs are
    independent ~ N(0, 1) a priori. The authors' bound is in terms of the information gain; none is declared here.

        S_i = 0 for every action
        each round, with eta = sqrt(8 log(m) / T):
          play i ~ softmax(eta S); see j
          u_a = the largest of `draws` draws ~ N(mean_aj, variance_aj), clipped to [lo, hi], for every a
          S_a += (u_a - lo) / (hi - lo), for every a
          the posterior of (i, j) learns from the reward

    Args:
        draws: the number of draws, of which the largest is taken; more are more optimistic.
    """

    name = "ots-hedge"
    title = "OTS-Hedge"
    needs_horizon = True

    def start(self, seat: Seat) -> None:
        super().start(seat)
        self.rate = hedge_rate(seat)

    def policy(self, t: int) -> Floats:
        return softmax(self.score, self.rate)

    def observe(self, t: int, seen: Seen) -> None:
        self.score += self.seat.unit(self.imagine(seen.opponent))
        self.posterior.add(seen.action, seen.opponent, seen.reward)


@dataclass
class OtsRm(_Ots):
    """Regret matching on optimistic posterior draws (Li et al. 2024).

    As OTS-Hedge, with a step of regret matching instead of Hedge's: it needs no rate and no horizon.

        R_i = 0 for every action
        each round:
          x in proportion to max(0, R), uniform if that is 0; play i ~ x; see j
          u_a = the largest of `draws` draws ~ N(mean_aj, variance_aj), clipped to [lo, hi], for every a
          R_a += u_a - x'u, for every a
          the posterior of (i, j) learns from the reward

    Args:
        draws: the number of draws, of which the largest is taken; more are more optimistic.
    """

    name = "ots-rm"
    title = "OTS-RM"

    def policy(self, t: int) -> Floats:
        self.current = regret_matching(self.score)  # (runs, m)
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        self.score += regret_of(self.imagine(seen.opponent), self.current)
        self.posterior.add(seen.action, seen.opponent, seen.reward)
