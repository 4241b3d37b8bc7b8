"""Reading a study file: the keys with their places, plain values, lists of specs, and every mistake with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coebl.backend import DEVICES, Device
from coebl.core.errors import InputError, nearest, shorten
from coebl.core.specs import move_files, split_spec
from coebl.engine import Record
from coebl.engine.match import MOST_ROUNDS
from coebl.engine.simulate import MOST_SEEDS
from coebl.games import parse_noise
from coebl.metrics import METRICS
from coebl.study.cell import Cell
from coebl.study.lines import Place, key_lines, too_deep
from coebl.study.sweep import MOST, expand

_MOST_SEED = 2**63 - 1  # results keep seeds as 64-bit numbers
_SEED_KEYS = ("first", "count")
_SEEDS_PER_CELL = {"cpu": 50, "cuda": 1000}  # a graphics processor is idle with fewer

ACCEPTED = {
    "name": 'letters, digits, - _ and ., a letter or digit first, such as "my-study"',
    "title": "a text on one line",
    "description": "a text",
    "rounds": f"an integer, 1 .. {MOST_ROUNDS:,}",
    "seeds": f"how many, 1 .. {MOST_SEEDS:,}; or a list such as [3, 5, 8]; or {{ first = 100, count = 50 }}",
    "seeds_per_cell": f"an integer, 1 .. {MOST_SEEDS:,}",
    "games": 'a list of games, such as ["rps", "diagonal:n=[2,3]", "my-game.csv"]',
    "learners": 'a list of learners, such as ["coebl:c=[2,8]", "ucb"]',
    "noise": 'a noise such as "gaussian:sigma=1", or a list of them',
    "device": f"{' or '.join(DEVICES)}, where to run it",
    "record": '"all", "log", "last", or a number k >= 1, for every k-th round',
    "metrics": f"a list of metrics, out of {', '.join(METRICS.names)}, all; or file.py:Name",
    "match-ups": "a table [match-ups] with self-play, all-pairs, one-against-all or pairs",
    "parts": "tables [[parts]], each with keys of its own",
}
SpecAt = tuple[Place, str]  # a spec, with the place where it is written


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Return the contents of a TOML file; what is not TOML, or is nested too deep to be read, is one line."""
    try:
        if too_deep(text):
            raise RecursionError
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(_toml_mistake(text, where, error)) from None


def _toml_mistake(text: str, where: str, error: Exception) -> str:
    """One line, with line and column, for what is not TOML."""
    if isinstance(error, RecursionError):
        return f"{where}: this is not TOML that can be read: it is nested too deep."
    if Path(where).suffix not in ("", ".toml"):
        return f"{where}: this is not a study file, which is TOML. For an example: coebl study new"
    reason, _, position = str(error).partition(" (at ")
    at = position.rstrip(")")
    if at == "end of document":
        lines = text.rstrip("\n").split("\n")
        at = f"line {len(lines)}, column {len(lines[-1]) + 1}"
    # By far the most frequent slip, and tomllib's own words do not name it.
    repair = " Texts need quotes, and true and false small letters." if reason == "Invalid value" else ""
    return f"{where}{', ' if at else ''}{at}: this is not TOML: {reason}.{repair}"


class Mistakes:
    """What is wrong with a study file, each mistake once, however many parts meet it."""

    def __init__(self, where: str, text: str) -> None:
        self.where = where
        self._lines = key_lines(text)
        self._found: dict[str, int] = {}  # message to line, 0 where there is none

    def __len__(self) -> int:
        return len(self._found)

    def add(self, place: Place, message: str) -> None:
        """Note a mistake with the line of the place, or of the innermost key around it that has one."""
        line = next((self._lines[place[:k]] for k in range(len(place), 0, -1) if place[:k] in self._lines), 0)
        parts = [self.where, *([f"line {line}"] if line else []), *([written(place)] if place else [])]
        self._found.setdefault(f"{', '.join(parts)}: {message}", line)

    def refuse(self, place: Place, value: Any, accepted: str) -> None:
        """Note that a value is not one of those that are accepted."""
        self.add(place, f"this is {_shown(value)}; accepted: {accepted}.")

    def in_order(self) -> list[str]:
        """All mistakes by line; those of one line in the order in which they were found."""
        return sorted(self._found, key=self._found.__getitem__)


class Files:
    """The files that a study names: relative to its own, and known in the results by their names alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._by_name: dict[str, Path] = {}
        self.named: dict[str, Path] = {}  # the paths of all files, by what the study calls them

    def path(self, name: str) -> Path:
        """Where a file of this name would be."""
        return self._folder / name

    def checked(self, name: str) -> Path:
        """The same path; an InputError if another file that the study names is called the same."""
        path = self.path(name)
        first = self._by_name.setdefault(path.name, path)
        if first.resolve() != path.resolve():
            raise InputError(
                f"{path} and {first} have the same name, and results know files by their names; rename one of them."
            )
        self.named[name] = path
        return path

    def placed(self, spec: str) -> str:
        """A spec with the paths of the files that it names, if it names any, as seen from here."""
        return move_files(spec, lambda file: self.checked(file).as_posix())


class Keys:
    """The keys of a study file, or of one of its parts: what a part does not set, the top level does.

    After a mistake the methods return something harmless: no study is made of it.
    """

    def __init__(
        self, own: dict[str, Any], mistakes: Mistakes, place: Place = (), defaults: dict[str, Any] | None = None
    ) -> None:
        self._own = own
        self._defaults = defaults or {}
        self._at = place
        self.mistakes = mistakes

    def __contains__(self, key: str) -> bool:
        return key in self._own or key in self._defaults

    def place(self, key: str) -> Place:
        """Where the value of a key is written."""
        return (key,) if key in self._defaults and key not in self._own else (*self._at, key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, as TOML has it."""
        return self._own.get(key, self._defaults.get(key, default))

    def refuse(self, key: str) -> None:
        """Note that the value of a key is not accepted."""
        self.mistakes.refuse(self.place(key), self.get(key), ACCEPTED[key])

    # Plain values

    def text(self, key: str, pattern: str) -> str:
        """A text that the pattern describes, or nothing if the key is not there."""
        text = self.get(key, "")
        if isinstance(text, str) and (re.fullmatch(pattern, text, re.DOTALL) or key not in self):
            return text
        self.refuse(key)
        return ""

    def whole(self, key: str, most: int, default: int = 1) -> int:
        """An integer from 1 to `most`."""
        value = self.get(key, default)
        if _is_whole(value) and 1 <= value <= most:
            return int(value)
        self.refuse(key)
        return default

    def record(self) -> Record:
        """At which rounds metrics are kept."""
        record = self.get("record", "log")
        if record in ("all", "log", "last") or (_is_whole(record) and record >= 1):
            checked: Record = record
            return checked
        self.refuse("record")
        return "log"

    def device(self) -> Device:
        """Where the study is run."""
        device = self.get("device", "cpu")
        for known in DEVICES:
            if device == known:
                return known
        self.refuse("device")
        return "cpu"

    # Seeds

    def blocks(self) -> list[tuple[int, ...]]:
        """The seeds, cell by cell."""
        seeds, size = self._seeds(), self.whole("seeds_per_cell", MOST_SEEDS, default=_SEEDS_PER_CELL[self.device()])
        return [tuple(seeds[first : first + size]) for first in range(0, len(seeds), size)]

    def _seeds(self) -> Sequence[int]:
        seeds = self.get("seeds", 1)
        if isinstance(seeds, list) and seeds:
            return self._listed_seeds(seeds)
        if isinstance(seeds, dict):
            return self._range_of_seeds(seeds)
        if _is_whole(seeds) and 1 <= seeds <= MOST_SEEDS:
            return range(seeds)
        self.refuse("seeds")
        return range(1)

    def _listed_seeds(self, seeds: list[Any]) -> Sequence[int]:
        place, mistakes = self.place("seeds"), self.mistakes
        good: dict[int, None] = {}
        for index, seed in enumerate(seeds):
            if not (_is_whole(seed) and 0 <= seed <= _MOST_SEED):
                mistakes.refuse((*place, index), seed, "integers, >= 0 and below 2^63")
            elif seed in good:
                mistakes.add((*place, index), f"the seed {seed} is given twice; accepted: each once. Take one out.")
            else:
                good[seed] = None
        if len(good) > MOST_SEEDS:
            mistakes.add(place, f"these are {len(good):,} seeds; accepted: at most {MOST_SEEDS:,}.")
        return sorted(good)  # in whatever order they are listed, the cells are the same

    def _range_of_seeds(self, seeds: dict[str, Any]) -> Sequence[int]:
        place, mistakes = self.place("seeds"), self.mistakes
        before = len(mistakes)
        for key in seeds:
            if key not in _SEED_KEYS:
                mistakes.add((*place, key), f"unknown key {key!r}{nearest(key, _SEED_KEYS)} Accepted: first, count.")
        for key, least, most in (("first", 0, _MOST_SEED - MOST_SEEDS), ("count", 1, MOST_SEEDS)):
            if key not in seeds:
                mistakes.add(place, f"there is no {key!r}; accepted: {{ first = 100, count = 50 }}. Add it.")
            elif not (_is_whole(seeds[key]) and least <= seeds[key] <= most):
                mistakes.refuse((*place, key), seeds[key], f"an integer, {least} .. {most:,}")
        if len(mistakes) > before:
            return range(1)
        return range(seeds["first"], seeds["first"] + seeds["count"])

    # Specs

    def specs(self, value: Any, place: Place, accepted: str) -> list[SpecAt]:
        """The specs of a list, after expansion."""
        if not isinstance(value, list):
            self.mistakes.refuse(place, value, accepted)
            return []
        if not value:
            self.mistakes.add(place, f"this list is empty; accepted: {accepted}. Put at least one in.")
        specs = []
        for index, spec in enumerate(value):
            specs += self.expanded(spec, (*place, index), accepted)
        if len(specs) > MOST:
            self.mistakes.add(place, f"these are {len(specs):,} in all; accepted: at most {MOST:,}. Sweep less.")
            return []
        return specs

    def one_or_more(self, value: Any, place: Place, accepted: str) -> list[SpecAt]:
        """The specs of a list, or of a single spec."""
        read = self.specs if isinstance(value, list) else self.expanded
        return read(value, place, accepted)

    def expanded(self, spec: Any, place: Place, accepted: str) -> list[SpecAt]:
        """The specs that one spec stands for."""
        if not isinstance(spec, str) or not spec.strip():
            self.mistakes.refuse(place, spec, accepted)
            return []
        try:
            return [(place, each) for each in expand(spec.strip())]
        except InputError as error:
            self.mistakes.add(place, str(error))
            return []

    def noises(self, files: Files) -> list[str | None]:
        """Canonical specs of noise; None stands for the game's own."""
        if "noise" not in self:
            return [None]
        noises: dict[str | None, None] = {}
        for at, spec in self.one_or_more(self.get("noise"), self.place("noise"), ACCEPTED["noise"]):
            try:
                noises[str(parse_noise(files.placed(spec)))] = None
            except InputError as error:
                self.mistakes.add(at, str(error))
        return list(noises)

    def metrics(self) -> list[SpecAt]:
        """The names of metrics, "all" among them, and file.py:Name."""
        place = self.place("metrics")
        metrics = self.get("metrics", list(Cell.metrics))
        if metrics == "all":
            return [(place, "all")]
        if not isinstance(metrics, list) or not metrics:
            self.refuse("metrics")
            return []
        names: list[SpecAt] = []
        for index, name in enumerate(metrics):
            at = (*place, index)
            if not isinstance(name, str):
                self.mistakes.refuse(at, name, ACCEPTED["metrics"])
            elif name not in METRICS and name != "all" and not split_spec(name).file:
                accepted = f"{', '.join(METRICS.names)}, all; or file.py:Name"
                self.mistakes.add(at, f"unknown metric {name!r}{nearest(name, METRICS.names)} Accepted: {accepted}.")
            else:
                names.append((at, name))
        return names


def written(place: Place) -> str:
    """A place as a reader would write it.

    >>> written(("match-ups", "pairs", 0, 1))
    'match-ups.pairs[0][1]'
    """
    first, *rest = place
    return _key_text(first) + "".join(f"[{part}]" if isinstance(part, int) else f".{_key_text(part)}" for part in rest)


def _key_text(part: str | int) -> str:
    """A key as it is where TOML needs no quotes for it: others may be empty, or hold line breaks."""
    text = str(part)
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else shorten(text)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    """A value as TOML has it, as far as that differs from Python.

    >>> _shown(True), _shown("a"), _shown([])
    ('true', "'a'", '[]')
    """
    return str(value).lower() if isinstance(value, bool) else shorten(value)
