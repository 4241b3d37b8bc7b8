"""Opponents that do not learn: the uniform mixture, a given one, a switch between two, Nash, the best response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from coebl.errors import InputError, shorten
from coebl.learners.base import Floats, Learner, Seat, Sees
from coebl.solver import solve
from coebl.specs import Range


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
    """One mixture, then another: switching:first=0.5/0.5,second=1/0,at=100; does not learn.

    Args:
        first: the probabilities of the actions in rounds 1 to at - 1.
        second: those from round at on.
        at: the first round of the second mixture.
    """

    name: ClassVar[str] = "switching"
    sees: ClassVar[Sees] = "reward"
    learns: ClassVar[bool] = False

    first: tuple[float, ...]
    second: tuple[float, ...]
    at: Annotated[int, Range(1)]

    def __post_init__(self) -> None:
        self.first = _mixture(self.name, "first", self.first)
        self.second = _mixture(self.name, "second", self.second)
        if self.at < 1:
            raise InputError(f"switching: at is {self.at}; accepted: a whole number, >= 1.")

    def start(self, seat: Seat) -> None:
        """Lay out the two policies."""
        self.before = _for_seat(self.name, "first", self.first, seat)  # (runs, m)
        self.after = _for_seat(self.name, "second", self.second, seat)  # (runs, m)

    def policy(self, t: int) -> Floats:
        """The first mixture before round `at`, the second from then on."""
        return self.before if t < self.at else self.after


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
