"""Failures of cells, the log of runs into a folder of results, and the lock of the run under way."""

from __future__ import annotations

import contextlib
import json
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coebl.core.errors import InputError
from coebl.core.files import check_way, read_whole, write_whole
from coebl.core.modules import require
from coebl.study.cell import Cell
from coebl.study.errors import StoreError
from coebl.study.record import now, versions


class Failures:
    """Records of cells that failed, which stay until the cell is finished.

    DIGEST.json is for programs, and DIGEST.txt, the traceback, for people.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def record(self, cell: Cell, traceback_text: str, cause: str) -> Path:
        """Write the record of a cell, replacing an earlier one, and return its path."""
        description = cell.description()
        record = {
            "digest": description.digest(),
            "cell": str(cell),
            "description": description.model_dump(mode="json"),
            "cause": cause,
            "traceback": traceback_text,
            "versions": versions(),
            "time": now(),
        }
        path, text = self._paths(description.digest())
        write_whole(path, json.dumps(record, indent=1) + "\n", durable=True, within=self._folder.parent)
        write_whole(text, f"{cell}\n\n{traceback_text}", within=self._folder.parent)
        return path

    def records(self) -> list[dict[str, Any]]:
        """All records, in the order of their digests; a damaged one is reported as such."""
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
    """The JSON object in a file; empty if the file is missing or holds none."""
    try:
        content = json.loads(read_whole(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


class RunLog:
    """The runs into a folder: one at a time, and a log of those that have ended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the folder for one run, so that no other does the same work; the lock ends with the process."""
        path = self.folder / ".running"
        if path.is_symlink():
            raise StoreError(f"{path} is a symbolic link; remove it.")
        filelock = require("filelock")

        def sign(handle: int) -> None:
            if os.fstat(handle).st_nlink == 1:  # otherwise another file has this name now
                os.truncate(handle, 0)
                os.pwrite(handle, f"process {os.getpid()} on {platform.node()}\n".encode(), 0)

        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(filelock.FileLock(path, timeout=0, fallback_to_soft=False, on_acquired=sign))
            except filelock.Timeout:
                owner = path.read_text("utf-8", "replace")[:200].strip() or "another process"
                raise StoreError(
                    f"{self.folder}: {owner} is running into this folder; wait for it, or use another folder."
                ) from None
            except (OSError, NotImplementedError):
                pass  # a file system without locks: two runs do the same work twice, which does no harm
            yield

    def add(self, cells: int, seconds: float, **more: object) -> None:
        """Add a line on a run that made some cells; the log is for people, and nothing depends on it."""
        line = {"ended": now(), "cells": cells, "seconds": round(seconds, 1), **more}
        path = self.folder / "runs.jsonl"
        if path.exists() and not path.is_file():
            return  # a pipe or a folder
        with contextlib.suppress(OSError, InputError):
            before = read_whole(path) if path.is_file() and not path.is_symlink() else b""
            write_whole(path, before + json.dumps(line).encode() + b"\n", within=self.folder)

    def runs(self) -> list[dict[str, Any]]:
        """The lines that `add` has kept; damaged ones are left out."""
        path = self.folder / "runs.jsonl"
        try:
            lines = read_whole(path).decode("utf-8", "replace").splitlines()
        except OSError:
            return []
        records = []
        for line in lines:
            with contextlib.suppress(ValueError, RecursionError):
                record = json.loads(line)
                if isinstance(record, dict) and _is_count(record.get("cells")) and _is_time(record.get("seconds")):
                    records.append(record)
        return records

    def planned(self) -> int:
        """The number of cells that the last run was to make or find; 0 if unknown."""
        planned = [record["of"] for record in self.runs() if _is_count(record.get("of"))]
        return planned[-1] if planned else 0


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


def _is_time(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value < 1e12  # type: ignore[operator]
