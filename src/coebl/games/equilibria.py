"""All extreme equilibria of a small game, by trying every square part of its matrix (Shapley and Snow 1950).

The optimal strategies of a player form a polytope, and its corners are the extreme ones. Each corner x is the only
solution of equations that some square part of the payoffs gives, rows I and as many columns J:

    x uses no rows but I,  x earns the same against every column of J,  the entries of x add up to 1.

So every pair (I, J) is tried, and what it gives is kept if it is a strategy that earns the value against the columns of
J, and no less against the others.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.core.errors import InputError

if TYPE_CHECKING:
    from coebl.games.game import Game

_MOST_PARTS = 200_000  # square parts of the matrix: all those of a 10 x 10 game; a second or two
_TOLERANCE = 1e-9  # of probabilities, and of payoffs relative to their range
_SAME = 1e-6  # corners that are closer than this are one
_WORST_CONDITION = 1e9  # beyond it, a part's equations have no reliable solution; the same corner has better parts


@dataclass(frozen=True, eq=False)
class Equilibria:
    """The extreme equilibria: each row strategy with each column strategy. Mixtures of them are all the others."""

    value: float
    row: Floats  # (row strategies, m)
    column: Floats  # (column strategies, n)

    def __len__(self) -> int:
        return len(self.row) * len(self.column)

    def __iter__(self) -> Iterator[tuple[Floats, Floats]]:
        return itertools.product(self.row, self.column)


def extreme_equilibria(game: Game) -> Equilibria:
    """All extreme equilibria of a game, or an `InputError` if it is too large for that.

    Ties count up to 1e-9 of the payoff range, as payoffs such as 1/3 are rounded.
    """
    low, spread = float(game.payoff.min()), float(np.ptp(game.payoff)) or 1.0
    payoff = (game.payoff - low) / spread
    value = (game.value - low) / spread
    _check_size(game, payoff, value)
    return Equilibria(
        value=game.value,
        row=_corners(payoff, value, _useful(payoff @ game.solution.column, value)),
        column=_corners(1 - payoff.T, 1 - value, _useful(1 - game.solution.row @ payoff, 1 - value)),
    )


def _useful(earned: Floats, value: float) -> Ints:
    """The actions that some optimal strategy may use: those that earn the value against an optimal opponent."""
    return np.flatnonzero(earned >= value - _SAME)


def _check_size(game: Game, payoff: Floats, value: float) -> None:
    m, n = game.shape
    rows = len(_useful(payoff @ game.solution.column, value))
    columns = len(_useful(1 - game.solution.row @ payoff, 1 - value))
    parts = math.comb(rows + n, n) + math.comb(columns + m, m)  # Vandermonde: the sum of C(rows, k) C(n, k)
    if parts > 2 * _MOST_PARTS:
        raise InputError(
            f"{game.name} has {m} x {n} actions, too many for all equilibria; accepted: about 10 x 10 actions that are "
            "not dominated. Take game.solution, which is one of them, or leave out actions."
        )


def _corners(payoff: Floats, value: float, useful: Ints) -> Floats:
    """The corners of the maximising player's optimal strategies: (corners, m)."""
    m, n = payoff.shape
    found = [np.empty((0, m))]
    for size in range(1, min(len(useful), n) + 1):
        rows = useful[np.array(list(itertools.combinations(range(len(useful)), size)))]
        columns = np.array(list(itertools.combinations(range(n), size)))
        for used in rows:
            found.append(_solve_parts(payoff, value, used, columns))
    return _distinct(np.concatenate(found))


def _solve_parts(payoff: Floats, value: float, used: Ints, columns: Ints) -> Floats:
    """The optimal strategies on these rows that any of these sets of columns, (sets, k), determines: (found, m)."""
    sets, size = columns.shape
    system = np.zeros((sets, size + 1, size + 1))  # of the probabilities and the value
    system[:, :size, :size] = payoff[used][:, columns].transpose(1, 2, 0)
    system[:, :size, size] = -1.0
    system[:, size, :size] = 1.0
    system = system[np.linalg.cond(system) < _WORST_CONDITION]
    right = np.zeros((len(system), size + 1, 1))
    right[:, size] = 1.0
    solved = np.linalg.solve(system, right)[..., 0]
    strategy = np.zeros((len(system), len(payoff)))
    strategy[:, used] = solved[:, :size]
    tight = np.abs(solved[:, size] - value) <= _TOLERANCE  # else x may lie inside the polytope
    optimal = (strategy >= -_TOLERANCE).all(axis=1) & (strategy @ payoff >= value - _TOLERANCE).all(axis=1)
    kept = strategy[tight & optimal].clip(min=0.0)
    kept /= kept.sum(axis=1, keepdims=True)
    return kept


def _distinct(strategies: Floats) -> Floats:
    """Each strategy once, those that lean to the first actions first."""
    ordered = strategies[np.lexsort(-strategies.T.round(6)[::-1])]
    kept: list[Floats] = []
    for strategy in ordered:
        if all(np.abs(strategy - other).max() > _SAME for other in kept):
            kept.append(strategy)
    return np.array(kept)
