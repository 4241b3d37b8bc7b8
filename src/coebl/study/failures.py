"""What went wrong with cells: a record each, which stays until its cell is finished."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from coebl.core.errors import InputError
from coebl.core.files import check_way, write_whole
from coebl.study.about import now, versions
from coebl.study.cell import Cell, digest_of


class Failures:
    """The folder of these records: DIGEST.json for programs, and DIGEST.txt, the traceback, for people.

    Args:
        folder: where they are.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def record(self, cell: Cell, traceback_text: str, cause: str) -> Path:
        """Write the record of a cell, replacing an earlier one. Returns its path."""
        description = cell.description()
        digest = digest_of(description)
        record = {
            "digest": digest,
            "cell": str(cell),
            "description": description,
            "cause": cause,
            "traceback": traceback_text,
            "versions": versions(),
            "time": now(),
        }
        path, text = self._paths(digest)
        write_whole(path, json.dumps(record, indent=1) + "\n", durable=True, within=self._folder.parent)
        write_whole(text, f"{cell}\n\n{traceback_text}", within=self._folder.parent)
        return path

    def records(self) -> list[dict[str, Any]]:
        """All records, in the order of their digests; a damaged one says that it is."""
        records = []
        for path in sorted(self._folder.glob("*.json")):
            record = _read_json(path)
            if not all(isinstance(record.get(key), str) for key in ("cell", "traceback")):
                record = {"cell": path.stem, "traceback": f"{path}: the record is damaged."}
            records.append({**record, "digest": path.stem})
        return records

    def forget(self, digest: str) -> None:
        """Remove the record of a cell, if there is one."""
        with contextlib.suppress(OSError, InputError):  # a record that stays is ignored once the cell is finished
            check_way(self._folder, self._folder.parent)
            for record in self._paths(digest):
                record.unlink(missing_ok=True)

    def _paths(self, digest: str) -> tuple[Path, Path]:
        return self._folder / f"{digest}.json", self._folder / f"{digest}.txt"


def _read_json(path: Path) -> dict[str, Any]:
    """The object in a file; empty if there is none, or no file."""
    try:
        content = json.loads(path.read_bytes()) if path.is_file() else None
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
