"""The file of a finished cell: a Parquet table with a description, made whole and read with every check."""

from __future__ import annotations

import contextlib
import io
import json
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coebl.core.errors import CoeblError, InputError, shorten
from coebl.core.modules import require
from coebl.core.text import one_line
from coebl.engine import Result
from coebl.study.about import about_of, labels_of, read_about
from coebl.study.cell import Cell, digest_of
from coebl.study.errors import MissingError, UnsoundError, system_error
from coebl.study.tables import LABELS, cell_table, checksum, parquet_bytes, table_schema

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped,unused-ignore]

_KEY = b"coebl"  # of our description in the metadata of a Parquet file


class CellFile(NamedTuple):
    """A file that is still to be written: a worker makes it, and whoever runs the study stores it."""

    digest: str
    data: bytes


def make_cell_file(cell: Cell, result: Result) -> CellFile:
    """The file of a cell with this result."""
    if tuple(result.seeds.tolist()) != tuple(cell.seeds):
        raise InputError(f"result has the seeds {shorten(result.seeds.tolist())}; accepted: the cell's, {cell}.")
    description = cell.description()
    labels = labels_of(description, result)
    table = cell_table(labels, result)
    about = about_of(cell, description, labels, result, table.num_rows, checksum(table))
    data = parquet_bytes(table.replace_schema_metadata({_KEY: json.dumps(about, sort_keys=True)}))
    return CellFile(digest_of(description), data)


def read_metadata(path: Path) -> dict[str, Any]:
    """What the file of a cell says of itself. Only its end is read: enough to notice a truncated or foreign file."""
    with _stream(path) as stream, _opened(path, stream) as (_, about):
        return about


def read_data(path: Path) -> bytes:
    """The bytes of a cell's file; anything but a plain file is refused."""
    with _stream(path) as stream:
        try:
            return stream.read()
        except OSError as error:
            raise system_error(path, error) from None


def parse_cell(path: Path, data: bytes) -> tuple[pyarrow.Table, dict[str, Any]]:
    """The table of the cell in a file with these bytes, every number checked, and what the file says of itself."""
    with _opened(path, require("pyarrow").BufferReader(data)) as (file, about):
        table = file.read(use_threads=False)
        if checksum(table) != about["checksum"]:
            raise UnsoundError(f"{path}: its numbers do not match their checksum.")
        if not _fits(table, about):
            raise UnsoundError(f"{path}: its columns do not match its description.")
        return table, about


def cell_columns(
    path: Path, data: bytes, metrics: Collection[str] | None, last: bool
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Columns of a cell whose file is known to be sound, as `Store.columns` describes them; nothing else is decoded."""
    with _opened(path, require("pyarrow").BufferReader(data)) as (file, about):
        wanted = [name for name in about["metrics"] if metrics is None or name in metrics]
        table = file.read([*wanted, *([] if last else ["round"])], use_threads=False)
        seeds = np.array(about["description"]["seeds"], np.int64)
        shape = len(seeds), about["rows"] // len(seeds)  # run after run
        columns = {name: table.column(name).to_numpy().reshape(shape).T for name in wanted}
        if last:
            columns = {name: column[-1:].copy() for name, column in columns.items()}  # a view would keep it all
            rounds = np.array([about["description"]["rounds"]])  # the last round is always recorded
        else:
            rounds = table.column("round").to_numpy()[: shape[1]]
        return {"seed": seeds, "round": rounds.astype(np.int64), **columns}, about


def _fits(table: pyarrow.Table, about: dict[str, Any]) -> bool:
    """Whether the table has the runs of the described seeds, one after the other, at the same rounds."""
    if any(table.column(label)[0].as_py() != about["labels"][label] for label in LABELS):
        return False
    description = about["description"]
    seeds = np.array(description["seeds"], np.int64)
    recorded = about["rows"] // len(seeds)
    rounds = table.column("round").to_numpy().reshape(len(seeds), recorded)
    return bool(
        (table.column("seed").to_numpy() == np.repeat(seeds, recorded)).all()
        and (rounds == rounds[0]).all()
        and (table.column("horizon").to_numpy() == description["rounds"]).all()
    )


@contextlib.contextmanager
def _opened(path: Path, source: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A cell's Parquet file, open, and its metadata, checked; whatever fails in reading it makes it unsound."""
    parquet = require("pyarrow.parquet")
    try:
        file = parquet.ParquetFile(source)
        raw = (file.metadata.metadata or {}).get(_KEY)
        if raw is None:
            raise UnsoundError(f"{path}: it was not written by coebl.")
        about = read_about(path, raw)
        if file.metadata.num_rows != about["rows"]:
            raise UnsoundError(f"{path}: it has {file.metadata.num_rows} rows instead of {about['rows']}.")
        if not file.schema_arrow.equals(table_schema(about["metrics"])):
            raise UnsoundError(f"{path}: its columns are not those of a cell.")
        yield file, about
    except CoeblError:
        raise
    except MemoryError:
        raise UnsoundError(f"{path}: it asks for more memory than there is.") from None
    except (OSError, ValueError, TypeError, KeyError, IndexError, NotImplementedError, OverflowError) as error:
        # Arrow raises any of these on damaged files, and names its own errors after the built-in ones
        raise UnsoundError(f"{path}: it is not a whole Parquet file ({one_line(error)}).") from None


@contextlib.contextmanager
def _stream(path: Path) -> Iterator[io.BufferedReader]:
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):  # to open a pipe would wait for somebody to write into it
            raise UnsoundError(f"{path}: it is {'a folder' if stat.S_ISDIR(mode) else 'not a file'}.")
        stream = path.open("rb")
    except FileNotFoundError:
        raise MissingError(f"{path}: there is no such cell; run the study to make it.") from None
    except OSError as error:
        raise system_error(path, error) from None
    with stream:
        if stream.seek(0, io.SEEK_END) == 0:
            raise UnsoundError(f"{path}: it is empty.")
        stream.seek(0)
        yield stream
