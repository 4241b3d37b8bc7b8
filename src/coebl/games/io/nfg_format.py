"""Gambit's normal form, .nfg: constant-sum games of two players, read from text and written to it."""

from __future__ import annotations

import math
import re
from typing import Any, NoReturn

import numpy as np

from coebl.core.arrays import Floats, is_number
from coebl.core.errors import InputError, shorten
from coebl.games.game import Game
from coebl.games.io.text import decode, encode

_SAME_SUM = 1e-9  # relative to the largest payoff


def read(data: bytes) -> dict[str, Any]:
    """The arguments of `Game` in a file's bytes."""
    return parse_nfg(decode(data))


def write(game: Game) -> bytes:
    """The bytes of a file that Gambit reads too."""
    return encode(nfg_text(game))


def parse_nfg(text: str) -> dict[str, Any]:
    """The arguments of `Game` in a text of Gambit's normal form, in its payoff form or its outcome form.

    >>> parse_nfg('NFG 1 R "small" { "A" "B" } { { "up" "down" } { "left" } } "" 1/2 -1/2 3 -3')["payoff"]
    array([[0.5],
           [3. ]])
    """
    tokens = _Tokens(text)
    tokens.expect("NFG")
    tokens.expect("1")
    if tokens.take() not in ("R", "D"):
        tokens.fail("R or D")
    title = tokens.string()
    players = tokens.strings()
    if len(players) != 2:
        raise InputError(f"the game has {len(players)} players; accepted: two. Fix the choices of the others.")
    shape, labels = _nfg_strategies(tokens)
    if tokens.peek().startswith('"'):
        tokens.take()  # a comment
    payoffs = _nfg_outcomes(tokens, shape) if tokens.peek() == "{" else _nfg_payoffs(tokens, shape)
    check_constant_sum(payoffs[..., 0], payoffs[..., 1])
    contents: dict[str, Any] = {"payoff": payoffs[..., 0], **labels}
    return {"name": title, **contents} if title.strip() else contents


def nfg_text(game: Game) -> str:
    """The game in Gambit's normal form, payoff form: what Gambit's own programs read.

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
    rows, columns = (
        " ".join(_nfg_string(label, f"the {player} label", label=True) for label in labels)
        for player, labels in (("row", game.row_labels), ("column", game.column_labels))
    )
    # The row player's action runs fastest, so the payoffs stand column by column.
    payoffs = " ".join(f"{entry!r} {0.0 - entry!r}" for entry in game.payoff.T.ravel().tolist())
    payoffs = payoffs.replace("e+", "e")  # Gambit 16 does not read 1e+17
    head = f'NFG 1 R {_nfg_string(game.name, "the name")} {{ "row" "column" }}'
    return f'{head}\n\n{{ {{ {rows} }}\n{{ {columns} }}\n}}\n""\n\n{payoffs}\n'


def check_constant_sum(row: Floats, column: Floats) -> None:
    """Raise an `InputError` that names two cells unless the two players' payoffs add up to one constant.

    >>> import numpy as np
    >>> check_constant_sum(np.array([[1.0, 2.0]]), np.array([[-1.0, 3.0]]))
    Traceback (most recent call last):
    ...
    coebl.core.errors.InputError: the game is not constant-sum: in row 0, column 0 the payoffs add up to 0, ...
    """
    sums = row + column
    tolerance = _SAME_SUM * max(np.abs(row).max(initial=0.0), np.abs(column).max(initial=0.0))
    differing = np.argwhere(np.abs(sums - sums.flat[0]) > tolerance) if sums.size else np.empty((0, 2))
    if len(differing):
        i, j = (int(index) for index in differing[0])
        raise InputError(
            f"the game is not constant-sum: in row 0, column 0 the payoffs add up to {sums.flat[0]:g}, "
            f"in row {i}, column {j} to {sums[i, j]:g}; accepted: one sum everywhere. "
            "Only such games can be played here."
        )


def _nfg_strategies(tokens: _Tokens) -> tuple[tuple[int, int], dict[str, Any]]:
    """The numbers of actions, and the labels if there are any."""
    tokens.expect("{")
    if tokens.peek() != "{":
        m, n = tokens.whole(), tokens.whole()
        tokens.expect("}")
        return (m, n), {}
    rows, columns = tokens.strings(), tokens.strings()
    tokens.expect("}")
    labels = {"row_labels": rows, "column_labels": columns}
    # Gambit wrote empty labels where nobody had given any.
    return (len(rows), len(columns)), {key: given for key, given in labels.items() if any(given)}


def _nfg_payoffs(tokens: _Tokens, shape: tuple[int, int]) -> Floats:
    payoffs = [tokens.number() for _ in tokens.rest()]
    m, n = shape
    if len(payoffs) != 2 * m * n:
        raise InputError(
            f"the file has {len(payoffs)} payoffs; accepted: {2 * m * n}, two for each of {m} x {n} cells. "
            "Correct the payoffs or the numbers of strategies."
        )
    return np.array(payoffs, dtype=np.float64).reshape(n, m, 2).transpose(1, 0, 2)


def _nfg_outcomes(tokens: _Tokens, shape: tuple[int, int]) -> Floats:
    outcomes = [(0.0, 0.0)]  # outcome 0 is the one that pays nothing
    tokens.expect("{")
    while tokens.peek() != "}":
        tokens.expect("{")
        tokens.string()
        outcomes.append((tokens.number(), tokens.number()))
        tokens.expect("}")
    tokens.expect("}")
    m, n = shape
    chosen = [tokens.whole(len(outcomes) - 1) for _ in tokens.rest()]
    if len(chosen) != m * n:
        raise InputError(
            f"the file assigns {len(chosen)} outcomes; accepted: {m * n}, one for each of {m} x {n} cells. "
            "Correct the outcomes or the numbers of strategies."
        )
    return np.array(outcomes)[np.array(chosen, dtype=np.intp)].reshape(n, m, 2).transpose(1, 0, 2)


class _Tokens:
    """The words of an NFG text, in order. A comma is a space."""

    # Gambit writes quotes and backslashes after a backslash, and leaves single backslashes alone when it reads.
    _pattern = re.compile(r'[\s,]+|("(?:[^"\\]|\\.)*"|[{}]|[^\s,{}"]+|.)', re.DOTALL)

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = [(match[1], match.start()) for match in self._pattern.finditer(text) if match[1]]
        self._next = 0

    def peek(self) -> str:
        return self._words[self._next][0] if self._next < len(self._words) else ""

    def take(self) -> str:
        word = self.peek()
        self._next += 1
        return word

    def rest(self) -> range:
        return range(len(self._words) - self._next)

    def fail(self, accepted: str) -> NoReturn:
        """Say that the word just taken is wrong."""
        if self._next > len(self._words):
            raise InputError(f"the file ends early; accepted here: {accepted}. Complete it in Gambit's NFG format.")
        word, start = self._words[self._next - 1]
        line = self._text.count("\n", 0, start) + 1
        raise InputError(
            f"line {line} has {shorten(word)}; accepted there: {accepted}. Correct it to Gambit's NFG format."
        )

    def expect(self, word: str) -> None:
        if self.take() != word:
            self.fail(word)

    def string(self) -> str:
        word = self.take()
        if len(word) < 2 or word[0] != '"':
            self.fail("a text in double quotes")
        return re.sub(r'\\(["\\])', r"\1", word[1:-1])

    def strings(self) -> list[str]:
        self.expect("{")
        found = []
        while self.peek() != "}":
            found.append(self.string())
        self.expect("}")
        return found

    def whole(self, most: int = 10**9) -> int:
        word = self.take()
        if not re.fullmatch(r"\d{1,9}", word, re.ASCII) or int(word) > most:
            self.fail(f"a whole number from 0 to {most}")
        return int(word)

    def number(self) -> float:
        """A decimal or a rational, to the nearest float."""
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
            self.fail("a finite number such as 2, -0.5 or 1/3")
        return value


def _nfg_string(text: str, what: str, label: bool = False) -> str:
    """The text in quotes, refused where Gambit would read another one back."""
    if re.search(r'\\(["\\]|$)', text):
        raise InputError(
            f"{what} {shorten(text)} has a backslash before a quote, a backslash or its end; accepted in .nfg: "
            "any other text. Change it."
        )
    if label and (not text or text != " ".join(text.split()) or not text.isprintable()):
        raise InputError(
            f"{what} {shorten(text)} is empty or has spaces around it, two in a row, or a control character; "
            "accepted in .nfg: single spaces between words. Change it."
        )
    return '"' + text.replace('"', '\\"') + '"'
