"""The recorder: metrics at the recorded rounds, visits, and trajectories on request."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Sequence
from math import prod
from typing import Any, Literal, get_args

import numpy as np

from coebl.core.arrays import Floats, Ints
from coebl.core.errors import InputError, shorten
from coebl.engine.match import Match
from coebl.metrics import Block, Metric

Keep = Literal["actions", "rewards", "policies", "counts"]  # the first three of every round and seat


class Recorder:
    """Takes the blocks of a simulation, one after the other."""

    def __init__(self, metrics: Sequence[Metric], rounds: Ints, keep: Collection[Keep]) -> None:
        unknown = [name for name in keep if name not in get_args(Keep)]
        if unknown or isinstance(keep, str):
            raise InputError(f"keep is {shorten(keep)}; accepted: a list out of {', '.join(get_args(Keep))}.")
        self.seconds = 0.0
        self._metrics = metrics
        self.rounds = rounds  # at which metrics are kept
        self._recorded: dict[str, list[Floats]] = {metric.name: [] for metric in metrics}
        self._kept: dict[Keep, list[list[Floats | Ints]]] = {name: [] for name in keep if name != "counts"}
        self._counts_visits = "counts" in keep
        self._counts: Ints | None = None
        self._last: list[Floats] = []

    def take(self, block: Block) -> None:
        """Measure a block, and keep what is asked for."""
        started = time.perf_counter()
        inside = self.rounds[(self.rounds >= block.first_round) & (self.rounds < block.first_round + block.rounds)]
        for metric in self._metrics:
            self._recorded[metric.name].append(block.backend.to_host(metric(block)[inside - block.first_round]))
        if self._counts_visits:
            visits = block.backend.to_host(_visits(block))
            self._counts = visits if self._counts is None else self._counts + visits
        self._last = [block.backend.to_host(policy[-1].copy()) for policy in block.policies]
        for name, parts in self._kept.items():
            parts.append([block.backend.to_host(array.copy()) for array in getattr(block, name)])
        self.seconds += time.perf_counter() - started

    @property
    def metrics(self) -> dict[str, Floats]:
        """Each metric at the recorded rounds: (recorded, runs)."""
        return {name: np.concatenate(parts) for name, parts in self._recorded.items()}

    @property
    def classes(self) -> dict[str, type[Metric]]:
        """The class of each metric."""
        return {metric.name: type(metric) for metric in self._metrics}

    @property
    def kept(self) -> dict[str, Any]:
        """What was asked for, as `Result.kept` has it."""
        kept: dict[str, Any] = {
            name: [np.concatenate(seat) for seat in zip(*parts, strict=True)] for name, parts in self._kept.items()
        }
        return kept if self._counts is None else kept | {"counts": self._counts}

    @property
    def last_policies(self) -> list[Floats]:
        """The policies of the last round, per seat: (runs, actions)."""
        return self._last


def _visits(block: Block) -> Ints:
    """How often each pair was played in a block: (runs, m, n)."""
    shape = (block.runs, *block.game.shape)
    pairs = np.ravel_multi_index((np.arange(block.runs, like=block.actions[0]), *block.actions), shape)
    return np.bincount(pairs.ravel(), minlength=int(np.prod(shape))).reshape(shape)


def check_memory(match: Match, runs: int, recorded: int, metrics: int, keep: Collection[Keep]) -> None:
    """Refuse what the machine's memory cannot hold.

    Args:
        match: what will be played.
        runs: the number of runs.
        recorded: the number of rounds at which metrics are kept.
        metrics: the number of metrics.
        keep: what else is kept of every round.
    """
    sizes: dict[str, int] = {"actions": 2, "rewards": 2, "policies": sum(match.game.shape)}
    numbers = recorded * metrics + match.rounds * sum(sizes.get(name, 0) for name in keep)
    numbers += prod(match.game.shape) * ("counts" in keep)
    wanted, there = 2 * 8 * runs * numbers, _memory()  # twice: the parts, and the whole that is made of them
    if wanted > there:
        raise InputError(
            f"this would keep {wanted / 2**30:.1f} GiB, and the machine has {there / 2**30:.1f}. "
            'Record fewer rounds (record="log"), keep less, or take fewer seeds at a time.'
        )


def _memory() -> int:
    """The bytes of memory of this machine."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not on every system
        return 2**62
