"""Black-box search in games of bit strings: the contract, and co-evolutionary algorithms.

A search looks for an equilibrium of a game of bit strings: it chooses the genomes of both players, x for the row player
and y for the column player, and sees the noisy payoff g(x, y) of every pair that it queries. The row player maximises
g, the column player minimises it. In a match a search takes both seats, and a query is a round. All arrays have the
runs of a batch on axis 0. The order of calls is

    start(seat)     once; allocate state for seat.runs runs; x has seat.actions bits, y has seat.opponent_actions
    ask()           the next pairs: x (runs, queries, n) and y (runs, queries, m), of zeros and ones; or `Pairs`
    tell(values)    their payoffs, (runs, queries), each with noise
    recommend()     the policies found so far: the probability of a one at each place, (runs, n) and (runs, m)
    candidates()    the genomes that count as found, (runs, any number, n) and (runs, any number, m)

The hitting time is the number of queries after which both players have an optimal genome among the candidates, as in
the literature on runtimes. `coebl.testing.check_learner` checks these rules:

- A run must not depend on the other runs of its batch, to the last bit.
- Random numbers come only from `seat.random`.
- Its state is in its attributes, and every array among them has the runs on axis 0: runs that have ended are dropped.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coebl.backend import log, log1p
from coebl.core.arrays import Booleans, Floats, Ints
from coebl.core.errors import InputError
from coebl.core.specs import Nonnegative, Positive, Range
from coebl.learners.base import Kind, Learner, Plays, Seat
from coebl.learners.parts import draw_integers

__all__ = ["Pairs", "Search"]

Genomes = NDArray[np.int8]  # zeros and ones
_Chi = Annotated[Nonnegative, "the expected number of bits of a genome that a mutation flips"]


class Pairs(NamedTuple):
    """Pairs of genomes, listed one by one, or by their indices in two populations, which is much faster.

    >>> P = np.array([[[0, 0], [1, 1]]], np.int8)  # one run, two genomes
    >>> queries = Pairs(P, P, np.array([[0, 0, 1]]), np.array([[0, 1, 1]]))
    >>> queries.number
    3
    """

    x: Genomes  # (runs, genomes, n)
    y: Genomes  # (runs, genomes, m)
    i: Ints | None = None  # (runs, queries), the index of the x of each query; None: 0, 1, 2, ...
    j: Ints | None = None  # likewise for y

    @property
    def number(self) -> int:
        """The number of queries of a run."""
        return int((self.x if self.i is None else self.i).shape[1])


class Search(Learner):
    """An algorithm that chooses the genomes of both players. See the module's docstring for the contract.

    >>> class Guess(Search):
    ...     def ask(self):
    ...         n, m = self.seat.actions, self.seat.opponent_actions
    ...         self.x = (self.seat.random.uniform(1, n) < 0.5).astype(np.int8)
    ...         self.y = (self.seat.random.uniform(1, m) < 0.5).astype(np.int8)
    ...         return self.x, self.y
    ...
    ...     def recommend(self):
    ...         return self.x[:, 0].astype(float), self.y[:, 0].astype(float)
    >>> Guess.kind(), str(Guess())
    ('search', 'Guess')
    """

    plays: ClassVar[Collection[Plays]] = frozenset({"bits"})
    improves: ClassVar[bool] = False

    def ask(self) -> Pairs | tuple[Genomes, Genomes]:
        """Return the next pairs to be played: x (runs, queries, n) and y (runs, queries, m), or `Pairs`."""
        raise InputError(f"{self} has no ask(); write one that returns the genomes of both players.")

    def tell(self, values: Floats) -> None:
        """Learn from the noisy payoffs of the last pairs, values: (runs, queries)."""

    def recommend(self) -> tuple[Floats, Floats]:
        """Return the policies found so far, the probability of a one at each place: (runs, n) and (runs, m)."""
        raise InputError(f"{self} has no recommend(); write one that returns the policies of both players.")

    def candidates(self) -> tuple[Genomes, Genomes]:
        """Return the genomes that count as found; by default the most likely genomes of `recommend`."""
        x, y = ((policy > 0.5).astype(np.int8)[:, None] for policy in self.recommend())
        return x, y

    def drop(self, kept: Ints, seat: Seat) -> None:
        """Keep only the runs with the indices kept, and use their seat."""
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(self, name, value[kept])
            elif isinstance(value, Seat):
                setattr(self, name, seat)

    def policy(self, t: int) -> Floats:
        """Raise an error for any t: a search has no policy for one seat."""
        raise InputError(f"{self} chooses the actions of both players; call ask() and tell(values).")

    @classmethod
    def kind(cls) -> Kind:
        return "search"

    def cost(self, actions: int, opponent_actions: int) -> float:
        return 0.1 + 0.002 * (actions + opponent_actions)


def draw_genomes(seat: Seat, count: int, bits: int, chance: Floats | float = 0.5) -> Genomes:
    """Draw genomes, (runs, count, bits), in which each bit is a one with this chance."""
    return (seat.random.uniform(count, bits) < chance).astype(np.int8)


def mutate(seat: Seat, genomes: Genomes, chi: float) -> Genomes:
    """Flip every bit of genomes, (runs, count, bits), independently with probability chi / bits; return the same array.

    Since few bits are flipped, the geometric distances between flipped bits are drawn, over all genomes of a run. The
    probability that too few are drawn to reach the end is below 1e-12.
    """
    _, count, bits = genomes.shape
    size, rate = count * bits, min(1.0, chi / bits)
    if rate == 0:
        return genomes
    expected = size * rate
    draws = min(size, ceil(expected + 8 * sqrt(expected) + 20))
    with np.errstate(divide="ignore"):
        gaps = np.floor(log1p(-seat.random.uniform(draws)) / log1p(-rate))
    places = np.minimum(gaps, size).cumsum(axis=1) + np.arange(draws)
    run, number = np.nonzero(places < size)
    genomes.reshape(-1)[run * size + places[run, number].astype(np.int64)] ^= 1
    return genomes


def dominates(with_other_y: Floats, own: Floats, other_x: Floats) -> Booleans:
    """Return a mask of the pairs (x, y) that dominate another pair (x', y'): g(x, y') >= g(x, y) >= g(x', y)."""
    return (with_other_y >= own) & (own >= other_x)


# Searches with one pair


class _OnePair(Search):
    """A search that keeps and recommends one pair."""

    def start(self, seat: Seat) -> None:
        self.x = draw_genomes(seat, 1, seat.actions)  # (runs, 1, n)
        self.y = draw_genomes(seat, 1, seat.opponent_actions)  # (runs, 1, m)

    def recommend(self) -> tuple[Floats, Floats]:
        return self.x[:, 0].astype(np.float64), self.y[:, 0].astype(np.float64)


class _Dominance(_OnePair):
    """A search whose pair is replaced by a mutant that dominates it."""

    def vary(self) -> tuple[Genomes, Genomes]:
        """Return a mutant of the pair, in new arrays."""
        raise NotImplementedError

    def ask(self) -> tuple[Genomes, Genomes]:
        self.new_x, self.new_y = self.vary()
        x = np.concatenate([self.new_x, self.new_x, self.x], axis=1)
        y = np.concatenate([self.y, self.new_y, self.new_y], axis=1)
        return x, y

    def tell(self, values: Floats) -> None:
        better = dominates(*values.T)[:, None, None]
        self.x, self.y = np.where(better, self.new_x, self.x), np.where(better, self.new_y, self.y)


class RlsPd(_Dominance):
    """RLS-PD: randomised local search on a pair, by pairwise dominance.

    An iteration takes 3 queries.

        x, y = random genomes
        each iteration: (x', y') = (x, y) with one bit flipped, uniform among the n + m bits of the pair
          replace (x, y) by (x', y') if g(x', y) >= g(x', y') >= g(x, y')
    """

    name = "rls-pd"
    title = "RLS-PD"
    cites = (
        "Lehre and Lin (2024). Concentration tail-bound analysis of coevolutionary and bandit learning algorithms. "
        "IJCAI."
    )

    def vary(self) -> tuple[Genomes, Genomes]:
        bits = self.seat.actions
        both = np.concatenate([self.x[:, 0], self.y[:, 0]], axis=1)  # (runs, n + m)
        both[self.seat.at(draw_integers(self.seat, both.shape[1]))] ^= 1
        return both[:, None, :bits], both[:, None, bits:]


@dataclass
class OnePlusOneCoea(_Dominance):
    """(1+1)-CoEA: bitwise mutation of a pair, by pairwise dominance.

    An iteration takes 3 queries.

        x, y = random genomes
        each iteration: (x', y') = (x, y), each bit flipped with probability chi / n
          replace (x, y) by (x', y') if g(x', y) >= g(x', y') >= g(x, y')
    """

    name = "1+1-coea"
    title = "(1+1)-CoEA"
    cites = (
        "Lehre and Lin (2025). Towards runtime analysis of population-based co-evolutionary algorithms on sparse "
        "binary zero-sum games. AAAI 39."
    )

    chi: _Chi = 1.0

    def vary(self) -> tuple[Genomes, Genomes]:
        return mutate(self.seat, self.x.copy(), self.chi), mutate(self.seat, self.y.copy(), self.chi)


@dataclass
class LambdaCoea(_OnePair):
    """(1, lambda)-CoEA: in turn, each side is replaced by the best of its mutants against the other side.

    A step takes one query per mutant. Ties are broken at random.

        x, y = random genomes
        each step, x and y in turn: draw mutants of it, each bit flipped with probability chi / n
          x becomes the mutant of largest g(x', y), or y that of smallest g(x, y')
    """

    name = "1-lambda-coea"
    title = "(1, λ)-CoEA"
    cites = "Lehre and Lin (2024). Overcoming binary adversarial optimisation with competitive coevolution. PPSN XVIII."

    mutants: Annotated[int, Range(1, 10**6), "lambda, the number of mutants of a step"] = 100
    chi: _Chi = 0.6

    def start(self, seat: Seat) -> None:
        super().start(seat)
        self.x_moves = True

    def ask(self) -> tuple[Genomes, Genomes]:
        x, y = np.repeat(self.x, self.mutants, axis=1), np.repeat(self.y, self.mutants, axis=1)
        self.offspring = mutate(self.seat, x if self.x_moves else y, self.chi)
        return x, y

    def tell(self, values: Floats) -> None:
        gain = values if self.x_moves else -values
        best = gain == gain.max(axis=1, keepdims=True)
        lot = np.where(best, self.seat.random.uniform(self.mutants), -1.0)
        winner = self.offspring[self.seat.at(lot.argmax(axis=1))][:, None]
        if self.x_moves:
            self.x = winner
        else:
            self.y = winner
        self.x_moves = not self.x_moves


# Populations and marginals


@dataclass
class Pdcoea(Search):
    """PDCoEA: two populations, from which pairs are drawn, compared by pairwise dominance, and mutated.

    A generation takes 3 population queries. It recommends the bitwise majority of each population; all of P and Q are
    candidates.

        P, Q = population random genomes each
        each generation, population times:
          draw x1, x2 from P and y1, y2 from Q, uniformly and with replacement
          keep (x1, y1) if g(x1, y2) >= g(x1, y1) >= g(x2, y1), else (x2, y2)
          flip each bit of both with probability chi / n; they go into the next P and Q
    """

    name = "pdcoea"
    title = "PDCoEA"
    cites = (
        "Lehre (2024). Runtime analysis of competitive co-evolutionary algorithms for maximin optimisation of a "
        "bilinear function. Algorithmica 86."
    )

    population: Annotated[int, Range(1, 10**6), "the number of genomes on each side"] = 500
    chi: _Chi = 0.3

    def start(self, seat: Seat) -> None:
        self.P = draw_genomes(seat, self.population, seat.actions)  # (runs, population, n)
        self.Q = draw_genomes(seat, self.population, seat.opponent_actions)  # (runs, population, m)

    def ask(self) -> Pairs:
        index = draw_integers(self.seat, self.population, 4 * self.population)
        i1, i2, j1, j2 = np.split(index, 4, axis=1)
        self.first, self.second = np.stack([i1, j1], axis=1), np.stack([i2, j2], axis=1)  # (runs, 2, population)
        i, j = np.concatenate([i1, i1, i2], axis=1), np.concatenate([j2, j1, j1], axis=1)
        return Pairs(self.P, self.Q, i, j)

    def tell(self, values: Floats) -> None:
        kept = dominates(*np.split(values, 3, axis=1))  # (runs, population)
        chosen = np.where(kept[:, None], self.first, self.second)
        self.P = mutate(self.seat, self.P[self.seat.at(chosen[:, 0])], self.chi)
        self.Q = mutate(self.seat, self.Q[self.seat.at(chosen[:, 1])], self.chi)

    def recommend(self) -> tuple[Floats, Floats]:
        x, y = ((2 * genomes.sum(axis=1) > self.population).astype(np.float64) for genomes in (self.P, self.Q))
        return x, y

    def candidates(self) -> tuple[Genomes, Genomes]:
        return self.P, self.Q


@dataclass
class Cga(Search):
    """Competitive cGA: marginals for both sides, moved towards the better of two samples.

    An iteration takes 4 queries. K = scale sqrt(n) ln n, with n bits, is the size of the population that the marginals
    represent (Harik, Lobo and Goldberg 1999).

        p_i = q_i = 1/2
        each iteration: draw x1, x2 from p and y1, y2 from q
          f(x) = g(x, y1) + g(x, y2);  h(y) = g(x1, y) + g(x2, y)
          of x1 and x2, let x be the one of larger f, x' the other: p += (x - x') / K; no change if they are equal
          of y1 and y2, let y be the one of smaller h, y' the other: q += (y - y') / K, likewise
          keep p and q in [0, 1]
    """

    name = "cga"
    title = "Competitive cGA"
    cites = "Harik, Lobo and Goldberg (1999). The compact genetic algorithm. IEEE Trans. Evol. Comp. 3."

    scale: Annotated[Positive, "K is this number times sqrt(n) ln n"] = 4.0

    def start(self, seat: Seat) -> None:
        self.p = seat.full(0.5, seat.actions)  # (runs, n)
        self.q = seat.full(0.5, seat.opponent_actions)  # (runs, m)

    def ask(self) -> tuple[Genomes, Genomes]:
        self.x = draw_genomes(self.seat, 2, self.seat.actions, self.p[:, None])  # (runs, 2, n)
        self.y = draw_genomes(self.seat, 2, self.seat.opponent_actions, self.q[:, None])  # (runs, 2, m)
        return np.repeat(self.x, 2, axis=1), np.tile(self.y, (1, 2, 1))

    def tell(self, values: Floats) -> None:
        payoff = values.reshape(-1, 2, 2)  # (runs, x, y)
        self.p = self._moved(self.p, self.x, payoff.sum(axis=2))
        self.q = self._moved(self.q, self.y, -payoff.sum(axis=1))

    def _moved(self, marginals: Floats, samples: Genomes, gain: Floats) -> Floats:
        bits = marginals.shape[1]
        step = 1 / max(1.0, self.scale * sqrt(bits) * log(bits))
        first, second = samples.astype(np.float64).transpose(1, 0, 2)
        winner = np.sign(gain[:, :1] - gain[:, 1:])  # 1: the first; -1: the second; 0: neither
        return np.clip(marginals + step * winner * (first - second), 0, 1)

    def recommend(self) -> tuple[Floats, Floats]:
        return self.p, self.q

    def candidates(self) -> tuple[Genomes, Genomes]:
        return self.x, self.y
