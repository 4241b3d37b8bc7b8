"""Breeding: mutants of the estimates, the policies that are optimal for them, and the fitness of policies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from coebl.backend import CPU, Backend
from coebl.core.arrays import Booleans, Floats, Ints
from coebl.learners.base import Seat, Seen
from coebl.learners.evolution.variation import Mutation, Recombination

Judge = Literal["mutants", "fresh", "means"]


class Individuals(NamedTuple):
    """Policies and their origins, several per run. A field that no operator needs is None."""

    policy: Floats  # (runs, number, m)
    rate: Floats | None = None  # (runs, number), of mutation
    mutant: Floats | None = None  # (runs, number, m, k), the matrix that the policy is optimal for
    opponent: Floats | None = None  # (runs, number, k), the opponent's optimal strategy in that matrix

    @property
    def number(self) -> int:
        """The number of individuals in each run."""
        return int(self.policy.shape[1])

    def merged(self, others: Individuals, seat: Seat, index: Ints) -> Individuals:
        """Select individuals by index, (runs, survivors) or (1, survivors), from these followed by the others."""
        pairs = zip(self, others, strict=True)
        chosen = (None if old is None or new is None else _chosen(old, new, seat, index) for old, new in pairs)
        return Individuals(*chosen)  # type: ignore[arg-type]


def _chosen(old: Floats, new: Floats, seat: Seat, index: Ints) -> Floats:
    if old.shape[1] == new.shape[1] == index.shape[1] == 1:  # the paper's case: faster than by index
        return np.where(index.reshape((-1, *(1,) * (old.ndim - 1))) == 1, new, old)
    everyone: Floats = np.concatenate([old, new], axis=1)[seat.arange(seat.runs)[:, None], index]
    return everyone


class Breeder:
    """Breeds mutants from a belief: estimates, a bonus for rarely visited pairs, and mutation.

    What depends only on the visits is kept, and only what a visit changes is computed again. The bonus maps visits to
    optimism, and `number` is that of the mutants in a round.
    """

    def __init__(
        self,
        seat: Seat,
        mutation: Mutation,
        recombination: Recombination,
        bonus: Callable[[Floats], Floats],
        number: int = 1,
        forgetting: float = 1.0,
    ) -> None:
        self.seat, self._mutation, self._recombination, self._number = seat, mutation, recombination, number
        self._belief = recombination.belief(seat) if forgetting == 1 else recombination.belief(seat, forgetting)
        self._solve = seat.maximin(number=number, remember=False)  # mutants are new in every round
        self._deviation = mutation.deviation(seat, self._belief.count)  # (runs, m, k)
        self.expect(bonus)

    def expect(self, bonus: Callable[[Floats], Floats]) -> None:
        """Use this bonus from now on."""
        self._bonus = bonus
        self._centre = self._belief.mean + bonus(self._belief.count)  # (runs, m, k), less what is inherited

    def add(self, seen: Seen) -> None:
        """Learn from a round."""
        index = self._belief.add(seen.action, seen.opponent, seen.reward)
        backend = self.seat.backend
        count = backend.take(self._belief.count, index)
        backend.put(self._centre, index, backend.take(self._belief.mean, index) + self._bonus(count))
        backend.put(self._deviation, index, self._mutation.deviation(self.seat, count))

    @property
    def visits(self) -> Floats:
        """The number of visits to each pair: (runs, m, k)."""
        return self._belief.count

    def means(self) -> Floats:
        """Return the estimates, without bonus and mutation: (runs, m, k)."""
        inherited = self._belief.inherited()
        return self._belief.mean if inherited is None else self._belief.mean + inherited

    def mutants(self, number: int, rate: Floats | None = None) -> Floats:
        """Return fresh mutants, (runs, number, m, k), with these rates of mutation, (runs, number); None: all 1."""
        mutants = self._mutation.draw(self.seat, self._centre, self._deviation, number, rate)
        inherited = self._belief.inherited()
        if inherited is not None:
            mutants += inherited[:, None]
        return mutants

    def first(self, size: int, pairs: bool = False) -> Individuals:
        """Return the parents of the first mutants: uniform policies, and the estimates with their bonus.

        They have what the operators need, and so have their descendants; with `pairs`, the opponent's strategies too.
        """
        seat, m, k = self.seat, self.seat.actions, self.seat.opponent_actions
        return Individuals(
            seat.full(1 / m, size, m),
            seat.full(1.0, size) if self._mutation.adapts else None,
            seat.zeros(size, m, k) + self._centre[:, None] if self._recombination.crosses else None,
            seat.full(1 / k, size, k) if pairs else None,
        )

    def breed(self, parents: Individuals) -> tuple[Individuals, Floats]:
        """Return the optimal policies of new mutants, and the mutants, (runs, number, m, k); parents take turns."""
        seat, number, m, k = self.seat, self._number, self.seat.actions, self.seat.opponent_actions
        rate = None if parents.rate is None else self._mutation.vary(seat, parents.rate[:, self._turns(parents)])
        mutants = self.mutants(number, rate)
        if parents.mutant is not None:
            mutants = self._recombination.cross(seat, mutants, parents.mutant[:, self._turns(parents)])
        solved = self._solve(mutants.reshape((-1, m, k)))
        bred = Individuals(
            solved.strategy.reshape((-1, number, m)),
            rate,
            None if parents.mutant is None else mutants,
            None if parents.opponent is None else solved.opponent.reshape((-1, number, k)),
        )
        return bred, mutants

    def _turns(self, parents: Individuals) -> list[int]:
        """Return the index of each mutant's parent."""
        return [child % parents.number for child in range(self._number)]


class Generation(NamedTuple):
    """The individuals among which a selection chooses, by index: the parents, oldest first, then the new.

    >>> from coebl.engine.table import build_seat
    >>> from coebl.learners import Coebl
    >>> seat = build_seat(Coebl(), seeds=[0, 1], shape=(3, 4), horizon=100, payoff_range=(0.0, 1.0))
    >>> learner = Coebl().seated(seat)
    >>> generation = Generation(learner.breeder, learner.parents, *learner.breeder.breed(learner.parents))
    >>> learner.selection(generation)  # in either run, the parent, 0, or its child, 1
    array([[1],
           [1]])
    """

    breeder: Breeder
    parents: Individuals
    new: Individuals
    mutants: Floats  # (runs, new, m, k), of the new
    facing: Booleans | None = None  # (runs, k), the opponent's actions that count; None: all

    @property
    def size(self) -> int:
        """The number of survivors, which is that of the parents."""
        return self.parents.number

    @property
    def young(self) -> range:
        """The indices of the new, and if these are too few, of the last parents as well."""
        return range(min(self.size, self.new.number), self.size + self.new.number)

    def matrices(self, judge: Judge) -> Floats:
        """Return the matrices by which policies are judged, (runs, matrices, m, k).

        Args:
            judge: "mutants", "fresh" or "means".
        """
        if judge == "mutants":
            return self.mutants
        return self.breeder.mutants(1) if judge == "fresh" else self.breeder.means()[:, None]

    def fitness(self, judge: Judge) -> Floats:
        """Return the fitness of each individual, (runs, individuals): the mean over the matrices of the judge."""
        individuals = (self.parents, self.new)
        policies = [some.policy[:, place] for some in individuals for place in range(some.number)]
        return fitness(policies, self.matrices(judge), self.facing, self.breeder.seat.backend)

    def survivors(self, index: Ints) -> Individuals:
        """Return the individuals with this index, (runs, size), or (1, size) for the same in every run."""
        return self.parents.merged(self.new, self.breeder.seat, index)


def fitness(
    policies: Sequence[Floats], matrices: Floats, facing: Booleans | None = None, backend: Backend = CPU
) -> Floats:
    """Return Fitness(x, B) = min over y of x'By, attained by a pure y; with several matrices, its mean over them.

    The policies are (runs, m) each, the matrices (runs, matrices, m, k), and `facing`, (runs, k), has the opponent's
    actions that count, all if None.

    >>> half, matrix = np.array([[0.5, 0.5]]), np.array([[[[3.0, 0.0], [1.0, 2.0]]]])  # in one run
    >>> fitness([half], matrix), fitness([half], matrix, facing=np.array([[True, False]]))
    (array([[1.]]), array([[2.]]))
    """
    earned = np.concatenate([backend.einsum("ri,rdij->rdj", policy, matrices) for policy in policies], axis=1)
    if facing is not None:
        earned = np.where(facing[:, None, :], earned, np.inf)
    least: Floats = earned.min(axis=-1)  # (runs, policies * matrices)
    number = matrices.shape[1]
    return least if number == 1 else least.reshape((-1, len(policies), number)).mean(axis=-1)
