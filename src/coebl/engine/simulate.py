"""Simulating a match: two learners, a game, a batch of runs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal

import numpy as np

from coebl.core.arrays import Ints
from coebl.core.errors import InputError, check_whole, shorten
from coebl.engine.match import Match
from coebl.engine.recorder import Keep, Recorder
from coebl.engine.result import Result
from coebl.engine.table import Table
from coebl.metrics import Metric, parse_metrics

Record = Literal["all", "log", "last"] | int  # the rounds at which metrics are kept; an int: every so many

_BLOCK_BYTES = 16 * 2**20  # policies kept before the metrics see them
_MOST_BLOCK_ROUNDS = 256

MOST_SEEDS = 10**6  # runs of one simulation

DEFAULT_METRICS = ("regret", "pseudo_regret", "exploitability")


def simulate(
    match: Match,
    seeds: int | Sequence[int],
    *,
    record: Record = "all",
    metrics: Sequence[str | type[Metric]] = DEFAULT_METRICS,
    keep: Collection[Keep] = (),
    block_rounds: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Play a match once per seed, all at the same time.

    Args:
        match: who plays what against whom.
        seeds: the seeds of the runs; a number n stands for 0 .. n - 1. A run is a function of the match and its seed,
            and of nothing else.
        record: at which rounds metrics are kept: "all", every k-th (an int), about a hundred spaced evenly in
            the logarithm ("log"), or the "last". The last round is always kept.
        metrics: names of metrics, or classes of your own; "all" stands for all that the game allows.
        keep: what else to keep of every round, out of "actions", "rewards" and "policies": see `Result.kept`.
        block_rounds: how many rounds are handed to the metrics at a time; by default what fits into 16 MiB.
        progress: called with the number of rounds done, after every block.

    >>> result = simulate(Match.of("matching-pennies", "exp3", "uniform", rounds=50), seeds=4, keep=["actions"])
    >>> result.metrics["pseudo_regret"].shape
    (50, 4)
    >>> row_actions, column_actions = result.kept["actions"]
    >>> row_actions.shape
    (50, 4)
    """
    seed_list = check_seeds(seeds)
    recorded = recorded_rounds(record, match.rounds)
    recorder = Recorder(parse_metrics(metrics, match.game, len(seed_list)), recorded, keep)
    if block_rounds is None:
        block_rounds = max(1, min(_MOST_BLOCK_ROUNDS, _BLOCK_BYTES // (8 * len(seed_list) * sum(match.game.shape))))
    block_rounds = check_whole("block_rounds", block_rounds, 1)
    table = Table(match, seed_list)
    for first in range(1, match.rounds + 1, block_rounds):
        length = min(block_rounds, match.rounds + 1 - first)
        recorder.take(table.play(first, length))
        if progress is not None:
            progress(first + length - 1)
    return Result(
        match=match,
        seeds=np.array(seed_list),
        rounds=recorded,
        metrics=recorder.metrics,
        policies=recorder.last_policies,
        counts=recorder.counts,
        kept=recorder.kept,
        seconds=table.seconds | {"metrics": recorder.seconds},
    )


def check_seeds(seeds: int | Sequence[int]) -> list[int]:
    """The seeds as a list, each once and none negative."""
    try:
        listed = range(operator.index(seeds)) if not isinstance(seeds, Iterable) else seeds
        numbers = [operator.index(seed) for seed in listed] if len(listed) <= MOST_SEEDS else []
    except (TypeError, OverflowError):  # a length is an index of this machine
        numbers = []
    if not numbers or min(numbers) < 0 or len(set(numbers)) != len(numbers):
        raise InputError(
            f"seeds is {shorten(seeds)}; accepted: a number of seeds, 1 .. {MOST_SEEDS:,}, or distinct seeds >= 0."
        )
    return numbers


def recorded_rounds(record: str | int, rounds: int) -> Ints:
    """The rounds at which metrics are kept, increasing; the last is always among them."""
    if record == "all":
        return np.arange(1, rounds + 1)
    if record == "last":
        return np.array([rounds])
    if record == "log":
        return np.unique(np.geomspace(1, rounds, 100).round().astype(np.int64))
    if isinstance(record, int) and not isinstance(record, bool) and record >= 1:
        return np.unique(np.append(np.arange(record, rounds + 1, record), rounds))
    raise InputError(f'record is {record!r}; accepted: "all", "log", "last", or every how many rounds, >= 1.')
