"""The register of games, and how a spec such as ``diagonal:n=4`` becomes a game.

To add a game, write a function in `coebl.games.catalogue` and put ``@GAMES.add("its-name")`` above it: that is all.
"""

from __future__ import annotations

from coebl.core.errors import InputError, shorten
from coebl.core.registry import Registry
from coebl.games.game import Game
from coebl.games.noise import Noise

GAMES: Registry[Game] = Registry("game", "games")


def parse_game(spec: str | Game, noise: str | Noise | None = None) -> Game:
    """The game that a spec names, seen through a noise if one is given. A game is its own spec.

    The game carries the shortest spec that makes it again.

    >>> from coebl.games import parse_game
    >>> parse_game("diagonal:4").spec, parse_game("blotto:coins=6,fields=2").spec
    ('diagonal:n=4', 'blotto:fields=2')
    >>> parse_game("matching-pennies", noise="bernoulli")
    <Game 'matching-pennies', 2 x 2, bernoulli>
    """
    if isinstance(spec, Game):
        game = spec
    elif isinstance(spec, str):
        entry, arguments = GAMES.parse(spec)
        game = entry.make(**arguments)
        game.spec = game.name = entry.write(arguments)
    else:
        raise InputError(f"game is {shorten(spec)}; accepted: a Game, or a spec such as 'diagonal:n=4'.")
    return game if noise is None else game.with_noise(noise)
