"""Kin, co-evolution with inheritance: an unseen pair of actions is the offspring of its row and its column."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Annotated, Literal

import numpy as np

from coebl.backend import log, log1p
from coebl.core.arrays import Floats
from coebl.core.specs import Nonnegative, PositiveShare
from coebl.learners.base import Seat, Seen
from coebl.learners.evolution.breeding import Breeder
from coebl.learners.evolution.selection import renewed
from coebl.learners.evolution.variation import FromBoth, Inherited
from coebl.learners.parts import AssumedNoise, BeliefLearner, OwnShare, prior_variance


@dataclass
class Kin(BeliefLearner):
    """Kin, co-evolution with inheritance (of this project).

    A rarely visited pair of actions inherits the estimated effects of its row and its column. A regret bound is proven
    only for `optimism=proven` (docs/kin-bound.md): its bonus is much larger, ignores c and needs the horizon, and the
    inherited part is clipped to the known range.

    With a horizon T, kappa = (T - t + 1) / (m k) visits can still come to a pair, updated every max(1, T // 100)
    rounds. Without one, as many more rounds are expected as have begun, kappa = t / (m k), updated max(1, t // 100)
    rounds after the last update.

        in units of the noise, with v = own h² and w = (1 - own) h² / 2, h half the width of the payoff range:
        r (m), q (k): effects of rows and columns, 0 at first;  x uniform
        each round, with n_ij the visits of a pair and mean_ij its mean reward:
          g = 1 / (1 + n v);  nu = n + 1 / v;  kappa = the visits that can still come
          B = (1 - g) mean + g (r_i + q_j) + sqrt(c log(1 + kappa / nu) / nu) + mutation sqrt(v) g z,  z ~ N(0, 1)
          x = x + turnover (maximin(B) - x)
          play i ~ x; see j and the reward; update n_ij and mean_ij, then r_i and after it q_j:
          r_i = sum_j n_ij g_ij (mean_ij - q_j) / (sum_j n_ij g_ij + 1 / w), and q_j likewise over i
    """

    name = "kin"
    aim = "security"
    title = "Kin"
    colour = 4
    pair_cost = 0.006
    solve_cost = 0.0024
    cites = "The coebl project; not published elsewhere."

    c: Annotated[Nonnegative, "the amount of optimism"] = 4.0
    mutation: Annotated[Nonnegative, "the deviation of mutations, relative to that of the pair's own part"] = 0.5
    turnover: Annotated[PositiveShare, "the share of the policy that a round replaces"] = 0.1
    own: OwnShare = 0.5
    noise: AssumedNoise = 1.0
    optimism: Annotated[Literal["to-come", "proven"], "the bonus, by visits to come or by possible errors"] = "to-come"

    def reason_not_to_play(self, seat: Seat) -> str | None:
        if self.optimism == "proven" and seat.horizon is None:
            return f"{self} needs the number of rounds, but horizon is None; pass an approximate number."
        return super().reason_not_to_play(seat)

    def start(self, seat: Seat) -> None:
        self._prior = 1 / prior_variance(seat, self.own, self.noise)  # the number of visits that the prior is worth
        self._age(1)
        mutation = Inherited(self.mutation, self.own, self.noise)
        recombination = FromBoth(self.own, self.noise, clip=self.optimism == "proven")
        self._breeder = Breeder(seat, mutation, recombination, self._bonus, forgetting=self.forgetting)
        self._parents = self._breeder.first(1)
        self.current = seat.full(1 / seat.actions, seat.actions)  # (runs, m), x

    def policy(self, t: int) -> Floats:
        if t >= self._next_ageing:
            self._age(t)
            self._breeder.expect(self._bonus)
        self.current = renewed(self.current, self._breeder.breed(self._parents).policy[:, 0], self.turnover)
        return self.current

    def beliefs(self) -> tuple[Floats, Floats]:
        return self._breeder.means(), self._breeder.visits

    def observe(self, t: int, seen: Seen) -> None:
        self._breeder.add(seen)

    def _age(self, t: int) -> None:
        """Count the visits that can still come."""
        seat = self.seat
        rounds = t if seat.horizon is None else max(1, seat.horizon - t + 1)  # more than T rounds may be played
        self._to_come = rounds / (seat.actions * seat.opponent_actions)  # kappa
        self._next_ageing = t + max(1, (seat.horizon or t) // 100)

    def _bonus(self, count: Floats) -> Floats:
        if self.optimism == "to-come":
            visits = count + self._prior  # nu
            return self.noise * np.sqrt(self.c * log1p(self._to_come / visits) / visits)
        seat = self.seat
        assert seat.horizon is not None  # reason_not_to_play checks it
        L = _log_of_events(seat.actions, seat.opponent_actions, seat.horizon)
        widest = _widest_mistake(seat.half_width, self.own, self.mutation, L)
        # The share prior / (n + prior) of an estimate is inherited, with an error of at most `widest`; the rest is a
        # mean reward, with an error of at most sqrt(2 L noise² / n).
        return (np.sqrt(2 * L * self.noise * self.noise * count) + self._prior * widest) / (count + self._prior)

    @classmethod
    def regret_bound(
        cls, actions: int, opponent_actions: int, rounds: int, optimism: str = "to-come", turnover: float = 0.1
    ) -> float | None:
        """The bound of docs/kin-bound.md, for optimism=proven and otherwise default parameters.

        >>> round(Kin.regret_bound(2, 2, 10_000, optimism="proven"), 1)
        6264.6
        >>> Kin.regret_bound(2, 2, 10_000)
        """
        if optimism != "proven":
            return None
        h, pairs = 0.5, actions * opponent_actions
        own = cls.own * h**2
        L = _log_of_events(actions, opponent_actions, rounds)
        widest = _widest_mistake(h, cls.own, cls.mutation, L)
        largest = widest + h * sqrt(cls.own * L / 2)  # no bonus is larger
        learned = 4 * sqrt(2 * L * pairs * rounds)
        inherited = 2 * widest * pairs * (1 + log(1 + own * rounds / pairs) / own)
        delayed = 2 * (1 / turnover - 1) * (pairs * largest + h)
        return learned + inherited + delayed + 2 * h


def _widest_mistake(half_width: float, own: float, mutation: float, L: float) -> float:
    """Return h (2 + mutation sqrt(2 own L)), the largest error of a clipped inheritance with its mutation."""
    return half_width * (2 + mutation * sqrt(2 * own * L))


def _log_of_events(actions: int, opponent_actions: int, rounds: int) -> float:
    """Return L = log(4 T² m k): with probability 1 - 1/T, all 4 T m k deviations are small."""
    return log(4 * rounds**2 * actions * opponent_actions)
