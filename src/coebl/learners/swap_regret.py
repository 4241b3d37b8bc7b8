"""Bandits whose joint play approaches the correlated equilibria: Blum-Mansour and Hart-Mas-Colell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from coebl.backend import exp, log
from coebl.backend.streams import spread_out
from coebl.core.arrays import Floats
from coebl.core.specs import Positive, PositiveShare, Share
from coebl.learners.base import Learner, Random, Seat, Seen
from coebl.learners.parts import normalised

_LEAK = 1e-100  # added to every probability, so that the stationary distribution is unique


@dataclass
class BlumMansour(Learner):
    """A bandit without swap regret, made of m copies of a bandit without external regret (Blum and Mansour 2007).

    Copy i decides what to play instead of action i, and gets the share p_i of each loss, measured from the top of the
    known range. If no player has swap regret, their joint play approaches the correlated equilibria of the game.

    A copy takes part in one round of m on average, so its clock is t / m: with the rates of Exp3 for that many rounds
    the swap regret is at most of order m sqrt(T log m), as in Ito (2020), instead of m sqrt(m T log m).

        each round t:
          q_i = the policy of copy i in its round t / m, rounded up
          p = the policy with p_k = sum over i of p_i q_ik; play k ~ p
          let each copy i observe action k, of probability p_k, with the loss p_i (hi - reward)
    """

    name = "blum-mansour"
    title = "Blum-Mansour"
    importance_weighted = True
    example = "blum-mansour:learner=exp3"
    cites = (
        "Blum and Mansour (2007). From external to internal regret. JMLR 8. The clock of the copies after Ito (2020). "
        "A tight lower bound and efficient reduction for swap regret. NeurIPS."
    )

    learner: Annotated[Learner, "the bandit to copy, which divides by the probability of its action, such as exp3"]

    def reason_not_to_play(self, seat: Seat) -> str | None:
        if reason := super().reason_not_to_play(seat):
            return reason
        if self.learner.kind() != "bandit" or not self.learner.importance_weighted:
            return (
                f"blum-mansour: {self.learner} is not a bandit that divides by the probability of its action; pick "
                "another learner, such as exp3 or tsallis-inf."
            )
        return self.learner.reason_not_to_play(_of_copies(seat))

    def start(self, seat: Seat) -> None:
        self.copies = self.learner.seated(_of_copies(seat))  # the copies of a run are consecutive
        self.current = seat.full(1 / seat.actions, seat.actions)  # (runs, m), p

    def policy(self, t: int) -> Floats:
        m = self.seat.actions
        self.current = stationary(self.copies.policy(self._clock(t)).reshape((-1, m, m)))
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        m, (_, high) = self.seat.actions, self.seat.payoff_range
        loss = self.current * (high - seen.reward)[:, None]  # (runs, m), the loss of each copy
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
        return actions * self.learner.cost(actions, opponent_actions) + 0.0005 * actions**3


def stationary(transition: Floats) -> Floats:
    """Return the stationary p, with p_k = sum over i of p_i q_ik: (runs, m) from the rows q_i, (runs, m, m).

    This is the elimination of Grassmann, Taksar and Heyman (1985): states are removed one by one, and paths through a
    state are replaced by paths around it. Nothing is ever subtracted, so each p_k has a small relative error, however
    rare the state is.

    >>> stationary(np.array([[[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]])).round(6)
    array([[0.4, 0.4, 0.2]])
    """
    m = transition.shape[-1]
    q = transition + _LEAK
    for last in range(m - 1, 0, -1):
        leaving = q[:, last, :last].sum(axis=-1, keepdims=True)  # (runs, 1), from `last` to the states before it
        q[:, :last, last] /= leaving
        q[:, :last, :last] += q[:, :last, last, None] * q[:, last, None, :last]
    visits = np.ones_like(q[:, 0])  # (runs, m), relative to the first state
    for state in range(1, m):
        visits[:, state] = (visits[:, :state] * q[:, :state, state]).sum(axis=-1)
    return normalised(visits)


class _RandomOfCopies:
    """The random numbers of all copies, from the streams of their runs."""

    def __init__(self, random: Random, copies: int) -> None:
        self._random, self._copies = random, copies

    def uniform(self, *shape: int) -> Floats:
        return self._random.uniform(self._copies, *shape).reshape((-1, *shape))

    def normal(self, *shape: int, deviation: Floats | None = None, mean: Floats | None = None) -> Floats:
        standard = self._random.normal(self._copies, *shape).reshape((-1, *shape))
        return spread_out(standard, deviation, mean)


def _of_copies(seat: Seat) -> Seat:
    """Return the seat of the copies: m runs of T / m rounds for each run of the seat."""
    m = seat.actions
    horizon = None if seat.horizon is None else -(-seat.horizon // m)
    return replace(seat, runs=seat.runs * m, horizon=horizon, random=_RandomOfCopies(seat.random, m))


@dataclass
class HartMasColell(Learner):
    """Modified regret matching (Hart and Mas-Colell 2001), whose joint play approaches the correlated equilibria.

    It repeats its last action j, or leaves it for another action k with a probability proportional to the regret of not
    having played k whenever it played j. The payoff of k in those rounds is estimated from the rounds in which k was
    played, with importance weights. Rewards are mapped from the known range to [-1, 1], without clipping the noise.
    `regret-matching` is their procedure of 2000 for external regret, with full information.

        W_jk = 0 for every pair of its actions
        each round t, after the last action j, with mu = 2 inertia (m - 1) and delta = explore / t^decay:
          Q_k = max(0, W_jk - W_jj) / (t - 1)
          p_k = (1 - delta) min(Q_k / mu, 1 / (m - 1)) + delta / m for k other than j; p_j is the rest
          play k ~ p; W_ik += p_i / p_k times the reward from -1 to 1, for every i
    """

    name = "hart-mas-colell"
    title = "Hart-Mas-Colell"
    importance_weighted = True
    cites = (
        "Hart and Mas-Colell (2001). A reinforcement procedure leading to correlated equilibrium. In: Economics "
        "essays, a Festschrift for Werner Hildenbrand. Springer."
    )

    inertia: Annotated[Positive, "the preference for its last action; the theorem needs 1 or more"] = 1.0
    explore: Annotated[PositiveShare, "the share of exploration in the first round"] = 1.0
    decay: Annotated[Share, "the power of t with which exploration falls; the theorem needs less than 1/4"] = 0.24

    def start(self, seat: Seat) -> None:
        self.outcomes = 0
        self.last = seat.at(seat.zeros().astype(np.int64))  # the index of the last action, if there is one
        self.earned = seat.zeros(seat.actions, seat.actions)  # (runs, m, m), W
        self.current = seat.full(1 / seat.actions, seat.actions)  # (runs, m)

    def policy(self, t: int) -> Floats:
        m = self.seat.actions
        if self.outcomes and m > 1:
            delta = self.explore * exp(-self.decay * log(t))
            earned = self.earned[self.last]  # (runs, m)
            regret = np.maximum(0, earned - earned[self.last][:, None]) / self.outcomes
            move = np.minimum(regret / (2 * self.inertia * (m - 1)), 1 / (m - 1))  # 0 for the last action itself
            self.current = (1 - delta) * move + delta / m
            self.current[self.last] = 0
            self.current[self.last] = 1 - self.current.sum(axis=-1)
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        self.outcomes += 1
        self.last = self.seat.at(seen.action)
        weighted = (2 * self.seat.unit(seen.reward) - 1) / seen.probability
        self.earned[self.seat.at(slice(None), seen.action)] += self.current * weighted[:, None]
