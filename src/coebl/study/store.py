"""The store: a folder that keeps the finished cells of a study, one Parquet file each.

    folder/study.toml              the study, as it was when the folder was made
    folder/manifest.json           a list of what is finished; rebuilt from the cells whenever it is lost
    folder/cells/DIGEST.parquet    a finished cell
    folder/failed/DIGEST.json      what went wrong with a cell that is not finished
    folder/runs.jsonl              a line for each run: when, how many cells, how long, by which command
    folder/set-aside/              files found damaged in cells/; nothing here is ever read or deleted

The truth is in the cells alone. A file appears under its name only when it is whole, so any number of processes may
write to one folder, and any of them may be killed at any time.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import platform
import secrets
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib import metadata as packages
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

import coebl
from coebl.core.errors import CoeblError, InputError, shorten
from coebl.engine import Result
from coebl.study.cell import FORMAT, Cell, digest_of, without_folder
from coebl.study.tables import LABELS, arrow, cell_table, checksum, parquet_bytes, table_schema

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped,unused-ignore]

_KEY = b"coebl"  # of our description in the metadata of a Parquet file
_MOST_METADATA = 1 << 26  # bytes; far above what a million seeds need
_PARTIAL = ".partial"  # ends the names of files that are being written
_STALE_SECONDS = 86_400  # a partial file this old was left behind by a process that was killed


class StoreError(CoeblError):
    """Something is wrong with a study's folder: the message names the file and says what to do."""


class UnsoundError(StoreError):
    """A file among the cells that is damaged or not one of ours."""


class MissingError(StoreError):
    """A cell that is not there."""


class Store:
    """The folder of one study: `Store.create` makes or continues one, `Store.open` reads what is there."""

    def __init__(self, folder: str | os.PathLike[str], name: str | None = None) -> None:
        self.folder = Path(folder)
        self.notes: list[str] = []  # one line for each file that the last `finished` set aside
        self._name = name

    @classmethod
    def create(cls, folder: str | os.PathLike[str], name: str, text: str) -> Store:
        """The store of a study in a folder, new or continued; `text` is the study's file."""
        store = cls(folder, name)
        study = _parse_toml(text, "the study's text")
        try:
            if not store._is_study():
                store._make(text)
            if not os.access(store.folder / "cells", os.W_OK | os.X_OK):
                raise StoreError(f"{store.folder}: the folder is read-only; use another folder, or let it be written.")
        except OSError as error:
            raise _os_error(store.folder, error) from None
        if _plain(store.study()) != _plain(study):
            raise StoreError(
                f"{store.folder}: the study file has changed since; use another folder, or put the old file back."
            )
        return store

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Store:
        """The store that is in a folder already."""
        store = cls(folder)
        if not store._is_study():
            state = "holds no study" if store.folder.is_dir() else "is no folder"
            raise StoreError(f"{store.folder}: this {state}; accepted: the folder that a study was run into.")
        return store

    def text(self) -> str:
        """The study's file, as it was when the folder was made."""
        path = self.folder / "study.toml"
        try:
            return path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise StoreError(f"{path}: this is no longer text; put the study's file back there.") from None
        except OSError as error:
            raise _os_error(path, error) from None

    def study(self) -> dict[str, Any]:
        """The study's file, parsed."""
        return _parse_toml(self.text(), str(self.folder / "study.toml"))

    @property
    def name(self) -> str:
        """What the study is called."""
        if self._name is None:
            named = [source.get("name") for source in (self._read_manifest(), self.study())]
            self._name = next((name for name in named if isinstance(name, str)), self.folder.resolve().name)
        return self._name

    # Cells

    def path(self, digest: str) -> Path:
        """Where the cell with this digest is, once it is finished."""
        return self.folder / "cells" / f"{digest}.parquet"

    def paths(self) -> list[Path]:
        """The files of all cells, sound or not, in the order of their names."""
        return [self.path(digest) for digest in self.digests()]

    def digests(self) -> list[str]:
        """The names of all cells, sound or not, sorted."""
        try:
            names = os.listdir(self.folder / "cells")
        except OSError:
            return []
        return sorted(name.removesuffix(".parquet") for name in names if name.endswith(".parquet"))

    def save(self, cell: Cell, result: Result) -> Path:
        """Store what a cell has left behind; whole or not at all."""
        if tuple(result.seeds.tolist()) != tuple(cell.seeds):
            raise InputError(f"result has the seeds {shorten(result.seeds.tolist())}; accepted: the cell's, {cell}.")
        description = cell.description()
        digest = digest_of(description)
        labels = {
            "game": result.match.game.spec or description["game"],  # the game of a file has no spec: then its name
            "row": without_folder(str(result.match.row)),
            "column": without_folder(str(result.match.column)),
            "noise": str(result.match.game.noise),
        }
        table = cell_table(labels, result)
        about = {
            "format": FORMAT,
            "description": description,
            "labels": labels,
            "metrics": list(result.metrics),
            "rows": table.num_rows,
            "checksum": checksum(table),
            "versions": _versions(),
            "seconds": {phase: float(seconds) for phase, seconds in result.seconds.items()},
            "created": _now(),
        }
        path = self.path(digest)
        _write(path, parquet_bytes(table.replace_schema_metadata({_KEY: json.dumps(about, sort_keys=True)})))
        with contextlib.suppress(OSError):  # a record that stays is ignored: the cell is finished
            self._failure_path(digest).unlink()
        return path

    def metadata(self, digest: str) -> dict[str, Any]:
        """What the file of a cell says about itself: description, labels, versions, seconds and more.

        Only the end of the file is read: enough to notice a truncated or foreign one, not a flipped bit.
        """
        with self._parquet_file(digest) as (_, about):
            return about

    def load(self, digest: str) -> pyarrow.Table:
        """The table of a cell, with every number checked: one row per seed and recorded round."""
        path = self.path(digest)
        with self._parquet_file(digest) as (file, about):
            table = file.read(use_threads=False)
            if checksum(table) != about["checksum"]:
                _unsound(path, "its numbers do not match their checksum")
            if any(table.column(label)[0].as_py() != about["labels"][label] for label in LABELS):
                _unsound(path, "its columns do not match its description")
            return table

    def finished(self, cells: Iterable[Cell], thorough: bool = False) -> set[str]:
        """The digests of those cells that are stored; `thorough` checks every number, not only the ends of files.

        Damaged and foreign files in cells/ are moved to set-aside/, and `notes` says which and why. Files of another
        format are refused: they are sound, but this version of coebl does not read them.
        """
        self.notes = []
        self._sweep()
        sound = set()
        for path in self.paths():
            digest = path.stem
            try:
                if thorough:
                    self.load(digest)
                else:
                    self.metadata(digest)
                sound.add(digest)
            except UnsoundError as error:
                self._set_aside(path, error)
            except MissingError:
                pass  # another process has set it aside
        return sound & {cell.digest() for cell in cells}

    @contextlib.contextmanager
    def _parquet_file(self, digest: str) -> Iterator[tuple[Any, dict[str, Any]]]:
        """The open file of a cell and its metadata, checked; whatever fails in reading it makes it unsound."""
        parquet = arrow("parquet")
        path = self.path(digest)
        try:
            stream = path.open("rb")
        except FileNotFoundError:
            raise MissingError(f"{path}: there is no such cell; run the study to make it.") from None
        except IsADirectoryError:
            _unsound(path, "it is a folder")
        except OSError as error:
            raise _os_error(path, error) from None
        with stream:
            try:
                if stream.seek(0, io.SEEK_END) == 0:
                    _unsound(path, "it is empty")
                stream.seek(0)
                file = parquet.ParquetFile(stream)
                raw = (file.metadata.metadata or {}).get(_KEY)
                if raw is None:
                    _unsound(path, "it was not written by coebl")
                about = _read_about(path, raw)
                if file.metadata.num_rows != about["rows"]:
                    _unsound(path, f"it has {file.metadata.num_rows} rows instead of {about['rows']}")
                if not file.schema_arrow.equals(table_schema(about["metrics"])):
                    _unsound(path, "its columns are not those of a cell")
                yield file, about
            except CoeblError:
                raise
            except MemoryError:
                _unsound(path, "it asks for more memory than there is")
            except (OSError, ValueError, TypeError, KeyError, IndexError, NotImplementedError) as error:
                # Arrow raises any of these on damaged files, and names its own errors after the built-in ones
                _unsound(path, f"it is no whole Parquet file ({_one_line(error)})")

    def retire(self, cells: Iterable[Cell]) -> None:
        """Set aside what one of these cells replaces: the same but for the content of a file, which has changed since.

        Other cells stay: a part of a study may be run, and the rest of it is then no less true.
        """
        descriptions = [cell.description() for cell in cells]
        wanted = {digest_of(description) for description in descriptions}
        replaced = {_without_files(description) for description in descriptions if description["files"]}
        for path in self.paths() if replaced else ():
            if path.stem not in wanted and self._names(path.stem) in replaced:
                reason = "made from a game's or learner's file that has changed since."
                self._set_aside(path, UnsoundError(f"{path.relative_to(self.folder)}: {reason}"))

    def _names(self, digest: str) -> str:
        try:
            return _without_files(self.metadata(digest)["description"])
        except StoreError:
            return ""  # `finished` deals with it, once it is asked for

    def _set_aside(self, path: Path, error: UnsoundError) -> None:
        folder = self.folder / "set-aside"
        try:
            folder.mkdir(exist_ok=True)
            target = _reserve(folder, path)
            try:
                os.rename(path, target)
            except FileNotFoundError:
                target.rmdir() if target.is_dir() else target.unlink()
                return  # another process was quicker
        except OSError as problem:
            raise _os_error(path, problem) from None
        self.notes.append(f"{error} Moved to {target.relative_to(self.folder)}.")

    def _sweep(self) -> None:
        """Remove what processes that were killed long ago had begun to write."""
        for path in self.folder.glob(f"**/*{_PARTIAL}"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE_SECONDS and "set-aside" not in path.parts:
                    path.unlink()

    # Failures

    def record_failure(self, cell: Cell, traceback_text: str) -> Path:
        """Keep what went wrong with a cell, until it succeeds."""
        description = cell.description()
        digest = digest_of(description)
        record = {
            "digest": digest,
            "cell": str(cell),
            "description": description,
            "traceback": traceback_text,
            "versions": _versions(),
            "time": _now(),
        }
        path = self._failure_path(digest)
        _write(path, _json(record))
        return path

    def failures(self) -> list[dict[str, Any]]:
        """The records of the cells that failed and have not been finished since, in the order of their digests."""
        records = []
        for path in sorted((self.folder / "failed").glob("*.json")):
            if self.path(path.stem).exists():
                continue
            record = _read_json(path)
            if not all(isinstance(record.get(key), str) for key in ("digest", "cell", "traceback")):
                record = {"digest": path.stem, "cell": path.stem, "traceback": f"{path}: the record is damaged."}
            records.append(record)
        return records

    def _failure_path(self, digest: str) -> Path:
        return self.folder / "failed" / f"{digest}.json"

    # Runs

    def record_run(self, cells: int, seconds: float, **more: object) -> None:
        """Add a line on a run that made some cells; a log for people, on which nothing depends."""
        line = {"ended": _now(), "cells": cells, "seconds": round(seconds, 1), **more}
        with contextlib.suppress(OSError), open(self.folder / "runs.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def runs(self) -> list[dict[str, Any]]:
        """What `record_run` has kept; lines that are damaged are left out."""
        try:
            lines = (self.folder / "runs.jsonl").read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []
        records = []
        for line in lines:
            with contextlib.suppress(ValueError, RecursionError):
                record = json.loads(line)
                if isinstance(record, dict) and _is_count(record.get("cells")) and _is_time(record.get("seconds")):
                    records.append(record)
        return records

    # Manifest

    def manifest(self) -> dict[str, Any]:
        """The manifest; built anew, without writing it, if it is lost or damaged."""
        return self._read_manifest() or self._build_manifest()

    def rebuild_manifest(self) -> dict[str, Any]:
        """Build the manifest from the cells, and write it."""
        manifest = self._build_manifest()
        _write(self.folder / "manifest.json", _json(manifest))
        return manifest

    def _build_manifest(self) -> dict[str, Any]:
        cells = []
        for path in self.paths():
            try:
                about = self.metadata(path.stem)
            except StoreError:
                continue  # `finished` deals with it
            description = about["description"]
            cells.append(
                {
                    "digest": path.stem,
                    **about["labels"],
                    "seeds": description["seeds"],
                    "rounds": description["rounds"],
                    "seconds": sum(about["seconds"].values()),
                }
            )
        made = self._read_manifest().get("created")
        if made is None:
            made = _time((self.folder / "study.toml").stat().st_mtime)
        return {"name": self.name, "created": made, "format": FORMAT, "cells": cells}

    def _read_manifest(self) -> dict[str, Any]:
        """The manifest as it is on the disk; empty if it is lost or damaged."""
        manifest = _read_json(self.folder / "manifest.json")
        kinds = {"name": str, "created": str, "cells": list}
        return manifest if all(isinstance(manifest.get(key), kind) for key, kind in kinds.items()) else {}

    # The folder

    def _is_study(self) -> bool:
        has_cells = (self.folder / "cells").is_dir() or (self.folder / "manifest.json").is_file()
        return has_cells and (self.folder / "study.toml").is_file()

    def _make(self, text: str) -> None:
        ours = {"cells", "failed", "set-aside"}
        if self.folder.exists() and not self.folder.is_dir():
            raise StoreError(f"{self.folder}: this is a file; accepted: a folder, or the path of a new one.")
        if self.folder.is_dir():
            # empty folders of ours are what an interrupted `create` leaves behind
            foreign = [entry for entry in self.folder.iterdir() if entry.name not in ours or _occupied(entry)]
            if any(not entry.name.endswith(_PARTIAL) for entry in foreign):
                raise StoreError(f"{self.folder}: the folder is in use and holds no study; name a new or empty one.")
        for part in sorted(ours):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        _write(self.folder / "study.toml", text.encode())  # last: it makes the folder a study
        self.rebuild_manifest()


# Metadata


def _read_about(path: Path, raw: bytes) -> dict[str, Any]:
    """The metadata of a cell's file, if it is what `save` writes."""
    if len(raw) > _MOST_METADATA:
        _unsound(path, f"its description has {len(raw)} bytes")
    try:
        about = json.loads(raw)
    except (ValueError, RecursionError):
        _unsound(path, "its description is no JSON")
    if not isinstance(about, dict) or type(about.get("format")) is not int:
        _unsound(path, "its description names no format")
    if about["format"] != FORMAT:
        inner = about.get("description")
        if isinstance(inner, dict) and inner.get("format") == FORMAT:  # the two were written as one number
            _unsound(path, f"its description names two formats, {shorten(about['format'], 20)} and {FORMAT}")
        versions = about.get("versions")
        writer = versions.get("coebl") if isinstance(versions, dict) else None
        by = f" of coebl {shorten(writer, 20)}" if isinstance(writer, str) else ""
        raise StoreError(
            f"{path}: this is format {shorten(about['format'], 20)}{by}, and coebl {coebl.__version__} reads format "
            f"{FORMAT}; use the coebl that wrote it, or another folder."
        )
    for key, fits in _ABOUT.items():
        if not fits(about.get(key)):
            _unsound(path, f"its description has {key} = {shorten(about.get(key))}")
    for key, fits in _DESCRIPTION.items():
        if not fits(about["description"].get(key)):
            _unsound(path, f"its description has {key} = {shorten(about['description'].get(key))}")
    if digest_of(about["description"]) != path.stem:
        _unsound(path, f"its name should be {digest_of(about['description'])}.parquet")
    if about["rows"] < 1 or about["rows"] % len(about["description"]["seeds"]):
        _unsound(path, f"its description has rows = {about['rows']}")
    return about


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


def _without_files(description: Mapping[str, Any]) -> str:
    """What a cell is, apart from the content of its files."""
    return json.dumps({key: value for key, value in description.items() if key != "files"}, sort_keys=True)


def _is_time(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value < float("inf")  # type: ignore[operator]


def _is_list(value: object, kind: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(kind(entry) for entry in value)


def _is_labels(value: object) -> bool:
    return isinstance(value, dict) and set(value) == set(LABELS) and all(map(_is_text, value.values()))


def _is_seconds(value: object) -> bool:
    return isinstance(value, dict) and all(type(entry) in (int, float) for entry in value.values())


_ABOUT: dict[str, Any] = {
    "description": lambda value: isinstance(value, dict),
    "labels": _is_labels,
    "metrics": lambda value: _is_list(value, _is_text),
    "rows": _is_count,
    "checksum": _is_text,
    "versions": lambda value: isinstance(value, dict),
    "seconds": _is_seconds,
    "created": _is_text,
}
_DESCRIPTION: dict[str, Any] = {
    "game": _is_text,
    "row": _is_text,
    "column": _is_text,
    "rounds": _is_count,
    "seeds": lambda value: _is_list(value, _is_count),
    "metrics": lambda value: _is_list(value, _is_text),
}


def _versions() -> dict[str, str]:
    return {
        "coebl": coebl.__version__,
        "numpy": np.__version__,
        "numba": packages.version("numba"),
        "python": platform.python_version(),
    }


# Files


def _write(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all, also after a power cut."""
    partial = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(6)}{_PARTIAL}")
    try:
        path.parent.mkdir(exist_ok=True)
        try:
            with partial.open("xb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(partial, path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)
    except OSError as error:
        raise _os_error(path, error) from None


def _sync_folder(folder: Path) -> None:
    """Make a new name last; where a folder cannot be synced, the file system sees to it or nothing can be done."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _reserve(folder: Path, path: Path) -> Path:
    """A free name in the folder, held by an empty file (or folder, if it is for one) that a rename replaces."""
    number = 0
    while True:
        target = folder / (f"{path.name}.{number}" if number else path.name)
        try:
            if path.is_dir():
                target.mkdir()
            else:
                target.open("x").close()
            return target
        except FileExistsError:
            number += 1


def _occupied(entry: Path) -> bool:
    return not entry.is_dir() or any(entry.iterdir())


def _read_json(path: Path) -> dict[str, Any]:
    """The object in a file; empty if there is none, or no file."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _json(content: object) -> bytes:
    return (json.dumps(content, indent=1) + "\n").encode()


def _parse_toml(text: str, owner: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise StoreError(f"{owner} is no TOML: {_one_line(error)}; correct it.") from None


def _plain(study: dict[str, Any]) -> str:
    """A text that is equal for equal studies, and different for 1, 1.0 and true."""
    return json.dumps(study, sort_keys=True, default=repr)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return text if len(text) <= 120 else text[:117] + "..."


def _os_error(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{path}: {_one_line(OSError(error.strerror or error))}; make room there, or use another folder.")


def _unsound(path: Path, reason: str) -> NoReturn:
    raise UnsoundError(f"{path}: {reason}.")
