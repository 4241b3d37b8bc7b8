"""A study: many matches over many seeds, built from objects and specs in Python, or read from a TOML file.

A mistake in a file is reported with its line; in Python, with the argument. Keys at the top level of a file hold for
the whole study. With tables [[parts]] they are defaults, and each part may override them: the cells of the study are
those of all parts, each once.

A results folder keeps the files that a study names under a digest of their content, `files/DIGEST/NAME`, and a study
file that refers to them there, so that the study can be run again anywhere.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from importlib import resources
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coebl.backend import Device, check_device
from coebl.core.errors import InputError, shorten
from coebl.core.files import check_path, read_whole
from coebl.core.specs import move_files
from coebl.core.text import listed
from coebl.engine import Record
from coebl.engine.match import MatchName
from coebl.games import Noise, TensorGame, ZeroSumGame
from coebl.games.game import NamedGame
from coebl.games.registry import default_noise
from coebl.learners import Learner
from coebl.metrics import METRICS, Metric
from coebl.study.cell import Cell
from coebl.study.errors import Place, StudyError, written
from coebl.study.schema import MATCH_UPS, Build

if TYPE_CHECKING:
    from coebl.study.runner import RunSummary

_MATCH_UPS = {key.replace("-", "_"): key for key in MATCH_UPS}  # arguments of `Study` to keys of a file
_SPECS = ("games", "learners", "noise", "metrics", "match-ups", "parts")  # keys that may name files
_PROSE = re.compile(r"(title|description)[ \t]*=[ \t]*\Z")  # before a string that is not a spec
_MANY_DOTS = re.compile(  # tomllib is slow with these
    r"""(?:^|[{,])[ \t\[]*(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){50}""", re.MULTILINE
)
_TOKEN = re.compile(
    r"""
    "{3} (?: \\. | [^\\] )*? "{3,5}     # strings over several lines, which may end in quotes
    | '{3} .*? '{3,5}
    | " (?: \\. | [^"\\] )* "
    | ' [^']* '
    | \# [^\n]*
    | \n
    | \{ \s* \}                          # an empty table
    | [\[\]{},=]
    | [^\s\[\]{},=\#"'][^\[\]{},=\#"'\n]*  # bare keys, numbers, dates, true and false
    """,
    re.VERBOSE | re.DOTALL,
)
_KEY_CONTINUES = re.compile(r"""[ \t]*[.="']""")  # after a part of a key
_HEADER = "line of the header"

EXAMPLE = resources.files("coebl.study").joinpath("example.toml").read_text("utf-8")
"""The text of a commented study file, which `coebl study new` writes."""


@dataclass(frozen=True, init=False)
class Study:
    """Many matches over many seeds, checked when the study is created.

    Lists may hold specs and objects; a list inside a spec is a grid, as in a study file. A class that is in no file can
    be used too: its cells are run in this process, one after the other, unless the class is in a module that other
    processes can import.

    Args:
        name: letters, digits, - _ and ., as for the key of a study file.
        games: specs, files, or `Game` and `TensorGame` objects; one without a spec goes by its name.
        learners: specs or `Learner` objects.
        rounds: the rounds of every run.
        seeds: their number, or a list, or a mapping with first and count.
        self_play: True for every learner against itself, in all seats, or a list of learners. Without self_play,
            all_pairs, one_against_all, pairs and players, every learner plays against every learner and itself.
        all_pairs: True for every ordered pair of different learners, or a list of learners. In a game with more than
            two seats: each learner in each seat, with copies of each other learner in all other seats.
        one_against_all: a learner, or several, in the last seat, against each other learner in all other seats.
        pairs: pairs of learners, (row, column), for games with two seats.
        players: tuples with a learner for each seat, for games with that many seats; a list in place of a learner
            means each of its learners in turn.
        noise: a noise or several; by default the noise of each game.
        until: a condition that ends a run, see `coebl.simulate`; the results have the metric hitting_time.
        record: the rounds at which metrics are kept, see `coebl.simulate`; by default "log", or "last" with until.
        metrics: names, file.py:Name, or classes; or "all".
        keep: ["policies"] for a replay on the page: the policies of the first seed at a few hundred rounds, on games
            with a matrix of at most 16 actions per player.
        seeds_per_cell: seeds that are run and stored together.
        device: "cpu" or "cuda".
        parts: mappings with the arguments that differ from part to part; the cells are those of all parts, each once.
        title: one line.
        description: a longer explanation.

    >>> from coebl import Game
    >>> from coebl.learners import Coebl
    >>> study = Study(games=["rps", Game([[3, 0], [1, 2]], name="mine")], learners=[Coebl(c=2), "ucb"], seeds=20)
    >>> len(study.cells), print(study.cells[-1])
    mine, ucb v coebl:c=2, 3000 rounds, seeds 0..19
    (8, None)
    """

    name: str  # the name of the study
    cells: tuple[Cell, ...]  # the cells to run
    text: str  # the study as a file, to be kept with the results: it refers to the kept copies of its files
    title: str = ""
    description: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)  # its files: path in the results folder to content

    def __init__(
        self,
        name: str = "study",
        *,
        games: Sequence[str | ZeroSumGame | TensorGame] | None = None,
        learners: Sequence[str | Learner] | None = None,
        rounds: int = 3000,
        seeds: int | Sequence[int] | Mapping[str, int] | None = None,
        self_play: bool | Sequence[str | Learner] | None = None,
        all_pairs: bool | Sequence[str | Learner] | None = None,
        one_against_all: str | Learner | Sequence[str | Learner] | None = None,
        pairs: Sequence[Sequence[str | Learner]] | None = None,
        players: Sequence[Sequence[str | Learner | Sequence[str | Learner]]] | None = None,
        noise: str | Noise | Sequence[str | Noise] | None = None,
        until: str | None = None,
        record: Record | None = None,
        metrics: Sequence[str | type[Metric]] | str | None = None,
        keep: Sequence[str] | None = None,
        seeds_per_cell: int | None = None,
        device: Device = "cpu",
        parts: Sequence[Mapping[str, Any]] | None = None,
        title: str | None = None,
        description: str | None = None,
    ) -> None:
        arguments = {key: value for key, value in locals().items() if key != "self" and value is not None}
        if not any(key in arguments for key in _MATCH_UPS):
            arguments |= {"self_play": True, "all_pairs": True}
        contents = _as_contents(arguments)
        build = Build(contents)
        if build.mistakes:
            raise StudyError([str(mistake) for mistake in build.mistakes], list(build.mistakes))
        only_here = dict.fromkeys(spec for cell in build.cells for _, spec in cell.objects)
        objects = listed(shorten(spec) for spec in only_here)
        remark = f"# To be run from the Python code that makes these objects: {objects}."
        self._set(contents, build, f"{remark}\n" * bool(only_here) + as_toml(_with_noises(contents)))

    def _set(self, contents: Mapping[str, Any], build: Build, text: str, device: Device | None = None) -> None:
        words = {key: contents.get(key, "") for key in ("name", "title", "description")}
        kept, files = keep_files(text, build.files, device)
        self.__dict__.update(words, cells=build.cells, text=kept, files=files)

    def with_(self, **changes: Any) -> Study:
        """Return a copy with some fields changed; the changes are not checked."""
        study = copy(self)
        study.__dict__.update(changes)
        return study

    def run(self, folder: str | Path, **options: Any) -> RunSummary:
        """Run the study into a folder, see `coebl.study.run`.

        Args:
            folder: the folder of the results; it is created, or continued.
            **options: the options of `coebl.study.run`.
        """
        from coebl.study.runner import run

        return run(self, check_path("folder", folder), **options)

    def matches(self) -> list[MatchName]:
        """Return the game and the players of every match, each once.

        >>> Study(games=["rps"], learners=["ucb", "exp3"], seeds=5, self_play=True).matches()
        [('rps', 'ucb', 'ucb'), ('rps', 'exp3', 'exp3')]
        """
        return list(dict.fromkeys(MatchName(cell.game, *cell.players) for cell in self.cells))

    def select(self, matches: Iterable[MatchName], seeds: int | None = None) -> Study:
        """Return the study with fewer cells: those of the given matches whose seeds are all below a number.

        The cells keep their order and their seeds, so a run of the whole study finds the cells of a selection.

        >>> study = Study(games=["rps"], learners=["ucb", "exp3"], seeds=5)
        >>> [str(cell) for cell in study.select([("rps", "ucb", "exp3")]).cells]
        ['rps, ucb v exp3, 3000 rounds, seeds 0..4']
        """
        wanted = {MatchName(*match) for match in matches}
        for match in sorted(wanted.difference(self.matches())):
            raise InputError(f"the study {self.name} has no match {match}; see its matches().")
        cells = (
            cell
            for cell in self.cells
            if (cell.game, *cell.players) in wanted and (seeds is None or max(cell.seeds) < seeds)
        )
        return self.with_(cells=tuple(cells))


def _as_contents(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of `Study` in the layout of a study file."""
    contents = {key: _plain(value) for key, value in arguments.items() if key not in _MATCH_UPS}
    match_ups = {_MATCH_UPS[key]: _plain(value) for key, value in arguments.items() if key in _MATCH_UPS}
    if isinstance(parts := contents.get("parts"), list):
        contents["parts"] = [_as_contents(part) if isinstance(part, Mapping) else part for part in parts]
    return contents | ({"match-ups": match_ups} if match_ups else {})


def _with_noises(contents: dict[str, Any]) -> dict[str, Any]:
    """Return the contents with a part for each noise of game objects that differs from that of their specs."""
    parts, noises = [], set[str]()
    for part in contents.get("parts", [{}]):
        table = contents | part
        by_noise: dict[str, list[Any]] = {}
        for game in table["games"]:
            own = isinstance(game, NamedGame) and "noise" not in table and game.noise != default_noise(game)
            by_noise.setdefault(str(game.noise) if own else "", []).append(game)
        parts += [part | {"games": games} | ({"noise": noise} if noise else {}) for noise, games in by_noise.items()]
        noises |= by_noise.keys()
    return contents | {"parts": parts} if any(noises) else contents


def _plain(value: Any) -> Any:
    """Return a value with lists for tuples and arrays, and with Python's numbers for those of NumPy."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, (list, tuple, range)) else value


# Study files


def read_study(path: str | os.PathLike[str], device: Device | None = None) -> Study:
    """Return the study in a file.

    Args:
        path: the path of the file. Files that it names are relative to its folder.
        device: the device to use in place of the one in the file.

    >>> study = read_study("study.toml")
    >>> study.name, study.matches()
    ('small', [('rps', 'ucb', 'ucb'), ('rps', 'ucb', 'exp3')])
    """
    path = check_path("path", path)
    try:
        text = read_whole(path, pipes=True).decode("utf-8-sig")  # some editors write a byte order mark
    except UnicodeDecodeError as error:
        raise StudyError([f"{path}: byte {error.start} is not UTF-8. Save the file as UTF-8."]) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise StudyError([f"{path}: {reason}; accepted: a study file. For an example: coebl study new"]) from None
    return parse_study(text, str(path), device)


def parse_study(text: str, where: str = "study.toml", device: Device | None = None) -> Study:
    """Return the study that the text of a file describes. Files that it names are relative to the file `where`.

    If a device is given, it replaces the one in the text.

    >>> study = parse_study(EXAMPLE)
    >>> len(study.cells)
    48
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
    if device is None or check_device(device) == contents.get("device", "cpu"):
        device = None  # the text stays as it is
    else:
        contents["device"] = device
    build = Build(contents, Path(where).parent)
    if build.mistakes:
        lines = key_lines(text)
        located = sorted(((line_of(lines, mistake.place), mistake) for mistake in build.mistakes), key=itemgetter(0))
        mistakes = [
            ", ".join(filter(None, (where, f"line {line}" if line else "", written(place)))) + f": {message}"
            for line, (place, message) in located
        ]
        raise StudyError(mistakes, [mistake for _, mistake in located])
    study: Study = object.__new__(Study)
    study._set(contents, build, text, device)
    return study


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Return the contents of a TOML file; an InputError if it is not TOML, or nested too deep to be read."""
    try:
        if _MANY_DOTS.search(text):
            raise RecursionError
        return tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{where}: this TOML cannot be read: it is nested too deep.") from None
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
        repair = {  # for the most frequent mistakes, which tomllib does not explain
            "Invalid value": " Strings need quotes, and true and false are lower case.",
            "Illegal character '\\n'": " A closing quote is missing.",
        }.get(reason, "")
        raise InputError(f"{where}{', ' if place else ''}{place}: this is not TOML: {reason}.{repair}") from None


# Lines of mistakes


def line_of(lines: Any, place: Place) -> int:
    """Return the line of a place, or of the innermost key around it that has one; else 0.

    >>> lines = key_lines('a = [\\n  "x",\\n  "y"]\\n[b]\\nc.d = 1\\n[[p]]')
    >>> [line_of(lines, place) for place in [("a",), ("a", 1), ("b", "c"), ("p", 0), ("p", 0, "q"), ("r",)]]
    [1, 3, 5, 6, 6, 0]
    """
    if not place or place[0] not in lines:
        return 0
    key: Any
    with suppress(LookupError, TypeError):  # a key that is missing
        for key in place:
            lines = lines[key + isinstance(lines[0], int) if isinstance(lines, list) else key]
    return _first_line(lines)


def _first_line(lines: Any) -> int:
    if isinstance(lines, int):
        return lines
    return _first_line(lines[0]) if isinstance(lines, list) else min(map(_first_line, lines.values()), default=0)


def key_lines(text: str) -> dict[str, Any]:
    """Return the contents of a TOML text with the line of each value in its place, as tomllib reports no lines.

    An array begins with its own line. A table that has a header has the line of the header under the key `_HEADER`.

    >>> key_lines('a = [\\n  "x",\\n  "y"]\\n[b]\\nc.d = 1')
    {'a': [1, 2, 3], 'b': {'line of the header': 4, 'c': {'d': 5}}}
    """
    line, depth, side = 1, 0, "key"

    def numbered(token: re.Match[str]) -> str:
        nonlocal line, depth, side
        word, start = token[0], line
        line += word.count("\n")  # every line break is a token or inside one
        if word[0] == "#":
            return ""
        if word == "\n" and not depth:
            before, side = side, "key"
            return f"\n{_HEADER!r} = {start}\n" if before == "header" else word
        if side == "key":
            side = {"[": "header", "=": "value"}.get(word, side)
        elif side == "value":
            depth += (word in "[{") - (word in "]}")
            if word == "[":
                return f"[{start}, "
            if word not in ("{", "}", "]", ",", "=", "\n") and not _KEY_CONTINUES.match(text, token.end()):
                return str(start)
        return word

    try:
        return tomllib.loads(_TOKEN.sub(numbered, f"{text}\n"))
    except tomllib.TOMLDecodeError:  # the text has the key `_HEADER` itself
        return {}


# Kept text and files


def keep_files(text: str, named: Mapping[str, Path], device: Device | None = None) -> tuple[str, dict[str, bytes]]:
    """Return a study's text that refers to the kept files, and these files: path in the results folder to content.

    The text names another device if one is given. It keeps its comments if its strings can be replaced one by one.
    """
    targets, files = {}, {}
    for name, path in named.items():
        with suppress(OSError):  # the file has gone: the run will report it
            content = read_whole(path, None)
            targets[name] = f"files/{hashlib.sha256(content).hexdigest()[:12]}/{path.name}"
            files[targets[name]] = content
    if not targets and device is None:
        return text, files
    contents = tomllib.loads(text)
    if device is not None:
        contents["device"] = device
        line = f'device = "{device}"'
        text, count = re.subn(r"^device[ \t]*=.*$", line, text, count=1, flags=re.MULTILINE)
        text = text if count else f"{line}\n{text}"

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

    wanted = {key: moved(value) if key in _SPECS else value for key, value in contents.items()}
    changed = _TOKEN.sub(moved_token, text)
    with suppress(tomllib.TOMLDecodeError):
        if tomllib.loads(changed) == wanted:
            return changed, files
    return as_toml(wanted), files


def as_toml(study: Mapping[str, Any]) -> str:
    """Return a study as TOML, from the contents of its file; without its comments."""
    return "".join(f"{json.dumps(key)} = {_value(value)}\n" for key, value in study.items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, type):
        value = METRICS.entry_of(value).name
    elif not isinstance(value, (str, int, float)):  # an object: its spec
        value = (value.spec or value.name) if isinstance(value, NamedGame) else str(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON's notation is also TOML's
