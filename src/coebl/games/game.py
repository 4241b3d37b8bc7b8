"""The game: a matrix of payoffs to the row player, with labels and a noise model."""

from __future__ import annotations

import copy
import itertools
import math
import os
from collections.abc import Sequence
from functools import cached_property, partial, update_wrapper
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from coebl.core.arrays import Floats, Ints, check_labels, check_payoff, has_tensors, known_range
from coebl.core.errors import InputError, printable, shorten
from coebl.core.sources import source_of
from coebl.games.equilibria import Distance, Equilibria, Uniqueness, distances, extreme_equilibria, uniqueness
from coebl.games.interchange import Interchange
from coebl.games.noise import Noise, parse_noise
from coebl.games.spaces import Indices, Space

if TYPE_CHECKING:
    from coebl.solver import Solution

PayoffRange = tuple[float, float]  # the ends between which payoffs are known to lie
SEATS = ("row", "column")  # of two players

_SHOWN = 12  # rows, columns or joint actions in the printed table


@runtime_checkable
class AnyGame(Protocol):
    """The part of a game that the engine needs. An object of any class with these attributes can be played.

    A game may also have attributes that the engine uses only where they exist:

    - `payoff_range`: the limits of the payoffs to the row player, in a game in which the column player loses what the
      row player wins. A game without it is not zero-sum.
    - `draws`: the number of random draws per run and round, by default one. If there are more, `draw` is (runs, draws).
    - `dealt(seeds, backend)`: the game that the runs of these seeds play, if something is drawn for each of them.
    - `at(t)` and `steady(t)`: the game of round t, and the number of rounds, including round t, for which it stays the
      same, if payoffs change. Learners that see the true payoffs cannot play it.
    - `placed(backend)`: the game with its arrays on the device of a backend, for `rewards`.
    - `own_view(seat)`: the payoffs of a seat, (its actions, joint actions of the others), for learners that see them.
    - `answer(seat, policy)`: likewise, a best response to the opponent's policy, in a game of genomes.
    - `is_target(seat, action)`: true where an action ends a run with `until="optimum"`.

    Metrics declare what else they need, such as a `value`. A name in `unknown`, such as "value", means that the game
    lacks it although its class has the attribute.

    >>> isinstance(Game([[3, 0], [1, 2]]), AnyGame)
    True
    """

    name: str  # in tables and messages
    spec: str | None  # the spec that makes it, if one does
    noise: Noise  # the distribution of nature's numbers, one per run and round

    @property
    def seats(self) -> tuple[str, ...]:
        """The names of the seats."""

    @property
    def spaces(self) -> tuple[Space, ...]:
        """The actions of each seat."""

    @property
    def ranges(self) -> tuple[PayoffRange, ...]:
        """The known range of each seat's payoffs."""

    def rewards(self, actions: Sequence[Ints], draw: Floats) -> Sequence[Floats]:
        """Return the reward of each seat, (runs,), given the actions of each seat and the draw of the noise."""


def is_zero_sum(game: object) -> bool:
    """Return True if a game declares that the column player loses what the row player wins.

    >>> is_zero_sum(Game([[3, 0], [1, 2]])), is_zero_sum(Game(([[3, 0], [5, 1]], [[3, 5], [0, 1]])))
    (True, False)
    """
    return hasattr(game, "payoff_range")


class NamedGame:
    """The base of all games: a name, the spec that makes the game if one does, and a noise."""

    name: str
    spec: str | None = None
    noise: Noise
    _noise_of_spec: Noise | None = None  # which the game that it makes has, unless another was set; None: unknown
    _space: ClassVar[type[Space]] = Indices
    _not_compared: ClassVar[frozenset[str]] = frozenset({"name", "spec", "_noise_of_spec"})

    def __init__(self, name: str, noise: str | Noise) -> None:
        if not isinstance(name, str):
            raise InputError(f"name is {shorten(name)}; accepted: a string.")
        self.name, self.noise = name, parse_noise(noise)

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of the policy of each seat."""
        raise NotImplementedError

    @property
    def spaces(self) -> tuple[Space, ...]:
        """The actions of each seat."""
        return tuple(map(self._space, self.shape))

    def with_noise(self, noise: str | Noise) -> Self:
        """Return the same game with another noise, given as a spec or a `Noise`.

        >>> Game([[3, 0], [1, 2]]).with_noise("laplace:sigma=0.5")
        <Game 'game', 2 x 2, laplace:sigma=0.5>
        """
        return self._with(noise=parse_noise(noise))

    def renamed(self, name: str, spec: str | None = None) -> Self:
        """Return the same game with another name and the spec that makes it, if one does."""
        return self._with(name=name, spec=spec, _noise_of_spec=None)

    def _with(self, **changes: Any) -> Self:
        """Return a copy in which some attributes differ. The payoffs, which are read-only, are shared."""
        changed = copy.copy(self)
        vars(changed).update(changes)
        return changed

    def placed(self, backend: Any) -> Self:
        """Return the game with its arrays on the device of a backend, for `rewards`."""
        arrays = {name: part for name, part in vars(self).items() if isinstance(part, np.ndarray)}
        return self._with(**{name: backend.arrays.asarray(array) for name, array in arrays.items()})

    def fingerprint(self) -> str:
        """Return a string with everything that the rewards depend on, for the names of stored results."""
        built_in = type(self).__module__.startswith("coebl.")  # its wording may change
        custom = [] if built_in else [source_of(type(self))]
        return "\n".join([*self._parts(), *custom])

    def _parts(self) -> list[str]:
        """Return strings that describe all but the class of the game."""
        return []

    def _content(self) -> tuple[Any, ...]:
        """Return the parts by which games are compared: all but their names and what was computed from the others."""
        parts = [
            (key, _comparable(value))
            for key, value in sorted(vars(self).items())
            if key not in self._not_compared and not isinstance(getattr(type(self), key, None), cached_property)
        ]
        return type(self), *parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedGame) and self._content() == other._content()

    def __hash__(self: Any) -> int:
        return hash((type(self), self.shape, self.ranges))


def _comparable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        plain = value + 0.0 if value.dtype.kind == "f" else value  # -0.0 and 0.0 are the same payoff
        return value.shape, plain.tobytes()
    if isinstance(value, partial):
        return value.func, tuple(sorted(value.keywords.items()))
    return tuple(map(_comparable, value)) if isinstance(value, tuple) else value


class ZeroSumGame(NamedGame):
    """A game in which one of two players wins what the other loses: a `Game` with a matrix, or a `GenomeGame`."""

    seats: ClassVar[tuple[str, ...]] = SEATS

    payoff_range: PayoffRange  # the ends between which the payoffs to the row player lie

    @property
    def value(self) -> float:
        """The payoff of the row player at equilibrium."""
        raise NotImplementedError

    def rewards(self, actions: Sequence[Ints], draw: Floats) -> tuple[Floats, Floats]:
        """Return the observed reward of each seat, (runs,), given the actions of each seat and a draw of the noise.

        >>> Game([[3, 0], [1, 2]]).rewards(([0, 1], [0, 0]), np.array([0.5, -0.5]))
        (array([3.5, 0.5]), array([-3.5, -0.5]))
        """
        reward = self.noise.reward(self._paid(*actions), draw, self.payoff_range)
        return reward, -reward

    def _paid(self, row: Ints, column: Ints) -> Floats:
        """Return the payoff to the row player, without noise."""
        raise NotImplementedError

    @property
    def ranges(self) -> tuple[PayoffRange, ...]:
        """The known range of each seat's payoffs."""
        low, high = self.payoff_range
        return (low, high), (0.0 - high, 0.0 - low)


class TableGame(NamedGame, Interchange):
    """A game given by tables of payoffs: a `Game`, or a `TensorGame`."""

    # Both have seats, payoffs, labels and ranges, some of them as properties.

    def own_view(self: Any, seat: str) -> Floats:
        """Return the payoffs of the player in a seat, such as "row": (its actions, joint actions of the others).

        >>> Game([[3, 0, 5], [1, 2, 4]]).own_view("column")
        array([[-3., -1.],
               [ 0., -2.],
               [-5., -4.]])
        """
        if seat not in self.seats:
            raise InputError(f"seat is {shorten(seat)}; accepted: {', '.join(self.seats)}.")
        number = self.seats.index(seat)
        own = np.moveaxis(self.payoffs[number], number, 0)
        return np.ascontiguousarray(own.reshape(len(own), -1))

    def distance_to_correlated(self: Any, joint: Any, *, coarse: bool = False) -> Distance:
        """Return the certified distance of joint play from the set of correlated equilibria, in total variation.

        Args:
            joint: the share or the number of rounds of each joint action: (m1, ..., mN), or (runs, m1, ..., mN).
            coarse: true for the set of coarse correlated equilibria, which contains the other set.

        >>> game = Game(([[3, 0], [0, 2]], [[2, 0], [0, 3]]))
        >>> game.distance_to_correlated([[60, 40], [0, 0]]).distance.round(6)
        array([0.16])
        """
        counts = np.asarray(joint, np.float64)
        counts = counts[None] if counts.shape == self.shape else counts
        axes = tuple(range(1, 1 + len(self.shape)))
        if counts.shape[1:] != self.shape or not (counts >= 0).all() or not (counts.sum(axis=axes) > 0).all():
            size = ", ".join(map(str, self.shape))
            raise InputError(f"joint is {shorten(joint)}; accepted: numbers >= 0 of shape ({size}), not all of them 0.")
        return distances(self, counts / counts.sum(axis=axes, keepdims=True), coarse)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the game to a file whose path ends with .json or .nfg, or .csv or .npy for a matrix."""
        from coebl.games.game_files import write_game

        write_game(self, path)

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.shape))
        return f"<{type(self).__name__} {self.spec or self.name!r}, {size}, {self.noise}>"

    def __str__(self: Any) -> str:
        """Return a table of the payoffs: rows and columns for two players, else a line per joint action."""
        shown = self.payoffs[:1] if isinstance(self, Game) else self.payoffs

        def entry(*joint: int) -> str:
            return ", ".join(f"{payoff[joint] + 0.0:.4g}" for payoff in shown)

        labels = [[printable(label) for label in own[:_SHOWN]] for own in self.labels]
        if len(self.shape) == 2:
            more = ["..."] * (self.shape[1] > _SHOWN)
            table = [["", *labels[1], *more]]
            table += [[row, *(entry(i, j) for j in range(len(labels[1]))), *more] for i, row in enumerate(labels[0])]
            cut = self.shape[0] > _SHOWN
        else:
            joints = itertools.islice(np.ndindex(*self.shape), _SHOWN)
            table = [[*(own[a] for own, a in zip(labels, joint, strict=True)), entry(*joint)] for joint in joints]
            cut = math.prod(self.shape) > _SHOWN
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in table]
        size = " x ".join(map(str, self.shape))
        return "\n".join([f"{printable(self.spec or self.name)}: {size}, {self._about}", *lines, *["..."] * cut])


class Game(ZeroSumGame, TableGame):
    """A two-player zero-sum game in matrix form.

    The payoffs may be a pandas data frame: its index and its columns are then the labels, unless others are given.
    `Game((A, B))`, with the payoffs to each of two players, is a `TensorGame`.

    Games with the same payoffs, labels, noise and payoff range are equal, even if their names differ.

    Args:
        payoff: the payoffs to the row player, (m, n): a list of rows, an array or a data frame.
        name: the name in tables and messages.
        row_labels: the names of the row player's actions; by default their numbers.
        column_labels: the names of the column player's actions, likewise.
        noise: the noise of the rewards: a spec such as "gaussian:sigma=0.5", or a `Noise`.
        payoff_range: the range of the payoffs that learners receive. By default the smallest and the largest payoff;
            pass wider limits if a player would not know these.

    >>> game = Game([[3, 0], [1, 2]], name="example", row_labels=["up", "down"])
    >>> game
    <Game 'example', 2 x 2, gaussian>
    >>> game.value, game.solution.row
    (1.5, array([0.25, 0.75]))
    >>> Game(([[3, 0], [5, 1]], [[3, 5], [0, 1]]), name="dilemma")
    <TensorGame 'dilemma', 2 x 2, gaussian>
    """

    _constant_sum = True

    def __new__(cls, payoff: object = None, *_: Any, **options: Any) -> Any:
        """Return a `TensorGame` of a pair of matrices, or of N tensors; otherwise a new `Game`."""
        if cls is Game and has_tensors(payoff):
            from coebl.games.tensor import TensorGame

            if {"row_labels", "column_labels"} & options.keys():
                options["labels"] = [options.pop("row_labels", None), options.pop("column_labels", None)]
            if "payoff_range" in options:  # of both players
                options["payoff_ranges"] = [options.pop("payoff_range")] * 2
            return TensorGame(payoff, **options)
        return super().__new__(cls)

    def __init__(
        self,
        payoff: ArrayLike,
        *,
        name: str = "game",
        row_labels: Sequence[str] | None = None,
        column_labels: Sequence[str] | None = None,
        noise: str | Noise = "gaussian",
        payoff_range: PayoffRange | None = None,
    ) -> None:
        self.payoff = check_payoff(payoff)  # (m, n), to the row player
        self.payoff.flags.writeable = False
        super().__init__(name, noise)
        m, n = self.payoff.shape
        self.row_labels = check_labels(_given(row_labels, payoff, "index"), m, "row_labels")
        self.column_labels = check_labels(_given(column_labels, payoff, "columns"), n, "column_labels")
        self.payoff_range = known_range(payoff_range, self.payoff)

    def own_view(self, seat: str) -> Floats:
        """Return the payoffs of the player in a seat, as `TableGame` does; for the row player, the matrix itself."""
        return self.payoff if seat == "row" else super().own_view(seat)

    @property
    def payoffs(self) -> tuple[Floats, ...]:
        """The payoffs to each player: (m, n)."""
        return self.payoff, 0.0 - self.payoff

    @property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The names of each player's actions."""
        return self.row_labels, self.column_labels

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of actions, of the row player and of the column player."""
        return self.payoff.shape

    @cached_property
    def solution(self) -> Solution:
        """The certified equilibrium, computed once."""
        from coebl.solver import solve_matrix  # imports Numba

        return solve_matrix(self.payoff)

    @property
    def value(self) -> float:
        """The payoff of the row player at equilibrium."""
        return self.solution.value

    @cached_property
    def unique_equilibrium(self) -> Uniqueness:
        """A verdict on whether the equilibrium is the only one: yes, no, or unknown, with the reason."""
        return uniqueness(self)

    def equilibria(self) -> Equilibria:
        """Return all extreme equilibria of a small game: every other equilibrium is a mixture of these.

        >>> Game([[3, 3, 0], [1, 1, 2]]).equilibria().column
        array([[0.5, 0. , 0.5],
               [0. , 0.5, 0.5]])
        """
        return extreme_equilibria(self)

    def _paid(self, row: Ints, column: Ints) -> Floats:
        return self.payoff[row, column]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Game:
        """Read the game in a file, whose path ends with .csv, .npy, .json or .nfg."""
        from coebl.games.game_files import read_game

        read = read_game(path)
        if not isinstance(read, Game):
            raise InputError(f"{path} is not a two-player zero-sum game; read it with coebl.read_game.")
        return read

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the payoffs for NumPy's functions: by default a copy, since the payoffs of a game are read-only."""
        return np.array(self.payoff, dtype, copy=copy is not False)

    def _parts(self) -> list[str]:
        return [f"{self.payoff.tolist()} {self.ranges} {self.noise}"]

    def _repr_html_(self) -> str:
        from coebl.report.notebook import render_game

        return render_game(self)

    @property
    def _about(self) -> str:
        return f"payoffs to the row player, noise {self.noise}"


update_wrapper(Game.__new__, Game.__init__, (), ())  # so that help() and the site list the arguments of __init__


def has_matrix(game: object) -> TypeGuard[Game]:
    """Return True if a game is zero-sum and has a matrix of payoffs, which does not change."""
    return isinstance(game, Game) and not hasattr(game, "at")


def _given(labels: Sequence[str] | None, payoff: object, axis: str) -> Sequence[str] | None:
    """Return the labels of a player: those given, else those of a pandas data frame, unless they are row numbers."""
    if labels is not None or not hasattr(payoff, "iloc"):
        return labels
    index = getattr(payoff, axis)
    return None if type(index).__name__ == "RangeIndex" else [str(label) for label in index]
