"""Games of other libraries: OpenSpiel, Nashpy, Gambit and QuantEcon. Each is imported only when needed."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.errors import InputError, nearest, shorten
from coebl.core.modules import require
from coebl.core.text import one_line
from coebl.games.nfg_format import nfg_text, parse_nfg

# OpenSpiel lists every pure strategy and walks the tree once per pair of them: beyond this, minutes and gigabytes.
_MOST_HISTORIES = 100_000
_MOST_ENTRIES = 250_000
_MOST_STEPS = 100_000_000


class Interchange:
    """The conversions of a `Game`, or of a `TensorGame`, from and to other libraries.

    They are the methods of both: those of `Game` accept two players and a constant sum, those of `TensorGame` any.
    """

    name: str

    @classmethod
    def _from_tensors(
        cls, tensors: Sequence[Floats], what: str, labels: Sequence[Sequence[str] | None], **named: Any
    ) -> Self:
        """Return a game of this class, from the payoffs and labels of each player; `what` begins a message."""
        raise NotImplementedError

    def _tensors(self) -> tuple[list[Floats], list[list[str]]]:
        """Return copies of the payoffs of each player, and the labels of its actions."""
        raise NotImplementedError

    @classmethod
    def _check_players(cls, count: int, what: str) -> None:
        """Raise an error if a game of so many players cannot be one of this class."""

    @classmethod
    def from_openspiel(cls, game: Any) -> Self:
        """Return the game of a pyspiel game, or of the name of one such as "matrix_rps".

        A game that is played in turns or over several rounds becomes a matrix, or a tensor, with one action per pure
        strategy, if it is small enough for that.

        Args:
            game: a pyspiel.Game, or a name that `pyspiel.load_game` takes. For a `Game`, of two players and constant
                sum; for a `TensorGame`, any.
        """
        pyspiel = require("pyspiel")
        if isinstance(game, str):
            game = _load(pyspiel, game)
        _check_type(game, pyspiel.Game, "a pyspiel.Game, or the name of one such as 'matrix_rps'")
        name = game.get_type().short_name
        what = f"the OpenSpiel game {name!r}"
        players = range(game.num_players())
        tensor = game
        if not isinstance(game, (pyspiel.MatrixGame, pyspiel.TensorGame)):
            cls._check_players(len(players), what)  # before its tree is walked
            tensor = _table_of(pyspiel, game, what)
        if isinstance(tensor, pyspiel.MatrixGame):
            shape = (tensor.num_rows(), tensor.num_cols())
            utilities = [tensor.row_utilities(), tensor.col_utilities()]
            labels = [
                [tensor.row_action_name(i) for i in range(shape[0])],
                [tensor.col_action_name(j) for j in range(shape[1])],
            ]
        else:
            shape = tuple(tensor.shape())
            utilities = [tensor.player_utilities(player) for player in players]
            labels = [[tensor.action_name(player, i) for i in range(shape[player])] for player in players]
        tensors = [np.array(utility, dtype=np.float64).reshape(shape) for utility in utilities]
        return cls._from_tensors(tensors, what, [_one_line(own) for own in labels], name=name)

    def to_openspiel(self) -> Any:
        """Return a pyspiel.MatrixGame, or a pyspiel.TensorGame of more players. Noise and payoff ranges are lost."""
        pyspiel = require("pyspiel")
        tensors, labels = self._tensors()
        if len(tensors) == 2:
            return pyspiel.create_matrix_game(self.name, self.name, *labels, *(payoff.tolist() for payoff in tensors))
        return pyspiel.create_tensor_game(self.name, self.name, labels, [payoff.ravel().tolist() for payoff in tensors])

    @classmethod
    def from_nashpy(cls, game: Any) -> Self:
        """Return the game of a nashpy.Game, which has neither a name nor labels.

        Args:
            game: a nashpy.Game; for a `Game`, of constant sum.
        """
        _check_type(game, require("nashpy").Game, "a nashpy.Game")
        tensors = [np.array(matrix, dtype=np.float64) for matrix in game.payoff_matrices]
        return cls._from_tensors(tensors, "the Nashpy game", [None, None])

    def to_nashpy(self) -> Any:
        """Return a nashpy.Game of two players. Name, labels, noise and payoff ranges are lost."""
        nashpy = require("nashpy")
        tensors, _ = self._tensors()
        if len(tensors) != 2:
            raise InputError(f"{self.name} has {len(tensors)} players; Nashpy has games of two. Use to_gambit().")
        return nashpy.Game(*tensors)

    @classmethod
    def from_gambit(cls, game: Any) -> Self:
        """Return the game of a pygambit.Game; of one in extensive form, its reduced normal form.

        Args:
            game: a pygambit.Game; for a `Game`, of two players and constant sum.
        """
        _check_type(game, require("pygambit").Game, "a pygambit.Game")
        what = f"the Gambit game {game.title!r}"
        # By way of the file's text, because it is the same in all versions of pygambit and keeps numbers as they were
        # written.
        try:
            contents = parse_nfg(game.to_nfg(), tensors=True)
        except InputError as error:
            raise InputError(f"{what}: {error}") from None
        return cls._from_tensors(contents.pop("payoffs"), what, **contents)

    def to_gambit(self) -> Any:
        """Return a pygambit.Game with a payoff table. Noise and payoff ranges are lost."""
        pygambit = require("pygambit")
        try:
            return pygambit.read_nfg(io.BytesIO(nfg_text(self).encode()))
        except ValueError as error:  # version 16 takes only labels in ASCII
            raise InputError(
                f"Gambit cannot read the game {self.name!r}: {one_line(error, 200)}; correct that."
            ) from None

    @classmethod
    def from_quantecon(cls, game: Any) -> Self:
        """Return the game of QuantEcon's NormalFormGame, which has neither a name nor labels.

        Args:
            game: a quantecon.game_theory.NormalFormGame; for a `Game`, of two players and constant sum.
        """
        _check_type(game, require("quantecon.game_theory").NormalFormGame, "a quantecon.game_theory.NormalFormGame")
        # A player's array begins with its own axis, then has those of the players after it, then of those before it.
        arrays = [np.array(player.payoff_array, dtype=np.float64) for player in game.players]
        tensors = [np.moveaxis(own, range(game.N), np.roll(range(game.N), -seat)) for seat, own in enumerate(arrays)]
        return cls._from_tensors(tensors, "the QuantEcon game", [None] * game.N)

    def to_quantecon(self) -> Any:
        """Return QuantEcon's NormalFormGame. Name, labels, noise and payoff ranges are lost."""
        theory = require("quantecon.game_theory")
        tensors, _ = self._tensors()
        order = [np.roll(range(len(tensors)), -seat) for seat in range(len(tensors))]
        own = [np.ascontiguousarray(payoff.transpose(axes)) for payoff, axes in zip(tensors, order, strict=True)]
        return theory.NormalFormGame([theory.Player(payoff) for payoff in own])


def _check_type(game: Any, kind: type, accepted: str) -> None:
    if not isinstance(game, kind):
        raise InputError(f"game is {shorten(game)}; accepted: {accepted}.")


def _load(pyspiel: Any, spec: str) -> Any:
    known = pyspiel.registered_names()
    name = spec.partition("(")[0]
    if name not in known:  # asked first, because OpenSpiel prints the whole list to the terminal
        raise InputError(f"unknown OpenSpiel game {name!r}{nearest(name, known)} See: pyspiel.registered_names()")
    try:
        return pyspiel.load_game(spec)
    except pyspiel.SpielError as error:
        raise InputError(f"OpenSpiel cannot load {spec!r}: {one_line(error, 200)}; correct its parameters.") from None


def _table_of(pyspiel: Any, game: Any, what: str) -> Any:
    """Return a game with one action per pure strategy; an `InputError` if that is not possible or too much."""
    kind, form = game.get_type(), "matrix" if game.num_players() == 2 else "tensor"
    if not hasattr(pyspiel, f"extensive_to_{form}_game"):
        raise InputError(
            f"{what} is not a {form} game, and this OpenSpiel cannot convert it: install a newer open_spiel."
        )
    if kind.information == pyspiel.GameType.Information.ONE_SHOT and hasattr(pyspiel, f"load_{form}_game"):
        return getattr(pyspiel, f"load_{form}_game")(str(game))  # keeps the names of the actions
    if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        raise InputError(f"{what} is a mean-field game; accepted: games that single players play.")
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise InputError(f"{what} samples its chance moves; accepted: games that list them with their probabilities.")
    if not kind.provides_information_state_string:
        raise InputError(f"{what} does not provide information states; accepted: games that do.")
    if kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    try:
        _check_size(game, what)
        return getattr(pyspiel, f"extensive_to_{form}_game")(game)
    except pyspiel.SpielError as error:
        raise InputError(f"OpenSpiel cannot play {what[4:]}: {one_line(error, 200)}; correct its parameters.") from None


def _check_size(game: Any, what: str) -> None:
    """Walk the tree and reject the game as soon as its table is known to be too large."""
    actions: list[dict[str, int]] = [{} for _ in range(game.num_players())]
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
    shape = [math.prod(player.values()) for player in actions]
    entries = math.prod(shape)
    if entries > _MOST_ENTRIES or entries * histories > _MOST_STEPS:
        size = " x ".join(f"{count:,}" for count in shape) if entries < 10**15 else "more than 10^15"
        kinds = "pairs" if len(shape) == 2 else "combinations"
        raise InputError(
            f"{what} has {size} {kinds} of pure strategies; accepted: about {_MOST_ENTRIES:,}. Choose smaller "
            "parameters."
        )


def _one_line(names: list[str]) -> list[str] | None:
    """Return labels of one line each: a pure strategy's name has a line per information state."""
    labels = [
        ", ".join(" ".join(line.split()) for line in name.strip().splitlines()).replace(" --- action = ", ": ")
        for name in names
    ]
    return labels if len(set(labels)) == len(labels) else None
