"""Games of other libraries: OpenSpiel, Nashpy and Gambit. Each is imported only when it is asked for."""

from __future__ import annotations

import io
import math
from collections import defaultdict
from typing import Any

import numpy as np

from coebl.core.errors import InputError, nearest, shorten
from coebl.core.modules import require
from coebl.core.text import one_line
from coebl.games.game import Game
from coebl.games.io.nfg_format import check_constant_sum, nfg_text, parse_nfg

# OpenSpiel lists every pure strategy and walks the tree once per pair of them: beyond this, minutes and gigabytes.
_MOST_HISTORIES = 100_000
_MOST_ENTRIES = 250_000
_MOST_STEPS = 100_000_000


def from_openspiel(game: Any) -> Game:
    """The game of a pyspiel game, or of the name of one.

    A game that is played in turns or over several rounds becomes a matrix with one action per pure strategy, if it is
    small enough for that.

    >>> from_openspiel("matrix_rps").row_labels  # doctest: +SKIP
    ('Rock', 'Paper', 'Scissors')
    """
    pyspiel = require("pyspiel")
    if isinstance(game, str):
        game = _load(pyspiel, game)
    if not isinstance(game, pyspiel.Game):
        raise InputError(f"game is {shorten(game)}; accepted: a pyspiel.Game, or the name of one such as 'matrix_rps'.")
    name = game.get_type().short_name
    if game.num_players() != 2:
        raise InputError(f"the OpenSpiel game {name!r} has {game.num_players()} players; accepted: two.")
    matrix = game if isinstance(game, pyspiel.MatrixGame) else _matrix_game(pyspiel, game, name)
    m, n = matrix.num_rows(), matrix.num_cols()
    row = np.array(matrix.row_utilities(), dtype=np.float64).reshape(m, n)
    column = np.array(matrix.col_utilities(), dtype=np.float64).reshape(m, n)
    _two_player_constant_sum(row, column, f"the OpenSpiel game {name!r}")
    return Game(
        row,
        name=name,
        row_labels=_one_line([matrix.row_action_name(i) for i in range(m)]),
        column_labels=_one_line([matrix.col_action_name(j) for j in range(n)]),
    )


def to_openspiel(game: Game) -> Any:
    """The game as a pyspiel.MatrixGame. Noise and payoff range stay behind: OpenSpiel has no place for them.

    >>> to_openspiel(Game([[1, 2, 3]])).num_cols()  # doctest: +SKIP
    3
    """
    pyspiel = require("pyspiel")
    return pyspiel.create_matrix_game(
        game.name,
        game.name,
        list(game.row_labels),
        list(game.column_labels),
        game.payoff.tolist(),
        (0.0 - game.payoff).tolist(),
    )


def from_nashpy(game: Any) -> Game:
    """The game of a nashpy.Game, which knows neither names nor labels.

    >>> from_nashpy(nashpy.Game([[1, 2, 3]])).shape  # doctest: +SKIP
    (1, 3)
    """
    nashpy = require("nashpy")
    if not isinstance(game, nashpy.Game):
        raise InputError(f"game is {shorten(game)}; accepted: a nashpy.Game.")
    row, column = (np.array(matrix, dtype=np.float64) for matrix in game.payoff_matrices)
    _two_player_constant_sum(row, column, "the Nashpy game")
    return Game(row)


def to_nashpy(game: Game) -> Any:
    """The game as a nashpy.Game of the two players' payoffs. Names, labels, noise and payoff range stay behind.

    >>> to_nashpy(Game([[1, 2, 3]])).payoff_matrices[1]  # doctest: +SKIP
    array([[-1., -2., -3.]])
    """
    return require("nashpy").Game(game.payoff.copy(), 0.0 - game.payoff)


def from_gambit(game: Any) -> Game:
    """The game of a pygambit.Game; of one in extensive form, its reduced normal form.

    >>> from_gambit(pygambit.read_nfg("game.nfg"))  # doctest: +SKIP
    <Game 'game', 2 x 3, gaussian>
    """
    pygambit = require("pygambit")
    if not isinstance(game, pygambit.Game):
        raise InputError(f"game is {shorten(game)}; accepted: a pygambit.Game.")
    what = f"the Gambit game {game.title!r}"
    if len(game.players) != 2:
        raise InputError(f"{what} has {len(game.players)} players; accepted: two.")
    # By way of the text, because it says the same in all versions of pygambit and keeps numbers as they were written.
    try:
        contents = parse_nfg(game.to_nfg())
        return Game(contents.pop("payoff"), **contents)
    except InputError as error:
        raise InputError(f"{what}: {error}") from None


def to_gambit(game: Game) -> Any:
    """The game as a pygambit.Game with a payoff table. Noise and payoff range stay behind.

    >>> to_gambit(Game([[1, 2, 3]])).is_const_sum  # doctest: +SKIP
    True
    """
    pygambit = require("pygambit")
    try:
        return pygambit.read_nfg(io.BytesIO(nfg_text(game).encode()))
    except ValueError as error:  # version 16 takes labels in ASCII alone
        raise InputError(f"Gambit cannot read the game {game.name!r}: {one_line(error, 200)}; correct that.") from None


def _two_player_constant_sum(row: Any, column: Any, what: str) -> None:
    try:
        check_constant_sum(row, column)
    except InputError as error:
        raise InputError(f"{what}: {error}") from None


def _load(pyspiel: Any, spec: str) -> Any:
    known = pyspiel.registered_names()
    name = spec.partition("(")[0]
    if name not in known:  # asked first, because OpenSpiel prints the whole list to the terminal
        raise InputError(f"unknown OpenSpiel game {name!r}{nearest(name, known)} See: pyspiel.registered_names()")
    try:
        return pyspiel.load_game(spec)
    except pyspiel.SpielError as error:
        raise InputError(f"OpenSpiel cannot load {spec!r}: {one_line(error, 200)}; correct its parameters.") from None


def _matrix_game(pyspiel: Any, game: Any, name: str) -> Any:
    """One action per pure strategy, or an `InputError` if that is not possible or too much."""
    kind = game.get_type()
    what = f"the OpenSpiel game {name!r}"
    if not hasattr(pyspiel, "extensive_to_matrix_game"):
        raise InputError(
            f"{what} is not a matrix game, and this OpenSpiel cannot convert it: install a newer open_spiel."
        )
    if kind.information == pyspiel.GameType.Information.ONE_SHOT and hasattr(pyspiel, "load_matrix_game"):
        return pyspiel.load_matrix_game(str(game))  # keeps the names of the actions
    if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        raise InputError(f"{what} is a mean-field game; accepted: games that two players play.")
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise InputError(f"{what} samples its chance moves; accepted: games that list them with their probabilities.")
    if not kind.provides_information_state_string:
        raise InputError(f"{what} does not provide information states; accepted: games that do.")
    if kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    try:
        _check_size(game, what)
        return pyspiel.extensive_to_matrix_game(game)
    except pyspiel.SpielError as error:
        raise InputError(f"OpenSpiel cannot play {what[4:]}: {one_line(error, 200)}; correct its parameters.") from None


def _check_size(game: Any, what: str) -> None:
    """Walk the tree and refuse the game as soon as its matrix is known to be too large."""
    actions: tuple[dict[str, int], dict[str, int]] = (defaultdict(int), defaultdict(int))
    histories = 0
    open_states = [game.new_initial_state()]
    while open_states:
        state = open_states.pop()
        histories += 1
        if not state.is_terminal():
            legal = state.legal_actions()
            if not state.is_chance_node():
                actions[state.current_player()][state.information_state_string()] = len(legal)
            open_states.extend(state.child(action) for action in legal)
        if histories > _MOST_HISTORIES:
            raise InputError(
                f"{what} has more than {_MOST_HISTORIES:,} histories; accepted: games small enough for a matrix. "
                "Choose smaller parameters."
            )
    rows, columns = (math.prod(player.values()) for player in actions)
    if rows * columns > _MOST_ENTRIES or rows * columns * histories > _MOST_STEPS:
        size = f"{rows:,} x {columns:,}" if rows * columns < 10**15 else "more than 10^15"
        raise InputError(
            f"{what} has {size} pairs of pure strategies; accepted: about {_MOST_ENTRIES:,}. Choose smaller parameters."
        )


def _one_line(names: list[str]) -> list[str] | None:
    """Labels of one line each: a pure strategy's name has a line per information state."""
    labels = [
        ", ".join(" ".join(line.split()) for line in name.strip().splitlines()).replace(" --- action = ", ": ")
        for name in names
    ]
    return labels if len(set(labels)) == len(labels) else None
