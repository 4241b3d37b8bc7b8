"""Pictures of policies: the places of the marks, and rejected results."""

import numpy as np
import pytest

from coebl import Game, simulate
from coebl.core.errors import InputError
from coebl.engine.policy_paths import policy_paths
from coebl.plots import plot_simplex
from coebl.plots.policy_plots import areas_of, replicator_arrows

SHIFTED = Game([[0, -2, 1], [1, 0, -1], [-1, 3, 0]], name="shifted $x^", row_labels=["a$b", "<b>", "c" * 90])


@pytest.fixture(scope="module")
def triangle():
    return simulate(SHIFTED, "exp3", "uniform", rounds=60, seeds=[4, 7], keep=["policies"])


def marks(ax):
    return {line.get_label().split(" (")[0]: np.array(line.get_xydata()) for line in ax.lines}


def corners_by_hand(policy):
    return np.array([policy[1] + 0.5 * policy[2], policy[2] * 3**0.5 / 2])


def test_the_marks_of_a_triangle_are_the_policy_the_average_and_the_equilibrium_of_the_round(triangle):
    figure = plot_simplex(triangle, seed=7, rounds=[5, 20, 1000])
    assert len(figure.axes) == 6  # rounds 5, 20 and the last one, of both players
    for place, stop in enumerate([5, 20, 60]):
        for seat, star in enumerate((SHIFTED.solution.row, SHIFTED.solution.column)):
            played = triangle.kept["policies"][seat][:stop, 1]
            points = marks(figure.axes[3 * seat + place])
            assert points["policy of the round"][0] == pytest.approx(corners_by_hand(played[-1]))
            assert points["average so far"][0] == pytest.approx(corners_by_hand(played.mean(axis=0)))
            assert points["equilibrium"][0] == pytest.approx(corners_by_hand(star))
            assert points["trail"][-1] == pytest.approx(corners_by_hand(played[-1]))
    figure.canvas.draw()  # any characters in names can be drawn


def test_a_square_has_both_policies_in_one_point():
    game = Game([[2, -1], [-1, 1]])
    result = simulate(game, "exp3", "hedge", rounds=40, seeds=1, keep=["policies"])
    figure = plot_simplex(result, rounds=[10])
    row, column = (policies[:, 0] for policies in result.kept["policies"])
    for ax, stop in zip(figure.axes, (10, 40), strict=True):
        assert marks(ax)["policy of the round"][0] == pytest.approx([row[stop - 1, 0], column[stop - 1, 0]])
        assert marks(ax)["average so far"][0] == pytest.approx([row[:stop, 0].mean(), column[:stop, 0].mean()])
        assert marks(ax)["equilibrium"][0] == pytest.approx([0.4, 0.4])


def test_the_arrows_are_the_replicator_dynamics():
    payoff = np.array([[3.0, -1.0], [0.5, 2.0]])
    for (x, y), arrow in zip(*replicator_arrows(payoff, across=4), strict=True):
        row, column = np.array([x, 1 - x]), np.array([y, 1 - y])
        value = row @ payoff @ column
        by_hand = [x * ((payoff @ column)[0] - value), -y * ((row @ payoff)[0] - value)]
        assert arrow == pytest.approx(by_hand)


def test_other_games_have_areas_and_many_actions_share_the_last():
    result = simulate("random-gaussian:m=20,n=5,seed=1", "exp3", "uniform", rounds=30, seeds=1, keep=["policies"])
    paths = policy_paths(result, points=7)
    row, column = areas_of(paths, 0), areas_of(paths, 1)
    assert (len(row.names), row.names[-1], len(column.names)) == (16, "5 others", 5)
    assert sorted(action for group in row.groups for action in group) == list(range(20))
    assert row.share(paths.policies[0]).sum(axis=1) == pytest.approx(1)
    figure = plot_simplex(result)
    bars = figure.axes[3].patches  # of the column player: the average, then the equilibrium, action by action
    heights = [bar.get_height() for bar in bars]
    star = result.match.game.solution.column
    assert heights[1::2] == pytest.approx(star)
    assert heights[::2] == pytest.approx(result.kept["policies"][1][:, 0].mean(axis=0))


def test_an_equilibrium_that_is_not_unique_is_labelled_as_such():
    result = simulate([[1, 1], [1, 1]], "uniform", "uniform", rounds=2, seeds=1, keep=["policies"])
    assert "an equilibrium" in marks(plot_simplex(result).axes[0])


def test_exploitability_is_that_of_the_metric(triangle):
    paths = policy_paths(triangle, seed=7)
    metric = triangle.metrics["exploitability"][paths.rounds - 1, 1]
    assert paths.exploitability(paths.policies) == pytest.approx(metric)


@pytest.mark.parametrize(
    ("keep", "game", "options", "message"),
    [
        ([], "rps", {}, 'the result has no policies of every round; simulate with keep=["policies"].'),
        (["policies"], "rps", {"seed": 9}, "seed is 9; accepted: a seed of the result, out of 0, 1."),
        (["policies"], "rps", {"rounds": [0]}, "rounds is 0; accepted: "),
        (["policies"], "lead:n=4", {}, "has no payoff matrix, or more than one; accepted: results of a game with one."),
        (["policies"], "drifting:game=rps", {}, "has no payoff matrix, or more than one; accepted: results of a game"),
    ],
)
def test_results_that_cannot_be_drawn_are_rejected_in_one_line(keep, game, options, message):
    learner = "pbil" if game.startswith("lead") else "uniform"
    result = simulate(game, learner, learner, rounds=3, seeds=2, metrics=["regret"], keep=keep)
    with pytest.raises(InputError) as error:
        plot_simplex(result, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
