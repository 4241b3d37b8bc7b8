"""Formatting of strings and numbers for people, and plain values for JSON and CSV."""

from __future__ import annotations

import csv
import io
import math
import numbers
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_ROUNDING = 1e-12  # smaller numbers are zero in a table
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def one_line(text: object, width: int = 120) -> str:
    """Return a string on one line of at most this width; the middle of a long string is left out.

    An error becomes its message without the full stop, or its type if it has no message.

    >>> one_line(ValueError("no\\n  way.")), one_line(ValueError()), one_line("a" * 30 + "z" * 10, width=12)
    ('no way', 'ValueError', 'aaaaaaa...zz')
    """
    words = " ".join(str(text).split())
    if isinstance(text, BaseException):
        words = words.rstrip(".") or type(text).__name__
    end = (width - 3) // 4
    return words if len(words) <= width else f"{words[: width - 3 - end]}...{words[len(words) - end :]}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun; the plural must be given if it is not the noun with an s.

    >>> counted(1, "cell"), counted(1200, "cell"), counted(0, "match", "matches")
    ('1 cell', '1,200 cells', '0 matches')
    """
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def least_to_most(numbers: Iterable[int], noun: str = "") -> str:
    """Return the smallest and the largest of some numbers, or the only one, with a noun if it is given.

    >>> least_to_most([50, 20, 30], "seed"), least_to_most([1], "seed"), least_to_most([30, 30])
    ('20 to 50 seeds', '1 seed', '30')
    """
    low, high = min(numbers := set(numbers)), max(numbers)
    words = str(low) if low == high else f"{low} to {high}"
    return f"{words} {noun}{'s' * (high != 1)}" if noun else words


def listed(items: Iterable[object], most: int = 8) -> str:
    """Return the first few items, and how many more there are.

    >>> listed(["ucb", "exp3"]), listed(range(5), most=3), listed([])
    ('ucb, exp3', '0, 1, 2 and 2 more', 'none')
    """
    words = [str(item) for item in items]
    shown = ", ".join(words[:most])
    return f"{shown} and {len(words) - most} more" if len(words) > most else shown or "none"


def natural(text: str) -> tuple[Any, ...]:
    """Return a sort key by which n=10 comes after n=9.

    >>> sorted(["n=10", "n=9"], key=natural)
    ['n=9', 'n=10']
    """
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return tuple((float(part), "") if place % 2 else (-1.0, part) for place, part in enumerate(parts))


def number_text(number: float, digits: int = 4, separator: str = "") -> str:
    """Return a number with this many significant digits, or up to 15 before the point; a dash for NaN.

    >>> number_text(-24.6123), number_text(12345.6), number_text(12345.6, separator=","), number_text(math.nan)
    ('-24.61', '12346', '12,346', '-')
    >>> number_text(1.5e20), number_text(math.inf)
    ('1.5e+20', 'inf')
    """
    if math.isnan(number):
        return "-"
    return f"{number:{separator}.0f}" if 10 ** (digits - 1) <= abs(number) < 1e15 else f"{number:.{digits}g}"


def duration(seconds: float) -> str:
    """Return a time with its unit, to two digits.

    >>> duration(7.2), duration(45), duration(130), duration(7300), duration(200_000)
    ('7.2 s', '45 s', '2.2 min', '2 h', '2.3 days')
    """
    units = (("days", 86_400, 2), ("h", 3600, 1), ("min", 60, 1))
    unit, length, _ = next((entry for entry in units if seconds >= entry[1] * entry[2]), ("s", 1, 0))
    return f"{number_text(max(seconds / length, 0.1), 2)} {unit}"


def decimal_places(half_width: float) -> int:
    """Return the decimal places that show two digits of the half width of an interval.

    >>> decimal_places(1.54), decimal_places(32.1), decimal_places(0.002)
    (1, 0, 4)
    """
    return min(9, max(0, 1 - math.floor(math.log10(half_width))))


def mean_and_half(mean: float, half: float) -> list[str]:
    """Return a mean, and half the width of its interval if there is one, with two digits of the half.

    >>> mean_and_half(-2.276, 1.54), mean_and_half(1142.2, 32.1), mean_and_half(-0.2, 13)
    (['-2.3', '1.5'], ['1142', '32'], ['0', '13'])
    >>> mean_and_half(3.14159, math.nan), mean_and_half(2.5, math.inf)
    (['3.142'], ['2.5', 'inf'])
    """
    if not half > 0:
        return [number_text(mean)]
    if half == math.inf:
        return [number_text(mean), "inf"]
    places = decimal_places(half)
    return [f"{number:z.{places}f}" for number in (mean, half)]  # z: no signed zero


def in_interval(
    mean: float, low: float, high: float, *, separator: str = "", digits: int | None = None
) -> tuple[str, ...]:
    """Return a mean and the ends of its interval with as many digits as the width of the interval supports.

    Numbers that are zero up to rounding become 0. If `digits` is given, the largest number has at most that
    many digits.

    >>> in_interval(-19.1953, -46.7904, 8.3997), in_interval(0.032247, 0.031, 0.0335)
    (('-19', '-47', '8'), ('0.0322', '0.0310', '0.0335'))
    >>> in_interval(98.36, 98.36, 98.36), in_interval(2.5, math.nan, math.nan)
    (('98.36', '98.36', '98.36'), ('2.5', '-', '-'))
    >>> in_interval(3.469e-18, 3.469e-18, 3.469e-18), in_interval(3e-18, -1e-17, 1e-17)
    (('0', '0', '0'), ('0', '0', '0'))
    """
    mean, low, high = (0.0 if abs(number) < _ROUNDING else number for number in (mean, low, high))
    half = (high - low) / 2
    if not 0 < half < math.inf:
        return tuple(number_text(number, separator=separator) for number in (mean, low, high))
    places = decimal_places(half)
    if digits is not None:
        places = min(places, max(0, digits - 1 - math.floor(math.log10(max(abs(low), abs(high))))))
    style = f"z{separator}.{places}f" if 1e-9 < half < 1e9 else ".4g"
    return tuple(f"{number:{style}}" for number in (mean, low, high))


def markdown_table(rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown; the first row is its head.

    >>> print(markdown_table([["game", "value"], ["rps", "0"]]), end="")
    | game | value |
    |---|---|
    | rps | 0 |
    """
    head, *others = map(list, rows)
    first, *lines = (f"| {' | '.join(row)} |\n" for row in (head, *others))
    return "".join([first, f"|{'---|' * len(head)}\n", *lines])


def with_minus(text: str) -> str:
    """Return a formatted number with a minus sign instead of a hyphen, for pages and figures."""
    return text.replace("-", "−")


def few_digits(value: Any, digits: int) -> Any:
    """Return a float for JSON with few digits, or None if it is not finite; other values are unchanged.

    >>> few_digits(1.23456789, 5), few_digits(2.0, 5), few_digits(math.inf, 5), few_digits("name", 5)
    (1.2346, 2, None, 'name')
    """
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def finite(data: Any) -> Any:
    """Return data for JSON, which has no infinity and no NaN: None for every number that is not finite.

    >>> finite({"a": [1.5, math.nan], "b": (math.inf, "text")})
    {'a': [1.5, None], 'b': [None, 'text']}
    """
    if isinstance(data, numbers.Real) and not isinstance(data, numbers.Integral):  # includes NumPy's
        return float(data) if math.isfinite(data) else None
    if isinstance(data, Mapping):
        return {str(key): finite(value) for key, value in data.items()}
    return [finite(value) for value in data] if isinstance(data, (list, tuple)) else data


def csv_text(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    r"""Return these columns of the rows as CSV; an apostrophe precedes strings that a spreadsheet would evaluate.

    Control characters, which could control a terminal, are escaped.

    >>> csv_text([{"name": "=1+1", "number": 2.5}], ["name", "number"])
    "name,number\r\n'=1+1,2.5\r\n"
    """

    def plain(value: object) -> object:
        if not isinstance(value, str):
            return value
        text = _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", value)
        return f"'{text}" if value.lstrip().startswith(tuple("=+-@")) else text

    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, columns, extrasaction="ignore")
    writer.writerow({key: plain(key) for key in columns})
    writer.writerows({key: plain(value) for key, value in row.items()} for row in rows)
    return stream.getvalue()
