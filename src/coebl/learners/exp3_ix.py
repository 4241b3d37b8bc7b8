"""The Exp3-IX variant of Cai, Luo, Wei and Zheng (2023, Algorithm 1): regularised mirror descent, own reward alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.learners.base import Learner, Seat, Seen
from coebl.learners.parts.responses import exponential_weights
from coebl.learners.parts.simplex import project_kl


@dataclass
class Exp3Ix(Learner):
    """The Exp3-IX variant of Cai, Luo, Wei and Zheng (2023, Algorithm 1).

    In its source the player minimises a loss in [0, 1]; here that is (hi - r) / (hi - lo), not clipped, so noise may
    take it outside. x_{t+1} is chosen from the set of round t, as in the COEBL paper: x_2 is uniform too.
    The source proves that the duality gap of the last iterate falls as t^(-1/8) in self-play; a bound on the
    regret against any opponent is not stated for these rates.

        x uniform
        each round t, with eta = t^(-5/8), beta = t^(-3/8), epsilon = t^(-1/8):
          play a ~ x; sigma = (hi - reward) / (hi - lo)
          g_b = 1{b = a} sigma / (x_b + beta) + epsilon ln x_b, for every b
          x = argmin of x'g + KL(x, old x) / eta over {x : x_b >= 1 / (m t²)}
    """

    name = "exp3-ix"
    title = "Exp3-IX"
    colour = 3
    cites = (
        "Cai, Luo, Wei and Zheng (2023). Uncoupled and convergent learning in two-player zero-sum Markov games "
        "with bandit feedback. NeurIPS."
    )

    def start(self, seat: Seat) -> None:
        """x_1 is uniform."""
        self.seat = seat
        self.current = seat.full(1 / seat.actions, seat.actions)  # (runs, m), x_t

    def policy(self, t: int) -> Floats:
        """The policy x_t, as the last step left it."""
        return self.current

    def observe(self, t: int, seen: Seen) -> None:
        """Step to x_{t+1} against the loss sigma."""
        sigma = self.seat.unit_loss(seen.reward)
        self.current = descend(self.current, self.seat.at(seen.action), sigma, t)


def descend(policy: Floats, drawn: tuple[Ints, ...], loss: Floats, t: int) -> Floats:
    """x_{t+1} = argmin of x'g + KL(x, x_t) / eta over {x : x_a >= 1/(m t²)}: (runs, m), from x_t of the same shape.

    The minimum without the bounds is x_t exp(-eta g), up to scale; with them, its KL projection. `drawn` is the index
    of the action that each run has drawn.
    """
    m = policy.shape[-1]
    eta, beta, epsilon = t ** (-5 / 8), t ** (-3 / 8), t ** (-1 / 8)
    log_policy = np.log(policy)  # finite: every entry is at least 1/(m t²)
    gradient = epsilon * log_policy
    gradient[drawn] += loss / (policy[drawn] + beta)  # g_a = 1{a drawn} sigma / (x_a + beta) + epsilon ln x_a
    return project_kl(exponential_weights(log_policy - eta * gradient), 1 / (m * t**2))
