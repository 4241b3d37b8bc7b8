"""Games whose payoffs change with the round."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np

from coebl.core.specs import Range, SpecOf
from coebl.games.game import Game
from coebl.games.random_games import Seed, permute
from coebl.games.registry import GAMES, parse_matrix

if TYPE_CHECKING:
    from coebl.games.equilibria import Uniqueness


class DriftingGame(Game):
    """A game whose payoffs are those of one game after another, all with the same actions, noise and payoff range.

    Its `payoff` and its value are those of the first round. `at(t)` is the game of round t, by which metrics judge that
    round.

    Args:
        game: the first game.
        every: the rounds after which its rows and columns are in another random order.
        steps: the number of steps in which the payoffs move from one order to the next, evenly over these rounds; with
            1 they switch at once.
        seed: of the orders.

    >>> game = DriftingGame(Game([[3, 0], [1, 2]]), every=100)
    >>> game.at(100).payoff.tolist(), game.at(101).payoff.tolist(), game.steady(31)
    ([[3.0, 0.0], [1.0, 2.0]], [[1.0, 2.0], [3.0, 0.0]], 70)
    """

    def __init__(self, game: Game, every: int, steps: int = 1, seed: int = 0) -> None:
        vars(self).update(vars(game))
        self.spec = None
        self._first = game
        self._every, self._steps, self._seed = every, min(steps, every), seed

    def at(self, t: int) -> Game:
        """Return the game of round t."""
        number = self._stage(t)
        if number not in self._stages:
            period, step = divmod(number, self._steps)
            old, new = self._order(period), self._order(period + 1)
            payoff = old if step == 0 else old + step / self._steps * (new - old)
            self._stages[number] = Game(payoff, name=self.name, noise=self.noise, payoff_range=self.payoff_range)
        return self._stages[number]

    def steady(self, t: int) -> int:
        """Return for how many rounds, from round t on, the payoffs stay as they are."""
        first_of_next = -(-(self._stage(t) + 1) * self._every // self._steps) + 1
        return first_of_next - t

    def _stage(self, t: int) -> int:
        return (t - 1) * self._steps // self._every

    def _order(self, period: int) -> Any:
        """Return the payoffs at the beginning of a period: in the first, those of the game."""
        if period == 0:
            return self._first.payoff
        return permute(self._first, int(np.random.SeedSequence([self._seed, period]).generate_state(1)[0])).payoff

    @cached_property
    def _stages(self) -> dict[int, Game]:
        return {}

    def _with(self, **changes: Any) -> Self:
        changed = super()._with(**changes)
        vars(changed).pop("_stages", None)  # these have the former noise
        return changed

    @cached_property
    def unique_equilibrium(self) -> Uniqueness:
        """The equilibrium is another one in other rounds."""
        from coebl.games.equilibria import Uniqueness

        return Uniqueness("unknown", "its payoffs change with the round")

    def _content(self) -> tuple[Any, ...]:
        return (*super()._content(), self._every, self._steps, self._seed)


@GAMES.add("drifting", title="Drifting game", example="drifting:game=rps")
def drifting(
    game: Annotated[str, SpecOf(GAMES)],
    every: Annotated[int, Range(1, 10**9)] = 1000,
    steps: Annotated[int, Range(1, 10**6)] = 1,
    seed: Seed = 0,
) -> Game:
    """Another game whose rows and columns come in another random order every so many rounds.

    The first order is the game's own. With several steps the payoffs move from one order to the next bit by bit. For
    learners that forget. Learners that see the true payoffs cannot play it, and regret is by the value of each round.
    The value is that of the game in rounds in which an order is complete: with one step, in all.

    Args:
        game: the spec of the other game.
        every: the number of rounds from one order to the next.
        steps: the number of steps in which payoffs move to the next order; 1 is a sudden switch.
        seed: the same seed gives the same orders.
    """
    return DriftingGame(parse_matrix(game), every, steps, seed)
