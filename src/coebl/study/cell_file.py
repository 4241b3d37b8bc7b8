"""The file of a finished cell: a Parquet table with a description, made whole and read with every check."""

from __future__ import annotations

import contextlib
import io
import json
import os
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
from coebl.study.checked import Brief
from coebl.study.errors import MissingError, UnsoundError, system_error
from coebl.study.tables import LABELS, cell_table, checksum, parquet_bytes, table_schema

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped,unused-ignore]

_KEY = b"coebl"  # of our description in the metadata of a Parquet file


class CellFile(NamedTuple):
    """A file that is still to be written: a worker makes it, and whoever runs the study stores it."""

    digest: str
    data: bytes
    brief: Brief


def make_cell_file(cell: Cell, result: Result) -> CellFile:
    """The file of a cell with this result."""
    if tuple(result.seeds.tolist()) != tuple(cell.seeds):
        raise InputError(f"result has the seeds {shorten(result.seeds.tolist())}; accepted: the cell's, {cell}.")
    description = cell.description()
    labels = labels_of(description, result)
    table = cell_table(labels, result)
    about = about_of(cell, description, labels, result, table.num_rows, checksum(table))
    raw = json.dumps(about, sort_keys=True).encode()
    data = parquet_bytes(table.replace_schema_metadata({_KEY: raw}))
    return CellFile(digest_of(description), data, Brief.of(raw, [values[-1] for values in result.metrics.values()]))


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


def read_columns(path: Path, data: bytes, names: list[str]) -> pyarrow.Table:
    """Columns of a cell whose file is known to be sound; nothing else is decoded."""
    with _reading(path):
        source = require("pyarrow").BufferReader(data)
        return require("pyarrow.parquet").ParquetFile(source).read(names, use_threads=False)


def columns_of(table: pyarrow.Table, about: dict[str, Any], metrics: Collection[str] | None) -> dict[str, NDArray[Any]]:
    """The table of a cell by columns, as `Store.columns` describes them."""
    seeds = np.array(about["description"]["seeds"], np.int64)
    shape = len(seeds), about["rows"] // len(seeds)  # run after run
    columns = {name: table.column(name).to_numpy().copy().reshape(shape).T for name in chosen(about, metrics)}
    return {"seed": seeds, "round": table.column("round").to_numpy()[: shape[1]].astype(np.int64), **columns}


def brief_of(table: pyarrow.Table, about: dict[str, Any]) -> Brief:
    """What `make_cell_file` notes of a cell in brief, from its sound table."""
    raw: bytes = table.schema.metadata[_KEY]
    columns = columns_of(table, about, None)
    return Brief.of(raw, [columns[name][-1] for name in about["metrics"]])


def columns_of_brief(brief: Brief, about: dict[str, Any], metrics: Collection[str] | None) -> dict[str, NDArray[Any]]:
    """The columns of a cell at the last round, which is always recorded."""
    seeds = np.array(about["description"]["seeds"], np.int64)
    values = np.frombuffer(brief.last, "<f8").reshape(len(about["metrics"]), 1, len(seeds))
    columns = dict(zip(about["metrics"], values, strict=True))
    rounds = np.array([about["description"]["rounds"]])
    return {"seed": seeds, "round": rounds, **{name: columns[name] for name in chosen(about, metrics)}}


def chosen(about: dict[str, Any], metrics: Collection[str] | None) -> list[str]:
    """The metrics of a cell that are among these, or all of them."""
    return [name for name in about["metrics"] if metrics is None or name in metrics]


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
    """A cell's Parquet file, open, and its metadata, checked."""
    with _reading(path):
        file = require("pyarrow.parquet").ParquetFile(source)
        raw = (file.metadata.metadata or {}).get(_KEY)
        if raw is None:
            raise UnsoundError(f"{path}: it was not written by coebl.")
        about = read_about(path, raw)
        if file.metadata.num_rows != about["rows"]:
            raise UnsoundError(f"{path}: it has {file.metadata.num_rows} rows instead of {about['rows']}.")
        if not file.schema_arrow.equals(table_schema(about["metrics"])):
            raise UnsoundError(f"{path}: its columns are not those of a cell.")
        yield file, about


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Whatever fails in reading a file makes it unsound."""
    try:
        yield
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
        # without O_NONBLOCK, to open a pipe would wait for somebody to write into it
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise MissingError(f"{path}: there is no such cell; run the study to make it.") from None
    except OSError as error:
        raise system_error(path, error) from None
    state = os.fstat(handle)
    if not stat.S_ISREG(state.st_mode):
        os.close(handle)
        raise UnsoundError(f"{path}: it is {'a folder' if stat.S_ISDIR(state.st_mode) else 'not a file'}.")
    with open(handle, "rb") as stream:
        if state.st_size == 0:
            raise UnsoundError(f"{path}: it is empty.")
        yield stream
