"""What each learner must do, and what none may do: sense of direction, shapes, specs, refusals, runs on their own."""

from importlib.metadata import EntryPoint
from math import log
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coebl.learners
from coebl.core.errors import InputError
from coebl.engine.streams import BatchRandom
from coebl.learners import LEARNERS, Seat, parse_learner, registry
from coebl.learners._template import EpsilonGreedy
from coebl.learners.as_released import Exp3AsReleased, Exp3IxAsReleased
from coebl.learners.coebl import Coebl
from coebl.learners.evolution import MUTATIONS, SELECTIONS, MutationName, SelectionName, elitist, fitness
from coebl.learners.exp3 import Exp3, exp3_policy
from coebl.learners.exp3_ix import Exp3Ix, project_kl
from coebl.learners.opponents import BestResponse, Fixed, Nash, Switching, Uniform
from coebl.learners.ucb import Ucb
from oracles.learners import project_by_bisection

EVERY_KIND = [
    "coebl",
    "coebl:c=2.5,mutation=gaussian-prose,selection=none",
    "ucb",
    "ucb:ties=random",
    "exp3",
    "exp3:rewards=raw",
    "exp3-ix",
    "exp3-as-released",
    "exp3-ix-as-released",
    "uniform",
    "fixed:strategy=0.25/0.5/0.25",
    "nash",
    "switching:mixtures=0.25/0.5/0.25_1/0/0,at=20",
    "best-response",
]
OWN_MODULES = {f"coebl.learners.{module}" for module in ("coebl", "ucb", "exp3", "exp3_ix", "as_released", "opponents")}
WIDE = np.array([[0.9, -0.4, 0.3, -0.8], [-0.5, 0.7, -0.9, 0.2], [0.1, -0.2, 0.6, -0.3]])


def seat_for(payoff, seeds, horizon, purpose="row learner", sees="opponent", payoff_range=(-1.0, 1.0)):
    m, k = payoff.shape
    shown = payoff if sees in ("game", "policy") else None
    return Seat(len(seeds), m, k, horizon, payoff_range, BatchRandom(seeds, purpose), shown)


def draw(policy, uniform):
    """The action at which the cumulated policy passes a uniform number, per run."""
    passed = (np.cumsum(policy, axis=1) <= uniform[:, None]).sum(axis=1)
    return np.minimum(passed, policy.shape[1] - 1)


def play(payoff, row, column, seeds, rounds, noise=1.0):
    """Both players' policies, (rounds, runs, actions): a match, as small as it can be written."""
    payoff = np.asarray(payoff, dtype=float)
    views = payoff, np.ascontiguousarray(-payoff.T)
    players = row, column
    for player, view, name in zip(players, views, ("row learner", "column learner"), strict=True):
        player.start(seat_for(view, seeds, rounds, name, player.sees))
    row_draws, column_draws = BatchRandom(seeds, "row actions"), BatchRandom(seeds, "column actions")
    nature = BatchRandom(seeds, "nature")
    played = []
    for t in range(1, rounds + 1):
        first = None if row.sees == "policy" else row.policy(t)
        second = column.respond(t, first) if column.sees == "policy" else column.policy(t)
        first = row.respond(t, second) if first is None else first
        i, j = draw(first, row_draws.uniform()), draw(second, column_draws.uniform())
        reward = payoff[i, j] + noise * nature.normal()
        row.observe(t, i, j if row.sees == "opponent" else None, reward)
        column.observe(t, j, i if column.sees == "opponent" else None, -reward)
        played.append((first.copy(), second.copy()))
    return np.array([x for x, _ in played]), np.array([y for _, y in played])


# Row 0 and column 1 dominate in the first game, row 1 and column 1 in the second, neither square nor symmetric.
DOMINANCE = {
    "2x2": ([[1.0, 0.1], [-0.1, -1.0]], 0, 1),
    "2x3": ([[0.0, -1.0, 0.1], [0.9, 0.0, 1.0]], 1, 1),
}


class TestDirection:
    @pytest.mark.parametrize("game", DOMINANCE)
    @pytest.mark.parametrize("make", [Coebl, Ucb, lambda: Ucb("random"), Exp3, Exp3Ix, EpsilonGreedy])
    def test_a_dominant_action_comes_to_be_played_in_both_seats(self, make, game):
        # More than chance by 0.15, many times the spread of a mean over 20 runs. Exp3-IX sets the mark: at round 2000
        # its regularisation, t^(-1/8), is still 0.39, and it plays a dominant action of three about 0.55 of the time.
        payoff, best_row, best_column = DOMINANCE[game]
        x, _ = play(payoff, make(), Uniform(), range(20), 2000)
        assert x[-200:, :, best_row].mean() > 1 / x.shape[2] + 0.15
        _, y = play(payoff, Uniform(), make(), range(20), 2000)
        assert y[-200:, :, best_column].mean() > 1 / y.shape[2] + 0.15

    @pytest.mark.parametrize("make", [Exp3AsReleased, Exp3IxAsReleased])
    def test_as_released_the_dominated_action_does(self, make):
        payoff, best_row, best_column = DOMINANCE["2x2"]
        x, _ = play(payoff, make(), Uniform(), range(20), 2000)
        assert x[-200:, :, 1 - best_row].mean() > 0.6
        _, y = play(payoff, Uniform(), make(), range(20), 2000)
        assert y[-200:, :, 1 - best_column].mean() > 0.6


class TestEveryLearner:
    def test_all_registered_names_are_tested_here(self):
        assert {spec.partition(":")[0] for spec in EVERY_KIND} >= {
            name for name in LEARNERS.homes if LEARNERS.homes[name].split(":")[0] in OWN_MODULES
        }

    @pytest.mark.parametrize("spec", EVERY_KIND)
    def test_specs_round_trip(self, spec):
        learner = parse_learner(spec)
        assert str(learner) == spec
        assert parse_learner(str(learner)) == learner

    @pytest.mark.parametrize("spec", EVERY_KIND)
    def test_summary_and_citation(self, spec):
        learner = parse_learner(spec)
        assert type(learner).__doc__.splitlines()[0].endswith(".")
        assert learner.cites or type(learner).__module__.endswith("opponents")

    @pytest.mark.parametrize("spec", [*EVERY_KIND, "template"])
    @pytest.mark.parametrize("shape", [(3, 4), (24, 20)])
    def test_a_run_does_not_depend_on_its_batch_to_the_last_bit(self, spec, shape):
        spec = spec if shape == (3, 4) else spec.replace("0.25/0.5/0.25", "/".join(["0.125"] * 8 + ["0"] * 16))
        spec = spec if shape == (3, 4) else spec.replace("1/0/0", "/".join(["1"] + ["0"] * 23))
        payoff = np.random.default_rng(1).uniform(-1, 1, shape)
        alone = self.trajectory(spec, payoff, [7])
        together = self.trajectory(spec, payoff, [3, 7, 1, 9, 4])
        np.testing.assert_array_equal(alone[:, 0], together[:, 1])
        assert alone.min() >= 0
        np.testing.assert_allclose(together.sum(axis=-1), 1, atol=1e-12)
        again = self.trajectory(spec, payoff, [7])
        np.testing.assert_array_equal(alone, again)

    @staticmethod
    def trajectory(spec, payoff, seeds, rounds=50):
        learner = EpsilonGreedy() if spec == "template" else parse_learner(spec)
        learner.start(seat_for(payoff, seeds, rounds, sees=learner.sees))
        actions, others = BatchRandom(seeds, "row actions"), BatchRandom(seeds, "column actions")
        nature = BatchRandom(seeds, "nature")
        policies = []
        for t in range(1, rounds + 1):
            weight = others.uniform(payoff.shape[1])
            facing = weight / weight.sum(axis=-1, keepdims=True)
            policy = learner.respond(t, facing)
            action, opponent = draw(policy, actions.uniform()), draw(facing, others.uniform())
            reward = payoff[action, opponent] + nature.normal()
            learner.observe(t, action, opponent if learner.sees == "opponent" else None, reward)
            policies.append(policy.copy())
        return np.array(policies)

    @pytest.mark.parametrize("spec", ["coebl", "ucb", "exp3", "exp3-ix", "exp3-as-released", "exp3-ix-as-released"])
    @pytest.mark.parametrize("shape", [(1, 3), (3, 1), (1, 1)])
    def test_single_actions_and_constant_games(self, spec, shape):
        learner = parse_learner(spec)
        learner.start(seat_for(np.zeros(shape), [0, 1], 10, payoff_range=(0.0, 0.0)))
        for t in range(1, 11):
            policy = learner.policy(t)
            assert policy.shape == (2, shape[0])
            np.testing.assert_allclose(policy.sum(axis=1), 1, atol=1e-12)
            opponent = np.zeros(2, int) if learner.sees == "opponent" else None
            learner.observe(t, np.zeros(2, int), opponent, np.array([0.5, -0.5]))

    def test_the_template_works_from_a_file(self):
        home = Path(coebl.learners.__file__).parent / "_template.py"
        learner = parse_learner(f"{home}:EpsilonGreedy:explore=2")
        assert learner.explore == 2.0
        assert parse_learner(str(learner)) == learner


class TestOptimism:
    def test_logarithms_of_rectangular_games(self):
        seat = seat_for(np.zeros((3, 5)), [0], 100)
        ucb, learner = Ucb(), Coebl(c=2)
        ucb.start(seat)
        learner.start(seat)
        assert ucb.log_term == pytest.approx(2 * log(2 * 100**2 * 15))
        assert learner.scale == pytest.approx(2 * log(2 * 100**2 * 15))

    @pytest.mark.parametrize("make", [Ucb, Coebl])
    def test_no_horizon_is_refused(self, make):
        with pytest.raises(InputError, match=rf"{make.name} needs the number of rounds, and horizon is None"):
            make().start(seat_for(np.zeros((2, 2)), [0], None))

    def test_bounds(self):
        # by hand: 1 + 2 sqrt(12 * 50 * log(60000)), and twice sqrt(2 c) = 4 in place of 1 for c = 8, without the 1
        assert Ucb.regret_bound(3, 4, 50) == pytest.approx(1 + 2 * (600 * log(60000)) ** 0.5)
        assert Coebl.regret_bound(3, 4, 50) == pytest.approx(8 * (600 * log(60000)) ** 0.5)
        assert Coebl.regret_bound(3, 4, 50, c=18) == pytest.approx(12 * (600 * log(60000)) ** 0.5)
        assert Coebl.regret_bound(3, 4, 50, c=7.9) is None
        assert Coebl.regret_bound(3, 4, 23) is None
        assert Coebl.regret_bound(3, 4, 24) is not None
        assert Coebl(c=16).optimism_probability(3, 4, 50) == pytest.approx(1 - 60000.0**-2, abs=1e-15)

    def test_ties_first_plays_action_zero_at_the_start_and_random_any(self):
        payoff = np.zeros((4, 3))
        first, shuffled = Ucb(), Ucb("random")
        first.start(seat_for(payoff, range(40), 10))
        shuffled.start(seat_for(payoff, range(40), 10))
        np.testing.assert_array_equal(first.policy(1)[:, 0], 1)
        assert set(shuffled.policy(1).argmax(axis=1)) == {0, 1, 2, 3}

    def test_selection_changes_nothing(self):
        # x' maximises the very fitness by which it is compared with the previous policy, and the maximiser of a matrix
        # with a continuous law is almost surely unique: the previous policy is as fit only where it is the same.
        x, y = play(WIDE, Coebl(c=2), Uniform(), range(5), 400)
        again, other = play(WIDE, Coebl(c=2, selection="none"), Uniform(), range(5), 400)
        np.testing.assert_allclose(x, again, atol=1e-9)
        np.testing.assert_array_equal(y, other)

    def test_elitist_keeps_what_is_as_fit_run_by_run(self):
        matrix = np.array([[[1.0, 1.0], [1.0, 1.0]], [[1.0, 1.0], [2.0, 2.0]]])
        previous, new = np.array([[0.5, 0.5]] * 2), np.array([[0.0, 1.0]] * 2)
        np.testing.assert_array_equal(fitness(new, matrix), [1, 2])
        np.testing.assert_array_equal(elitist(previous, new, matrix), [[0.5, 0.5], [0, 1]])

    def test_the_prose_mutates_more_and_otherwise(self):
        mean, count = np.full((1, 1, 3), 0.5), np.array([[[0.0, 1.0, 8.0]]])
        ones = np.ones((1, 1, 3))
        formula, prose = (MUTATIONS[name](mean, count, 4.0, ones) for name in ("gaussian", "gaussian-prose"))
        bonus = 0.5 + np.sqrt([2, 2, 4 / 9])
        np.testing.assert_allclose(formula[0, 0], bonus + np.array([1, 1, 1 / 8]))
        np.testing.assert_allclose(prose[0, 0], bonus + np.array([1, np.sqrt(1 / 2), 1 / 3]))
        x, _ = play(WIDE, Coebl(c=2), Uniform(), [0], 50)
        other, _ = play(WIDE, Coebl(c=2, mutation="gaussian-prose"), Uniform(), [0], 50)
        assert np.abs(x - other).max() > 1e-3

    def test_names_and_tables_agree(self):
        assert get_args(MutationName) == tuple(MUTATIONS)
        assert get_args(SelectionName) == tuple(SELECTIONS)


class TestExponentialWeights:
    def test_huge_scores_do_not_overflow(self):
        score = np.array([[1e12, 0.0, -1e12], [-3e300, -3e300, -3e300]])
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            policy = exp3_policy(score, 100_000)
        gamma = np.sqrt(3 * np.log(3) / 100_000)
        np.testing.assert_allclose(policy[0], [1 - gamma * 2 / 3, gamma / 3, gamma / 3])
        np.testing.assert_allclose(policy[1], 1 / 3)

    def test_the_first_rounds_of_exp3_are_uniform(self):
        # gamma = 1 while t <= m log m
        policy = exp3_policy(np.array([[5.0, 0.0, 1.0]]), 3)
        np.testing.assert_allclose(policy, 1 / 3)

    def test_unit_rewards_are_mapped_by_the_range(self):
        learner = Exp3()
        learner.start(seat_for(np.zeros((2, 2)), [0], None, payoff_range=(-3.0, 1.0)))
        learner.policy(1)
        learner.observe(1, np.array([1]), None, np.array([-1.0]))  # X = 0.5, P = 0.5: 1 - 0.5 / 0.5 = 0
        np.testing.assert_allclose(learner.score, [[1, 0]])

    def test_the_first_step_of_exp3_ix_is_uniform(self):
        for make in (Exp3Ix, Exp3IxAsReleased):
            learner = make()
            learner.start(seat_for(np.zeros((3, 2)), [0], None))
            learner.observe(1, np.array([1]), None, np.array([-1.0]))
            np.testing.assert_allclose(learner.policy(2), 1 / 3, atol=1e-15)
            learner.observe(2, np.array([1]), None, np.array([-1.0]))
            assert np.ptp(learner.policy(3)) > 0.01


@st.composite
def projections(draw_from):
    """Weights of very different sizes, ties and zeros among them, and a floor from nothing to the most there can be."""
    m = draw_from(st.integers(1, 12))
    exponents = draw_from(st.lists(st.floats(-30, 0) | st.sampled_from([-2.0, -1.0]), min_size=m, max_size=m))
    weights = [10.0**exponent for exponent in exponents]
    for index in range(draw_from(st.integers(0, m - 1))):
        weights[index] = 0.0
    share = draw_from(st.floats(1e-6, 1.0) | st.sampled_from([1.0, 0.5]))
    return np.array([weights]), share / m


class TestProjection:
    @given(projections())
    def test_against_bisection(self, problem):
        weights, floor = problem
        np.testing.assert_allclose(
            project_kl(weights, floor)[0], project_by_bisection(weights[0].tolist(), floor), atol=1e-12
        )

    @given(projections())
    def test_optimality_conditions(self, problem):
        weights, floor = problem
        x = project_kl(weights, floor)[0]
        w = weights[0]
        assert (x >= floor).all()
        assert x.sum() == pytest.approx(1, abs=1e-12)
        # Stationarity: log(x/w) is one number for all free actions, and no smaller for those at the floor.
        free = x > floor * (1 + 1e-9)
        if free.any():
            ratio = x[free] / w[free]
            np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
            assert (floor >= ratio[0] * w[~free] * (1 - 1e-9)).all()

    @given(projections())
    def test_runs_are_projected_one_by_one_and_scale_is_free(self, problem):
        weights, floor = problem
        both = project_kl(np.concatenate([weights, weights[:, ::-1] * 2.0**40]), floor)
        np.testing.assert_array_equal(both[0], project_kl(weights, floor)[0])
        np.testing.assert_array_equal(both[1], both[0][::-1])

    @pytest.mark.parametrize("m", [1, 2, 3, 7, 32])
    def test_uniform_where_the_floor_leaves_no_choice(self, m):
        weights = np.random.default_rng(m).random((5, m))
        np.testing.assert_allclose(project_kl(weights, 1 / m), 1 / m, rtol=1e-13)


class TestOpponents:
    def test_best_response_is_exact_and_takes_the_lowest_of_equals(self):
        learner = BestResponse()
        learner.start(seat_for(WIDE, [0] * 3, None, sees="policy"))
        facing = np.array([[1.0, 0, 0, 0], [0, 0.5, 0, 0.5], [0.1, 0.2, 0.3, 0.4]])
        answer = learner.respond(1, facing)
        expected = [max(range(3), key=lambda i, y=y: sum(WIDE[i] * y)) for y in facing]
        np.testing.assert_array_equal(answer, np.eye(3)[expected])
        learner.start(seat_for(np.ones((3, 2)), [0], None, sees="policy"))
        np.testing.assert_array_equal(learner.respond(1, np.array([[0.5, 0.5]])), [[1, 0, 0]])

    def test_best_response_needs_the_opponents_policy(self):
        learner = BestResponse()
        learner.start(seat_for(WIDE, [0], None, sees="policy"))
        with pytest.raises(InputError, match="best-response needs the opponent's policy"):
            learner.policy(1)

    @pytest.mark.parametrize("make", [Nash, BestResponse])
    def test_those_that_see_the_game_must_be_shown_it(self, make):
        with pytest.raises(InputError, match=rf"{make.name} must be shown the game"):
            make().start(seat_for(WIDE, [0], None))

    def test_best_response_leaves_the_value_or_less(self):
        # Against an equilibrium strategy the best answer is worth the value, in either seat; value 1.5, not 0.
        payoff = np.array([[3.0, 0.0], [1.0, 2.0]])
        for row, column in ((Nash(), BestResponse()), (BestResponse(), Nash())):
            x, y = play(payoff, row, column, [0, 1], 3)
            np.testing.assert_allclose(np.einsum("tri,ij,trj->tr", x, payoff, y), 1.5)

    def test_nash_in_both_seats(self):
        x, y = play([[3.0, 0.0], [1.0, 2.0]], Nash(), Nash(), [0, 1], 2)
        np.testing.assert_allclose(x, np.broadcast_to([0.25, 0.75], (2, 2, 2)))
        np.testing.assert_allclose(y, np.broadcast_to([0.5, 0.5], (2, 2, 2)))

    def test_fixed_and_uniform(self):
        x, y = play(WIDE, parse_learner("fixed:0.5/0.25/0.25"), Uniform(), [0, 1], 2)
        np.testing.assert_array_equal(x, np.broadcast_to([0.5, 0.25, 0.25], (2, 2, 3)))
        np.testing.assert_array_equal(y, np.full((2, 2, 4), 0.25))
        assert Fixed([1, 0]) == parse_learner("fixed:1/0")

    def test_switching(self):
        x, _ = play(WIDE, parse_learner("switching:mixtures=0/0/1_1/0/0_0/1/0,at=3/5"), Uniform(), [0], 6)
        np.testing.assert_array_equal(x[:, 0].argmax(axis=1), [2, 2, 0, 0, 1, 1])

    def test_thirds_are_made_exact(self):
        learner = Fixed((0.3333333, 0.3333333, 0.3333333))
        learner.start(seat_for(WIDE, [0], None))
        assert learner.policy(1).sum() == pytest.approx(1, abs=1e-15)

    @pytest.mark.parametrize(
        ("spec", "words"),
        [
            ("fixed:0.5/0.4", r"fixed: strategy is \(0.5, 0.4\), with sum 0.9; accepted: probabilities"),
            ("fixed:1.5/-0.5", r"strategy is \(1.5, -0.5\)"),
            ("fixed", "fixed needs strategy; accepted: fixed:strategy=..."),
            ("fixed:half/half", "strategy is 'half/half'; accepted: numbers separated by /"),
            ("switching:mixtures=1/0_0/2,at=5", r"switching: mixtures\[1\] is \(0.0, 2.0\)"),
            ("switching:mixtures=1/0_0/1,at=1", r"at is \(1.0,\); accepted: 1 round numbers, >= 2 and increasing"),
            ("switching:mixtures=1/0_0/1_1/0,at=7/5", "accepted: 2 round numbers"),
            ("switching:mixtures=1/0_0/1,at=2.5", "accepted: 1 round numbers"),
            ("switching:mixtures=1/0_x,at=5", r"mixtures is '1/0_x'; accepted: such as 0.5/0.5_1/0"),
            ("switching:mixtures=1/0_0/1", "switching needs at"),
            ("coebl:c=-1", "c is -1.0; accepted: a number, >= 0"),
            ("coebl:mutation=cauchy", "mutation is 'cauchy'; accepted: one of gaussian, gaussian-prose"),
            ("coebl:selection=best", "selection is 'best'; accepted: one of elitist, none"),
            ("coebl:rate=2", "coebl has no parameter 'rate'"),
            ("ucb:ties=last", "ties is 'last'; accepted: one of first, random"),
            ("exp3:rewards=clipped", "rewards is 'clipped'; accepted: one of unit, raw"),
            ("exp3-ix:2", "exp3-ix, without parameters"),
            ("exp3ix", "unknown learner 'exp3ix': did you mean 'exp3-ix'?"),
        ],
    )
    def test_bad_specs_say_what_is_wrong(self, spec, words):
        with pytest.raises(InputError, match=words):
            parse_learner(spec)

    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (lambda: Coebl(c=float("nan")), "c is nan"),
            (lambda: Coebl(mutation="cauchy"), "mutation is 'cauchy'; accepted: one of gaussian, gaussian-prose"),
            (lambda: Coebl(selection="best"), "selection is 'best'; accepted: one of elitist, none"),
            (lambda: Ucb(ties="last"), "ties is 'last'"),
            (lambda: Exp3(rewards="clipped"), "rewards is 'clipped'"),
            (lambda: Fixed((float("nan"), 1.0)), r"strategy is \(nan, 1.0\)"),
            (lambda: Fixed(()), r"strategy is \(\)"),
            (lambda: Switching("1_1", (0.0,)), "at is"),
        ],
    )
    def test_bad_arguments_say_what_is_wrong(self, make, words):
        with pytest.raises(InputError, match=words):
            make()

    @pytest.mark.parametrize("spec", ["fixed:0.5/0.5", "switching:mixtures=1/0/0_0/1,at=2"])
    def test_mixtures_of_another_length_are_refused(self, spec):
        with pytest.raises(InputError, match=r"2 probabilities; accepted: 3, one per action of the seat"):
            parse_learner(spec).start(seat_for(WIDE, [0], None))


def test_packages_add_learners_through_an_entry_point(monkeypatch):
    point = EntryPoint("theirs", "coebl.learners._template:EpsilonGreedy", "coebl.learners")
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == "coebl.learners" else [])
    learners = registry.LearnerRegistry()
    assert "theirs" in learners
    assert isinstance(learners.parse("theirs"), EpsilonGreedy)
    assert "ucb" in learners
