"""Which files of cells have been checked in full, by their content, and what they say in brief.

A file of this content need not be decoded again: neither at the next run, nor for the means after the last round.
"""

from __future__ import annotations

import contextlib
import hashlib
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import coebl
from coebl.core.errors import InputError
from coebl.core.files import write_whole
from coebl.core.modules import require

_SUM = hashlib.sha256().digest_size  # bytes at the beginning of the file: the sum of the table that follows
_KEY = b"coebl"  # of the version that checked: another one checks otherwise


class Brief(NamedTuple):
    """What most readers want of a cell."""

    about: bytes  # what its file says of itself
    last: bytes  # the metrics after the last round, (metrics, runs), as little-endian numbers

    @classmethod
    def of(cls, about: bytes, last: list[NDArray[np.float64]]) -> Brief:
        """The brief of a cell, with an array for each metric."""
        return cls(about, np.asarray(last, "<f8").tobytes())


class Checked:
    """A file of the sums of sound files and of their briefs.

    It may be lost or damaged at any time: the files of cells are then checked in full again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._changed = False

    @cached_property
    def _files(self) -> dict[str, tuple[bytes, Brief]]:
        """Sums and briefs by the digest of the cell."""
        pa, parquet = require("pyarrow"), require("pyarrow.parquet")
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, NotImplementedError):
            data = self._path.read_bytes() if self._path.is_file() else b""
            total, table = data[:_SUM], data[_SUM:]
            if hashlib.sha256(table).digest() == total:  # so that a flipped bit is noticed, wherever it is
                file = parquet.ParquetFile(pa.BufferReader(table))
                if file.schema_arrow.metadata[_KEY] == coebl.__version__.encode():
                    columns = (column.to_pylist() for column in file.read(_COLUMNS).columns)
                    return {
                        digest: (total, Brief(about, last)) for digest, total, about, last in zip(*columns, strict=True)
                    }
        return {}

    def find(self, digest: str, data: bytes) -> Brief | None:
        """The brief of a cell whose file has the content that was checked; None if it has another one."""
        total, brief = self._files.get(digest, (b"", None))
        return brief if brief is not None and hashlib.sha256(data).digest() == total else None

    def add(self, digest: str, data: bytes, brief: Brief) -> None:
        """Note that this is the sound content of a cell's file."""
        self._files[digest] = hashlib.sha256(data).digest(), brief
        self._changed = True

    def write(self) -> None:
        """Write the file, if anything was added."""
        if self._changed and (self._path.is_file() or not self._path.exists()):  # into a pipe it would wait
            with contextlib.suppress(InputError):  # a folder that is read only can still be read
                write_whole(self._path, self._bytes())
                self._changed = False

    def _bytes(self) -> bytes:
        pa, parquet = require("pyarrow"), require("pyarrow.parquet")
        rows = [(digest, total, *brief) for digest, (total, brief) in sorted(self._files.items())]
        columns = zip(*rows, strict=True) if rows else [()] * len(_COLUMNS)
        arrays = [pa.array(column, kind()) for column, kind in zip(columns, (pa.string, *[pa.binary] * 3), strict=True)]
        schema_metadata = {_KEY: coebl.__version__.encode()}
        table = pa.table(dict(zip(_COLUMNS, arrays, strict=True))).replace_schema_metadata(schema_metadata)
        sink = pa.BufferOutputStream()
        parquet.write_table(table, sink, compression="zstd", use_dictionary=False)
        data: bytes = sink.getvalue().to_pybytes()
        return hashlib.sha256(data).digest() + data


_COLUMNS = ["digest", "sum", "about", "last"]
