"""Random games: the properties in their docstrings, one game per seed, and permuted games."""

import numpy as np
import pytest

from coebl.games import Game, parse_game
from coebl.games.noise import Laplace
from coebl.games.random_games import permute

RANDOM = [
    *("random-gaussian", "random-uniform", "random-sign", "random-skew", "random-smooth", "random-sparse"),
    "random-low-rank",
]


@pytest.mark.parametrize("spec", [*RANDOM, "robust-bandit", "permuted:game=diagonal:3"])
def test_a_seed_fixes_the_game(spec):
    def with_seed(seed):
        return parse_game(f"{spec}{',' if ':' in spec else ':'}seed={seed}")

    assert with_seed(0) == parse_game(spec)  # 0 is a seed, and the default
    assert with_seed(1) == with_seed(1)
    assert len({with_seed(seed) for seed in range(5)}) == 5


def test_families_do_not_share_their_draws():
    gaussian, smooth = (parse_game(f"{name}:m=1,n=1").payoff[0, 0] for name in ("random-gaussian", "random-smooth"))
    assert abs(gaussian - smooth) > 1e-3  # a 1 x 1 smooth game is its one normal draw


def test_a_seed_gives_the_same_game_in_every_version():
    # Recorded from the first version: a change here changes the games of published studies.
    payoff = parse_game("random-gaussian:m=1,n=2,seed=1").payoff
    np.testing.assert_allclose(payoff, [[0.5333538783849469, 1.242245677966544]], rtol=1e-12)
    assert parse_game("permuted:game=rps,seed=1").row_labels == ("scissors", "paper", "rock")


@pytest.mark.parametrize(
    ("name", "games", "shape", "mean", "variance"),
    [
        ("random-gaussian:m=200,n=300,", 1, (200, 300), 0, 1),
        ("random-uniform:m=200,n=300,", 1, (200, 300), 0, 1 / 3),
        ("random-sign:m=200,n=300,", 1, (200, 300), 0, 1),
        ("robust-bandit:", 400, (10, 5), 0.5, 2),
    ],
)
def test_independent_payoffs_follow_their_law(name, games, shape, mean, variance):
    # 60,000 or 20,000 payoffs, 4 standard errors: a false alarm in 16,000 seeds for each test; the seeds are fixed
    payoff = np.stack([parse_game(f"{name}seed={seed}").payoff for seed in range(games)])
    assert payoff[0].shape == shape
    assert abs(payoff.mean() - mean) < 4 * np.sqrt(variance / payoff.size)
    squares = (payoff - mean) ** 2
    assert abs(squares.mean() - variance) <= 4 * squares.std() / np.sqrt(payoff.size) + 1e-12


def test_bounded_random_games_keep_to_their_range():
    assert set(np.unique(parse_game("random-sign").payoff)) == {-1.0, 1.0}
    for name in ("random-sign", "random-uniform"):
        game = parse_game(f"{name}:m=2,n=1,seed=3")
        assert game.payoff_range == (-1, 1)
        assert np.abs(game.payoff).max() <= 1


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_random_skew_is_fair(n):
    game = parse_game(f"random-skew:n={n},seed=2")
    np.testing.assert_array_equal(game.payoff, -game.payoff.T)
    assert game.value == pytest.approx(0, abs=1e-9)
    x = game.solution.row
    assert (game.payoff @ x).max() == pytest.approx(0, abs=1e-9)  # optimal in the other seat too


def test_random_smooth_has_its_covariance():
    m, n, games = 5, 10, 2000
    payoff = np.stack([parse_game(f"random-smooth:m={m},n={n},seed={seed}").payoff for seed in range(games)])
    for (i, j), (k, l) in [((0, 0), (0, 0)), ((1, 2), (2, 2)), ((1, 2), (1, 5)), ((0, 3), (2, 4))]:
        expected = np.exp(-(((i - k) / (m / 5)) ** 2) / 2 - (((j - l) / (n / 5)) ** 2) / 2)
        product = payoff[:, i, j] * payoff[:, k, l]
        # 2,000 games, 4 standard errors: a false alarm in 16,000 seeds for each pair; the seeds are fixed
        assert abs(product.mean() - expected) < 4 * product.std() / np.sqrt(games)


def test_random_smooth_is_smooth_at_size():
    payoff = parse_game("random-smooth:m=300,n=200").payoff
    assert np.abs(np.diff(payoff, axis=0)).max() < 0.15  # neighbours differ by 5/300 of a length, and jitter
    assert np.abs(np.diff(payoff, axis=1)).max() < 0.2


@pytest.mark.parametrize(("m", "n", "k"), [(10, 10, 3), (20, 35, 6), (7, 4, 4), (5, 9, 1), (1, 1, 1), (40, 40, 15)])
@pytest.mark.parametrize("seed", range(4))
def test_random_sparse_has_one_equilibrium_on_k_actions_each(m, n, k, seed):
    game = parse_game(f"random-sparse:m={m},n={n},k={k},seed={seed}")
    assert game.shape == (m, n)
    assert game.value == pytest.approx(0, abs=1e-9)
    assert game.unique_equilibrium.answer == "yes"
    row, column = game.solution.row, game.solution.column
    for strategy, lost in ((row, -(game.payoff @ column)), (column, row @ game.payoff)):
        used = strategy > 1e-9
        assert used.sum() == k
        assert strategy[used].max() <= 3 * strategy[used].min()
        np.testing.assert_allclose(lost[used], 0, atol=1e-9)
        np.testing.assert_allclose(lost[~used], 0.5, atol=1e-9)


@pytest.mark.parametrize(
    "name", ["random-gaussian:m=6,n=9,seed=", "random-uniform:m=9,n=6,seed=", "robust-bandit:seed="]
)
def test_continuous_random_games_have_one_equilibrium(name):
    assert {parse_game(f"{name}{seed}").unique_equilibrium.answer for seed in range(10)} == {"yes"}


def test_not_all_seeds_are_alike():
    supports = {tuple(parse_game(f"random-sparse:seed={seed}").solution.row > 1e-9) for seed in range(10)}
    assert len(supports) > 5
    assert "no" in {parse_game(f"random-sign:m=4,n=4,seed={seed}").unique_equilibrium.answer for seed in range(10)}


# Permuted games


@pytest.mark.parametrize("spec", ["random-gaussian:m=4+n=7", "hide-and-seek", "blotto:coins=3+fields=2", "rps"])
def test_permuted_moves_labels_with_their_actions(spec):
    inner = parse_game(spec.replace("+", ","))
    game = parse_game(f"permuted:game={spec},seed=4")
    assert (game.row_labels, game.column_labels) != (inner.row_labels, inner.column_labels)
    rows = [game.row_labels.index(label) for label in inner.row_labels]
    columns = [game.column_labels.index(label) for label in inner.column_labels]
    np.testing.assert_array_equal(game.payoff[np.ix_(rows, columns)], inner.payoff)
    assert game.payoff_range == inner.payoff_range
    assert game.value == pytest.approx(inner.value, abs=1e-9)


def test_permuted_nests_permutes_rows_and_columns_separately_and_keeps_noise_and_range():
    orders = [parse_game(f"permuted:game=diagonal:3,seed={seed}") for seed in range(5)]
    assert any(game.row_labels != game.column_labels for game in orders)
    game = permute(Game([[1, 2, 3], [4, 5, 6]], noise="laplace:sigma=2", payoff_range=(0, 10)), seed=1)
    assert (game.noise, game.payoff_range) == (Laplace(2.0), (0, 10))
    twice = parse_game("permuted:game=permuted:game=blotto:coins=4++fields=3+seed=1,seed=3")
    by_hand = permute(permute(parse_game("blotto:coins=4,fields=3"), 1), 3)
    assert twice == by_hand


def test_low_rank_games_have_that_rank_and_unit_variance():
    game = parse_game("random-low-rank:m=200,n=300,rank=3,seed=1")
    assert np.linalg.matrix_rank(game.payoff) == 3
    # About the mean of 3 products of averages of 200 and of 300 squares, whose error is sqrt((2/200 + 2/300) / 3)
    assert abs((game.payoff**2).mean() - 1) < 4 * 0.075
