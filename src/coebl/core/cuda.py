"""What CuPy computes in an order that depends on the size of the batch, in one that does not.

A run must not depend on its batch, to the last bit. CuPy hands sums over the last axis to CUB, and `einsum` to cuBLAS,
and both choose how to cut a sum by the size of the whole.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from math import prod
from typing import Any

import numpy as np

from coebl.core.modules import require

_THREADS = 256


_lock = threading.Lock()
_inside = 0  # simulations that are under way, in any thread: the first one changes CuPy, the last one restores it
_restore: list[Callable[[], None]] = []


@contextmanager
def batch_independent() -> Iterator[None]:
    """In this block, CuPy's sums and `numpy.einsum` on its arrays add up in an order that the batch does not change."""
    global _inside
    with _lock:
        if _inside == 0:
            _restore[:] = _without_accelerators(require("cupy"))
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                for restore in _restore:
                    restore()


def _without_accelerators(cupy: Any) -> list[Callable[[], None]]:
    """Change CuPy, and say how to undo it."""
    # Without CUB by private names. The public way, CUPY_ACCELERATORS, is read when CuPy is imported, which the caller
    # may have done before us, and it would change the caller's own sums too.
    core, einsum = cupy._core, cupy.einsum
    reductions, routines = core.get_reduction_accelerators(), core.get_routine_accelerators()
    core.set_reduction_accelerators([])
    core.set_routine_accelerators([])
    cupy.einsum = _Einsum(einsum)  # where NumPy looks for it
    return [
        lambda: core.set_reduction_accelerators(reductions),
        lambda: core.set_routine_accelerators(routines),
        lambda: setattr(cupy, "einsum", einsum),
    ]


class _Einsum:
    """`numpy.einsum` of arrays of floats, with a thread for each number of the result.

    What it cannot do, such as an ellipsis or a repeated letter, is left to CuPy, and may depend on the batch.
    """

    def __init__(self, otherwise: Any) -> None:
        self._otherwise = otherwise

    def __call__(self, subscripts: Any, *operands: Any, **options: Any) -> Any:
        shape = _shape_of(subscripts) if isinstance(subscripts, str) and not set(options) - {"optimize"} else None
        if shape is None or any(operand.dtype != np.float64 for operand in operands):
            return self._otherwise(subscripts, *operands, **options)
        names, output, letters = shape
        sizes, strides = sizes_and_strides(names, operands)
        out = require("cupy").empty([sizes[letter] for letter in output])
        if out.size:
            numbers = [np.int64(sizes[letter]) for letter in letters] + [np.int64(stride) for stride in strides]
            blocks = (-(-out.size // _THREADS),)
            _einsum_kernel(names, output)(blocks, (_THREADS,), (*operands, out, *numbers))
        return out


@cache
def _shape_of(subscripts: str) -> tuple[tuple[str, ...], str, list[str]] | None:
    """The letters of each operand, of the result, and of all; None if the kernel below cannot do it."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    names = tuple(inputs.split(","))
    letters = sorted(set("".join(names)))
    if not arrow:
        output = "".join(letter for letter in letters if inputs.count(letter) == 1)
    known = all(name.isalpha() and len(set(name)) == len(name) for name in names) and set(output) <= set(letters)
    return (names, output, letters) if known and len(set(output)) == len(output) else None


def sizes_and_strides(names: Sequence[str], operands: Sequence[Any]) -> tuple[dict[str, int], list[int]]:
    """The length of each letter, and the step of each axis in numbers: 0 where it has length 1 and is repeated."""
    if [len(name) for name in names] != [operand.ndim for operand in operands]:
        raise ValueError(f"einsum: {','.join(names)} does not fit arrays of {[each.ndim for each in operands]} axes")
    axes = [
        (letter, size, stride // 8)
        for name, operand in zip(names, operands, strict=True)
        for letter, size, stride in zip(name, operand.shape, operand.strides, strict=True)
    ]
    sizes = {letter: 1 for letter, _, _ in axes}
    for letter, size, _ in axes:
        if size != 1 and sizes[letter] not in (1, size):
            raise ValueError(f"einsum: {letter} has length {sizes[letter]} and {size} in {','.join(names)}")
        sizes[letter] = size if size != 1 else sizes[letter]
    return sizes, [stride if size == sizes[letter] else 0 for letter, size, stride in axes]


def einsum_source(names: tuple[str, ...], output: str) -> str:
    """The kernel of an einsum: CUDA C++ with a loop for each letter that is summed over."""
    letters = sorted(set("".join(names)))
    summed = [letter for letter in letters if letter not in output]
    arrays = [f"array{number}" for number in range(len(names))]
    pointers = "".join(f"const double *{array}, " for array in arrays)
    steps = [f"{array}_{place}" for array, name in zip(arrays, names, strict=True) for place in range(len(name))]
    numbers = ", ".join(f"long long {name}" for name in [*(f"n_{letter}" for letter in letters), *steps])
    where = [f"long long {letter} = rest % n_{letter}; rest /= n_{letter};" for letter in reversed(output)]
    loops = [f"for (long long {letter} = 0; {letter} < n_{letter}; {letter}++)" for letter in summed]
    entries = [
        f"{array}[{' + '.join(f'{letter} * {array}_{place}' for place, letter in enumerate(name)) or '0'}]"
        for array, name in zip(arrays, names, strict=True)
    ]
    if loops:  # several loads under way at a time
        loops[-1] = f"\n#pragma unroll 8\n    {loops[-1]}"
    total = " * ".join([f"n_{letter}" for letter in output]) or "1"
    return f"""
extern "C" __global__ void einsum({pointers}double *out, {numbers}) {{
    const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (at >= {total}) return;
    long long rest = at;
    {" ".join(where)}
    double sum = 0;
    {" ".join(loops)} sum += {" * ".join(entries)};
    out[at] = sum;
}}
"""


@cache
def _einsum_kernel(names: tuple[str, ...], output: str) -> Any:
    return require("cupy").RawKernel(einsum_source(names, output), "einsum")


_ADD_UP = """
extern "C" __global__ void add_up(const double *carry, const double *terms, long long rounds, long long width,
                                  double *sums) {
    const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (at >= width) return;
    double sum = carry[at];
    for (long long t = 0; t < rounds; t++) sums[t * width + at] = sum += terms[t * width + at];
}
"""


def add_up(carry: Any, terms: Any) -> Any:
    """`devices.running_sums` on a graphics processor."""
    cupy = require("cupy")
    terms = cupy.ascontiguousarray(terms)
    sums, width = cupy.empty_like(terms), prod(terms.shape[1:])
    numbers = np.int64(len(terms)), np.int64(width)
    _add_up_kernel()((-(-width // _THREADS),), (_THREADS,), (cupy.ascontiguousarray(carry), terms, *numbers, sums))
    return sums


@cache
def _add_up_kernel() -> Any:
    return require("cupy").RawKernel(_ADD_UP, "add_up")


# One entry per run. CuPy's own indexing launches a dozen kernels for it.

_ENTRIES = """
__device__ long long place(long long run, const long long *at, const long long *to, long long m, long long k) {
    return to ? (run * m + at[run]) * k + to[run] : run * m + at[run];
}

extern "C" __global__ void take(const double *array, const long long *at, const long long *to, long long runs,
                                long long m, long long k, double *out) {
    const long long run = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (run < runs) out[run] = array[place(run, at, to, m, k)];
}

extern "C" __global__ void put(double *array, const long long *at, const long long *to, long long runs,
                               long long m, long long k, const double *values) {
    const long long run = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (run < runs) array[place(run, at, to, m, k)] = values[run];
}

extern "C" __global__ void visit(double *count, const long long *at, const long long *to, long long runs,
                                 long long m, long long k, const double *reward, double *mean) {
    const long long run = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (run >= runs) return;
    const long long here = place(run, at, to, m, k);
    const double visits = count[here] += 1, before = mean[here];
    mean[here] = before + (reward[run] - before) / visits;
}
"""


def take_entries(array: Any, at: tuple[Any, ...]) -> Any:
    """`devices.take` on a graphics processor."""
    if not _is_plain(array, at):
        return array[at]
    out = require("cupy").empty(len(array))
    _entries("take", array, at, out)
    return out


def put_entries(array: Any, at: tuple[Any, ...], values: Any) -> None:
    """`devices.put` on a graphics processor."""
    if _is_plain(array, at) and getattr(values, "shape", None) == (len(array),) and _is_plain(values, ()):
        _entries("put", array, at, values)
    else:
        array[at] = values


def count_visits(count: Any, mean: Any, at: tuple[Any, ...], reward: Any) -> None:
    """`devices.count_visit` on a graphics processor."""
    if _is_plain(count, at) and _is_plain(mean, at) and _is_plain(reward, ()):
        _entries("visit", count, at, reward, mean)
    else:
        count[at] += 1
        mean[at] += (reward - mean[at]) / count[at]


def _is_plain(array: Any, at: tuple[Any, ...]) -> bool:
    """Whether the kernels above can do it: two or three axes, all indexed, everything contiguous."""
    whole = all(index.dtype == np.int64 and index.flags.c_contiguous for index in at)
    return bool(array.dtype == np.float64 and array.flags.c_contiguous and whole and len(at) in (0, array.ndim))


def _entries(name: str, array: Any, at: tuple[Any, ...], *others: Any) -> None:
    runs, m, k = (*array.shape, 1)[:3]
    pointers = at[1], at[2] if len(at) > 2 else np.uint64(0)
    numbers = np.int64(runs), np.int64(m), np.int64(k)
    _entries_kernel(name)((-(-runs // _THREADS),), (_THREADS,), (array, *pointers, *numbers, *others))


@cache
def _entries_kernel(name: str) -> Any:
    return require("cupy").RawKernel(_ENTRIES, name)


_FIRST_ABOVE = """
extern "C" __global__ void first_above(const double *policy, const double *uniform, long long runs, long long actions,
                                       long long step, long long *out) {
    const long long run = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (run >= runs) return;
    const double *own = policy + run * actions;
    double total = 0, sum = 0;
    for (long long i = 0; i < actions; i++) total += own[i];
    long long action = 0;
    while (action < actions - 1 && (sum += own[action]) <= uniform[run * step] * total) action++;
    out[run] = action;
}
"""


def first_above(policy: Any, uniform: Any) -> Any:
    """Of every run, the first action whose cumulative probability exceeds the uniform number, (runs, 1): (runs,)."""
    cupy = require("cupy")
    policy = cupy.ascontiguousarray(policy)
    runs, actions = policy.shape
    out = cupy.empty(runs, np.int64)
    numbers = np.int64(runs), np.int64(actions), np.int64(uniform.strides[0] // 8)
    _first_above_kernel()((-(-runs // _THREADS),), (_THREADS,), (policy, uniform, *numbers, out))
    return out


@cache
def _first_above_kernel() -> Any:
    return require("cupy").RawKernel(_FIRST_ABOVE, "first_above")
