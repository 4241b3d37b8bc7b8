"""The components that learners share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bare_seats import build_seat
from coebl.learners import parse_learner
from coebl.learners.exp3 import project_kl
from coebl.learners.parts import exponential_weights
from coebl.learners.thompson import GaussianProcess
from coebl.learners.ucb import Ucb
from oracles.learners import dense_gaussian_process, project_by_bisection, rbf


def test_a_seat_indexes_one_entry_per_run_several_or_a_whole_axis():
    seat, array = build_seat(Ucb(), range(2), (3, 4), 10, (-1, 1)), np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(array[seat.at(np.array([0, 2]))], [array[0, 0], array[1, 2]])
    np.testing.assert_array_equal(array[seat.at(slice(None), np.array([1, 2]))], [array[0, :, 1], array[1, :, 2]])
    np.testing.assert_array_equal(array[seat.at(1)], array[:, 1])
    np.testing.assert_array_equal(array[seat.at(1, np.array([1, 2]))], [array[0, 1, 1], array[1, 1, 2]])
    both = np.array([[0, 2, 0], [1, 1, 2]])
    np.testing.assert_array_equal(array[seat.at(both)], [array[0, both[0]], array[1, both[1]]])
    np.testing.assert_array_equal(array[seat.at(both, both)], [array[0, both[0], both[0]], array[1, both[1], both[1]]])


def test_exponential_weights_do_not_overflow():
    scores = np.array([[1e12, 0.0, -1e12], [3.0, 1.0, 2.0], [-3e300, -3e300, -3e300]])
    with np.errstate(over="raise", invalid="raise"):
        weights = exponential_weights(scores, 0.5)
    np.testing.assert_allclose(weights, [[1, 0, 0], [1, np.exp(-1), np.exp(-0.5)], [1, 1, 1]])


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


@st.composite
def projections(draw_from):
    """Draw weights of very different sizes, with ties and zeros, and a floor up to the largest possible one."""
    m = draw_from(st.integers(1, 12))
    exponents = draw_from(st.lists(st.floats(-30, 0) | st.sampled_from([-2.0, -1.0]), min_size=m, max_size=m))
    weights = [10.0**exponent for exponent in exponents]
    for index in range(draw_from(st.integers(0, m - 1))):
        weights[index] = 0.0
    share = draw_from(st.floats(1e-6, 1.0) | st.sampled_from([1.0, 0.5]))
    return np.array([weights]), share / m


class TestProjection:
    @given(projections())
    def test_against_bisection_and_optimality_conditions(self, problem):
        weights, floor = problem
        x, w = project_kl(weights, floor)[0], weights[0]
        np.testing.assert_allclose(x, project_by_bisection(w.tolist(), floor), atol=1e-12)
        assert (x >= floor).all()
        assert x.sum() == pytest.approx(1, abs=1e-12)
        # Stationarity: log(x/w) is the same for all free actions, and no smaller for those at the floor.
        free = x > floor * (1 + 1e-9)
        if free.any():
            ratio = x[free] / w[free]
            np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
            assert (floor >= ratio[0] * w[~free] * (1 - 1e-9)).all()

    @given(projections())
    def test_runs_are_independent_and_the_scale_is_arbitrary(self, problem):
        weights, floor = problem
        both = project_kl(np.concatenate([weights, weights[:, ::-1] * 2.0**40]), floor)
        np.testing.assert_array_equal(both[0], project_kl(weights, floor)[0])
        np.testing.assert_array_equal(both[1], both[0][::-1])
