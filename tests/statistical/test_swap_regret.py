"""Swap regret in games that are not zero-sum. Seeds are fixed; tolerances are stated in standard errors."""

from functools import cache
from math import log, sqrt

import numpy as np
import pytest

from coebl import parse_game, simulate

SEEDS, ROUNDS = 12, 10_000
SWAPPING = ["blum-mansour:learner=exp3", "hart-mas-colell"]


def swap_regret(payoff, actions, seat):
    """Return the gain of the best map from the actions of a seat to others, in every run: (runs,)."""
    payoff, chosen = np.moveaxis(payoff, seat, 0), actions[seat]
    joint = tuple(action for other, action in enumerate(actions) if other != seat)
    earned = np.stack([payoff[(np.full_like(chosen, action), *joint)] for action in range(len(payoff))])  # (m, T, runs)
    total = np.zeros(chosen.shape[1])
    for played in range(len(payoff)):
        total += ((earned - earned[played]) * (chosen == played)).sum(axis=1).max(axis=0)
    return total


@cache
def in_self_play(game, spec):
    """Return the swap regret without noise in every run, the mean over the seats: (runs,)."""
    game = parse_game(game)
    players = [spec] * len(game.shape)
    result = simulate(game, *players, rounds=ROUNDS, seeds=SEEDS, metrics=[], keep=["actions"], noise="none")
    actions = result.kept["actions"]
    return np.mean([swap_regret(payoff, actions, seat) for seat, payoff in enumerate(game.payoffs)], axis=0)


def test_swap_regret_by_hand():
    """Of 4 rounds: after (0, 1) and (0, 1) action 1 would have earned 2 more, after (1, 0) action 0 one more."""
    actions = [np.array([[0], [0], [1], [1]]), np.array([[1], [1], [0], [1]])]
    assert swap_regret(np.eye(2), actions, 0) == [2.0]
    assert swap_regret(np.eye(2)[:, ::-1], actions, 1) == [0.0]


@pytest.mark.parametrize("spec", SWAPPING)
def test_in_shapleys_game_swap_regret_is_far_below_that_of_a_bandit_with_external_regret(spec):
    """Below half of Exp3's, which cycles, by 4 standard errors of the difference over 12 seeds."""
    difference = in_self_play("shapley", spec) - in_self_play("shapley", "exp3") / 2
    assert difference.mean() < -4 * difference.std(ddof=1) / sqrt(SEEDS)


def test_swap_regret_of_blum_and_mansours_construction_stays_below_its_bound():
    """4.13 m sqrt(T log m), the mean plus 4 standard errors. A player who does not learn exceeds the bound.

    In round t the rate of a copy is eta = sqrt(2 log(m) / t) and its exploration gamma = m sqrt(log(m) / t). The bound
    is the sum of m log(m) / eta, for m copies at the end; eta m / 2 of each round, since the second moments of all
    copies add up to m; and gamma of each round: sqrt(1/2) + sqrt(2) + 2 times m sqrt(T log m).
    """
    bound = (sqrt(0.5) + sqrt(2) + 2) * 3 * sqrt(ROUNDS * log(3))
    regret = in_self_play("shapley", "blum-mansour:learner=exp3")
    assert regret.mean() + 4 * regret.std(ddof=1) / sqrt(SEEDS) < bound
    assert in_self_play("shapley", "fixed:0.5/0.5/0").mean() > bound
