"""Made-up numbers for plots, and what is read back from the axes."""

import statistics
import zlib

import numpy as np
import scipy.stats

from coebl.runs import Runs

GAME = "diagonal:n=2"
UCB, EXP3 = (GAME, "ucb", "coebl"), (GAME, "exp3", "coebl")


class Made:
    """A source of skewed numbers with drift, different for every match and metric; `change` may put others in."""

    def __init__(self, *matches, rounds=40, every=5, seeds=7, change=None):
        self.listed = list(matches)
        self.rounds = np.arange(1, rounds + 1) * every
        self.seeds = np.arange(seeds)
        self.change = change or (lambda values: values)

    def matches(self):
        return self.listed

    def runs(self, *key):
        assert key[:3] in self.listed
        random = np.random.default_rng(zlib.crc32(repr(key).encode()))
        values = random.exponential(2.0, (len(self.rounds), len(self.seeds))).cumsum(axis=0) - 3
        return Runs(self.rounds, self.seeds, self.change(values))


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
