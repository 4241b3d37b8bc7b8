"""Devices: NumPy on the CPU, or CuPy on a GPU, behind one `Backend`. Only `backend_class` chooses between them.

Most code receives arrays and calls NumPy's functions on them, which dispatch to the array's library (NEP 13, 18 and
35). A backend provides the rest for learners, metrics and the engine: arrays, random numbers, the solver, and
operations that CuPy does slowly, or in an order that depends on the size of the batch.

>>> from coebl.backend import backend_for
>>> backend = backend_for("cpu")
>>> backend.device, backend.einsum("ri,ri->r", backend.arrays.ones((2, 3)), backend.arrays.ones((2, 3)))
('cpu', array([3., 3.]))
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import pi
from typing import Any, ClassVar, Literal, get_args, overload

import numpy as np

from coebl.backend.streams import AHEAD, BatchRandom, Fill, Stream, generator
from coebl.core.arrays import Floats
from coebl.core.errors import InputError, shorten
from coebl.games.spaces import Space
from coebl.kernels import elementary
from coebl.solver import BatchSolution, Maximin


class Function:
    """An elementwise function of numbers and arrays, with the same bits on every CPU.

    Learners, metrics and noises use these functions: the last bits of NumPy's exp and log depend on the features of the
    CPU, and those of the C library may. `numpy.sqrt` and the four operations do not; write a power as a product or a
    root. Arrays of other libraries are dispatched to them, as by NumPy (NEP 13): a GPU has its own exp and log.

    Args:
        name: the name of the function in other libraries.
        fill: a function that fills the last of its contiguous arrays from the others.
        elsewhere: a function for arrays of a library that has none of this name.

    >>> exp(np.array([0.0, 1.0])), log(2)
    (array([1.        , 2.71828183]), 0.6931471805599453)
    """

    def __init__(self, name: str, fill: Callable[..., None], elsewhere: Callable[..., Any]) -> None:
        self.__name__ = name
        self._fill, self._elsewhere = fill, elsewhere

    @overload
    def __call__(self, x: float) -> float: ...

    @overload
    def __call__(self, x: Floats, *more: Floats) -> Floats: ...

    def __call__(self, x: Any, *more: Any) -> Any:
        """Return the function of every entry: an array of the same shape, or a float for a number."""
        if isinstance(x, (float, int, np.generic)):
            number = np.empty(1)
            self._fill(np.array([x], np.float64), number)
            return float(number[0])
        if not isinstance(x, np.ndarray):
            result = x.__array_ufunc__(self, "__call__", x, *more)
            return self._elsewhere(x, *more) if result is NotImplemented else result
        arrays = [np.array(array) for array in np.broadcast_arrays(x, *more)] if more else [x]
        out = np.empty(arrays[0].shape)
        self._fill(*(np.ascontiguousarray(array, np.float64).reshape(-1) for array in arrays), out.reshape(-1))
        return out


exp = Function("exp", elementary.fill_exp, np.exp)
"""e^x."""
expm1 = Function("expm1", elementary.fill_expm1, np.expm1)
"""e^x - 1, exact to rounding for small x too."""
log = Function("log", elementary.fill_log, np.log)
"""The natural logarithm of x."""
log1p = Function("log1p", elementary.fill_log1p, np.log1p)
"""log(1 + x), exact to rounding for small x too."""
rel_entr = Function(
    "rel_entr",
    elementary.fill_relative_entropy,
    lambda p, q: np.where((p == 0) & (q >= 0), 0.0, np.where(p > 0, p * np.log(p / q), np.inf)),
)
"""p log(p / q): 0 where p is 0, and infinite where only q is."""
cos_of_turns = Function("cos_of_turns", elementary.fill_cos_of_turns, lambda x: np.cos(2 * pi * x))
"""cos(2 pi x)."""


Device = Literal["cpu", "cuda"]
Shape = tuple[int, int, int]
Ties = Literal["first"] | Callable[[], Floats]
Solver = Callable[[Floats], BatchSolution]
DEVICES: tuple[Device, ...] = get_args(Device)


def check_device(device: object) -> Device:
    """Return the name of a device, checked.

    >>> check_device("gpu")
    Traceback (most recent call last):
    ...
    coebl.core.errors.InputError: device is 'gpu'; accepted: cpu, cuda.
    """
    for known in DEVICES:
        if device == known:
            return known
    raise InputError(f"device is {shorten(device)}; accepted: {', '.join(DEVICES)}.")


def is_out_of_memory(error: BaseException) -> bool:
    """Return True if an error is CuPy's error for lack of memory, without importing CuPy."""
    return type(error).__name__ == "OutOfMemoryError"


class Backend:
    """NumPy on the CPU. A backend for another device overrides the methods that differ there.

    The argument `index` of its methods is the index of one entry per run, from `Seat.at`.
    """

    device: ClassVar[Device] = "cpu"
    arrays: Any = np  # the library of its arrays
    is_gpu: ClassVar[bool] = False  # for messages; what differs on a GPU is in the other attributes and the methods
    block_bytes: ClassVar[int] = 16 * 2**20  # of policies that are collected before the metrics are computed
    block_seconds: ClassVar[float] = 1.0  # that the rounds of these policies should take at most
    seeds_per_cell: ClassVar[int] = 50  # of a study, by default
    workers: ClassVar[int | None] = None  # processes that run a study by default; None: one per core
    unsolved: Any = None  # (runs,), true for the marked runs, after `defer_failures` on a GPU

    @classmethod
    def reason_not_to_run(cls, game: object = None, search: object = None, keep: Collection[str] = ()) -> str:
        """Return the reason why the device cannot run a game or a search, or keep this data; empty if it can."""
        return ""

    @property
    def versions(self) -> dict[str, str]:
        """Further versions that results depend on: none on the CPU; CuPy, CUDA, its compiler and the GPU otherwise."""
        return {}

    def to_host(self, array: Any) -> Any:
        """Return a NumPy array: this one, or a copy from the device."""
        return array

    def computing(self) -> AbstractContextManager[None]:
        """Return a context in which sums for a run do not depend on the other runs."""
        return nullcontext()

    def random(self, seeds: Sequence[int], key: int) -> Any:
        """Return a learner's private random numbers (`learners.Random`), one stream per seed."""
        return BatchRandom(seeds, key)

    def stream(self, seeds: Sequence[int], key: int, kind: str, fill: Fill, ahead: int = AHEAD) -> Stream:
        """Return random numbers that are the same on every device: drawn by NumPy, and copied to the device."""
        return Stream([generator(seed, key, kind) for seed in seeds], fill, ahead, self.arrays.asarray)

    def maximin(
        self, shape: Shape, ties: Ties = "first", many_ties: bool = False, number: int = 1, remember: bool = True
    ) -> Solver:
        """Return a solver of batches of this shape, as `Seat.maximin` describes it."""
        return Maximin(shape, ties=ties, many_ties=many_ties, remember=remember)

    def defer_failures(self, runs: int) -> None:
        """Let new solvers mark runs in `unsolved` if a matrix has no answer, instead of waiting for each answer.

        Waiting slows a GPU down. The rest of a marked run is invalid, so the run has to be played again.
        """

    def einsum(self, subscripts: str, *operands: Any) -> Any:
        """Return `numpy.einsum`, with sums whose order does not depend on the batch."""
        return np.einsum(subscripts, *operands)

    def take(self, array: Any, index: tuple[Any, ...]) -> Any:
        """Return array[index]: (runs, ...)."""
        return array[index]

    def put(self, array: Any, index: tuple[Any, ...], values: Any) -> None:
        """Set array[index] = values."""
        array[index] = values

    def count_visit(self, count: Any, mean: Any, index: tuple[Any, ...], reward: Any) -> None:
        """Count a visit to one entry per run, and include the reward in its mean."""
        visits, before = count[index] + 1, mean[index]
        count[index] = visits
        mean[index] = before + (reward - before) / visits

    def running_sums(self, carry: Any, terms: Any) -> Any:
        """Return carry, (1, ...), plus the running sums of terms, (rounds, ...); cuts between rounds change no bit."""
        return np.cumsum(np.concatenate([carry, terms]), axis=0)[1:]

    def gram(self, a: Any) -> Any:
        """Return a' a of every run, (runs, k, k) from (runs, m, k)."""
        product = np.empty((a.shape[0], a.shape[2], a.shape[2]))
        elementary.fill_gram(np.ascontiguousarray(a), product)
        return product

    def solve_positive(self, matrices: Any, right: Any) -> Any:
        """Return the solutions x of matrices x = right, (runs, k), for positive definite matrices, (runs, k, k)."""
        x = np.array(right, order="C")
        elementary.solve_positive(np.ascontiguousarray(matrices), x)
        return x

    def draw(self, space: Space, policy: Any, uniform: Any) -> Any:
        """Return an action per run, as `Space.draw`."""
        return space.draw(policy, uniform)

    def runs_that_fit(self, play: Callable[[int], None]) -> str:
        """Return the number of runs that fit into the memory of the device, as text. play(runs) plays one round."""
        return "fewer"


CPU = Backend()
"""The backend on the CPU, which has no state."""


def backend_class(device: Device) -> type[Backend]:
    """Return the class of a device's backend. Its attributes and class methods need neither the device nor CuPy.

    >>> backend_class("cuda").seeds_per_cell
    1000
    """
    if check_device(device) == "cpu":
        return Backend
    from coebl.backend.cuda import CudaBackend

    return CudaBackend


def backend_for(device: Device) -> Backend:
    """Return the backend of a device; raise an `InputError` if the device cannot be used."""
    return backend_class(device)()
