"""The errors that a user can repair: one line that names what is wrong and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class CoeblError(Exception):
    """Base of all errors that coebl raises on purpose. The message is one line."""


class InputError(CoeblError, ValueError):
    """A bad argument: the message names it, its value, what is accepted, and the repair."""


class SolveError(CoeblError, ArithmeticError):
    """No method found an equilibrium that passes its certificate."""


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint at the known word nearest to this one, or nothing.

    >>> nearest("exp3ix", ["exp3", "exp3-ix", "ucb"])
    ": did you mean 'exp3-ix'?"
    """
    matches = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f": did you mean {matches[0]!r}?" if matches else "."


def shorten(value: object, width: int = 60) -> str:
    """The repr of a value on one line, cut to a width.

    >>> shorten("x" * 100, width=10)
    "'xxxxxx..."
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= width else text[: width - 3] + "..."
