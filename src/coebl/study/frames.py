"""The one table of a study: Polars frames of runs, made from the columns of cells, and the specs that filter them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from coebl.core.errors import InputError, nearest
from coebl.core.modules import require
from coebl.core.specs import split_spec
from coebl.engine.match import MatchKey
from coebl.study.cell_file import CellRuns
from coebl.study.errors import StoreError
from coebl.study.record import REGISTRIES

if TYPE_CHECKING:
    import polars


NOTHING_YET = "no cell is finished yet; run the study first."


def frame_of(cells: Iterable[CellRuns], metrics: Sequence[str], curves: bool) -> polars.DataFrame:
    """Return a frame with one row per match and seed, and per recorded round if `curves`, sorted by match.

    Cells that have none of the metrics are left out. A run that several cells hold is one row; a StoreError if they
    disagree.
    """
    pl = require("polars")
    cells_by_metrics: dict[tuple[str, ...], list[CellRuns]] = {}
    for cell in cells:
        if cell.values and len(cell.rounds):
            cells_by_metrics.setdefault(tuple(cell.values), []).append(cell)
    matches = sorted({cell.record.match for group in cells_by_metrics.values() for cell in group}, key=_order)
    numbers = {match: number for number, match in enumerate(matches)}
    empty = {"match": pl.Int64, "seed": pl.Int64, "round": pl.Int64, **dict.fromkeys(metrics, pl.Float64)}
    frames = [pl.DataFrame(_columns(group, numbers)) for group in cells_by_metrics.values()]
    frame = pl.concat([pl.DataFrame(schema=empty), *frames], how="diagonal")
    frame = _once(frame.sort("match", "seed", "round", maintain_order=True), matches, metrics)
    fields = {"game": pl.String, "players": pl.List(pl.String), "noise": pl.String, "rounds": pl.Int64}
    rows = [(match.game, list(match.players), match.noise, match.rounds) for match in matches]
    labels = pl.DataFrame(rows, schema=fields, orient="row")[frame["match"]]
    numbered = frame.select("seed", *(["round"] if curves else []), *metrics)
    table: polars.DataFrame = pl.concat([labels, numbered], how="horizontal")
    return table


def _order(match: MatchKey) -> tuple[Any, ...]:
    """Sort matches by game, noise and players, sweeps by their numbers."""
    players = tuple(_place("player", spec) for spec in match.players)
    return _place("game", match.game), _place("noise", match.noise), players, match


@lru_cache(maxsize=4096)
def _place(kind: str, spec: str) -> tuple[Any, ...]:
    return REGISTRIES[kind].order(spec)


def _columns(cells: list[CellRuns], numbers: dict[MatchKey, int]) -> dict[str, Any]:
    """The columns of cells with the same metrics: run after run, round after round."""
    runs = [len(cell.seeds) for cell in cells]
    recorded = [len(cell.rounds) for cell in cells]
    matches = np.array([numbers[cell.record.match] for cell in cells], np.int64)
    return {
        "match": np.repeat(matches, np.multiply(runs, recorded)),
        "seed": np.concatenate([cell.seeds.repeat(count) for cell, count in zip(cells, recorded, strict=True)]),
        "round": np.concatenate([np.tile(cell.rounds, count) for cell, count in zip(cells, runs, strict=True)]),
        **{name: np.concatenate([cell.values[name].T.ravel() for cell in cells]) for name in cells[0].values},
    }


def _once(frame: polars.DataFrame, matches: list[MatchKey], metrics: Sequence[str]) -> polars.DataFrame:
    """Return a sorted frame with each run once; overlapping cells have to agree to the last bit."""
    pl = require("polars")
    keys = ["match", "seed", "round"]
    if not _repeats(frame).any():
        return frame
    for metric in metrics:
        recorded = frame.filter(pl.col(metric).is_not_null())
        bits = recorded[metric].to_numpy().view(np.int64)
        [differing] = np.nonzero(_repeats(recorded) & (bits[1:] != bits[:-1]))
        if len(differing):
            match, seed, _ = recorded.select(keys).row(int(differing[0]))
            raise StoreError(
                f"{matches[match]}: seed {seed} has two values of {metric}, so the cells are of two games, two "
                "learners or two versions; keep them in two folders."
            )
    values = [pl.col(metric).drop_nulls().first() for metric in metrics]
    once: polars.DataFrame = frame.group_by(keys, maintain_order=True).agg(values)
    return once


def _repeats(frame: polars.DataFrame) -> Any:
    """True for every row after the first of a sorted frame that has the run and round of the row before."""
    columns = (frame[key].to_numpy() for key in ("match", "seed", "round"))
    return np.logical_and.reduce([column[1:] == column[:-1] for column in columns])


# Filters


def find(kind: str, spec: str, present: Collection[str], name: str = "") -> str:
    """Return the spec among `present` that is equivalent to this one.

    For a spec that names a file, the name of its class or file suffices if it is unambiguous. If there is
    none, the message calls it `name`, by default the kind: game, player or noise.
    """
    if spec in present:
        return spec
    if (shortest := REGISTRIES[kind].shortest(spec)) in present:
        return shortest
    candidates = [other for other in present if spec.casefold() in _short_names(other)]
    if len(candidates) == 1:
        return candidates[0]
    if not present:
        raise InputError(NOTHING_YET)
    raise InputError(
        f"no finished cell has the {name or kind} {spec!r}{nearest(spec, present)} Present: {listed(present)}."
    )


def _short_names(spec: str) -> set[str]:
    """Other names for a spec that names a file, in lower case: its class or its file in place of both.

    >>> sorted(_short_names("mine.py:Mine2:rate=0.2"))
    ['mine.py:rate=0.2', 'mine2:rate=0.2', 'mine:rate=0.2']
    """
    parts = split_spec(spec)
    if not parts.file:
        return set()
    names = parts.attribute, parts.file, parts.file.removesuffix(".py")
    return {f"{name}:{parts.parameters}".rstrip(":").casefold() for name in names}


def listed(present: Collection[str]) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(list(present)[:8])
    return f"{shown} and {len(present) - 8} more" if len(present) > 8 else shown or "none"
