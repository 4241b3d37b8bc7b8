"""The errors that a user can repair: one line that names what is wrong and what to do about it."""

from __future__ import annotations

import difflib
import operator
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from coebl.core.text import one_line

Item = TypeVar("Item")

_OWN = Path(__file__).parents[1]  # the folder of this package
_INSTALLED = {"site-packages", "dist-packages"}  # folders of installed packages; the latter are Debian's
_STANDARD = Path(traceback.__file__).parent  # that of Python's own modules


class CoeblError(Exception):
    """Base of all errors that coebl raises on purpose. The message is one line.

    >>> issubclass(InputError, CoeblError), issubclass(SolveError, CoeblError)
    (True, True)
    """


class InputError(CoeblError, ValueError):
    """A bad argument: the message names it, its value, what is accepted, and how to fix it.

    >>> from coebl import parse_learner
    >>> parse_learner("ubc")
    Traceback (most recent call last):
    ...
    coebl.core.errors.InputError: unknown learner 'ubc': did you mean 'ucb'? See: coebl list learners
    """


class SolveError(CoeblError, ArithmeticError):
    """No method found an equilibrium that passes its certificate.

    >>> isinstance(SolveError(), ArithmeticError)
    True
    """


class UserCodeError(CoeblError):
    """A learner or another thing of a user's own raised something; the message names its file and line."""


def where(error: BaseException) -> str:
    """The last line of a user's own code that an error passed through: "mine.py, line 3", or nothing."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not _is_library(Path(frame.filename))]
    return f"{theirs[-1].filename}, line {theirs[-1].lineno}" if theirs else ""


def _is_library(file: Path) -> bool:
    ours = _OWN in file.parents or _STANDARD in file.parents
    compiled = file.suffix == ".pyx"  # which has no folder: "numpy/random/mtrand.pyx"
    installed = not _INSTALLED.isdisjoint(file.parts)
    return ours or compiled or installed or file.name.startswith("<frozen")


def check_whole(argument: str, value: Any, low: int, high: int | None = None) -> int:
    """An integer within limits, also one of NumPy's.

    >>> check_whole("rounds", 0, 1)
    Traceback (most recent call last):
    ...
    coebl.core.errors.InputError: rounds is 0; accepted: an integer, >= 1.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if number < low or (high is not None and number > high) or isinstance(value, bool):
        limits = f">= {low}" if high is None else f"{low} .. {high:,}"
        raise InputError(f"{argument} is {shorten(value)}; accepted: an integer, {limits}.")
    return number


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint at the known word nearest to this one, or nothing if none is close.

    >>> nearest("exp3ix", ["exp3", "exp3-ix", "ucb"])
    ": did you mean 'exp3-ix'?"
    """
    matches = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f": did you mean {matches[0]!r}?" if matches else "."


def look_up(kind: str, wanted: str | Iterable[str] | None, known: Mapping[Any, Item]) -> list[Item]:
    """What one name or several stand for, in small letters or capitals; without names, all that is known.

    >>> look_up("letter", ["b", "C"], {"a": 1, "B": 2, "C": 3})
    [2, 3]
    """
    names = list(known) if wanted is None else [wanted] if isinstance(wanted, str) else list(wanted)
    alike = {str(name).casefold(): name for name in known}
    names = [name if name in known else alike.get(str(name).casefold(), name) for name in names]
    for name in names:
        if name not in known:
            raise InputError(f"unknown {kind} {name!r}{nearest(name, known)} Accepted: {', '.join(known)}.")
    return [known[name] for name in names]


def shorten(value: object, width: int = 60) -> str:
    """The repr of a value on one line, cut to a width.

    >>> shorten("x" * 90 + "y", width=12)
    "'xxxxxx...y'"
    """
    try:
        return one_line(repr(value), width)
    except ValueError:  # Python does not print integers of more than some thousand digits
        return "a number too long to show"


def reason_of(error: BaseException, width: int = 600) -> str:
    """What an error says, on one line; errors that are not our own with their kind.

    >>> reason_of(InputError("c is -1")), reason_of(KeyError("c"))
    ('c is -1', "KeyError: 'c'")
    """
    text = one_line(str(error), width)
    return text if isinstance(error, CoeblError) else f"{type(error).__name__}: {text}"


def printable(text: str) -> str:
    """A text as a terminal may show it: line breaks and control characters are escaped.

    >>> printable("one\\ntwo \\x1b[31m naïve")
    'one\\\\ntwo \\\\x1b[31m naïve'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
