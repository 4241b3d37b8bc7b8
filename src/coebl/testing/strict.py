"""Strict arrays: substitutes for those of another library, such as CuPy on a GPU.

A learner gets its arrays from its seat, a metric from its block, a noise as arguments. All call NumPy's functions on
them, which dispatch to the array's library (NEP 13, 18 and 35). Strict arrays behave like those of such a library: they
cannot be mixed with NumPy's arrays, nor be converted to them silently. Code that works on them works on CuPy's arrays
too, unless it calls one of the few functions that CuPy lacks. On a `StrictBackend` the engine plays with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from coebl.backend import Backend

# fmt: off
_METHODS = frozenset({
    "all", "any", "argmax", "argmin", "argsort", "astype", "clip", "copy", "cumprod", "cumsum", "dot", "fill", "item",
    "max", "mean", "min", "prod", "ravel", "repeat", "reshape", "round", "sort", "squeeze", "std", "sum", "swapaxes",
    "take", "tolist", "transpose", "var",
})
# fmt: on
_ATTRIBUTES = frozenset({"T", "dtype", "itemsize", "nbytes", "ndim", "shape", "size"})

# With like=, these make an array of the other library out of one of NumPy's.
_CONVERSIONS = frozenset([np.array, np.asanyarray, np.asarray, np.ascontiguousarray, np.asfortranarray])


class StrictArray(NDArrayOperatorsMixin):
    """An array that works through NumPy's functions and operators, and only with arrays of its kind.

    It wraps the NumPy array `plain`.

    >>> score = StrictArray(np.array([[1.0, 2.0]]))
    >>> np.exp(score - score.max()).sum(axis=1)
    StrictArray(array([1.36787944]))
    >>> score + np.ones(2)
    Traceback (most recent call last):
        ...
    TypeError: a given array is mixed with one of NumPy's, of shape (2,); make it with seat.zeros, ...
    """

    __slots__ = ("plain",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, plain: np.ndarray[Any, Any]) -> None:
        self.plain = plain

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        raise TypeError("a given array is turned into one of NumPy's; call NumPy's functions on it instead")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        if method != "__call__":
            raise TypeError(f"other libraries may have no numpy.{ufunc.__name__}.{method}; call a function or method")
        _check_options(ufunc.__name__, options)
        plain_options = to_plain(options) | ({} if out is None else {"out": to_plain(out)})
        result = ufunc(*to_plain(inputs), **plain_options)
        return out[0] if out is not None and len(out) == 1 else to_strict(result)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if function in _CONVERSIONS:  # called with like=, which is this array
            [given, *rest] = args
            given = given if isinstance(given, np.ndarray) else to_plain(given)
            return to_strict(function(given, *rest, **kwargs))
        _check_options(function.__name__, kwargs)
        return to_strict(function(*to_plain(args), **to_plain(kwargs)))

    def __getitem__(self, index: Any) -> Any:
        return to_strict(self.plain[to_plain(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.plain[to_plain(index)] = to_plain(value)

    def __getattr__(self, name: str) -> Any:
        if name in _ATTRIBUTES:
            return to_strict(getattr(self.plain, name))
        if name not in _METHODS:
            raise AttributeError(f"arrays of other libraries may have no {name!r}; call a function of NumPy's instead")
        method = getattr(self.plain, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            _check_options(name, kwargs)
            return to_strict(method(*to_plain(args), **to_plain(kwargs)))

        return call

    def __len__(self) -> int:
        return len(self.plain)

    def __bool__(self) -> bool:
        return bool(self.plain)

    def __float__(self) -> float:
        return float(self.plain)

    def __int__(self) -> int:
        return int(self.plain)

    def __repr__(self) -> str:
        return f"StrictArray({self.plain!r})"


def _check_options(name: str, options: Mapping[str, Any]) -> None:
    """Reject options that CuPy's functions lack."""
    for option in ("where", "initial"):
        if option in options:
            raise TypeError(f"other libraries may have no {option}= of numpy.{name}; use numpy.where instead")


def to_plain(value: Any) -> Any:
    """Unwrap strict arrays, also inside tuples, lists and dictionaries; NumPy's arrays are rejected."""
    if isinstance(value, StrictArray):
        return value.plain
    if isinstance(value, np.ndarray):
        raise TypeError(
            f"a given array is mixed with one of NumPy's, of shape {value.shape}; make it with seat.zeros, seat.full, "
            "seat.arange or seat.array, or like a given array, as numpy.asarray(values, like=array)"
        )
    if isinstance(value, (tuple, list)):
        return type(value)(to_plain(item) for item in value)
    return {key: to_plain(item) for key, item in value.items()} if isinstance(value, dict) else value


def to_strict(value: Any) -> Any:
    """Wrap NumPy's arrays, also inside tuples and lists."""
    if isinstance(value, np.ndarray):
        return StrictArray(value)
    return type(value)(to_strict(item) for item in value) if type(value) in (tuple, list) else value


class _StrictRandom:
    """A seat's streams, as strict arrays."""

    def __init__(self, random: Any) -> None:
        self._random = random

    def uniform(self, *shape: int) -> Any:
        return StrictArray(self._random.uniform(*shape).copy())

    def normal(self, *shape: int, deviation: Any = None, mean: Any = None) -> Any:
        return StrictArray(self._random.normal(*shape, deviation=to_plain(deviation), mean=to_plain(mean)).copy())


class _StrictNumpy:
    """NumPy with functions that return strict arrays."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args: StrictArray(getattr(np, name)(*args))


class StrictBackend(Backend):
    """The backend of the CPU, with strict arrays."""

    arrays = _StrictNumpy()

    def to_host(self, array: Any) -> Any:
        return to_plain(array)

    def random(self, seeds: Sequence[int], key: int) -> Any:
        return _StrictRandom(super().random(seeds, key))

    def maximin(self, shape: Any, ties: Any = "first", *options: Any) -> Any:
        solve = super().maximin(shape, ties if ties == "first" else lambda: to_plain(ties()), *options)

        def solve_strict(payoffs: Any) -> Any:
            solved = solve(to_plain(payoffs))
            for part in ("strategy", "opponent", "value"):
                setattr(solved, part, to_strict(getattr(solved, part)))
            return solved

        return solve_strict

    def gram(self, a: Any) -> Any:
        return to_strict(super().gram(to_plain(a)))

    def solve_positive(self, matrices: Any, right: Any) -> Any:
        return to_strict(super().solve_positive(to_plain(matrices), to_plain(right)))
