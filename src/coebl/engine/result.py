"""What a simulation leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coebl.backend import Device
from coebl.core.arrays import Floats, Ints
from coebl.core.errors import InputError, nearest
from coebl.core.modules import require
from coebl.engine.match import Match
from coebl.metrics import Metric
from coebl.plots import plot_runs
from coebl.runs import Runs

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.axes import Axes


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
    replayed: int = 0  # runs played again, because a graphics processor left a matrix of theirs unsolved

    @property
    def row_policy(self) -> Floats:
        """The row player's policies of the last round: (runs, m)."""
        return self.policies[0]

    @property
    def column_policy(self) -> Floats:
        """The column player's policies of the last round: (runs, n)."""
        return self.policies[1]

    def with_runs(self, at: Ints, part: Result) -> Result:
        """The same, with the runs of these numbers as another result has them.

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
        return f"<Result of {self.match}, {len(self.seeds)} runs{where}: {', '.join(self.metrics)}>"

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
        game, row, column = self.match.game.spec or self.match.game.name, str(self.match.row), str(self.match.column)
        rows = len(table["seed"])
        return {"game": [game] * rows, "row": [row] * rows, "column": [column] * rows, **table}

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
        metric = metric or next(iter(self.metrics))
        self.final(metric)  # complains if it was not recorded
        runs = Runs(self.rounds, self.seeds, self.metrics[metric])
        return plot_runs(runs, self.classes[metric], self.match.row, self.match.column, ax)


def _exchanged(whole: NDArray[Any], part: NDArray[Any], at: Ints, axis: int) -> NDArray[Any]:
    """An array with the entries of these numbers, on this axis, from another one."""
    changed = whole.copy()
    changed[(slice(None),) * axis + (at,)] = part
    return changed
