"""Blum and Mansour's construction (2007): copies of a bandit, one per action, whose play has no swap regret."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from coebl.backend.streams import spread_out
from coebl.core.arrays import Floats
from coebl.learners.base import Learner, Random, Seat, Seen

_LEAK = 1e-100  # added to every probability, so that there is one stationary distribution


@dataclass
class BlumMansour(Learner):
    """A bandit without swap regret, made of m copies of a bandit without external regret (Blum and Mansour 2007).

    Copy i decides what to play instead of action i, and is charged the losses of the rounds in which i was advised. If
    all players have no swap regret, their joint play approaches the correlated equilibria of the game.

    Rewards are passed on as losses below the top of the known range, so that a copy that had no part in a round
    sees no loss. A copy takes part in one round of m on average, so its clock is t / m: with the rates of Exp3 for that
    many rounds the swap regret is at most of order m sqrt(T log m), as in Ito (2020), instead of m sqrt(m T log m).

        each round t:
          q_i = the policy of copy i in its round t / m, rounded up
          p = the policy with p_k = sum over i of p_i q_ik; play k ~ p
          let each copy i observe action k, of probability p_k, with the loss p_i (hi - reward)

    Args:
        learner: the bandit that is copied; it divides its rewards by the probability of the action, as exp3,
            exp3-ix and tsallis-inf do.
    """

    name = "blum-mansour"
    title = "Blum-Mansour"
    importance_weighted = True
    example = "blum-mansour:learner=exp3"
    cites = (
        "Blum and Mansour (2007). From external to internal regret. JMLR 8. The clock of the copies after Ito (2020). "
        "A tight lower bound and efficient reduction for swap regret. NeurIPS."
    )

    learner: Learner

    def reason_not_to_play(self, seat: Seat) -> str | None:
        """Return a reason also if the learner is not such a bandit, or cannot play."""
        reason = super().reason_not_to_play(seat)
        if reason is not None:
            return reason
        if self.learner.kind() != "bandit" or not self.learner.importance_weighted:
            return (
                f"blum-mansour: {self.learner} is not a bandit that divides by the probability of its action; pick "
                "another learner, such as exp3 or tsallis-inf."
            )
        return self.learner.reason_not_to_play(_of_copies(seat))

    def start(self, seat: Seat) -> None:
        self.seat = seat
        self.copies = self.learner.seated(_of_copies(seat))  # those of a run follow one another
        self.current = seat.full(1 / seat.actions, seat.actions)  # (runs, m), p

    def policy(self, t: int) -> Floats:
        m = self.seat.actions
        self.current = stationary(self.copies.policy(self._clock(t)).reshape((-1, m, m)))
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        m, (_, high) = self.seat.actions, self.seat.payoff_range
        loss = self.current * (high - seen.reward)[:, None]  # (runs, m), of each copy
        self.copies.observe(
            self._clock(t),
            replace(
                seen,
                action=np.repeat(seen.action, m),
                reward=high - loss.reshape((-1,)),
                shown_probability=np.repeat(seen.probability, m),
            ),
        )

    def _clock(self, t: int) -> int:
        return -(-t // self.seat.actions)

    def cost(self, actions: int, opponent_actions: int) -> float:
        """Return the approximate microseconds of a round per run: of m copies, and of m³ / 3 multiplications."""
        return actions * self.learner.cost(actions, opponent_actions) + 0.0005 * actions**3


def stationary(transition: Floats) -> Floats:
    """Return the p with p_k = sum over i of p_i q_ik: (runs, m) from the rows q_i, (runs, m, m).

    By the elimination of Grassmann, Taksar and Heyman (1985): states are removed one by one, and what led through a
    state leads around it. Nothing is ever subtracted, so that each p_k has a small relative error, however
    rare the state is. 1e-100 is added to each entry, which decides among several solutions and is lost to rounding
    otherwise.

    >>> stationary(np.array([[[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]])).round(6)
    array([[0.4, 0.4, 0.2]])
    """
    m = transition.shape[-1]
    q = transition + _LEAK
    for last in range(m - 1, 0, -1):
        leaving = q[:, last, :last].sum(axis=-1, keepdims=True)  # (runs, 1), from `last` to the states before it
        q[:, :last, last] /= leaving
        q[:, :last, :last] += q[:, :last, last, None] * q[:, last, None, :last]
    visits = np.ones_like(q[:, 0])  # (runs, m), relative to those of the first state
    for state in range(1, m):
        visits[:, state] = (visits[:, :state] * q[:, :state, state]).sum(axis=-1)
    policy: Floats = visits / visits.sum(axis=-1, keepdims=True)
    return policy


class _RandomOfCopies:
    """The random numbers of all copies, from the stream of their run."""

    def __init__(self, random: Random, copies: int) -> None:
        self._random, self._copies = random, copies

    def uniform(self, *shape: int) -> Floats:
        return self._random.uniform(self._copies, *shape).reshape((-1, *shape))

    def normal(self, *shape: int, deviation: Floats | None = None, mean: Floats | None = None) -> Floats:
        standard = self._random.normal(self._copies, *shape).reshape((-1, *shape))
        spread: Floats = spread_out(standard, deviation, mean)
        return spread


def _of_copies(seat: Seat) -> Seat:
    """Return the seat of the copies, which are m runs in place of one, of T / m rounds."""
    m = seat.actions
    horizon = None if seat.horizon is None else -(-seat.horizon // m)
    return replace(seat, runs=seat.runs * m, horizon=horizon, random=_RandomOfCopies(seat.random, m))
