"""Reading the results of a study: tidy tables, data frames and summaries."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coebl.core.errors import InputError, nearest, shorten
from coebl.core.modules import require
from coebl.learners import LEARNERS
from coebl.learners.base import Kind
from coebl.runs import Runs as Runs
from coebl.runs import Source as Source
from coebl.study.about import REGISTRIES
from coebl.study.cell import device_of
from coebl.study.finding import NOTHING_YET, listed
from coebl.study.frames import MatchKey, Part, evenly_spread, frame_of
from coebl.study.index import Index, Listing, sound
from coebl.study.index import Specs as Specs
from coebl.study.store import Store
from coebl.study.summaries import SummaryRow, once, summarise
from coebl.study.tables import LABELS, NUMBERS, table_schema

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from matplotlib.figure import Figure

    from coebl.evidence.compare import Comparison

_MOST_BYTES = 256 * 2**20  # of cells that are kept in memory after reading
_GROUPED = ("game", "noise", "row", "column")  # the labels by which a summary is grouped


class Results:
    """What is finished of a study, read from its folder when it is asked for.

    Tables have one row per match, seed and recorded round: game, row, column, noise, horizon (how many rounds the match
    has), seed, round, then the metrics. If a cell has not recorded a metric, the table has nulls.

    >>> results = Results("results")
    >>> results.matches()
    [('rps', 'ucb', 'exp3'), ('rps', 'ucb', 'ucb')]
    >>> results.table(column="exp3", rounds=100, metrics=["pseudo_regret"]).num_rows
    5
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.store = Store.open(folder)
        self._listing = Listing(self.store)
        self._read: OrderedDict[str, dict[str, NDArray[Any]]] = OrderedDict()  # cells, the last used last
        self._read_bytes = 0

    def __repr__(self) -> str:
        return f"<Results in {self.store.folder}>"

    def index(self) -> Index:
        """The cells that are finished now, by what they are."""
        return self._listing.current()

    def cells(self) -> list[dict[str, Any]]:
        """The descriptions of the finished cells."""
        return [about["description"] for _, about in self.index().cells]

    def metadata(self) -> list[dict[str, Any]]:
        """What is stored with the numbers of every finished cell: description, labels, metrics, versions, times."""
        return [about for _, about in self.index().cells]

    def seconds(self) -> float:
        """What the cells took, all workers together."""
        return sum(sum(about["seconds"].values()) for about in self.metadata())

    def versions(self) -> dict[str, list[str]]:
        """Of each package that numbers may depend on, all versions that cells were made with."""
        found: dict[str, set[str]] = {}
        for about in self.metadata():
            for package, version in about["versions"].items():
                found.setdefault(package, set()).add(version)
        return {package: sorted(versions) for package, versions in sorted(found.items())}

    def notices(self) -> list[str]:
        """What somebody who compares these results should know."""
        kinds, devices = self.versions().get("exp and log", []), self.devices()
        notices = [f"the cells were run on a graphics processor ({device})" for device in devices if device != "cpu"]
        if len(devices) > 1:
            notices.append("the cells were run on several of these; a seed may lead to different runs on them")
        if len(kinds) < 2:
            return notices
        return [
            *notices,
            f"the cells were made on processors whose exp and log differ in the last bit ({', '.join(kinds)}); "
            "where a learner uses these, a seed may lead to different runs on them",
        ]

    def devices(self) -> list[str]:
        """Where the cells were run: "cpu", or the names of graphics processors."""
        return sorted(
            {
                about["versions"].get("device", "cuda") if device_of(about["description"]) == "cuda" else "cpu"
                for about in self.metadata()
            }
        )

    def kinds(self) -> dict[str, Kind]:
        """How much each learner sees, by its spec; learners of older cells that are not registered are left out."""
        kinds: dict[str, Kind] = {}
        older: dict[str, None] = {}
        for about in self.metadata():
            if things := about.get("things"):
                kinds |= {spec: learner["kind"] for spec, learner in things["learners"].items()}
            else:
                older |= dict.fromkeys(about["labels"][seat] for seat in ("row", "column"))
        return {spec: _kind_of(entry.factory) for spec in older if (entry := LEARNERS.registered(spec))} | kinds

    @property
    def metrics(self) -> list[str]:
        """The metrics that any cell has recorded."""
        return list(self.index().metrics)

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
        chosen = self._filtered(game, players, noise)
        if rounds is not None:
            _check_rounds(rounds)
        parts: list[Part] = []
        recorded: set[int] = set()
        for digest in chosen:
            columns, about = sound(self.store.columns, digest, metrics, rounds is None)
            self._listing.note(digest, about)
            part = _part(columns, about)
            recorded.update(part.rounds.tolist())
            kept = slice(None) if rounds is None else part.rounds == rounds
            parts.append(_at(part, kept))
        self.store.remember()
        if rounds is not None and chosen:
            _check_recorded([rounds], recorded)
        return frame_of(_measured(parts), self._chosen_metrics(metrics), _match_order, curves=False)

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
        wanted = self._chosen_metrics(metrics)
        parts = []
        for digest in self._filtered(game, players, noise):
            columns, about = sound(self.store.columns, digest, metrics)
            part = _part(columns, about)
            parts.append(part if points is None else _at(part, evenly_spread(len(part.rounds), points)))
        self.store.remember()
        return frame_of(_measured(parts), wanted, _match_order, curves=True)

    def _filtered(self, game: Specs, players: Sequence[Specs] | None, noise: Specs) -> list[str]:
        """The digests of the cells that fit; without filters nothing is read to find them."""
        if isinstance(players, str) or (players is not None and len(players) != 2):
            raise InputError(
                f"players is {shorten(players)}; accepted: a learner for each seat or None, such as ('ucb', None)."
            )
        row, column = players or (None, None)
        filters = {"game": game, "row": row, "column": column, "noise": noise}
        if all(specs is None for specs in filters.values()):
            return self.store.digests()
        return [digest for digest, _ in self.index().matching(filters)]

    def table(
        self,
        game: Specs = None,
        row: Specs = None,
        column: Specs = None,
        metrics: Sequence[str] | None = None,
        rounds: int | Iterable[int] | None = None,
        noise: Specs = None,
    ) -> pyarrow.Table:
        """The tidy table of the cells that fit: filters are specs, in any spelling, one or several.

        Every file that is read is checked in full.

        Args:
            game: only these games, one spec or several, in any spelling.
            row: only these row learners, likewise.
            column: only these column learners, likewise.
            metrics: only these metrics, by name.
            rounds: only these recorded rounds, one or several.
            noise: only these noises.
        """
        pa, compute = require("pyarrow"), require("pyarrow.compute")
        wanted = self._chosen_metrics(metrics)
        cells = self.index().matching({"game": game, "row": row, "column": column, "noise": noise})
        kept = None if rounds is None else _check_rounds(rounds)
        tables = []
        recorded: set[int] = set()
        for digest, about in cells:
            if metrics is not None and not set(wanted) & set(about["metrics"]):
                continue
            table = sound(self.store.load, digest)
            columns = [*LABELS, *NUMBERS, *(metric for metric in wanted if metric in about["metrics"])]
            table = table.replace_schema_metadata(None).select(columns)
            if kept is not None:
                recorded |= set(table.column("round").unique().to_pylist())
                table = table.filter(compute.is_in(table.column("round"), pa.array(kept, pa.int32())))
            tables.append(table)
        schema = table_schema(wanted)
        if not tables:
            return schema.empty_table()
        if kept is not None:
            _check_recorded(kept, recorded)
        return pa.concat_tables([schema.empty_table(), *tables], promote_options="default").unify_dictionaries()

    def to_polars(self, *arguments: Any, **options: Any) -> polars.DataFrame:
        """`table` as a Polars data frame.

        Args:
            *arguments: those of `table`.
            **options: those of `table`.
        """
        frame: polars.DataFrame = require("polars").from_arrow(self.table(*arguments, **options))
        return frame

    def to_pandas(self, *arguments: Any, **options: Any) -> pandas.DataFrame:
        """`table` as a pandas data frame; nulls become NaN.

        Args:
            *arguments: those of `table`.
            **options: those of `table`.
        """
        require("pandas")
        frame: pandas.DataFrame = self.table(*arguments, **options).to_pandas()
        return frame

    def matches(self) -> list[tuple[str, str, str]]:
        """Game, row and column of every match with a finished cell."""
        return list(self.index().by_match)

    def why_empty(self) -> str:
        """Why there is nothing to show, where every filter names something that is there."""
        if not self.matches():
            return f"{self.store.folder}: {NOTHING_YET}"
        return f"no finished match fits all of these filters. See: coebl results {self.store.folder}"

    def runs(self, game: str, row: str, column: str, metric: str, noise: str | None = None) -> Runs:
        """One metric of one match at every recorded round, for all seeds that are there.

        Args:
            game: its spec.
            row: the row learner's spec.
            column: the column learner's spec.
            metric: its name.
            noise: its spec, where the match was played with several.
        """
        index = self.index()
        match = index.find("game", game), index.find("row", row), index.find("column", column)
        wanted = None if noise is None else index.find("noise", noise)
        cells = [
            (digest, about)
            for digest, about in index.by_match.get(match, ())
            if wanted is None or about["labels"]["noise"] == wanted
        ]
        if not cells:
            raise InputError(f"no finished cell has {row} v {column} on {game}. See: coebl results {self.store.folder}")
        for label, found in (
            ("noise", {about["labels"]["noise"] for _, about in cells}),
            ("horizon", {about["description"]["rounds"] for _, about in cells}),
            ("record", {about["description"]["record"] for _, about in cells}),
        ):
            if len(found) > 1:
                several = " and ".join(sorted(map(str, found)))
                repair = "name one as noise=" if label == "noise" else "keep them in two folders"
                raise InputError(f"{game}, {row} v {column}: there are cells of {label} {several}; {repair}.")
        parts = [self._columns(digest) for digest, about in cells if metric in about["metrics"]]
        if not parts:
            self._chosen_metrics([metric])
            raise InputError(f"metric {metric!r} was not recorded for {row} v {column} on {game}.")
        seeds = np.concatenate([part["seed"] for part in parts])
        values = np.concatenate([part[metric] for part in parts], axis=1)
        distinct, first = once(seeds, values, f"{game}, {row} v {column}", metric)
        about = cells[0][1]
        horizon, its_noise = about["description"]["rounds"], about["labels"]["noise"]
        return Runs(parts[0]["round"], distinct, values[:, first], horizon, its_noise)

    def _columns(self, digest: str) -> dict[str, NDArray[Any]]:
        """A cell by columns: seeds and rounds once each, metrics as (recorded, runs). The last ones read are kept."""
        if digest not in self._read:
            self._read[digest], _ = sound(self.store.columns, digest)
            self._read_bytes += _size(self._read[digest])
            while len(self._read) > 1 and self._read_bytes > _MOST_BYTES:
                self._read_bytes -= _size(self._read.popitem(last=False)[1])
        self._read.move_to_end(digest)
        return self._read[digest]

    def lazy(self) -> polars.LazyFrame:
        """All tables as one lazy Polars frame, which reads from the files only what a query needs, unchecked."""
        library = require("polars")
        alike: dict[tuple[str, ...], list[str]] = {}  # the files by their metrics: one scan needs equal columns
        for digest, about in self.index().cells:
            alike.setdefault(tuple(about["metrics"]), []).append(str(self.store.path(digest)))
        if not alike:
            empty: polars.LazyFrame = library.from_arrow(table_schema([]).empty_table()).lazy()
            return empty
        # glob off: a folder may be called results[1]
        scans = [library.scan_parquet(paths, glob=False) for paths in alike.values()]
        frame: polars.LazyFrame = library.concat(scans, how="diagonal")
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

        Filters are specs, as in `table`. If a value is infinite so is the mean, and there is no interval: its ends
        and the sd are NaN.

        Args:
            metrics: only these metrics, by name.
            rounds: another recorded round than the last.
            game: only these games, one spec or several, in any spelling.
            row: only these row learners, likewise.
            column: only these column learners, likewise.
        """
        filters = {"game": game, "row": row, "column": column}
        chosen = (
            [digest for digest, _ in self.index().matching(filters)] if any(filters.values()) else self.store.digests()
        )
        groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        recorded: set[int] = set()
        for digest in chosen:
            columns, about = sound(self.store.columns, digest, metrics, rounds is None)
            self._listing.note(digest, about)
            recorded.update(columns["round"].tolist())
            [at] = columns["round"] if rounds is None else [rounds]
            [places] = np.nonzero(columns["round"] == at)
            if len(places):
                values = {name: values[places[0]] for name, values in columns.items() if name not in ("seed", "round")}
                labels = [about["labels"][label] for label in _GROUPED]
                key = (*labels, about["description"]["rounds"], int(at))
                groups.setdefault(key, []).append({"seed": columns["seed"], **values})
        self.store.remember()
        if rounds is not None and chosen:
            _check_recorded([rounds], recorded)
        wanted = self._chosen_metrics(metrics)
        return summarise({key: groups[key] for key in sorted(groups, key=_by_number)}, wanted)

    def compare(
        self, a: str, b: str, metric: str | None = None, game: Specs = None, margin: float | None = None
    ) -> Comparison:
        """Two learners, paired by seed and in both seats: see `coebl.evidence.compare.compare`.

        Args:
            a: the spec of a learner.
            b: that of another; differences are a minus b.
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
    ) -> Figure:
        """The curves of the study, with 95 % bands: a panel per game, a line per match, as a matplotlib figure.

        Filters are specs, as in `table`. By default the metric is the pseudo-regret, or in a study of self-play alone
        the first one that is about both players.

        Args:
            metric: its name.
            game: only these games, one spec or several, in any spelling.
            row: only these row learners, likewise.
            column: only these column learners, likewise.
            noise: its spec, if a match was played with several.
        """
        from coebl.study.plotting import plot_results

        if metric is not None:
            self._chosen_metrics([metric])
        chosen = self.index().matching({"game": game, "row": row, "column": column, "noise": noise})
        return plot_results(self, [about for _, about in chosen], metric, noise)

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


def _part(columns: dict[str, NDArray[Any]], about: dict[str, Any]) -> Part:
    labels = about["labels"]
    match = MatchKey(labels["game"], (labels["row"], labels["column"]), labels["noise"], about["description"]["rounds"])
    values = {name: values for name, values in columns.items() if name not in ("seed", "round")}
    return Part(match, columns["seed"], columns["round"], values)


def _at(part: Part, kept: Any) -> Part:
    """Select recorded rounds of a part by index or mask."""
    values = {name: values[kept] for name, values in part.values.items()}
    return part._replace(rounds=part.rounds[kept], values=values)


def _measured(parts: Iterable[Part]) -> list[Part]:
    return [part for part in parts if part.values and len(part.rounds)]


def _match_order(match: MatchKey) -> tuple[Any, ...]:
    return _by_number((match.game, match.noise, *match.players, match.rounds))


def _kind_of(learner: Any) -> Kind:
    kind: Kind = learner.kind()
    return kind


def _by_number(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Sorts what a summary is grouped by, sweeps by their numbers."""
    return (*(_place(label, spec) for label, spec in zip(_GROUPED, key, strict=False)), key)


@lru_cache(maxsize=4096)
def _place(label: str, spec: str) -> tuple[Any, ...]:
    """Where a spec stands among those of its label."""
    return REGISTRIES[label].order(spec)


def _check_rounds(rounds: int | Iterable[int]) -> list[int]:
    numbers = [rounds] if isinstance(rounds, int) else [int(number) for number in rounds]
    for number in numbers:
        if not 1 <= number < 1 << 31:
            raise InputError(f"rounds has {number}; accepted: rounds that were recorded, counted from 1.")
    return numbers


def _check_recorded(rounds: list[int], recorded: set[int]) -> None:
    for number in rounds:
        if number not in recorded:
            closest = min(recorded, key=lambda other: (abs(other - number), other), default=None)
            hint = "" if closest is None else f" The nearest is {closest}."
            raise InputError(f"round {number} was not recorded in any of these cells.{hint}")


def _size(columns: dict[str, NDArray[Any]]) -> int:
    return sum(column.nbytes for column in columns.values())
