"""Operators on batches of genomes that several searches share: first genomes, mutation, pairwise dominance."""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np

from coebl.backend import log1p
from coebl.core.arrays import Booleans, Floats, Ints
from coebl.learners.base import Seat
from coebl.search.base import Genomes


def first_genomes(seat: Seat, count: int, bits: int) -> Genomes:
    """Draw genomes whose bits are fair coins: (runs, count, bits)."""
    return (seat.random.uniform(count, bits) < 0.5).astype(np.int8)


def draw_integers(seat: Seat, below: int, *shape: int) -> Ints:
    """Draw integers that are uniform on 0 .. below - 1: (runs, *shape)."""
    return (seat.random.uniform(*shape) * below).astype(np.int64)


def choose(genomes: Genomes, index: Ints) -> Genomes:
    """Return a new array of genomes by their numbers in each run.

    Args:
        genomes: (runs, count, bits).
        index: (runs, chosen).
    """
    runs, count, bits = genomes.shape
    flat = (index + count * np.arange(runs)[:, None]).ravel()
    chosen: Genomes = genomes.reshape(-1, bits)[flat].reshape(runs, -1, bits)
    return chosen


def mutate(seat: Seat, genomes: Genomes, chi: float) -> None:
    """Flip every bit independently with probability chi / bits, in place.

    The distances between flipped bits, over all genomes of a run, are geometric. They are drawn instead of a number
    per bit, as few bits are flipped; so many of them that the end is not reached with probability below 1e-12.

    Args:
        seat: of the search.
        genomes: (runs, count, bits).
        chi: the expected number of flipped bits in a genome, at most `bits`.
    """
    _, count, bits = genomes.shape
    size, rate = count * bits, min(1.0, chi / bits)
    if rate == 0:
        return
    expected = size * rate
    draws = min(size, ceil(expected + 8 * sqrt(expected) + 20))
    with np.errstate(divide="ignore"):
        gaps = np.floor(log1p(-seat.random.uniform(draws)) / log1p(-rate))
    places = np.minimum(gaps, size).cumsum(axis=1) + np.arange(draws)
    run, number = np.nonzero(places < size)
    genomes.reshape(-1)[run * size + places[run, number].astype(np.int64)] ^= 1


def dominates(with_other_y: Floats, own: Floats, other_x: Floats) -> Booleans:
    """Return where a pair (x, y) dominates another, (x', y'): g(x, y') >= g(x, y) >= g(x', y).

    Args:
        with_other_y: g(x, y').
        own: g(x, y).
        other_x: g(x', y).
    """
    return (with_other_y >= own) & (own >= other_x)


def as_policies(x: Genomes, y: Genomes) -> tuple[Floats, Floats]:
    """Return the policies that play one genome each: (runs, bits) of floats."""
    return x.astype(np.float64), y.astype(np.float64)
