"""Maximin strategies of a batch on a graphics processor, each with the certificate of `coebl.solver.maximin`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from coebl.core.errors import InputError
from coebl.core.modules import require
from coebl.kernels.tolerances import MOST_GAP
from coebl.solver.cuda.kernel import kernel
from coebl.solver.maximin import BatchSolution, first_weights, maximin, tableau_precision

_fallbacks = 0


def processor_count() -> int:
    """The number of matrices that this process has handed from the graphics processor to the kernels of the other."""
    return _fallbacks


class CudaMaximin:
    """`Maximin` for CuPy's arrays: the same rule for ties, the same certificate, no warm starts.

    A matrix whose single-precision tableau does not lead to a certified answer is solved again in double precision,
    and if that fails too by the kernels of the processor. `BatchSolution.fallbacks` counts the latter.

    Args:
        shape: (runs, m, n), of every batch that will be solved.
        ties: as for `Maximin`; a function returns an array of CuPy's.
        many_ties: as for `Maximin`.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        *,
        ties: Literal["first"] | Callable[[], Any] = "first",
        many_ties: bool = False,
    ) -> None:
        self.shape = shape
        self._ties = ties
        _, m, n = shape
        self._real = "float" if tableau_precision(m, n, many_ties) == "float32" else "double"
        self._first = require("cupy").asarray(first_weights(m))
        kernel(m, n, self._real)  # compiled now

    def __call__(self, payoffs: Any) -> BatchSolution:
        """Solve a batch of games for the row player, who maximises. The arrays of the answer are new in every call."""
        cupy = require("cupy")
        if payoffs.shape != self.shape:
            raise InputError(f"payoffs has shape {payoffs.shape}; accepted: {self.shape}, as this solver was made.")
        batch = cupy.ascontiguousarray(payoffs, "f8")
        weight = self._first if isinstance(self._ties, str) else _scaled(self._ties())
        answers = _solve(batch, weight, self._real)
        return BatchSolution(*answers[:5], fallbacks=answers[5])


def _solve(batch: Any, weight: Any, real: str) -> tuple[Any, Any, Any, Any, Any, int]:
    """The answers to a batch, every one certified, and how many the processor gave."""
    global _fallbacks
    cupy = require("cupy")
    answers = kernel(batch.shape[1], batch.shape[2], real)(batch, weight)
    failed = cupy.flatnonzero(~(abs(answers[3]) <= MOST_GAP))
    if len(failed) == 0:
        return *answers, 0
    again, ties = batch[failed], weight[failed] if len(weight) > 1 else weight
    fallbacks = 0
    if real == "float":
        *found, fallbacks = _solve(again, ties, "double")
    else:
        fallbacks = len(failed)
        _fallbacks += fallbacks
        weights = cupy.asnumpy(ties).repeat(len(failed) // len(ties), axis=0)
        solved = maximin(cupy.asnumpy(again), ties=weights)
        found = [cupy.asarray(getattr(solved, name)) for name in ("strategy", "opponent", "value", "gap", "pivots")]
    for answer, part in zip(answers, found, strict=True):
        answer[failed] = part
    return *answers, fallbacks


def _scaled(weight: Any) -> Any:
    """Tie weights brought to 0 .. 1 in each row, as `maximin` does."""
    weight = weight - weight.min(axis=1, keepdims=True)
    largest = weight.max(axis=1, keepdims=True)
    largest[largest == 0] = 1
    return weight / largest
