"""Games of any sum and any number of players: payoffs, noise, files and mistakes."""

import copy
import pickle
import re

import numpy as np
import pytest

from coebl import Game, read_game, write_game
from coebl.core.errors import InputError
from coebl.games import AnyGame, TensorGame, ZeroSumGame, parse_game
from coebl.games.noise import parse_noise

A, B = [[3.0, 0.0, 5.0], [1.0, 2.0, -4.0]], [[-1.0, 7.0, 2.0], [0.5, 0.25, 9.0]]
CUBES = np.random.default_rng(5).normal(size=(3, 2, 3, 4))


PAYOFFS = [  # joint actions and their payoffs
    ("prisoners-dilemma", (0, 1), (0, 5)),
    ("chicken", (0, 1), (2, 7)),
    ("battle-of-the-sexes", (0, 0), (3, 2)),
    ("shapley", (2, 0), (0, 1)),
    ("travellers-dilemma", (8, 3), (3, 7)),  # prices 10 and 5
    ("cournot", (4, 3), (20, 15)),
    ("cournot:players=3,most=4,demand=10,cost=1", (2, 3, 4), (0, 0, 0)),
    ("bertrand", (4, 6), (24, 0)),
    ("bertrand", (4, 4), (12, 12)),
    ("first-price-auction", (2, 2), (1.5, 0.5)),
    ("first-price-auction:values=4/2/3", (1, 0, 1), (1.5, 0, 1)),
    ("jordan", (0, 0, 1), (1, -1, 1)),
    ("congestion", (0, 0, 1), (-2, -2, -2)),
    ("congestion", (1, 1, 1), (-6, -6, -6)),
    ("public-goods", (1, 0, 1), (4 / 3, 7 / 3, 4 / 3)),
]


@pytest.mark.parametrize(("spec", "joint", "paid"), PAYOFFS)
def test_payoffs_by_hand(spec, joint, paid):
    assert [payoff[joint] for payoff in parse_game(spec).payoffs] == pytest.approx(list(paid))


def test_random_payoffs_have_the_correlation():
    for correlation in (-1, -0.5, 0, 0.7, 1):
        game = parse_game(f"random-general-sum:m=90,n=110,correlation={correlation},seed=3")
        row, column = (payoff.ravel() for payoff in game.payoffs)
        error = 4 * (1 - correlation**2) / np.sqrt(row.size)
        assert np.corrcoef(row, column)[0, 1] == pytest.approx(correlation, abs=error + 1e-12)
        assert (row.std(), column.std()) == pytest.approx((1, 1), abs=4 / np.sqrt(2 * row.size))
    zero_sum = parse_game("random-general-sum:m=3,n=4,correlation=-1")
    np.testing.assert_array_equal(zero_sum.payoffs[0], -zero_sum.payoffs[1])
    assert zero_sum.noise_between == "opposite"


# Construction


def test_a_pair_of_matrices_is_a_tensor_game():
    game = Game((A, B), name="mine", row_labels=["up", "down"], payoff_range=(-5, 10))
    assert isinstance(game, TensorGame)
    assert isinstance(game, AnyGame)
    assert not isinstance(game, ZeroSumGame)
    assert game == TensorGame([A, B], labels=[["up", "down"], None], payoff_ranges=[(-5, 10), (-5, 10)])
    assert game == parse_game((A, B)).renamed("x")._with(labels=game.labels, ranges=game.ranges)
    assert game.labels == (("up", "down"), ("0", "1", "2"))
    assert (game.seats, game.shape) == (("row", "column"), (2, 3))
    for same in (copy.copy(game), pickle.loads(pickle.dumps(game))):
        assert same == game
        assert hash(same) == hash(game)
    assert game != Game((A, A))
    assert game.with_noise("none").noise == parse_noise("none")
    assert not game.payoffs[0].flags.writeable


def test_a_matrix_is_still_a_zero_sum_game():
    for payoff in ([[1, 2], [3, 4]], ((1, 2), (3, 4)), np.array(A), [[1.0]]):
        assert type(Game(payoff)) is Game


def test_views_have_the_joint_actions_of_the_others():
    game = TensorGame(CUBES)
    assert game.seats == ("player1", "player2", "player3")
    for seat, others in enumerate([(1, 2), (0, 2), (0, 1)]):
        view = game.own_view(game.seats[seat])
        for joint in np.ndindex(2, 3, 4):
            column = np.ravel_multi_index([joint[other] for other in others], [game.shape[other] for other in others])
            assert view[joint[seat], column] == CUBES[seat][joint]
    assert game.ranges == tuple((cube.min(), cube.max()) for cube in CUBES)


def test_the_security_strategy_depends_only_on_the_payoffs_of_the_player():
    game = Game((A, B))
    assert game.security("row").value == Game(A).value
    assert game.security("column").value == pytest.approx(Game(np.transpose(B)).value)


# Noise


def test_noise_is_independent_unless_it_is_common():
    actions = [np.zeros(50_000, np.int64)] * 3
    draw = np.random.default_rng(1).normal(size=(50_000, 3))
    independent, common = TensorGame(CUBES), TensorGame(CUBES, noise_between="common")
    assert (independent.draws, common.draws) == (3, 1)
    errors = np.array(independent.rewards(actions, draw)) - CUBES[:, :1, 0, 0]
    assert abs(np.corrcoef(errors) - np.eye(3)).max() < 4 / np.sqrt(50_000)
    errors = np.array(common.rewards(actions, draw[:, 0])) - CUBES[:, :1, 0, 0]
    np.testing.assert_allclose(errors, np.broadcast_to(draw[:, 0], errors.shape), atol=1e-12)


def test_bernoulli_rewards_are_ends_of_the_range_of_each_player():
    game = TensorGame((A, B), noise="bernoulli", payoff_ranges=[(-6, 6), None])
    rewards = game.rewards([np.ones(9, np.int64)] * 2, np.random.default_rng(2).random((9, 2)))
    assert [set(reward) <= set(ends) for reward, ends in zip(rewards, game.ranges, strict=True)] == [True, True]
    assert game.ranges == ((-6, 6), (-1, 9))


def test_opposite_noise_is_that_of_the_zero_sum_game():
    matrix = np.array(A)
    game, zero_sum = Game((matrix, -matrix)), Game(matrix)
    assert (game.noise_between, game.draws, game.ranges) == ("opposite", 1, zero_sum.ranges)
    actions, draw = [np.array([0, 1]), np.array([2, 0])], np.array([0.3, -0.2])
    np.testing.assert_array_equal(game.rewards(actions, draw), zero_sum.rewards(actions, draw))
    constant = np.ones((2, 2))
    assert Game((constant, -constant)).ranges == Game(constant).ranges


# Files


@pytest.mark.parametrize(
    "game",
    [
        TensorGame((A, B), name="pair", labels=[["up", "down"], None], noise="laplace", payoff_ranges=[(-9, 9), None]),
        TensorGame(CUBES, name="cubes", seats=["Ann", "Bob", "Cy"], noise_between="common"),
    ],
    ids=repr,
)
def test_json_keeps_everything_and_nfg_the_payoffs(game, tmp_path):
    write_game(game, tmp_path / "game.json")
    assert read_game(tmp_path / "game.json") == game
    assert parse_game(tmp_path / "game.json").name == game.name
    game.write(tmp_path / "game.nfg")
    read = read_game(tmp_path / "game.nfg")
    assert (read.name, read.labels, read.seats) == (game.name, game.labels, game.seats)
    np.testing.assert_array_equal(read.payoffs, game.payoffs)
    with pytest.raises(InputError, match=r"a \.csv file holds one matrix; accepted for .*: \.json or \.nfg\."):
        write_game(game, tmp_path / "game.csv")


def test_gambit_writes_three_players_and_pairs(tmp_path):
    """The first player's strategy varies fastest, and outcome 0 pays nothing."""
    text = 'NFG 1 R "" { "a" "b" "c" } { 2 1 2 } { { "x" 1 2 3 } { "y" 4 5 1/2 } } 1 0 2 1'
    (tmp_path / "three.nfg").write_text(text)
    game = read_game(tmp_path / "three.nfg")
    assert game.shape == (2, 1, 2)
    np.testing.assert_array_equal(game.payoffs[2][:, 0], [[3, 0.5], [0, 3]])
    (tmp_path / "pair.nfg").write_text('NFG 1 R "" { "" "" } { 1 2 } 1 -1 2 3')
    pair = read_game(tmp_path / "pair.nfg")
    assert pair.seats == ("row", "column")
    np.testing.assert_array_equal(pair.payoffs, [[[1, 2]], [[-1, 3]]])
    with pytest.raises(InputError, match=r"is not a two-player zero-sum game; read it with coebl\.read_game"):
        Game.read(tmp_path / "pair.nfg")


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"payoffs": [A]}, "payoffs is [[[3.0, 0.0, 5.0], [1.0, 2.0, -4.0]]]; accepted: a list with an array"),
        ({"payoffs": 3}, "payoffs is 3; accepted: a list with an array (m1, ..., mN)"),
        ({"payoffs": (A, [[1, 2]])}, "payoffs has arrays of shapes (2, 3), (1, 2); accepted: one shape"),
        ({"payoffs": ([[1, "x"]], [[1, 2]])}, "payoffs[0][0][1] is 'x'; accepted: numbers. Replace it with a number."),
        ({"payoffs": ([[[1, "x"]]], [[[1, 2]]], [[[1, 2]]])}, "payoffs[0][0][0][1] is 'x'; accepted: numbers."),
        ({"payoffs": ([[1, -1]], [[-1e308, 1e308]])}, "payoffs[1] spans -1e+308 to 1e+308, more than a float can hold"),
        ({"payoffs": ([[]], [[]])}, "payoffs[0] has shape (1, 0); accepted: at least one action for each player."),
        ({"payoffs": ([[1, 2]], [[1, np.inf]])}, "payoffs[1][0][1] is inf; accepted: finite numbers. Replace it"),
        ({"labels": [["a", "b"]]}, "labels is [['a', 'b']]; accepted: a list of 2 entries, one per player."),
        ({"labels": [["a"], None]}, "labels[0] has 1 label; accepted: 2, one per action."),
        ({"seats": ["a", "a"]}, "seats has 'a' twice; accepted: labels that all differ."),
        ({"payoff_ranges": [None, (0, 1)]}, "payoff_ranges[1] is (0, 1); accepted: low < high that enclose all"),
        ({"noise_between": "shared"}, "noise_between is 'shared'; accepted: independent, common."),
        ({"noise_between": "opposite"}, "opposite is for two players whose payoffs add up to 0."),
        ("permuted:game=chicken", "chicken is not a two-player zero-sum game, which is needed here; play it with sim"),
        ("travellers-dilemma:high=2", "travellers-dilemma: low is 2; accepted: less than high, 2."),
        ("public-goods:players=8,tokens=9", "8 players with 10 actions have 100,000,000 joint actions; accepted: at"),
        ("first-price-auction:values=3", "first-price-auction: values has 1 number; accepted: two to eight."),
    ],
)
def test_mistakes_are_one_line(arguments, message):
    with pytest.raises(InputError, match=f"^.*{re.escape(message)}.*$"):
        parse_game(arguments) if isinstance(arguments, str) else TensorGame(**{"payoffs": (A, B), **arguments})


def test_tables_are_for_people():
    assert str(parse_game("chicken")).splitlines()[-1].split() == ["straight", "7,", "2", "0,", "0"]
    assert str(parse_game("jordan")).splitlines()[1].split() == ["heads", "heads", "heads", "1,", "1,", "-1"]
    assert str(parse_game("travellers-dilemma:high=100")).count("\n") == 14
