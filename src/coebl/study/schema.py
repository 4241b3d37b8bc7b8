"""A study: many matches over many seeds, built from objects and specs in Python, or read from a file.

All mistakes are collected, each with its place (which list, which entry), and reported at once. The reader of a
file turns a place into a line of it; here it is an argument.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from inspect import isfunction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coebl.backend import DEVICES, Device
from coebl.core.errors import InputError, nearest, reason_of, shorten
from coebl.core.specs import files_in, move_files, split_spec, without_folder
from coebl.engine import Match, Record
from coebl.engine.match import MOST_ROUNDS
from coebl.engine.simulate import MOST_SEEDS
from coebl.engine.table import seat_at
from coebl.engine.until import Until
from coebl.games import GAMES, NOISES, SUFFIXES, AnyGame, Game, Noise, ZeroSumGame, parse_game, parse_noise, read_game
from coebl.games.game import SEATS, SeatName
from coebl.learners import LEARNERS, Learner, parse_learner
from coebl.metrics import METRICS, Metric, metric_class
from coebl.study.cell import Cell, is_file
from coebl.study.cell_file import RESERVED

if TYPE_CHECKING:
    from coebl.study.runner import RunSummary

Place = tuple[str | int, ...]  # of a value: ("match-ups", "pairs", 0, 1)
Entry = tuple[Place, Any]  # a spec or an object, with its place
Pair = tuple[str, str]  # canonical specs of the row learner and the column learner
MatchName = tuple[str, str, str]  # the game, then the players

MOST = 100_000  # specs in a grid, and cells in a study: more is a typo
_OPENING = re.compile(r"(?<=[=:])\[")  # of a list in place of a value; other brackets may be part of a file's name
_MOST_SEED = 2**63 - 1  # results keep seeds as 64-bit integers
_SEED_KEYS = ("first", "count")
_SEEDS_PER_CELL = {"cpu": 50, "cuda": 1000}  # a GPU is idle with fewer
_ANY_GAME = Game([[0.0]])  # for checks that depend on the learners alone
_PATTERNS = {
    "name": r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}",
    "title": r"[^\x00-\x1f\x7f]{1,200}",
    "description": r".+",
}

ACCEPTED = {
    "name": 'letters, digits, - _ and ., a letter or digit first, such as "my-study"',
    "title": "a string on one line",
    "description": "a string",
    "rounds": f"an integer, 1 .. {MOST_ROUNDS:,}",
    "seeds": f"how many, 1 .. {MOST_SEEDS:,}; or a list such as [3, 5, 8]; or {{ first = 100, count = 50 }}",
    "seeds_per_cell": f"an integer, 1 .. {MOST_SEEDS:,}",
    "games": 'a list of games, such as ["rps", "diagonal:n=[2,3]", "my-game.csv"]',
    "learners": 'a list of learners, such as ["coebl:c=[2,8]", "ucb"]',
    "noise": 'a noise such as "gaussian:sigma=1", or a list of them',
    "device": f"{' or '.join(DEVICES)}, where to run it",
    "until": 'a condition that ends a run, such as "exploitability < 0.1", or "optimum"',
    "record": '"all", "log", "last", or a number k >= 1, for every k-th round',
    "metrics": f"a list of metrics, out of {', '.join(METRICS.names)}, all; or file.py:Name",
    "match-ups": "a table [match-ups] with self-play, all-pairs, one-against-all or pairs",
    "parts": "tables [[parts]], each with other keys",
}
MATCH_UPS = {
    "self-play": "true, false, or a list of learners",
    "all-pairs": "true, false, or a list of learners",
    "one-against-all": 'a learner such as "coebl:c=8", or a list of learners',
    "pairs": 'a list of pairs of learners, [row, column], such as [["ucb", "coebl:c=2"]]',
}
_TOP_ONLY = ("name", "title", "description", "device", "parts")
_IN_PARTS = tuple(key for key in ACCEPTED if key not in _TOP_ONLY)
_REQUIRED = ("rounds", "seeds", "games", "match-ups")


class Mistake(NamedTuple):
    """A mistake in a study, and its place."""

    place: Place
    message: str

    def __str__(self) -> str:
        """The mistake with the argument of `Study` that it is in."""
        names = [part for part in self.place if part != "match-ups"]
        argument = written(tuple(part.replace("-", "_") if isinstance(part, str) else part for part in names))
        return f"{argument}: {self.message}" if argument else self.message


class StudyError(InputError):
    """All mistakes in a study, a line for each.

    Args:
        mistakes: one line each, with file and line, or with the argument.
        places: of the mistakes, in the same order.

    >>> try:
    ...     Study(games=["rpz"], learners=["ubc"], seeds=3)
    ... except StudyError as error:
    ...     print(error.mistakes[0], error.places[0])
    learners[0]: unknown learner 'ubc': did you mean 'ucb'? See: coebl list learners ('learners', 0)
    """

    def __init__(self, mistakes: Sequence[str], places: Sequence[Place] = ()) -> None:
        super().__init__(list(mistakes), list(places))
        self.mistakes = list(mistakes)
        self.places = list(places)

    def __str__(self) -> str:
        return "\n".join(self.mistakes)


@dataclass(frozen=True, init=False)
class Study:
    """Many matches over many seeds, checked when the study is created.

    Lists may hold specs and objects; a list inside a spec is a grid, as in a study file. A class that is in no file can
    be used too: its cells are run in this process, one after the other, unless the class is in a module that other
    processes can import.

    Args:
        name: letters, digits, - _ and ., as the key of a study file.
        games: specs, files or `Game` objects; one without a spec goes by its name.
        learners: specs or `Learner` objects.
        rounds: of every run.
        seeds: how many, or a list, or a mapping with first and count.
        self_play: True for every learner against itself, or a list of learners. Without any of these four, every
            learner plays against every learner, itself included.
        all_pairs: True for every ordered pair of different learners, or a list of learners.
        one_against_all: a learner, or several, in the column seat against every other one.
        pairs: pairs of learners, (row, column).
        noise: a noise or several; by default that of each game.
        until: a condition that ends a run, see `coebl.simulate`; the results have the metric hitting_time.
        record: the rounds at which metrics are kept, see `coebl.simulate`; by default "log", or "last" with until.
        metrics: names, or file.py:Name; or "all".
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

    name: str  # of the study
    cells: tuple[Cell, ...]  # the cells to run
    text: str  # the study as a file, to be kept with the results: it refers to the files that are kept there
    title: str = ""
    description: str = ""
    shapes: Mapping[str, tuple[int, int]] = field(default_factory=dict, compare=False)  # of its games
    noises: Mapping[str, str] = field(default_factory=dict)  # the default noise of each game, by its name in results
    files: Mapping[str, bytes] = field(default_factory=dict)  # that it names: path in the results folder to content

    def __init__(
        self,
        name: str = "study",
        *,
        games: Sequence[str | ZeroSumGame] | None = None,
        learners: Sequence[str | Learner] | None = None,
        rounds: int = 3000,
        seeds: int | Sequence[int] | Mapping[str, int] | None = None,
        self_play: bool | Sequence[str | Learner] | None = None,
        all_pairs: bool | Sequence[str | Learner] | None = None,
        one_against_all: str | Learner | Sequence[str | Learner] | None = None,
        pairs: Sequence[Sequence[str | Learner]] | None = None,
        noise: str | Noise | Sequence[str | Noise] | None = None,
        until: str | None = None,
        record: Record | None = None,
        metrics: Sequence[str] | str | None = None,
        seeds_per_cell: int | None = None,
        device: Device = "cpu",
        parts: Sequence[Mapping[str, Any]] | None = None,
        title: str | None = None,
        description: str | None = None,
    ) -> None:
        from coebl.study.study_file import as_toml, keep_files

        arguments = {key: value for key, value in locals().items() if key in _ARGUMENTS and value is not None}
        if not any(key in arguments for key in _OF_MATCH_UPS):
            arguments |= {"self_play": True, "all_pairs": True}
        contents = _as_contents(arguments)
        build = Build(contents)
        build.fill(self)
        text, files = keep_files(as_toml(_plain(contents)), build.files.named)
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "files", files)

    def with_(self, **changes: Any) -> Study:
        """Return a copy with changes of some fields, which are not checked again."""
        study = object.__new__(Study)
        for entry in fields(self):
            object.__setattr__(study, entry.name, changes.get(entry.name, getattr(self, entry.name)))
        return study

    def run(self, folder: str | Path, **options: Any) -> RunSummary:
        """Run the study into a folder, see `coebl.study.run`.

        Args:
            folder: of the results; it is created, or continued.
            **options: those of `coebl.study.run`.
        """
        from coebl.study.runner import run

        return run(self, folder, **options)

    def matches(self) -> list[MatchName]:
        """Game, row learner and column learner of every match, each once.

        >>> Study(games=["rps"], learners=["ucb", "exp3"], seeds=5, self_play=True).matches()
        [('rps', 'ucb', 'ucb'), ('rps', 'exp3', 'exp3')]
        """
        return list(dict.fromkeys((cell.game, cell.players[0], cell.players[1]) for cell in self.cells))

    def select(self, matches: Iterable[MatchName], seeds: int | None = None) -> Study:
        """Return the study with fewer cells: those of these matches, and of seeds that are all below a number.

        The cells keep their order and their seeds, so what is run of a selection is found by a run of the whole.

        >>> study = Study(games=["rps"], learners=["ucb", "exp3"], seeds=5)
        >>> [str(cell) for cell in study.select([("rps", "ucb", "exp3")]).cells]
        ['rps, ucb v exp3, 3000 rounds, seeds 0..4']
        """
        wanted = {tuple(match) for match in matches}
        for game, row, column in sorted(wanted.difference(self.matches())):
            raise InputError(f"the study {self.name} has no match {row} v {column} on {game}; see its matches().")
        cells = (
            cell
            for cell in self.cells
            if (cell.game, *cell.players) in wanted and (seeds is None or max(cell.seeds) < seeds)
        )
        return self.with_(cells=tuple(cells))


_OF_MATCH_UPS = {key.replace("-", "_"): key for key in MATCH_UPS}
_ARGUMENTS = {*ACCEPTED, *_OF_MATCH_UPS} - {"match-ups"}


def _as_contents(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `Study` in the layout of a study file."""
    contents = {key: _as_list(value) for key, value in arguments.items() if key not in _OF_MATCH_UPS}
    match_ups = {_OF_MATCH_UPS[key]: _as_list(value) for key, value in arguments.items() if key in _OF_MATCH_UPS}
    if isinstance(parts := contents.get("parts"), list):
        contents["parts"] = [_as_contents(part) if isinstance(part, Mapping) else part for part in parts]
    return contents | ({"match-ups": match_ups} if match_ups else {})


def _as_list(value: Any) -> Any:
    return [_as_list(inner) for inner in value] if isinstance(value, (list, tuple, range)) else value


def _plain(value: Any) -> Any:
    """Contents with the specs of objects in their places."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, ZeroSumGame):
        return value.spec or value.name
    return value if isinstance(value, (str, int, float)) else str(value)


def _repair(value: Any, kind: type) -> str:
    """How to make an object of a kind from what was given in its place; empty if that is not clear."""
    if isinstance(value, type) and issubclass(value, kind):
        return f" Make one: {value.__name__}()."
    if kind is ZeroSumGame and isfunction(value):
        return f" Call it: {value.__name__}()."
    if kind is ZeroSumGame and (isinstance(value, list) or hasattr(value, "__array__")):
        return " Make a game of it: Game(payoff, name=...)."
    return ""


class Files:
    """The files that a study names: relative to its folder, and identified in the results by their names alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._by_name: dict[str, Path] = {}
        self.named: dict[str, Path] = {}  # the paths of all files, as the study names them

    def path(self, name: str) -> Path:
        """The path of a file of this name, which need not be there."""
        return self._folder / name

    def checked(self, name: str) -> Path:
        """Return the path; an InputError if another file that the study names has the same name."""
        path = self.path(name)
        first = self._by_name.setdefault(path.name, path)
        if first.resolve() != path.resolve():
            raise InputError(
                f"{path} and {first} have the same name, and results identify files by name; rename one of them."
            )
        self.named[name] = path
        return path

    def placed(self, spec: str) -> str:
        """A spec with the paths of the files that it names as seen from here."""
        return move_files(spec, lambda file: self.checked(file).as_posix())


class Build:
    """One reading of a study's contents; mistakes are collected, and reported at the end."""

    def __init__(self, contents: dict[str, Any], folder: Path | None = None) -> None:
        self.contents = contents
        self.files = Files(folder or Path())
        self.mistakes: dict[Mistake, None] = {}
        self.objects: dict[str, Any] = {}  # by the names that represent them in specs
        self.shapes: dict[str, tuple[int, int]] = {}  # of the games, so that nothing has to build them again
        self.noises: dict[str, str] = {}  # the default noise of each game, by its name in results
        self.reasons: dict[tuple[str, str], str | None] = {}  # why a game does not allow a metric
        self.metric_specs: dict[type[Metric], str] = {}  # of metrics in files, by which each is known
        self.metric_owners: dict[str, type[Metric]] = {}  # of the columns
        self.cell_count = 0

    def fill(self, study: Study) -> None:
        """Set the fields of a study, or raise all mistakes."""
        hints = self._check_keys(self.contents, (), ACCEPTED)
        self._require(("name",), self.contents, (), hints)
        top = _Part(self, self.contents)
        words = {key: top.words(key) for key in _PATTERNS}
        cells: dict[Cell, None] = {}
        for part in self._parts(top, hints):
            cells |= dict.fromkeys(part.cells())
        if self.mistakes:
            raise StudyError([str(mistake) for mistake in self.mistakes], [mistake.place for mistake in self.mistakes])
        values = words | {"cells": tuple(cells), "text": "", "files": {}, "shapes": self.shapes, "noises": self.noises}
        for name, value in values.items():
            object.__setattr__(study, name, value)

    def add(self, place: Place, message: str) -> None:
        """Note a mistake, once."""
        self.mistakes.setdefault(Mistake(place, message))

    def reject(self, place: Place, value: Any, accepted: str, repair: str = "") -> None:
        """Note that a value is not one of those that are accepted."""
        shown = str(value).lower() if isinstance(value, bool) else shorten(value)  # as TOML has it
        self.add(place, f"this is {shown}; accepted: {accepted}.{repair}")

    def name(self, spec: str, value: Any, registered: bool) -> str:
        """Keep an object that no spec can make, under its spec."""
        kept = value if registered else self.objects.setdefault(spec, value)
        if kept is not value and (isinstance(value, ZeroSumGame) or type(kept) is not type(value)):
            raise InputError(f"two different objects are called {spec!r}; give one of them another name.")
        return spec

    def _parts(self, top: _Part, hints: str) -> Iterator[_Part]:
        """The keys of every part; without parts, the whole study is one."""
        tables = self.contents.get("parts")
        if tables is None:
            self._require(_REQUIRED, self.contents, (), hints)
            yield top
            return
        if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
            top.reject("parts")
            return
        defaults = {key: value for key, value in self.contents.items() if key in (*_IN_PARTS, "device")}
        for index, table in enumerate(tables):
            place: Place = ("parts", index)
            hints = self._check_keys(table, place, _IN_PARTS)
            self._require(_REQUIRED, defaults | table, place, hints)
            yield _Part(self, table, place, defaults)

    def _check_keys(self, table: dict[str, Any], place: Place, accepted: Iterable[str]) -> str:
        """Reject unknown keys; return the hints that were given, so that one typo is one mistake."""
        hints = ""
        for key in table:
            where = (*place, key)
            if key in MATCH_UPS:
                hints += "'match-ups'"
                header = "[parts.match-ups]" if place else "[match-ups]"
                self.add(where, f"unknown key {key!r} here: it belongs under {header}. Move it there.")
            elif key in _TOP_ONLY and place:
                self.add(where, f"unknown key {key!r} here: it belongs above [[parts]]. Move it there.")
            elif key not in accepted:
                hint = nearest(key, accepted)
                hints += hint
                self.add(where, f"unknown key {key!r}{hint} Accepted: {', '.join(accepted)}.")
        return hints

    def _require(self, keys: Iterable[str], table: dict[str, Any], place: Place, hints: str) -> None:
        where = " here or at the top" if place else ""
        for key in keys:
            if key not in table and repr(key) not in hints:
                self.add(place, f"there is no key {key!r}{where}; accepted: {ACCEPTED[key]}. Add it.")


class _Part:
    """The keys of a study, or of one of its parts: the top level sets the defaults of a part.

    After a mistake the methods return something harmless: no study is made of it.
    """

    def __init__(
        self, build: Build, table: dict[str, Any], place: Place = (), defaults: dict[str, Any] | None = None
    ) -> None:
        self._build = build
        self._table = (defaults or {}) | table
        self._own = table
        self._place = place
        self._learners: dict[str, tuple[Learner, Place]] = {}  # by canonical spec, with where it is first named

    def place(self, key: str) -> Place:
        """The place of the value of a key."""
        return (*self._place, key) if key in self._own else (key,)

    def reject(self, key: str) -> None:
        """Note that the value of a key is not accepted."""
        self._build.reject(self.place(key), self._table.get(key), ACCEPTED[key])

    def cells(self) -> Iterator[Cell]:
        """The cells of the part."""
        build = self._build
        rounds, device = self._integer("rounds", MOST_ROUNDS), self._device()
        until = self._until()
        blocks, noises, record, metrics = self._blocks(device), self._noises(), self._record(until), self._metrics()
        pairs = self._pairs()
        if "games" not in self._table:
            return
        games = self._entries(self._table["games"], self.place("games"), ACCEPTED["games"], ZeroSumGame)
        cells_per_game = len(noises) * len(pairs) * len(blocks)
        build.cell_count += len(games) * cells_per_game
        if build.cell_count > MOST:
            build.add(
                (),
                f"this study has {build.cell_count:,} cells, {len(games):,} games of {cells_per_game:,} among them; "
                f"accepted: at most {MOST:,}. Raise seeds_per_cell, or sweep less.",
            )
            return
        allowed = self._check_games(games, metrics, pairs, rounds)
        for (game, measured), noise, pair, block in itertools.product(allowed.items(), noises, pairs, blocks):
            named = (game, *pair, noise)
            objects = {name: build.objects[name] for name in named if name in build.objects} if build.objects else {}
            yield Cell(game, pair, rounds, block, noise, record, measured, device, objects, until)

    # Plain values

    def words(self, key: str) -> str:
        """A string that matches the key's pattern, or "" if the key is missing."""
        text = self._table.get(key, "")
        if isinstance(text, str) and (key not in self._table or re.fullmatch(_PATTERNS[key], text, re.DOTALL)):
            return text
        self.reject(key)
        return ""

    def _integer(self, key: str, most: int, default: int = 1) -> int:
        value = self._table.get(key, default)
        if _is_integer(value) and 1 <= value <= most:
            return int(value)
        self.reject(key)
        return default

    def _until(self) -> str | None:
        if "until" not in self._table:
            return None
        try:
            return str(Until.parse(self._table["until"]))
        except InputError as error:
            self._build.add(self.place("until"), str(error))
            return None

    def _record(self, until: str | None) -> Record:
        record: Any = self._table.get("record", "last" if until else "log")
        if until and record != "last":
            self._build.reject(self.place("record"), record, '"last" with until, as runs end at different times')
            return "last"
        if record in ("all", "log", "last") or (_is_integer(record) and record >= 1):
            kept: Record = record
            return kept
        self.reject("record")
        return "log"

    def _device(self) -> Device:
        for known in DEVICES:
            if self._table.get("device", "cpu") == known:
                return known
        self.reject("device")
        return "cpu"

    def _blocks(self, device: Device) -> list[tuple[int, ...]]:
        """The seeds, cell by cell."""
        seeds = self._seeds()
        size = self._integer("seeds_per_cell", MOST_SEEDS, default=_SEEDS_PER_CELL[device])
        return [tuple(seeds[first : first + size]) for first in range(0, len(seeds), size)]

    def _seeds(self) -> Sequence[int]:
        seeds, place, build = self._table.get("seeds", 1), self.place("seeds"), self._build
        before = len(build.mistakes)
        if isinstance(seeds, dict):
            for key in seeds:
                if key not in _SEED_KEYS:
                    build.add((*place, key), f"unknown key {key!r}{nearest(key, _SEED_KEYS)} Accepted: first, count.")
            for key, least, most in (("first", 0, _MOST_SEED - MOST_SEEDS), ("count", 1, MOST_SEEDS)):
                if key not in seeds:
                    build.add(place, f"there is no {key!r}; accepted: {{ first = 100, count = 50 }}. Add it.")
                elif not (_is_integer(seeds[key]) and least <= seeds[key] <= most):
                    build.reject((*place, key), seeds[key], f"an integer, {least} .. {most:,}")
            valid = len(build.mistakes) == before
            return range(seeds["first"], seeds["first"] + seeds["count"]) if valid else range(1)
        if isinstance(seeds, list) and seeds:
            good: dict[int, None] = {}
            for index, seed in enumerate(seeds):
                if not (_is_integer(seed) and 0 <= seed <= _MOST_SEED):
                    build.reject((*place, index), seed, "integers, >= 0 and below 2^63")
                elif seed in good:
                    build.add((*place, index), f"the seed {seed} is given twice; accepted: each once. Take one out.")
                else:
                    good[seed] = None
            if len(good) > MOST_SEEDS:
                build.add(place, f"these are {len(good):,} seeds; accepted: at most {MOST_SEEDS:,}.")
            return sorted(good)  # the cells do not depend on the order of the list
        if _is_integer(seeds) and 1 <= seeds <= MOST_SEEDS:
            return range(seeds)
        self.reject("seeds")
        return range(1)

    # Lists of specs and objects

    def _entries(self, value: Any, place: Place, accepted: str, kind: type) -> list[Entry]:
        """The entries of a list, grids expanded."""
        if not isinstance(value, list):
            self._build.reject(place, value, accepted)
            return []
        if not value:
            self._build.add(place, f"this list is empty; accepted: {accepted}. Put at least one in.")
        entries: list[Entry] = []
        for index, entry in enumerate(value):
            entries += self._expanded(entry, (*place, index), accepted, kind)
        if len(entries) > MOST:
            self._build.add(place, f"these are {len(entries):,} in all; accepted: at most {MOST:,}. Sweep less.")
            return []
        return entries

    def _one_or_more(self, value: Any, place: Place, accepted: str, kind: type) -> list[Entry]:
        """The entries of a list, or a single one."""
        read = self._entries if isinstance(value, list) else self._expanded
        return read(value, place, accepted, kind)

    def _expanded(self, entry: Any, place: Place, accepted: str, kind: type) -> list[Entry]:
        """Expand the grid of a spec; an object is returned as it is."""
        if isinstance(entry, kind):
            return [(place, entry)]
        if not isinstance(entry, str) or not entry.strip():
            self._build.reject(place, entry, accepted, _repair(entry, kind))
            return []
        try:
            return [(place, spec) for spec in expand(entry.strip())]
        except InputError as error:
            self._build.add(place, str(error))
            return []

    def _noises(self) -> list[str | None]:
        """Canonical specs of noise; None for the default of each game."""
        if "noise" not in self._table:
            return [None]
        noises: dict[str | None, None] = {}
        for place, entry in self._one_or_more(self._table["noise"], self.place("noise"), ACCEPTED["noise"], Noise):
            try:
                noise = entry if isinstance(entry, Noise) else parse_noise(self._build.files.placed(entry))
                noises[self._build.name(str(noise), noise, _is_known(NOISES, str(noise)))] = None
            except InputError as error:
                self._build.add(place, str(error))
        return list(noises)

    def _metrics(self) -> list[tuple[Place, str]]:
        """The names of metrics, "all" among them; those in files with their paths."""
        place, build = self.place("metrics"), self._build
        metrics = self._table.get("metrics", list(Cell.metrics))
        if metrics == "all":
            return [(place, "all")]
        if not isinstance(metrics, list) or not metrics:
            self.reject("metrics")
            return []
        names: list[tuple[Place, str]] = []
        for index, name in enumerate(metrics):
            where = (*place, index)
            if not isinstance(name, str):
                build.reject(where, name, ACCEPTED["metrics"])
            elif split_spec(name).file:
                try:
                    names.append((where, self._metric_in_file(name)))
                except Exception as error:  # of user code
                    build.add(where, reason_of(error))
            elif name not in METRICS and name != "all":
                accepted = f"{', '.join(METRICS.names)}, all; or file.py:Name"
                build.add(where, f"unknown metric {name!r}{nearest(name, METRICS.names)} Accepted: {accepted}.")
            else:
                names.append((where, name))
        return names

    def _metric_in_file(self, spec: str) -> str:
        build = self._build
        placed = build.files.placed(spec)
        if split_spec(spec).parameters:
            raise InputError(f"{spec}: a metric has no parameters; accepted: file.py:Name.")
        metric = metric_class(placed)
        name = getattr(metric, "name", None)
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
            accepted = 'letters, digits and _, such as name = "surprise"'
            raise InputError(f"{spec}: the class attribute name is {shorten(name)}; accepted: {accepted}.")
        taken = name in METRICS or name in (*RESERVED, "all")
        if taken or build.metric_owners.setdefault(name, metric) is not metric:
            raise InputError(f"{spec}: another metric or column is called {name!r}; give it another name.")
        return build.metric_specs.setdefault(metric, placed)

    # Match-ups

    def _pairs(self) -> dict[Pair, Place]:
        """The pairs of learners, each once and with the place that first asks for it."""
        build, place, table = self._build, self.place("match-ups"), self._table.get("match-ups")
        before = len(build.mistakes)
        pool: list[str] = []
        if "learners" in self._table:
            listed = self._entries(self._table["learners"], self.place("learners"), ACCEPTED["learners"], Learner)
            pool = self._specs(listed)
        if not isinstance(table, dict):
            if "match-ups" in self._table:
                self.reject("match-ups")
            return {}
        pairs: dict[Pair, Place] = {}
        for key, value in table.items():
            line = (*place, key)
            for where, pair in itertools.islice(self._match_up(key, value, line, pool), MOST + 1):
                pairs.setdefault(pair, where)
            if len(pairs) > MOST:
                build.add(line, f"this gives more than {MOST:,} pairs; accepted: no more. Sweep less.")
                return {}
        for (row, column), where in pairs.items():
            try:
                Match.of(_ANY_GAME, self._learners[row][0], self._learners[column][0])
            except InputError as error:
                build.add(where, str(error))
        if not pairs and len(build.mistakes) == before:
            build.add(place, f"no match-up is listed; accepted: {ACCEPTED['match-ups']}.")
        return pairs

    def _match_up(self, key: str, value: Any, place: Place, pool: list[str]) -> Iterable[tuple[Place, Pair]]:
        """The pairs that one key of the table gives."""
        if key == "pairs":
            return self._listed_pairs(value, place)
        if key not in MATCH_UPS:
            hint = " here: it belongs above [match-ups]." if key in ACCEPTED else nearest(key, MATCH_UPS)
            self._build.add(place, f"unknown key {key!r}{hint} Accepted here: {', '.join(MATCH_UPS)}.")
            return []
        if value is False and key != "one-against-all":
            return []
        if (value is True or key == "one-against-all") and "learners" not in self._table:
            self._build.add(place, "this needs the key 'learners', which is missing. Add it above [match-ups].")
            return []
        if key == "one-against-all":
            columns = self._specs(self._one_or_more(value, place, MATCH_UPS[key], Learner))
            return ((place, (row, column)) for column in columns for row in pool if row != column)
        chosen = pool if value is True else self._specs(self._entries(value, place, MATCH_UPS[key], Learner))
        if key == "self-play":
            return ((place, (learner, learner)) for learner in chosen)
        return ((place, pair) for pair in itertools.permutations(chosen, 2))

    def _listed_pairs(self, value: Any, place: Place) -> Iterable[tuple[Place, Pair]]:
        if not isinstance(value, list) or not any(isinstance(pair, list) for pair in value):
            self._build.reject(place, value, MATCH_UPS["pairs"])
            return
        for index, pair in enumerate(value):
            where = (*place, index)
            if not isinstance(pair, list) or len(pair) != 2:
                self._build.reject(where, pair, "two learners, [row, column]")
                continue
            rows, columns = (
                self._specs(self._expanded(spec, (*where, seat), MATCH_UPS["pairs"], Learner))
                for seat, spec in enumerate(pair)
            )
            yield from ((where, (row, column)) for row, column in itertools.product(rows, columns))

    def _specs(self, entries: Iterable[Entry]) -> list[str]:
        """The canonical specs of learners; invalid ones are noted as mistakes."""
        specs: dict[str, None] = {}
        for place, entry in entries:
            try:
                learner = entry if isinstance(entry, Learner) else parse_learner(self._build.files.placed(entry))
                spec = self._build.name(str(learner), learner, _is_known(LEARNERS, str(learner)))
            except Exception as error:  # of user code
                self._build.add(place, reason_of(error))
                continue
            self._learners.setdefault(spec, (learner, place))
            specs[spec] = None
        return list(specs)

    # Games

    def _check_games(
        self, games: list[Entry], metrics: list[tuple[Place, str]], pairs: dict[Pair, Place], rounds: int
    ) -> dict[str, tuple[str, ...]]:
        """The metrics to take of every game, by its canonical spec or its path.

        Games are built one at a time, as there may be many large ones, and metrics and learners are checked on them.
        """
        allowed: dict[str, tuple[str, ...]] = {}
        build = self._build
        seatings: list[tuple[SeatName, str]] = []
        for row, column in pairs:
            seatings += [("row", row), ("column", column)]
        for place, entry in games:
            try:
                key, game = self._game(entry)
                if key in allowed:
                    continue
                build.shapes[key] = game.shape
                allowed[key] = self._allowed(metrics, key, game)
                name = without_folder(game.spec) if game.spec else Path(key).name
                build.noises[name] = without_folder(str(game.noise))
            except Exception as error:  # of user code, or of the system about the name of a file
                build.add(place, reason_of(error))
                continue
            rejected = set()  # only the first seat that a learner cannot take is reported
            for seat, spec in dict.fromkeys(seatings):
                learner, where = self._learners[spec]
                reason = _reason_not_to_play(learner, seat, game, rounds) if spec not in rejected else None
                if reason is not None:
                    rejected.add(spec)
                    build.add(where, f"{spec} cannot take the {seat} seat of {key}: {reason}")
        return allowed

    def _game(self, entry: str | ZeroSumGame) -> tuple[str, ZeroSumGame]:
        """The name of a game in a cell, and the game."""
        build = self._build
        if isinstance(entry, ZeroSumGame):
            if entry.spec:
                return entry.spec, entry
            if entry.name in GAMES or Path(entry.name).suffix:
                raise InputError(f"a game without a spec is called {entry.name!r}; give it another name.")
            return build.name(entry.name, entry, registered=False), entry
        suffix = Path(entry).suffix.lower()
        if suffix in SUFFIXES or (suffix and is_file(str(build.files.path(entry)))):
            path = build.files.checked(entry)
            return path.as_posix(), read_game(path)
        game = parse_game(build.files.placed(entry))
        return game.spec or entry, game

    def _allowed(self, metrics: list[tuple[Place, str]], key: str, game: ZeroSumGame) -> tuple[str, ...]:
        """The metrics to take of a game, in the order of the registry, then by file: a set has one digest."""
        reasons, chosen = self._build.reasons, set()
        for place, name in metrics:
            for metric in METRICS.names if name == "all" else [name]:
                if (key, metric) not in reasons:  # to find out whether an equilibrium is unique takes time
                    reasons[key, metric] = metric_class(metric).reason_undefined(game)
                reason = reasons[key, metric]
                if reason is None:
                    chosen.add(metric)
                elif name != "all":
                    self._build.add(place, f"not for the game {key}: {reason}")
        custom = sorted(chosen.difference(METRICS.names), key=without_folder)
        return (*(name for name in METRICS.names if name in chosen), *custom)


def _reason_not_to_play(learner: Learner, seat: SeatName, game: AnyGame, rounds: int) -> str | None:
    """The reason why a learner cannot take a seat of a game; None if it can."""
    try:
        return learner.reason_not_to_play(seat_at(game, SEATS.index(seat), learner, [0], rounds))
    except Exception as error:  # of user code
        return reason_of(error)


def _is_known(names: Any, spec: str) -> bool:
    """True if a spec makes its object in any process: it is registered, or names a file."""
    try:
        return bool(files_in(spec)) or names.known(spec) is not None
    except InputError:  # with an operator that is not registered, perhaps
        return False


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def written(place: Place) -> str:
    """A place as a reader would write it.

    >>> written(("match-ups", "pairs", 0, 1))
    'match-ups.pairs[0][1]'
    """
    parts = (f"[{part}]" if isinstance(part, int) else f".{_key_text(part)}" for part in place)
    return "".join(parts).removeprefix(".")


def _key_text(key: str) -> str:
    """A key, quoted if TOML needs quotes for it: it may be empty, or hold line breaks."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else shorten(key)


def expand(spec: str) -> list[str]:
    """Expand a spec with lists to a grid of specs, the last list running fastest.

    >>> expand("coebl:c=[0.1, 2]")
    ['coebl:c=0.1', 'coebl:c=2']
    >>> expand("random-gaussian:m=[2,3],n=4,seed=[0,1]")  # doctest: +NORMALIZE_WHITESPACE
    ['random-gaussian:m=2,n=4,seed=0', 'random-gaussian:m=2,n=4,seed=1',
     'random-gaussian:m=3,n=4,seed=0', 'random-gaussian:m=3,n=4,seed=1']
    >>> expand("diagonal:[2,3]")
    ['diagonal:2', 'diagonal:3']
    >>> expand("ucb")
    ['ucb']
    """
    fixed, lists = _parts(spec)
    count = math.prod(len(items) for items in lists)
    if count > MOST:
        raise InputError(f"{shorten(spec)} gives {count:,} specs; accepted: at most {MOST:,}. Shorten its lists.")
    grid = itertools.product(*lists)
    return ["".join(itertools.chain(*zip(fixed, (*items, ""), strict=True))) for items in grid]


def _parts(spec: str) -> tuple[list[str], list[list[str]]]:
    """The strings around the lists, one more than there are lists, and the items of each list."""
    fixed: list[str] = []
    lists: list[list[str]] = []
    rest = spec
    while opening := _OPENING.search(rest):
        fixed.append(rest[: opening.start()])
        inside, bracket, rest = rest[opening.end() :].partition("]")
        if not bracket:
            raise InputError(f"{shorten(spec)} has a list without its bracket; accepted: key=[a,b,c]. Add the bracket.")
        items = [item.strip() for item in inside.split(",")]
        # After a list comes the next parameter; + is the comma of a spec inside a spec.
        if "[" in inside or not all(items) or (rest.strip() and rest.lstrip()[0] not in ",+"):
            raise InputError(f"{shorten(spec)} has a list that cannot be read; accepted: key=[a,b,c], then a comma.")
        lists.append(items)
    return [*fixed, rest], lists
