"""The types of arrays, and the check of a payoff matrix."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coebl.core.errors import InputError, shorten

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Booleans = NDArray[np.bool_]

MOST_ENTRIES = 50_000_000  # 400 MB


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.ASCII | re.IGNORECASE)


def is_number(text: str) -> bool:
    """Return True if a string is an ordinary number: no underscores, no digits of other scripts.

    >>> is_number(" -1.5e3 "), is_number("1_000")
    (True, False)
    """
    return _NUMBER.fullmatch(text.strip()) is not None


def check_payoff(payoff: ArrayLike, argument: str = "payoff") -> Floats:
    """Return a payoff matrix as a contiguous array of floats, or raise an `InputError` that says what is wrong.

    >>> check_payoff([[1, 2], [3, "x"]])
    Traceback (most recent call last):
    ...
    coebl.core.errors.InputError: payoff[1][1] is 'x'; accepted: numbers. Replace it with a number.
    """
    if hasattr(payoff, "__array__"):  # a game or a data frame; error messages then refer to an array
        payoff = np.asarray(payoff)
    try:
        matrix = np.array(payoff, dtype=np.float64, order="C")
    except OverflowError:
        raise InputError(
            f"{argument} holds a number too large for a float; divide the payoffs by a constant."
        ) from None
    except (TypeError, ValueError):
        raise InputError(_why_no_matrix(payoff, argument)) from None
    if matrix.ndim != 2:
        raise InputError(
            f"{argument} has {matrix.ndim} dimension{'s' * (matrix.ndim != 1)}; accepted: a matrix, one row per action "
            f"of the row player. {_dimensions_hint(matrix.shape)}"
        )
    if matrix.size == 0:
        raise InputError(f"{argument} has shape {matrix.shape}; accepted: at least one row and one column.")
    if matrix.size > MOST_ENTRIES:
        raise InputError(
            f"{argument} has {matrix.shape[0]} x {matrix.shape[1]} entries; accepted: at most {MOST_ENTRIES:,} in all. "
            "Leave out dominated actions."
        )
    if not np.isfinite(matrix).all():
        i, j = (int(index) for index in np.argwhere(~np.isfinite(matrix))[0])
        raise InputError(
            f"{argument}[{i}][{j}] is {matrix[i, j]}; accepted: finite numbers. "
            "Replace it with a number, or leave that action out."
        )
    if matrix.max() / 2 - matrix.min() / 2 > np.finfo(np.float64).max / 2:
        raise InputError(
            f"{argument} spans {matrix.min():.3g} to {matrix.max():.3g}, more than a float can hold; "
            "divide the payoffs by a constant."
        )
    return matrix


def _dimensions_hint(shape: tuple[int, ...]) -> str:
    if len(shape) < 3:
        return "Write a single row as [[1, 2, 3]]."
    if len(shape) == 3 and shape[0] == 2:
        return (
            "A pair of matrices is a general-sum game, which is not supported; if the second is minus the first, pass "
            "the first alone. To solve a batch of matrices, call maximin."
        )
    return "Pass one matrix per game. To solve a batch of matrices, call maximin."


def _why_no_matrix(payoff: Any, argument: str) -> str:
    if not isinstance(payoff, (Sequence, np.ndarray)) or isinstance(payoff, str):
        return f"{argument} is {shorten(payoff)}; accepted: a matrix of numbers, such as [[1, -1], [-1, 1]]."
    lengths = {
        len(row) if isinstance(row, (Sequence, np.ndarray)) and not isinstance(row, str) else 0 for row in payoff
    }
    if len(lengths) > 1:
        return (
            f"{argument} has rows of {min(lengths)} to {max(lengths)} entries; accepted: rows of one length. "
            "Fill in the missing entries."
        )
    for i, row in enumerate(payoff):
        for j, entry in enumerate(row):
            try:
                float(entry)
            except (TypeError, ValueError):
                return f"{argument}[{i}][{j}] is {shorten(entry)}; accepted: numbers. Replace it with a number."
    return f"{argument} is {shorten(payoff)}; accepted: a matrix of numbers, such as [[1, -1], [-1, 1]]."
