"""GP-MW: its Gaussian process against a dense one."""

import numpy as np
import pytest

from coebl.engine.table import build_seat
from coebl.learners import parse_learner
from coebl.learners.gp_mw import GaussianProcess
from oracles.learners import dense_gaussian_process, rbf


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


def test_the_rbf_kernel_shares_what_it_learns_with_near_actions_alone():
    process = GaussianProcess(build_seat(parse_learner("gp-mw"), [0], (20, 20), 100, (-1.0, 1.0)))
    for _ in range(50):
        process.add(np.array([10]), np.array([10]), np.array([1.0]))
    mean, deviation = process.against(np.array([10]))
    assert mean[0, 11] > 0.9
    assert deviation[0, 11] < 0.4
    assert abs(mean[0, 0]) < 0.05
    assert deviation[0, 0] > 0.99


def test_a_process_that_forgets_returns_to_its_prior():
    """Forgetting is an autoregressive prior: after many rounds elsewhere, little is left of what was seen first."""
    seat = build_seat(parse_learner("gp-mw"), [0], (20, 20), 100, (-1.0, 1.0))
    process, forgetful = GaussianProcess(seat), GaussianProcess(seat, forgetting=0.9)
    one = np.array([0])
    for belief in (process, forgetful):
        belief.add(one, one, np.array([3.0]))
        for _ in range(60):
            belief.add(one + 19, one + 19, np.array([0.0]))  # too far away to say anything about the first pair
    mean, deviation = (part[0, 0] for part in process.against(one))
    assert (mean, deviation) == pytest.approx((1.5, np.sqrt(0.5)), abs=1e-6)
    mean, deviation = (part[0, 0] for part in forgetful.against(one))
    assert (mean, deviation) == pytest.approx((1.5 * np.sqrt(0.9**61), np.sqrt(1 - 0.5 * 0.9**61)), abs=1e-6)
