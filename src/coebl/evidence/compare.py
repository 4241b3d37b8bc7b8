"""The comparison of two learners of a study: paired by seed, in both seats, per game and over all games.

Three ways are kept apart, because they ask different questions. Head to head, the two meet each other. Against common
opponents, each meets the same third learners. In self-play, each meets itself; that is compared only by metrics about
both players, since one player's gain is the other's loss there.

In a game that is not zero-sum, the comparison against common opponents is the one that matters: the payoff or regret of
each learner in the same seat, with the same learners in all other seats, seed by seed. The opponents may then include
one of the two: a against b and b against b is such a pair. All numbers are from the learner's side, see
`coebl.evidence.pairwise`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from coebl.core.errors import InputError
from coebl.core.frames import pl
from coebl.core.text import counted, in_interval, listed
from coebl.evidence.pairwise import (
    ALL_GAMES,
    OWN,
    SETTING,
    Way,
    by_seat,
    differences,
    has_a_number_per_seat,
    is_own,
    pooled,
    seat_columns,
    tests_of,
)
from coebl.evidence.statistics import ALPHA, Equivalence, Estimate, equivalent
from coebl.learners import LEARNERS
from coebl.naming import check_recorded, find, known_to, metric_words

if TYPE_CHECKING:
    from coebl.study.results import Results, Specs

_STARTS: dict[Way, str] = {
    "head to head": "Head to head",
    "common opponents": "Against common opponents",
    "self-play": "Each against itself",
}

DEFAULT = "pseudo_regret"


@dataclass(frozen=True)
class Contest:
    """The result of one way of comparing on one game, or over all games."""

    way: Way
    game: str
    opponents: tuple[str, ...]  # that both meet; empty if they meet each other, or themselves
    seats: str  # in which both have played: row, column, both, several names, or all; head to head, the seat of a
    difference: Estimate  # a minus b, by seed; corrected for the number of games
    equivalence: Equivalence | None = None  # the test that the difference is within the margin
    unit: str = ""  # of the difference, if it is not the metric's: "payoff range", if games are averaged
    width: float = 1.0  # of the game's payoff range, if the metric is in payoffs

    def interval(self, in_ranges: bool) -> tuple[float, float, float]:
        """Return mean and ends of the difference, in units of the game's payoff range or of the metric."""
        unit = self.width if in_ranges else 1.0
        return self.difference.mean / unit, self.difference.low / unit, self.difference.high / unit

    def row(self) -> dict[str, Any]:
        """Return a row of a table, in plain values."""
        estimate = self.difference
        row: dict[str, Any] = {"way": self.way, "game": self.game, "opponents": " ".join(self.opponents)}
        row |= {"seats": self.seats, "unit": self.unit}
        row |= {"difference": estimate.mean, "low": estimate.low, "high": estimate.high, "n": estimate.n}
        row |= {"p": estimate.p, "p_holm": estimate.p_holm}
        if self.equivalence is not None:
            row |= {"margin": self.equivalence.margin, "equivalent": bool(self.equivalence)}
        return row


@dataclass(frozen=True)
class Comparison:
    """The comparison of learners a and b in every way that the results allow. It prints a sentence for each."""

    a: str
    b: str
    metric: str
    title: str  # of the metric, inside a sentence
    better: Literal["lower", "higher"] | None  # None if the metric describes, and neither is better
    contests: tuple[Contest, ...]  # way by way, the games in order, then all games if there are several
    no_whole: Mapping[Way, str] = field(default_factory=dict)  # why there is no test over all games, by way

    @property
    def in_ranges(self) -> bool:
        """True if games are averaged, and drawn, in units of their payoff ranges, since these differ."""
        return any(contest.unit for contest in self.contests)

    @property
    def advantage(self) -> str:
        """What the winner of a contest does: "does better", or "is higher" if neither is better."""
        return "does better" if self.better else "is higher"

    def winner(self, contest: Contest) -> str:
        """Return the learner with the `advantage` in a contest, by its corrected test, or "undecided"."""
        sign = contest.difference.sign
        if not sign:
            return "undecided"
        return self.a if (sign < 0) == (self.better == "lower") else self.b

    def __str__(self) -> str:
        return " ".join(self._sentences())

    def _repr_html_(self) -> str:
        from coebl.report.notebook import render_comparison

        return render_comparison(self)

    def _sentences(self) -> Iterator[str]:
        for way in dict.fromkeys(contest.way for contest in self.contests):
            contests = [contest for contest in self.contests if contest.way == way]
            games = [contest for contest in contests if contest.game != ALL_GAMES]
            overall = contests[-1]
            start = _STARTS[way]
            if len(games) > 1 and overall.game != ALL_GAMES:
                yield f"{start}, {self.no_whole.get(way)}, so there is no test{self._by_game(games)}."
                continue
            if way == "head to head" and overall.seats != "both":
                start += f", {self.a} in the {overall.seats} seat alone"
            yield f"{start}, {self._verdict(overall)} ({_numbers(overall)}){self._by_game(games)}."

    def _verdict(self, contest: Contest) -> str:
        if contest.difference.n < 2:
            return f"one seed cannot separate {self.a} and {self.b}"
        if contest.difference.p <= ALPHA:
            word = "lower" if contest.difference.mean < 0 else "higher"
            fact = f"{self.a} has the {word} {self.title}"
            return f"{fact}, so {self.a if word == self.better else self.b} does better" if self.better else fact
        if contest.equivalence:
            return f"{self.a} and {self.b} are equivalent within {contest.equivalence.margin:g}"
        return f"it is undecided between {self.a} and {self.b}"

    def _by_game(self, games: Sequence[Contest]) -> str:
        """Return the number of games on which each has the `advantage`, by the corrected tests."""
        if len(games) < 2:
            return f" on {games[0].game}"
        won = Counter(map(self.winner, games))
        counts = f"{self.a} {self.advantage} on {won[self.a]} of them, {self.b} on {won[self.b]}"
        return f" over {len(games)} games: {counts}"


def compare(
    results: Results, a: str, b: str, metric: str | None = None, game: Specs = None, margin: float | None = None
) -> Comparison:
    """Compare two learners after the last round of their matches.

    Args:
        results: the results of a study.
        a: any equivalent spec of a learner.
        b: any equivalent spec of another learner.
        metric: by default pseudo_regret, which shows who earns more with the least noise; if it was not recorded,
            payoff, or the first metric that was.
        game: only these games; by default all on which the two can be compared.
        margin: the largest difference that counts as zero, in units of the metric; by default that is not tested.

    Only seeds that all matches of a comparison have are counted. Over all games, a seed's number is its mean over the
    games: in units of each game's payoff range, if the metric is in payoffs and the ranges differ.
    """
    metric = _metric(results, metric)
    chosen, learners = _present(results, game)
    a, b = (find("player", spec, learners, "learner") for spec in (a, b))
    if a == b:
        raise InputError(f"a and b are both {a}; accepted: two different learners. Present: {listed(learners)}.")
    known = known_to(results)
    words = metric_words(metric, known)
    table = _named(results.last(seat_columns(metric, results.metrics), game=chosen))
    games = dict(table.select("name", "game").unique(maintain_order=True).iter_rows())
    widths = {name: known.widths.get(spec) if words.in_payoffs else 1.0 for name, spec in games.items()}
    contests: list[Contest] = []
    no_whole: dict[Way, str] = {}
    for way, samples in _ways(table, metric, words.signed, a, b).items():
        _check_finite(samples, metric)
        means = pooled(samples, ["name"], ["opponent", "seat"])
        tests = {name: test for (name,), test in tests_of(means, ["name"], f"the games, {way}").items()}
        played = [name for name in games if name in tests]
        for name in played:
            values = means.filter(name=name)["value"]
            shown = _contest(way, name, samples.filter(name=name), tests[name], values, margin)
            contests.append(replace(shown, width=widths[name] or 1.0))
        if len(played) < 2:
            continue
        ranges = {name: widths[name] for name in played}
        unit = "payoff range" if len({*ranges.values()}) > 1 else ""
        widest = pl.col("name").replace_strict({name: width or 1.0 for name, width in ranges.items()}) if unit else 1.0
        every = means.with_columns(game=pl.col("name"), name=pl.lit(ALL_GAMES), value=pl.col("value") / widest)
        overall = pooled(every, ["name"], ["game"])
        if None in ranges.values():
            no_whole[way] = "some cells are of an older version, which does not store the range of the payoffs"
        elif not len(overall):
            no_whole[way] = "no seed is common to all games"
        else:
            [test] = tests_of(overall, ["name"], "one test").values()
            # A margin is in units of the metric, so it does not apply to a mean of payoff ranges.
            shown = _contest(way, ALL_GAMES, samples, test, overall["value"], None if unit else margin)
            contests.append(replace(shown, unit=unit))
    if not contests:
        pairs = [" v ".join(pair) for _, *pair in results.matches() if {a, b} & set(pair)]
        raise InputError(
            f"{a} and {b} have no matches to be compared by {metric}: they need to meet each other, or the same "
            f"opponents. Matches of the two: {listed(dict.fromkeys(pairs))}."
        )
    return Comparison(a, b, metric, words.in_a_sentence, words.better, tuple(contests), no_whole)


def _contest(
    way: Way, name: str, samples: pl.DataFrame, test: Estimate, values: pl.Series, margin: float | None
) -> Contest:
    met = sorted(samples["opponent"].unique(), key=lambda names: tuple(map(LEARNERS.order, names.split(" v "))))
    seats = sorted(samples["seat"].unique())
    both = way == "self-play" or seats == ["column", "row"]
    shown = None if margin is None else equivalent(values.to_numpy(), margin)
    opponents = tuple(met) if way == "common opponents" else ()
    where = "both" if both else "all" if name == ALL_GAMES and len(seats) > 1 else ", ".join(seats)
    return Contest(way, name, opponents, where, test, shown)


def _metric(results: Results, metric: str | None) -> str:
    """Return the metric of the comparison."""
    present = results.metrics
    if metric is None:
        return next((name for name in (DEFAULT, OWN) if name in present or not present), present[0] if present else "")
    base = metric.removeprefix("column_").partition(":")[0]
    if base != metric and has_a_number_per_seat(base):
        raise InputError(f"metric is {metric!r}; accepted: {base}, which takes {metric} in that seat.")
    check_recorded(metric, present)
    return metric


def _present(results: Results, game: Specs) -> tuple[list[str], list[str]]:
    """Return the games of the comparison, and the learners that have played them."""
    games = list(dict.fromkeys(match[0] for match in results.matches()))
    if game is not None:
        games = [find("game", spec, games) for spec in ([game] if isinstance(game, str) else game)]
    learners = {spec for name, *pair in results.matches() if name in games for spec in pair}
    return games, sorted(learners, key=LEARNERS.order)


def _named(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with a new column, `name`: the game, with the noise and the rounds if these differ."""
    settings = table.select(SETTING).unique()
    words = [pl.col("game")]
    if settings["noise"].n_unique() > 1:
        words.append(pl.col("noise"))
    if len(settings.unique(["game", "noise"])) < len(settings):
        words.append(pl.format("{} rounds", "rounds"))
    return table.with_columns(name=pl.concat_str(words, separator=", "))


def _ways(table: pl.DataFrame, metric: str, signed: bool, a: str, b: str) -> dict[Way, pl.DataFrame]:
    """Return the differences by game, opponent, seat and seed, in each way; null if one of the two lacks the seed."""
    sides = by_seat(table, metric, signed, ["name"]).filter(pl.col("learner").is_in([a, b]))
    third = sides.filter(~pl.col("opponent").is_in([a, b]) | pl.lit(is_own(metric, table.columns)))
    shared = not signed and not has_a_number_per_seat(metric)  # one number for all, which cannot distinguish them
    ways: list[Way] = ["common opponents", "self-play"] if shared else ["head to head", "common opponents"]
    return {way: differences(third if way == "common opponents" else sides, [a, b], way) for way in ways}


def _check_finite(samples: pl.DataFrame, metric: str) -> None:
    bad = samples.filter(~pl.col("value").is_finite())
    if len(bad):
        first = bad.row(0, named=True)
        players = [first["learner"], first["opponent"]][:: 1 if first["seat"] == "row" else -1]
        raise InputError(
            f"{metric} of {' v '.join(players)} on {first['name']} is not finite for every seed; accepted: another "
            "metric, such as tv, or other games."
        )


def _numbers(contest: Contest) -> str:
    """Return the difference and its test, in words."""
    difference = contest.difference
    if difference.n < 2:
        return f"difference {difference.mean:.4g}"
    p = "p < 0.001" if difference.p < 0.001 else f"p = {difference.p:.3f}"
    unit = " in units of each game's payoff range" if contest.unit else ""
    mean, low, high = in_interval(difference.mean, difference.low, difference.high)
    return f"difference {mean} [{low}, {high}]{unit}, {p}, {counted(difference.n, 'seed')}"
