"""Comparing two learners: the side of the numbers, the pairs, and the sentence."""

import csv
import dataclasses
import io
import json
import re
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from coebl.core.errors import InputError
from coebl.evidence.compare import compare
from coebl.evidence.statistics import holm, paired_difference
from coebl.games import GAMES
from coebl.naming import metric_words
from coebl.study import Results, Store

RNG = np.random.default_rng(7)


class Table:
    """Results with made-up numbers: (game, row, column, metric) to one number per seed; sorted as real ones are."""

    def __init__(self, numbers, noise="none", ranges=None, better="lower"):
        self.numbers = {key: np.asarray(values, float) for key, values in numbers.items()}
        self.metrics = list(dict.fromkeys(metric for *_, metric in numbers))
        self.noise = noise
        self.ranges = ranges or {}
        self.better = better
        self.first_seeds = {}

    def records(self):
        return [
            SimpleNamespace(
                game=game,
                learners={},
                metric_info={metric: dataclasses.replace(metric_words(metric), better=self.better)},
                payoff_range=self.ranges.get(game, (0.0, 1.0)),
                payoff_ranges=None,
            )
            for game, _, _, metric in self.numbers
        ]

    def matches(self):
        return list(dict.fromkeys(key[:3] for key in self.numbers))

    def last(self, metrics, *, game):
        rows = {}
        for (spec, row, column, metric), values in self.numbers.items():
            for seed, value in enumerate(values, self.first_seeds.get(spec, 0)):
                if spec in game and metric in metrics:
                    rows.setdefault((spec, row, column, seed), {})[metric] = value
        labels = {"game": pl.String, "players": pl.List(pl.String), "noise": pl.String, "rounds": pl.Int64}
        return pl.DataFrame(
            [
                {"game": spec, "players": [row, column], "noise": self.noise, "rounds": 9, "seed": seed} | measured
                for (spec, row, column, seed), measured in sorted(rows.items(), key=lambda row: GAMES.order(row[0][0]))
            ],
            schema={**labels, "seed": pl.Int64, **dict.fromkeys(metrics, pl.Float64)},
        )


def meeting(games=("rps",), metric="pseudo_regret", learners=("ucb", "exp3", "hedge"), seeds=12):
    pairs = [(row, column) for row in learners for column in learners]
    return {(game, *pair, metric): RNG.normal(size=seeds) for game in games for pair in pairs}


def contest_of(comparison, way, game="rps"):
    [contest] = [contest for contest in comparison.contests if (contest.way, contest.game) == (way, game)]
    return contest


def test_head_to_head_the_column_player_has_the_negative_of_a_signed_metric():
    numbers = meeting()
    contest = contest_of(compare(Table(numbers), "ucb", "exp3"), "head to head")
    first, second = numbers["rps", "ucb", "exp3", "pseudo_regret"], numbers["rps", "exp3", "ucb", "pseudo_regret"]
    own_ucb, own_exp3 = (first - second) / 2, (second - first) / 2
    expected = paired_difference(own_ucb, own_exp3, seeds=range(12))
    assert contest.difference.mean == pytest.approx(expected.mean, rel=1e-12)
    assert (contest.difference.p, contest.seats, contest.difference.n) == (
        pytest.approx(expected.p, rel=1e-9),
        "both",
        12,
    )


def test_against_common_opponents_the_same_seat_and_seed_are_paired():
    numbers = meeting()
    contest = contest_of(compare(Table(numbers), "ucb", "exp3"), "common opponents")
    row = numbers["rps", "ucb", "hedge", "pseudo_regret"] - numbers["rps", "exp3", "hedge", "pseudo_regret"]
    column = -numbers["rps", "hedge", "ucb", "pseudo_regret"] + numbers["rps", "hedge", "exp3", "pseudo_regret"]
    assert contest.difference.mean == pytest.approx(((row + column) / 2).mean(), rel=1e-12)
    assert contest.difference.sd == pytest.approx(((row + column) / 2).std(ddof=1), rel=1e-12)
    assert (contest.opponents, contest.seats) == (("hedge",), "both")
    del numbers["rps", "hedge", "exp3", "pseudo_regret"]
    contest = contest_of(compare(Table(numbers), "ucb", "exp3"), "common opponents")
    assert contest.seats == "row"
    assert contest.difference.mean == pytest.approx(row.mean(), rel=1e-12)


def test_a_metric_about_both_players_has_no_sign_and_no_head_to_head():
    numbers = meeting(metric="tv")
    comparison = compare(Table(numbers), "ucb", "exp3")
    assert [contest.way for contest in comparison.contests] == ["common opponents", "self-play"]
    value = {pair: numbers["rps", *pair, "tv"].mean() for pair in ((key[1], key[2]) for key in numbers)}
    common = value["ucb", "hedge"] + value["hedge", "ucb"] - value["exp3", "hedge"] - value["hedge", "exp3"]
    assert contest_of(comparison, "common opponents").difference.mean == pytest.approx(common / 2, rel=1e-9)
    alone = value["ucb", "ucb"] - value["exp3", "exp3"]
    assert contest_of(comparison, "self-play").difference.mean == pytest.approx(alone, rel=1e-9)


@pytest.mark.parametrize(
    ("metric", "twin"), [("external_regret", "column_external_regret"), ("swap_regret", "swap_regret:2")]
)
def test_a_metric_of_one_player_is_about_the_column_player_in_the_column_seat(metric, twin):
    numbers = meeting(metric=metric)
    twins = {(game, row, column, twin): RNG.normal(size=12) for game, row, column, _ in numbers}
    contest = contest_of(compare(Table(numbers | twins), "ucb", "exp3", metric), "head to head")
    of_ucb = numbers["rps", "ucb", "exp3", metric] + twins["rps", "exp3", "ucb", twin]
    of_exp3 = numbers["rps", "exp3", "ucb", metric] + twins["rps", "ucb", "exp3", twin]
    assert contest.difference.mean == pytest.approx((of_ucb - of_exp3).mean() / 2, rel=1e-9)
    with pytest.raises(InputError, match=f"accepted: {metric}, which takes {twin}"):
        compare(Table(numbers | twins), "ucb", "exp3", twin)


def test_games_are_corrected_and_a_seed_counts_once_over_all_of_them():
    games = ("diagonal:n=10", "rps", "diagonal:n=2")
    numbers = meeting(games)
    contests = [contest for contest in compare(Table(numbers), "ucb", "exp3").contests if contest.way == "head to head"]
    assert [contest.game for contest in contests] == ["diagonal:n=2", "diagonal:n=10", "rps", "all games"]
    assert [contest.difference.p_holm for contest in contests[:3]] == pytest.approx(
        holm([contest.difference.p for contest in contests[:3]])
    )
    both = [numbers[g, "ucb", "exp3", "pseudo_regret"] - numbers[g, "exp3", "ucb", "pseudo_regret"] for g in games]
    whole = contests[-1]
    assert (whole.difference.n, whole.difference.p_holm) == (12, whole.difference.p)
    assert whole.difference.sd == pytest.approx(np.mean(both, axis=0).std(ddof=1), rel=1e-9)


@pytest.mark.parametrize(
    ("shift", "margin", "message"),
    [
        (-5.0, None, "Head to head, ucb has the lower pseudo-regret, so ucb does better (difference -"),
        (5.0, None, "Head to head, ucb has the higher pseudo-regret, so exp3 does better (difference "),
        (0.0, None, "Head to head, it is undecided between ucb and exp3 (difference "),
        (0.0, 3.0, "Head to head, ucb and exp3 are equivalent within 3 (difference "),
    ],
)
def test_the_sentence_says_who_does_better(shift, margin, message):
    noise = np.random.default_rng(1).normal(size=12)
    numbers = {
        ("rps", "ucb", "exp3", "pseudo_regret"): shift + noise,
        ("rps", "exp3", "ucb", "pseudo_regret"): noise[::-1],
    }
    comparison = compare(Table(numbers), "ucb", "exp3", margin=margin)
    assert str(comparison).startswith(message)
    assert str(comparison).endswith("12 seeds) on rps.")
    turned = compare(Table(numbers), "exp3", "ucb").contests[0].difference.mean
    assert turned == pytest.approx(-comparison.contests[0].difference.mean, rel=1e-12)


def test_one_seed_is_no_evidence():
    comparison = compare(Table(meeting(("rps", "biased-rps"), seeds=1)), "ucb", "exp3")
    assert str(comparison).startswith("Head to head, one seed cannot separate ucb and exp3")


ALONE = meeting(learners=("ucb",)) | meeting(learners=("exp3",))
SHORT = meeting(learners=("ucb", "mine.py:One", "mine.py:Two"))


@pytest.mark.parametrize(
    ("numbers", "arguments", "message"),
    [
        (meeting(), ("ucb", "exp"), r"has the learner 'exp': did you mean 'exp3'\? Present: exp3, hedge, ucb"),
        (meeting(), ("ucb", "ucb"), "both ucb; accepted: two different learners. Present: exp3, hedge, ucb"),
        (meeting(), ("ucb", "exp3", "tv"), "metric 'tv' was not recorded. Present: pseudo_regret. To record it, add"),
        (meeting(), ("ucb", "exp3", None, "rsp"), r"no finished cell has the game 'rsp'.*Present: rps"),
        (ALONE, ("ucb", "exp3"), r"no matches to be compared by pseudo_regret.*Matches of the two: ucb v ucb"),
        (SHORT, ("mine", "ucb"), "no finished cell has the learner 'mine'"),  # which means two of them
    ],
)
def test_unknown_names_list_those_that_are_present(numbers, arguments, message):
    with pytest.raises(InputError, match=message):
        compare(Table(numbers), *arguments)


def test_the_command_distinguishes_opponents_of_one_learner(tmp_path, monkeypatch, coebl):
    Store.create(tmp_path, 'name = "demo"\n')
    table = Table(meeting(learners=("coebl:c=2", "exp3", "coebl")))
    monkeypatch.setattr(Results, "compare", lambda self, *arguments: compare(table, *arguments))
    said = coebl("compare", tmp_path, "coebl:c=2", "exp3").stdout
    assert "\ncommon opponents: coebl:c=8\n" in said


def test_the_command_prints_a_table_a_sentence_or_data(tmp_path, monkeypatch, coebl):
    Store.create(tmp_path, 'name = "demo"\n')
    table = Table(meeting(("rps", "biased-rps")))
    monkeypatch.setattr(Results, "compare", lambda self, *arguments: compare(table, *arguments))
    monkeypatch.setattr(Results, "notices", lambda self: ["made on two kinds of processors"])

    def out(*options):
        done = coebl("compare", tmp_path, "ucb", "exp3", *options)
        expected = "" if options[0] != "--margin" else "made on two kinds of processors\n"
        assert (done.returncode, done.stderr) == (0, expected)
        return done.stdout

    lines = out("--margin", "9").splitlines()
    answer = lines[: lines.index("")]
    assert answer[0].startswith("Head to head, ")
    assert ". Against common opponents, " in " ".join(answer)
    assert lines[len(answer) + 1] == "ucb minus exp3, pseudo_regret, lower is better"
    headings = [place for place, line in enumerate(lines) if line.startswith(("head to head", "common opponents"))][:2]
    header = ["game", "difference", "95", "%", "interval", "p", "(Holm)", "better", "within", "9"]
    for place in headings:
        assert lines[place + 1] == "seats both, n 12"
        assert lines[place + 2].split() == header
        rows = lines[place + 3 : place + 6]
        assert all(line.endswith(("  yes", "  not shown")) for line in rows)
        assert all("●" in line and len(line) <= 100 for line in rows)  # the interval as a bar
    below = " ".join(lines[headings[-1] + 6 :])
    assert "Holm's method, separately over the games, head to head; " in below
    rows = json.loads(out("--json"))
    assert [(row["a"], row["b"], row["metric"], row["n"]) for row in rows] == [("ucb", "exp3", "pseudo_regret", 12)] * 6
    again = list(csv.DictReader(io.StringIO(out("--csv"))))
    assert [float(row["difference"]) for row in again] == [row["difference"] for row in rows]


def test_the_bars_of_games_of_different_ranges_have_one_axis_and_fit_80_columns(tmp_path, monkeypatch, coebl):
    Store.create(tmp_path, 'name = "demo"\n')
    numbers = meeting(("rps",))
    numbers |= {("biased-rps", *key[1:]): 100 * values for key, values in numbers.items()}
    table = Table(numbers, ranges={"rps": [-1.0, 1.0], "biased-rps": [-100.0, 100.0]})
    monkeypatch.setattr(Results, "compare", lambda self, *arguments: compare(table, *arguments))
    monkeypatch.setenv("COLUMNS", "80")
    lines = coebl("compare", tmp_path, "ucb", "exp3", "--margin", "9").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    small, large, both = (next(line for line in lines if line.startswith(game)) for game in ("rps", "biased", "all"))
    assert re.findall("[├─●┤]+", small) == re.findall("[├─●┤]+", large) == re.findall("[├─●┤]+", both)
    assert len(re.findall("[├─●┤]+", small)[0]) > 2
    assert "all games, and the bars: each game counts in units of the range" in " ".join(lines)
    page = compare(table, "ucb", "exp3")._repr_html_()
    bars = re.findall(r'd="M(\S+) \d+H(\S+)"', page)  # for each kind of contest: both games, then all games
    assert [len(set(bars[start : start + 3])) for start in range(0, len(bars), 3)] == [1, 1]
    assert "in units of each game's payoff range</p>" in page


@pytest.mark.parametrize(
    ("first_seed", "ranges", "reason"),
    [
        (100, {}, "no seed is common to all games"),
        (0, {"rps": None, "biased-rps": None}, "some cells are of an older version, which does not store the range of"),
    ],
)
def test_what_cannot_be_pooled_is_not_tested_over_all_games(first_seed, ranges, reason):
    table = Table(meeting(("rps", "biased-rps")), ranges=ranges)
    table.first_seeds["biased-rps"] = first_seed
    comparison = compare(table, "ucb", "exp3")
    assert {contest.game for contest in comparison.contests} == {"rps", "biased-rps"}
    assert str(comparison).startswith(f"Head to head, {reason}")
    assert ", so there is no test over 2 games: ucb" in str(comparison)


def test_over_all_games_each_counts_by_the_range_of_its_payoffs():
    """A game with payoffs a hundred times as large would decide alone."""
    games = ("rps", "biased-rps")
    numbers = meeting(games)
    ranges = {"rps": [-1.0, 1.0], "biased-rps": [0.0, 200.0]}
    comparison = compare(Table(numbers, ranges=ranges), "ucb", "exp3", margin=3.0)
    whole = contest_of(comparison, "head to head", "all games")
    both = [numbers[g, "ucb", "exp3", "pseudo_regret"] - numbers[g, "exp3", "ucb", "pseudo_regret"] for g in games]
    in_units = np.mean([both[0] / 2, both[1] / 200], axis=0)
    assert whole.difference.mean == pytest.approx(in_units.mean(), rel=1e-9)
    assert whole.difference.sd == pytest.approx(in_units.std(ddof=1), rel=1e-9)
    assert whole.row()["unit"] == "payoff range"
    assert whole.equivalence is None  # the margin is in the metric's own unit
    assert contest_of(comparison, "head to head").equivalence is not None
    assert "in units of each game's payoff range, p = " in str(comparison)
    distances = compare(Table(meeting(games, "tv"), ranges=ranges), "ucb", "exp3")
    assert all(contest.unit == "" for contest in distances.contests)  # tv has no unit


@pytest.mark.parametrize(("row", "column", "seat"), [("ucb", "exp3", "row"), ("exp3", "ucb", "column")])
def test_learners_that_met_in_one_seat_are_compared_in_it(row, column, seat):
    """The ranking counts such a pairing."""
    numbers = {("rps", row, column, "pseudo_regret"): RNG.normal(size=12) - 5}
    comparison = compare(Table(numbers), "ucb", "exp3")
    [contest] = comparison.contests
    assert contest.seats == seat
    sign = 2 if seat == "row" else -2  # what one gets, the other loses
    assert contest.difference.mean == pytest.approx(sign * numbers["rps", row, column, "pseudo_regret"].mean())
    assert str(comparison).startswith(f"Head to head, ucb in the {seat} seat alone, ucb has the ")
    assert f"so {row} does better" in str(comparison)


@pytest.mark.parametrize(
    ("better", "counts", "so"),
    [
        ("lower", "ucb does better on 2 of them, exp3 on 0", "so ucb does better ("),
        ("higher", "ucb does better on 0 of them, exp3 on 2", "so exp3 does better ("),
        (None, "ucb is higher on 0 of them, exp3 on 2", "ucb has the lower luck ("),
    ],
)
def test_games_are_counted_for_who_does_better_in_them_if_any_does(better, counts, so):
    numbers = meeting(("rps", "biased-rps"), "luck")
    for game, row, column, _ in numbers:
        numbers[game, row, column, "luck"] += -9.0 if "ucb" in (row, column) else 0.0
    message = str(compare(Table(numbers, better=better), "ucb", "exp3"))
    assert counts in message
    assert so in message
    assert ("better" in message) == (better is not None)


@pytest.mark.parametrize("name", ["ducb", "DUCB", "mine.py", "mine", "mine.py:DUCB", "ducb:discount=0.9"])
def test_a_learner_in_a_file_may_be_called_by_its_class_or_file(name):
    own = "mine.py:DUCB:discount=0.9" if "=" in name else "mine.py:DUCB"
    numbers = meeting(learners=("ucb", own, "mine.py:DUCB", "hedge"))
    assert compare(Table(numbers), name, "ucb").a == own
