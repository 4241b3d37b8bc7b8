"""The curves of a study in one line: which metric, which matches, and on which axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coebl.core.errors import InputError
from coebl.evidence.compare import DEFAULT
from coebl.naming import known_to, metric_words
from coebl.plots import plot_panels
from coebl.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from coebl.study.results import Results


def plot_results(
    results: Results, cells: list[dict[str, Any]], metric: str | None = None, noise: str | None = None
) -> Figure:
    """A figure of the matches of these cells, described by their metadata: a panel per game, a line per match."""
    metric = metric or telling_metric(results, cells)
    cells = [about for about in cells if metric in about["metrics"]]
    if not cells:
        raise InputError(f"metric {metric!r} was not recorded for any of these matches; see: coebl results.")
    matches = [(labels["game"], labels["row"], labels["column"]) for labels in (about["labels"] for about in cells)]
    log = all(about["description"]["record"] == "log" for about in cells)
    return plot_panels(_WithNoise(results, noise), metric, matches, log)


def telling_metric(results: Results, cells: list[dict[str, Any]]) -> str:
    """The metric to draw if none is named: who earns more, or in self-play alone, how good the play is."""
    present: list[str] = list(dict.fromkeys(metric for about in cells for metric in about["metrics"]))
    if not present:
        raise InputError(results.why_empty())
    known = known_to(results)
    signed = [metric for metric in present if metric_words(metric, known).signed]
    if all(about["labels"]["row"] == about["labels"]["column"] for about in cells):
        return next((metric for metric in present if metric not in signed), present[0])
    return DEFAULT if DEFAULT in present else present[0]


@dataclass(frozen=True)
class _WithNoise:
    """Results restricted to one noise."""

    results: Results
    noise: str | None

    def matches(self) -> list[tuple[str, str, str]]:
        return self.results.matches()

    def metadata(self) -> list[dict[str, Any]]:
        return self.results.metadata()

    def runs(self, game: str, row: str, column: str, metric: str) -> Runs:
        return self.results.runs(game, row, column, metric, noise=self.noise)
