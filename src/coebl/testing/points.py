"""The points of a contract, and the report on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from coebl.core.errors import UserCodeError, printable, reason_of, where

Points = Iterator[tuple[str, Callable[[], str | None]]]  # what holds, and what finds out: a complaint, or None


class UntriedError(Exception):
    """A point that cannot be tried, because of a fault that another point names."""


@dataclass(frozen=True)
class Point:
    """One point of a contract, and how it went.

    >>> from coebl.testing import check_game
    >>> check_game("rps").points[0].name
    'its spec reads back'
    """

    name: str  # what should hold
    passed: bool  # whether it does
    detail: str = ""  # the complaint, if it does not
    tried: bool = True  # False if a fault that another point names stands in the way


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

    A point that fails as another one did, by an error that stands in the way of both, is not tried:

    >>> print(Report("mine", (Point("plays", False, "no policy"), Point("pickles", False, tried=False))))
    mine
      FAIL  plays
            no policy
      -     pickles (not tried)
    2 points, 1 failure, 1 not tried
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
            mark = "ok  " if point.passed else "FAIL" if point.tried else "-   "
            lines.append(f"  {mark}  {point.name}{'' if point.tried else ' (not tried)'}")
            if point.detail:
                lines.append(f"        {point.detail}")
        untried = sum(not point.tried for point in self.points)
        failures = sum(not point.passed for point in self.points) - untried
        points = f"{len(self.points)} point{'s' if len(self.points) != 1 else ''}"
        rest = f", {untried} not tried" if untried else ""
        lines.append(f"{points}, {failures or 'no'} failure{'s' if failures != 1 else ''}{rest}")
        return "\n".join(lines)

    def require(self) -> None:
        """Raise an AssertionError with the whole report unless every point holds."""
        assert self.passed, f"\n{self}"


def report_on(subject: str, points: Points) -> Report:
    """Try the points, and report how each went.

    What a point raises is its complaint, with the user's own line. What an earlier point raised, too, is told once.
    """
    tried: list[Point] = []
    raised: set[tuple[str, str]] = set()
    for name, find_fault in points:
        try:
            complaint = find_fault()
        except UntriedError:
            tried.append(Point(name, passed=False, tried=False))
            continue
        except (Exception, SystemExit) as error:
            if _root(error) in raised:
                tried.append(Point(name, passed=False, tried=False))
                continue
            raised.add(_root(error))
            line = where(error)
            complaint = printable(reason_of(error)) + (f" ({line})" if line else "")
        tried.append(Point(name, complaint is None, complaint or ""))
    return Report(subject, tuple(tried))


def _root(error: BaseException) -> tuple[str, str]:
    """What an error says, and where it is from: the same for all seats and rounds."""
    if isinstance(error, UserCodeError) and error.__cause__ is not None:
        error = error.__cause__
    return reason_of(error).replace("column seat", "row seat"), where(error)
