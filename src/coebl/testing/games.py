"""The conformance kit for games."""

from __future__ import annotations

from typing import Any

import numpy as np

from coebl.games import Game, parse_game
from coebl.games.game import SEATS
from coebl.testing.points import Points, Report, report_on
from coebl.testing.strict import OF_REWARD, StrictArray


def check_game(game: str | Game) -> Report:
    """Hold a game to its contract.

    >>> print(check_game("matching-pennies"))
    <Game 'matching-pennies', 2 x 2, gaussian>
      ok    its spec reads back
      ok    its payoffs are read-only
      ok    its equilibrium is certified
      ok    what one player wins the other loses
      ok    its noise has mean zero
      ok    its noise works on arrays of any library
    6 points, no failures
    """
    subject = parse_game(game)
    return report_on(repr(subject), _points(subject))


def _points(game: Game) -> Points:
    def spec() -> str | None:
        if game.spec is None:
            return None
        return None if parse_game(game.spec, game.noise) == game else f"{game.spec!r} reads back as another game"

    def read_only() -> str | None:
        return "its payoffs can be written to" if game.payoff.flags.writeable else None

    def certified() -> str | None:
        row, column, payoff = game.solution.row, game.solution.column, game.payoff
        spread = float(np.ptp(payoff)) or 1.0
        gap = ((payoff @ column).max() - (row @ payoff).min()) / spread
        return None if gap <= 1e-8 else f"its equilibrium has a gap of {gap:.1e}"

    def views() -> str | None:
        row, column = (game.own_view(name).payoff for name in SEATS)
        return None if np.array_equal(row, 0.0 - column.T) else "what one player wins the other does not lose"

    def noise() -> str | None:
        draws = game.noise.draw(np.random.default_rng(0), 100_000)
        payoff = np.full(100_000, game.payoff[0, 0])
        rewards = game.noise.reward(payoff, draws, game.payoff_range)
        error = abs(float(rewards.mean()) - float(game.payoff[0, 0]))
        allowed = 5 * float(rewards.std()) / np.sqrt(100_000) + 1e-12
        return None if error <= allowed else f"the mean reward is {error:.3g} away from the payoff"

    def arrays() -> str | None:
        random = np.random.default_rng(0)
        actions = [random.integers(count, size=20) for count in game.shape]
        draw = game.noise.draw(random, 20)  # by NumPy, on every device
        strict: list[Any] = [StrictArray(array.copy(), OF_REWARD) for array in (*actions, draw, game.payoff)]
        found: Any = game.rewards(strict[:2], *strict[2:])  # as the engine calls it
        if not all(isinstance(reward, StrictArray) for reward in found):
            return "its noise returns one of NumPy's arrays; compute the reward from the arrays that reward is given"
        same = np.array_equal(found[0].plain, game.rewards(actions, draw)[0])
        return None if same else "its noise gives other rewards on arrays of another library"

    yield "its spec reads back", spec
    yield "its payoffs are read-only", read_only
    yield "its equilibrium is certified", certified
    yield "what one player wins the other loses", views
    yield "its noise has mean zero", noise
    yield "its noise works on arrays of any library", arrays
