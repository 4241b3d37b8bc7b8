"""Requirements for every learner: the direction of learning, shapes, specs, and rejected seats."""

from pathlib import Path

import numpy as np
import pytest

import coebl.learners
from bare_seats import build_seat
from coebl.core.errors import InputError
from coebl.engine import simulate
from coebl.games import Game
from coebl.learners import KINDS, LEARNERS, Learner, Responder, Seen, parse_learner
from coebl.learners.coebl import Coebl
from coebl.learners.exp3 import Exp3, Exp3AsReleased, Exp3IxAsReleased
from coebl.learners.opponents import BestResponse, Fixed, Nash, Switching, Uniform
from coebl.learners.ucb import Ucb
from coebl.testing import check_learner
from learner_rules import INDEXED, check_summary_title_and_citation

EVERY_KIND = [
    *(LEARNERS[name].factory.example or name for name in INDEXED),
    "coebl:c=2.5,mutation=gaussian-prose,selection=none",
    "ucb:ties=random",
    "exp3:rewards=raw",
    "gp-mw:kernel=rbf",
]
WIDE = np.array([[0.9, -0.4, 0.3, -0.8], [-0.5, 0.7, -0.9, 0.2], [0.1, -0.2, 0.6, -0.3]])


def seated(learner, payoff, seeds=(0,), horizon=None, payoff_range=(-1.0, 1.0)):
    """Return the learner in the row seat of a game."""
    payoff = np.asarray(payoff, dtype=float)
    return learner.seated(build_seat(learner, seeds, payoff.shape, horizon, payoff_range, payoff=payoff))


def play(payoff, row, column, seeds, rounds):
    """Return both players' policies, (rounds, runs, actions)."""
    game = Game(payoff, payoff_range=(min(-1.0, np.min(payoff)), max(1.0, np.max(payoff))))
    return simulate(game, row, column, rounds=rounds, seeds=seeds, metrics=[], keep=["policies"]).kept["policies"]


@pytest.mark.parametrize("make", [Exp3AsReleased, Exp3IxAsReleased])
def test_as_released_a_dominated_action_comes_to_be_played(make):
    """The conformance kit checks the opposite for learners that improve. Row 0 and column 1 dominate."""
    payoff = [[1.0, 0.1], [-0.1, -1.0]]
    x, _ = play(payoff, make(), Uniform(), range(20), 1000)
    assert x[-200:, :, 1].mean() > 0.6
    _, y = play(payoff, Uniform(), make(), range(20), 1000)
    assert y[-200:, :, 0].mean() > 0.6


class TestEveryLearner:
    @pytest.mark.parametrize("spec", EVERY_KIND)
    def test_summary_title_and_citation(self, spec):
        check_summary_title_and_citation(spec)

    def test_the_cost_depends_on_the_hyper_parameters(self):
        """Measured at 32 actions: 0.35 ms per round and run, seventy times as much."""
        assert parse_learner("gp-mw:kernel=rbf").cost(32, 32) > 50 * parse_learner("gp-mw").cost(32, 32)
        assert parse_learner("coebl:population=pool:mutants=5").cost(32, 32) > 4 * parse_learner("coebl").cost(32, 32)

    def test_kinds_follow_from_what_is_seen(self):
        kinds = {parse_learner(spec).name: parse_learner(spec).kind() for spec in EVERY_KIND}
        assert kinds["exp3"] == kinds["uniform"] == "bandit"
        assert kinds["coebl"] == kinds["ucb"] == "informed bandit"
        assert kinds["nash"] == kinds["best-response"] == "oracle"
        assert set(kinds.values()) <= set(KINDS)

        class Observer(Learner):
            sees = frozenset({"payoffs", "opponent"})

        assert Observer.kind() == "full information"

    @pytest.mark.parametrize("spec", [spec for spec in EVERY_KIND if not spec.startswith(("fixed", "switching"))])
    @pytest.mark.parametrize("shape", [(24, 20), (60, 50)])
    def test_a_run_does_not_depend_on_its_batch_in_large_games(self, spec, shape):
        """The conformance kit checks this on small games; these use the other kernels, and warm starts."""
        payoff = np.random.default_rng(1).uniform(-1, 1, shape)
        alone, _ = play(payoff, spec, "uniform", [7], 12)
        together, _ = play(payoff, spec, "uniform", [3, 7, 1], 12)
        np.testing.assert_array_equal(alone[:, 0], together[:, 1])

    @pytest.mark.parametrize(
        "spec",
        [*(LEARNERS[name].example for name in INDEXED if LEARNERS[name].factory.improves), "gp-mw:kernel=rbf"],
    )
    @pytest.mark.parametrize("shape", [(1, 3), (3, 1), (1, 1)])
    def test_single_actions_and_constant_games(self, spec, shape):
        learner = seated(parse_learner(spec), np.zeros(shape), [0, 1], 10, payoff_range=(0.0, 0.0))
        for t in range(1, 11):
            policy = learner.policy(t)
            assert policy.shape == (2, shape[0])
            np.testing.assert_allclose(policy.sum(axis=1), 1, atol=1e-12)
            action, first, payoffs = policy.argmax(axis=1), np.zeros(2, int), np.zeros((2, shape[0]))
            learner.observe(t, Seen(action, np.array([0.5, -0.5]), first, payoffs, policy.max(axis=1)))

    def test_the_template_works_from_a_file(self):
        home = Path(coebl.learners.__file__).parent / "_template.py"
        learner = parse_learner(f"{home}:EpsilonGreedy:explore=2")
        assert learner.explore == 2.0
        check_learner(learner).require()

    def test_every_class_can_be_imported_from_the_package(self):
        assert coebl.learners.Ucb is Ucb
        with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
            _ = coebl.learners.Nothing


class TestParameters:
    @pytest.mark.parametrize(
        ("make", "words"),  # a spec, or a function
        [
            ("coebl:c=-1", "c is -1.0; accepted: a number, >= 0"),
            ("coebl:mutation=gausian", "unknown mutation 'gausian': did you mean 'gaussian'?"),
            ("ucb:ties=last", "ties is 'last'; accepted: one of first, random"),
            ("fixed:0.5/0.4", r"fixed: strategy is \(0.5, 0.4\), with sum 0.9; accepted: nonnegative"),
            ("fixed:1.5/-0.5", r"strategy is \(1.5, -0.5\)"),
            ("switching:mixtures=1/0_0/2,at=5", r"switching: mixtures\[1\] is \(0.0, 2.0\)"),
            ("switching:mixtures=1/0_0/1,at=1", r"at is \(1.0,\); accepted: 1 round numbers, >= 2 and increasing"),
            ("switching:mixtures=1/0_0/1_1/0,at=7/5", "accepted: 2 round numbers"),
            ("switching:mixtures=1/0_0/1,at=2.5", "accepted: 1 round numbers"),
            ("switching:mixtures=1/0_x,at=5", r"mixtures is '1/0_x'; accepted: mixtures separated by _, such as"),
            (lambda: Coebl(mutation=3), "mutation is 3; accepted: a Mutation, or a spec"),
            (lambda: Switching("1_1", (0.0,)), "at is"),
        ],
    )
    def test_messages_name_the_mistake(self, make, words):
        with pytest.raises(InputError, match=words):
            make() if callable(make) else parse_learner(make)


class TestSights:
    def test_undeclared_sights_cannot_be_seen(self):
        seen = Seen(np.array([0]), np.array([1.0]))
        for sight in ("opponent", "payoffs"):
            words = rf'^seen\.{sight} is used but not declared; write sees = \{{"{sight}"\}} in the class\.$'
            with pytest.raises(InputError, match=words):
                getattr(seen, sight)
        with pytest.raises(InputError, match=r"^seen\.probability is .* write importance_weighted = True in the class"):
            _ = seen.probability
        seat = build_seat(Exp3(), [0], WIDE.shape, 10, (-1.0, 1.0), payoff=WIDE)
        with pytest.raises(InputError, match=r'^seat\.payoff is used but not declared; write sees = {"game"}'):
            _ = seat.payoff

    def test_a_custom_learner_may_extend_a_built_in_one(self, tmp_path):
        text = (
            "from dataclasses import dataclass\nfrom coebl.learners.kin import Kin\n\n"
            "@dataclass\nclass Mine(Kin):\n    extra: int = 1\n"
        )
        (tmp_path / "mine.py").write_text(text)
        mine = parse_learner(f"{tmp_path / 'mine.py'}:Mine:c=2,extra=3")
        assert (mine.c, mine.extra, mine.turnover) == (2.0, 3, 0.1)

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("sees = 'opponent'", r"sees is 'opponent'; accepted: a subset of opponent, payoffs, game, policy"),
            ("sees = {'oponent'}", r"sees is \{'oponent'\}; accepted: a subset of"),
            ("sees = [['opponent']]", r"sees is \[\['opponent'\]\]; accepted: a subset of"),
            ("plays = ()", r"plays is \(\); accepted: a subset of indices, bits, such as"),
            ("aim = 'win'", r"aim is 'win'; accepted: response, security\."),
            ("sees = {'policy'}", r"only a learner that extends coebl\.learners\.Responder sees the policy"),
            ("rate: float = 1.0", r"is not a dataclass; write @dataclass above it"),
        ],
    )
    def test_a_class_that_cannot_be_a_learner_is_rejected_when_it_is_named(self, line, message, tmp_path):
        text = f"from coebl import Learner\nclass Mine(Learner):\n    name = 'mine'\n    {line}"
        (tmp_path / "mine.py").write_text(text)
        with pytest.raises(InputError, match=message):
            parse_learner(f"{tmp_path / 'mine.py'}:Mine")

    def test_only_a_responder_responds(self):
        for name in LEARNERS.names:
            factory = LEARNERS[name].factory
            assert hasattr(factory, "respond") == issubclass(factory, Responder)
        assert issubclass(BestResponse, Responder)


def test_regret_bounds():
    # by hand, with log(2 * 50^2 * 12) = 11.0021: sqrt(600 * 11.0021) = 81.248
    assert Ucb.regret_bound(3, 4, 50) == pytest.approx(163.50, abs=0.01)  # 1 + 2 * 81.248
    assert Coebl.regret_bound(3, 4, 50) == pytest.approx(649.98, abs=0.01)  # 8 * 81.248, for c = 8
    assert Coebl.regret_bound(3, 4, 50, c=18) == pytest.approx(974.98, abs=0.01)  # sqrt(18 / 8) times that
    assert Coebl.regret_bound(3, 4, 50, c=7.9) is None
    assert Coebl.regret_bound(3, 4, 23) is None  # T < 2 m k
    assert Coebl.regret_bound(3, 4, 24) is not None


class TestOpponents:
    def test_best_response_is_exact_and_takes_the_lowest_of_equals(self):
        facing = np.array([[1.0, 0, 0, 0], [0, 0.5, 0, 0.5], [0.1, 0.2, 0.3, 0.4]])
        answer = seated(BestResponse(), WIDE, [0, 1, 2]).respond(1, facing)
        expected = [max(range(3), key=lambda i, y=y: sum(WIDE[i] * y)) for y in facing]
        np.testing.assert_array_equal(answer, np.eye(3)[expected])
        tied = seated(BestResponse(), np.ones((3, 2))).respond(1, np.array([[0.5, 0.5]]))
        np.testing.assert_array_equal(tied, [[1, 0, 0]])

    def test_best_response_needs_the_opponents_policy(self):
        with pytest.raises(InputError, match="best-response answers the opponent's policy; call respond"):
            seated(BestResponse(), WIDE).policy(1)

    def test_nash_in_both_seats_and_the_best_response_to_it_is_worth_the_value(self):
        payoff = np.array([[3.0, 0.0], [1.0, 2.0]])  # value 1.5
        x, y = play(payoff, Nash(), Nash(), [0, 1], 2)
        np.testing.assert_allclose(x, np.broadcast_to([0.25, 0.75], (2, 2, 2)))
        np.testing.assert_allclose(y, np.broadcast_to([0.5, 0.5], (2, 2, 2)))
        for row, column in ((Nash(), BestResponse()), (BestResponse(), Nash())):
            x, y = play(payoff, row, column, [0, 1], 3)
            np.testing.assert_allclose(np.einsum("tri,ij,trj->tr", x, payoff, y), 1.5)

    def test_fixed_uniform_and_switching(self):
        x, y = play(WIDE, "fixed:0.5/0.25/0.25", Uniform(), [0, 1], 2)
        np.testing.assert_array_equal(x, np.broadcast_to([0.5, 0.25, 0.25], (2, 2, 3)))
        np.testing.assert_array_equal(y, np.full((2, 2, 4), 0.25))
        assert Fixed([1, 0]) == parse_learner("fixed:1/0")
        thirds = seated(Fixed((0.3333333, 0.3333333, 0.3333333)), WIDE)
        assert thirds.policy(1).sum() == pytest.approx(1, abs=1e-15)
        x, _ = play(WIDE, "switching:mixtures=0/0/1_1/0/0_0/1/0,at=3/5", Uniform(), [0], 6)
        np.testing.assert_array_equal(x[:, 0].argmax(axis=1), [2, 2, 0, 0, 1, 1])

    @pytest.mark.parametrize("spec", ["fixed:0.5/0.5", "switching:mixtures=1/0/0_0/1,at=2"])
    def test_mixtures_of_another_length_are_rejected(self, spec):
        with pytest.raises(InputError, match=r"2 probabilities; accepted: 3, one per action of the seat"):
            seated(parse_learner(spec), WIDE)
