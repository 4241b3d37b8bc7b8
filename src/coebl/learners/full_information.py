"""Learners that see what each action would have earned, without noise: Hedge, regret matching and regret matching+."""

from __future__ import annotations

from math import sqrt

import numpy as np

from coebl.backend import log
from coebl.core.arrays import Floats
from coebl.learners.base import Learner, Seat, Seen
from coebl.learners.parts import normalised, softmax


class Hedge(Learner):
    """Hedge (Freund and Schapire 1997), with payoffs mapped to [0, 1] by their range.

    A full-information reference, beyond the reach of bandit learners.

        S_i = 0 for every action
        each round, with eta = sqrt(8 log(m) / T):
          play from softmax(eta S)
          see what every action would have earned; S_i += that, mapped to [0, 1]
    """

    name = "hedge"
    title = "Hedge"
    sees = frozenset({"payoffs"})
    needs_horizon = True
    cites = (
        "Freund and Schapire (1997). A decision-theoretic generalization of on-line learning and an application to "
        "boosting. JCSS. The rate as in Cesa-Bianchi and Lugosi (2006). Prediction, learning, and games, theorem 2.2."
    )

    def start(self, seat: Seat) -> None:
        self.score = seat.zeros(seat.actions)  # (runs, m), the total payoff of each action so far
        assert seat.horizon is not None  # because of needs_horizon
        self.rate = sqrt(8 * log(seat.actions) / seat.horizon)

    def policy(self, t: int) -> Floats:
        return softmax(self.score, self.rate)

    def observe(self, t: int, seen: Seen) -> None:
        self.score += self.seat.unit(seen.payoffs)

    @classmethod
    def regret_bound(cls, actions: int, opponent_actions: int, rounds: int) -> float | None:
        """sqrt(T log(m) / 2), theorem 2.2 of Cesa-Bianchi and Lugosi (2006), also for the regret in
        hindsight.

        >>> round(Hedge.regret_bound(2, 2, 1000), 1)
        18.6
        """
        return sqrt(rounds * log(actions) / 2)


class RegretMatching(Learner):
    """Regret matching (Hart and Mas-Colell 2000): plays actions in proportion to the regret of not having played them.

    A full-information reference, beyond the reach of bandit learners. Regret is measured against the policy, as in
    counterfactual regret minimisation, not against the action drawn. The average strategies of two such players
    approach an equilibrium as 1 / sqrt(T).

        R_i = 0 for every action
        each round:
          x in proportion to max(0, R), uniform if that is 0; play from x
          see what every action would have earned, u; R_i += u_i - x'u
    """

    name = "regret-matching"
    title = "Regret matching"
    sees = frozenset({"payoffs"})
    cites = "Hart and Mas-Colell (2000). A simple adaptive procedure leading to correlated equilibrium. Econometrica."

    def start(self, seat: Seat) -> None:
        self.score = seat.zeros(seat.actions)  # (runs, m), R: the total regret of not having played each action

    def policy(self, t: int) -> Floats:
        positive = np.maximum(0, self.score)
        self.current = normalised(np.where(positive.max(axis=-1, keepdims=True) > 0, positive, 1.0))  # (runs, m), x
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        self.score += seen.payoffs - (self.current * seen.payoffs).sum(axis=-1, keepdims=True)

    @classmethod
    def regret_bound(cls, actions: int, opponent_actions: int, rounds: int) -> float | None:
        """sqrt(m T), by Blackwell's argument: the squared norm of positive regrets grows by at most m per round.

        >>> round(RegretMatching.regret_bound(2, 2, 1000), 1)
        44.7
        """
        return sqrt(actions * rounds)


class RegretMatchingPlus(RegretMatching):
    """Regret matching+ (Tammelin 2014): regret matching that forgets negative regret at once.

    It has full information, and the same bound.

        as regret matching, except for the last step:
          R_i = max(0, R_i + u_i - x'u)
    """

    name = "regret-matching-plus"
    title = "Regret matching+"
    cites = "Tammelin (2014). Solving large imperfect information games using CFR+. arXiv:1407.5042."

    def observe(self, t: int, seen: Seen) -> None:
        super().observe(t, seen)
        self.score = np.maximum(0, self.score)
