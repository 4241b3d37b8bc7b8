"""The schema of a study: the keys of its file, which are the arguments of `Study`, and the cells that they make.

All mistakes are collected, each with its place (which list, which entry), and reported at once.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from inspect import isfunction
from pathlib import Path
from typing import Any, Literal

from coebl.backend import DEVICES
from coebl.core.errors import InputError, nearest, reason_of, shorten
from coebl.core.specs import MOST_IN_GRID, expand, files_in, move_files, split_spec, without_folder
from coebl.engine import Match, Record
from coebl.engine.match import MOST_ROUNDS
from coebl.engine.policies import MOST_AREAS, has_pictures
from coebl.engine.simulate import MOST_SEEDS
from coebl.engine.table import seat_at
from coebl.engine.until import Until
from coebl.games import GAMES, NOISES, SUFFIXES, AnyGame, Game, Noise, ZeroSumGame, parse_noise, parse_zero_sum
from coebl.games.game import SEATS, SeatName
from coebl.learners import LEARNERS, Learner, parse_learner
from coebl.metrics import METRICS, Metric, all_metrics, metric_class, registered_metric
from coebl.search import Search
from coebl.study.cell import Cell, is_file
from coebl.study.cell_file import RESERVED
from coebl.study.errors import Mistake, Place

Entry = tuple[Place, Any]  # a spec or an object, with its place
Pair = tuple[str, str]  # canonical specs of the row learner and the column learner

MOST = MOST_IN_GRID  # also of the cells of a study: more is a typo
_MOST_SEED = 2**63 - 1  # results keep seeds as 64-bit integers
_SEED_KEYS = {"first": (0, _MOST_SEED - MOST_SEEDS), "count": (1, MOST_SEEDS)}  # with their ranges
_SEEDS_PER_CELL = {"cpu": 50, "cuda": 1000}  # a GPU is idle with fewer
_ANY_GAME = Game([[0.0]])  # for checks that depend only on the learners
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
    "keep": '["policies"]: of the first seed, for a replay on the page',
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


def _repair(value: Any, kind: type) -> str:
    """Return how to make an object of a kind from the value given in its place; empty if that is not clear."""
    if isinstance(value, type) and issubclass(value, kind):
        return f" Make one: {value.__name__}()."
    if kind is ZeroSumGame and isfunction(value):
        return f" Call it: {value.__name__}()."
    if kind is ZeroSumGame and (isinstance(value, list) or hasattr(value, "__array__")):
        return " Make a game of it: Game(payoff, name=...)."
    return ""


class Build:
    """One reading of a study's contents, part by part: the top level sets the defaults of a part.

    After a mistake the methods return something harmless: no study is made of it.
    """

    def __init__(self, contents: dict[str, Any], folder: Path | None = None) -> None:
        self.mistakes: dict[Mistake, None] = {}
        self.files: dict[str, Path] = {}  # that it names, as it names them
        self._folder = folder or Path()  # that files are relative to
        self._file_names: dict[str, Path] = {}  # by which results identify them
        self._objects: dict[str, Any] = {}  # by the names that represent them in specs
        self._shapes: dict[str, tuple[int, int]] = {}  # of the games, so that nothing has to build them again
        self._drawn: set[str] = set()  # the games whose policies are kept, if any are
        self._noises: dict[str, str] = {}  # the default noise of each game, by its name in results
        self._reasons: dict[tuple[str, str], str | None] = {}  # why a game does not allow a metric
        self._metric_specs: dict[type[Metric], str] = {}  # of metrics in files, by which each is known
        self._metric_owners: dict[str, type[Metric]] = {}  # of the columns
        self._cell_count = 0
        # of the part that is being read
        self._table = self._own = contents  # its keys, with and without those of the top level
        self._place: Place = ()
        self._learners: dict[str, tuple[Learner, Place]] = {}  # by canonical spec, with where it is first named

    def fields(self) -> dict[str, Any]:
        """The fields of a study; of no use if there are mistakes."""
        contents = self._own
        hints = self._check_keys(ACCEPTED)
        self._require(("name",), hints)
        values: dict[str, Any] = {key: self._words(key) for key in _PATTERNS}
        cells: dict[Cell, None] = {}
        tables = contents.get("parts")
        if tables is None:
            self._require(_REQUIRED, hints)
            cells |= dict.fromkeys(self._cells())
        elif not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
            self._reject_key("parts")
        else:
            defaults = {key: value for key, value in contents.items() if key in (*_IN_PARTS, "device")}
            for index, table in enumerate(tables):
                self._own, self._table, self._place, self._learners = table, defaults | table, ("parts", index), {}
                self._require(_REQUIRED, self._check_keys(_IN_PARTS))
                cells |= dict.fromkeys(self._cells())
        return values | {"cells": tuple(cells), "shapes": self._shapes, "noises": self._noises}

    def _check_keys(self, accepted: Iterable[str]) -> str:
        """Reject unknown keys; return the hints that were given, so that one typo is one mistake."""
        hints = ""
        for key in self._own:
            place = (*self._place, key)
            if key in MATCH_UPS:
                hints += "'match-ups'"
                header = "[parts.match-ups]" if self._place else "[match-ups]"
                self._add(place, f"unknown key {key!r} here: it belongs under {header}. Move it there.")
            elif key in _TOP_ONLY and self._place:
                self._add(place, f"unknown key {key!r} here: it belongs above [[parts]]. Move it there.")
            elif key not in accepted:
                hint = nearest(key, accepted)
                hints += hint
                self._add(place, f"unknown key {key!r}{hint} Accepted: {', '.join(accepted)}.")
        return hints

    def _require(self, keys: Iterable[str], hints: str) -> None:
        where = " here or at the top" if self._place else ""
        for key in keys:
            if key not in self._table and repr(key) not in hints:
                self._add(self._place, f"there is no key {key!r}{where}; accepted: {ACCEPTED[key]}. Add it.")

    def _add(self, place: Place, message: str) -> None:
        """Note a mistake, once."""
        self.mistakes.setdefault(Mistake(place, message))

    def _reject(self, place: Place, value: Any, accepted: str, repair: str = "") -> None:
        """Note that a value is not one of those that are accepted."""
        shown = str(value).lower() if isinstance(value, bool) else shorten(value)  # as TOML has it
        self._add(place, f"this is {shown}; accepted: {accepted}.{repair}")

    def _reject_key(self, key: str) -> None:
        self._reject(self._place_of(key), self._table.get(key), ACCEPTED[key])

    def _place_of(self, key: str) -> Place:
        return (*self._place, key) if key in self._own else (key,)

    def _cells(self) -> Iterator[Cell]:
        """The cells of the part."""
        rounds = self._plain("rounds", 1, lambda value: _is_integer(value, 1, MOST_ROUNDS))
        device = self._plain("device", "cpu", lambda value: value in DEVICES)
        size = self._plain("seeds_per_cell", _SEEDS_PER_CELL[device], lambda value: _is_integer(value, 1, MOST_SEEDS))
        pairs = self._pairs()
        search = next((row for row, _ in pairs if isinstance(self._learners[row][0], Search)), None)
        if search and device != "cpu":
            self._add(self._place_of("device"), f"this is {device}, and {search} is a search; accepted: cpu.")
        seeds, noises, metrics = self._seeds(), self._noise_specs(), self._metrics(search)
        until = self._until()
        record = self._record(search or ("until" if until else None))
        blocks = [tuple(seeds[first : first + size]) for first in range(0, len(seeds), size)]
        if "games" not in self._table:
            return
        games = self._entries("games", ZeroSumGame)
        cells_per_game = len(noises) * len(pairs) * len(blocks)
        self._cell_count += len(games) * cells_per_game
        if self._cell_count > MOST:
            self._add(
                (),
                f"this study has {self._cell_count:,} cells, {len(games):,} games of {cells_per_game:,} among them; "
                f"accepted: at most {MOST:,}. Raise seeds_per_cell, or sweep less.",
            )
            return
        allowed = self._check_games(games, metrics, pairs, rounds)
        keep = self._keep_policies(search or ("until" if until else None))
        for (game, measured), noise, pair, block in itertools.product(allowed.items(), noises, pairs, blocks):
            objects = {name: self._objects[name] for name in (game, *pair, noise) if name in self._objects}
            cell = Cell(game, pair, rounds, block, noise, record, measured, device, objects, until)
            if keep and game in self._drawn and block is blocks[0]:
                yield replace(cell, seeds=block[:1], keep=keep)
            yield cell

    # Plain values

    def _words(self, key: str) -> str:
        """A string that matches the key's pattern, or "" if the key is missing."""
        text = self._table.get(key, "")
        if isinstance(text, str) and (key not in self._table or re.fullmatch(_PATTERNS[key], text, re.DOTALL)):
            return text
        self._reject_key(key)
        return ""

    def _plain(self, key: str, default: Any, accepts: Callable[[Any], bool]) -> Any:
        value = self._table.get(key, default)
        if isinstance(value, (str, int)) and accepts(value):
            return value
        self._reject_key(key)
        return default

    def _until(self) -> str | None:
        try:
            return str(Until.parse(self._table["until"])) if "until" in self._table else None
        except InputError as error:
            self._add(self._place_of("until"), str(error))
            return None

    def _record(self, ending: str | None) -> Record:
        if ending:  # which makes runs differ in length
            if (record := self._table.get("record", "last")) != "last":
                self._reject(self._place_of("record"), record, f'"last" with {ending}, the end of each run')
            return "last"
        kept: Record = self._plain(
            "record", "log", lambda value: value in ("all", "log", "last") or _is_integer(value, 1, math.inf)
        )
        return kept

    def _keep_policies(self, ending: str | None) -> tuple[Literal["policies"], ...]:
        keep = self._table.get("keep", [])
        if keep not in ([], ["policies"]):
            self._reject_key("keep")
        elif keep and ending:
            self._add(self._place_of("keep"), f"runs differ in length with {ending}, so none is kept. Leave keep out.")
        return ("policies",) if keep else ()

    def _seeds(self) -> Sequence[int]:
        seeds, place = self._table.get("seeds", 1), self._place_of("seeds")
        before = len(self.mistakes)
        if isinstance(seeds, dict):
            for key in seeds:
                if key not in _SEED_KEYS:
                    self._add((*place, key), f"unknown key {key!r}{nearest(key, _SEED_KEYS)} Accepted: first, count.")
            for key, (least, most) in _SEED_KEYS.items():
                if key not in seeds:
                    self._add(place, f"there is no {key!r}; accepted: {{ first = 100, count = 50 }}. Add it.")
                elif not _is_integer(seeds[key], least, most):
                    self._reject((*place, key), seeds[key], f"an integer, {least} .. {most:,}")
            valid = len(self.mistakes) == before
            return range(seeds["first"], seeds["first"] + seeds["count"]) if valid else range(1)
        if isinstance(seeds, list) and seeds:
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
        return range(self._plain("seeds", 1, lambda value: _is_integer(value, 1, MOST_SEEDS)))

    # Lists of specs and objects

    def _entries(self, key: str, kind: type, alone: bool = False) -> list[Entry]:
        return self._listed(self._table[key], self._place_of(key), ACCEPTED[key], kind, alone)

    def _listed(self, value: Any, place: Place, accepted: str, kind: type, alone: bool = False) -> list[Entry]:
        """The entries of a list, grids expanded; with `alone`, a single entry is accepted too."""
        if not isinstance(value, list):
            if alone:
                return self._expanded(value, place, accepted, kind)
            self._reject(place, value, accepted)
            return []
        if not value:
            self._add(place, f"this list is empty; accepted: {accepted}. Put at least one in.")
        entries: list[Entry] = []
        for index, entry in enumerate(value):
            entries += self._expanded(entry, (*place, index), accepted, kind)
        if len(entries) > MOST:
            self._add(place, f"these are {len(entries):,} in all; accepted: at most {MOST:,}. Sweep less.")
            return []
        return entries

    def _expanded(self, entry: Any, place: Place, accepted: str, kind: type) -> list[Entry]:
        """Expand the grid of a spec; an object is returned as it is."""
        if isinstance(entry, kind):
            return [(place, entry)]
        if not isinstance(entry, str) or not entry.strip():
            self._reject(place, entry, accepted, _repair(entry, kind))
            return []
        try:
            return [(place, spec) for spec in expand(entry.strip())]
        except InputError as error:
            self._add(place, str(error))
            return []

    def _made(self, entries: Iterable[Entry], parse: Callable[[str], Any], names: Any) -> dict[str, tuple[Any, Place]]:
        """The objects of entries and their places, by canonical spec; invalid ones are noted as mistakes."""
        made: dict[str, tuple[Any, Place]] = {}
        for place, entry in entries:
            try:
                value = parse(self._placed(entry)) if isinstance(entry, str) else entry
                made.setdefault(self._keep(str(value), value, names), (value, place))
            except Exception as error:  # of user code
                self._add(place, reason_of(error))
        return made

    def _keep(self, spec: str, value: Any, names: Any = None) -> str:
        """The spec; an object that no spec can make in other processes, which is in no package or file, is kept."""
        try:
            if names is not None and (files_in(spec) or names.known_everywhere(spec)):
                return spec
        except InputError:  # with an operator that is not registered, perhaps
            pass
        kept = self._objects.setdefault(spec, value)
        if kept is not value and (isinstance(value, ZeroSumGame) or type(kept) is not type(value)):
            raise InputError(f"two different objects are called {spec!r}; give one of them another name.")
        return spec

    def _file(self, name: str) -> Path:
        """The path of a file that the study names; an InputError if another one has the same name."""
        path = self._folder / name
        first = self._file_names.setdefault(path.name, path)
        if first.resolve() != path.resolve():
            raise InputError(
                f"{path} and {first} have the same name, and results identify files by name; rename one of them."
            )
        self.files[name] = path
        return path

    def _placed(self, spec: str) -> str:
        """A spec with the paths of the files that it names as seen from here."""
        return move_files(spec, lambda file: self._file(file).as_posix())

    def _noise_specs(self) -> list[str | None]:
        """Canonical specs of noise; None for the default of each game."""
        if "noise" not in self._table:
            return [None]
        return list(self._made(self._entries("noise", Noise, alone=True), parse_noise, NOISES))

    def _metrics(self, search: str | None) -> list[tuple[Place, str]]:
        """The names of metrics, "all" among them; those in files with their paths."""
        default = ["exploitability"] if search else list(Cell.metrics)
        place, metrics = self._place_of("metrics"), self._table.get("metrics", default)
        if metrics == "all" and not search:
            return [(place, "all")]
        if not isinstance(metrics, list) or not metrics:
            self._reject_key("metrics")
            return []
        names: list[tuple[Place, str]] = []
        for index, name in enumerate(metrics):
            where = (*place, index)
            if not isinstance(name, str):
                self._reject(where, name, ACCEPTED["metrics"])
            elif split_spec(name).file:
                try:
                    names.append((where, self._metric_in_file(name)))
                except Exception as error:  # of user code
                    self._add(where, reason_of(error))
            elif search and (name == "all" or ((metric := registered_metric(name)) and metric.cumulative)):
                self._add(where, f"{name} adds up over the rounds, and {search} is a search. Name exploitability, say.")
            elif split_spec(name).name not in METRICS and name != "all":
                accepted = f"{', '.join(METRICS.names)}, all; or file.py:Name"
                self._add(where, f"unknown metric {name!r}{nearest(name, METRICS.names)} Accepted: {accepted}.")
            else:
                try:
                    names.append((where, name if name == "all" else metric_class(name).name))
                except InputError as error:  # of the seat in its name
                    self._add(where, str(error))
        return names

    def _metric_in_file(self, spec: str) -> str:
        placed = self._placed(spec)
        if split_spec(spec).parameters:
            raise InputError(f"{spec}: a metric has no parameters; accepted: file.py:Name.")
        metric = metric_class(placed)
        name = getattr(metric, "name", None)
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
            accepted = 'letters, digits and _, such as name = "surprise"'
            raise InputError(f"{spec}: the class attribute name is {shorten(name)}; accepted: {accepted}.")
        taken = name in METRICS or name in (*RESERVED, "all")
        if taken or self._metric_owners.setdefault(name, metric) is not metric:
            raise InputError(f"{spec}: another metric or column is called {name!r}; give it another name.")
        return self._metric_specs.setdefault(metric, placed)

    # Match-ups

    def _pairs(self) -> dict[Pair, Place]:
        """The pairs of learners, each once and with the place that first asks for it."""
        place, table = self._place_of("match-ups"), self._table.get("match-ups")
        before = len(self.mistakes)
        pool = self._specs(self._entries("learners", Learner)) if "learners" in self._table else []
        if not isinstance(table, dict):
            if "match-ups" in self._table:
                self._reject_key("match-ups")
            return {}
        pairs: dict[Pair, Place] = {}
        for key, value in table.items():
            line = (*place, key)
            for where, pair in itertools.islice(self._match_up(key, value, line, pool), MOST + 1):
                pairs.setdefault(pair, where)
            if len(pairs) > MOST:
                self._add(line, f"this gives more than {MOST:,} pairs; accepted: no more. Sweep less.")
                return {}
        for (row, column), where in pairs.items():
            try:
                Match.of(_ANY_GAME, self._learners[row][0], self._learners[column][0])
            except InputError as error:
                self._add(where, str(error))
        if not pairs and len(self.mistakes) == before:
            self._add(place, f"no match-up is listed; accepted: {ACCEPTED['match-ups']}.")
        return pairs

    def _specs(self, entries: Iterable[Entry]) -> list[str]:
        """The canonical specs of learners."""
        made = self._made(entries, parse_learner, LEARNERS)
        self._learners = made | self._learners
        return list(made)

    def _match_up(self, key: str, value: Any, place: Place, pool: list[str]) -> Iterable[tuple[Place, Pair]]:
        """The pairs that one key of the table gives."""
        if key == "pairs":
            return self._listed_pairs(value, place)
        if key not in MATCH_UPS:
            hint = " here: it belongs above [match-ups]." if key in ACCEPTED else nearest(key, MATCH_UPS)
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
            chosen = self._specs(self._listed(value, place, MATCH_UPS[key], Learner, alone=against_all))
        if against_all:
            return ((place, (row, column)) for column in chosen for row in pool if row != column)
        if key == "self-play":
            return ((place, (learner, learner)) for learner in chosen)
        return ((place, pair) for pair in itertools.permutations(chosen, 2))

    def _listed_pairs(self, value: Any, place: Place) -> Iterable[tuple[Place, Pair]]:
        if not isinstance(value, list) or not any(isinstance(pair, list) for pair in value):
            self._reject(place, value, MATCH_UPS["pairs"])
            return
        for index, pair in enumerate(value):
            where = (*place, index)
            if not isinstance(pair, list) or len(pair) != 2:
                self._reject(where, pair, "two learners, [row, column]")
                continue
            rows, columns = (
                self._specs(self._expanded(spec, (*where, seat), MATCH_UPS["pairs"], Learner))
                for seat, spec in enumerate(pair)
            )
            yield from ((where, (row, column)) for row, column in itertools.product(rows, columns))

    # Games

    def _check_games(
        self, games: list[Entry], metrics: list[tuple[Place, str]], pairs: dict[Pair, Place], rounds: int
    ) -> dict[str, tuple[str, ...]]:
        """The metrics to take of every game, by its canonical spec or its path.

        Games are built one at a time, as there may be many large ones, and metrics and learners are checked on them.
        """
        allowed: dict[str, tuple[str, ...]] = {}
        seatings: list[tuple[SeatName, str]] = []
        for row, column in pairs:
            seatings += [("row", row), ("column", column)]
        for place, entry in games:
            try:
                key, game = self._game(entry)
                if key in allowed:
                    continue
                self._shapes[key] = game.shape
                if has_pictures(game) and max(game.shape) <= MOST_AREAS:
                    self._drawn.add(key)
                allowed[key] = self._allowed(metrics, key, game)
                name = without_folder(game.spec) if game.spec else Path(key).name
                self._noises[name] = without_folder(str(game.noise))
            except Exception as error:  # of user code, or of the system about the name of a file
                self._add(place, reason_of(error))
                continue
            rejected = set()  # only the first seat that a learner cannot take is reported
            for seat, spec in dict.fromkeys(seatings):
                learner, where = self._learners[spec]
                reason = _reason_not_to_play(learner, seat, game, rounds) if spec not in rejected else None
                if reason is not None:
                    rejected.add(spec)
                    self._add(where, f"{spec} cannot take the {seat} seat of {key}: {reason}")
        return allowed

    def _game(self, entry: str | ZeroSumGame) -> tuple[str, ZeroSumGame]:
        """The name of a game in a cell, and the game."""
        if isinstance(entry, ZeroSumGame):
            if entry.spec:
                return entry.spec, entry
            if entry.name in GAMES or Path(entry.name).suffix:
                raise InputError(f"a game without a spec is called {entry.name!r}; give it another name.")
            return self._keep(entry.name, entry), entry
        split_spec(entry)  # rejects what no system function accepts
        suffix = Path(entry).suffix.lower()
        if suffix in SUFFIXES or (suffix and is_file(str(self._folder / entry))):
            path = self._file(entry)
            return path.as_posix(), parse_zero_sum(path)
        game = parse_zero_sum(self._placed(entry))
        return self._keep(game.spec or entry, game, GAMES), game

    def _allowed(self, metrics: list[tuple[Place, str]], key: str, game: ZeroSumGame) -> tuple[str, ...]:
        """The metrics to take of a game, in the order of the registry, then by file: a set has one digest."""
        reasons, chosen = self._reasons, set()
        for place, name in metrics:
            for metric in [known.name for known in all_metrics(game)] if name == "all" else [name]:
                if (key, metric) not in reasons:  # to find out whether an equilibrium is unique takes time
                    reasons[key, metric] = metric_class(metric).reason_undefined(game)
                reason = reasons[key, metric]
                if reason is None:
                    chosen.add(metric)
                elif name != "all":
                    self._add(place, f"not for the game {key}: {reason}")
        custom = sorted(chosen.difference(METRICS.names), key=without_folder)
        return (*(name for name in METRICS.names if name in chosen), *custom)


def _reason_not_to_play(learner: Learner, seat: SeatName, game: AnyGame, rounds: int) -> str | None:
    """The reason why a learner cannot take a seat of a game; None if it can."""
    try:
        return learner.reason_not_to_play(seat_at(game, SEATS.index(seat), learner, [0], rounds))
    except Exception as error:  # of user code
        return reason_of(error)


def _is_integer(value: Any, low: int, high: float) -> bool:
    return type(value) is int and low <= value <= high
