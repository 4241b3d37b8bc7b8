"""The backend on a GPU: CuPy, and kernels for operations that it does slowly, or in an order that depends on the batch.

A run must not depend on its batch, to the last bit. CuPy passes sums over the last axis to CUB, and `einsum` to cuBLAS,
and both split a sum by the size of the array. A learner's random numbers are counter-based, so that a run
is the same in any batch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from math import inf, prod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from coebl.backend import Backend, Device, Shape, Solver, Ties, is_out_of_memory
from coebl.backend.streams import check_spread, seed_sequence
from coebl.core.errors import InputError
from coebl.core.modules import require
from coebl.core.text import one_line
from coebl.games import is_zero_sum
from coebl.games.spaces import Indices, Space

_LEAST_CAPABILITY = 80  # 8.0: the solver's kernel uses instructions that came with it
_THREADS = 256
_MOST_BLOCKS = 65535  # in the second dimension of a grid
_NOTHING = np.uint64(0)  # in place of an array

_lock = threading.Lock()
_inside = 0  # simulations in progress, in any thread: the first changes CuPy, the last restores it
_accelerators: list[Any] = []  # of reductions and of routines, as they were before


class CudaBackend(Backend):
    """CuPy on a GPU. Raises an `InputError` if no GPU can be used. `Backend` describes the methods."""

    device: ClassVar[Device] = "cuda"
    is_gpu: ClassVar[bool] = True
    block_bytes: ClassVar[int] = 256 * 2**20
    block_seconds: ClassVar[float] = inf
    seeds_per_cell: ClassVar[int] = 1000  # a GPU is idle with fewer
    workers: ClassVar[int | None] = 1  # several would share one GPU

    @classmethod
    def reason_not_to_run(cls, game: Any = None, search: object = None, keep: Collection[str] = ()) -> str:
        if search is not None:
            return f"{search} is a search"
        if game is not None and not is_zero_sum(game):
            return f"{game.spec or game.name} is not a zero-sum matrix game"
        return "keep has beliefs" if "beliefs" in keep else ""

    def __init__(self) -> None:
        self.arrays = _usable_cupy()

    @property
    def versions(self) -> dict[str, str]:
        cuda = self.arrays.cuda.runtime.runtimeGetVersion()  # 13020 is 13.2
        return {
            "cupy": self.arrays.__version__,
            "cuda": f"{cuda // 1000}.{cuda % 1000 // 10}",
            "nvrtc": ".".join(map(str, self.arrays.cuda.nvrtc.getVersion())),
            "device": self.arrays.cuda.runtime.getDeviceProperties(0)["name"].decode(),
        }

    def to_host(self, array: Any) -> Any:
        return self.arrays.asnumpy(array)

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Let CuPy sum without CUB in this block, in an order that does not depend on the batch.

        CuPy has one setting for the whole process, so the sums of other threads change too while a simulation runs. A
        smaller scope is not possible: learners and metrics, also custom ones, call NumPy's sums at any time.
        """
        # This uses private names. The public setting, CUPY_ACCELERATORS, is read when CuPy is imported, which may have
        # happened already, and it would change the caller's sums too.
        global _inside
        core = self.arrays._core
        with _lock:
            if _inside == 0:
                _accelerators[:] = core.get_reduction_accelerators(), core.get_routine_accelerators()
                core.set_reduction_accelerators([])
                core.set_routine_accelerators([])
            _inside += 1
        try:
            yield
        finally:
            with _lock:
                _inside -= 1
                if _inside == 0:
                    core.set_reduction_accelerators(_accelerators[0])
                    core.set_routine_accelerators(_accelerators[1])

    def random(self, seeds: Sequence[int], key: int) -> _CudaRandom:
        return _CudaRandom(self.arrays, seeds, key)

    def maximin(
        self, shape: Shape, ties: Ties = "first", many_ties: bool = False, number: int = 1, remember: bool = True
    ) -> Solver:
        from coebl.solver.cuda import CudaMaximin

        return CudaMaximin(shape, ties=ties, many_ties=many_ties, unsolved=self.unsolved, number=number)

    def defer_failures(self, runs: int) -> None:
        self.unsolved = self.arrays.zeros(runs, bool)

    def einsum(self, subscripts: str, *operands: Any) -> Any:
        """Return `numpy.einsum` of arrays of floats, with a thread for each number of the result.

        Operands that the kernel cannot handle, such as an ellipsis or a repeated letter, are left to CuPy, whose sums
        may depend on the batch.
        """
        shape = _shape_of(subscripts)
        if shape is None or any(operand.dtype != np.float64 for operand in operands):
            return self.arrays.einsum(subscripts, *operands)
        names, output, letters = shape
        sizes, strides = sizes_and_strides(names, operands)
        out = self.arrays.empty([sizes[letter] for letter in output])
        if out.size:
            numbers = [np.int64(sizes[letter]) for letter in letters] + [np.int64(stride) for stride in strides]
            _launch(_einsum_kernel(names, output), out.size, *operands, out, *numbers)
        return out

    def take(self, array: Any, index: tuple[Any, ...]) -> Any:
        """As in `Backend`, at a fraction of the cost of CuPy's indexing, which launches a dozen kernels."""
        if not _is_plain(array, index):
            return super().take(array, index)
        out = self.arrays.empty(len(array))
        _entries("take", array, index, out)
        return out

    def put(self, array: Any, index: tuple[Any, ...], values: Any) -> None:
        if _is_plain(array, index) and getattr(values, "shape", None) == (len(array),) and _is_plain(values, ()):
            _entries("put", array, index, values)
        else:
            super().put(array, index, values)

    def count_visit(self, count: Any, mean: Any, index: tuple[Any, ...], reward: Any) -> None:
        if _is_plain(count, index) and _is_plain(mean, index) and _is_plain(reward, ()):
            _entries("visit", count, index, reward, mean)
        else:
            super().count_visit(count, mean, index, reward)

    def running_sums(self, carry: Any, terms: Any) -> Any:
        terms, carry = map(self.arrays.ascontiguousarray, (terms, carry))
        sums, width = self.arrays.empty_like(terms), prod(terms.shape[1:])
        _launch(_kernel("add_up"), width, carry, terms, np.int64(len(terms)), np.int64(width), sums)
        return sums

    def gram(self, a: Any) -> Any:
        return np.matmul(a.swapaxes(1, 2), a)

    def solve_positive(self, matrices: Any, right: Any) -> Any:
        return np.linalg.solve(matrices, right[:, :, None])[:, :, 0]

    def draw(self, space: Space, policy: Any, uniform: Any) -> Any:
        if not isinstance(space, Indices):
            return space.draw(policy, uniform)
        policy = self.arrays.ascontiguousarray(policy)
        runs, actions = policy.shape
        out = self.arrays.empty(runs, np.int64)
        numbers = np.int64(runs), np.int64(actions), np.int64(uniform.strides[0] // 8)
        _launch(_kernel("first_above"), runs, policy, uniform, *numbers, out)
        return out

    def runs_that_fit(self, play: Callable[[int], None]) -> str:

        def taken(runs: int) -> int:
            pool.free_all_blocks()
            before = pool.total_bytes()
            play(runs)
            return int(pool.total_bytes() - before)

        pool = self.arrays.get_default_memory_pool()
        try:
            taken(1)  # kernels allocate their memory
            per_run = max(1.0, (taken(96) - taken(32)) / 64)
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            return "fewer than 96"
        pool.free_all_blocks()
        free, _ = self.arrays.cuda.runtime.memGetInfo()
        if pool.get_limit():
            free = min(free, pool.get_limit() - pool.total_bytes())
        return f"about {max(1, int(0.8 * free / per_run)):,}"


def _usable_cupy() -> Any:
    """Import CuPy, and check that it finds its compiler and a GPU that is new enough."""
    no_gpu = 'CuPy finds no GPU ({}); use device "cpu", or install NVIDIA\'s driver on a machine that has one.'
    try:
        cupy = require("cupy")
    except ImportError as error:  # CuPy is installed, but lacks a library
        again = "use device \"cpu\", or install it again: pip install 'coebl[cuda]'"
        raise _unusable(f"CuPy cannot be imported ({one_line(error)}); {again}") from None
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise _unusable(no_gpu.format(error)) from None
    if count == 0:
        raise _unusable(no_gpu.format("none found"))
    capability = int(cupy.cuda.Device().compute_capability)  # 90 means 9.0
    if capability < _LEAST_CAPABILITY:
        accepted = f'{_LEAST_CAPABILITY / 10} or more. Use device "cpu".'
        raise _unusable(f"the GPU has compute capability {capability / 10}; accepted: {accepted}")
    try:
        cupy.cuda.nvrtc.getVersion()  # loads NVRTC now, not when CuPy first compiles
    except Exception as error:  # RuntimeError, or an error of the package that locates it
        package = f'"cupy-cuda{cupy.cuda.runtime.runtimeGetVersion() // 1000}x[ctk]"'
        raise _unusable(
            f"CuPy cannot load NVRTC, CUDA's compiler ({one_line(error)}); install it: pip install {package}, or use "
            'device "cpu".'
        ) from None
    return cupy


def _unusable(reason: str) -> InputError:
    return InputError(f'device is "cuda", and {reason}')


def _launch(kernel: Any, threads: int, *arguments: Any) -> None:
    kernel((-(-threads // _THREADS),), (_THREADS,), arguments)


@cache
def _kernel(name: str, file: str = "entries.cu") -> Any:
    source = (Path(__file__).parent / file).read_text(encoding="utf-8")
    return require("cupy").RawKernel(source, name, options=("--std=c++17",))


@cache
def _shape_of(subscripts: str) -> tuple[tuple[str, ...], str, list[str]] | None:
    """Return the letters of each operand, of the result, and of all operands; None if the kernel does not apply."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    names = tuple(inputs.split(","))
    letters = sorted(set("".join(names)))
    if not arrow:
        output = "".join(letter for letter in letters if inputs.count(letter) == 1)
    known = all(name.isalpha() and len(set(name)) == len(name) for name in names) and set(output) <= set(letters)
    return (names, output, letters) if known and len(set(output)) == len(output) else None


def sizes_and_strides(names: Sequence[str], operands: Sequence[Any]) -> tuple[dict[str, int], list[int]]:
    """Return the length of each letter, and the step of each axis: 0 where an axis of length 1 is broadcast."""
    if [len(name) for name in names] != [operand.ndim for operand in operands]:
        raise ValueError(
            f"einsum: {','.join(names)} does not fit arrays of {[operand.ndim for operand in operands]} axes"
        )
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


@cache
def _einsum_kernel(names: tuple[str, ...], output: str) -> Any:
    """Return an einsum kernel: CUDA C++ with a loop for each letter that is summed over."""
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
    if loops:  # several loads in flight at a time
        loops[-1] = f"\n#pragma unroll 8\n    {loops[-1]}"
    total = " * ".join([f"n_{letter}" for letter in output]) or "1"
    source = f"""
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
    return require("cupy").RawKernel(source, "einsum")


def _is_plain(array: Any, index: tuple[Any, ...]) -> bool:
    """Return true if the kernels of entries.cu apply: two or three axes, all indexed, everything contiguous."""
    whole = all(part.dtype == np.int64 and part.flags.c_contiguous for part in index)
    return bool(array.dtype == np.float64 and array.flags.c_contiguous and whole and len(index) in (0, array.ndim))


def _entries(name: str, array: Any, index: tuple[Any, ...], *others: Any) -> None:
    runs, m, k = (*array.shape, 1)[:3]
    pointers = index[1], index[2] if len(index) > 2 else _NOTHING
    _launch(_kernel(name), runs, array, *pointers, np.int64(runs), np.int64(m), np.int64(k), *others)


class _CudaRandom:
    """As `streams.BatchRandom`, with CuPy arrays: (runs, *shape), one stream per run."""

    def __init__(self, cupy: Any, seeds: Sequence[int], key: int) -> None:
        self._cupy, self._seeds, self._key = cupy, seeds, key
        self._keys: dict[str, Any] = {}  # by kind, (runs, 4): made when they are first needed
        self._used = {"uniform": 0, "normal": 0}  # numbers drawn by each run

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
        _kernel("draw", "philox.cu")(
            grid, (threads,), (self._keys[kind], *numbers, *pointers, np.int64(width), np.int32(whole), out)
        )
        return out


def keys(seeds: Sequence[int], key: int, kind: str) -> Any:
    """Return the key words of each run's stream: (runs, 4)."""
    return np.stack([seed_sequence(seed, key, kind).generate_state(4, np.uint32) for seed in seeds])
