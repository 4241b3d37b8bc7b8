"""The table of a finished cell, in Arrow's and Parquet's terms."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from coebl.core.errors import InputError
from coebl.core.modules import require
from coebl.engine import Result

if TYPE_CHECKING:
    import pyarrow

LABELS = ("game", "row", "column", "noise")  # text columns that are the same all through a cell
NUMBERS = {"horizon": "int32", "seed": "int64", "round": "int32"}  # horizon: how many rounds the match has


def table_schema(metrics: Iterable[str]) -> pyarrow.Schema:
    """The columns of stored tables with these metrics."""
    return _schema(tuple(metrics))


@lru_cache(maxsize=64)  # a folder has few sets of metrics, and very many cells
def _schema(metrics: tuple[str, ...]) -> pyarrow.Schema:
    pa = require("pyarrow")
    texts = [(label, pa.dictionary(pa.int32(), pa.string())) for label in LABELS]
    numbers = [(name, getattr(pa, kind)()) for name, kind in NUMBERS.items()]
    return pa.schema([*texts, *numbers, *((metric, pa.float64()) for metric in metrics)])


def cell_table(labels: Mapping[str, str], result: Result) -> Any:
    """The tidy table of a result: one row per seed and recorded round."""
    pa = require("pyarrow")
    clash = [metric for metric in result.metrics if metric in (*LABELS, *NUMBERS)]
    if clash:
        raise InputError(f"a metric is called {clash[0]!r}, as a column of every table is; give it another name.")
    columns: dict[str, Any] = {**result.columns()}
    rows = len(columns["seed"])
    columns["horizon"] = np.full(rows, result.match.rounds)
    schema = table_schema(result.metrics)
    arrays = []
    for field in schema:
        if field.name in LABELS:
            indices = pa.array(np.zeros(rows, np.int32))
            arrays.append(pa.DictionaryArray.from_arrays(indices, pa.array([labels[field.name]])))
            continue
        try:
            # from_pandas=False: NaN is a number here, not a missing one
            arrays.append(pa.array(columns[field.name], type=field.type, from_pandas=False))
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            raise InputError(f"a {field.name} is too large to be stored; accepted: {field.type}.") from None
    return pa.Table.from_arrays(arrays, schema=schema)


def parquet_bytes(table: Any) -> bytes:
    """The table as a Parquet file."""
    sink = require("pyarrow").BufferOutputStream()
    metrics = table.column_names[len(LABELS) + len(NUMBERS) :]
    require("pyarrow.parquet").write_table(
        table,
        sink,
        compression="zstd",
        use_dictionary=[*LABELS, *NUMBERS],
        # floats hardly repeat, so a dictionary gains nothing; split by the places of their bytes they compress
        column_encoding=dict.fromkeys(metrics, "BYTE_STREAM_SPLIT"),
    )
    data: bytes = sink.getvalue().to_pybytes()
    return data


def checksum(table: Any) -> str:
    """SHA-256 over the names, types and values of the columns, whatever chunks and padding they come in."""
    hasher = hashlib.sha256()
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.null_count:
            raise ValueError(f"the column {name} has nulls")
        if name in LABELS:
            values = column.unique().to_pylist()
            data = json.dumps(values).encode()
        else:
            numbers = column.to_numpy()
            data = np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("<")).tobytes()
        hasher.update(json.dumps([name, str(column.type), len(column), len(data)]).encode())
        hasher.update(data)
    return hasher.hexdigest()
