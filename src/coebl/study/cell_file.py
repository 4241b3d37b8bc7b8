"""The file of a finished cell: a Parquet table and a record, written atomically and verified when read."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import stat
import time
from collections.abc import Collection, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from platformdirs import user_cache_path

import coebl
from coebl.core.arrays import Floats, Ints, machine_memory
from coebl.core.errors import CoeblError, InputError, shorten
from coebl.core.files import is_private, make_folder, open_without_waiting, write_whole
from coebl.core.frames import pl
from coebl.core.modules import require
from coebl.core.text import one_line
from coebl.engine import Result
from coebl.study.cell import EARLIER, FORMAT, Cell, CellRecord, make_record, read_record, write_record
from coebl.study.errors import DamagedFileError, MissingError, system_error

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped,unused-ignore]

_KEY = b"coebl"  # of the record in the metadata of a Parquet file
_LABELS = ("game", "players", "noise")  # columns that are constant in a cell
_LARGE = 1 << 24  # bytes; the size of a larger file is compared with its record before it is read
_NUMBERS = {"rounds": "int32", "seed": "int64", "round": "int32"}  # rounds: the length of the match
RESERVED = (*_LABELS, *_NUMBERS, "row", "column")  # columns that are not metrics, here or in frames of two seats
_SUM_SIZE = hashlib.sha256().digest_size  # bytes of the checksum at the beginning of the notes, before the table
_KEPT_SECONDS = 90 * 86_400  # notes on a folder that has not changed for this long are removed
_EARLIER = ("game", "row", "column", "noise"), {"horizon": "int32", "seed": "int64", "round": "int32"}


class Brief(NamedTuple):
    """The part of a cell that most uses need."""

    record: bytes  # as its file stores it
    last: bytes  # the metrics after the last round, (metrics, runs), as little-endian numbers


class CellRuns(NamedTuple):
    """The runs of a cell."""

    record: CellRecord
    rounds: Ints  # the same in every run
    metrics: dict[str, Floats]  # by name: (runs, rounds)

    def at(self, rounds: Collection[int]) -> CellRuns:
        """Return the runs at only these rounds."""
        kept = np.isin(self.rounds, [*rounds])
        return CellRuns(
            self.record, self.rounds[kept], {name: values[:, kept] for name, values in self.metrics.items()}
        )

    def columns(self) -> dict[str, Floats | Ints]:
        """Return the seed, the round and the metrics as columns, one run after the other."""
        seeds = np.repeat(np.array(self.record.seeds, np.int64), len(self.rounds))
        rounds = np.tile(self.rounds, len(self.record.seeds))
        return {"seed": seeds, "round": rounds, **{name: values.ravel() for name, values in self.metrics.items()}}


class CellFile(NamedTuple):
    """The contents of a file that a worker makes and the runner of the study writes."""

    digest: str
    data: bytes
    brief: Brief


@lru_cache(maxsize=64)  # a folder has few sets of metrics, and very many cells
def _table_schema(metrics: tuple[str, ...], number: int = FORMAT) -> pyarrow.Schema:
    """Return the columns of stored tables with these metrics, in this version of the format."""
    pa = require("pyarrow")
    labels, numbers = _EARLIER if number == EARLIER else (_LABELS, _NUMBERS)
    kinds = {"players": pa.list_(pa.field("element", pa.string()))}  # the name that Parquet uses
    return pa.schema(
        [
            *((label, kinds.get(label, pa.dictionary(pa.int32(), pa.string()))) for label in labels),
            *((name, getattr(pa, kind)()) for name, kind in numbers.items()),
            *((metric, pa.float64()) for metric in metrics),
        ]
    )


# Writing


def make_cell_file(cell: Cell, result: Result) -> CellFile:
    """Return the file of a cell with this result."""
    if tuple(result.seeds.tolist()) != tuple(cell.seeds):
        raise InputError(f"result has the seeds {shorten(result.seeds.tolist())}; accepted: the cell's, {cell}.")
    if clash := [metric for metric in result.metrics if metric in RESERVED]:
        raise InputError(f"a metric is called {clash[0]!r}, like a column of every table; give it another name.")
    record = make_record(cell.description(), result)
    table = _table(record, result)
    record = record.model_copy(update={"checksum": _checksum(table)})
    table = table.replace_schema_metadata({_KEY: write_record(record)})
    return CellFile(record.digest, _parquet_bytes(table), brief_of(table, record))


def _table(record: CellRecord, result: Result) -> pyarrow.Table:
    """Return the tidy table of a result: one row per seed and recorded round."""
    pa = require("pyarrow")
    columns: dict[str, Any] = {**result.columns(), "rounds": np.full(record.rows, record.rounds)}
    schema = _table_schema(record.metrics)
    first = np.zeros(record.rows, np.int32)
    arrays = [
        pa.DictionaryArray.from_arrays(first, pa.array([record.game])),
        pa.repeat(pa.scalar(list(record.players), schema.field("players").type), record.rows),
        pa.DictionaryArray.from_arrays(first, pa.array([record.noise])),
    ]
    for field in list(schema)[len(arrays) :]:
        try:
            # from_pandas=False: NaN is a value here, not a missing one
            arrays.append(pa.array(columns[field.name], type=field.type, from_pandas=False))
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            raise InputError(f"a {field.name} is too large to be stored; accepted: {field.type}.") from None
    return pa.Table.from_arrays(arrays, schema=schema)


def _parquet_bytes(table: pyarrow.Table) -> bytes:
    sink = require("pyarrow").BufferOutputStream()
    require("pyarrow.parquet").write_table(
        table,
        sink,
        compression="zstd",
        use_dictionary=["game", "players.list.element", "noise", *_NUMBERS],
        # floats hardly repeat, so a dictionary gains nothing, but they compress well with their bytes split by position
        column_encoding=dict.fromkeys(set(table.column_names).difference(RESERVED), "BYTE_STREAM_SPLIT"),
    )
    return sink.getvalue().to_pybytes()


def _checksum(table: pyarrow.Table) -> str:
    """Return the SHA-256 checksum of the names, types and values of the columns, independent of chunks and padding."""
    hasher = hashlib.sha256()
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.null_count:
            raise ValueError(f"the column {name} has nulls")
        if name in _LABELS or name in _EARLIER[0]:
            data = json.dumps(_distinct(column)).encode()
        else:
            numbers = column.to_numpy()
            data = np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("<")).tobytes()
        hasher.update(json.dumps([name, str(column.type), len(column), len(data)]).encode())
        hasher.update(data)
    return hasher.hexdigest()


def _distinct(column: Any) -> list[Any]:
    """Return the distinct values of a column of labels; lists must all be equal."""
    pa = require("pyarrow")
    if not pa.types.is_list(column.type):
        return column.unique().to_pylist()
    lists = column.combine_chunks()
    if not lists.equals(pa.repeat(lists[0], len(lists))):
        raise ValueError("the column players has several values")
    return lists[:1].to_pylist()


# Reading


def read_metadata(path: Path) -> CellRecord:
    """Return the record of a cell. Only the end of its file is read: enough to detect a truncated or foreign file."""
    with _stream(path) as stream, _opened(path, stream) as (_, record):
        return record


def read_data(path: Path) -> bytes:
    """Return the bytes of a cell's file; reject all but a regular file of a size that fits its record."""
    with _stream(path) as stream:
        if (size := os.fstat(stream.fileno()).st_size) > _LARGE:
            with _opened(path, stream) as (file, record):
                most = 16 * record.rows * len(file.schema_arrow) + 4 * file.metadata.serialized_size + _LARGE
            if size > most:
                raise DamagedFileError(f"{path}: it has {size:,} bytes; {record.rows:,} rows take at most {most:,}.")
            stream.seek(0)
        try:
            return stream.read()
        except OSError as error:
            raise system_error(path, error) from None


def parse_cell(path: Path, data: bytes) -> tuple[pyarrow.Table, CellRecord]:
    """Return the table of the cell in a file with these bytes, every number checked, and its record."""
    with _opened(path, require("pyarrow").BufferReader(data)) as (file, record):
        table = file.read(use_threads=False)
        if _checksum(table) != record.checksum:
            raise DamagedFileError(f"{path}: its numbers do not match their checksum.")
        if not _fits(table, record):
            raise DamagedFileError(f"{path}: its columns do not match its description.")
        return table, record


def brief_of(table: pyarrow.Table, record: CellRecord) -> Brief:
    """Return the brief of a cell, from its valid table."""
    last = [table.column(name).to_numpy()[record.recorded - 1 :: record.recorded] for name in record.metrics]
    return Brief(table.schema.metadata[_KEY], np.array(last, "<f8").tobytes())


def read_runs(path: Path, data: bytes, record: CellRecord, metrics: Collection[str] | None) -> CellRuns:
    """Return the runs of a cell, with these metrics or all; the file is known to be valid."""
    names = [name for name in record.metrics if metrics is None or name in metrics]
    with _reading(path):
        source = require("pyarrow").BufferReader(data)
        table = require("pyarrow.parquet").ParquetFile(source).read(["round", *names], use_threads=False)
    values = {name: table.column(name).to_numpy().reshape(-1, record.recorded) for name in names}
    return CellRuns(record, table.column("round").to_numpy()[: record.recorded], values)


def last_runs(brief: Brief, record: CellRecord, metrics: Collection[str] | None) -> CellRuns:
    """Return the runs of a cell at the last round, which is always recorded."""
    last = zip(record.metrics, np.frombuffer(brief.last, "<f8").reshape(-1, len(record.seeds), 1), strict=True)
    values = {name: values for name, values in last if metrics is None or name in metrics}
    return CellRuns(record, np.array([record.rounds], np.int32), values)


def _fits(table: pyarrow.Table, record: CellRecord) -> bool:
    """Return True if the table has the labels of the record, and the runs of its seeds in order, at equal rounds."""
    labels: dict[str, Any] = {"game": record.game, "players": list(record.players), "noise": record.noise}
    length = "rounds"
    if record.format == EARLIER:
        labels |= dict(zip(("row", "column"), labels.pop("players"), strict=True))
        length = "horizon"
    if any(_distinct(table.column(name)) != [value] for name, value in labels.items()):
        return False
    seeds = np.array(record.seeds, np.int64)
    rounds = table.column("round").to_numpy().reshape(len(seeds), record.recorded)
    return bool(
        (table.column("seed").to_numpy() == np.repeat(seeds, record.recorded)).all()
        and (rounds == rounds[0]).all()
        and (table.column(length).to_numpy() == record.rounds).all()
    )


@contextlib.contextmanager
def _opened(path: Path, source: Any) -> Iterator[tuple[Any, CellRecord]]:
    """A cell's Parquet file, open, and its record, checked."""
    with _reading(path):
        file = require("pyarrow.parquet").ParquetFile(source)
        raw = (file.metadata.metadata or {}).get(_KEY)
        if raw is None:
            raise DamagedFileError(f"{path}: it was not written by coebl.")
        record = read_record(path, raw)
        if file.metadata.num_rows != record.rows:
            raise DamagedFileError(f"{path}: it has {file.metadata.num_rows} rows instead of {record.rows}.")
        if 8 * record.rows * len(file.schema_arrow) > machine_memory() / 2:  # a small file may expand to any size
            raise MemoryError
        schema = _table_schema(record.metrics, record.format)
        if not set(record.metrics).isdisjoint(RESERVED) or not file.schema_arrow.equals(schema):
            raise DamagedFileError(f"{path}: its columns are not those of a cell.")
        yield file, record


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Report any error in reading a file as damage."""
    try:
        yield
    except CoeblError:
        raise
    except MemoryError:
        raise DamagedFileError(f"{path}: it asks for more memory than there is.") from None
    except (OSError, ValueError, TypeError, KeyError, IndexError, NotImplementedError, OverflowError) as error:
        # Arrow raises any of these on damaged files; its errors derive from the built-in ones
        raise DamagedFileError(f"{path}: it is not a whole Parquet file ({one_line(error)}).") from None


@contextlib.contextmanager
def _stream(path: Path) -> Iterator[BinaryIO]:
    try:
        opened = open_without_waiting(path)
    except FileNotFoundError:
        raise MissingError(f"{path}: there is no such cell; run the study to make it.") from None
    except IsADirectoryError:
        raise DamagedFileError(f"{path}: it is a folder.") from None
    except OSError as error:
        raise system_error(path, error) from None
    with opened as stream:
        state = os.fstat(stream.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise DamagedFileError(f"{path}: it is not a file.")
        if state.st_size == 0:
            raise DamagedFileError(f"{path}: it is empty.")
        yield stream


# Notes on checked files


class Checked:
    """Notes on the valid files of cells in a folder of results: their checksums, and their briefs.

    A file with the same content is not decoded again, neither in the next run nor for the means after the last round.
    The notes are in the user's cache directory and not beside the cells: the maker of a folder of results cannot vouch
    for its cells, and a folder that is only read stays as it is. They may be lost or damaged at any time: the files of
    cells are then checked in full again.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._changed = False

    @cached_property
    def _path(self) -> Path:
        name = hashlib.sha256(os.fsencode(self._folder.resolve())).hexdigest()[:32]
        version = coebl.__version__  # another version may check differently
        return user_cache_path("coebl", appauthor=False) / "checked" / f"{name}-{version}.cache"

    @cached_property
    def _files(self) -> dict[str, tuple[bytes, Brief]]:
        """Checksums and briefs by the digest of the cell."""
        with contextlib.suppress(OSError):
            data = self._path.read_bytes() if self._path.is_file() and is_private(self._path.parent) else b""
            if hashlib.sha256(data[_SUM_SIZE:]).digest() == data[:_SUM_SIZE]:  # detects flipped bits
                rows = pl.read_parquet(data[_SUM_SIZE:]).iter_rows()
                return {digest: (checksum, Brief(*brief)) for digest, checksum, *brief in rows}
        return {}

    def find(self, digest: str, data: bytes) -> Brief | None:
        """Return the brief of a cell whose file has the content that was checked; None if it has changed."""
        checksum, brief = self._files.get(digest, (b"", None))
        return brief if brief is not None and hashlib.sha256(data).digest() == checksum else None

    def add(self, digest: str, data: bytes, brief: Brief) -> None:
        """Record the content of a cell's file as valid."""
        self._files[digest] = hashlib.sha256(data).digest(), brief
        self._changed = True

    def write(self) -> None:
        """Write the notes, if anything was added, and remove old ones on other folders."""
        if not self._changed:
            return
        with contextlib.suppress(InputError, OSError):  # without the notes, everything is checked again
            place = make_folder(self._path.parent, mode=0o700)
            if is_private(place):
                table = io.BytesIO()
                rows = [(digest, checksum, *brief) for digest, (checksum, brief) in sorted(self._files.items())]
                schema = {"digest": pl.String} | dict.fromkeys(("sum", "record", "last"), pl.Binary)
                pl.DataFrame(rows, schema, orient="row").write_parquet(table)
                data = table.getvalue()
                write_whole(self._path, hashlib.sha256(data).digest() + data, within=place)
                self._changed = False
                for file in place.iterdir():
                    if time.time() - file.stat().st_mtime > _KEPT_SECONDS:
                        file.unlink()
