"""A study: many matches over many seeds, built from objects and specs in Python, or read from a file.

A mistake in a file is reported with its line; in Python, with the argument.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from importlib import resources
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coebl.backend import Device, check_device
from coebl.core.errors import InputError
from coebl.core.files import check_path, read_whole
from coebl.engine import Record
from coebl.engine.match import MatchName
from coebl.games import Noise, TensorGame, ZeroSumGame
from coebl.learners import Learner
from coebl.study.cell import Cell
from coebl.study.errors import StudyError, written
from coebl.study.schema import MATCH_UPS, Build
from coebl.study.study_file import as_toml, keep_files, key_lines, line_of, parse_toml, with_device

if TYPE_CHECKING:
    from coebl.study.runner import RunSummary

_MATCH_UPS = {key.replace("-", "_"): key for key in MATCH_UPS}  # arguments of `Study` to keys of a file

EXAMPLE = resources.files("coebl.study").joinpath("example.toml").read_text("utf-8")
"""The text of a commented study file, which `coebl study new` writes."""


@dataclass(frozen=True, init=False)
class Study:
    """Many matches over many seeds, checked when the study is created.

    Lists may hold specs and objects; a list inside a spec is a grid, as in a study file. A class that is in no file can
    be used too: its cells are run in this process, one after the other, unless the class is in a module that other
    processes can import.

    Args:
        name: letters, digits, - _ and ., as the key of a study file.
        games: specs, files, or `Game` and `TensorGame` objects; one without a spec goes by its name.
        learners: specs or `Learner` objects.
        rounds: of every run.
        seeds: how many, or a list, or a mapping with first and count.
        self_play: True for every learner against itself, in all seats, or a list of learners. Without any of these
            five, every learner plays against every learner, itself included.
        all_pairs: True for every ordered pair of different learners, or a list of learners. In a game with more than
            two seats: each learner in each seat, with copies of each other learner in all other seats.
        one_against_all: a learner, or several, in the last seat against every other one in all other seats.
        pairs: pairs of learners, (row, column), for games with two seats.
        players: tuples with a learner for each seat, for games with so many seats; a list of learners in a place is
            each of them.
        noise: a noise or several; by default that of each game.
        until: a condition that ends a run, see `coebl.simulate`; the results have the metric hitting_time.
        record: the rounds at which metrics are kept, see `coebl.simulate`; by default "log", or "last" with until.
        metrics: names, or file.py:Name; or "all".
        keep: ["policies"] for a replay on the page: those of the first seed at a few hundred rounds, on games with a
            matrix of at most 16 actions per player.
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
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict, compare=False)  # of its games
    noises: Mapping[str, str] = field(default_factory=dict)  # the default noise of each game, by its name in results
    files: Mapping[str, bytes] = field(default_factory=dict)  # that it names: path in the results folder to content

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
        metrics: Sequence[str] | str | None = None,
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
        fields = build.fields()
        if build.mistakes:
            raise StudyError([str(mistake) for mistake in build.mistakes], [place for place, _ in build.mistakes])
        self._set(fields, as_toml(contents), build.files)

    def _set(self, fields: Mapping[str, Any], text: str, named: Mapping[str, Path]) -> None:
        kept, files = keep_files(text, named)
        self.__dict__.update(fields, text=kept, files=files)

    def with_(self, **changes: Any) -> Study:
        """Return a copy with changes of some fields, which are not checked again."""
        study = copy(self)
        study.__dict__.update(changes)
        return study

    def run(self, folder: str | Path, **options: Any) -> RunSummary:
        """Run the study into a folder, see `coebl.study.run`.

        Args:
            folder: of the results; it is created, or continued.
            **options: those of `coebl.study.run`.
        """
        from coebl.study.runner import run

        return run(self, check_path("folder", folder), **options)

    def matches(self) -> list[MatchName]:
        """The game and the players of every match, each once.

        >>> Study(games=["rps"], learners=["ucb", "exp3"], seeds=5, self_play=True).matches()
        [('rps', 'ucb', 'ucb'), ('rps', 'exp3', 'exp3')]
        """
        return list(dict.fromkeys(MatchName(cell.game, *cell.players) for cell in self.cells))

    def select(self, matches: Iterable[MatchName], seeds: int | None = None) -> Study:
        """Return the study with fewer cells: those of these matches, and of seeds that are all below a number.

        The cells keep their order and their seeds, so what is run of a selection is found by a run of the whole.

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
    """Arguments of `Study` in the layout of a study file."""
    contents = {key: _as_list(value) for key, value in arguments.items() if key not in _MATCH_UPS}
    match_ups = {_MATCH_UPS[key]: _as_list(value) for key, value in arguments.items() if key in _MATCH_UPS}
    if isinstance(parts := contents.get("parts"), list):
        contents["parts"] = [_as_contents(part) if isinstance(part, Mapping) else part for part in parts]
    return contents | ({"match-ups": match_ups} if match_ups else {})


def _as_list(value: Any) -> Any:
    return [_as_list(inner) for inner in value] if isinstance(value, (list, tuple, range)) else value


# Study files


def read_study(path: str | os.PathLike[str], device: Device | None = None) -> Study:
    """The study in a file.

    Args:
        path: of the file. What it names is looked for next to it.
        device: takes the place of the one that the file names.

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
        kept = with_device(text, contents)
    build = Build(contents, Path(where).parent)
    fields = build.fields()
    if build.mistakes:
        lines = key_lines(text)
        located = sorted(((line_of(lines, place), place, text) for place, text in build.mistakes), key=itemgetter(0))
        mistakes = [
            ", ".join(filter(None, (where, f"line {line}" if line else "", written(place)))) + f": {message}"
            for line, place, message in located
        ]
        raise StudyError(mistakes, [place for _, place, _ in located])
    study: Study = object.__new__(Study)
    study._set(fields, kept, build.files)
    return study
