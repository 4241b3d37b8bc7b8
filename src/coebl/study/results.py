"""The results of a study: one table of all runs, read from its folder on request."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

import numpy as np

from coebl.core.arrays import Floats, evenly_spread
from coebl.core.errors import InputError, nearest, shorten
from coebl.core.modules import require
from coebl.engine.match import MatchKey, MatchName
from coebl.engine.until import Hit, HittingTime
from coebl.evidence.runtimes import Runtimes, read_runtimes
from coebl.evidence.statistics import Band
from coebl.learners.base import Kind
from coebl.naming import known_to, learner_words, metric_words
from coebl.study.cell_file import CellRuns
from coebl.study.errors import DamagedFileError, StoreError
from coebl.study.frames import NOTHING_YET, find, frame_of, listed
from coebl.study.record import EARLIER, CellRecord, seat_key
from coebl.study.store import Store, check_one_device

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

    from coebl.evidence.compare import Comparison

Specs = str | Sequence[str] | None  # one spec, several, or None for all
_RECENT = 2 * 10**9  # nanoseconds within which two changes may have the same time stamp


class SummaryRow(TypedDict):
    """The mean of a metric over the seeds of a match at a round, with Student's 95 % interval."""

    game: str
    noise: str
    row: str  # the learner in the first seat
    column: str  # the learner in the second seat
    players: NotRequired[list[str]]  # the learner in each seat, if there are more than two
    horizon: int
    round: int
    metric: str
    mean: float
    low: float
    high: float
    sd: float
    n: int


def players_of(row: SummaryRow) -> list[str]:
    """Return the learners of a summary, in the order of the seats."""
    return row.get("players", [row["row"], row["column"]])


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
        self._present: dict[str, dict[str, None]] = {}  # what the records have, by the name of a filter
        self._listed_at: int | None = None

    def __repr__(self) -> str:
        return f"<Results in {self.store.folder}>"

    # Records

    def records(self) -> list[CellRecord]:
        """The records of the cells that are finished now, sorted by match and seeds.

        >>> Results("results").records()[0].players
        ('ucb', 'exp3')
        """
        stamp = self._stamp()
        if stamp is None or stamp != self._listed_at:
            present = self.store.digests()
            if present != self._listed:
                records = [_read_valid(self.store.record, digest) for digest in present]
                check_one_device(self.store, (record.description for record in records))
                self._records, self._listed, self._present = sorted(records, key=_order), present, {}
            self._listed_at = stamp
        return self._records

    def _stamp(self) -> int | None:
        """The time of the last change of the folder; None if so recent that another change may have the same time."""
        try:
            changed = os.stat(self.store.folder / "cells").st_mtime_ns
        except OSError:
            return None
        return changed if time.time_ns() - changed > _RECENT else None

    def seconds(self) -> float:
        """The time that the cells took, all workers together."""
        return sum(sum(record.seconds.values()) for record in self.records())

    def versions(self) -> dict[str, list[str]]:
        """The versions that cells were made with, by package that numbers may depend on."""
        versions: dict[str, set[str]] = {}
        for record in self.records():
            for package, version in record.versions.items():
                versions.setdefault(package, set()).add(version)
        return {package: sorted(versions[package]) for package in sorted(versions)}

    def notices(self) -> list[str]:
        """Warnings for readers who compare these results with others."""
        versions, devices = self.versions(), self.devices()
        kinds, writers = versions.get("exp and log", []), versions.get("coebl", [])
        notices = [f"the cells were run on a GPU ({device})" for device in devices if device != "cpu"]
        if len(devices) > 1:
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
        """The devices that cells were run on: "cpu", or the names of GPUs."""
        return sorted(
            {record.versions.get("device", "cuda") if record.device == "cuda" else "cpu" for record in self.records()}
        )

    def kinds(self) -> dict[str, Kind]:
        """The kind of each learner, by how much it sees; unregistered learners of older cells are left out."""
        known = known_to(self)
        specs = dict.fromkeys(spec for record in self.records() for spec in record.players)
        return {spec: kind for spec in specs if (kind := learner_words(spec, known).kind) is not None}

    @property
    def metrics(self) -> list[str]:
        """The metrics that any cell has recorded."""
        return list(dict.fromkeys(metric for record in self.records() for metric in record.metrics))

    def matches(self) -> list[MatchName]:
        """The game and the players of every match with a finished cell."""
        return list(dict.fromkeys(MatchName(record.game, *record.players) for record in self.records()))

    def runtimes(self) -> dict[MatchKey, Runtimes]:
        """The hitting times of every match whose runs end at a condition.

        >>> Results("results").runtimes()
        {}
        """
        return read_runtimes(self.last([HittingTime.name])) if HittingTime.name in self.metrics else {}

    def condition(self) -> str:
        """The condition at which runs end, with their budgets, in words; "" if they end after their last round.

        >>> Results("results").condition()
        ''
        """
        ended = {(record.description.until, record.rounds) for record in self.records() if record.description.until}
        conditions = " or ".join(sorted({str(until) for until, _ in ended}))
        budgets = " or ".join(f"{rounds:,}" for rounds in sorted({rounds for _, rounds in ended}))
        return f"{conditions}, or after {budgets} rounds" if ended else ""

    def why_empty(self) -> str:
        """The reason why there is nothing to show, though every filter names something present."""
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
    ) -> polars.DataFrame:
        """Every run at its last round: one row per match and seed, as a Polars frame.

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
        recorded: set[int] = set()
        cells = []
        for cell in self._runs(metrics, game, players, noise, last=rounds is None):
            recorded.update(cell.rounds.tolist())
            cells.append(cell if rounds is None else cell.at(cell.rounds == rounds))
        if rounds is not None and recorded and rounds not in recorded:
            closest = min(recorded, key=lambda other: (abs(other - rounds), other))
            raise InputError(f"round {rounds} was not recorded in any of these cells. The nearest is {closest}.")
        return frame_of(cells, self._chosen_metrics(metrics), curves=False)

    def curves(
        self,
        metrics: Sequence[str] | None = None,
        *,
        points: int | None = None,
        game: Specs = None,
        players: Sequence[Specs] | None = None,
        noise: Specs = None,
    ) -> polars.DataFrame:
        """Every run at its recorded rounds: as `last`, with a column `round` after `seed` and a row for each of them.

        Args:
            metrics: only these metrics, by name, and only runs that have recorded any of them.
            points: at most this many rounds of each run, evenly spread over the recorded ones, first and last included.
            game: only these games, one equivalent spec or several.
            players: only matches with these learners in the seats: a tuple with a spec, several, or None for any.
            noise: only these noises.

        >>> Results("results").curves(["pseudo_regret"], points=3, players=("ucb", "exp3"))["round"].to_list()[:3]
        [10, 50, 100]
        """
        if points is not None and points < 1:
            raise InputError(f"points is {points}; accepted: an integer from 1, or None for all recorded rounds.")
        chosen = self._chosen_metrics(metrics)
        cells = self._runs(metrics, game, players, noise)
        if points is not None:
            cells = (cell.at(evenly_spread(len(cell.rounds), points)) for cell in cells)
        return frame_of(cells, chosen, curves=True)

    def _runs(
        self,
        metrics: Sequence[str] | None,
        game: Specs,
        players: Sequence[Specs] | None,
        noise: Specs,
        last: bool = False,
    ) -> Iterator[CellRuns]:
        """The runs of the cells that fit; without filters nothing is read to find them."""
        if isinstance(players, str) or (players is not None and len(players) < 2):
            raise InputError(
                f"players is {shorten(players)}; accepted: a learner for each seat or None, such as ('ucb', None)."
            )
        if game is None and noise is None and (players is None or not any(players)):
            digests = self.store.digests()
        else:
            digests = [record.digest for record in self._matching(game, players or (), noise)]
        for digest in digests:
            yield _read_valid(self.store.runs, digest, metrics, last)
        self.store.remember()

    def _matching(self, game: Specs, players: Sequence[Specs], noise: Specs) -> list[CellRecord]:
        """The records of the cells that fit; of matches with more seats than players are named, any may be there."""
        records = every = self.records()
        filters: dict[str, tuple[str, Specs, Callable[[CellRecord], str]]] = {
            "game": ("game", game, lambda record: record.game),
            "noise": ("noise", noise, lambda record: record.noise),
        }
        for seat, specs in enumerate(players):
            name = f"{seat_key(seat)} learner" if seat < 2 else f"learner in seat {seat + 1}"
            filters[name] = "player", specs, partial(_player, seat)
        for name, (kind, chosen, label) in filters.items():
            if chosen is not None:
                if name not in self._present:
                    self._present[name] = {spec: None for spec in map(label, every) if spec}
                listed = [chosen] if isinstance(chosen, str) else chosen
                wanted = {find(kind, spec, self._present[name], name) for spec in listed}
                records = [record for record in records if label(record) in wanted]
        return records

    def lazy(self) -> polars.LazyFrame:
        """All stored tables as one lazy Polars frame with the columns of `curves`.

        It reads from the files only what a query needs, unchecked; a run that overlapping cells hold appears twice.
        """
        pl = require("polars")
        paths_by_columns: dict[
            tuple[int, tuple[str, ...]], list[str]
        ] = {}  # the files by their columns: one scan needs equal ones
        for record in self.records():
            paths_by_columns.setdefault((record.format, record.metrics), []).append(str(self.store.path(record.digest)))
        empty = frame_of([], self.metrics, curves=True)
        frames: list[polars.LazyFrame] = [empty.lazy()]
        for (number, _), paths in paths_by_columns.items():
            scan = pl.scan_parquet(paths, glob=False)  # a folder may be called results[1]
            if number == EARLIER:
                players = pl.concat_list(pl.col("row").cast(pl.String), pl.col("column").cast(pl.String))
                scan = scan.with_columns(players=players, rounds="horizon").drop("row", "column", "horizon")
            frames.append(scan.cast({"game": pl.String, "noise": pl.String, "rounds": pl.Int64, "round": pl.Int64}))
        frame: polars.LazyFrame = pl.concat(frames, how="diagonal").select(empty.columns)
        return frame

    def summary(
        self,
        metrics: Sequence[str] | None = None,
        rounds: int | None = None,
        game: Specs = None,
        row: Specs = None,
        column: Specs = None,
    ) -> list[SummaryRow]:
        """Mean and interval over seeds of each match and metric, at one round, by default the last of each match.

        If a value is infinite so is the mean, and there is no interval: its ends and the sd are NaN. Of runs that end
        at a condition, the mean of `hitting_time` is the expected running time, with a bootstrap interval, and that of
        `hit` the share of runs that hit, with Wilson's.

        Args:
            metrics: only these metrics, by name.
            rounds: another recorded round than the last.
            game: only these games, one equivalent spec or several.
            row: only these row learners, likewise.
            column: only these column learners, likewise.
        """
        frame = self.last(metrics, game=game, players=(row, column), rounds=rounds)
        keys = ["game", "players", "noise", "rounds"]
        labels: dict[str, Any]
        rows: list[Any] = []
        samples_by_size: dict[int, list[tuple[dict[str, Any], Floats]]] = {}  # which are computed together
        for group in frame.partition_by(keys, maintain_order=True):
            name, seats, noise, length = group.select(keys).row(0)
            labels = {"game": name, "noise": noise, "row": seats[0], "column": seats[1], "horizon": length}
            labels |= {"players": list(seats)} if len(seats) > 2 else {}
            for metric in group.columns[len(keys) + 1 :]:
                values = group[metric].drop_nulls().to_numpy()
                if not len(values):
                    continue
                rows.append(labels | {"round": rounds or length, "metric": metric})
                if metric in (HittingTime.name, Hit.name):
                    runs = Runtimes.of(np.where(values == 0, np.nan, values), length)  # a hit of 0 is none
                    found = runs.ert() if metric == HittingTime.name else runs.share()
                    rows[-1] |= {key: getattr(found, key) for key in ("mean", "low", "high", "sd", "n")}
                else:
                    samples_by_size.setdefault(len(values), []).append((rows[-1], values))
        for size, samples in samples_by_size.items():
            band = Band.of(np.array([values for _, values in samples]))
            numbers = np.array([band.mean, band.low, band.high, band.sd]).T.tolist()
            for (row_, values), (mean, low, high, sd) in zip(samples, numbers, strict=True):
                with np.errstate(invalid="ignore"):  # of infinities of both signs, whose mean is NaN
                    mean = float(values.mean()) if math.isnan(mean) else mean
                row_ |= {"mean": mean, "low": low, "high": high, "sd": sd, "n": size}
        return rows

    def compare(
        self, a: str, b: str, metric: str | None = None, game: Specs = None, margin: float | None = None
    ) -> Comparison:
        """Two learners, paired by seed and in both seats: see `coebl.evidence.compare.compare`.

        Args:
            a: the spec of a learner.
            b: the spec of another; differences are a minus b.
            metric: its name; by default the pseudo-regret.
            game: only these games.
            margin: also test whether the two differ by less than this.
        """
        from coebl.evidence.compare import compare

        return compare(self, a, b, metric, game, margin)

    def plot(
        self,
        metric: str | None = None,
        game: Specs = None,
        row: Specs = None,
        column: Specs = None,
        noise: str | None = None,
        sweep: bool = False,
    ) -> Figure:
        """The curves of the study, with 95 % bands: a panel per game, a line per match, as a matplotlib figure.

        Filters are specs, as in `last`. By default the metric is the pseudo-regret or the payoff, or in a study of only
        self-play the first one that is about both players. Of runs that end at a condition it is `hitting_time`: the
        share of runs that have hit, by budget.

        Args:
            metric: its name.
            game: only these games, one equivalent spec or several.
            row: only these row learners, likewise.
            column: only these column learners, likewise.
            noise: its spec, if a match was played with several.
            sweep: draw the metric against the number in which row learners differ, not over the rounds.
        """
        from coebl.plots import plot_panels, plot_sweeps

        if metric is not None:
            self._chosen_metrics([metric])
        cells = self._matching(game, (row, column), noise)
        metric = metric or self._telling_metric(cells)
        cells = [record for record in cells if metric in record.metrics]
        if not cells:
            raise InputError(f"metric {metric!r} was not recorded for any of these matches; see: coebl results.")
        matches = [MatchName(record.game, *record.players) for record in cells]
        if sweep:
            return plot_sweeps(self, metric, matches, noise)
        return plot_panels(self, metric, matches, all(record.record == "log" for record in cells), noise)

    def _telling_metric(self, cells: list[CellRecord]) -> str:
        """The metric to draw if none is named: times, the pseudo-regret, or in self-play one about both players."""
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
            raise InputError(f"metrics is {metrics!r}; accepted: a list of names, such as [{metrics!r}].")
        for metric in metrics:
            if metric not in present:
                raise InputError(
                    f"metric {metric!r} was not recorded{nearest(metric, present)} Present: {listed(present)}."
                )
        return list(dict.fromkeys(metrics))


def _read_valid(read: Callable[..., Any], digest: str, *options: Any) -> Any:
    """Read a cell; a damaged one is an error here, since only a run of the study moves files."""
    try:
        return read(digest, *options)
    except DamagedFileError as error:
        raise StoreError(f"{error} Run the study again: it sets the file aside and runs the cell again.") from None


def _player(seat: int, record: CellRecord) -> str:
    """Return the learner in a seat; "" if the game has fewer."""
    return record.players[seat] if seat < len(record.players) else ""


def _order(record: CellRecord) -> tuple[Any, ...]:
    return record.game, record.noise, record.players, record.rounds, record.seeds[0], record.digest
