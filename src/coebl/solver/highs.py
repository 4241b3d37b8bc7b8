"""The second method: HiGHS, through SciPy, for what the kernel could not certify."""

from __future__ import annotations

from functools import partial

import numpy as np

from coebl.core.arrays import Floats
from coebl.solver.interruptible import in_second_thread

_TOLERANCE = 1e-10  # the least that HiGHS takes
_PATIENCE = 20  # iterations per action of either player: 1 to 5 are usual, and in rare games it would never end
_LONG = 1e7  # m * n * (m + n) of a game that takes some tenths of a second


def solve_with_highs(scaled: Floats) -> tuple[Floats, Floats, int] | None:
    """Both players' strategies, and the iterations, of a matrix with entries in [0, 1]. None if it fails."""
    row = _one_player(scaled)
    column = _one_player(1 - scaled.T) if row else None
    return (row[0], column[0], row[1] + column[1]) if row and column else None


def _one_player(payoff: Floats) -> tuple[Floats, int] | None:
    """max v subject to payoff' x >= v, x a strategy."""
    from scipy.optimize import linprog

    m, n = payoff.shape
    program = partial(
        linprog,
        c=np.append(np.zeros(m), -1.0),
        A_ub=np.hstack([-payoff.T, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
        method="highs-ds",
        options={
            "primal_feasibility_tolerance": _TOLERANCE,
            "dual_feasibility_tolerance": _TOLERANCE,
            "maxiter": _PATIENCE * (m + n) + 100,
        },
    )
    result = program() if m * n * (m + n) < _LONG else in_second_thread(program)
    if result.x is None:
        return None
    strategy = np.maximum(result.x[:m], 0.0)
    return strategy / strategy.sum(), int(result.nit)
