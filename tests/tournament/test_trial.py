"""Tests of one learner: the matches, the arithmetic of each statement by hand, and the command."""

import csv
import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats

from coebl.core.errors import InputError
from coebl.evidence.checks import Setting
from coebl.evidence.judge import judge, reasons
from coebl.evidence.statistics import holm
from coebl.learners import Coebl, Exp3, Hedge, Ucb, parse_learner
from coebl.report.verdict_grid import verdict_entry, verdict_grid
from coebl.tournament.outcome import read_page, write_trials
from coebl.tournament.statements import Trial, claim_of
from coebl.tournament.suite import opponents_of, read_suite, study_of, subjects_of
from made_curves import MadeCurves, MadeRuns
from sources import FIRST_ACTION

TINY = Path(__file__).parent / "tiny-test.toml"


@pytest.fixture
def suite():
    return read_suite(str(TINY))


# What is played


def test_the_subject_meets_each_opponent_and_all_meet_themselves_and_the_yardstick(suite):
    study = study_of(suite, subjects_of(suite, []), 3)
    pairs = [(row, column) for game, row, column in study.matches() if game == "rps"]
    everybody = ("kin", "uniform", "exp3")
    expected = {("kin", "uniform"), ("uniform", "kin"), ("kin", "exp3"), ("exp3", "kin")}
    expected |= {(learner, learner) for learner in everybody}
    expected |= {pair for learner in everybody for pair in ((learner, "best-response"), ("best-response", learner))}
    assert sorted(pairs) == sorted(expected)
    metrics = {"pseudo_regret", "exploitability", "average_exploitability"}
    assert {frozenset(cell.metrics) for cell in study.cells} == {frozenset(metrics)}


def test_several_subjects_share_what_is_common_and_do_not_meet(suite):
    assert subjects_of(suite, [Ucb(), Coebl(c=2)]) == [Ucb(), Coebl(c=2)]
    study = study_of(suite, [Ucb(), Hedge()], 3)
    pairs = {(row, column) for _, row, column in study.matches()}
    assert ("ucb", "hedge") not in pairs
    assert {("ucb", "exp3"), ("hedge", "exp3"), ("exp3", "exp3")} < pairs


def test_a_subject_is_not_its_own_opponent(suite):
    assert opponents_of(suite, Exp3()) == [parse_learner("uniform")]
    assert opponents_of(suite, parse_learner("kin")) == [parse_learner("uniform"), Exp3()]
    with pytest.raises(InputError, match="best-response answers the policy"):
        subjects_of(suite, [parse_learner("best-response")])


# The arithmetic, on made-up numbers: the subject is s, the opponents p and q, on two games

SEEDS = 6
GAMES_OF_TWO = {"one": Setting(100, "gaussian"), "two": Setting(50, "gaussian")}
TRIAL = Trial("s", ("p", "q"), GAMES_OF_TWO, widths={"one": 2.0, "two": 4.0})


class Numbers(MadeCurves):
    """A source with these numbers per seed, by match and metric."""

    def __init__(self, numbers):
        self.numbers = numbers

    def matches(self):
        return list({key[:3] for key in self.numbers})

    def runs(self, *key):
        values = np.asarray(self.numbers[key], float)
        rounds = GAMES_OF_TWO[key[0]].rounds
        return MadeRuns(np.array([rounds]), np.arange(len(values)), values[None], rounds)


def spread(mean, seed, size=1.0):
    """Numbers of exactly this mean."""
    noise = np.random.default_rng(seed).normal(0, size, SEEDS)
    return mean + noise - noise.mean()


def p_of(numbers, alternative):
    return scipy.stats.ttest_1samp(numbers, 0, alternative=alternative).pvalue


def judged(suite, place, numbers, seeds=None):
    (verdict,) = judge(Numbers(numbers), [claim_of(suite.statements[place])], {"s": TRIAL}, seeds)
    return verdict.aim


def duels(suite, **advantages):
    """Head to head, with this advantage of s in each seat; the seats differ by the game's bias, which cancels."""
    numbers = {}
    for place, (pair, advantage) in enumerate(advantages.items()):
        game, other = pair.split("_")
        numbers[game, "s", other, "pseudo_regret"] = spread(30 - advantage, place)
        numbers[game, other, "s", "pseudo_regret"] = spread(30 + advantage, place + 50)
    return numbers, judged(suite, 0, numbers)


def test_head_to_head_by_hand(suite):
    numbers, result = duels(suite, one_p=9.0, one_q=0.1, two_p=-8.0, two_q=7.0)
    assert [(row.game, row.opponent, row.outcome) for row in result.rows] == [
        ("one", "p", "ahead"),
        ("one", "q", "level"),
        ("two", "p", "behind"),
        ("two", "q", "ahead"),
    ]
    assert [row.estimate.mean for row in result.rows] == pytest.approx([9, 0.1, -8, 7])
    assert [row.relative for row in result.rows] == pytest.approx([9 / 200, 0.1 / 200, -8 / 200, 7 / 200])
    by_seed = [
        (numbers[row.game, row.opponent, "s", "pseudo_regret"] - numbers[row.game, "s", row.opponent, "pseudo_regret"])
        / 2
        for row in result.rows
    ]
    assert [row.estimate.p_for_holm for row in result.rows] == pytest.approx(
        holm([p_of(d, "greater") for d in by_seed])
    )
    assert [row.estimate.p_against_holm for row in result.rows] == pytest.approx(
        holm([p_of(d, "less") for d in by_seed])
    )
    assert result.counts == {"ahead": 2, "level": 1, "behind": 1, "missing": 0, "mean below 0": 1}
    assert (result.missed, result.total, result.allowed, result.reached) == (1, 4, 0, False)
    assert "Behind on 1 of 4 pairs of game and opponent (aim: at most 0), ahead on 2, undecided on 1" in result.said
    assert [row.game for row in result.failing] == ["two"]


def test_over_all_games_every_game_counts_once_in_units_of_its_range(suite):
    _, result = duels(suite, one_p=9.0, one_q=3.0, two_p=-8.0, two_q=7.0)
    p, q = result.overall
    assert (p.opponent, p.estimate.mean, p.estimate.n, p.outcome) == ("p", pytest.approx((9 - 8) / 400), 2, "level")
    assert q.estimate.mean == pytest.approx((3 + 7) / 400)
    raw = [p_of(np.array(numbers) / 200, "greater") for numbers in ([9, -8], [3, 7])]
    assert [p.estimate.p_for_holm, q.estimate.p_for_holm] == pytest.approx(holm(raw))


def test_no_learner_is_behind(suite):
    numbers, result = duels(suite, one_p=9.0, one_q=0.1, two_p=-0.1, two_q=7.0)
    assert result.reached
    assert result.failing == []
    [verdict] = judge(Numbers(numbers), [claim_of(suite.statements[0])], {"s": TRIAL})
    assert reasons(verdict) == (f"reached         {result.said}",)


def regrets(suite, change=(), **means):
    """Against a best response: this regret in each seat on average, unequal by seats."""
    numbers = {}
    for place, (pair, mean) in enumerate(means.items()):
        game, learner = pair.split("_")
        numbers[game, learner, "best-response", "pseudo_regret"] = spread(mean + 2, place)
        numbers[game, "best-response", learner, "pseudo_regret"] = -spread(mean - 2, place + 50)
    return judged(suite, 1, {key: value for key, value in numbers.items() if key not in change})


def test_ratios_against_a_best_response_by_hand(suite):
    result = regrets(suite, one_s=30.0, one_p=40.0, one_q=25.0, two_s=51.0, two_p=30.0, two_q=90.0)
    first, second = result.rows
    assert (first.opponent, first.estimate.mean, first.outcome) == ("q", pytest.approx(30 / 25), "within")
    assert (second.opponent, second.estimate.mean, second.outcome) == ("p", pytest.approx(51 / 30), "beyond")
    assert first.means == pytest.approx((30, 25))
    assert first.estimate.low < first.estimate.mean < first.estimate.high
    assert (result.missed, result.counts["too far"], result.reached) == (1, 0, False)
    (whole,) = result.overall
    assert whole.estimate.mean == pytest.approx(np.log([1.2 / 1.5, 1.7 / 1.5]).mean())
    assert "the geometric mean is 1.43" in result.said
    assert [row.game for row in result.failing] == ["two"]


def test_one_ratio_too_far_misses_the_aim_however_many_misses_it_allows(suite):
    changed = {"misses": 2, "share": None}
    lenient = suite.model_copy(
        update={"statements": tuple(statement.model_copy(update=changed) for statement in suite.statements)}
    )
    near = regrets(lenient, one_s=20.0, one_p=40.0, one_q=25.0, two_s=59.0, two_p=30.0, two_q=90.0)
    far = regrets(lenient, one_s=20.0, one_p=40.0, one_q=25.0, two_s=61.0, two_p=30.0, two_q=90.0)
    assert (near.missed, near.counts["too far"], near.reached) == (1, 0, True)
    assert (far.missed, far.counts["too far"], far.reached) == (1, 1, False)


def test_an_aim_is_open_while_data_are_missing(suite):
    gone = {("two", "q", "best-response", "pseudo_regret")}
    result = regrets(suite, gone, one_s=20.0, one_p=40.0, one_q=25.0, two_s=20.0, two_p=30.0, two_q=90.0)
    assert [row.outcome for row in result.rows] == ["within", "missing"]
    assert result.reached is None
    assert "Without data: 1 of 2." in result.said
    assert result.overall[0].outcome == "missing"


def test_single_runs_by_hand(suite):
    """The regret of a run is the mean of both seats: 10 in most, and 49 or 51 in one."""
    numbers = {}
    for game, worst in (("one", 49.0), ("two", 51.0)):
        runs = np.full(SEEDS, 10.0)
        runs[3] = worst
        numbers[game, "s", "best-response", "pseudo_regret"] = runs + 4
        numbers[game, "best-response", "s", "pseudo_regret"] = 4 - runs
    result = judged(suite, 3, numbers)
    assert [(row.estimate.mean, row.outcome) for row in result.rows] == [(4.9, "within"), (5.1, "beyond")]
    assert [row.means for row in result.rows] == [(49, 10), (51, 10)]
    assert (result.missed, result.total, result.reached) == (1, 2, False)
    assert (
        result.said
        == "A run is beyond 5 times the median on 1 of 2 games (aim: at most 0). The largest is 5.1 times the median."
    )
    del numbers["two", "s", "best-response", "pseudo_regret"]
    assert judged(suite, 3, numbers).reached is None


def settled(suite, last=None, **means):
    numbers = {}
    for place, (pair, mean) in enumerate(means.items()):
        game, learner = pair.split("_")
        numbers[game, learner, learner, "average_exploitability"] = spread(mean, place, 0.01)
        numbers[game, learner, learner, "exploitability"] = spread((last or means)[pair], place + 50, 0.01)
    return judged(suite, 2, numbers)


def test_exploitability_in_self_play_by_hand(suite):
    last = dict.fromkeys(("one_s", "one_p", "one_q", "two_s", "two_p", "two_q"), 0.5) | {"one_s": 0.9, "two_s": 0.1}
    result = settled(suite, last, one_s=0.2, one_p=0.5, one_q=0.201, two_s=0.4, two_p=0.3, two_q=0.6)
    assert [row.outcome for row in result.rows] == ["below", "level", "above", "below"]
    assert [row.estimate.mean for row in result.rows] == pytest.approx([-0.3, -0.001, 0.1, -0.2])
    assert [row.relative for row in result.rows] == pytest.approx([-0.15, -0.0005, 0.025, -0.05])
    assert result.counts == {"least": 1, "not least": 1, "missing": 0, "least outright": 1, "pairs above": 1}
    assert result.reported == {
        "exploitability": {"least": 1, "not least": 1, "missing": 0, "least outright": 1, "pairs above": 2}
    }
    assert (result.missed, result.allowed, result.reached) == (1, 0, False)  # nine in ten of two games are both
    assert [row.estimate.mean for row in result.overall] == pytest.approx([(-0.15 + 0.025) / 2, (-0.0005 - 0.05) / 2])
    assert "Significantly above no opponent on 1 of 2 games (aim: at least 2)" in result.said
    assert [suite.statements[2].allowed(games) for games in (28, 32, 40)] == [2, 3, 4]  # 0.1 times 40 is below 4


def test_equal_means_are_not_the_least_outright_and_not_above(suite):
    numbers = {
        (game, learner, learner, metric): np.full(SEEDS, 0.25)
        for game in GAMES_OF_TWO
        for learner in "spq"
        for metric in ("average_exploitability", "exploitability")
    }
    result = judged(suite, 2, numbers)
    assert {row.outcome for row in result.rows} == {"level"}
    assert (result.counts["least"], result.counts["least outright"], result.reached) == (2, 0, True)


def test_only_the_given_seeds_count(suite):
    numbers, whole = duels(suite, one_p=9.0, one_q=0.1, two_p=-8.0, two_q=7.0)
    assert {row.estimate.n for row in whole.rows} == {SEEDS}
    assert {row.estimate.n for row in judged(suite, 0, numbers, seeds=[0, 2, 5, 99]).rows} == {3}


def test_the_page_draws_stored_verdicts_as_it_draws_new_ones(suite, tmp_path):
    numbers, _ = duels(suite, one_p=9.0, one_q=0.1, two_p=-8.0, two_q=7.0)
    verdicts = judge(Numbers(numbers), map(claim_of, suite.statements), {"s": TRIAL})
    write_trials(suite, [TRIAL], verdicts, tmp_path, {"title": "T", "notes": ["a note"]})
    [section], stored = read_page(SimpleNamespace(store=SimpleNamespace(folder=tmp_path)))
    assert (section.answer, section.sentences) == ("Aims of s: 1 missed, 3 open.", ["a note"])
    for old, new in zip(stored, verdicts, strict=True):
        assert verdict_entry(old, {})["checks"] == verdict_entry(new, {})["checks"]
    first, *others = verdict_entry(stored[0], {})["checks"]
    assert (first["title"], first["outcome"], first["verdict"]) == ("p on two", "behind", "fails")
    assert [check["outcome"] for check in others[:3]] == ["ahead", "undecided", "ahead"]
    for grid in (verdict_grid(kind, {}, {}) for kind in (stored, verdicts)):
        assert grid.counts("s") == "1 missed, 3 open"
        assert (grid.squares["a", "s"].tally, grid.squares["a", "s"].state) == ("missed 1/4", "fails")


# The command


def test_a_learner_in_a_file_is_put_through_the_test(coebl, tmp_path):
    (tmp_path / "mine.py").write_text(FIRST_ACTION)
    words = ["tournament", "--suite", str(TINY), "--learners", "mine.py:Mine", "--games", "rps,trap", "--rounds", "20"]
    code, said, _ = coebl(*words, "--out", "out")
    assert code == 0
    answer = said[said.index("\n    mine.py:Mine\n") :]
    assert answer.split()[1:3] == ["missed", "Behind"]
    assert "\n        behind: rps, exp3, " in answer  # which learns to beat it, as uniform does not
    assert "\n        behind: rps, uniform, " not in answer
    assert "Games or rounds were chosen by hand: this is not the suite tiny-test-1." in said
    summary = json.loads((tmp_path / "out" / "tournament" / "summary.json").read_text())
    (trial,) = summary["trials"]
    assert (trial["subject"], trial["opponents"]) == ("mine.py:Mine", ["uniform", "exp3"])
    assert trial["games"]["trap"] == {"rounds": 20, "width": 2.0}
    assert summary["suite_sha256"] == ""
    (row,) = (row for row in trial["statements"]["b"]["rows"] if row["game"] == "rps")
    assert row["subject_mean"] == pytest.approx(20)  # a best response takes 1 in every round
    assert math.isclose(row["opponent_mean"], 0, abs_tol=1e-9)  # and nothing from uniform play
    assert (row["opponent"], row["measured"]) == ("uniform", None)
    with (tmp_path / "out" / "tournament" / "verdicts.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == (2 * 2 + 2) + (2 + 1) + (2 * 2 + 2) + (
        2 + 1
    )  # games x opponents and opponents; games and one; twice
    assert {row["subject"] for row in rows} == {"mine.py:Mine"}
    assert "| id | claim | mine.py:Mine |" in (tmp_path / "out" / "tournament" / "verdicts.md").read_text()
    coebl("report", "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert '<h2 id="ranking-title">Test</h2>' in page
    assert (
        page.index("Aims of mine.py:Mine: ") < page.index("data:image/svg+xml") < page.index('<section id="verdicts"')
    )
    assert f"<span>missed {trial['statements']['a']['missed']}/4</span>" in page
    path = tmp_path / "out" / "tournament" / "summary.json"
    entire = path.read_text()
    for damage in (("trials", "trails"), ("reached", "rejected"), ('"measured": ', '"measured": "?",\n"before": ')):
        path.write_text(entire.replace(*damage))
        code, _, complaint = coebl("report", "out")
        assert (code, complaint) == (
            2,
            f"coebl: {path.parent.relative_to(tmp_path)}: its files are damaged. To recreate them: coebl tournament\n",
        )
    older = {"title": "Test", "header": ["subject"], "rows": [["as before"]], "sentences": [], "legend": ""}
    path.write_text(json.dumps({"page": older}))  # of an earlier version
    assert coebl("report", "out")[0] == 0
    assert "<td>as before</td>" in (tmp_path / "out" / "report.html").read_text()


def test_failed_cells_are_missing_and_the_aim_is_open(coebl, tmp_path):
    late = FIRST_ACTION.replace("return self.moves", "return self.moves if t < 10 else 1 / 0")  # after the trial run
    (tmp_path / "mine.py").write_text(late)
    words = ["tournament", "--suite", str(TINY), "--learners", "mine.py:Mine", "--learners", "hedge", "--seeds", "3"]
    code, said, complaint = coebl(*words, "--out", "out")
    assert code == 1
    assert "division by zero" in complaint
    first, *_ = said.partition("\nb   ")
    mine, hedge = first[first.index("    mine.py:Mine\n") :].split("\n    hedge\n")
    assert mine.split()[1:3] == ["open", "Behind"]
    assert " ".join(mine.split()).endswith("Without data: 4 of 4.")
    assert hedge.split()[0] in ("reached", "missed")
    assert "Not the test of the suite's file: 3 seeds instead of 4." in " ".join(said.split())
    assert (tmp_path / "out" / "tournament" / "figure-2.svg").exists()
    coebl("report", "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Aims of mine.py:Mine: 4 open; aims of Hedge: " in page
    assert "<dt>Measured</dt><dd>Behind on " in page, "in the details: columns of a table are too narrow"
    assert "<small>Behind on" not in page


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('kind = "self-play"', 'kind = "selfplay"', "kind is 'selfplay'; accepted: one of head-to-head"),
        ("alpha = 0.05", "alpha = 0.1", r"statements\[0\]: alpha is 0.1; accepted: 0.05"),
        ('correction = "holm"', 'correction = "none"', "correction is 'none'; accepted: \"holm\""),
        ("ratio = 1.5", "ratio = -1", "ratio is -1; accepted: a number above 0"),
        ("share = 0.9", "share = 9", "share is 9; accepted: a number, above 0 and <= 1"),
        ("share = 0.9", "share = 0.9\nmisses = 1", "accepted: one of the keys misses and share"),
        ('id = "b"', 'id = "a"', r"statements has the id a twice; accepted: each once\. Take one out\.$"),
        ("misses = 0", "mises = 0", "unknown key 'mises': did you mean 'misses'"),
        ('computed = "R"', "", "there is no key 'computed'"),
        ('metric = "average_exploitability"', 'metric = "exploit"', "unknown metric 'exploit'"),
        (
            'metric = "pseudo_regret"',
            'metric = "tv"',
            r"statements\[0\]: metric is 'tv'; accepted for head-to-head: one with a sign, such as pseudo_regret\.$",
        ),
        (
            'metric = "average_exploitability"',
            'metric = "regret"',
            "metric is 'regret'; accepted for self-play: one about both players, such as exploitability",
        ),
        ('subject = "kin"', "", "accepted: the keys subject and statements together"),
        ("seeds = 4", "seeds = 1", "seeds is 1; accepted: an integer, >= 2"),
    ],
)
def test_mistakes_in_the_file_of_a_test(tmp_path, old, new, reason):
    text = TINY.read_text()
    assert old in text
    (tmp_path / "suite.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=reason) as caught:
        read_suite(str(tmp_path / "suite.toml"))
    assert "\n" not in str(caught.value)
