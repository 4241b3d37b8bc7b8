"""COEBL, competitive co-evolutionary bandit learning (Lin 2025, Algorithm 1): randomised optimism."""

from __future__ import annotations

from dataclasses import dataclass
from math import pow, sqrt
from typing import Annotated

import numpy as np

from coebl.backend import log
from coebl.core.arrays import Floats
from coebl.core.specs import Nonnegative
from coebl.learners.base import Seat, Seen
from coebl.learners.evolution.breeding import Breeder, Generation
from coebl.learners.evolution.selection import Elitist, Pool, Population, Selection
from coebl.learners.evolution.variation import Gaussian, Mutation, Nothing, Recombination
from coebl.learners.parts import BeliefLearner, log_of_pairs


@dataclass
class Coebl(BeliefLearner):
    """COEBL, competitive co-evolutionary bandit learning (Lin 2025, Algorithm 1).

    Each round it mutates the mean payoffs, solves the mutated matrix, and keeps its previous policy unless the solution
    is fitter. Each operator can be replaced: `coebl list mutations` lists the mutations, for example. The defaults are
    the paper's, and the theorem applies to them.

        x uniform
        each round, with L = log(2 T² m k), n_ij the visits of a pair and mean_ij its mean reward (0 if unvisited):
          B_ij = mean_ij + sqrt(c L / (max(1, n_ij) + 1)) + z_ij / max(1, n_ij),  z_ij ~ N(0, 1)
          x' = maximin(B)
          if min_j (x' B)_j > min_j (x B)_j:  x = x'
          play i ~ x; see j and the reward; update n_ij and mean_ij
    """

    name = "coebl"
    aim = "security"
    title = "COEBL"
    needs_horizon = True
    colour = 0
    cites = "Lin (2025). Randomised optimism via competitive co-evolution for matrix games with bandit feedback. IJCAI."

    c: Annotated[Nonnegative, "the size of the bonus for rarely visited pairs; the theorem needs c >= 8"] = 8.0
    mutation: Annotated[Mutation, "the noise; gaussian-prose has the variance of the paper's prose"] = Gaussian()
    selection: Annotated[Selection, "the survivors; none keeps the newest, like the released program"] = Elitist()
    recombination: Annotated[Recombination, "how mutants inherit from relatives"] = Nothing()
    population: Annotated[Population, "the numbers of policies and mutants, and the policy played"] = Pool()

    def start(self, seat: Seat) -> None:
        self.scale = self.c * log_of_pairs(seat)  # c log(2 T² m k)
        self.breeder = Breeder(
            seat, self.mutation, self.recombination, self._bonus, self.population.mutants, self.forgetting
        )
        self.parents = self.breeder.first(self.population.size, self.selection.pairs)
        self.rivals = self.population.rivals(seat)
        self.current = seat.full(1 / seat.actions, seat.actions)  # (runs, m), x_{t-1}

    def policy(self, t: int) -> Floats:
        """Mutate, solve and select: lines 3 to 11 of Algorithm 1."""
        new = self.breeder.breed(self.parents)
        generation = Generation(self.breeder, self.parents, new, self.rivals.alive() if self.rivals else None)
        self.parents = generation.survivors(generation.chosen_by(self.selection))
        self.current = self.population.played(self.seat, self.current, self.parents.policy)
        return self.current

    def beliefs(self) -> tuple[Floats, Floats]:
        return self.breeder.means(), self.breeder.visits

    def observe(self, t: int, seen: Seen) -> None:
        self.breeder.add(seen)
        if self.rivals:
            self.rivals.add(seen.opponent, seen.reward)

    def _bonus(self, count: Floats) -> Floats:
        return np.sqrt(self.scale / (np.maximum(1, count) + 1))

    @classmethod
    def regret_bound(cls, actions: int, opponent_actions: int, rounds: int, c: float = 8.0) -> float | None:
        """2 sqrt(2 c T m k log(2 T² m k)), the paper's theorem, for c >= 8 and T >= 2 m k."""
        pairs = actions * opponent_actions
        if c < 8 or rounds < 2 * pairs:
            return None
        return 2 * sqrt(2 * c * rounds * pairs * log(2 * rounds**2 * pairs))

    def cost(self, actions: int, opponent_actions: int) -> float:
        solves = 0.0024 * self.population.mutants  # solved from scratch
        return super().cost(actions, opponent_actions) + solves * pow(actions * opponent_actions, 1.25)
