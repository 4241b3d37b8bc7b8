"""Where arrays live: with NumPy on the processor, or with CuPy on a graphics processor.

Code that is handed arrays calls NumPy's functions on them, which go to the array's own library (NEP 13, 18 and 35).
Only this module, the kernels in `core/cuda.py` and `solver/cuda/`, the streams, and `engine/simulate.py`, which tells
when memory runs out, know that there is CuPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from coebl.core.errors import InputError, shorten
from coebl.core.modules import require
from coebl.core.text import one_line

Device = Literal["cpu", "cuda"]
DEVICES: tuple[Device, ...] = get_args(Device)
Number = TypeVar("Number", bound=np.generic)  # of an array's entries

_LEAST_CAPABILITY = 80  # 8.0: the solver's kernel uses instructions that came with it


def check_device(device: object) -> Device:
    """A device's name, checked.

    >>> check_device("gpu")
    Traceback (most recent call last):
    ...
    coebl.core.errors.InputError: device is 'gpu'; accepted: cpu, cuda.
    """
    for known in DEVICES:
        if device == known:
            return known
    raise InputError(f"device is {shorten(device)}; accepted: {', '.join(DEVICES)}.")


def array_module(device: Device) -> Any:
    """The library whose arrays live on a device: NumPy or CuPy. An `InputError` if the device cannot be used."""
    if check_device(device) == "cpu":
        return np
    try:
        cupy = require("cupy")
    except ImportError as error:  # it is installed, and misses a library
        raise InputError(
            f'device is "cuda", and CuPy cannot be imported ({one_line(error)}); use device "cpu", or install it '
            "again: pip install 'coebl[cuda]'"
        ) from None
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise _no_device(str(error)) from None
    if count == 0:
        raise _no_device("none found")
    capability = int(cupy.cuda.Device().compute_capability)  # 90 stands for 9.0
    if capability < _LEAST_CAPABILITY:
        raise InputError(
            f'device is "cuda", and the graphics processor has compute capability {capability / 10}; accepted: '
            f'{_LEAST_CAPABILITY / 10} or more. Use device "cpu".'
        )
    try:
        cupy.cuda.nvrtc.getVersion()  # which loads it: CuPy does so when it first compiles, and that is later
    except Exception as error:  # RuntimeError, or one of the package that looks for it
        raise InputError(
            f'device is "cuda", and CuPy cannot load NVRTC, CUDA\'s compiler ({one_line(error)}); install it: '
            f'pip install "{_package_of(cupy)}[ctk]", or use device "cpu".'
        ) from None
    return cupy


def _package_of(cupy: Any) -> str:
    """The name of the package that this CuPy is of, by the version of CUDA that it was made for: cupy-cuda13x."""
    return f"cupy-cuda{cupy.cuda.runtime.runtimeGetVersion() // 1000}x"


def _no_device(reason: str) -> InputError:
    return InputError(
        f'device is "cuda", and CuPy finds no graphics processor ({reason}); use device "cpu", or install NVIDIA\'s '
        "driver on a machine that has one."
    )


def device_title(device: Device) -> str:
    """What people call the device that is used: the name of the graphics processor, or nothing."""
    if device == "cpu":
        return ""
    name: str = require("cupy").cuda.runtime.getDeviceProperties(0)["name"].decode()
    return name


def device_versions(device: Device) -> dict[str, str]:
    """What numbers may depend on besides, on this device: CuPy, CUDA and its compiler, and the name of the GPU."""
    if device == "cpu":
        return {}
    cupy = require("cupy")
    cuda = cupy.cuda.runtime.runtimeGetVersion()  # 13020 stands for 13.2
    return {
        "cupy": cupy.__version__,
        "cuda": f"{cuda // 1000}.{cuda % 1000 // 10}",
        "nvrtc": ".".join(map(str, cupy.cuda.nvrtc.getVersion())),
        "device": device_title(device),
    }


def is_out_of_memory(error: BaseException) -> bool:
    """Whether this is CuPy's error for it; CuPy need not be imported to find out."""
    return type(error).__name__ == "OutOfMemoryError"


def is_on_cuda(array: object) -> bool:
    """Whether an array is one of CuPy's, which need not be imported to find out."""
    return not isinstance(array, np.ndarray) and type(array).__module__.partition(".")[0] == "cupy"


def on_host(array: NDArray[Number]) -> NDArray[Number]:
    """An array as one of NumPy's: itself, or a copy from the graphics processor."""
    copied: NDArray[Number] = cast(Any, array).get() if is_on_cuda(array) else array
    return copied


def running_sums(carry: Any, terms: Any) -> Any:
    """The sums of carry and the first terms, one after the other: (rounds, ...) from (1, ...) and (rounds, ...).

    The additions are the same however the rounds are cut.
    """
    if not is_on_cuda(terms):
        return np.cumsum(np.concatenate([carry, terms]), axis=0)[1:]
    from coebl.core.cuda import add_up

    return add_up(carry, terms)


def rel_entr(p: Any, q: Any) -> Any:
    """p ln(p / q), entry by entry: 0 where p is 0, and infinite where q alone is; SciPy's, or CuPy's twin of it."""
    if is_on_cuda(p):
        return require("cupyx.scipy.special").rel_entr(p, q)
    from scipy import special

    return special.rel_entr(p, q)


def take(array: Any, at: tuple[Any, ...]) -> Any:
    """array[at] for an index of one entry per run, `Seat.at`: (runs, ...), at a fraction of CuPy's cost."""
    if not is_on_cuda(array):
        return array[at]
    from coebl.core.cuda import take_entries

    return take_entries(array, at)


def put(array: Any, at: tuple[Any, ...], values: Any) -> None:
    """array[at] = values, as `take` reads them."""
    if not is_on_cuda(array):
        array[at] = values
    else:
        from coebl.core.cuda import put_entries

        put_entries(array, at, values)


def count_visit(count: Any, mean: Any, at: tuple[Any, ...], reward: Any) -> None:
    """Count one more visit of an entry per run, and let its mean include this reward."""
    if not is_on_cuda(count):
        visits, before = count[at] + 1, mean[at]
        count[at] = visits
        mean[at] = before + (reward - before) / visits
    else:
        from coebl.core.cuda import count_visits

        count_visits(count, mean, at, reward)


def draw_actions(policy: Any, uniform: Any) -> Any:
    """An action per run, (runs,), on a graphics processor: what `engine.seated.sample` does, in one kernel."""
    from coebl.core.cuda import first_above

    return first_above(policy, uniform)


@contextmanager
def computing_on(device: Device) -> Iterator[None]:
    """In this block, what NumPy's functions compute for a run on this device does not depend on the other runs."""
    if device == "cpu":
        yield
        return
    from coebl.core.cuda import batch_independent

    with batch_independent():
        yield
