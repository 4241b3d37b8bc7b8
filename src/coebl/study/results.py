"""Reading the results of a study: tidy tables, data frames and summaries."""

from __future__ import annotations

import math
import os
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from coebl.core.errors import InputError, nearest
from coebl.games import parse_game, parse_noise
from coebl.learners import parse_learner
from coebl.runs import Runs as Runs
from coebl.runs import Source as Source
from coebl.statistics import mean_interval
from coebl.study.store import Store, StoreError, UnsoundError
from coebl.study.tables import LABELS, NUMBERS, arrow, table_schema

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Specs = str | Sequence[str] | None  # one spec, several, or all there are

_MOST_BYTES = 256 * 2**20  # of cells that are kept in memory after reading


class SummaryRow(TypedDict):
    """The mean of a metric over the seeds of a match at a round, with Student's 95 % interval."""

    game: str
    noise: str
    row: str
    column: str
    horizon: int
    round: int
    metric: str
    mean: float
    low: float
    high: float
    sd: float
    n: int


class Results:
    """What is finished of a study, read from its folder when it is asked for.

    Tables have one row per match, seed and recorded round: game, row, column, noise, horizon (how many rounds the match
    has), seed, round, then the metrics. Where a cell has not recorded a metric, the table has nulls.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.store = Store.open(folder)
        self._known: dict[str, dict[str, Any]] = {}  # digest to metadata: a file never changes under its name
        self._listed: list[str] = []  # the digests that were there when it was last asked
        self._sorted: list[tuple[str, dict[str, Any]]] = []
        self._read: OrderedDict[str, dict[str, NDArray[Any]]] = OrderedDict()  # cells, the last used last

    def __repr__(self) -> str:
        return f"<Results in {self.store.folder}>"

    def cells(self) -> list[dict[str, Any]]:
        """The descriptions of the finished cells."""
        return [about["description"] for _, about in self._cells()]

    def metadata(self) -> list[dict[str, Any]]:
        """What is stored of every finished cell beside its numbers: description, labels, metrics, versions, times."""
        return [about for _, about in self._cells()]

    @property
    def metrics(self) -> list[str]:
        """The metrics that any cell has recorded."""
        return list(dict.fromkeys(metric for _, about in self._cells() for metric in about["metrics"]))

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
        """
        pa, compute = arrow(), arrow("compute")
        wanted = self._chosen_metrics(metrics)
        cells = self._matching({"game": game, "row": row, "column": column, "noise": noise})
        kept = None if rounds is None else _check_rounds(rounds)
        tables = []
        recorded: set[int] = set()
        for digest, about in cells:
            if metrics is not None and not set(wanted) & set(about["metrics"]):
                continue
            table = self._sound(self.store.load, digest).replace_schema_metadata(None)
            table = table.select([*LABELS, *NUMBERS, *(metric for metric in wanted if metric in about["metrics"])])
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
        """`table` as a Polars data frame."""
        frame: polars.DataFrame = _frames("polars").from_arrow(self.table(*arguments, **options))
        return frame

    def to_pandas(self, *arguments: Any, **options: Any) -> pandas.DataFrame:
        """`table` as a pandas data frame; nulls become NaN."""
        _frames("pandas")
        frame: pandas.DataFrame = self.table(*arguments, **options).to_pandas()
        return frame

    def matches(self) -> list[tuple[str, str, str]]:
        """Game, row and column of every match with a finished cell."""
        named = (tuple(about["labels"][label] for label in ("game", "row", "column")) for _, about in self._cells())
        return list(dict.fromkeys(named))

    def runs(self, game: str, row: str, column: str, metric: str, noise: str | None = None) -> Runs:
        """One metric of one match at every recorded round, for all seeds that are there."""
        cells = self._matching({"game": game, "row": row, "column": column, "noise": noise})
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
        distinct, first = _once(seeds, values, f"{game}, {row} v {column}", metric)
        about = cells[0][1]
        horizon, its_noise = about["description"]["rounds"], about["labels"]["noise"]
        return Runs(parts[0]["round"], distinct, values[:, first], horizon, its_noise)

    def _columns(self, digest: str) -> dict[str, NDArray[Any]]:
        """A cell by columns: seeds and rounds once each, metrics as (recorded, runs). The last ones read are kept."""
        if digest not in self._read:
            self._read[digest] = self._read_columns(digest)
            while len(self._read) > 1 and sum(map(_size, self._read.values())) > _MOST_BYTES:
                self._read.popitem(last=False)
        self._read.move_to_end(digest)
        return self._read[digest]

    def _read_columns(self, digest: str) -> dict[str, NDArray[Any]]:
        table = self._sound(self.store.load, digest)
        seeds, order = np.unique(table.column("seed").to_numpy(), return_index=True)
        seeds = seeds[np.argsort(order)]  # as they are stored: run after run
        shape = len(seeds), -1
        columns = {name: table.column(name).to_numpy().reshape(shape).T for name in self._known[digest]["metrics"]}
        return {"seed": seeds, "round": table.column("round").to_numpy().reshape(shape)[0].astype(np.int64), **columns}

    def lazy(self) -> polars.LazyFrame:
        """All tables as one lazy Polars frame, which reads from the files only what a query needs, unchecked."""
        library = _frames("polars")
        alike: dict[tuple[str, ...], list[str]] = {}  # the files by their metrics: one scan needs equal columns
        for digest, about in self._cells():
            alike.setdefault(tuple(about["metrics"]), []).append(str(self.store.path(digest)))
        if not alike:
            empty: polars.LazyFrame = library.from_arrow(table_schema([]).empty_table()).lazy()
            return empty
        # glob off: a folder may be called results[1]
        scans = [library.scan_parquet(paths, glob=False) for paths in alike.values()]
        frame: polars.LazyFrame = library.concat(scans, how="diagonal")
        return frame

    def summary(self, metrics: Sequence[str] | None = None, round: int | None = None) -> list[SummaryRow]:
        """Mean and interval over seeds of each match and metric, at a round or at the last one of each match.

        Where a value is infinite so is the mean, and there is no interval: its ends and the sd are NaN.
        """
        wanted = self._chosen_metrics(metrics)
        groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for digest, about in self._cells():
            at = about["description"]["rounds"] if round is None else round  # the last round is always recorded
            if not set(wanted) & set(about["metrics"]):
                continue
            table = self._sound(self.store.load, digest)
            mask = table.column("round").to_numpy() == at
            if mask.any():
                columns = {name: table.column(name).to_numpy()[mask] for name in ("seed", *about["metrics"])}
                labels = [about["labels"][label] for label in ("game", "noise", "row", "column")]
                groups.setdefault((*labels, about["description"]["rounds"], at), []).append(columns)
        if round is not None and not groups and self._cells():
            recorded = self.table(metrics=metrics).column("round").unique().to_pylist()
            _check_recorded([round], set(recorded))
        return [row for key in sorted(groups) for row in _summarise(key, groups[key], wanted)]

    def _cells(self) -> list[tuple[str, dict[str, Any]]]:
        """Digest and metadata of every finished cell, by match and seeds."""
        present = self.store.digests()
        if present != self._listed:
            for digest in present:
                if digest not in self._known:
                    self._known[digest] = self._sound(self.store.metadata, digest)
            self._sorted = sorted(((digest, self._known[digest]) for digest in present), key=_order)
            self._listed = present
        return self._sorted

    def _sound(self, read: Callable[[str], Any], digest: str) -> Any:
        """What `read` makes of a cell; only a run of the study moves files, so a damaged one is an error here."""
        try:
            return read(digest)
        except UnsoundError as error:
            raise StoreError(f"{error} Run the study again: it sets the file aside and makes the cell anew.") from None

    def _matching(self, filters: dict[str, Specs]) -> list[tuple[str, dict[str, Any]]]:
        everything = cells = self._cells()
        for label, specs in filters.items():
            if specs is None:
                continue
            present = {about["labels"][label]: None for _, about in everything}
            accepted = {_find(label, spec, present) for spec in ([specs] if isinstance(specs, str) else specs)}
            cells = [cell for cell in cells if cell[1]["labels"][label] in accepted]
        return cells

    def _chosen_metrics(self, metrics: Sequence[str] | None) -> list[str]:
        present = self.metrics
        if metrics is None:
            return present
        if isinstance(metrics, str):
            raise InputError(f"metrics is {metrics!r}; accepted: a list of names, such as [{metrics!r}].")
        for metric in metrics:
            if metric not in present:
                raise InputError(
                    f"metric {metric!r} was not recorded{nearest(metric, present)} Present: {_list(present)}."
                )
        return list(dict.fromkeys(metrics))


def _order(cell: tuple[str, dict[str, Any]]) -> tuple[Any, ...]:
    digest, about = cell
    labels = about["labels"]
    description = about["description"]
    match = (labels["game"], labels["noise"], labels["row"], labels["column"], description["rounds"])
    return (*match, description["seeds"][0], digest)


def _find(label: str, spec: str, present: Collection[str]) -> str:
    """The present spec that means the same as this one."""
    if spec in present:
        return spec
    if (canonical := _canonical(label, spec)) in present:
        return canonical
    name = "noise" if label == "noise" else "game" if label == "game" else f"{label} learner"
    raise InputError(f"no finished cell has the {name} {spec!r}{nearest(spec, present)} Present: {_list(present)}.")


def _canonical(label: str, spec: str) -> str:
    """The shortest spelling of a spec, or the spec itself if it cannot be parsed here."""
    if spec.partition(":")[0].endswith(".py"):
        return spec  # to parse it would run the file
    try:
        if label == "game":
            return parse_game(spec).spec or spec
        return str(parse_noise(spec)) if label == "noise" else str(parse_learner(spec))
    except InputError:
        return spec


def _list(present: Collection[str]) -> str:
    shown = ", ".join(list(present)[:8])
    return f"{shown} and {len(present) - 8} more" if len(present) > 8 else shown or "none"


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


def _summarise(key: tuple[Any, ...], parts: list[dict[str, Any]], metrics: list[str]) -> Iterator[SummaryRow]:
    game, noise, row, column, horizon, at = key
    for metric in metrics:
        with_metric = [part for part in parts if metric in part]
        if not with_metric:
            continue
        seeds = np.concatenate([part["seed"] for part in with_metric])
        values = np.concatenate([part[metric] for part in with_metric])
        # blocks of seeds may overlap; a run counts once, and is the same wherever it was made
        distinct, first = _once(seeds, values[None], f"{game}, {row} v {column}", metric)
        mean, low, high, sd = _mean(values[first])
        yield {
            "game": game,
            "noise": noise,
            "row": row,
            "column": column,
            "horizon": horizon,
            "round": at,
            "metric": metric,
            "mean": mean,
            "low": low,
            "high": high,
            "sd": sd,
            "n": len(distinct),
        }


def _once(
    seeds: NDArray[np.int64], values: NDArray[np.float64], match: str, metric: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The seeds, each once, and where its run stands in the values, of shape (rounds, runs)."""
    distinct, first, which = np.unique(seeds, return_index=True, return_inverse=True)
    if len(distinct) < len(seeds):
        differing = (values[:, first][:, which].view(np.int64) != values.view(np.int64)).any(axis=0)
        if differing.any():
            raise StoreError(
                f"{match}: seed {seeds[differing][0]} has two values of {metric}, so the cells are of two games, two "
                "learners or two versions; keep them in two folders."
            )
    return distinct, first


def _size(columns: dict[str, NDArray[Any]]) -> int:
    return sum(column.nbytes for column in columns.values())


def _mean(values: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Mean, both ends of its interval, and sd."""
    if np.isfinite(values).all():
        interval = mean_interval(values)
        return interval.mean, interval.low, interval.high, interval.sd
    signs = {math.copysign(1, value) for value in values[np.isinf(values)]}
    mean = math.nan if np.isnan(values).any() or len(signs) == 2 else signs.pop() * math.inf
    return mean, math.nan, math.nan, math.nan


def _frames(library: str) -> Any:
    import importlib

    try:
        return importlib.import_module(library)
    except ImportError:
        raise InputError(f"this needs {library}; run: pip install {library}") from None
