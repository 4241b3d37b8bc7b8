"""K-learning for matrix games (O'Donoghue, Lattimore and Osband 2021): entropic optimism about a Gaussian posterior."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

from coebl.core.arrays import Floats
from coebl.learners.base import Learner, Seat, Seen
from coebl.learners.parts.beliefs import Posterior
from coebl.learners.parts.entropic import EntropicSolver


@dataclass
class KLearning(Learner):
    """K-learning for matrix games (O'Donoghue, Lattimore and Osband 2021).

    The payoffs are independent ~ N(0, 1) a priori and seen with unit noise. Each round it minimises, over the
    opponent's mixtures y and temperatures tau > 0, tau log sum_i exp of the brackets sum_j mean_ij y_j/tau + sum_j y_j²
    variance_ij/(2 tau²), and plays x_i proportional to exp of bracket i at the minimum. It needs no horizon. Its regret
    is bounded on average over games from the prior (see `bayes_regret_bound`), not in every game.

        each round, with the posterior N(mean_ij, variance_ij):
          phi_i(y, tau) = sum_j mean_ij y_j / tau + sum_j y_j² variance_ij / (2 tau²)
          y, tau = argmin of tau log sum_i exp(phi_i(y, tau))
          play i ~ softmax(phi(y, tau)); see j; the posterior of (i, j) learns from the reward
    """

    name = "k-learning"
    title = "K-learning"
    sees = frozenset({"opponent"})
    cites = "O'Donoghue, Lattimore and Osband (2021). Matrix games with bandit feedback. UAI."

    def start(self, seat: Seat) -> None:
        self.posterior = Posterior(seat)
        self.solve = EntropicSolver(seat)

    def policy(self, t: int) -> Floats:
        """x at the minimum. The solver certifies each solve: `self.solved.gap` is (runs,)."""
        self.solved = self.solve(self.posterior.mean, self.posterior.variance)
        return self.solved.strategy

    def observe(self, t: int, seen: Seen) -> None:
        self.posterior.add(seen.action, seen.opponent, seen.reward)

    @classmethod
    def bayes_regret_bound(cls, actions: int, opponent_actions: int, rounds: int) -> float:
        """2 sqrt(m k T log m (1 + log T)), on the expected Nash regret in games with independent payoffs ~ N(0, 1).

        >>> round(KLearning.bayes_regret_bound(2, 2, 1000), 1)
        296.1
        """
        return 2 * sqrt(actions * opponent_actions * rounds * log(actions) * (1 + log(rounds)))

    def cost(self, actions: int, opponent_actions: int) -> float:
        """A few Newton steps a round, each with a product of an m by k matrix and a solve of k equations."""
        return super().cost(actions, opponent_actions) + 30 + 0.005 * actions * opponent_actions**2
