"""The contract of black-box search, on one page.

A search looks for an equilibrium of a game of bit strings without an opponent: it chooses the genomes of both players,
x for the row player and y for the column player, and sees the noisy payoff g(x, y) of every pair that it queries. The
row player maximises g, the column player minimises it. In a match it takes both seats, and a query is a round. All
arrays carry the runs of a batch on axis 0. The order of calls is

    start(seat)     once; allocate state for seat.runs runs; x has seat.actions bits, y has seat.opponent_actions
    ask()           the next pairs: x (runs, queries, n) and y (runs, queries, m), of zeros and ones; or `Pairs`
    tell(values)    their payoffs, (runs, queries), with noise on every one
    recommend()     the policies found so far: the probability of a one at each place, (runs, n) and (runs, m)
    candidates()    the genomes that count as found, (runs, any number, n) and (runs, any number, m)

The time of a hit is the number of queries after which both players have an optimal genome among the candidates, as the
literature on runtimes counts it. Rules that `coebl.testing.check_learner` holds a search to:

- A run must not depend on the other runs of its batch, to the last bit.
- Random numbers come from `seat.random`, and from nowhere else.
- Its state is in its attributes, and every array among them has the runs on axis 0: runs that have ended are dropped.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coebl.core.arrays import Floats, Ints
from coebl.core.errors import InputError
from coebl.learners.base import Kind, Learner, Plays, Seat

Genomes = NDArray[np.int8]  # zeros and ones


class Pairs(NamedTuple):
    """Pairs of genomes, listed one to one, or by their numbers in two populations, which takes far less time.

    >>> P = np.array([[[0, 0], [1, 1]]], np.int8)  # one run, two genomes
    >>> queries = Pairs(P, P, np.array([[0, 0, 1]]), np.array([[0, 1, 1]]))
    >>> queries.number
    3
    """

    x: Genomes  # (runs, genomes, n)
    y: Genomes  # (runs, genomes, m)
    i: Ints | None = None  # (runs, queries), the number of the x of each query; None: 0, 1, 2, ...
    j: Ints | None = None  # likewise for y

    @property
    def number(self) -> int:
        """The number of queries of a run."""
        return int((self.x if self.i is None else self.i).shape[1])


@dataclass
class Search(Learner):
    """An algorithm that chooses the genomes of both players. See the module's docstring for the contract.

    >>> class Guess(Search):
    ...     def start(self, seat):
    ...         self.seat = seat
    ...
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
        """Learn from the payoffs of the pairs that were asked for.

        Args:
            values: with noise: (runs, queries).
        """

    def recommend(self) -> tuple[Floats, Floats]:
        """Return the policies found so far, the probability of a one at each place: (runs, n) and (runs, m)."""
        raise InputError(f"{self} has no recommend(); write one that returns the policies of both players.")

    def candidates(self) -> tuple[Genomes, Genomes]:
        """Return the genomes that count as found; by default the most likely ones of `recommend`."""
        x, y = ((policy > 0.5).astype(np.int8)[:, None] for policy in self.recommend())
        return x, y

    def drop(self, kept: Ints, seat: Seat) -> None:
        """Keep only some of the runs.

        Args:
            kept: the indices of these runs.
            seat: the seat of these runs.
        """
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(self, name, value[kept])
            elif isinstance(value, Seat):
                setattr(self, name, seat)

    def policy(self, t: int) -> Floats:
        """Raise an error in any round t: a search has no policy of one seat."""
        raise InputError(f"{self} chooses the actions of both players; call ask() and tell(values).")

    @classmethod
    def kind(cls) -> Kind:
        """Return "search"."""
        return "search"

    def cost(self, actions: int, opponent_actions: int) -> float:
        """Return the approximate microseconds of a query per run in a large batch, to plan studies."""
        return 0.1 + 0.002 * (actions + opponent_actions)
