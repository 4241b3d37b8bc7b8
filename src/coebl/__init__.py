"""Learning to play unknown two-player zero-sum matrix games from noisy payoffs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coebl.errors import CoeblError, InputError, SolveError
    from coebl.games import Game, parse_game, read_game, write_game
    from coebl.solver import Solution, maximin, solve

__version__ = "0.1.0"

_HOME = {  # where each public name lives; imported when it is first used
    "CoeblError": "coebl.errors",
    "Game": "coebl.games",
    "InputError": "coebl.errors",
    "Solution": "coebl.solver",
    "SolveError": "coebl.errors",
    "maximin": "coebl.solver",
    "parse_game": "coebl.games",
    "read_game": "coebl.games",
    "solve": "coebl.solver",
    "write_game": "coebl.games",
}

__all__ = [
    "CoeblError",
    "Game",
    "InputError",
    "Solution",
    "SolveError",
    "maximin",
    "parse_game",
    "read_game",
    "solve",
    "write_game",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'coebl' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
