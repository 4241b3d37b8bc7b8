"""The results of a study: one table of all runs, a Polars frame, read from its folder on request."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from coebl.backend import backend_class
from coebl.core.arrays import evenly_spread
from coebl.core.errors import InputError, check_integer, shorten
from coebl.core.frames import pl
from coebl.engine.match import MatchKey, MatchName
from coebl.engine.until import Hit, HittingTime
from coebl.evidence.runtimes import Runtimes, read_runtimes
from coebl.evidence.statistics import bands
from coebl.learners.base import Kind
from coebl.naming import NOTHING_YET, REGISTRIES, check_recorded, find, known_to, learner_words, metric_words
from coebl.study.cell import EARLIER, CellRecord
from coebl.study.cell_file import CellRuns
from coebl.study.errors import DamagedFileError, StoreError
from coebl.study.store import Store, check_one_device

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from coebl.evidence.compare import Comparison

Specs = str | Sequence[str] | None  # one spec, several, or None for all
_RECENT = 2 * 10**9  # nanoseconds; two changes within this time may have the same time stamp


class SummaryRow(TypedDict):
    """The mean of a metric over the seeds of a match at a round, with Student's 95 % interval."""

    game: str
    noise: str
    row: str  # the learner in the first seat
    column: str  # the learner in the second seat
    players: list[str]  # the learner in each seat
    horizon: int
    round: int
    metric: str
    mean: float
    low: float
    high: float
    sd: float
    n: int


class Results:
    """The finished cells of a study, read from its folder on request.

    >>> results = Results("results")
    >>> results.matches()
    [('rps', 'ucb', 'exp3'), ('rps', 'ucb', 'ucb')]
    >>> results.last(["pseudo_regret"], players=(None, "exp3")).shape
    (5, 6)
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.store = Store.open(folder)
        self._listed: list[str] = []  # the digests of the records
        self._records: list[CellRecord] = []
        self._metrics: list[str] = []
        self._places: dict[str, dict[str, list[int]]] = {}  # of the records with a spec, by the name of a filter
        self._listed_at: int | None = None

    def __repr__(self) -> str:
        return f"<Results in {self.store.folder}>"

    # Records

    def records(self) -> list[CellRecord]:
        """Return the records of the cells that are finished now, sorted by match and seeds."""
        stamp = self._stamp()
        if stamp is None or stamp != self._listed_at:
            present = self.store.digests()
            if present != self._listed:
                records = [_read_valid(self.store.record, digest) for digest in present]
                check_one_device(self.store, {record.description.device for record in records})
                records.sort(
                    key=lambda cell: (cell.game, cell.noise, cell.players, cell.rounds, cell.seeds[0], cell.digest)
                )
                self._records, self._listed, self._places = records, present, {}
                self._metrics = list(dict.fromkeys(metric for record in records for metric in record.metrics))
            self._listed_at = stamp
        return self._records

    def _stamp(self) -> int | None:
        """Return the time of the folder's last change; None if so recent that another change may have the same time."""
        try:
            changed = os.stat(self.store.folder / "cells").st_mtime_ns
        except OSError:
            return None
        return changed if time.time_ns() - changed > _RECENT else None

    def seconds(self) -> float:
        """Return the time that the cells took, all workers together."""
        return sum(sum(record.seconds.values()) for record in self.records())

    def versions(self) -> dict[str, list[str]]:
        """Return the versions that cells were made with, by package that numbers may depend on."""
        pairs = sorted({pair for record in self.records() for pair in record.versions.items()})
        return {package: [version for _, version in made] for package, made in groupby(pairs, key=itemgetter(0))}

    def notices(self) -> list[str]:
        """Return warnings for readers who compare these results with others."""
        versions, records = self.versions(), self.records()
        kinds, writers = versions.get("exp and log", []), versions.get("coebl", [])
        gpus = self.devices() if any(backend_class(record.description.device).is_gpu for record in records) else []
        notices = [f"the cells were run on a GPU ({gpu})" for gpu in gpus]
        if len(gpus) > 1:
            notices.append("the cells were run on several of these; a seed may lead to different runs on them")
        if len(kinds) > 1:
            notices.append(
                f"the cells were made on CPUs whose exp and log differ in the last bit ({', '.join(kinds)}); "
                "where a learner uses these, a seed may lead to different runs on them"
            )
        if len(writers) > 1:
            notices.append(
                f"the cells were made by coebl {' and '.join(writers)}; a seed may lead to different runs in them, as "
                "the changelog lists under Results moved"
            )
        return notices

    def devices(self) -> list[str]:
        """Return the devices that cells were run on: "cpu", or the names of GPUs."""
        return sorted({record.versions.get("device", record.description.device) for record in self.records()})

    def kinds(self) -> dict[str, Kind]:
        """Return the kind of each learner, by how much it sees; unregistered learners of older cells are left out."""
        known = known_to(self)
        specs = dict.fromkeys(spec for record in self.records() for spec in record.players)
        return {spec: kind for spec in specs if (kind := learner_words(spec, known).kind) is not None}

    @property
    def metrics(self) -> list[str]:
        """The metrics that any cell has recorded."""
        self.records()
        return [*self._metrics]

    def matches(self) -> list[MatchName]:
        """Return the game and the players of every match with a finished cell."""
        return list(dict.fromkeys(MatchName(record.game, *record.players) for record in self.records()))

    def runtimes(self) -> dict[MatchKey, Runtimes]:
        """Return the hitting times of every match whose runs end at a condition."""
        return read_runtimes(self.last([HittingTime.name])) if HittingTime.name in self.metrics else {}

    def condition(self) -> str:
        """Return the condition that ends runs, with their budgets, in words; "" if they end after their last round."""
        ended = {(record.description.until, record.rounds) for record in self.records() if record.description.until}
        conditions = " or ".join(sorted({str(until) for until, _ in ended}))
        budgets = " or ".join(f"{rounds:,}" for rounds in sorted({rounds for _, rounds in ended}))
        return f"{conditions}, or after {budgets} rounds" if ended else ""

    def why_empty(self) -> str:
        """Return why there is nothing to show: no cell is finished, or none fits all filters."""
        if not self.records():
            return f"{self.store.folder}: {NOTHING_YET}"
        return f"no finished match fits all of these filters. See: coebl results {self.store.folder}"

    # The table

    def last(
        self,
        metrics: Sequence[str] | None = None,
        *,
        game: Specs = None,
        players: Sequence[Specs] | None = None,
        noise: Specs = None,
        rounds: int | None = None,
    ) -> pl.DataFrame:
        """Return every run at its last round: one row per match and seed, as a Polars frame.

        The columns are `game`, `players` (a list, in the order of the seats), `noise`, `rounds` (the length of the
        match), `seed`, then a column for each metric: null where the run has not recorded it. Rows are sorted by match
        and seed; a run that overlapping cells hold twice is one row.

        Args:
            metrics: only these metrics, by name, and only runs that have recorded any of them.
            game: only these games, one equivalent spec or several.
            players: only matches with these learners in the seats: a tuple with a spec, several, or None for any.
            noise: only these noises.
            rounds: another recorded round than the last.

        >>> Results("results").last(["pseudo_regret"], players=("ucb", "exp3")).columns
        ['game', 'players', 'noise', 'rounds', 'seed', 'pseudo_regret']
        """
        if rounds is not None:
            check_integer("rounds", rounds, 1)
        recorded: set[int] = set()
        cells = []
        for cell in self._runs(metrics, game, players, noise, last=rounds is None):
            recorded.update(cell.rounds.tolist())
            cells.append(cell if rounds is None else cell.at([rounds]))
        if rounds is not None and recorded and rounds not in recorded:
            closest = min(recorded, key=lambda other: (abs(other - rounds), other))
            raise InputError(f"round {rounds} was not recorded in any of these cells. The nearest is {closest}.")
        return _frame_of(cells, self._chosen_metrics(metrics), curves=False)

    def curves(
        self,
        metrics: Sequence[str] | None = None,
        *,
        points: int | None = None,
        game: Specs = None,
        players: Sequence[Specs] | None = None,
        noise: Specs = None,
    ) -> pl.DataFrame:
        """Return every run at its recorded rounds: as `last`, with a row per round and a column `round` after `seed`.

        Args:
            metrics: only these metrics, by name, and only runs that have recorded any of them.
            points: at most this many rounds of each run, evenly spread over the recorded ones, first and last included.
            game: only these games, one equivalent spec or several.
            players: only matches with these learners in the seats: a tuple with a spec, several, or None for any.
            noise: only these noises.

        >>> Results("results").curves(["pseudo_regret"], points=3, players=("ucb", "exp3"))["round"].to_list()[:3]
        [10, 50, 100]
        """
        chosen = self._chosen_metrics(metrics)
        cells = self._runs(metrics, game, players, noise)
        if points is not None:
            most = check_integer("points", points, 1)
            cells = (cell.at(cell.rounds[evenly_spread(len(cell.rounds), most)]) for cell in cells)
        return _frame_of(cells, chosen, curves=True)

    def _runs(
        self,
        metrics: Sequence[str] | None,
        game: Specs,
        players: Sequence[Specs] | None,
        noise: Specs,
        last: bool = False,
    ) -> Iterator[CellRuns]:
        """Yield the runs of the cells that fit the filters; without filters nothing is read to find them."""
        if game is noise is players is None:
            digests = self.store.digests()
        else:
            digests = [record.digest for record in self._matching(game, players, noise)]
        for digest in digests:
            yield _read_valid(self.store.runs, digest, metrics, last)
        self.store.remember()

    def _matching(self, game: Specs, players: Sequence[Specs] | None, noise: Specs) -> list[CellRecord]:
        """Return the records of the cells that fit the filters; seats beyond the named players may have any learner."""
        records = self.records()
        fitting: set[int] = {*range(len(records))}
        if players is None:
            players = ()
        elif not isinstance(players, (list, tuple)) or len(players) < 2:
            raise InputError(
                f"players is {shorten(players)}; accepted: a learner for each seat or None, such as ('ucb', None)."
            )
        names = ["game", "noise", "row learner", "column learner"]
        names += [f"learner in seat {number}" for number in range(3, len(players) + 1)]
        for place, (name, chosen) in enumerate(zip(names, (game, noise, *players), strict=False)):
            if chosen is None:
                continue
            if name not in self._places:
                places = self._places[name] = {}
                for number, record in enumerate(records):
                    for spec in (record.game, record.noise, *record.players)[place : place + 1]:
                        places.setdefault(spec, []).append(number)
            kind = name if place < 2 else "player"
            specs = [chosen] if isinstance(chosen, str) or not isinstance(chosen, Collection) else chosen
            if records and not self._places[name]:
                raise InputError(f"players is {shorten(players)}; no finished match has so many seats.")
            wanted = {find(kind, spec, self._places[name], name) for spec in specs}
            fitting.intersection_update(chain.from_iterable(self._places[name][spec] for spec in wanted))
        return [records[number] for number in sorted(fitting)]

    def lazy(self) -> pl.LazyFrame:
        """Return all stored tables as one lazy Polars frame with the columns of `curves`.

        It reads from the files only what a query needs, unchecked; a run that overlapping cells hold appears twice.
        """
        paths_by_columns: dict[tuple[int, tuple[str, ...]], list[str]] = {}  # one scan needs equal columns
        for record in self.records():
            paths_by_columns.setdefault((record.format, record.metrics), []).append(str(self.store.path(record.digest)))
        empty = _frame_of([], self.metrics, curves=True)
        frames: list[pl.LazyFrame] = [empty.lazy()]
        for (number, _), paths in paths_by_columns.items():
            scan = pl.scan_parquet(paths, glob=False)  # a folder may be called results[1]
            if number == EARLIER:
                players = pl.concat_list(pl.col("row").cast(pl.String), pl.col("column").cast(pl.String))
                scan = scan.with_columns(players=players, rounds="horizon").drop("row", "column", "horizon")
            frames.append(scan.cast({"game": pl.String, "noise": pl.String, "rounds": pl.Int64, "round": pl.Int64}))
        return pl.concat(frames, how="diagonal").select(empty.columns)

    def summary(
        self,
        metrics: Sequence[str] | None = None,
        rounds: int | None = None,
        game: Specs = None,
        players: Sequence[Specs] | None = None,
    ) -> list[SummaryRow]:
        """Return the mean and interval over seeds of each match and metric, at one round, by default the last.

        If a value is infinite, so is the mean, and there is no interval: its ends and the sd are NaN. For runs that end
        at a condition, the mean of `hitting_time` is the expected running time, with a bootstrap interval, and the
        mean of `hit` is the share of runs that hit, with a Wilson interval.

        Args:
            metrics: only these metrics, by name.
            rounds: another recorded round than the last.
            game: only these games, one equivalent spec or several.
            players: only matches with these learners in the seats, as in `last`.
        """
        rows: list[Any] = []
        keys = ["game", "players", "noise", "rounds"]
        table = self.last(metrics, game=game, players=players, rounds=rounds)
        names = table.columns[len(keys) + 1 :]
        matches = table.group_by(keys, maintain_order=True).agg(pl.col(names).drop_nulls())
        means = {metric: bands(matches[metric]).to_dicts() for metric in names}
        for place, (name, seats, noise, length, *samples) in enumerate(matches.iter_rows()):
            labels = {"game": name, "noise": noise, "row": seats[0], "column": seats[1], "players": seats}
            labels |= {"horizon": length, "round": rounds or length}
            for metric, values in zip(names, samples, strict=True):
                if not values:
                    continue
                row = means[metric][place]
                if metric in (HittingTime.name, Hit.name):
                    hits = tuple(int(value) if value > 0 else None for value in values)  # none is NaN, or a `hit` of 0
                    times = Runtimes(hits, length)
                    estimate = times.ert() if metric == HittingTime.name else times.share()
                    row = {key: getattr(estimate, key) for key in row}
                elif row["mean"] != row["mean"]:  # NaN
                    with np.errstate(invalid="ignore"):  # the mean of infinities of both signs is NaN
                        row["mean"] = float(np.mean(values))
                rows.append(labels | {"metric": metric} | row)
        return rows

    def compare(
        self, a: str, b: str, metric: str | None = None, game: Specs = None, margin: float | None = None
    ) -> Comparison:
        """Compare two learners, paired by seed and in both seats: see `coebl.evidence.compare.compare`.

        Args:
            a: the spec of a learner.
            b: the spec of another; differences are a minus b.
            metric: the name of the metric; by default the pseudo-regret.
            game: only these games.
            margin: also test whether the two differ by less than this.
        """
        from coebl.evidence.compare import compare

        return compare(self, a, b, metric, game, margin)

    def plot(
        self,
        metric: str | None = None,
        game: Specs = None,
        players: Sequence[Specs] | None = None,
        noise: str | None = None,
        sweep: bool = False,
    ) -> Figure:
        """Draw the curves of the study, with 95 % bands: a panel per game, a line per match, as a matplotlib figure.

        Filters are specs, as in `last`. By default the metric is the pseudo-regret or the payoff, or in a study of only
        self-play the first metric about both players. For runs that end at a condition it is `hitting_time`: the share
        of runs that have hit, by budget.

        Args:
            metric: the name of the metric.
            game: only these games, one equivalent spec or several.
            players: only matches with these learners in the seats, as in `last`.
            noise: the spec of the noise, if a match was played with several.
            sweep: draw the metric against the number in which row learners differ, not over the rounds.
        """
        from coebl.plots import plot_panels, plot_sweeps

        if metric is not None:
            self._chosen_metrics([metric])
        cells = self._matching(game, players, noise)
        metric = metric or self._telling_metric(cells)
        cells = [record for record in cells if metric in record.metrics]
        if not cells:
            raise InputError(f"metric {metric!r} was not recorded for any of these matches; see: coebl results.")
        matches = [MatchName(record.game, *record.players) for record in cells]
        if sweep:
            return plot_sweeps(self, metric, matches, noise)
        return plot_panels(self, metric, matches, all(record.description.record == "log" for record in cells), noise)

    def _telling_metric(self, cells: list[CellRecord]) -> str:
        """Return the metric to draw by default: times, the pseudo-regret, or in self-play one about both players."""
        present = list(dict.fromkeys(metric for record in cells for metric in record.metrics))
        if not present:
            raise InputError(self.why_empty())
        if HittingTime.name in present:
            return HittingTime.name
        if all(len(set(record.players)) == 1 for record in cells):
            known = known_to(self)
            return next((metric for metric in present if not metric_words(metric, known).signed), present[0])
        return next((metric for metric in ("pseudo_regret", "payoff") if metric in present), present[0])

    def _chosen_metrics(self, metrics: Sequence[str] | None) -> list[str]:
        present = self.metrics
        if metrics is None:
            return present
        if isinstance(metrics, str):
            check_recorded(metrics, present)
            raise InputError(f"metrics is {metrics!r}; accepted: a list of names, such as [{metrics!r}].")
        for metric in metrics:
            check_recorded(metric, present)
        return list(dict.fromkeys(metrics))


def _read_valid(read: Callable[..., Any], digest: str, *options: Any) -> Any:
    """Read a cell; a damaged one is an error here, since only a run of the study moves files."""
    try:
        return read(digest, *options)
    except DamagedFileError as error:
        raise StoreError(f"{error} Run the study again: it sets the file aside and runs the cell again.") from None


# Frames


def _frame_of(cells: Iterable[CellRuns], metrics: Sequence[str], curves: bool) -> pl.DataFrame:
    """Return a frame with one row per match and seed, and per recorded round if `curves`, sorted by match.

    Cells that have none of the metrics are left out. A run that several cells hold is one row; raises a StoreError if
    they disagree.
    """
    cells_by_metrics: dict[tuple[str, ...], list[CellRuns]] = {}
    for cell in cells:
        if cell.metrics and len(cell.rounds):
            cells_by_metrics.setdefault(tuple(cell.metrics), []).append(cell)
    matches = sorted({cell.record.match for group in cells_by_metrics.values() for cell in group}, key=_match_order)
    numbers = {match: number for number, match in enumerate(matches)}
    empty = {"match": pl.Int64, "seed": pl.Int64, "round": pl.Int64, **dict.fromkeys(metrics, pl.Float64)}
    frames = [pl.DataFrame(schema=empty)]
    for group in cells_by_metrics.values():
        tables = [cell.columns() for cell in group]
        columns = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
        match = np.repeat([numbers[cell.record.match] for cell in group], [len(table["seed"]) for table in tables])
        frames.append(pl.DataFrame({"match": match, **columns}))
    frame = pl.concat(frames, how="diagonal_relaxed")
    frame = _once(frame.sort("match", "seed", "round", maintain_order=True), matches, metrics)
    names: Any = {"game": pl.String, "players": pl.List(pl.String), "noise": pl.String, "rounds": pl.Int64}
    rows = [(match.game, list(match.players), match.noise, match.rounds) for match in matches]
    labels = pl.DataFrame(rows, schema=names, orient="row")[frame["match"]]
    numbered = frame.select("seed", *(["round"] if curves else []), *metrics)
    return pl.concat([labels, numbered], how="horizontal")


def _match_order(match: MatchKey) -> tuple[Any, ...]:
    """Sort matches by game, noise and players, sweeps by their numbers."""
    players = tuple(_place("player", spec) for spec in match.players)
    return _place("game", match.game), _place("noise", match.noise), players, match


@lru_cache(maxsize=4096)
def _place(kind: str, spec: str) -> tuple[Any, ...]:
    return REGISTRIES[kind].order(spec)


def _once(frame: pl.DataFrame, matches: list[MatchKey], metrics: Sequence[str]) -> pl.DataFrame:
    """Return a sorted frame with each run once; overlapping cells have to agree."""
    keys = ["match", "seed", "round"]
    if not frame.select(pl.all_horizontal(pl.col(keys) == pl.col(keys).shift()).any()).item():
        return frame
    runs, values = frame.group_by(keys, maintain_order=True), pl.col(metrics).drop_nulls()
    differing = runs.agg(values.n_unique() > 1)
    for metric in metrics:
        for match, seed, *_ in differing.filter(metric).iter_rows():
            raise StoreError(
                f"{matches[match]}: seed {seed} has two values of {metric}, so the cells are of two games, two "
                "learners or two versions; keep them in two folders."
            )
    return runs.agg(values.first())
