"""The cell: one match and one block of seeds, the unit of work, storage and resume."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from coebl.engine import Match, Record, Result, simulate
from coebl.games import parse_game

FORMAT = 3  # of the stored files; a change of what they hold, or of what a run is, changes it


@dataclass(frozen=True)
class Cell:
    """What to run, in plain values: it travels to workers and into files as it is."""

    game: str  # a spec, or the path of a game's file
    row: str  # specs of learners, canonical
    column: str
    rounds: int
    seeds: tuple[int, ...]
    noise: str | None = None  # None: the game's own
    record: Record = "log"
    metrics: tuple[str, ...] = ("regret", "pseudo_regret")

    def match(self) -> Match:
        """The match that the cell plays."""
        return Match.of(parse_game(self.game), self.row, self.column, self.rounds, self.noise)

    def run(self, progress: Callable[[int], None] | None = None) -> Result:
        """Play it."""
        return simulate(self.match(), self.seeds, record=self.record, metrics=self.metrics, progress=progress)

    def description(self) -> dict[str, Any]:
        """All that the numbers depend on: files by their content, wherever they lie."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        files = {}
        for field, name in (("game", self.game), ("row", _file(self.row)), ("column", _file(self.column))):
            if name and Path(name).is_file():
                plain[field] = Path(name).name + plain[field].removeprefix(name)
                files[field] = hashlib.sha256(Path(name).read_bytes()).hexdigest()
        return {**plain, "files": files, "format": FORMAT}

    def digest(self) -> str:
        """The name under which the cell's results are stored: equal for equal descriptions, anywhere."""
        return digest_of(self.description())

    def __str__(self) -> str:
        seeds = f"seeds {self.seeds[0]}..{self.seeds[-1]}" if len(self.seeds) > 1 else f"seed {self.seeds[0]}"
        return f"{self.game}, {self.row} v {self.column}, {self.rounds} rounds, {seeds}"


def digest_of(description: Mapping[str, Any]) -> str:
    """The digest of a cell's description."""
    text = json.dumps(description, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def without_folder(spec: str) -> str:
    """A learner's spec, with the name of its file in the place of its path.

    >>> without_folder("some/where/mine.py:Mine:rate=0.2"), without_folder("coebl:c=2")
    ('mine.py:Mine:rate=0.2', 'coebl:c=2')
    """
    file = _file(spec)
    return Path(file).name + spec.removeprefix(file) if file else spec


def _file(spec: str) -> str:
    """The file of a learner's spec, path/to/file.py:Class, or nothing."""
    head = spec.partition(":")[0]
    return head if head.endswith(".py") else ""
