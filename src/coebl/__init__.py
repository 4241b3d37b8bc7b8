"""Learning to play unknown two-player zero-sum matrix games from noisy payoffs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coebl.core.errors import CoeblError, InputError, SolveError
    from coebl.engine import Match, Player, Result, simulate
    from coebl.games import Game, parse_game, read_game, solve, write_game
    from coebl.learners import Learner, parse_learner
    from coebl.solver import Solution, maximin

__version__ = "0.1.0"

_HOME = {  # where each public name lives; imported when it is first used
    "CoeblError": "coebl.core.errors",
    "Game": "coebl.games",
    "InputError": "coebl.core.errors",
    "Learner": "coebl.learners",
    "Match": "coebl.engine",
    "Player": "coebl.engine",
    "Result": "coebl.engine",
    "Solution": "coebl.solver",
    "SolveError": "coebl.core.errors",
    "maximin": "coebl.solver",
    "parse_game": "coebl.games",
    "parse_learner": "coebl.learners",
    "read_game": "coebl.games",
    "simulate": "coebl.engine",
    "solve": "coebl.games",
    "write_game": "coebl.games",
}

__all__ = [
    "CoeblError",
    "Game",
    "InputError",
    "Learner",
    "Match",
    "Player",
    "Result",
    "Solution",
    "SolveError",
    "maximin",
    "parse_game",
    "parse_learner",
    "read_game",
    "simulate",
    "solve",
    "write_game",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'coebl' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
