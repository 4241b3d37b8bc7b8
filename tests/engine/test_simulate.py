"""Simulations: the dependence of a run on its arguments, and the record."""

import itertools
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coebl.backend import streams
from coebl.core.errors import InputError, UserCodeError
from coebl.engine import Match, PolicyError, simulate
from coebl.engine.simulate import DEFAULT_METRICS, count_recorded, recorded_rounds
from coebl.games import Game, TensorGame, parse_game
from coebl.games.genomes import FunctionGame
from coebl.learners import Learner, Ucb
from coebl.metrics import Metric
from coebl.study import Results, parse_study, run

GAME = Game([[0.5, -1.0, 0.2, 0.0], [-0.3, 0.8, 0.1, -0.6], [0.9, -0.2, -0.7, 0.4]], name="3 x 4")
PAIRS = [("ucb", "coebl:c=0.5"), ("exp3", "exp3-ix"), ("coebl", "ucb:ties=random"), ("uniform", "best-response")]
THREE = TensorGame(np.random.default_rng(4).uniform(-3, 5, (3, 2, 3, 4)))


def bits(result, runs=slice(None)):
    """Return the numbers of some runs of a result, as bytes."""
    metrics = [values[:, runs].tobytes() for values in result.metrics.values()]
    return metrics + [policies[runs].tobytes() for policies in result.policies]


@settings(max_examples=12)
@given(
    st.sampled_from([*PAIRS, ("ucb", "exp3", "hedge")]),
    st.lists(st.integers(0, 50), unique=True, max_size=6),
    st.integers(1, 70),
    st.sampled_from(["gaussian", "student-t", "bernoulli"]),
)
def test_a_seed_is_the_same_in_any_batch_and_any_blocks(players, others, block_rounds, noise):
    match = Match.of(GAME if len(players) == 2 else THREE, *players, rounds=60, noise=noise)
    seeds = [seed for seed in others if seed != 7]
    seeds.insert(len(seeds) // 2, 7)
    alone = simulate(match, [7], metrics=["all"])
    batch = simulate(match, seeds, metrics=["all"], block_rounds=block_rounds)
    assert bits(alone) == bits(batch, [seeds.index(7)])


class Noise(Metric):
    name = "noise"
    definition = "the reward minus the payoff"

    def __call__(self, block):
        return block.reward - block.game.payoff[tuple(block.actions)]


def test_nature_is_the_same_for_all_learners():
    noises = [simulate(Match.of(GAME, *pair, rounds=50), 3, metrics=[Noise]).metrics["noise"] for pair in PAIRS]
    for noise in noises[1:]:
        np.testing.assert_allclose(noise, noises[0], atol=1e-14)  # r - A is rounded


@dataclass
class Draws(Learner):
    """A learner that stores the numbers that it draws."""

    name = "draws"

    def start(self, seat):
        self.shape = seat.runs, seat.actions
        KEPT.clear()

    def policy(self, t):
        KEPT.append(self.seat.random.normal(3).copy())
        return np.full(self.shape, 1 / self.shape[1])


KEPT = []


def test_the_row_learner_leaves_the_columns_private_stream_alone():
    kept = []
    for row in ("uniform", "coebl", "exp3"):
        simulate(Match.of(GAME, row, Draws(), rounds=20), 4, metrics=["regret"])
        kept.append(np.array(KEPT))
    np.testing.assert_array_equal(kept[0], kept[1])
    np.testing.assert_array_equal(kept[0], kept[2])
    simulate(Match.of(GAME, Draws(), "uniform", rounds=20), 4, metrics=["regret"])
    assert (np.array(KEPT) != kept[0]).all()  # the other seat has other streams


def test_actions_follow_the_policies_and_rewards_the_payoffs():
    # 40,000 draws: each frequency within 4 standard errors of its probability
    match = Match.of(GAME.with_noise("none"), "fixed:0.5/0.2/0.3", "fixed:0.1/0.2/0.3/0.4", rounds=400)
    result = simulate(match, 100, metrics=["regret", "pseudo_regret"], keep=["counts"])
    counts = result.kept["counts"]
    expected = np.outer([0.5, 0.2, 0.3], [0.1, 0.2, 0.3, 0.4])
    frequency = counts.sum(axis=0) / 40_000
    assert (np.abs(frequency - expected) < 4 * np.sqrt(expected * (1 - expected) / 40_000)).all()
    earned = (counts * GAME.payoff).sum(axis=(1, 2))
    np.testing.assert_allclose(result.final("regret"), 400 * GAME.value - earned)
    np.testing.assert_allclose(result.final("pseudo_regret"), 400 * (GAME.value - (expected * GAME.payoff).sum()))


def test_an_action_of_probability_zero_is_never_played():
    match = Match.of(GAME, "fixed:0/1/0", "fixed:0/0.5/0.5/0", rounds=500)
    counts = simulate(match, 20, metrics=["regret"], keep=["counts"]).kept["counts"]
    assert counts[:, [0, 2]].sum() == 0
    assert counts[:, :, [0, 3]].sum() == 0


@pytest.mark.parametrize(
    ("record", "rounds"),
    [
        ("all", list(range(1, 13))),
        ("last", [12]),
        (5, [5, 10, 12]),
        (np.int64(5), [5, 10, 12]),
        (12, [12]),
        (100, [12]),
    ],
)
def test_recorded_rounds(record, rounds):
    match = Match.of(GAME, "exp3", "uniform", rounds=12)
    result = simulate(match, 2, record=record, block_rounds=5)
    assert result.rounds.tolist() == rounds
    everything = simulate(match, 2)
    np.testing.assert_array_equal(result.metrics["regret"], everything.metrics["regret"][np.array(rounds) - 1])


@pytest.mark.parametrize("record", ["all", "last", "log", 1, 7, 10, 2000])
@pytest.mark.parametrize("rounds", [1, 2, 70, 99, 1000])
def test_recorded_rounds_are_counted_without_being_listed(record, rounds):
    assert count_recorded(record, rounds) == len(recorded_rounds(record, rounds))


def test_logarithmic_recording_keeps_fewer_and_fewer_rounds():
    rounds = simulate(Match.of(GAME, "uniform", "uniform", rounds=5000), 1, record="log").rounds
    assert (rounds[0], rounds[-1]) == (1, 5000)
    assert 60 < len(rounds) <= 100
    late = rounds[rounds > 100]
    steps = np.diff(np.log(late))
    np.testing.assert_allclose(steps, np.log(5000) / 99, rtol=0.12)  # even in the logarithm, up to rounding


def test_default_metrics_are_those_that_a_game_allows():
    game = FunctionGame(lambda x, y: x[..., 0] * y[..., 0], 12)  # too many genes for an exact value
    assert list(simulate(game, "umda", "umda", rounds=3, seeds=2).metrics) == ["entropy"]


def test_results_as_tables():
    result = simulate(Match.of(GAME, "exp3", "uniform", rounds=6), [5, 2], record=3)
    frame = result.to_pandas()
    assert list(frame.columns) == ["game", "row", "column", "seed", "round", *DEFAULT_METRICS]
    assert set(frame["row"]) == {"exp3"}
    assert frame["seed"].tolist() == [5, 5, 2, 2]
    assert frame["round"].tolist() == [3, 6, 3, 6]
    assert frame["regret"].tolist() == result.metrics["regret"].T.ravel().tolist()
    assert result.to_polars().to_dict(as_series=False) == frame.to_dict(orient="list")
    assert set(result.seconds) == {"row learner", "column learner", "actions and rewards", "metrics"}
    assert all(seconds > 0 for seconds in result.seconds.values())


@dataclass
class Bad(Learner):
    """A learner that returns a bad policy in round 5, in the run of seed 11."""

    name = "bad"
    fault: str = "nan"

    def policy(self, t):
        policy = np.full((self.seat.runs, self.seat.actions), 1 / self.seat.actions)
        if t == 5:
            if self.fault == "shape":
                return policy[:, :-1]
            policy[1, 0] = {"nan": np.nan, "negative": -0.1, "sum": 0.9}[self.fault]
            if self.fault == "negative":
                policy[1, 1] += 1 / self.seat.actions + 0.1
        return policy


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("nan", r"bad in the row seat, round 5, seed 11: its policy has NaN"),
        ("negative", r"in the row seat, round 5, seed 11: its policy has the negative probability -0\.1"),
        ("sum", r"bad:fault=sum in the row seat, round 5, seed 11: its policy sums to"),
        ("shape", r"bad:fault=shape in the row seat returned a policy of shape \(3, 2\) in round 5"),
    ],
)
def test_a_bad_policy_stops_the_run_and_the_learner_stays_as_it_was(fault, message):
    learner = Bad(fault)
    with pytest.raises(PolicyError, match=message):
        simulate(Match.of(GAME, learner, "exp3", rounds=30), [4, 11, 6])
    assert not hasattr(learner, "seat")


@dataclass
class Breaks(Learner):
    """A learner with a bug that shows in round 3."""

    name = "breaks"

    def policy(self, t):
        return self.seat.full(1 / self.seat.actions, self.seat.actions)

    def observe(self, t, seen):
        if t == 3:
            [].pop()  # the bug


def test_a_bug_in_a_custom_learner_is_one_line_with_its_place():
    with pytest.raises(UserCodeError) as caught:
        simulate(Match.of(GAME, "uniform", Breaks(), rounds=5), 2)
    lines = Path(__file__).read_text().splitlines()
    line = 1 + next(index for index, text in enumerate(lines) if "# the bug" in text)
    assert str(caught.value) == (
        f"{__file__}, line {line}: IndexError: pop from empty list (breaks in the column seat, round 3)"
    )
    assert isinstance(caught.value.__cause__, IndexError)


LARGE = np.zeros((4000, 4000))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *(({"seeds": seeds}, r"seeds is .*; accepted") for seeds in (0, [], [1, 1], [-1], None)),
        *(({"seeds": s}, "at most 1,000,000 at a time") for s in (10**12, range(10**12), itertools.count())),
        ({"record": "often"}, "record is 'often'; accepted"),
        ({"keep": "actions"}, "keep is 'actions'; accepted: a list out of actions, rewards, policies, counts"),
        ({"keep": ["moves"]}, r"keep is \['moves'\]; accepted"),
        ({"keep": ["beliefs"]}, "keep has beliefs, and neither exp3 nor uniform has any"),
        ({"game": "diagonal:n=5,space=bits", "keep": ["beliefs"]}, "keep has beliefs, and .* has genomes, too many"),
        # 10^8 x 1000 x 8 bytes, twice
        ({"rounds": 10**8, "seeds": 1000, "metrics": ["regret"]}, r'^this would keep 1490\.1 GiB, .* \(record="log"\)'),
        ({"rounds": 10**8, "seeds": 1000, "record": "last", "keep": ["policies"]}, "GiB, and the machine has"),
        # 10^5 x 4000 x 4000 x 8 bytes, twice
        (
            {"game": LARGE, "seeds": 10**5, "metrics": [], "record": "last", "keep": ["counts"]},
            "GiB, and the machine has",
        ),
    ],
)
def test_mistakes_are_rejected_at_once(arguments, message):
    game, options = arguments.get("game", GAME), {name: value for name, value in arguments.items() if name != "game"}
    with pytest.raises(InputError, match=message):
        simulate(game, "exp3", "uniform", **{"rounds": 3, "seeds": 2, **options})


def test_a_match_may_be_given_by_specs():
    match = Match.of(GAME, "ucb", "exp3", rounds=30, noise="laplace")
    assert bits(simulate(GAME, "ucb", "exp3", rounds=30, noise="laplace", seeds=3)) == bits(simulate(match, 3))
    assert bits(simulate(match, seeds=3)) == bits(simulate(match, range(3)))
    assert simulate("rps", "uniform", "uniform", seeds=1, record="last").match.rounds == 3000
    for wrong in (
        lambda: simulate(match),
        lambda: simulate(match, 3, seeds=4),
        lambda: simulate(match, 3, rounds=50),
        lambda: simulate("rps", "ucb", "exp3"),
    ):
        with pytest.raises(InputError):
            wrong()


def test_trajectories_are_kept_on_request():
    match = Match.of(GAME, "ucb", "best-response", rounds=30, noise="none")
    result = simulate(match, 4, keep=("actions", "rewards", "policies", "counts"), record="last", block_rounds=7)
    (a, b), (reward, negated), (x, y) = (result.kept[name] for name in ("actions", "rewards", "policies"))
    assert (a.shape, b.shape, x.shape, y.shape) == ((30, 4), (30, 4), (30, 4, 3), (30, 4, 4))
    np.testing.assert_array_equal(reward, GAME.payoff[a, b])
    np.testing.assert_array_equal(negated, -reward)
    np.testing.assert_array_equal(x[-1], result.row_policy)
    np.testing.assert_array_equal(y[-1], result.column_policy)
    counts = np.zeros((4, 3, 4), int)
    np.add.at(counts, (np.arange(4), a, b), 1)
    np.testing.assert_array_equal(counts, result.kept["counts"])
    assert simulate(match, 2).kept == {}


@pytest.mark.slow
def test_memory_is_bounded():
    """128 actions, 50 runs, 3000 rounds: under 1 GiB, in a new process, whose peak is not that of earlier tests."""
    script = """
import resource
from coebl import Match, simulate
simulate(Match.of("diagonal:7", "exp3", "exp3-ix", rounds=3000), 50, record=100, metrics=["all"])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    peak = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert int(peak) < 2**20  # in KiB


def test_numbers_fetched_ahead_are_few_for_many_runs_and_the_same(monkeypatch):
    """The size of the blocks is bounded by memory: all runs share it."""
    sizes = []

    def fill(random, out):
        sizes.append(out.size)
        random.random(out=out)

    def first(count, runs):
        generators = [streams.generator(seed, streams.NATURE, "noise") for seed in range(runs)]
        stream = streams.Stream(generators, fill, ahead=64)
        return np.concatenate([stream.take(1 + k % 3) for k in range(count)], axis=1)[0]

    alone = first(20, 1)
    assert set(sizes) == {64}
    sizes.clear()
    monkeypatch.setattr(streams, "_MOST", 1000)
    assert first(20, 100).tolist() == alone.tolist()
    assert set(sizes) == {10}


def test_progress_is_reported_every_few_seconds_however_long_a_round_takes(monkeypatch):
    """A block has as many rounds as fit into memory, but no more than take about a second."""
    reported = []
    monkeypatch.setattr(Ucb, "cost", lambda self, m, n: 60_000.0)  # microseconds: 0.24 s a round of four runs
    first = simulate("rps", "ucb", "exp3", rounds=10, seeds=4, progress=reported.append)
    assert reported == [4, 8, 10]
    monkeypatch.setattr(Ucb, "cost", lambda self, m, n: 1 / 0)
    again = simulate("rps", "ucb", "exp3", rounds=10, seeds=4, progress=reported.append)
    assert reported[3:] == [10]  # an error in cost does not stop a run
    np.testing.assert_array_equal(first.metrics["regret"], again.metrics["regret"])


def test_the_frames_have_the_columns_of_a_study(tmp_path):
    """`Result.last` and `Result.curves` are equal to those of a study of the same match."""
    study = parse_study(
        'name = "demo"\nseeds = 3\nrounds = 20\nrecord = 10\nmetrics = ["regret", "tv"]\n'
        'games = ["rps"]\nlearners = ["ucb", "exp3"]\nmatch-ups.pairs = [["ucb", "exp3"]]\n'
    )
    run(study, tmp_path, workers=1, quiet=True)
    results = Results(tmp_path)
    result = simulate("rps", "ucb", "exp3", rounds=20, seeds=3, record=10, metrics=["regret", "tv"])
    assert result.last().equals(results.last())
    assert result.curves().equals(results.curves())


class TestBeliefs:
    def test_they_are_the_means_of_the_rewards_so_far(self):
        game = Game([[30.0, -10.0, 5.0], [0.0, 20.0, 10.0]], payoff_range=(-40.0, 60.0)).with_noise("gaussian:sigma=3")
        result = simulate(game, "ucb", "exp3", rounds=50, seeds=2, record=20, keep=["beliefs", "actions", "rewards"])
        row, column = result.kept["beliefs"]
        assert column is None  # Exp3 has none
        assert row["mean"].shape == row["count"].shape == (3, 2, 2, 3)
        (actions, others), rewards = result.kept["actions"], result.kept["rewards"][0]
        for place, last in enumerate(result.rounds):
            for seed in range(2):
                for pair in np.ndindex(2, 3):
                    hit = (actions[:last, seed] == pair[0]) & (others[:last, seed] == pair[1])
                    assert row["count"][(place, seed, *pair)] == hit.sum()
                    mean = rewards[:last, seed][hit].mean() if hit.any() else 10.0  # the middle of the range
                    assert row["mean"][(place, seed, *pair)] == pytest.approx(mean)

    @pytest.mark.parametrize("learner", ["coebl:c=2", "kin", "thompson", "k-learning", "ots-rm", "maximin-ucb"])
    def test_runs_stay_the_same_and_come_near_the_payoffs(self, learner):
        plain = simulate("rps", learner, "uniform", rounds=400, seeds=3, record="log", block_rounds=7)
        result = simulate("rps", learner, "uniform", rounds=400, seeds=3, record="log", keep=["beliefs"])
        assert np.array_equal(plain.metrics["regret"], result.metrics["regret"])
        belief = result.kept["beliefs"][0]
        seen = belief["count"][-1] > 30
        assert seen.any()
        assert np.abs(belief["mean"][-1] - parse_game("rps").payoff)[seen].max() < 5 / np.sqrt(30)
