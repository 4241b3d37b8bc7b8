"""Breeding: mutants of the estimates, the optimal policies of mutants, and the fitness of policies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from coebl.core.arrays import Booleans, Floats, Ints
from coebl.core.errors import InputError, shorten
from coebl.learners.base import Seat, Seen
from coebl.learners.evolution.variation import Mutation, Recombination

Judge = Literal["mutants", "fresh", "means"]


class Individuals(NamedTuple):
    """Policies and their origins, several per run. Parents lack the fields that no operator needs."""

    policy: Floats  # (runs, number, m)
    rate: Floats | None = None  # (runs, number), the rate of mutation
    mutant: Floats | None = None  # (runs, number, m, k), the matrix that the policy is optimal for
    opponent: Floats | None = None  # (runs, number, k), the opponent's optimal strategy in that matrix

    @property
    def number(self) -> int:
        """The number of individuals in each run."""
        return int(self.policy.shape[1])


class Breeder:
    """The source of `number` mutants per round: mutated estimates with a bonus that depends on the visits.

    It stores the estimates with their bonus and the deviations of mutations, and updates them for visited pairs.
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
        self._solve = seat.maximin(number=number, remember=False)  # mutants of successive rounds are unrelated
        self._deviation = mutation.deviation(seat, self._belief.count)  # (runs, m, k)
        if np.shape(self._deviation) != np.shape(self._belief.count):
            returned = f"{mutation}: deviation returned {shorten(self._deviation)}"
            raise InputError(f"{returned}; accepted: an array of the shape of count.")
        self.expect(bonus)

    def expect(self, bonus: Callable[[Floats], Floats]) -> None:
        """Use this bonus from now on."""
        self._bonus = bonus
        self._centre = self._belief.mean + bonus(self._belief.count)  # (runs, m, k), without the inherited part

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
        """Return new mutants, (runs, number, m, k), with these rates of mutation, (runs, number); None: all 1."""
        mutants = self._mutation.draw(self.seat, self._centre, self._deviation, number, rate)
        inherited = self._belief.inherited()
        if inherited is not None:
            mutants += inherited[:, None]
        return mutants

    def first(self, size: int, pairs: bool = False) -> Individuals:
        """Return the first parents: uniform policies, with the fields that the operators need.

        With `pairs`, they and their descendants have the opponent's strategies too.
        """
        seat, m, k = self.seat, self.seat.actions, self.seat.opponent_actions
        return Individuals(
            seat.full(1 / m, size, m),
            seat.full(1.0, size) if self._mutation.adapts else None,
            seat.zeros(size, m, k) + self._centre[:, None] if self._recombination.crosses else None,
            seat.full(1 / k, size, k) if pairs else None,
        )

    def breed(self, parents: Individuals) -> Individuals:
        """Return the individuals that are optimal for new mutants of the parents, which take turns."""
        seat, number, m, k = self.seat, self._number, self.seat.actions, self.seat.opponent_actions
        turns = [child % parents.number for child in range(number)]
        rate = None if parents.rate is None else self._mutation.vary(seat, parents.rate[:, turns])
        mutants = self.mutants(number, rate)
        if parents.mutant is not None:
            mutants = self._recombination.cross(seat, mutants, parents.mutant[:, turns])
        solved = self._solve(mutants.reshape((-1, m, k)))
        strategies, opponents = solved.strategy.reshape((-1, number, m)), solved.opponent.reshape((-1, number, k))
        return Individuals(strategies, rate, mutants, opponents)


class Generation(NamedTuple):
    """The individuals among which a selection chooses, by index: the parents, oldest first, then the new ones.

    >>> from coebl import parse_game
    >>> from coebl.engine.table import seat_at
    >>> from coebl.learners import Coebl
    >>> learner = Coebl().seated(seat_at(parse_game("random-uniform:3"), 0, Coebl(), seeds=[0, 1], horizon=100))
    >>> generation = Generation(learner.breeder, learner.parents, learner.breeder.breed(learner.parents))
    >>> learner.selection(generation)  # in either run, the parent, 0, or its child, 1
    array([[1],
           [1]])
    """

    breeder: Breeder
    parents: Individuals
    new: Individuals
    facing: Booleans | None = None  # (runs, k), the opponent's actions that count; None: all

    @property
    def size(self) -> int:
        """The number of survivors, equal to the number of parents."""
        return self.parents.number

    @property
    def young(self) -> range:
        """The indices of the new individuals and, if these are too few, of the last parents."""
        return range(min(self.size, self.new.number), self.size + self.new.number)

    def matrices(self, judge: Judge) -> Floats:
        """Return the matrices of a judge, "mutants", "fresh" or "means": (runs, matrices, m, k)."""
        if judge == "mutants":
            assert self.new.mutant is not None
            return self.new.mutant
        if judge not in get_args(Judge):
            raise InputError(f"judge is {judge!r}; accepted: {', '.join(get_args(Judge))}.")
        return self.breeder.mutants(1) if judge == "fresh" else self.breeder.means()[:, None]

    def fitness(self, judge: Judge) -> Floats:
        """Return the fitness of each individual, (runs, individuals): its mean over the judge's matrices B.

        The fitness of x in B is the minimum of x'By over the opponent's actions y that count.
        """
        policies = np.concatenate([self.parents.policy, self.new.policy], axis=1)
        earned = self.breeder.seat.einsum("rpi,rdij->rpdj", policies, self.matrices(judge))
        if self.facing is not None:
            earned = np.where(self.facing[:, None, None], earned, np.inf)
        least = earned.min(axis=-1)  # (runs, individuals, matrices)
        return least[:, :, 0] if least.shape[-1] == 1 else least.mean(axis=-1)

    def survivors(self, index: Ints) -> Individuals:
        """Return the individuals at index, (runs, size), or (1, size) if they are the same in every run."""
        seat = self.breeder.seat

        def chosen(old: Any, new: Any) -> Any:
            if old is None:
                return None
            if old.shape[1] == new.shape[1] == index.shape[1] == 1:  # the paper's case: faster than by index
                return np.where(index.reshape((-1, *(1,) * (old.ndim - 1))) == 1, new, old)
            return np.concatenate([old, new], axis=1)[seat.at(index)]

        return Individuals(*map(chosen, self.parents, self.new))

    def chosen_by(self, selection: Callable[[Generation], Ints]) -> Ints:
        """Return the indices that a selection chooses; an InputError if those of a custom one are none."""
        index = selection(self)
        if type(selection).__module__.startswith("coebl."):
            return index
        runs, last = self.breeder.seat.runs, self.size + self.new.number - 1
        shape, kind = np.shape(index), str(getattr(index, "dtype", type(index).__name__))
        if last == 1 and kind == "bool":  # True for the only mutant
            index, kind = 1 * index, "int"
        if shape[1:] != (self.size,) or shape[0] not in (1, runs) or "int" not in kind:
            given = f"indices of shape {shape} and type {kind}"
            accepted = f"an array of integers, (runs, size) = {(runs, self.size)}"
        elif not ((index >= 0) & (index <= last)).all():
            given, accepted = "an index out of range", f"0 .. {last}, parents first"
        else:
            return index
        raise InputError(f"a selection returned {given}; accepted: {accepted}.")
