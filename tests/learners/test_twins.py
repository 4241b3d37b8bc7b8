"""Every learner plays as its slow twin does, round by round, on games that are not square."""

import numpy as np
import pytest

from bare_seats import build_seat
from coebl.core.specs import split_spec
from coebl.learners import LEARNERS, Seen, _template, parse_learner
from learner_rules import INDEXED, arguments_of, check_every_hyper_parameter, made_twins, mismatch_message
from oracles.evolution import CoeblTwin, KinTwin, StrainTwin
from oracles.learners import (
    BlumMansourTwin,
    EpsilonGreedyTwin,
    Exp3IxNeuTwin,
    Exp3IxTwin,
    Exp3Twin,
    ExploreThenCommitTwin,
    FictitiousPlayTwin,
    GpMwTwin,
    HartMasColellTwin,
    HedgeTwin,
    KLearningTwin,
    MaximinUcbTwin,
    MmdTwin,
    OtsHedgeTwin,
    OtsRmTwin,
    RegretMatchingTwin,
    ThompsonTwin,
    TsallisInfTwin,
    UcbTwin,
)

WIDE = np.array([[0.9, -0.4, 0.3, -0.8], [-0.5, 0.7, -0.9, 0.2], [0.1, -0.2, 0.6, -0.3]])
PAYOFFS = {"wide": WIDE, "tall": np.ascontiguousarray(-WIDE.T)}
SEEDS = [0, 5, 11]
ROUNDS = 80
TEMPLATE = f"{_template.__file__}:EpsilonGreedy"
SAME = {  # specs whose hyper-parameters are those of the twin
    UcbTwin: ["ucb", "ucb:ties=random", "ucb:forgetting=0.9"],
    CoeblTwin: ["coebl", "coebl:c=2", "coebl:c=2,mutation=gaussian-prose", "coebl:c=2,forgetting=0.9"],
    KinTwin: [
        "kin",
        "kin:c=1,mutation=2,turnover=0.5,own=0.2,noise=0.5",
        "kin:noise=0.5,optimism=proven",
        "kin:own=1",
        "kin:forgetting=0.9",
    ],
    StrainTwin: [
        "strain",
        "strain:kinship=0",
        "strain:trial=3,neglect=0,kinship=0",  # as first described
        "strain:mutation=0.1",
        "strain:c=1,memory=0.8,elite=0.9,turnover=0.5,rate=3,trial=9,hope=0.1,neglect=2",
        "strain:forgetting=0.9",
    ],
    Exp3Twin: ["exp3", "exp3:rewards=raw"],
    Exp3IxTwin: ["exp3-ix"],
    Exp3IxNeuTwin: ["exp3-ix-neu"],
    TsallisInfTwin: ["tsallis-inf", "tsallis-inf:rate=2"],
    MmdTwin: ["mmd", "mmd:rate=0.1,temperature=2"],
    HedgeTwin: ["hedge"],
    RegretMatchingTwin: ["regret-matching"],
    ThompsonTwin: ["thompson", "thompson:forgetting=0.9"],
    KLearningTwin: ["k-learning", "k-learning:forgetting=0.9"],
    OtsHedgeTwin: ["ots-hedge", "ots-hedge:draws=3", "ots-hedge:forgetting=0.9"],
    OtsRmTwin: ["ots-rm", "ots-rm:draws=3,forgetting=0.9"],
    GpMwTwin: [
        "gp-mw",
        "gp-mw:beta=0.5,kernel=rbf",
        "gp-mw:forgetting=0.9",
        "gp-mw:kernel=rbf,forgetting=0.9",
    ],
    MaximinUcbTwin: ["maximin-ucb", "maximin-ucb:forgetting=0.9"],
    FictitiousPlayTwin: [
        "fictitious-play",
        "fictitious-play:c=0",
        "fictitious-play:forgetting=0.9",
        "fictitious-play:c=0,forgetting=0.9",
    ],
    ExploreThenCommitTwin: ["explore-then-commit", "explore-then-commit:visits=1"],
    HartMasColellTwin: ["hart-mas-colell", "hart-mas-colell:inertia=0.02,explore=0.6,decay=0.4"],
    EpsilonGreedyTwin: [TEMPLATE, f"{TEMPLATE}:explore=1"],
}
OTHERS = {  # spec: its twin, and the twin's hyper-parameters
    "exp3-as-released": (Exp3Twin, {"released": True}),
    "exp3-ix-as-released": (Exp3IxTwin, {"released": True}),
    "regret-matching-plus": (RegretMatchingTwin, {"plus": True}),
    "coebl:c=2,selection=none": (CoeblTwin, {"c": 2.0, "elitist": False}),
    "coebl:c=0.5,selection=elitist:judge=means,recombination=row:own=0.3": (
        CoeblTwin,
        {"c": 0.5, "by_means": True, "shares": (0.3, 0.7, 0.0)},
    ),
    "coebl:c=0.5,selection=comma,recombination=both,population=pool:mutants=2+turnover=0.3": (
        CoeblTwin,
        {"c": 0.5, "mutants": 2, "elitist": False, "by_means": True, "turnover": 0.3, "shares": (0.5, 0.25, 0.25)},
    ),
    "coebl:c=0.5,recombination=column,population=hosts:size=2+parasites=2": (
        CoeblTwin,
        {"c": 0.5, "size": 2, "shares": (0.5, 0.0, 0.5), "parasites": 2},
    ),
    "coebl:recombination=row,forgetting=0.9": (CoeblTwin, {"shares": (0.5, 0.5, 0.0), "forgetting": 0.9}),
    "blum-mansour:learner=exp3": (BlumMansourTwin, {"twin": Exp3Twin, "probability": "P"}),
    "blum-mansour:learner=tsallis-inf:rate=2": (
        BlumMansourTwin,
        {"twin": TsallisInfTwin, "probability": "p", "rate": 2.0},
    ),
}
TWINS = {spec: (twin, arguments_of(spec)) for twin, specs in SAME.items() for spec in specs} | OTHERS


def test_every_learner_has_a_twin():
    with_twin = {split_spec(spec).name for spec in TWINS}
    without = [name for name in INDEXED if LEARNERS[name].factory.improves and name not in with_twin]
    assert not without, (
        f"{', '.join(without)}: no twin; write one in tests/oracles/learners.py, as EpsilonGreedyTwin is, and add it "
        "to SAME of tests/learners/test_twins.py: see CONTRIBUTING.md"
    )


def test_every_hyper_parameter_has_a_twin_with_another_value():
    check_every_hyper_parameter(TWINS)


@pytest.mark.parametrize("game", PAYOFFS)
@pytest.mark.parametrize("spec", TWINS, ids=lambda spec: spec.rpartition("/")[2])
def test_same_trajectory(spec, game):
    check_trajectory(spec, game, ROUNDS)


# Without a horizon kappa is counted in every round until round 200; with 250 rounds, in every other; and more rounds
# may be played than were announced.
@pytest.mark.parametrize(
    ("spec", "horizon", "rounds"), [("kin", None, 205), ("kin", 250, 30), ("kin", 10, 20), ("exp3-ix-neu", None, 30)]
)
def test_same_trajectory_with_any_horizon_and_none(spec, horizon, rounds):
    check_trajectory(spec, "wide", horizon, rounds)


@pytest.mark.parametrize(("spec", "hint"), [("thompson", True), ("ucb", False)])
def test_only_a_learner_that_draws_is_suspected_of_other_draws(spec, hint):
    seat = build_seat(parse_learner(spec), SEEDS, (2, 3), 9, (-1, 1))
    parse_learner(spec).seated(seat).policy(1)
    assert ("draw the same numbers" in mismatch_message(1, seat)) == hint


def check_trajectory(spec, game, horizon, rounds=ROUNDS):
    payoff = PAYOFFS[game]
    m, k = payoff.shape
    payoff_range = (-0.9, 1.1)  # neither tight nor symmetric, so that a mix-up of its ends shows
    make_twin, arguments = TWINS[spec]
    learner = parse_learner(spec)
    assert ("opponent" in learner.sees) == make_twin.informed
    learner = learner.seated(build_seat(learner, SEEDS, (m, k), horizon, payoff_range, payoff=payoff))
    twins = made_twins(make_twin, arguments, learner.seat, SEEDS)
    random = np.random.default_rng(3)
    for t in range(1, rounds + 1):
        policy = learner.policy(t)
        slow = np.array([twin.policy(t) for twin in twins])
        hint = mismatch_message(t, learner.seat)
        np.testing.assert_allclose(policy, slow, atol=make_twin.tolerance, rtol=0, err_msg=hint)
        # Any actions will do, so most are drawn from the twin's policy and some at will: every pair gets its visits.
        # A learner that divides by the probability of its action never sees one of probability 0.
        at_will = [np.flatnonzero(x > 1e-9) if learner.importance_weighted else np.arange(m) for x in slow]
        action = np.array(
            [
                random.choice(m, p=x / x.sum()) if random.random() < 0.8 else random.choice(actions)
                for x, actions in zip(slow, at_will, strict=True)
            ]
        )
        opponent = random.integers(k, size=len(SEEDS))
        reward = payoff[action, opponent] + random.standard_normal(len(SEEDS))
        shown = opponent if "opponent" in learner.sees else None
        payoffs = payoff.T[opponent] if "payoffs" in learner.sees else None
        learner.observe(t, Seen(action, reward, shown, payoffs, np.array(policy)[np.arange(len(SEEDS)), action]))
        for run, twin in enumerate(twins):
            extra = () if payoffs is None else (payoffs[run].tolist(),)
            twin.observe(t, int(action[run]), None if shown is None else int(opponent[run]), float(reward[run]), *extra)
