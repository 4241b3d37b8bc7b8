"""What a simulation leaves behind."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coebl.core.errors import InputError, nearest
from coebl.engine.match import Match

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Result:
    """The recorded metrics of a batch of runs, and how they ended."""

    match: Match
    seeds: NDArray[np.int64]  # (runs,)
    rounds: NDArray[np.int64]  # (recorded,), increasing
    metrics: dict[str, Floats]  # name to (recorded, runs)
    row_policy: Floats  # (runs, m), of the last round
    column_policy: Floats  # (runs, n)
    counts: NDArray[np.int64]  # (runs, m, n), how often each pair was played
    seconds: dict[str, float]  # time per phase

    def __repr__(self) -> str:
        return f"<Result of {self.match}, {len(self.seeds)} runs: {', '.join(self.metrics)}>"

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

    def to_pandas(self) -> pandas.DataFrame:
        """The tidy table as a pandas data frame."""
        try:
            import pandas
        except ImportError:
            raise InputError("to_pandas needs pandas; run: pip install pandas") from None
        return pandas.DataFrame(self.columns())

    def to_polars(self) -> polars.DataFrame:
        """The tidy table as a Polars data frame."""
        try:
            import polars
        except ImportError:
            raise InputError("to_polars needs polars; run: pip install polars") from None
        return polars.DataFrame(self.columns())

    def plot(self, metric: str | None = None, ax: Axes | None = None) -> Axes:
        """The mean of a metric over the runs, by round, with its 95 % band; by default the first that was recorded."""
        # by name: plots are made above the engine (docs/design.md), so it does not import them
        axes: Axes = import_module("coebl.report.plots").plot_result(self, metric, ax)
        return axes
