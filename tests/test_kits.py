"""The conformance kits: all built-in learners, games and metrics pass, and each kind of fault is found."""

import re
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from coebl import simulate
from coebl.core.errors import CoeblError
from coebl.engine.units import Units
from coebl.games import GAMES, NOISES, Game, Noise, parse_game
from coebl.learners import LEARNERS, Coebl, Learner, Seen
from coebl.learners.evolution import Mutation
from coebl.metrics import METRICS, Metric, Total, metric_class
from coebl.testing import StrictArray, check_game, check_learner, check_metric
from coebl.testing.kits import report_on

SPECS = [LEARNERS[name].factory.example or name for name in LEARNERS.names]
MORE = ["ucb:ties=random", "coebl:c=0,selection=none", "exp3:rewards=raw", "gp-mw:kernel=rbf", "kin:optimism=proven"]


@pytest.mark.parametrize("spec", [*SPECS, *MORE])
def test_every_learner_passes(spec):
    check_learner(spec).require()


@pytest.mark.parametrize("name", [entry.name for entry in GAMES if not any(p.required for p in entry.parameters)])
def test_every_game_passes(name):
    check_game(name).require()


@pytest.mark.parametrize("noise", NOISES.names)
def test_every_noise_passes(noise):
    check_game(parse_game("hide-and-seek", noise)).require()


@pytest.mark.parametrize("name", METRICS.names)
def test_every_metric_passes(name):
    """For games, cuts and batches of many sizes, see tests/test_metrics.py."""
    check_metric(metric_class(name)).require()


@dataclass
class Sound(Learner):
    """Follow the leader, with a little exploration: the action that has earned most so far."""

    name = "sound"

    def start(self, seat):
        self.seat = seat
        self.total = seat.zeros(seat.actions)

    def policy(self, t):
        best = np.zeros_like(self.total)
        best[self.seat.at(self.total.argmax(axis=1))] = 1
        self.played = 0.9 * best + 0.1 / self.seat.actions
        return self.played

    def observe(self, t, seen):
        index = self.seat.at(seen.action)
        self.total[index] += seen.reward / (0.05 + self.played[index])


def faulty(name, base=Sound, **members):
    """Return a class that differs from a sound one in these members."""
    return type(name, (base,), {"name": name, **members})


def leaks_between_runs(self, t):
    policy = Sound.policy(self, t)
    return 0.999 * policy + 0.001 * policy.mean(axis=0)


def leaks_to_late_runs(self, t):
    policy = Sound.policy(self, t)
    policy[2:] = policy[:1:-1].copy()
    return policy


def draws_from_the_global_state(self, t):
    weights = np.random.random((self.seat.runs, self.seat.actions))  # noqa: NPY002
    self.played = weights / weights.sum(axis=1, keepdims=True)
    return self.played


def returns_numpys(width):
    def policy(self, t):
        self.played = np.full((self.seat.runs, getattr(self.seat, width)), 1 / getattr(self.seat, width))
        return self.played

    return policy


def sees_too_much(self, t, seen):
    seen.opponent.sum()


def starting_with(attribute, value):
    """Return a start(seat) that also sets an attribute, to value(learner)."""

    def start(self, seat):
        Sound.start(self, seat)
        setattr(self, attribute, value(self))

    return start


class DividesByItsNewestPolicy(Sound):
    name = "newest policy"

    def policy(self, t):
        good = np.maximum(self.total, 0)
        total = good.sum(axis=1, keepdims=True)
        self.played = np.where(total > 0, good / np.where(total > 0, total, 1), 1 / self.seat.actions)
        return self.played

    def observe(self, t, seen):
        index = self.seat.at(seen.action)
        self.total[index] += seen.reward / self.played[index]


UsesGlobalState = faulty("global", policy=draws_from_the_global_state)
SeesTooMuch = faulty("peeks", observe=sees_too_much)
MakesItsOwnArrays = faulty(
    "own arrays",
    start=starting_with("bias", lambda self: np.zeros((self.seat.runs, self.seat.actions))),
    policy=lambda self, t: Sound.policy(self, t) + self.bias,
)
STATE = {}


class KeepsStateElsewhere(Sound):
    name = "elsewhere"

    def start(self, seat):
        self.seat = seat
        STATE[id(seat)] = seat.zeros(seat.actions)

    @property
    def total(self):
        return STATE[id(self.seat)]


@dataclass
class RemembersInAField(Sound):
    name = "remembers"
    rounds: int = 0
    start = starting_with("rounds", lambda self: self.rounds + 1)


def test_a_custom_class_passes():
    check_learner(Sound).require()


@pytest.mark.parametrize(
    ("learner", "point", "remedy"),
    [
        (faulty("leaks", policy=leaks_between_runs), "a run does not depend on its batch", "never over runs"),
        (faulty("late", policy=leaks_to_late_runs), "a run does not depend on its batch", "a batch of another order"),
        (DividesByItsNewestPolicy, "plays on if outcomes are late", "take seen.probability"),
        (UsesGlobalState, "leaves the global random state alone", "draw from seat.random"),
        (
            faulty("wrong sign", observe=lambda self, t, seen: Sound.observe(self, t, Seen(seen.action, -seen.reward))),
            "comes to play a dominant action",
            "look at the sign of the reward",
        ),
        (faulty("deaf", observe=Learner.observe), "comes to play a dominant action", "write observe(self, t, seen)"),
        (
            faulty("square only", policy=returns_numpys("opponent_actions")),
            "plays square, wide, tall",
            "accepted: an array of shape (runs, actions) = ",
        ),
        (SeesTooMuch, "plays square, wide, tall", 'write sees = {"opponent"}'),
        (MakesItsOwnArrays, "takes its arrays from the seat", "make it with seat.zeros"),
        (
            faulty("numpy's", policy=returns_numpys("actions")),
            "takes its arrays from the seat",
            "a given array is mixed with one of NumPy's",
        ),
        (
            faulty("lambda", start=starting_with("rule", lambda self: lambda t: t)),
            "a saved player continues",
            "lambda.rule is the function <lambda>",
        ),
        (KeepsStateElsewhere, "a saved player continues", "keep all its state in attributes"),
        (
            faulty("horizon", start=starting_with("rate", lambda self: 1 / self.seat.horizon)),
            "plays where the number of rounds is not known",
            "write needs_horizon = True in the class",
        ),
        (RemembersInAField, "is equal to itself after it has played", "compare fields alone"),
        (faulty("mute", sees="opponent"), "can be registered", "sees is 'opponent'; accepted: a subset of"),
        (
            faulty("made by hand", __init__=lambda self, rate=0.5: None),
            "can be registered",
            "the class has its own __init__; make its",
        ),
    ],
)
def test_each_fault_is_found_and_its_remedy_named(learner, point, remedy):
    report = check_learner(learner)
    assert not report.passed
    assert any(point in result.name and remedy in result.detail for result in report.points), report
    assert "FAIL" in str(report)
    with pytest.raises(AssertionError, match="FAIL"):
        report.require()


@pytest.mark.parametrize(
    ("seen", "change"),
    [
        (lambda self, reward: reward, "if payoffs and noise are 4096 times as large"),
        (lambda self, reward: reward / self.scale, "if payoffs are 5000 times as large, plus 300"),
    ],
)
def test_rewards_in_other_units_would_be_found(monkeypatch, seen, change):
    monkeypatch.setattr(Units, "seen", seen)
    report = str(check_learner("ucb"))
    assert "FAIL  plays the same in any units of the payoffs" in report
    assert change in " ".join(report.split())


def test_a_built_in_learner_names_its_source(monkeypatch):
    monkeypatch.setattr(LEARNERS["ucb"].factory, "cites", "")
    assert "FAIL  names its source" in str(check_learner("ucb"))


class CannotPlay(Sound):
    name = "cannot play"

    def policy(self, t):
        return self.saet


def test_a_cause_is_reported_once_and_checks_that_depend_on_it_are_skipped():
    report = check_learner(CannotPlay)
    assert str(report).count("no attribute 'saet'") == 1
    assert [point.name for point in report.points if point.passed] == ["its spec reads back", "pickles"]
    assert str(report).endswith("13 points, 1 failure, 10 not tried")


def test_the_global_random_state_is_not_blamed_on_a_sum():
    report = check_learner(UsesGlobalState)
    assert "never over runs" not in str(report)
    assert "another library" not in str(report)
    assert "a run does not depend on its batch, to the last bit (not tried)" in str(report)


def test_failures_name_the_line_of_the_custom_file():
    report = check_learner(SeesTooMuch)
    lines = Path(__file__).read_text().splitlines()
    line = 1 + next(index for index, text in enumerate(lines) if "seen.opponent.sum()" in text)
    assert f"({__file__}, line {line})" in str(report)


def test_complaints_are_one_printable_line_each():
    def fail():
        raise ValueError("a\nb\x1b[2J")

    def end():
        sys.exit(0)

    report = report_on("odd", iter([("fails", fail), ("ends the program", end)]))
    assert [point.detail.partition(" (")[0] for point in report.points] == [r"ValueError: a b\x1b[2J", "SystemExit: 0"]
    assert not report.passed


MIXED = "is mixed with one of NumPy's"
LACKING = r"other libraries may have no (where|initial)="  # CuPy has neither
CONVERTED = "is turned into one of NumPy's"


class TestStrictArrays:
    """They behave like arrays of another library, and reject what those reject."""

    one = StrictArray(np.array([[1.0, 2.0], [3.0, 4.0]]))

    def test_numpys_functions_and_operators_work(self):
        plain = self.one.plain
        np.testing.assert_array_equal((2 * self.one + np.sqrt(self.one)).plain, 2 * plain + plain**0.5)
        np.testing.assert_array_equal(np.where(self.one > 2, self.one, 0.0).plain, [[0, 0], [3, 4]])
        np.testing.assert_array_equal(np.einsum("ij,ij->i", self.one, self.one).plain, [5, 25])
        copy = self.one.copy()
        copy[StrictArray(np.array([0, 1])), StrictArray(np.array([1, 0]))] += 10
        np.testing.assert_array_equal(copy.plain, [[1, 12], [13, 4]])
        copy *= copy
        assert copy.max() == 169

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda strict: strict + np.ones((2, 2)), MIXED),
            (lambda strict: np.ones((2, 2)) * strict, MIXED),
            (lambda strict: np.maximum(strict, np.zeros(2)), MIXED),
            (lambda strict: strict[np.array([0, 1])], MIXED),
            (lambda strict: strict.__setitem__(0, np.zeros(2)), MIXED),
            (lambda strict: np.where(strict > 0, strict, np.zeros((2, 2))), MIXED),
            (lambda strict: np.asarray([strict, np.ones((2, 2))], like=strict), MIXED),
            (lambda strict: np.sum(strict, where=strict > 2), LACKING),
            (lambda strict: strict.max(axis=1, initial=0.0), LACKING),
            (lambda strict: np.exp(strict, where=strict > 2), LACKING),
            (np.asarray, CONVERTED),
            (np.array, CONVERTED),
            (lambda strict: np.zeros((2, 2)).__setitem__(0, strict), CONVERTED),
        ],
    )
    def test_operations_that_other_libraries_lack_are_rejected(self, call, message):
        with pytest.raises(TypeError, match=message):
            call(self.one)

    def test_numpys_arrays_are_converted_with_like_alone(self):
        np.testing.assert_array_equal((self.one + np.asarray(np.ones(2), like=self.one)).plain, [[2, 3], [4, 5]])
        np.testing.assert_array_equal((self.one * np.full(2, 3.0, like=self.one)).plain, [[3, 6], [9, 12]])


def failed_point(report):
    """Return the only point of a report that failed, whose complaint is one line."""
    [failed] = [point for point in report.points if not point.passed]
    assert "\n" not in failed.detail
    return failed


def coincidence(self, block):
    return np.where(block.actions[0] == block.actions[1], block.reward, 0 * block.reward)


FROM_BLOCK = "takes its arrays from the block"
TURNED = "is turned into one of NumPy's; call NumPy's functions on it instead"


@pytest.mark.parametrize(
    ("needs", "compute", "point", "remedy"),
    [
        (
            set(),
            coincidence,
            "takes every game that it accepts",
            "faulty reads policies or actions, which are of genes in bigger-number:n=4,space=bits; write",
        ),
        (
            set(),
            lambda self, block: (block.policies[0] > 0.01).sum(axis=-1) + 0 * block.reward,
            "takes every game that it accepts",
            'write needs = {"payoffs"} in the metric, or {"genomes"} if it is for them.',
        ),
        (
            {"payoffs"},
            lambda self, block: (lambda row, column: row.max(axis=-1) + column.max(axis=-1))(*block.policies),
            "takes every game that it accepts",
            "if it is for two players alone.",
        ),
        (
            set(),
            lambda self, block: self.game.value - block.reward,
            "takes every game that it accepts",
            'declare what it requires of a game in needs: "value".',
        ),
        (
            set(),
            lambda self, block: block.reward.cumsum(axis=0),
            "does not depend on how rounds are cut into blocks",
            "add up with a RunningSum",
        ),
        ({"payoffs"}, lambda self, block: np.asarray(block.reward) + np.zeros(block.runs), FROM_BLOCK, TURNED),
        (
            {"payoffs", "zero-sum"},
            lambda self, block: (block.policies[0] * self.game.payoff[:, 0]).max(axis=-1),
            FROM_BLOCK,
            "or like a given array, as numpy.asarray(values, like=array)",
        ),
        (
            {"payoffs"},
            lambda self, block: np.zeros((block.rounds, block.runs)),
            FROM_BLOCK,
            "compute it from the given arrays",
        ),
    ],
)
def test_each_fault_of_a_metric_is_found(needs, compute, point, remedy):
    failed = failed_point(check_metric(faulty("faulty", Metric, needs=needs, __call__=compute)))
    assert failed.name == point
    assert remedy in failed.detail


@pytest.mark.parametrize(
    ("number", "accepted"),
    [(np.nan, "a number."), (1.5, "0 .. 1, its bounds."), (-np.inf, "0 .. 1, its bounds."), (1 + 1e-9, "")],
)
def test_a_recorded_number_is_within_the_bounds_of_its_metric(number, accepted):
    def once(self, block):
        return np.where(block.numbers == 7, number, np.zeros_like(block.reward))

    odd = faulty("odd", Metric, bounds=(0, 1), __call__=once)
    failed = [point for point in check_metric(odd).points if point.tried and not point.passed]
    assert [point.name for point in failed[:1]] == ["one number per round and run, within its bounds"] * bool(accepted)
    with pytest.raises(CoeblError) if accepted else nullcontext() as raised:
        simulate("rps", "ucb", "exp3", rounds=9, seeds=[4, 5], metrics=[odd])
    assert not accepted or str(raised.value) == f"odd is {number:g} in round 7, seed 4; accepted: {accepted}"
    simulate("rps", "ucb", "exp3", rounds=9, seeds=2, metrics=[odd], record="last")  # the last number is 0


def test_a_metric_passes_with_its_needs():
    check_metric(faulty("sound", Metric, needs={"payoffs"}, __call__=coincidence)).require()
    total = faulty("total", Total, needs={"payoffs"}, terms=lambda self, block: np.asarray(block.reward))
    assert TURNED in failed_point(check_metric(total)).detail


class Normal(Noise):
    def draw(self, random, size):
        return random.standard_normal(size)


@pytest.mark.parametrize(
    ("reward", "remedy"),
    [
        (lambda payoff, draw: np.array(payoff) + draw, TURNED),
        (
            lambda payoff, draw: payoff + draw + np.zeros(len(payoff)),
            "or like a given array, as numpy.asarray(values, like=array)",
        ),
        (lambda payoff, draw: np.full(len(payoff), 0.5), "compute it from the given arrays"),
    ],
)
def test_a_noise_that_makes_its_own_arrays_is_found(reward, remedy):
    noise = faulty("faulty", Normal, reward=lambda self, payoff, draw, payoff_range: reward(payoff, draw))()
    failed = failed_point(check_game(Game([[0.5, 0.5]], noise=noise)))
    assert failed.name == "its noise works on arrays of any library"
    assert remedy in failed.detail


def test_a_noise_that_is_unbiased_only_at_zero_is_found():
    noise = faulty("faulty", Normal, reward=lambda self, payoff, draw, payoff_range: 0.8 * payoff + draw)()
    failed = failed_point(check_game(Game([[0.0, 1.0], [-1.0, 0.0]], noise=noise)))
    assert failed.name == "its noise has mean zero"
    assert "away from the payoff 1; accepted: a reward of that mean" in failed.detail


OTHER = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("draw", "point", "remedy"),
    [
        (lambda self, random, size: 0.0, "its noise has mean zero", "of shape (); accepted: (100000,)"),
        (
            lambda self, random, size: OTHER.normal(size=size),
            "its noise comes from the gen",
            "from the argument random",
        ),
    ],
)
def test_draws_have_the_size_and_come_from_the_generator(draw, point, remedy):
    noise = faulty("faulty", Normal, draw=draw, deviation=lambda self, payoff_range: 1.0)()
    points = check_game(Game([[0.5, 0.5]], noise=noise)).points
    assert any(point in result.name and remedy in result.detail for result in points), points


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_draw_that_is_not_finite_is_reported_once_with_its_noise(number):
    def draw(self, random, size):
        return np.where(random.random(size) < 0.5, number, 0.5)

    noise = faulty("D", Normal, draw=draw)()
    reason = f"D: draw returned {number}; accepted: finite numbers."
    [failed] = [p for p in check_game(Game([[0.5, 0.5]], noise=noise)).points if p.tried and not p.passed]
    assert failed.name == "its noise has mean zero"
    assert failed.detail.startswith(reason)
    for players, game in ((("uniform", "uniform"), "rps"), (("rls-pd", "rls-pd"), "diagonal:n=4,space=bits")):
        with pytest.raises(CoeblError, match=reason):
            simulate(game, *players, rounds=9, seeds=2, noise=noise)


@pytest.mark.parametrize(
    "draw",
    [
        lambda self, random, size: np.full(size, "x"),
        lambda self, random, size: np.full(size, None),
        lambda self, random, size: [[1, 2], [3]],
    ],
)
def test_a_draw_that_is_no_array_of_numbers_is_named(draw):
    with pytest.raises(CoeblError, match=r"^D: draw returned .*; accepted: an array of numbers"):
        simulate("rps", "uniform", "ucb", rounds=9, seeds=2, noise=faulty("D", Normal, draw=draw)())


def test_a_reward_of_none_is_named():
    noise = faulty("D", Noise, draw=Normal.draw, reward=lambda self, payoff, draw, payoff_range: None)()
    with pytest.raises(CoeblError, match=r"^D: reward returned None; accepted: an array of the shape of payoff"):
        simulate("rps", "uniform", "ucb", rounds=9, seeds=2, noise=noise)


def test_a_deviation_of_another_shape_is_named():
    mutation = faulty("Off", Mutation, deviation=lambda self, seat, count: None)()
    with pytest.raises(CoeblError, match="Off: deviation returned None; accepted: an array of the shape of count"):
        simulate("rps", Coebl(mutation=mutation), "ucb", rounds=9, seeds=2)


@pytest.mark.parametrize(
    ("numbers", "returned"),
    [
        (lambda block: block.reward.astype(str), "an array of <U32"),
        (lambda block: block.reward + 1j, "an array of complex128"),
        (lambda block: block.reward.tolist(), "a list"),
    ],
)
def test_a_metric_that_is_no_array_of_numbers_is_named(numbers, returned):
    metric = faulty("odd", Metric, __call__=lambda self, block: numbers(block))
    accepted = "an array of shape (rounds, runs) = (3, 2), of numbers"
    with pytest.raises(CoeblError, match=re.escape(f"odd returned {returned}; accepted: {accepted}")):
        simulate("rps", "ucb", "ucb", rounds=3, seeds=2, metrics=[metric])


def test_a_policy_and_a_metric_of_none_are_named():
    with pytest.raises(CoeblError, match=r"None in round 1; accepted: an array of shape \(runs, actions\) = \(2, 3\)"):
        simulate("rps", faulty("mute", policy=lambda self, t: None)(), "ucb", rounds=3, seeds=2)
    metric = faulty("mute", Metric, __call__=lambda self, block: None)
    with pytest.raises(
        CoeblError, match=r"mute returned None; accepted: an array of shape \(rounds, runs\) = \(3, 2\)"
    ):
        simulate("rps", "ucb", "ucb", rounds=3, seeds=2, metrics=[metric])


def test_a_name_is_that_of_no_other_learner():
    class Pretender(Sound):
        name = "ucb"

    class Heir(LEARNERS["uniform"].factory):
        """A learner that extends a built-in one, and does not have its name."""

    assert "Pretender is called 'ucb', as a registered learner is; give it" in str(check_learner(Pretender))
    assert str(Heir()) == "Heir"
    assert "reads back as" not in str(check_learner(Heir))
