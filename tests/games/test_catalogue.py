"""Every game of the catalogue has the properties that its docstring states."""

import itertools
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.games import GAMES, Game, parse_game
from coebl.games.noise import Bernoulli, Laplace

# An example of every game, and specs with parameters that are not the defaults.
SPECS = [
    *(entry.example for entry in GAMES),
    "diagonal:n=4",
    "bigger-number:n=2,original=true",
    "blotto:coins=4,fields=2",
    "hide-and-seek:weights=0.1/3/1e-05/2",
    "trap:r=-0.3",
    "robust-bandit:seed=7",
    "ito:family=4,epsilon=0.001",
    "random-gaussian:m=3,n=4,seed=5",
    "random-uniform:m=3,n=4,seed=5",
    "random-sign:m=3,n=4,seed=5",
    "random-skew:n=4,seed=5",
    "random-smooth:m=3,n=4,seed=5",
    "random-sparse:m=5,n=4,k=2,seed=5",
    "random-low-rank:m=5,n=4,rank=1,seed=5",
    "scaled:game=random-skew:n=4+seed=2,scale=0.1,shift=-3",
    "permuted:game=blotto:coins=4+fields=2,seed=3",
    "permuted:game=permuted:game=blotto:coins=4++fields=2+seed=1,seed=3",
]


def test_every_game_is_named_in_a_test():
    text = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    before, _, after = text.partition("\nSPECS = [")  # a list of all games, which tests no property of a single one
    text = before + after.partition("\n]")[2]
    untested = [name for name in GAMES.names if not re.search(rf'"{name}[":,]', text)]
    assert not untested, f"{untested}: test its equilibrium, or another property, in tests/games/"


def check_equilibrium(game, value, row, column, unique="yes"):
    """Check a claim by the definition of an equilibrium, against the solver, and against the test of uniqueness."""
    row, column = np.asarray(row, dtype=float), np.asarray(column, dtype=float)
    assert row.sum() == pytest.approx(1)
    assert column.sum() == pytest.approx(1)
    assert (game.payoff @ column).max() == pytest.approx(value, abs=1e-12)
    assert (row @ game.payoff).min() == pytest.approx(value, abs=1e-12)
    assert game.value == pytest.approx(value, abs=1e-9)
    assert game.unique_equilibrium.answer == unique
    if unique == "yes":
        np.testing.assert_allclose(game.solution.row, row, atol=1e-9)
        np.testing.assert_allclose(game.solution.column, column, atol=1e-9)


# Specs and the registry


@pytest.mark.parametrize("spec", SPECS)
def test_specs_round_trip(spec):
    game = parse_game(spec)
    assert game.spec == game.name == spec  # the specs above are in their shortest form
    assert parse_game(game.spec) == game
    assert str(game).startswith(spec + ": ")


@pytest.mark.parametrize(
    ("written", "shortest"),
    [
        ("diagonal:3", "diagonal:n=3"),
        ("diagonal:4", "diagonal:n=4"),
        ("bigger-number:original=false,n=2", "bigger-number:n=2"),
        ("blotto:fields=2,coins=6", "blotto:fields=2"),
        ("hide-and-seek:1/2/4.0", "hide-and-seek"),
        ("trap:r=1e0", "trap"),
        ("permuted:game=blotto:fields=2+coins=6,seed=0", "permuted:game=blotto:fields=2"),
        ("permuted:game=diagonal:2", "permuted:game=diagonal:n=2"),
    ],
)
def test_a_game_stores_its_shortest_spec(written, shortest):
    assert parse_game(written).spec == shortest
    assert parse_game(written) == parse_game(shortest)


@pytest.mark.parametrize("entry", list(GAMES), ids=lambda entry: entry.name)
def test_every_summary_is_one_sentence_that_fits_a_line(entry):
    assert entry.summary.endswith(".")
    assert 20 < len(entry.summary) <= 115
    assert len(entry.factory.__doc__.strip().splitlines()) > 2  # and more text follows


def stated_value(docstring):
    """Return the first number that a docstring states as the value; None if it states none."""
    match = re.search(r"\bValue\s+(-?\d[\d.]*(?:/\d+)?)[;,.](?:\s|$)", docstring)
    return float(Fraction(match[1])) if match else None


def stated_values():
    """Yield the examples of games whose docstring states a number as the value, with that number."""
    for entry in GAMES:
        if (value := stated_value(entry.factory.__doc__)) is not None:
            yield pytest.param(entry.example, value, id=entry.name)


STATED = list(stated_values())
assert len(STATED) >= 14, "the values of docstrings are not found"


@pytest.mark.parametrize(("spec", "value"), STATED)
def test_the_value_is_that_of_the_docstring(spec, value):
    assert parse_game(spec).value == pytest.approx(value, abs=1e-9)


def test_parse_game_accepts_a_game_and_applies_noise():
    game = Game([[1, 2, 4]], name="mine")
    assert parse_game(game) is game
    assert parse_game(game, noise="laplace:sigma=2").noise == Laplace(2.0)
    noisy = parse_game("diagonal:4", Bernoulli())
    assert (noisy.noise, noisy.spec, noisy.name) == (Bernoulli(), "diagonal:n=4", "diagonal:n=4")
    assert noisy.with_noise("gaussian") == parse_game("diagonal:4")


BITS = "accepted: an integer, 1 .. 5000 with space=bits, 1 .. 10 without."
TOO_MANY = "actions; accepted: at most 2000. Use fewer coins or fields."


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (3, "game is 3; accepted: a Game, a matrix of payoffs, a spec such as 'diagonal:n=4', or the name of a file."),
        ("diagonal:11", f"diagonal: n is 11; {BITS}"),
        ("diagonal:n=", f"diagonal: n is ''; {BITS}"),
        ("diagonal:0", f"diagonal: n is 0; {BITS}"),
        ("trap:r=1.5", "trap: r is 1.5; accepted: a number, -1 .. 1."),
        ("scaled:game=rps,scale=0", "scaled: scale is 0.0; accepted: a number, > 0."),
        ("hide-and-seek:1/0", "hide-and-seek: weights is (1.0, 0.0); accepted: numbers separated by /, > 0."),
        ("ito:5", "ito: family is '5'; accepted: one of 1, 2, 3, 4."),
        ("ito:epsilon=0", "ito: epsilon is 0.0; accepted: a number, 0 < ... 1."),
        ("random-gaussian:m=5001", "random-gaussian: m is 5001; accepted: an integer, 1 .. 5000."),
        ("random-skew:seed=-1", "random-skew: seed is -1; accepted: an integer, >= 0."),
        ("permuted:game=diagonal:n=11", f"diagonal: n is 11; {BITS}"),
        ("blotto:coins=30,fields=5", f"blotto: coins=30,fields=5 makes 46376 {TOO_MANY}"),
        ("blotto:coins=99,fields=99", f"blotto: coins=99,fields=99 makes 1.1375e+58 {TOO_MANY}"),
        ("random-sparse:m=9,n=4,k=5", "random-sparse: k is 5; accepted: at most 4, the smaller of m=9 and n=4."),
        ("random-low-rank:m=4,n=9,rank=5", "random-low-rank: rank is 5; accepted: at most 4, as m=4 and n=9."),
    ],
)
def test_bad_specs_are_rejected(spec, message):
    with pytest.raises(InputError) as caught:
        parse_game(spec)
    assert str(caught.value) == message


def test_titles_and_labels_are_for_people():
    assert parse_game("rps").labels == (("rock", "paper", "scissors"),) * 2
    titles = [entry.title for entry in GAMES]
    assert len(set(titles)) == len(titles)
    for entry in GAMES:
        assert entry.title[0].isupper(), f'{entry.name}: give it a title, @GAMES.add("{entry.name}", title="...")'
        assert not entry.summary.startswith(entry.title), f"{entry.name}: its summary repeats its title; reword it"


# The classic games


def test_biased_rps_equals_the_game_of_openspiel():
    pyspiel = pytest.importorskip("pyspiel")
    theirs = pyspiel.load_game("matrix_brps")
    ours = parse_game("biased-rps").payoff
    for i, j in itertools.product(range(3), repeat=2):
        assert ours[i, j] == theirs.row_utility(i, j) / 50


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_diagonal(n, binary):
    game = parse_game(f"diagonal:n={n},binary={str(binary).lower()}")
    strings = ["".join(bits) for bits in itertools.product("01", repeat=n)]  # in numeric order
    assert game.row_labels == game.column_labels == tuple(strings)
    for (i, u), (j, v) in itertools.product(enumerate(strings), repeat=2):
        more = u.count("1") - v.count("1")
        assert game.payoff[i, j] == (more >= 0 if binary else (more > 0) - (more < 0))
    last = np.eye(2**n)[-1]
    check_equilibrium(game, int(binary), last, last, unique="no" if binary else "yes")


@pytest.mark.parametrize("original", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_bigger_number(n, original):
    game = parse_game(f"bigger-number:n={n},original={str(original).lower()}")
    assert game.row_labels[-1] == "1" * n
    for x, y in itertools.product(range(2**n), repeat=2):
        stake = 2 if original and abs(x - y) == 1 else 1
        assert game.payoff[x, y] == stake * ((x > y) - (x < y))
    assert game.payoff_range == ((-2, 2) if original else (-1, 1))
    last = np.eye(2**n)[-1]
    check_equilibrium(game, 0, last, last)


def test_the_largest_sizes_can_be_made():
    assert parse_game("diagonal:10").shape == parse_game("bigger-number:10").shape == (1024, 1024)


@pytest.mark.parametrize(("coins", "fields"), [(6, 3), (1, 1), (4, 2), (3, 4)])
def test_blotto(coins, fields):
    game = parse_game(f"blotto:coins={coins},fields={fields}")
    actions = [a for a in itertools.product(range(coins + 1), repeat=fields) if sum(a) == coins]
    assert set(game.row_labels) == {"/".join(map(str, action)) for action in actions}
    assert game.row_labels == game.column_labels
    assert game.payoff_range == (-1, 1)
    for (i, row), (j, column) in itertools.product(enumerate(game.row_labels), enumerate(game.column_labels)):
        pairs = list(zip(map(int, row.split("/")), map(int, column.split("/")), strict=True))
        won, lost = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
        assert game.payoff[i, j] == (won > lost) - (won < lost)
    np.testing.assert_array_equal(game.payoff, -game.payoff.T)
    assert game.value == pytest.approx(0, abs=1e-9)
    assert game.unique_equilibrium.answer == ("yes" if fields == 1 else "no")


def kuhn_by_hand(row, column):
    """Return the expected payoff of two labels, by playing all six deals."""
    plans = [dict(part.split(":") for part in label.split()) for label in (row, column)]
    total = 0
    for row_card, column_card in itertools.permutations("JQK", 2):
        row_first, row_facing = plans[0][row_card].split("/")
        column_first, column_facing = plans[1][column_card].split("/")
        showdown = 1 if "JQK".index(row_card) > "JQK".index(column_card) else -1
        if row_first == "bet":
            total += 2 * showdown if column_facing == "call" else 1
        elif column_first == "bet":
            total += 2 * showdown if row_facing == "call" else -1
        else:
            total += showdown
    return total / 6


def test_kuhn_poker():
    game = parse_game("kuhn-poker")
    assert game.shape == (64, 64)
    assert game.payoff_range == (-2, 2)
    assert "J:bet/fold Q:check/call K:check/call" in game.row_labels
    for (i, row), (j, column) in itertools.product(enumerate(game.row_labels), enumerate(game.column_labels)):
        assert game.payoff[i, j] == pytest.approx(kuhn_by_hand(row, column), abs=1e-12)
    assert len(np.unique(game.payoff, axis=0)) == 27
    row = np.zeros(64)
    row[game.row_labels.index("J:check/fold Q:check/fold K:check/call")] = 2 / 3
    row[game.row_labels.index("J:check/fold Q:check/call K:check/call")] = 1 / 3
    column = np.zeros(64)  # bluffs with J a third of the time, calls with Q a third of the time
    for bluff, call in itertools.product([True, False], repeat=2):
        label = f"J:{'bet' if bluff else 'check'}/fold Q:check/{'call' if call else 'fold'} K:bet/call"
        column[game.column_labels.index(label)] = (1 / 3 if bluff else 2 / 3) * (1 / 3 if call else 2 / 3)
    check_equilibrium(game, -1 / 18, row, column, unique="no")


def claims():
    """Yield a spec, its payoffs, the ends of the payoff range, the value, and the unique strategies of both players."""
    third, half = [1 / 3] * 3, [1 / 2] * 2
    for spec, payoff, scale, strategy in [
        ("rps", [[0, 1, -1], [-1, 0, 1], [1, -1, 0]], 1, third),  # the paper's table
        ("biased-rps", [[0, -25, 50], [25, 0, -5], [-50, 5, 0]], 50, [1 / 16, 5 / 8, 5 / 16]),
        ("perturbed-rps", [[0, -1, 3], [1, 0, -3], [-3, 3, 0]], 3, [3 / 7, 3 / 7, 1 / 7]),
        ("matching-pennies", [[1, -1], [-1, 1]], 1, half),
    ]:
        yield spec, np.array(payoff) / scale, (-1, 1), 0, strategy, strategy
    for weights in [(1, 2, 4), (3,), (0.5, 0.25, 8, 1)]:
        inverse = 1 / np.array(weights)
        ends = (min(weights), min(weights) + 1) if len(weights) == 1 else (0, max(weights))
        spec, strategy = f"hide-and-seek:{'/'.join(map(str, weights))}", inverse / inverse.sum()
        yield spec, np.diag(weights), ends, 1 / inverse.sum(), strategy, strategy
    for r in (1, 0.25):
        yield f"trap:{r}", [[r, 0], [0, -1]], (-1, 1), 0, [1, 0], [0, 1]
    for r in (-0.25, -1):
        strategy = np.array([1, -r]) / (1 - r)
        yield f"trap:{r}", [[r, 0], [0, -1]], (-1, 1), r / (1 - r), strategy, strategy
    for e in (1, 0.1, 0.001):
        yield f"ito:1,epsilon={e}", [[0, e], [-e, 0]], (-1, 1), 0, [1, 0], [1, 0]
        yield f"ito:2,epsilon={e}", [[0, 1], [-e, 0]], (-1, 1), 0, [1, 0], [1, 0]
        yield f"ito:3,epsilon={e}", [[e, 0], [0, e]], (-1, 1), e / 2, half, half
        strategy = [e / (1 + e), 1 / (1 + e)]
        yield f"ito:4,epsilon={e}", [[1, 0], [0, e]], (-1, 1), e / (1 + e), strategy, strategy
    yield "maiti", [[2 / 3, 0], [0, 1 / 3]], (0, 2 / 3), 2 / 9, [1 / 3, 2 / 3], [1 / 3, 2 / 3]
    scaled = "scaled:game=hide-and-seek:weights=1/3,scale=0.5,shift=2"
    yield scaled, [[2.5, 2], [2, 3.5]], (2, 3.5), 2 + 0.5 * 3 / 4, [3 / 4, 1 / 4], [3 / 4, 1 / 4]


@pytest.mark.parametrize(("spec", "payoff", "ends", "value", "row", "column"), list(claims()))
def test_small_games_have_their_payoffs_and_equilibrium(spec, payoff, ends, value, row, column):
    game = parse_game(spec)
    np.testing.assert_array_equal(game.payoff, payoff)
    assert game.payoff_range == ends
    check_equilibrium(game, value, row, column)


def test_a_trap_of_zero_leaves_the_column_player_any_strategy():
    game = parse_game("trap:0")
    np.testing.assert_array_equal(game.payoff, [[0, 0], [0, -1]])
    for y in ([1, 0], [0, 1], [0.3, 0.7]):
        check_equilibrium(game, 0, [1, 0], y, unique="no")
    assert "column player" in game.unique_equilibrium.reason  # the row player has one optimal strategy
    np.testing.assert_allclose(game.solution.row, [1, 0], atol=1e-9)
