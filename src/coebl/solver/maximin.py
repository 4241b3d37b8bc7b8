"""Maximin strategies of a batch of matrices, at full speed, each with its certificate."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coebl.core.errors import InputError, SolveError, shorten
from coebl.solver.highs import solve_with_highs
from coebl.solver.kernels import lockstep, simplex, tableau
from coebl.solver.kernels.simplex import MOST_GAP
from coebl.solver.kernels.vectors import BYTES, LANES

Floats = NDArray[np.float64]

_SMALL = 400  # entries up to which the lockstep kernel is the faster one
_SINGLE = 48  # actions of either player from which a single-precision tableau pays

_fallbacks = 0
_spare: list[_State] = []  # one, of an answer that nobody holds any more; rarely two, where threads meet
_MOST_SPARE = 32 * 2**20  # bytes of payoffs


@dataclass
class _State:
    """What a warm start needs: the tableaux, and how the payoffs inside them were scaled."""

    tableaux: tableau.States
    scale: Floats  # all zero: as good as new

    def fits(self, batch: Floats, precision: type[np.floating]) -> bool:
        """Whether it has the shape and the precision for these payoffs."""
        runs, m = self.tableaux.basic.shape
        n = self.tableaux.nonbasic.shape[1]
        return bool((runs, m, n) == batch.shape and self.tableaux.T.dtype == precision)


@dataclass(eq=False)
class BatchSolution:
    """The answers of `maximin`, runs on axis 0."""

    strategy: Floats  # (runs, m), attains max over x of min over y of x'By
    opponent: Floats  # (runs, n), the opponent's optimal strategy
    value: Floats  # (runs,)
    gap: Floats  # (runs,), max(By) - min(x'B), relative to the payoff range
    pivots: NDArray[np.int64]  # (runs,)
    fallbacks: int  # how many of the runs HiGHS had to solve
    _state: list[_State] = field(default_factory=list, repr=False, compare=False)  # empty once it has been used

    def __del__(self) -> None:
        """Leave the memory to the next solve: to fetch it anew from the system costs as much as a small solve."""
        if self._state and not _spare and self._state[0].tableaux.B.nbytes <= _MOST_SPARE:
            _spare.append(self._state.pop())


def fallback_count() -> int:
    """How many matrices this process has handed to HiGHS because the kernel could not certify its answer."""
    return _fallbacks


def maximin(
    payoffs: ArrayLike,
    *,
    ties: Literal["first", "random"] | Floats = "first",
    random: np.random.Generator | None = None,
    start: BatchSolution | None = None,
    tied: bool = False,
) -> BatchSolution:
    """Solve a batch of zero-sum games for the row player, who maximises.

    Args:
        payoffs: (runs, m, n), or (m, n) for a single run.
        ties: which of several optimal strategies to return. With ``"first"``, the one of least mean
            ``sqrt(index)``: it leans to the actions that come first, and on a constant matrix it is action 0.
            With ``"random"`` the indices are shuffled first, by ``random``, anew for every run. An array of
            shape (runs, m) gives the weights directly: the optimal strategy of least mean weight is returned.
        random: the generator that ``ties="random"`` draws from.
        start: an earlier answer, of the same shape. Where only a few entries of a matrix have changed since, the solve
            costs a small fraction; the answer obeys the same rules and certificate as without it. The earlier answer's
            memory is taken over.
        tied: say so if many entries are equal, as UCB's unvisited ones are. Large matrices are then solved in double
            precision from the outset, which such ties need; it changes the time taken, not what is accepted.

    Returns:
        A `BatchSolution`, each of whose answers has a relative duality gap of at most 1e-9.

    >>> B = [[[3.0, 0.0], [1.0, 2.0]], [[1.0, 1.0], [1.0, 1.0]]]
    >>> maximin(B).strategy
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """
    batch = np.ascontiguousarray(payoffs, dtype=np.float64)
    if batch.ndim == 2:
        batch = batch[None]
    if batch.ndim != 3 or 0 in batch.shape:
        raise InputError(
            f"payoffs has shape {np.shape(payoffs)}; accepted: (runs, m, n) or (m, n), none of them zero. "
            "Stack the matrices on axis 0."
        )
    runs, m, n = batch.shape
    weight = _tie_weights(ties, random, runs, m)
    row, column = np.empty((runs, m)), np.empty((runs, n))
    value, gap, pivots = np.empty(runs), np.empty(runs), np.empty(runs, np.int64)
    answers = row, column, value, gap, pivots
    state = []
    if m * n <= _SMALL:
        failures = lockstep.maximin_small(batch, weight, *answers)
    else:
        precision = np.float32 if min(m, n) >= _SINGLE and not tied else np.float64
        state = [_take_state(start, batch, precision)]
        failures = simplex.maximin_batch(batch, weight, state[0].tableaux, state[0].scale, *answers)
    fallbacks = _rescue(batch, weight, *answers) if failures else 0
    return BatchSolution(row, column, value, gap, pivots, fallbacks, state)


def _rescue(
    batch: Floats,
    weight: Floats,
    row: Floats,
    column: Floats,
    value: Floats,
    gap: Floats,
    pivots: NDArray[np.int64],
) -> int:
    """Solve again, in double precision, then by HiGHS, what was not certified. Changes the answers in place."""
    global _fallbacks
    fallbacks = 0
    m = batch.shape[1]
    for run in np.flatnonzero(~(np.abs(gap) <= MOST_GAP)):
        low, high = batch[run].min(), batch[run].max()
        if not high / 2 - low / 2 <= np.finfo(np.float64).max / 2:
            raise InputError(_not_finite(batch[run], int(run), len(batch)))
        span = (high - low) or 1.0
        scaled = (batch[run] - low) / span
        again = _simplex_once(scaled, weight[run if len(weight) > 1 else 0])
        if again is None:  # the rule for ties asks for more digits than there are: any optimal strategy, then
            again = _simplex_once(scaled, np.zeros(m))
        if again is None:
            again = solve_with_highs(scaled)
            fallbacks += 1
        row[run], column[run], pivots[run] = again
        lower, upper = (row[run] @ scaled).min(), (scaled @ column[run]).max()
        gap[run] = upper - lower
        value[run] = low + 0.5 * (lower + upper) * span
        if not gap[run] <= MOST_GAP:
            raise SolveError(
                f"run {run}: the best answer has a relative gap of {gap[run]:.1e}, more than {MOST_GAP:.0e}; "
                "neither the kernels nor HiGHS came nearer. Payoffs of very different sizes do this: rescale them."
            )
    _fallbacks += fallbacks
    return fallbacks


def _simplex_once(scaled: Floats, weight: Floats) -> tuple[Floats, Floats, int] | None:
    """The double-precision kernel on one matrix; nothing where it fails."""
    m, n = scaled.shape
    batch = scaled[None]
    state = _new_state(batch, np.float64)
    row, column = np.zeros((1, m)), np.zeros((1, n))
    value, gap = np.empty(1), np.empty(1)
    pivots = np.empty(1, np.int64)
    answers = row, column, value, gap, pivots
    if simplex.maximin_batch(batch, weight[None], state.tableaux, state.scale, *answers):
        return None
    return row[0], column[0], int(pivots[0])


def _take_state(start: BatchSolution | None, batch: Floats, precision: type[np.floating]) -> _State:
    for states in ([start._state] if start else []) + [_spare]:
        try:
            state = states.pop()
        except IndexError:  # there is none, or another thread was quicker
            continue
        if state.fits(batch, precision):
            if states is _spare:
                state.scale[:] = 0
            return state
    return _new_state(batch, precision)


def _new_state(batch: Floats, precision: type[np.floating]) -> _State:
    runs, m, n = batch.shape
    stride = -(-n // (2 * LANES)) * 2 * LANES
    if stride * np.dtype(precision).itemsize % 512 == 0:
        stride += 2 * LANES  # rows that lie a power of two apart would fight for the same cache lines
    tableaux = tableau.States(
        T=_aligned((runs, m, stride), precision),
        b=_aligned((runs, _whole(m)), np.float64),
        c=_aligned((runs, stride), np.float64),
        norm=_aligned((runs, stride), precision),
        basic=np.empty((runs, m), np.int64),
        nonbasic=np.empty((runs, n), np.int64),
        B=_aligned((runs, m, _whole(n)), np.float64),
        floats=_aligned((4 * (_whole(m) + stride),), np.float64),
        coefficients=_aligned((2 * (_whole(m) + stride),), precision),
    )
    for array in (tableaux.b, tableaux.floats, tableaux.coefficients):  # these are read to the end
        array[:] = 0
    return _State(tableaux, np.zeros((runs, 4)))


def _whole(size: int) -> int:
    """So many numbers, rounded up to whole vectors."""
    return -(-size // LANES) * LANES


def _aligned(shape: tuple[int, ...], precision: type[np.floating]) -> NDArray[np.floating]:
    """An empty array at an address that suits whole cache lines: a third faster to sweep."""
    size = int(np.prod(shape)) * np.dtype(precision).itemsize
    buffer = np.empty(size + BYTES, np.uint8)
    start = -buffer.ctypes.data % BYTES
    return buffer[start : start + size].view(precision).reshape(shape)


@lru_cache
def _first_weights(m: int) -> Floats:
    return np.sqrt(np.arange(m) / m)[None]


def _tie_weights(ties: str | Floats, random: np.random.Generator | None, runs: int, m: int) -> Floats:
    if isinstance(ties, str):
        if ties == "first":
            return _first_weights(m)
        if ties == "random":
            if random is None:
                raise InputError('ties is "random" and random is None; pass random=numpy.random.default_rng(seed).')
            return random.permuted(np.repeat(_first_weights(m), runs, axis=0), axis=1)
        raise InputError(f'ties is {ties!r}; accepted: "first", "random", or an array of weights, (runs, m).')
    weight = np.array(ties, dtype=np.float64)
    if weight.shape != (runs, m):
        raise InputError(f"ties has shape {weight.shape}; accepted: finite weights of shape (runs, m) = {(runs, m)}.")
    if not np.isfinite(weight).all():
        raise InputError("ties has entries that are not finite; accepted: finite weights. Replace them.")
    weight /= 2  # what follows brings each row to 0 .. 1, which the rule does not notice, and rounding does
    weight -= weight.min(axis=1, keepdims=True)
    largest = weight.max(axis=1, keepdims=True)
    np.divide(weight, largest, out=weight, where=largest > 0)
    return weight


def _not_finite(matrix: Floats, run: int, runs: int) -> str:
    bad = np.argwhere(~np.isfinite(matrix))
    where = "payoffs" if runs == 1 else f"payoffs[{run}]"
    if len(bad) == 0:
        return f"{where} spans more than a float can hold; accepted: finite numbers. Divide them by a constant."
    i, j = bad[0]
    entry = shorten(float(matrix[i, j]))
    return f"{where}[{i}, {j}] is {entry}; accepted: finite numbers. Replace it, or leave that action out."


class Maximin:
    """Stands in for the real one, which a colleague writes."""

    def __init__(self, shape, *, ties="first", many_ties=False):
        self.ties, self.many_ties, self.last = ties, many_ties, None

    def __call__(self, payoffs):
        if self.many_ties:
            self.last = maximin(
                payoffs, ties=self.ties if isinstance(self.ties, str) else self.ties(), start=self.last, tied=True
            )
            return self.last
        return maximin(payoffs, ties=self.ties if isinstance(self.ties, str) else self.ties())
