"""Games of any number of players, each with a tensor of payoffs, which need not add up to zero."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from coebl.core.arrays import MOST_ENTRIES, Floats, Ints, check_labels, check_payoff, has_tensors, known_range
from coebl.core.errors import InputError, printable, shorten
from coebl.games.equilibria import Correlated, Profile, best_correlated, nash_equilibria
from coebl.games.game import SEATS, PayoffRange, TableGame
from coebl.games.noise import Noise

if TYPE_CHECKING:
    from coebl.solver import Solution

Between = Literal["independent", "common", "opposite"]
"""The relation between the players' noises in a `TensorGame`."""


class TensorGame(TableGame):
    """A game of N players, each with its payoffs, which need not add up to zero.

    To a player, the joint action of the others is one number, in which the action of the last player varies fastest.

    Args:
        payoffs: per player, an array (m1, ..., mN) of its payoffs.
        name: the name in tables and messages.
        labels: per player, the names of its actions; by default, or where it is None, their numbers.
        seats: the names of the players; by default row and column, or player1, player2, ...
        noise: the noise of the rewards: a spec such as "gaussian:sigma=0.5", or a `Noise`.
        noise_between: "independent" noise for each player; "common", the same number for all; or "opposite", for two
            players: the second receives minus the reward of the first. By default independent; opposite if the second
            matrix is minus the first, so that the runs are those of the zero-sum `Game`.
        payoff_ranges: per player, the range of its payoffs that learners receive; by default, or where it is None, its
            smallest and its largest payoff.

    >>> game = TensorGame(([[3, 0], [5, 1]], [[3, 5], [0, 1]]), name="dilemma", labels=[["stay", "tell"]] * 2)
    >>> game.shape, game.seats, game.ranges
    ((2, 2), ('row', 'column'), ((0.0, 5.0), (0.0, 5.0)))
    >>> print(game)
    dilemma: 2 x 2, payoffs to row, column; noise gaussian, independent
          stay  tell
    stay  3, 3  0, 5
    tell  5, 0  1, 1
    """

    unknown = frozenset({"value", "equilibrium"})
    payoffs: tuple[Floats, ...]  # per player: (m1, ..., mN)
    labels: tuple[tuple[str, ...], ...]
    seats: tuple[str, ...]
    ranges: tuple[PayoffRange, ...]

    def __init__(
        self,
        payoffs: Any,
        *,
        name: str = "game",
        labels: Sequence[Sequence[str] | None] | None = None,
        seats: Sequence[str] | None = None,
        noise: str | Noise = "gaussian",
        noise_between: Between | None = None,
        payoff_ranges: Sequence[PayoffRange | None] | None = None,
    ) -> None:
        self.payoffs = _check_payoffs(payoffs)
        super().__init__(name, noise)
        players = len(self.payoffs)
        default = SEATS if players == 2 else [f"player{number}" for number in range(1, players + 1)]
        self.seats = check_labels(default if seats is None else seats, players, "seats")
        self.labels = tuple(
            check_labels(given, count, f"labels[{seat}]")
            for seat, (given, count) in enumerate(zip(_per_player(labels, players, "labels"), self.shape, strict=True))
        )
        self.noise_between = _check_between(noise_between, self.payoffs)
        ranges: list[PayoffRange] = []
        for seat, ends in enumerate(_per_player(payoff_ranges, players, "payoff_ranges")):
            if ends is None and seat == 1 and self.noise_between == "opposite":  # as in the zero-sum game
                low, high = ranges[0]
                ends = 0.0 - high, 0.0 - low
            ranges.append(known_range(ends, self.payoffs[seat], f"payoff_ranges[{seat}]"))
        self.ranges = tuple(ranges)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of actions of each player."""
        return self.payoffs[0].shape

    @cached_property
    def welfare(self) -> Floats:
        """The sum of the players' payoffs: (m1, ..., mN)."""
        return np.sum(self.payoffs, axis=0)

    @property
    def draws(self) -> int:
        """The number of random numbers per run and round."""
        return len(self.payoffs) if self.noise_between == "independent" else 1

    def rewards(self, actions: Sequence[Ints], draw: Floats) -> Sequence[Floats]:
        """Return the observed reward of each seat, (runs,), given the actions of each seat and a draw of the noise.

        The draw is (runs,), or (runs, players) if the noise is independent.
        """
        played = tuple(actions)
        if self.noise_between == "opposite":
            reward = self.noise.reward(self.payoffs[0][played], draw, self.ranges[0])
            return reward, -reward
        draws = [draw] * len(self.payoffs) if draw.ndim == 1 else draw.T
        return [
            self.noise.reward(payoff[played], numbers, ends)
            for payoff, numbers, ends in zip(self.payoffs, draws, self.ranges, strict=True)
        ]

    def security(self, seat: str) -> Solution:
        """Return the certified maximin strategy of the player in a seat: `row` and `value` of the solution.

        >>> round(TensorGame(([[3, 0], [0, 2]], [[2, 0], [0, 3]])).security("row").value, 9)
        1.2
        """
        from coebl.solver import solve_matrix  # imports Numba

        return solve_matrix(self.own_view(seat))

    def against(self, seat: int, strategies: Sequence[Floats]) -> Floats:
        """Return the mean payoff of each action of a player against the strategies of the others: (actions,).

        The seat is the number of the player, from 0. Its own entry of the strategies, one per player, is not used.
        """
        payoff = self.payoffs[seat]
        for other in reversed(range(len(self.shape))):  # the axes before it keep their places
            if other != seat:
                payoff = np.tensordot(payoff, np.asarray(strategies[other], np.float64), axes=(other, 0))
        return payoff

    def expected(self, strategies: Sequence[Floats]) -> tuple[float, ...]:
        """Return the mean payoff of each player if these strategies, one per player, are played.

        >>> TensorGame(([[3, 0], [0, 2]], [[2, 0], [0, 3]])).expected(([1, 0], [0.5, 0.5]))
        (1.5, 1.0)
        """
        return tuple(float(self.against(seat, strategies) @ np.asarray(own)) for seat, own in enumerate(strategies))

    def equilibria(self) -> list[Profile]:
        """Return the Nash equilibria of two players, found by enumeration of supports and certified by their regret.

        The list is complete unless the game is degenerate, for example if an action has several best responses: then
        equilibria in which the players mix over different numbers of actions may be missing. The limit is 20,000 pairs
        of supports, such as 8 x 8 actions.

        >>> for profile in TensorGame(([[3, 0], [0, 2]], [[2, 0], [0, 3]])).equilibria():
        ...     print(*profile.strategies, np.round(profile.payoffs, 6))
        [1. 0.] [1. 0.] [3. 2.]
        [0. 1.] [0. 1.] [2. 3.]
        [0.6 0.4] [0.4 0.6] [1.2 1.2]
        """
        return nash_equilibria(self)

    def correlated(self, *, coarse: bool = False) -> Correlated:
        """Return the certified correlated equilibrium with the largest sum of payoffs.

        Args:
            coarse: true for a coarse correlated equilibrium, in which players decide whether to follow the advice
                before they receive it.

        >>> chicken = [[6, 2], [7, 0]]
        >>> TensorGame((chicken, np.transpose(chicken))).correlated().joint
        array([[0.5 , 0.25],
               [0.25, 0.  ]])
        """
        return best_correlated(self, coarse)

    def _parts(self) -> list[str]:
        return [f"{[payoff.tolist() for payoff in self.payoffs]} {self.ranges} {self.noise} {self.noise_between}"]

    @property
    def _about(self) -> str:
        players = ", ".join(map(printable, self.seats))
        return f"payoffs to {players}; noise {self.noise}, {self.noise_between}"


def _check_payoffs(payoffs: Any) -> tuple[Floats, ...]:
    if isinstance(payoffs, np.ndarray):
        payoffs = list(payoffs)
    accepted = "accepted: a list with an array (m1, ..., mN) of payoffs for each of N players, N at least 2"
    if not has_tensors(payoffs):
        raise InputError(f"payoffs is {shorten(payoffs)}; {accepted}.")
    # + 0.0: -0.0 and 0.0 are the same payoff
    arrays = tuple(check_payoff(own, f"payoffs[{seat}]", len(payoffs)) + 0.0 for seat, own in enumerate(payoffs))
    if len({array.shape for array in arrays}) > 1:
        listed = ", ".join(str(array.shape) for array in arrays)
        raise InputError(f"payoffs has arrays of shapes {listed}; accepted: one shape.")
    if arrays[0].size * len(arrays) > MOST_ENTRIES:
        raise InputError(f"payoffs has {arrays[0].size * len(arrays):,} entries; accepted: at most {MOST_ENTRIES:,}.")
    for array in arrays:
        array.flags.writeable = False
    return arrays


def _per_player(given: Any, players: int, argument: str) -> Sequence[Any]:
    if given is None:
        return [None] * players
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != players:
        raise InputError(f"{argument} is {shorten(given)}; accepted: a list of {players} entries, one per player.")
    return given


def _check_between(between: Any, payoffs: tuple[Floats, ...]) -> Between:
    zero_sum = len(payoffs) == 2 and not (payoffs[0] + payoffs[1]).any()
    if between is None:
        return "opposite" if zero_sum else "independent"
    if between not in get_args(Between) or (between == "opposite" and not zero_sum):
        accepted = "independent, common" + ", or opposite" * zero_sum
        why = " opposite is for two players whose payoffs add up to 0." if between == "opposite" else ""
        raise InputError(f"noise_between is {shorten(between)}; accepted: {accepted}.{why}")
    return between
