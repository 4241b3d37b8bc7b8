"""Certified solutions of zero-sum matrix games: batches at full speed for learners, single matrices for people."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coebl.core.arrays import Floats, check_payoff
from coebl.core.errors import InputError, SolveError
from coebl.kernels.workspace import MOST_GAP
from coebl.solver.interruptible import (
    Answers,
    Precision,
    compile_kernel,
    new_answers,
    new_workspace,
    solve_large,
    solve_small,
)

_SMALL = 400  # entries up to which the lockstep kernel is faster
_SINGLE = 48  # actions of either player from which a single-precision tableau pays off
# (grid, shift): payoffs are rounded to multiples of 1 / grid, shifted by a part of a grid step. Of 62 matrices of
# 150 x 150 on which the kernels fail, the first leaves 42, the first four 27 and all of them 12, in a few ms each.
_GRIDS = tuple((2.0**bits, shift) for shift in (0.5, 0.25, 0.0, 0.75) for bits in (30, 32))

_LOW_RANK = 1e-8  # the largest error of a matrix of low rank, relative to the payoff range
_MOST_STARTS = 20  # first rows that `_by_a_part` tries

Answer = tuple[Floats, Floats, int] | None  # both strategies and the pivots, or None where a method fails


@dataclass(eq=False)
class BatchSolution:
    """The answers to a batch of games, with the runs on axis 0. The answer to a single matrix lacks that axis.

    >>> maximin([[[3.0, 0.0], [1.0, 2.0]], [[0.0, 1.0], [1.0, 0.0]]]).value
    array([1.5, 0.5])
    """

    strategy: Floats  # (runs, m), attains max over x of min over y of x'By
    opponent: Floats  # (runs, n), the opponent's optimal strategy
    value: Floats  # (runs,)
    gap: Floats  # (runs,), max(By) - min(x'B), relative to the payoff range
    pivots: NDArray[np.int64]  # (runs,)
    fallbacks: int  # the number of runs solved by a part of their actions, or passed from a GPU to the CPU


class Maximin:
    """A solver for the batches of a learner, warm-started from its last answer.

    Where only a few entries of a run's matrix have changed since the last call, the solve costs a small fraction of
    one from scratch. The answer obeys the same rules and has the same certificate. If many have changed, the solve
    starts from scratch, at no extra cost. Do not share a solver between threads.

    Args:
        shape: (runs, m, n), of every batch that will be solved.
        ties: which of several optimal strategies to return. With ``"first"``, the one of least mean ``sqrt(index)``, as
            in `maximin`. A function without arguments, which returns tie weights of shape (runs, m), is called once
            per solve, and the optimal strategy of least mean weight is returned.
        many_ties: whether many entries are equal, as UCB's unvisited ones are. Large matrices are then solved in double
            precision from the outset, which such ties need. It changes the time taken, not the certificate.
        remember: whether to keep a tableau per run. Pass False if every batch is entirely new: one tableau, which
            stays in the cache, then serves all runs. The answers are those of `maximin`.

    >>> solve = Maximin((1, 2, 2))
    >>> solve([[[3.0, 0.0], [1.0, 2.0]]]).strategy
    array([[0.25, 0.75]])
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        *,
        ties: Literal["first"] | Callable[[], Floats] = "first",
        many_ties: bool = False,
        remember: bool = True,
    ) -> None:
        if len(shape) != 3 or min(shape) < 1:
            raise InputError(f"shape is {shape}; accepted: (runs, m, n), each at least 1.")
        if ties != "first" and not callable(ties):
            raise InputError(f'ties is {ties!r}; accepted: "first", or a function that returns weights, (runs, m).')
        self.shape = shape
        self._ties = ties
        self._precision = tableau_precision(shape[1], shape[2], many_ties)
        self._remember = remember
        self._workspace: Any = None

    def __call__(self, payoffs: ArrayLike) -> BatchSolution:
        """Solve a batch of games for the row player, who maximises. The arrays of the answer are new in every call."""
        batch, _ = _as_batch(payoffs)
        if batch.shape != self.shape:
            raise InputError(f"payoffs has shape {np.shape(payoffs)}; accepted: {self.shape}, as for this solver.")
        runs, m, n = batch.shape
        weight = _tie_weights(self._ties if isinstance(self._ties, str) else self._ties(), None, (runs, m))
        memory = self._workspace or new_workspace(runs if self._remember else 1, m, n, self._precision)
        self._workspace = None  # after a failure or an interrupt the tableaux may hold anything
        solved = _solve(batch, weight, memory)
        self._workspace = memory if self._remember else None
        return solved

    def check_restored(self) -> None:
        """Raise an error unless the tableaux read from a file fit; the kernels do not check their indices."""
        if self._workspace is None:
            return
        runs, m, n = self.shape
        memory = new_workspace(runs, m, n, self._precision)
        for part, stored in zip(memory[:3], self._workspace[:3], strict=True):
            if (part.dtype, part.shape) != (stored.dtype, stored.shape):
                raise ValueError(f"a tableau has {stored.dtype} {stored.shape} instead of {part.dtype} {part.shape}")
            part[...] = stored  # a copy, which shares no memory with anything else in the file
        variables = memory.indices[: runs * (m + n)].reshape(runs, m + n)
        if (np.sort(variables, axis=1) != np.arange(m + n)).any():
            raise ValueError("a tableau has variables of another game")
        self._workspace = memory


def maximin(
    payoffs: ArrayLike,
    *,
    ties: Literal["first", "random"] | Floats = "first",
    random: np.random.Generator | None = None,
) -> BatchSolution:
    """Solve a batch of zero-sum games for the row player, who maximises.

    If a learner solves batch after batch, `Maximin` is faster.

    Args:
        payoffs: (runs, m, n), or a single matrix, (m, n).
        ties: which of several optimal strategies to return. With ``"first"``, the one of least mean
            ``sqrt(index)``: it prefers the first actions, and on a constant matrix it is action 0.
            With ``"random"`` the indices are first shuffled by ``random``, for every run separately. An array of
            shape (runs, m), or (m,) for a single matrix, gives the weights directly: the optimal strategy of least
            mean weight is returned.
        random: the generator that ``ties="random"`` draws from.

    Returns:
        A `BatchSolution`, each of whose answers has a relative duality gap of at most 1e-9. For a batch, its arrays
        have the runs on axis 0. For a single matrix, strategy is (m,), opponent is (n,), and the others are numbers.

    >>> B = [[[3.0, 0.0], [1.0, 2.0]], [[1.0, 1.0], [1.0, 1.0]]]
    >>> maximin(B).strategy
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    >>> maximin(B[0]).strategy
    array([0.25, 0.75])
    """
    batch, single = _as_batch(payoffs)
    runs, m, n = batch.shape
    weight = _tie_weights(ties, random, (m,) if single else (runs, m))
    # A single tableau, which all runs use in turn, is fastest: it stays in the cache.
    solved = _solve(batch, weight, new_workspace(1, m, n, tableau_precision(m, n, many_ties=False)))
    if not single:
        return solved
    strategy, opponent = solved.strategy[0], solved.opponent[0]
    return BatchSolution(strategy, opponent, solved.value[0], solved.gap[0], solved.pivots[0], solved.fallbacks)


@dataclass(frozen=True, eq=False)
class Solution:
    """A certified equilibrium of a zero-sum game.

    >>> solution = solve_matrix([[3, 0], [1, 2]])
    >>> solution.value, solution.row, solution.status
    (1.5, array([0.25, 0.75]), 'optimal')
    """

    value: float  # the payoff of the row player
    row: Floats  # (m,), the row player's strategy
    column: Floats  # (n,), the column player's strategy
    gap: float  # max(A @ column) - min(row @ A), relative to the payoff range; at most 1e-9
    status: str  # "optimal", or "optimal (second method)" if only a part of the actions was solved
    pivots: int  # the number of pivots

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Solution) and all(map(np.array_equal, vars(self).values(), vars(other).values()))


def solve_matrix(
    payoff: ArrayLike, *, ties: Literal["first", "random"] = "first", random: np.random.Generator | None = None
) -> Solution:
    """Solve the zero-sum game of a matrix (m, n) of payoffs to the row player, who maximises.

    Args:
        payoff: anything that NumPy accepts as a matrix.
        ties: as for `maximin`.
        random: the generator that ``ties="random"`` draws from.

    >>> solution = solve_matrix([[3, 0], [1, 2]])
    >>> solution.value, solution.row, solution.column
    (1.5, array([0.25, 0.75]), array([0.5, 0.5]))
    """
    solved = maximin(check_payoff(payoff), ties=ties, random=random)
    row, column = solved.strategy, solved.opponent
    row.flags.writeable = column.flags.writeable = False
    status = "optimal (second method)" if solved.fallbacks else "optimal"
    return Solution(float(solved.value) + 0.0, row, column, float(solved.gap), status, int(solved.pivots))


def compile_kernels(shape: tuple[int, ...], many_ties: bool = False) -> None:
    """Compile the kernels of ``Maximin(shape, many_ties=many_ties)``, or load them from the cache of compiled code.

    If many_ties is False, these are also the kernels of `maximin` and `solve`. A 2 x 2 game is solved instead of
    one of the given shape, so that a large shape takes no longer than a small one. Call this before you start several
    processes, so that they do not all compile. Otherwise the first solve compiles.

    Args:
        shape: (runs, m, n) or (m, n); the number of runs does not matter.
        many_ties: as for `Maximin`.

    >>> compile_kernels((3, 3))  # for the learners of a 3 x 3 game
    """
    compile_kernel(tableau_precision(shape[-2], shape[-1], many_ties))


def tableau_precision(m: int, n: int, many_ties: bool) -> Precision | None:
    """Return the precision of the tableau; None for the lockstep kernel, whose tableaux are double precision."""
    if m * n <= _SMALL:
        return None
    return "float32" if min(m, n) >= _SINGLE and not many_ties else "float64"


def _as_batch(payoffs: ArrayLike) -> tuple[Floats, bool]:
    """Return payoffs as the kernels need them, and True if they are a single matrix.

    The kernels are compiled for plain arrays, so that there is one version of each.
    """
    batch = np.ascontiguousarray(payoffs, dtype=np.float64)
    if not batch.flags.behaved:  # read-only, or at an odd address
        batch = batch.copy()
    single = batch.ndim == 2
    if single:
        batch = batch[None]
    if batch.ndim != 3 or 0 in batch.shape:
        raise InputError(
            f"payoffs has shape {np.shape(payoffs)}; accepted: (runs, m, n) or (m, n), none of them zero. "
            "Stack the matrices on axis 0."
        )
    return batch, single


def _solve(batch: Floats, weight: Floats, memory: Any) -> BatchSolution:
    """Solve a batch, by the lockstep kernel if `memory` is None."""
    runs, m, n = batch.shape
    answers = new_answers(runs, m, n)
    failures = solve_small(batch, weight, answers) if memory is None else solve_large(batch, weight, memory, answers)
    fallbacks = _rescue(batch, weight, answers) if failures else 0
    return BatchSolution(*answers, fallbacks)


@lru_cache
def first_weights(m: int) -> Floats:
    """Return the weights of the rule "first", which all runs share: (1, m)."""
    return np.sqrt(np.arange(m) / m)[None]


def _tie_weights(ties: str | ArrayLike, random: np.random.Generator | None, shape: tuple[int, ...]) -> Floats:
    """Return the scaled weights of a rule for ties, with an axis of runs; `shape` is (runs, m) or (m,)."""
    if isinstance(ties, str):
        first = first_weights(shape[-1])
        if ties == "first":
            return first
        if ties != "random":
            accepted = f'"first", "random", or an array of weights of shape {shape}'
            raise InputError(f"ties is {ties!r}; accepted: {accepted}.")
        if random is None:
            raise InputError('ties is "random" and random is None; pass random=numpy.random.default_rng(seed).')
        return random.permuted(np.repeat(first, math.prod(shape[:-1]), axis=0), axis=1)
    weight = np.array(ties, dtype=np.float64)
    if weight.shape != shape:
        raise InputError(f"ties has shape {weight.shape}; accepted: finite weights of shape {shape}, one per action.")
    if not np.isfinite(weight).all():
        raise InputError("ties has entries that are not finite; accepted: finite weights. Replace them.")
    return scaled_weights(weight.reshape(-1, shape[-1]))


def scaled_weights(weight: Floats) -> Floats:
    """Scale tie weights, (runs, m) of any library, to 0 .. 1 in each row: the same rule, with less rounding."""
    halves = weight / 2  # so that their differences do not overflow
    above = halves - halves.min(axis=1, keepdims=True)
    largest = above.max(axis=1, keepdims=True)
    return above / np.where(largest > 0, largest, 1.0)


# A game whose answer a kernel could not certify is solved again by the kernel for large matrices: first in double
# precision, then without the rule for ties, then on rounded payoffs, and last by a growing part of the actions. If all
# of this fails, an error is raised. Rounding moves the gap by less than MOST_GAP, and payoffs that are almost equal
# become equal, which the kernels solve more easily. A part leaves out most of the actions that are almost equal to
# others, and it is small.


def _rescue(batch: Floats, weight: Floats, answers: Answers) -> int:
    """Solve again the runs whose gap is too large; return the number that were solved by a part of their actions."""
    row, column, value, gap, pivots = answers
    fallbacks = 0
    for run in np.flatnonzero(~(np.abs(gap) <= MOST_GAP)):
        name = "payoffs" if len(batch) == 1 else f"payoffs[{run}]"
        payoff = check_payoff(batch[run], name)
        low, span = payoff.min(), np.ptp(payoff) or 1.0
        scaled = (payoff - low) / span
        certified = _first_certified(scaled, _attempts(scaled, weight[run if len(weight) > 1 else 0]))
        if certified is None:
            raise SolveError(
                f"{name}: no attempt came within a relative gap of {MOST_GAP:.0e}. Round the payoffs to a billionth of "
                "their range, or leave out some actions."
            )
        grown, (row[run], column[run], pivots[run]), lower, upper = certified
        fallbacks += grown
        gap[run] = upper - lower
        value[run] = low + 0.5 * (lower + upper) * span
    return fallbacks


def _first_certified(
    scaled: Floats, attempts: Iterable[tuple[bool, Answer]]
) -> tuple[bool, tuple[Floats, Floats, int], float, float] | None:
    """Return the first attempt whose gap is small enough, and its guarantees to both players; None if there is none."""
    by_column = scaled.T.copy()
    for grown, answer in attempts:
        if answer is not None:
            lower, upper = _mean_row(answer[0], scaled).min(), _mean_row(answer[1], by_column).max()
            if upper - lower <= MOST_GAP:
                return grown, answer, lower, upper
    return None


def _mean_row(strategy: Floats, rows: Floats) -> Floats:
    """Return strategy @ rows, added row by row, as on every CPU; the order in which BLAS adds depends on the CPU."""
    return (strategy[:, None] * rows).sum(axis=0)


def _attempts(scaled: Floats, weight: Floats) -> Iterator[tuple[bool, Answer]]:
    """Yield the answer of each attempt, with True if it comes from a part of the actions."""
    yield False, _double_precision(scaled, weight)
    yield False, _double_precision(scaled)  # the rule for ties may ask for more digits than there are
    parts = ((True, _by_a_part(scaled, start)) for start in range(min(len(scaled), _MOST_STARTS)))
    # Where the rank is low, all large bases are nearly singular, and most grids fail.
    yield from chain(parts, _on_grids(scaled)) if _has_low_rank(scaled) else chain(_on_grids(scaled), parts)


def _on_grids(scaled: Floats) -> Iterator[tuple[bool, Answer]]:
    for grid, shift in _GRIDS:
        rounded = (np.rint(scaled * grid + shift) - shift) / grid
        yield False, _double_precision(rounded)
        yield False, _from_the_other_seat(rounded)


def _by_a_part(scaled: Floats, start: int) -> Answer:
    """Solve the game of some actions, add each player's best response, and repeat until nothing is added.

    It begins with one row and the best response to it. Return None if one of these games is not solved.
    """
    (m, n), by_column, pivots = scaled.shape, scaled.T.copy(), 0
    rows, columns = [start], [int(scaled[start].argmin())]
    while True:
        part = scaled[np.ix_(rows, columns)]
        certified = _first_certified(part, chain([(False, _double_precision(part))], _on_grids(part)))
        if certified is None:
            return None
        _, (row, column, more), _, _ = certified
        pivots += more
        lower, upper = _mean_row(row, scaled[rows]), _mean_row(column, by_column[columns])
        best_row, best_column = int(upper.argmax()), int(lower.argmin())
        if upper[best_row] - lower[best_column] <= MOST_GAP or (best_row in rows and best_column in columns):
            answer = np.zeros(m), np.zeros(n), pivots
            answer[0][rows], answer[1][columns] = row, column
            return answer
        rows += [best_row] * (best_row not in rows)
        columns += [best_column] * (best_column not in columns)


def _has_low_rank(scaled: Floats) -> bool:
    """Return True if elimination finds a matrix within _LOW_RANK that has at most a quarter of the full rank."""
    rest = scaled.copy()
    for _ in range(min(scaled.shape) // 4):
        i, j = np.unravel_index(np.abs(rest).argmax(), rest.shape)
        if np.abs(rest[i, j]) <= _LOW_RANK:
            return True
        rest -= rest[:, j, None] * (rest[i] / rest[i, j])
    return bool(np.abs(rest).max() <= _LOW_RANK)


def _double_precision(scaled: Floats, weight: Floats | None = None) -> Answer:
    """Solve one matrix by the kernel for large matrices, without the rule for ties if `weight` is None."""
    m, n = scaled.shape
    memory = new_workspace(1, m, n, "float64")
    answers = new_answers(1, m, n)
    if solve_large(scaled[None], np.zeros((1, m)) if weight is None else weight[None], memory, answers):
        return None
    row, column, _, _, pivots = answers
    return row[0], column[0], int(pivots[0])


def _from_the_other_seat(scaled: Floats) -> Answer:
    answer = _double_precision(np.ascontiguousarray(1 - scaled.T))
    return answer and (answer[1], answer[0], answer[2])
