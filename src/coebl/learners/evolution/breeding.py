"""Breeding: mutants of what is believed, the policies that are optimal for them, and the fitness of policies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from coebl.core.arrays import Booleans, Floats, Ints
from coebl.learners.base import Seat, Seen
from coebl.learners.evolution.mutation import Mutation
from coebl.learners.evolution.recombination import Recombination

Judge = Literal["mutants", "fresh", "means"]


@dataclass(frozen=True)
class Individuals:
    """Policies and what they were bred from, several per run."""

    policy: Floats  # (runs, number, m)
    opponent: Floats  # (runs, number, k), the opponent's optimal strategy in the matrix that the policy is optimal for
    rate: Floats  # (runs, number), of mutation
    mutant: Floats | None  # (runs, number, m, k), that matrix; None where it is not kept

    def joined(self, others: Individuals) -> Individuals:
        """These, and then the others."""

        def both(one: Floats, other: Floats) -> Floats:
            return np.concatenate([one, other], axis=1)

        kept = None if self.mutant is None or others.mutant is None else both(self.mutant, others.mutant)
        return Individuals(
            both(self.policy, others.policy), both(self.opponent, others.opponent), both(self.rate, others.rate), kept
        )

    def chosen(self, seat: Seat, index: Ints) -> Individuals:
        """Those of these numbers, (runs, number), or (1, number) for the same in every run."""
        at = seat.arange(seat.runs)[:, None], index
        kept = None if self.mutant is None else self.mutant[at]
        return Individuals(self.policy[at], self.opponent[at], self.rate[at], kept)


class Breeder:
    """Breeds mutants from a belief: estimates, a bonus for pairs that were seldom visited, and mutation.

    What depends on the visits alone is kept, and only what a visit changes is computed anew.

    Args:
        seat: the learner's.
        mutation: draws the noise.
        recombination: has the belief, and crosses mutants.
        bonus: the optimism that visits leave, of the shape of the visits that it is given.
        number: how many mutants are bred in a round.
    """

    def __init__(
        self,
        seat: Seat,
        mutation: Mutation,
        recombination: Recombination,
        bonus: Callable[[Floats], Floats],
        number: int = 1,
    ) -> None:
        self.seat, self._mutation, self._recombination, self._number = seat, mutation, recombination, number
        self._belief = recombination.belief(seat)
        self._solve = seat.maximin(each=number)
        self._deviation = mutation.deviation(seat, self._belief.count)  # (runs, m, k)
        self.expect(bonus)

    def expect(self, bonus: Callable[[Floats], Floats]) -> None:
        """Use this bonus from now on."""
        self._bonus = bonus
        self._centre = self._belief.mean + bonus(self._belief.count)  # (runs, m, k), less what is inherited

    def add(self, seen: Seen) -> None:
        """Learn from what happened in a round."""
        at = self._belief.add(seen.action, seen.opponent, seen.reward)
        count = self._belief.count[at]
        self._centre[at] = self._belief.mean[at] + self._bonus(count)
        self._deviation[at] = self._mutation.deviation(self.seat, count)

    def means(self) -> Floats:
        """The estimates, without bonus and mutation: (runs, m, k)."""
        inherited = self._belief.inherited()
        return self._belief.mean if inherited is None else self._belief.mean + inherited

    def mutants(self, rate: Floats) -> Floats:
        """Fresh mutants, (runs, number, m, k), with these rates of mutation, (runs, number)."""
        mutants = self._mutation.draw(self.seat, self._deviation, rate)
        mutants += self._centre[:, None]  # ~ N(centre, deviation²) where mutation is the paper's
        inherited = self._belief.inherited()
        if inherited is not None:
            mutants += inherited[:, None]
        return mutants

    def first(self, size: int) -> Individuals:
        """So many parents of the first mutants: the uniform policy, and the estimates with their bonus."""
        seat = self.seat
        m, k = seat.actions, seat.opponent_actions
        mutant = seat.zeros(size, m, k) + self._centre[:, None] if self._recombination.crosses else None
        return Individuals(seat.full(1 / m, size, m), seat.full(1 / k, size, k), seat.full(1.0, size), mutant)

    def breed(self, parents: Individuals) -> tuple[Individuals, Floats]:
        """The optimal policies of mutants, and the mutants, (runs, number, m, k); parents take turns."""
        seat = self.seat
        parent = seat.arange(self._number) % parents.rate.shape[1]
        rate = self._mutation.vary(seat, parents.rate[:, parent])
        mutants = self.mutants(rate)
        if parents.mutant is not None:
            mutants = self._recombination.cross(seat, mutants, parents.mutant[:, parent])
        m, k = seat.actions, seat.opponent_actions
        found = self._solve(mutants.reshape((-1, m, k)))
        policy, opponent = found.strategy.reshape((-1, self._number, m)), found.opponent.reshape((-1, self._number, k))
        return Individuals(policy, opponent, rate, None if parents.mutant is None else mutants), mutants


@dataclass(frozen=True)
class Generation:
    """Those among whom a selection chooses: the parents, oldest first, and then the new ones, in the order of birth."""

    individuals: Individuals
    size: int  # how many survive, as many as there are parents
    mutants: Floats  # (runs, number, m, k), of the new ones
    breeder: Breeder
    facing: Booleans | None = None  # (runs, k), which of the opponent's actions count; None: all

    @property
    def total(self) -> int:
        """How many there are in a run."""
        return int(self.individuals.rate.shape[1])

    @property
    def young(self) -> int:
        """How many of the last are young: the new ones, or if these are too few, as many as survive."""
        return max(self.size, self.total - self.size)

    def matrices(self, judge: Judge) -> Floats:
        """The matrices by which policies are judged: (runs, matrices, m, k)."""
        if judge == "mutants":
            return self.mutants
        if judge == "fresh":
            return self.breeder.mutants(self.breeder.seat.full(1.0, 1))
        return self.breeder.means()[:, None]

    def fitness(self, judge: Judge) -> Floats:
        """The fitness of each, (runs, total): the mean over the judging matrices."""
        mean: Floats = fitness(self.individuals.policy, self.matrices(judge), self.facing).mean(axis=-1)
        return mean


def fitness(policies: Floats, matrices: Floats, facing: Booleans | None = None) -> Floats:
    """Fitness(x, B) = min over y of x'By, attained by a pure y, of every policy in every matrix.

    Args:
        policies: (runs, policies, m).
        matrices: (runs, matrices, m, k).
        facing: (runs, k), which of the opponent's actions count; all if None.

    Returns:
        (runs, policies, matrices).
    """
    earned: Floats = np.einsum("rpi,rdij->rpdj", policies, matrices)
    if facing is not None:
        earned = np.where(facing[:, None, None, :], earned, np.inf)
    least: Floats = earned.min(axis=-1)
    return least
