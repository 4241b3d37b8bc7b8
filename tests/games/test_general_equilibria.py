"""Equilibria of games that are not zero-sum, against enumeration of deviations and known equilibria."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest

from coebl import Game, simulate
from coebl.core.errors import InputError
from coebl.games import TensorGame, parse_game

CUBES = np.random.default_rng(8).normal(size=(3, 2, 3, 4))


def pair(m, n, seed):
    return TensorGame(np.random.default_rng(seed).normal(size=(2, m, n)), name="pair")


def earned(game, strategies):
    """Return the payoff of each player, by enumeration of joint actions."""
    total = np.zeros(len(strategies))
    for joint in itertools.product(*map(range, game.shape)):
        chance = np.prod([strategy[action] for strategy, action in zip(strategies, joint, strict=True)])
        total += chance * np.array([payoff[joint] for payoff in game.payoffs])
    return total


def if_played(game, seat, strategies):
    """Return the payoff of each action of a player against the strategies of the others, by enumeration."""
    tried = [[*strategies[:seat], own, *strategies[seat + 1 :]] for own in np.eye(game.shape[seat])]
    return np.array([earned(game, others)[seat] for others in tried])


def gains(game, strategies):
    """Return the gain of each player's best deviation, by enumeration."""
    return [if_played(game, seat, strategies).max() for seat in range(len(game.shape))] - earned(game, strategies)


def gains_by_advice(game, joint, coarse):
    """Return the gain of each deviation: from an advised action to another, or if coarse, from all actions to one."""
    all_gains = []
    for seat, count in enumerate(game.shape):
        for other, advised in itertools.product(range(count), [None] if coarse else range(count)):
            gain = 0.0
            for actions in itertools.product(*map(range, game.shape)):
                if advised in (None, actions[seat]):
                    deviated = (*actions[:seat], other, *actions[seat + 1 :])
                    gain += joint[actions] * (game.payoffs[seat][deviated] - game.payoffs[seat][actions])
            all_gains.append(gain)
    return np.array(all_gains)


def pure_equilibria(game):
    best = [payoff >= payoff.max(axis=seat, keepdims=True) - 1e-12 for seat, payoff in enumerate(game.payoffs)]
    return set(map(tuple, np.argwhere(np.all(best, axis=0)).tolist()))


def mixed(*texts):
    return [np.array([float(Fraction(part)) for part in text.split()]) for text in texts]


PURE = {
    "prisoners-dilemma": {(1, 1)},
    "stag-hunt": {(0, 0), (1, 1)},
    "chicken": {(0, 1), (1, 0)},
    "battle-of-the-sexes": {(0, 0), (1, 1)},
    "coordination:n=4": {(i, i) for i in range(4)},
    "shapley": set(),
    "travellers-dilemma": {(0, 0)},
    "travellers-dilemma:high=100,low=3,bonus=1.5": {(0, 0)},
    "cournot": {(4, 4), (3, 5), (5, 3)},
    "bertrand": {(0, 0), (1, 1)},
    "first-price-auction": {(3, 2), (3, 3), (4, 3)},
    "jordan": set(),
    "congestion": {(0, 0, 1), (0, 1, 0), (1, 0, 0)},
    "public-goods": {(0, 0, 0)},
    "public-goods:players=4,tokens=2,factor=3.5": {(0, 0, 0, 0)},
}
MIXED = [  # strategies and payoffs
    ("stag-hunt", mixed("3/4 1/4", "3/4 1/4"), [3, 3]),
    ("chicken", mixed("2/3 1/3", "2/3 1/3"), [14 / 3, 14 / 3]),
    ("battle-of-the-sexes", mixed("3/5 2/5", "2/5 3/5"), [6 / 5, 6 / 5]),
    ("coordination", mixed("1/2 0 1/2", "1/2 0 1/2"), [1 / 2, 1 / 2]),
    ("coordination", mixed("1/3 1/3 1/3", "1/3 1/3 1/3"), [1 / 3, 1 / 3]),
    ("shapley", mixed("1/3 1/3 1/3", "1/3 1/3 1/3"), [1 / 3, 1 / 3]),
    ("jordan", mixed("1/2 1/2", "1/2 1/2", "1/2 1/2"), [0, 0, 0]),
]
KNOWN = {  # payoffs of all equilibria
    "prisoners-dilemma": [(1, 1)],
    "stag-hunt": [(4, 4), (3, 3), (3, 3)],
    "chicken": [(2, 7), (7, 2), (14 / 3, 14 / 3)],
    "battle-of-the-sexes": [(3, 2), (2, 3), (6 / 5, 6 / 5)],
    "coordination:n=3": [(1, 1)] * 3 + [(1 / 2, 1 / 2)] * 3 + [(1 / 3, 1 / 3)],
    "shapley": [(1 / 3, 1 / 3)],
    "travellers-dilemma:high=5": [(2, 2)],
}


@pytest.mark.parametrize("spec", PURE)
def test_pure_equilibria_are_those_of_the_docstring(spec):
    assert pure_equilibria(parse_game(spec)) == PURE[spec]


@pytest.mark.parametrize(("spec", "strategies", "paid"), MIXED)
def test_mixed_equilibria_are_those_of_the_docstring(spec, strategies, paid):
    game = parse_game(spec)
    np.testing.assert_allclose(gains(game, strategies), 0, atol=1e-12)
    np.testing.assert_allclose(earned(game, strategies), paid)


@pytest.mark.parametrize("spec", KNOWN)
def test_the_equilibria_are_those_of_the_catalogue(spec):
    equilibria = parse_game(spec).equilibria()
    np.testing.assert_allclose([profile.payoffs for profile in equilibria], KNOWN[spec])
    assert max(profile.regret for profile in equilibria) <= 1e-9


@pytest.mark.parametrize(("m", "n"), [(2, 2), (3, 4), (5, 2), (1, 4)])
def test_no_deviation_from_an_equilibrium_gains_and_their_number_is_odd(m, n):
    for seed in range(8):
        game = pair(m, n, seed)
        equilibria = game.equilibria()
        assert len(equilibria) % 2 == 1  # as in every game that is not degenerate
        for profile in equilibria:
            np.testing.assert_allclose(profile.payoffs, earned(game, profile.strategies), atol=1e-12)
            assert gains(game, profile.strategies).max() <= 1e-8


def test_a_zero_sum_game_has_the_equilibrium_of_the_solver():
    matrix = np.random.default_rng(3).normal(size=(4, 3))
    [profile] = Game((matrix, -matrix)).equilibria()
    solution = Game(matrix).solution
    np.testing.assert_allclose(profile.strategies[0], solution.row, atol=1e-9)
    np.testing.assert_allclose(profile.strategies[1], solution.column, atol=1e-9)
    assert Game((matrix, -matrix)).correlated().payoffs == pytest.approx((solution.value, -solution.value), abs=1e-6)


def test_payoffs_of_actions_and_strategies_are_those_by_enumeration():
    game = TensorGame(CUBES)
    random = np.random.default_rng(2)
    strategies = [random.dirichlet(np.ones(count)) for count in game.shape]
    np.testing.assert_allclose(game.expected(strategies), earned(game, strategies))
    for seat in range(3):
        np.testing.assert_allclose(game.against(seat, strategies), if_played(game, seat, strategies))


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize(
    "game", [TensorGame(CUBES), pair(3, 4, 1), parse_game("jordan"), parse_game("congestion")], ids=repr
)
def test_no_deviation_from_correlated_advice_gains(game, coarse):
    equilibrium = game.correlated(coarse=coarse)
    assert equilibrium.joint.sum() == pytest.approx(1)
    assert equilibrium.joint.min() >= 0
    assert gains_by_advice(game, equilibrium.joint, coarse).max() <= 1e-6
    np.testing.assert_allclose(equilibrium.payoffs, [(equilibrium.joint * payoff).sum() for payoff in game.payoffs])
    assert max(equilibrium.regret, equilibrium.gap) <= 1e-7


@pytest.mark.parametrize("seed", range(6))
def test_every_kind_of_equilibrium_pays_at_least_as_much_as_a_narrower_one(seed):
    game = pair(3, 3, seed)
    nash = max(sum(profile.payoffs) for profile in game.equilibria())
    correlated, coarse = (sum(game.correlated(coarse=kind).payoffs) for kind in (False, True))
    assert nash <= correlated + 1e-6
    assert correlated <= coarse + 1e-6


@pytest.mark.parametrize(
    ("spec", "payoffs"),
    [
        ("prisoners-dilemma", (1, 1)),
        ("chicken", (21 / 4, 21 / 4)),
        ("stag-hunt", (4, 4)),
        ("public-goods", (1, 1, 1)),
    ],
)
def test_the_best_correlated_equilibria_that_are_known(spec, payoffs):
    assert sum(parse_game(spec).correlated().payoffs) == pytest.approx(sum(payoffs), abs=1e-6)


@pytest.mark.parametrize("spec", ["shapley", "jordan"])
def test_advice_pays_as_much_as_the_best_cell(spec):
    """The advice is uniform on the six best cells, as the docstrings state, and no cell pays more."""
    game = parse_game(spec)
    best = sum(game.payoffs) == 1
    assert (best.sum(), sum(game.payoffs).max()) == (6, 1)
    assert gains_by_advice(game, best / 6, coarse=False).max() <= 1e-12
    assert sum(game.correlated().payoffs) == pytest.approx(1)


def test_large_games_and_games_of_more_players_are_rejected():
    with pytest.raises(InputError, match=r"^jordan has 3 players; accepted for Nash: two\. Use correlated"):
        parse_game("jordan").equilibria()
    with pytest.raises(InputError, match=r"^pair is 9 x 9, too many supports; accepted: up to 20,000 pairs"):
        pair(9, 9, 0).equilibria()
    with pytest.raises(InputError, match=r"has 390,625 joint actions; accepted: at most 100,000\."):
        parse_game("public-goods:players=8,tokens=4").correlated()


def test_the_command_prints_the_equilibria(coebl):
    code, out, _ = coebl("solve", "chicken")
    assert code == 0
    assert out.count("\nequilibrium ") == 3
    assert "the players earn 5.25, 5.25" in out
    solution = json.loads(coebl("solve", "jordan", "--json").stdout)
    assert solution["equilibria"] == []
    assert np.shape(solution["correlated"]["joint"]) == (2, 2, 2)


def distance_by_enumeration(game, joint, coarse):
    """Return the total variation from joint play to the nearest equilibrium, which is a corner of linear pieces.

    At a corner, as many of these hold as there are degrees of freedom: a deviation gains nothing, a joint action is not
    played, a joint action is played as often as in the joint play.
    """
    cells = joint.size
    units = np.eye(cells).reshape(cells, *game.shape)
    gains = np.array([gains_by_advice(game, unit, coarse) for unit in units]).T
    gains = gains[np.abs(gains).max(axis=1) > 0]
    gains /= np.abs(gains).max(axis=1, keepdims=True)
    planes = np.vstack([gains, np.eye(cells), np.eye(cells)])
    offsets = np.concatenate([np.zeros(len(gains) + cells), joint.ravel()])
    chosen = np.array(list(itertools.combinations(range(len(planes)), cells - 1)))
    equations = np.concatenate([planes[chosen], np.ones((len(chosen), 1, cells))], axis=1)
    right = np.concatenate([offsets[chosen], np.ones((len(chosen), 1))], axis=1)
    regular = np.abs(np.linalg.det(equations)) > 1e-9
    corners = np.linalg.solve(equations[regular], right[regular][..., None])[..., 0]
    feasible = (corners.min(axis=1) > -1e-9) & ((corners @ gains.T).max(axis=1) < 1e-9)
    return np.abs(corners[feasible] - joint.ravel()).sum(axis=1).min() / 2


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize(("shape", "scale"), [((2, 2), 5000.0), ((2, 3), 0.003), ((1, 4), 1.0), ((2, 1, 3), 70.0)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_distances_are_those_by_enumeration_and_certified(shape, scale, coarse, seed):
    random = np.random.default_rng(seed)
    game = TensorGame(scale * random.normal(7, 1, (len(shape), *shape)))
    counts = random.integers(0, 9, (3, *shape)) * (random.random((3, *shape)) < 0.7)
    counts[:, *[0] * len(shape)] += 1
    distances = game.distance_to_correlated(counts, coarse=coarse)
    for run, count in enumerate(counts):
        wanted = distance_by_enumeration(game, count / count.sum(), coarse)
        assert distances.distance[run] == pytest.approx(wanted, abs=1e-8)
        gains = gains_by_advice(game, distances.nearest[run], coarse)
        assert gains.max() <= 1e-7 * scale * 7
        assert np.abs(distances.nearest[run] - count / count.sum()).sum() / 2 == pytest.approx(wanted, abs=1e-8)
    assert max(distances.regret.max(), distances.gap.max()) < 1e-7


def test_the_distance_of_three_players_is_that_by_enumeration():
    game = TensorGame(np.random.default_rng(5).normal(size=(3, 2, 2, 2)))
    joint = np.random.default_rng(6).dirichlet(np.ones(8)).reshape(2, 2, 2)
    [coarse] = game.distance_to_correlated(joint, coarse=True).distance
    assert coarse == pytest.approx(distance_by_enumeration(game, joint, True), abs=1e-8)
    [fine] = game.distance_to_correlated(joint).distance
    assert fine >= coarse - 1e-9


def test_equilibria_are_at_distance_zero_and_the_coarse_set_is_larger():
    game = parse_game("chicken")
    corners = [np.outer(*profile.strategies) for profile in game.equilibria()]
    joints = np.array([game.correlated().joint, *corners, np.mean(corners, axis=0)])
    np.testing.assert_allclose(game.distance_to_correlated(joints).distance, 0.0, atol=1e-9)
    assert game.distance_to_correlated(np.zeros((0, 2, 2))).nearest.shape == (0, 2, 2)
    shapley = parse_game("shapley")
    best = shapley.correlated(coarse=True).joint
    assert shapley.distance_to_correlated(best, coarse=True).distance < 1e-9


def test_the_distance_of_a_result_is_that_of_its_counts():
    result = simulate("chicken", "exp3", "ucb", rounds=80, seeds=3, keep=["counts"])
    distances = result.distance_to_correlated()
    game = parse_game("chicken")
    for count, distance in zip(result.kept["counts"], distances.distance, strict=True):
        assert distance == pytest.approx(distance_by_enumeration(game, count / 80, False), abs=1e-8)
    payoff = np.array([[3, 0, 5], [1, 2, 4]])
    zero_sum, tensors = (
        simulate(same, "exp3", "ucb", rounds=80, seeds=2, keep=["counts"]).distance_to_correlated().distance
        for same in (Game(payoff), Game((payoff, -payoff)))
    )
    np.testing.assert_allclose(zero_sum, tensors)


CHICKEN = parse_game("chicken")


def distance_of(game, **options):
    return simulate(game, "exp3", "ucb", rounds=9, seeds=1, **options).distance_to_correlated()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: distance_of("chicken"), "has no counts of joint"),
        (lambda: distance_of("drifting:game=rps,every=4", keep=["counts"]), "has payoffs that change"),
        (lambda: CHICKEN.distance_to_correlated([1, 2]), "joint is [1, 2]; accepted: numbers >= 0 of shape (2"),
        (lambda: CHICKEN.distance_to_correlated(np.zeros((2, 2))), "of shape (2, 2), not all of them 0."),
        (lambda: CHICKEN.distance_to_correlated([[1, -1], [1, 1]]), "accepted: numbers >= 0"),
    ],
)
def test_play_without_a_distance_is_rejected_in_one_line(call, message):
    with pytest.raises(InputError) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
