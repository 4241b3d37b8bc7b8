"""Searches on games of genomes: twins, queries, noise, hits, mistakes, custom searches, and published figures."""

import numpy as np
import pytest

from coebl import Match, simulate
from coebl.backend.streams import NATURE, BatchRandom, generator, learner_key
from coebl.core.errors import InputError, UserCodeError
from coebl.core.specs import split_spec
from coebl.engine.table import seat_at
from coebl.evidence import Runtimes
from coebl.games import Bilinear, Bits, Diagonal, FunctionGame
from coebl.learners import LEARNERS, Seat, parse_learner
from coebl.search import Pairs, Search, mutate
from coebl.testing import check_learner
from learner_rules import arguments_of
from oracles.search import CgaTwin, LambdaCoeaTwin, OnePairTwin, PdcoeaTwin, RlsPdTwin

SEARCHES = [entry.name for entry in LEARNERS if issubclass(entry.factory, Search)]
SMALL = {"pdcoea": "pdcoea:population=20,chi=0.3", "1-lambda-coea": "1-lambda-coea:mutants=12"}


def times(game, spec, budget, seeds, noise="none", until="optimum"):
    result = simulate(game, spec, spec, rounds=budget, seeds=seeds, noise=noise, until=until, metrics=[])
    return Runtimes(tuple(result.hitting_times), budget)


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


class Counting(Search):
    """A search that asks for 1, 2, 3, ... equal pairs in turn, and stores the values that it receives."""

    received = ()

    def start(self, seat):
        self.seat, self.count = seat, 0
        Counting.received = []

    def ask(self):
        self.count += 1
        ones = np.ones((self.seat.runs, self.count, self.seat.actions), np.int8)
        return ones, 0 * ones

    def tell(self, values):
        Counting.received.append(values)

    def recommend(self):
        half = np.full((self.seat.runs, self.seat.actions), 0.5)
        return half, half


def test_no_query_exceeds_the_budget_and_each_has_its_noise():
    simulate(Match(Diagonal(3), (Counting(), Counting()), 25), 4, metrics=[])  # 1 + 2 + ... + 6 = 21
    values = np.concatenate(Counting.received, axis=1)
    assert values.shape == (4, 21)
    assert len(np.unique(values)) == values.size
    expected = simulate(Diagonal(3), "uniform", "uniform", rounds=21, seeds=4, keep=["rewards", "actions"])
    payoffs = expected.match.game.dealt(range(4)).payoffs(*expected.kept["actions"])
    noise = (expected.kept["rewards"][0] - payoffs).T  # the noise of a seed is that of every match
    masked = Diagonal(3).dealt(range(4)).payoffs(np.ones((4, 3), np.int8), np.zeros((4, 3), np.int8))
    assert np.allclose(values, masked[:, None] + noise)


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("noise", ["none", "gaussian:sigma=0.5"])
def test_a_hit_is_the_first_time_that_both_sides_have_an_optimum(name, noise):
    """Against a plain loop over one run, which checks every genome."""
    spec, game, budget = SMALL.get(name, name), Bilinear(6, 0.5, 0.5), 3000
    runs = times(game, spec, budget, 5, noise)
    for seed in range(5):
        assert plain_time(spec, game.with_noise(noise), budget, seed) == runs.times[seed]
    assert runs.hits


def plain_time(spec, game, budget, seed):
    search = parse_learner(spec)
    search = search.seated(seat_at(game, 0, search, [seed], budget))
    masks = game.dealt([seed]).masks
    noise, done = generator(seed, NATURE, "noise"), 0
    draws = game.noise.draw(noise, budget)
    while True:
        x, y = asked(search)
        queries = x.shape[1]
        if done + queries > budget:
            return None
        shares = [np.abs(side[0] - mask[0]).mean(axis=1) for side, mask in zip((x, y), masks, strict=True)]
        search.tell(((shares[0] - 0.5) * (shares[1] - 0.5) + draws[done : done + queries])[None])
        done += queries
        ones = [np.abs(side[0] - mask[0]).sum(axis=1) for side, mask in zip(search.candidates(), masks, strict=True)]
        if (ones[0] == 3).any() and (ones[1] == 3).any():
            return done


def test_recommendations_are_measured():
    result = simulate("diagonal:n=8,space=bits", "cga", "cga", rounds=4000, seeds=6, noise="none")
    assert (result.final("exploitability") < 0.1).all()


def test_rows_maximise_and_columns_minimise():
    """In a game without ties or symmetry every search reaches the equilibrium."""
    for name in ("pdcoea:population=100,chi=0.2", "1-lambda-coea:mutants=12,chi=1", "cga"):
        result = simulate("lead:n=7", name, name, rounds=30_000, seeds=4, noise="none", until="optimum", metrics=[])
        assert None not in result.hitting_times, name


BITS = "diagonal:n=9,space=bits"
ONE_SEAT = "chooses the actions of both players; put it in both seats"


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((BITS, "pdcoea", "cga"), {}, ONE_SEAT),
        ((BITS, "ucb", "cga"), {}, ONE_SEAT),
        (("rps", "pdcoea", "pdcoea"), {}, "plays genomes, but the game has numbered actions"),
        (
            (BITS, "cga", "cga"),
            {"metrics": ["pseudo_regret"]},
            "pseudo_regret adds up over the rounds, and cga is",
        ),
        ((BITS, "cga", "cga"), {"device": "cuda"}, "device is cuda, and cga is a search; accepted: cpu"),
        ((BITS, "cga", "cga"), {"record": "all"}, 'record is .all., and cga is a search; accepted: "last"'),
        ((BITS, "cga", "cga"), {"keep": ["actions"]}, "keep"),
        ((BITS, "cga", "pdcoea:population=0"), {}, "population is .*0.*accepted: .*1"),
        ((BITS, "cga", "pdcoea:chi=-1"), {}, "chi is .*-1"),
        ((BITS, "cga", "cga:scale=0"), {}, "scale is .*0"),
    ],
)
def test_mistakes_are_one_line(arguments, options, message):
    with pytest.raises(InputError, match=message) as error:
        simulate(*arguments, rounds=10, seeds=2, **{"metrics": [], **options})
    assert "\n" not in str(error.value)


def test_a_search_that_asks_for_other_shapes_is_named():
    class Flat(Counting):
        def ask(self):
            return np.ones((self.seat.runs, 3), np.int8), np.ones((self.seat.runs, 3), np.int8)

    with pytest.raises(InputError, match=r"Flat asked for genomes of shapes \(2, 3\) and \(2, 3\); accepted: \(runs"):
        simulate(Match(Diagonal(3), (Flat(), Flat()), 25), 2, metrics=[])


def test_an_error_in_the_payoffs_of_a_custom_game_is_one_line_with_its_place():
    def payoff(x, y):
        raise KeyError("gene")

    with pytest.raises(UserCodeError, match=r"test_search\.py, line \d+: KeyError: 'gene' \(cga, after 0 queries\)$"):
        simulate(FunctionGame(payoff, 12), "cga", "cga", rounds=40, seeds=2, metrics=[])


CUSTOM = """
import numpy as np
from dataclasses import dataclass
from coebl.search import Search

@dataclass
class Sampling(Search):
    pairs: int = 5

    def ask(self):
        self.x = (self.seat.random.uniform(self.pairs, self.seat.actions) < 0.5).astype(np.int8)
        self.y = (self.seat.random.uniform(self.pairs, self.seat.opponent_actions) < 0.5).astype(np.int8)
        return self.x, self.y

    def recommend(self):
        return self.x[:, 0].astype(float), self.y[:, 0].astype(float)

    def candidates(self):
        return self.x, self.y
"""


def test_a_custom_search_in_a_file(tmp_path):
    """Random pairs of 3 bits: both sides of five have 1^3 with probability (1 - (7/8)^5)^2."""
    file = tmp_path / "mine.py"
    file.write_text(CUSTOM)
    check_learner(f"{file}:Sampling").require()
    runs = times("diagonal:n=3,space=bits", f"{file}:Sampling", 10_000, 200)
    chance = (1 - (7 / 8) ** 5) ** 2
    steps = np.array(runs.times) / 5
    assert abs(steps.mean() - 1 / chance) <= 4 * np.sqrt(1 - chance) / chance / np.sqrt(200)


@pytest.mark.slow
def test_published_medians():
    """Medians of the first measurements, of some ten runs each; a median of 20 runs has a standard error of 1.25 sd."""
    runs = times("diagonal:n=100,space=bits", "pdcoea", 10**7, 20)
    error = 1.25 * runs.spent.std(ddof=1) * np.sqrt(1 / 20 + 1 / 10)
    assert abs(np.median(runs.spent) - 257_250) <= 3 * error
    noisy = times("diagonal:n=100,space=bits", "pdcoea:chi=0.1", 10**7, 5, "gaussian")
    assert noisy.hits == 5
    assert abs(np.median(noisy.spent) / 728_700 - 1) <= 0.25
    for noise, median in (("none", 13_240), ("gaussian", 19_140)):
        cga_runs = times("diagonal:n=100,space=bits", "cga", 10**6, 20, noise, "exploitability < 0.1")
        assert cga_runs.hits == 20
        assert abs(np.median(cga_runs.spent) / median - 1) <= 0.25


def test_every_search_has_a_twin():
    assert {split_spec(spec).name for spec in TWINS} == set(SEARCHES)


@pytest.mark.parametrize("spec", TWINS)
def test_same_queries(spec):
    search = parse_learner(spec).seated(seat_of(BatchRandom(SEEDS, learner_key(0)), len(SEEDS)))
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
        candidates = search.candidates()
        for run, twin in enumerate(twins):
            twin.tell(values[run].tolist())
            assert [genomes[run].tolist() for genomes in candidates] == [
                list(map(list, side)) for side in twin.candidates()
            ]
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
