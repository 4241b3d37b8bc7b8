"""The contract of a learner, on one page.

To write one, copy `_template.py`. A learner is a dataclass: its fields are its hyper-parameters, and two learners with
equal fields are equal, print the same spec and play the same. All arrays have the runs of a batch on axis 0, so the
code reads like the pseudo-code of one run and pays Python's cost once a round. The order of calls is

    start(seat)         once; allocate state for seat.runs runs; self.seat is the seat from here on
    policy(t)           for t = 1, 2, ...: the mixed strategies of round t, (runs, actions)
    observe(t, seen)    the outcome: seen.action and seen.reward, each (runs,), and what `sees` declares

In a simulation observe(t, seen) follows policy(t). In a real contest outcomes may arrive late, out of order, for an
action other than the one advised, or not at all. So policy(t) may be called several times before observe, with a t that
never decreases; and in observe(t, seen), t = 1, 2, ... counts outcomes, which may come from older rounds. A learner
therefore must not assume that the action was drawn from its newest policy: if it divides by the probability of the
action, it declares `importance_weighted` and uses seen.probability.

Everything is in the learner's *own view*, in either seat: its actions are the rows, and it maximises its reward.
Rewards and payoffs are measured from the middle of their known range, in units of the standard deviation of their noise
(`coebl.engine.units`), so formulas that assume unit noise are right in any game.

In a game of several players, the opponent represents all other players, and its action is their joint action. A learner
that plays a maximin strategy of its beliefs even in games that are not zero-sum declares aim = "security".

`coebl.testing.check_learner` checks these rules:

- A run must not depend on the other runs of its batch, to the last bit: sum over the last axis, not over runs, and use
  `seat.einsum` instead of `@`, whose rounding depends on the size of the batch.
- Arrays and random numbers come only from the seat, such as `seat.zeros(3)` and `seat.random.normal(3)`. NumPy's
  functions are then called on these arrays, on any device.
- A learner sees what it declares in `sees`; asking for anything else is an error.
- Its state is in its attributes: arrays, numbers, strings, lists and dicts of them, and objects that have such
  attributes, so that a player can be saved.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property, partial
from math import pow
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from coebl.backend import CPU, Backend, Solver, Ties
from coebl.core.arrays import Floats, Ints
from coebl.core.errors import InputError
from coebl.core.registry import Component
from coebl.games.spaces import Bits, Space

_Value = TypeVar("_Value")

Sight = Literal["opponent", "payoffs", "game", "policy"]
"""The sights that a learner may declare in `sees`."""
SIGHTS: dict[Sight, str] = {  # in addition to its action and reward, which every learner sees
    "opponent": "the opponent's action",
    "payoffs": "what each of its actions would have earned",
    "game": "the true payoffs",
    "policy": "the opponent's policy of the same round",
}

Plays = Literal["indices", "bits"]  # declared in `plays`
PLAYS: dict[Plays, str] = {"indices": "numbered actions", "bits": "genomes"}
_OTHER: dict[Plays, str] = {  # how to repair a mismatch, by the actions of the game
    "indices": "pick another learner, or a game with space=bits.",
    "bits": "pick another learner; with up to 10 genes, as-atoms:learner=... can seat it.",
}

Aim = Literal["response", "security"]  # in games that are not zero-sum
AIMS: dict[Aim, str] = {
    "response": "to earn as much as possible against the others' actions",
    "security": "at the security strategy, the maximin of its payoffs over the joint actions of the others",
}

Kind = Literal["bandit", "informed bandit", "full information", "oracle", "search"]
"""How much a learner sees."""
KINDS: dict[Kind, str] = {  # from the least information to the most
    "bandit": "sees its own reward alone",
    "informed bandit": "sees its own reward and the opponent's action",
    "full information": "sees what each of its actions would have earned",
    "oracle": "sees the true payoffs or the opponent's policy",
    "search": "chooses the actions of both players",
}
REFERENCES: tuple[Kind, ...] = ("full information", "oracle")  # kinds that no bandit can be expected to match


class Random(Protocol):
    """A learner's private random numbers: (runs, *shape), with a separate stream for each run."""

    def uniform(self, *shape: int) -> Floats:
        """Draw uniform numbers on [0, 1)."""

    def normal(self, *shape: int, deviation: Floats | None = None, mean: Floats | None = None) -> Floats:
        """Return new normal numbers with this deviation and mean, which are 1 and 0 if None.

        This is faster than multiplying and adding afterwards, and gives the same numbers. deviation and mean, both
        (runs, ...), apply to the last axes of the numbers, and have the same shape if both are given.
        """


@dataclass(frozen=True, kw_only=True)
class Seat:
    """The information that a learner has before the first round, and the source of its arrays.

    >>> seat = Seat(runs=2, actions=3, opponent_actions=3, horizon=None, payoff_range=(-1, 1), random=None)
    >>> score = seat.zeros(seat.actions)
    >>> score[seat.at(np.array([0, 2]))] += seat.unit(np.array([0.5, -1.0]))
    >>> score
    array([[0.75, 0.  , 0.  ],
           [0.  , 0.  , 0.  ]])
    """

    runs: int  # the number of runs that are played at once: the length of axis 0
    actions: int  # the length of its policies: the number of its actions, m, or of its genes, n
    opponent_actions: int  # likewise for the opponent: k, or n
    horizon: int | None  # the number of rounds, None if it is not known
    payoff_range: tuple[float, float]  # the range of its payoffs, around 0; with noise, rewards may lie outside
    random: Random  # the learner's private streams, one per run
    shown_payoff: Floats | None = None  # (actions, opponent_actions), where `game` is declared
    backend: Backend = CPU  # the array library: NumPy on the CPU, or CuPy on a GPU
    space: Space | None = None  # the space of its actions: Bits(n), or Indices(m), abbreviated None
    shown_answer: Callable[[Floats], Ints] | None = None  # best responses to genomes, where `game` is declared

    @property
    def payoff(self) -> Floats:
        """The true payoffs to the learner, (actions, opponent_actions), if it declares `game`."""
        return _declared(self.shown_payoff, "seat.payoff", 'sees = {"game"}')

    @property
    def answer(self) -> Callable[[Floats], Ints]:
        """The function from an opponent's policy, (runs, n), to the best genomes, if it declares `game`."""
        return _declared(self.shown_answer, "seat.answer", 'sees = {"game"}')

    @property
    def plays(self) -> Plays:
        """The kind of its actions: "bits" for genomes, else "indices"."""
        return "bits" if isinstance(self.space, Bits) else "indices"

    def zeros(self, *shape: int) -> Floats:
        """Return an array of zeros, (runs, *shape)."""
        return self.backend.arrays.zeros((self.runs, *shape))

    def full(self, value: float, *shape: int) -> Floats:
        """Return an array of this value, (runs, *shape)."""
        return self.backend.arrays.full((self.runs, *shape), value)

    def array(self, values: ArrayLike) -> Floats:
        """Return these values, of any shape, as an array on the seat's device."""
        return self.backend.arrays.asarray(values, np.float64)

    def arange(self, count: int) -> Ints:
        """Return 0, 1, 2, ..., (count,)."""
        return self.backend.arrays.arange(count)

    def at(self, *actions: Ints | slice | int) -> tuple[Any, ...]:
        """Return the index of one entry per run, `score[seat.at(action)]`, from (runs,) actions for each later axis.

        Actions of shape (runs, k) give the index of k entries per run, and `slice(None)` that of a whole axis:
        `mean[seat.at(slice(None), opponent)]` is (runs, m).
        """
        rows, dimensions = self._every_run, getattr(actions[-1], "ndim", 1)
        return (rows if dimensions < 2 else rows.reshape((-1, *[1] * (dimensions - 1))), *actions)

    @cached_property
    def _every_run(self) -> Ints:
        return self.arange(self.runs)

    def einsum(self, subscripts: str, *operands: Floats) -> Floats:
        """Return `numpy.einsum` of subscripts and operands, summed in an order that does not depend on the batch."""
        return self.backend.einsum(subscripts, *operands)

    def unit(self, reward: Floats) -> Floats:
        """Return each reward mapped to [0, 1] by the known range, without clipping: noise may take it outside."""
        low, _ = self.payoff_range
        return (reward - low) / self._width

    def unit_loss(self, reward: Floats) -> Floats:
        """Return 1 - unit(reward): a loss in [0, 1]."""
        _, high = self.payoff_range
        return (high - reward) / self._width

    @property
    def half_width(self) -> float:
        """Half the width of the known range, the largest standard deviation that payoffs can have."""
        return self._width / 2

    @property
    def _width(self) -> float:
        low, high = self.payoff_range
        return (high - low) or 1.0  # a constant game has no width: any number works

    def maximin(
        self,
        ties: Literal["first", "random"] = "first",
        many_ties: bool = False,
        number: int = 1,
        remember: bool = True,
    ) -> Solver:
        """Return a maximin solver of (runs, actions, opponent_actions) matrices, which starts from its last solution.

        Args:
            ties: the choice among several maximin strategies: "first" prefers the actions of lowest index, "random"
                draws a new preference over actions for every solve, from the learner's streams.
            many_ties: True if many entries of the matrices are equal.
            number: the number of consecutive matrices of each run: (runs * number, actions, opponent_actions).
            remember: False if successive matrices are unrelated; this is faster and takes less memory.
        """
        shape = self.runs * number, self.actions, self.opponent_actions
        preference: Ties = partial(self.tie_weights, number) if ties == "random" else "first"
        return self.backend.maximin(shape, preference, many_ties, number, remember)

    def tie_weights(self, number: int) -> Floats:
        """Draw preferences over the actions for each matrix: (runs * number, actions)."""
        return self.random.uniform(number, self.actions).reshape((-1, self.actions))


@dataclass(frozen=True, slots=True)
class Seen:
    """The outcome of a round as far as the learner sees it; every array has the runs on axis 0.

    >>> seen = Seen(np.array([0, 2]), np.array([0.5, -1.0]), shown_opponent=np.array([1, 1]))
    >>> seen.opponent
    array([1, 1])
    >>> seen.payoffs
    Traceback (most recent call last):
        ...
    coebl.core.errors.InputError: seen.payoffs is used but not declared; write sees = {"payoffs"} in the class.
    """

    action: Ints  # (runs,), of the learner; genomes are (runs, n)
    reward: Floats  # (runs,), of the learner, with noise, in its units
    shown_opponent: Ints | None = None  # (runs,) or (runs, n), where `opponent` is declared
    shown_payoffs: Floats | None = None  # (runs, actions), where `payoffs` is declared
    shown_probability: Floats | None = None  # (runs,), where `importance_weighted` is declared

    @property
    def opponent(self) -> Ints:
        """The opponent's action: (runs,), or (runs, n) for genomes."""
        return _declared(self.shown_opponent, "seen.opponent", 'sees = {"opponent"}')

    @property
    def payoffs(self) -> Floats:
        """The payoff of each of its actions against the opponent's action, without noise: (runs, actions)."""
        return _declared(self.shown_payoffs, "seen.payoffs", 'sees = {"payoffs"}')

    @property
    def probability(self) -> Floats:
        """The probability of the action under the policy of its round: (runs,), > 0."""
        return _declared(self.shown_probability, "seen.probability", "importance_weighted = True")


def _declared(value: _Value | None, name: str, declaration: str) -> _Value:
    """Return a value that a learner sees; raise an error if it is None, because its class lacks the declaration."""
    if value is None:
        raise InputError(f"{name} is used but not declared; write {declaration} in the class.")
    return value


@dataclass
class Learner(Component):
    """A learning algorithm. See the module's docstring for the contract.

    >>> class Stubborn(Learner):
    ...     def start(self, seat):
    ...         self.mixture = seat.full(1 / seat.actions, seat.actions)
    ...
    ...     def policy(self, t):
    ...         return self.mixture
    >>> Stubborn.kind(), str(Stubborn())
    ('bandit', 'Stubborn')
    """

    name: ClassVar[str] = ""  # in specs; for a custom learner a label, by default the class name
    title: ClassVar[str] = ""  # in tables and figures; by default its name
    sees: ClassVar[Collection[Sight]] = frozenset()  # in addition to its action and reward
    plays: ClassVar[Collection[Plays]] = frozenset({"indices"})  # with {"bits"}, its policies are marginals of genes
    needs_horizon: ClassVar[bool] = False
    importance_weighted: ClassVar[bool] = False  # True if it uses seen.probability; it never sees probability 0
    improves: ClassVar[bool] = True  # True if it learns to play better actions, which the conformance kit then checks
    aim: ClassVar[Aim] = "response"  # in a game that is not zero-sum: "security" if it solves for a maximin
    cites: ClassVar[str] = ""
    colour: ClassVar[int | None] = None  # its index in the palette of figures; None: the next free one
    example: ClassVar[str] = ""  # a spec with all required parameters; by default its name
    round_cost: ClassVar[float] = 0.0  # microseconds per round
    action_cost: ClassVar[float] = 0.03  # additional microseconds per action
    pair_cost: ClassVar[float] = 0.0  # likewise per pair of actions
    solve_cost: ClassVar[float] = 0.0  # likewise per (m k)^1.25, to which the time of a solve is proportional

    def start(self, seat: Seat) -> None:
        """Allocate the state of seat.runs runs. `self.seat` is already the seat."""
        self.seat = seat

    def policy(self, t: int) -> Floats:
        """Return the mixed strategies of round t, which counts from 1: (runs, actions)."""
        raise InputError(f"{self} has no policy(t); write one that returns an array of (runs, actions).")

    def observe(self, t: int, seen: Seen) -> None:
        """Learn from the t-th outcome, `seen`."""

    def beliefs(self) -> tuple[Floats, Floats] | None:
        """Return its estimates of the payoffs and its visits, (runs, m, k) each, in its units; None if it has none."""
        return None

    def reason_not_to_play(self, seat: Seat) -> str | None:
        """Return why the learner cannot play in this seat, in one line; None if it can."""
        if seat.plays not in self.plays:
            kinds = " or ".join(PLAYS[kind] for kind in self.plays)
            return f"{self} plays {kinds}, but the game has {PLAYS[seat.plays]}; {_OTHER[seat.plays]}"
        if self.needs_horizon and seat.horizon is None:
            return f"{self} needs the number of rounds, but horizon is None; pass an approximate number."
        return None

    def seated(self, seat: Seat) -> Self:
        """Return a copy of the learner that has been started in this seat; the learner itself does not change."""
        if reason := self.reason_not_to_play(seat):
            raise InputError(reason)
        learner = copy.deepcopy(self)
        if "seat" not in self.__dataclass_fields__:  # a hyper-parameter of that name keeps its value
            learner.seat = seat
        learner.start(seat)
        return learner

    @classmethod
    def kind(cls) -> Kind:
        """Return its kind, which follows from what it sees."""
        if not {"game", "policy"}.isdisjoint(cls.sees):
            return "oracle"
        if "payoffs" in cls.sees:
            return "full information"
        return "informed bandit" if "opponent" in cls.sees else "bandit"

    @classmethod
    def regret_bound(cls, actions: int, opponent_actions: int, rounds: int) -> float | None:
        """Return the proven bound on the expected Nash regret against any opponent, or None if nothing is proven.

        It holds for payoffs in [0, 1] and unit noise, and depends on actions, opponent_actions and rounds.
        """
        return None

    def cost(self, actions: int, opponent_actions: int) -> float:
        """Return the approximate microseconds per round and run in a large batch, by actions and opponent_actions."""
        pairs = actions * opponent_actions
        usual = self.round_cost + self.action_cost * actions + self.pair_cost * pairs
        return usual + self.solve_cost * pow(pairs, 1.25)


class Responder(Learner):
    """A learner that sees the opponent's policy of the same round, and responds to it.

    >>> class Mirror(Responder):
    ...     def respond(self, t, opponent_policy):
    ...         return opponent_policy
    >>> from coebl import simulate
    >>> regret = simulate("rps", "ucb", Mirror(), rounds=10, seeds=2).final("pseudo_regret")
    >>> np.allclose(regret, 0)  # no one wins against itself
    True
    """

    sees: ClassVar[Collection[Sight]] = frozenset({"policy"})

    def respond(self, t: int, opponent_policy: Floats) -> Floats:
        """Return the mixed strategies of round t, (runs, actions), against opponent_policy, (runs, k)."""
        raise InputError(f"{self} has no respond(t, opponent_policy); write one that returns (runs, actions).")

    def policy(self, t: int) -> Floats:
        """Raise an error for any t: the policy depends on the opponent's."""
        raise InputError(f"{self} answers the opponent's policy; call respond(t, opponent_policy).")
