"""What the file of a cell says of itself: written when it is made, checked whenever it is read."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import metadata as packages
from pathlib import Path
from typing import Any

import numpy as np

import coebl
from coebl.backend import Device, backend_for
from coebl.core.errors import InputError, shorten
from coebl.core.registry import Registry
from coebl.core.specs import files_in, split_spec, without_folder
from coebl.engine import Result
from coebl.games import GAMES, NOISES
from coebl.learners import LEARNERS
from coebl.study.cell import FORMAT, Cell, digest_of
from coebl.study.errors import StoreError, UnsoundError
from coebl.study.tables import LABELS
from coebl.study.things import are_things, things_of

_MOST_BYTES = 1 << 26  # far above what a million seeds need
_MOST_SECONDS = 1e12

# What the specs of each label are looked up in.
REGISTRIES: dict[str, Registry[Any]] = {"game": GAMES, "row": LEARNERS, "column": LEARNERS, "noise": NOISES}


def labels_of(description: Mapping[str, Any], result: Result) -> dict[str, str]:
    """The labels of a result's table, if they are those of the cell with this description."""
    match = result.match
    specs = {"row": str(match.row), "column": str(match.column), "noise": str(match.game.noise)}
    labels = {
        "game": without_folder(match.game.spec) if match.game.spec else description["game"],
        **{label: without_folder(spec) for label, spec in specs.items()},
    }
    if fault := _label_fault(description, labels):
        raise InputError(f"the result is not of this cell: {fault}.")
    return labels


def about_of(
    cell: Cell, description: Mapping[str, Any], labels: Mapping[str, str], result: Result, rows: int, checksum: str
) -> dict[str, Any]:
    """What is written into the file of a cell, besides its table."""
    return {
        "format": FORMAT,
        "description": description,
        "labels": labels,
        "metrics": list(result.metrics),
        "rows": rows,
        "checksum": checksum,
        "things": things_of(labels, result, cell.metrics),
        "versions": versions(result.device),
        "seconds": {phase: float(seconds) for phase, seconds in result.seconds.items()},
        "created": now(),
    }


def read_about(path: Path, raw: bytes) -> dict[str, Any]:
    """What the file at a path says of itself, if a cell's file can say it."""
    if len(raw) > _MOST_BYTES:
        raise UnsoundError(f"{path}: its description has {len(raw)} bytes.")
    try:
        about = json.loads(raw)
    except (ValueError, RecursionError):
        raise UnsoundError(f"{path}: its description is not JSON.") from None
    if not isinstance(about, dict) or type(about.get("format")) is not int:
        raise UnsoundError(f"{path}: its description does not name its format.")
    if about["format"] != FORMAT:
        raise _other_format(path, about)
    if fault := _fault(about, path.stem):
        raise UnsoundError(f"{path}: {fault}.")
    return about


def _other_format(path: Path, about: dict[str, Any]) -> StoreError:
    inner = about.get("description")
    number = shorten(about["format"], 20)
    if isinstance(inner, dict) and inner.get("format") == FORMAT:  # the two were written as one number
        return UnsoundError(f"{path}: its description names two formats, {number} and {FORMAT}.")
    versions = about.get("versions")
    writer = versions.get("coebl") if isinstance(versions, dict) else None
    by = f" of coebl {shorten(writer, 20)}" if isinstance(writer, str) else ""
    return StoreError(
        f"{path}: this is format {number}{by}, and coebl {coebl.__version__} reads format {FORMAT}; use the coebl that "
        "wrote it, or another folder."
    )


def _fault(about: dict[str, Any], digest: str) -> str | None:
    """What is wrong with a description of our format, or None."""
    description = about.get("description")
    tables = ((about, _ABOUT), (description if isinstance(description, dict) else {}, _DESCRIPTION))
    for table, kinds in tables:
        for key, fits in kinds.items():
            if not fits(table.get(key)):
                return f"its description has {key} = {shorten(table.get(key))}"
    assert isinstance(description, dict)
    if digest_of(description) != digest:
        return f"its name should be {digest_of(description)}.parquet"
    if about["rows"] < 1 or about["rows"] % len(description["seeds"]):
        return f"its description has rows = {about['rows']}"
    return _label_fault(description, about["labels"])


def _label_fault(description: Mapping[str, Any], labels: Mapping[str, str]) -> str | None:
    """Which label is not what the description asks for, or None."""
    for label, names in REGISTRIES.items():
        asked = description[label]
        if asked is not None and not _same(labels[label], asked, names):
            return f"its {label} is {shorten(labels[label])} instead of {shorten(asked)}"
    return None


def _same(label: str, asked: str, names: Registry[Any]) -> bool:
    """Whether a canonical spec is the shortest form of another one, as far as can be told without running a file."""
    if label == asked:
        return True
    if found := names.known(asked):
        entry, arguments = found
        return entry.write(arguments) == label
    return split_spec(label).name == split_spec(asked).name  # in a file, or of a package that is not installed here


# Kinds of values


def is_count(value: object) -> bool:
    """Whether a value is an integer that 64 bits can hold, and not negative."""
    return type(value) is int and 0 <= value < 1 << 63


def is_time(value: object) -> bool:
    """Whether a value is a number of seconds that something may have taken."""
    return type(value) in (int, float) and 0 <= value < _MOST_SECONDS  # type: ignore[operator]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_spec(value: object) -> bool:
    try:
        return isinstance(value, str) and files_in(value) is not None
    except InputError:  # nested too deep
        return False


def _list_of(kind: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and bool(value) and all(map(kind, value))


def _table_of(kind: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, dict) and all(map(kind, value.values()))


def _is_labels(value: object) -> bool:
    return isinstance(value, dict) and set(value) == set(LABELS) and all(map(_is_text, value.values()))


def _is_seeds(value: object) -> bool:
    return _list_of(is_count)(value) and len(set(value)) == len(value)  # type: ignore[arg-type,call-overload]


_ABOUT: dict[str, Callable[[object], bool]] = {
    "description": lambda value: isinstance(value, dict),
    "labels": _is_labels,
    "metrics": _list_of(_is_text),
    "rows": is_count,
    "checksum": _is_text,
    "versions": _table_of(_is_text),
    "seconds": _table_of(is_time),
    "created": _is_text,
    "things": are_things,
}
_DESCRIPTION: dict[str, Callable[[object], bool]] = {
    "game": _is_spec,
    "row": _is_spec,
    "column": _is_spec,
    "rounds": is_count,
    "seeds": _is_seeds,
    "noise": lambda value: value is None or _is_spec(value),
    "record": lambda value: _is_text(value) or is_count(value),
    "metrics": _list_of(_is_text),
    "files": _table_of(_is_text),
    "device": lambda value: value is None or value == "cuda",
}


def versions(device: Device = "cpu") -> dict[str, str]:
    """The versions of everything that the numbers may depend on."""
    return backend_for(device).versions | {
        "coebl": coebl.__version__,
        "numpy": np.__version__,
        "numba": packages.version("numba"),
        "python": platform.python_version(),
        "exp and log": _exp_and_log(),
    }


@cache
def _exp_and_log() -> str:
    """Which of NumPy's versions of exp and log this processor runs: their last bits differ.

    Everything else that a run does is the same to the last bit on every processor.
    """
    chosen = np.lib.introspect.opt_func_info("^(exp|log)$", "float64")
    targets = sorted({str(info["current"]) for of_types in chosen.values() for info in of_types.values()})
    return f"{platform.machine()} {' '.join(targets)}".strip()


def now() -> str:
    """The time, to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
