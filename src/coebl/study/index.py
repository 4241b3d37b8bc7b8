"""Which cells of a study are finished, and which of them fit what is asked for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from coebl.study.cell import device_of
from coebl.study.errors import StoreError, UnsoundError
from coebl.study.finding import find
from coebl.study.store import Store
from coebl.study.tables import LABELS

Specs = str | Sequence[str] | None  # one spec, several, or all there are
CellAbout = tuple[str, dict[str, Any]]  # the digest of a cell, and its metadata

_RECENT = 2 * 10**9  # nanoseconds within which a file system may give two changes one time


class Index:
    """The metadata of finished cells: by match and seeds, and by what is asked for."""

    def __init__(self, cells: list[CellAbout]) -> None:
        self.digests = [digest for digest, _ in cells]
        self.cells = sorted(cells, key=_order)
        self.metrics = dict.fromkeys(metric for _, about in self.cells for metric in about["metrics"])
        self.by_match: dict[tuple[str, str, str], list[CellAbout]] = {}
        self._present: dict[str, dict[str, None]] = {label: {} for label in LABELS}
        for digest, about in self.cells:
            labels = about["labels"]
            self.by_match.setdefault((labels["game"], labels["row"], labels["column"]), []).append((digest, about))
            for label in LABELS:
                self._present[label][labels[label]] = None

    def find(self, label: str, spec: str) -> str:
        """The spec among the labels of cells that means the same as this one."""
        name = f"{label} learner" if label in ("row", "column") else label
        return find(label, spec, self._present[label], name)

    def matching(self, filters: dict[str, Specs]) -> list[CellAbout]:
        """The cells whose labels are among those asked for."""
        cells = self.cells
        for label, specs in filters.items():
            if specs is not None:
                accepted = {self.find(label, spec) for spec in ([specs] if isinstance(specs, str) else specs)}
                cells = [cell for cell in cells if cell[1]["labels"][label] in accepted]
        return cells


class Listing:
    """The index of a folder to which other processes may add cells; the metadata of a cell is read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, dict[str, Any]] = {}  # digest to metadata: a file never changes under its name
        self._index = Index([])
        self._listed_at: int | None = None

    def note(self, digest: str, about: dict[str, Any]) -> None:
        """Take up the metadata of a cell that was read for another reason."""
        self._known[digest] = about

    def current(self) -> Index:
        """The index of the cells that are there now."""
        stamp = self._stamp()
        if stamp is None or stamp != self._listed_at:
            present = self._store.digests()
            if present != self._index.digests:
                for digest in present:
                    if digest not in self._known:
                        self.note(digest, sound(self._store.metadata, digest))
                cells = [(digest, self._known[digest]) for digest in present]
                check_one_device(self._store, (about["description"] for _, about in cells))
                self._index = Index(cells)
            self._listed_at = stamp
        return self._index

    def _stamp(self) -> int | None:
        """When the folder of cells last changed; None if so recently that another change may have the same time."""
        try:
            changed = os.stat(self._store.folder / "cells").st_mtime_ns
        except OSError:
            return None
        return changed if time.time_ns() - changed > _RECENT else None


def check_one_device(store: Store, descriptions: Iterable[Mapping[str, Any]]) -> None:
    """Reject a folder into which somebody has put cells of two devices: a seed leads to different runs on them."""
    devices = sorted({device_of(description) for description in descriptions})
    if len(devices) > 1:
        raise StoreError(
            f"{store.folder}: there are cells that were run on {' and on '.join(devices)}; accepted: those of one "
            "device, as a seed leads to different runs on another. Keep them in two folders."
        )


def sound(read: Callable[..., Any], digest: str, *options: Any) -> Any:
    """What `read` makes of a cell; only a run of the study moves files, so a damaged one is an error here."""
    try:
        return read(digest, *options)
    except UnsoundError as error:
        raise StoreError(f"{error} Run the study again: it sets the file aside and runs the cell again.") from None


def _order(cell: CellAbout) -> tuple[Any, ...]:
    digest, about = cell
    labels, description = about["labels"], about["description"]
    match = (labels["game"], labels["noise"], labels["row"], labels["column"], description["rounds"])
    return (*match, description["seeds"][0], digest)
