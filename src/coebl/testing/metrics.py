"""The conformance kit for metrics."""

from __future__ import annotations

from typing import Any

import numpy as np

from coebl.core.arrays import Floats
from coebl.engine import Match, simulate
from coebl.games import Game
from coebl.metrics import Block, Metric
from coebl.testing.points import Points, Report, report_on
from coebl.testing.strict import OF_BLOCK, StrictArray


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

    def arrays() -> str | None:
        kept = simulate(match, [0, 1, 2], metrics=[], keep=["policies", "actions", "rewards"]).kept
        plain, strict = metric(match.game, 3), metric(match.game, 3)
        for first, last in ((1, 16), (17, 40)):
            parts: Any = {name: [array[first - 1 : last] for array in both] for name, both in kept.items()}
            expected = plain(Block(match.game, first, **parts))
            strict_parts: Any = {name: [StrictArray(one.copy(), OF_BLOCK) for one in parts[name]] for name in parts}
            found: Any = strict(Block(match.game, first, **strict_parts))
            if not isinstance(found, StrictArray):
                return "it returns one of NumPy's arrays; compute it from arrays of the block"
            if not np.array_equal(found.plain, expected, equal_nan=True):
                return "it gives other numbers on arrays of another library"
        return None

    yield "one number per round and run", shape
    yield "does not depend on how rounds are cut into blocks", blocks
    yield "does not depend on the batch", batch
    yield "takes its arrays from the block", arrays
