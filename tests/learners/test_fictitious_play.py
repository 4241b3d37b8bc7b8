"""Fictitious play: optimism finds the best response to a mix, and Shapley's game goes round."""

from math import sqrt

import numpy as np

from coebl import parse_game, simulate


def test_optimism_finds_the_best_response_that_plain_estimates_miss():
    """Against a fixed mix, in the last 500 of 3000 rounds: 4 standard errors of the difference over 40 seeds."""
    game, mix = parse_game("random-general-sum:m=6,n=5,seed=2"), "0.4/0.3/0.1/0.1/0.1"
    best = (game.payoffs[0] @ [0.4, 0.3, 0.1, 0.1, 0.1]).max()
    plays = [
        simulate(game, spec, f"fixed:{mix}", rounds=3000, seeds=40, metrics=[], keep=["policies"]).kept["policies"]
        for spec in ("fictitious-play", "fictitious-play:c=0")
    ]
    earned = [
        np.einsum("tri,ij,j->r", row[-500:], game.payoffs[0], np.array([0.4, 0.3, 0.1, 0.1, 0.1])) / 500
        for row, _ in plays
    ]
    gained = earned[0] - earned[1]
    assert gained.mean() > 4 * gained.std(ddof=1) / sqrt(40)
    assert earned[0].mean() > best - 0.05 * np.ptp(game.payoffs[0])


def test_in_shapleys_game_the_players_go_round_the_six_cells_in_which_someone_earns():
    """That is a correlated equilibrium, which pays 1/2 each, and 1/3 the Nash equilibrium. Cycles grow with t."""
    kept = simulate("shapley", *["fictitious-play"] * 2, rounds=4000, seeds=5, metrics=[], keep=["actions"]).kept
    row, column = (actions[400:] for actions in kept["actions"])
    game = parse_game("shapley")
    paid = sum(payoff[row, column] for payoff in game.payoffs)
    assert paid.mean() > 0.95
    changes = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    assert (changes[:1800].mean(axis=0) > 1.3 * changes[1800:].mean(axis=0)).all()
    shares = np.array([[(row == i).mean(), (column == i).mean()] for i in range(3)])
    assert abs(shares - 1 / 3).max() < 0.12
