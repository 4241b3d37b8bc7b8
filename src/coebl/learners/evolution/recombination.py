"""Recombinations: what a mutant has from its relatives.

There are two kinds. *Inheritance* is of estimates: a pair of actions that was hardly visited takes after its row and
its column. *Crossover* is of mutants: a mutant has a part of the matrix from which its parent, a policy that survived,
was bred.

To add one, write a class here and put ``@RECOMBINATIONS.add("its-name")`` above it. Its fields are what a spec may set.
"""

from __future__ import annotations

from dataclasses import dataclass
from inspect import cleandoc
from typing import Annotated, ClassVar, Literal, Protocol

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.core.registry import Component, Registry
from coebl.core.specs import Range
from coebl.learners.base import Seat
from coebl.learners.parts.beliefs import Tally
from coebl.learners.parts.kinship import Kinship


class Belief(Protocol):
    """What a learner knows about the payoffs, from which mutants are bred."""

    count: Floats  # (runs, m, k), visits to the pair
    mean: Floats  # (runs, m, k), the part of its estimate that a pair has by itself

    def add(self, action: Ints, opponent: Ints, reward: Floats) -> tuple[Ints, ...]:
        """Learn from one reward per run. Returns the index of the pair whose count and mean changed."""

    def inherited(self) -> Floats | None:
        """What every pair also inherits from its relatives, (runs, m, k); None if that is nothing."""


class _Alone(Tally):
    """A tally, in which no pair has relatives."""

    def inherited(self) -> None:
        return None


@dataclass(frozen=True)
class Recombination(Component):
    """Nothing is recombined, unless a method says otherwise.

    >>> crossover = RECOMBINATIONS.make("crossover:by=row")
    >>> crossover, crossover.crosses, Recombination.crosses
    (Crossover(by='row', probability=0.5), True, False)
    """

    crosses: ClassVar[bool] = False  # whether survivors keep the matrix from which they were bred, for `cross`

    def belief(self, seat: Seat) -> Belief:
        """What is known of the payoffs, of nothing as yet.

        Args:
            seat: where the learner sits.
        """
        return _Alone(seat)

    def cross(self, seat: Seat, mutants: Floats, parents: Floats) -> Floats:
        """The mutants crossed with those from which their parents were bred, all (runs, number, m, k).

        Args:
            seat: where random numbers come from.
            mutants: those of the round.
            parents: what they were bred from.
        """
        return mutants


RECOMBINATIONS = Registry("recombination", "recombinations", base=Recombination)
"""The recombinations by name."""


@RECOMBINATIONS.add("none")
@dataclass(frozen=True)
class Nothing(Recombination):
    """The paper's: a mutant is made of the mean rewards alone."""


@dataclass(frozen=True)
class _Inheritance(Recombination):
    """Estimates (1 - g) mean + g (effect of row + effect of column), as `Kinship` has them.

    Its subclasses have the same parameters, which their docstrings need not repeat.

    Args:
        own: the share of the payoffs' variance that a pair has by itself; the rest is its relatives'.
        noise: the standard deviation of the rewards' noise.
        clip: whether what is inherited stays within the known range of payoffs.
    """

    relatives: ClassVar[tuple[int, int]]  # whether it inherits from its row, and from its column

    own: Annotated[float, Range(0, 1, open_low=True)] = 0.5
    noise: Annotated[float, Range(0, open_low=True)] = 1.0
    clip: bool = False

    def __init_subclass__(cls) -> None:
        _, heading, arguments = cleandoc(_Inheritance.__doc__ or "").partition("\nArgs:\n")
        cls.__doc__ = f"{cls.__doc__}\n{heading}{arguments}"

    def belief(self, seat: Seat) -> Belief:
        rows, columns = ((1 - self.own) * one / sum(self.relatives) for one in self.relatives)
        return Kinship(seat, own=self.own, rows=rows, columns=columns, noise=self.noise, clip=self.clip)


@RECOMBINATIONS.add("row")
@dataclass(frozen=True)
class FromRow(_Inheritance):
    """A pair inherits from its row: what the own action earned against other actions of the opponent."""

    relatives = (1, 0)


@RECOMBINATIONS.add("column")
@dataclass(frozen=True)
class FromColumn(_Inheritance):
    """A pair inherits from its column: what the opponent's action cost other own actions."""

    relatives = (0, 1)


@RECOMBINATIONS.add("both")
@dataclass(frozen=True)
class FromBoth(_Inheritance):
    """Kin's: a pair is the offspring of its row and its column, and inherits from both."""

    relatives = (1, 1)


@RECOMBINATIONS.add("crossover")
@dataclass(frozen=True)
class Crossover(Recombination):
    """A mutant has each entry, or each row, with a probability from its parent's matrix.

    It has the others from a fresh mutant. The parent's matrix is the one that its policy is optimal for, as it was
    bred. Two fresh mutants are not crossed: where entries are independent, such a child has the law of its parents, and
    nothing is changed.

    Args:
        by: whether entries or whole rows are exchanged.
        probability: with which one comes from the parent's matrix.
    """

    crosses = True

    by: Literal["entry", "row"] = "entry"
    probability: Annotated[float, Range(0, 1)] = 0.5

    def cross(self, seat: Seat, mutants: Floats, parents: Floats) -> Floats:
        across = seat.opponent_actions if self.by == "entry" else 1
        old = seat.random.uniform(mutants.shape[1], seat.actions, across) < self.probability
        return np.where(old, parents, mutants)
