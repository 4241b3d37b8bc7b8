"""The study file: many matches over many seeds, described in TOML. `EXAMPLE` shows every key.

All mistakes of a file are reported at once, each with its line, so that a file is repaired in one go. What a run
would stumble over is looked for as well: games are built, metrics asked whether they make sense, learners started.
"""

from __future__ import annotations

import itertools
import os
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coebl.core.errors import InputError, nearest, shorten
from coebl.engine import Match, Record
from coebl.engine.seated import build_seat
from coebl.games import SUFFIXES, Game, parse_game, parse_noise, read_game
from coebl.learners import Learner, parse_learner
from coebl.metrics import METRICS, metric_class
from coebl.study.cell import Cell
from coebl.study.lines import Place, key_lines
from coebl.study.sweep import MOST, expand

EXAMPLE = """\
# A study: many matches over many seeds. Lists inside a spec stand for a grid: coebl:c=[2,8] is two learners.

name = "example"           # letters, digits, - _ .
rounds = 500               # of every run
seeds = 10                 # 0 .. 9; or a list such as [3, 5, 8]; or { first = 100, count = 10 }
seeds_per_cell = 5         # how many are run and stored together; 50 unless told

games = [                  # see: coebl list games. Files are looked for next to this one
    "rps",
    "diagonal:n=[2,3]",
    # "my-game.csv",
]
learners = ["coebl:c=[2,8]", "ucb", "exp3"]  # see: coebl list learners

noise = "gaussian:sigma=1"                   # or a list; without this line, each game has its own
record = "log"                               # all, log, last, or every how many rounds
metrics = ["regret", "pseudo_regret", "tv"]  # or ["all"]: all that each game allows

[match-ups]                    # what several lines give counts once
self-play = true               # every learner against itself; or a list of learners
# all-pairs = true             # every ordered pair of different learners; or a list of learners
one-against-all = "coebl:c=8"  # in the column seat, against every other learner
pairs = [["ucb", "exp3"]]      # [row, column]
"""

_MOST_ROUNDS = 10**9
_MOST_SEEDS = 10**6
_MOST_SEED = 2**63 - 1  # results keep seeds as 64-bit numbers

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

_ACCEPTED = {
    "name": 'letters, digits, - _ and ., a letter or digit first, such as "my-study"',
    "rounds": f"a whole number, 1 .. {_MOST_ROUNDS:,}",
    "seeds": f"how many, 1 .. {_MOST_SEEDS:,}; or a list such as [3, 5, 8]; or {{ first = 100, count = 50 }}",
    "seeds_per_cell": f"a whole number, 1 .. {_MOST_SEEDS:,}",
    "games": 'a list of games, such as ["rps", "diagonal:n=[2,3]", "my-game.csv"]',
    "learners": 'a list of learners, such as ["coebl:c=[2,8]", "ucb"]',
    "noise": 'a noise such as "gaussian:sigma=1", or a list of them',
    "record": '"all", "log", "last", or every how many rounds, >= 1',
    "metrics": f"a list of metrics, out of {', '.join(METRICS.names)}, all",
    "match-ups": "a table [match-ups] with self-play, all-pairs, one-against-all or pairs",
}
_REQUIRED = ("name", "rounds", "seeds", "games", "match-ups")
_MATCH_UPS = {
    "self-play": "true, false, or a list of learners",
    "all-pairs": "true, false, or a list of learners",
    "one-against-all": 'a learner such as "coebl:c=8", or a list of learners',
    "pairs": 'a list of pairs of learners, [row, column], such as [["ucb", "coebl:c=2"]]',
}
_SEED_KEYS = ("first", "count")

Pair = tuple[str, str]  # canonical specs of the row learner and the column learner


@dataclass(frozen=True)
class Study:
    """What a study file asks for."""

    name: str
    cells: tuple[Cell, ...]
    text: str  # of the file, to be kept with the results


class StudyError(InputError):
    """All that is wrong with a study file, a line for each mistake."""

    def __init__(self, mistakes: Sequence[str]) -> None:
        super().__init__(list(mistakes))
        self.mistakes = list(mistakes)

    def __str__(self) -> str:
        return "\n".join(self.mistakes)


def read_study(path: str | os.PathLike[str]) -> Study:
    """The study in a file."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")  # some editors put a mark in front
    except UnicodeDecodeError as error:
        raise StudyError([f"{path}: byte {error.start} is not UTF-8. Save the file as UTF-8."]) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise StudyError([f"{path}: {reason}; accepted: a study file. For an example: coebl study new"]) from None
    return parse_study(text, str(path))


def parse_study(text: str, where: str = "study.toml") -> Study:
    """The study that a text describes. Files that it names are relative to where it stands.

    >>> study = parse_study(EXAMPLE)
    >>> len(study.cells)
    48
    >>> print(study.cells[0])
    rps, coebl:c=2 v coebl:c=2, 500 rounds, seeds 0..4
    """
    try:
        contents = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise StudyError([_toml_mistake(text, where, error)]) from None
    return _Reading(contents, text, where).study()


def _toml_mistake(text: str, where: str, error: Exception) -> str:
    """One line, with line and column, for what is not TOML."""
    if isinstance(error, RecursionError):
        return f"{where}: this is not TOML that can be read: it is nested too deep."
    reason, _, position = str(error).partition(" (at ")
    at = position.rstrip(")")
    if at == "end of document":
        lines = text.rstrip("\n").split("\n")
        at = f"line {len(lines)}, column {len(lines[-1]) + 1}"
    # By far the most frequent slip, and tomllib's own words do not name it.
    repair = " Texts need quotes, and true and false small letters." if reason == "Invalid value" else ""
    return f"{where}{', ' if at else ''}{at}: this is not TOML: {reason}.{repair}"


class _Reading:
    """One reading of a file: values go in as TOML has them, what is wrong with them is collected."""

    def __init__(self, contents: dict[str, Any], text: str, where: str) -> None:
        self.contents = contents
        self.text = text
        self.where = where
        self.folder = Path(where).parent
        self.lines = key_lines(text)
        self.mistakes: list[tuple[int, str]] = []  # with the line, 0 where there is none
        self.learners: dict[str, tuple[Learner, Place]] = {}  # by canonical spec, with where it is first named

    def study(self) -> Study:
        """The study, or all mistakes."""
        self._check_keys()
        name = self._name()
        rounds = self._whole("rounds", _MOST_ROUNDS)
        blocks = self._blocks(self._seeds(), self._whole("seeds_per_cell", _MOST_SEEDS, default=50))
        noises = self._noises()
        record = self._record()
        metrics = self._metrics()
        pairs = self._pairs()
        games = self._games(metrics, pairs, len(noises) * len(pairs) * len(blocks), rounds)
        if self.mistakes:
            # Sorting is stable: the mistakes of one line stay in the order in which they were found.
            raise StudyError([message for _, message in sorted(self.mistakes, key=lambda mistake: mistake[0])])
        cells = (
            Cell(game, row, column, rounds, block, noise, record, allowed)
            for (game, allowed), noise, (row, column), block in itertools.product(games.items(), noises, pairs, blocks)
        )
        return Study(name, tuple(cells), self.text)

    # Mistakes

    def _mistake(self, place: Place, message: str) -> None:
        line = next((self.lines[place[:k]] for k in range(len(place), 0, -1) if place[:k] in self.lines), 0)
        parts = [self.where, *([f"line {line}"] if line else []), *([_written(place)] if place else [])]
        self.mistakes.append((line, f"{', '.join(parts)}: {message}"))

    def _refuse(self, place: Place, value: Any, accepted: str) -> None:
        self._mistake(place, f"this is {_shown(value)}; accepted: {accepted}.")

    def _check_keys(self) -> None:
        hints = ""
        for key in self.contents:
            if key in _MATCH_UPS:
                hints += "'match-ups'"
                self._mistake((key,), f"unknown key {key!r} here: it belongs under [match-ups]. Move it there.")
            elif key not in _ACCEPTED:
                hint = nearest(key, _ACCEPTED)
                hints += hint
                self._mistake((key,), f"unknown key {key!r}{hint} Accepted: {', '.join(_ACCEPTED)}.")
        for key in _REQUIRED:
            if key not in self.contents and repr(key) not in hints:  # one slip of the keyboard is one mistake
                self._mistake((), f"there is no key {key!r}; accepted: {_ACCEPTED[key]}. Add it.")

    # Plain values. After a mistake they return something harmless: no study comes of it.

    def _name(self) -> str:
        name = self.contents.get("name")
        if isinstance(name, str) and _NAME.fullmatch(name):
            return name
        if "name" in self.contents:
            self._refuse(("name",), name, _ACCEPTED["name"])
        return ""

    def _whole(self, key: str, most: int, default: int = 1) -> int:
        value = self.contents.get(key, default)
        if _is_whole(value) and 1 <= value <= most:
            return int(value)
        self._refuse((key,), value, _ACCEPTED[key])
        return default

    def _seeds(self) -> Sequence[int]:
        seeds = self.contents.get("seeds", 1)
        if isinstance(seeds, list) and seeds:
            return self._listed_seeds(seeds)
        if isinstance(seeds, dict):
            return self._range_of_seeds(seeds)
        if _is_whole(seeds) and 1 <= seeds <= _MOST_SEEDS:
            return range(seeds)
        self._refuse(("seeds",), seeds, _ACCEPTED["seeds"])
        return range(1)

    def _listed_seeds(self, seeds: list[Any]) -> Sequence[int]:
        good: dict[int, None] = {}
        for index, seed in enumerate(seeds):
            if not (_is_whole(seed) and 0 <= seed <= _MOST_SEED):
                self._refuse(("seeds", index), seed, "whole numbers, >= 0 and below 2^63")
            elif seed in good:
                self._mistake(("seeds", index), f"the seed {seed} is given twice; accepted: each once. Take one out.")
            else:
                good[seed] = None
        if len(good) > _MOST_SEEDS:
            self._mistake(("seeds",), f"these are {len(good):,} seeds; accepted: at most {_MOST_SEEDS:,}.")
        return sorted(good)  # in whatever order they are listed, the cells are the same

    def _range_of_seeds(self, seeds: dict[str, Any]) -> Sequence[int]:
        before = len(self.mistakes)
        for key in seeds:
            if key not in _SEED_KEYS:
                self._mistake(("seeds", key), f"unknown key {key!r}{nearest(key, _SEED_KEYS)} Accepted: first, count.")
        for key, least, most in (("first", 0, _MOST_SEED - _MOST_SEEDS), ("count", 1, _MOST_SEEDS)):
            if key not in seeds:
                self._mistake(("seeds",), f"there is no {key!r}; accepted: {{ first = 100, count = 50 }}. Add it.")
            elif not (_is_whole(seeds[key]) and least <= seeds[key] <= most):
                self._refuse(("seeds", key), seeds[key], f"a whole number, {least} .. {most:,}")
        if len(self.mistakes) > before:
            return range(1)
        return range(seeds["first"], seeds["first"] + seeds["count"])

    def _blocks(self, seeds: Sequence[int], size: int) -> list[tuple[int, ...]]:
        return [tuple(seeds[first : first + size]) for first in range(0, len(seeds), size)]

    def _record(self) -> Record:
        record = self.contents.get("record", "log")
        if record in ("all", "log", "last") or (_is_whole(record) and record >= 1):
            checked: Record = record
            return checked
        self._refuse(("record",), record, _ACCEPTED["record"])
        return "log"

    # Lists of specs

    def _specs(self, value: Any, place: Place, accepted: str) -> list[tuple[Place, str]]:
        """The specs of a list, with their places, after expansion."""
        if not isinstance(value, list):
            self._refuse(place, value, accepted)
            return []
        if not value:
            self._mistake(place, f"this list is empty; accepted: {accepted}. Put at least one in.")
        specs = []
        for index, spec in enumerate(value):
            specs += self._expanded(spec, (*place, index), accepted)
        if len(specs) > MOST:
            self._mistake(place, f"these are {len(specs):,} in all; accepted: at most {MOST:,}. Sweep less.")
            return []
        return specs

    def _one_or_more(self, value: Any, place: Place, accepted: str) -> list[tuple[Place, str]]:
        read = self._specs if isinstance(value, list) else self._expanded
        return read(value, place, accepted)

    def _expanded(self, spec: Any, place: Place, accepted: str) -> list[tuple[Place, str]]:
        if not isinstance(spec, str) or not spec.strip():
            self._refuse(place, spec, accepted)
            return []
        try:
            return [(place, each) for each in expand(spec.strip())]
        except InputError as error:
            self._mistake(place, str(error))
            return []

    def _noises(self) -> list[str | None]:
        if "noise" not in self.contents:
            return [None]
        noise, accepted = self.contents["noise"], _ACCEPTED["noise"]
        noises: dict[str | None, None] = {}
        for at, spec in self._one_or_more(noise, ("noise",), accepted):
            try:
                noises[str(parse_noise(spec))] = None
            except InputError as error:
                self._mistake(at, str(error))
        return list(noises)

    def _metrics(self) -> list[tuple[Place, str]]:
        """Names, "all" among them, with their places."""
        metrics = self.contents.get("metrics", list(Cell.metrics))
        if metrics == "all":
            return [(("metrics",), "all")]
        if not isinstance(metrics, list) or not metrics:
            self._refuse(("metrics",), metrics, _ACCEPTED["metrics"])
            return []
        names: list[tuple[Place, str]] = []
        for index, name in enumerate(metrics):
            place = ("metrics", index)
            if not isinstance(name, str):
                self._refuse(place, name, _ACCEPTED["metrics"])
            elif name not in METRICS and name != "all":
                accepted = f"{', '.join(METRICS.names)}, all"
                self._mistake(place, f"unknown metric {name!r}{nearest(name, METRICS.names)} Accepted: {accepted}.")
            else:
                names.append((place, name))
        return names

    # Learners and who meets whom

    def _learner(self, place: Place, spec: str) -> str | None:
        """The canonical spec of a learner, or None after a mistake."""
        head, colon, rest = spec.partition(":")
        if head.endswith(".py"):
            spec = f"{(self.folder / head).as_posix()}{colon}{rest}"
        try:
            learner = parse_learner(spec)
            canonical = str(learner)
        except Exception as error:  # a learner in a file is anybody's code
            self._mistake(place, _reason(error))
            return None
        self.learners.setdefault(canonical, (learner, place))
        return canonical

    def _canonical(self, specs: Iterable[tuple[Place, str]]) -> list[str]:
        names = (self._learner(place, spec) for place, spec in specs)
        return list(dict.fromkeys(name for name in names if name is not None))

    def _pairs(self) -> dict[Pair, Place]:
        """Who meets whom, each pair once, with the place that first asks for it."""
        before = len(self.mistakes)
        pool: list[str] = []
        if "learners" in self.contents:
            pool = self._canonical(self._specs(self.contents["learners"], ("learners",), _ACCEPTED["learners"]))
        table = self.contents.get("match-ups")
        if not isinstance(table, dict):
            if "match-ups" in self.contents:
                self._refuse(("match-ups",), table, _ACCEPTED["match-ups"])
            return {}
        pairs: dict[Pair, Place] = {}
        for key, value in table.items():
            line: Place = ("match-ups", key)
            for at, pair in itertools.islice(self._match_up(key, value, line, pool), MOST + 1):
                pairs.setdefault(pair, at)
            if len(pairs) > MOST:
                self._mistake(line, f"this gives more than {MOST:,} pairs; accepted: at most {MOST:,}. Sweep less.")
                return {}
        for (row, column), place in pairs.items():
            try:
                Match.of(_ANY_GAME, self.learners[row][0], self.learners[column][0])
            except InputError as error:
                self._mistake(place, str(error))
        if not pairs and len(self.mistakes) == before:
            self._mistake(("match-ups",), f"nobody meets anybody; accepted: {_ACCEPTED['match-ups']}.")
        return pairs

    def _match_up(self, key: str, value: Any, place: Place, pool: list[str]) -> Iterable[tuple[Place, Pair]]:
        """The pairs that one line of [match-ups] gives."""
        if key == "pairs":
            return self._explicit(value, place)
        if key not in _MATCH_UPS:
            hint = nearest(key, _MATCH_UPS)
            if key in _ACCEPTED:
                hint = " here: it belongs above [match-ups]."
            self._mistake(place, f"unknown key {key!r}{hint} Accepted here: {', '.join(_MATCH_UPS)}.")
            return []
        if value is False and key != "one-against-all":
            return []
        if (value is True or key == "one-against-all") and "learners" not in self.contents:
            self._mistake(place, "this needs the key 'learners', which is missing. Add it above [match-ups].")
            return []
        if key == "one-against-all":
            columns = self._canonical(self._one_or_more(value, place, _MATCH_UPS[key]))
            return ((place, (row, column)) for column in columns for row in pool if row != column)
        chosen = pool if value is True else self._canonical(self._specs(value, place, _MATCH_UPS[key]))
        if key == "self-play":
            return ((place, (learner, learner)) for learner in chosen)
        return ((place, pair) for pair in itertools.permutations(chosen, 2))

    def _explicit(self, value: Any, place: Place) -> Iterable[tuple[Place, Pair]]:
        if not isinstance(value, list) or not any(isinstance(pair, list) for pair in value):
            self._refuse(place, value, _MATCH_UPS["pairs"])
            return
        for index, pair in enumerate(value):
            at = (*place, index)
            if not isinstance(pair, list) or len(pair) != 2:
                self._refuse(at, pair, "two learners, [row, column]")
                continue
            rows, columns = (
                self._canonical(self._expanded(spec, (*at, seat), _MATCH_UPS["pairs"]))
                for seat, spec in enumerate(pair)
            )
            yield from ((at, (row, column)) for row, column in itertools.product(rows, columns))

    # Games, and whether everybody can play them

    def _games(
        self, metrics: list[tuple[Place, str]], pairs: dict[Pair, Place], cells_per_game: int, rounds: int
    ) -> dict[str, tuple[str, ...]]:
        """The metrics of every game, by its canonical spec or its path."""
        if "games" not in self.contents:
            return {}
        # A file's name may hold brackets of its own, and expand leaves those alone.
        specs = self._specs(self.contents["games"], ("games",), _ACCEPTED["games"])
        if len(specs) * cells_per_game > MOST:
            self._mistake(
                (),
                f"this study has {len(specs) * cells_per_game:,} cells, {len(specs):,} games of {cells_per_game:,}; "
                f"accepted: at most {MOST:,}. Raise seeds_per_cell, or sweep less.",
            )
            return {}
        seated = dict.fromkeys(seating for row, column in pairs for seating in (("row", row), ("column", column)))
        games: dict[str, tuple[str, ...]] = {}
        for place, spec in specs:
            # One game at a time is in memory: there may be many large ones.
            try:
                key, game = self._game(spec)
                if key in games:
                    continue
                games[key] = self._allowed(metrics, key, game)
            except Exception as error:  # of a file, whatever the system has to say about its name
                self._mistake(place, _reason(error))
                continue
            self._probe(list(seated), key, game, rounds)
        return games

    def _game(self, spec: str) -> tuple[str, Game]:
        path = self.folder / spec
        suffix = Path(spec).suffix.lower()
        if suffix in SUFFIXES or (suffix and path.is_file()):
            return path.as_posix(), read_game(path)
        game = parse_game(spec)
        return game.spec or spec, game

    def _allowed(self, metrics: list[tuple[Place, str]], key: str, game: Game) -> tuple[str, ...]:
        """The metrics to take of a game, in the order of the register: a set has one digest."""
        reasons: dict[str, str | None] = {}  # asked for once: to find out whether an equilibrium is unique takes time
        chosen = set()
        for place, name in metrics:
            for each in METRICS.names if name == "all" else [name]:
                if each not in reasons:
                    reasons[each] = metric_class(each).refusal(game)
                reason = reasons[each]
                if reason is None:
                    chosen.add(each)
                elif name != "all":
                    self._mistake(place, f"not for the game {key}: {reason}")
        return tuple(name for name in METRICS.names if name in chosen)

    def _probe(self, seated: list[tuple[str, str]], key: str, game: Game, rounds: int) -> None:
        """Start every learner in every seat that it takes: what a learner refuses otherwise shows in the run only."""
        refused = set()
        for seat, spec in seated:
            learner, place = self.learners[spec]
            try:
                view = game.own_view("row" if seat == "row" else "column")
                m, k = view.payoff.shape
                reason = learner.refusal(
                    build_seat(learner, [0], (m, k), rounds, view.payoff_range, payoff=view.payoff)
                )
                if reason is not None:
                    raise InputError(reason)
            except Exception as error:  # a learner in a file is anybody's code
                if spec not in refused:  # in both seats for the same reason, mostly
                    self._mistake(place, f"{spec} cannot take the {seat} seat of {key}: {_reason(error)}")
                refused.add(spec)


_ANY_GAME = Game([[0.0]])  # for what depends on the learners alone


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    """A value as TOML has it, as far as that differs from Python.

    >>> _shown(True), _shown("a"), _shown([])
    ('true', "'a'", '[]')
    """
    try:
        return str(value).lower() if isinstance(value, bool) else shorten(value)
    except ValueError:  # Python does not print whole numbers of more than some thousand digits
        return "a number too long to show"


def _reason(error: Exception) -> str:
    """On one line; errors that are not our own with their kind."""
    text = " ".join(str(error).split())
    return text if isinstance(error, InputError) else f"{type(error).__name__}: {text}"


def _written(place: Place) -> str:
    """A place as a reader would write it.

    >>> _written(("match-ups", "pairs", 0, 1))
    'match-ups.pairs[0][1]'
    """
    first, *rest = place
    return _key_text(first) + "".join(f"[{part}]" if isinstance(part, int) else f".{_key_text(part)}" for part in rest)


def _key_text(part: str | int) -> str:
    """A key as it is where TOML needs no quotes for it: others may be empty, or hold line breaks."""
    text = str(part)
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else shorten(text)
