"""Recombinations: the share of its relatives in a mutant.

There are two kinds. *Inheritance* is of estimates: a pair of actions that was hardly visited takes after its row and
its column. *Crossover* is of mutants: a mutant has a part of the matrix from which its parent, a policy that survived,
was bred.

To add one, write a class here and put ``@RECOMBINATIONS.add("name")`` above it. A spec may set its fields.
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
from coebl.learners.parts.beliefs import Kinship, Tally


class Belief(Protocol):
    """Knowledge about the payoffs, from which mutants are bred."""

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

    >>> Crossover(by="row").crosses, Nothing().crosses
    (True, False)
    """

    crosses: ClassVar[bool] = False  # if True, survivors keep the matrix from which they were bred, for `cross`

    def belief(self, seat: Seat) -> Belief:
        """Return a belief about the payoffs in this seat, before the first round."""
        return _Alone(seat)

    def cross(self, seat: Seat, mutants: Floats, parents: Floats) -> Floats:
        """Return the mutants crossed with their parents' matrices, all (runs, number, m, k), by draws of the seat."""
        return mutants


RECOMBINATIONS = Registry("recombination", "recombinations", base=Recombination)
"""The recombinations by name."""


@RECOMBINATIONS.add("none")
@dataclass(frozen=True)
class Nothing(Recombination):
    """No recombination, as in the paper: a mutant is made of the mean rewards alone."""


@dataclass(frozen=True)
class _Inheritance(Recombination):
    """Estimates (1 - g) mean + g (effect of row + effect of column), as `Kinship` has them.

    Its subclasses have the same parameters, which are added to their docstrings.

    Args:
        own: the share of the payoffs' variance that is a pair's alone; the rest is shared with its relatives.
        noise: the standard deviation of the rewards' noise.
        clip: if true, what is inherited stays within the known range of payoffs.
    """

    relatives: ClassVar[tuple[int, int]]  # 1 if it inherits from its row, and from its column, else 0

    own: Annotated[float, Range(0, 1, open_low=True)] = 0.5
    noise: Annotated[float, Range(0, open_low=True)] = 1.0
    clip: bool = False

    def __init_subclass__(cls) -> None:
        _, heading, arguments = cleandoc(_Inheritance.__doc__ or "").partition("\nArgs:\n")
        cls.__doc__ = f"{cls.__doc__}\n{heading}{arguments}"

    def belief(self, seat: Seat) -> Belief:
        rows, columns = ((1 - self.own) * share / sum(self.relatives) for share in self.relatives)
        return Kinship(seat, own=self.own, rows=rows, columns=columns, noise=self.noise, clip=self.clip)


@RECOMBINATIONS.add("row")
@dataclass(frozen=True)
class FromRow(_Inheritance):
    """A pair inherits from its row: what its action earned against other actions of the opponent."""

    relatives = (1, 0)


@RECOMBINATIONS.add("column")
@dataclass(frozen=True)
class FromColumn(_Inheritance):
    """A pair inherits from its column: what other actions earned against the same action of the opponent."""

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
        by: "entry" or "row", the parts that are exchanged.
        probability: that a part comes from the parent's matrix.
    """

    crosses = True

    by: Literal["entry", "row"] = "entry"
    probability: Annotated[float, Range(0, 1)] = 0.5

    def cross(self, seat: Seat, mutants: Floats, parents: Floats) -> Floats:
        across = seat.opponent_actions if self.by == "entry" else 1
        old = seat.random.uniform(mutants.shape[1], seat.actions, across) < self.probability
        return np.where(old, parents, mutants)
