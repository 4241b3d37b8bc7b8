"""Games between genomes: an action is a string of n bits, and a policy has the probability of a 1 for each bit.

No array has 2^n entries unless n is at most 10. A game has oracles instead: the payoff of two genomes, the expected
payoff of two policies, the best response to a policy, the value. To add a game, extend `GenomeGame`, or write a
function of two batches of genomes (`FunctionGame`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from types import FunctionType, MethodType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from coebl.core.arrays import Booleans, Floats, Ints, check_range
from coebl.core.errors import InputError, check_integer
from coebl.core.sources import source_of
from coebl.games.game import SEATS, Game, ZeroSumGame
from coebl.games.noise import Noise
from coebl.games.spaces import Bits

MOST_LISTED = 10  # genes up to which all genomes are listed
_MOST_GENES = 100_000
_CERTAIN = 1e-9  # differences up to this share of the payoff range are rounding


class GenomeGame(ZeroSumGame):
    """A two-player zero-sum game between genomes of n genes. A subclass defines `_payoffs`, and oracles if they exist.

    With at most 10 genes all genomes are listed, and no oracle is needed. With more genes, a game lacks the oracles
    that it does not define (`unknown`), and metrics that need them are rejected with the reason.

    A game g with `mask` hides which value of a gene counts as 1: it is g(x xor s, y xor s'), with s and s' drawn for
    each seed when the game is dealt. Until then its methods are those of g.

    Args:
        n: the number of genes.
        payoff_range: the limits of the payoffs to the row player.
        name: the name in tables and messages.
        noise: the noise of the rewards: a spec, or a `Noise`.
        mask: true if masks are drawn when the game is dealt.

    >>> class OneMax(GenomeGame):
    ...     def _payoffs(self, x, y):
    ...         return (x.sum(axis=-1) - y.sum(axis=-1)) / self.n
    >>> game = OneMax(4, payoff_range=(-1, 1))
    >>> game.payoffs(np.array([[1, 1, 0, 0]]), np.array([[1, 0, 0, 0]])), game.value
    (array([0.25]), 0.0)
    >>> half = np.full((1, 4), 0.5)
    >>> game.response(0, half), game.answer(0, half)
    (array([0.5]), array([[1, 1, 1, 1]], dtype=int8))
    """

    _space = Bits
    _not_compared = ZeroSumGame._not_compared | {"einsum", "_on_cpu"}
    linear: ClassVar[bool] = False  # True if expected payoffs are linear in the marginals of each player

    def __init__(
        self,
        n: int,
        *,
        payoff_range: tuple[float, float],
        name: str = "game",
        noise: str | Noise = "gaussian",
        mask: bool = True,
    ) -> None:
        super().__init__(name, noise)
        self.n = check_integer("n", n, 1, _MOST_GENES)
        self.payoff_range = check_range(payoff_range)
        self.mask = mask
        self.masks: Ints | None = None  # (2, runs, n), for each seat, of a game that was dealt
        self.einsum: Callable[..., Any] = np.einsum  # the function of the device that holds its arrays
        self._on_cpu: Self | None = None  # the same game, if this one has its arrays on another device

    # The parts that a game defines, for genomes without masks

    def _payoffs(self, x: Ints, y: Ints) -> Floats:
        """Return the payoffs of genomes, (..., n), to the row player: (...)."""
        raise InputError(f"{self.name} has no _payoffs(x, y); write one that returns a payoff per pair of genomes.")

    def _expected(self, row: Floats, column: Floats) -> Floats:
        """Return the expected payoff of two policies, (..., n), to the row player: (...)."""
        return (_probabilities(row) * self._against(0, column)).sum(axis=-1)

    def _answer(self, seat: int, policy: Floats) -> Ints:
        """Return a genome of a seat that is a best response to the opponent's policy: (..., n)."""
        listed: Ints = np.asarray(genomes(self.n), like=policy)
        return listed[self._against(seat, policy).argmax(axis=-1)]

    def _response(self, seat: int, policy: Floats) -> Floats:
        """Return the payoff of a seat's best response to the opponent's policy, (..., n): (...)."""
        answer = self._answer(seat, policy).astype(np.float64)
        return self._expected(answer, policy) if seat == 0 else -self._expected(policy, answer)

    def _guaranteed(self, seat: int, genome: Ints) -> Floats:
        """Return the least payoff that a genome of a seat, (..., n), can earn: (...)."""
        return -self._response(1 - seat, np.asarray(genome, np.float64, like=genome))

    def _value(self) -> float:
        """Return the payoff of the row player at equilibrium."""
        return self._listed.value

    @cached_property
    def _listed(self) -> Game:
        return (self._on_cpu or self)._with(masks=None).to_matrix()

    def _against(self, seat: int, policy: Floats) -> Floats:
        """Return the payoff of each genome of a seat against the opponent's policy: (..., 2^n)."""
        matrix: Floats = np.asarray(self._listed.own_view(SEATS[seat]).T, like=policy)
        return self._times(_probabilities(policy), matrix)

    def _times(self, vectors: Floats, matrix: Floats) -> Floats:
        """Return vectors, (..., j), times a matrix, (j, i), with sums whose order does not depend on the batch."""
        flat = np.ascontiguousarray(vectors.reshape((-1, vectors.shape[-1])), like=vectors)
        product: Floats = self.einsum("rj,ji->ri", flat, np.ascontiguousarray(matrix, like=matrix))
        return product.reshape((*vectors.shape[:-1], -1))

    # The interface of metrics, learners and searches

    @property
    def unknown(self) -> frozenset[str]:
        """The oracles that the game lacks, out of "expected", "response" and "value". The others are exact."""
        if self.n <= MOST_LISTED:
            return frozenset()
        hooks = {"expected": "_expected", "response": "_answer", "value": "_value"}
        return frozenset(name for name, hook in hooks.items() if getattr(type(self), hook) is getattr(GenomeGame, hook))

    def payoffs(self, x: Ints, y: Ints) -> Floats:
        """Return the payoffs to the row player of its genomes x against genomes y, both (..., n), without noise."""
        for name, genome in (("x", x), ("y", y)):
            if np.shape(genome)[-1:] != (self.n,):
                raise InputError(f"{name} has shape {np.shape(genome)}; accepted: genomes of {self.n} genes.")
        return self._payoffs(self._bare(0, x), self._bare(1, y))

    def payoffs_of_pairs(self, x: Ints, y: Ints, i: Ints | None = None, j: Ints | None = None) -> Floats:
        """Return the payoffs to the row player, without noise, of the pairs that a search asks for: (runs, queries).

        Args:
            x: genomes of the row player: (runs, genomes, n).
            y: genomes of the column player, likewise.
            i: the index in x of the genome of each query, (runs, queries); None if x and y are the pairs, in order.
            j: likewise for y.
        """
        if i is not None and j is not None:
            runs = np.arange(len(x))[:, None]
            x, y = x[runs, i], y[runs, j]
        return self.payoffs(x.swapaxes(0, 1), y.swapaxes(0, 1)).T  # masks are (runs, n)

    def expected(self, row: Floats, column: Floats) -> Floats:
        """Return the expected payoff to the row player of the policies row and column, marginals (..., n): (...)."""
        self._need("expected")
        return self._expected(self._bare(0, row), self._bare(1, column))

    def response(self, seat: int, policy: Floats) -> Floats:
        """Return the largest payoff of a seat, 0 for row or 1 for column, against the opponent's policy, (..., n)."""
        self._need("response")
        return self._response(seat, self._bare(1 - seat, policy))

    def answer(self, seat: int, policy: Floats) -> Ints:
        """Return a genome of a seat that earns `response` against the opponent's policy: (..., n)."""
        self._need("response")
        return self._bare(seat, self._answer(seat, self._bare(1 - seat, policy)))

    @cached_property
    def value(self) -> float:
        """The payoff of the row player at equilibrium."""
        self._need("value")
        return float(self._value()) if self._on_cpu is None else self._on_cpu.value

    def is_optimal(self, seat: int, action: Ints) -> Booleans:
        """Return true where an action of a seat, a genome, (..., n), guarantees the value as a pure strategy: (...)."""
        self._need("response")
        value, (low, high) = self.value if seat == 0 else -self.value, self.payoff_range
        return self._guaranteed(seat, self._bare(seat, action)) >= value - _CERTAIN * (high - low)

    def is_target(self, seat: int, action: Ints) -> Booleans:
        """Return true where an action of a seat ends a run with `until="optimum"`: by default an optimal genome."""
        return self.is_optimal(seat, action)

    def _need(self, oracle: str) -> None:
        if oracle in self.unknown:
            raise InputError(
                f"{self.name} has no exact {oracle} for {self.n} genes; accepted: at most {MOST_LISTED} genes, or a "
                "game that defines it."
            )

    def to_matrix(self) -> Game:
        """Return the 2^n x 2^n matrix game, labelled by genomes, with the masks of the seed if the game was dealt."""
        if self.n > MOST_LISTED:
            raise InputError(f"{self.name} has 2^{self.n} genomes; accepted for a matrix: at most {MOST_LISTED} genes.")
        if self.masks is not None and self.masks.shape[1] > 1:
            raise InputError(f"{self.name} was dealt to {self.masks.shape[1]} seeds; accepted for a matrix: one.")
        listed = genomes(self.n)
        labels = ["".join(map(str, genome)) for genome in listed.tolist()]
        return Game(
            self.payoffs(listed[:, None], listed[None]),
            name=self.name,
            row_labels=labels,
            column_labels=labels,
            noise=self.noise,
            payoff_range=self.payoff_range,
        )

    # Masks

    def dealt(self, seeds: Sequence[int], backend: Any = None) -> Self:
        """Return the game that runs of these seeds play, with their masks, on the device of a backend or the CPU."""
        from coebl.backend.streams import NATURE, generator  # imports Numba

        game = self
        if self.mask:
            shape = 2, self.n
            drawn = [generator(seed, NATURE, "uniform").integers(0, 2, shape, np.int8) for seed in seeds]
            game = self._with(masks=np.stack(drawn, axis=1))
        return game if backend is None else game.placed(backend)._with(einsum=backend.einsum, _on_cpu=self)

    def _bare(self, seat: int, genome: NDArray[Any]) -> NDArray[Any]:
        """Return genomes or marginals with the mask of a seat applied; applied twice, it has no effect."""
        return genome if self.masks is None else np.abs(genome - self.masks[seat])

    # The interface of the engine

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of policies: the numbers of genes."""
        return self.n, self.n

    def _paid(self, row: Ints, column: Ints) -> Floats:
        return self.payoffs(row, column)

    def _parts(self) -> list[str]:
        plain = [(key, value) for key, value in self._content()[1:] if not callable(vars(self)[key])]
        parts = [repr(plain), type(self).__qualname__]
        own: list[Any] = [code for key, code in vars(self).items() if callable(code) and key != "einsum"]
        for code in own:
            if isinstance(code, partial):
                parts.append(f"{code.args} {code.keywords}")
                own.append(code.func)
            elif isinstance(code, MethodType):
                own.append(code.__func__)
            elif isinstance(code, (type, FunctionType)):
                parts.append(source_of(code))
        return parts

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.spec or self.name!r}, {self.n} genes, {self.noise}>"

    def __str__(self) -> str:
        hidden = "masked" if self.mask else "without masks"
        return f"{self.spec or self.name}: two genomes of {self.n} genes, {hidden}, noise {self.noise}"


def genomes(n: int) -> Ints:
    """Return all genomes of n genes, (2^n, n), in the order of binary numbers.

    >>> genomes(2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return (np.arange(2**n)[:, None] >> np.arange(n)[::-1] & 1).astype(np.int8)


def _probabilities(policy: Floats) -> Floats:
    """Return the probability of every genome under a policy: (..., 2^n)."""
    chances: Floats = np.ones_like(policy[..., :1])
    for gene in range(policy.shape[-1]):
        marginal = policy[..., gene, None]
        chances = np.stack([chances * (1 - marginal), chances * marginal], axis=-1).reshape((*policy.shape[:-1], -1))
    return chances


class FunctionGame(GenomeGame):
    """A game whose payoffs are a function of two batches of genomes.

    A function in a file such as mine.py whose first two parameters are x and y, without annotations, is such a game,
    with payoffs in -1 .. 1. Its spec is mine.py:payoff:n=20; n is passed to the function if it has that parameter.

    Args:
        payoff: a function that returns a payoff to the row player per row of x and y, both (runs, n) of 0 and 1.
        n: the number of genes.
        payoff_range: the limits of the payoffs.
        **options: the options of `GenomeGame`.

    >>> def closest(x, y):
    ...     return 1 - 2 * abs(x - y).mean(axis=-1)
    >>> game = FunctionGame(closest, n=6)
    >>> game.payoffs(np.array([[1, 1, 0, 0, 0, 0]]), np.array([[1, 0, 0, 0, 0, 1]]))
    array([0.33333333])
    >>> round(game.value, 6)
    0.0
    """

    def __init__(
        self,
        payoff: Callable[[Any, Any], Any],
        n: int,
        *,
        payoff_range: tuple[float, float] = (-1.0, 1.0),
        **options: Any,
    ) -> None:
        super().__init__(n, payoff_range=payoff_range, **options)
        self.payoff = payoff

    def _payoffs(self, x: Ints, y: Ints) -> Floats:
        x, y = np.broadcast_arrays(x, y)
        batch = x.shape[:-1]
        flat = [genome.reshape((-1, self.n)).astype(np.int64) for genome in (x, y)]  # int64: sums do not overflow
        payoff: Floats = np.asarray(self.payoff(*flat), np.float64, like=flat[0])
        if payoff.shape != (len(flat[0]),):
            raise InputError(
                f"{self.name} returned an array of shape {payoff.shape} for {len(flat[0])} pairs of genomes; "
                f"accepted: ({len(flat[0])},), a payoff per pair. Sum over the last axis."
            )
        low, high = self.payoff_range
        slack = _CERTAIN * (high - low)
        inside = (payoff >= low - slack) & (payoff <= high + slack)  # false for NaN
        if not inside.all():
            raise InputError(
                f"{self.name} returned the payoff {float(payoff[~inside][0])}; accepted: numbers in its payoff range, "
                f"{low:g} .. {high:g}. Scale it, or return FunctionGame(payoff, n, payoff_range=(low, high))."
            )
        return payoff.reshape(batch)
