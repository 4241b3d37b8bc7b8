"""Metrics: functions of what was played, one number per round and run, from the row player's side.

To add one, extend `Metric` here and put ``@METRICS.add("its_name")`` above it; `parse_metrics` also takes the class
itself, and ``path/to/file.py:Name``. A metric is made for one batch of runs and called with its consecutive blocks of
rounds. Its numbers must not depend, to the last bit, on how the rounds are cut into blocks, nor on the other runs of
the batch. So it sums over actions with `numpy.einsum` or along the last axis (not with `@`, whose rounding depends on
the size of the batch), and over rounds with a `RunningSum`.

Notation: A the payoffs to the row player, V the value of the game, x_t and y_t the policies of round t, a_t and b_t
the actions, r_t the reward as observed, x* and y* the equilibrium.

>>> from coebl.metrics import METRICS
>>> METRICS["tv"].factory.meaning
'Total variation, how far both policies are from the equilibrium: 0 is there, 2 is as far as can be.'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, Literal

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.core.devices import is_on_cuda, running_sums
from coebl.core.errors import InputError, nearest, shorten
from coebl.core.modules import require
from coebl.core.registry import Registry
from coebl.core.specs import split_spec
from coebl.games import Game
from coebl.games.game import SEATS

_NOT_PLAYED = 1e-9  # an equilibrium probability up to here is a rounded zero; see coebl.games.uniqueness


def _class_refusal(factory: object) -> str | None:
    if isinstance(factory, type) and issubclass(factory, Metric):
        named = isinstance(getattr(factory, "name", None), str)
        return None if named else 'it has no name; accepted: a class attribute such as name = "surprise". Add it.'
    return f"this is {shorten(factory)}; accepted: a class that extends coebl.metrics.Metric."


METRICS: Registry[Metric] = Registry("metric", "metrics", refusal=_class_refusal)
"""The metrics by name: `@METRICS.add(name)` above a class adds one."""


@dataclass(frozen=True)
class Block:
    """Consecutive rounds of every run of a batch: rounds on axis 0, runs on axis 1. Lists have the row seat first.

    >>> half, game = np.full((1, 1, 2), 0.5), Game([[3.0, 0.0], [1.0, 2.0]])  # one round of one run
    >>> actions, rewards = [np.array([[0]]), np.array([[1]])], [np.array([[0.2]]), np.array([[-0.2]])]
    >>> block = Block(game, 1, [half, half], actions, rewards)
    >>> block.reward, block.outcomes.earned, block.outcomes.expected
    (array([[0.2]]), array([[0.]]), array([[1.5]]))
    """

    game: Game  # the game that is played
    first_round: int  # rounds count from 1
    policies: Sequence[Floats]  # per seat: (rounds, runs, actions)
    actions: Sequence[Ints]  # per seat: (rounds, runs)
    rewards: Sequence[Floats]  # per seat: (rounds, runs), as observed

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
        """What the policies and actions lead to, computed once for all metrics."""
        return Outcomes(self)


class Metric:
    """A number per round and run. Extend it: the class attributes, and `__call__`.

    Args:
        game: the game that is played.
        runs: how many runs the batch has.

    >>> class Surprise(Metric):
    ...     name = "surprise"
    ...     definition = "abs(r_t - A[a_t, b_t]): how far noise moved the reward"
    ...
    ...     def __call__(self, block):
    ...         return abs(block.reward - block.outcomes.earned)
    >>> [metric] = parse_metrics([Surprise], Game([[3, 0], [1, 2]]), runs=50)
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""  # what people read; by default its name
    definition: ClassVar[str]  # one line
    formula: ClassVar[str] = ""  # the same in mathtext, for the axes of figures
    meaning: ClassVar[str] = ""  # a sentence or two, for people who do not know it
    better: ClassVar[Literal["lower", "higher"]] = "lower"  # to the row player, or to both where it is about both
    cumulative: ClassVar[bool] = False  # whether it adds up over the rounds, so that growth is what to look at
    signed: ClassVar[bool] = False  # whether its sign says who is ahead: above 0, the column player

    def __init__(self, game: Game, runs: int) -> None:
        reason = self.refusal(game)
        if reason:
            raise InputError(reason)
        self.game = game
        self.runs = runs

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        """Why the metric makes no sense for a game, on one line; None if it does."""
        return None

    def __call__(self, block: Block) -> Floats:
        """The metric in every round of the block: (rounds, runs)."""
        raise NotImplementedError


class Outcomes:
    """What the policies and actions of a block lead to, each computed when it is first asked for.

    Get it as `block.outcomes`, so that the metrics of a block share it. Seats are numbered, the row seat first; what is
    asked for a seat is in its own view, to be maximised by its player.

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
        # Not the block itself: it keeps this object, and a cycle would hold on to large arrays.
        self._game = block.game
        self._policies = [_contiguous(policy) for policy in block.policies]
        self._actions = block.actions
        self._payoffs: dict[int, Floats] = {}

    def payoffs(self, seat: int) -> Floats:
        """What each action of a seat earns it against the opponent's policy, A y or -A'x: (rounds, runs, actions)."""
        if seat not in self._payoffs:
            # Contiguous, so that einsum adds whole rows, one after the other: fast, and in an order that does not
            # depend on the batch.
            matrix = _contiguous(self._view(seat).T)
            self._payoffs[seat] = np.einsum("trj,ji->tri", self._policies[1 - seat], matrix)
        return self._payoffs[seat]

    def hindsight(self, seat: int) -> Floats:
        """What each action of a seat would have earned it against the opponent's action: (rounds, runs, actions)."""
        return self._view(seat).T[self._actions[1 - seat]]

    @cached_property
    def expected(self) -> Floats:
        """What the row policy earns against the column policy, x'Ay: (rounds, runs)."""
        expected: Floats = -np.einsum("trj,trj->tr", self.payoffs(1), self._policies[1])
        return expected

    @cached_property
    def earned(self) -> Floats:
        """What the actions are worth to the row player without noise, A[a, b]: (rounds, runs)."""
        payoff: Floats = np.asarray(self._game.payoff, like=self._actions[0])
        return payoff[tuple(self._actions)]

    def _view(self, seat: int) -> Floats:
        payoff: Floats = np.asarray(self._game.own_view(SEATS[seat]).payoff, like=self._policies[0])
        return payoff


def _contiguous(array: Floats) -> Floats:
    return np.ascontiguousarray(array, like=array)


class RunningSum:
    """A sum over all rounds so far, carried from block to block.

    Args:
        runs: how many runs the batch has.

    >>> rewards = np.array([[1.0], [2.0], [4.0]])  # three rounds of one run
    >>> add_up = RunningSum(runs=1)
    >>> add_up(Block(Game([[1.0]]), 1, [], [], [rewards]), rewards).ravel()
    array([1., 3., 7.])
    """

    def __init__(self, runs: int) -> None:
        self._runs = runs
        self._round = 1  # that the next block must begin with
        self._total: Floats | None = None  # (1, runs, ...)

    def __call__(self, block: Block, terms: Floats) -> Floats:
        """The sums up to each round of the block. terms: (rounds, runs, ...), what each round adds."""
        if block.first_round != self._round:
            raise InputError(
                f"the block begins with round {block.first_round}; accepted: round {self._round}, "
                "as a sum needs every block once and in order. Make a new metric to begin again."
            )
        if block.runs != self._runs:
            raise InputError(f"the block has {block.runs} runs; accepted: {self._runs}, those the metric was made for.")
        if self._total is None:
            self._total = np.zeros_like(terms[:1])
        sums: Floats = running_sums(self._total, terms)
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

    def __init__(self, game: Game, runs: int) -> None:
        super().__init__(game, runs)
        self._sum = RunningSum(runs)

    def terms(self, block: Block) -> Floats:
        """What each round adds: (rounds, runs).

        Args:
            block: consecutive rounds.
        """
        raise NotImplementedError

    def __call__(self, block: Block) -> Floats:
        return self._sum(block, self.terms(block))


@METRICS.add("regret")
class Regret(Total):
    """How far the rewards fell short of the value: the paper's second measure. It carries the noise of the rewards."""

    title = "Regret"
    definition = "sum of V - r_t"
    formula = r"$\Sigma\,(V - r_t)$"
    meaning = "What the row player fell short of the game's value, as observed; noise included."
    signed = True

    def terms(self, block: Block) -> Floats:
        """V - r_t."""
        return self.game.value - block.reward


@METRICS.add("pseudo_regret")
class PseudoRegret(Total):
    """As regret, without its noise: same expectation, far smaller variance."""

    title = "Pseudo-regret"
    definition = "sum of V - x_t' A y_t"
    formula = r"$\Sigma\,(V - x_t^\top\! A y_t)$"
    meaning = "The same expectation as regret, without the noise of rewards and actions."
    signed = True

    def terms(self, block: Block) -> Floats:
        """V - x_t' A y_t."""
        return self.game.value - block.outcomes.expected


@METRICS.add("absolute_regret")
class AbsoluteRegret(Total):
    """The paper's first measure, as its text defines it."""

    title = "Absolute regret"
    definition = "sum of abs(V - r_t)"
    formula = r"$\Sigma\,|V - r_t|$"
    meaning = "The first measure of the paper's text. Noise alone makes it grow."

    def terms(self, block: Block) -> Floats:
        """The size of V - r_t."""
        return np.abs(self.game.value - block.reward)


@METRICS.add("regret_magnitude")
class RegretMagnitude(Regret):
    """The paper's first measure, as its program computes it."""

    title = "Regret magnitude"
    definition = "abs(sum of V - r_t)"
    formula = r"$|\Sigma\,(V - r_t)|$"
    meaning = "The first measure as the paper's program computes it."
    signed = False

    def __call__(self, block: Block) -> Floats:
        return np.abs(super().__call__(block))


@METRICS.add("absolute_pseudo_regret")
class AbsolutePseudoRegret(Total):
    """The noise-free measure of O'Donoghue, Lattimore and Osband (2021)."""

    title = "Absolute pseudo-regret"
    definition = "sum of abs(V - x_t' A y_t)"
    formula = r"$\Sigma\,|V - x_t^\top\! A y_t|$"
    meaning = "How far play was from the game's value, without noise."

    def terms(self, block: Block) -> Floats:
        """The size of V - x_t' A y_t."""
        return np.abs(self.game.value - block.outcomes.expected)


class _Distance(Metric):
    """A distance of both policies to the equilibrium, which must be the only one."""

    def __init__(self, game: Game, runs: int) -> None:
        super().__init__(game, runs)
        self._equilibrium = [_without_rounding(strategy) for strategy in (game.solution.row, game.solution.column)]

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        """Why there is no one equilibrium to measure from."""
        unique = game.unique_equilibrium
        if unique.answer == "yes":
            return None
        state = "has more than one" if unique.answer == "no" else "may have more than one"
        return (
            f"{cls.name} needs a unique equilibrium, and {game.name} {state}: {unique.reason}. "
            "Use exploitability instead."
        )

    def distance(self, policy: Floats, equilibrium: Floats) -> Floats:
        """From (rounds, runs, actions) and (actions,): (rounds, runs)."""
        raise NotImplementedError

    def __call__(self, block: Block) -> Floats:
        equilibrium = [np.asarray(strategy, like=block.reward) for strategy in self._equilibrium]
        row, column = map(self.distance, map(_contiguous, block.policies), equilibrium)
        return row + column


def _without_rounding(strategy: Floats) -> Floats:
    """The strategy with zeros for what is zero but for rounding, where KL would tell 1e-17 from 0."""
    return np.where(strategy > _NOT_PLAYED, strategy, 0.0)


@METRICS.add("kl")
class KullbackLeibler(_Distance):
    """The relative entropy in nats: infinite where a policy plays what the equilibrium never does."""

    title = "KL divergence"
    definition = "KL(x_t, x*) + KL(y_t, y*), where KL(a, b) = sum of a ln(a / b)"
    formula = r"$\mathrm{KL}(x_t, x^*) + \mathrm{KL}(y_t, y^*)$"
    meaning = "How far both policies are from the equilibrium; infinite outside its support."

    def distance(self, policy: Floats, equilibrium: Floats) -> Floats:
        """The sum of a ln(a / b)."""
        special = require("cupyx.scipy.special") if is_on_cuda(policy) else import_module("scipy.special")
        divergence: Floats = special.rel_entr(policy, equilibrium).sum(axis=-1)
        return np.maximum(divergence, 0.0)  # at the equilibrium itself, rounding can fall below zero


@METRICS.add("tv")
class TotalVariation(_Distance):
    """The total variation distance, between 0 and 2 for the two players together."""

    title = "TV distance"
    definition = "TV(x_t, x*) + TV(y_t, y*), where TV(a, b) = half the sum of abs(a - b)"
    formula = r"$\mathrm{TV}(x_t, x^*) + \mathrm{TV}(y_t, y^*)$"
    meaning = "Total variation, how far both policies are from the equilibrium: 0 is there, 2 is as far as can be."

    def distance(self, policy: Floats, equilibrium: Floats) -> Floats:
        """Half the sum of abs(a - b)."""
        distance: Floats = np.abs(policy - equilibrium).sum(axis=-1) / 2
        return distance


@METRICS.add("exploitability")
class Exploitability(Metric):
    """What two best responses would gain from the policies together: zero at an equilibrium, and only there."""

    title = "Exploitability"
    definition = "max_i (A y_t)_i - min_j (x_t' A)_j"
    formula = r"of $(x_t, y_t)$"
    meaning = "What best responses would gain against both policies; 0 is an equilibrium."

    def __call__(self, block: Block) -> Floats:
        row, column = (block.outcomes.payoffs(seat).max(axis=-1) for seat in (0, 1))
        gap: Floats = row + column
        return gap


@METRICS.add("average_exploitability")
class AverageExploitability(Metric):
    """The exploitability of the averages of all policies so far."""

    title = "Average exploitability"
    definition = "exploitability of the means of x_1, ..., x_t and of y_1, ..., y_t"
    meaning = "The same for the policies averaged over the rounds so far."

    def __init__(self, game: Game, runs: int) -> None:
        super().__init__(game, runs)
        self._sums = RunningSum(runs), RunningSum(runs)  # per seat

    def __call__(self, block: Block) -> Floats:
        # A times the mean policy is the mean of A times the policy, which other metrics have asked for already.
        row, column = (self._sums[seat](block, block.outcomes.payoffs(seat)).max(axis=-1) for seat in (0, 1))
        rounds = range(block.first_round, block.first_round + block.rounds)
        t = np.asarray(rounds, np.float64, like=block.reward)[:, None]
        gap: Floats = (row + column) / t
        return gap


@METRICS.add("external_regret")
class ExternalRegret(Metric):
    """How much more the best fixed row would have earned in hindsight, without noise."""

    title = "External regret"
    definition = "max_i sum of A[i, b_t] - sum of A[a_t, b_t]"
    meaning = "How much more the best fixed row would have earned, in hindsight."
    cumulative = True
    seat: ClassVar[int] = 0

    def __init__(self, game: Game, runs: int) -> None:
        super().__init__(game, runs)
        self._hindsight, self._earned = RunningSum(runs), RunningSum(runs)

    def __call__(self, block: Block) -> Floats:
        best: Floats = self._hindsight(block, block.outcomes.hindsight(self.seat)).max(axis=-1)
        earned = self._earned(block, block.outcomes.earned)
        return best - (earned if self.seat == 0 else -earned)


@METRICS.add("column_external_regret")
class ColumnExternalRegret(ExternalRegret):
    """How much the best fixed column would have saved the column player in hindsight, without noise."""

    title = "Column external regret"
    definition = "sum of A[a_t, b_t] - min_j sum of A[a_t, j]"
    meaning = "The same for the column player."
    seat = 1


def parse_metrics(names: Sequence[str | type[Metric]], game: Game, runs: int) -> list[Metric]:
    """Fresh metrics for a batch of runs, in the order of their names; a name given twice counts once.

    "all" stands for every registered metric that the game allows. A metric may also be given as its class, or as
    path/to/file.py:Name.

    >>> [metric.name for metric in parse_metrics(["regret", "tv"], Game([[3, 0], [1, 2]]), runs=50)]
    ['regret', 'tv']
    """
    if isinstance(names, str):
        raise InputError(f"metrics is {shorten(names)}; accepted: a list of names, such as ['regret', 'tv'].")
    chosen: dict[type[Metric], None] = {}  # a set that keeps its order
    for name in names:
        if name == "all":
            chosen |= dict.fromkeys(metric for metric in all_metrics() if metric.refusal(game) is None)
        elif isinstance(name, str):
            chosen[metric_class(name)] = None
        elif isinstance(name, type) and issubclass(name, Metric):
            chosen[name] = None
        else:
            raise InputError(f"a metric is {shorten(name)}; accepted: a name, or a class that extends Metric.")
    for name, count in Counter(metric.name for metric in chosen).items():
        if count > 1:
            raise InputError(f"two metrics are called {name!r}; accepted: names that differ. Rename one of them.")
    return [metric(game, runs) for metric in chosen]


def metric_class(name: str) -> type[Metric]:
    """The class of a metric's name, or of path/to/file.py:Name.

    >>> metric_class("kl").title
    'KL divergence'
    """
    if name not in METRICS and not split_spec(name).file:
        known = METRICS.names
        raise InputError(f"unknown metric {name!r}{nearest(name, known)} Accepted: {', '.join(known)}, all.")
    factory: Any = METRICS[name].factory
    found: type[Metric] = factory
    return found


def all_metrics() -> list[type[Metric]]:
    """The classes of all registered metrics, in the order of their registration.

    >>> [metric.name for metric in all_metrics() if metric.signed]
    ['regret', 'pseudo_regret']
    """
    return [metric_class(name) for name in METRICS.names]
