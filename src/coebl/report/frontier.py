"""Sweeps on the page: the settings of a learner in self-play, and against one opponent."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coebl.core.frames import pl
from coebl.core.text import few_digits
from coebl.evidence.statistics import bands
from coebl.naming import MetricWords
from coebl.plots.sweep import LAST
from coebl.report.legend import DIGITS

FEWEST_SETTINGS = 3
_MATCH = ["row", "column"]


@dataclass(frozen=True)
class End:
    """The mean of a match over its last rounds, with few digits, for the script of the page."""

    mean: float
    half: float | None  # half the width of the interval
    seeds: int
    first: int  # of the rounds
    last: int


@dataclass(frozen=True)
class FrontierPoint:
    """A setting of a learner."""

    learner: int  # an index into the learners of the page
    self_play: dict[str, End | None]  # by metric
    against: End | None  # the opponent


@dataclass(frozen=True)
class Frontier:
    """The settings of sweeps on a game."""

    regret: str | None  # the metric against the opponent
    metrics: list[str]  # of self-play, the most suitable first
    points: list[FrontierPoint]


def read_frontier(
    frame: pl.DataFrame,
    sweeps: Mapping[str, int],
    places: Mapping[str, int],
    metrics: Mapping[str, MetricWords],
    opponent: str,
    convergence: Sequence[str],
) -> Frontier | None:
    """Return the results of swept settings in self-play and against the opponent; None if there are too few.

    In self-play, only metrics for which lower is better are shown. The result against the opponent is the first metric
    whose sign shows who is ahead; it is left out if they have not met. `sweeps` has the index of the sweep of each
    setting, `places` that of each learner, and metrics in `convergence` come before others.
    """
    ends = _ends(frame, metrics)
    signed = [name for name, words in metrics.items() if words.signed]
    others = (name for name in metrics if name not in convergence)
    suitable = sorted(others, key=lambda name: (metrics[name].signed, metrics[name].cumulative))
    preferred = [*filter(metrics.__contains__, convergence), *suitable]
    for regret in [*signed, None]:
        chosen = [spec for spec in sweeps if regret is None or regret in ends[spec, opponent]]
        shown = []
        for name in preferred:
            settings = Counter(sweep for spec, sweep in sweeps.items() if spec in chosen and name in ends[spec, spec])
            has_enough = max(settings.values(), default=0) >= FEWEST_SETTINGS
            # without an opponent, a lower signed metric is not better
            if has_enough and metrics[name].better == "lower" and (regret or name not in signed):
                shown.append(name)
        if shown:
            points = [
                FrontierPoint(
                    learner=places[spec],
                    self_play={name: ends[spec, spec].get(name) for name in shown},
                    against=ends[spec, opponent].get(regret) if regret else None,
                )
                for spec in chosen
            ]
            return Frontier(regret, shown, points)
    return None


def _ends(frame: pl.DataFrame, metrics: Mapping[str, MetricWords]) -> dict[tuple[str, str], dict[str, End]]:
    """Return the final values of matches by metric: the last one if cumulative, else the mean over the last rounds."""
    ends: dict[tuple[str, str], dict[str, End]] = defaultdict(dict)
    for name in filter(frame.columns.__contains__, metrics):
        held = frame.select(*_MATCH, "seed", "round", value=name).drop_nulls("value")
        span = 1 if metrics[name].cumulative else LAST
        held = held.filter(pl.col("round") > pl.col("round").max().over(_MATCH) - span)
        by_seed = held.group_by(*_MATCH, "seed", maintain_order=True).agg(
            pl.col("value").mean(), first=pl.col("round").min(), last=pl.col("round").max()
        )
        matches = by_seed.group_by(_MATCH, maintain_order=True).agg(
            pl.col("value"), pl.col("first").min(), pl.col("last").max()
        )
        intervals = bands(matches["value"]).select("mean", "n", half=(pl.col("high") - pl.col("low")) / 2)
        for row, column, first, last, mean, n, half in matches.drop("value").hstack(intervals).iter_rows():
            if (rounded := few_digits(mean, DIGITS)) is not None:
                ends[row, column][name] = End(rounded, few_digits(half, DIGITS), n, first, last)
    return ends
