"""Progress of a study: a bar on a terminal, an occasional line in a log."""

from __future__ import annotations

import math
import sys
import threading
import time
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

_MOST_LINES = 5  # printed while the study runs
_EVERY = 10.0  # seconds between the lines in a log
_IDLE = 30.0  # seconds after which a line is printed even if no cell has ended
_SOON, _ENOUGH, _LATE = 5.0, 0.05, 60.0  # when the time left is printed: see `Progress._time_left`


class Progress:
    """Counts cells and rounds, and estimates the time left."""

    def __init__(self, cells: int, found: int, work: float, quiet: bool = False, counter: Any = None) -> None:
        """Begin to count; a `counter` shared with the workers holds the work done, parts of cells included."""
        self._counter = counter
        self._stopped = threading.Event()
        self._cells, self._found, self._work = cells, found, work
        self._finished = self._failed = self._rounds_done = self._lines = 0
        self._work_done = 0.0
        self._started = self._said = time.monotonic()
        self._first: tuple[float, float] | None = None  # when the first work was seen, and how much it was
        self._quiet = quiet
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        if self._quiet:
            return self
        if self._found:
            print(f"{self._found} of {self._cells} cells are there already", file=sys.stderr)
        if sys.stderr.isatty() and self._found < self._cells:
            text = TextColumn("{task.description}", markup=False)
            self._bar = Bar(BarColumn(bar_width=20), text, console=Console(stderr=True))
            self._task = self._bar.add_task("", total=self._work)
            self._bar.start()
        if self._found < self._cells:
            threading.Thread(target=self._follow, daemon=True).start()
        return self

    def _follow(self) -> None:
        """Move the bar while cells are running; in a log, print a line if no cell has ended for a while."""
        while not self._stopped.wait(0.5):
            if self._bar is not None:
                self._show()
            else:
                self.log(_IDLE)

    def log(self, every: float) -> None:
        """Print a line, unless the last one was printed within so many seconds."""
        now = time.monotonic()
        if now - self._said >= every:
            self._said = now
            print(self, file=sys.stderr, flush=True)

    def _show(self) -> None:
        assert self._bar is not None
        self._bar.update(self._task, completed=self.work_done, description=str(self))

    @property
    def work_done(self) -> float:
        """The work of all finished cells, and of the running ones as far as they have come."""
        running = 0.0 if self._counter is None else float(self._counter.value)
        done = min(self._work, max(self._work_done, running))
        if self._first is None and done:
            self._first = time.monotonic(), done
        return done

    def _time_left(self, done: float) -> str:
        """The approximate time left, once that is reliable; before, an empty string.

        Processes take seconds to start, and the first rounds are the slowest. So the clock starts at the first work
        that was seen, and nothing is said before some seconds have passed in which a share of the work was done; of a
        long study, before a minute.
        """
        if self._first is None:
            return ""
        since, before = self._first
        elapsed, more = time.monotonic() - since, done - before
        if more <= 0 or elapsed < _SOON or (more < _ENOUGH * self._work and elapsed < _LATE):
            return ""
        return f"about {roughly((self._work - done) * elapsed / more)} left"

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        if self._bar is not None:
            self._show()
            self._bar.stop()
        elif self._finished and not self._quiet:
            print(self, file=sys.stderr)

    def done(self, rounds: int, work: float, failed: bool) -> None:
        """Count a cell, with its rounds and its share of the work."""
        self._finished += 1
        self._failed += failed
        self._rounds_done += rounds
        self._work_done += work
        if self._bar is not None:
            self._show()
        elif not self._quiet:
            self.log(_EVERY)

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
        elapsed = max(time.monotonic() - self._started, 1e-9)
        speed = self._rounds_done / elapsed
        done = self.work_done
        over = self._found + self._finished == self._cells
        parts = [
            f"{self._found + self._finished} of {self._cells} cells",
            f"{self._failed} failed" if self._failed else "",
            f"{speed:,.0f} rounds a second" if self._finished else "",
            "" if over else self._time_left(done),
        ]
        return ", ".join(part for part in parts if part)


def duration(seconds: float) -> str:
    """Format seconds for people.

    >>> duration(7.2), duration(130), duration(7300)
    ('7 s', '2 min 10 s', '2 h 1 min')
    """
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return f"{total // 60} min {total % 60} s"
    return f"{total // 3600} h {total % 3600 // 60} min"


def span(low: float, high: float) -> str:
    """Format a range of seconds, no more precisely than such an estimate can be.

    >>> span(63, 170), span(37, 130), span(8, 12), span(5000, 200_000)
    ('1 to 3 min', '35 s to 2 min', '8 to 10 s', '1 h to 2 days')
    """
    (first, unit), (second, last) = _rounded(low), _rounded(high)
    if unit != last:
        return f"{first} {unit} to {second} {last}"
    return f"{first} to {second} {unit}" if second > first else f"{first} {unit}"


def _rounded(seconds: float) -> tuple[int, str]:
    """Round to seconds, minutes, hours or days; from ten on to a multiple of five."""
    units = (("days", 86_400, 2), ("h", 3600, 1), ("min", 60, 1))
    unit, length, _ = next((entry for entry in units if seconds >= entry[1] * entry[2]), ("s", 1, 0))
    count = seconds / length
    return max(1, 5 * round(count / 5) if count >= 10 else round(count)), unit


def roughly(seconds: float) -> str:
    """Format an estimate of seconds, no more precisely than it can be.

    >>> roughly(13), roughly(130), roughly(3700), roughly(9000)
    ('20 s', '3 min', '1 h 10 min', '2 h 30 min')
    """
    step = 10 if seconds <= 60 else 60 if seconds <= 3600 else 600
    text = duration(math.ceil(seconds / step) * step)
    return text.removesuffix(" 0 s").removesuffix(" 0 min")
