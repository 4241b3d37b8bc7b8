"""Theorems compared with simulations. Seeds are fixed; tolerances are stated in standard errors."""

import math
from functools import partial

import numpy as np
import pytest

from bare_seats import build_seat
from coebl.engine import simulate
from coebl.games import Game
from coebl.learners import Seen
from coebl.learners.coebl import Coebl
from coebl.learners.evolution.breeding import Breeder
from coebl.learners.kin import Kin
from coebl.learners.ucb import Ucb

# In [0, 1], as the theorems require; not square, not symmetric, nonzero value, a mixed equilibrium.
GAME = Game([[0.9, 0.2, 0.6, 0.5], [0.1, 0.8, 0.3, 0.7], [0.4, 0.5, 0.2, 0.9]], payoff_range=(0.0, 1.0))


def regret_of(game, spec, opponent, rounds, seeds):
    """Return the pseudo-regret after every round: (rounds, runs)."""
    return simulate(game, spec, opponent, rounds=rounds, seeds=seeds, metrics=["pseudo_regret"]).metrics[
        "pseudo_regret"
    ]


@pytest.mark.parametrize("visits", [0, 1, 2, 10, 100])
@pytest.mark.parametrize("c", [0.5, 2.0])
def test_by_the_lemma_each_entry_of_the_mutated_matrix_is_optimistic(visits, c):
    """Pr(A_ij <= mutated_ij) >= 1 - (1/(2 T² m k))^(c/8), for the learner's mutants.

    About 100,000 entries, 4 standard errors. At c = 8 a failure would be too rare to be observed.
    """
    horizon, m, k, runs, payoff = 50, 5, 20, 1000, 0.9
    learner = Coebl(c=c)
    playing = learner.seated(build_seat(learner, range(runs), (m, k), horizon, (0.0, 1.0)))
    random = np.random.default_rng([visits, int(10 * c)])
    for _ in range(visits):
        for i, j in np.ndindex(m, k):
            reward = payoff + random.standard_normal(runs)
            playing.observe(1, Seen(np.full(runs, i), reward, np.full(runs, j)))
    mutants = playing.breeder.breed(playing.parents).mutant
    bound = 1 - (2.0 * horizon**2 * m * k) ** (-c / 8)
    assert float((mutants >= payoff).mean()) >= bound - 4 * math.sqrt(bound * (1 - bound) / mutants.size)


def test_kins_proven_bonus_is_optimistic_and_at_most_twice_its_width_too_high(monkeypatch):
    """A <= B <= A + 2 w(n) in every entry, round and run: with a probability of at least 1 - 1/T for each of 40 runs.

    With the bonus for visits to come, that fails in more than 1 % of the entries.
    """
    rounds, bred = 500, []

    def noted(breeder, *arguments, breed=Breeder.breed):
        new = breed(breeder, *arguments)
        bred.append((new.mutant[:, 0], breeder._bonus(breeder._belief.count)))
        return new

    monkeypatch.setattr(Breeder, "breed", noted)
    own_view = GAME.payoff - 0.5  # counted from the middle of the range
    simulate(GAME, "kin:optimism=proven", "best-response", rounds=rounds, seeds=40, metrics=[])
    above = np.array([mutants - own_view for mutants, _ in bred])
    assert above.min() >= 0
    assert (above <= 2 * np.array([width for _, width in bred])).all()
    bred.clear()
    simulate(GAME, "kin", "best-response", rounds=rounds, seeds=40, metrics=[])
    assert np.mean([mutants < own_view for mutants, _ in bred]) > 0.01


# Value 5/6, and against a best response the second action earns 0: a player who always plays it exceeds the bounds.
LOPSIDED = Game([[1, 0.8], [0, 1]], payoff_range=(0.0, 1.0))


@pytest.mark.parametrize(
    ("spec", "rounds", "bound"),
    [
        ("ucb", 600, Ucb.regret_bound),
        ("coebl:c=8", 8000, Coebl.regret_bound),
        ("kin:optimism=proven", 8000, partial(Kin.regret_bound, optimism="proven")),
    ],
)
def test_regret_against_a_best_response_stays_below_the_bound(spec, rounds, bound):
    """The mean of 8 runs plus 4 standard errors. A player who does not learn exceeds the bound."""
    limit = bound(2, 2, rounds)
    regret = regret_of(LOPSIDED, spec, "best-response", rounds, 8)[-1]
    assert 0 < regret.mean() + 4 * regret.std(ddof=1) / math.sqrt(8) < limit
    stubborn = rounds * (LOPSIDED.value - LOPSIDED.payoff[1].min())
    assert stubborn > limit


@pytest.mark.parametrize("spec", ["kin", "ucb", "exp3"])
def test_with_fewer_rounds_than_actions_no_learner_beats_the_lower_bound(spec):
    """One row pays 1, the others 0: on average over that row, the regret is at least 2h (T - T(T + 1) / 2m).

    4 standard errors. A player who knows the row has less regret.
    """
    m, rounds, seeds = 30, 20, 4
    totals = []
    for needle in range(m):
        game = Game(np.eye(m)[[needle]].T * [1, 1], payoff_range=(0.0, 1.0), noise="none")
        totals.append(regret_of(game, spec, "uniform", rounds, seeds)[-1])
    regret = np.array(totals).mean(axis=0)  # over the rows: one number per seed
    least = rounds - rounds * (rounds + 1) / (2 * m)
    assert regret.mean() + 4 * regret.std(ddof=1) / math.sqrt(seeds) >= least
    assert regret_of(game, "nash", "uniform", rounds, 1)[-1] < least


def test_a_best_response_never_gives_regret_below_zero():
    """Against a best response no round has negative regret: x'Ay <= V for every x."""
    assert (np.diff(regret_of(GAME, "exp3", "best-response", 200, 5), axis=0) >= -1e-12).all()


def test_regret_against_a_best_response_is_sublinear():
    """The second half of the rounds costs less than the first, by more than 4 standard errors of the difference."""
    for spec in ("coebl:c=0.5", "ucb"):
        regret = regret_of(GAME, spec, "best-response", 2000, 20)
        difference = regret[999] - (regret[-1] - regret[999])
        assert difference.mean() > 4 * difference.std(ddof=1) / math.sqrt(20)


@pytest.mark.parametrize(("game", "variance"), [("bigger-number:2", 0.0), ("rps", 2 / 3)])
def test_the_floor_of_the_regrets_magnitude_in_symmetric_self_play(game, variance):
    """With unit noise abs(sum of V - r) has a mean of sqrt(2T/pi (1 + var)) between two players at equilibrium.

    var is the variance of the payoff in the equilibrium, so sqrt(2T/pi) is a floor. 4,000 runs, 4 standard errors.
    """
    rounds, runs = 100, 4000
    result = simulate(game, "nash", "nash", rounds=rounds, seeds=runs, record="last", metrics=["regret_magnitude"])
    magnitude = result.final("regret_magnitude")
    expected = math.sqrt(2 * rounds / math.pi * (1 + variance))
    assert abs(magnitude.mean() - expected) < 4 * magnitude.std(ddof=1) / math.sqrt(runs)


def test_selection_changes_nothing():
    """The new policy maximises the very fitness by which it is compared with the old, almost surely alone."""
    specs = ("coebl:c=1,selection=elitist", "coebl:c=1,selection=none")
    results = [simulate(GAME, spec, "exp3", rounds=300, seeds=10, metrics=[], keep=["policies"]) for spec in specs]
    for elitist, none in zip(*(result.kept["policies"] for result in results), strict=True):
        np.testing.assert_array_equal(elitist, none)
