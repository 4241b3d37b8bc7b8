"""Rankings of made-up tournaments, whose answers are known."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from coebl.evidence.pairwise import ALL_GAMES
from coebl.evidence.statistics import Estimate, holm, mean_interval
from coebl.tournament.outcome import columns_of, sentences, table_of
from coebl.tournament.standings import Measured, beaten, cycles, nash_average, over_games, resample_weights, standings

NAMES = {name: name for name in "abcdefgh"}
ROCK_PAPER_SCISSORS = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])


def made_up(*games, kinds=None, spread=0.01, seeds=20):
    """A tournament with these mean advantages, one matrix per game, and noise of this size."""
    means = np.array(games, dtype=float)
    count = means.shape[1]
    noise = np.random.default_rng(1).normal(0, spread, (len(games), seeds, count, count))
    advantage = means[:, None] + (noise - noise.swapaxes(2, 3)) / 2
    one_each = np.broadcast_to(np.arange(count) / 100, (len(games), seeds, count))
    learners, names = "".join(NAMES)[:count], [f"game-{place}" for place in range(len(games))]
    table = pl.DataFrame(
        [
            {"game": names[place], "players": [learners[i], learners[j]], "seed": seed, "pseudo_regret": -number}
            for (place, seed, i, j), number in np.ndenumerate(advantage)
        ]
    ).with_columns(noise=pl.lit("none"), rounds=1)
    return Measured(
        learners=tuple(learners),
        kinds=tuple(kinds or ["bandit"] * count),
        games=dict.fromkeys(names, 1),
        table=table,
        seeds=tuple(range(seeds)),
        advantage=advantage,
        regret=one_each,
        exploitability=2 * one_each,
        microseconds=np.arange(count, dtype=float),
    )


def entry_of(ranking, learner):
    return next(entry for entry in ranking.standings if entry.learner == learner)


def ladder(*strengths):
    """Mean advantages where the stronger one wins."""
    return np.subtract.outer(strengths, strengths)


def test_a_cycle_shares_the_mass_and_is_shown():
    ranking = standings(made_up(ROCK_PAPER_SCISSORS), resamples=200)
    assert [entry.nash_mass for entry in ranking.standings] == pytest.approx([1 / 3] * 3, abs=0.01)
    assert [entry.nash_support for entry in ranking.standings] == [1, 1, 1]
    [cycle] = ranking.cycles
    assert set(cycle.members) == {"a", "b", "c"}
    assert "a beats c beats b beats a" in " ".join(sentences(ranking, NAMES))
    assert list(ranking.cycles_by_game) == ["game-0"]


def test_a_learner_that_beats_all_others_has_all_the_mass():
    ranking = standings(made_up(ladder(1, 3, 2)), resamples=200)
    assert [(entry.learner, entry.rank, entry.rank_low, entry.rank_high) for entry in ranking.standings] == [
        ("b", 1, 1, 1),
        ("c", 2, 2, 2),
        ("a", 3, 3, 3),
    ]
    assert [entry.nash_mass for entry in ranking.standings] == pytest.approx([1, 0, 0])
    assert [(entry.beats, entry.loses_to) for entry in ranking.standings] == [(2, 0), (1, 1), (0, 2)]
    assert ranking.standings[0].advantage.mean == pytest.approx(1.5, abs=0.01)
    assert beaten(ranking.duels) == {"a": [], "b": ["a", "c"], "c": ["a"]}
    assert ranking.cycles == []
    assert "no cycle of learners that beat each other" in " ".join(sentences(ranking, NAMES))


@pytest.mark.parametrize(
    ("against", "mass", "unique"),
    [
        (ROCK_PAPER_SCISSORS, [1 / 3] * 3, True),
        # Rock twice: the equilibria have a third for both together, and the one of largest entropy halves it.
        (ROCK_PAPER_SCISSORS[np.ix_([0, 0, 1, 2], [0, 0, 1, 2])], [1 / 6, 1 / 6, 1 / 3, 1 / 3], False),
        (np.zeros((4, 4)), [0.25] * 4, False),
    ],
)
def test_copies_share_the_mass_of_one(against, mass, unique):
    masses, only = nash_average(against)
    assert masses == pytest.approx(mass, abs=1e-5)
    assert only == unique


def test_holm_is_over_the_pairs_of_one_game_and_over_those_of_all():
    measured = made_up(ladder(0, 0.002, 0.004), ladder(0, 0, 0.004))
    duels = measured.duels()
    for game in (ALL_GAMES, *measured.games):
        family = [duel for duel in duels if duel.game == game]
        assert len(family) == 3
        assert [duel.advantage.p_holm for duel in family] == holm([duel.advantage.p for duel in family])
    [overall] = [duel for duel in duels if duel.game == ALL_GAMES and (duel.first, duel.second) == ("a", "c")]
    assert overall.advantage.mean == pytest.approx(measured.advantage[:, :, 0, 2].mean())
    assert (overall.advantage.n, overall.winner) == (20, "c")


def test_kinds_are_ranked_by_their_own_matches():
    """Learner b loses to its kind and wins from c: it is ahead of a overall, and behind a among bandits."""
    matrix = np.array([[0, 1, -4], [-1, 0, 9], [4, -9, 0]])
    ranking = standings(made_up(matrix, kinds=["bandit", "bandit", "full information"]), resamples=50)
    assert [entry.learner for entry in ranking.standings] == ["b", "a", "c"]
    assert (entry_of(ranking, "a").kind_rank, entry_of(ranking, "b").kind_rank) == (1, 2)
    assert entry_of(ranking, "a").kind_advantage.mean == pytest.approx(1, abs=0.01)
    assert (entry_of(ranking, "a").kind_nash_mass, entry_of(ranking, "c").kind_nash_mass) == (1, None)
    assert entry_of(ranking, "c").kind_rank is None
    row = table_of(ranking, columns_of(False, NAMES))[2]
    assert (row["learner"], row["kind"], row["rank in kind"]) == ("c", "full information", "-")


def test_ranks_have_95_percent_of_the_resamples():
    """2.5 % of them below and above. Here b is the first in more than 2.5 % and fewer than 5 %."""
    measured = made_up(ladder(0.000325, 0), spread=0.001, seeds=20)
    ranking = standings(measured, resamples=2000)
    weights = resample_weights(1, 20, 2000, np.random.default_rng(0))[1:, 0]
    ahead = weights @ measured.advantage[0, :, 0, 1]  # a over b, in each resample
    assert 0.03 < (ahead < 0).mean() < 0.045
    assert [(entry.learner, entry.rank_low, entry.rank_high) for entry in ranking.standings] == [
        ("a", 1, 2),
        ("b", 1, 2),
    ]


@pytest.mark.parametrize("games", [4, 13])
def test_intervals_over_games_cover(games):
    """2000 tournaments, the effects of games Student's with 3 degrees of freedom: 95 % within 4 standard errors."""
    random = np.random.default_rng(games)
    covered = 0
    for _ in range(2000):
        effects = random.standard_t(3, size=(games, 1)) + random.normal(size=(games, 10))
        estimate = over_games(7 + 5000 * effects)
        covered += estimate.low <= 7 <= estimate.high
    assert abs(covered / 2000 - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 2000)
    single = effects[:1]
    assert over_games(single) == mean_interval(single[0]), "over the seeds of a single game"


def test_a_resample_draws_whole_games_and_their_seeds():
    weights = resample_weights(3, 5, 100, np.random.default_rng(0))
    assert np.allclose(weights.sum(axis=(1, 2)), 1)
    assert np.allclose(weights[0], 1 / 15)
    games = 3 * weights.sum(axis=2)
    assert np.allclose(games, games.round())
    assert len(np.unique(games.round(), axis=0)) == 10  # 3 draws out of 3: all of them come up
    assert (weights[1:] == 0).any()


def test_the_shortest_cycle_is_the_example():
    graph = {"a": ["b"], "b": ["c"], "c": ["d", "a"], "d": ["a"]}
    [cycle] = cycles(graph)
    assert cycle.members == ("a", "b", "c", "d")
    assert len(cycle.example) == 3
    assert all(
        after in graph[learner]
        for learner, after in zip(cycle.example, [*cycle.example[1:], cycle.example[0]], strict=True)
    )


def test_the_numbers_of_a_ranking_have_their_units():
    """Shares in percent, masses and microseconds as they are."""
    ranking = standings(made_up(ladder(0, 1)), resamples=20)
    estimates = {key: Estimate(mean, 0, 0, 0, 9) for key, mean in (("regret", 0.0123), ("exploitability", 0.5))}
    entry = replace(
        ranking.standings[0], nash_mass=0.25, kind_rank=None, kind_nash_mass=None, microseconds=7.04, **estimates
    )
    columns = columns_of(False, NAMES)
    [row] = table_of(replace(ranking, standings=[entry]), columns)
    assert list(row.values())[6:] == ["0.25", "-", "1.23", "50.0", "7.0"]
    entry = replace(entry, kind_rank=2, kind_nash_mass=0.5)
    assert table_of(replace(ranking, standings=[entry]), columns)[0]["Nash in kind"] == "0.50"
    entry = replace(entry, advantage=Estimate(-1e-17, -2e-17, 0, 0, 9), regret=Estimate(-1e-17, 0, 0, 0, 9))
    row = table_of(replace(ranking, standings=[entry]), columns)[0]
    assert (row["advantage, %"], row["worst, %"]) == ("+0.00 [+0.00, +0.00]", "0.00")  # without signed zeros
