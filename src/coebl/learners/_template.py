"""Epsilon-greedy (name the paper here): a complete learner to copy.

Copy this file, rename the class, and run it as path/to/file.py:EpsilonGreedy:explore=2. To ship it with coebl, add one
line to `registry.py`. `base.py` is the contract, and `coebl.testing.check_learner` checks it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from coebl.core.specs import Range
from coebl.learners.base import Floats, Ints, Learner, Seat, Sees


@dataclass
class EpsilonGreedy(Learner):
    """Epsilon-greedy: mostly the action of best mean reward, now and then any action."""

    # What it is, for everyone:
    name: ClassVar[str] = "epsilon-greedy"  # its spec name
    sees: ClassVar[Sees] = "reward"  # or "opponent": then observe() is handed the opponent's actions
    needs_horizon: ClassVar[bool] = False  # or True: then seat.horizon is a number
    cites: ClassVar[str] = ""

    # Its hyper-parameters, which a spec can set. Range says what is accepted.
    explore: Annotated[float, Range(0)] = 5.0

    def start(self, seat: Seat) -> None:
        """Allocate the state of all runs; say what each array holds and its shape."""
        self.count = np.zeros((seat.runs, seat.actions))  # (runs, m), how often each action was played
        self.mean = np.zeros((seat.runs, seat.actions))  # (runs, m), its average reward
        self.runs = np.arange(seat.runs)
        # Random numbers come from seat.random alone: seat.random.normal(3) is (runs, 3).

    def policy(self, t: int) -> Floats:
        """The mixed strategies of round t, (runs, m): each row nonnegative, of sum 1."""
        actions = self.mean.shape[1]
        epsilon = min(1.0, self.explore * actions / t)
        greedy = np.zeros_like(self.mean)
        greedy[self.runs, self.mean.argmax(axis=-1)] = 1
        return (1 - epsilon) * greedy + epsilon / actions

    def observe(self, t: int, action: Ints, opponent: Ints | None, reward: Floats) -> None:
        """Learn from round t. Index runs and actions together, and every run is updated at once."""
        played = self.runs, action
        self.count[played] += 1
        self.mean[played] += (reward - self.mean[played]) / self.count[played]
