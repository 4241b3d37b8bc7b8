"""Variation: mutations and recombinations, which make mutants of the estimated payoffs.

A mutation adds noise to each estimate, by the visits n of the pair of actions. There are two kinds of recombination.
*Inheritance* is of estimates: a rarely visited pair of actions takes after its row and its column. *Crossover* is of
mutants: a part of a mutant comes from the matrix for which its parent, a policy that survived, was optimal.

To add one, write a class here and put ``@MUTATIONS.add("name")`` or ``@RECOMBINATIONS.add("name")`` above it. A spec
may set its fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from inspect import cleandoc
from math import sqrt
from typing import Annotated, ClassVar, Literal, Protocol

import numpy as np

from coebl.backend import cos_of_turns, exp, expm1, log1p
from coebl.core.arrays import Floats, Ints
from coebl.core.registry import Component, Registry
from coebl.core.specs import Range
from coebl.learners.base import Seat
from coebl.learners.parts import Kinship, Tally, inherited_share, prior_variance

_MOST = 32.0  # a self-adapting rate stays within 1/32 .. 32, so that a drift without selection cannot overflow


@dataclass(frozen=True)
class Mutation(Component):
    """Noise of mean 0 that is added to every estimate. It is normal unless `standard` is overridden.

    The deviation depends only on the visits, so a learner keeps it and recomputes only what a visit changes.

    >>> Gaussian().deviation(seat=None, count=np.array([0.0, 1.0, 2.0, 10.0]))  # this one does not use the seat
    array([1. , 1. , 0.5, 0.1])
    """

    @property
    def adapts(self) -> bool:
        """True if every mutant has its own rate."""
        return False

    def deviation(self, seat: Seat, count: Floats) -> Floats:
        """Return the standard deviation of the noise in a seat, by the visits of each pair, count: of its shape."""
        raise NotImplementedError

    def standard(self, seat: Seat, number: int) -> Floats | None:
        """Return new noise from the seat of mean 0 and variance 1, (runs, number, m, k); None for normal noise."""
        return None

    def vary(self, seat: Seat, rate: Floats) -> Floats:
        """Return the rates of mutants from the rate of each parent, (runs, number), and random numbers of the seat."""
        return rate

    def draw(self, seat: Seat, centre: Floats | None, deviation: Floats, number: int, rate: Floats | None) -> Floats:
        """Draw mutants, (runs, number, m, k).

        Args:
            seat: has the random numbers.
            centre: added to the noise, (runs, m, k); None for only the noise.
            deviation: of each pair, (runs, m, k).
            number: of mutants.
            rate: of each mutant, (runs, number); None if all are 1.
        """
        drawn = self.standard(seat, number)
        if drawn is None:  # ~ N(centre, deviation²)
            return seat.random.normal(number, seat.actions, seat.opponent_actions, deviation=deviation, mean=centre)
        drawn *= deviation[:, None]  # in place: large games are bound by memory
        return _around(centre, drawn)


MUTATIONS = Registry("mutation", "mutations", base=Mutation)
"""The mutations by name."""


def _around(centre: Floats | None, noise: Floats) -> Floats:
    """Add the centre, (runs, m, k), to noise of (runs, number, m, k), in place."""
    if centre is not None:
        noise += centre[:, None]
    return noise


@MUTATIONS.add("gaussian")
@dataclass(frozen=True)
class Gaussian(Mutation):
    """The formula of the paper's Mutate, which its proof uses: deviation 1 / max(1, n)."""

    def deviation(self, seat: Seat, count: Floats) -> Floats:
        return 1 / np.maximum(1, count)


@MUTATIONS.add("gaussian-prose")
@dataclass(frozen=True)
class GaussianProse(Mutation):
    """The variance that the paper's prose states: deviation 1 / sqrt(1 + n)."""

    def deviation(self, seat: Seat, count: Floats) -> Floats:
        return 1 / np.sqrt(1 + count)


@MUTATIONS.add("laplace")
@dataclass(frozen=True)
class Laplace(Gaussian):
    """Laplace noise with the deviation of the paper's formula: more small steps and more large ones."""

    def standard(self, seat: Seat, number: int) -> Floats:
        uniform = seat.random.uniform(number, seat.actions, seat.opponent_actions)
        upper = uniform >= 0.5
        size = -log1p(np.where(upper, 1, 0) - 2 * uniform)  # ~ Exponential(1), and finite: 2u mod 1 is below 1
        return np.where(upper, size, -size) * sqrt(0.5)


@MUTATIONS.add("student")
@dataclass(frozen=True)
class Student(Gaussian):
    """Heavy tails: Student's t noise, scaled to the deviation of the paper's formula.

    It is drawn by Bailey's method (1994), from two uniform numbers.

    Args:
        freedom: the degrees of freedom; there is no variance at 2 and below.
    """

    freedom: Annotated[float, Range(2, open_low=True)] = 3.0

    def standard(self, seat: Seat, number: int) -> Floats:
        uniform = seat.random.uniform(2, number, seat.actions, seat.opponent_actions)
        radius = np.sqrt(expm1(-2 / self.freedom * log1p(-uniform[:, 0])))
        return radius * cos_of_turns(uniform[:, 1]) * sqrt(self.freedom - 2)


@MUTATIONS.add("posterior")
@dataclass(frozen=True)
class Posterior(Mutation):
    """The deviation of a posterior, as in Thompson sampling: sqrt(v / (1 + n v / noise²)).

    The prior variance v is a share of h², the largest that payoffs in the known range can have; h is half its width.

    Args:
        share: the prior variance, as a share of the largest that payoffs in the known range can have.
        noise: the standard deviation of the noise that it assumes, relative to the seat's.
    """

    share: Annotated[float, Range(0, 1, open_low=True)] = 1.0
    noise: Annotated[float, Range(0, open_low=True)] = 1.0

    def deviation(self, seat: Seat, count: Floats) -> Floats:
        variance = prior_variance(seat, self.share, self.noise)  # in units of the noise's
        return self.noise * np.sqrt(variance * inherited_share(count, variance))


@MUTATIONS.add("inherited")
@dataclass(frozen=True)
class Inherited(Mutation):
    """Kin's mutation, in proportion to what a pair inherits: deviation rate sqrt(own) h g.

    g = 1 / (1 + n own h² / noise²) is the share that it inherits; h is half the width of the known range.

    Args:
        rate: multiplies the deviation.
        own: the share of the payoffs' variance that is a pair's alone; the rest is shared with its relatives.
        noise: the standard deviation of the noise that it assumes, relative to the seat's.
    """

    rate: Annotated[float, Range(0)] = 0.5
    own: Annotated[float, Range(0, 1, open_low=True)] = 0.5
    noise: Annotated[float, Range(0, open_low=True)] = 1.0

    def deviation(self, seat: Seat, count: Floats) -> Floats:
        variance = prior_variance(seat, self.own, self.noise)
        return self.rate * sqrt(self.own) * seat.half_width * inherited_share(count, variance)


@dataclass(frozen=True)
class _Changed(Mutation):
    """A mutation that changes another one."""

    of: Mutation = Gaussian()

    def deviation(self, seat: Seat, count: Floats) -> Floats:
        return self.of.deviation(seat, count)

    @property
    def adapts(self) -> bool:
        return self.of.adapts

    def vary(self, seat: Seat, rate: Floats) -> Floats:
        return self.of.vary(seat, rate)


@MUTATIONS.add("sparse")
@dataclass(frozen=True)
class Sparse(_Changed):
    """Another mutation, of each entry with a probability.

    The other entries keep their estimate and its bonus.

    Args:
        of: the other mutation.
        probability: of a mutation of an entry.
    """

    probability: Annotated[float, Range(0, 1)] = 0.1

    def draw(self, seat: Seat, centre: Floats | None, deviation: Floats, number: int, rate: Floats | None) -> Floats:
        drawn = self.of.draw(seat, None, deviation, number, rate)
        mutated = seat.random.uniform(number, seat.actions, seat.opponent_actions) < self.probability
        return _around(centre, np.where(mutated, drawn, 0.0))


@MUTATIONS.add("adaptive")
@dataclass(frozen=True)
class Adaptive(_Changed):
    """Another mutation, with a rate that adapts itself.

    The rate multiplies the deviation. A mutant's is its parent's times exp(step N(0, 1)), within 1/32 .. 32, and stays
    with its policy. So the rates that breed policies which survive become more frequent (Schwefel's self-adaptation).
    This needs a selection: with `none`, rates drift. One that is judged by the mutants themselves favours large rates.

    Args:
        of: the other mutation.
        step: the spread of a mutant's rate around its parent's, on a logarithmic scale.
    """

    step: Annotated[float, Range(0)] = 0.2

    @property
    def adapts(self) -> bool:
        return True

    def vary(self, seat: Seat, rate: Floats) -> Floats:
        varied = self.of.vary(seat, rate) * exp(self.step * seat.random.normal(rate.shape[1]))
        return np.clip(varied, 1 / _MOST, _MOST)

    def draw(self, seat: Seat, centre: Floats | None, deviation: Floats, number: int, rate: Floats | None) -> Floats:
        drawn = self.of.draw(seat, None, deviation, number, rate)
        return _around(centre, drawn if rate is None else drawn * rate[:, :, None, None])


class Belief(Protocol):
    """Knowledge about the payoffs, from which mutants are bred."""

    count: Floats  # (runs, m, k), visits to the pair
    mean: Floats  # (runs, m, k), the part of a pair's estimate that is not inherited

    def add(self, action: Ints, opponent: Ints, reward: Floats) -> tuple[Ints, ...]:
        """Learn from one reward per run. Returns the index of the pair whose count and mean changed."""

    def inherited(self) -> Floats | None:
        """Return the part that every pair inherits from its relatives, (runs, m, k); None if there is none."""


class _Alone(Tally):
    """A tally, in which no pair has relatives."""

    def inherited(self) -> None:
        return None


@dataclass(frozen=True)
class Recombination(Component):
    """A recombination; the methods here recombine nothing.

    >>> Crossover(by="row").crosses, Nothing().crosses
    (True, False)
    """

    crosses: ClassVar[bool] = False  # if True, survivors keep the matrix from which they were bred, for `cross`

    def belief(self, seat: Seat, forgetting: float = 1.0) -> Belief:
        """Return a belief about the payoffs in this seat, before the first round.

        Args:
            seat: the learner's.
            forgetting: the factor by which what was seen counts less in every later round.
        """
        return _Alone(seat, forgetting)

    def cross(self, seat: Seat, mutants: Floats, parents: Floats) -> Floats:
        """Return the mutants crossed with their parents' matrices, all (runs, number, m, k), by draws of the seat."""
        return mutants


RECOMBINATIONS = Registry("recombination", "recombinations", base=Recombination)
"""The recombinations by name."""


@RECOMBINATIONS.add("none")
@dataclass(frozen=True)
class Nothing(Recombination):
    """No recombination, as in the paper: a mutant is made only of the mean rewards."""


@dataclass(frozen=True)
class _Inheritance(Recombination):
    """Estimates (1 - g) mean + g (effect of row + effect of column), as `Kinship` has them.

    Its subclasses have the same parameters, which are added to their docstrings.

    Args:
        own: the share of the payoffs' variance that is a pair's alone; the rest is shared with its relatives.
        noise: the standard deviation of the noise that it assumes, relative to the seat's.
        clip: if true, what is inherited stays within the known range of payoffs.
    """

    relatives: ClassVar[tuple[int, int]]  # 1 if it inherits from its row, and from its column, else 0

    own: Annotated[float, Range(0, 1, open_low=True)] = 0.5
    noise: Annotated[float, Range(0, open_low=True)] = 1.0
    clip: bool = False

    def __init_subclass__(cls) -> None:
        _, heading, arguments = cleandoc(_Inheritance.__doc__ or "").partition("\nArgs:\n")
        cls.__doc__ = f"{cls.__doc__}\n{heading}{arguments}"

    def belief(self, seat: Seat, forgetting: float = 1.0) -> Belief:
        rows, columns = ((1 - self.own) * share / sum(self.relatives) for share in self.relatives)
        return Kinship(
            seat, own=self.own, rows=rows, columns=columns, noise=self.noise, clip=self.clip, forgetting=forgetting
        )


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
    """Each entry, or each row, of a mutant comes from its parent's matrix with a probability.

    The others come from a fresh mutant. The parent's matrix is the one for which its policy was optimal when it was
    bred. Two fresh mutants are not crossed: if entries are independent, such a child has the same distribution as its
    parents.

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
