"""Games drawn at random, or whose actions are reordered at random: the same seed gives the same game.

To add one, write a function here, as in `coebl.games.catalogue`, and give it a new family number.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.core.errors import InputError
from coebl.core.specs import Range
from coebl.games.equilibria import Uniqueness
from coebl.games.game import Game
from coebl.games.noise import Noise
from coebl.games.registry import GAMES, Columns, OtherGame, Rows, Seed, Size, parse_matrix

# Each family has its own stream of random numbers, so that games of the same seed are unrelated. The numbers
# are fixed.
_GAUSSIAN, _UNIFORM, _SIGN, _SKEW, _SMOOTH, _SPARSE, _ROBUST_BANDIT, _PERMUTED, _LOW_RANK, GENERAL_SUM = range(1, 11)

_JITTER = 1e-6  # keeps the kernel of random-smooth positive definite, up to 5000 actions, in spite of rounding
_GAP = 0.5  # the loss of random-sparse's unused actions at equilibrium


def generator(seed: int, family: int) -> np.random.Generator:
    """Return the random number generator of a family of games."""
    return np.random.default_rng([seed, family])


@GAMES.add("random-gaussian", title="Random, normal")
def random_gaussian(m: Rows = 10, n: Columns = 10, seed: Seed = 0) -> Game:
    """Independent standard normal payoffs.

    m x n, A_ij ~ N(0, 1). The equilibrium is almost surely unique.
    """
    return Game(generator(seed, _GAUSSIAN).standard_normal((m, n)))


@GAMES.add("random-uniform", title="Random, uniform")
def random_uniform(m: Rows = 10, n: Columns = 10, seed: Seed = 0) -> Game:
    """Independent payoffs, uniform between -1 and 1.

    m x n, A_ij ~ U(-1, 1). The equilibrium is almost surely unique.
    """
    return Game(generator(seed, _UNIFORM).uniform(-1, 1, (m, n)), payoff_range=(-1, 1))


@GAMES.add("random-sign", title="Random signs")
def random_sign(m: Rows = 10, n: Columns = 10, seed: Seed = 0) -> Game:
    """Independent payoffs, -1 or 1 with equal chances.

    m x n. Ties are common, so the equilibrium is often not unique.
    """
    return Game(generator(seed, _SIGN).choice([-1.0, 1.0], (m, n)), payoff_range=(-1, 1))


@GAMES.add("random-skew", title="Random, symmetric")
def random_skew(n: Annotated[Size, "the number of each player's actions"] = 10, seed: Seed = 0) -> Game:
    """A symmetric game with normal payoffs: the row player wins with i against j what it loses with j against i.

    n x n, A_ij = -A_ji ~ N(0, 1) above the diagonal, 0 on it.
    Value 0, and every optimal strategy of one player is optimal for the other.
    """
    upper = np.triu(generator(seed, _SKEW).standard_normal((n, n)), k=1)
    return Game(upper - upper.T)


@GAMES.add("random-smooth", title="Random, smooth")
def random_smooth(m: Rows = 10, n: Columns = 10, seed: Seed = 0) -> Game:
    """Payoffs that vary smoothly with the numbers of the actions.

    m x n, a Gaussian process of mean 0 and variance 1. Actions i and j of the row player have correlation
    exp(-(i - j)² / (2 (m/5)²)), and those of the column player likewise with n. Equal across machines up to rounding.
    """
    normal = generator(seed, _SMOOTH).standard_normal((m, n))
    # Covariance: the Kronecker product of both kernels. By einsum, as the rounding of @ depends on the CPU.
    return Game(np.einsum("ib,jb->ij", np.einsum("ia,ab->ib", _kernel_root(m), normal), _kernel_root(n)))


def _kernel_root(count: int) -> Floats:
    """Return L, (count, count), such that L L' is the correlation between the actions."""
    from coebl.backend import exp  # imports Numba
    from coebl.kernels.elementary import fill_root

    difference = np.subtract.outer(np.arange(count), np.arange(count)) / (count / 5)
    kernel = (exp(-(difference**2) / 2) + _JITTER * np.eye(count)) / (1 + _JITTER)
    fill_root(kernel, root := np.empty_like(kernel))
    return root


@GAMES.add("random-sparse", title="Random, planted equilibrium")
def random_sparse(
    m: Rows = 10, n: Columns = 10, k: Annotated[Size, "the actions that each player uses"] = 3, seed: Seed = 0
) -> Game:
    """A random game with a planted equilibrium in which each player uses k actions.

    m x n. The used actions are a random set, their probabilities within a factor of 3 of each other; every used action
    earns exactly the value at equilibrium, every other action 0.5 less for its player.
    Value 0; the equilibrium is almost surely unique.
    """
    if k > min(m, n):
        raise InputError(f"random-sparse: k is {k}; accepted: at most {min(m, n)}, the smaller of m={m} and n={n}.")
    random = generator(seed, _SPARSE)
    rows, x = _plant(random, m, k)
    columns, y = _plant(random, n, k)
    payoff = random.standard_normal((m, n))
    # Shift every row by a constant: against y, a used row now earns 0, any other -gap.
    payoff -= (np.einsum("ij,j->i", payoff[:, columns], y) + np.where(np.isin(np.arange(m), rows), 0.0, _GAP))[:, None]
    # Shift every column likewise: against x, a used column now pays 0, any other gap. The payoffs of rows against y do
    # not change, since the mean of these shifts by y is x'(A y) = 0.
    payoff -= np.einsum("i,ij->j", x, payoff[rows]) - np.where(np.isin(np.arange(n), columns), 0.0, _GAP)
    return Game(payoff)


def _plant(random: np.random.Generator, count: int, k: int) -> tuple[Ints, Floats]:
    """Choose k actions, and their probabilities."""
    weight = random.uniform(0.5, 1.5, k)
    return random.choice(count, k, replace=False), weight / weight.sum()


@GAMES.add("random-low-rank", title="Random, low rank")
def random_low_rank(
    m: Rows = 10, n: Columns = 10, rank: Annotated[Size, "the hidden numbers of an action"] = 2, seed: Seed = 0
) -> Game:
    """Payoffs that are products of a few hidden numbers per action.

    m x n, A = U V' / sqrt(rank), with independent standard normal U, (m, rank), and V, (n, rank). The payoffs have mean
    0 and variance 1.
    """
    if rank > min(m, n):
        raise InputError(f"random-low-rank: rank is {rank}; accepted: at most {min(m, n)}, as m={m} and n={n}.")
    random = generator(seed, _LOW_RANK)
    rows, columns = random.standard_normal((m, rank)), random.standard_normal((n, rank))
    return Game(np.einsum("ir,jr->ij", rows, columns) / np.sqrt(rank))


@GAMES.add("robust-bandit", title="Robust bandit")
def robust_bandit(seed: Seed = 0) -> Game:
    """A random 10 x 5 game, after the robust bandit experiment of O'Donoghue et al. (2021).

    A_ij ~ N(0.5, 2), the 2 read as a variance, which could not be checked against the source.
    The equilibrium is almost surely unique.
    """
    return Game(generator(seed, _ROBUST_BANDIT).normal(0.5, np.sqrt(2), (10, 5)))


@GAMES.add("permuted", title="Permuted game", example="permuted:game=rps")
def permuted(game: OtherGame, seed: Seed = 0) -> Game:
    """Another game with its rows and its columns in random order.

    Labels stay with their actions. Use it if learners break ties by position, or if the best action is the last.
    Commas of the inner spec are written +: permuted:game=blotto:coins=4+fields=2,seed=3.
    The value is that of the other game, and the equilibria are its equilibria in another order.
    """
    return permute(parse_matrix(game), seed)


def permute(game: Game, seed: int) -> Game:
    """Return the game with its rows and columns in random order, and the same noise and payoff range.

    >>> permute(Game([[1, 2]], column_labels=["a", "b"]), seed=2) == Game([[2, 1]], column_labels=["b", "a"])
    True
    """
    random = generator(seed, _PERMUTED)
    m, n = game.shape
    rows, columns = random.permutation(m), random.permutation(n)
    return Game(
        game.payoff[np.ix_(rows, columns)],
        row_labels=[game.row_labels[i] for i in rows],
        column_labels=[game.column_labels[j] for j in columns],
        noise=game.noise,
        payoff_range=game.payoff_range,
    )


class DriftingGame(Game):
    """A game whose payoffs change from round to round, while actions, noise and payoff range stay the same.

    Its `payoff` and its value are those of the first round. `at(t)` is the game of round t, which metrics use for that
    round.

    Args:
        game: the first game.
        every: the number of rounds after which its rows and columns get a new random order.
        steps: the number of steps in which the payoffs move from one order to the next, spread evenly over these
            rounds; with 1 they switch at once.
        seed: the seed of the orders.

    >>> game = DriftingGame(Game([[3, 0], [1, 2]]), every=100)
    >>> game.at(100).payoff.tolist(), game.at(101).payoff.tolist(), game.steady(31)
    ([[3.0, 0.0], [1.0, 2.0]], [[1.0, 2.0], [3.0, 0.0]], 70)
    """

    _not_compared = Game._not_compared | {"_games"}

    def __init__(self, game: Game, every: int, steps: int = 1, seed: int = 0) -> None:
        vars(self).update(vars(game))
        self.spec = None
        self._first = game
        self._every, self._steps, self._seed = every, min(steps, every), seed
        self._games: dict[tuple[int, str, Noise], Game] = {}  # the games so far, by stage, name and noise

    def at(self, t: int) -> Game:
        """Return the game of round t."""
        key = self._stage(t), self.name, self.noise
        if key not in self._games:
            period, step = divmod(key[0], self._steps)
            old, new = self._order(period), self._order(period + 1)
            payoff = old if step == 0 else old + step / self._steps * (new - old)
            self._games[key] = Game(payoff, name=self.name, noise=self.noise, payoff_range=self.payoff_range)
        return self._games[key]

    def steady(self, t: int) -> int:
        """Return the number of rounds, including round t, until the payoffs change."""
        first_of_next = -(-(self._stage(t) + 1) * self._every // self._steps) + 1
        return first_of_next - t

    def _stage(self, t: int) -> int:
        return (t - 1) * self._steps // self._every

    def _order(self, period: int) -> Floats:
        """Return the payoffs at the start of a period; the first period starts with the game's payoffs."""
        if period == 0:
            return self._first.payoff
        return permute(self._first, int(np.random.SeedSequence([self._seed, period]).generate_state(1)[0])).payoff

    @cached_property
    def unique_equilibrium(self) -> Uniqueness:
        """Unknown: the equilibrium changes with the payoffs."""
        return Uniqueness("unknown", "its payoffs change with the round")

    def _parts(self) -> list[str]:
        return [*super()._parts(), f"{self._every} {self._steps} {self._seed}"]


@GAMES.add("drifting", title="Drifting game", example="drifting:game=rps")
def drifting(
    game: OtherGame,
    every: Annotated[int, Range(1, 10**9), "the number of rounds from one order to the next"] = 1000,
    steps: Annotated[int, Range(1, 10**6), "the number of steps in which payoffs move; 1 is a sudden switch"] = 1,
    seed: Seed = 0,
) -> Game:
    """Another game whose rows and columns are put in a new random order at regular intervals.

    The first order is that of the game. With several steps the payoffs move gradually from one order to the next. It is
    a test for learners that forget. Learners that see the true payoffs cannot play it. Regret uses the value of each
    round, which is that of the other game in rounds with a complete order: with one step, in all.
    """
    return DriftingGame(parse_matrix(game), every, steps, seed)
