"""Hedge (Freund and Schapire 1997): exponential weights of what each action would have earned."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from coebl.backend import log
from coebl.core.arrays import Floats
from coebl.learners.base import Learner, Seat, Seen
from coebl.learners.parts import hedge_rate, softmax


@dataclass
class Hedge(Learner):
    """Hedge (Freund and Schapire 1997), with full information: a reference above what bandit learners can reach.

    After each round it sees, without noise, what each of its actions would have earned; payoffs are mapped to [0, 1]
    by their range.

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
        self.seat = seat
        self.score = seat.zeros(seat.actions)  # (runs, m), what each action would have earned so far
        self.rate = hedge_rate(seat)

    def policy(self, t: int) -> Floats:
        return softmax(self.score, self.rate)

    def observe(self, t: int, seen: Seen) -> None:
        self.score += self.seat.unit(seen.payoffs)

    @classmethod
    def regret_bound(cls, actions: int, opponent_actions: int, rounds: int) -> float:
        """sqrt(T log(m) / 2), theorem 2.2 of Cesa-Bianchi and Lugosi (2006), also on the regret in hindsight.

        >>> round(Hedge.regret_bound(2, 2, 1000), 1)
        18.6
        """
        return sqrt(rounds * log(actions) / 2)
