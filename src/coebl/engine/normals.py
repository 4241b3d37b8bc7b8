"""Normal numbers for every run of a batch: NumPy's to the last bit, in a quarter of its time.

They are drawn by a kernel, `kernels.normals`. Which numbers a generator draws is for NumPy to say, and another
version of NumPy may draw others (NEP 19). So the kernel's tables are read off NumPy's own numbers, and once in every
process the kernel has to draw the numbers that NumPy draws. If it does not, it is not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import exp, prod
from typing import Any

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.errors import InputError
from coebl.kernels.normals import LAYERS, POINTS, fill_normal
from coebl.solver.interruptible import in_second_thread

_NONE = np.empty((1, 0))  # no deviation, no mean
_ROUNDED_UP = 38  # the layer at whose edge NumPy's density is one bit above exp's


class CompiledNormals:
    """The normal numbers of generators, one per run, whose states it takes over."""

    def __init__(self, generators: Sequence[np.random.Generator]) -> None:
        compile_normals()
        self._tables = read_tables()
        self.states = np.stack([random.bit_generator.state["state"]["state"] for random in generators])  # (runs, 4)

    def take(self, shape: tuple[int, ...], deviation: Floats | None, mean: Floats | None) -> Floats:
        """The next numbers of every run, (runs, *shape), a new array. Deviation and mean fit, says `check_spread`."""
        runs = len(self.states)
        out = np.empty((runs, *shape))
        given = deviation if mean is None else mean
        numbers = prod(shape if given is None else given.shape[1:])
        if out.size:
            spread = (_NONE if array is None else _as_memory(array).reshape(runs, -1) for array in (deviation, mean))
            fill_normal(self.states, self._tables, *spread, out.reshape(runs, -1, numbers))
        return out


def check_spread(runs: int, shape: tuple[int, ...], deviation: Any, mean: Any) -> None:
    """Refuse a deviation or a mean that does not fit numbers of shape (runs, *shape)."""
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
    """Standard normal numbers, (runs, *shape), with this deviation and mean, as the kernel rounds them. Changes them.

    For arrays of any library.
    """
    spread = standard
    if deviation is not None:
        spread = spread.reshape((len(standard), -1, *deviation.shape[1:]))
        spread *= deviation[:, None]
    if mean is not None:
        spread = spread.reshape((len(standard), -1, *mean.shape[1:]))
        spread += mean[:, None]
    return spread.reshape(standard.shape)


@cache
def agrees_with_numpy() -> bool:
    """Whether the kernel draws what NumPy draws: 262,144 numbers, of which 67 or so are from the tail."""
    runs, numbers = 16, 16_384
    generators = [np.random.Generator(np.random.SFC64(seed)) for seed in range(runs)]
    ours = CompiledNormals(generators).take((numbers,), None, None)
    theirs = np.stack([random.standard_normal(numbers) for random in generators])
    return ours.tobytes() == theirs.tobytes()


@cache
def compile_normals() -> None:
    """Compile the kernel, or load it from the cache of compiled code."""
    state = np.zeros((1, 4), np.uint64)
    in_second_thread(lambda: fill_normal(state, read_tables(), _NONE, _NONE, np.empty((1, 1, 1))))


@cache
def read_tables() -> Floats:
    """The tables of NumPy's ziggurat, as `kernels.normals` describes them.

    The next 64 bits of SFC64 are the sum of three of the numbers in its state, so one can have them be what one likes.
    Here they are point 1 of a layer, with sign +. NumPy then returns the width of a point, from which all else follows.
    """
    bits = np.random.SFC64(0)
    random, state = np.random.Generator(bits), bits.state
    width = np.empty(LAYERS)
    for layer in range(LAYERS):
        state["state"]["state"] = np.array([1 << 9 | layer, 0, 0, 0], np.uint64)
        bits.state = state
        width[layer] = random.standard_normal()
    edge = width * POINTS  # exact
    tail = edge[-1]
    above = np.roll(edge, 1)  # the edge of the layer above; the lowest layer is number 0, and continues in the tail
    above[1] = 0.0
    refused = np.rint(above / edge * POINTS)
    density = np.array([exp(-0.5 * x * x) for x in edge])
    density[0] = 1.0
    density[_ROUNDED_UP] = np.nextafter(density[_ROUNDED_UP], 1.0)
    layers = np.stack([np.tile(refused, 2), np.append(width, -width)], axis=1)
    return np.concatenate([layers.ravel(), density, [tail, 1 / tail]])


def _as_memory(array: Floats) -> Floats:
    """An array as the kernel takes it, which is compiled for plain arrays."""
    plain = np.ascontiguousarray(array, np.float64)
    return plain if plain.flags.behaved else plain.copy()
