"""Notes on files of cells that were checked in full: by their content, with what most readers want of them.

A file of this content need not be decoded again: neither at the next run, nor for the means after the last round. The
notes are in the user's cache directory and not beside the cells: the maker of a folder of results cannot vouch for its
cells, and a folder that is only read stays as it is.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

import coebl
from coebl.core.errors import InputError
from coebl.core.files import is_private, make_folder, write_whole
from coebl.core.modules import require

_SIZE = hashlib.sha256().digest_size  # bytes at the beginning of the file: the checksum of the table that follows
_KEY = b"coebl"  # of the version that checked: another one checks otherwise
_COLUMNS = ["digest", "sum", "record", "last"]
_KEPT_SECONDS = 90 * 86_400  # after which the notes on a folder that has not changed are removed


class Brief(NamedTuple):
    """The part of a cell that most readers want."""

    record: bytes  # as its file stores it
    last: bytes  # the metrics after the last round, (metrics, runs), as little-endian numbers

    @classmethod
    def of(cls, record: bytes, last: list[NDArray[np.float64]]) -> Brief:
        """The brief of a cell, with an array for each metric."""
        return cls(record, np.asarray(last, "<f8").tobytes())


class Checked:
    """Checksums and briefs of the sound files of cells in a folder of results.

    The notes may be lost or damaged at any time: the files of cells are then checked in full again.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._changed = False

    @cached_property
    def _path(self) -> Path:
        name = hashlib.sha256(os.fsencode(self._folder.resolve())).hexdigest()[:32]
        return user_cache_path("coebl", appauthor=False) / "checked" / f"{name}.cache"

    @cached_property
    def _files(self) -> dict[str, tuple[bytes, Brief]]:
        """Checksums and briefs by the digest of the cell."""
        pa, parquet = require("pyarrow"), require("pyarrow.parquet")
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, NotImplementedError):
            data = self._path.read_bytes() if self._path.is_file() and is_private(self._path.parent) else b""
            if hashlib.sha256(data[_SIZE:]).digest() == data[:_SIZE]:  # so that a flipped bit is noticed
                file = parquet.ParquetFile(pa.BufferReader(data[_SIZE:]))
                if file.schema_arrow.metadata[_KEY] == coebl.__version__.encode():
                    rows = zip(*(column.to_pylist() for column in file.read(_COLUMNS).columns), strict=True)
                    return {digest: (checksum, Brief(record, last)) for digest, checksum, record, last in rows}
        return {}

    def find(self, digest: str, data: bytes) -> Brief | None:
        """The brief of a cell whose file has the content that was checked; None if it has another one."""
        checksum, brief = self._files.get(digest, (b"", None))
        return brief if brief is not None and hashlib.sha256(data).digest() == checksum else None

    def add(self, digest: str, data: bytes, brief: Brief) -> None:
        """Note that this is the sound content of a cell's file."""
        self._files[digest] = hashlib.sha256(data).digest(), brief
        self._changed = True

    def write(self) -> None:
        """Write the notes, if anything was added, and remove old ones on other folders."""
        if not self._changed:
            return
        with contextlib.suppress(InputError, OSError):  # without a place for them, all is checked again
            place = make_folder(self._path.parent, mode=0o700)
            if is_private(place):
                write_whole(self._path, self._bytes(), within=place)
                self._changed = False
                for other in place.iterdir():
                    if time.time() - other.stat().st_mtime > _KEPT_SECONDS:
                        other.unlink()

    def _bytes(self) -> bytes:
        pa, parquet = require("pyarrow"), require("pyarrow.parquet")
        schema = pa.schema([("digest", pa.string()), *((name, pa.binary()) for name in _COLUMNS[1:])])
        rows = [
            dict(zip(_COLUMNS, (digest, checksum, *brief), strict=True))
            for digest, (checksum, brief) in sorted(self._files.items())
        ]
        table = pa.Table.from_pylist(rows, schema.with_metadata({_KEY: coebl.__version__.encode()}))
        sink = pa.BufferOutputStream()
        parquet.write_table(table, sink, compression="zstd", use_dictionary=False)
        data: bytes = sink.getvalue().to_pybytes()
        return hashlib.sha256(data).digest() + data
