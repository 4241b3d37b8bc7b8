"""Fictitious play with payoffs that are not known: the best response to the observed mix, with optimism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from coebl.backend import log
from coebl.core.arrays import Floats
from coebl.core.specs import Range
from coebl.learners.base import Seat, Seen
from coebl.learners.parts import BeliefLearner, Tally

_NEVER = 1e-300  # visits that count as none: the bonus is beyond any range


@dataclass
class FictitiousPlay(BeliefLearner):
    """Fictitious play (Brown 1951) with estimated payoffs: the best response to how often others played what.

    Payoffs are estimated by mean rewards, plus a bonus for pairs of actions with few visits, as in UCB1. Without that
    optimism, c = 0, it may never return to an action that disappointed once, and takes what it does not know for the
    middle of the range. It answers the observed mix of the joint actions of all others, so those who foresee that can
    exploit it; in Shapley's game it goes round for ever.

        each round t, with n_ij the visits of a pair, mean_ij its mean reward, and f_j how often the others played j:
          B_ij = mean_ij + sqrt(c log(t + 1) / n_ij), but at most the top of the known range, which is B_ij if n_ij = 0
          play the i with the largest sum of f_j B_ij, with equal chances if there are several
          see j and the reward; update n_ij, mean_ij and f_j

    Args:
        c: the size of the optimism.
    """

    name = "fictitious-play"
    title = "Fictitious play"
    pair_cost = 0.004
    sees = frozenset({"opponent"})
    cites = (
        "Brown (1951). Iterative solution of games by fictitious play. In: Activity analysis of production and "
        "allocation. Bonus: Auer, Cesa-Bianchi and Fischer (2002). Machine Learning 47."
    )

    c: Annotated[float, Range(0)] = 2.0

    def start(self, seat: Seat) -> None:
        self.seat = seat
        self.tally = Tally(seat, self.forgetting)
        self.seen = seat.zeros(seat.opponent_actions)  # (runs, k), how often the others played each joint action
        self.inverse = 1 / np.maximum(self.tally.count, _NEVER)  # (runs, m, k), 1 / n

    def policy(self, t: int) -> Floats:
        payoff = self.tally.mean
        if self.c:
            payoff = np.minimum(payoff + np.sqrt(self.c * log(t + 1) * self.inverse), self.seat.payoff_range[1])
        score = self.seat.einsum("rij,rj->ri", payoff, self.seen)
        best = (score == score.max(axis=-1, keepdims=True)).astype(np.float64)
        policy: Floats = best / best.sum(axis=-1, keepdims=True)
        return policy

    def observe(self, t: int, seen: Seen) -> None:
        index = self.tally.add(seen.action, seen.opponent, seen.reward)
        self.inverse[index] = 1 / np.maximum(self.tally.count[index], _NEVER)
        if self.forgetting < 1:
            self.seen *= self.forgetting
        self.seen[self.seat.at(seen.opponent)] += 1
