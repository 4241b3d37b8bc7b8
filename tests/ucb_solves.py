"""The matrices that UCB solves as it plays."""

from functools import cache

import numpy as np
import pytest

from coebl import simulate
from coebl.backend import base
from coebl.solver import Maximin

# of BiggerNumber, by n: the rounds that are played, and by seed the round and seat whose matrix is hard
_HARD = {
    5: (600, {49: (142, 1), 129: (177, 1), 191: (131, 0), 294: (152, 0), 419: (179, 0), 669: (121, 0), 988: (208, 1)}),
    6: (1000, {27: (411, 0)}),
}


def on_every_solve(monkeypatch, look):
    """Show each batch that UCB solves, and its solution, to a function."""

    class Watched(Maximin):
        def __call__(self, payoffs):
            solution = super().__call__(payoffs)
            look(payoffs, solution)
            return solution

    monkeypatch.setattr(base, "Maximin", Watched)


@cache
def hard_matrices(n):
    """Matrices full of ties, nearly singular, on which the pivots once did not end: (number, 2**n, 2**n).

    With n = 5 it was rounding that sent them back and forth, with n = 6 costs that were all zero.
    """
    rounds, places = _HARD[n]
    batches = []
    with pytest.MonkeyPatch.context() as monkeypatch:
        on_every_solve(monkeypatch, lambda payoffs, solution: batches.append(payoffs.copy()))
        simulate(f"bigger-number:{n}", "ucb", "ucb", rounds=rounds, seeds=list(places), record="last")
    return np.stack([batches[2 * (played - 1) + seat][run] for run, (played, seat) in enumerate(places.values())])
