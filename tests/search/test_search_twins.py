"""Every search asks for the same pairs as its slow twin, step by step, with genomes of two lengths."""

import numpy as np
import pytest

from coebl.backend.streams import BatchRandom, learner_key
from coebl.core.specs import split_spec
from coebl.games import Bits
from coebl.learners import LEARNERS, Seat, parse_learner
from coebl.search import Pairs, Search, mutate
from learner_rules import arguments_of
from oracles.search import CgaTwin, LambdaCoeaTwin, OnePairTwin, PdcoeaTwin, RlsPdTwin

N, M = 5, 7
SEEDS = [0, 5, 11]
STEPS = 60
TWINS = {
    "pdcoea:population=9,chi=0.8": PdcoeaTwin,
    "pdcoea:population=1,chi=0": PdcoeaTwin,
    "rls-pd": RlsPdTwin,
    "1+1-coea": OnePairTwin,
    "1+1-coea:chi=2.5": OnePairTwin,
    "1-lambda-coea:mutants=6": LambdaCoeaTwin,
    "1-lambda-coea:mutants=1,chi=3": LambdaCoeaTwin,
    "cga": CgaTwin,
    "cga:scale=0.3": CgaTwin,
}
WEIGHTS = np.random.default_rng(8).normal(size=(N, M)).round(1)


def payoff(x, y):
    """Return payoffs without symmetry, and with many ties."""
    return np.round(np.einsum("...i,ij,...j->...", 2.0 * x - 1, WEIGHTS, 2.0 * y - 1) / 4)


def asked(search):
    """Return the pairs of genomes that a search asks for, one by one."""
    pairs = Pairs(*search.ask())
    runs = np.arange(len(pairs.x))[:, None]
    return (pairs.x, pairs.y) if pairs.i is None else (pairs.x[runs, pairs.i], pairs.y[runs, pairs.j])


def seat_of(random, runs, n=N, m=M):
    sizes = {"runs": runs, "actions": n, "opponent_actions": m, "horizon": None}
    return Seat(**sizes, payoff_range=(-9, 9), random=random, space=Bits(n))


def started(spec):
    return parse_learner(spec).seated(seat_of(BatchRandom(SEEDS, learner_key(0)), len(SEEDS)))


def test_every_search_has_a_twin():
    with_twin = {split_spec(spec).name for spec in TWINS}
    searches = {entry.name for entry in LEARNERS if issubclass(entry.factory, Search)}
    assert searches == with_twin


@pytest.mark.parametrize("spec", TWINS)
def test_same_queries(spec):
    search = started(spec)
    streams = [BatchRandom([seed], learner_key(0)) for seed in SEEDS]
    draws = [lambda k, stream=stream: stream.uniform(k)[0].tolist() for stream in streams]
    twins = [TWINS[spec](N, M, draw, **arguments_of(spec)) for draw in draws]
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


@pytest.mark.parametrize(("count", "bits", "chi"), [(40, 13, 0.7), (3, 5, 5.0), (1, 200, 1.0), (7, 3, 0.05)])
def test_mutation_flips_every_bit_with_its_probability(count, bits, chi):
    runs = 4000
    genomes = np.zeros((runs, count, bits), np.int8)
    mutate(seat_of(BatchRandom(range(runs), 3), runs, bits, bits), genomes, chi)
    flipped, rate = genomes.reshape(runs, -1).astype(float), min(1.0, chi / bits)
    error = np.sqrt(rate * (1 - rate) / runs)
    assert abs(flipped.mean(axis=0) - rate).max() <= 5 * error  # each bit
    assert abs(flipped.mean() - rate) <= 4 * error / np.sqrt(count * bits)
    pairs = (flipped[:, 1:] * flipped[:, :-1]).mean()  # neighbours are independent
    assert abs(pairs - rate**2) <= 5 * np.sqrt(rate**2 / (runs * (count * bits - 1))) + 1e-12
