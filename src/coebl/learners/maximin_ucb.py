"""Maximin-UCB (Ito et al. 2026): the pure action whose worst optimistic payoff is best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coebl.backend import log, log1p
from coebl.core.arrays import Floats
from coebl.learners.base import Seat, Seen
from coebl.learners.parts import BeliefLearner, Tally


@dataclass
class MaximinUcb(BeliefLearner):
    """Maximin-UCB (Ito et al. 2026): plays the pure action whose worst optimistic payoff is best.

    It is right if a pure strategy is optimal, as in Diagonal and BiggerNumber, and solves no linear program. If
    the equilibrium is mixed it is exploitable: an opponent who foresees a pure action beats it in every round of
    rock-paper-scissors. Ties go to the action of lowest index. The source was read in part: the
    confidence width follows a description of it.

        U_ij = hi for every pair
        each round:
          play i = argmax_i min_j U_ij; see j and the reward; update n_ij and mean_ij
          U_ij = mean_ij + sqrt((4 log(T) + 2 log(1 + n_ij)) / n_ij)
    """

    name = "maximin-ucb"
    aim = "security"
    title = "Maximin-UCB"
    pair_cost = 0.001
    sees = frozenset({"opponent"})
    needs_horizon = True
    cites = (
        "Ito, Luo, Maiti, Tsuchiya and Wu (2026). Adversarial learning in games with bandit feedback: logarithmic "
        "pure-strategy maximin regret. arXiv:2602.06348."
    )

    def start(self, seat: Seat) -> None:
        assert seat.horizon is not None
        self.seat = seat
        self.tally = Tally(seat, self.forgetting)
        self.log_term = 4 * log(seat.horizon)  # 4 log(1 / delta), with delta = 1 / T
        _, high = seat.payoff_range
        self.optimistic = seat.full(high, seat.actions, seat.opponent_actions)  # (runs, m, k), U

    def policy(self, t: int) -> Floats:
        worst = self.optimistic.min(axis=-1)  # (runs, m)
        policy: Floats = np.zeros_like(worst)
        policy[self.seat.at(worst.argmax(axis=-1))] = 1
        return policy

    def observe(self, t: int, seen: Seen) -> None:
        index = self.tally.add(seen.action, seen.opponent, seen.reward)
        count = self.tally.count[index]
        bound = self.tally.mean[index] + np.sqrt((self.log_term + 2 * log1p(count)) / np.maximum(1, count))
        self.optimistic[index] = np.where(count > 0, bound, self.optimistic[index])
