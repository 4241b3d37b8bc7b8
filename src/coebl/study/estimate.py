"""What a study will take: time, by a quick calibration, and disk."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

from coebl.engine.simulate import recorded_rounds
from coebl.study.cell import Cell
from coebl.study.cell_file import CellFile
from coebl.study.processes import cores
from coebl.study.schema import Study
from coebl.study.work import play

_ROUND = 100.0  # microseconds that a round takes by itself, whatever is played
_CALIBRATION = 8.0  # seconds that may go into it
_ROUNDS = 4, 24  # of the two samples of a cell
_STARTING = 2.0  # seconds to start the worker processes
_STORING = 0.006  # seconds that the parent needs for each cell, while the others work


def rounds_of(cell: Cell) -> int:
    """Rounds to simulate, over all runs."""
    return cell.rounds * len(cell.seeds)


def work_of(cells: Iterable[Cell]) -> dict[Cell, float]:
    """About how many microseconds each cell takes: to run the longest first, and to tell how much time is left."""
    costs: dict[tuple[str, str, str], float] = {}  # of a round per run
    works = {}
    for cell in cells:
        key = cell.game, cell.row, cell.column
        if key not in costs:
            costs[key] = _cost(cell)
        works[cell] = cell.rounds * (_ROUND + len(cell.seeds) * costs[key])
    return works


def _cost(cell: Cell) -> float:
    try:
        match = cell.match()
        m, n = (space.width for space in match.game.spaces)
        return match.row.cost(m, n) + match.column.cost(n, m)
    except Exception:
        return 1.0  # a learner of one's own, perhaps; the run itself will show


def estimate(study: Study, workers: int | None = None) -> float:
    """Seconds that the study will take, from some rounds of the matches that it mostly consists of."""
    works = work_of(study.cells)
    alike: dict[tuple[object, ...], list[Cell]] = {}
    for cell in study.cells:
        alike.setdefault((cell.game, cell.row, cell.column, len(cell.seeds), cell.rounds), []).append(cell)
    seconds, measured, modelled = 0.0, 0.0, 0.0
    ends = time.perf_counter() + _CALIBRATION
    for cells in sorted(alike.values(), key=lambda cells: sum(map(works.__getitem__, cells)), reverse=True):
        work = sum(map(works.__getitem__, cells))
        took = _seconds(cells[0]) if time.perf_counter() < ends else None
        if took is None:  # too many different ones: as much as their share of the work
            seconds += work * (measured / modelled if modelled else 1e-6)
            continue
        seconds += took * len(cells)
        measured += took * len(cells)
        modelled += work
    processes = min(workers or cores(), len(study.cells))
    return _STARTING + max(seconds / processes, _STORING * len(study.cells))


def _seconds(cell: Cell) -> float | None:
    """How long a cell takes, from two short samples: what it takes by itself, and what each round adds."""
    times = []
    lengths = [min(cell.rounds, rounds) for rounds in _ROUNDS]
    for rounds in lengths:
        short = replace(cell, rounds=rounds)
        started = time.perf_counter()
        if not isinstance(play(short), CellFile):
            return None  # a learner of one's own, perhaps; the run itself will show
        times.append(time.perf_counter() - started)
    if lengths[0] == lengths[1]:
        return times[1]
    a_round = max(0.0, (times[1] - times[0]) / (lengths[1] - lengths[0]))
    return times[1] + a_round * (cell.rounds - lengths[1])


def disk_use(study: Study) -> int:
    """Bytes that the results will take, about: eight a number, little of which zstd can save."""
    total = 0
    for cell in study.cells:
        recorded = len(recorded_rounds(cell.record, cell.rounds))
        total += 4000 + recorded * len(cell.seeds) * (8 * len(cell.metrics) + 2)
    return total
