"""The conformance kit for metrics."""

from __future__ import annotations

import numpy as np

from coebl.core.arrays import Floats
from coebl.engine import Match, simulate
from coebl.games import Game
from coebl.metrics import Metric
from coebl.testing.points import Points, Report, report_on


def check_metric(metric: type[Metric]) -> Report:
    """Hold a metric to its contract: one number per round and run, whatever the blocks and the batch.

    >>> from coebl.metrics import PseudoRegret
    >>> check_metric(PseudoRegret).passed
    True
    """
    return report_on(metric.name, _points(metric))


def _points(metric: type[Metric]) -> Points:
    match = Match.of(Game([[0.5, -1.0, 0.2], [-0.3, 0.8, 0.1]]), "ucb", "exp3", rounds=40)

    def record(seeds: list[int], block_rounds: int) -> Floats:
        return simulate(match, seeds, metrics=[metric], block_rounds=block_rounds).metrics[metric.name]

    def shape() -> str | None:
        found = record([0, 1, 2], 16).shape
        return None if found == (40, 3) else f"40 rounds and 3 runs gave {found}"

    def blocks() -> str | None:
        same = np.array_equal(record([0, 1, 2], 40), record([0, 1, 2], 7), equal_nan=True)
        return None if same else "blocks of 7 rounds give other numbers than one of 40; add up with a RunningSum"

    def batch() -> str | None:
        same = np.array_equal(record([0, 1, 2], 40)[:, 1], record([1], 40)[:, 0], equal_nan=True)
        return None if same else "seed 1 alone gives other numbers than in a batch of three"

    yield "one number per round and run", shape
    yield "does not depend on how rounds are cut into blocks", blocks
    yield "does not depend on the batch", batch
