"""UCB for matrix games (O'Donoghue, Lattimore and Osband 2021, Algorithm 1): deterministic optimism."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from coebl.backend import log
from coebl.core.arrays import Floats
from coebl.learners.base import Seat, Seen
from coebl.learners.parts import BeliefLearner, Tally, log_of_pairs


@dataclass
class Ucb(BeliefLearner):
    """UCB for matrix games (O'Donoghue, Lattimore and Osband 2021, Algorithm 1).

    Each round it plays the maximin strategy of an upper confidence bound on every entry of the payoff matrix.

        each round, with L = log(2 T² m k), n_ij the visits of a pair and mean_ij its mean reward (0 if unvisited):
          B_ij = mean_ij + sqrt(2 L / max(1, n_ij))
          play i ~ maximin(B); see j and the reward; update n_ij and mean_ij

    Args:
        ties: which of several maximin strategies to play, which the text leaves open. "first" leans to the actions
            of lowest index (see `coebl.solver.maximin`); "random" draws a new preference over actions every round.
    """

    name = "ucb"
    aim = "security"
    title = "UCB"
    solve_cost = 0.0005  # a fifth of that from scratch: a solve starts from the last solution
    sees = frozenset({"opponent"})
    needs_horizon = True
    colour = 1
    cites = "O'Donoghue, Lattimore and Osband (2021). Matrix games with bandit feedback. UAI."

    ties: Literal["first", "random"] = "first"

    def start(self, seat: Seat) -> None:
        self.tally = Tally(seat, self.forgetting)
        self.solve = seat.maximin(self.ties, many_ties=True)  # unvisited pairs are all equal
        self.log_term = 2 * log_of_pairs(seat)
        self.optimistic = self._bound(self.tally.mean, self.tally.count)  # (runs, m, k)

    def policy(self, t: int) -> Floats:
        return self.solve(self.optimistic).strategy

    def observe(self, t: int, seen: Seen) -> None:
        index = self.tally.add(seen.action, seen.opponent, seen.reward)
        self.optimistic[index] = self._bound(self.tally.mean[index], self.tally.count[index])

    def _bound(self, mean: Floats, count: Floats) -> Floats:
        """Return the upper confidence bound of pairs with these means and visits."""
        return mean + np.sqrt(self.log_term / np.maximum(1, count))

    @classmethod
    def regret_bound(cls, actions: int, opponent_actions: int, rounds: int) -> float:
        """1 + 2 sqrt(m k T log(2 m k T²)), the paper's theorem on UCB.

        >>> round(Ucb.regret_bound(2, 2, 1000), 1)
        505.3
        """
        pairs = actions * opponent_actions
        return 1 + 2 * sqrt(pairs * rounds * log(2 * pairs * rounds**2))
