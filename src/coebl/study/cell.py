"""The cell: one match and one block of seeds, the unit of work, storage and resume."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coebl.backend import Device
from coebl.core.errors import printable
from coebl.core.specs import files_in, inner_files, move_files, split_spec, without_folder
from coebl.engine import Match, Record, Result, simulate
from coebl.games import parse_game

FORMAT = 3  # of the stored files; a change of what they hold, or of what a run is, changes it


@dataclass(frozen=True)
class Cell:
    """What to run, in plain values: it travels to workers and into files as it is.

    >>> cell = Cell("rps", "ucb", "exp3", rounds=100, seeds=(0, 1, 2))
    >>> print(cell)
    rps, ucb v exp3, 100 rounds, seeds 0..2
    >>> cell.run().final("pseudo_regret").shape
    (3,)
    """

    game: str  # a spec, or the path of a game's file
    row: str  # specs of learners, canonical
    column: str  # likewise
    rounds: int  # of every run
    seeds: tuple[int, ...]  # of the runs, increasing
    noise: str | None = None  # None: the game's own
    record: Record = "log"  # at which rounds metrics are kept: see `coebl.simulate`
    metrics: tuple[str, ...] = ("regret", "pseudo_regret")  # names, or path/to/file.py:Name
    device: Device = "cpu"  # where it is run: a seed leads to other runs on another one

    def match(self) -> Match:
        """The match that the cell plays."""
        return Match.of(parse_game(self.game), self.row, self.column, self.rounds, self.noise)

    def run(self, progress: Callable[[int], None] | None = None) -> Result:
        """Play the match once per seed; `progress` is called with the number of rounds done, now and then."""
        return simulate(
            self.match(),
            self.seeds,
            record=self.record,
            metrics=self.metrics,
            progress=progress,
            device=self.device,
        )

    def absolute(self) -> Cell:
        """Return the same cell for a process that may be in another folder: files by their absolute paths."""
        game = os.path.abspath(self.game) if self._game_file() else move_files(self.game, os.path.abspath)
        row, column = (move_files(spec, os.path.abspath) for spec in (self.row, self.column))
        noise = self.noise and move_files(self.noise, os.path.abspath)
        metrics = tuple(move_files(metric, os.path.abspath) for metric in self.metrics)
        return replace(self, game=game, row=row, column=column, noise=noise, metrics=metrics)

    def description(self) -> dict[str, Any]:
        """All that the numbers depend on: files by their content, wherever they lie."""
        game = self._game_file()
        named = {"game": game or split_spec(self.game).file}
        named |= {"row": split_spec(self.row).file, "column": split_spec(self.column).file}
        named |= {Path(file).name: file for spec in (self.game, self.row, self.column) for file in inner_files(spec)}
        named |= {Path(file).name: file for spec in (*self.metrics, self.noise or "") for file in files_in(spec)}
        return {
            "game": Path(game).name if game else without_folder(self.game),
            "row": without_folder(self.row),
            "column": without_folder(self.column),
            "rounds": self.rounds,
            "seeds": list(self.seeds),
            "noise": self.noise and without_folder(self.noise),
            "record": self.record,
            "metrics": [without_folder(metric) for metric in self.metrics],
            "files": {key: _sum_of(file) for key, file in named.items() if file and is_file(file)},
            "format": FORMAT,
            **({} if self.device == "cpu" else {"device": self.device}),  # older cells do not say where they were run
        }

    def _game_file(self) -> str:
        """The file that holds the game's payoffs, or nothing: a file called "rps" does not hide the game."""
        return self.game if Path(self.game).suffix and is_file(self.game) else ""

    def digest(self) -> str:
        """The name under which the cell's results are stored: equal for equal descriptions, anywhere."""
        return digest_of(self.description())

    def __str__(self) -> str:
        first, last, count = self.seeds[0], self.seeds[-1], len(self.seeds)
        seeds = f"seed{'s' * (count > 1)} {first}{f'..{last}' * (count > 1)}"
        some = f" ({count} of them)" * (last - first >= count)
        where = f", on {self.device}" * (self.device != "cpu")
        return printable(f"{self.game}, {self.row} v {self.column}, {self.rounds} rounds, {seeds}{some}{where}")


def device_of(description: Mapping[str, Any]) -> str:
    """Where the cell with this description is run."""
    return str(description.get("device", "cpu"))


def run_files(description: Mapping[str, Any]) -> list[str]:
    """Return the keys of the table "files" of a description that its runs depend on; the others are of metrics."""
    inner = [file for key in ("game", "row", "column") for file in inner_files(description[key])]
    return ["game", "row", "column", *dict.fromkeys([*inner, *files_in(description["noise"] or "")])]


def digest_of(description: Mapping[str, Any]) -> str:
    """The digest of a cell's description."""
    text = json.dumps(description, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _sum_of(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def is_file(name: str) -> bool:
    """Whether a text is the path of a file, whatever else it may be."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # a spec that is longer than any file's name, for instance
        return False
