"""Variation: mutations and recombinations, which make mutants of the estimated payoffs.

A mutation adds noise to each estimate, depending on the number of visits n to its pair of actions. There are two kinds
of recombination: with *inheritance*, the estimate of a rarely visited pair depends on its row and its column; with
*crossover*, a part of a mutant comes from the matrix for which its parent, a policy that survived, was optimal.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Annotated, ClassVar, Literal

import numpy as np

from coebl.backend import cos_of_turns, exp, expm1, log1p
from coebl.core.arrays import Floats
from coebl.core.errors import InputError
from coebl.core.modules import name_of, undefined
from coebl.core.registry import Component, Registry
from coebl.core.specs import Nonnegative, PositiveShare, Range, Share
from coebl.learners.base import Seat
from coebl.learners.parts import AssumedNoise, Kinship, OwnShare, Tally, inherited_share, prior_variance

_MOST = 32.0  # the largest self-adapting rate, and its largest inverse, so that drift without selection cannot overflow


@dataclass(frozen=True)
class Mutation(Component):
    """Noise of mean 0 that is added to every estimate. It is normal unless `standard` is overridden.

    >>> Gaussian().deviation(seat=None, count=np.array([0.0, 1.0, 2.0, 10.0]))  # it does not use the seat
    array([1. , 1. , 0.5, 0.1])
    """

    @property
    def adapts(self) -> bool:
        """True if each mutant has a rate."""
        return False

    def deviation(self, seat: Seat, count: Floats) -> Floats:
        """Return the standard deviation of the noise in a seat, from the visits to each pair, count; same shape."""
        raise undefined(self, "deviation(self, seat, count)", "an array of the shape of count")

    def standard(self, seat: Seat, number: int) -> Floats | None:
        """Draw noise of mean 0 and variance 1 from the seat, (runs, number, m, k); None for normal noise."""
        return None

    def vary(self, seat: Seat, rate: Floats) -> Floats:
        """Return the rates of mutants from the rate of each parent, (runs, number), using the seat's random numbers."""
        return rate

    def draw(self, seat: Seat, centre: Floats, deviation: Floats, number: int, rate: Floats | None) -> Floats:
        """Draw a number of mutants of centre, (runs, m, k), from the seat: (runs, number, m, k).

        The noise is scaled by deviation, (runs, m, k), and by rate, (runs, number), unless it is None.
        """
        drawn = self.standard(seat, number)
        if drawn is None:  # ~ N(centre, deviation²)
            return seat.random.normal(number, seat.actions, seat.opponent_actions, deviation=deviation, mean=centre)
        shape = seat.runs, number, seat.actions, seat.opponent_actions
        if np.shape(drawn) != shape:
            words = f"{name_of(type(self))}.standard(seat, {number}) has the shape {np.shape(drawn)}"
            raise InputError(f"{words}; accepted: {shape}, that is (runs, number, m, k).")
        drawn *= deviation[:, None]  # in place: in large games, memory limits the speed
        drawn += centre[:, None]
        return drawn


MUTATIONS = Registry("mutation", "mutations", base=Mutation)
"""The mutations by name."""


@MUTATIONS.add("gaussian")
@dataclass(frozen=True)
class Gaussian(Mutation):
    """The paper's formula, which its proof uses: deviation 1 / max(1, n)."""

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
    """Laplace noise with the deviation of the paper's formula: more small and more large steps."""

    def standard(self, seat: Seat, number: int) -> Floats:
        uniform = seat.random.uniform(number, seat.actions, seat.opponent_actions)
        upper = uniform >= 0.5
        size = -log1p(np.where(upper, 1, 0) - 2 * uniform)  # ~ Exponential(1), and finite: 2u mod 1 is below 1
        return np.where(upper, size, -size) * sqrt(0.5)


@MUTATIONS.add("student")
@dataclass(frozen=True)
class Student(Gaussian):
    """Heavy tails: Student's t noise, scaled to the deviation of the paper's formula."""

    freedom: Annotated[float, Range(2, open_low=True), "the degrees of freedom; the variance needs more than 2"] = 3.0

    def standard(self, seat: Seat, number: int) -> Floats:
        uniform = seat.random.uniform(2, number, seat.actions, seat.opponent_actions)  # Bailey's method (1994)
        radius = np.sqrt(expm1(-2 / self.freedom * log1p(-uniform[:, 0])))
        return radius * cos_of_turns(uniform[:, 1]) * sqrt(self.freedom - 2)


@MUTATIONS.add("posterior")
@dataclass(frozen=True)
class Posterior(Mutation):
    """The deviation of a posterior, as in Thompson sampling: sqrt(v / (1 + n v / noise²)).

    The prior variance is v = share h², with h half the width of the known range.
    """

    share: Annotated[PositiveShare, "the prior variance v, as a share of h²"] = 1.0
    noise: AssumedNoise = 1.0

    def deviation(self, seat: Seat, count: Floats) -> Floats:
        variance = prior_variance(seat, self.share, self.noise)  # in units of the noise variance
        return self.noise * np.sqrt(variance * inherited_share(count, variance))


@MUTATIONS.add("inherited")
@dataclass(frozen=True)
class Inherited(Mutation):
    """Kin's mutation, proportional to the inherited share of a pair: deviation rate sqrt(own) h g.

    g = 1 / (1 + n own h² / noise²) is the share that a pair inherits; h is half the width of the known range.
    """

    rate: Annotated[Nonnegative, "the factor of the deviation"] = 0.5
    own: OwnShare = 0.5
    noise: AssumedNoise = 1.0

    def deviation(self, seat: Seat, count: Floats) -> Floats:
        variance = prior_variance(seat, self.own, self.noise)
        return self.rate * sqrt(self.own) * seat.half_width * inherited_share(count, variance)


@dataclass(frozen=True)
class _Changed(Mutation):
    """A mutation that modifies another one."""

    of: Annotated[Mutation, "the other mutation"] = Gaussian()

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
    """Another mutation, applied to each entry with a given probability."""

    probability: Annotated[Share, "the probability that an entry is mutated"] = 0.1

    def draw(self, seat: Seat, centre: Floats, deviation: Floats, number: int, rate: Floats | None) -> Floats:
        drawn = self.of.draw(seat, centre, deviation, number, rate)
        mutated = seat.random.uniform(number, seat.actions, seat.opponent_actions) < self.probability
        return np.where(mutated, drawn, centre[:, None])


@MUTATIONS.add("adaptive")
@dataclass(frozen=True)
class Adaptive(_Changed):
    """Another mutation, with a self-adapting rate, which multiplies the deviation.

    A mutant's rate is its parent's times exp(step N(0, 1)), within 1/32 .. 32, and stays with its policy. So rates that
    breed surviving policies become more frequent (Schwefel's self-adaptation). Without selection (`none`), rates drift;
    a selection judged by the mutants themselves favours large rates.
    """

    step: Annotated[Nonnegative, "the spread of a mutant's rate around its parent's, on a logarithmic scale"] = 0.2

    @property
    def adapts(self) -> bool:
        return True

    def vary(self, seat: Seat, rate: Floats) -> Floats:
        varied = self.of.vary(seat, rate) * exp(self.step * seat.random.normal(rate.shape[1]))
        return np.clip(varied, 1 / _MOST, _MOST)

    def draw(self, seat: Seat, centre: Floats, deviation: Floats, number: int, rate: Floats | None) -> Floats:
        if rate is None:
            return self.of.draw(seat, centre, deviation, number, None)
        return centre[:, None] + self.of.draw(seat, 0 * centre, deviation, number, rate) * rate[:, :, None, None]


class _Alone(Tally):
    """A belief in which no pair inherits."""

    def inherited(self) -> None:
        return None


_Belief = _Alone | Kinship  # a custom belief also has `count`, `mean`, `add` and `inherited`


@dataclass(frozen=True)
class Recombination(Component):
    """A rule by which mutants inherit; this base class recombines nothing.

    >>> Crossover(by="row").crosses, Nothing().crosses
    (True, False)
    """

    crosses: ClassVar[bool] = False  # if True, survivors keep the matrix that they are optimal for; `cross` uses it

    def belief(self, seat: Seat, forgetting: float = 1.0) -> _Belief:
        """Return the belief of a seat before the first round; forgetting is the weight that visits keep per round."""
        return _Alone(seat, forgetting)

    def cross(self, seat: Seat, mutants: Floats, parents: Floats) -> Floats:
        """Return mutants crossed with the matrices of their parents, (runs, number, m, k), with the seat's draws."""
        return mutants


RECOMBINATIONS = Registry("recombination", "recombinations", base=Recombination)
"""The recombinations by name."""


@RECOMBINATIONS.add("none")
@dataclass(frozen=True)
class Nothing(Recombination):
    """No recombination, as in the paper: mutants are made from the mean rewards alone."""


@dataclass(frozen=True)
class _Inheritance(Recombination):
    """Estimates (1 - g) mean + g (effect of row + effect of column), as in `Kinship`."""

    relatives: ClassVar[tuple[int, int]]  # from rows, from columns: 1 if pairs inherit, else 0

    own: OwnShare = 0.5
    noise: AssumedNoise = 1.0
    clip: Annotated[bool, "if true, the inherited part is clipped to the known range of payoffs"] = False

    def belief(self, seat: Seat, forgetting: float = 1.0) -> _Belief:
        rows, columns = ((1 - self.own) * share / sum(self.relatives) for share in self.relatives)
        return Kinship(
            seat, own=self.own, rows=rows, columns=columns, noise=self.noise, clip=self.clip, forgetting=forgetting
        )


@RECOMBINATIONS.add("row")
@dataclass(frozen=True)
class FromRow(_Inheritance):
    """A pair inherits from its row: the rewards of its action against other actions of the opponent."""

    relatives = (1, 0)


@RECOMBINATIONS.add("column")
@dataclass(frozen=True)
class FromColumn(_Inheritance):
    """A pair inherits from its column: the rewards of other actions against the same action of the opponent."""

    relatives = (0, 1)


@RECOMBINATIONS.add("both")
@dataclass(frozen=True)
class FromBoth(_Inheritance):
    """A pair inherits from its row and its column, as in Kin."""

    relatives = (1, 1)


@RECOMBINATIONS.add("crossover")
@dataclass(frozen=True)
class Crossover(Recombination):
    """Each entry, or each row, of a mutant comes from its parent's matrix with a given probability.

    The parent's matrix is the one for which its policy was optimal. Two new mutants are not crossed: with independent
    entries, the child would have the same distribution.
    """

    crosses = True

    by: Annotated[Literal["entry", "row"], "the parts that are exchanged"] = "entry"
    probability: Annotated[Share, "the probability that a part comes from the parent's matrix"] = 0.5

    def cross(self, seat: Seat, mutants: Floats, parents: Floats) -> Floats:
        across = seat.opponent_actions if self.by == "entry" else 1
        old = seat.random.uniform(mutants.shape[1], seat.actions, across) < self.probability
        return np.where(old, parents, mutants)
