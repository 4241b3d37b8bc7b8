"""Reports on a player: its estimates, in the units of its rewards, for any learner."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from coebl.core.arrays import Booleans, Floats
from coebl.core.errors import InputError
from coebl.core.modules import require
from coebl.engine.records import UNKNOWN, Interval, Labels, Records, Ticket
from coebl.engine.units import Units

if TYPE_CHECKING:
    import polars


class Insight:
    """The part of a player that reports on its records."""

    labels: Labels
    opponent_actions: int | None
    payoff_range: tuple[float, float] | None
    _units: Units
    _records: Records
    _lock: threading.RLock

    @property
    def policy(self) -> Floats:
        """The mixed strategy of the current round: (actions,)."""
        raise NotImplementedError

    @property
    def tickets(self) -> Mapping[int, Ticket]:
        """The open tickets by their rounds."""
        raise NotImplementedError

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings so far."""
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
                "mean": _with_nulls(records.means, unseen),
                "low": _with_nulls(low, unsure),
                "high": _with_nulls(high, unsure),
            }
            return self.labels.name(require("polars").DataFrame(columns))

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

    def _repr_html_(self) -> str:
        from coebl.report.notebook import render_player

        with self._lock:
            known = self.opponent_actions is not None
            return render_player(
                repr(self),
                self.labels,
                self.policy,
                self._records,
                self._units.payoff_range,
                {"value": self.value(), "exploitability": self.exploitability()} if known else {},
                len(self.tickets),
                self.warnings,
            )


def _with_nulls(values: Floats, null: Booleans) -> list[float | None]:
    pairs = zip(values.ravel().tolist(), null.ravel().tolist(), strict=True)
    return [None if missing else value for value, missing in pairs]
