"""The conformance kit: every built-in passes, and each kind of fault is found."""

from dataclasses import dataclass

import numpy as np
import pytest

from coebl.games import GAMES, parse_game
from coebl.learners import LEARNERS, Learner
from coebl.metrics import METRICS, Metric
from coebl.testing import check_game, check_learner, check_metric

FITTED = ("fixed", "switching")  # these need a strategy of the game's length; tests/learners has them
SPECS = [name for name in LEARNERS.homes if name not in FITTED]


@pytest.mark.parametrize("spec", [*SPECS, "ucb:ties=random", "coebl:c=0,selection=none", "exp3:rewards=raw"])
def test_every_learner_passes(spec):
    check_learner(spec).require()


@pytest.mark.parametrize("name", [entry.name for entry in GAMES if not any(p.required for p in entry.parameters)])
def test_every_game_passes(name):
    check_game(name).require()


@pytest.mark.parametrize("noise", ["none", "bernoulli", "laplace", "student-t", "exponential"])
def test_every_noise_passes(noise):
    check_game(parse_game("hide-and-seek", noise)).require()


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS.keys())
def test_every_metric_passes(metric):
    check_metric(metric).require()


@dataclass
class Sound(Learner):
    """Plays what has earned most so far: follow the leader, with a little exploration."""

    name = "sound"

    def start(self, seat):
        self.seat = seat
        self.total = np.zeros((seat.runs, seat.actions))

    def policy(self, t):
        best = np.eye(self.seat.actions)[self.total.argmax(axis=1)]
        return 0.9 * best + 0.1 / self.seat.actions

    def observe(self, t, action, opponent, reward):
        self.total[np.arange(self.seat.runs), action] += reward / (
            0.05 + self.policy(t)[np.arange(len(action)), action]
        )


class LeaksBetweenRuns(Sound):
    name = "leaks"

    def policy(self, t):
        policy = super().policy(t)
        return 0.999 * policy + 0.001 * policy.mean(axis=0)


class UsesGlobalState(Sound):
    name = "global"

    def policy(self, t):
        weights = np.random.random((self.seat.runs, self.seat.actions))  # noqa: NPY002
        return weights / weights.sum(axis=1, keepdims=True)


class MinimisesReward(Sound):
    name = "wrong sign"

    def observe(self, t, action, opponent, reward):
        super().observe(t, action, opponent, -reward)


class WrongShape(Sound):
    name = "square only"

    def policy(self, t):
        return np.full((self.seat.runs, self.seat.opponent_actions), 1 / self.seat.opponent_actions)


class SeesTooMuch(Sound):
    name = "peeks"
    sees = "reward"

    def observe(self, t, action, opponent, reward):
        opponent.sum()


def test_a_class_of_ones_own_passes():
    check_learner(Sound).require()


@pytest.mark.parametrize(
    ("learner", "point"),
    [
        (LeaksBetweenRuns, "a run does not depend on its batch"),
        (UsesGlobalState, "leaves the global random state alone"),
        (MinimisesReward, "learns a dominant action"),
        (WrongShape, "plays square, wide, tall"),
        (SeesTooMuch, "needs no more than it declares to see"),
    ],
)
def test_each_fault_is_found(learner, point):
    report = check_learner(learner)
    assert not report.passed
    assert any(point in check.name and not check.passed for check in report.checks), report
    assert "FAIL" in str(report)
    with pytest.raises(AssertionError, match="FAIL"):
        report.require()


def test_a_metric_that_forgets_is_found():
    class Forgets(Metric):
        name = "forgets"
        definition = "sums within a block only"

        def __call__(self, block):
            return block.reward.cumsum(axis=0)

    failed = [check.name for check in check_metric(Forgets).checks if not check.passed]
    assert failed == ["does not depend on how rounds are cut into blocks"]
