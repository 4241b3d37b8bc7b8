"""Types of arrays, and checks of payoffs, their labels and their ranges."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coebl.core.errors import InputError, shorten
from coebl.core.text import counted

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Booleans = NDArray[np.bool_]

MOST_ENTRIES = 50_000_000  # 400 MB

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.ASCII | re.IGNORECASE)


def is_number(text: str) -> bool:
    """Return True if a string is an ordinary number, without underscores or digits of other scripts.

    >>> is_number(" -1.5e3 "), is_number("1_000")
    (True, False)
    """
    return _NUMBER.fullmatch(text.strip()) is not None


@lru_cache(maxsize=64)  # few lengths occur, some very often
def evenly_spread(length: int, points: int) -> Ints:
    """Return the indices of at most `points` entries of a list, evenly spread, including the first and last.

    >>> evenly_spread(9, 3)
    array([0, 4, 8])
    """
    return np.unique(np.linspace(0, length - 1, min(length, points)).round().astype(np.int64))


def check_range(
    payoff_range: tuple[float, float],
    argument: str = "payoff_range",
    accepted: str = "finite numbers, low < high",
) -> tuple[float, float]:
    """Return the limits of a payoff range, if they are finite numbers in increasing order."""
    try:
        if not _is_list(payoff_range) or not all(isinstance(end, Real) for end in payoff_range):
            raise TypeError
        low, high = map(float, payoff_range)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{argument} is {shorten(payoff_range)}; accepted: two numbers, (low, high).") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"{argument} is ({low:g}, {high:g}); accepted: {accepted}.")
    return low, high


def check_payoff(payoff: ArrayLike, argument: str = "payoff", players: int = 2) -> Floats:
    """Return payoffs as a contiguous array of floats, or raise an `InputError` that names the mistake.

    The payoffs of two players are a matrix; in general there is an axis per player.

    >>> check_payoff([[1, 2], [3, "x"]])
    Traceback (most recent call last):
    ...
    coebl.core.errors.InputError: payoff[1][1] is 'x'; accepted: numbers. Replace it with a number.
    """
    if hasattr(payoff, "__array__"):  # a game or a data frame; error messages then refer to an array
        payoff = np.asarray(payoff)
    try:
        array = np.array(payoff, dtype=np.float64, order="C")
    except OverflowError:
        repair = "divide the payoffs by a constant."
        raise InputError(f"{argument} holds a number too large for a float; {repair}") from None
    except (TypeError, ValueError):
        raise InputError(f"{argument}{_why_no_array(payoff, players)}") from None
    if fault := _fault(array, players):
        raise InputError(f"{argument}{fault}")
    return array


def _fault(array: Floats, players: int) -> str:
    """Return the mistake in an array of payoffs, as the end of a message, or ""."""
    if array.ndim != players:
        batch = "To solve a batch of matrices, call maximin."
        hint = f"Pass one matrix per game. {batch}"
        if array.ndim < 2:
            hint = "Write a single row as [[1, 2, 3]]."
        elif array.ndim == 3 and len(array) == 2:
            hint = f"Pass a pair of matrices, the payoffs of each player, as a tuple: Game((A, B)). {batch}"
        dimensions = counted(array.ndim, "dimension")
        return f" has {dimensions}; accepted: a matrix, one row per action of the row player. {hint}"
    if array.size == 0:
        return f" has shape {array.shape}; accepted: at least one action for each player."
    if array.size > MOST_ENTRIES:
        entries = " x ".join(map(str, array.shape))
        return f" has {entries} entries; accepted: at most {MOST_ENTRIES:,} in all. Leave out dominated actions."
    if not np.isfinite(array).all():
        place = tuple(np.argwhere(~np.isfinite(array))[0])
        repair = "Replace it with a number, or leave that action out."
        return f"{''.join(f'[{index}]' for index in place)} is {array[place]}; accepted: finite numbers. {repair}"
    low, high = array.min(), array.max()
    if high / 2 - low / 2 > np.finfo(np.float64).max / 2:
        return f" spans {low:.3g} to {high:.3g}, more than a float can hold; divide the payoffs by a constant."
    return ""


def _why_no_array(payoff: Any, players: int) -> str:
    """Return why NumPy cannot convert payoffs to an array of floats, as the end of a message."""
    other = f" is {shorten(payoff)}; accepted: a matrix of numbers, such as [[1, -1], [-1, 1]]."
    if not _is_list(payoff) or not any(map(_is_list, payoff)):
        return other
    lengths = {len(row) if _is_list(row) else 0 for row in payoff}
    if len(lengths) > 1:
        entries = f"{min(lengths)} to {max(lengths)} entries"
        return f" has rows of {entries}; accepted: rows of equal length. Fill in the missing entries."
    parts: dict[str, Any] = {"": payoff}  # by place
    for _ in range(players):
        parts = {f"{place}[{i}]": entry for place, part in parts.items() for i, entry in enumerate(part)}
    for place, entry in parts.items():
        try:
            float(entry)
        except (TypeError, ValueError):
            return f"{place} is {shorten(entry)}; accepted: numbers. Replace it with a number."
    return other


def _is_list(value: object) -> bool:
    return isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (str, bytes))


def has_tensors(payoff: object) -> bool:
    """Return True for a list or tuple of N arrays with N axes each: the payoffs of N players.

    >>> has_tensors(([[3, 0], [5, 1]], [[3, 5], [0, 1]])), has_tensors([[3, 0], [5, 1]])
    (True, False)
    """
    try:
        return isinstance(payoff, (list, tuple)) and len(payoff) > 1 and all(np.ndim(p) == len(payoff) for p in payoff)
    except ValueError:  # rows of different lengths
        return False


def check_labels(labels: Sequence[str] | None, count: int, argument: str) -> tuple[str, ...]:
    """Return the labels of a player's actions, by default their numbers, if they are `count` distinct strings."""
    if labels is None:
        return tuple(str(index) for index in range(count))
    is_list = isinstance(labels, Sequence) and not isinstance(labels, str)
    if not (is_list and all(isinstance(label, str) for label in labels)):
        raise InputError(f"{argument} is {shorten(labels)}; accepted: a list of {counted(count, 'string')}.")
    if len(labels) != count:
        raise InputError(f"{argument} has {counted(len(labels), 'label')}; accepted: {count}, one per action.")
    if len(set(labels)) != count:
        twice = next(label for label in labels if list(labels).count(label) > 1)
        raise InputError(f"{argument} has {twice!r} twice; accepted: labels that all differ.")
    return tuple(labels)


def known_range(
    payoff_range: tuple[float, float] | None, payoff: Floats, argument: str = "payoff_range"
) -> tuple[float, float]:
    """Return the range of payoffs that learners receive: by default the smallest and the largest payoff."""
    lowest, highest = float(payoff.min()), float(payoff.max())
    if payoff_range is None:
        return lowest, highest if highest > lowest else lowest + 1.0
    accepted = f"low < high that enclose all payoffs, which lie in {lowest:g} .. {highest:g}"
    low, high = check_range(payoff_range, argument, accepted)
    if not low <= lowest <= highest <= high:
        raise InputError(f"{argument} is ({low:g}, {high:g}); accepted: {accepted}.")
    return low, high


def machine_memory() -> int:
    """Return the memory of this machine in bytes."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not on every system
        return 2**62
