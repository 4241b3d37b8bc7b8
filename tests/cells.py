"""Small cells and their results, and functions that store, read, change and forge their files."""

import dataclasses
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pyarrow
import pyarrow.parquet as parquet

from coebl.engine import Result
from coebl.study import cell_file
from coebl.study.cell import Cell, make_record, write_record
from coebl.study.cell_file import CellRuns
from coebl.study.store import Store

TEXT = 'name = "demo"\nseeds = 3\n'
CELL = Cell("matching-pennies", ("exp3", "uniform"), 20, (0, 1, 2), metrics=("regret",))
OTHER = dataclasses.replace(CELL, seeds=(3, 4, 5))


@cache
def ran(cell: Cell) -> Result:
    return cell.run()


def saved(store: Store, *cells: Cell) -> list[Path]:
    return [store.save(cell, ran(cell)) for cell in cells or (CELL,)]


def loaded(store: Store, digest: str) -> pyarrow.Table:
    """The table of a stored cell, with every number checked."""
    path = store.path(digest)
    table, _ = cell_file.parse_cell(path, cell_file.read_data(path))
    return table


def notes_on(store: Store) -> Path:
    """The file that lists the cells of a store that were found valid."""
    return store._checked._path


def plain(runs: CellRuns) -> tuple:
    """The runs of a cell as values that can be compared to the last bit."""
    return runs.record, {name: (str(values.dtype), values.tobytes()) for name, values in runs.columns().items()}


def rewrite(path: Path, change) -> None:
    """Change the metadata of a stored cell, and leave its numbers."""
    table = parquet.read_table(path)
    about = json.loads(table.schema.metadata[b"coebl"])
    text = change(about)
    table = table.replace_schema_metadata({b"coebl": text if isinstance(text, bytes) else json.dumps(about)})
    parquet.write_table(table, path)


def forged(store, described, cell=CELL, metric="regret", **specs):
    """Store a cell that is valid except for the names in it, with or without descriptions of learners and metrics."""
    row, column = (specs.get(seat, spec) for seat, spec in zip(("row", "column"), cell.players, strict=True))
    named = {"game": specs.get("game", cell.game), "players": specs.get("players", (row, column)), "metrics": (metric,)}
    description = cell.description().model_copy(update=named | {"noise": specs.get("noise")})
    record = make_record(cell.description(), ran(cell))
    words = {} if described else {"learners": {}, "metric_info": {}}
    named |= {"noise": specs.get("noise", "gaussian"), "description": description}
    record = record.model_copy(update=named | words)
    result = dataclasses.replace(ran(cell), metrics={metric: ran(cell).metrics["regret"]})
    table = cell_file._table(record, result)
    raw = write_record(record.model_copy(update={"checksum": cell_file._checksum(table)}))
    path = store.path(description.digest())
    path.write_bytes(cell_file._parquet_bytes(table.replace_schema_metadata({b"coebl": raw})))


def in_earlier_format(path: Path) -> None:
    """Rewrite the file of a cell as format 3 had it: row, column and horizon, and a description in two tables."""
    table = parquet.read_table(path)
    new = json.loads(table.schema.metadata[b"coebl"])
    names, rows = new["players"], table.num_rows
    columns = {}
    for name in table.column_names:
        if name == "players":
            for seat, spec in zip(("row", "column"), names, strict=True):
                columns[seat] = pyarrow.array([spec] * rows).dictionary_encode()
        else:
            columns["horizon" if name == "rounds" else name] = table.column(name)
    old = pyarrow.table(columns)
    description = {**new["description"], "format": 3}
    description |= dict(zip(("row", "column"), description.pop("players"), strict=True))
    if description["device"] == "cpu":
        del description["device"]
    about = {key: new[key] for key in ("metrics", "rows", "versions", "seconds", "created")} | {
        "format": 3,
        "description": description,
        "labels": {"game": new["game"], "row": names[0], "column": names[1], "noise": new["noise"]},
        "checksum": cell_file._checksum(old),
        "things": {
            "game": {"payoff_range": new["payoff_range"]},
            "learners": new["learners"],
            "metrics": new["metric_info"],
        },
    }
    parquet.write_table(old.replace_schema_metadata({b"coebl": json.dumps(about)}), path)


def one_line(error: BaseException) -> str:
    text = str(error)
    assert text
    assert "\n" not in text
    assert len(text) < 600
    return text


def run_python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run code in another process, which can import this module."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=120, check=False)


def partials(store: Store) -> list[Path]:
    return [path for path in store.folder.rglob("*") if path.name.endswith(".partial")]
