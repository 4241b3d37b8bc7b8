"""Plain values for the files of others: JSON has no word for infinity and NaN, and spreadsheets run what they read."""

from __future__ import annotations

import csv
import io
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def finite(data: Any) -> Any:
    """The same data with None for every number that is not finite.

    >>> finite({"a": [1.5, math.nan], "b": (math.inf, "text")})
    {'a': [1.5, None], 'b': [None, 'text']}
    """
    if isinstance(data, numbers.Real) and not isinstance(data, numbers.Integral):  # NumPy's among them
        return float(data) if math.isfinite(data) else None
    if isinstance(data, Mapping):
        return {str(key): finite(value) for key, value in data.items()}
    return [finite(value) for value in data] if isinstance(data, (list, tuple)) else data


def as_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    r"""Rows as CSV with a header; keys that are not among the columns are left out.

    A text that a spreadsheet would take for a formula is marked as text.

    >>> as_csv([{"name": "=1+1", "number": 2.5}], ["name", "number"])
    "name,number\r\n'=1+1,2.5\r\n"
    """
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows({key: _as_text(value) for key, value in row.items()} for row in rows)
    return stream.getvalue()


def _as_text(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value
