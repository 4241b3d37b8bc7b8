"""Games whose payoffs change: the schedule, the rewards, and metrics by the payoffs of each round."""

import numpy as np
import pytest

from coebl import Game, Match, simulate
from coebl.core.errors import InputError
from coebl.games import DriftingGame, parse_game

SPEC = "drifting:game=random-uniform:m=3+n=4+seed=7,every=50,steps=5,seed=2"


def test_rows_and_columns_change_their_order_and_start_with_that_of_the_game():
    inner = parse_game("random-uniform:m=3,n=4,seed=7")
    game = parse_game("drifting:game=random-uniform:m=3+n=4+seed=7,every=50")
    assert game.spec == "drifting:game=random-uniform:m=3+n=4+seed=7,every=50"
    np.testing.assert_array_equal(game.at(1).payoff, inner.payoff)
    assert game.at(1) is game.at(50)
    orders = [game.at(t).payoff for t in (50, 51, 101, 151)]
    assert len({order.tobytes() for order in orders}) == 4
    for order in orders:
        np.testing.assert_array_equal(np.sort(order, axis=None), np.sort(inner.payoff, axis=None))
    assert [game.steady(t) for t in (1, 50, 51, 99, 101)] == [50, 1, 50, 2, 50]
    assert [game.at(t).value for t in (1, 51)] == pytest.approx([inner.value] * 2)


def test_payoffs_move_in_steps():
    game = parse_game(SPEC)
    first, last = game.at(1).payoff, game.at(51).payoff
    for step, t in enumerate((1, 11, 21, 31, 41)):
        np.testing.assert_allclose(game.at(t).payoff, first + step / 5 * (last - first))
        assert game.steady(t) == 10
    odd = DriftingGame(Game([[3, 0], [1, 2]]), every=7, steps=3)
    changes = [t for t in range(2, 30) if odd.at(t) is not odd.at(t - 1)]
    assert changes == [t for t in range(2, 30) if odd.steady(t - 1) == 1]


def test_every_metric_uses_the_payoffs_of_the_round():
    """Compare with sums by hand, round by round, over a match that ends in the middle of a step."""
    game = parse_game(SPEC, noise="none")
    result = simulate(
        Match.of(game, "ucb", "exp3", rounds=87), 3, metrics=["all"], keep=["policies", "actions", "rewards"]
    )
    assert not {"kl", "tv"} & result.metrics.keys()  # which need a single equilibrium
    (x, y), (a, b) = result.kept["policies"], result.kept["actions"]
    regret, pseudo, hindsight, earned = np.zeros(3), np.zeros(3), np.zeros((3, 3)), np.zeros(3)
    for t in range(87):
        stage = game.at(t + 1)
        A = stage.payoff
        paid = A[a[t], b[t]]
        np.testing.assert_allclose(result.kept["rewards"][0][t], paid)
        regret += stage.value - paid
        pseudo += stage.value - np.einsum("ri,ij,rj->r", x[t], A, y[t])
        hindsight += A[:, b[t]].T
        earned += paid
        gap = (y[t] @ A.T).max(axis=1) - (x[t] @ A).min(axis=1)
        np.testing.assert_allclose(result.metrics["exploitability"][t], gap, atol=1e-12)
        np.testing.assert_allclose(result.metrics["regret"][t], regret, atol=1e-9)
        np.testing.assert_allclose(result.metrics["pseudo_regret"][t], pseudo, atol=1e-9)
        np.testing.assert_allclose(result.metrics["external_regret"][t], hindsight.max(axis=1) - earned, atol=1e-9)


def test_blocks_of_any_length_give_the_same_runs():
    match = Match.of(SPEC, "coebl:c=2", "ucb", rounds=80)
    whole, cut = (simulate(match, 2, block_rounds=rounds, metrics=["all"]) for rounds in (1000, 7))
    for name, values in whole.metrics.items():
        np.testing.assert_array_equal(cut.metrics[name], values, err_msg=name)


def test_another_noise_applies_in_every_round():
    game = parse_game(SPEC)
    game.at(60)
    assert str(game.with_noise("none").at(60).noise) == "none"
    assert game.with_noise("none") != game == parse_game(SPEC)
    assert game != parse_game(SPEC.replace("seed=2", "seed=3"))


@pytest.mark.parametrize("learner", ["hedge", "nash", "best-response"])
def test_learners_that_see_the_payoffs_cannot_play(learner):
    with pytest.raises(InputError, match=rf"^{learner} sees .* not known in this seat; pick another learner\.$"):
        simulate(SPEC, learner, "uniform", rounds=5, seeds=1)


def test_a_game_of_games_needs_one_matrix():
    with pytest.raises(InputError, match=r"whose payoffs change; accepted: a game with one matrix"):
        parse_game("permuted:game=drifting:game=rps")
