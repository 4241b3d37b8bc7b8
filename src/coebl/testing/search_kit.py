"""The conformance kit for searches."""

from __future__ import annotations

import numpy as np

from coebl.engine import Match, Result, simulate
from coebl.games import Bilinear, Diagonal, GenomeGame
from coebl.search import Search
from coebl.testing.kits import Points

_QUERIES = 600
_SEEDS = [4, 7, 1, 9, 2]


def points_of_search(search: Search) -> Points:
    """Return the points of the contract of `coebl.search.base`, apart from those of every learner."""
    yield "searches genomes of one, two and nine bits", lambda: _sizes(search)
    yield "a run does not depend on its batch, to the last bit", lambda: _batch(search)
    yield "goes on with fewer runs", lambda: _dropped(search)


def _run(search: Search, game: GenomeGame, seeds: list[int], until: str | None = None) -> Result:
    match = Match(game, (search, search), _QUERIES)
    return simulate(match, seeds, metrics=["exploitability"], until=until)


def _sizes(search: Search) -> str | None:
    for n in (1, 2, 9):
        for policy in _run(search, Bilinear(n, 0.3, 0.6), [0, 1]).policies:
            if not ((policy >= 0) & (policy <= 1)).all():
                return f"with {n} bits it recommends {policy[0].tolist()}; accepted: probabilities, one per bit"
    return None


def _batch(search: Search) -> str | None:
    together, alone = (_run(search, Diagonal(9), seeds) for seeds in (_SEEDS, [7]))
    same = all(np.array_equal(a[1], b[0]) for a, b in zip(together.policies, alone.policies, strict=True))
    return (
        None if same else "seed 7 alone and in a batch of five differ; draw from seat.random, and never sum over runs"
    )


def _dropped(search: Search) -> str | None:
    """Runs end at different times: a run that goes on alone has to be as it would be without the others."""
    until = "exploitability < 0.5"
    together = _run(search, Diagonal(3), _SEEDS, until).hitting_times
    alone = [_run(search, Diagonal(3), [seed], until).hitting_times[0] for seed in _SEEDS]
    if together == alone:
        return None
    return f"runs hit at {together}, and alone at {alone}; keep runs on axis 0 of every array of its state"
