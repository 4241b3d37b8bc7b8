"""The content of the page, read once from results: games, learners, metrics, the curves of all matches, frontiers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from coebl.core.modules import require
from coebl.core.text import natural
from coebl.evidence import ALPHA, Band
from coebl.evidence.pairwise import Families, Ranking, rank
from coebl.evidence.pairwise import pairwise as test_pairings
from coebl.learners import LEARNERS
from coebl.naming import Known, MetricWords, find_sweeps, game_title, known_to, metric_words
from coebl.plots.curves import Reference
from coebl.plots.sweep import LAST
from coebl.report.legend import (
    HALF_DIGITS,
    Preset,
    game_entry,
    game_order,
    learner_entries,
    metric_entry,
    short,
    sweep_entry,
)

if TYPE_CHECKING:
    import polars

    from coebl.study import Results

_FIRST = ("absolute_pseudo_regret", "pseudo_regret", "exploitability")  # without noise: they need fewer seeds
_POINTS = 50  # rounds of a curve that are kept
_FEWEST_POINTS = 20
_NUMBERS = 500_000  # limit for the curves of a page together, except for very many: about eight bytes each
_FEWEST_SETTINGS = 3  # of a frontier
_MATCH = ["row", "column"]
Numbers = list[float | int | None]


class PageCurve(TypedDict):
    """A metric of a match over the rounds."""

    grid: int  # an index into the lists of rounds that curves share
    seeds: int
    means: Numbers
    halves: Numbers  # of the widths of the intervals


class PageMatch(TypedDict):
    """A match, with indices into the list of learners."""

    row: int  # the learner in the first seat
    column: int  # that in the second seat; of more seats, all others as one entry
    winner: int | None  # after correction, or before it only
    decided: str  # "after" correction, "before" it only, "no", or "untested"
    curves: dict[int, PageCurve]  # by the index of the metric


@dataclass(frozen=True)
class Presentation:
    """The part of a page that is not in the results."""

    title: str
    question: str = ""  # the subject of the study, in a paragraph
    source: str = ""  # what it is about, and where that was published
    link: str = ""  # the address of that
    headline: str = ""  # the id of the main claim
    answer: str = ""  # the finding in a line, and its numbers in a second: a template, see `verdict_grid.finding`
    words: Sequence[str] = ("hold", "undecided", "fail")  # for its checks in the bars below that sentence
    presets: Sequence[Preset] = ()  # selections of lines; the first one is shown first
    first: Sequence[str] = _FIRST  # metrics that come before the others
    game: str = ""  # the spec of the game that is shown first
    strongest: str = ""  # the opponent of a sweep; by default the first learner that sees the policy of the other
    convergence: Sequence[str] = ()  # metrics of self-play beside it, by preference
    reference: Reference | None = None  # a line beside cumulative metrics in self-play, on games of K by K
    switches: Mapping[str, str] = field(default_factory=dict)  # labels of learners that replace others, by spec
    citation: str = ""
    family: Families = "all pairings"  # the tests of who beats whom that are corrected together


@dataclass
class Content:
    """The data that the page draws, as plain values."""

    metrics: dict[str, MetricWords]
    learners: list[dict[str, Any]]
    sweeps: list[dict[str, str]]
    show: Presentation
    strongest: str  # the opponent of the frontier, or ""
    known: Known
    ranking: Ranking | None
    games: list[dict[str, Any]] = field(default_factory=list)
    matches: list[list[PageMatch]] = field(default_factory=list)  # by game
    frontiers: list[dict[str, Any] | None] = field(default_factory=list)  # by game
    rounds: list[list[int]] = field(default_factory=list)  # shared by curves
    notices: list[str] = field(default_factory=list)
    below_zero: set[str] = field(default_factory=set)  # metrics that any run has below 0
    seats: dict[str, str] = field(default_factory=dict)  # names of the seats of games that are not zero-sum, by title
    has_zero_sum: bool = True  # True if any game is zero-sum
    _places: dict[tuple[int, ...], int] = field(default_factory=dict)  # of the rounds in their list

    def shared(self, rounds: Sequence[int]) -> int:
        """Return the index of these rounds among those that curves share."""
        place = self._places.setdefault(tuple(rounds), len(self.rounds))
        if place == len(self.rounds):
            self.rounds.append(list(rounds))
        return place

    @cached_property
    def drawn_metrics(self) -> list[dict[str, Any]]:
        """The metrics that any curve shows."""
        drawn = {place for matches in self.matches for match in matches for place in match["curves"]}
        return [metric_entry(name, words) for place, (name, words) in enumerate(self.metrics.items()) if place in drawn]

    @property
    def defined_metrics(self) -> list[dict[str, Any]]:
        """Those metrics, each once: a metric of another seat is that of the first."""
        names = {metric["name"] for metric in self.drawn_metrics}
        return [one for one in self.drawn_metrics if ":" not in one["name"] or one["name"].split(":")[0] not in names]

    @cached_property
    def table_metric(self) -> str | None:
        """The metric of the head-to-head table: the first one whose sign shows who is ahead."""
        if self.ranking and self.metrics[self.ranking.metric].signed:
            return self.ranking.metric
        duels = [match for matches in self.matches for match in matches if match["row"] != match["column"]]
        drawn = {place for match in duels for place in match["curves"]}
        signed = (name for place, (name, words) in enumerate(self.metrics.items()) if words.signed and place in drawn)
        return next(signed, None)

    @property
    def first_game(self) -> int:
        """The index of the game that is shown first: the one that is named, or that decides the most."""
        named = (place for place, game in enumerate(self.games) if game["spec"] == self.show.game)
        decided = [sum(match["decided"] == "after" for match in matches) for matches in self.matches]
        return next(named, decided.index(max(decided)) if decided else 0)

    @property
    def has_more_seats(self) -> bool:
        """True if any game has more than two seats."""
        return any(seats.count(", ") > 1 for seats in self.seats.values())

    @property
    def is_ranked(self) -> bool:
        """True if the tests are those of the ranking, which has no learners that see more than a bandit does."""
        return self.ranking is not None and self.show.family == "all pairings"

    @property
    def table_title(self) -> str:
        """The title of the metric of the head-to-head table."""
        return self.metrics[self.table_metric].title if self.table_metric else ""

    @cached_property
    def table_place(self) -> int | None:
        """The index of the metric of the head-to-head table."""
        return list(self.metrics).index(self.table_metric) if self.table_metric else None

    def place_of(self, game: str, noise: str) -> int | None:
        """Return the index of a game; None if the page does not have it."""
        places = (place for place, one in enumerate(self.games) if one["spec"] == game and one["noise"] in ("", noise))
        return next(places, None)

    @property
    def titles(self) -> dict[str, str]:
        """The titles of the learners, by spec."""
        return {learner["spec"]: learner["title"] for learner in self.learners}

    @property
    def frontier_sweeps(self) -> list[dict[str, str]]:
        """The sweeps that have points in any frontier."""
        shown = {point["learner"] for frontier in self.frontiers if frontier for point in frontier["points"]}
        return [self.sweeps[place] for place in sorted({self.learners[learner]["sweep"] for learner in shown})]

    def for_script(self) -> dict[str, Any]:
        """Return what the page's script reads, except for the matches, which are blocks of their own."""
        return {
            "games": [game | {"reference": self._reference(place)} for place, game in enumerate(self.games)],
            "learners": self.learners,
            "sweeps": self.sweeps,
            "metrics": [
                metric_entry(name, words) | {"floored": name not in self.below_zero}
                for name, words in self.metrics.items()
            ],
            "seats": ["first seat", "other seats"] if self.has_more_seats else ["row", "column"],  # heads of columns
            "rounds": self.rounds,
            "logarithmic": [are_logarithmic(rounds) for rounds in self.rounds],
            "presets": [preset.entry(self.games) for preset in self.show.presets],
            "tableMetric": self.table_place,
            "firstGame": self.first_game,
            "frontiers": self.frontiers,
            "frontierOpponent": self.strongest or None,
            "last": LAST,
        }

    def _reference(self, game: int) -> dict[str, Any] | None:
        """Return the reference line of a square game, by the index of the rounds at which it is drawn."""
        rows, *others = self.games[game]["actions"] or (0, 1)
        reference = self.show.reference
        if reference is None or others != [rows]:
            return None
        selves = [match["curves"].values() for match in self.matches[game] if match["row"] == match["column"]]
        places = sorted({curve["grid"] for curves in selves for curve in curves})
        heights = {place: reference.height(rows, np.array(self.rounds[place], float)) for place in places}
        return {
            "label": f"{reference.label}, K = {rows}",
            "heights": {place: short(numbers) for place, numbers in heights.items()},
        }


def read_content(results: Results, metrics: Sequence[str], show: Presentation) -> Content:
    """Read all results; if there are several noises, each game is there once per noise."""
    known, records = known_to(results), results.records()
    labels = sorted({(record.game, record.players, record.noise) for record in records})
    labels.sort(key=lambda label: tuple(map(natural, label[1])))
    several = len({noise for *_, noise in labels}) > 1
    games = [
        game_entry(f"{game}, {noise}" if several else game, game, noise if several else "")
        for game, noise in dict.fromkeys((game, noise) for game, _, noise in labels)
    ]
    specs = list(dict.fromkeys(spec for _, players, _ in labels for spec in players))
    groups = [column for _, players, _ in labels if (column := _seated(players)[1]) not in specs]
    shown = [spec for preset in show.presets for game in games for spec in preset.on(game["spec"])]
    sweeps = find_sweeps(specs, known)
    content = Content(
        metrics={name: metric_words(name, known) for name in metrics},
        learners=learner_entries(specs, shown, sweeps, known, groups),
        sweeps=[sweep_entry(sweep, known) for sweep in sweeps],
        show=show,
        strongest=show.strongest or next(filter(_sees_policies, specs), ""),
        known=known,
        ranking=rank(results),
        seats={game_title(one.game): ", ".join(one.seats) for one in records if one.seats},
        has_zero_sum=any(not one.seats for one in records),
    )
    points = max(_FEWEST_POINTS, min(_POINTS, _NUMBERS // (2 * max(1, len(labels) * len(metrics)))))
    for game in sorted(games, key=game_order):
        played = [players for name, players, noise in labels if (name, noise) == (game["spec"], game["noise"] or noise)]
        _read_game(results, content, game, played, points)
    _add_outcomes(results, content)
    return content


def _sees_policies(spec: str) -> bool:
    entry = LEARNERS.registered(spec)
    return entry is not None and "policy" in getattr(entry.factory, "sees", ())


def _read_game(
    results: Results, content: Content, game: dict[str, Any], played: Sequence[tuple[str, ...]], points: int
) -> None:
    """Add a game with its curves and its frontier; a notice names each match that cannot be shown."""
    frame = _frame(results, content, game, points=points)
    curves: dict[tuple[str, str], dict[int, PageCurve]] = {}
    for place, name in enumerate(content.metrics):
        if name in frame.columns:
            for match, curve in _curves(frame, name, content, game):
                curves.setdefault(match, {})[place] = curve
    places = {learner["spec"]: place for place, learner in enumerate(content.learners)}
    recorded = set(frame.select(_MATCH).unique().iter_rows())
    for players in filter(lambda match: _seated(match) not in recorded, played):
        _notice(content, players, game, "no metric of this page was recorded")
    if curves:
        content.games.append(game)
        content.matches.append(
            [
                PageMatch(
                    row=places[row], column=places[column], winner=None, decided="untested", curves=curves[row, column]
                )
                for row, column in sorted(curves, key=lambda match: tuple(map(natural, match)))
            ]
        )
        content.frontiers.append(_frontier(results, content, game))


def _frame(results: Results, content: Content, game: Mapping[str, Any], **options: Any) -> polars.DataFrame:
    """Return the runs of a game with a column for each seat; matches of several lengths are left out, with a notice."""
    pl = require("polars")
    metrics = [name for name in content.metrics if name in results.metrics]
    frame = results.curves(metrics, game=game["spec"], noise=game["noise"] or None, **options)
    seated = {tuple(players): _seated(players) for players in frame["players"].unique()}
    pairs = [seated[tuple(players)] for players in frame["players"]]
    frame = frame.with_columns(pl.DataFrame(pairs, schema=dict.fromkeys(_MATCH, pl.String), orient="row"))
    lengths = frame.select(*_MATCH, "rounds").unique().group_by(_MATCH).agg(pl.col("rounds").sort())
    for row, column, rounds in lengths.filter(pl.col("rounds").list.len() > 1).iter_rows():
        several = " and ".join(map(str, rounds))
        _notice(content, (row, column), game, f"there are matches of {several} rounds; keep them in two folders")
        frame = frame.filter((pl.col("row") != row) | (pl.col("column") != column))
    below = [name for name in metrics if (frame[name] < 0).any()]
    content.below_zero.update(below)
    return frame


def _seated(players: Sequence[str]) -> tuple[str, str]:
    """Return the learner in the first seat, and all others as one name; in self-play that of the first.

    >>> _seated(["ucb", "exp3"]), _seated(["ucb", "exp3", "ucb"]), _seated(["ucb", "ucb", "ucb"])
    (('ucb', 'exp3'), ('ucb', 'exp3 v ucb'), ('ucb', 'ucb'))
    """
    first, *others = players
    return first, first if {*others} == {first} else " v ".join(others)


def _notice(content: Content, players: Sequence[str], game: Mapping[str, Any], reason: str) -> None:
    content.notices.append(f"not shown: {' v '.join(players)} on {game['name']}: {reason}.")


def _curves(
    frame: polars.DataFrame, metric: str, content: Content, game: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, str], PageCurve]]:
    """Yield the mean over seeds with its interval, match by match."""
    pl = require("polars")
    held = frame.select(*_MATCH, "round", value=metric).drop_nulls("value")
    groups = held.group_by(*_MATCH, "round", maintain_order=True).agg("value", n=pl.len())
    mean, half = np.full((2, len(groups)), np.nan)
    for seeds in groups["n"].unique():
        chosen = (groups["n"] == seeds).to_numpy()
        band = Band.of(groups.filter(chosen)["value"].explode().to_numpy().reshape(-1, seeds))
        mean[chosen], half[chosen] = band.mean, band.half
    means = groups.drop("value").with_columns(mean=mean, half=half)
    by_match = means.group_by(_MATCH, maintain_order=True).agg(pl.all())
    for row, column, rounds, counts, mean, half in by_match.iter_rows():
        if len(set(counts)) > 1:
            reason = f"{metric} was recorded at different rounds; keep the cells in two folders"
            _notice(content, (row, column), game, reason)
            continue
        curve = PageCurve(
            grid=content.shared(rounds), seeds=counts[0], means=short(mean), halves=short(half, HALF_DIGITS)
        )
        yield (row, column), curve


def _add_outcomes(results: Results, content: Content) -> None:
    """Add the winners to the matches: by the tests of the ranking, or else of all learners."""
    metric, family = content.table_metric, content.show.family
    if content.is_ranked:
        pairings = content.ranking.pairings if content.ranking else []
    else:
        pairings = test_pairings(results.last([metric]), metric, family=family) if metric else []
    several = any(game["noise"] for game in content.games)
    duels = [pairing for pairing in pairings if not pairing.own]
    tested = {(one.game, one.noise if several else "", frozenset((one.first, one.second))): one for one in duels}
    specs = [learner["spec"] for learner in content.learners]
    for game, matches in zip(content.games, content.matches, strict=True):
        for match in matches:
            pair = frozenset((specs[match["row"]], specs[match["column"]]))
            if pairing := tested.get((game["spec"], game["noise"], pair)):
                advantage = pairing.advantage
                match["decided"] = "after" if pairing.winner else "before" if advantage.p <= ALPHA else "no"
                if match["decided"] != "no":
                    match["winner"] = specs.index(pairing.first if advantage.mean > 0 else pairing.second)


def _frontier(results: Results, content: Content, game: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the settings of learners by their self-play and the gain of the opponent; None if there are too few.

    The gain is measured by the first metric whose sign shows who is ahead; it is left out if they did not meet.
    """
    opponent, matches = content.strongest, content.matches[-1]
    sweeps = {learner["spec"]: learner["sweep"] for learner in content.learners}
    specs = [(content.learners[match["row"]]["spec"], content.learners[match["column"]]["spec"]) for match in matches]
    swept = [row for row, column in specs if row == column and sweeps[row] is not None]
    if len(swept) < _FEWEST_SETTINGS:
        return None
    ends = _ends(_frame(results, content, game, players=(swept, [*swept, *filter(None, [opponent])])), content.metrics)
    names = list(content.metrics)

    def frontier(chosen: Sequence[str], regret: str) -> dict[str, Any] | None:
        def is_enough(metric: str) -> bool:
            counts = Counter(sweeps[spec] for spec in chosen if metric in ends[spec, spec])
            informs = regret or not content.metrics[metric].signed  # lower is no better in self-play alone
            return bool(informs) and max(counts.values(), default=0) >= _FEWEST_SETTINGS

        across = sorted(filter(is_enough, names), key=lambda name: _suitability(name, content))
        points = [
            {
                "learner": list(sweeps).index(spec),
                "self": {names.index(name): ends[spec, spec].get(name) for name in across},
                "best": ends[spec, opponent].get(regret),
            }
            for spec in chosen
        ]
        of_regret = names.index(regret) if regret else None
        return (
            {"regret": of_regret, "metrics": [names.index(name) for name in across], "points": points}
            if across
            else None
        )

    for regret in [name for name, words in content.metrics.items() if words.signed]:
        if found := frontier([spec for spec in swept if regret in ends[spec, opponent]], regret):
            return found
    return frontier(swept, "")


def _suitability(metric: str, content: Content) -> tuple[Any, ...]:
    """Return a sort key of metrics by how well they show convergence of self-play: signed metrics are last."""
    wanted = list(content.show.convergence)
    words = content.metrics[metric]
    return (wanted.index(metric) if metric in wanted else len(wanted), words.signed, words.cumulative)


def _ends(
    frame: polars.DataFrame, metrics: Mapping[str, MetricWords]
) -> dict[tuple[str, str], dict[str, dict[str, Any]]]:
    """Return the ends of matches by metric: the last round if it is cumulative, else the mean of the last rounds."""
    pl = require("polars")
    ends: dict[tuple[str, str], dict[str, dict[str, Any]]] = defaultdict(dict)
    for name in filter(frame.columns.__contains__, metrics):
        held = frame.select(*_MATCH, "seed", "round", value=name).drop_nulls("value")
        span = 1 if metrics[name].cumulative else LAST
        held = held.filter(pl.col("round") > pl.col("round").max().over(_MATCH) - span)
        rounds = pl.col("round").min().alias("first"), pl.col("round").max().alias("last")
        by_seed = held.group_by(*_MATCH, "seed").agg(pl.col("value").mean(), *rounds)
        by_match = by_seed.group_by(_MATCH).agg("value", pl.col("first").min(), pl.col("last").max())
        for row, column, values, first, last in by_match.iter_rows():
            band = Band.of(np.array([values]))
            if np.isfinite(band.mean[0]):
                [mean], [half] = short(band.mean), short(band.half)
                ends[row, column][name] = {
                    "mean": mean,
                    "half": half,
                    "seeds": band.seeds,
                    "first": first,
                    "last": last,
                }
    return ends


def are_logarithmic(rounds: Sequence[int]) -> bool:
    """Return True if rounds were recorded ever more rarely, so that their axis is to be logarithmic.

    >>> are_logarithmic([1, 2, 4, 8, 16, 32]), are_logarithmic([10, 20, 30, 40, 50, 55])
    (True, False)
    """
    steps = [after - before for before, after in pairwise(rounds)]
    return len(steps) > 3 and steps[-1] >= 8 * steps[0] and all(0.7 * b <= a for b, a in pairwise(steps[:-1]))
