"""Games with any number of seats, and games without matrices, with only the attributes that the engine needs."""

from dataclasses import dataclass

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.engine import Match, simulate
from coebl.games import AnyGame, Indices, Noise, TensorGame, parse_noise
from coebl.learners import Learner, parse_learner
from coebl.metrics import Metric


@dataclass(frozen=True)
class Majority:
    """A general-sum game for any number of seats: a player in the majority earns 1."""

    seats: tuple[str, ...] = ("left", "middle", "right")
    name: str = "majority"
    spec: str | None = None
    noise: Noise = parse_noise("none")  # noqa: RUF009 - noises are frozen

    @property
    def spaces(self):
        return tuple(Indices(2) for _ in self.seats)

    @property
    def ranges(self):
        return tuple((0.0, 1.0) for _ in self.seats)

    def rewards(self, actions, draw):
        ones = np.stack(actions).sum(axis=0)
        most = (2 * ones > len(self.seats)).astype(int)
        return [(action == most) + draw for action in actions]


class Tabulated(Majority):
    """The same game, whose payoffs metrics can read."""

    def own_view(self, seat):
        own, *others = np.indices((2,) * len(self.seats))
        return 1.0 * (own == (2 * (own + sum(others)) > len(self.seats))).reshape(2, -1)


def players(*specs):
    return tuple(map(parse_learner, specs))


class Watching(Learner):
    """A learner that stores the joint actions of the others."""

    sees = frozenset({"opponent"})
    seen: list = []  # noqa: RUF012 - shared, so that the copy that plays can be read

    def start(self, seat):
        self.seen[:] = [seat.opponent_actions]

    def policy(self, t):
        return self.seat.full(0.5, 2)

    def observe(self, t, seen):
        self.seen.append(seen.opponent)


def test_three_players_of_a_general_sum_game():
    game = Majority()
    assert isinstance(game, AnyGame)
    match = Match(game, (*players("exp3", "fixed:0/1"), Watching()), 300)
    assert str(match) == "majority, exp3 v fixed:strategy=0/1 v Watching, 300 rounds"
    result = simulate(match, 5, metrics=[], keep=["actions", "rewards", "counts"])
    left, middle, right = result.kept["actions"]
    assert (middle == 1).all()
    for action, reward in zip(result.kept["actions"], result.kept["rewards"], strict=True):
        np.testing.assert_array_equal(reward, action == (left + middle + right >= 2))
    assert result.kept["counts"].shape == (5, 2, 2, 2)
    assert result.policies[0][:, 1].min() > 0.8  # it follows the majority
    joint, *seen = Watching.seen
    assert joint == 4
    np.testing.assert_array_equal(seen, 2 * left + middle)  # the joint action of the others
    assert list(result.to_polars().columns) == ["game", "left", "middle", "right", "seed", "round"]


def test_every_seat_of_many_has_its_streams():
    match = Match(Majority(), players("fixed:0.5/0.5", "fixed:0.5/0.5", "fixed:0.5/0.5"), 200)
    one, two, three = simulate(match, 3, metrics=[], keep=["actions"]).kept["actions"]
    assert (one != three).any()
    assert (two != three).any()
    pair = Match(Majority(("left", "right")), players("fixed:0.5/0.5", "fixed:0.5/0.5"), 200)
    known = simulate(pair, 3, metrics=[], keep=["actions"]).kept["actions"]
    np.testing.assert_array_equal(known, [one, two])


def test_metrics_of_a_custom_game_with_payoffs_do_not_take_it_for_zero_sum():
    view = Tabulated().own_view("left").reshape(2, 2, 2)
    tensors = TensorGame([np.moveaxis(view, 0, seat) for seat in range(3)], noise="none")
    learners = players("fixed:0.5/0.5", "fixed:0.3/0.7", "fixed:0.9/0.1")
    names = ["payoff", "payoff:3", "nash_conv", "external_regret:2"]
    custom, known = (simulate(Match(game, learners, 9), 2, metrics=names) for game in (Tabulated(), tensors))
    for name in names:
        np.testing.assert_array_equal(custom.metrics[name], known.metrics[name])
    with pytest.raises(InputError, match="one matrix of payoffs for two players, which majority does not have; use na"):
        simulate(Match(Tabulated(), learners, 9), 2, metrics=["exploitability"])


def test_one_player_against_nature():
    game = Majority(("alone",), noise=parse_noise("gaussian:sigma=0.1"))
    result = simulate(Match(game, players("exp3"), 20), 3, metrics=[], keep=["rewards"])
    [rewards] = result.kept["rewards"]
    assert abs(rewards - 1).max() < 1


class Undeclared(Metric):
    name = "undeclared"

    def __call__(self, block):
        return block.outcomes.earned


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (Undeclared, r'which majority does not have; write needs = \{"payoffs"\} in the metric'),
        ("regret", "regret needs a game with a value, which majority does not have; pick another metric."),
        ("exploitability", "exploitability needs a game with an exact best response, which majority does not have"),
        ("kl", "kl needs a game with an equilibrium that is known to be unique, which majority does not have"),
    ],
)
def test_a_metric_names_the_missing_part_of_a_game(metric, words):
    match = Match(Majority(), players("exp3", "exp3", "exp3"), 5)
    with pytest.raises(InputError, match=words):
        simulate(match, 2, metrics=[metric])
    assert simulate(match, 2, metrics=["all"]).metrics == {}
