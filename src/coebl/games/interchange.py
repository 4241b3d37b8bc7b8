"""Conversions to and from OpenSpiel, Nashpy, Gambit and QuantEcon, and Gambit's normal form, .nfg.

Each library is imported when it is needed. Files are read without pygambit, which may not be installed: it uses all
memory for a damaged file with too many strategies, and its messages do not name the wrong value.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from coebl.core.arrays import Floats, is_number
from coebl.core.errors import InputError, nearest, shorten
from coebl.core.modules import require
from coebl.core.text import counted, one_line

# OpenSpiel lists every pure strategy and walks the tree once per pair: larger games take minutes and gigabytes.
_MOST_HISTORIES = 100_000
_MOST_ENTRIES = 250_000
_MOST_STEPS = 100_000_000

_SAME_SUM = 1e-9  # relative to the largest payoff


class Interchange:
    """The conversions of `Game` and `TensorGame` to and from other libraries.

    The methods of `Game` accept games of two players with a constant sum, those of `TensorGame` any game.
    """

    name: str
    _constant_sum: ClassVar[bool] = False  # True if the class has only games of two players with a constant sum

    @classmethod
    def _check_players(cls, count: int, what: str) -> None:
        if cls._constant_sum and count != 2:
            raise InputError(f"{what} has {count} players; accepted: two. For more, use the same method of TensorGame.")

    @classmethod
    def _from_tensors(
        cls, tensors: Sequence[Floats], what: str, labels: Sequence[Sequence[str] | None], **named: Any
    ) -> Self:
        """Return a game of this class from the payoffs and labels of each player; `what` begins error messages."""
        made: Any = cls
        cls._check_players(len(tensors), what)
        if cls._constant_sum:
            if differing := differing_sums(*tensors):
                accepted = "the same sum everywhere. For other games, use the same method of TensorGame"
                raise InputError(f"{what} is not constant-sum: {differing}; accepted: {accepted}.")
            named.pop("seats", None)
            game: Self = made(tensors[0], row_labels=labels[0], column_labels=labels[1], **named)
        else:
            game = made(tensors, labels=labels, **named)
        return game

    @classmethod
    def from_openspiel(cls, game: Any) -> Self:
        """Convert a game of OpenSpiel: a pyspiel.Game, or the argument of `pyspiel.load_game`, such as "matrix_rps".

        A game that is played in turns or over several rounds becomes a matrix or a tensor with one action per pure
        strategy, if it is small enough.
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
            names = [tensor.row_action_name, tensor.col_action_name]
        else:
            shape = tuple(tensor.shape())
            utilities = [tensor.player_utilities(player) for player in players]
            names = [partial(tensor.action_name, player) for player in players]
        labels = [[name_of(action) for action in range(count)] for name_of, count in zip(names, shape, strict=True)]
        tensors = [np.array(utility, dtype=np.float64).reshape(shape) for utility in utilities]
        return cls._from_tensors(tensors, what, [_one_line(own) for own in labels], name=name)

    def to_openspiel(self: Any) -> Any:
        """Return a pyspiel.MatrixGame, or a pyspiel.TensorGame of more players. Noise and payoff ranges are lost."""
        pyspiel = require("pyspiel")
        tensors, labels = self.payoffs, [list(own) for own in self.labels]
        if len(tensors) == 2:
            return pyspiel.create_matrix_game(self.name, self.name, *labels, *(payoff.tolist() for payoff in tensors))
        return pyspiel.create_tensor_game(self.name, self.name, labels, [payoff.ravel().tolist() for payoff in tensors])

    @classmethod
    def from_nashpy(cls, game: Any) -> Self:
        """Convert a nashpy.Game, which has neither a name nor labels."""
        _check_type(game, require("nashpy").Game, "a nashpy.Game")
        tensors = [np.array(matrix, dtype=np.float64) for matrix in game.payoff_matrices]
        return cls._from_tensors(tensors, "the Nashpy game", [None, None])

    def to_nashpy(self: Any) -> Any:
        """Return a nashpy.Game of two players. Name, labels, noise and payoff ranges are lost."""
        nashpy = require("nashpy")
        tensors = [payoff.copy() for payoff in self.payoffs]
        if len(tensors) != 2:
            raise InputError(f"{self.name} has {len(tensors)} players; Nashpy has games of two. Use to_gambit().")
        return nashpy.Game(*tensors)

    @classmethod
    def from_gambit(cls, game: Any) -> Self:
        """Convert a pygambit.Game; a game in extensive form becomes its reduced normal form."""
        _check_type(game, require("pygambit").Game, "a pygambit.Game")
        what = f"the Gambit game {game.title!r}"
        # The text of a file is the same in all versions of pygambit, and keeps numbers as they were written.
        try:
            contents = parse_nfg(game.to_nfg())
        except InputError as error:
            raise InputError(f"{what}: {error}") from None
        return cls._from_tensors(contents.pop("payoffs"), what, **contents)

    def to_gambit(self) -> Any:
        """Return a pygambit.Game with a payoff table. Noise and payoff ranges are lost."""
        pygambit = require("pygambit")
        try:
            return pygambit.read_nfg(io.BytesIO(nfg_text(self).encode()))
        except ValueError as error:  # version 16 accepts only labels in ASCII
            reason = one_line(error, 200)
            raise InputError(f"Gambit cannot read the game {self.name!r}: {reason}; correct that.") from None

    @classmethod
    def from_quantecon(cls, game: Any) -> Self:
        """Convert a quantecon.game_theory.NormalFormGame, which has neither a name nor labels."""
        _check_type(game, require("quantecon.game_theory").NormalFormGame, "a quantecon.game_theory.NormalFormGame")
        # The first axis of a player's array is its own; the players after it follow, then the players before it.
        arrays = [np.array(player.payoff_array, dtype=np.float64) for player in game.players]
        tensors = [np.moveaxis(own, range(game.N), np.roll(range(game.N), -seat)) for seat, own in enumerate(arrays)]
        return cls._from_tensors(tensors, "the QuantEcon game", [None] * game.N)

    def to_quantecon(self: Any) -> Any:
        """Return QuantEcon's NormalFormGame. Name, labels, noise and payoff ranges are lost."""
        theory = require("quantecon.game_theory")
        tensors = [payoff.copy() for payoff in self.payoffs]
        order = [np.roll(range(len(tensors)), -seat) for seat in range(len(tensors))]
        own = [np.ascontiguousarray(payoff.transpose(axes)) for payoff, axes in zip(tensors, order, strict=True)]
        return theory.NormalFormGame([theory.Player(payoff) for payoff in own])


def _check_type(game: Any, kind: type, accepted: str) -> None:
    if not isinstance(game, kind):
        raise InputError(f"game is {shorten(game)}; accepted: {accepted}.")


def _load(pyspiel: Any, spec: str) -> Any:
    known = pyspiel.registered_names()
    name = spec.partition("(")[0]
    if name not in known:  # for an unknown name, OpenSpiel prints the whole list to the terminal
        raise InputError(f"unknown OpenSpiel game {name!r}{nearest(name, known)} See: pyspiel.registered_names()")
    try:
        return pyspiel.load_game(spec)
    except pyspiel.SpielError as error:
        raise InputError(f"OpenSpiel cannot load {spec!r}: {one_line(error, 200)}; correct its parameters.") from None


def _table_of(pyspiel: Any, game: Any, what: str) -> Any:
    """Return a game with one action per pure strategy; raise an `InputError` if it is impossible or too large."""
    kind, form = game.get_type(), "matrix" if game.num_players() == 2 else "tensor"
    convert = getattr(pyspiel, f"extensive_to_{form}_game", None)
    if convert is None:
        repair = "install a newer open_spiel"
        raise InputError(f"{what} is not a {form} game, and this OpenSpiel cannot convert it: {repair}.")
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
        return convert(game)
    except pyspiel.SpielError as error:
        raise InputError(f"OpenSpiel cannot play {what[4:]}: {one_line(error, 200)}; correct its parameters.") from None


def _check_size(game: Any, what: str) -> None:
    """Walk the tree, and reject a game whose table is too large as soon as this is known."""
    accepted = f"about {_MOST_ENTRIES:,} payoffs. Choose smaller parameters"
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
            raise InputError(f"{what} has more than {_MOST_HISTORIES:,} histories; accepted: {accepted}.")
    shape = [math.prod(player.values()) for player in actions]
    entries = math.prod(shape)
    if entries > _MOST_ENTRIES or entries * histories > _MOST_STEPS:
        size = " x ".join(f"{count:,}" for count in shape) if entries < 10**15 else "more than 10^15"
        kinds = "pairs" if len(shape) == 2 else "combinations"
        raise InputError(f"{what} has {size} {kinds} of pure strategies; accepted: {accepted}.")


def _one_line(names: list[str]) -> list[str] | None:
    """Return one-line labels: OpenSpiel's name of a pure strategy has a line per information state."""
    labels = [
        ", ".join(" ".join(line.split()) for line in name.strip().splitlines()).replace(" --- action = ", ": ")
        for name in names
    ]
    return labels if len(set(labels)) == len(labels) else None


# Gambit's normal form: games of any number of players


def parse_nfg(text: str) -> dict[str, Any]:
    """Return the arguments of `TensorGame` in the text of an NFG file, in its payoff form or its outcome form.

    >>> parse_nfg('NFG 1 R "small" { "A" "B" } { { "up" "down" } { "left" } } "" 1/2 -1/2 3 -3')["payoffs"][0]
    array([[0.5],
           [3. ]])
    """
    tokens = _Tokens(text)
    for accepted in (["NFG"], ["1"], ["R", "D"]):
        tokens.expect(*accepted)
    title, players = tokens.string(), tokens.strings()
    if len(players) < 2:
        raise InputError(f"the game has {counted(len(players), 'player')}; accepted: two or more.")
    shape, labels = _strategies(tokens, len(players))
    if tokens.peek().startswith('"'):
        tokens.string()  # a comment
    if tokens.peek() == "{":
        outcomes = _outcomes(tokens, len(players))
        entries = [number for _ in tokens.rest() for number in outcomes[tokens.integer(len(outcomes) - 1)]]
    else:
        entries = [tokens.number() for _ in tokens.rest()]
    wanted = len(players) * math.prod(shape)
    if len(entries) != wanted:
        raise InputError(
            f"the file has {counted(len(entries), 'payoff')}; accepted: {wanted:,}, {len(players)} for each of "
            f"{' x '.join(map(str, shape))} cells. Correct the payoffs or the numbers of strategies."
        )
    # The first player's action varies fastest.
    payoffs = np.array(entries, dtype=np.float64).reshape(*reversed(shape), len(players))
    own = [payoffs[..., player].T for player in range(len(players))]
    named: dict[str, Any] = {"name": title} if title.strip() else {}
    if all(players) and len(set(players)) == len(players):
        named["seats"] = players
    return {"payoffs": own, "labels": labels, **named}


def nfg_text(game: Any) -> str:
    """Return the game in the payoff form of Gambit's normal form.

    >>> from coebl import Game
    >>> print(nfg_text(Game([[1, 2]], name="small", column_labels=["left", "right"])))
    NFG 1 R "small" { "row" "column" }
    <BLANKLINE>
    { { "0" }
    { "left" "right" }
    }
    ""
    <BLANKLINE>
    1.0 -1.0 2.0 -2.0
    """
    strategies = "\n".join(
        "{ " + " ".join(_quoted(label, f"the {player} label", is_label=True) for label in own) + " }"
        for player, own in zip(game.seats, game.labels, strict=True)
    )
    payoffs = " ".join(map(repr, np.stack([tensor.T.ravel() for tensor in game.payoffs], axis=1).ravel().tolist()))
    payoffs = payoffs.replace("e+", "e")  # Gambit 16 does not read 1e+17
    players = " ".join(_quoted(seat, "the player", is_label=True) for seat in game.seats)
    head = f"NFG 1 R {_quoted(game.name, 'the name')} {{ {players} }}"
    return f'{head}\n\n{{ {strategies}\n}}\n""\n\n{payoffs}\n'


def differing_sums(row: Floats, column: Floats) -> str:
    """Return a description of two cells in which the payoffs add up to different numbers; "" if there are none.

    >>> differing_sums(np.array([[1.0, 2.0]]), np.array([[-1.0, 3.0]]))
    'in row 0, column 0 the payoffs add up to 0, in row 0, column 1 to 5'
    """
    sums = row + column
    tolerance = _SAME_SUM * max(np.abs(row).max(initial=0.0), np.abs(column).max(initial=0.0))
    differing = np.argwhere(np.abs(sums - sums.flat[0]) > tolerance) if sums.size else np.empty((0, 2))
    if not len(differing):
        return ""
    i, j = (int(index) for index in differing[0])
    return f"in row 0, column 0 the payoffs add up to {sums.flat[0]:g}, in row {i}, column {j} to {sums[i, j]:g}"


def _strategies(tokens: _Tokens, players: int) -> tuple[tuple[int, ...], list[list[str] | None]]:
    """Return the numbers of actions, and the labels of each player if there are any."""
    tokens.expect("{")
    if tokens.peek() != "{":
        shape = tuple(tokens.integer() for _ in range(players))
        tokens.expect("}")
        return shape, [None] * players
    labels = [tokens.strings() for _ in range(players)]
    tokens.expect("}")
    # Gambit wrote empty labels where none had been given.
    return tuple(map(len, labels)), [own if any(own) else None for own in labels]


def _outcomes(tokens: _Tokens, players: int) -> list[tuple[float, ...]]:
    outcomes: list[tuple[float, ...]] = [(0.0,) * players]  # outcome 0 pays nothing
    tokens.expect("{")
    while tokens.peek() != "}":
        tokens.expect("{")
        tokens.string()
        outcomes.append(tuple(tokens.number() for _ in range(players)))
        tokens.expect("}")
    tokens.expect("}")
    return outcomes


class _Tokens:
    """The words of an NFG file, in order. A comma separates words, as a space does."""

    # Gambit writes a backslash before quotes and backslashes, and keeps other backslashes when it reads a file.
    # An unclosed quote takes the rest of the file: searching for its end from every later quote would take hours.
    _pattern = re.compile(r'[\s,]+|("(?:[^"\\]|\\.)*"|[{}]|[^\s,{}"]+)|(").*', re.DOTALL)

    def __init__(self, text: str) -> None:
        self._text = text
        matches = self._pattern.finditer(text)
        self._words = [(match[match.lastindex], match.start()) for match in matches if match.lastindex]
        self._next = 0

    def peek(self) -> str:
        return self._words[self._next][0] if self._next < len(self._words) else ""

    def take(self) -> str:
        word = self.peek()
        self._next += 1
        return word

    def rest(self) -> range:
        return range(len(self._words) - self._next)

    def fault(self, accepted: str) -> InputError:
        """Return the error about the last word taken."""
        if self._next > len(self._words):
            return InputError(f"the file ends early; accepted here: {accepted}. Complete it in Gambit's NFG format.")
        word, start = self._words[self._next - 1]
        line = self._text.count("\n", 0, start) + 1
        return InputError(
            f"line {line} has {shorten(word)}; accepted there: {accepted}. Correct it to Gambit's NFG format."
        )

    def expect(self, *accepted: str) -> None:
        if self.take() not in accepted:
            raise self.fault(" or ".join(accepted))

    def string(self) -> str:
        word = self.take()
        if len(word) < 2 or word[0] != '"':
            raise self.fault("a string in double quotes")
        return re.sub(r'\\(["\\])', r"\1", word[1:-1])

    def strings(self) -> list[str]:
        self.expect("{")
        strings = []
        while self.peek() != "}":
            strings.append(self.string())
        self.expect("}")
        return strings

    def integer(self, most: int = 10**9) -> int:
        word = self.take()
        if not re.fullmatch(r"\d{1,9}", word, re.ASCII) or int(word) > most:
            raise self.fault(f"an integer from 0 to {most}")
        return int(word)

    def number(self) -> float:
        """Take a decimal or a rational number, and return the nearest float."""
        word = self.take()
        numerator, slash, denominator = word.partition("/")
        value = math.nan
        try:
            if slash and re.fullmatch(r"[+-]?\d+/\d+", word, re.ASCII):
                value = int(numerator) / int(denominator)
            elif is_number(word):
                value = float(word)
        except (ZeroDivisionError, OverflowError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            raise self.fault("a finite number such as 2, -0.5 or 1/3")
        return value


def _quoted(text: str, what: str, is_label: bool = False) -> str:
    """Return a string in quotes; reject a string that Gambit would read differently."""
    if re.search(r'\\(["\\]|$)', text):
        raise InputError(
            f"{what} {shorten(text)} has a backslash before a quote, a backslash or its end; accepted in .nfg: "
            "any other string. Change it."
        )
    if is_label and (not text or text != " ".join(text.split()) or not text.isprintable()):
        raise InputError(
            f"{what} {shorten(text)} is empty or has spaces around it, two in a row, or a control character; "
            "accepted in .nfg: single spaces between words. Change it."
        )
    return '"' + text.replace('"', '\\"') + '"'
