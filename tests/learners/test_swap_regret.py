"""Blum and Mansour's construction: stationary distributions, custom bandits, and rejected learners."""

from fractions import Fraction

import numpy as np
import pytest

from bare_seats import build_seat
from coebl import Learner, simulate
from coebl.core.errors import InputError
from coebl.learners.swap_regret import BlumMansour, stationary


def test_stationary_distributions_of_rare_states_have_small_relative_errors():
    """Against exact fractions: a chain in which the last of five states is reached once in 10^40 rounds."""
    rare = Fraction(1, 10**8)
    chain = np.zeros((5, 5))
    for i in range(5):
        chain[i, max(0, i - 1)], chain[i, min(4, i + 1)] = float(1 - rare), float(rare)
    exact = [(rare / (1 - rare)) ** i for i in range(5)]
    distribution = stationary(chain[None])[0]
    assert distribution == pytest.approx([float(p / sum(exact)) for p in exact], rel=1e-12, abs=0)


def test_stationary_distributions_that_are_not_unique():
    distributions = stationary(np.stack([np.eye(4), np.roll(np.eye(4), 1, axis=1), np.eye(4)[[2, 2, 2, 2]]]))
    np.testing.assert_allclose(distributions[:2], 1 / 4, rtol=1e-12)
    np.testing.assert_allclose(distributions[2], [0, 0, 1, 0], atol=1e-15)


class Drawing(Learner):
    """A bandit with random policies."""

    importance_weighted = True

    def start(self, seat):
        self.spread = seat.full(0.1, seat.actions)

    def policy(self, t):
        random, m = self.seat.random, self.seat.actions
        weight = random.uniform(m) + np.exp(random.normal(m, deviation=self.spread, mean=3 * self.spread))
        return weight / weight.sum(axis=-1, keepdims=True)


def test_a_custom_bandit_draws_numbers_for_every_copy_and_run():
    learner = BlumMansour(Drawing())
    playing = learner.seated(build_seat(learner, [4, 9], (3, 2), 10, (-1.0, 1.0)))
    alone = learner.seated(build_seat(learner, [9], (3, 2), 10, (-1.0, 1.0)))
    for t in range(1, 4):
        both, single = playing.copies.policy(t), alone.copies.policy(t)
        assert len(np.unique(both)) == 18
        np.testing.assert_array_equal(both[3:], single)


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        ("ucb", "blum-mansour: ucb is not a bandit that divides by the probability of its action; pick another"),
        ("hedge", "blum-mansour: hedge is not a bandit that divides"),
        ("uniform", "blum-mansour: uniform is not a bandit that divides"),
        ("gene-lr", "blum-mansour: gene-lr "),
    ],
)
def test_other_learners_are_rejected(inner, message):
    with pytest.raises(InputError, match=message):
        simulate("rps", BlumMansour(inner), "exp3", rounds=5, seeds=1)
