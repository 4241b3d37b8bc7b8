"""COEBL, competitive co-evolutionary bandit learning (Lin 2025, Algorithm 1): randomised optimism."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Annotated, ClassVar

import numpy as np

from coebl.core.errors import InputError
from coebl.core.specs import Range
from coebl.learners.base import Floats, Ints, Learner, Seat, Sees, Tally
from coebl.learners.evolution import MUTATIONS, SELECTIONS, MutationName, SelectionName
from coebl.learners.ucb import log_of_pairs
from coebl.solver import Maximin


@dataclass
class Coebl(Learner):
    """COEBL, competitive co-evolutionary bandit learning (Lin 2025, Algorithm 1).

    Each round it mutates the mean payoffs, solves the mutated matrix, and keeps its previous policy unless the solution
    is fitter.

    Args:
        c: the mutation rate, by which the bonus of little-visited pairs grows. The theorem needs c >= 8.
        mutation: "gaussian" is the formula of the text; "gaussian-prose" has the variance 1/(1+n) of its prose.
        selection: "elitist" is that of the text; "none" plays the newest policy, as the released program does.
    """

    name: ClassVar[str] = "coebl"
    sees: ClassVar[Sees] = "opponent"
    needs_horizon: ClassVar[bool] = True
    cites: ClassVar[str] = (
        "Lin (2025). Randomised optimism via competitive co-evolution for matrix games with bandit feedback. IJCAI."
    )

    c: Annotated[float, Range(0)] = 8.0
    mutation: MutationName = "gaussian"
    selection: SelectionName = "elitist"

    def __post_init__(self) -> None:
        if not 0 <= self.c < np.inf:
            raise InputError(f"coebl: c is {self.c!r}; accepted: a number, >= 0.")
        if self.mutation not in MUTATIONS:
            raise InputError(f"coebl: mutation is {self.mutation!r}; accepted: one of {', '.join(MUTATIONS)}.")
        if self.selection not in SELECTIONS:
            raise InputError(f"coebl: selection is {self.selection!r}; accepted: one of {', '.join(SELECTIONS)}.")

    def start(self, seat: Seat) -> None:
        """Allocate the tallies; x_0 is uniform."""
        self.seat = seat
        self.tally = Tally(seat)
        self.scale = self.c * log_of_pairs(seat, self.name)  # c log(2 T² m k)
        self.mutate, self.select = MUTATIONS[self.mutation], SELECTIONS[self.selection]
        self.centre = self.mutate.centre(self.tally.mean, self.tally.count, self.scale)  # (runs, m, k)
        self.deviation = self.mutate.deviation(self.tally.count)  # (runs, m, k)
        self.current = np.full((seat.runs, seat.actions), 1 / seat.actions)  # (runs, m), x_{t-1}
        self.solve = Maximin((seat.runs, seat.actions, seat.opponent_actions))

    def policy(self, t: int) -> Floats:
        """Mutate, solve, select (lines 3 to 11)."""
        mutated = self.seat.random.normal(self.seat.actions, self.seat.opponent_actions)
        mutated *= self.deviation  # in place: large games are bound by memory
        mutated += self.centre  # ~ N(centre, deviation²), the paper's Mutate
        self.current = self.select(self.current, self.solve(mutated).strategy, mutated)
        return self.current

    def observe(self, t: int, action: Ints, opponent: Ints | None, reward: Floats) -> None:
        """Count the visit (line 12)."""
        assert opponent is not None  # it declares that it sees the opponent
        at = self.tally.add(action, opponent, reward)
        self.centre[at] = self.mutate.centre(self.tally.mean[at], self.tally.count[at], self.scale)
        self.deviation[at] = self.mutate.deviation(self.tally.count[at])

    @classmethod
    def regret_bound(cls, actions: int, opponent_actions: int, rounds: int, c: float = 8.0) -> float | None:
        """2 sqrt(2 c T m k log(2 T² m k)), the paper's theorem, for c >= 8 and T >= 2 m k; None elsewhere.

        >>> round(Coebl.regret_bound(2, 2, 1000), 1)
        2017.2
        >>> Coebl.regret_bound(2, 2, 1000, c=2)
        """
        pairs = actions * opponent_actions
        if c < 8 or rounds < 2 * pairs:
            return None
        return 2 * sqrt(2 * c * rounds * pairs * log(2 * rounds**2 * pairs))

    def optimism_probability(self, actions: int, opponent_actions: int, rounds: int) -> float:
        """The paper's lemma: each entry of the mutated matrix is at least the true payoff with this probability.

        It is 1 - delta, with delta = (1 / (2 T² m k))^(c/8).

        >>> Coebl(c=8).optimism_probability(1, 1, 10)
        0.995
        """
        delta: float = (2.0 * rounds**2 * actions * opponent_actions) ** (-self.c / 8)
        return 1 - delta
