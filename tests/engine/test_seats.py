"""Matches of any number of players, of games that are not zero-sum, and of games with only what the engine needs."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.engine import Match, simulate
from coebl.games import AnyGame, Game, Indices, Noise, TensorGame, parse_noise
from coebl.learners import LEARNERS, Learner, parse_learner
from coebl.metrics import Metric
from learner_rules import INDEXED


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


class Hidden(Majority):
    """A game of two seats in which one action is the best, hidden for each seed; each seat has its own noise."""

    draws = 2

    def dealt(self, seeds, backend):
        game = Hidden(self.seats, noise=parse_noise("gaussian:sigma=0"))
        vars(game)["best"] = backend.arrays.asarray([seed % 2 for seed in seeds])
        return game

    def rewards(self, actions, draw):
        return [(action == self.best) * (1 + seat) + draw[:, seat] for seat, action in enumerate(actions)]

    def is_target(self, seat, action):
        return action == self.best


class Alternating(Majority):
    """A game of two seats in which the first player wants to match for five rounds, then to differ, in turn."""

    def __init__(self, turn=0):
        super().__init__(("left", "right"))
        vars(self)["turn"] = turn

    def at(self, t):
        return Alternating((t - 1) // 5 % 2)

    def steady(self, t):
        return 5 - (t - 1) % 5

    def own_view(self, seat):
        payoff = np.eye(2) if self.turn == 0 else 1 - np.eye(2)
        return payoff if seat == "left" else 2 * (1 - payoff)

    @property
    def ranges(self):
        return (0.0, 1.0), (0.0, 2.0)

    def rewards(self, actions, draw):
        first, second = actions
        return self.own_view("left")[first, second] + draw, self.own_view("right")[second, first] + draw


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
    by_specs = simulate(game, "exp3", "fixed:0/1", Watching(), rounds=300, seeds=5, metrics=[], keep=["rewards"])
    np.testing.assert_array_equal(by_specs.kept["rewards"], result.kept["rewards"])
    joint, *seen = Watching.seen
    assert joint == 4
    np.testing.assert_array_equal(seen, 2 * left + middle)  # the joint action of the others
    assert list(result.to_polars().columns) == ["game", "left", "middle", "right", "seed", "round"]


def test_mistakes_with_a_game_of_the_protocol():
    with pytest.raises(InputError, match=r"noise is 'none', and that of majority cannot be replaced\. Leave it out\."):
        simulate(Majority(), "exp3", "exp3", "exp3", noise="none", seeds=2)
    result = simulate(Majority(), "exp3", "exp3", "exp3", rounds=2, seeds=2, metrics=[], keep=["counts"])
    with pytest.raises(InputError, match="majority has no table of payoffs; accepted: a Game or a TensorGame"):
        result.distance_to_correlated()

    class Broken(Majority):
        def rewards(self, actions, draw):
            return super().rewards(actions, draw)[:1]

    with pytest.raises(
        InputError, match="rewards of majority returned 1 arrays; accepted: one array for each of left, "
    ):
        simulate(Broken(), "exp3", "exp3", "exp3", rounds=2, seeds=2, metrics=[])


def test_every_seat_of_many_has_its_streams():
    match = Match(Majority(), players("fixed:0.5/0.5", "fixed:0.5/0.5", "fixed:0.5/0.5"), 200)
    first, second, third = simulate(match, 3, metrics=[], keep=["actions"]).kept["actions"]
    assert (first != third).any()
    assert (second != third).any()
    pair = Match(Majority(("left", "right")), players("fixed:0.5/0.5", "fixed:0.5/0.5"), 200)
    known = simulate(pair, 3, metrics=[], keep=["actions"]).kept["actions"]
    np.testing.assert_array_equal(known, [first, second])


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
        for of_matrix, of_pair in zip(matrix[name], pair[name], strict=True):
            np.testing.assert_array_equal(of_matrix, of_pair, err_msg=name)


def test_rewards_are_those_of_the_joint_action_and_a_full_information_learner_sees_its_row():
    """Hedge, in the second of three seats, against its formula on payoffs that are found by enumeration."""
    game = TensorGame(CUBES, noise="none")
    kept = played(game, "exp3", "hedge", "ucb")
    joint = tuple(kept["actions"])
    for payoff, rewards in zip(CUBES, kept["rewards"], strict=True):
        np.testing.assert_array_equal(rewards, payoff[joint])
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
    result = json.loads(coebl(*three, "exp3,coebl:c=2,mutation=laplace,hedge").stdout)
    assert result["players"] == ["exp3", "coebl:c=2,mutation=laplace", "hedge"]
    assert list(result["rewards"]) == ["player1", "player2", "player3"]
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


def test_metrics_of_every_seat_of_a_custom_game_that_is_not_zero_sum():
    pair, learners = Tabulated(("left", "right")), ("exp3", "uniform")
    usual = ["nash_conv", "swap_regret", "swap_regret:2"]
    assert list(simulate(pair, *learners, rounds=3, seeds=2).metrics) == usual
    measured = simulate(pair, *learners, rounds=3, seeds=2, metrics=["all"]).metrics
    assert {"external_regret", "external_regret:2", "payoff:2", *usual} <= measured.keys()


def test_a_custom_game_with_a_hidden_action_for_each_seed():
    game = Hidden(("left", "right"))
    result = simulate(game, "fixed:0/1", "uniform", rounds=50, seeds=4, keep=["actions", "rewards"])
    for seat, (actions, rewards) in enumerate(zip(result.kept["actions"], result.kept["rewards"], strict=True)):
        np.testing.assert_array_equal(rewards, (1 + seat) * (actions == result.seeds % 2))
    runs = simulate(game, "fixed:0/1", "fixed:0/1", rounds=9, seeds=4, until="optimum", metrics=[])
    assert runs.hitting_times == [None, 1, None, 1]


def test_a_custom_game_whose_payoffs_change():
    names = ["payoff", "payoff:2", "external_regret:2"]
    result = simulate(Alternating(), "fixed:1/0", "fixed:1/0", rounds=12, seeds=2, metrics=names, keep=["rewards"])
    expected = np.repeat([1.0, 0.0, 1.0], 5)[:12]
    for seat, reward in enumerate((expected, 2 * (1 - expected))):
        np.testing.assert_array_equal(result.kept["rewards"][seat][:, 0], reward)
        payoff = result.metrics[names[seat]][:, 0]
        np.testing.assert_allclose(payoff, reward.cumsum() / np.arange(1, 13))
    assert result.final("external_regret:2").tolist() == [4.0, 4.0]  # always the other action: 14 instead of 10
    with pytest.raises(InputError, match="hedge sees what each of its actions would have earned, which is not known"):
        simulate(Alternating(), "hedge", "uniform", rounds=2, seeds=1)
    with pytest.raises(InputError, match="majority has payoffs that change"):
        simulate(Alternating(), *["uniform"] * 2, rounds=2, seeds=1, keep=["counts"]).distance_to_correlated()
