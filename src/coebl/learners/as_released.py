"""Exp3 and the Exp3-IX variant with the updates of the program that the paper released.

They exist so that the published comparison can be studied: where the program and the text differ, `exp3` and `exp3-ix`
follow the text and these follow the program. Both take the reward as it comes, without mapping it to [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from coebl.learners.base import Floats, Ints, Learner, Seat, Sees
from coebl.learners.exp3 import exp3_policy
from coebl.learners.exp3_ix import descend

_CITES = "The program released with Lin (2025), https://github.com/Lss1242/CoEvo_Bandit_Learning."


@dataclass
class Exp3AsReleased(Learner):
    """Exp3 with the update of the released program; it exists so that the published comparison can be studied.

    The text adds 1 - 1{i drawn} (1 - X) / P_i to every score. The program adds (1 - r) / P to the score of the drawn
    action and nothing to the others, and weighs by exp(+eta S) all the same: an action that lost more is played more.
    The softmax is computed stably here, which changes nothing but rounding.
    """

    name: ClassVar[str] = "exp3-as-released"
    sees: ClassVar[Sees] = "reward"
    learns: ClassVar[bool] = False
    needs_horizon: ClassVar[bool] = False
    cites: ClassVar[str] = _CITES

    def start(self, seat: Seat) -> None:
        """All scores are 0."""
        self.score = np.zeros((seat.runs, seat.actions))  # (runs, m), S as the program has it: a sum of losses
        self.runs = np.arange(seat.runs)

    def policy(self, t: int) -> Floats:
        """P_t, as in `exp3`."""
        self.current = exp3_policy(self.score, t)  # (runs, m)
        return self.current

    def observe(self, t: int, action: Ints, opponent: Ints | None, reward: Floats) -> None:
        """S_i += (1 - r) / P_i for the drawn i alone."""
        drawn = self.runs, action
        self.score[drawn] += (1 - reward) / self.current[drawn]


@dataclass
class Exp3IxAsReleased(Learner):
    """Exp3-IX with the update of the released program; it exists so that the published comparison can be studied.

    Of the step of `exp3-ix` it changes what stands in the place of the loss: the program puts the player's own reward
    there, for both players, and minimises it. The program takes the step by SLSQP, and keeps the previous
    policy where that fails; here the step is exact, so that this learner differs from the text in what it is fed only.
    """

    name: ClassVar[str] = "exp3-ix-as-released"
    sees: ClassVar[Sees] = "reward"
    learns: ClassVar[bool] = False
    needs_horizon: ClassVar[bool] = False
    cites: ClassVar[str] = _CITES

    def start(self, seat: Seat) -> None:
        """x_1 is uniform."""
        self.current = np.full((seat.runs, seat.actions), 1 / seat.actions)  # (runs, m), x_t

    def policy(self, t: int) -> Floats:
        """x_t."""
        return self.current

    def observe(self, t: int, action: Ints, opponent: Ints | None, reward: Floats) -> None:
        """Step to x_{t+1}, with the reward where the text has a loss."""
        self.current = descend(self.current, action, reward, t)
