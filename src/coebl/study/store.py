"""The store: a folder that keeps the finished cells of a study, one Parquet file each.

    folder/study.toml              the study, as it was run last
    folder/study-1.toml            the study before its file changed; then study-2.toml, and so on
    folder/files/DIGEST/NAME       the files that it names, as they were when it was run; study.toml refers to them here
    folder/cells/DIGEST.parquet    a finished cell
    folder/failed/DIGEST.json      the failure of a cell that is not finished; DIGEST.txt is its traceback
    folder/runs.jsonl              a line for each run: when, how many cells, how long, by which command
    folder/set-aside/              files found damaged in cells/; nothing here is ever read or deleted

A file appears under its name only when it is whole, so any number of processes may write to one folder, and any of
them may be killed at any time. Links in the folder are read, but nothing is written, moved or deleted through one.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import secrets
import time
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from coebl.core.errors import InputError
from coebl.core.files import PARTIAL, check_path, check_way, make_folder, read_whole, write_whole
from coebl.core.modules import require
from coebl.engine import Result
from coebl.study import cell_file
from coebl.study.cell import Cell, CellRecord, Count, FailureRecord, Seconds, now, read_record, versions
from coebl.study.cell_file import Brief, CellFile, CellRuns, Checked
from coebl.study.errors import DamagedFileError, MissingError, StoreError, system_error
from coebl.study.studies import parse_toml

_FOLDERS = ("cells", "failed", "set-aside")
_STALE_SECONDS = 86_400  # a partial file this old was left behind by a process that was killed
_SMALL = 1 << 20  # bytes; a smaller file is read as a whole where its end would do
_TEXTS = ("title", "description")  # keys of a study file that no cell depends on


class Store:
    """The folder of one study: `Store.create` makes or continues one, `Store.open` reads what is there.

    >>> store = Store.open("results")
    >>> store.name, len(store.digests()), store.failures()
    ('small', 2, [])
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = check_path("folder", folder)
        self.notes: list[str] = []  # one line for each file that the last `finished` set aside
        self.log = RunLog(self.folder)
        self._checked = Checked(self.folder)
        self._records: dict[str, CellRecord] = {}  # by digest
        self._ends: dict[str, Brief] = {}  # likewise, for files that were checked in full

    @classmethod
    def create(cls, folder: str | os.PathLike[str], text: str) -> Store:
        """Return the store of a study in a folder, new or continued; `text` is the study file of a new one."""
        store = cls(folder)
        _parse_toml(text, "the study's text")
        try:
            if not store._is_study():
                store._make(text)
            store._make_folders()
            if not os.access(store.folder / "cells", os.W_OK | os.X_OK):
                raise StoreError(f"{store.folder}: the folder is read-only; use another folder, or make it writable.")
        except OSError as error:
            raise system_error(store.folder, error) from None
        store.study()  # raises an error if it is not readable
        return store

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Store:
        """Return the store that is in a folder already."""
        store = cls(folder)
        if not store._is_study():
            there = "this does not hold a study" if store.folder.is_dir() else "this is not a folder"
            state = there if os.path.lexists(store.folder) else "there is no such folder"
            raise StoreError(f"{store.folder}: {state}; accepted: the folder that a study was run into.")
        return store

    # The study's file

    def text(self) -> str:
        """Return the study's file, as it was run last."""
        path = self.folder / "study.toml"
        try:
            return read_whole(path).decode("utf-8").replace("\r\n", "\n")
        except UnicodeDecodeError:
            raise StoreError(f"{path}: this is no longer text; put the study's file back there.") from None
        except OSError as error:
            raise system_error(path, error) from None

    def study(self) -> Mapping[str, Any]:
        """Return the study's file, parsed."""
        return _parse_toml(self.text(), str(self.folder / "study.toml"))

    def keep_text(self, text: str) -> None:
        """Replace the study's file; an earlier one that asks for other cells is kept under a number."""
        before, study = self.study(), _parse_toml(text, "the study's text")
        if _plain(before) != _plain(study):
            old, number = self.text(), 1
            while os.path.lexists(path := self.folder / f"study-{number}.toml"):
                if path.is_file() and path.read_bytes() == old.encode():
                    break
                number += 1
            else:
                self._write(path, old)
        elif all(before.get(key) == study.get(key) for key in _TEXTS):
            return  # only comments and spaces have changed
        self._write(self.folder / "study.toml", text)

    def keep_files(self, files: Mapping[str, bytes]) -> None:
        """Keep files that the study's file names: paths in this folder to contents."""
        for name, content in files.items():
            path = self.folder / name
            make_folder(path.parent, self.folder)
            with contextlib.suppress(OSError):
                if not path.is_symlink() and read_whole(path, None) == content:
                    continue
            self._write(path, content)

    @property
    def name(self) -> str:
        """The name of the study."""
        return self.words("name") or self.folder.resolve().name

    def words(self, key: str) -> str:
        """Return the string under a key of the study's file, such as title or description; "" if there is none."""
        value = self.study().get(key)
        return value if isinstance(value, str) else ""

    # Cells

    def path(self, digest: str) -> Path:
        """Return the path of the cell with this digest, once it is finished."""
        return self.folder / "cells" / f"{digest}.parquet"

    def paths(self) -> list[Path]:
        """Return the files of all cells, valid or not, in the order of their names."""
        return [self.path(digest) for digest in self.digests()]

    def digests(self) -> list[str]:
        """Return the names of all cells, valid or not, sorted."""
        try:
            names = os.listdir(self.folder / "cells")
        except OSError:
            return []
        return sorted(name.removesuffix(".parquet") for name in names if name.endswith(".parquet"))

    def save(self, cell: Cell, result: Result) -> Path:
        """Store the result of a cell."""
        return self.keep(cell_file.make_cell_file(cell, result))

    def keep(self, file: CellFile) -> Path:
        """Store the file of a cell atomically."""
        path = self.path(file.digest)
        self._make_folders()
        self._write(path, file.data)
        self._checked.add(file.digest, file.data, file.brief)
        self.forget_failure(file.digest)
        return path

    def record(self, digest: str) -> CellRecord:
        """Return the record of a cell, read once: a file never changes under its name.

        If a file was not checked before, or is large, only its end is read: a flipped bit may go unnoticed.
        """
        if digest not in self._records:
            path = self.path(digest)
            brief = self._checked.find(digest, cell_file.read_data(path)) if _size(path) <= _SMALL else None
            if brief is None:
                return self._records.setdefault(digest, cell_file.read_metadata(path))
            self._ends[digest], self._records[digest] = brief, read_record(path, brief.record)
        return self._records[digest]

    def runs(self, digest: str, metrics: Collection[str] | None = None, last: bool = False) -> CellRuns:
        """Return the runs of a cell, with all or some metrics, at all recorded rounds or at the last one.

        A file is checked in full once; for the last round it is not read again.
        """
        path, record = self.path(digest), self._records.get(digest)
        last = last or (record is not None and record.recorded == 1)
        data, brief = (b"", self._ends[digest]) if last and digest in self._ends else self._check(path)
        if record is None or self._ends.get(digest) is not brief:
            record = self._records[digest] = read_record(path, brief.record)
            self._ends[digest] = brief
        return cell_file.last_runs(brief, record, metrics) if last else cell_file.read_runs(path, data, record, metrics)

    def _check(self, path: Path) -> tuple[bytes, Brief]:
        """Return the content of a cell's file, checked now or before, and its brief."""
        data = cell_file.read_data(path)
        brief = self._checked.find(path.stem, data)
        if brief is None:
            brief = cell_file.brief_of(*cell_file.parse_cell(path, data))
            self._checked.add(path.stem, data, brief)
        return data, brief

    def remember(self) -> None:
        """Record which files are valid, so that they need not be checked again."""
        self._checked.write()

    def finished(self, dry: bool = False) -> set[str]:
        """Return the digests of all valid cells; every byte of every file is checked.

        Damaged and foreign files in cells/ are moved to set-aside/, and `notes` lists them with the reason; if `dry`,
        none is moved. Files of another format are an error: they are valid, but this version of coebl cannot read them.
        """
        self.notes = []
        if not dry:
            self._sweep()
        valid = set()
        for path in self.paths():
            try:
                self._check(path)
                valid.add(path.stem)
            except DamagedFileError as error:
                target = self.folder / "set-aside" if dry else self.set_aside(path)
                if target is not None:
                    moved = "To be moved" if dry else "Moved"
                    self.notes.append(f"{error} {moved} to {target.relative_to(self.folder)}.")
            except (MissingError, FileNotFoundError):
                pass  # another process has set it aside
        self.remember()
        return valid

    def set_aside(self, path: Path) -> Path | None:
        """Move a file of a cell to set-aside/, and return its new path; None if another process has moved it first."""
        folder = self.folder / "set-aside"
        self._records.pop(path.stem, None)
        self._ends.pop(path.stem, None)
        try:
            check_way(path.parent, self.folder)
            make_folder(folder, self.folder)
            target = folder / path.name
            if os.path.lexists(target):
                target = folder / f"{path.name}.{secrets.token_hex(4)}"
            os.rename(path, target)
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise system_error(path, problem) from None
        return target

    def _sweep(self) -> None:
        """Remove partial files of processes that were killed long ago."""
        ours = {".": (".toml", ".jsonl"), "cells": (".parquet",), "failed": (".json", ".txt")}
        for folder, suffixes in ours.items():
            check_way(self.folder / folder, self.folder)
            for path in (self.folder / folder).glob(".*.partial"):
                match = PARTIAL.fullmatch(path.name)
                if match is None or not match["name"].endswith(suffixes):
                    continue  # not written by coebl
                with contextlib.suppress(OSError):
                    if time.time() - path.lstat().st_mtime > _STALE_SECONDS:
                        path.unlink()

    # Failures

    def record_failure(self, cell: Cell, traceback_text: str, cause: str = "") -> Path:
        """Record the failure of a cell until it succeeds: as JSON for programs, and as text for people."""
        self._make_folders()
        description = cell.description()
        digest = description.digest()
        failure = FailureRecord(
            digest=digest,
            cell=str(cell),
            description=description,
            cause=cause,
            traceback=traceback_text,
            versions=versions(),
            time=now(),
        )
        path = self.folder / "failed" / f"{digest}.json"
        self._write(path, failure.model_dump_json(indent=1) + "\n")
        self._write(path.with_suffix(".txt"), f"{cell}\n\n{traceback_text}")
        return path

    def failures(self) -> list[FailureRecord]:
        """Return the records of the cells that failed and have not been finished since, sorted by digest."""
        records = []
        for path in sorted((self.folder / "failed").glob("*.json")):
            record = FailureRecord(cell=path.stem, traceback=f"{path}: the record is damaged.")
            with contextlib.suppress(OSError, ValidationError):
                record = FailureRecord.model_validate_json(read_whole(path))
            if not self.path(path.stem).exists():
                records.append(record.model_copy(update={"digest": path.stem}))
        return records

    def forget_failure(self, digest: str) -> None:
        """Remove the record of a cell that is finished, or whose runs are now part of other cells."""
        folder = self.folder / "failed"
        with contextlib.suppress(OSError, InputError):  # a remaining record is ignored once the cell is finished
            check_way(folder, self.folder)
            for suffix in ("json", "txt"):
                (folder / f"{digest}.{suffix}").unlink(missing_ok=True)

    # The folder

    def _is_study(self) -> bool:
        # One of these folders is enough: a user may have removed cells/, to run them again.
        ours = any((self.folder / part).is_dir() for part in _FOLDERS)
        return ours and (self.folder / "study.toml").is_file()

    def _make(self, text: str) -> None:
        if self.folder.exists() and not self.folder.is_dir():
            raise StoreError(f"{self.folder}: this is a file; accepted: a folder, or the path of a new one.")
        for entry in self.folder.iterdir() if self.folder.is_dir() else ():
            is_ours = entry.name in _FOLDERS and entry.is_dir() and not any(entry.iterdir())
            if not is_ours and not PARTIAL.fullmatch(entry.name):  # both are left by a `create` that was interrupted
                raise StoreError(
                    f"{self.folder}: the folder is in use and does not hold a study; choose a new or empty one."
                )
        self._make_folders()
        self._write(self.folder / "study.toml", text)  # last: it makes the folder a study

    def _make_folders(self) -> None:
        for part in _FOLDERS:
            make_folder(self.folder / part, self.folder)

    def _write(self, path: Path, data: bytes | str) -> None:
        write_whole(path, data, durable=True, within=self.folder)


def check_one_device(store: Store, devices: Collection[str]) -> None:
    """Reject a folder that has cells of two devices: a seed leads to different runs on them."""
    if len(devices) > 1:
        raise StoreError(
            f"{store.folder}: there are cells that were run on {' and on '.join(sorted(devices))}; accepted: those of "
            "one device, as a seed leads to different runs on another. Keep them in two folders."
        )


def is_new(folder: Path) -> bool:
    """Return True if a folder is empty or does not exist; the store reports a folder that cannot be read."""
    try:
        return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    except OSError:
        return False


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0  # reading it will report the error


@lru_cache(maxsize=2)  # a run reads the text of its study and the folder's, which are often equal, several times
def _parse_toml(text: str, owner: str) -> Mapping[str, Any]:
    try:
        return parse_toml(text, owner)
    except InputError as error:
        raise StoreError(f"{error} Correct it.") from None


def _plain(study: Mapping[str, Any]) -> str:
    """Return a string that is equal for studies of equal cells, and different for 1, 1.0 and true."""
    kept = {key: value for key, value in study.items() if key not in _TEXTS}
    return json.dumps(kept, sort_keys=True, default=repr)


# Runs


class RunLine(BaseModel, strict=True):
    """A line of the log: a run of the study."""

    ended: str = ""
    cells: Count  # made by the run
    seconds: Seconds
    of: Count | None = None  # cells that it was to make or find; None in a line of an earlier version
    workers: int | None = None  # local processes; None: another executor
    command: str | None = None
    interrupted: bool = False


class RunLog:
    """The runs of a folder: a lock that allows one at a time, and a log of those that have ended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the folder for one run, so that no other run does the same work; the lock ends with the process."""
        path = self.folder / ".running"
        if path.is_symlink():
            raise StoreError(f"{path} is a symbolic link; remove it.")
        filelock = require("filelock")

        def sign(handle: int) -> None:
            if os.fstat(handle).st_nlink == 1:  # otherwise the file was replaced
                os.truncate(handle, 0)
                os.write(handle, f"process {os.getpid()} on {platform.node()}\n".encode())

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
        """Add a line about a run that made some cells; the log is for people, and nothing depends on it."""
        line = {"ended": now(), "cells": cells, "seconds": round(seconds, 1), **more}
        path = self.folder / "runs.jsonl"
        if path.exists() and not path.is_file():
            return  # a pipe or a folder
        with contextlib.suppress(OSError, InputError):
            before = read_whole(path) if path.is_file() and not path.is_symlink() else b""
            write_whole(path, before + json.dumps(line).encode() + b"\n", within=self.folder)

    def runs(self) -> list[RunLine]:
        """Return the lines that `add` has kept; damaged ones are left out."""
        path = self.folder / "runs.jsonl"
        try:
            lines = read_whole(path).decode("utf-8", "replace").splitlines()
        except OSError:
            return []
        records = []
        for line in lines:
            with contextlib.suppress(ValueError):
                records.append(RunLine.model_validate_json(line))
        return records

    def planned(self) -> int:
        """Return the number of cells that the last run was to make or find; 0 if unknown."""
        return next((run.of for run in reversed(self.runs()) if run.of is not None), 0)
