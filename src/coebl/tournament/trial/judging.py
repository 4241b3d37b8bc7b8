"""The statements of a suite about its subject, held against results.

What is computed stands in words in the suite's file, `suites/pre-registered.toml`. The tests are those of
`coebl.evidence`: each row of a statement has a p value for it and one against it, each corrected by Holm over the
suite.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from coebl.core.arrays import Ints
from coebl.evidence.checks import Bound, Check, Contrast, Measurement, Side, TimesLeast, weighted
from coebl.evidence.judge import CheckResult, Outcome, corrected, judge_family
from coebl.evidence.samples import Missing, Reader, Sample, Setting
from coebl.runs import MatchSpecs, Runs, Source
from coebl.tournament.plan import YARDSTICK
from coebl.tournament.statements import Statement, StatementKind

OVERALL = "all games"  # in the place of a game
HALVES = (0.5, -0.5)  # of two matches with exchanged seats: what one seat loses, the other one gains
MISSING = "missing"  # the outcome of a row without data

# What the three outcomes of a check are called.
WORDS: dict[StatementKind, dict[Outcome, str]] = {
    "head-to-head": {"holds": "ahead", "not significant": "level", "fails": "behind"},
    "best-response": {"holds": "within", "not significant": "undecided", "fails": "beyond"},
    "self-play": {"holds": "below", "not significant": "level", "fails": "above"},
}


@dataclass(frozen=True)
class Arena:
    """Where a game is played: its rounds and noise, and the width of its payoff range."""

    setting: Setting
    width: float

    @property
    def whole(self) -> float:
        """The largest amount that can be won in a match, by which amounts are divided to compare games."""
        return self.setting.rounds * self.width


@dataclass(frozen=True)
class Contest:
    """Who is tested, against whom and on which games; all by the names that results have."""

    subject: str
    opponents: tuple[str, ...]
    games: Mapping[str, Arena]

    def sample(self, game: str, row: str, column: str) -> Sample:
        """The last round of a match."""
        return self.games[game].setting.end(MatchSpecs(game, row, column))

    def against_yardstick(self, game: str, learner: str) -> tuple[Sample, Sample]:
        """A learner against a best response in both seats: half of the first less half of the second is its regret."""
        return self.sample(game, learner, YARDSTICK), self.sample(game, YARDSTICK, learner)


@dataclass(frozen=True)
class Row:
    """What is found on a game, or over all of them."""

    game: str
    opponent: str  # of a best response: whose regret is the least
    outcome: str  # a word of WORDS, or MISSING
    measured: float  # the advantage, the ratio or the difference
    low: float
    high: float
    relative: float  # the same in units of the payoff range, per round where it adds up over rounds
    n: int  # seeds, or games
    p_for: float  # after Holm
    p_against: float
    subject_mean: float = math.nan
    opponent_mean: float = math.nan


@dataclass(frozen=True)
class Finding:
    """What results say of a statement."""

    statement: Statement
    contest: Contest
    rows: list[Row]
    overall: list[Row]  # over all games, by opponent
    missed: int  # pairs or games on which the aim is missed
    total: int  # pairs or games
    counts: dict[str, int]  # what else is counted, by name
    reported: dict[str, dict[str, int]] = field(default_factory=dict)  # the same on other metrics

    @property
    def allowed(self) -> int:
        """How many misses the aim allows."""
        return self.statement.allowed(self.total)

    @property
    def reached(self) -> bool | None:
        """Whether the aim is reached; None if data are missing and nothing else decides."""
        if self.missed > self.allowed or self.counts.get("too far", 0):
            return False
        return None if self.counts[MISSING] else True


class OfSeeds:
    """A source restricted to some seeds: a folder may hold more than a test asks for."""

    def __init__(self, source: Source, seeds: Iterable[int]) -> None:
        self._source = source
        self._seeds = np.array(sorted(seeds))

    def matches(self) -> Sequence[tuple[str, str, str]]:
        """The matches of the source."""
        return self._source.matches()

    def runs(self, game: str, row: str, column: str, metric: str) -> Runs:
        """The runs of these seeds."""
        runs = self._source.runs(game, row, column, metric)
        kept: Ints = np.flatnonzero(np.isin(runs.seeds, self._seeds))
        return replace(runs, seeds=runs.seeds[kept], values=runs.values[:, kept])


def judge_statements(source: Source, contest: Contest, statements: Iterable[Statement]) -> list[Finding]:
    """A finding on each statement."""
    reader = Reader(source)
    return [_JUDGES[statement.kind](reader, contest, statement) for statement in statements]


def _head_to_head(reader: Reader, contest: Contest, statement: Statement) -> Finding:
    pairs = [(game, opponent) for game in contest.games for opponent in contest.opponents]
    checks = [
        Contrast(
            (contest.sample(game, opponent, contest.subject), contest.sample(game, contest.subject, opponent)),
            0.0,
            "above",
            HALVES,
        )
        for game, opponent in pairs
    ]
    results = judge_family(checks, reader, statement.metric)
    rows = [
        _row(statement, game, opponent, result, result.measured / contest.games[game].whole)
        for (game, opponent), result in zip(pairs, results, strict=True)
    ]
    outcomes = Counter(row.outcome for row in rows)
    counts = {word: outcomes[word] for word in (*WORDS[statement.kind].values(), MISSING)}
    counts["mean below 0"] = sum(row.measured < 0 for row in rows)
    overall = _over_games(statement, _by_opponent(contest, rows), "above")
    return Finding(statement, contest, rows, overall, counts["behind"], len(rows), counts)


def _best_response(reader: Reader, contest: Contest, statement: Statement) -> Finding:
    learners = (contest.subject, *contest.opponents)
    checks = [
        TimesLeast(
            tuple(sample for learner in learners for sample in contest.against_yardstick(game, learner)),
            statement.ratio,
            HALVES,
        )
        for game in contest.games
    ]
    rows = []
    for game, result in zip(contest.games, judge_family(checks, reader, statement.metric), strict=True):
        means = {
            learner: _mean(reader, contest.against_yardstick(game, learner), HALVES, statement.metric)
            for learner in learners
        }
        best = min(contest.opponents, key=means.__getitem__)
        rows.append(_row(statement, game, best, result, result.measured, means[contest.subject], means[best]))
    outcomes = Counter(row.outcome for row in rows)
    counts = {word: outcomes[word] for word in (*WORDS[statement.kind].values(), MISSING)}
    missed = sum(row.measured > statement.ratio for row in rows)
    counts["too far"] = sum(row.measured > (statement.never_above or math.inf) for row in rows)
    logs = [math.log(row.measured / statement.ratio) if row.measured > 0 else math.nan for row in rows]
    overall = _over_games(statement, {"": logs}, "below")
    return Finding(statement, contest, rows, overall, missed, len(rows), counts)


def _self_play(reader: Reader, contest: Contest, statement: Statement) -> Finding:
    rows, counts = _settled(reader, contest, statement, statement.metric)
    reported = {metric: _settled(reader, contest, statement, metric)[1] for metric in statement.reported}
    overall = _over_games(statement, _by_opponent(contest, rows), "below")
    return Finding(statement, contest, rows, overall, counts["not least"], len(contest.games), counts, reported)


def _settled(reader: Reader, contest: Contest, statement: Statement, metric: str) -> tuple[list[Row], dict[str, int]]:
    """How exploitable the subject is in self-play, compared with each opponent, on a metric; and counts of games."""
    pairs = [(game, opponent) for game in contest.games for opponent in contest.opponents]
    checks = [
        Contrast(
            tuple(contest.sample(game, learner, learner) for learner in (contest.subject, opponent)),
            0.0,
            "below",
            (1.0, -1.0),
        )
        for game, opponent in pairs
    ]
    rows = []
    for (game, opponent), result in zip(pairs, judge_family(checks, reader, metric), strict=True):
        means = (
            _mean(reader, [contest.sample(game, learner, learner)], (1.0,), metric)
            for learner in (contest.subject, opponent)
        )
        rows.append(_row(statement, game, opponent, result, result.measured / contest.games[game].width, *means))
    by_game = {game: [row for row in rows if row.game == game] for game in contest.games}
    outcomes = [{row.outcome for row in its} for its in by_game.values()]
    return rows, {
        "least": sum(its.isdisjoint({"above", MISSING}) for its in outcomes),
        "not least": sum("above" in its for its in outcomes),
        MISSING: sum(MISSING in its and "above" not in its for its in outcomes),
        "least outright": sum(all(row.measured < 0 for row in its) for its in by_game.values()),
        "pairs above": sum(row.outcome == "above" for row in rows),
    }


_JUDGES: dict[StatementKind, Callable[[Reader, Contest, Statement], Finding]] = {
    "head-to-head": _head_to_head,
    "best-response": _best_response,
    "self-play": _self_play,
}


def _mean(reader: Reader, samples: Sequence[Sample], weights: Sequence[float], metric: str) -> float:
    numbers = reader.read(samples, metric)
    return math.nan if isinstance(numbers, list) else float(weighted(weights, numbers).mean())


def _row(
    statement: Statement,
    game: str,
    opponent: str,
    result: CheckResult,
    relative: float,
    subject_mean: float = math.nan,
    opponent_mean: float = math.nan,
) -> Row:
    return Row(
        game=game,
        opponent=opponent,
        outcome=WORDS[statement.kind].get(result.verdict, MISSING),
        measured=result.measured,
        low=result.low,
        high=result.high,
        relative=relative,
        n=result.n,
        p_for=result.p_for_adjusted,
        p_against=result.p_against_adjusted,
        subject_mean=subject_mean,
        opponent_mean=opponent_mean,
    )


def _by_opponent(contest: Contest, rows: Iterable[Row]) -> dict[str, list[float]]:
    """The numbers of all games, in units of their payoff ranges, by opponent."""
    listed = list(rows)
    return {opponent: [row.relative for row in listed if row.opponent == opponent] for opponent in contest.opponents}


def _over_games(statement: Statement, numbers: Mapping[str, Sequence[float]], side: Side) -> list[Row]:
    """Tests with one number per game, by opponent: the mean is on this side of 0. Corrected over the opponents."""
    check = Bound((), 0.0, side)
    checks: list[Check] = [check] * len(numbers)
    found: list[tuple[Measurement, list[Missing]]] = []
    for opponent, listed in numbers.items():
        if len(listed) < 2 or not np.isfinite(listed).all():
            missing = Missing(MatchSpecs(OVERALL, opponent, ""), "fewer than two games, or not all of them")
            found.append((Measurement(opponent, math.nan, math.nan, math.nan, 0, 1.0, 1.0), [missing]))
        else:
            found.append((check.measure(np.array([listed])), []))
    results = corrected(checks, found)
    return [
        _row(statement, OVERALL, opponent, result, result.measured)
        for opponent, result in zip(numbers, results, strict=True)
    ]
