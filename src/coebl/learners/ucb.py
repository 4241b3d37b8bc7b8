"""UCB for matrix games (O'Donoghue, Lattimore and Osband 2021, Algorithm 1): deterministic optimism."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar, Literal

import numpy as np

from coebl.core.errors import InputError
from coebl.learners.base import Floats, Ints, Learner, Seat, Sees, Tally
from coebl.solver import Maximin


@dataclass
class Ucb(Learner):
    """UCB for matrix games (O'Donoghue, Lattimore and Osband 2021, Algorithm 1).

    Each round it plays the maximin strategy of an upper confidence bound on every entry of the payoff matrix.

    Args:
        ties: which of several maximin strategies to play, of which the text says nothing. "first" leans to the actions
            of lowest index (see `coebl.solver.maximin`); "random" draws a preference over actions anew every round.
    """

    name: ClassVar[str] = "ucb"
    sees: ClassVar[Sees] = "opponent"
    needs_horizon: ClassVar[bool] = True
    cites: ClassVar[str] = "O'Donoghue, Lattimore and Osband (2021). Matrix games with bandit feedback. UAI."

    ties: Literal["first", "random"] = "first"

    def __post_init__(self) -> None:
        if self.ties not in ("first", "random"):
            raise InputError(f"ucb: ties is {self.ties!r}; accepted: one of first, random.")

    def start(self, seat: Seat) -> None:
        """Allocate the tallies."""
        self.seat = seat
        self.tally = Tally(seat)
        self.log_term = 2 * log_of_pairs(seat, self.name)
        self.optimistic = self._bound(self.tally.mean, self.tally.count)  # (runs, m, k)
        ties = (lambda: seat.random.uniform(seat.actions)) if self.ties == "random" else self.ties
        self.solve = Maximin((seat.runs, seat.actions, seat.opponent_actions), ties=ties, many_ties=True)

    def policy(self, t: int) -> Floats:
        """The maximin strategies of the optimistic matrices."""
        return self.solve(self.optimistic).strategy

    def observe(self, t: int, action: Ints, opponent: Ints | None, reward: Floats) -> None:
        """Count the visit."""
        assert opponent is not None  # it declares that it sees the opponent
        at = self.tally.add(action, opponent, reward)
        self.optimistic[at] = self._bound(self.tally.mean[at], self.tally.count[at])

    def _bound(self, mean: Floats, count: Floats) -> Floats:
        """The upper confidence bound of pairs with these means and visits."""
        return mean + np.sqrt(self.log_term / np.maximum(1, count))

    @classmethod
    def regret_bound(cls, actions: int, opponent_actions: int, rounds: int) -> float:
        """1 + 2 sqrt(m k T log(2 m k T²)), the paper's theorem on UCB.

        >>> round(Ucb.regret_bound(2, 2, 1000), 1)
        505.3
        """
        pairs = actions * opponent_actions
        return 1 + 2 * sqrt(pairs * rounds * log(2 * pairs * rounds**2))


def log_of_pairs(seat: Seat, learner: str) -> float:
    """L = log(2 T² m k), in the confidence width of UCB and of COEBL; in rectangular games m k, not m²."""
    if seat.horizon is None:
        raise InputError(f"{learner} needs the number of rounds, and horizon is None; accepted: a whole number, >= 1.")
    return log(2 * seat.horizon**2 * seat.actions * seat.opponent_actions)
