"""The time that a study takes: an estimate in advance, with the disk space, and its progress while it runs.

The estimate comes from short samples of the matches that make up most of the work. A sample is played with few runs, on
a small game in place of a large one. The costs that the learners declare extend the samples to the whole study, and are
used alone where nothing could be measured. So an estimate takes seconds, however large the study is.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Self

import numpy as np
from rich import progress as rich_progress
from rich.console import Console

from coebl.core.text import duration
from coebl.engine import Match, simulate
from coebl.engine.simulate import count_recorded
from coebl.games import Game
from coebl.study.cell import Cell
from coebl.study.studies import Study
from coebl.study.workers import EnoughError, LateError, cores, within

_ROUND = 100.0  # microseconds of overhead per round, in any game
_SOLVE = 0.002  # microseconds to solve a large game of m by n actions once, per (m n)^1.5
_BOX = 4.0  # seconds in which all samples are played
_SAMPLE = 0.2  # seconds after which a sample ends
_BLOCK = 0.02  # seconds that a block of a sample should take, by the learners' costs
_MOST_BLOCK = 64  # rounds of such a block
_MOST_ACTIONS = 64  # of a game in a sample; a larger game is replaced by one of this size
_MEASURED, _EXTENDED, _DECLARED = 2.0, 4.0, 10.0  # factors by which an estimate may be off, either way
_STARTING = 2.0  # seconds to start the worker processes
_STORING = 0.006  # seconds that the parent needs for each cell, while the others work

_MOST_LINES = 5  # printed while the study runs
LINE_INTERVAL = 10.0  # seconds between the lines in a log
_IDLE = 30.0  # seconds after which a line is printed even if no cell has ended
_SOON, _ENOUGH, _LATE = 5.0, 0.05, 60.0  # seconds, share of the work, seconds: see `TimeLeft`


class TimeEstimate(NamedTuple):
    """The seconds that a study takes, between two ends, and the source of the estimate."""

    low: float
    high: float
    source: str  # in words


def work_of(cell: Cell) -> float:
    """Return the approximate microseconds that a cell takes."""
    return cell.rounds * (_ROUND + len(cell.seeds) * cell.cost)


def declared_range(match: Match, runs: int) -> tuple[float, float]:
    """Return the least and the most seconds that a match takes, by the costs that its learners declare."""
    seconds = 1e-6 * match.rounds * (_ROUND + runs * match.cost())
    return seconds / _DECLARED, seconds * _DECLARED


def estimate(study: Study, workers: int | None = None) -> TimeEstimate:
    """Estimate the time of a study from some rounds of the matches that make up most of it."""
    cells_by_setting: dict[tuple[object, ...], list[Cell]] = {}
    for cell in study.cells:
        cells_by_setting.setdefault((cell.game, cell.players, len(cell.seeds), cell.rounds), []).append(cell)
    groups = sorted(cells_by_setting.values(), key=lambda cells: work_of(cells[0]) * len(cells), reverse=True)
    seconds = _samples(cells[0] for cells in groups)
    declared = sum(map(work_of, seconds))
    ratio = sum(seconds.values()) / declared if declared else 1e-6  # measured seconds per declared microsecond
    low = high = longest = 0.0
    for cells in groups:
        first = cells[0]
        time_of_cell, off = seconds.get(first, work_of(first) * ratio), _EXTENDED if seconds else _DECLARED
        if _is_small(first):
            off = _MEASURED if first in seconds else off
        else:
            time_of_cell += 1e-6 * _SOLVE * math.prod(first.shape) ** 1.5  # each cell solves its game once
        low += len(cells) * time_of_cell / off
        high += len(cells) * time_of_cell * off
        longest = max(longest, time_of_cell * off)
    processes = min(workers or cores(), len(study.cells))
    storing = _STORING * len(study.cells)
    source = "measured on short samples"
    if not seconds:
        source = "by the costs that the learners declare, since nothing could be measured"
    elif any(cells[0] not in seconds or not _is_small(cells[0]) for cells in groups):
        source = "in part measured, in part by the costs that the learners declare"
    return TimeEstimate(
        _STARTING + max(low / processes, storing), _STARTING + max(high / processes, longest, storing), source
    )


def _is_small(cell: Cell) -> bool:
    """Return True if the game itself is sampled: with genomes or more than two seats, no matrix is solved."""
    if max(cell.shape) <= _MOST_ACTIONS or len(cell.shape) > 2:
        return True
    return any("indices" not in learner.plays for learner in cell.learners())


def _samples(cells: Iterable[Cell]) -> dict[Cell, float]:
    """Return the measured seconds of as many cells as the time for samples allows; failing cells are left out."""
    seconds: dict[Cell, float] = {}
    ends = time.perf_counter() + _BOX
    with suppress(LateError), within(_BOX):
        for cell in cells:
            if time.perf_counter() >= ends:
                break
            with suppress(Exception, SystemExit):  # an error of user code, perhaps; the run will report it
                seconds[cell] = _seconds(cell, ends)
    return seconds


def _seconds(cell: Cell, ends: float) -> float:
    """Return the seconds of a cell, from a sample of its fixed cost and its cost per round."""
    small = _is_small(cell)
    sample = cell.shape if small else tuple(min(own, _MOST_ACTIONS) for own in cell.shape)
    random = np.random.default_rng(0)
    match = cell.match() if small else Match(Game(random.uniform(-1, 1, sample)), cell.learners(), cell.rounds)
    cost = match.cost()
    seeds = cell.seeds[: max(1, int(1e6 * _BLOCK / cost))]
    declared = _ROUND + len(seeds) * cost
    block = max(1, min(cell.rounds // 2, _MOST_BLOCK, int(1e6 * _BLOCK / declared)))
    marks: list[tuple[int, float]] = []
    started = time.perf_counter()

    def mark(rounds: int) -> None:
        now = time.perf_counter()
        marks.append((rounds, now))
        if now >= ends or (len(marks) > 1 and now - started >= _SAMPLE):
            raise EnoughError

    metrics = cell.measures() if small else ["regret", "pseudo_regret"]
    with suppress(EnoughError):
        simulate(match, seeds, record="last", metrics=metrics, block_rounds=block, progress=mark)
    (first, began), (last, ended) = marks[0], marks[-1]
    a_round = (ended - began) / (last - first) if last > first else (began - started) / first
    scale = (_ROUND + len(cell.seeds) * cell.cost) / declared
    return max(0.0, began - started - a_round * first) + cell.rounds * a_round * scale


def disk_use(study: Study) -> int:
    """Return the approximate size of the results in bytes: eight per number, which zstd hardly reduces."""
    total = 0
    for cell in study.cells:
        recorded = count_recorded(cell.record, cell.rounds)
        total += 4000 + recorded * len(cell.seeds) * (8 * len(cell.metrics) + 2)
    return total


# While it runs


def open_bar(text: str = "", total: float | None = None, **options: Any) -> rich_progress.Progress | None:
    """Return a progress bar with a label, not started yet; None if stderr is not a terminal."""
    if not sys.stderr.isatty():
        return None
    columns = rich_progress.BarColumn(bar_width=20), rich_progress.TextColumn("{task.description}", markup=False)
    bar = rich_progress.Progress(*columns, rich_progress.TimeElapsedColumn(), console=Console(stderr=True), **options)
    bar.add_task(text, total=total)
    return bar


class TimeLeft:
    """The time left, in words, from the share of the work that is done; an empty string until it is reliable.

    Processes take seconds to start, and the first rounds are the slowest. So the clock starts when the first work is
    seen, and the estimate begins after some seconds with a share of the work done; for long work, after a minute.
    """

    def __init__(self) -> None:
        self._first: tuple[float, float] | None = None  # the time when work was first seen, and its share

    def __call__(self, share: float) -> str:
        """Return the time left, to append to a message."""
        if self._first is None and share:
            self._first = time.monotonic(), share
        since, before = self._first or (0.0, share)
        elapsed, more = time.monotonic() - since, share - before
        if share >= 1 or more <= 0 or elapsed < _SOON or (more < _ENOUGH and elapsed < _LATE):
            return ""
        return f", about {duration((1 - share) * elapsed / more)} left"


class Progress:
    """Counts cells and rounds, and shows them with the time left: a bar on a terminal, an occasional line in a log."""

    def __init__(self, found: int, works: Sequence[float], shares: Any, quiet: bool = False) -> None:
        """Begin to count: `works` has the work of each cell, and `shares` the share done, which workers update."""
        self._works, self._shares = np.array(works), shares
        self._stopped = threading.Event()
        self._cells, self._found, self._work = found + len(works), found, sum(works)
        self._finished = self._failed = self._rounds_done = self._lines = 0
        self._started = self._said = time.monotonic()
        self._time_left = TimeLeft()
        self._quiet = quiet
        self._bar: rich_progress.Progress | None = None

    def __enter__(self) -> Self:
        if self._quiet:
            return self
        if self._found:
            print(f"{self._found} of {self._cells} cells are there already", file=sys.stderr)
        if self._found < self._cells:
            self._bar = open_bar(total=self._work)
            if self._bar is not None:
                self._bar.start()
            threading.Thread(target=self._follow, daemon=True).start()
        return self

    def _follow(self) -> None:
        """Show progress while cells are running; in a log, if no cell has ended for a while."""
        while not self._stopped.wait(0.5):
            self.show(_IDLE)

    def show(self, every: float) -> None:
        """Move the bar, or print a line, unless the last one was printed within so many seconds."""
        now = time.monotonic()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self.work_done, description=str(self))
        elif not self._quiet and now - self._said >= every:
            self._said = now
            print(self, file=sys.stderr, flush=True)

    @property
    def work_done(self) -> float:
        """The work of all finished cells, and of the running ones as far as they have come."""
        return float(np.dot(self._shares, self._works))

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        if self._bar is not None or self._finished:
            self.show(0.0)
        if self._bar is not None:
            self._bar.stop()

    def done(self, number: int, rounds: int, failed: bool) -> None:
        """Count a cell, by its number, with its rounds."""
        self._shares[number] = 1.0
        self._finished += 1
        self._failed += failed
        self._rounds_done += rounds
        self.show(LINE_INTERVAL)

    def say(self, line: str) -> None:
        """Print a line above the bar; only the first few are printed."""
        self._lines += 1
        if self._quiet or self._lines > _MOST_LINES:
            return
        if self._bar is not None:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def __str__(self) -> str:
        speed = self._rounds_done / max(time.monotonic() - self._started, 1e-9)
        counted = self._found + self._finished
        left = self._time_left(self.work_done / self._work if self._work else 1.0)
        return (
            f"{counted} of {self._cells} cells"
            + f", {self._failed} failed" * bool(self._failed)
            + f", {speed:,.0f} rounds a second" * bool(self._finished)
            + left * (counted < self._cells)
        )
