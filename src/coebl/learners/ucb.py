"""Learners with mean rewards of all pairs of actions: UCB, Maximin-UCB, fictitious play and explore-then-commit."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Annotated, Literal

import numpy as np

from coebl.backend import log, log1p
from coebl.core.arrays import Floats
from coebl.core.specs import Nonnegative, Range
from coebl.learners.base import Learner, Seat, Seen
from coebl.learners.parts import BeliefLearner, Tally, log_of_pairs, normalised, pure


@dataclass
class Ucb(BeliefLearner):
    """UCB for matrix games (O'Donoghue, Lattimore and Osband 2021, Algorithm 1).

    Each round it plays the maximin strategy of an upper confidence bound on every entry of the payoff matrix. If there
    are several, the paper leaves the choice open: "first" prefers the actions of lowest index (see
    `coebl.solver.maximin`), "random" draws a new preference over actions every round.

        each round, with L = log(2 T² m k), n_ij the visits of a pair and mean_ij its mean reward (0 if unvisited):
          B_ij = mean_ij + sqrt(2 L / max(1, n_ij))
          play i ~ maximin(B); see j and the reward; update n_ij and mean_ij
    """

    name = "ucb"
    aim = "security"
    title = "UCB"
    solve_cost = 0.0005  # a fifth of a solve from scratch, since it starts from the last solution
    needs_horizon = True
    colour = 1
    cites = "O'Donoghue, Lattimore and Osband (2021). Matrix games with bandit feedback. UAI."

    ties: Annotated[Literal["first", "random"], "the choice among several maximin strategies"] = "first"

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
        """1 + 2 sqrt(m k T log(2 m k T²)), the paper's theorem on UCB."""
        pairs = actions * opponent_actions
        return 1 + 2 * sqrt(pairs * rounds * log(2 * pairs * rounds**2))


class MaximinUcb(BeliefLearner):
    """Maximin-UCB (Ito et al. 2026): plays the pure action whose worst optimistic payoff is best.

    It suits games in which a pure strategy is optimal, as in Diagonal and BiggerNumber, and solves no linear program.
    If the equilibrium is mixed it is exploitable: an opponent who foresees a pure action beats it in every round of
    rock-paper-scissors. Ties go to the action of lowest index. The confidence width follows a description of the
    source, which was read only in part.

        U_ij = hi for every pair
        each round:
          play i = argmax_i min_j U_ij; see j and the reward; update n_ij and mean_ij
          U_ij = mean_ij + sqrt((4 log(T) + 2 log(1 + n_ij)) / n_ij)
    """

    name = "maximin-ucb"
    aim = "security"
    title = "Maximin-UCB"
    pair_cost = 0.001
    needs_horizon = True
    cites = (
        "Ito, Luo, Maiti, Tsuchiya and Wu (2026). Adversarial learning in games with bandit feedback: logarithmic "
        "pure-strategy maximin regret. arXiv:2602.06348."
    )

    def start(self, seat: Seat) -> None:
        assert seat.horizon is not None
        self.tally = Tally(seat, self.forgetting)
        self.log_term = 4 * log(seat.horizon)  # 4 log(1 / delta), with delta = 1 / T
        _, high = seat.payoff_range
        self.optimistic = seat.full(high, seat.actions, seat.opponent_actions)  # (runs, m, k), U

    def policy(self, t: int) -> Floats:
        return pure(self.seat, self.optimistic.min(axis=-1).argmax(axis=-1))

    def observe(self, t: int, seen: Seen) -> None:
        index = self.tally.add(seen.action, seen.opponent, seen.reward)
        count = self.tally.count[index]
        bound = self.tally.mean[index] + np.sqrt((self.log_term + 2 * log1p(count)) / np.maximum(1, count))
        self.optimistic[index] = np.where(count > 0, bound, self.optimistic[index])


_NEVER = 1e-300  # replaces 0 visits, so that the bonus exceeds any range


@dataclass
class FictitiousPlay(BeliefLearner):
    """Fictitious play (Brown 1951) with estimated payoffs: the best response to the observed frequencies of actions.

    Payoffs are estimated by mean rewards, plus a bonus for pairs of actions with few visits, as in UCB1. Without this
    optimism (c = 0), it may never return to an action that disappointed once, and treats unknown payoffs as the middle
    of the range. It responds to the joint actions of all others, and an opponent who foresees this can exploit it. In
    Shapley's game it cycles for ever.

        each round t, with n_ij the visits of a pair, mean_ij its mean reward, and f_j how often the others played j:
          B_ij = mean_ij + sqrt(c log(t + 1) / n_ij), but at most the top of the known range, which is B_ij if n_ij = 0
          play the i with the largest sum of f_j B_ij, with equal chances if there are several
          see j and the reward; update n_ij, mean_ij and f_j
    """

    name = "fictitious-play"
    title = "Fictitious play"
    pair_cost = 0.004
    cites = (
        "Brown (1951). Iterative solution of games by fictitious play. In: Activity analysis of production and "
        "allocation. Bonus: Auer, Cesa-Bianchi and Fischer (2002). Machine Learning 47."
    )

    c: Annotated[Nonnegative, "the size of the optimism"] = 2.0

    def start(self, seat: Seat) -> None:
        self.tally = Tally(seat, self.forgetting)
        self.seen = seat.zeros(seat.opponent_actions)  # (runs, k), f, how often the others played each joint action
        self.inverse = 1 / np.maximum(self.tally.count, _NEVER)  # (runs, m, k), 1 / n

    def policy(self, t: int) -> Floats:
        payoff = self.tally.mean
        if self.c:
            payoff = np.minimum(payoff + np.sqrt(self.c * log(t + 1) * self.inverse), self.seat.payoff_range[1])
        score = self.seat.einsum("rij,rj->ri", payoff, self.seen)
        return normalised((score == score.max(axis=-1, keepdims=True)).astype(np.float64))

    def observe(self, t: int, seen: Seen) -> None:
        index = self.tally.add(seen.action, seen.opponent, seen.reward)
        self.inverse[index] = 1 / np.maximum(self.tally.count[index], _NEVER)
        if self.forgetting < 1:
            self.seen *= self.forgetting
        self.seen[self.seat.at(seen.opponent)] += 1


@dataclass
class ExploreThenCommit(Learner):
    """Explore-then-commit: every action in turn, then the maximin strategy of the mean rewards.

    A player cannot choose the opponent's action. So each action is played visits * k times in the first
    visits * m * k rounds, and each pair is visited `visits` times on average against an opponent who explores in the
    same way. The order is random, because two such players with a fixed order would repeat the same pairs.

        in rounds 1 .. visits m k: play every action once in m rounds, in a new random order; update mean_ij
        then: play maximin(mean) in every round
    """

    name = "explore-then-commit"
    aim = "security"
    title = "Explore-then-commit"
    sees = frozenset({"opponent"})
    cites = (
        "Garivier, Kaufmann and Lattimore (2016). On explore-then-commit strategies. NeurIPS. In games: Yılmaz and "
        "Dimitrakakis (2025). Two-player zero-sum games with bandit feedback. arXiv:2506.14518."
    )

    visits: Annotated[int, Range(1), "the average number of visits to each pair before it commits"] = 5

    def start(self, seat: Seat) -> None:
        self.tally = Tally(seat)
        self.solve = seat.maximin(many_ties=True)  # unvisited pairs are all equal
        self.exploration = self.visits * seat.actions * seat.opponent_actions  # rounds
        self.committed: Floats | None = None  # (runs, m)

    def policy(self, t: int) -> Floats:
        place = (t - 1) % self.seat.actions
        if t <= self.exploration:
            if place == 0:
                self.order = np.argsort(self.seat.random.uniform(self.seat.actions), axis=-1)  # (runs, m), actions
            return pure(self.seat, self.order[:, place])
        if self.committed is None:
            self.committed = self.solve(self.tally.mean).strategy
        return self.committed

    def observe(self, t: int, seen: Seen) -> None:
        if t <= self.exploration:
            self.tally.add(seen.action, seen.opponent, seen.reward)
