"""Every metric by hand and against its slow twin, for any block size, batch and number of players."""

import dataclasses
import itertools
import math
import pickle
import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coebl import simulate
from coebl.core.errors import InputError
from coebl.games import Game, TensorGame, parse_game
from coebl.metrics import (
    METRICS,
    Block,
    Mean,
    Metric,
    Outcomes,
    RunningSum,
    Total,
    all_metrics,
    base,
    metric_class,
    parse_metrics,
)
from oracles.metrics import OF_GENOMES, OF_TENSORS, TWINS

# Not square, not symmetric, of nonzero value. The third column is dominated for the minimiser (by the second), so
# it is the 2 x 2 game [[3, 0], [1, 2]]: x* = (1/4, 3/4), y* = (1/2, 1/2, 0), V = 3/2.
WIDE = Game([[3.0, 0.0, 5.0], [1.0, 2.0, 4.0]], name="wide")
TALL = Game(np.array([[4.0, 1.0], [-2.0, 3.0], [-9.0, -7.0]]), name="tall")
ODD = Game([[0.37, -1.21, 0.05, 2.9], [-0.83, 0.61, 1.47, -2.2], [0.19, 0.07, -0.71, 0.53]], name="odd")
MANY_EQUILIBRIA = Game([[1.0, 1.0], [1.0, 1.0]], name="constant")
RANDOM = np.random.default_rng(8)
TWO = TensorGame(RANDOM.normal(300, 70, (2, 3, 2)), name="two")
THREE = TensorGame(RANDOM.uniform(-0.02, 0.05, (3, 2, 4, 3)), name="three")
FOUR = TensorGame(RANDOM.normal(1, 5000, (4, 2, 1, 3, 2)), name="four")
LOSS = TensorGame(-np.ones((2, 2, 2)), name="loss")

PARTS = ("policies", "actions", "rewards")  # of a block, per seat


def make_block(game, rounds, runs, seed, zeros=0.0):
    """Random policies, with some probabilities exactly zero, and random actions and rewards."""
    random = np.random.default_rng(seed)

    def policies(actions):
        policy = random.dirichlet(np.ones(actions), (rounds, runs))
        policy = np.where(random.random(policy.shape) < zeros, 0.0, policy)
        policy[..., 0] += policy.sum(axis=-1) == 0
        return policy / policy.sum(axis=-1, keepdims=True)

    sampled = [policies(m) for m in game.shape], [random.integers(m, size=(rounds, runs)) for m in game.shape]
    return of_rewards(game, *sampled, random.normal(size=(rounds, runs)))


def of_rewards(game, policies, actions, reward):
    """A block that begins with round 1."""
    return Block(game, 1, policies, actions, [reward, -reward, *[reward] * (len(policies) - 2)])


def part(block, rounds=slice(None), runs=slice(None)):
    """Copies of some consecutive rounds of some runs."""
    return Block(
        block.game,
        block.first_round + (rounds.start or 0),
        *([array[rounds][:, runs].copy() for array in getattr(block, name)] for name in PARTS),
    )


@pytest.fixture
def two_rounds():
    """x = (1, 0) then (1/2, 1/2); y = (0, 1, 0) then (1/2, 1/4, 1/4); actions (0, 1) then (1, 2); rewards 1 and 4."""
    return of_rewards(
        WIDE,
        [np.array([[[1.0, 0.0]], [[0.5, 0.5]]]), np.array([[[0.0, 1.0, 0.0]], [[0.5, 0.25, 0.25]]])],
        [np.array([[0], [1]]), np.array([[1], [2]])],
        np.array([[1.0], [4.0]]),
    )


BY_HAND = {
    # V - r: 1/2, then -5/2
    "regret": [0.5, -2.0],
    "absolute_regret": [0.5, 3.0],
    "regret_magnitude": [0.5, 2.0],
    # x'Ay: 0, then (2, 1, 4.5) . (1/2, 1/4, 1/4) = 2.375, so V - x'Ay is 3/2, then -0.875
    "pseudo_regret": [1.5, 0.625],
    "absolute_pseudo_regret": [1.5, 2.375],
    # x: ln 4, then (ln 2 + ln 2/3) / 2; y: ln 2, then infinite, as the third column is never played at equilibrium
    "kl": [math.log(8), math.inf],
    # x: 3/4, then 1/4; y: 1/2, then 1/4
    "tv": [1.25, 0.5],
    # Ay: (0, 2), then (2.75, 2); x'A: (3, 0, 5), then (2, 1, 4.5)
    "exploitability": [2.0, 1.75],
    # mean Ay: (1.375, 2); mean x'A: (2.5, 0.5, 4.75)
    "average_exploitability": [2.0, 1.5],
    # rows would have earned (0, 2), then (5, 6) in all; earned 0, then 4 in all
    "external_regret": [2.0, 2.0],
    # against the columns the row player would have earned (3, 0, 5), then (4, 2, 9) in all
    "column_external_regret": [0.0, 2.0],
    # as exploitability
    "nash_conv": [2.0, 1.75],
    # for row 0, row 1 would have earned 2 more; for row 1, row 0 would have earned 1 more
    "swap_regret": [2.0, 3.0],
    # x'Ay: 0, then 2.375
    "payoff": [0.0, 1.1875],
}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name, two_rounds):
    [metric] = parse_metrics([name], WIDE, runs=1)
    assert metric(two_rounds)[:, 0] == pytest.approx(BY_HAND[name], abs=1e-12)


@pytest.mark.parametrize(
    ("game", "policies", "names"),
    [
        (WIDE, (WIDE.solution.row, WIDE.solution.column), ["kl", "tv", "exploitability", "nash_conv"]),
        (parse_game("battle-of-the-sexes"), ([0.6, 0.4], [0.4, 0.6]), ["nash_conv"]),
        (parse_game("jordan"), ([0.5, 0.5],) * 3, ["nash_conv"]),
    ],
)
def test_distances_and_gains_vanish_at_the_equilibrium(game, policies, names):
    still = [np.broadcast_to(policy, (3, 2, len(policy))) for policy in policies]
    block = dataclasses.replace(make_block(game, 3, 2, seed=1), policies=still)
    for metric in parse_metrics(names, game, runs=2):
        np.testing.assert_allclose(metric(block), np.zeros((3, 2)), atol=1e-12 if game is WIDE else 1e-15)


@pytest.mark.parametrize("zeros", [0.0, 0.5])
@pytest.mark.parametrize("game", [WIDE, TALL], ids=str)
def test_metrics_lie_within_their_bounds(game, zeros):
    block = make_block(game, 40, 9, seed=3, zeros=zeros)
    for metric in parse_metrics(["all"], game, 9):
        least, largest = metric.bounds
        values = metric(block)
        assert values.min() >= least - 1e-12
        assert values.max() <= largest + 1e-12


def test_an_interval_is_cut_at_the_bounds():
    bounded = {"absolute_regret", "absolute_pseudo_regret", "regret_magnitude", "exploitability", "kl", "tv"}
    assert {name for name in METRICS.names if METRICS[name].factory.bounds[0] == 0} >= bounded
    tv, regret = (METRICS[name].factory for name in ("tv", "regret"))
    assert tv.within_bounds(-0.1, 2.3) == (0, 2)
    assert tv.within_bounds(0.1, 0.3) == (0.1, 0.3)
    assert regret.within_bounds(-7.0, 7.0) == (-7, 7)
    assert np.isnan(tv.within_bounds(np.nan, np.nan)).all()
    assert metric_class("exploitability").within_bounds(0.5, 2.3, width=2) == (0.5, 2)  # at most the payoff range


def test_kl_is_never_negative():
    # So close to the equilibrium, the sum of a ln(a / b) is only rounding error, of either sign.
    random = np.random.default_rng(1)
    row = WIDE.solution.row * (1 + 1e-9 * random.normal(size=(1, 500, 2)))
    column = np.broadcast_to(WIDE.solution.column, (1, 500, 3))
    policies = [row / row.sum(axis=-1, keepdims=True), column]
    block = dataclasses.replace(make_block(WIDE, 1, 500, seed=1), policies=policies)
    [metric] = parse_metrics(["kl"], WIDE, runs=500)
    assert (metric(block) >= 0).all()


def test_a_rounded_zero_of_the_solver_is_a_zero():
    game = Game(WIDE.payoff)
    game.solution = dataclasses.replace(WIDE.solution, column=np.array([0.5, 0.5, 1e-17]))
    [metric] = parse_metrics(["kl"], game, runs=1)
    block = make_block(game, 1, 1, seed=1)
    assert block.policies[1][0, 0, 2] > 0
    assert metric(block) == math.inf


@pytest.mark.parametrize("game", [WIDE, TALL, ODD, Game([[2.0]], name="one"), Game([[3.0, -1.0, 2.0]], name="row")])
@pytest.mark.parametrize("zeros", [0.0, 0.4])
@pytest.mark.parametrize("name", TWINS)
def test_against_the_slow_twin(name, game, zeros):
    rounds, runs = 13, 4
    block = make_block(game, rounds, runs, seed=7, zeros=zeros)
    [metric] = parse_metrics([name], game, runs)
    result = metric(block)
    assert result.shape == (rounds, runs)
    A = game.payoff.tolist()
    star = [strategy.round(12).tolist() for strategy in (game.solution.row, game.solution.column)]
    for run in range(runs):
        play = [(*policies, *actions, rewards[0]) for policies, actions, rewards in rounds_of(block, run)]
        expected = [TWINS[name](A, game.value, star, play[: t + 1]) for t in range(rounds)]
        assert result[:, run] == pytest.approx(expected, abs=1e-9)


def rounds_of(block, run):
    """Return the policies, actions and rewards of each round of a run, each a list with an entry per seat."""
    return [[[array[t, run].tolist() for array in getattr(block, name)] for name in PARTS] for t in range(block.rounds)]


@pytest.mark.parametrize("game", [TWO, THREE, FOUR], ids=lambda game: game.name)
def test_every_metric_of_any_number_of_players_against_its_twin(game):
    metrics = parse_metrics(["all"], game, 3)
    names = {metric.name.partition(":")[0] for metric in metrics}
    assert names == set(OF_TENSORS), (
        'add its twin to OF_TENSORS in tests/oracles/metrics.py, or needs = {"zero-sum"} to the metric'
    )
    seats = {metric.name for metric in metrics if metric.name.startswith("swap_regret")}
    assert seats == {"swap_regret", *(f"swap_regret:{k}" for k in range(2, 1 + len(game.seats)))}
    block, payoffs = make_block(game, 9, 3, seed=2, zeros=0.3), [payoff.tolist() for payoff in game.payoffs]
    for metric in metrics:
        values, twin = metric(block), OF_TENSORS[metric.name.partition(":")[0]]
        for run in range(3):
            play = rounds_of(block, run)
            wanted = [twin(payoffs, metric.seat or 0, play[: t + 1]) for t in range(block.rounds)]
            scale = np.ptp(game.payoffs)
            np.testing.assert_allclose(values[:, run], wanted, rtol=1e-12, atol=1e-12 * scale, err_msg=metric.name)


def test_a_matrix_and_minus_it_have_the_metrics_of_the_zero_sum_game():
    matrix = RANDOM.normal(7, 30, (4, 3))
    options = {"rounds": 60, "seeds": 3}
    zero_sum = simulate(Game(matrix), "exp3", "ucb", metrics=["all", "swap_regret:2"], **options).metrics
    names = ["external_regret", "external_regret:2", "swap_regret", "swap_regret:2", "nash_conv"]
    pair = simulate(TensorGame((matrix, -matrix)), "exp3", "ucb", metrics=names, **options).metrics
    zero_sum["external_regret:2"] = zero_sum["column_external_regret"]
    np.testing.assert_array_equal(zero_sum["nash_conv"], zero_sum["exploitability"])
    for name in names:
        np.testing.assert_allclose(pair[name], zero_sum[name], rtol=1e-12, atol=1e-10, err_msg=name)


def test_every_metric_has_a_definition_a_name_numbers_by_hand_and_a_twin():
    for metric in all_metrics():
        assert METRICS[metric.name].factory is metric
        if metric.reason_undefined(WIDE) is None:
            assert metric.name in BY_HAND, f"{metric.name}: enter its numbers in BY_HAND of tests/test_metrics.py"
            assert metric.name in TWINS, f"{metric.name}: add its twin to OF_TENSORS in tests/oracles/metrics.py"
        else:
            assert metric.name in OF_GENOMES | OF_TENSORS, f"{metric.name}: write its twin in tests/oracles/metrics.py"
        assert METRICS[metric.name].title == metric.title, f"{metric.name}: set title in its class"
        assert metric.definition, f"{metric.name}: set definition in its class, on one line"
        assert metric.meaning
        assert "\n" not in metric.definition


def test_a_description_is_inherited_and_kept_for_each_seat():
    class Stated(METRICS["payoff"].factory):
        """A docstring."""

        meaning = "What was stated."

    class Quiet(Stated):
        pass

    class Documented(Stated):
        """Another one.

        With details.
        """

    assert Stated.of_seat(2).meaning == Quiet.meaning == Quiet.of_seat(2).meaning == "What was stated."
    assert Documented.of_seat(2).meaning == Documented.meaning == "Another one."


def test_a_custom_metric_may_have_the_name_of_a_metric_of_a_condition():
    class Hit(metric_class("regret")):
        name = "hit"

    assert simulate("rps", "ucb", "ucb", rounds=5, seeds=2, metrics=[Hit]).classes == {"hit": Hit}


def test_the_docs_list_the_needs_of_metrics():
    table = (
        (Path(__file__).parents[1] / "docs/how-to/add-a-metric.md").read_text().split("| value |")[1].split("\n\n")[0]
    )
    assert re.findall(r"^ *\| `(.+?)` \|", table, re.MULTILINE) == list(get_args(base.Need))


@given(
    shape=st.tuples(st.integers(1, 9), st.integers(1, 9)) | st.sampled_from([(100, 3), (3, 100), (37, 41)]),
    rounds=st.integers(1, 40),
    runs=st.integers(1, 12),
    seed=st.integers(0, 2**32 - 1),
    data=st.data(),
)
def test_neither_the_cuts_nor_the_other_runs_move_a_bit(shape, rounds, runs, seed, data):
    game = Game(np.random.default_rng(seed).normal(size=shape))
    cuts = sorted(data.draw(st.sets(st.integers(1, rounds - 1)))) if rounds > 1 else []
    chosen = sorted(data.draw(st.sets(st.integers(0, runs - 1), min_size=1)))
    check_parts(game, make_block(game, rounds, runs, seed), [0, *cuts, rounds], chosen)


def check_parts(game, block, bounds, chosen):
    """Check that every metric has the same bits for some runs, and for rounds that are cut at these bounds."""
    whole, pieces = parse_metrics(["all"], game, block.runs), parse_metrics(["all"], game, len(chosen))
    blocks = [part(block, slice(start, end), chosen) for start, end in itertools.pairwise(bounds)]
    apart = [np.concatenate(numbers) for numbers in zip(*([m(b) for m in pieces] for b in blocks), strict=True)]
    together = [metric(block) for metric in whole]
    for metric, entire, cut in zip(whole, together, apart, strict=True):
        assert entire[:, chosen].tobytes() == cut.tobytes(), metric.name


def test_neither_cuts_nor_runs_nor_memory_move_a_bit_of_a_game_of_three(monkeypatch):
    block = make_block(THREE, 31, 5, seed=2)
    whole = {metric.name: metric(block).tobytes() for metric in parse_metrics(["all"], THREE, 5)}
    monkeypatch.setattr(base, "_MOST_JOINT", 40)  # joint policies are computed in parts
    assert {metric.name: metric(part(block)).tobytes() for metric in parse_metrics(["all"], THREE, 5)} == whole
    check_parts(THREE, block, [0, 7, 8, 31], [1, 2])


def test_the_layout_in_memory_does_not_move_a_bit():
    # With this many actions NumPy sums contiguous ones in another order than others.
    game = Game(np.random.default_rng(3).normal(size=(21, 18)))
    block = make_block(game, 20, 6, seed=3)
    turned = Block(game, 1, *([np.asfortranarray(array) for array in getattr(block, name)] for name in PARTS))
    for first, second in zip(parse_metrics(["all"], game, 6), parse_metrics(["all"], game, 6), strict=True):
        assert (first(block) == second(turned)).all(), first.name


def test_metrics_neither_change_the_block_nor_keep_each_others_state():
    block = make_block(WIDE, 5, 3, seed=1)
    before = part(block)
    first, second = (parse_metrics(["all"], WIDE, 3) for _ in range(2))
    results = [metric(block) for metric in first]
    for metric, result in zip(second, results, strict=True):
        assert (metric(block) == result).all(), metric.name
    for name in PARTS:
        for array, original in zip(getattr(block, name), getattr(before, name), strict=True):
            np.testing.assert_array_equal(array, original)


def test_products_are_computed_once_per_block(monkeypatch):
    calls = []
    einsum = np.einsum
    monkeypatch.setattr(np, "einsum", lambda how, *arrays: calls.append(how) or einsum(how, *arrays))
    for metric in parse_metrics(["all"], WIDE, 3):
        metric(make_block(WIDE, 5, 3, seed=1))
    alone = len(calls)
    calls.clear()
    block = make_block(WIDE, 5, 3, seed=1)
    for metric in parse_metrics(["all"], WIDE, 3):
        metric(block)
    assert alone > 3
    assert len(calls) == 3  # A y, -A'x and x'Ay
    assert isinstance(block.outcomes, Outcomes)
    assert block.outcomes is block.outcomes


BITS = "diagonal:n=30,space=bits"
NO_EQUILIBRIUM = (
    f"needs a unique equilibrium, but constant has more than one: {MANY_EQUILIBRIA.unique_equilibrium.reason}"
)


@pytest.mark.parametrize(
    ("game", "metric", "message"),
    [
        (MANY_EQUILIBRIA, "kl", f"kl {NO_EQUILIBRIUM}"),
        (MANY_EQUILIBRIA, "tv", f"tv {NO_EQUILIBRIUM}"),
        *(
            (game, metric, f"{metric} needs a game with {lacks}, which {game} does not have; {repair}.")
            for game, metric, lacks, repair in [
                ("chicken", "regret", "a value", "use nash_conv or swap_regret"),
                ("chicken", "kl", "an equilibrium that is known to be unique", "use nash_conv or swap_regret"),
                ("chicken", "exploitability", "one matrix of payoffs for two players", "use nash_conv or swap_regret"),
                (BITS, "kl", "an equilibrium that is known to be unique", "pick another metric"),
                (BITS, "external_regret", "a matrix of payoffs", "pick another metric"),
                (
                    BITS,
                    "average_exploitability",
                    "payoffs that are linear in the genes, so that policies have a mean",
                    "pick another metric",
                ),
                ("diagonal:n=3", "entropy", "genomes as actions", "pick another metric"),
                ("rps", "welfare", "separate payoffs for each player", "pick another metric"),
            ]
        ),
        ("chicken", "column_external_regret", "which chicken does not have; use external_regret:2."),
        ("chicken", "swap_regret:3", "swap_regret:3 is about seat 3, but chicken has 2; name another seat."),
        ("rps", "swap_regret:3", "swap_regret:3 is about seat 3, but rps has 2; name another seat."),
        ("rps", "regret:2", "metric 'regret:2' names a seat; accepted: regret, which has one number for all seats."),
        ("rps", "swap_regret:row", "metric 'swap_regret:row' names no seat; accepted: a seat number from 1, as in"),
        (
            "rps",
            "swap_regret:0",
            "metric 'swap_regret:0' names no seat; accepted: a seat number from 1, as in swap_regre",
        ),
        (LOSS, "welfare_ratio", "welfare_ratio needs an optimum above 0, but that of loss is -2; use welfare."),
        ("rps", "pseudo-regret", "unknown metric 'pseudo-regret': did you mean 'pseudo_regret'?"),
        ("rps", 3, "a metric is 3; accepted: a name, or a class that extends Metric"),
        (
            "rps",
            type("Odd", (Metric,), {"name": "odd", "better": "more"}),
            "metric Odd: better is 'more'; accepted: 'l",
        ),
        ("rps", type("Odd", (Metric,), {"name": "odd", "needs": {"payoff"}}), "metric Odd: needs has 'payoff'; acc"),
        (
            "rps",
            type("Odd", (Metric,), {"name": "odd", "needs": "payoffs"}),
            'metric Odd: needs is "payoffs", a str',
        ),
        ("rps", type("Odd", (Metric,), {"name": "regret"}), "metric Odd: its name is 'regret', that of a registered"),
        (
            "rps",
            type("Odd", (Metric,), {"name": "odd", "bounds": (1, 0)}),
            "metric Odd: bounds is (1, 0); accepted: (l",
        ),
        ("rps", type("Odd", (Metric,), {"name": "odd", "bounds": 1}), "metric Odd: bounds is 1; accepted: (least, l"),
        ("rps", type("Odd", (Metric,), {"name": "odd", "__init__": lambda *_: None}), "odd: begin its __init__ with s"),
        ("rps", type("Odd", (Metric,), {}), "metric Odd: it has no name; accepted: a class attribute such as"),
    ],
)
def test_a_metric_that_is_not_defined_is_rejected_in_one_line(game, metric, message):
    with pytest.raises(InputError) as caught:
        parse_metrics([metric], parse_game(game), 2)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_metric_for_version_0_2_may_say_that_it_has_no_seat():
    parse_metrics([type("Old", (Metric,), {"name": "old", "seat": None})], WIDE, 2)


def test_a_seat_is_named_by_its_number():
    assert metric_class("swap_regret:1") is metric_class("swap_regret")
    second = metric_class("swap_regret:2")
    assert second is metric_class("swap_regret:2")
    assert (second.name, second.title, second.seat) == ("swap_regret:2", "Swap regret, seat 2", 1)
    assert pickle.loads(pickle.dumps(second)) is second  # a result of another process has it
    result = simulate("jordan", "exp3", "ucb", "hedge", rounds=20, seeds=2, metrics=["swap_regret:1", "swap_regret:3"])
    assert list(result.metrics) == ["swap_regret", "swap_regret:3"]
    np.testing.assert_array_equal(result.final("swap_regret:1"), result.final("swap_regret"))


def test_all_is_what_the_game_allows():
    of_matrices = [metric.name for metric in parse_metrics(["all"], WIDE, 1)]
    assert set(of_matrices) == set(TWINS)
    allowed = [metric.name for metric in parse_metrics(["all"], MANY_EQUILIBRIA, 1)]
    assert allowed == [name for name in of_matrices if name not in ("kl", "tv")]


def test_names_keep_their_order_and_count_once():
    assert [metric.name for metric in parse_metrics(["tv", "regret", "tv"], WIDE, 1)] == ["tv", "regret"]
    for names in ("regret", 3, None):
        with pytest.raises(InputError, match=f"^metrics is {names!r}; accepted: a list of names"):
            parse_metrics(names, WIDE, 1)


class Visits(Metric):
    name = "visits"
    definition = "how often the row player played its first action"
    cumulative = True

    def __init__(self, game, runs):
        super().__init__(game, runs)
        self._sum = RunningSum(runs)

    def __call__(self, block):
        return self._sum(block, (block.actions[0] == 0).astype(float))


def test_a_custom_metric(tmp_path):
    block = make_block(WIDE, 6, 2, seed=5)
    expected = np.cumsum(block.actions[0] == 0, axis=0)
    [given_as_class] = parse_metrics([Visits], WIDE, 2)
    assert (given_as_class(block) == expected).all()
    file = tmp_path / "mine.py"
    file.write_text(
        "from coebl.metrics import Metric\n\n"
        "class Nothing(Metric):\n    name = 'nothing'\n    definition = '0'\n\n"
        "    def __call__(self, block):\n        return 0 * block.reward\n"
    )
    [given_as_file] = parse_metrics([f"{file}:Nothing"], WIDE, 2)
    assert (given_as_file(block) == 0).all()
    with pytest.raises(InputError, match=r"has no metric 'Nothin': did you mean 'Nothing'\? It has: Nothing\."):
        parse_metrics([f"{file}:Nothin"], WIDE, 2)


def test_a_mean_is_a_total_over_the_rounds():
    """`Mean` sets nothing that depends on its terms, so that class attributes are those that the class defines."""

    def terms(self, block):
        return block.actions[0] == 0

    means, sums = (type("Zeros", (base_class,), {"name": "zeros", "terms": terms}) for base_class in (Mean, Total))
    assert (means.cumulative, means.better, means.in_payoffs) == (False, "lower", False)
    block = make_block(WIDE, 7, 2, seed=5)
    expected = sums(WIDE, 2)(block) / np.arange(1.0, 8.0)[:, None]
    mean = means(WIDE, 2)
    cut = [mean(part(block, slice(start, end))) for start, end in ((0, 3), (3, 7))]
    np.testing.assert_array_equal(np.concatenate(cut), expected)


@pytest.mark.parametrize("kind", [bool, np.int8, np.int64])
def test_sums_of_integers_are_floats_as_kernels_need_them(kind):
    block = make_block(WIDE, 300, 2, seed=5)
    sums = RunningSum(2)(block, np.ones((300, 2), kind))
    assert sums.dtype == np.float64
    assert (sums[:, 0] == np.arange(1, 301)).all()


def test_blocks_out_of_order_or_of_another_batch_are_rejected():
    block = make_block(WIDE, 6, 2, seed=5)
    [metric] = parse_metrics(["regret"], WIDE, 2)
    with pytest.raises(InputError, match="begins with round 4; accepted: round 1"):
        metric(part(block, slice(3, 6)))
    metric(part(block, slice(0, 3)))
    with pytest.raises(InputError, match="begins with round 1; accepted: round 4"):
        metric(part(block, slice(0, 3)))
    with pytest.raises(InputError, match="1 runs; accepted: 2"):
        metric(part(block, slice(3, 6), [0]))


def test_terms_of_another_shape_are_rejected():
    metric = type("Odd", (Total,), {"name": "odd", "terms": lambda self, block: block.reward.sum(axis=0)})
    shapes = r"\(2,\); accepted: an array of shape \(rounds, runs\) = \(3, 2\)"
    with pytest.raises(InputError, match=rf"^odd: terms has shape {shapes}\.$"):
        simulate("rps", "ucb", "exp3", rounds=3, seeds=2, metrics=[metric])
