"""The matrices that UCB solves as it plays."""

from functools import cache

import numpy as np
import pytest

from coebl import backend, simulate
from coebl.solver import Maximin

# BiggerNumber by n: the rounds to play, and by seed the round and seat whose matrix is hard
_HARD = {
    5: (600, {49: (142, 1), 129: (177, 1), 191: (131, 0), 294: (152, 0), 419: (179, 0), 669: (121, 0), 988: (208, 1)}),
    6: (1000, {27: (411, 0)}),
}


def on_every_solve(monkeypatch, inspect):
    """Call a function with each batch that UCB solves and its solution."""

    class Watched(Maximin):
        def __call__(self, payoffs):
            solution = super().__call__(payoffs)
            inspect(payoffs, solution)
            return solution

    monkeypatch.setattr(backend, "Maximin", Watched)


@cache
def hard_matrices(n):
    """Return nearly singular matrices with many ties, on which pivoting once did not end: (number, 2**n, 2**n).

    With n = 5 the cause was rounding, with n = 6 costs that were all zero.
    """
    rounds, places = _HARD[n]
    batches = []
    with pytest.MonkeyPatch.context() as monkeypatch:
        on_every_solve(monkeypatch, lambda payoffs, solution: batches.append(payoffs.copy()))
        simulate(f"bigger-number:{n}", "ucb", "ucb", rounds=rounds, seeds=list(places), record="last")
    return np.stack([batches[2 * (played - 1) + seat][run] for run, (played, seat) in enumerate(places.values())])
