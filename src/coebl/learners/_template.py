"""Epsilon-greedy (Auer, Cesa-Bianchi and Fischer 2002): a complete learner to copy.

Copy this file, rename the class, and run it as path/to/file.py:EpsilonGreedy:explore=2. To ship it with coebl, add one
line to `registry.py`, and follow CONTRIBUTING.md. `base.py` is the contract, and
`coebl.testing.check_learner` checks it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.specs import Range
from coebl.learners.base import Learner, Seat, Seen


@dataclass
class EpsilonGreedy(Learner):
    """Epsilon-greedy: mostly the action of highest mean reward, sometimes a random action.

    The first sentence ends with a full stop and appears in lists. A description follows, then the pseudo-code as an
    indented block. The learner's page consists of these and the meanings of the hyper-parameters.

        n_i = 0, mean_i = 0 for every action
        each round t, with m actions and epsilon = min(1, explore m / t):
          with probability epsilon play any action, else the one of largest mean_i, the first of equals
          update n_i and mean_i of the played action i with its reward
    """

    # Its name and its needs:
    name = "epsilon-greedy"  # its spec name
    title = "Epsilon-greedy"  # in tables and figures
    sees = frozenset()  # with {"opponent"}, seen.opponent is the opponent's action
    needs_horizon = False  # if True, seat.horizon is a number
    cites = (
        "Auer, Cesa-Bianchi and Fischer (2002). Finite-time analysis of the multiarmed bandit problem. "
        "Machine Learning 47."
    )

    # Its hyper-parameters, which a spec can set: their types, accepted values and meanings.
    explore: Annotated[float, Range(0), "the amount of exploration: epsilon is explore m / t, and at most 1"] = 5.0

    def start(self, seat: Seat) -> None:
        """Allocate the state of all runs; document the content and shape of each array. `self.seat` is the seat."""
        self.count = seat.zeros(seat.actions)  # (runs, m), how often each action was played
        self.mean = seat.zeros(seat.actions)  # (runs, m), its average reward
        # Random numbers come from the seat as well: seat.random.normal(3) is (runs, 3).

    def policy(self, t: int) -> Floats:
        """Return the mixed strategies of round t, (runs, m): each row is nonnegative and sums to 1."""
        actions = self.seat.actions
        epsilon = min(1.0, self.explore * actions / t)
        greedy = np.zeros_like(self.mean)
        greedy[self.seat.at(self.mean.argmax(axis=-1))] = 1
        return (1 - epsilon) * greedy + epsilon / actions

    def observe(self, t: int, seen: Seen) -> None:
        """Learn from round t. `seat.at` indexes one entry per run, so every run is updated at once."""
        # Rewards are to be maximised. They are counted from the middle of the known range, in units of the standard
        # deviation of the noise; self.seat.unit_loss(seen.reward) is a loss from 0 to 1.
        played = self.seat.at(seen.action)
        self.count[played] += 1
        self.mean[played] += (seen.reward - self.mean[played]) / self.count[played]
