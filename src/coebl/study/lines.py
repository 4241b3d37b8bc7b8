"""The lines of a TOML text's keys, which tomllib does not report. The text is known to be TOML."""

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


_SEPARATORS = frozenset("\n[]{},=")
_MOST_DOTS = 50


def key_lines(text: str) -> dict[Place, int]:
    """The line of every key and of every element of an array, in a text that is TOML.

    >>> key_lines('a = [\\n  "x",\\n  "y"]\\n[b]\\nc.d = 1')
    {('a',): 1, ('a', 0): 2, ('a', 1): 3, ('b',): 4, ('b', 'c'): 5, ('b', 'c', 'd'): 5}
    >>> key_lines("[[p]]\\nx = 1\\n[[p]]\\n[p.q]")
    {('p',): 1, ('p', 0): 1, ('p', 0, 'x'): 2, ('p', 1): 3, ('p', 1, 'q'): 4}
    """
    return _KeyLines(text).lines


def too_deep(text: str) -> bool:
    """Whether a key has so many dots that tomllib, whose time grows with their square, would not come back.

    >>> too_deep("a.b.c = 'x" + "." * 99 + "'"), too_deep("a." * 99 + "a = 1")
    (False, True)
    """
    dots = 0
    for match in _TOKEN.finditer(text):
        if match[0] in _SEPARATORS:
            dots = 0
        elif match[0][0] not in "\"'#":
            dots += match[0].count(".")
            if dots > _MOST_DOTS:
                return True
    return False


class _KeyLines:
    def __init__(self, text: str) -> None:
        self.lines: dict[Place, int] = {}
        self._tokens: list[tuple[str, int]] = []  # with their lines
        self._at = 0
        self._last: dict[Place, int] = {}  # of every array of tables, the number of the last one
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
                table = self._header(self._tokens[self._at][1])
            else:
                self._assignment(table)

    def _token(self) -> str | None:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else None

    def _header(self, line: int) -> Place:
        """Read [table] or [[table]], and note the lines of all its parts."""
        self._at += 1
        array = self._token() == "["
        names = self._names("\n")
        place: Place = ()
        for number, name in enumerate(names, 1):
            place = (*place, name)
            self.lines.setdefault(place, line)
            if array and number == len(names):
                self._last[place] = self._last.get(place, -1) + 1
            if place in self._last:
                place = (*place, self._last[place])
                self.lines.setdefault(place, line)
        return place

    def _names(self, end: str) -> list[str]:
        """Read the parts of a key up to its end."""
        tokens = []
        while self._token() not in (end, None):
            tokens.append(self._tokens[self._at][0])
            self._at += 1
        self._at += 1
        written = "".join(token for token in tokens if token not in "[]")
        names = []
        inner: Any = tomllib.loads(f"{written} = 0")  # quotes, escapes and dots are its business
        while isinstance(inner, dict):
            [(name, inner)] = inner.items()
            names.append(name)
        return names

    def _assignment(self, table: Place) -> None:
        line = self._tokens[self._at][1]
        place = table
        for name in self._names("="):
            place = (*place, name)
            self.lines.setdefault(place, line)
        self._value(place)

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
