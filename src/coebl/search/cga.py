"""The competitive compact genetic algorithm: a vector of marginals for each side."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Annotated

import numpy as np

from coebl.backend import log
from coebl.core.arrays import Floats
from coebl.core.specs import Range
from coebl.learners.base import Seat
from coebl.search.base import Genomes, Search


@dataclass
class Cga(Search):
    """Competitive cGA: marginals for both sides, moved towards the better of two samples.

    An iteration takes 4 queries. Of n bits, K = scale sqrt(n) ln n, the size of the population that the marginals
    stand for (Harik, Lobo and Goldberg 1999).

        p_i = q_i = 1/2
        each iteration: draw x1, x2 from p and y1, y2 from q
          f(x) = g(x, y1) + g(x, y2);  h(y) = g(x1, y) + g(x2, y)
          of x1 and x2, let x be the one of larger f, x' the other: p += (x - x') / K; no change if they are equal
          of y1 and y2, let y be the one of smaller h, y' the other: q += (y - y') / K, likewise
          keep p and q in [0, 1]

    Args:
        scale: K is this number times sqrt(n) ln n.
    """

    name = "cga"
    title = "Competitive cGA"
    cites = "Harik, Lobo and Goldberg (1999). The compact genetic algorithm. IEEE Trans. Evol. Comp. 3."

    scale: Annotated[float, Range(0, open_low=True)] = 4.0

    def start(self, seat: Seat) -> None:
        """Begin with fair coins."""
        self.seat = seat
        self.p = seat.full(0.5, seat.actions)  # (runs, n)
        self.q = seat.full(0.5, seat.opponent_actions)  # (runs, m)

    def ask(self) -> tuple[Genomes, Genomes]:
        """Return every pair of the two x and the two y."""
        x = (self.seat.random.uniform(2, self.seat.actions) < self.p[:, None]).astype(np.int8)
        y = (self.seat.random.uniform(2, self.seat.opponent_actions) < self.q[:, None]).astype(np.int8)
        self.x, self.y = x, y  # (runs, 2, n) and (runs, 2, m)
        return np.repeat(x, 2, axis=1), np.tile(y, (1, 2, 1))

    def tell(self, values: Floats) -> None:
        """Move the marginals towards the winners."""
        payoff = values.reshape(-1, 2, 2)  # (runs, x, y)
        self.p = self._moved(self.p, self.x, payoff.sum(axis=2))
        self.q = self._moved(self.q, self.y, -payoff.sum(axis=1))

    def _moved(self, marginals: Floats, samples: Genomes, gain: Floats) -> Floats:
        bits = marginals.shape[1]
        step = 1 / max(1.0, self.scale * sqrt(bits) * log(bits))
        first, second = samples.astype(np.float64).transpose(1, 0, 2)
        winner = np.sign(gain[:, :1] - gain[:, 1:])  # 1: the first; -1: the second; 0: neither
        moved: Floats = np.clip(marginals + step * winner * (first - second), 0, 1)
        return moved

    def recommend(self) -> tuple[Floats, Floats]:
        """Return the marginals."""
        return self.p, self.q

    def candidates(self) -> tuple[Genomes, Genomes]:
        """Return the samples of the last iteration."""
        return self.x, self.y
