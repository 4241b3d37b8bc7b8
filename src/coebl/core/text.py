"""Texts and numbers as people read them: on one line, with few digits."""

from __future__ import annotations

import math


def one_line(text: object, width: int = 120) -> str:
    """A text on one line of at most this width; of a long one the middle is left out.

    Of an error, what it says, to be put into a sentence: without a full stop, and its kind if it says nothing.

    >>> one_line(ValueError("no\\n  way.")), one_line(ValueError()), one_line("a" * 30 + "z" * 10, width=12)
    ('no way', 'ValueError', 'aaaaaaa...zz')
    """
    words = " ".join(str(text).split())
    if isinstance(text, BaseException):
        words = words.rstrip(".") or type(text).__name__
    end = (width - 3) // 4
    return words if len(words) <= width else f"{words[: width - 3 - end]}...{words[len(words) - end :]}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number of things, in words; the plural where it is not the noun with an s.

    >>> counted(1, "cell"), counted(1200, "cell"), counted(0, "match", "matches")
    ('1 cell', '1,200 cells', '0 matches')
    """
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def number_text(number: float, digits: int = 4, separator: str = "") -> str:
    """A number with so many digits, or all of those before the point; a dash for NaN.

    >>> number_text(-24.6123), number_text(12345.6), number_text(12345.6, separator=","), number_text(math.nan)
    ('-24.61', '12346', '12,346', '-')
    """
    if math.isnan(number):
        return "-"
    return f"{number:{separator}.0f}" if 10 ** (digits - 1) <= abs(number) < math.inf else f"{number:.{digits}g}"


def decimal_places(half_width: float) -> int:
    """How many decimal places a number with an interval of this half width deserves: two digits of the half width.

    >>> decimal_places(1.54), decimal_places(32.1), decimal_places(0.002)
    (1, 0, 4)
    """
    return min(9, max(0, 1 - math.floor(math.log10(half_width))))


def few_digits(number: float, digits: int) -> float | int | None:
    """A number for JSON with few digits: a whole one without a point, and None for what is not finite.

    >>> few_digits(1.23456789, 5), few_digits(2.0, 5), few_digits(math.inf, 5)
    (1.2346, 2, None)
    """
    if not math.isfinite(number):
        return None
    rounded = float(f"{number:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def with_minus(text: str) -> str:
    """The text of a number with a minus sign instead of the hyphen, for pages and figures."""
    return text.replace("-", "−")
