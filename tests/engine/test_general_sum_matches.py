"""Matches of games that are not zero-sum: any number of players, security and responses, and the runs of (A, -A)."""

import json

import numpy as np
import pytest

from coebl import Game, simulate
from coebl.games import TensorGame
from coebl.learners import LEARNERS
from learner_rules import INDEXED

WIDE = np.array([[0.5, -1.0, 0.2, 0.0], [-0.3, 0.8, 0.1, -0.6], [0.9, -0.2, -0.7, 0.4]])
CUBES = np.random.default_rng(4).uniform(-3, 5, (3, 2, 3, 4))
KEEP = ["policies", "actions", "rewards"]


def played(game, *players, **options):
    return simulate(game, *players, **{"rounds": 60, "seeds": 3, "metrics": [], "keep": KEEP, **options}).kept


@pytest.mark.parametrize(
    ("row", "column", "noise"),
    [
        ("exp3", "ucb:ties=random", "gaussian"),
        ("coebl:c=2", "tsallis-inf", "bernoulli"),
        ("hedge", "kin", "laplace:sigma=0.3"),
        ("thompson", "ots-rm", "student-t"),
        ("nash", "best-response", "none"),
        ("best-response", "gp-mw", "exponential"),
    ],
)
def test_a_matrix_and_minus_it_give_the_runs_of_the_zero_sum_game(row, column, noise):
    matrix = played(Game(WIDE, payoff_range=(-1, 1.5)), row, column, noise=noise)
    pair = played(TensorGame((WIDE, -WIDE), payoff_ranges=[(-1, 1.5), None]), row, column, noise=noise)
    for name in KEEP:
        for one, other in zip(matrix[name], pair[name], strict=True):
            np.testing.assert_array_equal(one, other, err_msg=name)


def test_rewards_are_those_of_the_joint_action_and_a_full_information_learner_sees_its_row():
    """Hedge, in the second of three seats, against its formula on payoffs that are found by enumeration."""
    game = TensorGame(CUBES, noise="none")
    kept = played(game, "exp3", "hedge", "ucb")
    at = tuple(kept["actions"])
    for payoff, rewards in zip(CUBES, kept["rewards"], strict=True):
        np.testing.assert_array_equal(rewards, payoff[at])
    twin = played(Game(game.own_view("player2"), noise="none"), "hedge", "uniform", rounds=1)
    np.testing.assert_array_equal(kept["policies"][1][0], twin["policies"][0][0])
    first, third = kept["actions"][0], kept["actions"][2]
    earned = np.array([CUBES[1][first, own, third] for own in range(3)]).cumsum(axis=1)[:, -2]  # (actions, runs)
    assert (kept["policies"][1][-1].argmax(axis=1) == earned.argmax(axis=0)).all()


def test_every_player_has_independent_noise():
    game = TensorGame(CUBES)
    kept = played(game, "uniform", "uniform", "uniform", rounds=4000)
    errors = np.array([r - p[tuple(kept["actions"])] for r, p in zip(kept["rewards"], CUBES, strict=True)])
    correlation = np.corrcoef(errors.reshape(3, -1))
    assert abs(correlation - np.eye(3)).max() < 4 / np.sqrt(12_000)


# The second action is best against 9 to 1, and worst if the opponent only wanted to harm.
RISK = Game(([[1.0, 1.0], [3.0, -3.0]], [[0.0, 1.0], [2.0, 0.0]]))
STILL = ("uniform", "fixed", "switching")


@pytest.mark.parametrize("name", [n for n in INDEXED if n not in STILL and not n.endswith("as-released")])
def test_a_learner_pursues_its_declared_aim(name):
    learner = LEARNERS[name].factory
    policies = played(RISK, learner.example or name, "fixed:0.9/0.1", rounds=1500)["policies"][0]
    risk = policies[-300:, :, 1].mean()
    assert risk > 0.6 if learner.aim == "response" else risk < 0.2


def test_the_command_plays_any_number_of_seats(coebl):
    code, out, _ = coebl("match", "--game", "chicken", "--players", "exp3,ucb", "--rounds", "40", "--seeds", "3")
    assert code == 0
    assert out.startswith("Together the players earn ")
    first, second, *rest = [line.split() for line in out.splitlines()[6:]]
    assert [first[:2], second[:2]] == [["row", "exp3"], ["column", "ucb"]]
    assert [line[0] for line in rest[2:]] == ["nash_conv", "swap_regret", "swap_regret:2", "welfare"]
    three = ["match", "--game", "jordan", "--rounds", "20", "--seeds", "2", "--json", "--players"]
    found = json.loads(coebl(*three, "exp3,coebl:c=2,mutation=laplace,hedge").stdout)
    assert found["players"] == ["exp3", "coebl:c=2,mutation=laplace", "hedge"]
    assert list(found["rewards"]) == ["player1", "player2", "player3"]
    timed = coebl("runtime", "exp3", "--game", "jordan", "--until", "swap_regret < 5", "--seeds", "3", "--budget", "9")
    assert timed.stdout.startswith("3 runs of 3 hit within 9 rounds\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--row", "exp3"], "--column is missing; accepted: --row and --column, or --players SPEC,SPEC,..."),
        (["--row", "exp3", "--players", "ucb,ucb"], "--players and --row or --column are both given; accepted: one of"),
        (
            ["--players", "ucb"],
            "rps has 2 seats (row, column), and 1 learner is given; accepted: one for each seat. Use",
        ),
        (["--players", ""], "and 0 learners are given; accepted: one for each seat. Use --players SPEC,SPEC."),
        (
            ["--game", "jordan", "--row", "ucb", "--column", "exp3"],
            "coebl: jordan has 3 seats (player1, player2, player3), and 2 learners are given; accepted: one for each "
            "seat. Use --players SPEC,SPEC,SPEC.\n",
        ),
    ],
)
def test_players_are_named_in_one_way(options, message, coebl):
    code, _, error = coebl("match", "--game", "rps", *options)
    assert code == 2
    assert message in error
