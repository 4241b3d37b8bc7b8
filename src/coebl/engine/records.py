"""The records of a player: its tickets and outcomes, the estimates that follow, and the units of the rewards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coebl.core.arrays import Floats
from coebl.core.frames import pl
from coebl.engine.units import Units
from coebl.solver import solve_matrix

KEPT = 4096  # outcomes that are kept one by one; the sums per pair of actions include all
_RECENT = 100  # outcomes that count as recent
UNKNOWN = -1  # in place of an action that is not known
_CONFIDENCE = 0.95
_FLOOR = 0.1  # the least noise, as a share of half the width: with much less, learners would hardly explore
_LEAST_SHARE = 0.2  # the least share of the width of the rewards that is attributed to the payoffs
_SURE = 8  # degrees of freedom at which half the variance of the noise is subtracted
_RANGE_MOVED = 0.1  # share of the width by which an end has to move before the learner learns again
_NOISE_MOVED = 1.25  # likewise, the factor by which the noise has to change
_TOTALS = ("outcomes", "mean_reward", "least", "largest", "_around", "_within", "_freedom")  # over all outcomes


class RoundOutcome(NamedTuple):
    """The outcome of a round."""

    round: int
    advised: int  # UNKNOWN if no advice was asked for
    action: int  # the action that was played
    opponent: int  # UNKNOWN if it was not reported
    reward: float
    probability: float  # of the action, by the policy of the round
    learned: bool  # False if the learner could not learn from it


_OUTCOME = np.dtype(list(zip(RoundOutcome._fields, ("i8", "i4", "i4", "i4", "f8", "f8", "?"), strict=True)))


class Interval(NamedTuple):
    """An estimate with a 95 % interval, in the units of the rewards.

    >>> from coebl import Player
    >>> player = Player("ucb", actions=1, opponent_actions=1, horizon=9, payoff_range=(0, 1))
    >>> player.observe(action=0, opponent=0, reward=0.25)
    >>> value, low, high = player.value()
    """

    value: float
    low: float
    high: float


class Records:
    """The outcomes of a contest. Older ones are kept only as sums, so that memory and files stay small."""

    def __init__(self, actions: int, opponent_actions: int) -> None:
        self.outcomes = 0  # so far
        self.mean_reward = 0.0
        self.least, self.largest = np.inf, -np.inf  # rewards
        self._recent = np.empty(16, _OUTCOME)  # a ring once it has KEPT entries
        self.visits, self.means = np.zeros((2, actions, opponent_actions))
        self._around = 0.0  # the sum of squared differences from the mean reward
        self._within = 0.0  # the same from the mean of the pair
        self._freedom = 0  # visits to pairs that had been visited before

    def add(self, outcome: RoundOutcome) -> None:
        """Record an outcome. Without the opponent's action, it does not count for any pair of actions."""
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
        """Return the last outcomes, at most `most`, the oldest first."""
        first = max(0, self.outcomes - min(most, KEPT))
        return self._recent[np.arange(first, self.outcomes) % KEPT]

    def pooled(self) -> tuple[float, int]:
        """Return the deviation of rewards within pairs, taken as the same for all, and its degrees of freedom."""
        return (sqrt(self._within / self._freedom) if self._freedom else np.nan), self._freedom

    def deviation(self) -> float:
        """Return the standard deviation of all rewards."""
        return sqrt(self._around / self.outcomes) if self.outcomes else 0.0

    def bounds(self, payoff_range: tuple[float, float], together: bool) -> tuple[Floats, Floats]:
        """Return the ends of 95 % intervals of the payoffs, (m, k) each; where a pair has none, those of the range.

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
        """Return the estimated value of the game. The interval holds if the intervals of all pairs do."""
        matrices = self.filled(payoff_range), *self.bounds(payoff_range, together=True)
        return Interval(*(float(solve_matrix(matrix).value) for matrix in matrices))

    def exploitability(self, policy: Floats, payoff_range: tuple[float, float]) -> Interval:
        """Return the estimated value minus the payoff of a policy, (m,), against its best response."""
        low, high = self.bounds(payoff_range, together=True)
        matrices = self.filled(payoff_range), high, low  # the loss is least where the policy earns most
        pairs = zip(self.value(payoff_range), matrices, strict=True)
        return Interval(*(max(0.0, value - float((policy @ matrix).min())) for value, matrix in pairs))

    def opponent_shares(self) -> tuple[Floats, Floats, Floats]:
        """Return the visits of the opponent's actions, and their shares of all and of recent outcomes: (k,) each."""
        k = self.visits.shape[1]
        recent = self.recent(_RECENT)["opponent"]
        late = np.bincount(recent[recent != UNKNOWN], minlength=k)
        visits: Floats = self.visits.sum(axis=0)
        return visits, visits / max(1.0, visits.sum()), late / max(1, late.sum())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all records as arrays, for a file."""
        totals = np.array([getattr(self, name) for name in _TOTALS])
        return {"history": self.recent(), "visits": self.visits, "means": self.means, "totals": totals}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from the arrays of equal records; raise an error if they do not fit."""
        history = arrays["history"][list(RoundOutcome._fields)].astype(_OUTCOME)
        outcomes = int(arrays["totals"][0])
        if len(history) != min(outcomes, KEPT):
            raise ValueError("the length of its history does not fit its number of outcomes")
        self._recent = np.zeros(max(16, 1 << (len(history) - 1).bit_length()), _OUTCOME)  # a power of two
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
        ends = [self.least, self.largest] if outcomes else []
        finite = np.concatenate([history["reward"], self.means.ravel(), [self.mean_reward], ends])
        sums = np.concatenate(
            [history["probability"], self.visits.ravel(), [self._around, self._within, self._freedom]]
        )
        if not ((np.abs(finite) < 1e61).all() and (sums >= 0).all() and (self.visits % 1 == 0).all()):
            raise ValueError("it has impossible sums")


def learn_units(records: Records, payoff_range: tuple[float, float] | None, noise: float | None) -> Units:
    """Return the units of the rewards. A range or a noise that is not given is estimated.

    The noise is the pooled deviation of the rewards of a pair of actions. Half the width of the range, the most that
    payoffs can deviate, counts as one degree of freedom, so there is an estimate before any pair is visited twice.
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
    around, share = records.deviation(), 1.0
    if freedom and around and records.visits.shape[1] > 1:  # else the opponent's choices look like noise
        variance = 1 - ((deviation if noise is None else noise) / around) ** 2 * freedom / (freedom + _SURE)
        share = sqrt(max(variance, _LEAST_SHARE**2))
    middle = records.mean_reward
    return middle + share * (records.least - middle), middle + share * (records.largest - middle)


def have_moved(units: Units, used: Units) -> bool:
    """Return True if units differ so much from those in use that the learner should learn again."""
    (low, high), (used_low, used_high) = units.payoff_range, used.payoff_range
    if max(abs(low - used_low), abs(high - used_high)) > _RANGE_MOVED * max(high - low, used_high - used_low):
        return True
    least, largest = sorted((units.noise, used.noise))
    return largest > _NOISE_MOVED * least


class Labels(NamedTuple):
    """The labels of the actions of both sides; None where actions are only numbered."""

    own: Sequence[str] | None = None
    opponent: Sequence[str] | None = None

    def frame(self, columns: Mapping[str, NDArray[Any]]) -> pl.DataFrame:
        """Return a Polars frame in which actions have their labels; unknown actions and NaN are null."""
        frame = pl.DataFrame(dict(columns), nan_to_null=True)
        for column, labels in {"advised": self.own, "action": self.own, "opponent": self.opponent}.items():
            if column in columns:
                known: pl.Expr = pl.when(pl.col(column) != UNKNOWN).then(pl.col(column).cast(pl.Int64))
                if labels is not None:
                    known = known.replace_strict(list(range(len(labels))), list(labels), return_dtype=pl.String)
                frame = frame.with_columns(known.alias(column))
        return frame


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
