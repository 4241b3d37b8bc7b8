"""Progress of a study: one line that changes on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time

_EVERY = 10.0  # seconds between the lines in a log


class Progress:
    """Counts cells and rounds, and tells how long it will take."""

    def __init__(self, cells: int, found: int, work: float, quiet: bool = False) -> None:
        self._cells, self._found, self._work = cells, found, work
        self._finished = self._failed = self._rounds_done = 0
        self._work_done = 0.0
        self._started = self._said = time.monotonic()
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()
        if found and not quiet:
            print(f"{found} of {cells} cells are there already", file=sys.stderr)

    def done(self, rounds: int, work: float, failed: bool) -> None:
        """Count a cell, with its rounds and its share of the work."""
        self._finished += 1
        self._failed += failed
        self._rounds_done += rounds
        self._work_done += work
        now = time.monotonic()
        if not self._quiet and (self._terminal or now - self._said >= _EVERY):
            self._said = now
            print(
                f"\r\033[K{self}" if self._terminal else str(self), end="" if self._terminal else "\n", file=sys.stderr
            )
            sys.stderr.flush()

    def close(self) -> None:
        """Say how it stands, for the last time."""
        if not self._quiet and self._finished:
            print(f"\r\033[K{self}" if self._terminal else str(self), file=sys.stderr)

    def __str__(self) -> str:
        elapsed = max(time.monotonic() - self._started, 1e-9)
        speed = self._rounds_done / elapsed
        left = max(0.0, self._work - self._work_done) * elapsed / self._work_done if self._work_done else float("inf")
        parts = [
            f"{self._found + self._finished} of {self._cells} cells",
            f"{self._failed} failed" if self._failed else "",
            f"{speed:,.0f} rounds a second",
            f"{duration(left)} left" if self._found + self._finished < self._cells else f"took {duration(elapsed)}",
        ]
        return ", ".join(part for part in parts if part)


def duration(seconds: float) -> str:
    """Seconds in words.

    >>> duration(7.2), duration(130), duration(7300)
    ('7 s', '2 min 10 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
