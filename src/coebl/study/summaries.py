"""Summaries of results: the mean of a metric over the seeds of a match, with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from coebl.statistics import mean_interval
from coebl.study.errors import StoreError


class SummaryRow(TypedDict):
    """The mean of a metric over the seeds of a match at a round, with Student's 95 % interval."""

    game: str
    noise: str
    row: str
    column: str
    horizon: int
    round: int
    metric: str
    mean: float
    low: float
    high: float
    sd: float
    n: int


def summarise(key: tuple[Any, ...], parts: list[dict[str, Any]], metrics: list[str]) -> Iterator[SummaryRow]:
    """The rows of one match at one round: `key` is game, noise, row, column, horizon and round."""
    game, noise, row, column, horizon, at = key
    for metric in metrics:
        with_metric = [part for part in parts if metric in part]
        if not with_metric:
            continue
        seeds = np.concatenate([part["seed"] for part in with_metric])
        values = np.concatenate([part[metric] for part in with_metric])
        # blocks of seeds may overlap; a run counts once, and is the same wherever it was made
        distinct, first = once(seeds, values[None], f"{game}, {row} v {column}", metric)
        mean, low, high, sd = _mean(values[first])
        yield {
            "game": game,
            "noise": noise,
            "row": row,
            "column": column,
            "horizon": horizon,
            "round": at,
            "metric": metric,
            "mean": mean,
            "low": low,
            "high": high,
            "sd": sd,
            "n": len(distinct),
        }


def once(
    seeds: NDArray[np.int64], values: NDArray[np.float64], match: str, metric: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The seeds, each once, and where its run stands in the values, of shape (rounds, runs)."""
    order = np.argsort(seeds, kind="stable")
    in_order = seeds[order]
    if (in_order[1:] > in_order[:-1]).all():
        return in_order, order
    distinct, first, which = np.unique(seeds, return_index=True, return_inverse=True)
    if len(distinct) < len(seeds):
        differing = (values[:, first][:, which].view(np.int64) != values.view(np.int64)).any(axis=0)
        if differing.any():
            raise StoreError(
                f"{match}: seed {seeds[differing][0]} has two values of {metric}, so the cells are of two games, two "
                "learners or two versions; keep them in two folders."
            )
    return distinct, first


def _mean(values: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Mean, both ends of its interval, and sd."""
    if np.isfinite(values).all():
        interval = mean_interval(values)
        return interval.mean, interval.low, interval.high, interval.sd
    signs = {math.copysign(1, value) for value in values[np.isinf(values)]}
    mean = math.nan if np.isnan(values).any() or len(signs) == 2 else signs.pop() * math.inf
    return mean, math.nan, math.nan, math.nan
