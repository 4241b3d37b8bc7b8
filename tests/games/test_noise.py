"""Noise models: their distributions, their specs, and draws that do not depend on the game."""

import numpy as np
import pytest

from coebl.core.errors import InputError
from coebl.engine.units import Units
from coebl.games import parse_game
from coebl.games.noise import Bernoulli, Gaussian, Noise, parse_noise

DRAWS = 200_000
RANGE = (-1.0, 3.0)  # not symmetric, so that swapped ends are found

# spec, standard deviation, third central moment
ADDITIVE = [
    ("gaussian", 1, 0),
    ("gaussian:sigma=0.5", 0.5, 0),
    ("misstated:sigma=0.5,told=3", 0.5, 0),
    ("laplace", 1, 0),
    ("laplace:sigma=2", 2, 0),
    ("student-t:df=10", 1, 0),
    ("student-t:df=10,sigma=0.3", 0.3, 0),
    ("exponential", 1, 2),
    ("exponential:sigma=0.5", 0.5, 2 * 0.5**3),
]


def within_four_standard_errors(sample, expected):
    return abs(sample.mean() - expected) < 4 * sample.std() / np.sqrt(len(sample))


@pytest.mark.parametrize(("spec", "deviation", "skew"), ADDITIVE)
def test_noise_has_mean_zero_and_its_standard_deviation(spec, deviation, skew):
    # 200,000 draws, 4 standard errors: a false alarm in 16,000 seeds for each assertion, and the seed is fixed.
    # With ten degrees of freedom, the square has a standard error.
    draw = parse_noise(spec).draw(np.random.default_rng(11), DRAWS)
    assert draw.shape == (DRAWS,)
    assert within_four_standard_errors(draw, 0)
    assert within_four_standard_errors(draw**2, deviation**2)
    assert within_four_standard_errors(draw**3, skew)
    assert (draw.min() >= -deviation) == (skew > 0)  # exponential noise has only an upper tail


@pytest.mark.parametrize(
    ("spec", "expected"), [("gaussian", np.sqrt(2 / np.pi)), ("laplace", np.sqrt(0.5)), ("student-t", 2 / np.pi)]
)
def test_the_shape_of_noise(spec, expected):
    # The mean absolute value distinguishes noises of one standard deviation. With df = 3 the fourth moment is infinite,
    # and the mean absolute value of a t of variance 3 is 2 sqrt(3) / pi. 200,000 draws, a false alarm in 16,000 seeds.
    draw = parse_noise(spec).draw(np.random.default_rng(13), DRAWS)
    assert within_four_standard_errors(draw, 0)
    assert within_four_standard_errors(np.abs(draw), expected)
    assert (np.abs(draw).max() > 10) == (spec == "student-t")  # heavy tails


@pytest.mark.parametrize("payoff", [-1.0, -0.5, 0.0, 1.0, 2.9, 3.0])
def test_bernoulli_has_the_right_mean_on_a_range_that_is_not_symmetric(payoff):
    noise = Bernoulli()
    draw = noise.draw(np.random.default_rng(14), DRAWS)
    reward = noise.reward(np.full(DRAWS, payoff), draw, RANGE)
    assert set(np.unique(reward)) <= set(RANGE)
    # 200,000 draws, 4 standard errors: a false alarm in 16,000 seeds; at both ends nothing is random
    high = (payoff - RANGE[0]) / (RANGE[1] - RANGE[0])
    error = (RANGE[1] - RANGE[0]) * np.sqrt(high * (1 - high) / DRAWS)
    assert abs(reward.mean() - payoff) <= 4 * error


def test_rewards_are_the_payoff_plus_the_draw():
    payoff, draw = np.array([1.0, -2.0]), np.array([0.25, 0.5])
    for name in ("gaussian", "misstated", "laplace", "student-t", "exponential"):
        np.testing.assert_array_equal(parse_noise(name).reward(payoff, draw, RANGE), [1.25, -1.5])
    for silent in map(parse_noise, ("none", "gaussian:sigma=0")):
        np.testing.assert_array_equal(silent.reward(payoff, silent.draw(np.random.default_rng(0), 2), RANGE), payoff)
        assert silent.deviation(RANGE) == 0


@pytest.mark.parametrize(
    "spec", ["gaussian:sigma=3", "laplace:sigma=2", "student-t:df=8,sigma=0.5", "exponential:sigma=0.25", "bernoulli"]
)
def test_the_deviation_is_that_of_rewards_in_the_middle_of_the_range(spec):
    noise = parse_noise(spec)
    middle = np.full(DRAWS, sum(RANGE) / 2)
    squares = (noise.reward(middle, noise.draw(np.random.default_rng(16), DRAWS), RANGE) - middle) ** 2
    # 200,000 draws, 4 standard errors: a false alarm in 16,000 seeds
    assert abs(squares.mean() - noise.deviation(RANGE) ** 2) <= 4 * squares.std() / np.sqrt(DRAWS)
    measured = Noise.deviation(noise, RANGE)  # of a custom noise, from 65,536 draws
    assert abs(measured**2 - noise.deviation(RANGE) ** 2) <= 4 * squares.std() / np.sqrt(2**16)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gausian", "unknown noise 'gausian': did you mean 'gaussian'? See: coebl list noises"),
        ("student-t:df=2", "student-t: df is 2.0; accepted: a number, > 2."),
        *(
            (f"{name}:sigma={written}", f"{name}: sigma is {float(written)}; accepted: a number, 0 .. 1e+100.")
            for name, written in [
                *(("gaussian", sigma) for sigma in ("-1", "inf", "1e308")),
                *((name, "1e101") for name in ("laplace", "student-t", "exponential")),
            ]
        ),
    ],
)
def test_bad_specs_are_rejected(spec, message):
    with pytest.raises(InputError) as caught:
        parse_noise(spec)
    assert str(caught.value) == message


def test_learners_receive_a_misstated_deviation():
    game = parse_game("scaled:game=rps,scale=50,shift=7,noise=misstated:sigma=20+told=5")
    assert Units.of(game, 0).noise == 5
    assert str(game.noise) == "misstated:sigma=20,told=5"
    assert parse_game("scaled:game=rps,scale=50").noise == Gaussian()
