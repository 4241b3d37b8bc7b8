"""The convex problem of K-learning, solved for a batch by projected Newton steps, with a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from coebl.core.arrays import Booleans, Floats
from coebl.core.errors import SolveError
from coebl.learners.base import Seat

TOLERANCE = 1e-9  # of the certified gap, as a share of 1 + the largest absolute mean
_MOST_MEAN = 2.0**53  # beyond it, the prior, of order 1, is less than the rounding of a mean
_REFUSED = 1e-6  # a gap that is still above this share at the end is an error
_MOST_STEPS = 100
_MOST_HALVINGS = 40
_LEVELS = 20  # of variances, on the way from easy problems to hard ones
_ACTIVE = 1e-3  # an opponent's action lighter than this share of the heaviest may be held at 0


@dataclass(frozen=True, slots=True)
class Entropic:
    """A solution of (runs, m, k) problems."""

    strategy: Floats  # (runs, m), x
    value: Floats  # (runs,), an upper bound of the optimal value
    gap: Floats  # (runs,), the optimal value is at least value - gap


@dataclass(slots=True)
class _Point:
    """What is known at the point z."""

    z: Floats  # (runs, k)
    log_sum: Floats  # (runs,), g
    x: Floats  # (runs, m)
    slope: Floats  # (runs, m, k), the derivative of bracket i by z_j

    def take(self, kept: Booleans) -> _Point:
        """The runs that are kept."""
        return _Point(self.z[kept], self.log_sum[kept], self.x[kept], self.slope[kept])


class EntropicSolver:
    """Minimises tau log sum_i exp[sum_j mean_ij y_j/tau + sum_j y_j² variance_ij/(2 tau²)] over strategies y, tau > 0.

    With z = y/tau >= 0 the objective is the ratio g(z) / sum(z), where g is the log of the sum of exp of the brackets,
    a smooth and strictly convex function of k variables. Dinkelbach's method makes a sequence of convex problems of it:
    with lambda the ratio at the current z, a step that lowers g(z) - lambda sum(z) lowers the ratio. The step is
    Newton's, on the variables that are not held at 0 (Bertsekas 1982), halved until it descends. The error of lambda is
    of second order in that of z, so the whole converges quadratically: three or four steps from the last solution.

    tau needs no floor of its own: g grows as the square of z, since no variance is 0, so the minimum has tau > 0.

    Each solve starts from the last solution. The certificate does not depend on how z was found: the objective is
    convex and homogeneous of degree 1 in (y, tau), so it is at least its linear form at any point, min_j dg/dz_j + tau
    (g - z'dg/dz) for any tau >= 0, and the mean bracket bounds the best tau from above.
    """

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._z = seat.full(1.0 / seat.opponent_actions, seat.opponent_actions)  # (runs, k), the last solution

    def __call__(self, mean: Floats, variance: Floats) -> Entropic:
        """Solve for payoffs of these means and variances, each (runs, m, k)."""
        if self._seat.actions == 1:  # nothing to choose: the best tau is infinite, the least mean the infimum
            return Entropic(self._seat.full(1.0, 1), mean[:, 0].min(axis=-1), self._seat.zeros())
        scale = 1 + np.abs(mean).max(axis=-1).max(axis=-1)  # (runs,)
        if not (scale <= _MOST_MEAN).all():
            raise SolveError(
                f"k-learning: a payoff has a mean of {float(scale.max()):.1e}. Its prior expects payoffs of about 1; "
                "divide the payoffs by a constant."
            )
        self._z, solved = self._descend(self._z, mean, variance, scale)
        failed = solved.gap > TOLERANCE * scale
        if failed.any():
            self._z[failed], again = self._follow(mean[failed], variance[failed], scale[failed])
            solved.strategy[failed], solved.value[failed], solved.gap[failed] = again.strategy, again.value, again.gap
        if (solved.gap > _REFUSED * scale).any():
            raise SolveError(
                f"k-learning: a solve stopped {float(solved.gap.max()):.1e} from its minimum. Its prior expects "
                "payoffs of about 1; divide the payoffs by a constant."
            )
        return solved

    def _descend(self, z: Floats, mean: Floats, variance: Floats, scale: Floats) -> tuple[Floats, Entropic]:
        """Newton steps from z until every run is certified or cannot be improved: the last z, and the answers there."""
        point = _evaluate(z, mean, variance)
        gap = self._certificate(point, mean)
        last = z.copy()
        solved = Entropic(point.x.copy(), point.log_sum / z.sum(axis=-1), gap.copy())
        runs = np.cumsum(0 * gap.astype(np.int64) + 1) - 1  # 0, 1, 2, ..., those that are not solved
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
            gap = np.where(moved, gap, 0.0)  # a run that cannot be improved is left as it is
        return last, solved

    def _follow(self, mean: Floats, variance: Floats, scale: Floats) -> tuple[Floats, Entropic]:
        """The slow way, from scratch: variances as large as the means make it easy, and shrink step by step."""
        z = 0 * mean[:, 0] + 1 / (mean.shape[-1] * scale[:, None])
        for level in range(_LEVELS + 1):
            factor = scale ** (2 - 2 * level / _LEVELS)
            z, solved = self._descend(z, mean, variance * factor[:, None, None], scale)
        return z, solved

    def _gradient(self, point: _Point) -> Floats:
        return self._seat.einsum("rm,rmk->rk", point.x, point.slope)

    def _certificate(self, point: _Point, mean: Floats) -> Floats:
        """How far the value at a point is above the optimal value, at most: (runs,)."""
        gradient = self._gradient(point)
        value = point.log_sum / point.z.sum(axis=-1)
        in_tau = point.log_sum - (gradient * point.z).sum(axis=-1)  # the derivative of the objective by tau
        actions = point.x.shape[-1]
        # The objective is at least tau log m + the mean of the brackets, which bounds the best tau.
        largest_tau = (value - mean.mean(axis=1).min(axis=-1)) / log(actions)
        gap: Floats = value - gradient.min(axis=-1) + np.maximum(-in_tau, 0) * largest_tau
        return gap

    def _step(self, point: _Point, mean: Floats, variance: Floats) -> tuple[_Point, Booleans]:
        """One projected Newton step of Dinkelbach's problem, and which runs it moved."""
        z = point.z
        ratio = point.log_sum / z.sum(axis=-1)  # lambda
        gradient = self._gradient(point) - ratio[:, None]
        free = (z > _ACTIVE * z.max(axis=-1, keepdims=True)) | (gradient < 0)  # (runs, k)
        direction = self._newton(point, variance, gradient, free)
        rounding = 1e-15 * (1 + np.abs(point.log_sum))  # of changes: near the minimum, only the gradient says which way
        length = 0 * ratio + 1.0  # (runs,)
        best, moved = point, length < 0
        for _ in range(_MOST_HALVINGS):
            tried = _evaluate(np.maximum(z + length[:, None] * direction, 0), mean, variance)
            change = (tried.log_sum - point.log_sum) - ratio * (tried.z - z).sum(axis=-1)
            promised = (gradient * (tried.z - z)).sum(axis=-1)  # negative
            good = ~moved & (change <= 1e-4 * promised + rounding) & (promised < 0)
            best = _choose(good, tried, best)
            moved = moved | good
            if moved.all():
                break
            length = np.where(moved, length, 0.5 * length)
        return best, moved

    def _newton(self, point: _Point, variance: Floats, gradient: Floats, free: Booleans) -> Floats:
        """Newton's direction in the free variables; the steepest descent, well scaled, in the others: (runs, k)."""
        curvature = self._seat.einsum("rm,rmk->rk", point.x, variance)  # (runs, k), positive
        centred = point.slope - self._gradient(point)[:, None, :]
        root = np.sqrt(point.x)[:, :, None] * centred  # (runs, m, k)
        # One product per run: the rounding of a stack of products does not depend on how many there are.
        hessian: Floats = np.matmul(root.swapaxes(1, 2), root)
        hessian = np.where(free[:, :, None] & free[:, None, :], hessian, 0.0)
        diagonal = list(range(hessian.shape[-1]))
        hessian[:, diagonal, diagonal] += curvature
        step = np.linalg.solve(hessian, -gradient[:, :, None])[:, :, 0]
        return step.astype(np.float64, copy=False)


def _evaluate(z: Floats, mean: Floats, variance: Floats) -> _Point:
    spread = variance * z[:, None, :]
    bracket = ((mean + 0.5 * spread) * z[:, None, :]).sum(axis=-1)  # (runs, m)
    largest = bracket.max(axis=-1, keepdims=True)
    weights = np.exp(bracket - largest)
    total = weights.sum(axis=-1, keepdims=True)
    return _Point(z, (largest + np.log(total))[:, 0], weights / total, mean + spread)


def _choose(good: Booleans, new: _Point, old: _Point) -> _Point:
    """The new point in the runs where it is good, the old elsewhere."""
    return _Point(
        np.where(good[:, None], new.z, old.z),
        np.where(good, new.log_sum, old.log_sum),
        np.where(good[:, None], new.x, old.x),
        np.where(good[:, None, None], new.slope, old.slope),
    )
