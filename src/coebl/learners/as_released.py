"""Exp3 and the Exp3-IX variant with the updates of the program that the paper released.

They exist so that the published comparison can be studied: where the program and the text differ, `exp3` and `exp3-ix`
follow the text and these follow the program. Both take the reward as it comes, without mapping it to [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

from coebl.core.arrays import Floats
from coebl.learners.base import Learner, Seat, Seen
from coebl.learners.exp3 import exp3_policy
from coebl.learners.exp3_ix import Exp3Ix, descend

_CITES = "The program released with Lin (2025), https://github.com/Lss1242/CoEvo_Bandit_Learning."


@dataclass
class Exp3AsReleased(Learner):
    """Exp3 with the update of the released program; it exists so that the published comparison can be studied.

    The text adds 1 - 1{i drawn} (1 - X) / P_i to every score. The program adds (1 - r) / P to the score of the drawn
    action and nothing to the others, and weighs by exp(+eta S) all the same: an action that lost more is played more.
    The softmax is computed stably here, which changes nothing but rounding.

        as exp3, except for the last line:
          S_i += (1 - reward) / P_i, for the action i that was played, and nothing for the others
    """

    name = "exp3-as-released"
    title = "Exp3 as released"
    improves = False
    colour = 2  # that of the learner whose update it changes
    cites = _CITES

    def start(self, seat: Seat) -> None:
        """All scores are 0."""
        self.seat = seat
        self.score = seat.zeros(seat.actions)  # (runs, m), S as the program has it: a sum of losses

    def policy(self, t: int) -> Floats:
        """The policy P_t, computed from the scores as in `exp3`."""
        self.current = exp3_policy(self.score, t)  # (runs, m)
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        """S_i += (1 - r) / P_i for the drawn i alone."""
        drawn = self.seat.at(seen.action)
        self.score[drawn] += (1 - seen.reward) / self.current[drawn]


@dataclass
class Exp3IxAsReleased(Exp3Ix):
    """Exp3-IX with the update of the released program; it exists so that the published comparison can be studied.

    It differs from `exp3-ix` only in the loss: the program puts the player's own reward there, for both players, and
    minimises it. The program takes the step by SLSQP, and keeps the previous policy if that fails; here the step is
    exact.

        as exp3-ix, except for the loss:
          sigma = reward
    """

    name = "exp3-ix-as-released"
    title = "Exp3-IX as released"
    improves = False
    colour = 3  # that of the learner whose update it changes
    cites = _CITES

    def observe(self, t: int, seen: Seen) -> None:
        """Step to x_{t+1}, with the reward where the text has a loss."""
        self.current = descend(self.current, self.seat.at(seen.action), seen.reward, t)
