"""The cell: one match and one block of seeds, the unit of work, storage and resume."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coebl.backend import Device
from coebl.core.errors import printable
from coebl.core.specs import split_spec
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

    def description(self) -> dict[str, Any]:
        """All that the numbers depend on: files by their content, wherever they lie."""
        game = self._game_file()
        named = {"game": game or split_spec(self.game).file}
        named |= {"row": split_spec(self.row).file, "column": split_spec(self.column).file}
        others = (*self.metrics, self.noise or "")
        named |= {Path(file).name: file for file in (split_spec(spec).file for spec in others)}
        return {
            "game": Path(game).name if game else split_spec(self.game).without_folder,
            "row": split_spec(self.row).without_folder,
            "column": split_spec(self.column).without_folder,
            "rounds": self.rounds,
            "seeds": list(self.seeds),
            "noise": self.noise and split_spec(self.noise).without_folder,
            "record": self.record,
            "metrics": [split_spec(metric).without_folder for metric in self.metrics],
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
