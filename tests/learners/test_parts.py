"""The components that learners share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bare_seats import build_seat
from coebl.learners import parse_learner
from coebl.learners.coebl import Coebl
from coebl.learners.exp3 import project_kl
from coebl.learners.parts import Tally, exponential_weights
from coebl.learners.ucb import Ucb
from oracles.learners import project_by_bisection


def test_a_tally_counts_and_averages_run_by_run():
    tally = Tally(build_seat(parse_learner("ucb"), [0, 1], (2, 3), 10, (-1.0, 1.0)))
    for action, opponent, reward in (([0, 1], [2, 0], [1.0, 5.0]), ([0, 1], [2, 1], [4.0, 7.0])):
        at = tally.add(np.array(action), np.array(opponent), np.array(reward))
    assert tally.count.tolist() == [[[0, 0, 2], [0, 0, 0]], [[0, 0, 0], [1, 1, 0]]]
    assert tally.mean.tolist() == [[[0, 0, 2.5], [0, 0, 0]], [[0, 0, 0], [5, 7, 0]]]
    assert tally.mean[at].tolist() == [2.5, 7.0]  # the pairs of the last visit


def test_a_seat_indexes_one_entry_per_run_several_or_a_whole_axis():
    seat, array = build_seat(Ucb(), range(2), (3, 4), 10, (-1, 1)), np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(array[seat.at(np.array([0, 2]))], [array[0, 0], array[1, 2]])
    np.testing.assert_array_equal(array[seat.at(slice(None), np.array([1, 2]))], [array[0, :, 1], array[1, :, 2]])
    np.testing.assert_array_equal(array[seat.at(1)], array[:, 1])
    np.testing.assert_array_equal(array[seat.at(1, np.array([1, 2]))], [array[0, 1, 1], array[1, 1, 2]])
    both = np.array([[0, 2, 0], [1, 1, 2]])
    np.testing.assert_array_equal(array[seat.at(both)], [array[0, both[0]], array[1, both[1]]])
    np.testing.assert_array_equal(array[seat.at(both, both)], [array[0, both[0], both[0]], array[1, both[1], both[1]]])


def test_bonuses_by_visits():
    count = np.array([0.0, 1.0, 8.0])
    ucb, coebl = Ucb(), Coebl()
    ucb.log_term, coebl.scale = 8.0, 9.0
    np.testing.assert_allclose(ucb._bound(0.5, count), [0.5 + np.sqrt(8), 0.5 + np.sqrt(8), 1.5])
    np.testing.assert_allclose(coebl._bonus(count), [np.sqrt(4.5), np.sqrt(4.5), 1])


def test_exponential_weights_do_not_overflow():
    scores = np.array([[1e12, 0.0, -1e12], [3.0, 1.0, 2.0], [-3e300, -3e300, -3e300]])
    with np.errstate(over="raise", invalid="raise"):
        weights = exponential_weights(scores, 0.5)
    np.testing.assert_allclose(weights, [[1, 0, 0], [1, np.exp(-1), np.exp(-0.5)], [1, 1, 1]])


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

    @pytest.mark.parametrize("m", [1, 2, 3, 7, 32])
    def test_the_largest_floor_gives_the_uniform_strategy(self, m):
        weights = np.random.default_rng(m).random((5, m))
        np.testing.assert_allclose(project_kl(weights, 1 / m), 1 / m, rtol=1e-13)
