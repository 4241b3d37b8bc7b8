"""Games between genomes that have exact oracles for any number of genes; `coebl.games.catalogue` names them.

In formulas x and y are genomes, |x| the number of ones of x, and 1^n the genome of n ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coebl.core.arrays import Booleans, Floats, Ints, check_payoff, known_range
from coebl.core.errors import CoeblError, InputError, check_integer
from coebl.games.genomes import GenomeGame

MOST_COUNTED = 5000  # the most genes of a game with a table of counts
_GAP = 1e-9  # the largest gap of a certified equilibrium, as a share of the payoff range


def _law_of_count(policy: Floats) -> Floats:
    """Return the probability of each number of ones of independent bits, (..., n): (..., n + 1).

    >>> _law_of_count(np.array([0.5, 0.5, 1.0]))
    array([0.  , 0.25, 0.5 , 0.25])
    """
    genes = np.moveaxis(policy, -1, 0)  # one bit after the other
    law: Floats = np.zeros((len(genes) + 1, *policy.shape[:-1]), like=policy)
    law[0] = 1
    for k in range(len(genes)):
        law[1 : k + 2] = law[1 : k + 2] * (1 - genes[k]) + law[: k + 1] * genes[k]
        law[0] *= 1 - genes[k]
    return np.moveaxis(law, 0, -1)


def _ones(genome: Ints) -> Ints:
    """Return the number of ones of genomes, (..., n): (...). int32 takes a fifth of the time in a search."""
    return genome.sum(axis=-1, dtype=np.int32)


class CountGame(GenomeGame):
    """A game whose payoff depends only on the numbers of ones.

    Its value is that of the (n + 1) x (n + 1) matrix game of the counts, which the solver certifies.

    Args:
        payoff: the payoff of k ones against l ones: a function of two arrays of counts, or a table, (n + 1, n + 1).
        n: the number of genes; by default that of the table.
        payoff_range: the limits of the payoffs; by default the smallest and the largest payoff.
        **options: the options of `GenomeGame`.

    >>> game = CountGame(lambda k, l: np.sign(k - l) * (k > 0), n=100)
    >>> game.value, game.response(0, np.full((1, 100), 0.5))
    (0.0, array([1.]))
    """

    def __init__(
        self,
        payoff: Callable[[Ints, Ints], ArrayLike] | ArrayLike,
        n: int | None = None,
        *,
        payoff_range: tuple[float, float] | None = None,
        **options: Any,
    ) -> None:
        if callable(payoff):
            n = check_integer("n", n, 1, MOST_COUNTED)
            counts = np.arange(n + 1)
            payoff = np.broadcast_to(payoff(counts[:, None], counts[None]), (n + 1, n + 1))
        table = check_payoff(payoff)
        genes = len(table) - 1 if n is None else n
        if table.shape != (genes + 1, genes + 1):
            raise InputError(f"payoff has shape {table.shape}; accepted: (n + 1, n + 1), for counts 0 .. n.")
        super().__init__(genes, payoff_range=known_range(payoff_range, table), **options)
        self.table = table

    def _payoffs(self, x: Ints, y: Ints) -> Floats:
        return self.table[_ones(x), _ones(y)]

    def payoffs_of_pairs(self, x: Ints, y: Ints, i: Ints | None = None, j: Ints | None = None) -> Floats:
        """Return the payoffs of pairs, as `GenomeGame` does, but count the ones of every genome once."""
        k, l = (_ones(self._bare(seat, side.swapaxes(0, 1))).T for seat, side in enumerate((x, y)))
        if i is not None and j is not None:
            k, l = np.take_along_axis(k, i, axis=1), np.take_along_axis(l, j, axis=1)
        return self.table[k, l]

    def _guaranteed(self, seat: int, genome: Ints) -> Floats:
        least: Floats = self.table.min(axis=1) if seat == 0 else -self.table.max(axis=0)  # of each count
        return least[_ones(genome)]

    def _earned(self, seat: int, policy: Floats) -> Floats:
        """Return the payoff of each count of a seat against the opponent's policy: (..., n + 1)."""
        view = self.table.T if seat == 0 else -self.table
        return self._times(_law_of_count(policy), view)

    def _expected(self, row: Floats, column: Floats) -> Floats:
        return (_law_of_count(row) * self._earned(0, column)).sum(axis=-1)

    def _answer(self, seat: int, policy: Floats) -> Ints:
        count = self._earned(seat, policy).argmax(axis=-1)
        return (np.arange(self.n, like=count) < count[..., None]).astype(np.int8)

    def _response(self, seat: int, policy: Floats) -> Floats:
        return self._earned(seat, policy).max(axis=-1)

    def _value(self) -> float:
        from coebl.solver import solve_matrix  # imports Numba

        return solve_matrix(self.table).value


class _OnesWin(GenomeGame):
    """A game in which 1^n is a best response to everything and earns 1, or 0 against itself. Its value is 0."""

    def _answer(self, seat: int, policy: Floats) -> Ints:
        return np.ones_like(policy).astype(np.int8)

    def _response(self, seat: int, policy: Floats) -> Floats:
        return 1 - policy.prod(axis=-1)

    def _value(self) -> float:
        return 0.0


class Diagonal(_OnesWin, CountGame):
    """The genome with more ones wins: the sign of |x| - |y|, with n genes and the options of `GenomeGame`.

    >>> half = np.full((1, 3), 0.5)
    >>> Diagonal(3).response(0, half), Diagonal(3).expected(half, np.ones((1, 3)))
    (array([0.875]), array([-0.875]))
    """

    def __init__(self, n: int, **options: Any) -> None:
        super().__init__(lambda k, l: np.sign(k - l), n, payoff_range=(-1, 1), **options)


class BinaryDiagonal(CountGame):
    """Diagonal as the runtime papers define it: 1 if |x| >= |y|, else 0.

    Its value is 1: 1^n wins against everything, so every genome of the column player guarantees the value. The papers
    search for 1^n, the only undominated genome of each player: it is the target. The options are those of `GenomeGame`.

    >>> BinaryDiagonal(3).is_target(1, np.array([[1, 1, 1], [1, 1, 0]]))
    array([ True, False])
    """

    def __init__(self, n: int, **options: Any) -> None:
        super().__init__(np.greater_equal, n, payoff_range=(0, 1), **options)

    def is_target(self, seat: int, action: Ints) -> Booleans:
        """Return true where a genome of a seat, (..., n), is 1^n without its mask: (...)."""
        return _ones(self._bare(seat, action)) == self.n


class BiggerNumber(_OnesWin):
    """The larger of two numbers wins, the first gene being the most significant bit: the sign of x - y.

    Args:
        n: the number of genes.
        shuffle: true if the order of significance, the same for both players, is drawn for each seed.
        **options: the options of `GenomeGame`.

    >>> BiggerNumber(3).payoffs(np.array([[1, 0, 0]]), np.array([[0, 1, 1]]))
    array([1.])
    """

    def __init__(self, n: int, shuffle: bool = False, **options: Any) -> None:
        super().__init__(n, payoff_range=(-1, 1), **options)
        self.shuffle = shuffle
        self.order: Ints | None = None  # (runs, n), of a game that was dealt

    def dealt(self, seeds: Sequence[int], backend: Any = None) -> Self:
        from coebl.backend.streams import NATURE, generator  # imports Numba

        if not self.shuffle:
            return super().dealt(seeds, backend)
        order = np.stack([generator(seed, NATURE, "normal").permutation(self.n) for seed in seeds])
        return super(BiggerNumber, self._with(order=order)).dealt(seeds, backend)

    def _ranked(self, genome: NDArray[Any]) -> NDArray[Any]:
        """Return genomes or marginals, the most significant gene first."""
        if self.order is None:
            return genome
        return np.take_along_axis(genome, np.broadcast_to(self.order, genome.shape), axis=-1)

    def _payoffs(self, x: Ints, y: Ints) -> Floats:
        difference = self._ranked(x - y)
        first = (difference != 0).argmax(axis=-1)
        return np.take_along_axis(difference, first[..., None], axis=-1)[..., 0].astype(np.float64)

    def _expected(self, row: Floats, column: Floats) -> Floats:
        row, column = self._ranked(row), self._ranked(column)
        equal = (row * column + (1 - row) * (1 - column)).cumprod(axis=-1)
        before = np.concatenate([np.ones_like(equal[..., :1]), equal[..., :-1]], axis=-1)
        return (before * (row - column)).sum(axis=-1)


class Bilinear(GenomeGame):
    """The product (u - beta)(v - alpha), where u and v are the shares of ones of x and y.

    Its value is 0: every mixture with mean shares beta and alpha is an equilibrium.

    Args:
        n: the number of genes.
        alpha: the equilibrium share of the column player, in 0 .. 1.
        beta: the equilibrium share of the row player.
        **options: the options of `GenomeGame`.

    >>> game = Bilinear(4, alpha=0.5, beta=0.25)
    >>> game.response(0, np.ones((1, 4))), game.is_optimal(0, np.array([[0, 0, 1, 0], [1, 1, 0, 0]]))
    (array([0.375]), array([ True, False]))
    """

    linear = True

    def __init__(self, n: int, alpha: float = 0.5, beta: float = 0.5, **options: Any) -> None:
        corners = [(u - beta) * (v - alpha) for u in (0, 1) for v in (0, 1)]
        super().__init__(n, payoff_range=(min(corners), max(corners)), **options)
        self.alpha, self.beta = alpha, beta

    def _payoffs(self, x: Ints, y: Ints) -> Floats:
        return (x.mean(axis=-1) - self.beta) * (y.mean(axis=-1) - self.alpha)

    def _expected(self, row: Floats, column: Floats) -> Floats:
        return (row.mean(axis=-1) - self.beta) * (column.mean(axis=-1) - self.alpha)

    def _slope(self, seat: int, policy: Floats) -> Floats:
        """Return the gain of a seat if its share of ones is 1 instead of 0."""
        mean: Floats = policy.mean(axis=-1)
        return mean - self.alpha if seat == 0 else self.beta - mean

    def _answer(self, seat: int, policy: Floats) -> Ints:
        ones = self._slope(seat, policy)[..., None] > 0
        return np.broadcast_to(ones, policy.shape).astype(np.int8)

    def _response(self, seat: int, policy: Floats) -> Floats:
        slope, own = self._slope(seat, policy), self.beta if seat == 0 else self.alpha
        return np.maximum(slope * (1 - own), -slope * own)

    def _value(self) -> float:
        return 0.0


class Marginals(NamedTuple):
    """An equilibrium of a game that is linear in the genes, with a certificate."""

    row: Floats  # (n,)
    column: Floats  # (n,)
    value: float
    gap: float  # the sum of the gains of best responses: 0 up to rounding


class GeneBilinear(GenomeGame):
    """A payoff that is linear in the genes of each player: constant + own'x + other'y + x' pairs y.

    Only the marginals of a policy matter, and a best response sets each gene by the sign of its slope. The equilibrium
    is the solution of a linear program in 2n variables, and best responses certify it.

    Args:
        constant: the payoff of all zeros.
        own: the effect of each gene of the row player: (n,).
        other: likewise for the column player.
        pairs: the effect of each pair of genes: (n, n).
        payoff_range: the limits of the payoffs; by default bounds that the coefficients imply.
        **options: the options of `GenomeGame`.

    >>> game = GeneBilinear(0.0, own=[1.0, 0.25], other=[1.0, 0.5], pairs=[[-2.0, 0.0], [0.0, 0.0]])
    >>> game.value, game.equilibrium.row, game.equilibrium.column
    (0.75, array([0.5, 1. ]), array([0.5, 0. ]))
    """

    linear = True

    def __init__(
        self,
        constant: float,
        own: ArrayLike,
        other: ArrayLike,
        pairs: ArrayLike,
        *,
        payoff_range: tuple[float, float] | None = None,
        **options: Any,
    ) -> None:
        self.pairs = check_payoff(pairs)
        n = len(self.pairs)
        self.own, self.other = (np.asarray(effects, np.float64) for effects in (own, other))
        if self.pairs.shape != (n, n) or self.own.shape != (n,) or self.other.shape != (n,):
            raise InputError(
                f"own, other and pairs have shapes {self.own.shape}, {self.other.shape} and {self.pairs.shape}; "
                "accepted: (n,), (n,) and (n, n)."
            )
        self.constant = float(constant)
        if not np.isfinite([*self.own, *self.other, self.constant]).all():
            raise InputError("constant, own or other has NaN or infinity; accepted: finite numbers.")
        super().__init__(n, payoff_range=payoff_range or self._bounds(), **options)

    def _bounds(self) -> tuple[float, float]:
        """Return bounds of the payoffs: the sums of the largest effects of single genes of one player."""

        def highest(own: Floats, other: Floats, pairs: Floats) -> float:
            positive = np.maximum(pairs, 0)
            by_row = np.maximum(0, own + positive.sum(axis=1)).sum() + np.maximum(0, other).sum()
            by_column = np.maximum(0, other + positive.sum(axis=0)).sum() + np.maximum(0, own).sum()
            return float(min(by_row, by_column))

        low = self.constant - highest(-self.own, -self.other, -self.pairs)
        high = self.constant + highest(self.own, self.other, self.pairs)
        return low, high if high > low else low + 1.0

    def _expected(self, row: Floats, column: Floats) -> Floats:
        mixed = (self._times(row, self.pairs) * column).sum(axis=-1)
        return self.constant + (row * self.own).sum(axis=-1) + (column * self.other).sum(axis=-1) + mixed

    def _payoffs(self, x: Ints, y: Ints) -> Floats:
        return self._expected(x.astype(np.float64), y.astype(np.float64))

    def _slopes(self, seat: int, policy: Floats) -> Floats:
        """Return the gain of a seat if a gene is 1 instead of 0, for each gene: (..., n)."""
        if seat == 0:
            return self.own + self._times(policy, self.pairs.T)
        return -(self.other + self._times(policy, self.pairs))

    def _answer(self, seat: int, policy: Floats) -> Ints:
        return (self._slopes(seat, policy) > 0).astype(np.int8)

    def _response(self, seat: int, policy: Floats) -> Floats:
        effects = self.other if seat == 0 else self.own
        fixed: Floats = self.constant + (policy * effects).sum(axis=-1)
        gained: Floats = np.maximum(self._slopes(seat, policy), 0).sum(axis=-1)
        return fixed + gained if seat == 0 else gained - fixed

    @cached_property
    def equilibrium(self) -> Marginals:
        """The certified equilibrium, computed once, for genomes without masks."""
        from scipy.optimize import linprog

        # The row player maximises own'p + sum t, where t_j <= 0 and t_j <= other_j + (p' pairs)_j is the loss by the
        # column player's gene j. The multipliers of the last inequality are the column player's marginals.
        n = self.n
        solution = linprog(
            -np.concatenate([self.own, np.ones(n)]),
            A_ub=np.hstack([-self.pairs.T, np.eye(n)]),
            b_ub=self.other,
            bounds=[(0, 1)] * n + [(None, 0)] * n,
            method="highs",
        )
        if not solution.success or solution.x is None:
            raise CoeblError(f"{self.name}: the linear program of its equilibrium has no answer: {solution.message}")
        row, column = np.clip(solution.x[:n], 0, 1), np.clip(-solution.ineqlin.marginals, 0, 1)
        high, low = float(self._response(0, column)), -float(self._response(1, row))
        width = self.payoff_range[1] - self.payoff_range[0]
        if high - low > _GAP * width:
            raise CoeblError(f"{self.name}: its equilibrium has a gap of {high - low:.1e}, and is not certified.")
        return Marginals(row, column, (high + low) / 2, high - low)

    def _value(self) -> float:
        return self.equilibrium.value
