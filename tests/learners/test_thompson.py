"""Learners with a posterior: the optimistic draw of OTS, and the Gaussian process of GP-MW against a dense one."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from bare_seats import build_seat
from coebl.learners import Seen, parse_learner
from coebl.learners.thompson import GaussianProcess, OtsHedge, OtsRm
from oracles.learners import dense_gaussian_process, rbf

RUNS, REPEATS = 500, 80


def moments_of_the_largest(draws):
    """Return mean and deviation of the largest of some standard normal numbers, by quadrature."""

    def moment(power):
        return quad(lambda z: z**power * draws * norm.pdf(z) * norm.cdf(z) ** (draws - 1), -10, 10)[0]

    return moment(1), math.sqrt(moment(2) - moment(1) ** 2)


@pytest.mark.parametrize("make", [OtsHedge, OtsRm])
@pytest.mark.parametrize(("draws", "visits"), [(1, 0), (10, 0), (10, 1), (10, 8), (3, 3)])
def test_moments_of_the_draw(make, draws, visits):
    """40,000 draws of the pair (1, 2) after some visits of reward 2; 4 standard errors of mean and deviation.

    The standard error of the deviation is that of normal numbers times 1.3, since the largest of several has heavier
    tails (its fourth standardised moment is below 3.6).
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


def test_the_draw_is_clipped_to_the_range_and_comes_before_the_reward_of_the_round():
    """A huge reward moves the payoff imagined in the next round, not in the same one."""
    learner = OtsHedge()
    playing = learner.seated(build_seat(learner, range(100), (2, 3), 10, (-0.5, 1.0)))
    found = np.concatenate([playing.imagine(np.zeros(100, int)) for _ in range(10)])
    assert found.min() >= -0.5
    assert (found == 1.0).mean() > 0.7  # Pr(the largest of 10 > 1) = 1 - 0.841^10 = 0.82
    playing = learner.seated(build_seat(learner, [0], (2, 1), 10, (-1e6, 1e6)))
    here = np.zeros(1, int)
    playing.observe(1, Seen(here, np.array([1e6]), here))
    assert abs(playing.score[0, 0] - playing.score[0, 1]) < 1e-5
    playing.observe(2, Seen(here, np.array([1e6]), here))
    assert playing.score[0, 0] - playing.score[0, 1] > 0.2


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (16, 7), (1, 4)])
def test_against_a_dense_gaussian_process(shape):
    m, k = shape
    runs, rounds = 2, 60
    process = GaussianProcess(build_seat(parse_learner("gp-mw"), range(runs), shape, 100, (-1.0, 1.0)))
    random = np.random.default_rng(shape)
    action, opponent = random.integers(m, size=(rounds, runs)), random.integers(k, size=(rounds, runs))
    reward = random.standard_normal((rounds, runs))
    for visit in zip(action, opponent, reward, strict=True):
        process.add(*visit)
    for j in range(k):
        mean, deviation = process.against(np.full(runs, j))
        for run in range(runs):
            visits = list(zip(action[:, run].tolist(), opponent[:, run].tolist(), reward[:, run].tolist(), strict=True))
            expected = [dense_gaussian_process(visits, (i, j), rbf(m, k)) for i in range(m)]
            np.testing.assert_allclose(mean[run], [pair[0] for pair in expected], atol=1e-9)
            np.testing.assert_allclose(deviation[run], [pair[1] for pair in expected], atol=1e-9)


def test_the_rbf_kernel_correlates_only_near_actions():
    process = GaussianProcess(build_seat(parse_learner("gp-mw"), [0], (20, 20), 100, (-1.0, 1.0)))
    for _ in range(50):
        process.add(np.array([10]), np.array([10]), np.array([1.0]))
    mean, deviation = process.against(np.array([10]))
    assert mean[0, 11] > 0.9
    assert deviation[0, 11] < 0.4
    assert abs(mean[0, 0]) < 0.05
    assert deviation[0, 0] > 0.99


def test_a_process_that_forgets_returns_to_its_prior():
    """Forgetting is an autoregressive prior: after many rounds elsewhere, the first reward counts little."""
    seat = build_seat(parse_learner("gp-mw"), [0], (20, 20), 100, (-1.0, 1.0))
    process, forgetful = GaussianProcess(seat), GaussianProcess(seat, forgetting=0.9)
    one = np.array([0])
    for belief in (process, forgetful):
        belief.add(one, one, np.array([3.0]))
        for _ in range(60):
            belief.add(one + 19, one + 19, np.array([0.0]))  # too far away to affect the first pair
    expected = (1.5, np.sqrt(0.5)), (1.5 * np.sqrt(0.9**61), np.sqrt(1 - 0.5 * 0.9**61))
    for belief, moments in zip((process, forgetful), expected, strict=True):
        assert [part[0, 0] for part in belief.against(one)] == pytest.approx(list(moments), abs=1e-6)
