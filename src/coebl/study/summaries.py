"""Summaries of results: the mean of a metric over the seeds of a match, with its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from coebl.evidence.statistics import Band
from coebl.study.errors import StoreError

_Spread = tuple[float, float, float, float, int]  # mean, low, high, sd, n


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


def summarise(groups: Mapping[tuple[Any, ...], list[dict[str, Any]]], metrics: list[str]) -> list[SummaryRow]:
    """The rows of matches, each at one round, in the order of the groups.

    The key of a group is game, noise, row, column, horizon and round; its parts have the seeds and metrics of cells.
    """
    samples = []
    for key, parts in groups.items():
        for metric in metrics:
            with_metric = [part for part in parts if metric in part]
            if with_metric:
                samples.append((key, metric, _sample(key, with_metric, metric)))
    spreads = _spreads([values for _, _, values in samples])
    return [_row(key, metric, spread) for (key, metric, _), spread in zip(samples, spreads, strict=True)]


def _row(key: tuple[Any, ...], metric: str, spread: _Spread) -> SummaryRow:
    game, noise, row, column, horizon, at = key
    mean, low, high, sd, n = spread
    return {
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
        "n": n,
    }


def _sample(key: tuple[Any, ...], parts: list[dict[str, Any]], metric: str) -> NDArray[np.float64]:
    """One number per seed: blocks of seeds may overlap; a run counts once, and is the same wherever it was made."""
    game, _, row, column, *_ = key
    seeds = np.concatenate([part["seed"] for part in parts])
    values = np.concatenate([part[metric] for part in parts])
    _, first = once(seeds, values[None], f"{game}, {row} v {column}", metric)
    return values[first]


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


def _spreads(samples: list[NDArray[np.float64]]) -> list[_Spread]:
    """Mean, both ends of its interval, sd and size of each sample; those of one size are taken together."""
    spreads: list[_Spread] = [(math.nan, math.nan, math.nan, math.nan, 0)] * len(samples)
    by_size: dict[int, list[int]] = {}
    for place, values in enumerate(samples):
        by_size.setdefault(len(values), []).append(place)
    for size, places in by_size.items():
        band = Band.of(np.array([samples[place] for place in places]))
        ends = zip(band.mean.tolist(), band.low.tolist(), band.high.tolist(), band.sd.tolist(), strict=True)
        for place, (mean, low, high, sd) in zip(places, ends, strict=True):
            spreads[place] = (_limit(samples[place]) if math.isnan(mean) else mean), low, high, sd, size
    return spreads


def _limit(values: NDArray[np.float64]) -> float:
    """The mean of values that are not all finite."""
    signs = {math.copysign(1, value) for value in values[np.isinf(values)]}
    return math.nan if np.isnan(values).any() or len(signs) == 2 else signs.pop() * math.inf
