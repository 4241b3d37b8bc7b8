"""Errors of a study: mistakes in it with their places, and those of its folder and of its workers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from coebl.core.errors import CoeblError, InputError, shorten
from coebl.core.text import one_line

Place = tuple[str | int, ...]  # of a value: ("match-ups", "pairs", 0, 1)


class Mistake(NamedTuple):
    """A mistake in a study, and its place."""

    place: Place
    message: str

    def __str__(self) -> str:
        """The mistake with the argument of `Study` that it is in."""
        names = [part for part in self.place if part != "match-ups"]
        argument = written(tuple(part.replace("-", "_") if isinstance(part, str) else part for part in names))
        return f"{argument}: {self.message}" if argument else self.message


class StudyError(InputError):
    """All mistakes in a study, a line for each.

    Args:
        mistakes: one line each, with file and line, or with the argument.
        places: of the mistakes, in the same order.

    >>> from coebl import Study
    >>> try:
    ...     Study(games=["rpz"], learners=["ubc"], seeds=3)
    ... except StudyError as error:
    ...     print(error.mistakes[0], error.places[0])
    learners[0]: unknown learner 'ubc': did you mean 'ucb'? See: coebl list learners ('learners', 0)
    """

    def __init__(self, mistakes: Sequence[str], places: Sequence[Place] = ()) -> None:
        super().__init__(list(mistakes), list(places))
        self.mistakes = list(mistakes)
        self.places = list(places)

    def __str__(self) -> str:
        return "\n".join(self.mistakes)


def written(place: Place) -> str:
    """A place as a reader would write it.

    >>> written(("match-ups", "pairs", 0, 1))
    'match-ups.pairs[0][1]'
    """
    parts = (f"[{part}]" if isinstance(part, int) else f".{_key_text(part)}" for part in place)
    return "".join(parts).removeprefix(".")


def _key_text(key: str) -> str:
    """A key, quoted if TOML needs quotes for it: it may be empty, or hold line breaks."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else shorten(key)


class StoreError(CoeblError):
    """An error in a study's folder: the message names the file and says what to do."""


class DamagedFileError(StoreError):
    """A file among the cells that is damaged or was not written by coebl."""


class MissingError(StoreError):
    """A cell that is not in the store."""


class ClusterError(CoeblError):
    """The workers of a study cannot be reached."""


class LostError(ClusterError):
    """The workers of a study no longer answer; finished cells are kept."""


def system_error(path: Path, error: OSError) -> StoreError:
    """A StoreError for an error of the system about a path."""
    return StoreError(f"{path}: {one_line(error.strerror or error)}; free some space, or use another folder.")
