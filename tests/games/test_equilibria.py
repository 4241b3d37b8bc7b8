"""All extreme equilibria of small games, against exact fractions and against known sets."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from coebl import Game, InputError, parse_game


def exact_solution(equations: list[list[Fraction]]) -> list[Fraction] | None:
    """Return the solution of linear equations, each a row with its right side last; None if it is not unique."""
    rows = [list(row) for row in equations]
    unknowns = len(rows[0]) - 1
    for place in range(unknowns):
        pivot = next((k for k in range(place, len(rows)) if rows[k][place] != 0), None)
        if pivot is None:
            return None
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [entry / rows[place][place] for entry in rows[place]]
        for k, row in enumerate(rows):
            if k != place and row[place] != 0:
                rows[k] = [a - row[place] * b for a, b in zip(row, rows[place], strict=True)]
    return [row[-1] for row in rows]


def exact_corners(payoff: np.ndarray, value: Fraction) -> set[tuple[Fraction, ...]]:
    """Return the corners of {x >= 0, sum x = 1, x'A >= value}: any m - 1 of the inequalities as equations."""
    m, n = payoff.shape
    matrix = [[Fraction(int(entry)) for entry in row] for row in payoff]
    limits = [[*(Fraction(int(i == k)) for k in range(m)), Fraction(0)] for i in range(m)]
    limits += [[*(matrix[i][j] for i in range(m)), value] for j in range(n)]
    corners = set()
    for chosen in itertools.combinations(limits, m - 1):
        x = exact_solution([*chosen, [Fraction(1)] * (m + 1)])
        if x and all(sum(a * b for a, b in zip(limit, x, strict=False)) >= limit[-1] for limit in limits):
            corners.add(tuple(x))
    return corners


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (2, 4), (4, 3), (1, 3), (3, 1)])
@pytest.mark.parametrize("seed", range(8))
def test_extreme_equilibria_are_the_exact_corners(shape: tuple[int, int], seed: int) -> None:
    payoff = np.random.default_rng([seed, *shape]).integers(-1, 2, shape)  # few numbers: many ties
    game = Game(payoff)
    equilibria = game.equilibria()
    value = Fraction(game.value).limit_denominator(1000)
    for ours, exact in (
        (equilibria.row, exact_corners(payoff, value)),
        (equilibria.column, exact_corners(-payoff.T, -value)),
    ):
        expected = sorted((tuple(map(float, corner)) for corner in exact), reverse=True)
        np.testing.assert_allclose(ours, expected, atol=1e-12)  # the first actions come first
    assert len(equilibria) > 1 or (seed, shape) != (3, (4, 3))  # some of them have several


@pytest.mark.parametrize(
    ("spec", "row", "column"),
    [
        ("matching-pennies", [[0.5, 0.5]], [[0.5, 0.5]]),
        ("biased-rps", [[1 / 16, 5 / 8, 5 / 16]], [[1 / 16, 5 / 8, 5 / 16]]),
        ("trap:0", [[1, 0]], [[1, 0], [0, 1]]),
        ("maiti", [[1 / 3, 2 / 3]], [[1 / 3, 2 / 3]]),
        ("blotto:coins=3,fields=2", np.eye(4), np.eye(4)),  # with two fields no one ever wins
    ],
)
def test_known_sets(spec: str, row: list[list[float]], column: list[list[float]]) -> None:
    equilibria = parse_game(spec).equilibria()
    np.testing.assert_allclose(equilibria.row, row, atol=1e-12)
    np.testing.assert_allclose(equilibria.column, column, atol=1e-12)


def test_a_constant_game_has_every_pair_of_actions() -> None:
    equilibria = Game([[7, 7], [7, 7]]).equilibria()
    assert equilibria.value == 7
    assert len(equilibria) == 4
    assert [(row.tolist(), column.tolist()) for row, column in equilibria] == [
        ([1, 0], [1, 0]),
        ([1, 0], [0, 1]),
        ([0, 1], [1, 0]),
        ([0, 1], [0, 1]),
    ]


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_ties_count_in_spite_of_rounding_and_units(scale: float) -> None:
    payoff = np.array([[0.1 + 0.2, 0.0, 0.3], [0.0, 0.3, 0.0]]) * scale  # 0.1 + 0.2 is not 0.3 to the last bit
    equilibria = Game(payoff).equilibria()
    np.testing.assert_allclose(equilibria.row, [[0.5, 0.5]], atol=1e-9)
    np.testing.assert_allclose(equilibria.column, [[0.5, 0.5, 0], [0, 0.5, 0.5]], atol=1e-9)


def test_uniqueness_agrees() -> None:
    for seed in range(20):
        game = parse_game(f"random-sign:m=4,n=3,seed={seed}")
        assert (len(game.equilibria()) == 1) == (game.unique_equilibrium.answer == "yes")


def test_a_large_game_is_rejected_unless_few_of_its_actions_are_useful() -> None:
    [(row, column)] = parse_game("diagonal:5").equilibria()
    assert (row[-1], column[-1]) == (1, 1)
    with pytest.raises(InputError, match=r"^kuhn-poker has 64 x 64 actions, too many for all equilibria; accepted: ab"):
        parse_game("kuhn-poker").equilibria()
