"""What sets each of the other learners apart, and the classic mistake of its kind.

Seeds are fixed; tolerances are standard errors, stated.
"""

import math

import numpy as np
import pytest

from coebl.engine import Match, simulate
from coebl.engine.seated import build_seat
from coebl.games import Game
from coebl.learners import Seen
from coebl.learners.exp3_ix_neu import Exp3IxNeu
from coebl.learners.explore_then_commit import ExploreThenCommit
from coebl.learners.hedge import Hedge
from coebl.learners.regret_matching import RegretMatching, RegretMatchingPlus
from coebl.solver import solve


def mean_and_error(sample):
    """The mean over runs and its standard error."""
    return sample.mean(), sample.std(ddof=1) / math.sqrt(len(sample))


@pytest.mark.parametrize(("game", "logarithmic"), [("bigger-number:2", True), ("rps", False)])
def test_tsallis_inf_has_logarithmic_regret_at_a_strict_pure_equilibrium_alone(game, logarithmic):
    """From 1,000 to 4,000 rounds a regret as sqrt(t) doubles; here one as log t grows by 0.4: 1.7 divides the two.

    Against a best response, so that every mistake costs; 50 runs, 4 standard errors. Exponential
    weights in the place of Tsallis weights fail.
    """
    result = simulate(Match.of(game, "tsallis-inf", "best-response", 4000), 50, record=1000, metrics=["pseudo_regret"])
    regret = result.metrics["pseudo_regret"]
    mean, error = mean_and_error(regret[-1] - 1.7 * regret[0])
    assert mean + 4 * error < 0 if logarithmic else mean - 4 * error > 0


def test_thompson_sampling_loses_in_every_round_of_the_trap_and_ucb_does_not():
    """O'Donoghue, Lattimore and Osband (2021), equation (9): [[1, 0], [0, -1]], the opponent on its second action.

    The first column stays as uncertain as its prior, N(0, 1) for a and b, so that the learner goes on to play its
    second action, which costs 1, with the probability that is best in [[a, 0], [b, -1]]. Its mean is 0.151, here by
    Monte Carlo with a standard error of 0.0003. 16 runs of 2,000 rounds, the second half of the rounds, 4 standard
    errors and 0.005 for the second column, which is not known exactly. (The source's 1/4 is for a prior on r = -1 and
    1.) UCB loses a tenth of that at most.
    """
    a, b = np.random.default_rng(0).standard_normal((2, 10**6))
    expected = np.where((b <= a) | (a >= 0), 0, np.where(b <= -1, 1, -a / (1 + b - a))).mean()
    loss = {}
    for spec in ("thompson", "ucb"):
        result = simulate(Match.of("trap:r=1", spec, "fixed:0/1", 2000), 16, record=1000, metrics=["pseudo_regret"])
        regret = result.metrics["pseudo_regret"]
        loss[spec] = mean_and_error((regret[-1] - regret[0]) / 1000)
    mean, error = loss["thompson"]
    assert abs(mean - expected) < 4 * error + 0.005
    mean, error = loss["ucb"]
    assert mean + 4 * error < expected / 10


# Matching pennies on [-3, 5]: a learner that forgets to map payoffs to [0, 1] learns eight times too fast.
WIDE_PENNIES = Game([[5, -3], [-3, 5]])


@pytest.mark.parametrize("opponent", ["uniform", "fixed:0.6/0.4", "best-response", "exp3"])
@pytest.mark.parametrize("make", [Hedge, RegretMatching, RegretMatchingPlus])
def test_regret_in_hindsight_with_full_information_is_within_its_bound_in_every_run(make, opponent):
    """Against the very actions of the opponent, whatever they are; so there is no tolerance. The range is 8 wide."""
    rounds = 1000
    match = Match.of(WIDE_PENNIES, make(), opponent, rounds)
    kept = simulate(match, 20, record="last", metrics=["regret"], keep=["policies", "actions"]).kept
    payoffs = WIDE_PENNIES.payoff.T[kept["actions"][1]]  # (rounds, runs, actions), of every own action
    regret = payoffs.sum(axis=0).max(axis=-1) - (kept["policies"][0] * payoffs).sum(axis=(0, 2))
    assert (regret <= 8 * make.regret_bound(2, 2, rounds)).all()


@pytest.mark.parametrize("spec", ["regret-matching", "regret-matching-plus"])
def test_the_average_strategies_of_regret_matching_near_the_equilibrium_as_one_over_sqrt_t(spec):
    """Four times the rounds halve the exploitability of the averages, and it is below the bound; 50 runs.

    The two regrets add up to the exploitability, so that 2 width sqrt(m / t) bounds it, up to what the draws of
    actions add, which is of the same order. The halves agree within 4 standard errors.
    """
    match = Match.of("biased-rps", spec, spec, 4000)
    averages = simulate(match, 50, record=1000, metrics=["average_exploitability"]).metrics["average_exploitability"]
    mean, error = mean_and_error(averages[-1] - averages[0] / 2)
    assert abs(mean) < 4 * error
    assert averages[-1].mean() < 2 * 2 * math.sqrt(3 / 4000)


@pytest.mark.parametrize("horizon", [None, 100])
def test_the_losses_of_exp3_ix_are_clipped_and_without_a_horizon_its_rates_fall(horizon):
    """One run per reward, below, at the ends of and above the range -3 .. 1: the losses are 1, 1, 1/2, 0 and 0."""
    rewards = np.array([-5.0, -3.0, -1.0, 1.0, 4.0])
    learner = Exp3IxNeu()
    learner = learner.seated(build_seat(learner, range(5), (2, 3), horizon, (-3.0, 1.0)))
    for t in (1, 2):
        learner.policy(t)
        learner.observe(t, Seen(np.full(5, t - 1), rewards))
    first, second = (math.sqrt(math.log(2) / (horizon or t)) for t in (1, 2))  # eta = sqrt(2 log 2 / (2 T))
    loss = np.array([1, 1, 0.5, 0, 0])
    one = loss / (0.5 + first / 2)
    two = loss / (1 / (1 + np.exp(-second * one)) + second / 2)
    np.testing.assert_allclose(learner.loss, np.stack([one, two], axis=1))


def test_maximin_ucb_is_good_where_a_pure_strategy_is_optimal_and_exploited_elsewhere():
    """Against a best response on Diagonal, the last of three thousand rounds cost less than 0.02 each.

    That is with 4 standard errors of 20 runs. In rock-paper-scissors every pure action loses 1. It is the worst case
    that counts, not the mean: in the last game, against the uniform opponent, the first action earns 0.25 on average
    and the second, which is maximin, nothing; the second is played in more than 0.9 of the last thousand rounds.
    """
    match = Match.of("diagonal:2", "maximin-ucb", "best-response", 3000)
    regret = simulate(match, 20, record=1000, metrics=["pseudo_regret"]).metrics["pseudo_regret"]
    mean, error = mean_and_error((regret[-1] - regret[1]) / 1000)
    assert mean + 4 * error < 0.02
    match = Match.of("rps", "maximin-ucb", "best-response", 300)
    np.testing.assert_allclose(simulate(match, 5, record="last", metrics=["pseudo_regret"]).final("pseudo_regret"), 300)
    match = Match.of(Game([[1, -0.5], [0, 0]], payoff_range=(-1, 1)), "maximin-ucb", "uniform", 3000)
    kept = simulate(match, 20, record="last", metrics=["regret"], keep=["policies"]).kept
    mean, error = mean_and_error(kept["policies"][0][2000:, :, 1].mean(axis=0))
    assert mean - 4 * error > 0.9


def test_explore_then_commit_visits_every_pair_equally_and_then_plays_the_maximin_of_the_means():
    """Against an opponent who holds each action for a turn, 4 visits to each of 2 x 3 pairs; then the policy is fixed.

    Rewards are the payoffs themselves, so that the means are the game. Two of its kind visit each pair 4 times on
    average over 2,000 runs, within 5 standard errors: an order that is not drawn would leave pairs out.
    """
    payoff = np.array([[0.9, -0.5, 0.3], [-0.7, 0.6, 0.1]])
    learner = ExploreThenCommit(visits=4)
    learner = learner.seated(build_seat(learner, [0, 1, 2], (2, 3), None, (-1.0, 1.0)))
    visits = np.zeros((3, 2, 3))
    for t in range(1, 25):
        policy = learner.policy(t)
        action, opponent = policy.argmax(axis=1), np.full(3, (t - 1) // 2 % 3)
        np.testing.assert_array_equal(policy.max(axis=1), 1)
        visits[np.arange(3), action, opponent] += 1
        learner.observe(t, Seen(action, payoff[action, opponent], opponent))
    np.testing.assert_array_equal(visits, 4)
    for t in range(25, 30):
        np.testing.assert_allclose(learner.policy(t), np.tile(solve(payoff).row, (3, 1)), atol=1e-12)
        learner.observe(t, Seen(np.zeros(3, int), np.full(3, -9.0), np.zeros(3, int)))
    match = Match.of("rps", "explore-then-commit:visits=4", "explore-then-commit:visits=4", 36)
    row, column = simulate(match, 2000, record="last", metrics=["regret"], keep=["actions"]).kept["actions"]
    for i, j in np.ndindex(3, 3):
        mean, error = mean_and_error(((row == i) & (column == j)).sum(axis=0))
        assert abs(mean - 4) < 5 * error


def test_the_last_policies_of_mmd_near_the_equilibrium_where_those_of_exp3_cycle():
    """Self-play with little noise, 50 runs: exploitability of the policies themselves, not of their averages.

    It falls from round 1,000 to the last quarter of 8,000 rounds for MMD and rises for Exp3, each by more than 4
    standard errors. MMD without its magnet fails.
    """
    change = {}
    for spec in ("mmd", "exp3"):
        match = Match.of("biased-rps", spec, spec, 8000, "gaussian:0.1")
        last = simulate(match, 50, record=500, metrics=["exploitability"]).metrics["exploitability"]
        change[spec] = mean_and_error(last[12:].mean(axis=0) - last[1])
    assert change["mmd"][0] + 4 * change["mmd"][1] < 0
    assert change["exp3"][0] - 4 * change["exp3"][1] > 0
