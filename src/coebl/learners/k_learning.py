"""K-learning for matrix games (O'Donoghue, Lattimore and Osband 2021), and the solver of its convex problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from coebl.backend import exp, log
from coebl.core.arrays import Booleans, Floats
from coebl.core.errors import SolveError
from coebl.learners.base import Seat, Seen
from coebl.learners.parts import BeliefLearner, Posterior

TOLERANCE = 1e-9  # the largest certified gap, as a share of 1 + the largest absolute mean
_MOST_MEAN = 2.0**53  # the rounding of larger means would exceed the prior
_REJECTED = 1e-6  # a remaining gap above this share is an error
_MOST_STEPS = 100
_MOST_HALVINGS = 40
_LEVELS = 20  # the steps of the variances from an easy problem to the given one
_ACTIVE = 1e-3  # an opponent's action with less than this share of the largest weight may be held at 0


class KLearning(BeliefLearner):
    """K-learning for matrix games (O'Donoghue, Lattimore and Osband 2021).

    The payoffs are independent ~ N(0, 1) a priori. Each round it minimises a function of the opponent's mixture y and
    a temperature tau > 0. Its regret is at most 2 sqrt(m k T log m (1 + log T)) on average over games from the
    prior, not in every game.

        each round, with the posterior N(mean_ij, variance_ij):
          phi_i(y, tau) = sum_j mean_ij y_j / tau + sum_j y_j² variance_ij / (2 tau²)
          y, tau = argmin of tau log sum_i exp(phi_i(y, tau))
          play i ~ softmax(phi(y, tau)); see j; the posterior of (i, j) learns from the reward
    """

    name = "k-learning"
    aim = "security"
    title = "K-learning"
    cites = "O'Donoghue, Lattimore and Osband (2021). Matrix games with bandit feedback. UAI."

    def start(self, seat: Seat) -> None:
        self.posterior = Posterior(seat, self.forgetting)
        self.solve = EntropicSolver(seat)

    def policy(self, t: int) -> Floats:
        return self.solve(self.posterior.mean, 1 / (self.posterior.count + 1)).strategy

    def observe(self, t: int, seen: Seen) -> None:
        self.posterior.add(seen.action, seen.opponent, seen.reward)

    def cost(self, actions: int, opponent_actions: int) -> float:
        newton_steps = 30 + 0.005 * actions * opponent_actions**2
        return super().cost(actions, opponent_actions) + newton_steps


@dataclass(frozen=True, slots=True)
class Entropic:
    """A solution of (runs, m, k) problems."""

    strategy: Floats  # (runs, m), x
    value: Floats  # (runs,), an upper bound on the optimal value
    gap: Floats  # (runs,), the optimal value is at least value - gap


class _Point(NamedTuple):
    """A point z, with g and its derivatives there."""

    z: Floats  # (runs, k)
    log_sum: Floats  # (runs,), g
    x: Floats  # (runs, m)
    slope: Floats  # (runs, m, k), the derivative of bracket i with respect to z_j
    gradient: Floats  # (runs, k), of g

    def take(self, kept: Booleans) -> _Point:
        """Return the point in the kept runs."""
        return _Point(*(part[kept] for part in self))


class EntropicSolver:
    """Minimises tau log sum_i exp[sum_j mean_ij y_j/tau + sum_j y_j² variance_ij/(2 tau²)] over strategies y, tau > 0.

    With z = y/tau >= 0 the objective is the ratio g(z) / sum(z), where g is the log of the sum of exp of the brackets,
    a smooth and strictly convex function of k variables, which grows as the square of z. By Dinkelbach's method, a step
    that lowers g(z) - lambda sum(z), with lambda the ratio at the current z, lowers the ratio. The step is Newton's, on
    the variables that are not held at 0 (Bertsekas 1982), halved until it descends. The error of lambda is of second
    order in that of z, so convergence is quadratic: three or four steps from the last solution, where a solve starts.

    The certificate does not depend on how z was found: the objective is convex and homogeneous of degree 1 in (y, tau),
    so it is bounded below by its linear form at any point, min_j dg/dz_j + tau (g - z'dg/dz) for any tau >= 0, and the
    mean bracket bounds the best tau from above.
    """

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._z = seat.full(1.0 / seat.opponent_actions, seat.opponent_actions)  # (runs, k), the last solution

    def __call__(self, mean: Floats, variance: Floats) -> Entropic:
        """Solve for payoffs with these means and variances, each (runs, m, k)."""
        if self._seat.actions == 1:  # the best tau is infinite, and the infimum is the least mean
            return Entropic(self._seat.full(1.0, 1), mean[:, 0].min(axis=-1), self._seat.zeros())
        scale = 1 + np.abs(mean).max(axis=-1).max(axis=-1)  # (runs,)
        if not (scale <= _MOST_MEAN).all():
            raise SolveError(
                f"k-learning: a payoff has a mean of {float(scale.max()):.1e} times the noise's deviation; correct the "
                "noise, or the payoff range."
            )
        self._z, solved = self._descend(self._z, mean, variance, scale)
        failed = solved.gap > TOLERANCE * scale
        if failed.any():
            self._z[failed], again = self._follow(mean[failed], variance[failed], scale[failed])
            solved.strategy[failed], solved.value[failed], solved.gap[failed] = again.strategy, again.value, again.gap
        if (solved.gap > _REJECTED * scale).any():
            raise SolveError(
                f"k-learning: a solve stopped {float(solved.gap.max()):.1e} from its minimum, with means up to "
                f"{float(scale.max()):.1e} times the noise's deviation; correct the noise, or the payoff range."
            )
        return solved

    def _descend(self, z: Floats, mean: Floats, variance: Floats, scale: Floats) -> tuple[Floats, Entropic]:
        """Take Newton steps from z until every run is certified or cannot be improved; return z and the solutions."""
        point = self._evaluate(z, mean, variance)
        gap = self._certificate(point, mean)
        last = z.copy()
        solved = Entropic(point.x.copy(), point.log_sum / z.sum(axis=-1), gap.copy())
        runs = self._seat.arange(len(z))  # the indices of the unsolved runs
        for _ in range(_MOST_STEPS):
            kept = gap > TOLERANCE * scale[runs]
            if not kept.any():
                break
            if not kept.all():
                runs, point, mean, variance = runs[kept], point.take(kept), mean[kept], variance[kept]
            point, moved = self._step(point, mean, variance)
            gap = self._certificate(point, mean)
            last[runs], solved.strategy[runs], solved.gap[runs] = point.z, point.x, gap
            solved.value[runs] = point.log_sum / point.z.sum(axis=-1)
            gap = np.where(moved, gap, 0.0)  # a run that cannot be improved is not tried again
        return last, solved

    def _follow(self, mean: Floats, variance: Floats, scale: Floats) -> tuple[Floats, Entropic]:
        """Solve slowly and from scratch, with variances that start at the size of the means and shrink."""
        z = 0 * mean[:, 0] + 1 / (mean.shape[-1] * scale[:, None])
        for level in range(_LEVELS + 1):
            factor = exp((2 - 2 * level / _LEVELS) * log(scale))  # a power of the scale
            z, solved = self._descend(z, mean, variance * factor[:, None, None], scale)
        return z, solved

    def _evaluate(self, z: Floats, mean: Floats, variance: Floats) -> _Point:
        spread = variance * z[:, None, :]
        bracket = ((mean + 0.5 * spread) * z[:, None, :]).sum(axis=-1)  # (runs, m)
        largest = bracket.max(axis=-1, keepdims=True)
        weights = exp(bracket - largest)
        total = weights.sum(axis=-1, keepdims=True)
        x, slope = weights / total, mean + spread
        return _Point(z, (largest + log(total))[:, 0], x, slope, self._seat.einsum("rm,rmk->rk", x, slope))

    def _certificate(self, point: _Point, mean: Floats) -> Floats:
        """Return an upper bound on the value at a point minus the optimal value: (runs,)."""
        value = point.log_sum / point.z.sum(axis=-1)
        in_tau = point.log_sum - (point.gradient * point.z).sum(axis=-1)  # the objective's derivative in tau
        actions = point.x.shape[-1]
        # The objective is at least tau log m + the mean of the brackets, which bounds the best tau.
        largest_tau = (value - mean.mean(axis=1).min(axis=-1)) / log(actions)
        return value - point.gradient.min(axis=-1) + np.maximum(-in_tau, 0) * largest_tau

    def _step(self, point: _Point, mean: Floats, variance: Floats) -> tuple[_Point, Booleans]:
        """Take a projected Newton step of Dinkelbach's problem; return the new point and a mask of moved runs."""
        z = point.z
        ratio = point.log_sum / z.sum(axis=-1)  # lambda
        gradient = point.gradient - ratio[:, None]
        free = (z > _ACTIVE * z.max(axis=-1, keepdims=True)) | (gradient < 0)  # (runs, k)
        direction = self._newton(point, variance, gradient, free)
        rounding = 1e-15 * (1 + np.abs(point.log_sum))  # in the change, which is even smaller near the minimum
        length = 0 * ratio + 1.0  # (runs,)
        moved = length < 0
        for _ in range(_MOST_HALVINGS):
            tried = self._evaluate(np.maximum(z + length[:, None] * direction, 0), mean, variance)
            change = (tried.log_sum - point.log_sum) - ratio * (tried.z - z).sum(axis=-1)
            promised = (gradient * (tried.z - z)).sum(axis=-1)  # negative
            good = ~moved & (change <= 1e-4 * promised + rounding) & (promised < 0)
            moved = moved | good
            if moved.all():
                return tried, moved
            length = np.where(moved, length, 0.5 * length)  # a run that has moved is tried at the same point again
        return _choose(moved, tried, point), moved

    def _newton(self, point: _Point, variance: Floats, gradient: Floats, free: Booleans) -> Floats:
        """Return Newton's direction in the free variables, scaled steepest descent in the others: (runs, k)."""
        curvature = self._seat.einsum("rm,rmk->rk", point.x, variance)  # (runs, k), positive
        root = np.sqrt(point.x)[:, :, None] * (point.slope - point.gradient[:, None, :])  # (runs, m, k)
        hessian: Floats = self._seat.backend.gram(root)
        hessian = np.where(free[:, :, None] & free[:, None, :], hessian, 0.0)
        diagonal = list(range(hessian.shape[-1]))
        hessian[:, diagonal, diagonal] += curvature
        return self._seat.backend.solve_positive(hessian, -gradient)


def _choose(good: Booleans, new: _Point, old: _Point) -> _Point:
    """Return the new point in the runs where it is good, and the old point elsewhere."""
    pairs = zip(new, old, strict=True)
    return _Point(*(np.where(good.reshape((-1,) + (1,) * (part.ndim - 1)), part, other) for part, other in pairs))
