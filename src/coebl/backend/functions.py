"""Elementary functions of arrays, entry by entry, with the same bits on every CPU.

Learners, metrics and noises take exp and log from here: the last bits of NumPy's depend on the features of the CPU, and
those of the C library may. `numpy.sqrt` and the four operations do not; a power is a product, or a root.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any, overload

import numpy as np

from coebl.core.arrays import Floats
from coebl.kernels import elementary


class Function:
    """A function of numbers and of arrays.

    Arrays of other libraries are passed to these, as for NumPy's functions (NEP 13): a GPU has its own exp and log.

    Args:
        name: that of the function in other libraries.
        fill: computes it, from contiguous arrays into another.
        elsewhere: computes it for arrays of a library that has no function of this name.

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
        """Return the function of every entry: of the shape of the arrays, a float for a number."""
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
rel_entr = Function("rel_entr", elementary.fill_relative_entropy, lambda p, q: p * np.log(p / q))
"""p log(p / q): 0 where p is 0, and infinite where q alone is."""
cos_of_turns = Function("cos_of_turns", elementary.fill_cos_of_turns, lambda x: np.cos(2 * pi * x))
"""cos(2 pi x)."""
