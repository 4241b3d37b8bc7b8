"""The schema of a study: the keys of its file, which are the arguments of `Study`, and the cells that they make.

All mistakes are collected, each with its place (which list, which entry), and reported at once.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from inspect import isfunction
from pathlib import Path
from typing import Any, NamedTuple

from coebl.backend import DEVICES, backend_class
from coebl.core.errors import InputError, nearest, reason_of, shorten
from coebl.core.registry import Registry
from coebl.core.specs import MOST_IN_GRID, expand, move_files, split_spec, without_folder
from coebl.engine import Match, Record
from coebl.engine.match import MOST_ROUNDS, declared_cost
from coebl.engine.policy_paths import MOST_AREAS
from coebl.engine.result import Keep
from coebl.engine.simulate import MOST_SEEDS
from coebl.engine.table import seat_at
from coebl.engine.until import Until
from coebl.games import (
    GAMES,
    NOISES,
    SUFFIXES,
    AnyGame,
    Game,
    Noise,
    TensorGame,
    ZeroSumGame,
    is_zero_sum,
    parse_game,
    parse_noise,
)
from coebl.games.game import NamedGame, has_matrix
from coebl.games.registry import default_noise
from coebl.learners import LEARNERS, Learner, parse_learner
from coebl.metrics import METRICS, Metric, all_metrics, metric_class, registered_metric
from coebl.search import Search
from coebl.study.cell import Cell, ObjectKey, is_file
from coebl.study.cell_file import RESERVED
from coebl.study.errors import Mistake, Place

Entry = tuple[Place, Any]  # a spec or an object, with its place
Players = tuple[str, ...]  # canonical specs of the learners, one per seat

_GENERAL_SUM_METRICS = ("payoff", "swap_regret", "nash_conv", "welfare")  # the defaults for games that are not zero-sum

MOST = MOST_IN_GRID  # also the limit for the match-ups and cells of a study
_MOST_SEED = 2**63 - 1  # results keep seeds as 64-bit integers
_ANY_GAME = Game([[0.0]])  # for checks that depend only on the learners


class Key(NamedTuple):
    """A key of a study."""

    accepted: str  # the values, in words
    is_valid: Callable[[Any], bool] = bool  # checks a value that is used unchanged


def _integer(low: int, high: int) -> Key:
    return Key(f"an integer, {low} .. {high:,}", lambda value: _is_integer(value, low, high))


def _is_integer(value: Any, low: int, high: float) -> bool:
    return type(value) is int and low <= value <= high


def _fits(pattern: str, value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(pattern, value, re.DOTALL) is not None


KEYS = {
    "name": Key(
        'letters, digits, - _ and ., a letter or digit first, such as "my-study"',
        lambda value: _fits(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", value),
    ),
    "title": Key("a string on one line", lambda value: _fits(r"[^\x00-\x1f\x7f]{1,200}", value)),
    "description": Key("a string", lambda value: _fits(r".+", value)),
    "rounds": _integer(1, MOST_ROUNDS),
    "seeds": Key(
        f"how many, 1 .. {MOST_SEEDS:,}; or a list such as [3, 5, 8]; or {{ first = 100, count = 50 }}",
        lambda value: _is_integer(value, 1, MOST_SEEDS),
    ),
    "seeds_per_cell": _integer(1, MOST_SEEDS),
    "games": Key('a list of games, such as ["rps", "diagonal:n=[2,3]", "my-game.csv"]'),
    "learners": Key('a list of learners, such as ["coebl:c=[2,8]", "ucb"]'),
    "noise": Key('a noise such as "gaussian:sigma=1", or a list of them'),
    "device": Key(f"{' or '.join(DEVICES)}, where to run it", lambda value: value in DEVICES),
    "until": Key('a condition that ends a run, such as "exploitability < 0.1", or "optimum"'),
    "record": Key(
        '"all", "log", "last", or a number k >= 1, for every k-th round',
        lambda value: value in ("all", "log", "last") or _is_integer(value, 1, math.inf),
    ),
    "keep": Key('["policies"]: of the first seed, for a replay on the page', lambda value: value in ([], ["policies"])),
    "metrics": Key(f"a list of metrics, out of {', '.join(METRICS.names)}, all; file.py:Name; in Python also a class"),
    "match-ups": Key("a table [match-ups] with self-play, all-pairs, one-against-all, pairs or players"),
    "parts": Key("tables [[parts]], each with other keys"),
}
_SEED_KEYS = {"first": _integer(0, _MOST_SEED - MOST_SEEDS), "count": _integer(1, MOST_SEEDS)}  # of the table seeds
MATCH_UPS = {
    "self-play": "true, false, or a list of learners",
    "all-pairs": "true, false, or a list of learners",
    "one-against-all": 'a learner such as "coebl:c=8", or a list of learners',
    "pairs": 'a list of pairs of learners, [row, column], such as [["ucb", "coebl:c=2"]]',
    "players": 'a list of lists with a learner for each seat, such as [["exp3", "ucb", "hedge"]]',
}
_TOP_ONLY = ("name", "title", "description", "device", "parts")
_IN_PARTS = tuple(key for key in KEYS if key not in _TOP_ONLY)
_REQUIRED = ("rounds", "seeds", "games", "match-ups")


def _repair(value: Any, kind: type) -> str:
    """Return advice on making an object of a kind from the value given in its place; empty if there is none."""
    if isinstance(value, type) and issubclass(value, kind):
        return f" Make one: {value.__name__}()."
    if kind is NamedGame and isfunction(value):
        return f" Call it: {value.__name__}()."
    if kind is NamedGame and (isinstance(value, list) or hasattr(value, "__array__")):
        return " Make a game of it: Game(payoff, name=...)."
    if type(value).__module__ != "builtins":
        base = "Game" if kind is NamedGame else kind.__name__
        return f" Each is a spec, or an object of a class that extends {base}."
    return ""


class Build:
    """The cells of a study, made from its contents part by part: the top level sets the defaults of a part.

    After a mistake the methods return a harmless value, since no study will be made.
    """

    def __init__(self, contents: dict[str, Any], folder: Path | None = None) -> None:
        self.mistakes: dict[Mistake, None] = {}
        self.files: dict[str, Path] = {}  # the files that it names, by name
        self._folder = folder or Path()  # file names are relative to it
        self._file_names: dict[str, Path] = {}  # the names that identify files in results
        self._objects: dict[ObjectKey, Any] = {}  # by their kinds, and the names that represent them in specs
        self._reasons: dict[tuple[str, str], str | None] = {}  # why a game does not allow a metric
        self._custom_metrics: dict[str, tuple[type[Metric], str]] = {}  # by name, with the first of equivalent specs
        self._cell_count = 0
        self._begin((), contents, contents)
        self.cells = tuple(dict.fromkeys(self._all_cells()))

    def _begin(self, place: Place, own: dict[str, Any], table: dict[str, Any]) -> None:
        """Start reading a part: its keys, without and with those of the top level."""
        self._place, self._own, self._table = place, own, table
        self._learners: dict[str, tuple[Learner, Place]] = {}  # by canonical spec, with the place that first names it
        self._found: dict[int, dict[Players, Place]] = {}  # the match-ups, by the number of seats

    def _all_cells(self) -> Iterator[Cell]:
        """Yield the cells of all parts."""
        contents = self._own
        self._check_keys(KEYS, ("name",) if "parts" in contents else ("name", *_REQUIRED))
        for key in ("name", "title", "description"):
            self._plain(key, "")
        if "parts" not in contents:
            yield from self._cells()
            return
        tables = contents["parts"]
        if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
            self._reject_key("parts")
            return
        defaults = {key: value for key, value in contents.items() if key in (*_IN_PARTS, "device")}
        for index, table in enumerate(tables):
            self._begin(("parts", index), table, defaults | table)
            self._check_keys(_IN_PARTS, _REQUIRED)
            yield from self._cells()

    def _check_keys(self, accepted: Iterable[str], required: Iterable[str]) -> None:
        """Reject unknown keys, then missing ones, except those that a hint has named: one typo is one mistake."""
        hints = ""
        for key in self._own:
            message = ""
            if key in MATCH_UPS:
                hints += "'match-ups'"
                header = "[parts.match-ups]" if self._place else "[match-ups]"
                message = f" here: it belongs under {header}. Move it there."
            elif key in _TOP_ONLY and self._place:
                message = " here: it belongs above [[parts]]. Move it there."
            elif key not in accepted:
                hints += (hint := nearest(key, accepted))
                message = f"{hint} Accepted: {', '.join(accepted)}."
            if message:
                self._add((*self._place, key), f"unknown key {key!r}{message}")
        where = " here or at the top" if self._place else ""
        for key in required:
            if key not in self._table and repr(key) not in hints:
                self._add(self._place, f"there is no key {key!r}{where}; accepted: {KEYS[key].accepted}. Add it.")

    def _add(self, place: Place, message: str) -> None:
        """Record a mistake, once."""
        self.mistakes.setdefault(Mistake(place, message))

    @contextmanager
    def _noting(self, place: Place) -> Iterator[None]:
        """Record an error in the block, perhaps of user code, as a mistake."""
        try:
            yield
        except Exception as error:
            self._add(place, reason_of(error))

    def _reject(self, place: Place, value: Any, accepted: str, repair: str = "") -> None:
        """Record that a value is not accepted."""
        shown = str(value).lower() if isinstance(value, bool) else shorten(value)  # as in TOML
        self._add(place, f"this is {shown}; accepted: {accepted}.{repair}")

    def _reject_key(self, key: str) -> None:
        self._reject(self._place_of(key), self._table.get(key), KEYS[key].accepted)

    def _place_of(self, key: str) -> Place:
        return (*self._place, key) if key in self._own else (key,)

    def _cells(self) -> Iterator[Cell]:
        """Yield the cells of the part."""
        rounds, device = self._plain("rounds", 1), self._plain("device", "cpu")
        backend = backend_class(device)
        size = self._plain("seeds_per_cell", backend.seeds_per_cell)
        before = len(self.mistakes)
        pairs = self._match_ups(2)
        clean = len(self.mistakes) == before
        search = next((row for row, _ in pairs if isinstance(self._learners[row][0], Search)), None)
        if search and (reason := backend.reason_not_to_run(search=self._learners[search][0])):
            self._add(self._place_of("device"), f"this is {device}, and {reason}; accepted: cpu.")
        seeds, metrics = self._seeds(), self._metrics(search)
        noises: list[str | None] = []  # empty: the noise of each game
        if "noise" in self._table:
            noises = list(self._made(self._entries("noise", Noise, alone=True), parse_noise, NOISES))
        until = None
        with self._noting(self._place_of("until")):
            until = str(Until.parse(self._table["until"])) if "until" in self._table else None
        ending = search or ("until" if until else "")  # the reason why runs differ in length
        record: Record = "last"
        if not ending:
            record = self._plain("record", "log")
        elif (other := self._table.get("record", record)) != record:
            self._reject(self._place_of("record"), other, f'"last" with {ending}, the end of each run')
        keep: tuple[Keep, ...] = ("policies",) if self._plain("keep", []) else ()
        if keep and ending:
            self._add(self._place_of("keep"), f"runs differ in length with {ending}, so none is kept. Leave keep out.")
        blocks = [tuple(seeds[first : first + size]) for first in range(0, len(seeds), size)]
        if "games" not in self._table:
            self._check_match_ups([_ANY_GAME], clean)
            return
        games = self._entries("games", NamedGame)
        cells_per_match = max(1, len(noises)) * len(blocks)
        if not self._count_cells(len(games), cells_per_match * len(pairs)):  # before the games are built
            return
        common = Cell("", (), rounds, (), record=record, device=device, until=until, keep=keep)
        played, by_seats = self._check_games(games, metrics, common)
        self._check_match_ups(by_seats or [_ANY_GAME], clean)
        others = sum(len(matches) - len(pairs) for matches in played.values())  # in games with more seats
        if not self._count_cells(1, cells_per_match * others):
            return
        for (_, own_noise), matches in played.items():
            for noise, match, block in itertools.product(noises or [own_noise], matches, blocks):
                cell = replace(match, noise=noise, seeds=block, keep=())
                keys = [(registry.kind, spec) for _, registry, spec in cell.named()]
                cell = replace(cell, objects={key: self._objects[key] for key in keys if key in self._objects})
                if match.keep and block is blocks[0]:
                    yield replace(cell, seeds=block[:1], keep=match.keep)
                yield cell

    def _count_cells(self, games: int, cells_per_game: int) -> bool:
        """Add the cells of games to those of the study; if there are too many, record a mistake and return False."""
        self._cell_count += games * cells_per_game
        if self._cell_count > MOST:
            self._add(
                (),
                f"this study has {self._cell_count:,} cells, {games:,} games of {cells_per_game:,} among them; "
                f"accepted: at most {MOST:,}. Raise seeds_per_cell, or sweep less.",
            )
        return self._cell_count <= MOST

    def _plain(self, key: str, default: Any) -> Any:
        """Return the value of a key, unchanged; the default if it is missing or not accepted."""
        value = self._table.get(key, default)
        if key not in self._table or KEYS[key].is_valid(value):
            return value
        self._reject_key(key)
        return default

    def _seeds(self) -> Sequence[int]:
        seeds, place = self._table.get("seeds", 1), self._place_of("seeds")
        before = len(self.mistakes)
        if isinstance(seeds, dict):
            for key in dict.fromkeys([*seeds, *_SEED_KEYS]):
                if key not in _SEED_KEYS:
                    self._add((*place, key), f"unknown key {key!r}{nearest(key, _SEED_KEYS)} Accepted: first, count.")
                elif key not in seeds:
                    self._add(place, f"there is no {key!r}; accepted: {{ first = 100, count = 50 }}. Add it.")
                elif not _SEED_KEYS[key].is_valid(seeds[key]):
                    self._reject((*place, key), seeds[key], _SEED_KEYS[key].accepted)
            valid = len(self.mistakes) == before
            return range(seeds["first"], seeds["first"] + seeds["count"]) if valid else range(1)
        if not isinstance(seeds, list) or not seeds:
            return range(self._plain("seeds", 1))
        good: dict[int, None] = {}
        for index, seed in enumerate(seeds):
            if not _is_integer(seed, 0, _MOST_SEED):
                self._reject((*place, index), seed, "integers, >= 0 and below 2^63")
            elif seed in good:
                self._add((*place, index), f"the seed {seed} is given twice; accepted: each once. Take one out.")
            else:
                good[seed] = None
        if len(good) > MOST_SEEDS:
            self._add(place, f"these are {len(good):,} seeds; accepted: at most {MOST_SEEDS:,}.")
        return sorted(good)  # the cells do not depend on the order of the list

    # Lists of specs and objects

    def _entries(self, key: str, kind: type, alone: bool = False) -> list[Entry]:
        return self._listed(self._table[key], self._place_of(key), KEYS[key].accepted, kind, alone)

    def _listed(self, value: Any, place: Place, accepted: str, kind: type, alone: bool = False) -> list[Entry]:
        """Return the entries of a list, grids expanded; with `alone`, a single entry is accepted too."""
        if not isinstance(value, list) and not alone:
            self._reject(place, value, accepted)
            return []
        if isinstance(value, list) and not value:
            self._add(place, f"this list is empty; accepted: {accepted}. Add at least one.")
        entries: list[Entry] = []
        for index, entry in enumerate(value if isinstance(value, list) else [value]):
            where = (*place, index) if isinstance(value, list) else place
            if isinstance(entry, kind):
                entries.append((where, entry))
            elif not isinstance(entry, str) or not entry.strip():
                self._reject(where, entry, accepted, _repair(entry, kind))
            else:
                with self._noting(where):
                    entries += ((where, spec) for spec in expand(entry.strip()))
        if len(entries) > MOST:
            self._add(place, f"these are {len(entries):,} in all; accepted: at most {MOST:,}. Sweep less.")
            return []
        return entries

    def _made(self, entries: Iterable[Entry], parse: Callable[[str], Any], names: Any) -> dict[str, tuple[Any, Place]]:
        """Return the objects of entries and their places, by canonical spec; invalid ones are recorded as mistakes."""
        made: dict[str, tuple[Any, Place]] = {}
        for place, entry in entries:
            with self._noting(place):
                placed = self._placed(str(entry))  # of an object too: its file is kept with the results
                value = parse(placed) if isinstance(entry, str) else entry
                made.setdefault(self._keep(names, str(value), value, names.known_everywhere(value)), (value, place))
        return made

    def _keep(self, names: Registry[Any], spec: str, value: Any, known_everywhere: bool = False) -> str:
        """Return the spec; keep the object if no other process can make it from the spec."""
        if known_everywhere:
            return spec
        kept = self._objects.setdefault((names.kind, spec), value)
        if kept is not value and (isinstance(value, NamedGame) or kept != value):
            raise InputError(f"two different objects are called {spec!r}; give one of them another name.")
        return spec

    def _file(self, name: str) -> Path:
        """Return the path of a file that the study names; an InputError if another one has the same name."""
        path = self._folder / name
        first = self._file_names.setdefault(path.name, path)
        if first.resolve() != path.resolve():
            raise InputError(
                f"{path} and {first} have the same name, and results identify files by name; rename one of them."
            )
        self.files[name] = path
        return path

    def _placed(self, spec: str) -> str:
        """Return a spec with the paths of its files relative to the current folder."""
        return move_files(spec, lambda file: self._file(file).as_posix())

    # Metrics

    def _metrics(self, search: str | None) -> list[tuple[Place, str]]:
        """Return the names of metrics, with "all" unexpanded, and with paths for metrics in files."""
        default = ["exploitability"] if search else list(Cell.metrics)
        place, metrics = self._place_of("metrics"), self._table.get("metrics", default)
        if metrics == "all" and not search:
            return [(place, "all")]
        if not isinstance(metrics, list) or not metrics:
            self._reject_key("metrics")
            return []
        names: list[tuple[Place, str]] = []
        for index, entry in enumerate(metrics):
            with self._noting((*place, index)):
                if not isinstance(entry, str) and not (isinstance(entry, type) and issubclass(entry, Metric)):
                    self._reject((*place, index), entry, KEYS["metrics"].accepted)
                    continue
                name = entry if entry == "all" else self._metric(entry)
                if search and (name == "all" or self._class_of(name).cumulative):
                    raise InputError(
                        f"{name} adds up over the rounds, and {search} is a search. Use exploitability, for example."
                    )
                names.append(((*place, index), name))
        return names

    def _metric(self, metric: str | type[Metric]) -> str:
        """Return the name of a metric, with the path of its file if it has one; keep a class that has no file."""
        if isinstance(metric, str):
            return self._metric_in_file(metric) if split_spec(metric).file else metric_class(metric).name
        if reason := METRICS.reason_to_reject(metric):
            raise InputError(f"metric {metric.__name__}: {reason}")
        if split_spec(spec := METRICS.entry_of(metric).name).file:
            return self._metric_in_file(spec)
        if registered_metric(metric.name) is metric:
            return metric.name
        return self._keep(METRICS, self._distinct(metric.__name__, metric, metric.name), metric)

    def _class_of(self, metric: str) -> type[Metric]:
        """Return the class of a metric of a cell."""
        return self._objects.get((METRICS.kind, metric)) or metric_class(metric)

    def _metric_in_file(self, spec: str) -> str:
        placed, seat = self._placed(spec), split_spec(spec).parameters
        if seat and not seat.isdecimal():
            accepted = "file.py:Name, or file.py:Name:2 for the second seat"
            raise InputError(f"{spec}: a metric has no parameters; accepted: {accepted}.")
        metric = metric_class(placed)
        return self._distinct(spec, metric, placed if metric.seat else split_spec(placed).name)

    def _distinct(self, given: str, metric: type[Metric], spec: str) -> str:
        """Return the spec of a custom metric, or the first equivalent one; reject a name that another metric has."""
        if not _fits(r"[A-Za-z][A-Za-z0-9_]*(:\d+)?", metric.name):
            accepted = 'letters, digits and _, such as name = "surprise"'
            raise InputError(f"{given}: the class attribute name is {shorten(metric.name)}; accepted: {accepted}.")
        first, spec_of_first = self._custom_metrics.setdefault(metric.name, (metric, spec))
        if metric.name in METRICS or metric.name in (*RESERVED, "all") or first is not metric:
            raise InputError(f"{given}: another metric or column is called {metric.name!r}; give it another name.")
        return spec_of_first

    def _allowed(self, metrics: list[tuple[Place, str]], key: str, game: AnyGame) -> tuple[str, ...]:
        """Return the metrics to measure on a game, in a fixed order, so that equal sets have equal digests."""
        chosen = set[str]()
        if not is_zero_sum(game) and "metrics" not in self._table:
            metrics = [((), name) for name in _GENERAL_SUM_METRICS]
        for place, name in metrics:
            custom = (METRICS.kind, name) in self._objects or split_spec(name).file
            names = [name] if custom else [kind.name for kind in all_metrics(game, None if name == "all" else [name])]
            for metric in names:
                if (key, metric) not in self._reasons:  # checking whether an equilibrium is unique takes time
                    self._reasons[key, metric] = self._class_of(metric).reason_undefined(game)
                reason = self._reasons[key, metric]
                if reason is None:
                    chosen.add(metric)
                elif name != "all":
                    self._add(place, f"not for the game {key}: {reason}")
        places = {name: place for place, name in enumerate(METRICS.names)}
        return tuple(sorted(chosen, key=lambda spec: _order(spec, places)))

    # Match-ups

    def _match_ups(self, seats: int) -> dict[Players, Place]:
        """Return the players of each match of a game with this number of seats, once, with the place that names it."""
        if seats in self._found:
            return self._found[seats]
        match_ups = self._found[seats] = {}
        pool = []
        if "learners" in self._table:
            pool = self._specs(self._table["learners"], self._place_of("learners"), KEYS["learners"].accepted)
        table = self._table.get("match-ups", {})
        if not isinstance(table, dict):
            self._reject_key("match-ups")
            return match_ups
        for key, value in table.items():
            place = (*self._place_of("match-ups"), key)
            for where, players in itertools.islice(self._match_up(key, value, place, pool, seats), MOST + 1):
                match_ups.setdefault(players, where)
            if len(match_ups) > MOST:
                self._add(place, f"this gives more than {MOST:,} match-ups; accepted: at most that many. Sweep less.")
                match_ups.clear()
                break
        return match_ups

    def _check_match_ups(self, games: Sequence[AnyGame], clean: bool) -> None:
        """Reject learners that cannot meet, games without a match and, if all else is right, lists that fit no game.

        `games` has one game for each number of seats that occurs.
        """
        for game in games:
            played = _ANY_GAME if len(game.seats) == 2 else game
            for players, where in self._match_ups(len(game.seats)).items():
                with self._noting(where):
                    Match(played, tuple(self._learners[spec][0] for spec in players), 1)
        if not clean or "match-ups" not in self._table:
            return
        place, table = self._place_of("match-ups"), self._table["match-ups"]
        listed = [
            ((*place, key, index), len(players))
            for key in ("pairs", "players")
            for index, players in enumerate(table.get(key, []))
        ]
        for game in games:
            if not self._match_ups(len(game.seats)):
                which = f" for the seats of {game.name}, {', '.join(game.seats)}" if listed else ""
                self._add(place, f"no match-up is listed{which}; accepted: {KEYS['match-ups'].accepted}.")
        seats = {len(game.seats): f"{len(game.seats)}, the seats of {game.name}" for game in games}
        for where, count in listed if not self.mistakes else ():
            if count not in seats:
                self._add(where, f"these are {count} players; accepted: {' or '.join(seats.values())}.")

    def _specs(self, value: Any, place: Place, accepted: str, alone: bool = False) -> list[str]:
        """Return the canonical specs of the learners in a list."""
        made = self._made(self._listed(value, place, accepted, Learner, alone), parse_learner, LEARNERS)
        self._learners = made | self._learners
        return list(made)

    def _match_up(
        self, key: str, value: Any, place: Place, pool: list[str], seats: int
    ) -> Iterable[tuple[Place, Players]]:
        """Return the players that one key of the table defines, for a game with this number of seats."""
        if key in ("pairs", "players"):
            return self._listed_players(key, value, place, seats)
        if key not in MATCH_UPS:
            hint = " here: it belongs above [match-ups]." if key in KEYS else nearest(key, MATCH_UPS)
            self._add(place, f"unknown key {key!r}{hint} Accepted here: {', '.join(MATCH_UPS)}.")
            return []
        against_all = key == "one-against-all"
        if value is False and not against_all:
            return []
        if (value is True or against_all) and "learners" not in self._table:
            self._add(place, "this needs the key 'learners', which is missing. Add it above [match-ups].")
            return []
        if value is True and not against_all:
            chosen = pool
        else:
            chosen = self._specs(value, place, MATCH_UPS[key], alone=against_all)
        if key == "self-play":
            return ((place, (learner,) * seats) for learner in chosen)
        if against_all:
            last = seats - 1
            return (
                (place, one_among(learner, opponent, last, seats))
                for learner in chosen
                for opponent in pool
                if opponent != learner
            )
        return (
            (place, one_among(learner, opponent, seat, seats))
            for seat in range(seats)
            for learner, opponent in itertools.permutations(chosen, 2)
        )

    def _listed_players(self, key: str, value: Any, place: Place, seats: int) -> Iterable[tuple[Place, Players]]:
        """Yield the players that are listed seat by seat; a list in place of a learner is expanded to its entries."""
        if not isinstance(value, list) or not any(isinstance(players, list) for players in value):
            self._reject(place, value, MATCH_UPS[key])
            return
        for index, players in enumerate(value):
            where = (*place, index)
            if not isinstance(players, list) or (len(players) != 2 if key == "pairs" else len(players) < 2):
                self._reject(where, players, "two learners, [row, column]" if key == "pairs" else "a list of learners")
                continue
            named = enumerate(players)
            specs = [self._specs(entry, (*where, seat), MATCH_UPS[key], alone=True) for seat, entry in named]
            if len(players) == seats:
                yield from ((where, chosen) for chosen in itertools.product(*specs))

    # Games

    def _check_games(
        self, games: list[Entry], metrics: list[tuple[Place, str]], common: Cell
    ) -> tuple[dict[tuple[str, str | None], list[Cell]], list[AnyGame]]:
        """Return the matches of every game as cells without seeds, by name and noise, and a game per number of seats.

        A cell keeps its policies if the page can draw them.
        """
        played: dict[tuple[str, str | None], list[Cell]] = {}
        by_seats: dict[int, AnyGame] = {}
        backend = backend_class(common.device)
        for place, entry in games:  # built one at a time, as there may be many large ones
            with self._noting(place):
                key, game = self._game(entry)
                default, noise = game.noise if isinstance(entry, str) else default_noise(game), None
                if game.noise != default and "noise" not in self._table:
                    spec = self._placed(str(game.noise))
                    noise = self._keep(NOISES, spec, game.noise, NOISES.known_everywhere(game.noise))
                if (key, noise) in played:
                    continue
                if reason := backend.reason_not_to_run(game):
                    raise InputError(f"{reason}, and device is {backend.device}; accepted: cpu.")
                match_ups = self._match_ups(len(game.seats))
                drawn = has_matrix(game) and max(game.shape) <= MOST_AREAS
                cell = replace(common, game=key, shape=game.shape, default_noise=str(default))
                cell = replace(cell, metrics=self._allowed(metrics, key, game), keep=common.keep if drawn else ())
                played[key, noise] = [
                    replace(cell, players=players, cost=self._cost(players, game.shape)) for players in match_ups
                ]
                by_seats.setdefault(len(game.seats), game)
                self._check_seats(key, game, match_ups, common.rounds)
        return played, list(by_seats.values())

    def _cost(self, players: Players, shape: tuple[int, ...]) -> float:
        """Return the declared microseconds of a round per run."""
        with suppress(Exception):  # of user code; the run will report it
            return declared_cost([self._learners[spec][0] for spec in players], shape)
        return Cell.cost

    def _check_seats(self, key: str, game: AnyGame, match_ups: Iterable[Players], rounds: int) -> None:
        """Reject learners that cannot play in a game; for each learner, only the first such seat is reported."""
        rejected = set()
        for seat, spec in dict.fromkeys(seating for players in match_ups for seating in enumerate(players)):
            learner, place = self._learners[spec]
            if spec in rejected:
                continue
            try:
                reason = learner.reason_not_to_play(seat_at(game, seat, learner, [0], rounds))
            except Exception as error:  # of user code
                reason = reason_of(error)
            if reason is not None:
                rejected.add(spec)
                self._add(place, f"{spec} cannot take the {game.seats[seat]} seat of {key}: {reason}")

    def _game(self, entry: str | ZeroSumGame | TensorGame) -> tuple[str, ZeroSumGame | TensorGame]:
        """Return the name of a game in a cell, and the game."""
        if not isinstance(entry, str):
            if entry.spec:
                self._placed(entry.spec)
                return entry.spec, entry
            if entry.name in GAMES or Path(entry.name).suffix:
                raise InputError(f"a game without a spec is called {entry.name!r}; give it another name.")
            return self._keep(GAMES, entry.name, entry), entry
        split_spec(entry)  # rejects strings that no system function accepts
        suffix = Path(entry).suffix.lower()
        if suffix in SUFFIXES or (suffix and is_file(str(self._folder / entry))):
            path = self._file(entry)
            return path.as_posix(), parse_game(path)
        game = parse_game(self._placed(entry))
        spec = game.spec or entry
        return self._keep(GAMES, spec, game, GAMES.known_everywhere(spec)), game


def one_among(learner: str, opponent: str, seat: int, seats: int) -> Players:
    """Return the players of a match of one learner in a seat with copies of another in all other seats.

    >>> one_among("ucb", "exp3", seat=1, seats=3)
    ('exp3', 'ucb', 'exp3')
    """
    return (opponent,) * seat + (learner,) + (opponent,) * (seats - seat - 1)


def _order(metric: str, places: Mapping[str, int]) -> tuple[int, str, int]:
    """Return the sort key of a metric: in the order of the registry, by seat, then those in files."""
    parts = split_spec(metric)
    if parts.name not in places:
        return len(places), without_folder(metric), 0
    return places[parts.name], "", int(parts.parameters or 1)
