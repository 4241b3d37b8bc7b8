"""Is an equilibrium the only one? Decided by linear programming, for each player separately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from coebl.core.arrays import Floats

if TYPE_CHECKING:
    from coebl.games.game import Game

_SURELY_ZERO, _SURELY_NOT = 1e-9, 1e-6  # between these, rounding leaves no verdict


@dataclass(frozen=True)
class Uniqueness:
    """The verdict, and its reason in words."""

    answer: Literal["yes", "no", "unknown"]
    reason: str

    def __str__(self) -> str:
        return f"{self.answer}: {self.reason}"


def uniqueness(game: Game) -> Uniqueness:
    """Whether both players' optimal strategies are unique."""
    payoff, solution = game.payoff, game.solution
    spread = float(payoff.max() - payoff.min()) or 1.0
    scaled = (payoff - payoff.min()) / spread
    value = (solution.value - payoff.min()) / spread
    verdicts = {
        "row": _one_player(scaled, value, solution.row, game.row_labels),
        "column": _one_player(1 - scaled.T, 1 - value, solution.column, game.column_labels),
    }
    for answer in ("no", "unknown"):
        for player, (verdict, reason) in verdicts.items():
            if verdict == answer:
                return Uniqueness(answer, f"the {player} player {reason}")
    return Uniqueness("yes", "neither player can leave the equilibrium without losing")


def _one_player(payoff: Floats, value: float, x: Floats, labels: Sequence[str]) -> tuple[str, str]:
    """The verdict on the maximising player's optimal strategy x.

    It is the only one unless some direction d leads to another: sum(d) = 0, d_i >= 0 where x_i = 0, and
    (payoff' d)_j >= 0 where (payoff' x)_j = value. A linear program looks for a d that makes any of these
    inequalities strict. If there is none, they are equations, and d = 0 is the only answer if they have full rank.
    """
    from scipy.optimize import linprog

    earned = payoff.T @ x - value
    if _ambiguous(x) or _ambiguous(earned):
        return "unknown", "has probabilities or payoffs too close to zero to tell from rounding"
    used, tight = x > _SURELY_ZERO, earned <= _SURELY_ZERO
    binding = payoff[:, tight].T
    result = linprog(
        c=-((~used).astype(float) + binding.sum(axis=0)),
        A_ub=-binding,
        b_ub=np.zeros(len(binding)),
        A_eq=np.ones((1, len(x))),
        b_eq=[0.0],
        bounds=[(-1.0, 1.0) if is_used else (0.0, 1.0) for is_used in used],
        method="highs",
    )
    if result.x is None or result.fun is None:
        return "unknown", f"left a linear program unsolved: {result.message}"
    if -result.fun > _SURELY_NOT:
        action = labels[int(np.argmax(np.abs(result.x)))]
        return "no", f"can change the probability of action {action} and still earn the value"
    if -result.fun > _SURELY_ZERO:
        return "unknown", "has another optimal strategy only within rounding"
    equations = np.vstack([binding[:, used], np.ones(int(used.sum()))])
    singular = np.linalg.svd(equations, compute_uv=False)
    smallest = singular[-1] / singular[0] if len(singular) == used.sum() else 0.0
    if smallest > _SURELY_NOT:
        return "yes", "has one optimal strategy"
    if smallest < _SURELY_ZERO:
        return "no", "can shift probability between the actions it uses and still earn the value"
    return "unknown", "has nearly dependent equations for its strategy"


def _ambiguous(amounts: Floats) -> bool:
    return bool(((amounts > _SURELY_ZERO) & (amounts < _SURELY_NOT)).any())
