"""Streams of random numbers: one set per run, by purpose, fetched in blocks.

Every run has its own generators, derived from its seed and a fixed key per purpose, so that a run is the same in any
batch, and nature's numbers are the same whoever plays. Noise and uniform numbers are fetched ahead, many at a time: the
sequence that a generator yields does not depend on how it is cut, so neither does any result. Normal numbers are drawn
as they are needed, by a kernel (`normals`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from coebl.core.arrays import Floats
from coebl.engine.normals import CompiledNormals, agrees_with_numpy, check_spread, spread_out

_KEYS = {  # one per purpose, for ever: a change here changes every run
    "nature": 0,
    "row actions": 1,
    "column actions": 2,
    "row learner": 3,
    "column learner": 4,
}
_KINDS = {"noise": 0, "uniform": 1, "normal": 2}
AHEAD = 4096  # numbers per run that are fetched at a time, at least, unless there are very many runs
_MOST = 1 << 21  # numbers of all runs that are fetched ahead at a time: 16 MiB


def generator(seed: int, purpose: str, kind: str) -> np.random.Generator:
    """The generator of one run for one purpose and one kind of numbers."""
    return np.random.Generator(np.random.SFC64(seed_sequence(seed, purpose, kind)))  # NumPy's fastest


def seed_sequence(seed: int, purpose: str, kind: str) -> np.random.SeedSequence:
    """What the numbers of one run for one purpose and of one kind are derived from."""
    return np.random.SeedSequence(seed, spawn_key=(_KEYS[purpose], _KINDS[kind]))


class Stream:
    """One kind of random numbers for every run of a batch."""

    def __init__(
        self,
        generators: Sequence[np.random.Generator],
        fill: Callable[[np.random.Generator, Floats], object],  # draws as many numbers as the array holds, into it
        ahead: int = AHEAD,
        arrays: Any = np,  # the library of the arrays that it returns
    ) -> None:
        self._generators = generators
        self._arrays = arrays
        self._fill = fill
        self._ahead = min(ahead, _MOST // len(generators))
        self._buffer = self._there = np.empty((len(generators), 0))  # the latter is where it is used
        self._used = 0

    def take(self, count: int) -> Floats:
        """The next numbers of every run: (runs, count)."""
        end = self._used + count
        if end > self._buffer.shape[1]:
            left = self._buffer[:, self._used :]
            fresh = max(count - left.shape[1], self._ahead)
            buffer = np.empty((len(self._generators), left.shape[1] + fresh))
            buffer[:, : left.shape[1]] = left
            for run, random in enumerate(self._generators):
                self._fill(random, buffer[run, left.shape[1] :])
            self._buffer, self._used, end = buffer, 0, count
            self._there = self._arrays.asarray(buffer)
        taken: Floats = self._there[:, self._used : end]
        self._used = end
        return taken


class NumpyNormals:
    """Normal numbers drawn by NumPy: what `CompiledNormals` is held to, and what stands in where it cannot be used."""

    def __init__(self, generators: Sequence[np.random.Generator], ahead: int = AHEAD, arrays: Any = np) -> None:
        self._runs = len(generators)
        self._stream = Stream(generators, lambda random, out: random.standard_normal(out=out), ahead, arrays)

    def take(self, shape: tuple[int, ...], deviation: Floats | None, mean: Floats | None) -> Floats:
        """As `CompiledNormals.take`."""
        standard = self._stream.take(prod(shape)).reshape(self._runs, *shape)
        spread: Floats = spread_out(standard, deviation, mean)
        return spread


class BatchRandom:
    """A learner's private random numbers: every call returns (runs, *shape), each run's from its own stream."""

    def __init__(self, seeds: Sequence[int], purpose: str, ahead: int = AHEAD, arrays: Any = np) -> None:
        self._seeds, self._purpose, self._ahead, self._arrays = seeds, purpose, ahead, arrays

    def uniform(self, *shape: int) -> Floats:
        """Uniform on [0, 1)."""
        return self._uniform.take(prod(shape)).reshape(len(self._seeds), *shape)

    def normal(self, *shape: int, deviation: Floats | None = None, mean: Floats | None = None) -> Floats:
        """Normal, as `learners.base.Random` says."""
        check_spread(len(self._seeds), shape, deviation, mean)
        return self._normal.take(shape, deviation, mean)

    # Made when they are first asked for: most learners use one of them, or none.

    @cached_property
    def _uniform(self) -> Stream:
        return Stream(
            self._generators("uniform"), lambda random, out: random.random(out=out), self._ahead, self._arrays
        )

    @cached_property
    def _normal(self) -> CompiledNormals | NumpyNormals:
        generators = self._generators("normal")
        if self._arrays is np and agrees_with_numpy():
            return CompiledNormals(generators)
        return NumpyNormals(generators, self._ahead, self._arrays)

    def _generators(self, kind: str) -> list[np.random.Generator]:
        return [generator(seed, self._purpose, kind) for seed in self._seeds]
