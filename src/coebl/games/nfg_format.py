"""Gambit's normal form, .nfg: games of any number of players.

pygambit is not used for it. Asked for too many strategies by a damaged file, it takes all memory, and its messages do
not name the value that is wrong. And files can be read without it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from coebl.core.arrays import Floats, is_number
from coebl.core.errors import InputError, shorten

_SAME_SUM = 1e-9  # relative to the largest payoff


def parse_nfg(text: str, tensors: bool = False) -> dict[str, Any]:
    """Return the arguments of `Game` in the text of an NFG file, in its payoff form or its outcome form.

    If there are more than two players, or if payoffs do not add up to one constant, or if `tensors` is true, those of
    `TensorGame`.

    >>> parse_nfg('NFG 1 R "small" { "A" "B" } { { "up" "down" } { "left" } } "" 1/2 -1/2 3 -3')["payoff"]
    array([[0.5],
           [3. ]])
    """
    tokens = _Tokens(text)
    for accepted in (["NFG"], ["1"], ["R", "D"]):
        tokens.expect(*accepted)
    title, players = tokens.string(), tokens.strings()
    if len(players) < 2:
        raise InputError(f"the game has {len(players)} players; accepted: two or more.")
    shape, labels = _strategies(tokens, len(players))
    if tokens.peek().startswith('"'):
        tokens.take()  # a comment
    if tokens.peek() == "{":
        outcomes = _outcomes(tokens, len(players))
        entries = [number for _ in tokens.rest() for number in outcomes[tokens.integer(len(outcomes) - 1)]]
    else:
        entries = [tokens.number() for _ in tokens.rest()]
    wanted = len(players) * math.prod(shape)
    if len(entries) != wanted:
        each = "two" if len(players) == 2 else str(len(players))
        raise InputError(
            f"the file has {len(entries)} payoffs; accepted: {wanted}, {each} for each of "
            f"{' x '.join(map(str, shape))} cells. Correct the payoffs or the numbers of strategies."
        )
    # The first player's action varies fastest.
    payoffs = np.array(entries, dtype=np.float64).reshape(*reversed(shape), len(players))
    own = [payoffs[..., player].T for player in range(len(players))]
    named = {"name": title} if title.strip() else {}
    if tensors or len(players) > 2 or differing_sums(*own):
        seats = {"seats": players} if all(players) and len(set(players)) == len(players) else {}
        return {"payoffs": own, "labels": labels, **seats, **named}
    given = {"row_labels": labels[0], "column_labels": labels[1]}
    return {"payoff": own[0], **{key: names for key, names in given.items() if names}, **named}


def nfg_text(game: Any) -> str:
    """Return the game in Gambit's normal form, payoff form, which Gambit's programs read too.

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
        for player, own in zip(game.seats, _labels(game), strict=True)
    )
    tensors = getattr(game, "payoffs", None) or (game.payoff, 0.0 - game.payoff)
    payoffs = " ".join(map(repr, np.stack([tensor.T.ravel() for tensor in tensors], axis=1).ravel().tolist()))
    payoffs = payoffs.replace("e+", "e")  # Gambit 16 does not read 1e+17
    players = " ".join(_quoted(seat, "the player", is_label=True) for seat in game.seats)
    head = f"NFG 1 R {_quoted(game.name, 'the name')} {{ {players} }}"
    return f'{head}\n\n{{ {strategies}\n}}\n""\n\n{payoffs}\n'


def _labels(game: Any) -> Sequence[Sequence[str]]:
    return game.labels if hasattr(game, "labels") else (game.row_labels, game.column_labels)


def differing_sums(row: Floats, column: Floats) -> str:
    """Return two cells in which the payoffs of two players add up to different numbers, in words; else "".

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


def check_constant_sum(row: Floats, column: Floats, what: str = "the game") -> None:
    """Raise an `InputError` that names two cells unless the two players' payoffs add up to one constant.

    >>> import numpy as np
    >>> check_constant_sum(np.array([[1.0, 2.0]]), np.array([[-1.0, 3.0]]))
    Traceback (most recent call last):
    ...
    coebl.core.errors.InputError: the game is not constant-sum: in row 0, column 0 the payoffs add up to 0, ...
    """
    if differing := differing_sums(row, column):
        raise InputError(
            f"{what} is not constant-sum: {differing}; accepted: one sum everywhere. For other games: the same "
            "method of TensorGame."
        )


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
    """The words of an NFG file, in order. A comma is a space."""

    # Gambit writes quotes and backslashes after a backslash, and leaves single backslashes alone when it reads.
    # A quote that is never closed takes the rest of the file: to look for its end once more from every later quote
    # would take hours.
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
        """Return the error that the word just taken is wrong."""
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
        """Take a decimal or a rational, to the nearest float."""
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
    """Return a string in quotes; reject one that Gambit would read back as another."""
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
