"""What a tournament has measured, as arrays: who earns how much against whom, by game and seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.core.errors import InputError
from coebl.core.specs import split_spec
from coebl.games import parse_game
from coebl.learners.base import Kind
from coebl.study import Results, Runs, Study
from coebl.study.cell import is_file
from coebl.tournament.plan import YARDSTICK


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
    advantage: Floats  # (games, seeds, learners, learners): what the first earns more than the second, over both seats
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
    there, then games on which any match of the others is missing.
    """
    horizons = {cell.game: cell.rounds for cell in study.cells}
    learners = list(dict.fromkeys(cell.row for cell in study.cells if cell.row != YARDSTICK))
    finished = set(results.matches())
    started = {spec for match in finished for spec in match[1:]}
    absent = [spec for spec in learners if _label(spec) not in started]
    learners = [spec for spec in learners if spec not in absent]
    unfinished = [game for game in horizons if not _whole(_label(game), [_label(spec) for spec in learners], finished)]
    games = [game for game in horizons if game not in unfinished]
    if not games or len(learners) < 2:
        raise InputError(
            f"{results.store.folder}: no game has been played by all learners yet; run the tournament again to go on."
        )
    missing = [f"{_label(spec)} is left out: none of its matches is finished" for spec in absent]
    missing += [f"{_label(game)} is left out: not all matches on it are finished" for game in unfinished]
    return _measured(results, learners, {game: horizons[game] for game in games}, missing)


def _whole(game: str, learners: Sequence[str], finished: set[tuple[str, str, str]]) -> bool:
    pairs = [(row, column) for row in learners for column in learners]
    pairs += [pair for one in learners for pair in ((one, YARDSTICK), (YARDSTICK, one))]
    return all((game, *pair) in finished for pair in pairs)


def _measured(results: Results, specs: Sequence[str], games: dict[str, int], missing: Sequence[str]) -> Measured:
    learners = [_label(spec) for spec in specs]
    read = [_Read(results, game, rounds, learners) for game, rounds in games.items()]
    seeds = reduce(np.intersect1d, [one.seeds for one in read])
    if len(seeds) < 2:
        raise InputError(f"{results.store.folder}: the matches have fewer than two seeds in common; run it again.")
    kept = [np.isin(one.seeds, seeds) for one in read]
    kinds = results.kinds()
    return Measured(
        learners=tuple(learners),
        kinds=tuple(kinds[spec] for spec in learners),
        games=tuple(map(_label, games)),
        rounds=tuple(games.values()),
        seeds=seeds,
        advantage=np.stack([one.advantage[keep] for one, keep in zip(read, kept, strict=True)]),
        regret=np.stack([one.regret[keep] for one, keep in zip(read, kept, strict=True)]),
        exploitability=np.stack([one.exploitability[keep] for one, keep in zip(read, kept, strict=True)]),
        microseconds=_microseconds(results, learners),
        missing=tuple(missing),
    )


class _Read:
    """The matches of one game: arrays with the seeds that all of them have on axis 0."""

    def __init__(self, results: Results, game: str, rounds: int, learners: Sequence[str]) -> None:
        low, high = parse_game(game).payoff_range
        unit = (high - low) or 1.0
        name = _label(game)
        lost = {
            (row, column): results.runs(name, row, column, "pseudo_regret")
            for row in (*learners, YARDSTICK)
            for column in (*learners, YARDSTICK)
            if (row, column) != (YARDSTICK, YARDSTICK)
        }
        self.seeds: Ints = reduce(np.intersect1d, [runs.seeds for runs in lost.values()])
        # to the row player: what it lost per round, in units of the payoff range
        row_lost = {pair: self._last(runs) / (rounds * unit) for pair, runs in lost.items()}
        matrix = np.stack([np.stack([row_lost[row, column] for column in learners], -1) for row in learners], -2)
        # The value of the game cancels: the second learner's loss as row is the first one's gain as column.
        self.advantage: Floats = (matrix.swapaxes(1, 2) - matrix) / 2
        # The column player loses what the row player wins.
        self.regret: Floats = np.stack([(row_lost[x, YARDSTICK] - row_lost[YARDSTICK, x]) / 2 for x in learners], -1)
        selves = [results.runs(name, x, x, "exploitability") for x in learners]
        self.exploitability: Floats = np.stack([self._last(runs) for runs in selves], -1) / unit

    def _last(self, runs: Runs) -> Floats:
        """The last recorded value of each seed that all matches have."""
        values: Floats = runs.values[-1, np.isin(runs.seeds, self.seeds)]
        return values


def _microseconds(results: Results, learners: Sequence[str]) -> Floats:
    taken: dict[str, list[float]] = {spec: [] for spec in learners}
    for about in results.metadata():
        rounds = about["description"]["rounds"] * len(about["description"]["seeds"])
        for seat in ("row", "column"):
            if about["labels"][seat] in taken and f"{seat} learner" in about["seconds"]:
                taken[about["labels"][seat]].append(1e6 * about["seconds"][f"{seat} learner"] / rounds)
    return np.array([np.median(times) if times else np.nan for times in taken.values()])


def _label(spec: str) -> str:
    """What results call a game or a learner: files by their names alone."""
    parts = split_spec(spec)
    if parts.file:
        return parts.without_folder
    return Path(spec).name if Path(spec).suffix and is_file(spec) else spec
