"""Opponents that do not learn: uniform, fixed and switching mixtures, Nash, and the best response."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from coebl.core.arrays import Floats
from coebl.core.errors import InputError, shorten
from coebl.learners.base import Learner, Responder, Seat
from coebl.learners.parts import pure
from coebl.solver import solve_matrix


class _Still(Learner):
    """An opponent that plays `current` in every round."""

    improves = False

    def policy(self, t: int) -> Floats:
        return self.current

    def _play(self, seat: Seat, strategy: ArrayLike) -> None:
        """Play this strategy, (m,), in every run."""
        self.current = seat.zeros(seat.actions) + seat.array(strategy)  # (runs, m)


class Uniform(_Still):
    """Every action with the same probability; it does not learn.

    A baseline that every learner should beat.

        each round: play i with probability 1 / m; of genomes, each gene with probability 1 / 2
    """

    name = title = "uniform"
    plays = frozenset({"indices", "bits"})

    def start(self, seat: Seat) -> None:
        self._play(seat, 1 / 2 if seat.plays == "bits" else 1 / seat.actions)


@dataclass
class Fixed(_Still):
    """A given mixture, such as fixed:0.5/0.5; it does not learn.

    The mixture is the same in every round.

        each round: play i with probability strategy_i
    """

    name = title = "fixed"
    example = "fixed:strategy=0.5/0.5"

    strategy: Annotated[tuple[float, ...], "the probabilities of the actions, in order"]

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_mixture(self.name, "strategy", self.strategy)

    def reason_not_to_play(self, seat: Seat) -> str | None:
        return super().reason_not_to_play(seat) or _reason_of_length(self.name, "strategy", self.strategy, seat)

    def start(self, seat: Seat) -> None:
        self._play(seat, np.array(self.strategy) / sum(self.strategy))


@dataclass
class FixedGenome(_Still):
    """A given genome in every round, such as fixed-genome:10110; it does not learn.

    In a masked game it is an arbitrary genome, since the mask applies to it too.

        each round: play genome
    """

    name = "fixed-genome"
    title = "fixed genome"
    plays = frozenset({"bits"})

    genome: Annotated[str, 'its bits, or "ones" or "zeros" for any number of genes'] = "ones"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.genome not in ("ones", "zeros") and (not self.genome or set(self.genome) - {"0", "1"}):
            raise InputError(
                f"fixed-genome: genome is {shorten(self.genome)}; accepted: ones, zeros, or bits such as 10110."
            )

    def reason_not_to_play(self, seat: Seat) -> str | None:
        if reason := super().reason_not_to_play(seat):
            return reason
        if self.genome in ("ones", "zeros") or len(self.genome) == seat.actions:
            return None
        return f"fixed-genome: genome has {len(self.genome)} bits; accepted: {seat.actions}, one per gene of the seat."

    def start(self, seat: Seat) -> None:
        bits = {"ones": "1" * seat.actions, "zeros": "0" * seat.actions}.get(self.genome, self.genome)
        self._play(seat, [int(bit) for bit in bits])


@dataclass
class Switching(Learner):
    """One mixture after another, as switching:mixtures=0.5/0.5_1/0_0/1,at=100/250; it does not learn.

    It changes in the rounds that `at` lists.

        each round t: play from mixture number s, from 0, where s is how many rounds in `at` t has reached
    """

    name = title = "switching"
    example = "switching:mixtures=0.5/0.5_1/0,at=20"
    improves = False

    mixtures: Annotated[str, "the probabilities of the actions in each mixture, separated by underscores"]
    at: Annotated[tuple[float, ...], "the first rounds of the second mixture, the third, and so on"]

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            self._mixtures = [tuple(map(float, mixture.split("/"))) for mixture in self.mixtures.split("_")]
        except ValueError:
            raise InputError(
                f"switching: mixtures is {self.mixtures!r}; accepted: mixtures separated by _, such as 0.5/0.5_1/0."
            ) from None
        for index, mixture in enumerate(self._mixtures):
            _check_mixture(self.name, f"mixtures[{index}]", mixture)
        rising = all(before < after == int(after) for before, after in pairwise([1.0, *self.at]))
        number = len(self._mixtures) - 1
        if not rising or len(self.at) != number:
            raise InputError(
                f"switching: at is {shorten(self.at)}; accepted: {number} round numbers, >= 2 and increasing."
            )

    def reason_not_to_play(self, seat: Seat) -> str | None:
        named = ((f"mixtures[{index}]", mixture) for index, mixture in enumerate(self._mixtures))
        reasons = (_reason_of_length(self.name, argument, mixture, seat) for argument, mixture in named)
        return super().reason_not_to_play(seat) or next((reason for reason in reasons if reason), None)

    def start(self, seat: Seat) -> None:
        mixtures = (seat.array(mixture) / sum(mixture) for mixture in self._mixtures)
        self.policies = [seat.zeros(seat.actions) + mixture for mixture in mixtures]  # each (runs, m)

    def policy(self, t: int) -> Floats:
        return self.policies[sum(t >= start for start in self.at)]


class Nash(_Still):
    """An equilibrium strategy of the true game, which it is shown; it does not learn.

    If there are several, it is the one that `coebl.solve` returns.

        x = maximin(A), for the true payoffs A
        each round: play i ~ x
    """

    name = "nash"
    aim = "security"
    title = "Nash"
    sees = frozenset({"game"})

    def start(self, seat: Seat) -> None:
        self._play(seat, solve_matrix(seat.payoff).row)


class BestResponse(Responder):
    """The exact best response to the opponent's policy of the same round, in the true game.

    It is the worst case, which defines Nash regret. Ties go to the action of lowest index.

        each round: see the opponent's policy y; play argmax_i (A y)_i; of genomes, the game's best response
    """

    name = "best-response"
    title = "best response"
    colour = 11  # no other learner sets this colour
    sees = frozenset({"game", "policy"})
    plays = frozenset({"indices", "bits"})
    improves = False

    def start(self, seat: Seat) -> None:
        if seat.plays == "indices":
            self.payoff = seat.array(seat.payoff)  # (m, k)

    def respond(self, t: int, opponent_policy: Floats) -> Floats:
        if self.seat.plays == "bits":
            return self.seat.answer(opponent_policy).astype(np.float64)
        return pure(self.seat, self.seat.einsum("ij,rj->ri", self.payoff, opponent_policy).argmax(axis=-1))


def _check_mixture(learner: str, argument: str, mixture: tuple[float, ...]) -> None:
    total = sum(mixture)
    if not (mixture and min(mixture) >= 0 and abs(total - 1) <= 1e-6):
        raise InputError(
            f"{learner}: {argument} is {shorten(mixture)}, with sum {total:g}; accepted: nonnegative "
            "probabilities that sum to 1, such as 0.5/0.5. Divide them by their sum."
        )


def _reason_of_length(learner: str, argument: str, mixture: tuple[float, ...], seat: Seat) -> str | None:
    if len(mixture) == seat.actions:
        return None
    return (
        f"{learner}: {argument} is {shorten(mixture)}, {len(mixture)} probabilities; accepted: {seat.actions}, one per "
        "action of the seat."
    )
