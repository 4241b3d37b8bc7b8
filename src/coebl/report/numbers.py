"""Numbers on the page: with few digits for its script, and as people read them."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.text import decimal_places, few_digits, number_text, with_minus

DIGITS = 5
HALF_DIGITS = 4  # of the half widths of intervals
_MOST_DIGITS = 6  # of a mean beside its interval, however narrow that is


def short(numbers: Floats, digits: int = DIGITS) -> list[float | int | None]:
    """Numbers with few digits, as the script of the page gets them."""
    return [few_digits(number, digits) for number in numbers.tolist()]


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


def cell_text(value: object) -> str:
    """What a cell of a table says: a number for people, a text as it is, and nothing for what is not there.

    >>> cell_text(-12.3456), cell_text(1234.5), cell_text(None), cell_text("T = 3000")
    ('−12.35', '1,234', '', 'T = 3000')
    """
    if value is None:
        return ""
    if isinstance(value, (bool, str)) or not isinstance(value, (int, float, np.number)):
        return str(value)
    number = float(value)
    if not math.isfinite(number):
        return "" if math.isnan(number) else "∞" if number > 0 else "−∞"
    return with_minus(number_text(number, separator=","))


def interval_texts(measured: Any, low: Any, high: Any) -> tuple[str, str]:
    """A number and its interval, to as many places as tell the ends of the interval apart.

    >>> interval_texts(12.3456, 11.9, 12.8)
    ('12.35', '[11.90, 12.80]')
    >>> interval_texts(12.3456, 11.9, None)
    ('12.35', '[11.9, –]')
    >>> interval_texts(1.9848, 1.98479999, 1.98480001)
    ('1.98480', '[1.98480, 1.98480]')
    """
    numbers = [float(number) for number in (measured, low, high) if isinstance(number, (int, float, np.number))]
    if len(numbers) == 3 and all(map(math.isfinite, numbers)) and low < high:
        size = max(map(abs, numbers))
        places = min(decimal_places((high - low) / 2), max(0, _MOST_DIGITS - 1 - math.floor(math.log10(size))))
        texts = [with_minus(f"{number:,.{places}f}") for number in numbers]
    else:
        texts = [cell_text(number) for number in (measured, low, high)]
    return texts[0], f"[{texts[1] or '–'}, {texts[2] or '–'}]" if texts[1] or texts[2] else ""
