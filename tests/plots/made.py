"""Made-up numbers for plots, and functions that read numbers back from the axes."""

import statistics
import zlib

import numpy as np
import polars
import scipy.stats

GAME = "diagonal:n=2"
UCB, EXP3 = (GAME, "ucb", "coebl"), (GAME, "exp3", "coebl")


def frame(runs, metric):
    """A frame in the columns of `Results.curves`, from match to its rounds and values, (recorded, runs)."""
    parts = []
    for (game, *players), (rounds, values) in runs.items():
        recorded, seeds = values.shape
        labels = {"game": game, "players": players, "noise": "none", "rounds": int(rounds[-1])}
        numbers = {"seed": np.repeat(np.arange(seeds), recorded), "round": np.tile(rounds, seeds)}
        table = polars.DataFrame({**numbers, metric: values.T.ravel()})
        parts.append(polars.DataFrame([labels]).join(table, how="cross"))
    return polars.concat(parts)


class Made:
    """Results with skewed numbers and drift, different for every match and metric; `change` may replace them."""

    def __init__(self, *matches, rounds=40, every=5, seeds=7, change=None):
        self.listed = list(matches)
        self.rounds = np.arange(1, rounds + 1) * every
        self.seeds = np.arange(seeds)
        self.change = change or (lambda values: values)

    def matches(self):
        return self.listed

    def values(self, *key):
        assert key[:3] in self.listed
        random = np.random.default_rng(zlib.crc32(repr(key).encode()))
        return self.change(random.exponential(2.0, (len(self.rounds), len(self.seeds))).cumsum(axis=0) - 3)

    def curves(self, metrics, *, game, players, **filters):
        [metric], match = metrics, (game, *(player for [player] in players))
        return frame({match: (self.rounds, self.values(*match, metric))}, metric)


def slow(samples):
    """Mean and both ends of the t interval."""
    samples = [float(sample) for sample in samples]
    mean = sum(samples) / len(samples)
    half = scipy.stats.t.ppf(0.975, len(samples) - 1) * statistics.stdev(samples) / len(samples) ** 0.5
    return mean, mean - half, mean + half


def bands(ax):
    """The filled bands, as (lowest, highest) by round."""
    edges = []
    for collection in ax.collections:
        if not collection.get_paths():
            continue  # the entry of the legend
        by_round = {}
        for x, y in collection.get_paths()[0].vertices:
            by_round.setdefault(x, []).append(y)
        edges.append({x: (min(ys), max(ys)) for x, ys in by_round.items()})
    return edges


def labels(ax):
    return ax.get_legend_handles_labels()[1]
