"""The order in which people expect specs: by their numbers, not by their digits."""

from __future__ import annotations

import re
from typing import Any


def natural(text: str) -> tuple[Any, ...]:
    """A key that sorts n=10 after n=9.

    >>> sorted(["n=10", "n=9"], key=natural)
    ['n=9', 'n=10']
    """
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return tuple((float(part), "") if place % 2 else (-1.0, part) for place, part in enumerate(parts))
