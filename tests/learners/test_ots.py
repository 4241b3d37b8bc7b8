"""OTS: the distribution of the optimistic draw, in which its implementations differ."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from coebl.engine.table import build_seat
from coebl.learners import Seen
from coebl.learners.ots import OtsHedge, OtsRm

RUNS, REPEATS = 500, 80


def moments_of_the_largest(draws):
    """Mean and standard deviation of the largest of some standard normal numbers, by quadrature."""

    def moment(power):
        return quad(lambda z: z**power * draws * norm.pdf(z) * norm.cdf(z) ** (draws - 1), -10, 10)[0]

    return moment(1), math.sqrt(moment(2) - moment(1) ** 2)


@pytest.mark.parametrize("make", [OtsHedge, OtsRm])
@pytest.mark.parametrize(("draws", "visits"), [(1, 0), (10, 0), (10, 1), (10, 8), (3, 3)])
def test_moments_of_the_draw(make, draws, visits):
    """40,000 draws of the pair (1, 2) after some visits of reward 2; 4 standard errors of mean and deviation.

    The standard error of the deviation is that of normal numbers times 1.3, since the largest of several has heavier
    tails than a normal number (its fourth standardised moment stays below 3.6).
    """
    learner = make(draws=draws)
    playing = learner.seated(build_seat(learner, range(RUNS), (2, 3), 10, (-100.0, 100.0)))  # nothing is clipped
    action, opponent = np.full(RUNS, 1), np.full(RUNS, 2)
    for t in range(1, visits + 1):
        playing.policy(t)
        playing.observe(t, Seen(action, np.full(RUNS, 2.0), opponent))
    found = np.concatenate([playing.imagine(opponent)[:, 1] for _ in range(REPEATS)])
    mean, deviation = moments_of_the_largest(draws)
    posterior_mean, posterior_deviation = 2 * visits / (visits + 1), math.sqrt(1 / (visits + 1))
    expected = posterior_deviation * deviation
    assert abs(found.mean() - (posterior_mean + posterior_deviation * mean)) < 4 * expected / math.sqrt(found.size)
    assert abs(found.std() - expected) < 4 * 1.3 * expected / math.sqrt(2 * found.size)


def test_the_draw_is_clipped_to_the_range():
    learner = OtsHedge()
    playing = learner.seated(build_seat(learner, range(100), (2, 3), 10, (-0.5, 1.0)))
    found = np.concatenate([playing.imagine(np.zeros(100, int)) for _ in range(10)])
    assert found.min() >= -0.5
    assert (found == 1.0).mean() > 0.7  # Pr(the largest of 10 > 1) = 1 - 0.841^10 = 0.82


def test_the_draw_comes_before_the_reward_of_the_round():
    """A huge reward moves the payoff imagined in the next round, not in the same one."""
    learner = OtsHedge()
    playing = learner.seated(build_seat(learner, [0], (2, 1), 10, (-1e6, 1e6)))
    here = np.zeros(1, int)
    playing.observe(1, Seen(here, np.array([1e6]), here))
    assert abs(playing.score[0, 0] - playing.score[0, 1]) < 1e-5
    playing.observe(2, Seen(here, np.array([1e6]), here))
    assert playing.score[0, 0] - playing.score[0, 1] > 0.2
