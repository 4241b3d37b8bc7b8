"""The points of a contract, and the report on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from coebl.core.errors import printable, reason_of, where

Points = Iterator[tuple[str, Callable[[], str | None]]]  # what holds, and what finds out: a complaint, or None


@dataclass(frozen=True)
class Point:
    """One point of a contract, and how it went.

    >>> from coebl.testing import check_game
    >>> check_game("rps").points[0]
    Point(name='its spec reads back', passed=True, detail='')
    """

    name: str  # what should hold
    passed: bool  # whether it does
    detail: str = ""  # the complaint, if it does not


@dataclass(frozen=True)
class Report:
    """All points of a contract.

    >>> report = Report("mine", (Point("pickles", True), Point("its spec reads back", False, "'mine' is unknown")))
    >>> print(report)
    mine
      ok    pickles
      FAIL  its spec reads back
            'mine' is unknown
    2 points, 1 failure
    """

    subject: str  # who was checked
    points: tuple[Point, ...]  # in the order in which they were tried

    @property
    def passed(self) -> bool:
        """Whether every point holds."""
        return all(point.passed for point in self.points)

    def __str__(self) -> str:
        lines = [self.subject]
        for point in self.points:
            lines.append(f"  {'ok  ' if point.passed else 'FAIL'}  {point.name}")
            if point.detail:
                lines.append(f"        {point.detail}")
        failures = sum(not point.passed for point in self.points)
        lines.append(f"{len(self.points)} points, {failures or 'no'} failure{'s' if failures != 1 else ''}")
        return "\n".join(lines)

    def require(self) -> None:
        """Raise an AssertionError with the whole report unless every point holds."""
        assert self.passed, f"\n{self}"


def report_on(subject: str, points: Points) -> Report:
    """Try the points, and report how each went. What a point raises is its complaint, with the user's own line."""
    tried = []
    for name, find_fault in points:
        try:
            complaint = find_fault()
        except (Exception, SystemExit) as error:
            line = where(error)
            complaint = printable(reason_of(error)) + (f" ({line})" if line else "")
        tried.append(Point(name, complaint is None, complaint or ""))
    return Report(subject, tuple(tried))
