"""Ill-conditioned games: every one is solved, certified, and has the value that exact fractions give."""

import numpy as np
import pytest

from coebl.solver import Maximin, maximin
from coebl.solver.interruptible import new_answers, new_workspace, solve_large
from coebl.solver.maximin import first_weights
from oracles.certificate import certify_batch
from oracles.simplex import solve_exactly


def wild(random, m, n, *, rows=0.0, columns=0.0):
    """Normal payoffs, each row and each column scaled by a power of ten of up to the given number of digits."""
    row_scale, column_scale = 10 ** random.uniform(-rows, rows, (m, 1)), 10 ** random.uniform(-columns, columns, (1, n))
    return random.normal(size=(m, n)) * row_scale * column_scale


def hilbert(random, m, n):
    """Return nearly singular games, different each time."""
    return 1 / (1 + random.permutation(m)[:, None] + random.permutation(n))


def one_hot(random, m, n):
    return np.eye(1, m * n, random.integers(m * n)).reshape(m, n)


FAMILIES = {
    "wild rows, 5 digits": lambda random, m, n: wild(random, m, n, rows=5),
    "wild columns, 5 digits": lambda random, m, n: wild(random, m, n, columns=5),
    "wild rows and columns, 5 digits": lambda random, m, n: wild(random, m, n, rows=5, columns=5),
    "wild rows, 8 digits": lambda random, m, n: wild(random, m, n, rows=8),
    "wild columns, 8 digits": lambda random, m, n: wild(random, m, n, columns=8),
    "wild rows and columns, 8 digits": lambda random, m, n: wild(random, m, n, rows=8, columns=8),
    "wild entries": lambda random, m, n: 10 ** random.uniform(-8, 8, size=(m, n)),
    "near ties, 1e-10": lambda random, m, n: 1 + 1e-10 * random.normal(size=(m, n)),
    "near ties, 1e-13": lambda random, m, n: 1 + 1e-13 * random.normal(size=(m, n)),
    "integers": lambda random, m, n: random.integers(-1, 2, size=(m, n)).astype(float),
    "integers, nearly": lambda random, m, n: random.integers(-1, 2, size=(m, n)) + 1e-12 * random.normal(size=(m, n)),
    "ones among near zeros": lambda random, m, n: (random.random((m, n)) < 0.02) + 1e-10 * random.normal(size=(m, n)),
    "permuted identity": lambda random, m, n: random.permutation(np.eye(m, n)),
    "rank one": lambda random, m, n: np.outer(random.normal(size=m), random.normal(size=n)),
    "rank two, nearly": lambda random, m, n: (
        random.normal(size=(m, 2)) @ random.normal(size=(2, n)) + 1e-11 * random.normal(size=(m, n))
    ),
    "Hilbert": hilbert,
    "constant rows": lambda random, m, n: np.repeat(random.normal(size=(m, 1)), n, axis=1),
    "offset of 1e12": lambda random, m, n: 1e12 + random.normal(size=(m, n)),
    "scale of 1e-300": lambda random, m, n: 1e-300 * random.normal(size=(m, n)),
    "scale of 1e300": lambda random, m, n: 1e300 * random.normal(size=(m, n)),
    "duplicated rows": lambda random, m, n: random.normal(size=(m, n))[random.integers(m, size=m)],
    "constant": lambda random, m, n: np.full((m, n), 3.0),
    "zero": lambda random, m, n: np.zeros((m, n)),
    "one hot": one_hot,
    "tied but for one": lambda random, m, n: 1 + 1e-12 * one_hot(random, m, n),
    "blocks": lambda random, m, n: np.where(
        np.equal.outer(np.arange(m) < m // 2, np.arange(n) < n // 2), random.normal(size=(m, n)) + 2, 0.0
    ),
    "signs": lambda random, m, n: random.choice([-1.0, 1.0], size=(m, n)),
    "skew": lambda random, m, n: np.sign(np.subtract.outer(np.arange(m), np.arange(n))).astype(float),
}
WILD = [name for name in FAMILIES if "wild" in name]
SMALL = [(1, 7), (7, 1), (2, 2), (5, 3), (4, 6)]
MANY = [(2, 3), (3, 3), (4, 7), (7, 4), (8, 8)]
LARGE = [(1, 500), (500, 1), (300, 2), (3, 250), (24, 20), (40, 60), (60, 60)]


def games(family, count, m, n):
    return np.stack([FAMILIES[family](np.random.default_rng([17, m, n, k]), m, n) for k in range(count)])


def check(batch):
    """Solve a batch, and check every answer from the payoffs alone."""
    solution = maximin(batch)
    certify_batch(batch, solution)
    return solution


@pytest.mark.parametrize(("m", "n"), SMALL)
@pytest.mark.parametrize("family", FAMILIES)
def test_small_games_are_worth_what_exact_fractions_say(family, m, n):
    batch = games(family, 8, m, n)
    solution = check(batch)
    for payoff, value in zip(batch, solution.value, strict=True):
        exact = float(solve_exactly(payoff.tolist(), [0] * m).value)
        rounding = 4 * np.spacing(np.abs(payoff).max())
        assert abs(value - exact) <= 1e-9 * np.ptp(payoff) + rounding


@pytest.mark.parametrize(
    ("family", "count", "m", "n"),
    [(family, 4, m, n) for family in FAMILIES for m, n in LARGE]
    + [(family, 12, 100, 100) for family in WILD]  # one in six of these used to end with a SolveError
    + [
        pytest.param(family, count, m, n, marks=pytest.mark.slow)
        for family in FAMILIES
        for count, shapes in ((400, [(20, 20), (60, 60), (100, 100)]), (10_000, MANY))
        for m, n in shapes
    ],
)
def test_games_are_certified(family, count, m, n):
    """The slow ones are 1.4 million small games, and 33,600 large ones."""
    check(games(family, count, m, n))


@pytest.mark.parametrize(
    ("family", "count", "m", "n"),
    [
        ("wild rows, 5 digits", 30, 80, 80),
        ("wild columns, 5 digits", 30, 80, 80),
        ("ones among near zeros", 30, 80, 80),
        ("near ties, 1e-10", 100, 3, 250),
    ],
)
def test_rounded_payoffs_spare_the_second_method(family, count, m, n):
    assert check(games(family, count, m, n)).fallbacks == 0


@pytest.mark.parametrize(("m", "n"), [(6, 5), (24, 20), (50, 52)])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_warm_start_walk_equals_solving_again(family, m, n):
    """Entries are replaced one by one by those of another game of the family."""
    batch, other = games(family, 2, m, n), games(family, 4, m, n)[2:]
    random = np.random.default_rng([m, n])
    solver = Maximin(batch.shape)
    for _ in range(12):
        solution, again = solver(batch), maximin(batch)
        certify_batch(batch, solution)
        for k, payoff in enumerate(batch):
            rounding = 4 * np.spacing(np.abs(payoff).max())
            assert abs(solution.value[k] - again.value[k]) <= 2e-9 * np.ptp(payoff) + rounding
        i, j = random.integers(m), random.integers(n)
        batch[:, i, j] = other[:, i, j]


def test_small_numbers_that_are_not_zero_do_not_need_a_second_method():
    """If rows and columns have different scales, right-hand sides may be small without being ties."""
    batch = np.stack([wild(np.random.default_rng([5, k]), 100, 100, rows=2, columns=2) for k in range(30)])
    answers = new_answers(30, 100, 100)
    assert solve_large(batch, first_weights(100), new_workspace(1, 100, 100, "float64"), answers) <= 2
