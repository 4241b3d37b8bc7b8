"""What a user's own files are tried with before the work begins, so that a mistake in them is told in seconds."""

from __future__ import annotations

from collections.abc import Iterable

from coebl.core.errors import UserCodeError
from coebl.core.specs import files_in
from coebl.study.cell import Cell
from coebl.study.work import rehearse

_TRIES = 3  # cells of each thing: what may fail in one of them only is left to the run
_SECONDS = 10.0  # that a try may take


def own_cells(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """A few cells for each learner, game, noise or metric of a user's own files, in the order of the given ones.

    They differ in their games or seats.
    """
    found: dict[str, dict[tuple[str, bool], Cell]] = {}
    for cell in cells:
        for spec in cell.specs:
            tries = found.setdefault(spec, {}) if files_in(spec) else {}
            if len(tries) < _TRIES:
                tries.setdefault((cell.game, spec == cell.players[0]), cell)
    return {spec: list(tries.values()) for spec, tries in found.items()}


def check_own(tries: dict[str, list[Cell]]) -> None:
    """Play the first rounds of these cells; refuse what fails in all of its own by an error in its file."""
    for spec, cells in tries.items():
        causes = []
        for cell in cells:
            failure = rehearse(cell, _SECONDS)
            if failure is None or failure.file not in files_in(spec):
                break
            causes.append(failure.cause)
        else:
            raise UserCodeError(f"{causes[0]} ({spec}, in its first rounds); nothing was run. Fix the file.")
