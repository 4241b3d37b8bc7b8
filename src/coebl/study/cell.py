"""The cell: one match and one block of seeds, the unit of work, storage and resume."""

from __future__ import annotations

import hashlib
import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coebl.backend import Device
from coebl.core.errors import printable
from coebl.core.specs import files_in, inner_files, move_files, split_spec, without_folder
from coebl.engine import Match, Record, Result, simulate
from coebl.engine.match import MatchKey
from coebl.engine.result import Keep
from coebl.games import Game, GenomeGame, TensorGame, parse_game
from coebl.learners import parse_learner
from coebl.study.record import Description, seat_key


@dataclass(frozen=True)
class Cell:
    """A match and its seeds in plain values, which travel to workers and into files.

    >>> cell = Cell("rps", ("ucb", "exp3"), rounds=100, seeds=(0, 1, 2))
    >>> print(cell)
    rps, ucb v exp3, 100 rounds, seeds 0..2
    >>> cell.run().final("pseudo_regret").shape
    (3,)
    """

    game: str  # a spec, or the path of a game's file
    players: tuple[str, ...]  # canonical specs of learners, in the order of the seats
    rounds: int  # of every run
    seeds: tuple[int, ...]  # of the runs, increasing
    noise: str | None = None  # None: the default of the game
    record: Record = "log"  # the rounds at which metrics are kept: see `coebl.simulate`
    metrics: tuple[str, ...] = ("regret", "pseudo_regret")  # names, or path/to/file.py:Name
    device: Device = "cpu"  # a seed leads to other runs on another device
    objects: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)  # that specs cannot make
    until: str | None = None  # the condition that ends a run before its last round
    keep: tuple[Keep, ...] = ()  # what else to keep of its runs; only a cell of one seed has it

    def match(self) -> Match:
        """The match that the cell plays."""
        players = tuple(parse_learner(self.objects.get(spec, spec)) for spec in self.players)
        noise = self.noise and self.objects.get(self.noise, self.noise)
        return Match(parse_game(self.objects.get(self.game, self.game), noise), players, self.rounds)

    def run(self, progress: Callable[[int], None] | None = None) -> Result:
        """Play the match once per seed; `progress` is called with the number of rounds done."""
        return simulate(
            self.match(),
            self.seeds,
            record=self.record,
            metrics=self.metrics,
            progress=progress,
            device=self.device,
            until=self.until,
            keep=self.keep,
        )

    @property
    def specs(self) -> tuple[str, ...]:
        """All specs of the cell; each may name files."""
        return (self.game, *self.players, self.noise or "", *self.metrics)

    def labels(self, noises: Mapping[str, str] | None = None) -> MatchKey:
        """The match as tables label it; `noises` has the default noise of each game."""
        file = self._game_file()
        game = Path(file).name if file else without_folder(self.game)
        noise = (noises or {}).get(game, "") if self.noise is None else without_folder(self.noise)
        return MatchKey(game, tuple(map(without_folder, self.players)), noise, self.rounds)

    def absolute(self) -> Cell:
        """Return a copy with absolute paths, for a process that may run in another folder."""

        def moved(spec: str) -> str:
            return move_files(spec, os.path.abspath)

        return replace(
            self,
            game=os.path.abspath(self.game) if self._game_file() else moved(self.game),
            players=tuple(map(moved, self.players)),
            noise=self.noise and moved(self.noise),
            metrics=tuple(map(moved, self.metrics)),
        )

    def description(self) -> Description:
        """Everything that the numbers depend on; files are identified by their content, not their paths."""
        named = {"game": self._game_file() or split_spec(self.game).file}
        named |= {seat_key(seat): split_spec(spec).file for seat, spec in enumerate(self.players)}
        named |= {Path(file).name: file for spec in (self.game, *self.players) for file in inner_files(spec)}
        named |= {Path(file).name: file for spec in (*self.metrics, self.noise or "") for file in files_in(spec)}
        labels = self.labels()
        return Description.model_construct(  # whose values need no check
            game=labels.game,
            players=labels.players,
            rounds=self.rounds,
            seeds=tuple(self.seeds),
            noise=labels.noise or None,
            record=self.record,
            metrics=tuple(map(without_folder, self.metrics)),
            files={key: _checksum(file) for key, file in named.items() if file and is_file(file)} | self._sources(),
            device=self.device,
            until=self.until,
            keep=self.keep,
        )

    def _sources(self) -> dict[str, str]:
        """Checksums of the objects that no spec can make."""
        named = {"game": self.game, **{seat_key(seat): spec for seat, spec in enumerate(self.players)}}
        named |= {"noise": self.noise or ""}
        return {key: _source_checksum(self.objects[spec]) for key, spec in named.items() if spec in self.objects}

    def _game_file(self) -> str:
        """The file that holds the game's payoffs, or None; a file called "rps" does not hide the game."""
        return self.game if Path(self.game).suffix and is_file(self.game) else ""

    def digest(self) -> str:
        """The name under which the cell's results are stored."""
        return self.description().digest()

    def __str__(self) -> str:
        first, last, count = self.seeds[0], self.seeds[-1], len(self.seeds)
        seeds = f"seed{'s' * (count > 1)} {first}{f'..{last}' * (count > 1)}"
        some = f" ({count} of them)" * (last - first >= count)
        where = f", on {self.device}" * (self.device != "cpu") + f", with {' and '.join(self.keep)}" * bool(self.keep)
        return printable(f"{self.game}, {' v '.join(self.players)}, {self.rounds} rounds, {seeds}{some}{where}")


def _checksum(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def _source_checksum(value: Any) -> str:
    """A checksum of a game's payoffs, or of the source of an object's class if it is available."""
    if isinstance(value, GenomeGame):
        source = value.fingerprint()
    elif isinstance(value, Game):
        source = f"{value.payoff.tolist()} {value.ranges} {value.noise}"
    elif isinstance(value, TensorGame):
        payoffs = [payoff.tolist() for payoff in value.payoffs]
        source = f"{payoffs} {value.ranges} {value.noise} {value.noise_between}"
    else:
        try:
            source = inspect.getsource(type(value))
        except (OSError, TypeError):
            source = f"{type(value).__module__}.{type(value).__qualname__}"
    return hashlib.sha256(source.encode()).hexdigest()


def is_file(name: str) -> bool:
    """True if a string is the path of a file."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # a spec that is longer than any file's name, for instance
        return False
