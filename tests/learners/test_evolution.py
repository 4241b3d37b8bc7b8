"""The operators that COEBL is composed of, and Kin's parts, each by its definition."""

import re
from contextlib import nullcontext
from pathlib import Path
from typing import Literal, get_args, get_origin

import numpy as np
import pytest
from scipy import stats

from bare_seats import build_seat
from coebl.backend import CPU
from coebl.core.errors import InputError
from coebl.engine import Match, simulate
from coebl.engine.table import Table
from coebl.games import Game
from coebl.learners import LEARNERS, Seen, evolution, parse_learner
from coebl.learners.coebl import Coebl
from coebl.learners.evolution import (
    MUTATIONS,
    POPULATIONS,
    RECOMBINATIONS,
    SELECTIONS,
    Adaptive,
    Elitist,
    Gaussian,
    Generation,
    Inherited,
    Pool,
    Sparse,
    Student,
)
from coebl.learners.evolution.breeding import Breeder, Individuals
from coebl.metrics import Metric
from coebl.testing import check_learner
from coebl.testing.strict import StrictBackend

WIDE = Game([[0.9, -0.4, 0.3, -0.8], [-0.5, 0.7, -0.9, 0.2], [0.1, -0.2, 0.6, -0.3]])
REGISTRIES = [MUTATIONS, RECOMBINATIONS, SELECTIONS, POPULATIONS]
COMPOSITIONS = [
    "coebl:c=2,mutation=adaptive:of=sparse:of=laplace++probability=0.5+step=0.1,selection=comma,"
    "recombination=crossover,population=pool:size=2+mutants=4+play=draw",
    "coebl:c=2,mutation=posterior,selection=dominance,recombination=both,population=hosts:size=3+mutants=2",
    "coebl:c=2,mutation=student,selection=tournament:judge=fresh,recombination=crossover:by=row,"
    "population=pool:size=2+mutants=3+turnover=0.5",
]


def other_values(parameter, owner):
    """Return values for a parameter other than its default: every choice, or a number."""
    if parameter.registry is not None:
        return [name for name in parameter.registry.names if name not in (str(parameter.default), owner)]
    if get_origin(parameter.kind) is Literal:
        return [choice for choice in get_args(parameter.kind) if choice != parameter.default]
    if parameter.kind is bool:
        return [not parameter.default]
    if parameter.kind is int:
        return [parameter.default + 1]
    return [next(number for number in (0.25, 3.5) if number in parameter.limits and number != parameter.default)]


def operators():
    """Return COEBL with each registered operator in turn, and with each of its parameters set."""
    several = {"size": 2, "mutants": 3}  # of a population, so that there is a choice
    usual = {"c": 2.0, "selection": "elitist:judge=means", "population": "pool:size=2,mutants=3"}
    for kind in LEARNERS["coebl"].parameters:
        for entry in kind.registry or ():
            first = several if kind.name == "population" else {}
            changes = [{p.name: value} for p in entry.parameters for value in other_values(p, entry.name)]
            for change in ({}, *changes):
                yield str(Coebl(**usual | {kind.name: entry.write(first | change)}))


OPERATORS = list(dict.fromkeys(operators()))


def seat_of(shape, runs=1, payoff_range=(-1.0, 1.0)):
    return build_seat(Coebl(), range(runs), shape, 10, payoff_range)


def breeder_of(shape, runs=1, bonus=np.zeros_like):
    return Breeder(seat_of(shape, runs), MUTATIONS.make("gaussian"), RECOMBINATIONS.make("none"), bonus)


def is_near(share, chance, number):
    """Return True if a share of independent cases is within 4.5 standard errors of its expectation."""
    return abs(share - chance) < 4.5 * np.sqrt(chance * (1 - chance) / number)


def policies_of(spec, game, seeds, backend=CPU):
    return backend.to_host(Table(Match.of(game, spec, "uniform", rounds=12), seeds, backend).play(1, 12).policies[0])


@pytest.mark.parametrize("spec", COMPOSITIONS)
def test_compositions_pass_the_kit(spec):
    check_learner(spec).require()


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_every_operator_is_tried_and_in_the_docs(registry):
    tried = {getattr(parse_learner(spec), registry.kind).name for spec in OPERATORS}
    assert tried == set(registry.names), "enter a spec with each operator in OPERATORS"
    text = (Path(__file__).parents[2] / "docs" / "evolution.md").read_text()
    table = text.split(f"| `{registry.kind}=` |")[1].split("\n\n")[0]
    first_cells = " ".join(line.split("|")[1] for line in table.splitlines()[2:])
    for entry in registry:
        assert f"`{entry.name}`" in first_cells or f"`{entry.name}:" in first_cells, (
            f"{entry.name}: add a row to the table of {registry.kind}= in docs/evolution.md"
        )


@pytest.mark.parametrize("spec", [*COMPOSITIONS, *OPERATORS])
def test_an_operator_does_not_depend_on_its_batch_and_its_spec_reads_back(spec):
    """Sums of more than seven numbers are rounded differently if their order depends on the batch: 24 by 20 actions."""
    game = Game(np.random.default_rng(1).uniform(-1, 1, (24, 20)))
    alone, together = policies_of(spec, game, [7]), policies_of(spec, game, [3, 7, 1])
    np.testing.assert_array_equal(alone[:, 0], together[:, 1])
    learner = parse_learner(spec)
    assert str(learner) == spec
    fields = learner.hyper_parameters()
    as_specs = {key: value if isinstance(value, float) else str(value) for key, value in fields.items()}
    assert Coebl(**fields) == Coebl(**as_specs) == learner


@pytest.mark.parametrize("spec", OPERATORS)
def test_an_operator_works_on_arrays_of_another_library(spec):
    plain = policies_of(spec, WIDE, [3, 5])
    np.testing.assert_array_equal(policies_of(spec, WIDE, [3, 5], StrictBackend()), plain)


def test_operators_are_hashed_by_their_fields_and_the_defaults_are_the_papers():
    assert len({Sparse(of=Student(freedom=4)), Sparse(of="student:freedom=4"), Sparse(Student(5))}) == 2
    papers = "coebl:c=8,mutation=gaussian,selection=elitist:judge=mutants,recombination=none,population=pool:size=1"
    assert str(parse_learner(papers)) == "coebl"


def test_inner_specs_may_have_commas_if_that_is_unambiguous():
    nested = Coebl(c=2, mutation=Adaptive(Inherited(rate=1, own=0.25), step=0.1), population=Pool(size=5, mutants=10))
    for spec in (
        "coebl:c=2,mutation=adaptive:of=inherited:rate=1++own=0.25+step=0.1,population=pool:size=5+mutants=10",
        "coebl:mutation=adaptive:of=inherited:rate=1,own=0.25,step=0.1,population=pool:size=5,mutants=10,c=2",
        "coebl:mutation=adaptive:step=0.1,of=inherited:rate=1+own=0.25,population=pool:5,mutants=10,c=2",
    ):
        assert parse_learner(spec) == nested
    for population in ("pool:size=5,mutants=10", "pool:size=5+mutants=10", Pool(5, 10)):
        for inner in ("inherited:rate=1++own=0.25+step=0.1", "inherited:rate=1+own=0.25,step=0.1"):
            assert Coebl(c=2, mutation=f"adaptive:of={inner}", population=population) == nested


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Pool(size=0), "pool: size is 0; accepted: an integer, 1 .. 1000000."),
        (lambda: Coebl(population=Elitist()), "population is Elitist(judge='mutants'); accepted: a Population,"),
        (lambda: Coebl(mutation=Gaussian), "accepted: a Mutation, or a spec such as 'gaussian'. Make one: G"),
        (lambda: Coebl(population="pool:size=5+mutant=10"), "pool: size is '5+mutant=10'; accepted: an integer"),
        (lambda: parse_learner("coebl:mutation=sparse:of=inherited:rate=1++onw=2"), "inherited has no parameter 'onw'"),
        (lambda: parse_learner("coebl:selection=none,cc=2"), "coebl has no parameter 'cc'"),
        (lambda: parse_learner("coebl:population=pool:size=5,mutant=2"), "coebl has no parameter 'mutant'"),
    ],
)
def test_mistakes_in_operators(make, message):
    with pytest.raises(InputError, match=re.escape(message)):
        make()


class TestMutation:
    @pytest.mark.parametrize(
        ("spec", "deviation"),  # of pairs with 0, 1 and 8 visits; payoffs in [-2, 1], so that h = 1.5
        [
            ("gaussian", [1, 1, 1 / 8]),
            ("gaussian-prose", [1, np.sqrt(1 / 2), 1 / 3]),
            ("laplace", [1, 1, 1 / 8]),
            ("student:freedom=4", [1, 1, 1 / 8]),
            ("posterior", np.sqrt([9 / 4, 9 / 13, 9 / 76])),  # 1 / (4/9 + n)
            ("posterior:share=0.5,noise=2", np.sqrt([9 / 8, 72 / 82, 72 / 208])),  # 1 / (8/9 + n/4)
            ("inherited:rate=2,own=0.5,noise=2", 3 * np.sqrt(0.5) / np.array([1, 41 / 32, 104 / 32])),
            ("sparse:of=gaussian-prose", [1, np.sqrt(1 / 2), 1 / 3]),
        ],
    )
    def test_the_deviation_follows_from_the_visits(self, spec, deviation):
        seat = seat_of((1, 3), payoff_range=(-2.0, 1.0))
        np.testing.assert_allclose(MUTATIONS.make(spec).deviation(seat, np.array([[[0.0, 1.0, 8.0]]])), [[deviation]])

    @pytest.mark.parametrize(
        ("spec", "law"),
        [
            ("gaussian", stats.norm()),
            ("laplace", stats.laplace(scale=np.sqrt(1 / 2))),
            ("student:freedom=5", stats.t(5, scale=np.sqrt(3 / 5))),
        ],
    )
    def test_standard_noise_has_its_law(self, spec, law):
        """A Kolmogorov-Smirnov test with 24,000 numbers; false alarms: 1 in 100,000."""
        assert law.std() == pytest.approx(1)
        zeros, ones = np.zeros((2_000, 2, 3)), np.ones((2_000, 2, 3))
        noise = MUTATIONS.make(spec).draw(seat_of((2, 3), 2_000), zeros, ones, 2, None)
        assert noise.shape == (2_000, 2, 2, 3)
        assert stats.kstest(noise.ravel(), law.cdf).pvalue > 1e-5

    def test_sparse_mutates_entries_with_its_probability_by_the_other_mutation(self):
        seat, deviation = seat_of((3, 4), 1_000), np.full((1_000, 3, 4), 2.0)
        drawn = MUTATIONS.make("sparse:of=laplace,probability=0.2").draw(seat, deviation / 4, deviation, 2, None)
        mutated = drawn != 0.5
        assert is_near(mutated.mean(), 0.2, 24_000)
        assert stats.kstest(drawn[mutated], stats.laplace(0.5, np.sqrt(2)).cdf).pvalue > 1e-5

    def test_adaptive_rates_are_the_parents_times_a_lognormal_number_and_multiply_the_noise(self):
        mutation, seat = MUTATIONS.make("adaptive:of=gaussian,step=0.3"), seat_of((1, 2), 4_000)
        rate = mutation.vary(seat, np.broadcast_to([2.0, 32.0], (4_000, 2)))
        assert stats.kstest(np.log(rate[:, 0]), stats.norm(np.log(2), 0.3).cdf).pvalue > 1e-5
        assert rate[:, 1].max() == 32  # the largest allowed
        ones = np.ones((4_000, 1, 2))
        drawn = mutation.draw(seat, ones, ones, 2, rate) - 1
        assert stats.kstest((drawn / rate[:, :, None, None]).ravel(), stats.norm().cdf).pvalue > 1e-5

    def test_survivors_keep_their_rates_and_children_have_those_of_their_parents(self):
        learner = parse_learner("coebl:mutation=adaptive:step=0,selection=none,population=pool:size=2+mutants=3")
        learner = learner.seated(seat_of((2, 3)))
        learner.parents = learner.parents._replace(rate=np.array([[0.5, 4.0]]))
        learner.policy(1)
        np.testing.assert_array_equal(learner.parents.rate, [[4.0, 0.5]])  # the second and third of 0.5, 4, 0.5


class TestRecombination:
    @pytest.mark.parametrize("by", ["entry", "row"])
    def test_crossover_takes_entries_or_rows_from_the_parents_matrix(self, by):
        """2,000 mutants of 3 x 4; by row, rows are whole."""
        seat = seat_of((3, 4), 1_000)
        new, old = np.zeros((1_000, 2, 3, 4)), np.ones((1_000, 2, 3, 4))
        crossed = RECOMBINATIONS.make(f"crossover:by={by},probability=0.3").cross(seat, new, old)
        assert is_near(crossed.mean(), 0.3, 24_000 if by == "entry" else 6_000)
        assert (np.ptp(crossed, axis=-1) == 0).all() == (by == "row")

    def test_with_probability_1_a_mutant_is_its_parents_matrix(self):
        learner = parse_learner("coebl:recombination=crossover:probability=1").seated(seat_of((2, 3)))
        first = learner.parents.mutant.copy()
        for t in range(1, 4):
            learner.policy(t)
            np.testing.assert_array_equal(learner.parents.mutant, first)


def generation(fitnesses, size=1, mutants=None, means=None, **rest):
    """Return pure policies with the given fitness by the mutants, or by the means: one run."""
    m = len(fitnesses)
    breeder = breeder_of((m, 2))
    for action, mean in enumerate(means or []):
        for opponent in (0, 1):
            breeder.add(Seen(np.array([action]), np.array([float(mean)]), np.array([opponent])))
    everyone = np.eye(m)[None]
    matrix = np.repeat(np.array(fitnesses, float)[:, None], 2, axis=1) if mutants is None else np.array(mutants)
    new = Individuals(everyone[:, size:], mutant=matrix[None, None])
    return Generation(breeder, Individuals(everyone[:, :size]), new, **rest)


class TestSelection:
    @pytest.mark.parametrize(
        ("spec", "fitnesses", "size", "survivors"),
        [
            ("elitist", [1, 2], 1, [1]),
            ("elitist", [2, 2], 1, [0]),  # the new one has to be strictly fitter
            ("elitist", [3, 1, 2, 4, 1], 2, [0, 3]),
            ("elitist", [1, 2, 2, 2], 2, [1, 2]),  # of equals, the oldest
            ("none", [3, 1], 1, [1]),
            ("none", [9, 8, 7, 6, 5], 2, [3, 4]),  # the newest mutants
            ("none", [9, 8, 7, 6], 3, [1, 2, 3]),  # the oldest dies
            ("comma:judge=mutants", [9, 8, 3, 5, 4], 2, [3, 4]),  # however good the old are
            ("comma:judge=mutants", [9, 8, 1], 2, [1, 2]),  # too few are new
            ("tournament:k=50,judge=mutants", [9, 2, 5, 4], 1, [2]),  # 50 draws of three almost never leave one out
        ],
    )
    def test_who_survives(self, spec, fitnesses, size, survivors):
        chosen = SELECTIONS.make(spec)(generation(fitnesses, size))
        np.testing.assert_array_equal(chosen, [survivors])

    def test_fitness_by_each_judge(self):
        """The mutants prefer the second policy, and the means the first; a fresh mutant is another one."""
        judged = generation([1, 2], means=[2, 1])
        np.testing.assert_array_equal(judged.fitness("mutants"), [[1, 2]])
        np.testing.assert_array_equal(judged.fitness("means"), [[2, 1]])
        fresh = judged.fitness("fresh")
        assert 0 < np.abs(fresh - [[2, 1]]).max() < 5  # ~ the least of two N(mean, 1)
        assert SELECTIONS.make("elitist:judge=means")(judged)[0, 0] == 0

    def test_with_several_mutants_fitness_is_the_mean_over_them(self):
        judged = generation([1, 2])
        mutants = judged.new.mutant * np.array([1.0, 4.0])[None, :, None, None]
        two = judged._replace(new=judged.new._replace(mutant=mutants))
        np.testing.assert_array_equal(two.fitness("mutants"), [[2.5, 5]])

    def test_a_tournament_of_one_is_a_draw_and_of_two_prefers_the_fitter(self):
        """Of 3 new ones, the fittest wins a tournament of k if it is drawn: 1 - (2/3)^k."""
        for k, chance in ((1, 1 / 3), (2, 5 / 9)):
            judged = generation([9, 1, 3, 2])
            select = SELECTIONS.make(f"tournament:k={k},judge=mutants")
            won = np.mean([select(judged)[0, 0] == 2 for _ in range(2_000)])
            assert is_near(won, chance, 2_000)

    def test_dominance_of_pairs(self):
        """Policies and strategies are pure. In the game below pair 1 dominates pair 2: 3 >= 2 >= 1, and not conversely.

        Two are drawn out of the two new ones. Pair 1 survives unless pair 2 is drawn twice: in 3 of 4 cases.
        """
        judged = generation([0, 0, 0], mutants=[[9.0, 9.0], [2.0, 3.0], [1.0, 0.0]])
        strategies = np.array([[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]])
        judged = judged._replace(
            parents=judged.parents._replace(opponent=strategies[:, :1]),
            new=judged.new._replace(opponent=strategies[:, 1:]),
        )
        select = SELECTIONS.make("dominance:judge=mutants")
        survivors = [select(judged)[0, 0] for _ in range(1_000)]
        assert set(survivors) == {1, 2}
        assert is_near(np.mean(np.equal(survivors, 1)), 3 / 4, 1_000)


class TestPopulation:
    def test_a_policy_of_the_pool_is_drawn_in_every_round(self):
        policies, seat = np.array([[[1.0, 0.0], [0.5, 0.5]]]), seat_of((2, 3))
        draw = POPULATIONS.make("pool:size=2,play=draw")
        drawn = [draw.played(seat, policies[:, 0], policies)[0, 0] for _ in range(1_000)]
        assert set(drawn) == {0.5, 1.0}
        assert abs(np.mean(drawn) - 0.75) < 4.5 * 0.25 / np.sqrt(1_000)  # standard errors


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_every_operator_is_named_in_a_test(registry):
    text = Path(__file__).read_text().partition("\nclass TestMutation:")[2]  # lists of all operators are above
    text += Path(__file__).with_name("test_twins.py").read_text()
    untested = [name for name in registry.names if not re.search(rf'["(=]{name}[":,]', text)]
    assert not untested, f"{untested}: test what it does, by hand, in this file, or in a twin"


def test_a_class_that_is_not_an_operator_is_rejected(tmp_path):
    (tmp_path / "mine.py").write_text("class Mine:\n    pass\n")
    with pytest.raises(InputError, match=r"this is .*; accepted: a class that extends coebl\S*\.Selection"):
        Coebl(selection=f"{tmp_path / 'mine.py'}:Mine")


STANDARD = "def deviation(self, seat, count): return 1 + count\n    def standard(self, seat, number): return {}"


@pytest.mark.parametrize(
    ("kind", "code", "message"),
    [
        (
            "Mutation",
            "pass",
            r"^mine\.py:Mine has no deviation\(self, seat, count\); write one that returns an array of the shape ",
        ),
        ("Mutation", "width: float = 1.0", r"the class has fields .* dataclass; write @dataclass\(frozen=True\) above"),
        (
            "Mutation",
            STANDARD.format("seat.random.uniform(number, seat.opponent_actions)"),
            r"^mine\.py:Mine\.standard\(seat, 1\) has the shape \(2, 1, 3\); accepted: \(2, 1, 3, 3\), that is \(runs,",
        ),
        (
            "Mutation",
            STANDARD.format("1.0"),
            r"^mine\.py:Mine\.standard\(seat, 1\) has the shape \(\); accepted: \(2, 1, 3, 3\)",
        ),
        (
            "Selection",
            "pass",
            r"^mine\.py:Mine has no __call__\(self, generation\); write one that returns indices of shape",
        ),
        (
            "Selection",
            "def __call__(self, generation): return generation.fitness('means').argmax(axis=-1)",
            r"indices of shape \(2,\) and type int64; accepted: an array of integers, \(runs, size\) = \(2, 1\)",
        ),
        (
            "Selection",
            "def __call__(self, generation): return None",
            r"returned indices of shape \(\) and type NoneType; accepted: an array of integers",
        ),
        ("Recombination", "def belief(self, seat): return super().belief(seat)", None),  # if it never forgets
    ],
)
def test_a_custom_operator_names_what_it_lacks(tmp_path, kind, code, message):
    text = f"from coebl.learners.evolution import {kind}\n\nclass Mine({kind}):\n    {code}\n"
    (tmp_path / "mine.py").write_text(text)
    with nullcontext() if message is None else pytest.raises(InputError, match=message):
        simulate("rps", f"coebl:{kind.lower()}={tmp_path / 'mine.py'}:Mine", "uniform", rounds=2, seeds=2)


@pytest.mark.parametrize(
    ("indices", "population", "message"),
    [
        ("[[1, 5]]", "pool:size=2+mutants=3", r"returned an index out of range; accepted: 0 \.\. 4, parents first\."),
        ("[[-1, 0]]", "pool:size=2+mutants=3", r"returned an index out of range; accepted: 0 \.\. 4, parents first\."),
        ("[[5]]", "pool", r"returned an index out of range; accepted: 0 \.\. 1, parents first\."),
        (
            "[[1.0]]",
            "pool",
            r"shape \(1, 1\) and type float64; accepted: an array of integers, \(runs, size\) = \(2, 1\)\.",
        ),
        ("[[1, 0]]", "pool", r"indices of shape \(1, 2\) and type int64; accepted: "),
    ],
)
def test_mistaken_indices_of_a_selection(tmp_path, indices, population, message):
    code = "import numpy as np\nfrom coebl.learners.evolution import Selection\nclass Mine(Selection):\n"
    (tmp_path / "mine.py").write_text(
        f"{code}    def __call__(self, generation):\n        return np.array({indices})\n"
    )
    learner = f"coebl:selection={tmp_path / 'mine.py'}:Mine,population={population}"
    with pytest.raises(InputError, match=message):
        simulate("rps", learner, "uniform", rounds=2, seeds=2)


def test_all_operators_are_listed_in_their_module():
    assert {"Sparse", "Student", "Pool", "Elitist", "MUTATIONS"} <= set(dir(evolution))


def test_a_metric_names_the_method_that_it_lacks():
    class Bare(Metric):
        def __init__(self): ...

    with pytest.raises(
        InputError, match=r"^Bare has no __call__\(self, block\); write one that returns an array of sh"
    ):
        Bare()(None)


def test_a_judge_is_one_of_three():
    learner = Coebl().seated(seat_of((2, 3)))
    generation = Generation(learner.breeder, learner.parents, learner.breeder.breed(learner.parents))
    with pytest.raises(InputError, match=r"^judge is 'mean'; accepted: mutants, fresh, means\.$"):
        generation.fitness("mean")
