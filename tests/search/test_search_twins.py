"""Every search does what its slow twin does, step by step, with genomes of two lengths."""

import numpy as np
import pytest

from coebl.backend.streams import BatchRandom, learner_key
from coebl.core.specs import split_spec
from coebl.games import Bits
from coebl.learners import LEARNERS, Seat, parse_learner
from coebl.search import Pairs, Search, mutate
from oracles.search import CgaTwin, LambdaCoeaTwin, OnePairTwin, PdcoeaTwin

N, M = 5, 7
SEEDS = [0, 5, 11]
STEPS = 60
TWINS = {
    "pdcoea:population=9,chi=0.8": (PdcoeaTwin, {"population": 9, "chi": 0.8}),
    "pdcoea:population=1,chi=0": (PdcoeaTwin, {"population": 1, "chi": 0.0}),
    "rls-pd": (OnePairTwin, {}),
    "1+1-coea": (OnePairTwin, {"chi": 1.0}),
    "1+1-coea:chi=2.5": (OnePairTwin, {"chi": 2.5}),
    "1-lambda-coea:mutants=6": (LambdaCoeaTwin, {"mutants": 6, "chi": 0.6}),
    "1-lambda-coea:mutants=1,chi=3": (LambdaCoeaTwin, {"mutants": 1, "chi": 3.0}),
    "cga": (CgaTwin, {}),
    "cga:scale=0.3": (CgaTwin, {"scale": 0.3}),
}
WEIGHTS = np.random.default_rng(8).normal(size=(N, M)).round(1)


def payoff(x, y):
    """No symmetry, and many ties."""
    return np.round(np.einsum("...i,ij,...j->...", 2.0 * x - 1, WEIGHTS, 2.0 * y - 1) / 4)


def asked(search):
    """The pairs of genomes that a search asks for, listed one to one."""
    pairs = Pairs(*search.ask())
    runs = np.arange(len(pairs.x))[:, None]
    return (pairs.x, pairs.y) if pairs.i is None else (pairs.x[runs, pairs.i], pairs.y[runs, pairs.j])


def seat_of(seeds):
    random = BatchRandom(seeds, learner_key(0))
    return Seat(
        runs=len(seeds), actions=N, opponent_actions=M, horizon=None, payoff_range=(-9, 9), random=random, space=Bits(N)
    )


def test_every_search_has_a_twin():
    with_twin = {split_spec(spec).name for spec in TWINS}
    searches = {entry.name for entry in LEARNERS if issubclass(entry.factory, Search)}
    assert searches == with_twin


@pytest.mark.parametrize("spec", TWINS)
def test_same_queries(spec):
    make_twin, arguments = TWINS[spec]
    search = parse_learner(spec).seated(seat_of(SEEDS))
    streams = [BatchRandom([seed], learner_key(0)) for seed in SEEDS]
    twins = [make_twin(N, M, lambda k, s=s: s.uniform(k)[0].tolist(), **arguments) for s in streams]
    noise = np.random.default_rng(3)
    for step in range(STEPS):
        x, y = asked(search)
        values = payoff(x, y) + (noise.normal(size=x.shape[:2]) if step % 2 else 0)
        for run, twin in enumerate(twins):
            pairs = twin.ask()
            assert x[run].tolist() == [list(pair[0]) for pair in pairs]
            assert y[run].tolist() == [list(pair[1]) for pair in pairs]
        search.tell(values)
        found = search.candidates()
        for run, twin in enumerate(twins):
            twin.tell(values[run].tolist())
            assert [genomes[run].tolist() for genomes in found] == [list(map(list, side)) for side in twin.candidates()]
        for policy, bits in zip(search.recommend(), (N, M), strict=True):
            assert policy.shape == (len(SEEDS), bits)
            assert ((policy >= 0) & (policy <= 1)).all()


@pytest.mark.parametrize("spec", TWINS)
def test_dropping_runs_leaves_the_others_as_they_are(spec):
    whole, part = (parse_learner(spec).seated(seat_of(SEEDS)) for _ in range(2))
    for step in range(20):
        x, y = asked(whole)
        x2, y2 = asked(part)
        kept = slice(None) if step <= 5 else [0, 2]
        assert np.array_equal(x[kept], x2)
        assert np.array_equal(y[kept], y2)
        values = payoff(x, y)
        whole.tell(values)
        part.tell(values[kept])
        if step == 5:
            seat = part.seat
            seat.random.select([0, 2])
            part.drop(np.array([0, 2]), seat_like(seat, 2))


def seat_like(seat, runs):
    return Seat(
        runs=runs, actions=N, opponent_actions=M, horizon=None, payoff_range=(-9, 9), random=seat.random, space=Bits(N)
    )


@pytest.mark.parametrize(("count", "bits", "chi"), [(40, 13, 0.7), (3, 5, 5.0), (1, 200, 1.0), (7, 3, 0.05)])
def test_mutation_flips_every_bit_with_its_probability(count, bits, chi):
    runs = 4000
    seat = Seat(
        runs=runs,
        actions=bits,
        opponent_actions=bits,
        horizon=None,
        payoff_range=(0, 1),
        random=BatchRandom(range(runs), 3),
    )
    genomes = np.zeros((runs, count, bits), np.int8)
    mutate(seat, genomes, chi)
    flipped, rate = genomes.reshape(runs, -1).astype(float), min(1.0, chi / bits)
    error = np.sqrt(rate * (1 - rate) / runs)
    assert abs(flipped.mean(axis=0) - rate).max() <= 5 * error  # each bit
    assert abs(flipped.mean() - rate) <= 4 * error / np.sqrt(count * bits)
    pairs = (flipped[:, 1:] * flipped[:, :-1]).mean()  # neighbours are independent
    assert abs(pairs - rate**2) <= 5 * np.sqrt(rate**2 / (runs * (count * bits - 1))) + 1e-12
