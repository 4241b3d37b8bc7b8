"""One zero-sum game, solved for people."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coebl.core.arrays import check_payoff
from coebl.solver.maximin import maximin


@dataclass(frozen=True)
class Solution:
    """A certified equilibrium of a zero-sum game.

    >>> solution = solve([[3, 0], [1, 2]])
    >>> solution.value, solution.row, solution.status
    (1.5, array([0.25, 0.75]), 'optimal')
    """

    value: float  # what the row player gets
    row: NDArray[np.float64]  # (m,), the row player's strategy
    column: NDArray[np.float64]  # (n,), the column player's strategy
    gap: float  # max(A @ column) - min(row @ A), relative to the payoff range; at most 1e-9
    status: str  # "optimal", or "optimal (second method)" if no kernel could certify an answer
    pivots: int  # how many the solve took

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Solution)
            and np.array_equal(self.row, other.row)
            and np.array_equal(self.column, other.column)
            and (self.value, self.gap, self.status, self.pivots) == (other.value, other.gap, other.status, other.pivots)
        )

    __hash__ = None  # type: ignore[assignment]


def solve(
    payoff: ArrayLike | os.PathLike[str],
    *,
    ties: Literal["first", "random"] = "first",
    random: np.random.Generator | None = None,
) -> Solution:
    """Solve a zero-sum game: a `Game`, or the matrix (m, n) of payoffs to the row player, who maximises.

    Args:
        payoff: anything that NumPy takes for a matrix; a game's spec, or the name of its file.
        ties: which of several optimal strategies of the row player to return. With ``"first"``, the one that leans to
            the actions that come first; with ``"random"``, to actions in random order. `maximin` states the rule.
        random: the generator that ``ties="random"`` draws from.

    >>> solution = solve([[3, 0], [1, 2]])
    >>> solution.value
    1.5
    >>> solution.row, solution.column
    (array([0.25, 0.75]), array([0.5, 0.5]))
    >>> solve("hide-and-seek:1/3").value
    0.75
    """
    if isinstance(payoff, (str, os.PathLike)):
        from coebl.games import parse_game

        payoff = parse_game(payoff)
    matrix = check_payoff(payoff)
    found = maximin(matrix, ties=ties, random=random)
    row, column = found.strategy, found.opponent
    row.flags.writeable = column.flags.writeable = False
    return Solution(
        value=float(found.value) + 0.0,
        row=row,
        column=column,
        gap=float(found.gap),
        status="optimal (second method)" if found.fallbacks else "optimal",
        pivots=int(found.pivots),
    )
