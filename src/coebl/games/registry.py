"""The registry of games, and the conversion of specs, files, functions and matrices to games."""

from __future__ import annotations

import inspect
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from coebl.core.errors import InputError, shorten
from coebl.core.registry import Entry, Registry, reason_not_settable
from coebl.core.specs import Range, split_spec, without_folder
from coebl.games.game import Game, NamedGame, ZeroSumGame, has_matrix
from coebl.games.game_files import SUFFIXES, read_game
from coebl.games.genomes import FunctionGame, GenomeGame
from coebl.games.noise import Noise
from coebl.games.tensor import TensorGame

if TYPE_CHECKING:
    from coebl.solver import Solution

GameLike = str | os.PathLike[str] | NamedGame | ArrayLike
"""A spec, the name of a file, a `Game`, a `GenomeGame`, a `TensorGame`, or a matrix of payoffs to the row player."""


def _reason_to_reject(factory: object) -> str | None:
    """Return why an object cannot be registered as a game, on one line; None if it can."""
    if isinstance(factory, type) or not callable(factory):
        return f"this is {shorten(factory)}; accepted: a function that returns a coebl.Game, or a matrix."
    for parameter in list(inspect.signature(factory).parameters.values())[2 if _is_of_genomes(factory) else 0 :]:
        without_name = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if without_name or parameter.annotation is parameter.empty:
            return reason_not_settable(parameter)
    return None


def _is_of_genomes(factory: Any) -> bool:
    """Return True if a function returns payoffs of genomes: its first parameters are x and y, without annotations."""
    parameters = list(inspect.signature(factory).parameters.values())[:2]
    return [(p.name, p.annotation) for p in parameters] == [(name, inspect.Parameter.empty) for name in ("x", "y")]


GAMES: Registry[ZeroSumGame | TensorGame] = Registry("game", "games", rejects=_reason_to_reject)
"""The games by name: `for entry in GAMES` lists the entries, `GAMES.make(spec)` makes a game."""

# Parameters that several games have, with their meaning
OtherGame = Annotated[str, GAMES, "the spec of the other game"]
Seed = Annotated[int, Range(0), "the same seed gives the same game"]
Size = Annotated[int, Range(1, 5000)]
Rows = Annotated[Size, "the number of the row player's actions"]
Columns = Annotated[Size, "the number of the column player's actions"]


def parse_game(spec: GameLike, noise: str | Noise | None = None) -> ZeroSumGame | TensorGame:
    """Return the game of a spec, a file or a matrix, with another noise if it is given.

    A string is a spec such as "diagonal:4", the name of a .csv, .npy, .json or .nfg file, or path/to/file.py:function
    with parameters as in a spec. A game made from a spec stores the shortest equivalent spec. A matrix of payoffs to
    the row player, an array, a data frame or a pair of matrices is passed to `Game`.

    >>> from coebl.games import parse_game
    >>> parse_game("diagonal:4").spec, parse_game("blotto:coins=6,fields=2").spec
    ('diagonal:n=4', 'blotto:fields=2')
    >>> parse_game("matching-pennies", noise="bernoulli")
    <Game 'matching-pennies', 2 x 2, bernoulli>
    >>> parse_game([[3, 0], [1, 2]]).value
    1.5
    """
    if isinstance(spec, (str, os.PathLike)):
        game = _find_game(spec)
    else:
        accepted = "a Game, a matrix of payoffs, a spec such as 'diagonal:n=4', or the name of a file"
        game = _as_game(spec, "game is", accepted)
    return game if noise is None else game.with_noise(noise)


def parse_matrix(spec: GameLike) -> Game:
    """Return the matrix game of a spec, as `parse_game` does; with few enough genes, all genomes are listed.

    >>> parse_matrix("diagonal:n=3,space=bits").shape
    (8, 8)
    >>> parse_matrix("chicken")
    Traceback (most recent call last):
        ...
    coebl.core.errors.InputError: chicken is not a two-player zero-sum game, which is needed here; play it with ...
    """
    game = parse_game(spec)
    if isinstance(game, TensorGame):
        repair = "play it with simulate(...) or coebl match"
        raise InputError(f"{game.spec or game.name} is not a two-player zero-sum game, which is needed here; {repair}.")
    if isinstance(game, GenomeGame):
        return game.to_matrix().renamed(game.name, game.spec)
    if has_matrix(game):
        return game
    raise InputError(f"game is {game.spec or game.name}, whose payoffs change; accepted: a game with one matrix.")


def solve(
    game: GameLike, *, ties: Literal["first", "random"] = "first", random: np.random.Generator | None = None
) -> Solution:
    """Solve a zero-sum game, with a certificate.

    Args:
        game: a `Game`, the matrix (m, n) of payoffs to the row player, who maximises; a spec, or the name of a file.
        ties: which of several optimal strategies of the row player to return: with ``"first"``, one that prefers the
            first actions; with ``"random"``, one that prefers actions in random order. `coebl.maximin` states the rule.
        random: the generator for ``ties="random"``.

    >>> solution = solve([[3, 0], [1, 2]])
    >>> solution.value, solution.row, solution.column
    (1.5, array([0.25, 0.75]), array([0.5, 0.5]))
    """
    from coebl.solver import solve_matrix  # imports Numba

    given = parse_matrix(game) if isinstance(game, (str, os.PathLike, NamedGame)) else game
    return solve_matrix(given, ties=ties, random=random)


def _as_game(given: Any, start: str, accepted: str) -> ZeroSumGame | TensorGame:
    """Return a game, or the game of a matrix; a message about another object has this start and this end."""
    if not isinstance(given, (ZeroSumGame, TensorGame)):
        if not isinstance(given, (list, tuple)) and not hasattr(given, "__array__"):
            raise InputError(f"{start} {shorten(given)}; accepted: {accepted}.")
        given = Game(given)
    return given


def _find_game(spec: str | os.PathLike[str]) -> ZeroSumGame | TensorGame:
    text = os.fspath(spec)
    parts = split_spec(text)
    if not parts.file and parts.name not in GAMES and is_path(text):  # a file "rps" does not hide the game
        return read_game(text)
    entry, arguments = GAMES.parse(text)
    made: object = _of_function(entry, arguments) if _is_of_genomes(entry.factory) else entry.factory(**arguments)
    canonical = entry.write(arguments)
    game = _as_game(made, f"{entry.name} returns", "a coebl.Game, or a matrix. Return one")
    return game._with(name=without_folder(canonical), spec=canonical, _noise_of_spec=game.noise)


def default_noise(game: NamedGame) -> Noise:
    """Return the noise of the spec of a game, which the game may not have; its own if it has no spec."""
    return game.noise if game.spec is None else game._noise_of_spec or parse_game(game.spec).noise


def _of_function(entry: Entry[Any], arguments: dict[str, Any]) -> FunctionGame:
    """Return the game of a function of genomes; the function must have a parameter n."""
    values = entry.defaults | arguments
    if "n" not in values:
        raise InputError(f"{entry.name} has no parameter n; accepted: def payoff(x, y, n: int), for n genes. Add it.")
    return FunctionGame(partial(entry.factory, **arguments), values["n"], name=entry.name)


def is_path(text: str) -> bool:
    """Return True if a string names a file. Names of registered games have neither dots nor slashes.

    >>> is_path("games/inspection.csv"), is_path("game.xlsx"), is_path("hide-and-seek:0.5/2")
    (True, True, False)
    """
    path = Path(text)
    known = path.suffix.lower() in SUFFIXES or os.path.exists(text)
    return known or (":" not in text and bool(path.suffix or os.sep in text))
