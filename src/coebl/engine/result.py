"""The results of a simulation: the recorder, which collects them, and the result."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from coebl.backend import Device
from coebl.core.arrays import Floats, Ints
from coebl.core.errors import InputError, nearest, shorten
from coebl.core.modules import require
from coebl.core.text import counted
from coebl.engine.match import Match
from coebl.engine.table import Table
from coebl.metrics import Block, Metric
from coebl.runs import Runs

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.axes import Axes

Keep = Literal["actions", "rewards", "policies", "counts"]  # the first three of every round and seat


@dataclass(frozen=True, repr=False)
class Result:
    """The recorded metrics of a batch of runs, and how they ended.

    >>> from coebl import simulate
    >>> result = simulate("rps", "exp3", "uniform", rounds=20, seeds=3, metrics=["regret"])
    >>> result.metrics["regret"].shape, result.final("regret").shape, result.row_policy.shape
    ((20, 3), (3,), (3, 3))
    """

    match: Match  # what was played
    seeds: Ints  # (runs,)
    rounds: Ints  # (recorded,), increasing
    metrics: dict[str, Floats]  # name to (recorded, runs)
    policies: list[Floats]  # of the last round, per seat: (runs, actions)
    kept: dict[str, Any]  # what keep= asked for: counts (runs, m, n); the others per seat, (rounds, runs, ...)
    seconds: dict[str, float]  # time per phase
    classes: dict[str, type[Metric]]  # name to the metric's class
    device: Device = "cpu"  # where it was computed
    replayed: int = 0  # runs played again, because a GPU left a matrix of theirs unsolved

    @property
    def row_policy(self) -> Floats:
        """The row player's policies of the last round: (runs, m)."""
        return self.policies[0]

    @property
    def column_policy(self) -> Floats:
        """The column player's policies of the last round: (runs, n)."""
        return self.policies[1]

    def with_runs(self, at: Ints, part: Result) -> Result:
        """Return a copy in which the given runs are replaced by those of another result.

        Args:
            at: the numbers, increasing.
            part: those runs, and no others.
        """
        if len(at) == len(self.seeds):
            return replace(part, replayed=len(at))
        kept: dict[str, Any] = {
            name: [_exchanged(*seats, at, 1) for seats in zip(whole, part.kept[name], strict=True)]
            for name, whole in self.kept.items()
            if name != "counts"
        }
        if "counts" in self.kept:
            kept["counts"] = _exchanged(self.kept["counts"], part.kept["counts"], at, 0)
        return replace(
            self,
            replayed=len(at),
            metrics={name: _exchanged(whole, part.metrics[name], at, 1) for name, whole in self.metrics.items()},
            policies=[_exchanged(*seats, at, 0) for seats in zip(self.policies, part.policies, strict=True)],
            kept=kept,
            seconds={phase: seconds + part.seconds[phase] for phase, seconds in self.seconds.items()},
        )

    def __repr__(self) -> str:
        where = f" on {self.device}" * (self.device != "cpu")
        return f"<Result of {self.match}, {counted(len(self.seeds), 'run')}{where}: {', '.join(self.metrics)}>"

    def final(self, metric: str) -> Floats:
        """A metric after the last round, one number per run."""
        if metric not in self.metrics:
            raise InputError(f"metric {metric!r} was not recorded{nearest(metric, self.metrics)} Name it in metrics=.")
        return np.array(self.metrics[metric][-1])

    def columns(self) -> dict[str, NDArray[Any]]:
        """A tidy table by columns: seed, round, then the metrics; one row per run and recorded round."""
        recorded, runs = len(self.rounds), len(self.seeds)
        table: dict[str, NDArray[Any]] = {"seed": np.repeat(self.seeds, recorded), "round": np.tile(self.rounds, runs)}
        return table | {name: values.T.ravel() for name, values in self.metrics.items()}

    def _labelled(self) -> dict[str, Any]:
        """The tidy table, with who played what against whom in front."""
        table = self.columns()
        game, rows = self.match.game, len(table["seed"])
        players = {seat: [str(player)] * rows for seat, player in zip(game.seats, self.match.players, strict=True)}
        return {"game": [game.spec or game.name] * rows, **players, **table}

    def to_pandas(self) -> pandas.DataFrame:
        """The tidy table as a pandas data frame."""
        frame: pandas.DataFrame = require("pandas").DataFrame(self._labelled())
        return frame

    def to_polars(self) -> polars.DataFrame:
        """The tidy table as a Polars data frame."""
        frame: polars.DataFrame = require("polars").DataFrame(self._labelled())
        return frame

    def plot(self, metric: str | None = None, ax: Axes | None = None) -> Axes:
        """The mean of a metric over the runs, by round, with its 95 % band; by default the first that was recorded.

        Args:
            metric: its name.
            ax: where to draw; by default in a figure of its own.
        """
        from coebl.plots import plot_runs

        metric = metric or next(iter(self.metrics))
        self.final(metric)  # complains if it was not recorded
        runs = Runs(self.rounds, self.seeds, self.metrics[metric])
        return plot_runs(runs, self.classes[metric], self.match.row, self.match.column, ax)


def _exchanged(whole: NDArray[Any], part: NDArray[Any], at: Ints, axis: int) -> NDArray[Any]:
    """An array with the entries of these numbers, on this axis, from another one."""
    changed = whole.copy()
    changed[(slice(None),) * axis + (at,)] = part
    return changed


class Recorder:
    """Takes the blocks of a simulation, one after the other: metrics at the recorded rounds, and what is kept besides.

    Args:
        metrics: new ones.
        rounds: those at which metrics are kept, increasing.
        keep: what else is kept.
    """

    def __init__(self, metrics: Sequence[Metric], rounds: Ints, keep: Collection[Keep]) -> None:
        self._metrics, self._rounds = metrics, rounds
        self._recorded: dict[str, list[Floats]] = {metric.name: [] for metric in metrics}
        self._kept: dict[str, list[list[Floats | Ints]]] = {name: [] for name in keep if name != "counts"}
        self._counts: Any = 0 if "counts" in keep else None  # (runs, m, n)
        self._last: list[Floats] = []
        self._seconds = 0.0

    def take(self, block: Block) -> None:
        """Measure a block, and keep what is asked for."""
        started, to_host = time.perf_counter(), block.backend.to_host
        first = block.first_round
        inside = self._rounds[(self._rounds >= first) & (self._rounds < first + block.rounds)] - first
        for metric in self._metrics:
            self._recorded[metric.name].append(to_host(metric(block)[inside]))
        if self._counts is not None:
            self._counts = self._counts + _visits(block)
        self._last = [policy[-1].copy() for policy in block.policies]
        for name, parts in self._kept.items():
            parts.append([to_host(array.copy()) for array in getattr(block, name)])
        self._seconds += time.perf_counter() - started

    def result(self, table: Table) -> Result:
        """Return all that was recorded of the rounds that a table has played."""
        to_host = table.backend.to_host
        kept: dict[str, Any] = {
            name: [np.concatenate(seat) for seat in zip(*parts, strict=True)] for name, parts in self._kept.items()
        }
        return Result(
            match=table.match,
            device=table.backend.device,
            seeds=np.array(table.seeds),
            rounds=self._rounds,
            metrics={name: np.concatenate(parts) for name, parts in self._recorded.items()},
            policies=[to_host(policy) for policy in self._last],
            kept=kept if self._counts is None else kept | {"counts": to_host(self._counts)},
            seconds=table.seconds | {"metrics": self._seconds},
            classes={metric.name: type(metric) for metric in self._metrics},
        )


def _visits(block: Block) -> Ints:
    """Return how often each joint action was played in a block: (runs, m, n)."""
    shape = (block.runs, *(space.width for space in block.game.spaces))
    pairs = np.ravel_multi_index((np.arange(block.runs, like=block.actions[0]), *block.actions), shape)
    return np.bincount(pairs.ravel(), minlength=prod(shape)).reshape(shape)


def check_keep(match: Match, runs: int, recorded: int, metrics: int, keep: Collection[Keep]) -> None:
    """Reject what cannot be kept, or does not fit into the machine's memory.

    Args:
        match: what will be played.
        runs: the number of runs.
        recorded: the number of rounds at which metrics are kept.
        metrics: the number of metrics.
        keep: what else is kept.
    """
    if isinstance(keep, str) or not set(keep) <= set(get_args(Keep)):
        raise InputError(f"keep is {shorten(keep)}; accepted: a list out of {', '.join(get_args(Keep))}.")
    widths = [space.width for space in match.game.spaces]
    each = {"actions": len(widths), "rewards": len(widths), "policies": sum(widths)}  # numbers of a round
    numbers = recorded * metrics + match.rounds * sum(each.get(name, 0) for name in keep)
    numbers += prod(widths) * ("counts" in keep)
    wanted, there = 2 * 8 * runs * numbers, _memory()  # twice: the parts, and the whole that is made of them
    if wanted > there:
        raise InputError(
            f"this would keep {wanted / 2**30:.1f} GiB, and the machine has {there / 2**30:.1f}. "
            'Record fewer rounds (record="log"), keep less, or take fewer seeds at a time.'
        )


def _memory() -> int:
    """Return the bytes of memory of this machine."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not on every system
        return 2**62
