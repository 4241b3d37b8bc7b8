"""Opponents that do not learn: the uniform mixture, a given one, several in turn, Nash, the best response."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from coebl.core.errors import InputError, shorten
from coebl.learners.base import Floats, Learner, Seat, Sees
from coebl.solver import solve


@dataclass
class Uniform(Learner):
    """Every action with the same probability; does not learn."""

    name: ClassVar[str] = "uniform"
    sees: ClassVar[Sees] = "reward"
    learns: ClassVar[bool] = False

    def start(self, seat: Seat) -> None:
        """Lay out the one policy."""
        self.current = np.full((seat.runs, seat.actions), 1 / seat.actions)  # (runs, m)

    def policy(self, t: int) -> Floats:
        """The uniform mixture."""
        return self.current


@dataclass
class Fixed(Learner):
    """A given mixture, the same in every round, such as fixed:0.5/0.5; does not learn.

    Args:
        strategy: the probabilities of the actions, in order.
    """

    name: ClassVar[str] = "fixed"
    sees: ClassVar[Sees] = "reward"
    learns: ClassVar[bool] = False

    strategy: tuple[float, ...]

    def __post_init__(self) -> None:
        self.strategy = _mixture(self.name, "strategy", self.strategy)

    def start(self, seat: Seat) -> None:
        """Lay out the one policy."""
        self.current = _for_seat(self.name, "strategy", self.strategy, seat)  # (runs, m)

    def policy(self, t: int) -> Floats:
        """The given mixture."""
        return self.current


@dataclass
class Switching(Learner):
    """One mixture after another: switching:mixtures=0.5/0.5_1/0_0/1,at=100/250; does not learn.

    Args:
        mixtures: the probabilities of the actions, in order, of each mixture; an underscore between mixtures.
        at: the rounds from which the second mixture is played, the third, and so on.
    """

    name: ClassVar[str] = "switching"
    sees: ClassVar[Sees] = "reward"
    learns: ClassVar[bool] = False

    mixtures: str
    at: tuple[float, ...]

    def __post_init__(self) -> None:
        texts = self.mixtures.split("_")
        try:
            given = [tuple(float(part) for part in text.split("/")) for text in texts]
        except ValueError:
            raise InputError(
                f"switching: mixtures is {self.mixtures!r}; accepted: such as 0.5/0.5_1/0, with _ between mixtures."
            ) from None
        self._mixtures = [_mixture(self.name, f"mixtures[{k}]", mixture) for k, mixture in enumerate(given)]
        starts = [1.0, *self.at]
        rising = all(before < after == int(after) for before, after in pairwise(starts))
        if not rising or len(starts) != len(given):
            raise InputError(
                f"switching: at is {shorten(self.at)}; accepted: {len(given) - 1} round numbers, >= 2 and increasing."
            )

    def start(self, seat: Seat) -> None:
        """Lay out the policies."""
        policies = [_for_seat(self.name, f"mixtures[{k}]", one, seat) for k, one in enumerate(self._mixtures)]
        self.policies = np.stack(policies)  # (mixtures, runs, m)

    def policy(self, t: int) -> Floats:
        """The mixture whose time it is."""
        return np.array(self.policies[sum(t >= start for start in self.at)])


@dataclass
class Nash(Learner):
    """An equilibrium strategy of the true game, which it is shown; does not learn.

    Where there are several, the one that `coebl.solver.solve` returns.
    """

    name: ClassVar[str] = "nash"
    sees: ClassVar[Sees] = "game"
    learns: ClassVar[bool] = False

    def start(self, seat: Seat) -> None:
        """Solve the game, in own view."""
        self.current = np.tile(solve(_true_payoff(self.name, seat)).row, (seat.runs, 1))  # (runs, m)

    def policy(self, t: int) -> Floats:
        """The equilibrium strategy."""
        return self.current


@dataclass
class BestResponse(Learner):
    """The exact best answer to the opponent's policy of this very round, which it is shown with the true game.

    It is the worst case that Nash regret is defined by. A pure strategy; of equally good actions, the lowest.
    """

    name: ClassVar[str] = "best-response"
    sees: ClassVar[Sees] = "policy"
    learns: ClassVar[bool] = False

    def start(self, seat: Seat) -> None:
        """Keep the true payoffs."""
        self.payoff = _true_payoff(self.name, seat)  # (m, k)

    def policy(self, t: int) -> Floats:
        """Not without the opponent's policy."""
        raise InputError(
            "best-response needs the opponent's policy of the round: call respond(t, opponent_policy), and seat it "
            "against a learner that does not need the same."
        )

    def respond(self, t: int, opponent_policy: Floats) -> Floats:
        """All weight on argmax_i (A y)_i: (runs, m) from y of shape (runs, k)."""
        earned: Floats = np.einsum("ij,rj->ri", self.payoff, opponent_policy)
        answer = np.zeros_like(earned)
        answer[np.arange(len(earned)), earned.argmax(axis=-1)] = 1
        return answer


def _mixture(learner: str, argument: str, strategy: tuple[float, ...]) -> tuple[float, ...]:
    """The strategy, if it is a probability distribution."""
    mixture = tuple(float(probability) for probability in strategy)
    total = sum(mixture)
    if not (mixture and min(mixture) >= 0 and abs(total - 1) <= 1e-6):
        raise InputError(
            f"{learner}: {argument} is {shorten(mixture)}, with sum {total:g}; accepted: probabilities, none negative, "
            "of sum 1, such as 0.5/0.5. Divide them by their sum."
        )
    return mixture


def _for_seat(learner: str, argument: str, mixture: tuple[float, ...], seat: Seat) -> Floats:
    """The mixture for every run, (runs, m), if it fits the seat."""
    if len(mixture) != seat.actions:
        raise InputError(
            f"{learner}: {argument} is {shorten(mixture)}, {len(mixture)} probabilities; accepted: {seat.actions}, "
            "one per action of the seat."
        )
    return np.tile(np.array(mixture) / sum(mixture), (seat.runs, 1))


def _true_payoff(learner: str, seat: Seat) -> Floats:
    if seat.payoff is None:
        raise InputError(f"{learner} must be shown the game, and payoff is None; accepted: the payoffs, in own view.")
    return seat.payoff
