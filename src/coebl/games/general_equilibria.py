"""Equilibria of games that are not zero-sum: Nash equilibria of two players, correlated equilibria of any number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.core.errors import CoeblError, InputError

if TYPE_CHECKING:
    from coebl.games.tensor import TensorGame

MOST_SUPPORTS = 20_000  # pairs of supports that are tried: 8 x 8 actions have 12,869
_MOST_JOINT = 100_000  # joint actions of a correlated equilibrium
_CERTIFIED = 1e-9  # the largest regret of a Nash equilibrium, as a share of the payoff range
_CERTIFIED_JOINT = 1e-7  # likewise of a correlated one, which comes from HiGHS


@dataclass(frozen=True)
class Profile:
    """A Nash equilibrium: a mixed strategy per player.

    >>> from coebl.games import parse_game
    >>> [profile] = parse_game("prisoners-dilemma").equilibria()
    >>> profile.payoffs, profile.regret
    ((1.0, 1.0), 0.0)
    """

    strategies: tuple[Floats, ...]  # per player: (actions,)
    payoffs: tuple[float, ...]  # what each player earns
    regret: float  # the most that a player would gain by deviating, as a share of the width of its payoffs


@dataclass(frozen=True)
class Correlated:
    """A correlated equilibrium: a distribution over joint actions, from which no player gains by deviating.

    >>> from coebl.games import parse_game
    >>> parse_game("chicken").correlated().payoffs
    (5.25, 5.25)
    """

    joint: Floats  # (m1, ..., mN), the probability of each joint action
    payoffs: tuple[float, ...]  # what each player earns
    regret: float  # the most that a player would gain by deviating, as a share of the width of its payoffs
    gap: float  # how much more the players could earn together at most, as a share of the width of their sum


def nash_equilibria(game: TensorGame) -> list[Profile]:
    """Return the equilibria of two players in which both mix over equally many actions, by enumeration of supports."""
    if len(game.shape) != 2:
        raise InputError(
            f"{game.name} has {len(game.shape)} players; Nash equilibria are listed for two. Use correlated()."
        )
    m, n = game.shape
    if math.comb(m + n, m) > MOST_SUPPORTS:
        raise InputError(
            f"{game.name} is {m} x {n}, too large to try all supports; accepted: up to {MOST_SUPPORTS:,} pairs of "
            "them, such as 8 x 8 actions. Use correlated()."
        )
    found: list[Profile] = []
    for rows, columns in _supports(m, n):
        x = _indifferent(game.payoffs[1].T, columns, rows)
        y = _indifferent(game.payoffs[0], rows, columns)
        if x is None or y is None:
            continue
        regret = largest_regret(game, (x, y))
        known = any(np.allclose(x, p.strategies[0]) and np.allclose(y, p.strategies[1]) for p in found)
        if regret <= _CERTIFIED and not known:
            found.append(Profile((x, y), game.expected((x, y)), max(regret, 0.0)))
    return found


def _supports(m: int, n: int) -> Iterator[tuple[list[int], list[int]]]:
    for size in range(1, min(m, n) + 1):
        for rows in combinations(range(m), size):
            for columns in combinations(range(n), size):
                yield list(rows), list(columns)


def _indifferent(payoff: Floats, own: list[int], others: list[int]) -> Floats | None:
    """Return the mixture over `others` against which all actions `own` earn the same; None if there is not one."""
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
    mixture[others] = np.maximum(weights, 0.0)
    mixture /= mixture.sum()
    return mixture


def largest_regret(game: TensorGame, strategies: Sequence[Floats]) -> float:
    """Return the most that a player would gain by deviating, as a share of the width of its payoffs."""
    gains = []
    for seat, (strategy, payoff) in enumerate(zip(strategies, game.payoffs, strict=True)):
        earns = game.against(seat, strategies)
        gains.append((earns.max() - earns @ strategy) / (np.ptp(payoff) or 1.0))
    return float(max(gains))


def best_correlated(game: TensorGame, coarse: bool) -> Correlated:
    """Return the (coarse) correlated equilibrium in which the players earn most together, by a linear program."""
    from scipy.optimize import linprog

    if math.prod(game.shape) > _MOST_JOINT:
        raise InputError(f"{game.name} has {math.prod(game.shape):,} joint actions; accepted: at most {_MOST_JOINT:,}.")
    gains = _gains(game, coarse)
    welfare = np.sum(game.payoffs, axis=0).ravel()
    width = float(np.ptp(welfare)) or 1.0
    found = linprog(
        -welfare / width,
        A_ub=gains,
        b_ub=np.zeros(gains.shape[0]),
        A_eq=np.ones((1, len(welfare))),
        b_eq=[1.0],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.x is None:
        raise CoeblError(f"the linear program of {game.name} was not solved: {found.message}")
    joint = np.maximum(found.x, 0.0)
    joint /= joint.sum()
    regret = float(max((gains @ joint).max(initial=0.0), 0.0))
    # For any multipliers >= 0 and any equilibrium p: w p <= w p - multipliers gains p <= the largest entry below.
    multipliers = np.maximum(-found.ineqlin.marginals, 0.0)
    gap = float((welfare / width - gains.T @ multipliers).max() - welfare @ joint / width)
    if regret > _CERTIFIED_JOINT or gap > _CERTIFIED_JOINT:
        raise CoeblError(f"the linear program of {game.name} has an answer with a gap of {max(regret, gap):.1e}")
    payoffs = tuple(float(payoff.ravel() @ joint) for payoff in game.payoffs)
    return Correlated(joint.reshape(game.shape), payoffs, regret, max(gap, 0.0))


def _gains(game: TensorGame, coarse: bool) -> Any:
    """Return what deviations gain in each joint action: sparse, (deviations, joint actions).

    A deviation of a correlated equilibrium is to play b whenever a was advised; of a coarse one, always to play b.
    Gains are shares of the width of the player's payoffs.
    """
    from scipy.sparse import csr_array, vstack

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
