"""Verdicts on made-up results, of which it is known what they should say, and the statistics below the verdicts."""

import json
import math
import zlib
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from coebl.claims.checks import Bound, Largest, Near, Sample, fieller, sublinear
from coebl.core.errors import InputError
from coebl.papers.ijcai2025.claims import CLAIMS, as_json, as_markdown, as_table, judge, needed
from coebl.papers.ijcai2025.experiments import BASELINES, VARIANTS, Pairing, all_pairings, games, size_of
from coebl.study.results import Runs

ROUNDS = np.arange(10, 3001, 10)
ALL = all_pairings()
TEXT = VARIANTS["text"]


def role(spec):
    return spec.partition(":")[0].removesuffix("-as-released")


def world(pairing, metric):
    """The mean at every round in a world where all sixteen claims hold."""
    game, row, column = pairing.game, role(pairing.row), role(pairing.column)
    family, size = game.partition(":")[0], size_of(game) or 3
    if metric == "kl":
        return {"exp3": ROUNDS / 3000, "exp3-ix": 0.5}.get(row, 0.1)
    if metric == "tv":
        converges = {("coebl", "diagonal"): (2, 3), ("coebl", "bigger-number"): (2, 3, 4), ("ucb", "diagonal"): (4,)}
        self_play = row == column
        return 0.01 if (row == "coebl") == self_play and size in converges.get((row, family), ()) else 0.5
    if column == "best-response":
        return {"ucb": 200, "coebl": 100}[row]
    if row == column:
        return 0.02 * size * np.sqrt(ROUNDS)
    if family == "rps":
        return {"ucb": 7, "exp3": 50, "exp3-ix": 30}[row]
    landmarks = {
        ("diagonal", 6, "ucb"): 389.8,
        ("bigger-number", 2, "exp3"): 8.39,
        ("bigger-number", 7, "ucb"): 351.27,
    }
    return landmarks.get((family, size, row), 30 + size)


class Synthetic:
    """Results that are a mean plus noise; `changes` replaces means, `exact` whole matches by a number per seed."""

    def __init__(self, changes=None, exact=None, noise=1.0, seeds=20, keep=lambda pairing: True):
        self.changes, self.exact, self.noise, self.seeds = changes or {}, exact or {}, noise, seeds
        self.present = list(filter(keep, ALL))
        self.asked = Counter()

    def matches(self):
        return self.present

    def runs(self, game, row, column, metric):
        pairing = Pairing(game, row, column)
        self.asked[pairing, metric] += 1
        if pairing not in self.present:
            raise InputError(f"no finished cell has {row} v {column} on {game}.")
        seeds = np.arange(self.seeds)
        if pairing in self.exact:
            return Runs(ROUNDS, seeds, np.tile(self.exact[pairing], (len(ROUNDS), 1)))
        random = np.random.default_rng(zlib.crc32(repr((pairing, metric)).encode()))
        mean = np.broadcast_to(self.changes.get(pairing, world(pairing, metric)), len(ROUNDS))
        sd = self.noise * (0.001 if metric in ("kl", "tv") else 0.1)
        noise = random.standard_normal((len(ROUNDS), self.seeds))
        noise -= noise.mean(axis=1, keepdims=True)  # so that no verdict is a false alarm, which one in twenty may be
        return Runs(ROUNDS, seeds, mean[:, None] + sd * noise)


def verdict(claim, source, variant="text"):
    (only,) = judge(source, [claim], [variant])
    return only


def duel(baseline, game):
    return TEXT.against_coebl(baseline, game)


def alone(learner, game):
    return TEXT.self_play(learner, game)


# one or two matches that play otherwise, and the claim that does not survive it
SPOILERS = [
    ("C1", {duel("ucb", "rps"): 11}),
    ("C1", {duel("ucb", "rps"): 4}),
    ("C1", {duel("ucb", "rps"): np.where(ROUNDS > 2600, 11, 7)}),
    ("C2", {duel("exp3-ix", "rps"): -10}),
    ("C3", {alone("exp3", "rps"): 0.01 * ROUNDS}),
    ("C4", {alone("ucb", "rps"): 0.9}),
    ("C4", {alone("coebl", "rps"): np.where(ROUNDS > 2800, 0.6, 0)}),  # near on average, but not in the end
    ("C4", {alone("exp3", "rps"): 1 - ROUNDS / 3000}),
    ("C5", {alone("coebl", "diagonal:n=3"): 0.9 * np.sqrt(ROUNDS)}),
    ("C5", {alone("coebl", "diagonal:n=7"): 0.05 * ROUNDS}),  # beneath the line, but straight
    ("C5", {alone("coebl", "diagonal:n=2"): np.where(ROUNDS < 1500, 0.5, 0.3) * np.sqrt(ROUNDS)}),  # above it, once
    ("C6", {alone("ucb", "diagonal:n=2"): 0.01}),
    ("C6", {alone("coebl", "diagonal:n=3"): 0.06}),
    ("C7", {alone("exp3", "diagonal:n=6"): 0.01}),
    ("C8", {duel("exp3", "diagonal:n=5"): 10}),
    ("C8", {duel("ucb", "diagonal:n=6"): 200, duel("exp3", "diagonal:n=7"): 389.8}),  # the right maximum elsewhere
    ("C8", {duel("ucb", "diagonal:n=6"): 500}),
    ("C8", {duel("ucb", "diagonal:n=6"): 300}),
    ("C9", {duel("exp3", "diagonal:n=5"): -10}),
    ("C10", {duel("ucb", "diagonal:n=4"): 0.5}),
    ("C10", {duel("ucb", "diagonal:n=7"): 0.01}),
    ("C11", {alone("coebl", "bigger-number:n=4"): 0.5}),
    ("C11", {alone("exp3-ix", "bigger-number:n=7"): 0.01}),
    ("C12", {duel("exp3", "bigger-number:n=2"): 20}),
    ("C12", {duel("ucb", "bigger-number:n=3"): 2}),
    ("C12", {duel("ucb", "bigger-number:n=3"): 400}),
    ("C12", {duel("ucb", "bigger-number:n=3"): -2}),
    ("C13", {alone("exp3", "diagonal:n=5"): 0.01 * np.sqrt(ROUNDS)}),
    ("C14", {duel("ucb", "rps"): -5}),
    ("C15", {TEXT.against_best_response("ucb", "diagonal:n=3"): 50}),
    ("C16", {Pairing("diagonal:n=2", "coebl", "best-response"): 20_000}),
]


class TestVerdicts:
    @pytest.mark.parametrize("variant", VARIANTS)
    @pytest.mark.parametrize("claim", CLAIMS)
    def test_holds(self, claim, variant):
        result = verdict(claim, Synthetic(), variant)
        if claim == "C16" and variant != "text":
            assert (result.verdict, result.note) == ("not testable", "the theorem needs c >= 8")
            assert math.isnan(result.measured)
            return
        assert result.verdict == "holds", result.note
        assert {reported.verdict for reported in result.reported} <= {"holds"}
        assert [reported.metric for reported in result.reported] == list(CLAIMS[claim].metrics[1:])
        assert result.n == 20

    @pytest.mark.parametrize(("claim", "changes"), SPOILERS)
    def test_fails(self, claim, changes):
        result = verdict(claim, Synthetic(changes))
        assert result.verdict == "fails"
        blamed = next(iter(changes))
        assert f"{blamed.row} v {blamed.column} on {blamed.game}" in result.note
        assert "is not" in result.note

    def test_a_spoiler_exists_for_every_claim(self):
        assert {claim for claim, _ in SPOILERS} == set(CLAIMS)

    @pytest.mark.parametrize("claim", CLAIMS)
    def test_is_undecided_in_noise(self, claim):
        result = verdict(claim, Synthetic(noise=1e7))
        assert result.verdict == "not significant"
        assert "is not shown to be" in result.note
        assert result.low <= result.measured <= result.high

    def test_a_spoiler_of_one_variant_is_one_of_that_variant_only(self):
        changed = VARIANTS["as-released"].against_coebl("exp3", "rps")
        verdicts = judge(Synthetic({changed: -10}), ["C2"])
        assert [(result.variant, result.verdict) for result in verdicts] == [
            ("text", "holds"),
            ("c=2", "holds"),
            ("as-released", "fails"),
        ]

    def test_the_decisive_numbers(self):
        result = verdict("C8", Synthetic({duel("ucb", "diagonal:n=3"): -24.6}))
        assert result.measured == pytest.approx(-24.6, abs=0.2)
        assert result.low < result.measured < result.high
        assert result.threshold == 16.2
        assert result.metric == "pseudo_regret"
        assert result.text == CLAIMS["C8"].sentence
        assert result.note.startswith("ucb v coebl on diagonal:n=3: the mean -24.")
        assert result.note.endswith("is not above 16.2 (failing: 1 of 20 checks)")

    def test_the_interval_is_that_of_student(self):
        numbers = np.linspace(3, 9, 20)
        result = verdict("C9", Synthetic(exact={duel("ucb", "diagonal:n=4"): numbers}))
        expected = scipy.stats.ttest_1samp(numbers, 0).confidence_interval(0.95)
        assert (result.verdict, result.measured) == ("holds", pytest.approx(6))
        assert (result.low, result.high) == pytest.approx((expected.low, expected.high))

    def test_of_two_metrics_each_has_its_own_verdict(self):
        class Noisy(Synthetic):
            def runs(self, game, row, column, metric):
                runs = super().runs(game, row, column, metric)
                return runs if metric == "pseudo_regret" else Runs(runs.rounds, runs.seeds, -runs.values)

        result = verdict("C9", Noisy())
        assert (result.verdict, result.metric) == ("holds", "pseudo_regret")
        (reported,) = result.reported
        assert (reported.metric, reported.verdict) == ("regret", "fails")
        assert reported.low < reported.measured < reported.high < 0


class TestHolm:
    def standard(self, t):
        """Twenty numbers whose t statistic against 0 is exactly this."""
        numbers = np.random.default_rng(5).standard_normal(20)
        numbers = (numbers - numbers.mean()) / numbers.std(ddof=1)
        return numbers + t / math.sqrt(20)

    def test_one_small_p_of_eighteen_does_not_refute(self):
        t = scipy.stats.t(19).ppf(0.01)
        result = verdict("C9", Synthetic(exact={duel("ucb", "diagonal:n=3"): self.standard(t)}))
        worst = max(result.checks, key=lambda check: check.shown)
        assert worst.refuted == pytest.approx(0.01)
        assert worst.refuted_adjusted == pytest.approx(0.18)
        assert result.verdict == "not significant"

    def test_two_weak_p_values_do_not_show(self):
        t = scipy.stats.t(19).isf(0.04)
        weak = {duel(baseline, "rps"): self.standard(t) for baseline in ("exp3", "exp3-ix")}
        result = verdict("C2", Synthetic(exact=weak))
        assert [check.shown for check in result.checks] == pytest.approx([0.04, 0.04])
        assert [check.shown_adjusted for check in result.checks] == pytest.approx([0.08, 0.08])
        assert result.verdict == "not significant"

    def test_the_last_step_is_uncorrected(self):
        t = scipy.stats.t(19).isf(0.04)
        assert verdict("C2", Synthetic(exact={duel("exp3", "rps"): self.standard(t)})).verdict == "holds"

    def test_checks_without_data_count_in_the_family(self):
        t = scipy.stats.t(19).ppf(0.004)  # 9 x 0.004 < 0.05 < 18 x 0.004
        source = Synthetic(
            exact={duel("ucb", "diagonal:n=3"): self.standard(t)},
            keep=lambda pairing: size_of(pairing.game) in (2, 3, 4),
        )
        assert verdict("C9", source).verdict == "not testable"


class TestMissingData:
    def test_sizes_are_named(self):
        source = Synthetic(keep=lambda pairing: size_of(pairing.game) in (2, 3, 4))
        result = verdict("C9", source)
        assert result.verdict == "not testable"
        assert result.note == "9 of 18 checks have data, all of them hold; missing: diagonal n = 5, 6, 7"
        assert result.threshold == 0
        assert verdict("C1", source).note == "missing: rps"

    def test_matches_are_named_where_the_game_is_there(self):
        lost = duel("ucb", "diagonal:n=5")
        result = verdict("C9", Synthetic(keep=lambda pairing: pairing != lost))
        assert result.note == "17 of 18 checks have data, all of them hold; missing: ucb v coebl on diagonal:n=5"

    def test_a_refuted_check_is_enough_to_fail(self):
        source = Synthetic({duel("exp3", "diagonal:n=3"): -10}, keep=lambda pairing: size_of(pairing.game) in (2, 3))
        result = verdict("C9", source)
        assert result.verdict == "fails"
        assert result.note.endswith("is not above 0 (failing: 1 of 18 checks; without data: 12)")

    def test_undecided_checks_are_told(self):
        numbers = np.tile([-1.0, 1.0], 10)
        source = Synthetic(exact={duel("exp3", "diagonal:n=3"): numbers}, keep=lambda pairing: pairing.game[-1] in "23")
        assert verdict("C9", source).note.startswith("6 of 18 checks have data, 5 of them hold, none fails; missing:")

    def test_one_seed_tells_nothing(self):
        result = verdict("C2", Synthetic(seeds=1))
        assert result.verdict == "not testable"
        assert "exp3 v coebl:c=2 on rps: fewer than two seeds" in result.note

    def test_two_seeds_are_enough(self):
        assert verdict("C2", Synthetic(seeds=2)).verdict == "holds"

    def test_infinite_numbers(self):
        numbers = np.ones(20)
        numbers[3] = math.inf
        result = verdict("C4", Synthetic(exact={alone("exp3-ix", "rps"): numbers}))
        assert result.verdict == "not testable"
        assert "1 of 3 checks have data, all of them hold" in result.note
        assert "exp3-ix v exp3-ix on rps, rounds 2901 to 3000: kl is not finite in every run" in result.note

    def test_a_short_match_has_no_end(self):
        class Short(Synthetic):
            def runs(self, *arguments):
                runs = super().runs(*arguments)
                return Runs(runs.rounds[:50], runs.seeds, runs.values[:50])

        for claim in CLAIMS:
            result = verdict(claim, Short())
            assert result.verdict == "not testable"
            assert "is not recorded" in result.note

    def test_what_is_wrong_with_a_match_that_is_there_is_said(self):
        class Mixed(Synthetic):
            def runs(self, *arguments):
                raise InputError("there are cells of two noises.")

        assert "there are cells of two noises" in verdict("C1", Mixed()).note

    def test_the_other_seat_does_not_count(self):
        source = Synthetic()
        swapped = [Pairing(game, column, row) for game, row, column in ALL if row != column]
        source.present = swapped
        assert verdict("C2", source).verdict == "not testable"


class TestReading:
    def test_the_order_of_seeds_does_not_matter(self):
        class Shuffled(Synthetic):
            def runs(self, *arguments):
                runs = super().runs(*arguments)
                order = np.random.default_rng(zlib.crc32(repr(arguments).encode())).permutation(self.seeds)
                return Runs(runs.rounds, runs.seeds[order], runs.values[:, order])

        assert as_json(judge(Shuffled(noise=100))) == as_json(judge(Synthetic(noise=100)))

    def test_differences_are_paired_by_seed(self):
        shock = np.random.default_rng(1).normal(0, 1e4, 20)  # hides a difference of 5, unless it is the same in both
        matches = {
            TEXT.against_best_response(learner, game): shock + surplus * np.linspace(0.9, 1.1, 20)
            for game in games()
            for learner, surplus in (("ucb", 5), ("coebl", 0))
        }
        result = verdict("C15", Synthetic(exact=matches))
        assert result.verdict == "holds"
        assert result.measured == pytest.approx(5)

    def test_seeds_that_only_one_side_has_are_left_out(self):
        class Ragged(Synthetic):
            def runs(self, game, row, column, metric):
                runs = super().runs(game, row, column, metric)
                first = 5 if row == "ucb" else 0
                return Runs(runs.rounds, runs.seeds[first:], runs.values[:, first:])

        assert {check.n for check in verdict("C15", Ragged()).checks} == {15}

    def test_each_match_and_metric_is_read_once(self):
        source = Synthetic()
        judge(source)
        assert set(source.asked.values()) == {1}

    @pytest.mark.parametrize(
        ("after", "then", "before", "expected"),
        [(2900, 0.04, 9, "holds"), (2990, 0.4, 0, "holds"), (2990, 0.6, 0, "fails"), (2910, 0.04, 9, "fails")],
    )
    def test_the_last_hundred_rounds(self, after, then, before, expected):
        changes = {alone("coebl", "diagonal:n=2"): np.where(after < ROUNDS, then, before)}
        assert verdict("C6", Synthetic(changes)).verdict == expected


class TestNames:
    def test_all_that_is_needed_is_in_the_study(self):
        for claim in CLAIMS:
            assert needed(claim)
            assert set(needed(claim)) <= set(ALL)

    def test_what_is_needed_is_enough(self):
        for claim in CLAIMS:
            wanted = set(needed(claim))
            assert verdict(claim, Synthetic(keep=wanted.__contains__)).verdict == "holds"

    def test_how_many_checks_there_are(self):
        counts = {claim: len(about.checks(TEXT)) for claim, about in CLAIMS.items()}
        expected = [6, 2, 4, 3, 24, 8, 16, 20, 18, 4, 21, 20, 40, 39, 9, 9]
        assert counts == {f"C{number}": count for number, count in enumerate(expected, start=1)}

    def test_a_claim_can_be_named_alone(self):
        assert [(result.id, result.variant) for result in judge(Synthetic(), "C2", "c=2")] == [("C2", "c=2")]

    def test_unknown_names(self):
        with pytest.raises(InputError, match=r"^unknown claim 'C17': did you mean 'C7'\? Accepted: C1, C2, .*\.$"):
            needed("C17")
        with pytest.raises(InputError, match=r"^unknown claim 'C0'"):
            judge(Synthetic(), ["C1", "C0"])
        with pytest.raises(InputError, match=r"^unknown variant 'as-release': did you mean 'as-released'\?"):
            judge(Synthetic(), ["C1"], ["as-release"])


@pytest.fixture(scope="module")
def verdicts():
    early = alone("exp3", "rps")  # nothing up to round 1000, so that its exponent is infinite
    changes = {early: np.where(ROUNDS > 1000, 5, 0)}
    return judge(Synthetic(changes, noise=0, keep=lambda pairing: size_of(pairing.game) != 7))


class TestOutput:
    def test_json(self, verdicts):
        def refuse(constant):
            raise AssertionError(constant)

        read = json.loads(as_json(verdicts), parse_constant=refuse)
        assert read == [result.as_dict() for result in verdicts]
        assert len(read) == len(CLAIMS) * len(VARIANTS)
        keys = {"id", "variant", "verdict", "measured", "low", "high", "threshold", "text", "note", "metric", "n"}
        for result in read:
            assert keys <= result.keys()
            assert result["verdict"] in ("holds", "fails", "not significant", "not testable")
            assert {check["verdict"] for check in result["checks"]} <= {"holds", "fails", "not testable"}
        infinite = next(result for result in read if result["id"] == "C3")
        assert (infinite["verdict"], infinite["measured"], infinite["threshold"]) == ("fails", None, 0.9)

    def test_markdown(self, verdicts):
        header, rule, *rows = as_markdown(verdicts).splitlines()
        assert header == "| id | claim | the text | c = 2 everywhere | as released |"
        assert rule.count("---") == 5
        assert [row.split("|")[1].strip() for row in rows] == list(CLAIMS)
        assert {row.count("|") for row in rows} == {6}
        assert "**holds** 7 [7, 7] against 5" in rows[0]
        assert as_markdown(judge(Synthetic(), ["C2"], ["c=2"])).splitlines()[0] == "| id | claim | c = 2 everywhere |"

    @pytest.mark.parametrize("width", [80, 100])
    def test_table(self, verdicts, width):
        table = as_table(verdicts, width)
        assert max(map(len, table.splitlines())) <= width
        words = " ".join(table.split())
        for result in verdicts:
            assert f"{result.id} {result.text}" in words
            assert result.note in words
        for variant in VARIANTS.values():
            counted = Counter(result.verdict for result in verdicts if result.variant == variant.id)
            tally = ", ".join(
                f"{counted[kind]} {kind}" for kind in ("holds", "fails", "not significant", "not testable")
            )
            assert f"{variant.title} {tally}" in words

    def test_variants_with_the_same_verdict_are_told_together(self):
        table = as_table(judge(Synthetic(), ["C1", "C9"]))
        first, second = table.split("C9")
        assert "    the text, c = 2 everywhere, as released\n        holds" in first  # all have c = 2 there
        assert "    the text\n        holds" in second


class TestSublinear:
    check = sublinear(alone("exp3", "rps"))

    @pytest.mark.parametrize("exponent", [0.2, 0.5, 0.85, 1.0])
    def test_finds_the_exponent(self, exponent):
        scale = np.random.default_rng(2).uniform(0.5, 2, 30)  # runs differ, their growth does not
        noise = np.random.default_rng(3).normal(1, 0.01, (2, 30))
        found = self.check.measure(scale * noise * np.array([[3000.0], [1000.0]]) ** exponent)
        assert found.measured == pytest.approx(exponent, abs=0.01)
        assert found.low < exponent < found.high
        assert found.high - found.low < 0.02
        assert (found.shown < 0.05, found.refuted < 0.05) == (exponent < 0.9, exponent > 0.9)

    def test_nothing_is_sublinear(self):
        found = self.check.measure(np.zeros((2, 5)))
        assert (found.measured, found.shown, found.refuted) == (0, 0, 1)

    def test_something_from_nothing_is_not(self):
        found = self.check.measure(np.array([[1.0, 2.0, 1.5], [0.0, 0.0, 0.0]]))
        assert (found.measured, found.high) == (math.inf, math.inf)
        assert found.refuted < 0.05

    @pytest.mark.parametrize("seed", range(8))
    def test_fieller_against_the_test_that_it_inverts(self, seed):
        random = np.random.default_rng(seed)
        early = random.gamma(3, 1, 12)
        late = early * random.uniform(1, 3) + random.gamma(2, 1, 12)

        def rejection(ratio):
            return scipy.stats.ttest_1samp(late - ratio * early, 0).pvalue - 0.05

        middle = late.mean() / early.mean()
        expected = scipy.optimize.brentq(rejection, 0, middle), scipy.optimize.brentq(rejection, middle, 100)
        assert fieller(late, early) == pytest.approx(expected, rel=1e-6)

    def test_fieller_without_ends(self):
        early = np.array([0.0, 0.0, 0.0, 9.0, 0.0])  # not told from 0, so that no ratio is too large
        late = np.array([4.0, 5.0, 6.0, 5.0, 4.0])
        low, high = fieller(late, early)
        assert high == math.inf
        assert scipy.stats.ttest_1samp(late - 0.999 * low * early, 0).pvalue < 0.05
        for ratio in (1.001 * low, 10 * low, 1e6):
            assert scipy.stats.ttest_1samp(late - ratio * early, 0).pvalue > 0.05
        assert fieller(early, early + np.array([0, 5.0, 0, 0, 0]))[0] == 0


class TestExtremes:
    samples = tuple(Sample(duel(baseline, "diagonal:n=6")) for baseline in BASELINES)
    noise = np.random.default_rng(4).standard_normal((3, 20))

    def near(self, means, extreme, noise=1.0):
        return Near(self.samples, 100, extreme).measure(np.array(means)[:, None] + noise * self.noise)

    @pytest.mark.parametrize(
        ("means", "extreme", "shown", "refuted"),
        [
            ((20, 105, 30), "largest", True, False),
            ((20, 80, 30), "largest", False, True),
            ((20, 105, 130), "largest", False, True),
            ((95, 800, 300), "least", True, False),
            ((120, 800, 300), "least", False, True),
            ((95, 80, 300), "least", False, True),
            ((20, 110, 30), "largest", False, False),  # on the margin
            ((90, 800, 300), "least", False, False),
        ],
    )
    def test_near(self, means, extreme, shown, refuted):
        found = self.near(means, extreme)
        assert (found.shown < 0.01, found.refuted < 0.01) == (shown, refuted)
        assert found.measured == pytest.approx(max(means) if extreme == "largest" else min(means), abs=1)

    def test_near_pays_for_the_choice(self):
        low, high = 90, 110
        rows = np.array([20, 105, 30])[:, None] + 20 * self.noise
        found = self.near((20, 105, 30), "largest", noise=20)
        above = min(scipy.stats.ttest_1samp(row, low, alternative="greater").pvalue for row in rows)
        below = max(scipy.stats.ttest_1samp(row, high, alternative="less").pvalue for row in rows)
        assert found.shown == pytest.approx(max(3 * above, below))
        beyond = min(scipy.stats.ttest_1samp(row, high, alternative="greater").pvalue for row in rows)
        assert found.refuted == pytest.approx(min(1, 6 * beyond))

    def largest(self, means):
        return Largest(self.samples, 0, first=2).measure(np.array(means)[:, None] + self.noise)

    def test_largest(self):
        ours, theirs, tie = self.largest((5, 20, 10)), self.largest((5, 20, 30)), self.largest((5, 20, 20))
        assert (ours.shown < 0.001, ours.refuted) == (True, 1)
        assert (theirs.shown, theirs.refuted < 0.001) == (1, True)
        assert min(tie.shown, tie.refuted) > 0.05
        assert ours.measured == pytest.approx(10, abs=1)
        assert ours.subject == f"{self.samples[1]} minus {self.samples[2]}"

    def test_a_bound_is_not_symmetric(self):
        numbers = np.array([[1.0, 2.0, 3.0], [4.0, 6.0, 5.0]])
        found = Bound(self.samples[:2], -1, "above").measure(numbers)
        assert found.measured == -3
        assert found.shown == pytest.approx(
            scipy.stats.ttest_1samp(numbers[0] - numbers[1], -1, alternative="greater").pvalue
        )
        assert found.shown + found.refuted == pytest.approx(1)


class TestOtherMatches:
    @pytest.mark.parametrize("changed", [{"horizon": 6000}, {"noise": "none"}])
    def test_matches_that_are_not_those_of_the_paper_are_not_judged(self, changed):
        class Other(Synthetic):
            def runs(self, *match):
                return replace(super().runs(*match), **{"horizon": 3000, "noise": "gaussian", **changed})

        result = verdict("C2", Other())
        assert result.verdict == "not testable"
        assert "this is not the paper's match" in result.note
        assert verdict("C2", Synthetic()).verdict == "holds"


def test_a_number_beside_the_statement_does_not_decide_where_the_statement_fails():
    result = verdict("C12", Synthetic({duel("exp3", "bigger-number:n=5"): -10, duel("ucb", "bigger-number:n=7"): 9000}))
    assert result.verdict == "fails"
    assert result.threshold == 0
    assert result.note.startswith("exp3 v coebl on bigger-number:n=5")


def test_what_other_metrics_say_is_told():
    """With much noise in the reward, regret decides nothing that pseudo-regret shows."""

    class Noisy(Synthetic):
        def runs(self, game, row, column, metric):
            runs = super().runs(game, row, column, metric)
            spread = 1000 * np.linspace(-1, 1, len(runs.seeds)) if metric == "regret" else 0
            return replace(runs, values=runs.values + spread)

    verdicts = judge(Noisy(), ["C2"], ["text"])
    assert verdicts[0].verdict == "holds"
    assert [other.verdict for other in verdicts[0].reported] == ["not significant"]
    assert "on regret: not significant" in as_table(verdicts)
    assert "on regret: not significant" in as_markdown(verdicts)
    assert "on regret" not in as_markdown(judge(Synthetic(), ["C2"], ["text"]))
