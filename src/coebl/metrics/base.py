"""The base class of metrics, and the blocks of rounds that they are computed from."""

from __future__ import annotations

import copyreg
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from inspect import cleandoc, getattr_static
from math import inf
from typing import Any, ClassVar, Literal, cast

import numpy as np

from coebl.backend import CPU, Backend
from coebl.core.arrays import Floats, Ints
from coebl.core.errors import InputError
from coebl.core.modules import name_of, undefined
from coebl.games import AnyGame, is_zero_sum

Need = Literal["value", "payoffs", "equilibrium", "expected", "response", "mean", "genomes", "zero-sum", "welfare"]
_NEEDS: dict[Need, tuple[tuple[str, ...], str]] = {  # attributes of a game, any of which suffices, and the message
    "value": (("value",), "a value"),
    "payoffs": (("own_view",), "a matrix of payoffs"),
    "equilibrium": (("unique_equilibrium",), "an equilibrium that is known to be unique"),
    "expected": (("own_view", "expected"), "exact expected payoffs"),
    "response": (("own_view", "response"), "an exact best response"),
    "mean": (("own_view", "linear"), "payoffs that are linear in the genes, so that policies have a mean"),
    "genomes": (("answer",), "genomes as actions"),
    "zero-sum": (("payoff_range",), "one matrix of payoffs for two players"),
    "welfare": (("welfare",), "separate payoffs for each player"),
}
_OF_GENOMES: frozenset[Need] = frozenset(
    {"expected", "response", "mean", "genomes"}
)  # of metrics that can read genomes
_ARRAY = "an array of shape (rounds, runs)"
_MOST_JOINT = 2**21  # the number of joint-action probabilities computed at a time: 16 MiB


@dataclass(frozen=True)
class Block:
    """Consecutive rounds of all runs of a batch: rounds on axis 0, runs on axis 1. Lists have the row seat first.

    >>> from coebl import Game
    >>> half, game = np.full((1, 1, 2), 0.5), Game([[3.0, 0.0], [1.0, 2.0]])  # one round of one run
    >>> actions, rewards = [np.array([[0]]), np.array([[1]])], [np.array([[0.2]]), np.array([[-0.2]])]
    >>> block = Block(game, 1, [half, half], actions, rewards)
    >>> block.reward, block.outcomes.earned, block.outcomes.expected
    (array([[0.2]]), array([[0.]]), array([[1.5]]))
    """

    game: Any  # the game that is played, an `AnyGame` with the attributes that the metric needs
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
    def numbers(self) -> Floats:
        """The number of each round, from 1: (rounds, 1)."""
        rounds = range(self.first_round, self.first_round + self.rounds)
        return np.asarray(rounds, np.float64, like=self.reward)[:, None]

    @property
    def reward(self) -> Floats:
        """The row player's rewards, as observed: (rounds, runs)."""
        return self.rewards[0]

    @cached_property
    def outcomes(self) -> Outcomes:
        """The payoffs of the policies and actions, computed once for all metrics."""
        return Outcomes(self)


@dataclass(frozen=True)
class _Hidden(Sequence[Any]):
    """The policies or actions of a game of genomes, for a metric that does not declare that it can read them."""

    metric: str
    game: str

    def __len__(self) -> int:
        return 2

    def __getitem__(self, seat: Any) -> Any:
        repair = 'write needs = {"payoffs"} in the metric, or {"genomes"} if it is for them'
        raise InputError(f"{self.metric} reads policies or actions, which are of genes in {self.game}; {repair}.")


class Metric:
    """A number per round and run. A subclass defines the class attributes and `__call__`.

    It is made for a game and the number of runs in a batch.

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
    definition: ClassVar[str] = ""  # one line
    formula: ClassVar[str] = ""  # the same in mathtext, for the axes of figures
    meaning: ClassVar[str] = ""  # a sentence or two, for people; by default the first paragraph of its docstring
    better: ClassVar[Literal["lower", "higher"] | None] = "lower"  # for the row player, or for both; None if neither is
    needs: ClassVar[Collection[Need]] = frozenset()  # attributes of a game, beyond those of every game
    by_seat: ClassVar[bool] = False  # True if it exists for every seat: name:2 is about the second; see `of_seat`
    seat: ClassVar[int] = 0  # the seat that such a metric is about, from 0
    instead: ClassVar[str] = "nash_conv or swap_regret"  # the metrics to use if a game is not zero-sum
    cumulative: ClassVar[bool] = False  # True if it adds up over the rounds, so its growth matters
    signed: ClassVar[bool] = False  # True if its sign shows who is ahead: above 0, the column player
    bounds: ClassVar[tuple[float, float]] = (-inf, inf)  # its limits in every game, also for means and intervals
    in_payoffs: ClassVar[bool] = False  # True if it is in units of the payoffs, as a regret is
    within_range: ClassVar[bool] = False  # True if it is at most the width of the payoff range

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "meaning" not in vars(cls) and cls.__doc__:
            cls.meaning = " ".join(cleandoc(cls.__doc__).partition("\n\n")[0].split())

    def __init__(self, game: AnyGame, runs: int) -> None:
        if reason := self.reason_undefined(game):
            raise InputError(reason)
        self.game: Any = game  # has every attribute in `needs`
        self.runs = runs

    @classmethod
    def within_bounds(cls, low: float, high: float, width: float = inf) -> tuple[float, float]:
        """Return an interval of the metric's mean, low to high, clipped to the metric's bounds.

        Student's interval may exceed them. `width` is the width of the game's payoff range, if it is known.
        """
        least, largest = cls.bounds
        return max(low, least), min(high, largest, width if cls.within_range else inf)

    @classmethod
    def reason_undefined(cls, game: Any) -> str | None:
        """Return why the metric is not defined for a game, on one line; None if it is."""
        for need in _NEEDS:
            if need in cls.needs and (missing := _missing(game, need)):
                general_sum = not is_zero_sum(game) and not _missing(game, "payoffs")
                repair = f"use {cls.instead}" if general_sum else "pick another metric"
                return f"{cls.name} needs a game with {missing}; {repair}."
        if (cls.seat or 0) >= len(game.seats):  # None, in metrics for version 0.2: it is about all seats
            return f"{cls.name} is about seat {cls.seat + 1}, but {game.name} has {len(game.seats)}; name another seat."
        return None

    @classmethod
    def of_seat(cls, number: int) -> type[Metric]:
        """Return this metric for the seat with this number, from 1: a class with the number in its name.

        >>> from coebl.metrics import METRICS
        >>> METRICS["swap_regret"].factory.of_seat(2).name
        'swap_regret:2'
        """
        return cls if number == 1 else _of_seat(cls, number)  # type: ignore[arg-type]

    def __call__(self, block: Block) -> Floats:
        """Return the metric in every round of the block: (rounds, runs)."""
        raise undefined(self, "__call__(self, block)", _ARRAY)

    def measure(self, block: Block) -> Floats:
        """Return the metric in every round of a block, with policies and actions of genomes hidden unless needed.

        They are probabilities of genes: a metric that takes them for those of actions would return wrong numbers.
        """
        if not _missing(block.game, "genomes") and not _OF_GENOMES.intersection(self.needs):
            hidden, outcomes = _Hidden(self.name, block.game.name), block.outcomes
            block = replace(block, policies=hidden, actions=hidden)
            vars(block)["outcomes"] = outcomes
        numbers, expected = self(block), (block.rounds, block.runs)
        dtype, shape = getattr(numbers, "dtype", None), getattr(numbers, "shape", None)
        if shape != expected or dtype is None or dtype.kind not in "biufO":
            returned = "None" if numbers is None else f"a {type(numbers).__name__}"
            if dtype is not None:
                returned = f"an array of {dtype}" if shape == expected else f"an array of shape {shape}"
            raise InputError(f"{name_of(type(self))} returned {returned}; accepted: {_ARRAY} = {expected}, of numbers.")
        return numbers


@cache  # so that the same metric is the same class
def _of_seat(metric: type[Metric], number: int) -> type[Metric]:
    title = f"{metric.title or metric.name}, seat {number}"
    words = {"name": f"{metric.name}:{number}", "title": title, "seat": number - 1}
    words |= {"definition": metric.definition and f"{metric.definition}, of seat {number}", "meaning": metric.meaning}
    words |= {"by_seat": False}
    words["__doc__"] = metric.__doc__
    return cast(type[Metric], _OfSeat(f"{metric.__name__}{number}", (metric,), words))


class _OfSeat(type):
    """The type of the classes that `_of_seat` makes, so that pickle can make them again."""


def _made_by(metric: Any) -> Any:
    return _of_seat, (metric.__base__, metric.seat + 1)


copyreg.pickle(_OfSeat, _made_by)


def need_of(attribute: str) -> Need | None:
    """Return the need that a metric declares before it reads this attribute of a game; None if there is none.

    >>> need_of("value"), need_of("name")
    ('value', None)
    """
    return next((need for need, (attributes, _) in _NEEDS.items() if attribute in attributes), None)


def _missing(game: Any, need: Need) -> str:
    """Return a description of the attribute that a metric needs and the game lacks, or "". Nothing is computed."""
    attributes, words = _NEEDS[need]
    parts = [getattr_static(game, attribute, None) for attribute in attributes]
    present = any(part is not None and part is not False for part in parts)
    known = need not in getattr(game, "unknown", ())  # a game of genomes may lack an oracle
    return "" if present and known else f"{words}, which {game.name} does not have"


class Outcomes:
    """Payoffs that follow from the policies and actions of a block, each computed when it is first needed.

    Get it as `block.outcomes`, so that the metrics of a block share it. Seats are numbered from 0, the row seat first;
    the payoffs of a seat are from its point of view, to be maximised by its player. For each seat, the others form
    one opponent: its policy is the product of their policies, and its joint actions are numbered with the last player's
    action varying fastest.

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
        missing = _missing(block.game, "payoffs")
        if missing and _missing(block.game, "genomes"):
            raise InputError(f'block.outcomes needs a game with {missing}; write needs = {{"payoffs"}} in the metric.')
        self._is_matrix, self.zero_sum = not missing, is_zero_sum(block.game)
        # The block is not stored: it refers to this object, and a reference cycle would keep large arrays alive.
        self._game, self._backend = block.game, block.backend
        self._policies = [contiguous(policy) for policy in block.policies]
        self._actions = block.actions
        self._payoffs: dict[int, Floats] = {}

    def payoffs(self, seat: int) -> Floats:
        """Return the payoffs of a seat's actions against the others' policies, A y or -A'x: (rounds, runs, actions)."""
        if seat not in self._payoffs:
            # Contiguous, so that einsum adds whole rows, one after the other: fast, and in an order that does not
            # depend on the batch.
            matrix = contiguous(self._view(seat).T)
            first, *more = _others(seat, self._policies)
            step = max(1, _MOST_JOINT // (first.shape[1] * len(matrix))) if more else len(first)  # rounds at a time
            parts = [
                self._backend.einsum("trj,ji->tri", _product([p[start : start + step] for p in (first, *more)]), matrix)
                for start in range(0, len(first), step)
            ]
            self._payoffs[seat] = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return self._payoffs[seat]

    def best(self, seat: int) -> Floats:
        """Return the most that a seat could earn against the others' policies: (rounds, runs)."""
        if self._is_matrix:
            return self.payoffs(seat).max(axis=-1)
        return self._game.response(seat, self._policies[1 - seat])

    def hindsight(self, seat: int) -> Floats:
        """Return the payoffs of a seat's actions against the others' actions: (rounds, runs, actions)."""
        return self._view(seat).T[self._joint(seat)]

    @cached_property
    def expected(self) -> Floats:
        """The payoff of the policies to the row player, x'Ay: (rounds, runs)."""
        if not self._is_matrix:
            return self._game.expected(*self._policies)
        return -self._mean(1) if self.zero_sum else self._mean(0)

    def expected_by(self, seat: int) -> Floats:
        """Return the payoff of the policies to a seat: (rounds, runs)."""
        if seat == 0:
            return self.expected
        return -self.expected if self.zero_sum else self._mean(seat)

    @cached_property
    def earned(self) -> Floats:
        """The payoff of the actions to the row player, without noise, A[a, b]: (rounds, runs)."""
        if not self._is_matrix:
            return self._game.payoffs(*self._actions)
        return self._looked_up(0)

    def earned_by(self, seat: int) -> Floats:
        """Return the payoff of the actions to a seat, without noise: (rounds, runs)."""
        if seat == 0:
            return self.earned
        return -self.earned if self.zero_sum else self._looked_up(seat)

    def _looked_up(self, seat: int) -> Floats:
        return self._view(seat)[self._actions[seat], self._joint(seat)]

    def _mean(self, seat: int) -> Floats:
        return self._backend.einsum("trj,trj->tr", self.payoffs(seat), self._policies[seat])

    def _view(self, seat: int) -> Floats:
        return np.asarray(self._game.own_view(self._game.seats[seat]), like=self._policies[0])

    def _joint(self, seat: int) -> Ints:
        """Return the number of the joint action of the other seats: (rounds, runs)."""
        actions, policies = _others(seat, self._actions), _others(seat, self._policies)
        if len(actions) == 1:
            return actions[0]
        return np.ravel_multi_index(actions, [policy.shape[-1] for policy in policies])


def _others(seat: int, parts: Sequence[Any]) -> list[Any]:
    """Return the parts of all seats but one."""
    return [*parts[:seat], *parts[seat + 1 :]]


def _product(policies: Sequence[Floats]) -> Floats:
    """Return the probabilities of joint actions, the last policy varying fastest: (rounds, runs, joint actions)."""
    joint, *more = policies
    for policy in more:
        joint = (joint[..., :, None] * policy[..., None, :]).reshape(*joint.shape[:2], -1)
    return joint


def contiguous(array: Floats) -> Floats:
    """Return the array, or a copy, in the memory order for which sums are the same in every batch."""
    return np.ascontiguousarray(array, like=array)


class RunningSum:
    """A sum over all rounds so far, carried from block to block, for a batch of this many runs.

    >>> rewards = np.array([[1.0], [2.0], [4.0]])  # three rounds of one run
    >>> from coebl import Game
    >>> add_up = RunningSum(runs=1)
    >>> add_up(Block(Game([[1.0]]), 1, [], [], [rewards]), rewards).ravel()
    array([1., 3., 7.])
    """

    def __init__(self, runs: int) -> None:
        self._runs = runs
        self._round = 1  # the first round of the next block
        self._total: Floats | None = None  # (1, runs, ...)

    def check(self, block: Block) -> None:
        """Reject a block that is not the next one."""
        if block.first_round != self._round:
            raise InputError(
                f"the block begins with round {block.first_round}; accepted: round {self._round}, "
                "as a sum needs every block once and in order. Make a new metric to begin again."
            )
        if block.runs != self._runs:
            raise InputError(f"the block has {block.runs} runs; accepted: {self._runs}, which the metric was made for.")
        self._round += block.rounds

    def __call__(self, block: Block, terms: Floats) -> Floats:
        """Return the sums of terms, (rounds, runs, ...), up to each round of the block."""
        self.check(block)
        terms = terms.astype(np.float64, copy=False)  # of integers or truth values too: kernels take nothing else
        if self._total is None:
            self._total = np.zeros_like(terms[:1])
        sums: Floats = block.backend.running_sums(self._total, terms)
        self._total = sums[-1:].copy()  # a copy: a view would keep the whole block in memory
        return sums


class Total(Metric):
    """A metric that adds up a term per round. A subclass defines the class attributes and `terms`.

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
        """Return the term of each round of the block: (rounds, runs)."""
        raise undefined(self, "terms(self, block)", _ARRAY)

    def __call__(self, block: Block) -> Floats:
        terms = self.terms(block)
        if np.shape(terms) != (block.rounds, block.runs):
            accepted = f"{_ARRAY} = {block.rounds, block.runs}"
            raise InputError(f"{name_of(type(self))}: terms has shape {np.shape(terms)}; accepted: {accepted}.")
        return self._sum(block, terms)


class Mean(Total):
    """A metric that is the mean of a term per round. A subclass defines the class attributes and `terms`.

    >>> class Loss(Mean):
    ...     name = "loss"
    ...
    ...     def terms(self, block):
    ...         return -block.reward
    >>> from coebl import simulate
    >>> simulate("rps", "ucb", "exp3", rounds=100, seeds=2, metrics=[Loss]).final("loss").round(2)
    array([-0.28, -0.44])
    """

    cumulative = False

    def __call__(self, block: Block) -> Floats:
        return super().__call__(block) / block.numbers
