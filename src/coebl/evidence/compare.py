"""Comparing two learners of a study: paired by seed, in both seats, per game and over all games.

Three ways are kept apart, because they ask different questions. Head to head, the two meet each other. Against common
opponents, each meets the same third learners, and what it gets there is compared. In self-play, each meets itself;
that is compared only by metrics that are about both players, since what one player gains there the other loses.

All numbers are from the learner's own side. Of a signed metric, such as the regret, the column player's is the
negative of the row player's. Of a metric with a twin for the column seat, such as external_regret, it is the twin. A
metric that is about both players, such as tv, has one number for both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from coebl.core.errors import InputError, nearest
from coebl.core.order import natural
from coebl.core.text import counted
from coebl.evidence.statistics import ALPHA, Equivalence, Interval, equivalent, holm, paired_difference
from coebl.games import GAMES
from coebl.learners import LEARNERS
from coebl.metrics import METRICS
from coebl.naming.described import MetricWords, known_to
from coebl.naming.titles import metric_words
from coebl.study.finding import find, listed

if TYPE_CHECKING:
    from coebl.study.results import Results, Specs

Way = Literal["head to head", "common opponents", "self-play"]
BySeed = dict[int, float]

ALL_GAMES = "all games"
DEFAULT = "pseudo_regret"


@dataclass(frozen=True)
class Contest:
    """What one way of comparing says on one game, or over all games: a minus b, by seed."""

    way: Way
    game: str
    opponents: tuple[str, ...]  # that both meet; nobody where they meet each other, or themselves
    seats: str  # in which both have played: row, column, or both; head to head, that of a
    difference: Interval
    p: float  # two-sided, that the difference is zero
    p_holm: float  # corrected for the number of games
    equivalence: Equivalence | None = None  # whether the difference is shown to be within the margin
    unit: str = ""  # that of the difference, if it is not the metric's own: "payoff range", where games are averaged

    def row(self) -> dict[str, Any]:
        """As a row of a table, in plain values."""
        interval = self.difference
        row: dict[str, Any] = {
            "way": self.way,
            "game": self.game,
            "opponents": " ".join(self.opponents),
            "seats": self.seats,
        }
        row |= {"unit": self.unit}
        row |= {"difference": interval.mean, "low": interval.low, "high": interval.high, "n": interval.n}
        row |= {"p": self.p, "p_holm": self.p_holm}
        if self.equivalence is not None:
            row |= {"margin": self.equivalence.margin, "equivalent": bool(self.equivalence)}
        return row


@dataclass(frozen=True)
class Comparison:
    """How learner a compares with learner b, in every way that the results allow; printed, it is one sentence."""

    a: str
    b: str
    metric: str
    title: str  # of the metric, inside a sentence
    better: str  # lower or higher
    contests: tuple[Contest, ...]  # way by way, the games in order, then all games if there are several
    no_whole: Mapping[Way, str] = field(default_factory=dict)  # why there is no test over all games, by way

    def __str__(self) -> str:
        return f"{'; '.join(self._clauses())}."

    def _clauses(self) -> Iterator[str]:
        starts = {
            "head to head": "head to head",
            "common opponents": "against common opponents",
            "self-play": "each against itself",
        }
        for place, way in enumerate(dict.fromkeys(contest.way for contest in self.contests)):
            contests = [contest for contest in self.contests if contest.way == way]
            games = [contest for contest in contests if contest.game != ALL_GAMES]
            whole = contests[-1]
            start = starts[way] if place else starts[way].capitalize()
            if len(games) > 1 and whole.game != ALL_GAMES:
                yield f"{start}, {self.no_whole.get(way)}, so there is no test{self._by_game(games)}"
                continue
            if way == "head to head" and whole.seats != "both":
                start += f", {self.a} in the {whole.seats} seat alone"
            yield f"{start}, {self._verdict(whole)} ({_numbers(whole)}){self._by_game(games)}"

    def _verdict(self, contest: Contest) -> str:
        if contest.difference.n < 2:
            return f"one seed says nothing about {self.a} and {self.b}"
        if contest.p <= ALPHA:
            word = "lower" if contest.difference.mean < 0 else "higher"
            return f"{self.a} has the {word} {self.title}, so {self.a if word == self.better else self.b} does better"
        if contest.equivalence:
            return f"{self.a} and {self.b} are equivalent within {contest.equivalence.margin:g}"
        return f"no difference between {self.a} and {self.b} is shown"

    def _by_game(self, games: Sequence[Contest]) -> str:
        """On how many games each does better, by the corrected tests."""
        if len(games) < 2:
            return f" on {games[0].game}"
        lower = sum(game.p_holm <= ALPHA and game.difference.mean < 0 for game in games)
        higher = sum(game.p_holm <= ALPHA and game.difference.mean > 0 for game in games)
        for_a, for_b = (lower, higher) if self.better == "lower" else (higher, lower)
        return f" over {len(games)} games: {self.a} does better on {for_a} of them, {self.b} on {for_b}"


def compare(
    results: Results, a: str, b: str, metric: str | None = None, game: Specs = None, margin: float | None = None
) -> Comparison:
    """Compare two learners after the last round of their matches.

    Args:
        results: of a study.
        a: a learner's spec, in any spelling.
        b: another one's.
        metric: by default pseudo_regret, which says who earns more with the least noise; if it was not recorded, the
            first metric that was.
        game: only these games; by default all on which the two can be compared.
        margin: what is small enough to be called equivalent, in units of the metric; by default that is not tested.

    Seeds count that all matches of a comparison have. Over all games, a seed's number is its mean over the games: in
    units of each game's payoff range, if the metric is in payoffs and the ranges differ.
    """
    metric = _metric(results, metric)
    matches = _Matches(results, game)
    a, b = (find("row", spec, matches.learners, "learner") for spec in (a, b))
    if a == b:
        present = listed(matches.learners)
        raise InputError(f"a and b are both {a}; accepted: two different learners. Present: {present}.")
    known = known_to(results)
    words = metric_words(metric, known)
    reader = _Reader(results, metric, words)
    widths = {game.name: known.widths.get(game.spec) for game in matches.games} if words.in_payoffs else None
    contests: list[Contest] = []
    no_whole: dict[Way, str] = {}
    for way in (_head_to_head, _common_opponents, _self_play):
        samples = [sample for sample in way(reader, matches, a, b) if sample.a]  # without a common seed, no pairs
        contests += _contests(samples, margin)
        if len(samples) > 1:
            whole = _over_all(samples, widths, margin)
            if isinstance(whole, str):
                no_whole[samples[0].way] = whole
            else:
                contests.append(whole)
    if not contests:
        raise InputError(
            f"{a} and {b} have no matches to be compared by {metric}: they need to meet each other, or the same "
            f"opponents. Matches of the two: {listed(matches.of((a, b)))}."
        )
    return Comparison(a, b, metric, words.in_a_sentence, words.better, tuple(contests), no_whole)


class _Reader:
    """The last numbers of runs, from the side of the learner that is asked about."""

    def __init__(self, results: Results, metric: str, words: MetricWords) -> None:
        self._results = results
        self.metric = metric
        twin = f"column_{metric}"
        self.about_both = not words.signed and twin not in METRICS
        self._in_column = twin if twin in METRICS else metric
        self._sign = -1.0 if words.signed else 1.0

    def row(self, game: GameAt, learner: str, opponent: str) -> BySeed:
        """By seed, what the learner has in the row seat; nothing if it was not recorded."""
        return self._last(game, learner, opponent, self.metric, 1.0)

    def column(self, game: GameAt, learner: str, opponent: str) -> BySeed:
        """By seed, what the learner has in the column seat; nothing if it was not recorded."""
        return self._last(game, opponent, learner, self._in_column, self._sign)

    def _last(self, game: GameAt, row: str, column: str, metric: str, sign: float) -> BySeed:
        if metric not in game.recorded.get((row, column), ()):
            return {}
        runs = self._results.runs(game.spec, row, column, metric, noise=game.noise)
        last = sign * runs.values[-1]
        if not np.isfinite(last).all():
            raise InputError(
                f"{metric} of {row} v {column} on {game.name} is not finite for every seed; accepted: another metric, "
                "such as tv, or other games."
            )
        return dict(zip(runs.seeds.tolist(), last.tolist(), strict=True))


class GameAt(NamedTuple):
    """A game with one of its noises, and what was recorded there, by row and column learner."""

    spec: str
    noise: str
    name: str  # with the noise, where the study has several
    recorded: dict[tuple[str, str], set[str]]


class _Matches:
    """The matches of a study, game by game."""

    def __init__(self, results: Results, game: Specs) -> None:
        recorded: dict[tuple[str, str], dict[tuple[str, str], set[str]]] = {}
        for about in results.metadata():
            labels = about["labels"]
            of_game = recorded.setdefault((labels["game"], labels["noise"]), {})
            of_game.setdefault((labels["row"], labels["column"]), set()).update(about["metrics"])
        games = dict.fromkeys(spec for spec, _ in recorded)
        chosen = [game] if isinstance(game, str) else game
        wanted = games if chosen is None else {find("game", spec, games) for spec in chosen}
        several = len({noise for _, noise in recorded}) > 1
        self.games = [
            GameAt(spec, noise, f"{spec}, {noise}" if several else spec, recorded[spec, noise])
            for spec, noise in sorted(recorded, key=lambda key: (GAMES.order(key[0]), natural(key[1])))
            if spec in wanted
        ]
        self.learners = sorted(
            {spec for one in self.games for pair in one.recorded for spec in pair}, key=LEARNERS.order
        )

    def of(self, learners: Sequence[str]) -> list[str]:
        """The matches with any of these learners."""
        pairs = dict.fromkeys(pair for game in self.games for pair in game.recorded if set(pair) & set(learners))
        return [f"{row} v {column}" for row, column in pairs]


# The ways to compare, game by game


class _Sample(NamedTuple):
    """The numbers of a and of b by seed, for one way of comparing, on one game or over all."""

    way: Way
    game: str
    opponents: tuple[str, ...]
    seats: str
    a: BySeed
    b: BySeed


def _head_to_head(reader: _Reader, matches: _Matches, a: str, b: str) -> Iterator[_Sample]:
    """The matches of the two, in both seats or in one; a metric about both players cannot tell them apart there."""
    for game in matches.games if not reader.about_both else ():
        met = {  # by the seat of a
            seat: pair
            for seat, *pair in (
                ("row", reader.row(game, a, b), reader.column(game, b, a)),
                ("column", reader.column(game, a, b), reader.row(game, b, a)),
            )
            if all(pair)
        }
        if met:
            means = _means(*map(list, zip(*met.values(), strict=True)))
            yield _Sample("head to head", game.name, (), _one_or_both(met), *means)


def _common_opponents(reader: _Reader, matches: _Matches, a: str, b: str) -> Iterator[_Sample]:
    """The matches in which both have met somebody else in the same seat."""
    for game in matches.games:
        met: dict[tuple[str, str], tuple[BySeed, BySeed]] = {}  # by opponent and seat
        for opponent in (spec for spec in matches.learners if spec not in (a, b)):
            for seat, read in (("row", reader.row), ("column", reader.column)):
                pair = read(game, a, opponent), read(game, b, opponent)
                if all(pair):
                    met[opponent, seat] = pair
        if met:
            opponents, seats = (tuple(dict.fromkeys(each)) for each in zip(*met, strict=True))
            means = _means(*map(list, zip(*met.values(), strict=True)))
            yield _Sample("common opponents", game.name, opponents, _one_or_both(seats), *means)


def _self_play(reader: _Reader, matches: _Matches, a: str, b: str) -> Iterator[_Sample]:
    for game in matches.games if reader.about_both else ():
        of_a, of_b = reader.row(game, a, a), reader.row(game, b, b)
        if of_a and of_b:
            yield _Sample("self-play", game.name, (), "both", *_means([of_a], [of_b]))


def _means(of_a: Sequence[BySeed], of_b: Sequence[BySeed]) -> tuple[BySeed, BySeed]:
    """The means of a and of b, for the seeds that all have."""
    seeds = sorted(set.intersection(*(set(one) for one in (*of_a, *of_b))))
    a, b = ({seed: sum(one[seed] for one in side) / len(side) for seed in seeds} for side in (of_a, of_b))
    return a, b


def _one_or_both(seats: Iterable[str]) -> str:
    first, *others = set(seats)
    return "both" if others else first


# Statistics


def _contests(samples: Sequence[_Sample], margin: float | None) -> list[Contest]:
    """The contests of one way, game by game."""
    contests = [_contest(sample, margin) for sample in samples]
    corrected = iter(holm([contest.p for contest in contests if not math.isnan(contest.p)]))  # NaN: a single seed
    return [one if math.isnan(one.p) else replace(one, p_holm=next(corrected)) for one in contests]


def _over_all(
    samples: Sequence[_Sample], widths: Mapping[str, float | None] | None, margin: float | None
) -> Contest | str:
    """The contest over all games of one way, or why there is none.

    Numbers in payoffs are divided by the ranges of these where the games have different ones. A margin is in units of
    the metric and says nothing about such a mean.
    """
    units: list[float | None] = [1.0 if widths is None else widths[sample.game] for sample in samples]
    if None in units:
        return "some cells are of an older version, which does not store the range of the payoffs"
    different = len(set(units)) > 1
    sides = (
        [
            {seed: number / ((unit or 1.0) if different else 1.0) for seed, number in side.items()}
            for side, unit in zip(of_games, units, strict=True)
        ]
        for of_games in ([sample.a for sample in samples], [sample.b for sample in samples])
    )
    a, b = _means(*sides)
    if not a:
        return "no seed is common to all games"
    opponents = tuple(dict.fromkeys(spec for sample in samples for spec in sample.opponents))
    seats = _one_or_both(sample.seats for sample in samples)
    whole = _Sample(samples[0].way, ALL_GAMES, opponents, seats, a, b)
    return replace(_contest(whole, None if different else margin), unit="payoff range" if different else "")


def _contest(sample: _Sample, margin: float | None) -> Contest:
    found = paired_difference(sample.a, sample.b)
    shown = None if margin is None else equivalent([sample.a[seed] - sample.b[seed] for seed in sample.a], margin)
    way, game, opponents, seats, _, _ = sample
    return Contest(way, game, opponents, seats, found.interval, found.p, found.p, shown)


def _metric(results: Results, metric: str | None) -> str:
    """The metric to compare by."""
    present = results.metrics
    if metric is None:
        return DEFAULT if DEFAULT in present or not present else present[0]
    row_twin = metric.removeprefix("column_")
    if row_twin != metric and row_twin in METRICS:
        raise InputError(f"metric is {metric!r}; accepted: {row_twin}, which takes {metric} in the column seat.")
    if metric not in present:
        raise InputError(f"metric {metric!r} was not recorded{nearest(metric, present)} Present: {listed(present)}.")
    return metric


def _numbers(contest: Contest) -> str:
    """The difference and its test, for people."""
    if contest.difference.n < 2:
        return f"difference {contest.difference.mean:.4g}"
    p = "p < 0.001" if contest.p < 0.001 else f"p = {contest.p:.3f}"
    unit = " in units of each game's payoff range" if contest.unit else ""
    return f"difference {contest.difference}{unit}, {p}, {counted(contest.difference.n, 'seed')}"
