"""Thompson sampling for matrix games (O'Donoghue, Lattimore and Osband 2021): the maximin of a posterior draw."""

from __future__ import annotations

from dataclasses import dataclass

from coebl.core.arrays import Floats
from coebl.learners.base import Seat, Seen
from coebl.learners.parts import BeliefLearner, Posterior


@dataclass
class Thompson(BeliefLearner):
    """Thompson sampling for matrix games: each round the maximin strategy of a draw from the posterior.

    Its regret can be linear (O'Donoghue, Lattimore and Osband 2021, equation 9): a draw is not
    optimistic, and an opponent who never plays an action keeps the learner guessing about it. On `trap:r=1` against
    an opponent fixed on the second action it loses 0.151 a round with this Gaussian posterior; the source's 1/4 is
    for a prior on r = -1 and 1. It is here as a negative control.

        each round, with n_ij the visits of a pair and s_ij the sum of its rewards:
          B_ij ~ N(s_ij / (n_ij + 1), 1 / (n_ij + 1))
          play i ~ maximin(B); see j and the reward; update n_ij and s_ij
    """

    name = "thompson"
    aim = "security"
    title = "Thompson sampling"
    colour = 7
    pair_cost = 0.02  # of a normal number
    solve_cost = 0.0025
    sees = frozenset({"opponent"})
    cites = "O'Donoghue, Lattimore and Osband (2021). Matrix games with bandit feedback. UAI."

    def start(self, seat: Seat) -> None:
        self.seat = seat
        self.posterior = Posterior(seat, self.forgetting)
        self.solve = seat.maximin(remember=False)

    def policy(self, t: int) -> Floats:
        mean, deviation = self.posterior.mean, self.posterior.deviation
        draw = self.seat.random.normal(self.seat.actions, self.seat.opponent_actions, deviation=deviation, mean=mean)
        return self.solve(draw).strategy

    def observe(self, t: int, seen: Seen) -> None:
        self.posterior.add(seen.action, seen.opponent, seen.reward)
