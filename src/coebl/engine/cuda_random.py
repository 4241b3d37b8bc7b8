"""A learner's random numbers on a graphics processor: counter-based, so that a run is the same in any batch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from coebl.core.modules import require
from coebl.engine.normals import check_spread, spread_out
from coebl.engine.streams import seed_sequence

_THREADS = 256


class CudaRandom:
    """As `streams.BatchRandom`, with arrays of CuPy's: (runs, *shape), each run's from its own stream."""

    def __init__(self, seeds: Sequence[int], purpose: str) -> None:
        self._seeds, self._purpose = seeds, purpose
        self._keys: dict[str, Any] = {}  # by kind, (runs, 4): made when they are first asked for
        self._used = {"uniform": 0, "normal": 0}  # numbers of each run

    def uniform(self, *shape: int) -> Any:
        """Uniform on [0, 1)."""
        return self._draw("uniform", shape)

    def normal(self, *shape: int, deviation: Any = None, mean: Any = None) -> Any:
        """Normal, as `learners.base.Random` says."""
        check_spread(len(self._seeds), shape, deviation, mean)
        return spread_out(self._draw("normal", shape), deviation, mean)

    def _draw(self, kind: str, shape: tuple[int, ...]) -> Any:
        cupy = require("cupy")
        if kind not in self._keys:
            self._keys[kind] = cupy.asarray(keys(self._seeds, self._purpose, kind))
        runs, start, count = len(self._seeds), self._used[kind], prod(shape)
        out = cupy.empty((runs, *shape))
        pairs = (start + count + 1) // 2 - start // 2
        if count:
            numbers = np.int64(runs), np.int64(start), np.int64(count), np.int32(kind == "normal")
            _kernel()((-(-runs * pairs // _THREADS),), (_THREADS,), (self._keys[kind], *numbers, out))
        self._used[kind] = start + count
        return out


def keys(seeds: Sequence[int], purpose: str, kind: str) -> Any:
    """The key words of each run's stream: (runs, 4)."""
    return np.stack([seed_sequence(seed, purpose, kind).generate_state(4, np.uint32) for seed in seeds])


@cache
def _kernel() -> Any:
    source = (Path(__file__).parent / "philox.cu").read_text(encoding="utf-8")
    return require("cupy").RawKernel(source, "draw", options=("--std=c++17",))
