"""The study file: many matches over many seeds, described in TOML. `EXAMPLE` shows the keys.

Keys at the top level hold for the whole study. With tables [[parts]] they are defaults, and each part may set its own:
the cells of the study are those of all parts, each once. All mistakes of a file are reported at once, each with its
line, so that a file is repaired in one go.
"""

from __future__ import annotations

import itertools
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coebl.backend import Device, check_device
from coebl.core.errors import InputError, nearest
from coebl.core.files import read_whole
from coebl.engine.match import MOST_ROUNDS
from coebl.study.cell import Cell
from coebl.study.checks import GameChecks
from coebl.study.kept_files import keep_files
from coebl.study.lines import Place
from coebl.study.match_ups import MATCH_UPS, MatchUps
from coebl.study.reading import ACCEPTED, Files, Keys, Mistakes, parse_toml
from coebl.study.sweep import MOST

EXAMPLE = """\
# A study: many matches over many seeds. Lists inside a spec stand for a grid: coebl:c=[2,8] is two learners.

name = "example"           # letters, digits, - _ .
rounds = 500               # of every run
seeds = 10                 # 0 .. 9; or a list such as [3, 5, 8]; or { first = 100, count = 10 }
# seeds_per_cell = 5       # how many are run and stored together; default 50; smaller cells take longer
# device = "cuda"          # run it on a graphics processor; by default on the cpu

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

_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_TITLE = r"[^\x00-\x1f\x7f]{1,200}"
_DESCRIPTION = r".+"

_TOP_ONLY = ("name", "title", "description", "device", "parts")
_IN_PARTS = tuple(key for key in ACCEPTED if key not in _TOP_ONLY)
_REQUIRED = ("rounds", "seeds", "games", "match-ups")

MatchName = tuple[str, str, str]  # the game, then the players


@dataclass(frozen=True)
class Study:
    """What a study file asks for."""

    name: str  # its key `name`
    cells: tuple[Cell, ...]  # what to run
    text: str  # of the file, to be kept with the results: it refers to the files that are kept there
    title: str = ""  # its key `title`, or nothing
    description: str = ""  # its key `description`, or nothing
    shapes: Mapping[str, tuple[int, int]] = field(default_factory=dict, compare=False)  # of its games
    noises: Mapping[str, str] = field(default_factory=dict)  # the own noise of each game, by what results call the game
    files: Mapping[str, bytes] = field(default_factory=dict)  # that it names: path in the results folder to content

    def matches(self) -> list[MatchName]:
        """Game, row learner and column learner of every match, each once.

        >>> parse_study(EXAMPLE).matches()[:2]
        [('rps', 'coebl:c=2', 'coebl:c=2'), ('rps', 'coebl', 'coebl')]
        """
        return list(dict.fromkeys((cell.game, cell.players[0], cell.players[1]) for cell in self.cells))

    def select(self, matches: Iterable[MatchName], seeds: int | None = None) -> Study:
        """The same study with fewer cells: those of these matches, and of seeds that are all below a number.

        The cells keep their order and their seeds, so what is run of a selection is found by a run of the whole.

        >>> study = parse_study(EXAMPLE)
        >>> [str(cell) for cell in study.select([("rps", "ucb", "exp3")]).cells]
        ['rps, ucb v exp3, 500 rounds, seeds 0..9']
        """
        wanted = {tuple(match) for match in matches}
        for game, row, column in sorted(wanted.difference(self.matches())):
            raise InputError(f"the study {self.name} has no match {row} v {column} on {game}; see its matches().")
        cells = (
            cell
            for cell in self.cells
            if (cell.game, *cell.players) in wanted and (seeds is None or max(cell.seeds) < seeds)
        )
        return replace(self, cells=tuple(cells))


class StudyError(InputError):
    """All that is wrong with a study file, a line for each mistake.

    Args:
        mistakes: one line each, with file and line.

    >>> try:
    ...     parse_study(EXAMPLE.replace("rps", "rpz").replace("ucb", "ubc"))
    ... except StudyError as error:
    ...     print(error.mistakes[0])
    study.toml, line 10, games[0]: unknown game 'rpz': did you mean 'rps'? See: coebl list games
    """

    def __init__(self, mistakes: Sequence[str]) -> None:
        super().__init__(list(mistakes))
        self.mistakes = list(mistakes)

    def __str__(self) -> str:
        return "\n".join(self.mistakes)


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
        text = read_whole(path, pipes=True).decode("utf-8-sig")  # some editors put a mark in front
    except UnicodeDecodeError as error:
        raise StudyError([f"{path}: byte {error.start} is not UTF-8. Save the file as UTF-8."]) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise StudyError([f"{path}: {reason}; accepted: a study file. For an example: coebl study new"]) from None
    return parse_study(text, str(path), device)


def parse_study(text: str, where: str = "study.toml", device: Device | None = None) -> Study:
    """The study that a text describes. Files that it names are relative to the file `where`.

    A device takes the place of the one that the text names.

    >>> study = parse_study(EXAMPLE)
    >>> len(study.cells)
    24
    >>> print(study.cells[0])
    rps, coebl:c=2 v coebl:c=2, 500 rounds, seeds 0..9
    """
    try:
        contents = parse_toml(text, where)
    except InputError as error:
        raise StudyError([str(error)]) from None
    kept = text
    if device is not None and check_device(device) != contents.get("device", "cpu"):
        contents["device"] = device
        kept = _with_device(text, contents)
    reading = _Reading(contents, text, where)
    study = reading.study()
    kept, files = keep_files(kept, reading.files.named)
    return replace(study, text=kept, noises=reading.checks.noises, files=files)


def _with_device(text: str, contents: Mapping[str, Any]) -> str:
    """The text of a study with the device of its contents, so that what is kept says where it was run."""
    line = f'device = "{contents["device"]}"'
    for changed in (re.sub(r"^device[ \t]*=.*$", line, text, count=1, flags=re.MULTILINE), f"{line}\n{text}"):
        with suppress(ValueError):  # the key twice
            if tomllib.loads(changed) == contents:
                return changed
    return text


class _Reading:
    """One reading of a file: what is wrong with it is collected, and reported at the end."""

    def __init__(self, contents: dict[str, Any], text: str, where: str) -> None:
        self.contents = contents
        self.text = text
        self.mistakes = Mistakes(where, text)
        self.files = Files(Path(where).parent)
        self.checks = GameChecks(self.mistakes, self.files)
        self.cells = 0  # how many have been asked for

    def study(self) -> Study:
        """The study, or all mistakes."""
        top = Keys(self.contents, self.mistakes)
        hints = self._check_keys(self.contents, (), ACCEPTED)
        self._require(("name",), self.contents, (), hints)
        name, title = top.text("name", _NAME), top.text("title", _TITLE)
        description = top.text("description", _DESCRIPTION)
        cells: dict[Cell, None] = {}
        for part in self._parts(top, hints):
            cells |= dict.fromkeys(self._cells(part))
        if self.mistakes:
            raise StudyError(self.mistakes.in_order())
        return Study(name, tuple(cells), self.text, title, description, self.checks.shapes)

    def _parts(self, top: Keys, hints: str) -> Iterator[Keys]:
        """The keys of every part; without parts, the whole file is one."""
        tables = self.contents.get("parts")
        if tables is None:
            self._require(_REQUIRED, self.contents, (), hints)
            yield top
            return
        if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
            top.refuse("parts")
            return
        defaults = {key: value for key, value in self.contents.items() if key in (*_IN_PARTS, "device")}
        for index, table in enumerate(tables):
            place: Place = ("parts", index)
            hints = self._check_keys(table, place, _IN_PARTS)
            self._require(_REQUIRED, defaults | table, place, hints)
            yield Keys(table, self.mistakes, place, defaults)

    def _check_keys(self, table: dict[str, Any], place: Place, accepted: Iterable[str]) -> str:
        """Refuse unknown keys; return the hints that were given, so that one slip of the keyboard is one mistake."""
        hints = ""
        for key in table:
            at = (*place, key)
            if key in MATCH_UPS:
                hints += "'match-ups'"
                header = "[parts.match-ups]" if place else "[match-ups]"
                self.mistakes.add(at, f"unknown key {key!r} here: it belongs under {header}. Move it there.")
            elif key in _TOP_ONLY and place:
                self.mistakes.add(at, f"unknown key {key!r} here: it belongs above [[parts]]. Move it there.")
            elif key not in accepted:
                hint = nearest(key, accepted)
                hints += hint
                self.mistakes.add(at, f"unknown key {key!r}{hint} Accepted: {', '.join(accepted)}.")
        return hints

    def _require(self, keys: Iterable[str], table: dict[str, Any], place: Place, hints: str) -> None:
        where = " here or at the top" if place else ""
        for key in keys:
            if key not in table and repr(key) not in hints:
                self.mistakes.add(place, f"there is no key {key!r}{where}; accepted: {ACCEPTED[key]}. Add it.")

    def _cells(self, keys: Keys) -> Iterator[Cell]:
        """The cells of a part."""
        rounds, device = keys.whole("rounds", MOST_ROUNDS), keys.device()
        blocks, noises, record, metrics = keys.blocks(), keys.noises(self.files), keys.record(), keys.metrics()
        match_ups = MatchUps(keys, self.files)
        if "games" not in keys:
            return
        # A file's name may hold brackets of its own, and expand leaves those alone.
        specs = keys.specs(keys.get("games"), keys.place("games"), ACCEPTED["games"])
        each = len(noises) * len(match_ups.pairs) * len(blocks)
        self.cells += len(specs) * each
        if self.cells > MOST:
            self.mistakes.add(
                (),
                f"this study has {self.cells:,} cells, {len(specs):,} games of {each:,} among them; accepted: at most "
                f"{MOST:,}. Raise seeds_per_cell, or sweep less.",
            )
            return
        games = self.checks.check(specs, metrics, match_ups, rounds)
        pairs = match_ups.pairs
        for (game, allowed), noise, pair, block in itertools.product(games.items(), noises, pairs, blocks):
            yield Cell(game, pair, rounds, block, noise, record, allowed, device)
