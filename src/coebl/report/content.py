"""The content of the page, read once from results: games, learners, metrics, and the curves of all matches."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from coebl.core.errors import InputError
from coebl.core.frames import pl
from coebl.core.specs import split_spec
from coebl.core.text import natural
from coebl.evidence import ALPHA
from coebl.evidence.pairwise import Ranking, rank
from coebl.evidence.pairwise import pairwise as test_pairings
from coebl.evidence.statistics import bands
from coebl.games import GAMES, parse_game
from coebl.learners import LEARNERS
from coebl.naming import Known, MetricWords, Sweep, find_sweeps, game_title, known_to, metric_words
from coebl.report.frontier import FEWEST_SETTINGS, Frontier, read_frontier
from coebl.report.legend import (
    HALF_DIGITS,
    PageGame,
    PageLearner,
    game_order,
    interval_texts,
    page_game,
    page_learners,
    short,
)
from coebl.report.presentation import Presentation

if TYPE_CHECKING:
    from coebl.study import Results

_POINTS = 50  # rounds of a curve that are kept
_FEWEST_POINTS = 20
_NUMBERS = 500_000  # limit for all curves of a page together, unless there are very many; about eight bytes each
_MATCH = ["row", "column"]
Numbers = list[float | int | None]


@dataclass(frozen=True)
class PageCurve:
    """A metric of a match over the rounds: means over the seeds."""

    grid: int  # an index into the lists of rounds that curves share
    seeds: int
    means: Numbers
    halves: Numbers  # half the widths of the intervals

    def last_texts(self) -> tuple[str, str]:
        """Return the mean of the last round and its interval as strings."""
        mean, half = self.means[-1], self.halves[-1]
        if mean is None:
            return "not finite", ""
        half = math.nan if half is None else half
        return interval_texts(mean, mean - half, mean + half)


@dataclass
class PageMatch:
    """A match, with indices into the lists of games and learners."""

    game: int
    row: int  # the learner in the first seat
    column: int  # the learner in the second seat; with more seats, all others as one entry
    curves: dict[str, PageCurve]  # by metric
    winner: int | None = None  # an index; significant after correction, or only before it
    decided: str = "untested"  # "after" correction, "before" it only, or "no"


@dataclass
class Content:
    """The data that the page draws."""

    metrics: dict[str, MetricWords]
    learners: list[PageLearner]
    sweeps: list[Sweep]
    show: Presentation
    strongest: str  # the opponent of the frontier, or ""
    known: Known
    ranking: Ranking | None
    seats: dict[str, str]  # names of the seats of games that are not zero-sum, by title
    has_zero_sum: bool  # True if any game is zero-sum
    games: list[PageGame] = field(default_factory=list)
    matches: list[list[PageMatch]] = field(default_factory=list)  # by game
    frontiers: list[Frontier | None] = field(default_factory=list)  # by game
    grids: dict[tuple[int, ...], int] = field(default_factory=dict)  # the rounds that curves share, with their indices
    notices: list[str] = field(default_factory=list)
    below_zero: set[str] = field(default_factory=set)  # metrics that are below 0 in any run

    @cached_property
    def places(self) -> dict[str, int]:
        """The indices of the learners, by spec."""
        return {learner.spec: place for place, learner in enumerate(self.learners)}

    @property
    def titles(self) -> dict[str, str]:
        """The titles of the learners, by spec."""
        return {learner.spec: learner.title for learner in self.learners}

    def specs(self, match: PageMatch) -> tuple[str, str]:
        """Return the specs of the learners of a match."""
        return self.learners[match.row].spec, self.learners[match.column].spec

    @property
    def defined_metrics(self) -> list[MetricWords]:
        """The metrics of all curves; a metric of several seats is listed for the first seat only."""
        drawn = {name for match in chain(*self.matches) for name in match.curves}
        of_other_seats = {name for name in drawn if split_spec(name).name in drawn - {name}}  # such as swap_regret:2
        return [words for name, words in self.metrics.items() if name in drawn - of_other_seats]

    @cached_property
    def table_metric(self) -> str | None:
        """The metric of the head-to-head table: the first one whose sign shows who is ahead."""
        if self.ranking and self.metrics[self.ranking.metric].signed:
            return self.ranking.metric
        compared = {name for match in chain(*self.matches) if match.row != match.column for name in match.curves}
        return next((name for name, words in self.metrics.items() if words.signed and name in compared), None)

    @property
    def duels(self) -> list[tuple[PageMatch, PageCurve]]:
        """The matches of two different learners that have the metric of the head-to-head table, with its curve."""
        return [
            (match, match.curves[self.table_metric])
            for match in chain(*self.matches)
            if match.row != match.column and self.table_metric in match.curves
        ]

    @property
    def has_maps(self) -> bool:
        """True if a learner of a preset met the common opponent of the preset, so that there are heat maps of it."""
        met = {(match.game, *self.specs(match)) for match, _ in self.duels}
        pairs = (
            (place, spec, specs[preset.opponent])
            for place, game in enumerate(self.games)
            for preset in self.show.presets
            if preset.opponent is not None
            for specs in [preset.on(game.spec)]
            for spec in specs
        )
        return not met.isdisjoint(pairs)

    @property
    def is_ranked(self) -> bool:
        """True if the tests are those of the ranking, which leaves out learners that see more than a bandit."""
        return self.ranking is not None and self.show.family == "all pairings"

    @property
    def frontier_sweeps(self) -> list[Sweep]:
        """The sweeps that have points in any frontier."""
        points = (point for frontier in self.frontiers if frontier for point in frontier.points)
        shown = {self.learners[point.learner].sweep for point in points}
        return [sweep for place, sweep in enumerate(self.sweeps) if place in shown]

    def for_script(self) -> dict[str, Any]:
        """Return the data of the page's script, except for the matches, which are separate blocks."""
        has_more_seats = any(seats.count(", ") > 1 for seats in self.seats.values())
        decided = [sum(match.decided == "after" for match in matches) for matches in self.matches]
        named = (place for place, game in enumerate(self.games) if game.spec == self.show.game)
        return {
            "games": [
                vars(game) | {"name": game.name, "title": game.title, "reference": self._reference(place)}
                for place, game in enumerate(self.games)
            ],
            "learners": self.learners,
            "sweeps": [{"title": sweep.title, "parameter": sweep.parameter} for sweep in self.sweeps],
            "metrics": {
                name: vars(words) | {"floored": name not in self.below_zero} for name, words in self.metrics.items()
            },
            "seats": ["first seat", "other seats"] if has_more_seats else ["row", "column"],  # column headers
            "rounds": list(self.grids),
            "logarithmic": [_are_logarithmic(rounds) for rounds in self.grids],
            "presets": [
                vars(preset)
                | {"id": preset.id or preset.name, "learners": [preset.on(game.spec) for game in self.games]}
                for preset in self.show.presets
            ],
            "tableMetric": self.table_metric,
            "firstOpponent": self.ranking.learners[0].learner if self.ranking and not self.show.presets else None,
            "firstGame": next(named, int(np.argmax(decided)) if decided else 0),
            "frontiers": self.frontiers,
            "frontierOpponent": self.strongest or None,
            "headline": self.show.headline,
            "family": self.show.family,
        }

    def _reference(self, game: int) -> dict[str, Any] | None:
        """Return the reference line of a square game, by the index of the rounds at which it is drawn."""
        reference = self.show.reference
        actions = None if reference is None else _size(self.games[game].spec)
        if reference is None or actions is None:
            return None
        self_play = [match.curves.values() for match in self.matches[game] if match.row == match.column]
        places = {curve.grid for curves in self_play for curve in curves}
        grids = [(place, np.array(rounds, float)) for rounds, place in self.grids.items() if place in places]
        return {
            "label": f"{reference.label}, K\u00a0=\u00a0{actions}",
            "heights": {place: short(map(float, reference.height(actions, rounds))) for place, rounds in grids},
        }


def read_content(results: Results, metrics: Sequence[str], show: Presentation) -> Content:
    """Read all results; if there are several noises, the content has each game once per noise."""
    known, records = known_to(results), results.records()
    labels = sorted({(record.game, record.players, record.noise) for record in records})
    labels.sort(key=lambda label: tuple(map(natural, label[1])))
    played: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for game, players, noise in labels:
        played.setdefault((game, noise), []).append(players)
    several = len({noise for _, noise in played}) > 1
    games = [(page_game(game, noise if several else ""), matches) for (game, noise), matches in played.items()]
    specs = list(dict.fromkeys(spec for _, players, _ in labels for spec in players))
    groups = {column: players[1:] for _, players, _ in labels if (column := _seated(players)[1]) not in specs}
    shown = [spec for preset in show.presets for game, _ in played for spec in preset.on(game)]
    sweeps = find_sweeps(specs, known)
    content = Content(
        metrics={name: _page_words(name, known) for name in metrics},
        learners=page_learners(specs, shown, sweeps, known, groups),
        sweeps=sweeps,
        show=show,
        strongest=show.strongest or next(filter(_sees_policies, specs), ""),
        known=known,
        ranking=rank(results),
        seats={game_title(record.game): ", ".join(record.seats) for record in records if record.seats},
        has_zero_sum=any(not record.seats for record in records),
    )
    points = max(_FEWEST_POINTS, min(_POINTS, _NUMBERS // (2 * max(1, len(labels) * len(metrics)))))
    for entry, matches in sorted(games, key=lambda game: game_order(game[0])):
        _read_game(results, content, entry, matches, points)
    _add_outcomes(results, content)
    return content


def _size(game: str) -> int | None:
    """Return the number of actions of each of two players, if it is the same and the game is registered here."""
    with suppress(InputError):
        if GAMES.known(game):
            first, *others = parse_game(game).shape
            return first if others == [first] else None
    return None


def _page_words(metric: str, known: Known) -> MetricWords:
    """Return the description of a metric without the notation for other seats, which is that of specs."""
    words = metric_words(metric, known)
    return replace(words, meaning=words.meaning.replace(f"; {metric}:2 for seat 2", ""))


def _sees_policies(spec: str) -> bool:
    entry = LEARNERS.registered(spec)
    return entry is not None and "policy" in getattr(entry.factory, "sees", ())


def _read_game(
    results: Results, content: Content, game: PageGame, played: Sequence[tuple[str, ...]], points: int
) -> None:
    """Add a game with its curves and its frontier; a notice names each match that cannot be shown."""
    frame, mixed = _frame(results, content, game, points=points)
    curves: dict[tuple[str, str], dict[str, PageCurve]] = defaultdict(dict)
    for name in filter(frame.columns.__contains__, content.metrics):
        for match, curve in _curves(frame, name, content, game):
            curves[match][name] = curve
    for match, rounds in mixed.items():
        several = " and ".join(map(str, rounds))
        _notice(content, match, game, f"there are matches of {several} rounds; keep them in two folders")
    recorded = {*mixed, *frame.select(_MATCH).unique().iter_rows()}
    for players in played:
        if _seated(players) not in recorded:
            _notice(content, players, game, "none of the metrics on this page was recorded")
    if curves:
        matches = [
            PageMatch(len(content.games), content.places[row], content.places[column], curves[row, column])
            for row, column in sorted(curves, key=lambda match: tuple(map(natural, match)))
        ]
        content.games.append(game)
        content.matches.append(matches)
        content.frontiers.append(_frontier(results, content, game, matches))


def _frontier(results: Results, content: Content, game: PageGame, matches: Sequence[PageMatch]) -> Frontier | None:
    """Return the sweeps of a game; None if too few settings were played in self-play."""
    sweeps = {
        content.specs(match)[0]: sweep
        for match in matches
        if match.row == match.column and (sweep := content.learners[match.row].sweep) is not None
    }
    if len(sweeps) < FEWEST_SETTINGS:
        return None
    opponents = [*sweeps, *filter(None, [content.strongest])]
    frame, _ = _frame(results, content, game, players=([*sweeps], opponents))
    show = content.show
    return read_frontier(frame, sweeps, content.places, content.metrics, content.strongest, show.convergence)


def _frame(
    results: Results, content: Content, game: PageGame, **options: Any
) -> tuple[pl.DataFrame, dict[tuple[str, str], list[int]]]:
    """Return the runs of a game with a column for each seat, and the matches of several lengths, which are left out."""
    metrics = [name for name in content.metrics if name in results.metrics]
    frame = results.curves(metrics, game=game.spec, noise=game.noise_spec or None, **options)
    seated = {" v ".join(players): _seated(players) for players in frame["players"].unique()}
    names = pl.col("players").list.join(" v ")
    frame = frame.with_columns(
        names.replace_strict({key: pair[seat] for key, pair in seated.items()}, return_dtype=pl.String).alias(title)
        for seat, title in enumerate(_MATCH)
    )
    lengths = frame.select(*_MATCH, "rounds").unique().group_by(_MATCH).agg(pl.col("rounds").sort())
    mixed = {(row, column): rounds for row, column, rounds in lengths.sort(_MATCH).iter_rows() if len(rounds) > 1}
    for row, column in mixed:
        frame = frame.filter((pl.col("row") != row) | (pl.col("column") != column))
    content.below_zero.update(name for name in metrics if (frame[name] < 0).any())
    return frame, mixed


def _seated(players: Sequence[str]) -> tuple[str, str]:
    """Return the learner in the first seat, and all others as one name; in self-play, both are the same.

    >>> _seated(["ucb", "exp3"]), _seated(["ucb", "exp3", "ucb"]), _seated(["ucb", "ucb", "ucb"])
    (('ucb', 'exp3'), ('ucb', 'exp3 v ucb'), ('ucb', 'ucb'))
    """
    first, *others = players
    return first, first if {*others} == {first} else " v ".join(others)


def _notice(content: Content, players: Sequence[str], game: PageGame, reason: str) -> None:
    content.notices.append(f"not shown: {' v '.join(players)} on {game.name}: {reason}.")


def _curves(
    frame: pl.DataFrame, metric: str, content: Content, game: PageGame
) -> Iterator[tuple[tuple[str, str], PageCurve]]:
    """Yield the mean over seeds with its interval, match by match."""
    groups = frame.drop_nulls(metric).group_by(*_MATCH, "round", maintain_order=True).agg(metric)
    intervals = bands(groups[metric]).select("n", "mean", half=(pl.col("high") - pl.col("low")) / 2)
    by_match = groups.drop(metric).hstack(intervals).group_by(_MATCH, maintain_order=True).agg(pl.all())
    for row, column, rounds, seeds, mean, half in by_match.iter_rows():
        if len(set(seeds)) > 1:
            reason = f"{metric} was recorded at different rounds; keep the cells in two folders"
            _notice(content, (row, column), game, reason)
            continue
        grid = content.grids.setdefault(tuple(rounds), len(content.grids))
        yield (row, column), PageCurve(grid, seeds[0], short(mean), short(half, HALF_DIGITS))


def _add_outcomes(results: Results, content: Content) -> None:
    """Add the winners to the matches, by the tests of the ranking, or else by tests of all learners."""
    metric, pairings = content.table_metric, []
    if content.ranking and content.is_ranked:
        pairings = content.ranking.pairings
    elif metric:
        pairings = test_pairings(results.last([metric]), metric, family=content.show.family)
    several = any(game.noise for game in content.games)
    tested = {
        (pair.game, pair.noise if several else "", frozenset((pair.first, pair.second))): pair
        for pair in pairings
        if not pair.own
    }
    for match in chain(*content.matches):
        game = content.games[match.game]
        if pairing := tested.get((game.spec, game.noise_spec, frozenset(content.specs(match)))):
            advantage = pairing.advantage
            match.decided = "after" if pairing.winner else "before" if advantage.p <= ALPHA else "no"
            if match.decided != "no":
                match.winner = content.places[pairing.first if advantage.mean > 0 else pairing.second]


def _are_logarithmic(rounds: Sequence[int]) -> bool:
    """Return True if the gaps between rounds grow, so that their axis should be logarithmic.

    >>> _are_logarithmic([1, 2, 4, 8, 16, 32]), _are_logarithmic([10, 20, 30, 40, 50, 55])
    (True, False)
    """
    steps = [after - before for before, after in pairwise(rounds)]
    return len(steps) > 3 and steps[-1] >= 8 * steps[0] and all(0.7 * b <= a for b, a in pairwise(steps[:-1]))
