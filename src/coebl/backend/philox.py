"""A learner's random numbers on a GPU: counter-based, so that a run is the same in any batch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from coebl.backend.streams import check_spread, seed_sequence

_THREADS = 256
_MOST_BLOCKS = 65535  # in the second dimension of a grid
_NOTHING = np.uint64(0)  # in place of an array


class CudaRandom:
    """As `streams.BatchRandom`, with CuPy arrays: (runs, *shape), one stream per run."""

    def __init__(self, cupy: Any, seeds: Sequence[int], key: int) -> None:
        self._cupy, self._seeds, self._key = cupy, seeds, key
        self._keys: dict[str, Any] = {}  # by kind, (runs, 4): made when they are first needed
        self._used = {"uniform": 0, "normal": 0}  # numbers of each run

    def uniform(self, *shape: int) -> Any:
        return self._draw("uniform", shape)

    def normal(self, *shape: int, deviation: Any = None, mean: Any = None) -> Any:
        check_spread(len(self._seeds), shape, deviation, mean)
        return self._draw("normal", shape, deviation, mean)

    def _draw(self, kind: str, shape: tuple[int, ...], deviation: Any = None, mean: Any = None) -> Any:
        cupy = self._cupy
        if kind not in self._keys:
            self._keys[kind] = cupy.asarray(keys(self._seeds, self._key, kind))
        runs, start, count = len(self._seeds), self._used[kind], prod(shape)
        out = cupy.empty((runs, *shape))
        self._used[kind] = start + count
        if out.size == 0:
            return out
        spread = [None if array is None else cupy.ascontiguousarray(array, "f8") for array in (deviation, mean)]
        given = [array for array in spread if array is not None]
        width = given[0].size // runs if given else count
        whole = all(number % 2 == 0 for number in (start, count, width)) and all(a.data.ptr % 16 == 0 for a in given)
        numbers = np.int64(start), np.int64(count), np.int32(kind == "normal")
        pointers = [_NOTHING if array is None else array for array in spread]
        pairs = (start + count + 1) // 2 - start // 2
        threads = min(_THREADS, -(-pairs // 32) * 32)
        grid = runs, min(_MOST_BLOCKS, -(-pairs // threads))
        _kernel(cupy)(grid, (threads,), (self._keys[kind], *numbers, *pointers, np.int64(width), np.int32(whole), out))
        return out


def keys(seeds: Sequence[int], key: int, kind: str) -> Any:
    """Return the key words of each run's stream: (runs, 4)."""
    return np.stack([seed_sequence(seed, key, kind).generate_state(4, np.uint32) for seed in seeds])


@cache
def _kernel(cupy: Any) -> Any:
    source = (Path(__file__).parent / "philox.cu").read_text(encoding="utf-8")
    return cupy.RawKernel(source, "draw", options=("--std=c++17",))
