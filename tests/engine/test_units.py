"""Units: no policy depends on the unit or on the zero of the payoffs."""

import numpy as np
import pytest

from coebl import Game, Match, simulate
from coebl.engine.units import Units
from coebl.learners import Seat, parse_learner

ROUNDS = 300
PAYOFF = np.random.default_rng(8).uniform(-1.3, 0.9, (3, 4))
NOISE = 0.7


def policies(spec, seat, scale, shift, noise="gaussian"):
    sigma = f":sigma={NOISE * scale!r}" if noise == "gaussian" else ""
    # Wider than the payoffs by amounts that are exact, so that both scales have the same middle.
    low, high = -1.5 * scale + shift, 1.25 * scale + shift
    game = Game(scale * PAYOFF + shift, noise=noise + sigma, payoff_range=(low, high))
    learner, opponent = parse_learner(spec), parse_learner("tsallis-inf")
    players = (learner, opponent) if seat == "row" else (opponent, learner)
    result = simulate(Match(game, players, ROUNDS), 3, metrics=["regret"], record="last", keep=["policies"])
    return result.kept["policies"][0 if seat == "row" else 1]


@pytest.mark.parametrize(
    ("seat", "noise"), [("row", "gaussian"), ("column", "gaussian"), ("row", "bernoulli"), ("column", "none")]
)
@pytest.mark.parametrize("spec", ["coebl", "exp3", "hedge", "best-response"])
def test_no_policy_depends_on_units(spec, seat, noise):
    """The kit checks it for every learner, with Gaussian noise."""
    plain = policies(spec, seat, 1.0, 0.0, noise)
    np.testing.assert_array_equal(policies(spec, seat, 4096.0, 0.0, noise), plain)  # a power of two: nothing is rounded
    if noise == "gaussian":  # where rewards tie, rounding may decide which one wins
        np.testing.assert_allclose(policies(spec, seat, 5000.0, 300.0), plain, rtol=0, atol=1e-6)


def test_the_papers_units_change_no_bit():
    reward = np.array([0.3, -1.7, -0.0, 0.0])
    units = Units((-1.0, 1.0), noise=1.0)
    assert units.seen(reward) is reward
    assert units.seen_range == (-1.0, 1.0)
    assert ((reward - units.middle) / units.scale).tobytes() == reward.tobytes()


def test_without_noise_and_width_there_is_nothing_to_divide_by():
    assert Units((2.0, 2.0)).seen(5.0) == 3


def test_a_learner_that_sees_the_game_sees_it_in_its_units():
    seen = {}

    class Curious(type(parse_learner("uniform"))):
        sees = frozenset({"game", "payoffs"})

        def start(self, seat: Seat) -> None:
            super().start(seat)
            seen["range"], seen["game"] = seat.payoff_range, seat.payoff

        def observe(self, t, event):
            seen["payoffs"], seen["reward"], seen["action"] = event.payoffs, event.reward, event.action

    payoff = [[10.0, 50.0, 20.0], [30.0, 40.0, 10.0]]
    game = Game(payoff, noise="gaussian:sigma=5", payoff_range=(10, 50))
    result = simulate(Match(game, (parse_learner("fixed:0/1"), Curious()), 4), 1, keep=["rewards"])
    assert seen["range"] == (-4.0, 4.0)
    np.testing.assert_array_equal(seen["game"], -(np.array(payoff).T - 30) / 5)
    np.testing.assert_array_equal(seen["payoffs"], [[0.0, -2.0, 4.0]])
    raw = result.kept["rewards"][1][-1]  # kept rewards are in the game's units
    np.testing.assert_allclose(seen["reward"], (raw + 30) / 5)
