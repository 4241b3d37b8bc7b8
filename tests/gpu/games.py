"""Games for the tests of the GPU kernel, and the check of its answers."""

import numpy as np

from coebl.solver import maximin


def games(m, n, count=12):
    """Return batches of games, each with a description."""
    random = np.random.default_rng(m + 1000 * n)
    yield "normal", random.normal(size=(count, m, n))
    yield "tied", random.integers(0, 2, size=(count, m, n)).astype(float)
    few = np.full((count, m, n), 3.0)
    for matrix in few:
        matrix[random.integers(0, m, 2 * m), random.integers(0, n, 2 * m)] = random.normal(size=2 * m)
    yield "mostly equal", few
    yield "wild", random.normal(size=(count, m, n)) * 10.0 ** random.uniform(-3, 3, size=(count, m, 1))


def check_answers(kind, batch, strategy, value, gap):
    """Assert that the answers are certified, with the CPU's values and the same rule for ties."""
    known = maximin(batch)
    assert (abs(gap) <= 1e-9).all(), kind
    span = batch.max(axis=(1, 2)) - batch.min(axis=(1, 2)) + 1e-300
    assert (abs(value - known.value) <= 1e-9 * span).all(), kind
    if kind != "wild":  # the rule for ties determines the strategy, as far as double precision allows
        assert abs(strategy - known.strategy).max() < 1e-6, kind
