"""Equilibria: uniqueness and extreme equilibria of zero-sum games, Nash and correlated equilibria of other games.

Uniqueness is decided by linear programming, for each player separately.

The extreme equilibria are found by trying every square submatrix (Shapley and Snow 1950). The optimal strategies of a
player form a polytope, whose corners are the extreme ones. Each corner x is the only solution of the equations of some
square submatrix, with rows I and columns J:

    x uses only rows in I,  x earns the same against every column in J,  the entries of x add up to 1.

So every pair (I, J) is tried, and its solution is kept if it is a strategy that earns the value against the columns in
J, and no less against the others.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.core.errors import CoeblError, InputError

if TYPE_CHECKING:
    from coebl.games.game import Game
    from coebl.games.tensor import TensorGame

_MOST_PARTS = 200_000  # square submatrices: a 10 x 10 game has nearly as many, and takes a second or two
_TOLERANCE = 1e-9  # of probabilities, and of payoffs relative to their range
_SAME = 1e-6  # corners that are closer than this are the same
_SURELY_ZERO, _SURELY_NOT = 1e-9, 1e-6  # between these, rounding prevents an answer on uniqueness
_WORST_CONDITION = 1e9  # beyond it, equations have no reliable solution; the corner also solves better ones


@dataclass(frozen=True, eq=False)
class Equilibria:
    """The extreme equilibria: every pair of a row strategy and a column strategy. All others are mixtures of them."""

    value: float
    row: Floats  # (row strategies, m)
    column: Floats  # (column strategies, n)

    def __len__(self) -> int:
        return len(self.row) * len(self.column)

    def __iter__(self) -> Iterator[tuple[Floats, Floats]]:
        return itertools.product(self.row, self.column)


def extreme_equilibria(game: Game) -> Equilibria:
    """Return all extreme equilibria of a game, unless it is too large.

    Payoffs that differ by at most 1e-9 of the payoff range count as equal, since payoffs such as 1/3 are rounded.
    """
    payoff, value = _scaled(game)
    rows = _useful(payoff @ game.solution.column, value)
    columns = _useful(1 - game.solution.row @ payoff, 1 - value)
    m, n = game.shape
    parts = math.comb(len(rows) + n, n) + math.comb(len(columns) + m, m)  # Vandermonde: the sum of C(rows, k) C(n, k)
    if parts > 2 * _MOST_PARTS:
        raise InputError(
            f"{game.name} has {m} x {n} actions, too many for all equilibria; accepted: about 10 x 10 actions that are "
            "not dominated. Take game.solution, which is one of them, or leave out actions."
        )
    return Equilibria(game.value, _corners(payoff, value, rows), _corners(1 - payoff.T, 1 - value, columns))


def _scaled(game: Game) -> tuple[Floats, float]:
    """Return the payoffs scaled to 0 .. 1, and the value in the same units."""
    low, spread = float(game.payoff.min()), float(np.ptp(game.payoff)) or 1.0
    return (game.payoff - low) / spread, (game.value - low) / spread


def _useful(earned: Floats, value: float) -> Ints:
    """Return the actions that an optimal strategy can use: those that earn the value against an optimal opponent."""
    return np.flatnonzero(earned >= value - _SAME)


def _corners(payoff: Floats, value: float, useful: Ints) -> Floats:
    """Return the corners of the maximising player's optimal strategies: (corners, m)."""
    m, n = payoff.shape
    corners = [np.empty((0, m))]
    for size in range(1, min(len(useful), n) + 1):
        rows = useful[np.array(list(itertools.combinations(range(len(useful)), size)))]
        columns = np.array(list(itertools.combinations(range(n), size)))
        for used in rows:
            corners.append(_solve_parts(payoff, value, used, columns))
    return _distinct(np.concatenate(corners))


def _solve_parts(payoff: Floats, value: float, used: Ints, columns: Ints) -> Floats:
    """Return the optimal strategies, (count, m), that the rows `used` and each set of columns, (sets, k), determine."""
    sets, size = columns.shape
    system = np.zeros((sets, size + 1, size + 1))  # of the probabilities and the value
    system[:, :size, :size] = payoff[used][:, columns].transpose(1, 2, 0)
    system[:, :size, size] = -1.0
    system[:, size, :size] = 1.0
    system = system[np.linalg.cond(system) < _WORST_CONDITION]
    right = np.zeros((len(system), size + 1, 1))
    right[:, size] = 1.0
    solved = np.linalg.solve(system, right)[..., 0]
    strategy = np.zeros((len(system), len(payoff)))
    strategy[:, used] = solved[:, :size]
    tight = np.abs(solved[:, size] - value) <= _TOLERANCE  # otherwise x may lie inside the polytope
    optimal = (strategy >= -_TOLERANCE).all(axis=1) & (strategy @ payoff >= value - _TOLERANCE).all(axis=1)
    kept = strategy[tight & optimal].clip(min=0.0)
    kept /= kept.sum(axis=1, keepdims=True)
    return kept


def _distinct(strategies: Floats) -> Floats:
    """Return the distinct strategies, sorted by the probabilities of the first actions."""
    ordered = strategies[np.lexsort(-strategies.T.round(6)[::-1])]
    kept: list[Floats] = []
    for strategy in ordered:
        if all(np.abs(strategy - other).max() > _SAME for other in kept):
            kept.append(strategy)
    return np.array(kept)


@dataclass(frozen=True)
class Uniqueness:
    """A verdict on whether an equilibrium is the only one, with the reason."""

    answer: Literal["yes", "no", "unknown"]
    reason: str

    def __str__(self) -> str:
        return f"{self.answer}: {self.reason}"


def uniqueness(game: Game) -> Uniqueness:
    """Decide whether both players' optimal strategies are unique."""
    payoff, value = _scaled(game)
    verdicts = {
        "row": _is_only_one(payoff, value, game.solution.row, game.row_labels),
        "column": _is_only_one(1 - payoff.T, 1 - value, game.solution.column, game.column_labels),
    }
    for answer in ("no", "unknown"):
        for player, (verdict, reason) in verdicts.items():
            if verdict == answer:
                return Uniqueness(answer, f"the {player} player {reason}")
    return Uniqueness("yes", "neither player can leave the equilibrium without losing")


def _is_only_one(payoff: Floats, value: float, x: Floats, labels: Sequence[str]) -> tuple[str, str]:
    """Decide whether the maximising player's optimal strategy x is the only one, and return the reason too.

    It is the only one unless some direction d leads to another: sum(d) = 0, d_i >= 0 where x_i = 0, and
    (payoff' d)_j >= 0 where (payoff' x)_j = value. A linear program searches for a d that makes any of these
    inequalities strict. If there is none, they are equations, and d = 0 is the only solution if they have full rank.
    """
    from scipy.optimize import linprog

    earned = payoff.T @ x - value
    if _ambiguous(x) or _ambiguous(earned):
        return "unknown", "has probabilities or payoffs too close to zero to tell from rounding"
    used, tight = x > _SURELY_ZERO, earned <= _SURELY_ZERO
    binding = payoff[:, tight].T
    result = linprog(
        c=-((~used).astype(float) + binding.sum(axis=0)),
        A_ub=-binding,
        b_ub=np.zeros(len(binding)),
        A_eq=np.ones((1, len(x))),
        b_eq=[0.0],
        bounds=[(-1.0, 1.0) if is_used else (0.0, 1.0) for is_used in used],
        method="highs",
    )
    if result.x is None or result.fun is None:
        return "unknown", f"has a linear program that was not solved: {result.message}"
    if -result.fun > _SURELY_NOT:
        action = labels[int(np.argmax(np.abs(result.x)))]
        return "no", f"can change the probability of action {action} and still earn the value"
    if -result.fun > _SURELY_ZERO:
        return "unknown", "has another optimal strategy only within rounding"
    equations = np.vstack([binding[:, used], np.ones(int(used.sum()))])
    singular = np.linalg.svd(equations, compute_uv=False)
    smallest = singular[-1] / singular[0] if len(singular) == used.sum() else 0.0
    if smallest > _SURELY_NOT:
        return "yes", "has one optimal strategy"
    if smallest < _SURELY_ZERO:
        return "no", "can shift probability between the actions it uses and still earn the value"
    return "unknown", "has nearly dependent equations for its strategy"


def _ambiguous(amounts: Floats) -> bool:
    return bool(((amounts > _SURELY_ZERO) & (amounts < _SURELY_NOT)).any())


# Games that are not zero-sum

_MOST_SUPPORTS = 20_000  # pairs of supports that are tried: 8 x 8 actions have 12,869
_MOST_JOINT = 100_000  # joint actions of a correlated equilibrium
_CERTIFIED = 1e-9  # the largest regret of a Nash equilibrium, as a share of the payoff range
_CERTIFIED_JOINT = 1e-7  # likewise of a correlated equilibrium, which HiGHS computes


@dataclass(frozen=True)
class Profile:
    """A Nash equilibrium: a mixed strategy per player.

    >>> from coebl.games import parse_game
    >>> [profile] = parse_game("prisoners-dilemma").equilibria()
    >>> profile.payoffs, profile.regret
    ((1.0, 1.0), 0.0)
    """

    strategies: tuple[Floats, ...]  # per player: (actions,)
    payoffs: tuple[float, ...]  # the payoff of each player
    regret: float  # the largest gain of a player by deviating, as a share of the width of its payoffs


@dataclass(frozen=True)
class Correlated:
    """A correlated equilibrium: a distribution over joint actions, from which no player gains by deviating.

    >>> from coebl.games import parse_game
    >>> parse_game("chicken").correlated().payoffs
    (5.25, 5.25)
    """

    joint: Floats  # (m1, ..., mN), the probability of each joint action
    payoffs: tuple[float, ...]  # the payoff of each player
    regret: float  # the largest gain of a player by deviating, as a share of the width of its payoffs
    gap: float  # a bound on how much larger the sum of payoffs could be, as a share of the width of the sum


@dataclass(frozen=True)
class Distance:
    """The certified distances of distributions over joint actions from the set of correlated equilibria.

    >>> from coebl.games import parse_game
    >>> parse_game("chicken").distance_to_correlated([[0, 0], [0, 1]]).distance  # always a crash
    array([0.8])
    """

    distance: Floats  # (runs,), total variation: the share of play that differs from the nearest equilibrium
    nearest: Floats  # (runs, m1, ..., mN), a nearest equilibrium
    regret: Floats  # (runs,), the largest gain by deviating from it, as a share of the width of the payoffs
    gap: Floats  # (runs,), a bound on how much nearer another equilibrium could be


def nash_equilibria(game: TensorGame) -> list[Profile]:
    """Return the equilibria of two players in which both mix over equally many actions, by trying all supports."""
    if len(game.shape) != 2:
        raise InputError(f"{game.name} has {len(game.shape)} players; accepted for Nash: two. Use correlated().")
    m, n = game.shape
    if math.comb(m + n, m) > _MOST_SUPPORTS:
        accepted = f"up to {_MOST_SUPPORTS:,} pairs of them, such as 8 x 8 actions"
        raise InputError(f"{game.name} is {m} x {n}, too many supports; accepted: {accepted}. Use correlated().")
    profiles: list[Profile] = []
    for size in range(1, min(m, n) + 1):
        supports = (map(list, itertools.combinations(range(count), size)) for count in (m, n))
        for rows, columns in itertools.product(*supports):
            x = _indifferent(game.payoffs[1].T, columns, rows)
            y = _indifferent(game.payoffs[0], rows, columns)
            if x is None or y is None:
                continue
            regret = _largest_regret(game, (x, y))
            known = any(np.allclose(x, p.strategies[0]) and np.allclose(y, p.strategies[1]) for p in profiles)
            if regret <= _CERTIFIED and not known:
                profiles.append(Profile((x, y), game.expected((x, y)), max(regret, 0.0)))
    return profiles


def _indifferent(payoff: Floats, own: list[int], others: list[int]) -> Floats | None:
    """Return the mixture over `others` against which all actions in `own` earn the same; None if there is none."""
    size = len(own)
    equations = np.ones((size, size))
    equations[1:] = payoff[np.ix_(own[1:], others)] - payoff[own[0], others]
    try:
        weights = np.linalg.solve(equations, np.eye(size)[0])
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(weights).all() or weights.min() < -_CERTIFIED:
        return None
    mixture = np.zeros(payoff.shape[1])
    mixture[others] = weights
    return _distribution(mixture)


def _largest_regret(game: TensorGame, strategies: Sequence[Floats]) -> float:
    """Return the largest gain of a player by deviating, as a share of the width of its payoffs."""
    gains = []
    for seat, (strategy, payoff) in enumerate(zip(strategies, game.payoffs, strict=True)):
        earns = game.against(seat, strategies)
        gains.append((earns.max() - earns @ strategy) / (np.ptp(payoff) or 1.0))
    return float(max(gains))


def best_correlated(game: TensorGame, coarse: bool) -> Correlated:
    """Return the (coarse) correlated equilibrium with the largest sum of payoffs, by a linear program."""
    gains = _gains(game, coarse)
    welfare = game.welfare.ravel()
    width = float(np.ptp(welfare)) or 1.0
    solution = _least(game, -welfare / width, gains, np.zeros(gains.shape[0]))
    joint = _distribution(solution.x)
    # For any multipliers >= 0 and any equilibrium p: w p <= w p - multipliers gains p <= the largest entry below.
    multipliers = np.maximum(-solution.ineqlin.marginals, 0.0)
    gap = float((welfare / width - gains.T @ multipliers).max() - welfare @ joint / width)
    payoffs = tuple(float(payoff.ravel() @ joint) for payoff in game.payoffs)
    return Correlated(joint.reshape(game.shape), payoffs, *_certified(game, gains, joint, gap))


def distances(game: Game | TensorGame, joints: Floats, coarse: bool) -> Distance:
    """Return the distances of distributions over joint actions, (runs, m1, ..., mN), from correlated equilibria."""
    gains = _gains(game, coarse)
    nearest, certified = np.empty(joints.shape), np.empty((len(joints), 3))
    for run, joint in enumerate(joints):
        p, certified[run] = _nearest(game, gains, joint.ravel())
        nearest[run] = p.reshape(game.shape)
    return Distance(certified[:, 0], nearest, certified[:, 1], certified[:, 2])


def _nearest(game: Game | TensorGame, gains: Any, joint: Floats) -> tuple[Floats, tuple[float, float, float]]:
    """Return the equilibrium that is nearest to a distribution, and its distance, its regret and the gap."""
    from scipy.sparse import block_array, eye_array

    played = np.flatnonzero(joint)
    # Minimise the sum of the shortfalls s of an equilibrium p: p + s >= the probability of each action played.
    rows = block_array([[gains, None], [-eye_array(len(joint)).tocsr()[played], -eye_array(len(played))]]).tocsr()
    cost = np.concatenate([np.zeros(len(joint)), np.ones(len(played))])
    solution = _least(game, cost, rows, np.concatenate([np.zeros(gains.shape[0]), -joint[played]]))
    p = _distribution(solution.x[: len(joint)])
    distance = float(np.maximum(joint - p, 0.0).sum())
    # For any multipliers >= 0, weights in [0, 1] and equilibrium p, the distance is at least weights (joint - p)
    # >= weights joint - (weights - multipliers gains) p >= weights joint - the largest entry in brackets.
    multipliers = np.maximum(-solution.ineqlin.marginals, 0.0)
    weights = np.zeros(len(joint))
    weights[played] = np.minimum(multipliers[gains.shape[0] :], 1.0)
    bound = float(weights @ joint - (weights - gains.T @ multipliers[: gains.shape[0]]).max())
    return p, (distance, *_certified(game, gains, p, distance - bound))


def _least(game: Game | TensorGame, cost: Floats, rows: Any, limits: Floats) -> Any:
    """Minimise the cost of variables >= 0 within limits; the first variables, one per cell, add up to 1."""
    from scipy.optimize import linprog

    solution = linprog(
        cost,
        A_ub=rows,
        b_ub=limits,
        A_eq=(np.arange(len(cost)) < math.prod(game.shape))[None].astype(np.float64),
        b_eq=[1.0],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if solution.x is None:
        raise CoeblError(f"the linear program of {game.name} was not solved: {solution.message}")
    return solution


def _distribution(weights: Floats) -> Floats:
    """Return weights as a distribution; those that rounding made negative become zero."""
    kept: Floats = np.maximum(weights, 0.0)
    kept /= kept.sum()
    return kept


def _certified(game: Game | TensorGame, gains: Any, joint: Floats, gap: float) -> tuple[float, float]:
    """Return the regret of an equilibrium and its gap to the best one, if both are zero up to rounding."""
    regret = float(max((gains @ joint).max(initial=0.0), 0.0))
    if max(regret, gap) > _CERTIFIED_JOINT:
        raise CoeblError(f"the linear program of {game.name} has a solution with a gap of {max(regret, gap):.1e}")
    return regret, max(gap, 0.0)


def _gains(game: Game | TensorGame, coarse: bool) -> Any:
    """Return the gain of each deviation in each joint action: sparse, (deviations, joint actions).

    A deviation from a correlated equilibrium is to play b whenever a was advised; from a coarse one, always to play b.
    Gains are shares of the width of the player's payoffs.
    """
    from scipy.sparse import csr_array, vstack

    if math.prod(game.shape) > _MOST_JOINT:
        raise InputError(f"{game.name} has {math.prod(game.shape):,} joint actions; accepted: at most {_MOST_JOINT:,}.")
    cells = np.indices(game.shape).reshape(len(game.shape), -1)  # the action of each player in every joint action
    rows = []
    for seat, payoff in enumerate(game.payoffs):
        width = float(np.ptp(payoff)) or 1.0
        for other in range(game.shape[seat]):
            deviated: Ints = cells.copy()
            deviated[seat] = other
            gain = (payoff[tuple(deviated)] - payoff.ravel()) / width
            advised = [None] if coarse else [a for a in range(game.shape[seat]) if a != other]
            rows += [csr_array((gain * (1.0 if a is None else cells[seat] == a))[None]) for a in advised]
    return vstack(rows).tocsr() if rows else csr_array((0, cells.shape[1]))
