"""Learning to play unknown games, above all two-player zero-sum matrix games, from noisy payoffs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coebl.core.errors import CoeblError, InputError, SolveError
    from coebl.engine import GenomePlayer, Match, Player, Result
    from coebl.engine.simulate import simulate
    from coebl.games import Game, parse_game, read_game, solve, write_game
    from coebl.learners import Learner, parse_learner
    from coebl.solver import Solution, maximin
    from coebl.study import Study

__version__ = "0.2.0"

_HOMES = {  # the public names of each module; imported when they are first used
    "coebl.core.errors": ("CoeblError", "InputError", "SolveError"),
    "coebl.engine": ("GenomePlayer", "Match", "Player", "Result", "simulate"),
    "coebl.games": ("Game", "parse_game", "read_game", "solve", "write_game"),
    "coebl.learners": ("Learner", "parse_learner"),
    "coebl.solver": ("Solution", "maximin"),
    "coebl.study": ("Study",),
}

__all__ = [
    "CoeblError",
    "Game",
    "GenomePlayer",
    "InputError",
    "Learner",
    "Match",
    "Player",
    "Result",
    "Solution",
    "SolveError",
    "Study",
    "maximin",
    "parse_game",
    "parse_learner",
    "read_game",
    "simulate",
    "solve",
    "write_game",
]


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'coebl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
