"""Every learner plays as its slow twin does, round by round, on games that are not square."""

import numpy as np
import pytest

from coebl.backend.streams import BatchRandom, learner_key
from coebl.core.specs import split_spec
from coebl.engine.table import build_seat
from coebl.learners import LEARNERS, Seen, _template, parse_learner
from learner_rules import INDEXED, check_every_hyper_parameter
from oracles.evolution import ComposedTwin, KinTwin, StrainTwin
from oracles.learners import (
    BlumMansourTwin,
    CoeblTwin,
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
TWINS = {  # spec: its twin, the twin's hyper-parameters, and how far their policies may differ
    "ucb": (UcbTwin, {}, 1e-7),
    "ucb:ties=random": (UcbTwin, {"ties": "random"}, 1e-7),
    "coebl": (CoeblTwin, {}, 1e-7),
    "coebl:c=2": (CoeblTwin, {"c": 2.0}, 1e-7),
    "coebl:c=2,mutation=gaussian-prose": (CoeblTwin, {"c": 2.0, "mutation": "gaussian-prose"}, 1e-7),
    "coebl:c=2,selection=none": (CoeblTwin, {"c": 2.0, "selection": "none"}, 1e-7),
    "coebl:c=0.5,selection=elitist:judge=means,recombination=row:own=0.3": (
        ComposedTwin,
        {"c": 0.5, "by_means": True, "shares": (0.3, 0.7, 0.0)},
        1e-7,
    ),
    "coebl:c=0.5,selection=comma,recombination=both,population=pool:mutants=2+turnover=0.3": (
        ComposedTwin,
        {"c": 0.5, "mutants": 2, "elitist": False, "by_means": True, "turnover": 0.3, "shares": (0.5, 0.25, 0.25)},
        1e-7,
    ),
    "coebl:c=0.5,recombination=column,population=hosts:size=2+parasites=2": (
        ComposedTwin,
        {"c": 0.5, "size": 2, "shares": (0.5, 0.0, 0.5), "parasites": 2},
        1e-7,
    ),
    "kin": (KinTwin, {}, 1e-7),
    "kin:c=1,mutation=2,turnover=0.5,own=0.2,noise=0.5": (
        KinTwin,
        {"c": 1.0, "mutation": 2.0, "turnover": 0.5, "own": 0.2, "noise": 0.5},
        1e-7,
    ),
    "kin:noise=0.5,optimism=proven": (KinTwin, {"noise": 0.5, "proven": True}, 1e-7),
    "kin:own=1": (KinTwin, {"own": 1.0}, 1e-7),
    "strain": (StrainTwin, {}, 1e-7),
    "strain:kinship=0": (StrainTwin, {"kinship": 0.0}, 1e-7),
    "strain:trial=3,neglect=0,kinship=0": (  # as first described
        StrainTwin,
        {"trial": 3.0, "neglect": 0.0, "kinship": 0.0},
        1e-7,
    ),
    "strain:mutation=0.1": (StrainTwin, {"mutation": 0.1}, 1e-7),
    "strain:c=1,memory=0.8,elite=0.9,turnover=0.5,rate=3,trial=9,hope=0.1,neglect=2": (
        StrainTwin,
        {
            "c": 1.0,
            "memory": 0.8,
            "elite": 0.9,
            "turnover": 0.5,
            "rate": 3.0,
            "trial": 9.0,
            "hope": 0.1,
            "neglect": 2.0,
        },
        1e-7,
    ),
    "exp3": (Exp3Twin, {}, 1e-9),
    "exp3:rewards=raw": (Exp3Twin, {"rewards": "raw"}, 1e-9),
    "exp3-as-released": (Exp3Twin, {"released": True}, 1e-9),
    "exp3-ix": (Exp3IxTwin, {}, 1e-9),
    "exp3-ix-as-released": (Exp3IxTwin, {"released": True}, 1e-9),
    "thompson": (ThompsonTwin, {}, 1e-7),
    "tsallis-inf": (TsallisInfTwin, {}, 1e-9),
    "tsallis-inf:rate=2": (TsallisInfTwin, {"rate": 2.0}, 1e-9),
    "hedge": (HedgeTwin, {}, 1e-9),
    "regret-matching": (RegretMatchingTwin, {}, 1e-9),
    "regret-matching-plus": (RegretMatchingTwin, {"plus": True}, 1e-9),
    "exp3-ix-neu": (Exp3IxNeuTwin, {}, 1e-9),
    "maximin-ucb": (MaximinUcbTwin, {}, 0),
    "mmd": (MmdTwin, {}, 1e-9),
    "mmd:rate=0.1,temperature=2": (MmdTwin, {"rate": 0.1, "temperature": 2.0}, 1e-9),
    "explore-then-commit": (ExploreThenCommitTwin, {}, 1e-7),
    "explore-then-commit:visits=1": (ExploreThenCommitTwin, {"visits": 1}, 1e-7),
    "ots-hedge": (OtsHedgeTwin, {}, 1e-9),
    "ots-hedge:draws=3": (OtsHedgeTwin, {"draws": 3}, 1e-9),
    "ots-rm": (OtsRmTwin, {}, 1e-9),
    "gp-mw": (GpMwTwin, {}, 1e-9),
    "gp-mw:beta=0.5,kernel=rbf": (GpMwTwin, {"beta": 0.5, "kernel": "rbf"}, 1e-9),
    "blum-mansour:learner=exp3": (BlumMansourTwin, {"twin": Exp3Twin, "probability": "P"}, 1e-9),
    "blum-mansour:learner=tsallis-inf:rate=2": (
        BlumMansourTwin,
        {"twin": TsallisInfTwin, "probability": "p", "rate": 2.0},
        1e-9,
    ),
    "hart-mas-colell": (HartMasColellTwin, {}, 1e-9),
    "hart-mas-colell:inertia=0.02,explore=0.6,decay=0.4": (
        HartMasColellTwin,
        {"inertia": 0.02, "explore": 0.6, "decay": 0.4},
        1e-9,
    ),
    "fictitious-play": (FictitiousPlayTwin, {}, 1e-9),
    "fictitious-play:c=0": (FictitiousPlayTwin, {"c": 0.0}, 1e-9),
    f"{_template.__file__}:EpsilonGreedy": (EpsilonGreedyTwin, {}, 1e-9),
    f"{_template.__file__}:EpsilonGreedy:explore=1": (EpsilonGreedyTwin, {"explore": 1.0}, 1e-9),
    **{
        f"{spec}{',' if ':' in spec else ':'}forgetting=0.9": (twin, {"forgetting": 0.9, **more}, tolerance)
        for spec, twin, more, tolerance in [
            ("ucb", UcbTwin, {}, 1e-7),
            ("coebl:c=2", CoeblTwin, {"c": 2.0}, 1e-7),
            ("coebl:recombination=row", ComposedTwin, {"shares": (0.5, 0.5, 0.0)}, 1e-7),
            ("kin", KinTwin, {}, 1e-7),
            ("strain", StrainTwin, {}, 1e-7),
            ("thompson", ThompsonTwin, {}, 1e-7),
            ("ots-hedge", OtsHedgeTwin, {}, 1e-9),
            ("ots-rm:draws=3", OtsRmTwin, {"draws": 3}, 1e-9),
            ("gp-mw", GpMwTwin, {}, 1e-9),
            ("gp-mw:kernel=rbf", GpMwTwin, {"kernel": "rbf"}, 1e-9),
            ("maximin-ucb", MaximinUcbTwin, {}, 0),
            ("fictitious-play", FictitiousPlayTwin, {}, 1e-9),
            ("fictitious-play:c=0", FictitiousPlayTwin, {"c": 0.0}, 1e-9),
            ("k-learning", KLearningTwin, {}, 1e-5),
        ]
    },
    "k-learning": (KLearningTwin, {}, 1e-5),  # SciPy's general optimiser is no better than that
}


def test_every_learner_has_a_twin():
    with_twin = {split_spec(spec).name for spec in TWINS}
    without = [name for name in INDEXED if LEARNERS[name].factory.improves and name not in with_twin]
    assert not without, (
        f"{', '.join(without)}: no twin; write one in tests/oracles/learners.py, as EpsilonGreedyTwin is, and enter it "
        "in TWINS of tests/learners/test_twins.py: see CONTRIBUTING.md"
    )


def test_every_hyper_parameter_has_a_twin_with_another_value():
    check_every_hyper_parameter(TWINS)


@pytest.mark.parametrize("game", PAYOFFS)
@pytest.mark.parametrize("spec", TWINS, ids=lambda spec: spec.rpartition("/")[2])
def test_same_trajectory(spec, game):
    check_trajectory(spec, game, ROUNDS)


# Without a horizon kappa is counted in every round until round 200; with 250 rounds, in every other; and more rounds
# may be played than were said.
@pytest.mark.parametrize(("horizon", "rounds"), [(None, 205), (250, 30), (10, 20)])
def test_same_trajectory_of_kin_with_any_horizon_and_none(horizon, rounds):
    check_trajectory("kin", "wide", horizon, rounds)


def check_trajectory(spec, game, horizon, rounds=ROUNDS):
    payoff = PAYOFFS[game]
    m, k = payoff.shape
    payoff_range = (-0.9, 1.1)  # neither tight nor symmetric, so that a mix-up of its ends shows
    make_twin, arguments, tolerance = TWINS[spec]
    learner = parse_learner(spec)
    learner = learner.seated(build_seat(learner, SEEDS, (m, k), horizon, payoff_range, payoff=payoff))
    twins = []
    for seed in SEEDS:
        own = BatchRandom([seed], learner_key(0))
        twins.append(
            make_twin(
                m,
                k,
                horizon,
                payoff_range,
                lambda *shape, own=own: own.normal(*shape)[0].tolist(),
                lambda *shape, own=own: own.uniform(*shape)[0].tolist(),
                **arguments,
            )
        )
    random = np.random.default_rng(3)
    for t in range(1, rounds + 1):
        policy = learner.policy(t)
        slow = np.array([twin.policy(t) for twin in twins])
        np.testing.assert_allclose(policy, slow, atol=tolerance, rtol=0, err_msg=f"round {t}")
        # Any actions will do, so most are drawn from the twin's policy and some at will: every pair gets its visits.
        action = np.array(
            [random.choice(m, p=x / x.sum()) if random.random() < 0.8 else random.integers(m) for x in slow]
        )
        opponent = random.integers(k, size=len(SEEDS))
        reward = payoff[action, opponent] + random.standard_normal(len(SEEDS))
        shown = opponent if "opponent" in learner.sees else None
        payoffs = payoff.T[opponent] if "payoffs" in learner.sees else None
        learner.observe(t, Seen(action, reward, shown, payoffs, np.array(policy)[np.arange(len(SEEDS)), action]))
        for run, twin in enumerate(twins):
            extra = () if payoffs is None else (payoffs[run].tolist(),)
            twin.observe(t, int(action[run]), None if shown is None else int(opponent[run]), float(reward[run]), *extra)
