"""The matrices that UCB solves as it plays."""

from functools import cache

import numpy as np
import pytest

from coebl import simulate
from coebl.learners import base
from coebl.solver import Maximin

# of BiggerNumber n = 5 in 600 rounds, the round and seat in which rounding once sent the pivots to and fro, by seed
_TO_AND_FRO = {49: (142, 1), 129: (177, 1), 191: (131, 0), 294: (152, 0), 419: (179, 0), 669: (121, 0), 988: (208, 1)}


def on_every_solve(monkeypatch, look):
    """Show each batch that UCB solves, and its solution, to a function."""

    class Watched(Maximin):
        def __call__(self, payoffs):
            solution = super().__call__(payoffs)
            look(payoffs, solution)
            return solution

    monkeypatch.setattr(base, "Maximin", Watched)


@cache
def hard_matrices():
    """Matrices full of ties, nearly singular, on which the pivots once did not end: (7, 32, 32)."""
    batches = []
    with pytest.MonkeyPatch.context() as monkeypatch:
        on_every_solve(monkeypatch, lambda payoffs, solution: batches.append(payoffs.copy()))
        simulate("bigger-number:5", "ucb", "ucb", rounds=600, seeds=list(_TO_AND_FRO), record="last")
    places = enumerate(_TO_AND_FRO.values())
    return np.stack([batches[2 * (played - 1) + seat][run] for run, (played, seat) in places])
