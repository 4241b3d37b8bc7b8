"""The records of a player: its outcomes, the units that they show, and reports on them, for any learner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coebl.core.arrays import Floats
from coebl.core.errors import InputError
from coebl.core.modules import require
from coebl.engine.player_file import Contestant
from coebl.engine.units import Units
from coebl.solver import solve_matrix

if TYPE_CHECKING:
    import polars


KEPT = 4096  # outcomes that are kept one by one; of all, there are sums per pair of actions
RECENT = 100  # outcomes that count as recent
UNKNOWN = -1  # in place of an action that is not known
_CONFIDENCE = 0.95
_FLOOR = 0.1  # the least noise, as a share of half the width: with much less, learners would hardly explore
_LEAST_SHARE = 0.2  # of the width of the rewards, that is left for the payoffs
_SURE = 8  # degrees of freedom at which half of the noise is taken off the range
_RANGE_MOVED = 0.1  # of the width: ends that have moved by more are taken over
_NOISE_MOVED = 1.25  # likewise, a factor
_TOTALS = ("outcomes", "mean_reward", "least", "largest", "_around", "_within", "_freedom")  # numbers of all outcomes


class Outcome(NamedTuple):
    """The outcome of a round."""

    round: int
    advised: int  # UNKNOWN if no advice was asked for
    action: int  # that was played
    opponent: int  # UNKNOWN if it was not reported
    reward: float
    probability: float  # of the action, by the policy of the round
    learned: bool  # False if the learner could not learn from it


_OUTCOME = np.dtype(list(zip(Outcome._fields, ("i8", "i4", "i4", "i4", "f8", "f8", "?"), strict=True)))


class Interval(NamedTuple):
    """An estimate with a 95 % interval, in the units of the rewards.

    >>> from coebl import Player
    >>> player = Player("ucb", actions=1, opponent_actions=1, horizon=9, payoff_range=(0, 1))
    >>> player.observe(action=0, opponent=0, reward=0.25)
    >>> value, low, high = player.value()
    >>> value, low, high
    (0.25, 0.0, 1.0)
    """

    value: float
    low: float
    high: float


class Records:
    """Outcomes of a contest of `actions` against `opponent_actions`.

    Outcomes that are not recent are kept only as sums, so that memory and files do not grow with the rounds.
    """

    def __init__(self, actions: int, opponent_actions: int) -> None:
        self.outcomes = 0  # so far
        self.mean_reward = 0.0
        self.least, self.largest = np.inf, -np.inf  # rewards
        self._recent = np.empty(16, _OUTCOME)  # a ring once it has KEPT entries
        shape = actions, opponent_actions
        self.visits = np.zeros(shape)
        self.means = np.zeros(shape)
        self._around = 0.0  # the sum of squared differences from the mean reward
        self._within = 0.0  # the same from the mean of the pair
        self._freedom = 0  # visits to pairs that had one already

    def add(self, outcome: Outcome) -> None:
        """Record an outcome. Without the opponent's action it is only in the history."""
        if self.outcomes == len(self._recent) < KEPT:
            self._recent = np.resize(self._recent, 2 * len(self._recent))
        self._recent[self.outcomes % KEPT] = outcome
        self.outcomes += 1
        surprise = outcome.reward - self.mean_reward
        self.mean_reward += surprise / self.outcomes
        self._around += surprise * (outcome.reward - self.mean_reward)
        self.least, self.largest = min(self.least, outcome.reward), max(self.largest, outcome.reward)
        opponent = 0 if self.visits.shape[1] == 1 else outcome.opponent
        if opponent == UNKNOWN:
            return
        pair = outcome.action, opponent
        self.visits[pair] += 1
        surprise = outcome.reward - self.means[pair]
        self.means[pair] += surprise / self.visits[pair]
        self._within += surprise * (outcome.reward - self.means[pair])
        self._freedom += int(self.visits[pair] > 1)

    def recent(self, most: int = KEPT) -> NDArray[Any]:
        """Return the last outcomes, at most so many, the oldest first."""
        first = max(0, self.outcomes - min(most, KEPT))
        return self._recent[np.arange(first, self.outcomes) % KEPT]

    def pooled(self) -> tuple[float, int]:
        """Return the deviation of rewards within pairs, taken as the same for all, and its degrees of freedom."""
        return (sqrt(self._within / self._freedom) if self._freedom else np.nan), self._freedom

    def deviation(self) -> float:
        """Return the standard deviation of all rewards."""
        return sqrt(self._around / self.outcomes) if self.outcomes else 0.0

    def bounds(self, payoff_range: tuple[float, float], together: bool) -> tuple[Floats, Floats]:
        """Return 95 % intervals of the payoffs, two (m, k); the range where a pair has none.

        They are Student's, with the pooled deviation, for each pair alone or all visited pairs together (Bonferroni).
        """
        from scipy.special import stdtrit

        deviation, freedom = self.pooled()
        low, high = (np.full(self.visits.shape, end) for end in payoff_range)
        if freedom:
            seen = self.visits > 0
            tail = (1 - _CONFIDENCE) / 2 / (seen.sum() if together else 1)
            half = float(stdtrit(freedom, 1 - tail)) * deviation / np.sqrt(self.visits[seen])
            low[seen], high[seen] = self.means[seen] - half, self.means[seen] + half
        return low, high

    def filled(self, payoff_range: tuple[float, float]) -> Floats:
        """Return the mean rewards of all pairs, (m, k); the middle of the range where there are none."""
        low, high = payoff_range
        return np.where(self.visits > 0, self.means, low / 2 + high / 2)

    def value(self, payoff_range: tuple[float, float]) -> Interval:
        """Return the value of the game by the estimates. The interval holds if all pairs' intervals do."""
        low, high = self.bounds(payoff_range, together=True)
        matrices = self.filled(payoff_range), low, high
        return Interval(*(float(solve_matrix(matrix).value) for matrix in matrices))

    def exploitability(self, policy: Floats, payoff_range: tuple[float, float]) -> Interval:
        """Return the value less what a policy, (m,), earns against the best response, by the estimates."""

        def short_of(value: float, matrix: Floats) -> float:
            return max(0.0, value - float((policy @ matrix).min()))

        value, (low, high) = self.value(payoff_range), self.bounds(payoff_range, together=True)
        return Interval(
            short_of(value.value, self.filled(payoff_range)), short_of(value.low, high), short_of(value.high, low)
        )

    def opponent_shares(self) -> tuple[Floats, Floats, Floats]:
        """Return how often the opponent played each action, its share of all, and of the recent outcomes: (k,) each."""
        k = self.visits.shape[1]
        recent = self.recent(RECENT)["opponent"]
        late = np.bincount(recent[recent != UNKNOWN], minlength=k)
        visits: Floats = self.visits.sum(axis=0)
        return visits, visits / max(1.0, visits.sum()), late / max(1, late.sum())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all that is recorded, for a file."""
        return {
            "history": self.recent(),
            "visits": self.visits,
            "means": self.means,
            "totals": np.array([getattr(self, name) for name in _TOTALS]),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from the arrays of equal records; raises a KeyError or ValueError if they are not that."""
        history = np.zeros(len(arrays["history"]), _OUTCOME)
        for name in _OUTCOME.names or ():
            history[name] = arrays["history"][name]
        outcomes = int(arrays["totals"][0])
        if len(history) != min(outcomes, KEPT):
            raise ValueError("its history does not have the length that it states")
        size = next(size for size in (2**power for power in range(4, 64)) if size >= len(history))
        self._recent = np.zeros(size, _OUTCOME)
        self._recent[np.arange(outcomes - len(history), outcomes) % KEPT] = history
        for name, total in zip(_TOTALS, arrays["totals"].tolist(), strict=False):
            setattr(self, name, total)
        self.outcomes, self._freedom = outcomes, int(self._freedom)
        for name, own in {"visits": self.visits, "means": self.means}.items():
            own[:] = arrays[name].reshape(own.shape)
        m, k = self.visits.shape
        limits = {"advised": (UNKNOWN, m), "action": (0, m), "opponent": (UNKNOWN, k if k > 1 else 2**31)}
        for name, (first, end) in limits.items():
            if not ((history[name] >= first) & (history[name] < end)).all():
                raise ValueError(f"its history has an impossible value of {name}")
        finite = np.concatenate([history["reward"], self.means.ravel(), [self.mean_reward]])
        sums = np.concatenate(
            [history["probability"], self.visits.ravel(), [self._around, self._within, self._freedom]]
        )
        if not ((np.abs(finite) < 1e61).all() and (sums >= 0).all() and (self.visits % 1 == 0).all()):
            raise ValueError("it has sums that no outcomes have")


def learn_units(records: Records, payoff_range: tuple[float, float] | None, noise: float | None) -> Units:
    """Return the units of the rewards; what is not given is estimated.

    The noise is the pooled deviation of the rewards of a pair of actions. Half the width of the range, the most that
    payoffs can deviate, counts as one degree of freedom: there is an estimate before any pair was visited twice.
    The range is that of all rewards so far, and its width is reduced by the share of the noise in their variance.

    >>> learn_units(Records(2, 2), None, None)  # before the first reward: any will do
    Units(payoff_range=(-1.0, 1.0), noise=1.0)
    """
    if payoff_range is None:
        payoff_range = _learn_range(records, noise)
    if noise is None:
        low, high = payoff_range
        half = high / 2 - low / 2
        deviation, freedom = records.pooled()
        variance = (half**2 + (freedom * deviation**2 if freedom else 0.0)) / (1 + freedom)
        noise = max(sqrt(variance), _FLOOR * half)
    return Units(payoff_range, noise)


def _learn_range(records: Records, noise: float | None) -> tuple[float, float]:
    if not records.outcomes:
        return -1.0, 1.0
    deviation, freedom = records.pooled()
    all_noise = deviation if noise is None else noise
    around, share = records.deviation(), 1.0
    if freedom and around and records.visits.shape[1] > 1:  # else the opponent's choices look like noise
        variance = 1 - (all_noise / around) ** 2 * freedom / (freedom + _SURE)
        share = sqrt(max(variance, _LEAST_SHARE**2))
    middle = records.mean_reward
    return middle + share * (records.least - middle), middle + share * (records.largest - middle)


def have_moved(units: Units, used: Units) -> bool:
    """Return True if units differ from those in use by so much that what was learned should be learned again."""
    (low, high), (used_low, used_high) = units.payoff_range, used.payoff_range
    if max(abs(low - used_low), abs(high - used_high)) > _RANGE_MOVED * max(high - low, used_high - used_low):
        return True
    least, largest = sorted((units.noise, used.noise))
    return largest > _NOISE_MOVED * least


class Labels(NamedTuple):
    """The labels of the actions of both sides; None where actions are only numbered."""

    own: Sequence[str] | None = None
    opponent: Sequence[str] | None = None

    def name(self, frame: polars.DataFrame) -> polars.DataFrame:
        """Replace numbers of actions by their labels."""
        pl = require("polars")
        sides = {"advised": self.own, "action": self.own, "opponent": self.opponent}
        names = {column: names for column, names in sides.items() if names is not None and column in frame.columns}
        return frame.with_columns(
            pl.col(column).replace_strict(list(range(len(names))), list(names), return_dtype=pl.String)
            for column, names in names.items()
        )


class Insight(Contestant):
    """The part of a player that reports on its records."""

    labels: Labels
    opponent_actions: int | None
    payoff_range: tuple[float, float] | None
    _records: Records

    @property
    def policy(self) -> Floats:
        """The mixed strategy of the current round: (actions,)."""
        raise NotImplementedError

    def estimates(self) -> polars.DataFrame:
        """Return what each pair of actions earned: visits, mean, and a 95 % interval of the mean, low to high.

        The interval is Student's, with one deviation for the rewards of all pairs. Mean and interval are null where
        there is none. It holds for a pair by itself, and for visits that were not chosen by what they earned.

        >>> from coebl import Player
        >>> player = Player("ucb", actions=["left", "right"], opponent_actions=1, horizon=9)
        >>> for reward in (1.0, 3.0):
        ...     player.observe(action="left", opponent=0, reward=reward)
        >>> player.estimates().row(0)
        ('left', 0, 2, 2.0, -10.706..., 14.706...)
        """
        with self._lock:
            records, (m, k) = self._records, self._records.visits.shape
            low, high = records.bounds(self._units.payoff_range, together=False)
            unseen = records.visits == 0
            unsure = unseen | (records.pooled()[1] == 0)
            columns = {
                "action": np.repeat(np.arange(m), k),
                "opponent": np.tile(np.arange(k), m),
                "visits": records.visits.ravel().astype(np.int64),
                "mean": np.where(unseen, np.nan, records.means).ravel(),
                "low": np.where(unsure, np.nan, low).ravel(),
                "high": np.where(unsure, np.nan, high).ravel(),
            }
            return self.labels.name(require("polars").DataFrame(columns, nan_to_null=True))

    def value(self) -> Interval:
        """Return the value of the game by the estimates, with a 95 % interval.

        The interval is between the values of the matrices of lower and of upper bounds, which hold for all pairs
        together (Bonferroni): it is wide, and covers the value at least that often. A pair without a visit has the
        middle of the payoff range in the estimate, and the whole range in the interval. If the range is learned, the
        interval is infinite until some pair was visited twice, and it may be too narrow while pairs have no visits.

        >>> from coebl import Player
        >>> player = Player("ucb", actions=1, opponent_actions=2, horizon=9, payoff_range=(-1, 1))
        >>> player.observe(action=0, opponent=1, reward=-0.5)
        >>> player.value()
        Interval(value=-0.5, low=-1.0, high=1.0)
        """
        self._need_opponent("value()")
        with self._lock:
            return self._with_interval(self._records.value(self._units.payoff_range))

    def exploitability(self) -> Interval:
        """Return what an opponent who knew the policy could take below the value, by the estimates, as for `value`.

        >>> from coebl import Player
        >>> player = Player("uniform", actions=2, opponent_actions=2)
        >>> for action in range(2):
        ...     for opponent in range(2):
        ...         player.observe(action=action, opponent=opponent, reward=[[1, 0.5], [0, 0]][action][opponent])
        >>> player.exploitability().value  # of (1/2, 1/2), where the first action is worth 0.5
        0.25
        """
        self._need_opponent("exploitability()")
        with self._lock:
            return self._with_interval(self._records.exploitability(self.policy, self._units.payoff_range))

    def _with_interval(self, number: Interval) -> Interval:
        """Return the number with an infinite interval as long as neither range nor noise is known."""
        known = self.payoff_range is not None or self._records.pooled()[1] > 0
        return number if known else Interval(number.value, -inf, inf)

    def history(self) -> polars.DataFrame:
        """Return the last outcomes, at most 4096, the oldest first.

        The columns are round, advised (null for a move that was made without asking), action, opponent (null if it was
        not reported), reward, probability (of the action, by the policy of the round), and learned (False if the
        learner could not learn from it).

        >>> from coebl import Player
        >>> player = Player("exp3", actions=["left", "right"], opponent_actions=2, seed=1)
        >>> player.observe(action="right", opponent=1, reward=0.5)
        >>> player.history().row(0)
        (1, None, 'right', 1, 0.5, 0.5, True)
        """
        with self._lock:
            pl, recent = require("polars"), self._records.recent()
            frame = pl.DataFrame({name: recent[name].copy() for name in recent.dtype.names or ()})
            named = ("advised", "action", "opponent")
            known = [pl.when(pl.col(name) != UNKNOWN).then(pl.col(name)).cast(pl.Int64).alias(name) for name in named]
            return self.labels.name(frame.with_columns(known))

    def opponent(self) -> polars.DataFrame:
        """Return how often the opponent played each action, its share of all outcomes, and of the 100 most recent.

        >>> from coebl import Player
        >>> player = Player("exp3", actions=2, opponent_actions=["high", "low"])
        >>> for action in ("high", "low", "high"):
        ...     player.observe(action=0, opponent=action, reward=0.5)
        >>> player.opponent().columns, player.opponent().row(1)[:2]
        (['opponent', 'visits', 'share', 'recent'], ('low', 1))
        """
        self._need_opponent("opponent()")
        with self._lock:
            visits, share, recent = self._records.opponent_shares()
            columns = {"opponent": np.arange(len(visits)), "visits": visits.astype(np.int64)}
            return self.labels.name(require("polars").DataFrame(columns | {"share": share, "recent": recent}))

    def _need_opponent(self, method: str) -> None:
        if self.opponent_actions is None:
            raise InputError(
                f"{method} needs the opponent's actions, and opponent_actions is None; pass opponent_actions= to "
                "Player, and opponent= to observe."
            )


class Ticket(int):
    """An advised action: its number, with the round, the policy and the label. Outcomes are reported with it.

    >>> from coebl import Player
    >>> ticket = Player("exp3", actions=["left", "right"], seed=1).ticket()
    >>> ticket, ticket.label, ticket.round, ticket.probability
    (<Ticket of round 1: action 1>, 'right', 1, 0.5)
    >>> ticket + 10
    11
    """

    def __new__(cls, action: int, round: int, policy: Floats, label: str | None = None) -> Ticket:
        ticket = super().__new__(cls, action)
        ticket.round, ticket.policy, ticket.label = round, policy, label
        policy.flags.writeable = False
        return ticket

    round: int
    """The round, from 1. It identifies the ticket among those of its player: `player.tickets[round]`."""
    policy: Floats
    """The mixed strategy that the action was drawn from: (actions,)."""
    label: str | None
    """The label of the action, if actions have labels."""

    @property
    def probability(self) -> float:
        """The probability with which the action was drawn."""
        return float(self.policy[self])

    def __getnewargs__(self) -> tuple[Any, ...]:
        return int(self), self.round, self.policy, self.label

    def __repr__(self) -> str:
        return f"<Ticket of round {self.round}: action {int(self)}>"

    __str__ = int.__repr__
