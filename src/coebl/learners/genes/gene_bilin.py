"""gene-bilin: a belief about the payoffs of pairs of genes, as Kin has one about rows and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.core.specs import Range
from coebl.learners.base import Learner, Seat, Seen

_MOST_GENES = 100  # the belief has (n + 1)^4 numbers
_STEPS = 60  # of the search for a saddle point


@dataclass
class GeneBilin(Learner):
    """Thompson sampling of a payoff that is linear in the genes of each player, [1, X]' C [1, Y].

    It sees the opponent's genome. It costs O(n^4) a round, so it is for up to about 50 genes.

        C has a normal prior: variance 1 for the constant, 0.5 / n for single genes, 1 / n² for pairs, times scale²
        each round: sample each entry of C, with `mutation` posterior deviations; X, Y in [-1, 1]^n
          60 extragradient steps of length 0.9 / ||C|| towards its saddle point, from that of the last round
          p += turnover ((X + 1) / 2 - p); play x ~ p; see r and the opponent's y
          update the posterior of C with r = [1, 2x - 1]' C [1, 2y - 1] + noise of deviation 1

    Args:
        mutation: the posterior deviations of the sample.
        turnover: the share of the played marginals that is replaced each round.
        scale: the deviation of payoffs that the prior expects, in units of the noise.
    """

    name = "gene-bilin"
    title = "Gene-bilin"
    sees = frozenset({"opponent"})
    plays = frozenset({"bits"})
    cites = "This library: docs/large-games.md."

    mutation: Annotated[float, Range(0)] = 0.3
    turnover: Annotated[float, Range(0, 1, open_low=True)] = 0.1
    scale: Annotated[float, Range(0, open_low=True)] = 1.0

    def reason_not_to_play(self, seat: Seat) -> str | None:
        """Return a reason also if there are too many genes."""
        reason = super().reason_not_to_play(seat)
        if reason is None and seat.actions > _MOST_GENES:
            return f"{self} keeps (n + 1)^4 numbers, and n is {seat.actions}; accepted: at most {_MOST_GENES} genes."
        return reason

    def start(self, seat: Seat) -> None:
        n, k = seat.actions, seat.opponent_actions
        self.seat = seat
        # Variances of the prior, (n + 1, k + 1): those of the constant, single genes and pairs.
        self.mean = seat.zeros(n + 1, k + 1)  # (runs, n + 1, k + 1), C
        prior = seat.full(1.0, n + 1, k + 1)
        prior[:, 1:, 0] = 0.5 / n
        prior[:, 0, 1:] = 0.5 / k
        prior[:, 1:, 1:] = 1 / (n * k)
        pairs = (n + 1) * (k + 1)
        self._diagonal = seat.arange(pairs)
        self.covariance = seat.zeros(pairs, pairs)  # (runs, pairs, pairs)
        self.covariance[:, self._diagonal, self._diagonal] = prior.reshape((seat.runs, pairs)) * self.scale**2
        self.current = seat.full(0.5, n)  # (runs, n), p
        self.own, self.other = seat.zeros(n), seat.zeros(k)  # (runs, n) and (runs, k), the saddle point
        self._probe = seat.full(1.0, k)  # (runs, k), of the norm

    def policy(self, t: int) -> Floats:
        variance = self.covariance[:, self._diagonal, self._diagonal].reshape(self.mean.shape)
        deviation = self.mutation * np.sqrt(np.maximum(variance, 0.0))
        sample = self.seat.random.normal(*self.mean.shape[1:], deviation=deviation, mean=self.mean)
        self._approach(sample)
        self.current = np.clip(self.current + self.turnover * ((self.own + 1) / 2 - self.current), 0.0, 1.0)
        return self.current

    def _approach(self, payoff: Floats) -> None:
        """Take extragradient steps towards the saddle point of a sample, (runs, n + 1, k + 1)."""
        einsum = self.seat.einsum
        single, against = payoff[:, 1:, 0], payoff[:, 0, 1:]
        pairs = np.ascontiguousarray(payoff[:, 1:, 1:], like=payoff)
        turned = np.ascontiguousarray(np.swapaxes(pairs, 1, 2), like=payoff)
        step = 0.9 / np.maximum(self._norm(pairs, turned), 1e-12)[:, None]
        own, other = self.own, self.other
        for _ in range(_STEPS):
            ahead = np.clip(own + step * (single + einsum("rij,rj->ri", pairs, other)), -1.0, 1.0)
            behind = np.clip(other - step * (against + einsum("rji,ri->rj", turned, own)), -1.0, 1.0)
            own = np.clip(own + step * (single + einsum("rij,rj->ri", pairs, behind)), -1.0, 1.0)
            other = np.clip(other - step * (against + einsum("rji,ri->rj", turned, ahead)), -1.0, 1.0)
        self.own, self.other = own, other

    def _norm(self, pairs: Floats, turned: Floats) -> Floats:
        """Return the largest singular values, (runs,), by power iteration from the last round's vector."""
        for _ in range(3):
            image = self.seat.einsum("rij,rj->ri", pairs, self._probe)
            probe = self.seat.einsum("rji,ri->rj", turned, image) + 1e-12
            self._probe = probe / np.sqrt((probe**2).sum(axis=-1))[:, None]
        image = self.seat.einsum("rij,rj->ri", pairs, self._probe)
        norm: Floats = np.sqrt((image**2).sum(axis=-1))
        return norm

    def observe(self, t: int, seen: Seen) -> None:
        einsum = self.seat.einsum
        features = (_signs(seen.action)[:, :, None] * _signs(seen.opponent)[:, None, :]).reshape((self.seat.runs, -1))
        gain = einsum("rij,rj->ri", self.covariance, features)
        predicted = (features * self.mean.reshape(features.shape)).sum(axis=-1)
        spread = 1 + (features * gain).sum(axis=-1)
        surprise = (seen.reward - predicted) / spread
        self.mean = self.mean + (gain * surprise[:, None]).reshape(self.mean.shape)
        self.covariance -= gain[:, :, None] * (gain / spread[:, None])[:, None, :]

    def cost(self, actions: int, opponent_actions: int) -> float:
        """Return the approximate microseconds of a round per run: the update of the covariance, and the steps."""
        pairs = (actions + 1) * (opponent_actions + 1)
        return 5.0 + 0.002 * pairs**2 + _STEPS * 4 * 0.001 * pairs


def _signs(genome: Ints) -> Floats:
    """Return [1, X] with X = 2x - 1, (runs, n + 1)."""
    signs = 2.0 * genome - 1
    return np.concatenate([np.ones_like(signs[:, :1]), signs], axis=1)
