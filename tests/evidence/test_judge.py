"""Verdicts on made-up results of made-up claims: reading, Holm's correction, missing data, notes."""

import math
import zlib
from collections import Counter

import numpy as np
import pytest
import scipy.stats

from coebl.core.errors import InputError
from coebl.engine.match import MatchName
from coebl.evidence.checks import Near, Setting, above, below
from coebl.evidence.judge import Claim, judge
from coebl.evidence.statistics import mean_interval
from coebl.study import Results, Study
from made_curves import MadeCurves, MadeRuns

SETTING = Setting(300, "gaussian")
ROUNDS = np.arange(10, 301, 10)
SIZED = [f"diagonal:n={n}" for n in range(2, 8)]
BASELINES = ("exp3", "exp3-ix", "ucb")
DUELS = [MatchName(game, row, "coebl") for game in SIZED for row in BASELINES]
ALONE = [MatchName(game, row, row) for game in SIZED for row in ("coebl", "ucb")]
VARIANTS = {"six": 6, "two": 2}  # how many games the claims are about


def wins(games):
    return [above(SETTING.end(duel)) for duel in DUELS if duel.game in SIZED[:games]]


def differs(games):
    ends = {pairing: SETTING.between(pairing, 201, 300) for pairing in ALONE}
    return [above(ends[game, "ucb", "ucb"], minus=ends[game, "coebl", "coebl"]) for game in SIZED[:games]]


LARGEST = Near(tuple(map(SETTING.end, DUELS)), 10, "largest")
CLAIMS = {
    "wins": Claim("wins", "COEBL wins.", ("pseudo_regret", "regret"), wins),
    "differs": Claim("differs", "UCB has more.", ("tv",), differs),
    "numbers": Claim("numbers", "A largest of 10.", ("pseudo_regret",), lambda games: [*wins(games), LARGEST]),
    "silent": Claim("silent", "Nothing.", ("tv",), lambda games: [], silence="there is nothing to check"),
}


class Made(MadeCurves):
    """Numbers around 10, but around 5 in COEBL's self-play.

    `exact` replaces the numbers of some matches, one per seed; `change` is applied to the runs of a match and a metric.
    """

    def __init__(self, exact=None, seeds=20, keep=lambda pairing: True, change=lambda runs, *match: runs):
        self.exact, self.seeds, self.change = exact or {}, seeds, change
        self.present = list(filter(keep, DUELS + ALONE))
        self.asked = Counter()

    def matches(self):
        return self.present

    def runs(self, game, row, column, metric):
        pairing = MatchName(game, row, column)
        self.asked[pairing, metric] += 1
        noise = np.random.default_rng(zlib.crc32(repr((pairing, metric)).encode())).standard_normal(self.seeds)
        numbers = (5 if row == column == "coebl" else 10) + 0.1 * (noise - noise.mean())
        numbers = np.broadcast_to(self.exact.get(pairing, numbers), (len(ROUNDS), self.seeds))
        return self.change(MadeRuns(ROUNDS, np.arange(self.seeds), numbers), game, row, column, metric)


def verdict(claim, source, variant="six"):
    (only,) = judge(source, [CLAIMS[claim]], {variant: VARIANTS[variant]})
    return only


def duel(row, game):
    return MatchName(game, row, "coebl")


def standard(t):
    """Twenty numbers whose t statistic against 0 is exactly this."""
    numbers = np.random.default_rng(5).standard_normal(20)
    numbers = (numbers - numbers.mean()) / numbers.std(ddof=1)
    return numbers + t / math.sqrt(20)


class TestVerdicts:
    def test_every_claim_in_every_variant_in_this_order(self):
        verdicts = judge(Made(), CLAIMS.values(), VARIANTS)
        assert [(result.id, result.variant, len(result.checks)) for result in verdicts] == [
            (claim, variant, count)
            for claim, counts in (("wins", (18, 6)), ("differs", (6, 2)), ("numbers", (19, 7)), ("silent", (0, 0)))
            for variant, count in zip(VARIANTS, counts, strict=True)
        ]
        assert [result.verdict for result in verdicts] == ["holds"] * 6 + ["not testable"] * 2

    def test_a_claim_without_checks_gives_the_reason(self):
        result = verdict("silent", Made())
        assert (result.note, result.estimate.n) == ("there is nothing to check", 0)
        assert math.isnan(result.estimate.mean)

    def test_the_numbers_are_those_of_the_failed_check(self):
        result = verdict("wins", Made({duel("ucb", "diagonal:n=3"): np.linspace(-25, -24, 20)}))
        assert (result.verdict, result.estimate.mean, result.threshold) == ("fails", pytest.approx(-24.5), 0)
        assert result.estimate.low < result.estimate.mean < result.estimate.high
        assert (result.metric, result.text, result.estimate.n) == ("pseudo_regret", "COEBL wins.", 20)
        expected = "ucb v coebl on diagonal:n=3: the mean -24.5 is not above 0 (failing: 1 of 18 checks)"
        assert result.note == expected

    def test_without_a_failure_the_numbers_are_those_of_the_check_nearest_to_failing(self):
        numbers = np.linspace(3, 9, 20)
        result = verdict("wins", Made({duel("ucb", "diagonal:n=4"): numbers}))
        expected = scipy.stats.ttest_1samp(numbers, 0).confidence_interval(0.95)
        assert (result.verdict, result.estimate.mean) == ("holds", pytest.approx(6))
        assert (result.estimate.low, result.estimate.high) == pytest.approx((expected.low, expected.high))
        assert result.note == "ucb v coebl on diagonal:n=4: the mean 6 is above 0 (the closest of 18 checks)"

    def test_noise_decides_nothing(self):
        result = verdict("wins", Made({duel("ucb", "diagonal:n=4"): standard(0.5)}))
        assert result.verdict == "not significant"
        assert result.note.endswith("is not shown to be above 0 (undecided: 1 of 18 checks; failing: none)")

    def test_a_number_beside_the_statement_does_not_decide_where_the_statement_fails(self):
        numbers = {
            duel("exp3", SIZED[3]): np.linspace(-11, -1, 20),
            duel("ucb", SIZED[5]): np.linspace(9000, 9001, 20),
        }
        result = verdict("numbers", Made(numbers))
        assert (result.verdict, result.threshold) == ("fails", 0)
        assert result.note.startswith("exp3 v coebl on diagonal:n=5")
        alone = verdict("numbers", Made(dict(list(numbers.items())[1:])))
        assert (alone.verdict, alone.threshold) == ("fails", 10)

    def test_each_metric_has_its_own_verdict(self):
        def negate(runs, *match):
            return runs if match[-1] == "pseudo_regret" else runs._replace(values=-runs.values)

        result = verdict("wins", Made(change=negate))
        assert (result.verdict, result.metric) == ("holds", "pseudo_regret")
        (reported,) = result.reported
        assert (reported.metric, reported.verdict) == ("regret", "fails")
        assert reported.estimate.low < reported.estimate.mean < reported.estimate.high < 0


class TestHolm:
    def test_one_small_p_of_eighteen_does_not_refute(self):
        t = scipy.stats.t(19).ppf(0.01)
        result = verdict("wins", Made({duel("ucb", "diagonal:n=3"): standard(t)}))
        worst = max(result.checks, key=lambda check: check.estimate.p_for)
        assert worst.estimate.p_against == pytest.approx(0.01)
        assert worst.estimate.p_against_holm == pytest.approx(0.18)
        assert result.verdict == "not significant"

    def test_two_weak_p_values_do_not_show(self):
        weak = {duel(row, "diagonal:n=2"): standard(scipy.stats.t(19).isf(0.04)) for row in ("exp3", "ucb")}
        result = verdict("wins", Made(weak))
        largest = sorted(result.checks, key=lambda check: -check.estimate.p_for)[:2]
        assert [check.estimate.p_for for check in largest] == pytest.approx([0.04, 0.04])
        assert [check.estimate.p_for_holm for check in largest] == pytest.approx([0.08, 0.08])
        assert result.verdict == "not significant"

    def test_the_last_step_is_uncorrected(self):
        t = scipy.stats.t(19).isf(0.04)
        assert verdict("wins", Made({duel("exp3", "diagonal:n=2"): standard(t)})).verdict == "holds"

    def test_checks_without_data_count_in_the_family(self):
        t = scipy.stats.t(19).ppf(0.004)  # 9 x 0.004 < 0.05 < 18 x 0.004
        source = Made({duel("ucb", "diagonal:n=3"): standard(t)}, keep=few(3))
        assert verdict("wins", source).verdict == "not testable"


def few(games):
    """A filter of matches on the first few games."""
    return lambda pairing: pairing.game in SIZED[:games]


BEHIND = {duel("exp3", "diagonal:n=3"): np.linspace(-11, -9, 20)}
LEVEL = {duel("exp3", SIZED[1]): standard(0)}
REFUTED = {duel("exp3", SIZED[1]): standard(scipy.stats.t(19).ppf(0.01))}  # 0.01 < 0.05 < 18 x 0.01
UNDECIDED = "6 of 18 checks have data, 5 of them hold, none fails; missing: Diagonal, n = 4, 5, 6, 7"


class TestMissingData:
    @pytest.mark.parametrize(
        ("exact", "keep", "expected", "note"),
        [
            ({}, few(3), "not testable", "9 of 18 checks have data, all of them hold; missing: Diagonal, n = 5, 6, 7"),
            (
                {},
                lambda pairing: pairing != duel("ucb", "diagonal:n=5"),
                "not testable",
                "17 of 18 checks have data, all of them hold; missing: ucb v coebl on diagonal:n=5",
            ),
            ({}, lambda pairing: pairing.row != "ucb", "not testable", "ucb v coebl on diagonal:n=5; and 2 more"),
            (BEHIND, few(2), "fails", "is not above 0 (failing: 1 of 6 checks that were run, of 18)"),
            (LEVEL, few(2), "not testable", f"is not shown to be above 0; {UNDECIDED}"),
            (REFUTED, few(2), "not testable", f"above 0, refuted before Holm's correction only; {UNDECIDED}"),
        ],
        ids=["games by family", "a match", "four of them", "one fails", "one is undecided", "one before correction"],
    )
    def test_the_note_says_what_is_missing(self, exact, keep, expected, note):
        result = verdict("wins", Made(exact, keep=keep))
        assert (result.verdict, result.threshold) == (expected, 0)
        assert result.note.startswith(f"{result.decisive.subject}: the mean ")
        assert result.note.replace("\u00a0", " ").endswith(note)

    def test_without_any_match_only_games_are_named(self):
        note = verdict("wins", Made(keep=lambda pairing: False), "two").note
        assert note.replace("\u00a0", " ") == "missing: Diagonal, n = 2, 3"

    @pytest.mark.parametrize(("seeds", "expected"), [(1, "not testable"), (2, "holds")])
    def test_two_seeds_are_enough(self, seeds, expected):
        result = verdict("wins", Made(seeds=seeds))
        assert result.verdict == expected
        assert ("exp3 v coebl on diagonal:n=2: fewer than two seeds" in result.note) == (seeds == 1)

    def test_infinite_numbers(self):
        numbers = np.ones(20)
        numbers[3] = math.inf
        result = verdict("differs", Made({MatchName("diagonal:n=3", "ucb", "ucb"): numbers}))
        assert result.verdict == "not testable"
        assert "5 of 6 checks have data, all of them hold" in result.note
        assert "ucb v ucb on diagonal:n=3, rounds 201 to 300: tv is not finite in every run" in result.note

    def test_a_short_match_has_no_end(self):
        short = Made(change=lambda runs, *_: runs._replace(rounds=runs.rounds[:25], values=runs.values[:25]))
        assert "exp3 v coebl on diagonal:n=2: round 300 is not recorded" in verdict("wins", short).note
        assert "rounds 201 to 300: round 300 is not recorded" in verdict("differs", short).note

    @pytest.mark.parametrize("changed", [{"horizon": 600}, {"noise": "none"}])
    def test_matches_of_another_setting_are_not_judged(self, changed):
        result = verdict("wins", Made(change=lambda runs, *_: runs._replace(**changed)))
        assert result.verdict == "not testable"
        assert "where the claim is about 300 rounds and noise gaussian" in result.note

    def test_an_error_while_a_match_is_read_is_reported(self):
        def fail(*_):
            raise InputError("there are cells of two noises.")

        note = verdict("wins", Made(change=fail)).note
        assert "missing: exp3 v coebl on diagonal:n=2: there are cells of two noises" in note

    def test_the_other_seat_does_not_count(self):
        source = Made()
        source.present = [MatchName(game, column, row) for game, row, column in DUELS]
        assert verdict("wins", source).verdict == "not testable"


class TestReading:
    def test_the_order_of_seeds_does_not_matter(self):
        def shuffle(runs, *match):
            order = np.random.default_rng(zlib.crc32(repr(match).encode())).permutation(20)
            return runs._replace(seeds=runs.seeds[order], values=runs.values[:, order])

        shuffled, plain = (
            [result.as_dict() for result in judge(source, [CLAIMS["differs"]], VARIANTS)]
            for source in (Made(change=shuffle), Made())
        )
        assert shuffled == plain

    def test_differences_are_paired_by_seed(self):
        shock = np.random.default_rng(1).normal(0, 1e4, 20)  # hides a difference of 5, unless it is the same in both
        matches = {pairing: shock + 5 * (pairing.row == "ucb") * np.linspace(0.9, 1.1, 20) for pairing in ALONE}
        result = verdict("differs", Made(matches))
        assert (result.verdict, result.estimate.mean) == ("holds", pytest.approx(5))

    def test_seeds_that_only_one_side_has_are_left_out(self):
        def drop(runs, game, row, *_):
            first = 5 if row == "ucb" else 0
            return runs._replace(seeds=runs.seeds[first:], values=runs.values[:, first:])

        assert {check.estimate.n for check in verdict("differs", Made(change=drop)).checks} == {15}

    def test_each_match_and_metric_is_read_once(self):
        source = Made()
        judge(source, CLAIMS.values(), VARIANTS)
        assert set(source.asked.values()) == {1}

    def test_every_metric_is_read_from_the_side_of_the_learner(self):
        match = MatchName("rps", "ucb", "coebl")
        source = Made({match: np.linspace(8, 12, 20), MatchName("rps", "coebl", "ucb"): np.linspace(1, 3, 20)})
        source.present = [match, MatchName("rps", "coebl", "ucb")]
        claim = Claim("both", "", ("pseudo_regret", "tv"), lambda _: [above(SETTING.end(match, every_seat=True))])
        (result,) = judge(source, [claim], {"only": None})
        assert result.checks[0].subject == "ucb v coebl on rps, both seats"
        assert result.estimate.mean == pytest.approx((10 - 2) / 2)  # one player's regret is the other's gain
        (reported,) = result.reported
        assert reported.estimate.mean == pytest.approx((10 + 2) / 2)  # tv is about both players

    def test_a_claim_on_a_game_with_three_seats_and_any_sum(self, tmp_path):
        seated = [("exp3", "ucb", "hedge"), ("ucb", "exp3", "hedge"), ("ucb", "hedge", "exp3")]
        listed = [*seated, ("ucb", "hedge", "ucb")]
        study = Study(games=["jordan"], players=list(map(list, listed)), rounds=40, seeds=4, metrics=["payoff"])
        study.run(tmp_path)
        results = Results(tmp_path)
        setting, match = Setting(40, "gaussian"), MatchName("jordan", *seated[0])
        checks = [above(setting.end(match, every_seat=True)), below(setting.end(MatchName("jordan", *listed[-1])), 9)]
        claim = Claim("three", "", ("payoff",), lambda _: checks)
        assert claim.needs(None) == [MatchName("jordan", *players) for players in listed]
        (result,) = judge(results, [claim], {"only": None})
        first, second = result.checks
        own = [
            results.last(game="jordan", players=players)["payoff" if seat == 0 else f"payoff:{seat + 1}"]
            for seat, players in enumerate(seated)
        ]
        assert first.subject == "exp3 v ucb v hedge on jordan, all seats"
        assert (first.estimate.n, first.estimate.mean) == (4, pytest.approx(np.mean(own)))
        assert second.verdict == "holds"
        assert second.estimate.mean == pytest.approx(results.last(players=listed[-1])["payoff"].mean())

    def test_a_metric_has_to_be_recorded_for_every_seat_that_counts(self):
        match = MatchName("rps", "ucb", "coebl")
        source = Made()
        source.metrics, source.present = ("payoff",), [match, MatchName("rps", "coebl", "ucb")]
        claim = Claim("both", "", ("payoff",), lambda _: [above(SETTING.end(match, every_seat=True))])
        (result,) = judge(source, [claim], {"only": None})
        assert result.note == "missing: coebl v ucb on rps: payoff of the column seat was not recorded"

    def test_a_window_has_both_of_its_ends(self):
        values = np.where((ROUNDS == 110) | (ROUNDS == 200), 1.0, 0.0)[:, None] + np.zeros(20)
        pairing = ALONE[0]
        checks = [below(SETTING.between(pairing, 110, 200), 0.5)]  # the mean of ten rounds, of which two are 1
        claim = Claim("mean", "", ("tv",), lambda _: checks)
        (result,) = judge(Made({pairing: values}), [claim], {"only": None})
        assert result.estimate.mean == pytest.approx(0.2)

    def test_the_mean_of_a_window_has_the_same_last_bit_on_every_machine(self):
        values = np.random.default_rng(0).normal(size=(len(ROUNDS), 20))
        checks = [below(SETTING.between(ALONE[0], 10, 300), 0.5)]
        claim = Claim("mean", "", ("tv",), lambda _: checks)
        (result,) = judge(Made({ALONE[0]: values}), [claim], {"only": None})
        means = np.array([sum(run) / len(run) for run in values.T.tolist()])  # added up in the order of the rounds
        assert result.estimate.mean == mean_interval(means).mean
