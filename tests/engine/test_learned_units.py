"""Units that are not given are learned from the rewards; then the learner learns again."""

import warnings

import numpy as np
import pytest

from coebl.engine import Player
from coebl.engine.records import Records, RoundOutcome, have_moved, learn_units
from coebl.engine.units import Units

PAYOFF = np.random.default_rng(3).uniform(300, 5300, (4, 5))
RANGE = (float(PAYOFF.min()), float(PAYOFF.max()))


def records_of(rounds, noise, seed=0, payoff=PAYOFF, scale=1.0):
    random, records = np.random.default_rng(seed), Records(*payoff.shape)
    for t in range(rounds):
        i, j = int(random.integers(payoff.shape[0])), int(random.integers(payoff.shape[1]))
        records.add(RoundOutcome(t, i, i, j, scale * float(payoff[i, j] + noise * random.normal()), 0.5, True))
    return records


@pytest.mark.parametrize("noise", [300.0, 1500.0, 5000.0])
def test_range_and_noise_come_near_the_truth(noise):
    """The noise within 10 %; the range covers the payoffs, and is at most 2.5 times as wide even under much noise."""
    units = learn_units(records_of(1000, noise), None, None)
    assert units.noise == pytest.approx(noise, rel=0.1)
    (low, high), width = units.payoff_range, RANGE[1] - RANGE[0]
    assert low < RANGE[0] + 0.1 * width
    assert high > RANGE[1] - 0.1 * width
    assert high - low < 2.5 * width


def test_units_that_are_given_are_kept():
    records = records_of(100, 300.0)
    assert learn_units(records, (0.0, 9000.0), 50.0) == Units((0.0, 9000.0), 50.0)
    assert learn_units(records, (0.0, 9000.0), None).payoff_range == (0.0, 9000.0)
    assert learn_units(records, None, 300.0).noise == 300.0


def test_without_the_opponents_actions_its_choices_are_not_taken_for_noise():
    """Two actions of equal mean: all variance is within them, and the range stays that of the rewards."""
    records = Records(2, 1)
    for t in range(200):
        records.add(RoundOutcome(t, t % 2, t % 2, -1, float(t % 7), 0.5, True))
    assert learn_units(records, None, None).payoff_range == (0.0, 6.0)


def test_rewards_without_noise_have_a_tenth_of_half_the_range_as_noise():
    units = learn_units(records_of(500, 0.0), None, None)
    assert units.noise == pytest.approx(0.1 * (units.payoff_range[1] - units.payoff_range[0]) / 2)


def test_early_estimates_are_usable():
    records = Records(2, 2)
    assert learn_units(records, None, None) == Units((-1.0, 1.0), 1.0)
    records.add(RoundOutcome(1, 0, 0, 0, 700.0, 0.5, True))
    assert learn_units(records, None, None) == Units((700.0, 700.0), 0.0)
    records.add(RoundOutcome(2, 1, 1, 0, 900.0, 0.5, True))
    assert learn_units(records, None, None) == Units((700.0, 900.0), 100.0)


@pytest.mark.parametrize(
    ("low", "high", "noise", "moved"),
    [
        *((0, 10, 2, False), (0.9, 10.9, 2, False)),
        *((0, 11.5, 2, True), (-1.5, 10, 2, True), (0, 10, 2.6, True), (0, 10, 1.5, True)),
    ],
)
def test_small_changes_are_not_followed(low, high, noise, moved):
    assert have_moved(Units((low, high), noise), Units((0.0, 10.0), 2.0)) == moved


SPECS = ["ots-rm", "ucb", "exp3", "tsallis-inf", "thompson", "kin", "coebl", "k-learning", "explore-then-commit"]


def contest(player, rounds, unit=1.0, zero=0.0, seed=1):
    """Play against random actions; return the tickets."""
    random, tickets = np.random.default_rng(seed), []
    for _ in range(rounds):
        opponent, noise = int(random.integers(5)), 400 * random.normal()
        tickets.append(player.act())
        player.observe(reward=unit * (PAYOFF[tickets[-1], opponent] + noise) + zero, opponent=opponent)
    return tickets


def policies(*arguments, **units):
    return np.array([ticket.policy for ticket in contest(*arguments, **units)])


@pytest.mark.parametrize("spec", SPECS)
def test_a_player_without_units_plays_the_same_in_any(spec):
    players = [Player(spec, 4, 5, horizon=60, seed=2) for _ in range(3)]
    euros = policies(players[0], 60)
    np.testing.assert_allclose(policies(players[1], 60, unit=128.0), euros, atol=1e-9)
    np.testing.assert_allclose(policies(players[2], 30, unit=0.25, zero=-512.0), euros[:30], atol=1e-6)


def test_units_settle_and_draws_are_never_repeated():
    player = Player("uniform", 4, 5, seed=2)
    actions = list(map(int, contest(player, 600, seed=5)))
    assert player._restarts < 40
    settled = player._restarts
    contest(player, 600, seed=5)
    assert player._restarts - settled < 5
    for lag in (1, 2, 3, 5, 10, 20):  # a restart from the same seed would repeat the first draws
        same = np.mean(np.array(actions[lag:]) == np.array(actions[:-lag]))
        assert abs(same - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 600)
    assert actions[: player._restarts] != actions[player._restarts : 2 * player._restarts]


def test_a_given_noise_that_is_clearly_wrong_is_reported_once():
    player = Player("ots-rm", 4, 5, seed=2, payoff_range=(0, 6000), noise=1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        contest(player, 200)
    [warning] = caught
    assert (warning.filename, player.warnings) == (__file__, (str(warning.message),))
    assert str(warning.message).startswith("noise is 1, and rewards of the same pair of actions have a deviation of ")
    assert "or leave it out to have it learned" in str(warning.message)
    right = Player("ots-rm", 4, 5, seed=2, payoff_range=(0, 6000), noise=300.0)
    contest(right, 200)
    assert right.warnings == ()
