"""The ranking of a study by counted wins, and its output in `coebl run` and `coebl results`."""

import numpy as np
import polars as pl
import pytest

from coebl.cli.study_commands import print_ranking
from coebl.evidence import Estimate, Pairing, pairwise
from coebl.evidence.pairwise import Ranking, pooled, rank, ranked
from coebl.study import Results, cell_file, parse_study
from study_runs import go, runs_of

STUDY = """
name = "who"
rounds = 60
seeds = 6
games = ["rps", "diagonal:n=2"]
learners = ["fixed:strategy=1/0/0", "fixed:strategy=0/1/0", "hedge"]
metrics = ["regret", "pseudo_regret"]
noise = "none"
record = "last"
"""
PAIRS = '[match-ups]\npairs = [["fixed:strategy=1/0/0", "fixed:strategy=0/1/0"], ["hedge", "fixed:strategy=1/0/0"]]\n'


def results_of(text, folder):
    go(text, folder)
    return Results(folder)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """On rock-paper-scissors, where the first action beats the second, as in the paper."""
    return results_of(STUDY.replace(', "diagonal:n=2"', "") + PAIRS, tmp_path_factory.mktemp("played"))


def test_who_wins_by_what_is_played(played):
    ranking = rank(played)
    assert [(entry.rank, entry.learner, entry.won, entry.lost) for entry in ranking.learners] == [
        (1, "fixed:strategy=1/0/0", 1, 0),
        (2, "fixed:strategy=0/1/0", 0, 1),
    ]
    [pairing] = ranking.pairings
    assert (pairing.winner, abs(pairing.advantage.mean), pairing.advantage.p_holm) == ("fixed:strategy=1/0/0", 60, 0)
    assert ranking.left_out == ["hedge"]
    assert ranking.metric == "pseudo_regret"
    assert str(ranking) == "fixed:strategy=1/0/0 ranks first among 2 learners: of its 1 pairing it wins 1 and loses 0."


def test_every_file_is_read_once(played, monkeypatch):
    """Means and ranking together: a study may have very many files."""
    read = []
    read_data = cell_file.read_data
    monkeypatch.setattr(cell_file, "read_data", lambda path: read.append(path.stem) or read_data(path))
    results = Results(played.store.folder)
    assert results.summary()
    assert rank(results)
    assert sorted(read) == results.store.digests()


def test_means_over_games_have_one_last_bit():
    numbers = np.random.default_rng(1).standard_normal((60, 9))
    rows = [
        {"game": f"diagonal:n={game}", "noise": "none", "rounds": 9, "seed": seed, "players": ["ucb", "exp3"]}
        | {"pseudo_regret": number}
        for (game, seed), number in np.ndenumerate(numbers)
    ]
    texts = {repr(pairwise(pl.DataFrame(rows), overall=True)[0]) for _ in range(10)}
    assert len(texts) == 1


def pairing(first, second, advantage, p=0.01):
    return Pairing("rps", "none", 9, first, second, Estimate(advantage, 0, 0, 1, 9, p=p, p_holm=p))


def test_ranks_are_by_wins_minus_losses_and_may_be_shared():
    pairings = [pairing("a", "b", 1), pairing("a", "c", -1), pairing("b", "c", 1), pairing("a", "d", 5, p=0.06)]
    order = ranked("abcde", pairings)
    assert [(entry.rank, entry.learner, entry.won, entry.undecided, entry.lost) for entry in order] == [
        (1, "a", 1, 1, 1),
        (1, "b", 1, 0, 1),
        (1, "c", 1, 0, 1),
        (1, "d", 0, 1, 0),
    ]  # "e" played no one
    shared = "a, b, c and d share first place among 4 learners; not all learners have met."
    assert str(Ranking("regret", order, pairings, [])) == shared
    pairings = [pairing("a:c=1", "a:c=2", 1), pairing("a:c=2", "b", 1)]
    order = ranked(["a:c=1", "a:c=2", "b"], pairings)
    assert [(entry.rank, entry.learner) for entry in order] == [(1, "a:c=2"), (2, "b"), (0, "a:c=1")], (
        "only its own setting"
    )
    ranking = Ranking("regret", order, pairings, [])
    first, _, numbers = str(ranking).partition(": ")
    assert first == "a:c=2 has the best score of 2 learners, but not all learners have met"
    assert numbers == "of its 2 pairings it wins 1 and loses 1."
    assert [row["rank"] for row in ranking.table(ranking.names)] == ["1", "2", "-"]
    assert "is not ranked" in ranking.caveat
    pairings.append(pairing("a:c=2", "b", 1, p=0.5))
    assert str(Ranking("regret", ranked(["a:c=2", "b"], pairings[1:]), pairings, [])).endswith(
        "loses 0; 1 is undecided."
    )
    assert [entry.rank for entry in ranked(["a:c=1", "a:c=2"], pairings[:1])] == [1, 2], "a sweep"
    level = [pairing("a", "b", 0, p=1.0)]
    assert "None of the 2 learners is shown" in str(Ranking("regret", ranked("ab", level), level, []))
    pairings = [pairing("a:c=1", "a:c=2", 1), pairing("a:c=1", "b", 0, p=1.0), pairing("a:c=2", "b", 0, p=1.0)]
    order = ranked(["a:c=1", "a:c=2", "b"], pairings)
    assert str(Ranking("regret", order, pairings, [])).startswith("a:c=1 ranks first among 3 learners")
    pairings = [pairing("a:c=1", "a:c=2", 1), pairing("a:c=3", "b", 0, p=1.0)]  # the winner met only its own settings
    order = ranked(["a:c=1", "a:c=2", "a:c=3", "b"], pairings)
    assert str(Ranking("regret", order, pairings, [])) == (
        "a:c=3 and b share first place among 2 learners; not all learners have met."
    )


@pytest.mark.parametrize(
    "text",
    [
        STUDY + "[match-ups]\nself-play = true\n",
        STUDY.replace('"regret", "pseudo_regret"', '"tv"') + PAIRS,
        STUDY + '[match-ups]\npairs = [["hedge", "fixed:strategy=1/0/0"]]\n',
        STUDY.replace("seeds = 6", "seeds = 1") + PAIRS,
    ],
    ids=["self-play", "tv", "references", "one seed"],
)
def test_without_a_metric_of_who_is_ahead_there_is_no_ranking(text, tmp_path, capsys):
    results = results_of(text.replace(', "diagonal:n=2"', ""), tmp_path)
    assert rank(results) is None
    print_ranking(results)
    assert capsys.readouterr().out == ""


def test_run_and_results_begin_with_the_ranking(coebl, tmp_path):
    (tmp_path / "study.toml").write_text(STUDY.replace(', "diagonal:n=2"', "") + PAIRS)
    ran = coebl("run", "study.toml", "--out", "out", "--workers", 1, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[1] == ""
    assert lines[2].startswith("fixed:strategy=1/0/0 ranks first among 2 learners")
    table = lines.index("", 2) + 1
    assert lines[table].split() == ["rank", "learner", "won", "undecided", "lost", "score"]
    assert lines[table + 1].split() == ["1", "fixed:strategy=1/0/0", "1", "0", "0", "+1.00"]
    assert "Score: wins minus losses, per pairing." in ran.stdout
    assert lines[-1] == "means: coebl results out; page: coebl report out"
    shown = coebl("results", "out").stdout
    assert shown.splitlines()[: table + 1] == lines[2 : table + 3]
    assert "95 % interval" in shown  # four means fit a screen
    assert "rank" not in coebl("results", "out", "--metric", "regret").stdout


OTHERS = STUDY.replace(', "diagonal:n=2"', "").replace(', "hedge"', ', "exp3", "coebl:c=[2,8]"')


def test_a_run_ranks_only_what_its_study_asks_for(coebl, tmp_path):
    """The folder also holds other learners, other seeds, other metrics."""
    before = OTHERS + '[match-ups]\nall-pairs = ["coebl:c=[2,8]", "exp3"]\n'
    after = OTHERS.replace("seeds = 6", "seeds = 4") + '[match-ups]\nall-pairs = ["coebl:c=2", "exp3"]\n'
    go(before, tmp_path / "out")
    (tmp_path / "study.toml").write_text(after)
    ran = coebl("run", "study.toml", "--out", "out", "--workers", 1, cwd=tmp_path)
    assert "left alone: 4 cells" in ran.stderr
    assert {line.split()[1] for line in ran.stdout.splitlines()[5:7]} == {"coebl:c=2", "exp3"}
    assert "of the 2 learners" in ran.stdout.replace("None of", "of") or "of 2 learners" in ran.stdout
    study, results = parse_study(after), Results(tmp_path / "out")
    [pairing] = rank(results, study).pairings
    rows = runs_of(results, "rps", pairing.first, pairing.second, "pseudo_regret").values[-1]
    columns = runs_of(results, "rps", pairing.second, pairing.first, "pseudo_regret").values[-1]
    assert pairing.advantage.mean == pytest.approx(np.mean((columns - rows)[:4]) / 2)  # of the first four seeds
    assert len(rank(results).learners) == 3  # the folder has more
    assert rank(results, parse_study(after.replace('"regret", "pseudo_regret"', '"regret"'))).metric == "regret"
    assert rank(results, parse_study(after.replace('"regret", "pseudo_regret"', '"tv"'))) is None


def test_variants_are_distinguished_and_unequal_pairings_are_reported(coebl, tmp_path):
    text = OTHERS + '[match-ups]\npairs = [["coebl:c=2", "exp3"], ["coebl:c=8", "exp3"]]\n'
    results_of(text, tmp_path / "out")
    shown = coebl("results", "out", cwd=tmp_path).stdout
    assert {line.split()[1] for line in shown.splitlines()[3:6]} == {"coebl:c=2", "coebl:c=8", "exp3"}
    assert " pairings " in shown.splitlines()[2]
    assert "2 of 2" in shown
    assert "1 of 2" in shown
    assert "Not all learners met each other" in shown
    assert "coebl  " not in shown  # nor in the means below
    assert coebl("compare", "out", "coebl", "coebl:c=2").stdout.count("\ncoebl:c=8 minus coebl:c=2, pseudo_regret")


def test_many_means_are_printed_on_request(coebl, played, monkeypatch):
    monkeypatch.setattr("coebl.cli.study_commands._SCREEN", 3)
    folder = played.store.folder
    brief = coebl("results", folder).stdout
    assert "95 % interval" not in brief
    assert brief.splitlines()[-1].startswith("all 4 means: coebl results")
    assert "95 % interval" in coebl("results", folder, "--details").stdout


@pytest.mark.parametrize(("seeds", "tested"), [(range(4), [4]), (range(2, 6), [2]), (range(4, 8), [])])
def test_own_payoffs_are_compared_at_the_seeds_that_all_opponents_have(seeds, tested):
    """What ucb and exp3 earn from uniform and from hedge; exp3 met hedge with other seeds."""

    def runs(learner, opponent, seeds):
        setting = {"game": "battle-of-the-sexes", "players": [learner, opponent], "noise": "none", "rounds": 9}
        return [
            {**setting, "seed": seed, "payoff": float(seed + (learner == "ucb")), "payoff:2": 0.0} for seed in seeds
        ]

    rows = [*runs("ucb", "uniform", range(4)), *runs("exp3", "uniform", range(4))]
    table = pl.DataFrame([*rows, *runs("ucb", "hedge", range(4)), *runs("exp3", "hedge", seeds)])
    pairings = pairwise(table, "payoff", learners=["ucb", "exp3"])
    assert [(pairing.advantage.n, pairing.advantage.mean, pairing.winner) for pairing in pairings] == [
        (n, 1.0, "ucb") for n in tested
    ]


@pytest.mark.parametrize(("metric", "winner"), [("payoff", "ucb"), ("swap_regret", "exp3")])
def test_a_learner_wins_by_a_higher_payoff_and_by_a_lower_regret(metric, winner):
    """In games that are not zero-sum, where each seat has its own number; ucb has the higher one."""
    setting = {"game": "battle-of-the-sexes", "noise": "none", "rounds": 9, f"{metric}:2": 0.0}
    rows = [
        {**setting, "players": [learner, "uniform"], "seed": seed, metric: seed + 2.0 * (learner == "ucb")}
        for learner in ("ucb", "exp3")
        for seed in range(4)
    ]
    [pairing] = pairwise(pl.DataFrame(rows), metric, learners=["ucb", "exp3"])
    assert (pairing.winner, abs(pairing.advantage.mean)) == (winner, 2.0)


def test_a_mean_over_games_has_the_same_last_bit_on_every_machine():
    random = np.random.default_rng(0)
    values = random.normal(size=(20, 2000)) * 10.0 ** random.integers(-8, 8, size=(20, 2000))
    labels = {"seed": np.repeat(np.arange(20), 2000), "game": np.tile(np.arange(2000), 20)}
    samples = pl.DataFrame({"learner": "a", **labels, "value": values.ravel()})
    means = pooled(samples, ["learner"], ["game"]).sort("seed")["value"].to_numpy()
    one_by_one = [sum(of_seed) / len(of_seed) for of_seed in values.tolist()]  # no sums that threads share
    np.testing.assert_array_equal(means, one_by_one)
