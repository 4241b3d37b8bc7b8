"""The base class of metrics, and the blocks of rounds that they are computed from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import getattr_static
from math import inf
from typing import Any, ClassVar, Literal

import numpy as np

from coebl.backend import CPU, Backend
from coebl.core.arrays import Floats, Ints
from coebl.core.errors import InputError
from coebl.games import AnyGame
from coebl.games.game import SEATS

Need = Literal["value", "payoffs", "equilibrium", "expected", "response", "mean", "genomes"]
_NEEDS: dict[Need, tuple[tuple[str, ...], str]] = {  # attributes of a game, one of which is enough, and the message
    "value": (("value",), "a value"),
    "payoffs": (("own_view",), "a matrix of payoffs"),
    "equilibrium": (("unique_equilibrium",), "a known equilibrium"),
    "expected": (("own_view", "expected"), "exact expected payoffs"),
    "response": (("own_view", "response"), "an exact best response"),
    "mean": (("own_view", "linear"), "payoffs that are linear in the genes, so that policies have a mean"),
    "genomes": (("answer",), "genomes as actions"),
}


@dataclass(frozen=True)
class Block:
    """Consecutive rounds of every run of a batch: rounds on axis 0, runs on axis 1. Lists have the row seat first.

    >>> from coebl import Game
    >>> half, game = np.full((1, 1, 2), 0.5), Game([[3.0, 0.0], [1.0, 2.0]])  # one round of one run
    >>> actions, rewards = [np.array([[0]]), np.array([[1]])], [np.array([[0.2]]), np.array([[-0.2]])]
    >>> block = Block(game, 1, [half, half], actions, rewards)
    >>> block.reward, block.outcomes.earned, block.outcomes.expected
    (array([[0.2]]), array([[0.]]), array([[1.5]]))
    """

    game: Any  # the game that is played, an `AnyGame` that has what the metric needs
    first_round: int  # rounds count from 1
    policies: Sequence[Floats]  # per seat: (rounds, runs, actions)
    actions: Sequence[Ints]  # per seat: (rounds, runs), or genomes, (rounds, runs, n)
    rewards: Sequence[Floats]  # per seat: (rounds, runs), as observed
    backend: Backend = CPU  # the device of these arrays

    @property
    def rounds(self) -> int:
        """The number of rounds in the block."""
        return int(self.reward.shape[0])

    @property
    def runs(self) -> int:
        """The number of runs in the batch."""
        return int(self.reward.shape[1])

    @property
    def reward(self) -> Floats:
        """The row player's rewards, as observed: (rounds, runs)."""
        return self.rewards[0]

    @cached_property
    def outcomes(self) -> Outcomes:
        """The payoffs of the policies and actions, computed once for all metrics."""
        return Outcomes(self)


class Metric:
    """A number per round and run. Extend it: the class attributes, and `__call__`.

    Args:
        game: the game that is played.
        runs: how many runs the batch has.

    >>> class Surprise(Metric):
    ...     name = "surprise"
    ...     definition = "abs(r_t - A[a_t, b_t]): how far noise moved the reward"
    ...     needs = {"payoffs"}
    ...
    ...     def __call__(self, block):
    ...         return abs(block.reward - block.outcomes.earned)
    >>> from coebl import Game
    >>> from coebl.metrics import parse_metrics
    >>> [metric] = parse_metrics([Surprise], Game([[3, 0], [1, 2]]), runs=50)
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""  # for people; by default its name
    definition: ClassVar[str]  # one line
    formula: ClassVar[str] = ""  # the same in mathtext, for the axes of figures
    meaning: ClassVar[str] = ""  # a sentence or two, for people who do not know it
    better: ClassVar[Literal["lower", "higher"]] = "lower"  # to the row player, or to both where it is about both
    needs: ClassVar[Collection[Need]] = frozenset()  # of a game, beyond what every game has
    seat: ClassVar[int | None] = None  # the number of the seat that it is about; None: all of them
    cumulative: ClassVar[bool] = False  # True if it adds up over the rounds, so that its growth matters
    signed: ClassVar[bool] = False  # True if its sign shows who is ahead: above 0, the column player
    bounds: ClassVar[tuple[float, float]] = (-inf, inf)  # its limits in every game, also for means and intervals
    in_payoffs: ClassVar[bool] = False  # True if it is in units of the payoffs, as a regret is
    within_range: ClassVar[bool] = False  # True if it is at most the width of the payoff range

    def __init__(self, game: AnyGame, runs: int) -> None:
        reason = self.reason_undefined(game)
        if reason:
            raise InputError(reason)
        self.game: Any = game  # has all that `needs` names
        self.runs = runs

    @classmethod
    def within_bounds(cls, low: float, high: float, width: float = inf) -> tuple[float, float]:
        """Cut an interval of the metric's mean at its bounds, which Student's interval may exceed.

        Args:
            low: the lower end.
            high: the upper end.
            width: of the range of the game's payoffs, if it is known.
        """
        least, largest = cls.bounds
        return max(low, least), min(high, largest, width if cls.within_range else inf)

    @classmethod
    def reason_undefined(cls, game: Any) -> str | None:
        """Return why the metric is not defined for a game, on one line; None if it is."""
        for need in _NEEDS:
            if need in cls.needs and (missing := _missing(game, need)):
                return f"{cls.name} needs a game with {missing}; pick another metric."
        if cls.seat is not None and cls.seat >= len(game.seats):
            return f"{cls.name} is about seat {cls.seat}, and {game.name} has {len(game.seats)}; pick another metric."
        return None

    def __call__(self, block: Block) -> Floats:
        """Return the metric in every round of the block: (rounds, runs)."""
        raise NotImplementedError


def _missing(game: Any, need: Need) -> str:
    """Return the names of the attributes that a game lacks, or "". Nothing is computed."""
    attributes, words = _NEEDS[need]
    found = any(_has(game, attribute) for attribute in attributes)
    known = need not in getattr(game, "unknown", ())  # a game of genomes may lack an oracle
    return "" if found and known else f"{words}, which {game.name} does not have"


def _has(game: Any, attribute: str) -> bool:
    found = getattr_static(game, attribute, None)
    return found is not None and found is not False


class Outcomes:
    """Payoffs that follow from the policies and actions of a block, each computed when it is first needed.

    Get it as `block.outcomes`, so that the metrics of a block share it. Seats are numbered, the row seat first; the
    payoffs of a seat are from its point of view, to be maximised by its player.

    >>> class BestResponse(Metric):
    ...     name = "best_response"
    ...
    ...     def __call__(self, block):
    ...         return block.outcomes.payoffs(0).max(axis=-1)  # what it would earn against y_t
    >>> from coebl import simulate
    >>> simulate("biased-rps", "ucb", "uniform", rounds=5, seeds=1, metrics=[BestResponse]).final("best_response")
    array([0.16666667])
    """

    def __init__(self, block: Block) -> None:
        self._is_matrix = not _missing(block.game, "payoffs")
        if not self._is_matrix and _missing(block.game, "genomes"):
            missing = _missing(block.game, "payoffs")
            raise InputError(f'block.outcomes needs a game with {missing}; write needs = {{"payoffs"}} in the metric.')
        # Not the block itself: it keeps this object, and a cycle would hold on to large arrays.
        self._game, self._backend = block.game, block.backend
        self._policies = [contiguous(policy) for policy in block.policies]
        self._actions = block.actions
        self._payoffs: dict[int, Floats] = {}

    def payoffs(self, seat: int) -> Floats:
        """Return payoffs of a seat's actions against the opponent's policy, A y or -A'x: (rounds, runs, actions)."""
        if seat not in self._payoffs:
            # Contiguous, so that einsum adds whole rows, one after the other: fast, and in an order that does not
            # depend on the batch.
            matrix = contiguous(self._view(seat).T)
            self._payoffs[seat] = self._backend.einsum("trj,ji->tri", self._policies[1 - seat], matrix)
        return self._payoffs[seat]

    def best(self, seat: int) -> Floats:
        """Return the most that a seat could earn against the opponent's policy: (rounds, runs)."""
        if self._is_matrix:
            largest: Floats = self.payoffs(seat).max(axis=-1)
            return largest
        best: Floats = self._game.response(seat, self._policies[1 - seat])
        return best

    def hindsight(self, seat: int) -> Floats:
        """Return the payoffs of a seat's actions against the opponent's action: (rounds, runs, actions)."""
        return self._view(seat).T[self._actions[1 - seat]]

    @cached_property
    def expected(self) -> Floats:
        """The payoff of the row policy against the column policy, x'Ay: (rounds, runs)."""
        if not self._is_matrix:
            mean: Floats = self._game.expected(*self._policies)
            return mean
        expected: Floats = -self._backend.einsum("trj,trj->tr", self.payoffs(1), self._policies[1])
        return expected

    @cached_property
    def earned(self) -> Floats:
        """The payoff of the actions to the row player, without noise, A[a, b]: (rounds, runs)."""
        if not self._is_matrix:
            earned: Floats = self._game.payoffs(*self._actions)
            return earned
        payoff: Floats = np.asarray(self._game.payoff, like=self._actions[0])
        return payoff[tuple(self._actions)]

    def _view(self, seat: int) -> Floats:
        payoff: Floats = np.asarray(self._game.own_view(SEATS[seat]).payoff, like=self._policies[0])
        return payoff


def contiguous(array: Floats) -> Floats:
    """Return the array, or a copy, in the order in which sums are the same for every batch."""
    return np.ascontiguousarray(array, like=array)


class RunningSum:
    """A sum over all rounds so far, carried from block to block.

    Args:
        runs: how many runs the batch has.

    >>> rewards = np.array([[1.0], [2.0], [4.0]])  # three rounds of one run
    >>> from coebl import Game
    >>> add_up = RunningSum(runs=1)
    >>> add_up(Block(Game([[1.0]]), 1, [], [], [rewards]), rewards).ravel()
    array([1., 3., 7.])
    """

    def __init__(self, runs: int) -> None:
        self._runs = runs
        self._round = 1  # that the next block must begin with
        self._total: Floats | None = None  # (1, runs, ...)

    def __call__(self, block: Block, terms: Floats) -> Floats:
        """Return the sums up to each round of the block. terms: (rounds, runs, ...), one per round."""
        if block.first_round != self._round:
            raise InputError(
                f"the block begins with round {block.first_round}; accepted: round {self._round}, "
                "as a sum needs every block once and in order. Make a new metric to begin again."
            )
        if block.runs != self._runs:
            raise InputError(f"the block has {block.runs} runs; accepted: {self._runs}, those the metric was made for.")
        if self._total is None:
            self._total = np.zeros_like(terms[:1])
        sums: Floats = block.backend.running_sums(self._total, terms)
        self._total = sums[-1:].copy()  # a copy: a view would keep the whole block
        self._round += block.rounds
        return sums


class Total(Metric):
    """A metric that adds up a term per round. Extend it: the class attributes, and `terms`.

    >>> class Surprise(Total):
    ...     name = "surprise"
    ...
    ...     def terms(self, block):
    ...         return abs(block.reward - block.outcomes.earned)
    >>> from coebl import simulate
    >>> simulate("rps", "ucb", "exp3", rounds=100, seeds=2, metrics=[Surprise]).final("surprise").round(2)
    array([81.54, 75.32])
    """

    cumulative = True

    def __init__(self, game: AnyGame, runs: int) -> None:
        super().__init__(game, runs)
        self._sum = RunningSum(runs)

    def terms(self, block: Block) -> Floats:
        """Return the term of each round: (rounds, runs).

        Args:
            block: consecutive rounds.
        """
        raise NotImplementedError

    def __call__(self, block: Block) -> Floats:
        return self._sum(block, self.terms(block))
