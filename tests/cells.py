"""Small cells and their results, and what the tests of the store do with them."""

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
from coebl.study.cell import Cell
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


def notes_on(store: Store) -> Path:
    """The file that says which cells of a store were found sound."""
    return store._checked._path


def plain(runs: CellRuns) -> tuple:
    """The runs of a cell, to be compared to the last bit."""
    values = {name: values.tobytes() for name, values in runs.values.items()}
    return runs.record, runs.seeds.tolist(), runs.rounds.tolist(), values


def rewrite(path: Path, change) -> None:
    """Change the metadata of a stored cell, and leave its numbers."""
    table = parquet.read_table(path)
    about = json.loads(table.schema.metadata[b"coebl"])
    text = change(about)
    table = table.replace_schema_metadata({b"coebl": text if isinstance(text, bytes) else json.dumps(about)})
    parquet.write_table(table, path)


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
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def partials(store: Store) -> list[Path]:
    return [path for path in store.folder.rglob("*") if path.name.endswith(".partial")]
