"""What a tournament has measured, as arrays: who earns how much against whom, by game and seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.core.errors import InputError
from coebl.core.specs import files_in, without_folder
from coebl.games import parse_game
from coebl.learners.base import Kind
from coebl.study import Results, Study
from coebl.study.cell import is_file
from coebl.study.frames import once
from coebl.study.plan import key_of
from coebl.tournament.plan import TOURNAMENT_METRICS, YARDSTICK


@dataclass(frozen=True)
class Measured:
    """The numbers of a tournament, per round and in units of each game's payoff range.

    All of them are about the same games and seeds for every learner, so that means can be compared.
    """

    learners: tuple[str, ...]
    kinds: tuple[Kind, ...]
    games: tuple[str, ...]
    rounds: tuple[int, ...]  # of each game
    seeds: Ints
    advantage: Floats  # (games, seeds, learners, learners): what the first earns above the value against the second
    regret: Floats  # (games, seeds, learners): what best-response takes from it, the mean of both seats
    exploitability: Floats  # (games, seeds, learners): of the last policies in self-play
    microseconds: Floats  # (learners,): per run and round, the median over matches
    missing: tuple[str, ...] = ()  # what is left out because it is not finished, a sentence for each

    @property
    def against(self) -> Floats:
        """The meta-game: the mean advantage over games and seeds, (learners, learners)."""
        mean: Floats = self.advantage.mean(axis=(0, 1))
        return mean


def measure(study: Study, results: Results) -> Measured:
    """Read the results of a tournament.

    What is not finished is left out so that the rest stays comparable: first learners none of whose matches are
    there, then games on which any match of the others is missing. What the folder has besides the study is not read.
    """
    horizons = {cell.game: cell.rounds for cell in study.cells}
    learners = list(dict.fromkeys(label(cell.players[0]) for cell in study.cells if cell.players[0] != YARDSTICK))
    ends = _Ends(results, study)
    absent = [spec for spec in learners if spec not in ends.learners]
    learners = [spec for spec in learners if spec not in absent]
    pairs = [(row, column) for row in learners for column in learners]
    pairs += [pair for one in learners for pair in ((one, YARDSTICK), (YARDSTICK, one))]
    unfinished = [game for game in horizons if not all((label(game), *pair) in ends for pair in pairs)]
    games = [game for game in horizons if game not in unfinished]
    if not games or len(learners) < 2:
        raise InputError(
            f"{results.store.folder}: no game has been played by all learners yet; run the tournament again."
        )
    seeds = reduce(np.intersect1d, [ends.seeds(label(game), *pair) for game in games for pair in pairs])
    if len(seeds) < 2:
        raise InputError(f"{results.store.folder}: the matches have fewer than two seeds in common; run it again.")
    read = [_OfGame(ends, game, learners, seeds, horizons[game]) for game in games]
    missing = [f"{spec} is left out: none of its matches is finished" for spec in absent]
    missing += [f"{label(game)} is left out: not all matches on it are finished" for game in unfinished]
    asked = {seed for cell in study.cells for seed in cell.seeds}
    if len(seeds) < len(asked):
        missing.append(f"only {len(seeds)} of {len(asked)} seeds are counted: the others are not finished everywhere")
    return Measured(
        learners=tuple(learners),
        kinds=tuple(map(results.kinds().__getitem__, learners)),
        games=tuple(map(label, games)),
        rounds=tuple(horizons[game] for game in games),
        seeds=seeds,
        advantage=np.stack([one.advantage for one in read]),
        regret=np.stack([one.regret for one in read]),
        exploitability=np.stack([one.exploitability for one in read]),
        microseconds=np.array([np.median(ends.times[spec]) for spec in learners]),
        missing=tuple(missing),
    )


class _Ends:
    """The last recorded values of every run that a study asks for and that is there, by match."""

    def __init__(self, results: Results, study: Study) -> None:
        self.learners: set[str] = set()
        self.times: dict[str, list[float]] = {}  # microseconds per run and round, by learner, one per cell and seat
        self._parts: dict[tuple[str, str, str], list[Mapping[str, Floats]]] = {}
        wanted = {key_of(cell.description()) for cell in study.cells}  # with rounds, noise and files
        asked = np.array(sorted({seed for cell in study.cells for seed in cell.seeds}))
        for record in results.records():
            match = record.game, record.players[0], record.players[1]
            if key_of(record.description) not in wanted or not set(TOURNAMENT_METRICS) <= set(record.metrics):
                continue
            columns, _ = results.store.columns(record.digest, TOURNAMENT_METRICS, last=True)
            kept = np.isin(columns["seed"], asked)
            last = {metric: columns[metric][-1, kept] for metric in TOURNAMENT_METRICS}
            part = {"seed": columns["seed"][kept], **last}
            self._parts.setdefault(match, []).append(part)
            self.learners |= set(match[1:])
            for seat, learner in zip(("row", "column"), record.players, strict=True):
                each = 1e6 * record.seconds.get(f"{seat} learner", np.nan) / len(columns["seed"])
                self.times.setdefault(learner, []).append(each / record.rounds)
        results.store.remember()

    def __contains__(self, match: object) -> bool:
        return match in self._parts

    def seeds(self, game: str, row: str, column: str) -> Ints:
        """The seeds of a match."""
        return np.unique(np.concatenate([part["seed"] for part in self._parts[game, row, column]])).astype(np.int64)

    def of(self, game: str, row: str, column: str, metric: str, seeds: Ints) -> Floats:
        """A metric of a match for these seeds, which it has; blocks of seeds may overlap."""
        parts = self._parts[game, row, column]
        values = np.concatenate([part[metric] for part in parts])
        run_seeds = np.concatenate([part["seed"] for part in parts]).astype(np.int64)
        found, first = once(run_seeds, values[None], f"{game}, {row} v {column}", metric)
        kept: Floats = values[first][np.isin(found, seeds)]
        return kept


class _OfGame:
    """The matches of one game: arrays with the seeds on axis 0."""

    def __init__(self, ends: _Ends, game: str, learners: Sequence[str], seeds: Ints, rounds: int) -> None:
        low, high = parse_game(game).payoff_range
        unit = (high - low) or 1.0
        name = label(game)

        def lost(row: str, column: str) -> Floats:
            """What the row player lost per round, in units of the payoff range."""
            return ends.of(name, row, column, "pseudo_regret", seeds) / (rounds * unit)

        matrix = np.stack([np.stack([lost(row, column) for column in learners], -1) for row in learners], -2)
        # The value of the game cancels: the second learner's loss as row is the first one's gain as column.
        self.advantage: Floats = (matrix.swapaxes(1, 2) - matrix) / 2
        # The column player loses what the row player wins.
        self.regret: Floats = np.stack([(lost(one, YARDSTICK) - lost(YARDSTICK, one)) / 2 for one in learners], -1)
        selves = [ends.of(name, one, one, "exploitability", seeds) for one in learners]
        self.exploitability: Floats = np.stack(selves, -1) / unit


def label(spec: str) -> str:
    """What results call a game or a learner: files by their names alone."""
    if files_in(spec):
        return without_folder(spec)
    return Path(spec).name if Path(spec).suffix and is_file(spec) else spec
