"""The statements of a suite as claims about its subject, judged by `coebl.evidence.judge`.

The suite's file, `suites/pre-registered.toml`, defines the computations. There are four kinds of statements:

    head-to-head     the subject against an opponent, the mean of both seats
    best-response    the loss of the subject to a best response, compared with the least loss of an opponent
    self-play        the subject against itself, compared with an opponent against itself
    single-runs      the loss of the subject to a best response in its worst run, compared with its median run
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from coebl.core.text import number_text
from coebl.engine.match import MatchName
from coebl.evidence.checks import Bound, Check, Missing, Sample, Setting, Side, TimesLeast, TimesMedian
from coebl.evidence.judge import AimResult, AimRow, CheckResult, Claim, Outcome, judge_family, outcome_word
from coebl.evidence.pairwise import ALL_GAMES
from coebl.tournament.suite import YARDSTICK, Statement, StatementKind

MISSING = "missing"  # the outcome of a row without data
Words = Mapping[Outcome, str]


@dataclass(frozen=True)
class Trial:
    """A test of one learner: its opponents and the games, by their names in the results."""

    subject: str
    opponents: tuple[str, ...]
    games: Mapping[str, Setting]
    widths: Mapping[str, float]  # of the payoff ranges, by game

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """All pairs of a game and an opponent."""
        return [(game, opponent) for game in self.games for opponent in self.opponents]

    def end(self, game: str, learner: str, opponent: str) -> Sample:
        """Return the last round of a learner against an opponent in both seats, or against itself."""
        return self.games[game].end(MatchName(game, learner, opponent), every_seat=learner != opponent)


def claim_of(statement: Statement) -> Claim:
    """Return the statement as a claim about the subject of a trial."""
    kind = _KINDS[statement.kind]
    return Claim(
        statement.id,
        statement.sentence,
        (statement.metric, *statement.reported),
        lambda trial: kind(statement, trial).checks(),
        aim=lambda trial, *results: kind(statement, trial).result(*results),
    )


@dataclass(frozen=True)
class StatementAim(ABC):
    """A statement in a trial: its checks, one per row, and the outcome of its aim."""

    statement: Statement
    trial: Trial

    words: ClassVar[Words]  # the names of the outcomes of a check
    side: ClassVar[Side]  # the side of 0 on which numbers support the statement
    failure: ClassVar[str]  # the word for a row on which the aim is missed

    @abstractmethod
    def checks(self) -> list[Check]:
        """Return the checks of the statement."""

    @abstractmethod
    def counts(self, rows: Sequence[AimRow]) -> dict[str, int]:
        """Return the counts by name."""

    @abstractmethod
    def sentence(self, aim: AimResult) -> str:
        """Return the result in a line or two."""

    def unit(self, game: str) -> float:
        """Return the unit of relative numbers: the payoff range, per round if they add up, or 1 for a ratio."""
        return 1.0

    def rows(self, results: Sequence[CheckResult]) -> list[AimRow]:
        """Return the checks as a table."""
        return [
            self.row(game, opponent, result, self.unit(game))
            for (game, opponent), result in zip(self.trial.pairs, results, strict=True)
        ]

    def row(
        self, game: str, opponent: str, result: CheckResult, unit: float = 1.0, means: Sequence[float] = ()
    ) -> AimRow:
        """Return a row of the table, with the means of the subject and of the opponent if two are compared."""
        means = means or result.means
        ours, theirs = means if len(means) == 2 else (math.nan, math.nan)
        outcome = self.words.get(result.verdict, MISSING)
        return AimRow(game, opponent, outcome, result.estimate, result.estimate.mean / unit, (ours, theirs))

    def result(self, results: Sequence[CheckResult], reported: Mapping[str, Sequence[CheckResult]]) -> AimResult:
        """Count the rows, or games, on which the aim is missed, and test over all games."""
        rows = self.rows(results)
        counts, failing = self.counts(rows), self.failing(rows)
        missed, total = self.cases(failing), self.cases(rows)
        allowed = self.statement.allowed(total)
        too_far = missed > allowed or bool(counts.get("too far"))
        aim = AimResult(
            missed=missed,
            allowed=allowed,
            total=total,
            reached=False if too_far else None if counts[MISSING] else True,
            counts=counts,
            reported={metric: self.counts(self.rows(others)) for metric, others in reported.items()},
            rows=rows,
            overall=self._over_games(self.by_opponent(rows)),
            failing=failing,
            failure=self.failure,
            computed=self.statement.computed,
        )
        missing = f" Without data: {counts[MISSING]} of {total}." if counts[MISSING] else ""
        return replace(aim, said=self.sentence(aim) + missing)

    def cases(self, rows: Sequence[AimRow]) -> int:
        """Return the number of cases that these rows are about."""
        return len(rows)

    def failing(self, rows: Sequence[AimRow]) -> list[AimRow]:
        """Return the rows on which the aim is missed, the worst first."""
        return sorted((row for row in rows if row.outcome == self.words["fails"]), key=lambda row: -abs(row.relative))

    def by_opponent(self, rows: Sequence[AimRow]) -> dict[str, list[float]]:
        """Return the numbers that are tested over all games, one per game."""
        numbers: dict[str, list[float]] = {}
        for row in rows:
            numbers.setdefault(row.opponent, []).append(row.relative)
        return numbers

    def _over_games(self, numbers: Mapping[str, Sequence[float]]) -> list[AimRow]:
        """Test the means over games, corrected over the opponents."""
        data = [
            np.array([listed])
            if len(listed) > 1 and np.isfinite(listed).all()
            else [Missing(MatchName(ALL_GAMES, opponent, ""), "fewer than two games, or not all of them")]
            for opponent, listed in numbers.items()
        ]
        results = judge_family([Bound((), 0.0, self.side)] * len(data), data, "the opponents, over all games")
        return [self.row(ALL_GAMES, opponent, result) for opponent, result in zip(numbers, results, strict=True)]

    def outcomes(self, rows: Sequence[AimRow]) -> dict[str, int]:
        """Return the number of rows with each outcome."""
        counts = Counter(row.outcome for row in rows)
        return {word: counts[word] for word in (*self.words.values(), MISSING)}

    def overall_words(self, result: AimResult) -> str:
        """Return a sentence on the tests over all games: "Over all games by opponent, ahead: 8, undecided: 2."."""
        counts = (f"{outcome_word(word)}: {number}" for word, number in self.outcomes(result.overall).items() if number)
        return f"Over all games by opponent, {', '.join(counts)}."


class HeadToHead(StatementAim):
    """The subject is ahead of each opponent, or not behind."""

    words: ClassVar[Words] = {"holds": "ahead", "not significant": "level", "fails": "behind"}
    side = "above"
    failure = "behind"

    def checks(self) -> list[Check]:
        us, end = self.trial.subject, self.trial.end
        return [Bound((end(game, rival, us),), 0.0, "above") for game, rival in self.trial.pairs]

    def unit(self, game: str) -> float:
        return self.trial.games[game].rounds * self.trial.widths[game]

    def counts(self, rows: Sequence[AimRow]) -> dict[str, int]:
        return self.outcomes(rows) | {"mean below 0": sum(row.estimate.mean < 0 for row in rows)}

    def sentence(self, aim: AimResult) -> str:
        counts = aim.counts
        return (
            f"Behind on {counts['behind']} of {aim.total} pairs of game and opponent (aim: at most {aim.allowed}), "
            f"ahead on {counts['ahead']}, undecided on {counts['level']}; the mean is below 0 on "
            f"{counts['mean below 0']}. {self.overall_words(aim)}"
        )


class AgainstBestResponse(StatementAim):
    """The regret of the subject against a best response is at most a ratio of the least of its opponents'."""

    words: ClassVar[Words] = {"holds": "within", "not significant": "undecided", "fails": "beyond"}
    side = "below"
    failure = "ratio above the limit"  # by the ratios, not by their tests

    def checks(self) -> list[Check]:
        learners, end = (self.trial.subject, *self.trial.opponents), self.trial.end
        return [
            TimesLeast(tuple(end(game, learner, YARDSTICK) for learner in learners), self.statement.ratio)
            for game in self.trial.games
        ]

    def rows(self, results: Sequence[CheckResult]) -> list[AimRow]:
        rows = []
        for game, result in zip(self.trial.games, results, strict=True):
            ours, *others = result.means or [math.nan] * (1 + len(self.trial.opponents))
            opponent, least = min(zip(self.trial.opponents, others, strict=True), key=lambda pair: pair[1])
            rows.append(self.row(game, opponent, result, means=(ours, least)))
        return rows

    def counts(self, rows: Sequence[AimRow]) -> dict[str, int]:
        far = self.statement.never_above or math.inf
        return self.outcomes(rows) | {"too far": sum(row.estimate.mean > far for row in rows)}

    def failing(self, rows: Sequence[AimRow]) -> list[AimRow]:
        above = (row for row in rows if row.estimate.mean > self.statement.ratio)
        return sorted(above, key=lambda row: -row.estimate.mean)

    def by_opponent(self, rows: Sequence[AimRow]) -> dict[str, list[float]]:
        ratios = [row.estimate.mean / self.statement.ratio for row in rows]
        return {"": [math.log(ratio) if ratio > 0 else math.nan for ratio in ratios]}

    def sentence(self, aim: AimResult) -> str:
        counts, ratio, far = aim.counts, self.statement.ratio, self.statement.never_above
        beyond = f", above {far:g} on {counts['too far']} (aim: none)" if far is not None else ""
        [overall] = aim.overall
        mean = number_text(ratio * math.exp(overall.estimate.mean), 3)
        whole = "missing" if math.isnan(overall.estimate.mean) else f"{mean}: {overall.outcome}"
        return (
            f"The ratio is above {ratio:g} on {aim.missed} of {aim.total} games (aim: at most {aim.allowed})"
            f"{beyond}. By the tests within {ratio:g} on {counts['within']}, beyond it on {counts['beyond']}, "
            f"undecided on {counts['undecided']}. Over all games the geometric mean is {whole}."
        )


class SingleRuns(AgainstBestResponse):
    """No run of the subject has a regret against a best response above a multiple of the median of its game."""

    def checks(self) -> list[Check]:
        us, end = self.trial.subject, self.trial.end
        return [TimesMedian((end(game, us, YARDSTICK),), self.statement.ratio) for game in self.trial.games]

    def rows(self, results: Sequence[CheckResult]) -> list[AimRow]:
        return [
            self.row(game, self.trial.subject, result) for game, result in zip(self.trial.games, results, strict=True)
        ]

    def sentence(self, aim: AimResult) -> str:
        runs = [row.estimate.mean for row in aim.rows if not math.isnan(row.estimate.mean)]
        largest = f" The largest is {number_text(max(runs), 3)} times the median." if runs else ""
        return (
            f"A run is beyond {self.statement.ratio:g} times the median on {aim.missed} of {aim.total} games (aim: at "
            f"most {aim.allowed}).{largest}"
        )


class SelfPlay(StatementAim):
    """The subject in self-play is no more exploitable than any opponent in self-play."""

    words: ClassVar[Words] = {"holds": "below", "not significant": "level", "fails": "above"}
    side = "below"
    failure = "exploitability above"

    def checks(self) -> list[Check]:
        us, end = self.trial.subject, self.trial.end
        return [Bound((end(game, us, us), end(game, rival, rival)), 0.0, "below") for game, rival in self.trial.pairs]

    def unit(self, game: str) -> float:
        return self.trial.widths[game]

    def cases(self, rows: Sequence[AimRow]) -> int:
        return len({row.game for row in rows})

    def counts(self, rows: Sequence[AimRow]) -> dict[str, int]:
        by_game = {game: [row for row in rows if row.game == game] for game in self.trial.games}
        outcomes = [{row.outcome for row in of_game} for of_game in by_game.values()]
        return {
            "least": sum(words.isdisjoint({"above", MISSING}) for words in outcomes),
            "not least": sum("above" in words for words in outcomes),
            MISSING: sum(MISSING in words and "above" not in words for words in outcomes),
            "least outright": sum(all(row.estimate.mean < 0 for row in of_game) for of_game in by_game.values()),
            "pairs above": sum(row.outcome == "above" for row in rows),
        }

    def sentence(self, aim: AimResult) -> str:
        counts = aim.counts
        others = "".join(
            f" The same counts by {metric}, which decides nothing: {also['least']} and {also['least outright']}."
            for metric, also in aim.reported.items()
        )
        return (
            f"Significantly above no opponent on {counts['least']} of {aim.total} games (aim: at least "
            f"{aim.total - aim.allowed}); the mean is the least outright on {counts['least outright']}.{others} "
            f"{self.overall_words(aim)}"
        )


_KINDS: dict[StatementKind, type[StatementAim]] = {
    "head-to-head": HeadToHead,
    "best-response": AgainstBestResponse,
    "self-play": SelfPlay,
    "single-runs": SingleRuns,
}
