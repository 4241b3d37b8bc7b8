"""A block of rounds: what was played, handed to the metrics and then dropped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coebl.games import Game

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Block:
    """Consecutive rounds of every run of a batch. Rounds are on axis 0, runs on axis 1."""

    game: Game
    first_round: int  # rounds count from 1
    row_policy: Floats  # (rounds, runs, m)
    column_policy: Floats  # (rounds, runs, n)
    row_action: Ints  # (rounds, runs)
    column_action: Ints  # (rounds, runs)
    reward: Floats  # (rounds, runs), the row player's, as observed

    @property
    def rounds(self) -> int:
        """How many."""
        return int(self.reward.shape[0])

    @property
    def runs(self) -> int:
        """How many."""
        return int(self.reward.shape[1])
