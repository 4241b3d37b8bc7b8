"""The log of runs into a folder of results, and the lock of the run under way."""

from __future__ import annotations

import contextlib
import json
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coebl.core.errors import InputError
from coebl.core.files import read_whole, write_whole
from coebl.core.modules import require
from coebl.study.errors import StoreError
from coebl.study.record import now


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
