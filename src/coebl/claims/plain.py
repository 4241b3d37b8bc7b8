"""Plain values for JSON, which has no word for infinity and NaN."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def finite(data: Any) -> Any:
    """The same data with None for every number that is not finite.

    >>> finite({"a": [1.5, math.nan], "b": (math.inf, "text")})
    {'a': [1.5, None], 'b': [None, 'text']}
    """
    if isinstance(data, (float, np.floating)):
        return float(data) if math.isfinite(data) else None
    if isinstance(data, Mapping):
        return {str(key): finite(value) for key, value in data.items()}
    return [finite(value) for value in data] if isinstance(data, (list, tuple)) else data
