"""Maximin strategies of a batch on a graphics processor, each with the certificate of `coebl.solver.maximin`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from coebl.core.errors import InputError
from coebl.core.modules import require
from coebl.solver.cuda.kernel import kernel
from coebl.solver.maximin import BatchSolution, first_weights, maximin, scaled_weights, tableau_precision


class CudaMaximin:
    """`Maximin` for CuPy's arrays: the same rule for ties, the same certificate, no warm starts.

    A matrix whose single-precision tableau does not lead to a certified answer is solved again in double precision,
    then without the rule for ties, as on the processor, and if that fails too by the kernels of the processor.
    `BatchSolution.fallbacks` counts the latter. To know whether there are any, the host has to wait for the graphics
    processor. With `unsolved` it does not: such matrices are left without an answer, with uniform strategies and a gap
    of NaN, and their runs are marked.

    Args:
        shape: (matrices, m, n), of every batch that will be solved.
        ties: as for `Maximin`; a function returns an array of CuPy's.
        many_ties: as for `Maximin`.
        unsolved: (runs,), Booleans of CuPy's that become true for the runs of matrices that are left without an answer.
        each: the number of matrices of a run, which follow one another.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        *,
        ties: Literal["first"] | Callable[[], Any] = "first",
        many_ties: bool = False,
        unsolved: Any = None,
        each: int = 1,
    ) -> None:
        self._cupy = cupy = require("cupy")
        self.shape = shape
        self._ties, self._unsolved, self._each = ties, unsolved, each
        runs, m, n = shape
        single = tableau_precision(m, n, many_ties) == "float32"
        self._kernels = [kernel(m, n, real) for real in (("float", "double") if single else ("double",))]
        self._first = cupy.asarray(first_weights(m))
        self._counts = cupy.zeros(2 * len(self._kernels) + 1, np.int32)  # see `Kernel`: each begins where one ends
        self._failed = cupy.empty((len(self._kernels), runs), np.int32)

    def __call__(self, payoffs: Any) -> BatchSolution:
        """Solve a batch of games for the row player, who maximises. The arrays of the answer are new in every call."""
        cupy = self._cupy
        if payoffs.shape != self.shape:
            raise InputError(f"payoffs has shape {payoffs.shape}; accepted: {self.shape}, as this solver was made.")
        batch = cupy.ascontiguousarray(payoffs, "f8")
        weight = self._first if isinstance(self._ties, str) else scaled_weights(self._ties())
        runs, m, n = self.shape
        value, gap = cupy.empty((2, runs))
        answers = cupy.empty((runs, m)), cupy.empty((runs, n)), value, gap, cupy.empty(runs, np.int64)
        self._counts.fill(0)
        chosen = None
        for at, solve in enumerate(self._kernels):
            failed = self._failed[at]
            marks = self._unsolved if at == len(self._kernels) - 1 else None
            solve(batch, weight, chosen, self._counts[2 * at :], failed, marks, self._each, answers)
            chosen = failed
        fallbacks = self._rescue(batch, weight, answers) if self._unsolved is None else 0
        return BatchSolution(*answers, fallbacks)

    def _rescue(self, batch: Any, weight: Any, answers: tuple[Any, ...]) -> int:
        """Have the processor answer what the kernels could not, and say how many these are."""
        cupy = self._cupy
        count = int(self._counts[-1])  # waits for the kernels
        if count == 0:
            return 0
        failed = cupy.sort(self._failed[-1, :count])
        ties = cupy.asnumpy(cupy.broadcast_to(weight, (len(batch), self.shape[1]))[failed])
        solved = maximin(cupy.asnumpy(batch[failed]), ties=ties)
        found = solved.strategy, solved.opponent, solved.value, solved.gap, solved.pivots
        for answer, part in zip(answers, found, strict=True):
            answer[failed] = cupy.asarray(part)
        return count
