"""The text of a study file: TOML, the lines of its keys, and the files that it names.

Keys at the top level hold for the whole study. With tables [[parts]] they are defaults, and each part may set its own:
the cells of the study are those of all parts, each once.

A results folder keeps the files that a study names under a digest of their content, `files/DIGEST/NAME`, and a study
file that refers to them there, so that the study can be run again anywhere.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from coebl.core.errors import InputError
from coebl.core.files import read_whole
from coebl.core.specs import move_files
from coebl.games.game import NamedGame
from coebl.study.errors import Place

_SPECS = ("games", "learners", "noise", "metrics", "match-ups", "parts")  # keys that may name files
_PROSE = re.compile(r"(title|description)[ \t]*=[ \t]*\Z")  # before a string that is no spec
_MANY_DOTS = re.compile(  # tomllib is slow with these
    r"""(?:^|[{,])[ \t\[]*(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){50}""", re.MULTILINE
)
_TOKEN = re.compile(
    r"""
    "{3} (?: \\. | [^\\] )*? "{3,5}     # strings over several lines, which may end in quotes of their own
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


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """The contents of a TOML file; an InputError of one line if it is not TOML, or nested too deep to be read."""
    try:
        if _MANY_DOTS.search(text):
            raise RecursionError
        return tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{where}: this is not TOML that can be read: it is nested too deep.") from None
    except ValueError as error:
        if Path(where).suffix not in ("", ".toml"):
            raise InputError(
                f"{where}: this is not a study file, which is TOML. For an example: coebl study new"
            ) from None
        reason, _, position = str(error).partition(" (at ")
        place = position.rstrip(")")
        if place == "end of document":
            lines = text.rstrip("\n").split("\n")
            place = f"line {len(lines)}, column {len(lines[-1]) + 1}"
        # by far the most frequent mistake, which tomllib does not name
        repair = " Strings need quotes, and true and false are lower case." if reason == "Invalid value" else ""
        raise InputError(f"{where}{', ' if place else ''}{place}: this is not TOML: {reason}.{repair}") from None


# Lines of mistakes


def line_of(lines: Mapping[Place, int], place: Place) -> int:
    """The line of a place, or of the innermost key around it that has one; else 0."""
    return next((lines[place[:k]] for k in range(len(place), 0, -1) if place[:k] in lines), 0)


def key_lines(text: str) -> dict[Place, int]:
    """The line of every key and of every element of an array in a TOML text, which tomllib does not report.

    >>> key_lines('a = [\\n  "x",\\n  "y"]\\n[b]\\nc.d = 1')
    {('a',): 1, ('a', 0): 2, ('a', 1): 3, ('b',): 4, ('b', 'c'): 5, ('b', 'c', 'd'): 5}
    >>> key_lines("[[p]]\\nx = 1\\n[[p]]\\n[p.q]")
    {('p',): 1, ('p', 0): 1, ('p', 0, 'x'): 2, ('p', 1): 3, ('p', 1, 'q'): 4}
    """
    lines: dict[Place, int] = {}
    tables: dict[Place, int] = {}  # of every array of tables, the index of the last one
    tokens: list[tuple[str, int]] = []  # with their lines, the next one last
    line = 1
    for match in _TOKEN.finditer(text):
        if not match[0].startswith("#"):
            tokens.append((match[0], line))
        line += match[0].count("\n")  # every line break is a token or inside one
    tokens.reverse()

    def ahead(*characters: str) -> bool:
        return not tokens or tokens[-1][0] in characters

    def read_names(end: str) -> list[str]:
        key = ""
        while not ahead(end):
            token, _ = tokens.pop()
            key += "" if token in "[]" else token
        del tokens[-1:]
        names = []
        inner: Any = tomllib.loads(f"{key} = 0")  # which reads quotes, escapes and dots
        while isinstance(inner, dict):
            [(name, inner)] = inner.items()
            names.append(name)
        return names

    def read_assignment(place: Place) -> None:
        line = tokens[-1][1]
        for name in read_names("="):
            place = (*place, name)
            lines.setdefault(place, line)
        read_value(place)

    def read_value(place: Place) -> None:
        if not ahead("[", "{"):
            while not ahead(",", "]", "}", "\n"):  # a date may be two tokens
                tokens.pop()
            return
        opening, index = tokens.pop()[0], 0
        while not ahead("]", "}"):
            if ahead(",", "\n"):
                tokens.pop()
            elif opening == "{":
                read_assignment(place)
            else:
                lines[*place, index] = tokens[-1][1]
                read_value((*place, index))
                index += 1
        del tokens[-1:]

    table: Place = ()
    while tokens:
        if ahead("\n"):
            tokens.pop()
        elif not ahead("["):
            read_assignment(table)
        else:
            _, line = tokens.pop()
            array, names, table = ahead("["), read_names("\n"), ()
            for number, name in enumerate(names, 1):
                table = (*table, name)
                lines.setdefault(table, line)
                if array and number == len(names):
                    tables[table] = tables.get(table, -1) + 1
                if table in tables:
                    table = (*table, tables[table])
                    lines.setdefault(table, line)
    return lines


# Kept text and files


def with_device(text: str, contents: Mapping[str, Any]) -> str:
    """The text of a study with the device of its contents, so that the kept text names where it was run."""
    line = f'device = "{contents["device"]}"'
    changed, count = re.subn(r"^device[ \t]*=.*$", line, text, count=1, flags=re.MULTILINE)
    return _verified(changed if count else f"{line}\n{text}", contents)


def _verified(text: str, contents: Mapping[str, Any]) -> str:
    """A text that should have these contents, with its comments; one without them if it has not."""
    with suppress(tomllib.TOMLDecodeError):
        if tomllib.loads(text) == contents:
            return text
    return as_toml(contents)


def keep_files(text: str, named: Mapping[str, Path]) -> tuple[str, dict[str, bytes]]:
    """Return a study's text that refers to the kept files, and these files: paths in the results folder to contents."""
    targets, contents = {}, {}
    for name, path in named.items():
        with suppress(OSError):  # it is gone again: the run will report it
            content = read_whole(path, None)
            targets[name] = f"files/{hashlib.sha256(content).hexdigest()[:12]}/{path.name}"
            contents[targets[name]] = content
    if not targets:
        return text, contents

    def place(file: str) -> str:
        name = file.lstrip("[ ")  # it may be the first item of a list in a spec
        return file.removesuffix(name) + targets.get(name, name)

    def moved(value: Any) -> Any:
        if isinstance(value, str):
            return targets.get(value.strip()) or move_files(value, place)
        if isinstance(value, list):
            return [moved(inner) for inner in value]
        return {key: moved(inner) for key, inner in value.items()} if isinstance(value, dict) else value

    def moved_token(token: re.Match[str]) -> str:
        before = text[max(0, token.start() - 40) : token.start()]
        if token[0][0] not in "\"'" or _PROSE.search(before):
            return token[0]
        value = tomllib.loads(f"value = {token[0]}")["value"]
        return token[0] if moved(value) == value else _value(moved(value))

    wanted = {key: moved(value) if key in _SPECS else value for key, value in tomllib.loads(text).items()}
    return _verified(_TOKEN.sub(moved_token, text), wanted), contents


def as_toml(study: Mapping[str, Any]) -> str:
    """A study as TOML, from the contents of its file; without its comments."""
    return "".join(f"{json.dumps(key)} = {_value(value)}\n" for key, value in study.items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if not isinstance(value, (str, int, float)):  # an object: its spec
        value = (value.spec or value.name) if isinstance(value, NamedGame) else str(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON's notation is also TOML's
