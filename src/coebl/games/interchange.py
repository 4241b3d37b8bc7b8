"""Games of other libraries: OpenSpiel, Nashpy and Gambit. Each is imported only when needed."""

from __future__ import annotations

import io
import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from coebl.core.errors import InputError, nearest, shorten
from coebl.core.modules import require
from coebl.core.text import one_line
from coebl.games.nfg_format import check_constant_sum, nfg_text, parse_nfg

if TYPE_CHECKING:
    from coebl.games.game import Game

# OpenSpiel lists every pure strategy and walks the tree once per pair of them: beyond this, minutes and gigabytes.
_MOST_HISTORIES = 100_000
_MOST_ENTRIES = 250_000
_MOST_STEPS = 100_000_000


class Interchange:
    """The conversions of a `Game` from and to other libraries."""

    @classmethod
    def from_openspiel(cls: Any, game: Any) -> Game:
        """Return the game of a pyspiel game, or of the name of one such as "matrix_rps".

        A game that is played in turns or over several rounds becomes a matrix with one action per pure strategy, if it
        is small enough for that.

        Args:
            game: a pyspiel.Game of two players and constant sum, or a name that `pyspiel.load_game` takes.
        """
        pyspiel = require("pyspiel")
        if isinstance(game, str):
            game = _load(pyspiel, game)
        _check_type(game, pyspiel.Game, "a pyspiel.Game, or the name of one such as 'matrix_rps'")
        name = game.get_type().short_name
        what = f"the OpenSpiel game {name!r}"
        _check_players(game.num_players(), what)
        matrix = game if isinstance(game, pyspiel.MatrixGame) else _matrix_game(pyspiel, game, what)
        m, n = matrix.num_rows(), matrix.num_cols()
        row, column = (
            np.array(payoffs, dtype=np.float64).reshape(m, n)
            for payoffs in (matrix.row_utilities(), matrix.col_utilities())
        )
        check_constant_sum(row, column, what)
        converted: Game = cls(
            row,
            name=name,
            row_labels=_one_line([matrix.row_action_name(i) for i in range(m)]),
            column_labels=_one_line([matrix.col_action_name(j) for j in range(n)]),
        )
        return converted

    def to_openspiel(self: Any) -> Any:
        """Return a pyspiel.MatrixGame. Noise and payoff range are lost: OpenSpiel has no place for them."""
        payoffs = self.payoff.tolist(), (0.0 - self.payoff).tolist()
        labels = list(self.row_labels), list(self.column_labels)
        return require("pyspiel").create_matrix_game(self.name, self.name, *labels, *payoffs)

    @classmethod
    def from_nashpy(cls: Any, game: Any) -> Game:
        """Return the game of a nashpy.Game, which has neither a name nor labels.

        Args:
            game: a nashpy.Game of constant sum.
        """
        _check_type(game, require("nashpy").Game, "a nashpy.Game")
        row, column = (np.array(matrix, dtype=np.float64) for matrix in game.payoff_matrices)
        check_constant_sum(row, column, "the Nashpy game")
        converted: Game = cls(row)
        return converted

    def to_nashpy(self: Any) -> Any:
        """Return a nashpy.Game of the two players' payoffs. Name, labels, noise and payoff range are lost."""
        return require("nashpy").Game(self.payoff.copy(), 0.0 - self.payoff)

    @classmethod
    def from_gambit(cls: Any, game: Any) -> Game:
        """Return the game of a pygambit.Game; of one in extensive form, its reduced normal form.

        Args:
            game: a pygambit.Game of two players and constant sum.
        """
        _check_type(game, require("pygambit").Game, "a pygambit.Game")
        what = f"the Gambit game {game.title!r}"
        _check_players(len(game.players), what)
        # By way of the file's text, because it is the same in all versions of pygambit and keeps numbers as they were
        # written.
        try:
            contents = parse_nfg(game.to_nfg())
            if "payoffs" in contents:
                check_constant_sum(*contents["payoffs"])
            converted: Game = cls(**contents)
        except InputError as error:
            raise InputError(f"{what}: {error}") from None
        return converted

    def to_gambit(self: Any) -> Any:
        """Return a pygambit.Game with a payoff table. Noise and payoff range are lost."""
        pygambit = require("pygambit")
        try:
            return pygambit.read_nfg(io.BytesIO(nfg_text(self).encode()))
        except ValueError as error:  # version 16 takes only labels in ASCII
            raise InputError(
                f"Gambit cannot read the game {self.name!r}: {one_line(error, 200)}; correct that."
            ) from None


def _check_type(game: Any, kind: type, accepted: str) -> None:
    if not isinstance(game, kind):
        raise InputError(f"game is {shorten(game)}; accepted: {accepted}.")


def _check_players(count: int, what: str) -> None:
    if count != 2:
        raise InputError(f"{what} has {count} players; accepted: two.")


def _load(pyspiel: Any, spec: str) -> Any:
    known = pyspiel.registered_names()
    name = spec.partition("(")[0]
    if name not in known:  # asked first, because OpenSpiel prints the whole list to the terminal
        raise InputError(f"unknown OpenSpiel game {name!r}{nearest(name, known)} See: pyspiel.registered_names()")
    try:
        return pyspiel.load_game(spec)
    except pyspiel.SpielError as error:
        raise InputError(f"OpenSpiel cannot load {spec!r}: {one_line(error, 200)}; correct its parameters.") from None


def _matrix_game(pyspiel: Any, game: Any, what: str) -> Any:
    """Return a game with one action per pure strategy; an `InputError` if that is not possible or too much."""
    kind = game.get_type()
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
    """Walk the tree and reject the game as soon as its matrix is known to be too large."""
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
    """Return labels of one line each: a pure strategy's name has a line per information state."""
    labels = [
        ", ".join(" ".join(line.split()) for line in name.strip().splitlines()).replace(" --- action = ", ": ")
        for name in names
    ]
    return labels if len(set(labels)) == len(labels) else None
