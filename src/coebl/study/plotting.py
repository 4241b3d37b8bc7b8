"""The curves of a study in one line: which metric, which matches, and on which axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coebl.core.errors import InputError
from coebl.evidence.compare import DEFAULT
from coebl.naming import known_to, metric_words
from coebl.plots import plot_panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from coebl.study.record import CellRecord
    from coebl.study.results import Results


def plot_results(
    results: Results, cells: list[CellRecord], metric: str | None = None, noise: str | None = None
) -> Figure:
    """A figure of the matches of these cells: a panel per game, a line per match."""
    metric = metric or telling_metric(results, cells)
    cells = [record for record in cells if metric in record.metrics]
    if not cells:
        raise InputError(f"metric {metric!r} was not recorded for any of these matches; see: coebl results.")
    matches = [(record.game, record.players[0], record.players[1]) for record in cells]
    log = all(record.record == "log" for record in cells)
    return plot_panels(results, metric, matches, log, noise)


def telling_metric(results: Results, cells: list[CellRecord]) -> str:
    """The metric to draw if none is named: who earns more, or in self-play alone, how good the play is."""
    present: list[str] = list(dict.fromkeys(metric for record in cells for metric in record.metrics))
    if not present:
        raise InputError(results.why_empty())
    known = known_to(results)
    signed = [metric for metric in present if metric_words(metric, known).signed]
    if all(len(set(record.players)) == 1 for record in cells):
        return next((metric for metric in present if metric not in signed), present[0])
    return DEFAULT if DEFAULT in present else present[0]
