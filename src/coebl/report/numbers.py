"""Numbers on the page: with few digits for its script, and as people read them."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from coebl.core.arrays import Floats

DIGITS = 5


def short(numbers: Floats) -> list[float | int | None]:
    """With few digits; whole numbers without a point, and None for what is not finite.

    >>> short(np.array([1.23456789, 2.0, math.inf]))
    [1.2346, 2, None]
    """
    return [_plain(float(f"{number:.{DIGITS}g}")) for number in numbers.tolist()]


def few_digits(value: Any) -> Any:
    """A fraction with few digits, and anything else as it is."""
    return short(np.array([value]))[0] if isinstance(value, (float, np.floating)) else value


def _plain(number: float) -> float | int | None:
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def embed(data: object) -> str:
    """JSON that can stand in a script element: no <, > or &, and no line separators that scripts once choked on.

    >>> print(embed("</script>"))
    "\\u003c/script\\u003e"
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_scalar)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _scalar(value: object) -> Any:
    """What JSON does not know: NumPy's numbers as their own, the rest as text."""
    return value.item() if isinstance(value, np.generic) else str(value)


def number_text(number: object) -> str:
    """A number for people; nothing for what is not there.

    >>> number_text(-12.3456), number_text(1234.5), number_text(None), number_text("T = 3000")
    ('−12.35', '1,234', '', 'T = 3000')
    """
    if number is None:
        return ""
    if isinstance(number, (bool, str)) or not isinstance(number, (int, float, np.number)):
        return str(number)
    value = float(number)
    if not math.isfinite(value):
        return "" if math.isnan(value) else "∞" if value > 0 else "−∞"
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return text.replace("-", "−")


def interval_texts(measured: Any, low: Any, high: Any) -> tuple[str, str]:
    """A number and its interval, to as many places as tell the ends of the interval apart.

    >>> interval_texts(12.3456, 11.9, 12.8)
    ('12.35', '[11.90, 12.80]')
    >>> interval_texts(12.3456, 11.9, None)
    ('12.35', '[11.9, –]')
    """
    numbers = [float(number) for number in (measured, low, high) if isinstance(number, (int, float, np.number))]
    if len(numbers) == 3 and all(map(math.isfinite, numbers)) and low < high:
        places = max(0, 1 - math.floor(math.log10((high - low) / 2)))
        texts = [f"{number:,.{min(places, 9)}f}".replace("-", "−") for number in numbers]
    else:
        texts = [number_text(number) for number in (measured, low, high)]
    return texts[0], f"[{texts[1] or '–'}, {texts[2] or '–'}]" if texts[1] or texts[2] else ""
