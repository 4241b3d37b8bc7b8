"""Metrics of games of any number of players: by enumeration, in any units, for any blocks and batch."""

import itertools
import pickle

import numpy as np
import pytest

from coebl import Game, simulate
from coebl.core.errors import InputError
from coebl.games import TensorGame, parse_game
from coebl.metrics import Block, base, metric_class, parse_metrics
from oracles.metrics import OF_TENSORS

RANDOM = np.random.default_rng(8)
TWO = TensorGame(RANDOM.normal(300, 70, (2, 3, 2)), name="two")
THREE = TensorGame(RANDOM.uniform(-0.02, 0.05, (3, 2, 4, 3)), name="three")
FOUR = TensorGame(RANDOM.normal(1, 5000, (4, 2, 1, 3, 2)), name="four")


def make_block(game, rounds=9, runs=3, seed=2):
    """Random policies, with some zeros, and random actions."""
    random = np.random.default_rng(seed)
    policies = [
        np.where(random.random((rounds, runs, m)) < 0.3, 0.0, random.random((rounds, runs, m))) for m in game.shape
    ]
    policies = [policy + 0.1 * (np.arange(policy.shape[-1]) == 0) for policy in policies]
    policies = [policy / policy.sum(axis=-1, keepdims=True) for policy in policies]
    actions = [random.integers(m, size=(rounds, runs)) for m in game.shape]
    return Block(game, 1, policies, actions, [random.normal(size=(rounds, runs)) for _ in game.shape])


@pytest.mark.parametrize("game", [TWO, THREE, FOUR], ids=lambda game: game.name)
def test_every_metric_is_that_of_its_twin(game):
    metrics = parse_metrics(["all"], game, 3)
    names = {metric.name.partition(":")[0] for metric in metrics}
    assert names == set(OF_TENSORS), (
        'add its twin to OF_TENSORS in tests/oracles/metrics.py, or needs = {"zero-sum"} to the metric'
    )
    seats = {metric.name for metric in metrics if metric.name.startswith("swap_regret")}
    assert seats == {"swap_regret", *(f"swap_regret:{k}" for k in range(2, 1 + len(game.seats)))}
    block, payoffs = make_block(game), [payoff.tolist() for payoff in game.payoffs]
    for metric in metrics:
        found, twin = metric(block), OF_TENSORS[metric.name.partition(":")[0]]
        for run in range(3):
            play = [
                (
                    [policy[t, run].tolist() for policy in block.policies],
                    [int(action[t, run]) for action in block.actions],
                    [float(reward[t, run]) for reward in block.rewards],
                )
                for t in range(block.rounds)
            ]
            wanted = [twin(payoffs, metric.seat or 0, play[: t + 1]) for t in range(block.rounds)]
            scale = np.ptp(game.payoffs)
            np.testing.assert_allclose(found[:, run], wanted, rtol=1e-12, atol=1e-12 * scale, err_msg=metric.name)


def test_a_matrix_and_minus_it_have_the_metrics_of_the_zero_sum_game():
    matrix = RANDOM.normal(7, 30, (4, 3))
    options = {"rounds": 60, "seeds": 3}
    zero_sum = simulate(Game(matrix), "exp3", "ucb", metrics=["all", "swap_regret:2"], **options).metrics
    names = ["external_regret", "external_regret:2", "swap_regret", "swap_regret:2", "nash_conv"]
    pair = simulate(TensorGame((matrix, -matrix)), "exp3", "ucb", metrics=names, **options).metrics
    zero_sum["external_regret:2"] = zero_sum["column_external_regret"]
    np.testing.assert_array_equal(zero_sum["nash_conv"], zero_sum["exploitability"])
    for name in names:
        np.testing.assert_allclose(pair[name], zero_sum[name], rtol=1e-12, atol=1e-10, err_msg=name)


def test_neither_the_cuts_nor_the_other_runs_nor_the_memory_move_a_bit(monkeypatch):
    block = make_block(THREE, rounds=31, runs=5)
    whole = {metric.name: metric(block) for metric in parse_metrics(["all"], THREE, 5)}
    monkeypatch.setattr(base, "_MOST_JOINT", 40)  # so that joint policies are computed in parts
    metrics = parse_metrics(["all"], THREE, 2)
    bounds, parts = [0, 7, 8, 31], {name: [] for name in whole}
    for start, end in itertools.pairwise(bounds):
        lists = (
            [array[start:end, 1:3].copy() for array in part] for part in (block.policies, block.actions, block.rewards)
        )
        piece = Block(THREE, 1 + start, *lists)
        for metric in metrics:
            parts[metric.name].append(metric(piece))
    for name, values in whole.items():
        assert values[:, 1:3].tobytes() == np.concatenate(parts[name]).tobytes(), name


def test_at_an_equilibrium_nothing_is_gained():
    """In battle of the sexes, and where the three players of jordan mix evenly."""
    for game, policies in (
        (parse_game("battle-of-the-sexes"), ([0.6, 0.4], [0.4, 0.6])),
        (parse_game("jordan"), ([0.5, 0.5],) * 3),
    ):
        block = make_block(game, 4, 2)
        still = [np.broadcast_to(policy, (4, 2, 2)) for policy in policies]
        [metric] = parse_metrics(["nash_conv"], game, 2)
        np.testing.assert_allclose(metric(Block(game, 1, still, block.actions, block.rewards)), 0.0, atol=1e-15)


def test_a_seat_is_named_by_its_number():
    assert metric_class("swap_regret:1") is metric_class("swap_regret")
    second = metric_class("swap_regret:2")
    assert second is metric_class("swap_regret:2")
    assert (second.name, second.title, second.seat) == ("swap_regret:2", "Swap regret, seat 2", 1)
    assert pickle.loads(pickle.dumps(second)) is second  # a result of another process has it
    result = simulate("jordan", "exp3", "ucb", "hedge", rounds=20, seeds=2, metrics=["swap_regret:1", "swap_regret:3"])
    assert list(result.metrics) == ["swap_regret", "swap_regret:3"]
    np.testing.assert_array_equal(result.final("swap_regret:1"), result.final("swap_regret"))


LOSS = TensorGame(-np.ones((2, 2, 2)), name="loss")


@pytest.mark.parametrize(
    ("game", "metric", "message"),
    [
        (
            "chicken",
            "regret",
            "regret needs a game with a value, which chicken does not have; use nash_conv or swap_regret.",
        ),
        ("chicken", "pseudo_regret", "with a value, which chicken does not have; use nash_conv or swap_regret."),
        (
            "chicken",
            "kl",
            "an equilibrium that is known to be the only one, which chicken does not have; use nash_conv",
        ),
        (
            "chicken",
            "exploitability",
            "with one matrix of payoffs for two players, which chicken does not have; use nash_",
        ),
        (
            "chicken",
            "average_exploitability",
            "with one matrix of payoffs for two players, which chicken does not have;",
        ),
        ("chicken", "column_external_regret", "which chicken does not have; use external_regret:2."),
        ("chicken", "swap_regret:3", "swap_regret:3 is about seat 3, and chicken has 2; name another seat."),
        ("rps", "swap_regret:3", "swap_regret:3 is about seat 3, and rps has 2; name another seat."),
        (
            "rps",
            "welfare",
            "welfare needs a game with payoffs of its own for each player, which rps does not have; pick",
        ),
        ("rps", "regret:2", "metric 'regret:2' names a seat; accepted: regret, which has one number for all seats."),
        ("rps", "swap_regret:row", "metric 'swap_regret:row' names no seat; accepted: its number, from 1, as in swap_"),
        (
            "rps",
            "swap_regret:0",
            "metric 'swap_regret:0' names no seat; accepted: its number, from 1, as in swap_regret:2.",
        ),
        (LOSS, "welfare_ratio", "welfare_ratio needs an optimum above 0, and that of loss is -2; use welfare."),
    ],
)
def test_what_is_not_defined_is_one_line_with_a_substitute(game, metric, message):
    with pytest.raises(InputError) as caught:
        parse_metrics([metric], parse_game(game), 2)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
