"""Learners of genomes: compared with their twins, in any units and in both seats; rejected seats; equilibria."""

import time

import numpy as np
import pytest

from coebl import simulate
from coebl.core.errors import InputError
from coebl.core.specs import split_spec
from coebl.engine.table import seat_at
from coebl.games import FunctionGame, parse_game
from coebl.learners import Seen, parse_learner
from learner_rules import (
    OF_GENES,
    arguments_of,
    check_every_hyper_parameter,
    check_pseudo_code,
    check_summary_title_and_citation,
    made_twins,
    mismatch_message,
)
from oracles.genes import AsAtomsTwin, GeneBilinTwin, GeneLrTwin, HillClimberTwin, PbilTwin, UmdaTwin
from oracles.learners import Exp3Twin, ThompsonTwin

SEEDS = [0, 5, 11]
SAME = {  # specs whose hyper-parameters are those of the twin
    PbilTwin: ["pbil", "pbil:step=safe", "pbil:step=smart", "pbil:magnet=0.7"],
    GeneLrTwin: ["gene-lr", "gene-lr:memory=5,border=0.3"],
    UmdaTwin: ["umda", "umda:size=2"],
    HillClimberTwin: ["hill-climber", "hill-climber:rate=3"],
    GeneBilinTwin: ["gene-bilin", "gene-bilin:mutation=1,turnover=0.5,scale=2"],
}
TWINS = {spec: (twin, arguments_of(spec)) for twin, specs in SAME.items() for spec in specs} | {
    "as-atoms:learner=thompson": (AsAtomsTwin, {"twin": ThompsonTwin}),
    "as-atoms:learner=exp3": (AsAtomsTwin, {"twin": Exp3Twin}),
}


def test_every_learner_of_genomes_has_a_twin():
    with_twin = {split_spec(spec).name for spec in TWINS}
    without = {split_spec(spec).name for spec in OF_GENES if parse_learner(spec).improves} - with_twin
    assert not without, "write a twin in tests/oracles/genes.py, and enter it in SAME of tests/learners/test_genes.py"
    check_every_hyper_parameter(TWINS)


@pytest.mark.parametrize("spec", OF_GENES)
def test_summary_title_citation_and_pseudo_code(spec):
    check_summary_title_and_citation(spec)
    check_pseudo_code(split_spec(spec).name)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("spec", TWINS)
def test_same_trajectory(spec, number):
    rounds, n = (2000 if "smart" in spec else 150), 3
    make_twin, arguments = TWINS[spec]
    game = FunctionGame(lambda x, y: (x * [3, -2, 1] + y * [1, 2, -2] - x * y).sum(axis=-1), n, payoff_range=(-9, 10))
    learner = parse_learner(spec)
    seat = seat_at(game, number, learner, SEEDS, rounds)
    learner = learner.seated(seat)
    twins = made_twins(make_twin, arguments, seat, SEEDS, number)
    random = np.random.default_rng(3)
    for t in range(1, rounds + 1):
        policy = learner.policy(t)
        slow = np.array([twin.policy(t) for twin in twins])
        hint = mismatch_message(t, seat)
        np.testing.assert_allclose(policy, slow, atol=make_twin.tolerance, rtol=0, err_msg=hint)
        genome = (random.random(slow.shape) < slow).astype(np.int8)
        opponent = random.integers(0, 2, slow.shape, np.int8)
        pair = (genome, opponent) if number == 0 else (opponent, genome)
        reward = (-1) ** number * game.payoffs(*pair) + random.standard_normal(3)
        learner.observe(t, Seen(genome, reward, opponent if "opponent" in learner.sees else None))
        for run, twin in enumerate(twins):
            twin.observe(t, genome[run].tolist(), opponent[run].tolist(), float(reward[run]))


def test_of_equal_rewards_umda_takes_the_earlier():
    """In long generations, the order of an unstable sort would depend on the CPU."""
    n, seeds = 20, [3, 4]
    game = FunctionGame(lambda x, y: np.sign(x.sum(axis=-1) - n // 2), n, noise="none")
    learner = parse_learner("umda")
    learner = learner.seated(seat_at(game, 0, learner, seeds, 1000))
    random = np.random.default_rng(5)
    genomes = random.integers(0, 2, (learner.length, len(seeds), n), np.int8)
    rewards = game.payoffs(genomes, genomes)
    for t, (genome, reward) in enumerate(zip(genomes, rewards, strict=True), 1):
        learner.observe(t, Seen(genome, reward, None))
    for run, policy in enumerate(learner.policy(learner.length + 1)):
        order = sorted(range(learner.length), key=lambda t, run=run: -rewards[t, run])
        assert policy.tolist() == pytest.approx(genomes[order[: learner.length // 2], run].mean(axis=0).tolist())


@pytest.mark.parametrize(
    ("game", "learner", "reason"),
    [
        (
            "diagonal:n=40,space=bits",
            "ucb",
            "ucb plays numbered actions, but the game has genomes; pick another learner; with up to 10 "
            "genes, as-atoms:learner=... can seat it.",
        ),
        ("rps", "pbil", "pbil plays genomes, but the game has numbered actions; pick another learner, or a game with "),
        ("bilinear:n=11", "as-atoms:learner=ucb", "as-atoms lists 2^n genomes, and n is 11; accepted: at most 10"),
        ("bilinear:n=3", "as-atoms:learner=hedge", "as-atoms: hedge sees more than the opponent's action"),
        ("bilinear:n=3", "as-atoms:learner=fixed:1/0", "fixed: strategy is (1.0, 0.0), 2 probabilities; accepted: 8"),
        ("bilinear:n=3", "fixed-genome:10", "fixed-genome: genome has 2 bits; accepted: 3, one per gene"),
        ("bilinear:n=3", "fixed-genome:012", "fixed-genome: genome is '012'; accepted: ones, zeros, or bits such"),
        ("bilinear:n=3", "nash", "nash plays numbered actions"),
        ("bilinear:n=101", "gene-bilin", "gene-bilin keeps (n + 1)^4 numbers, and n is 101; accepted: at most 100"),
    ],
)
def test_a_learner_that_cannot_play_is_rejected_with_the_reason(game, learner, reason):
    with pytest.raises(InputError) as error:
        simulate(game, learner, "uniform", rounds=3, seeds=1, metrics=[])
    assert str(error.value).startswith(reason)


def test_the_best_response_and_a_fixed_genome():
    game = parse_game("lead:n=6,mask=false")
    result = simulate(game, "fixed-genome:110000", "best-response", rounds=5, seeds=2, metrics=["pseudo_regret"])
    assert result.column_policy.tolist() == [[1.0] * 6] * 2
    assert result.final("pseudo_regret") == pytest.approx([5 * 4 / 6] * 2)
    masked = simulate("lead:n=6", "uniform", "best-response", rounds=1, seeds=3, metrics=[])
    assert np.array_equal(masked.column_policy, 1 - parse_game("lead:n=6").dealt(range(3)).masks[1])


def test_without_noise_the_hill_climber_climbs():
    game = parse_game("lead:n=20,mask=false", noise="none")
    result = simulate(game, "hill-climber", "fixed-genome:zeros", rounds=2000, seeds=10, metrics=["pseudo_regret"])
    assert (np.diff(result.metrics["pseudo_regret"][-500:], axis=0).mean(axis=0) < -0.9).all()


def test_pbil_takes_at_most_ten_microseconds_a_run_and_round():
    def seconds(rounds):
        started = time.process_time()
        simulate("diagonal:n=100,space=bits", "pbil", "pbil", rounds=rounds, seeds=50, metrics=["exploitability"])
        return time.process_time() - started

    seconds(5)
    assert min(seconds(600) for _ in range(3)) / (600 * 50) < 10e-6  # of both players, with draws, rewards and metric


def test_players_of_unequal_speed_disengage():
    game, options = "diagonal:n=50,space=bits", {"record": "last", "metrics": ["disengaged"]}
    result = simulate(game, "pbil", "pbil:step=safe", rounds=8000, seeds=5, **options)
    assert result.final("disengaged").all()


PROBE = [  # game, learner, most rounds, seeds, and the median of a first measurement
    ("diagonal:n=5,space=bits", "pbil", 2000, 40, 328),
    ("diagonal:n=7,space=bits", "pbil", 2000, 40, 457),
    ("diagonal:n=8,space=bits", "pbil", 2000, 40, 510),
    ("diagonal:n=10,space=bits", "pbil", 3000, 40, 662),
    ("diagonal:n=20,space=bits", "pbil", 5000, 30, 1288),
    ("diagonal:n=10,space=bits", "gene-lr", 6000, 30, 1263),
    ("diagonal:n=20,space=bits", "gene-lr", 12000, 20, 2942),
    ("bigger-number:n=10,space=bits", "pbil:step=safe", 6000, 30, 1400),
    ("bigger-number:n=10,space=bits", "gene-lr", 6000, 30, 1638),
    ("bigger-number:n=20,space=bits", "pbil:step=safe", 15000, 20, 4878),
    ("bigger-number:n=20,space=bits", "gene-lr", 12000, 20, 4161),
]
SLOW_PROBE = [
    ("diagonal:n=50,space=bits", "pbil", 10000, 20, 3267),
    ("diagonal:n=100,space=bits", "pbil", 20000, 20, 6506),
    ("diagonal:n=50,space=bits", "gene-lr", 30000, 20, 8688),
    ("diagonal:n=100,space=bits", "gene-lr", 60000, 10, 21630),
    ("bigger-number:n=50,space=bits", "pbil:step=safe", 60000, 20, 29352),
    ("bigger-number:n=50,space=bits", "gene-lr", 30000, 20, 16636),
    ("bigger-number:n=100,space=bits", "gene-lr", 120000, 10, 48476),
]
STUCK = {  # seeds whose runs do not hit: one player always wins; 4 of 100 seeds, and 3 of 200 with 20 bits
    ("bigger-number:n=50,space=bits", "gene-lr"): [10],
}


@pytest.mark.parametrize(
    ("game", "learner", "rounds", "seeds", "median"),
    [*PROBE, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW_PROBE)],
)
def test_runs_reach_the_equilibrium_in_the_expected_rounds(game, learner, rounds, seeds, median):
    until = {"until": "exploitability < 0.1", "record": "last", "metrics": []}
    times = simulate(game, learner, learner, rounds=rounds, seeds=seeds, **until).final("hitting_time")
    assert np.flatnonzero(np.isnan(times)).tolist() == STUCK.get((game, learner), [])
    assert np.median(np.nan_to_num(times, nan=np.inf)) == pytest.approx(median, rel=0.25)
