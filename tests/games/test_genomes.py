"""Every oracle of a game of genomes against the matrix of all genomes; masks; mistakes."""

import time
from functools import partial
from itertools import product

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.games import CountGame, FunctionGame, GeneBilinear, GenomeGame, parse_game, solve


def crooked(x, y):
    """A payoff without symmetry, in -1 .. 1, of genomes of any length."""
    weights = np.arange(1, x.shape[-1] + 1)
    return np.sin(3 * (x * weights).sum(axis=-1) + (y * weights**2).sum(axis=-1) + (x[..., 0] & y[..., -1]))


SPECS = [
    "diagonal:n={n},space=bits",
    "diagonal:n={n},space=bits,binary=true",
    "bigger-number:n={n},space=bits",
    "bigger-number:n={n},space=bits,shuffle=true",
    "bilinear:n={n}",
    "bilinear:n={n},alpha=0.3,beta=0.85",
    "bilinear:n={n},alpha=0,beta=1",
    "lead:n={n}",
    "lead:n={n},power=0.4",
    "gene-bilinear:n={n},seed=3",
    "gene-bilinear:n={n},seed=4,interaction=3",
    "coverage:n={n},seed=1",
    "coverage:n={n},seed=2,spill=0",
]


def game_of(spec, n):
    if spec == "count":
        return CountGame(np.random.default_rng(n).normal(size=(n + 1, n + 1)), payoff_range=(-9, 9))
    return FunctionGame(crooked, n) if spec == "function" else parse_game(spec.format(n=n))


def atoms(policy):
    """Return the probability of each genome, by the definition."""
    return np.array([np.prod(chances) for chances in product(*((1 - p, p) for p in policy))])


@pytest.mark.parametrize("n", [1, 2, 5, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("spec", [*SPECS, "count", "function"])
def test_oracles_agree_with_the_matrix_of_all_genomes(spec, n):
    game, random = game_of(spec, n), np.random.default_rng(n)
    dealt = game.dealt([41])
    payoff = dealt.to_matrix().payoff
    scale = float(np.abs(payoff).max()) or 1.0
    assert game.value == pytest.approx(solve(payoff).value, abs=1e-8 * scale)
    row, column = random.uniform(size=(2, 3, 4, n))  # three rounds of four runs
    row[0, 0] = random.integers(0, 2, n)  # a pure policy
    expected, responses = dealt.expected(row, column), (dealt.response(0, column), dealt.response(1, row))
    answers = dealt.answer(0, column), dealt.answer(1, row)
    for index in np.ndindex(3, 4):
        x, y = atoms(row[index]), atoms(column[index])
        assert expected[index] == pytest.approx(x @ payoff @ y, abs=1e-9 * scale)
        assert responses[0][index] == pytest.approx((payoff @ y).max(), abs=1e-9 * scale)
        assert responses[1][index] == pytest.approx(-(x @ payoff).min(), abs=1e-9 * scale)
        number = [int("".join(map(str, answer[index])), 2) for answer in answers]
        assert (payoff @ y)[number[0]] == pytest.approx((payoff @ y).max(), abs=1e-9 * scale)
        assert (x @ payoff)[number[1]] == pytest.approx((x @ payoff).min(), abs=1e-9 * scale)
    listed = np.array(list(product((0, 1), repeat=n)), np.int8)
    assert np.array_equal(dealt.is_optimal(0, listed), payoff.min(axis=1) >= game.value - 1e-9 * scale)
    assert np.array_equal(dealt.is_optimal(1, listed), payoff.max(axis=0) <= game.value + 1e-9 * scale)
    assert payoff.min() >= game.payoff_range[0] - 1e-12
    assert payoff.max() <= game.payoff_range[1] + 1e-12


def test_masks_are_those_of_the_seed_and_hide_the_game():
    game = parse_game("diagonal:n=30,space=bits")
    together, alone = game.dealt([3, 4, 5]), game.dealt([4])
    assert np.array_equal(together.masks[1][1], alone.masks[1][0])
    assert 0.3 < np.mean(game.dealt(range(100)).masks) < 0.7
    assert not np.array_equal(*alone.masks)
    best = 1 - alone.masks[0]
    assert alone.is_optimal(0, best).all()
    assert not alone.is_optimal(1, best).any()
    assert np.array_equal(alone.payoffs(best, alone.masks[1]), [1.0])
    assert parse_game("diagonal:n=30,space=bits,mask=false").dealt([4]).masks is None


def test_gene_bilinear_of_a_hundred_genes_is_certified_in_a_second():
    game = parse_game("gene-bilinear:n=100,seed=5")
    assert isinstance(game, GeneBilinear)
    parse_game("gene-bilinear:n=3").value  # noqa: B018 - imports SciPy
    started = time.perf_counter()
    row, column, value, gap = game.equilibrium
    assert time.perf_counter() - started < 1
    assert gap <= 1e-9 * (game.payoff_range[1] - game.payoff_range[0])
    assert game.response(0, column) == pytest.approx(value, abs=1e-7)
    assert game.response(1, row) == pytest.approx(-value, abs=1e-7)
    assert ((row > 0.01) & (row < 0.99)).any()  # some genes are mixed


def test_gene_bilinear_equals_its_form_in_signs():
    n, random = 6, np.random.default_rng(8)
    own, other = np.sqrt(0.5 / n) * random.standard_normal((2, n))
    pairs = 2.0 / n * random.standard_normal((n, n))
    C = np.block([[np.zeros((1, 1)), other[None]], [own[:, None], pairs]])
    game = parse_game("gene-bilinear:n=6,seed=8,interaction=2")
    x, y = np.random.default_rng(0).integers(0, 2, (2, n), np.int8)
    assert game.payoffs(x, y) == pytest.approx(np.append(1, 2 * x - 1) @ C @ np.append(1, 2 * y - 1))


def test_a_count_game_with_a_mixed_equilibrium():
    cycle = CountGame(lambda k, l: np.array([0, 1, -1])[(k - l) % 3], n=50)
    assert cycle.value == pytest.approx(0.0, abs=1e-9)
    assert not cycle.unknown


SHIFT = 3


def _shifted(x, y, by):
    return SHIFT * (x.sum() - y.sum()) + by


def test_the_fingerprint_has_the_source_of_custom_code_alone():
    class Mine(CountGame):
        """A custom game."""

    games = [kind(np.eye(4)) for kind in (CountGame, Mine)]
    assert ["custom" in game.fingerprint() for game in games] == [False, True]
    assert CountGame.__doc__[:20] not in games[0].fingerprint()
    assert games[0].fingerprint() != CountGame(2 * np.eye(4)).fingerprint()
    shifted = [FunctionGame(partial(_shifted, by=by), 3).fingerprint() for by in (1, 2)]
    assert shifted[0] != shifted[1]
    assert all("def _shifted" in source and "SHIFT = 3" in source and " at 0x" not in source for source in shifted)


FOUR = parse_game("bilinear:n=4")
PAIRS = np.ones((2, 3, 12))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: parse_game("bilinear:n=0"), "bilinear: n is 0; accepted: an integer, 1 .. 5000."),
        (lambda: GenomeGame(0, payoff_range=(0, 1)), "n is 0; accepted: an integer, 1 .. 100,000."),
        (lambda: GenomeGame(2, payoff_range=(1, 0)), "payoff_range is (1, 0); accepted: finite numbers, low < high."),
        (
            lambda: CountGame([[0, 1], [2, 3]], payoff_range=(0, 1)),
            "payoff_range is (0, 1); accepted: low < high that enclose all payoffs, which lie in 0 .. 3.",
        ),
        (lambda: CountGame([[0, 1]]), "payoff has shape (1, 2); accepted: (n + 1, n + 1), for counts 0 .. n."),
        (lambda: FOUR.payoffs(np.ones(3), np.ones(4)), "x has shape (3,); accepted: genomes of 4 genes."),
        (
            lambda: parse_game("bilinear:n=40").to_matrix(),
            "bilinear:n=40 has 2^40 genomes; accepted for a matrix: at most 10 genes.",
        ),
        (
            lambda: FunctionGame(lambda x, y: x - y, 12, name="mine").payoffs(*PAIRS),
            "mine returned an array of shape (3, 12) for 3 pairs of genomes; accepted: (3,), a payoff per pair. "
            "Sum over the last axis.",
        ),
        (
            lambda: FunctionGame(lambda x, y: x[:, 0] * np.nan, 12, name="mine").payoffs(*PAIRS),
            "mine returned the payoff nan; accepted: numbers in its payoff range, -1 .. 1. Scale it, or return "
            "FunctionGame(payoff, n, payoff_range=(low, high)).",
        ),
        (
            lambda: FunctionGame(crooked, 12, name="mine").response(0, np.full(12, 0.5)),
            "mine has no exact response for 12 genes; accepted: at most 10 genes, or a game that defines it.",
        ),
        (
            lambda: parse_game("bigger-number:n=4,space=bits,original=true"),
            "bigger-number: original is true with space=bits; accepted: one of them. Leave one out.",
        ),
    ],
)
def test_mistakes_are_one_line(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert str(error.value) == message


def test_a_function_may_return_a_list():
    payoffs = FunctionGame(lambda x, y: [0.5] * len(x), 12).payoffs(*PAIRS)
    np.testing.assert_array_equal(payoffs, [0.5, 0.5, 0.5])


def test_a_function_in_a_file_is_a_game(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "import numpy as np\n\n\ndef payoff(x, y, n: int = 12, tilt: float = 0.0):\n"
        "    return np.tanh((x.sum(axis=-1) - y.sum(axis=-1)) / n + tilt)\n\n\n"
        "def nameless(x, y):\n    return 0 * x[:, 0]\n"
    )
    game = parse_game(f"{path}:payoff:n=20,tilt=0.5")
    assert game.n == 20
    assert game.unknown == {"expected", "response", "value"}
    assert game.payoffs(np.ones(20), np.zeros(20)) == pytest.approx(np.tanh(1.5))
    assert not parse_game(f"{path}:payoff:n=4").unknown
    assert parse_game(game.spec) == game
    with pytest.raises(InputError, match=r"nameless has no parameter n; accepted: def payoff\(x, y, n: int\)"):
        parse_game(f"{path}:nameless")
