"""K-learning: every solve is certified, and agrees with a general optimiser."""

import math

import numpy as np
import pytest

from bare_seats import build_seat
from coebl.core.errors import SolveError
from coebl.engine import Match, simulate
from coebl.games.noise import Gaussian
from coebl.learners import Seen
from coebl.learners.k_learning import TOLERANCE, EntropicSolver, KLearning


def seat_of(shape, runs):
    return build_seat(KLearning(), range(runs), shape, None, (-1.0, 1.0))


def objective(y, tau, mean, variance):
    bracket = mean @ y / tau + variance @ y**2 / (2 * tau**2)
    return tau * (bracket.max() + math.log(np.exp(bracket - bracket.max()).sum()))


@pytest.mark.parametrize("shape", [(3, 4), (4, 1), (2, 7), (16, 16)])
def test_the_certificate_holds_at_every_solve_of_a_run(shape):
    """Against an opponent that switches, so that its actions return from probability 0."""
    m, k = shape
    playing = KLearning().seated(seat_of(shape, 8))
    solver, gaps = playing.solve, []

    def noted(mean, variance):
        solved = solver(mean, variance)
        gaps.append(solved.gap)
        return solved

    playing.solve = noted
    random = np.random.default_rng(shape)
    payoff = random.uniform(-1, 1, shape)
    for t in range(1, 401):
        policy = playing.policy(t)
        scale = 1 + np.abs(playing.posterior.mean).max(axis=(1, 2))
        assert (gaps[-1] <= TOLERANCE * scale).all(), t
        action = np.array([random.choice(m, p=x / x.sum()) for x in policy])
        opponent = np.full(8, t // 100 % k) if t // 50 % 2 else random.integers(k, size=8)
        playing.observe(t, Seen(action, payoff[action, opponent] + random.standard_normal(8), opponent))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_no_feasible_point_is_below_the_certified_bound(scale):
    """value - gap is a lower bound of the objective at any point, also if a solve starts far from its solution."""
    random = np.random.default_rng(5)
    solver = EntropicSolver(seat_of((4, 3), 3))
    for _ in range(20):
        mean, variance = scale * random.normal(size=(3, 4, 3)), random.uniform(1e-3, 1, size=(3, 4, 3))
        solved = solver(mean, variance)
        assert (solved.gap <= TOLERANCE * (1 + np.abs(mean).max(axis=(1, 2)))).all()
        ys, taus = random.dirichlet(np.ones(3), 3), np.exp(random.normal(size=3))
        for run in range(3):
            least = solved.value[run] - solved.gap[run] - 1e-12 * scale
            assert objective(ys[run], taus[run], mean[run], variance[run]) >= least


def test_the_length_of_a_step_is_chosen_for_each_run():
    """With means of 1000, many steps are halved, and with means of 1 hardly any."""
    random = np.random.default_rng(5)
    size = np.tile([1.0, 1000.0], 20)[:, None, None]
    mean, variance = size * random.uniform(-1, 1, (40, 4, 3)), random.uniform(0.01, 1, (40, 4, 3))
    together = EntropicSolver(seat_of((4, 3), 40))(mean, variance)
    for run in range(40):
        alone = EntropicSolver(seat_of((4, 3), 1))(mean[run, None], variance[run, None])
        for part in ("strategy", "value", "gap"):
            np.testing.assert_array_equal(getattr(together, part)[run], getattr(alone, part)[0])


def test_regret_stays_below_the_bayes_bound():
    """200 games from the prior, a run of each, against a best response: the mean plus 4 standard errors.

    A player who does not learn exceeds the bound.
    """
    rounds, runs = 800, 200
    random = np.random.default_rng(0)
    games = random.normal(size=(runs, 2, 2))
    seat = seat_of((2, 2), runs)
    value = seat.maximin()(games).value
    playing = KLearning().seated(seat)
    regret = np.zeros(runs)
    every = np.arange(runs)
    for t in range(1, rounds + 1):
        policy = playing.policy(t)
        earned = np.einsum("rm,rmk->rk", policy, games)
        opponent = earned.argmin(axis=1)
        regret += value - earned[every, opponent]
        action = (random.random(runs) > policy[:, 0]).astype(int)
        reward = games[every, action, opponent] + random.standard_normal(runs)
        playing.observe(t, Seen(action, reward, opponent))
    limit = 2 * math.sqrt(2 * 2 * rounds * math.log(2) * (1 + math.log(rounds)))
    assert 0 < regret.mean() + 4 * regret.std(ddof=1) / math.sqrt(runs) < limit
    stubborn = rounds * (value - games[:, 0].min(axis=1))
    assert stubborn.mean() > limit


def test_payoffs_far_from_the_prior_are_rejected_in_one_line():
    class Understated(Gaussian):
        def deviation(self, payoff_range):
            return 1.0

    match = Match.of("rps", "k-learning", "exp3", rounds=30, noise=Understated(sigma=1e100))
    with pytest.raises(SolveError, match=r"^k-learning: a payoff has a mean of .* times the noise"):
        simulate(match, 4)
