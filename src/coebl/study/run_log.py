"""Who runs into the folder of a study: one run at a time, and a log of those that have ended."""

from __future__ import annotations

import contextlib
import json
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from coebl.core.errors import InputError
from coebl.core.files import write_whole
from coebl.study.about import is_count, is_time, now
from coebl.study.errors import StoreError


class RunLog:
    """The runs of a study's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the folder for one run, so that no other does the same work; free again when the process ends."""
        try:
            import fcntl
        except ImportError:  # on Windows two runs do the same work twice, which does no harm
            yield
            return
        with contextlib.ExitStack() as stack:
            try:
                file = stack.enter_context(self._lock_file())
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(file.fileno()).st_nlink == 1:  # or it is a file of somebody's under another name
                    file.truncate(0)
                    print(f"process {os.getpid()} on {platform.node()}", file=file, flush=True)
            except BlockingIOError:
                file.seek(0)
                owner = file.read(200).strip() or "another process"
                raise StoreError(
                    f"{self.folder}: {owner} is running into this folder; wait for it, or use another folder."
                ) from None
            except OSError:
                pass  # a file system without locks
            yield

    def _lock_file(self) -> TextIO:
        path = self.folder / ".running"
        if path.is_symlink():
            raise StoreError(f"{path} is a symbolic link; remove it.")
        return open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666), "r+", encoding="utf-8")

    def add(self, cells: int, seconds: float, **more: object) -> None:
        """Add a line on a run that made some cells; a log for people, on which nothing depends."""
        line = {"ended": now(), "cells": cells, "seconds": round(seconds, 1), **more}
        path = self.folder / "runs.jsonl"
        if path.exists() and not path.is_file():
            return  # a pipe or a folder
        with contextlib.suppress(OSError, InputError):
            before = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            write_whole(path, before + json.dumps(line).encode() + b"\n", within=self.folder)

    def runs(self) -> list[dict[str, Any]]:
        """What `add` has kept; lines that are damaged are left out."""
        path = self.folder / "runs.jsonl"
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
        except OSError:
            return []
        records = []
        for line in lines:
            with contextlib.suppress(ValueError, RecursionError):
                record = json.loads(line)
                if isinstance(record, dict) and is_count(record.get("cells")) and is_time(record.get("seconds")):
                    records.append(record)
        return records

    def planned(self) -> int:
        """How many cells the last run that made any was to make or find; 0 where that is not known."""
        planned = [record["of"] for record in self.runs() if is_count(record.get("of"))]
        return planned[-1] if planned else 0
