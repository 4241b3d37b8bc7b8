"""Streams of random numbers, one per run and purpose, fetched in blocks.

Every run has its generators, derived from its seed and a fixed key per purpose, so that a run is the same in any
batch, and nature's numbers are the same for all players. Noise and uniform numbers are fetched ahead, many at a time:
the sequence of a generator does not depend on how it is cut, so neither does any result.

Normal numbers are drawn as they are needed, by a kernel (`kernels.normals`): equal to NumPy's to the last bit, in a
quarter of the time. Its tables are those of NumPy's ziggurat, which Numba contains too: if another version of NumPy
drew other normal numbers (NEP 19), those of the learners would stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from math import prod
from typing import Any

import numpy as np
from numba.np.random._constants import fi_double, ki_double, wi_double, ziggurat_nor_inv_r, ziggurat_nor_r

from coebl.core.arrays import Floats, Ints
from coebl.core.errors import InputError
from coebl.kernels.normals import fill_normal
from coebl.solver.interruptible import in_second_thread

Fill = Callable[[np.random.Generator, Floats], object]  # fills an array with numbers

NATURE = 0  # the key of nature's numbers; changing a key changes every run
_KINDS = {"noise": 0, "uniform": 1, "normal": 2}
AHEAD = 4096  # at least this many numbers per run are fetched at a time, unless there are very many runs
_NONE = np.empty((1, 0))  # no deviation, no mean
_MOST = 1 << 21  # numbers of all runs that are fetched ahead at a time: 16 MiB


def actions_key(seat: int) -> int:
    """Return the key of the numbers with which the actions of a seat are drawn.

    >>> [actions_key(seat) for seat in range(4)], [learner_key(seat) for seat in range(4)]
    ([1, 2, 5, 7], [3, 4, 6, 8])
    """
    return 1 + seat if seat < 2 else 1 + 2 * seat  # at first there were two seats


def learner_key(seat: int) -> int:
    """Return the key of the private numbers of the learner in a seat."""
    return 3 + seat if seat < 2 else 2 + 2 * seat


def generator(seed: int, key: int, kind: str) -> np.random.Generator:
    """Return the generator of one run for one purpose and one kind of numbers."""
    return np.random.Generator(np.random.SFC64(seed_sequence(seed, key, kind)))  # NumPy's fastest


def seed_sequence(seed: int, key: int, kind: str) -> np.random.SeedSequence:
    """Return the seed sequence of one run for one purpose and one kind of numbers."""
    return np.random.SeedSequence(seed, spawn_key=(key, _KINDS[kind]))


def fill_uniform(random: np.random.Generator, out: Floats) -> None:
    """Fill an array with numbers that are uniform on [0, 1)."""
    random.random(out=out)


class Stream:
    """One kind of random numbers for every run of a batch."""

    def __init__(
        self,
        generators: Sequence[np.random.Generator],
        fill: Fill,
        ahead: int = AHEAD,
        place: Callable[[Floats], Any] = np.asarray,  # copies numbers to the device where they are used
    ) -> None:
        self._generators, self._fill, self._place = generators, fill, place
        self._ahead = min(ahead, _MOST // len(generators))
        self._buffer = self._there = np.empty((len(generators), 0))  # on the CPU, and on the device
        self._used = 0

    def take(self, count: int) -> Floats:
        """Return the next numbers of every run: (runs, count)."""
        end = self._used + count
        if end > self._buffer.shape[1]:
            left = self._buffer[:, self._used :]
            fresh = max(count - left.shape[1], self._ahead)
            buffer = np.empty((len(self._generators), left.shape[1] + fresh))
            buffer[:, : left.shape[1]] = left
            for run, random in enumerate(self._generators):
                self._fill(random, buffer[run, left.shape[1] :])
            self._buffer, self._used, end = buffer, 0, count
            self._there = self._place(buffer)
        taken: Floats = self._there[:, self._used : end]
        self._used = end
        return taken

    def select(self, runs: Ints) -> None:
        """Keep only the runs with these indices."""
        self._generators = [self._generators[run] for run in runs]
        self._buffer = self._there = self._place(self._buffer[runs])


class CompiledNormals:
    """Normal numbers drawn by the kernel, from the states of generators, one per run."""

    def __init__(self, generators: Sequence[np.random.Generator]) -> None:
        compile_normals()
        self._tables = read_tables()
        self.states = np.stack([random.bit_generator.state["state"]["state"] for random in generators])  # (runs, 4)

    def take(self, shape: tuple[int, ...], deviation: Floats | None, mean: Floats | None) -> Floats:
        """Return the next numbers of every run, (runs, *shape), as a new array. `check_spread` checks the arguments."""
        runs = len(self.states)
        out = np.empty((runs, *shape))
        given = deviation if mean is None else mean
        numbers = prod(shape if given is None else given.shape[1:])
        if out.size:
            spread = (
                _NONE if array is None else _as_memory(array).reshape(runs, numbers) for array in (deviation, mean)
            )
            fill_normal(self.states, self._tables, *spread, out.reshape(runs, -1, numbers))
        return out

    def select(self, runs: Ints) -> None:
        """Keep only the runs with these indices."""
        self.states = self.states[runs]

    def check_restored(self) -> None:
        """Check the states read from a file, and restore the tables; the kernel accesses both by address."""
        self._tables = read_tables()
        self.states = np.array(self.states, np.uint64).reshape(-1, 4)


class BatchRandom:
    """A learner's private random numbers on the CPU (`learners.Random`): (runs, *shape), one stream per run."""

    def __init__(self, seeds: Sequence[int], key: int) -> None:
        self._seeds, self._key = seeds, key

    def uniform(self, *shape: int) -> Floats:
        return self._uniform.take(prod(shape)).reshape(len(self._seeds), *shape)

    def normal(self, *shape: int, deviation: Floats | None = None, mean: Floats | None = None) -> Floats:
        check_spread(len(self._seeds), shape, deviation, mean)
        return self._normal.take(shape, deviation, mean)

    # Made when they are first needed: most learners use one of them, or none.

    @cached_property
    def _uniform(self) -> Stream:
        return Stream(self._generators("uniform"), fill_uniform)

    @cached_property
    def _normal(self) -> CompiledNormals:
        return CompiledNormals(self._generators("normal"))

    def select(self, runs: Ints) -> None:
        """Keep only the runs with these indices, in their order."""
        self._seeds = [self._seeds[run] for run in runs]
        if "_uniform" in vars(self):
            self._uniform.select(runs)
        if "_normal" in vars(self):
            self._normal.select(runs)

    def _generators(self, kind: str) -> list[np.random.Generator]:
        return [generator(seed, self._key, kind) for seed in self._seeds]


def check_spread(runs: int, shape: tuple[int, ...], deviation: Any, mean: Any) -> None:
    """Reject a deviation or a mean that does not fit numbers of shape (runs, *shape)."""
    for name, array in (("deviation", deviation), ("mean", mean)):
        if array is None:
            continue
        given = np.shape(array)
        if given[:1] != (runs,) or given[1:] != shape[len(shape) - len(given) + 1 :]:
            raise InputError(
                f"{name} has shape {given}, for normal numbers of shape {(runs, *shape)}; accepted: (runs, ...) "
                "with the last axes of the numbers."
            )
    if deviation is not None and mean is not None and deviation.shape != mean.shape:
        raise InputError(f"deviation has shape {deviation.shape} and mean {mean.shape}; accepted: one shape for both.")


def spread_out(standard: Any, deviation: Any, mean: Any) -> Any:
    """Scale and shift standard normal numbers, (runs, *shape) of any library, in place, rounded as by the kernel."""
    spread = standard
    if deviation is not None:
        spread = spread.reshape((len(standard), -1, *deviation.shape[1:]))
        spread *= deviation[:, None]
    if mean is not None:
        spread = spread.reshape((len(standard), -1, *mean.shape[1:]))
        spread += mean[:, None]
    return spread.reshape(standard.shape)


@cache
def compile_normals() -> None:
    """Compile the kernel, or load it from the cache of compiled code."""
    state = np.zeros((1, 4), np.uint64)
    in_second_thread(lambda: fill_normal(state, read_tables(), _NONE, _NONE, np.empty((1, 1, 1))))


@cache
def read_tables() -> Floats:
    """Return the tables of NumPy's ziggurat, as `kernels.normals` describes them."""
    layers = np.stack([np.tile(ki_double.astype(np.float64), 2), np.append(wi_double, -wi_double)], axis=1)
    return np.concatenate([layers.ravel(), fi_double, [ziggurat_nor_r, ziggurat_nor_inv_r]])


def _as_memory(array: Floats) -> Floats:
    """Return an array as the kernel needs it: contiguous, writable, aligned."""
    plain = np.ascontiguousarray(array, np.float64)
    return plain if plain.flags.behaved else plain.copy()
