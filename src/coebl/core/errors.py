"""Errors that a user can fix: one line that names the mistake and the fix."""

from __future__ import annotations

import difflib
import operator
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from coebl.core.text import one_line

Item = TypeVar("Item")

_LIBRARIES = {Path(__file__).parents[1], Path(traceback.__file__).parent}  # the folders of this package and of Python
_INSTALLED = {"site-packages", "dist-packages"}  # folders of installed packages; the second is Debian's


class CoeblError(Exception):
    """Base of all errors that coebl raises on purpose. The message is one line.

    >>> issubclass(InputError, CoeblError)
    True
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
    """Custom code raised an error; the message names its file and line."""


def where(error: BaseException) -> str:
    """Return the last line of custom code that an error passed through: "mine.py, line 3", or ""."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not _is_library(Path(frame.filename))]
    return f"{theirs[-1].filename}, line {theirs[-1].lineno}" if theirs else ""


def _is_library(file: Path) -> bool:
    compiled = file.suffix == ".pyx" or file.name.startswith("<frozen")  # without a folder: "numpy/random/mtrand.pyx"
    return compiled or not (_LIBRARIES.isdisjoint(file.parents) and _INSTALLED.isdisjoint(file.parts))


def check_integer(argument: str, value: Any, low: int, high: int | None = None) -> int:
    """Return a Python or NumPy integer as an int, if it is within the limits.

    >>> check_integer("rounds", 0, 1)
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


def nearest(word: object, known: Iterable[str]) -> str:
    """Suggest the known word nearest to this one, ignoring case; return "." if none is close.

    >>> nearest("exp3ix", ["exp3", "exp3-ix", "ucb"])
    ": did you mean 'exp3-ix'?"
    """
    by_case = {name.casefold(): name for name in known}
    matches = difflib.get_close_matches(str(word).casefold(), list(by_case), n=1, cutoff=0.66)  # two of three letters
    return f": did you mean {by_case[matches[0]]!r}?" if matches else "."


def look_up(kind: str, wanted: str | Iterable[str] | None, known: Mapping[str, Item]) -> list[Item]:
    """Return the values of these names, ignoring case; without names, all values.

    >>> look_up("letter", ["b", "C"], {"a": 1, "B": 2, "C": 3})
    [2, 3]
    """
    by_case = {name.casefold(): name for name in known}
    names = list(known) if wanted is None else [wanted] if isinstance(wanted, str) else wanted
    names = [by_case.get(str(name).casefold(), name) for name in names]
    for name in names:
        if name not in known:
            raise InputError(f"unknown {kind} {name!r}{nearest(name, known)} Accepted: {', '.join(known)}.")
    return [known[name] for name in names]


def shorten(value: object, width: int = 60) -> str:
    """Return the repr of a value, or the name of a class or function, on one line, shortened to a width.

    >>> shorten("x" * 90 + "y", width=12)
    "'xxxxxx...y'"
    """
    if callable(value) and hasattr(value, "__name__"):
        return one_line(f"the {'class' if isinstance(value, type) else 'function'} {value.__name__}", width)
    if type(value).__repr__ is object.__repr__:  # it has no content, only an address
        return one_line(f"an object of the class {type(value).__name__}", width)
    try:
        return one_line(repr(value), width)
    except ValueError:  # Python does not print integers of more than a few thousand digits
        return "a number too long to show"


def reason_of(error: BaseException, width: int = 600) -> str:
    """Return the message of an error on one line, after its type if coebl did not raise it.

    >>> reason_of(InputError("c is -1")), reason_of(KeyError("c"))
    ('c is -1', "KeyError: 'c'")
    """
    text = one_line(str(error), width)
    return text if isinstance(error, CoeblError) else f"{type(error).__name__}: {text}"


def printable(text: str) -> str:
    """Return a string that is safe to print: line breaks and control characters are escaped.

    >>> printable("one\\ntwo \\x1b[31m naïve")
    'one\\\\ntwo \\\\x1b[31m naïve'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
