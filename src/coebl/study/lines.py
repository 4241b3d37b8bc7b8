"""The lines of a TOML text's keys, which tomllib does not tell. The text is known to be TOML."""

from __future__ import annotations

import re
import tomllib
from typing import Any

Place = tuple[str | int, ...]  # of a value in the file: ("match-ups", "pairs", 0, 1)

_TOKEN = re.compile(
    r"""
    "{3} (?: \\. | [^\\] )*? "{3,5}     # texts over several lines, which may end in quotes of their own
    | '{3} .*? '{3,5}
    | " (?: \\. | [^"\\] )* "
    | ' [^']* '
    | \# [^\n]*
    | \n
    | [\[\]{},=]
    | [^\s\[\]{},=\#"']+                # bare keys, numbers, dates, true and false
    """,
    re.VERBOSE | re.DOTALL,
)


def key_lines(text: str) -> dict[Place, int]:
    """The line of every key and of every element of an array, in a text that is TOML.

    >>> key_lines('a = [\\n  "x",\\n  "y"]\\n[b]\\nc.d = 1')
    {('a',): 1, ('a', 0): 2, ('a', 1): 3, ('b',): 4, ('b', 'c'): 5, ('b', 'c', 'd'): 5}
    """
    return _KeyLines(text).lines


class _KeyLines:
    def __init__(self, text: str) -> None:
        self.lines: dict[Place, int] = {}
        self._tokens: list[tuple[str, int]] = []  # with their lines
        self._at = 0
        line = 1
        for match in _TOKEN.finditer(text):
            if not match[0].startswith("#"):
                self._tokens.append((match[0], line))
            line += match[0].count("\n")  # every line break is a token or inside one
        self._document()

    def _document(self) -> None:
        table: Place = ()
        while self._token() is not None:
            if self._token() == "\n":
                self._at += 1
            elif self._token() == "[":
                table = self._key("\n", (), self._tokens[self._at][1])
            else:
                self._assignment(table)

    def _token(self) -> str | None:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else None

    def _key(self, end: str, table: Place, line: int) -> Place:
        """Read a key up to its end, and note the lines of all its parts."""
        parts = []
        while self._token() not in (end, None):
            parts.append(self._tokens[self._at][0])
            self._at += 1
        self._at += 1
        written = "".join(part for part in parts if part not in "[]")
        place = table
        inner: Any = tomllib.loads(f"{written} = 0")  # quotes, escapes and dots are its business
        while isinstance(inner, dict):
            [(part, inner)] = inner.items()
            place = (*place, part)
            self.lines.setdefault(place, line)
        return place

    def _assignment(self, table: Place) -> None:
        self._value(self._key("=", table, self._tokens[self._at][1]))

    def _value(self, place: Place) -> None:
        opening = self._token()
        if opening not in ("[", "{"):
            while self._token() not in (",", "]", "}", "\n", None):  # a date may be two tokens
                self._at += 1
            return
        self._at += 1
        index = 0
        while (token := self._token()) not in ("]", "}", None):
            if token in (",", "\n"):
                self._at += 1
            elif opening == "{":
                self._assignment(place)
            else:
                self.lines[*place, index] = self._tokens[self._at][1]
                self._value((*place, index))
                index += 1
        self._at += 1
