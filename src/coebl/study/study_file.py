"""The study file: a study in TOML. `EXAMPLE` shows the keys.

Keys at the top level hold for the whole study. With tables [[parts]] they are defaults, and each part may set its own:
the cells of the study are those of all parts, each once. Every mistake is reported with its line.

A results folder keeps the files that a study names under a digest of their content, `files/DIGEST/NAME`, and a study
file that refers to them there, so that the study can be run again anywhere.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from coebl.backend import Device, check_device
from coebl.core.errors import InputError
from coebl.core.files import read_whole
from coebl.core.specs import escape
from coebl.study.schema import Build, Place, Study, StudyError, written

EXAMPLE = """\
# A study: many matches over many seeds. Lists inside a spec stand for a grid: coebl:c=[2,8] is two learners.

name = "example"           # letters, digits, - _ .
rounds = 500               # of every run
seeds = 10                 # 0 .. 9; or a list such as [3, 5, 8]; or { first = 100, count = 10 }
# seeds_per_cell = 5       # how many are run and stored together; default 50; smaller cells take longer
# device = "cuda"          # run it on a GPU; by default on the CPU

games = [                  # see: coebl list games. Files are looked for next to this one
    "rps",
    "diagonal:n=[2,3]",
    # "my-game.csv",
]
learners = ["coebl:c=[2,8]", "ucb", "exp3"]  # see: coebl list learners

noise = "gaussian:sigma=1"                   # or a list; without this line, each game has its own
record = "log"                               # all, log, last, or a number k: every k-th round
metrics = ["regret", "pseudo_regret", "tv"]  # or ["all"]: all that each game allows

[match-ups]                    # what several lines give counts once
self-play = true               # every learner against itself; or a list of learners
# all-pairs = true             # every ordered pair of different learners; or a list of learners
one-against-all = "coebl:c=8"  # in the column seat, against every other learner
pairs = [["ucb", "exp3"]]      # [row, column]
"""
"""The text of a commented study file, which `coebl study new` writes."""

_SPECS = ("games", "learners", "noise", "metrics", "match-ups", "parts")  # keys that may name files
_LEVELS = 3  # of specs inside specs at which a path may need escapes
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


def read_study(path: str | os.PathLike[str], device: Device | None = None) -> Study:
    """The study in a file.

    Args:
        path: of the file. What it names is looked for next to it.
        device: takes the place of the one that the file names.

    >>> study = read_study("study.toml")
    >>> study.name, study.matches()
    ('small', [('rps', 'ucb', 'ucb'), ('rps', 'ucb', 'exp3')])
    """
    path = Path(path)
    try:
        text = read_whole(path, pipes=True).decode("utf-8-sig")  # some editors write a byte order mark
    except UnicodeDecodeError as error:
        raise StudyError([f"{path}: byte {error.start} is not UTF-8. Save the file as UTF-8."]) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise StudyError([f"{path}: {reason}; accepted: a study file. For an example: coebl study new"]) from None
    return parse_study(text, str(path), device)


def parse_study(text: str, where: str = "study.toml", device: Device | None = None) -> Study:
    """The study that the text of a file describes. Files that it names are relative to the file `where`.

    A device takes the place of the one that the text names.

    >>> study = parse_study(EXAMPLE)
    >>> len(study.cells)
    24
    >>> print(study.cells[0])
    rps, coebl:c=2 v coebl:c=2, 500 rounds, seeds 0..9
    >>> try:
    ...     parse_study(EXAMPLE.replace("rps", "rpz").replace("ucb", "ubc"))
    ... except StudyError as error:
    ...     print(error.mistakes[0])
    study.toml, line 10, games[0]: unknown game 'rpz': did you mean 'rps'? See: coebl list games
    """
    try:
        contents = parse_toml(text, where)
    except InputError as error:
        raise StudyError([str(error)]) from None
    kept = text
    if device is not None and check_device(device) != contents.get("device", "cpu"):
        contents["device"] = device
        kept = _with_device(text, contents)
    build = Build(contents, Path(where).parent)
    study: Study = object.__new__(Study)
    try:
        build.fill(study)
    except StudyError:
        lines = key_lines(text)
        located = sorted(
            ((_line(lines, mistake.place), mistake) for mistake in build.mistakes), key=lambda pair: pair[0]
        )
        raise StudyError(
            [_with_line(where, line, *mistake) for line, mistake in located],
            [mistake.place for _, mistake in located],
        ) from None
    kept, files = keep_files(kept, build.files.named)
    return study.with_(text=kept, files=files)


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


def _with_device(text: str, contents: Mapping[str, Any]) -> str:
    """The text of a study with the device of its contents, so that the kept text names where it was run."""
    line = f'device = "{contents["device"]}"'
    for changed in (re.sub(r"^device[ \t]*=.*$", line, text, count=1, flags=re.MULTILINE), f"{line}\n{text}"):
        with suppress(ValueError):  # the key twice
            if tomllib.loads(changed) == contents:
                return changed
    return text


# Lines of mistakes


def _line(lines: Mapping[Place, int], place: Place) -> int:
    """The line of a place, or of the innermost key around it that has one; else 0."""
    return next((lines[place[:k]] for k in range(len(place), 0, -1) if place[:k] in lines), 0)


def _with_line(where: str, line: int, place: Place, message: str) -> str:
    parts = [where, *([f"line {line}"] if line else []), *([written(place)] if place else [])]
    return f"{', '.join(parts)}: {message}"


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


# Kept files


def keep_files(text: str, named: Mapping[str, Path]) -> tuple[str, dict[str, bytes]]:
    """Return a study's text that refers to the kept files, and these files: paths in the results folder to contents.

    Args:
        text: of the study's file, which is valid.
        named: the files that it names, as it names them, with their paths.
    """
    targets, contents = {}, {}
    for name, path in named.items():
        with suppress(OSError):  # it is gone again: the run will report it
            content = read_whole(path, None)
            targets[name] = f"files/{hashlib.sha256(content).hexdigest()[:12]}/{path.name}"
            contents[targets[name]] = content
    if not targets:
        return text, contents
    study = tomllib.loads(text)
    moved = _replacing(targets, between=r"\s")
    wanted = {key: _moved(value, moved) if key in _SPECS else value for key, value in study.items()}
    for changed in _candidates(text, targets):
        with suppress(tomllib.TOMLDecodeError):
            if tomllib.loads(changed) == wanted:
                return changed, contents
    return as_toml(wanted), contents


def _candidates(text: str, targets: Mapping[str, str]) -> Iterator[str]:
    """Candidate study files: paths are replaced wherever they look like parts of specs, comments included."""
    for between in ("", r"\s"):
        moved = _replacing(targets, between)
        lines = text.splitlines(keepends=True)
        yield "".join(line if re.match(r"\s*(title|description)\s*=", line) else moved(line) for line in lines)


def _replacing(targets: Mapping[str, str], between: str = "") -> Callable[[str], str]:
    """Return a function that replaces the paths in a string with quoted specs, at any depth of quotes."""
    paths = dict(targets)
    level = paths
    for _ in range(_LEVELS):
        level = {escape(name): escape(target) for name, target in level.items()}
        paths = level | paths
    names = "|".join(re.escape(name) for name in sorted(paths, key=len, reverse=True))
    pattern = re.compile(rf"""(?<=["'\[:=,+{between}])(?:{names})(?=["'\]:,+{between}])""")
    return lambda text: pattern.sub(lambda match: paths[match[0]], text) if paths else text


def _moved(value: Any, replace: Callable[[str], str]) -> Any:
    """Return a value of a study's file with other paths in its specs."""
    if isinstance(value, str):
        return replace(f'"{value}"')[1:-1]
    if isinstance(value, list):
        return [_moved(inner, replace) for inner in value]
    if isinstance(value, dict):
        return {key: _moved(inner, replace) for key, inner in value.items()}
    return value


def as_toml(study: Mapping[str, Any]) -> str:
    """A study as TOML, from the contents of its file; without its comments."""
    return "".join(f"{json.dumps(key)} = {_value(value)}\n" for key, value in study.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON's notation is also TOML's
