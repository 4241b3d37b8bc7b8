"""The plan of a run: the runs that a study asks for and its folder does not hold, by seed and metric.

So a study can grow in its folder. With more seeds, learners, games or metrics only new runs are made; seeds that are
stored in other blocks are not run again. `coebl run` and its `--dry-run` follow the same plan.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from coebl.core.errors import printable, shorten
from coebl.core.specs import split_spec, without_folder
from coebl.core.text import counted
from coebl.study.cell import Cell, Description, FailureRecord
from coebl.study.errors import MissingError, StoreError
from coebl.study.store import Store, check_one_device
from coebl.study.studies import Study

_Key = tuple[Any, ...]  # the runs of a cell apart from seeds and metrics, see `_key_of`
_MetricKey = tuple[str, str | None]  # a metric, and the checksum of its file or of its source, if it has one
_Measured = dict[int, set[_MetricKey]]  # the measured metrics of a match, by seed


@dataclass(frozen=True)
class Plan:
    """The cells that a run will make, and the state of its folder."""

    todo: Mapping[Cell, str] = field(default_factory=dict)  # cells to run, each with its digest
    partial: frozenset[Cell] = frozenset()  # those of whose runs the folder already holds other metrics
    found: int = 0  # cells of the study that need no run
    stored: int = 0  # valid files in the folder
    left_alone: int = 0  # files that hold nothing that the study asks for
    notes: tuple[str, ...] = ()  # notes on files that are set aside

    def lines(self) -> list[str]:
        """Return the cells to run, with their metrics if the folder holds other metrics of the same runs."""
        return [
            f"{cell}, only {printable(', '.join(cell.metrics))}" if cell in self.partial else str(cell)
            for cell in self.todo
        ]


def make_plan(study: Study, store: Store | None, dry: bool = False) -> Plan:
    """Return the plan of a study in a store, or in a folder that is still to be made.

    Damaged files are set aside, and so are cells made from a file of a game, learner or metric that has changed since;
    a dry plan only reports them. Raises a StoreError if the folder belongs to another study, or holds the same matches
    in another length: curves of two lengths cannot be combined.
    """
    requested: dict[str, tuple[Cell, Description]] = {}
    for cell in study.cells:
        description = cell.description()
        requested[description.digest()] = cell, _with_noise(description, without_folder(cell.default_noise))
    if store is None:
        return Plan(*_to_run(requested, set(), []))
    if (before := store.study().get("name")) != study.name:
        raise StoreError(
            f"{store.folder}: this is the folder of the study {shorten(before)}, and the file is of {study.name!r}; "
            "use another folder, or give the file the old name."
        )
    valid = store.finished(dry)
    finished = valid & requested.keys()
    other_cells = {}
    for digest in sorted(valid - finished):
        with suppress(MissingError):  # another process has set it aside
            record = store.record(digest)
            other_cells[digest] = _with_noise(record.description, record.noise)
    descriptions = [description for _, description in requested.values()]
    by_match: dict[_Key, list[Description]] = defaultdict(list)
    for description in descriptions if other_cells else ():
        by_match[_match(description)].append(description)
    stale = _stale(by_match, other_cells)
    kept = [description for digest, description in other_cells.items() if digest not in stale]
    _check_lengths(store, by_match, kept)
    others, devices = {other.device for other in kept}, {cell.device for cell in study.cells}
    check_one_device(store, others | devices if finished else others)
    for device in others - devices:
        raise StoreError(
            f"{store.folder}: its cells were run on {device}, and the study is to be run on {', '.join(devices)}; use "
            f"another folder, or device {device}."
        )
    if not dry:
        for digest in stale:
            store.set_aside(store.path(digest))
    todo, partial, complete = _to_run(requested, finished, kept)
    left_alone = 0
    failures = [] if dry else store.failures()
    if kept or failures:
        wanted = _measured(descriptions)
        for other in kept:
            metrics, measured = _metrics(other), wanted[_key_of(other)]
            left_alone += all(measured[seed].isdisjoint(metrics) for seed in other.seeds if seed in measured)
        _forget_failures(study, store, failures, {*todo.values()}, wanted)
    moved = "to be moved" if dry else "moved"
    notes = [
        f"{counted(count, 'cell')} {'was' if count == 1 else 'were'} made from {names}, which has changed since: "
        f"{moved} to set-aside, to be run again. To keep both, put the old file back, and run the new one under "
        "another name."
        for names, count in Counter(map(", ".join, stale.values())).items()
    ]
    return Plan(todo, partial, complete, len(finished) + len(kept), left_alone, (*store.notes, *notes))


def _with_noise(description: Description, default: str | None) -> Description:
    """Return a description that names the noise even if it is the game's default: the match is the same either way."""
    return description if description.noise is not None else description.model_copy(update={"noise": default})


def _to_run(
    requested: Mapping[str, tuple[Cell, Description]], finished: set[str], other_cells: Iterable[Description]
) -> tuple[dict[Cell, str], frozenset[Cell], int]:
    """Return the cells to run, those that lack only some metrics, and the number of cells that need no run."""
    missing = {digest: pair for digest, pair in requested.items() if digest not in finished}
    keys = {_key_of(description) for _, description in missing.values()}
    present = chain((requested[digest][1] for digest in finished), other_cells) if missing else ()
    held = _measured(other for other in present if not other.keep and _key_of(other) in keys)
    todo: dict[Cell, str] = {}
    partial: set[Cell] = set()
    complete = len(requested)
    for digest, (cell, description) in missing.items():
        pieces = [cell] if cell.keep else _lacking(cell, description, held[_key_of(description)])
        todo |= {piece: digest if piece == cell else piece.digest() for piece in pieces}
        partial.update(piece for piece in pieces if piece.metrics != cell.metrics)
        complete -= bool(pieces)
    return todo, frozenset(partial), complete


def _lacking(cell: Cell, description: Description, held: _Measured) -> list[Cell]:
    """Return the runs of a cell that are not held, in as few cells as possible; they count as held from then on."""
    metrics = dict(zip(_metrics(description), cell.metrics, strict=True))
    seeds: dict[tuple[str, ...], list[int]] = {}  # by the metrics that they lack
    for seed in cell.seeds:
        if lacking := tuple(name for metric, name in metrics.items() if metric not in held[seed]):
            seeds.setdefault(lacking, []).append(seed)
        held[seed].update(metrics)
    return [replace(cell, seeds=tuple(of_seeds), metrics=lacking) for lacking, of_seeds in seeds.items()]


def _match(description: Description) -> _Key:
    return description.game, description.players, description.noise


def _key_of(description: Description) -> _Key:
    """Return the key of cells that differ only in their seeds and metrics."""
    files = (description.files.get(key) for key in description.run_files())
    return (*_match(description), *_length(description), description.device, *files)


def _length(description: Description) -> _Key:
    return description.rounds, description.record, description.until


def _metrics(description: Description) -> tuple[_MetricKey, ...]:
    files = description.files
    return tuple((metric, files.get(split_spec(metric).file or metric)) for metric in description.metrics)


def _measured(descriptions: Iterable[Description]) -> dict[_Key, _Measured]:
    """Return the metrics that are measured, by the match played and by seed."""
    measured: dict[_Key, _Measured] = defaultdict(lambda: defaultdict(set))
    for description in descriptions:
        metrics, by_seed = _metrics(description), measured[_key_of(description)]
        for seed in description.seeds:
            by_seed[seed].update(metrics)
    return measured


def _forget_failures(
    study: Study, store: Store, failures: Iterable[FailureRecord], todo: set[str], wanted: dict[_Key, _Measured]
) -> None:
    """Remove the records of cells whose runs are held by now, or are run in other cells."""
    noises = {cell.labels().game: without_folder(cell.default_noise) for cell in study.cells}
    for failure in failures:
        if failure.description is not None and failure.digest not in todo:
            description = _with_noise(failure.description, noises.get(failure.description.game))
            if wanted[_key_of(description)].keys() >= {*description.seeds}:
                store.forget_failure(failure.digest)


def _check_lengths(
    store: Store, requested: Mapping[_Key, list[Description]], other_cells: Iterable[Description]
) -> None:
    for other in other_cells:
        requested_cells = requested.get(_match(other), [other])
        if all(_length(study) != _length(other) for study in requested_cells):
            study = requested_cells[0]
            key = next(key for key in ("rounds", "until", "record") if getattr(study, key) != getattr(other, key))
            raise StoreError(
                f"{store.folder}: the study file has changed: its {key} is now {getattr(study, key)}, and cells of "
                f"{' v '.join(other.players)} on {other.game} are there with {key} {getattr(other, key)}; use another "
                f"folder, or put {key} back."
            )


def _stale(requested: Mapping[_Key, list[Description]], other_cells: Mapping[str, Description]) -> dict[str, list[str]]:
    """Return the cells that were made from files whose content has changed, each with the names of these files."""
    files = {match: dict(chain(*(cell.files.items() for cell in cells))) for match, cells in requested.items()}
    stale = {}
    for digest, other in other_cells.items():
        current = files.get(_match(other), {})
        # a cell of an earlier version does not list the files that specs inside its specs name
        before = dict.fromkeys(other.run_files()) | other.files
        if changed := [key for key, checksum in before.items() if current.get(key, checksum) != checksum]:
            named = dict(zip(other.run_files(), (other.game, *other.players), strict=False))
            specs = (named.get(key, key) for key in changed)  # other files are listed by their names
            stale[digest] = sorted({split_spec(spec).file or spec for spec in specs})
    return stale
