"""Selection and populations: the policies that survive a round, and the policy that is played.

A policy's fitness is the least that it earns against any action of the opponent, in matrices of one of three kinds:

- *mutants*: those of the round, as in the paper. A new policy is optimal for its mutant, so with a single mutant per
  round, selection changes nothing.
- *fresh*: a new mutant, bred only for this purpose.
- *means*: the estimates alone, which expose a policy that looks good only because of its bonus or mutation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from coebl.core.arrays import Booleans, Floats, Ints
from coebl.core.modules import undefined
from coebl.core.registry import Component, Registry
from coebl.core.specs import PositiveShare, Range
from coebl.learners.base import Seat
from coebl.learners.evolution.breeding import Generation, Judge
from coebl.learners.parts import draw_integers
from coebl.search import dominates

Judged = Annotated[Judge, "the matrices by which fitness is measured"]


@dataclass(frozen=True)
class Selection(Component):
    """A rule that chooses the survivors of a generation.

    >>> str(Tournament(k=3))
    'tournament:k=3'
    """

    pairs: ClassVar[bool] = False  # if True, individuals have the opponent's strategies in addition to policies

    def __call__(self, generation: Generation) -> Ints:
        """Return the indices of the survivors, (runs, size), increasing; (1, size) if they are the same in all runs."""
        raise undefined(self, "__call__(self, generation)", "indices of shape (runs, size)")


SELECTIONS = Registry("selection", "selections", base=Selection)
"""The selections by name."""


@SELECTIONS.add("elitist")
@dataclass(frozen=True)
class Elitist(Selection):
    """The fittest of the old and new policies, (mu + lambda); ties go to the oldest.

    With one policy and one mutant, this is the paper's Algorithm 1, lines 7 to 10: the new policy if it is strictly
    fitter, else the previous one. Judged by the mutants, the new policy maximises the very fitness by which it is
    compared, and almost surely no other does, so it always survives.
    """

    judge: Judged = "mutants"

    def __call__(self, generation: Generation) -> Ints:
        return _fittest(generation.fitness(self.judge), generation.size)


@SELECTIONS.add("none")
@dataclass(frozen=True)
class Newest(Selection):
    """The newest policies, regardless of fitness."""

    def __call__(self, generation: Generation) -> Ints:
        return generation.breeder.seat.arange(generation.size)[None] + generation.new.number


@SELECTIONS.add("comma")
@dataclass(frozen=True)
class Comma(Selection):
    """The fittest of the new policies, (mu, lambda): no old policy survives, however good.

    It needs more mutants than policies: with equal numbers, it is the same as "none". For bit strings there are
    theorems on a threshold that lambda/mu, or the k of a tournament, has to exceed, and that grows with the rate of
    mutation (Lehre, "Negative drift in populations", 2010, and "Fitness-levels for non-elitist populations", 2011).
    """

    judge: Judged = "means"

    def __call__(self, generation: Generation) -> Ints:
        first = generation.young[0]
        return _fittest(generation.fitness(self.judge)[:, first:], generation.size) + first


@SELECTIONS.add("tournament")
@dataclass(frozen=True)
class Tournament(Selection):
    """For each place, the fittest of k random new policies, so less fit policies have a chance too."""

    k: Annotated[int, Range(1), "the number of policies drawn for each place"] = 2
    judge: Judged = "means"

    def __call__(self, generation: Generation) -> Ints:
        drawn = _drawn(generation, self.k)  # (runs, size, k)
        fitness = generation.fitness(self.judge)[generation.breeder.seat.at(drawn)]
        best = fitness.argmax(axis=-1)[:, :, None]
        return np.sort(np.take_along_axis(drawn, best, axis=-1)[:, :, 0], axis=-1)


@SELECTIONS.add("dominance")
@dataclass(frozen=True)
class Dominance(Selection):
    """For each place, two new individuals are drawn; the first survives if it dominates the second, else the second.

    An individual is a pair: a policy x and the opponent's strategy y in the matrix that x is optimal for. In a judging
    matrix B, (x1, y1) dominates (x2, y2) if x1'B y2 >= x1'B y1 >= x2'B y1. It follows PDCoEA (Lehre, "Runtime analysis
    of competitive co-evolutionary algorithms for maximin optimisation of a bilinear function", 2022), which draws x and
    y from separate populations.
    """

    pairs = True

    judge: Judged = "means"

    def __call__(self, generation: Generation) -> Ints:
        parents, new = generation.parents, generation.new
        assert parents.opponent is not None and new.opponent is not None  # noqa: PT018 - because of `pairs`
        policies = np.concatenate([parents.policy, new.policy], axis=1)
        opponents = np.concatenate([parents.opponent, new.opponent], axis=1)
        judging = generation.matrices(self.judge).mean(axis=1)  # payoffs are linear in the matrix
        seat = generation.breeder.seat
        against = seat.einsum("rpi,rij->rpj", policies, judging)
        payoff = seat.einsum("rpj,rqj->rpq", against, opponents)  # to policy p against strategy q
        drawn = _drawn(generation, 2)
        first, second = drawn[:, :, 0], drawn[:, :, 1]
        kept = dominates(*(payoff[seat.at(*pair)] for pair in ((first, second), (first, first), (second, first))))
        return np.sort(np.where(kept, first, second), axis=-1)


def _fittest(fitness: Floats, number: int) -> Ints:
    """Return the indices of the fittest, (runs, number) out of (runs, all), increasing; ties go to the first."""
    if number == 1:
        return fitness.argmax(axis=-1)[:, None]
    return np.sort(np.argsort(-fitness, axis=-1, kind="stable")[:, :number], axis=-1)


def _drawn(generation: Generation, k: int) -> Ints:
    """Draw the indices of k new individuals for each place, independently: (runs, size, k)."""
    young = generation.young
    return young[0] + draw_integers(generation.breeder.seat, len(young), generation.size, k)


@dataclass(frozen=True)
class Population(Component):
    """The numbers of policies and mutants, the policy that is played, and the opponent's actions that count.

    >>> Pool(size=2).played(seat=None, before=None, policies=np.array([[[1.0, 0.0], [0.5, 0.5]]]))  # the mean
    array([[0.75, 0.25]])
    """

    size: Annotated[int, Range(1, 10**6), "mu, the number of policies that survive a round"] = 1
    mutants: Annotated[int, Range(1, 10**6), "lambda, the number of mutants that are bred and solved in a round"] = 1

    def played(self, seat: Seat, before: Floats, policies: Floats) -> Floats:
        """Return the policy that the seat plays, (runs, m), from policies, (runs, size, m), and the one before."""
        raise undefined(self, "played(self, seat, before, policies)", "an array of shape (runs, m)")

    def rivals(self, seat: Seat) -> Parasites | None:
        """Return the opponent's side of the population in a seat; None if it has none."""
        return None


def renewed(before: Floats, new: Floats, turnover: float) -> Floats:
    """Return the policies before, (runs, m), with a share `turnover` of each replaced by the new one."""
    return new if turnover == 1 else (1 - turnover) * before + turnover * new


POPULATIONS = Registry("population", "populations", base=Population)
"""The populations by name."""


@POPULATIONS.add("pool")
@dataclass(frozen=True)
class Pool(Population):
    """Policies of which the mean or a drawn one is played. The defaults, one policy and one mutant, are the paper's."""

    play: Annotated[Literal["mean", "draw"], "the mean of the policies, or one drawn in every round"] = "mean"
    turnover: Annotated[PositiveShare, "the share of the played policy that a round replaces"] = 1.0

    def played(self, seat: Seat, before: Floats, policies: Floats) -> Floats:
        if self.play == "mean":
            new = policies[:, 0] if self.size == 1 else policies.mean(axis=1)
        else:
            new = policies[seat.at(draw_integers(seat, self.size))]
        return renewed(before, new, self.turnover)


@POPULATIONS.add("hosts")
@dataclass(frozen=True)
class Hosts(Pool):
    """A pool that is judged only against parasites: the opponent's actions that did best against the learner.

    The fitness of a policy is the least that it earns against a parasite. So any selection other than "none" prefers
    policies that do well where the opponent is good, even if they do badly elsewhere.
    """

    parasites: Annotated[int, Range(1), "the number of the opponent's actions that count"] = 3

    def rivals(self, seat: Seat) -> Parasites:
        return Parasites(seat, self.parasites)


class Parasites:
    """The played actions of the opponent against which the learner earned least on average."""

    def __init__(self, seat: Seat, number: int) -> None:
        self._seat, self._number = seat, number
        self._count = seat.zeros(seat.opponent_actions)  # (runs, k), rounds in which the action was played
        self._mean = seat.full(np.inf, seat.opponent_actions)  # (runs, k), the mean reward in those rounds

    def add(self, opponent: Ints, reward: Floats) -> None:
        """Learn from one reward per run."""
        index = self._seat.at(opponent)
        self._count[index] += 1
        before = np.where(self._count[index] > 1, self._mean[index], 0.0)
        self._mean[index] = before + (reward - before) / self._count[index]

    def alive(self) -> Booleans:
        """Return a mask of the parasites, (runs, k); before the first round all actions are parasites."""
        rank = np.argsort(np.argsort(self._mean, axis=-1, kind="stable"), axis=-1, kind="stable")  # ties: the first
        chosen = (rank < self._number) & (self._count > 0)
        return chosen | ~chosen.any(axis=-1, keepdims=True)
