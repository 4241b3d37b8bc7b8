"""Errors of a study: mistakes with their places, in its file and in records, and errors of its folder and workers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, get_args

from pydantic import BaseModel, ValidationError

from coebl.core.errors import CoeblError, InputError, nearest, shorten
from coebl.core.text import one_line

Place = tuple[str | int, ...]  # of a value: ("match-ups", "pairs", 0, 1)


class Mistake(NamedTuple):
    """A mistake in a study, and its place."""

    place: Place
    message: str

    def __str__(self) -> str:
        """Return the mistake with the argument of `Study` that has it."""
        names = [part for part in self.place if part != "match-ups"]
        argument = written(tuple(part.replace("-", "_") if isinstance(part, str) else part for part in names))
        return f"{argument}: {self.message}" if argument else self.message


class StudyError(InputError):
    """All mistakes in a study, a line for each.

    Args:
        mistakes: a line for each mistake, with its file and line, or with its argument.
        found: the mistakes in the same order, each with its place and without a file, a line or an argument.

    >>> from coebl import Study
    >>> try:
    ...     Study(games=["rpz"], learners=["ubc"], seeds=3)
    ... except StudyError as error:
    ...     print(error.mistakes[0], error.places[0])
    learners[0]: unknown learner 'ubc': did you mean 'ucb'? See: coebl list learners ('learners', 0)
    """

    def __init__(self, mistakes: Sequence[str], found: Sequence[Mistake] = ()) -> None:
        super().__init__(list(mistakes), list(found))
        self.mistakes = list(mistakes)
        self.found = list(found)

    @property
    def places(self) -> list[Place]:
        """The places of the mistakes."""
        return [mistake.place for mistake in self.found]

    def __str__(self) -> str:
        return "\n".join(self.mistakes)


def written(place: Place) -> str:
    """Return a place as text.

    >>> written(("match-ups", "pairs", 0, 1))
    'match-ups.pairs[0][1]'
    """
    text = ""
    for part in place:
        plain = isinstance(part, int) or re.fullmatch(r"[A-Za-z0-9_-]+", part)  # others are quoted, as in TOML
        text += f"[{part}]" if isinstance(part, int) else f".{part if plain else shorten(part)}"
    return text.removeprefix(".")


def first_mistake(error: ValidationError, model: type[BaseModel]) -> str:
    """Return the first mistake that pydantic found: the table, the key, the value, and the field's description."""
    errors = error.errors(include_url=False)
    first = next((entry for entry in errors if entry["type"] == "extra_forbidden"), errors[0])  # often a typo in a key
    place = first["loc"]
    accepted, start = "", 0  # the place of the key in its table
    for number, part in enumerate(place):
        field = model.model_fields.get(str(part))
        kinds = (field.annotation, *get_args(field.annotation)) if field else ()
        tables = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]
        accepted = field.description or "" if field else accepted
        if isinstance(part, str) and not tables:
            break
        start = number + 1
        model = tables[0] if tables else model
    if first["type"] == "missing":
        start = len(place) - 1  # the key may be that of a table
    table, key = written(place[:start]), written(place[start:])
    within = f"{table}: " if table else ""
    if first["type"] == "value_error":
        return f"{within}{f'{key}: ' * bool(key)}{first['ctx']['error']}"
    known = [name for name, field in model.model_fields.items() if not field.exclude]
    if first["type"] == "extra_forbidden":
        return f"{within}unknown key {key!r}{nearest(key, known)} Accepted: {', '.join(known)}."
    if first["type"] == "missing":
        return f"{within}there is no key {key!r}. Add it."
    what = f"{within}{key}" if key else table
    return f"{what} is {shorten(first['input'])}" + (f"; accepted: {accepted}." if accepted else ".")


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
    """Return a StoreError for an error of the system about a path."""
    return StoreError(f"{path}: {one_line(error.strerror or error)}; free some space, or use another folder.")
