"""Games as CSV: a line per row of the payoffs, between commas, semicolons or tabs, with labels or without.

Between semicolons or tabs, payoffs may have decimal commas, as spreadsheets write them in much of the world.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from coebl.core.arrays import is_number
from coebl.core.errors import InputError, shorten

if TYPE_CHECKING:
    from coebl.games.game import Game

_WITH_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*", re.ASCII)


class _Row(NamedTuple):
    line: int  # the number of its last line
    cells: list[str]


def parse_csv(text: str) -> dict[str, Any]:
    """Return the arguments of `Game` in the text of a CSV file."""
    rows, decimal_comma = _rows(text)
    if not rows:
        raise InputError(
            "the file has only comments; accepted: a payoff matrix. Add a line per action of the row player."
        )
    has_header, labelled = _find_labels(rows)
    body = rows[has_header:]
    if not body:
        raise InputError(
            f"line {rows[0].line} holds labels and no payoffs follow; accepted: a line of numbers per row of the game. "
            "Add them below the labels."
        )
    width = len(body[0].cells)
    for row in body:
        if len(row.cells) != width:
            raise _ragged(row, body[0])
    contents: dict[str, Any] = {}
    if has_header:
        header = rows[0].cells
        # Some programs leave out the corner; an empty first cell is one.
        has_corner = labelled and (len(header) == width or not header[0].strip())
        contents["column_labels"] = header[has_corner:]
        if len(header) - has_corner != width - labelled:
            raise _ragged(rows[0], body[0])
    if labelled:
        contents["row_labels"] = [row.cells[0] for row in body]
    contents["payoff"] = [
        [_number(row, place, decimal_comma) for place in range(labelled, len(row.cells))] for row in body
    ]
    return contents


def _rows(text: str) -> tuple[list[_Row], bool]:
    """Return the rows that are not empty, and True if their numbers have decimal commas."""
    numbered = list(_lines(text))
    numbers, lines = [number for number, _ in numbered], [line for _, line in numbered]
    bare = [line for line in re.sub(r'"[^"]*"', "", "".join(lines)).splitlines() if line.strip()]
    # The comma comes last: it may be the decimal sign of a file with semicolons.
    delimiter = next((sign for sign in "\t;" if bare and all(sign in line for line in bare)), ",")
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        rows = [_Row(numbers[reader.line_num - 1], cells) for cells in reader]
    except csv.Error as error:
        raise InputError(
            f"line {numbers[reader.line_num - 1]} is not CSV ({error}); accepted: cells between commas, semicolons or "
            "tabs. Close the quotes on that line."
        ) from None
    # Between commas such a cell was in quotes, and 1,234 may well be a thousand and more.
    return rows, delimiter != "," and any(_WITH_COMMA.fullmatch(cell) for row in rows for cell in row.cells)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are neither blank nor comments, with their numbers."""
    quoted = False  # inside a quoted cell a line is part of a label, even if it looks like a comment
    for number, line in enumerate(io.StringIO(text, newline=""), start=1):
        if quoted or (line.strip() and not line.lstrip().startswith("#")):
            quoted ^= line.count('"') % 2 == 1
            yield number, line


def _find_labels(rows: list[_Row]) -> tuple[bool, bool]:
    """Return True for the first row, and for the first column, if they are labels."""
    first = rows[0]
    if len(rows) > 1 and len(first.cells) > 1 and not first.cells[0].strip():
        return True, True
    has_header = all(map(_is_label, first.cells))
    if not has_header:
        # A typo in the first row must not silently turn that row into labels.
        for place, cell in enumerate(first.cells):
            if place > 0 and (_is_label(cell) or not cell.strip()):
                raise _bad_cell(first, place, "Replace it; if this line holds labels, put an empty cell before them.")
    body = rows[has_header:]
    return has_header, bool(body) and all(len(row.cells) > 1 and _is_label(row.cells[0]) for row in body)


def _is_label(cell: str) -> bool:
    return bool(cell.strip()) and not is_number(cell) and not _WITH_COMMA.fullmatch(cell)


def _number(row: _Row, place: int, decimal_comma: bool) -> float:
    cell = row.cells[place]
    if decimal_comma and "." in cell:
        raise _bad_cell(row, place, "Write all decimals with a comma, as elsewhere in the file, or all with a point.")
    text = cell.replace(",", ".") if decimal_comma else cell
    if not is_number(text):
        with_comma = _WITH_COMMA.fullmatch(cell)
        raise _bad_cell(row, place, "Write decimals with a point." if with_comma else "Replace it with a number.")
    if not math.isfinite(float(text)):
        raise _bad_cell(row, place, "Replace it with a number, or leave that action out.", "finite numbers")
    return float(text)


def _bad_cell(row: _Row, place: int, repair: str, accepted: str = "numbers such as 1, -0.5 or 2e-3") -> InputError:
    cell = shorten(row.cells[place]) if row.cells[place].strip() else "empty"
    return InputError(f"line {row.line}, cell {place + 1} is {cell}; accepted: {accepted}. {repair}")


def _ragged(row: _Row, like: _Row) -> InputError:
    return InputError(
        f"line {row.line} has {len(row.cells)} cell{'s' * (len(row.cells) != 1)}; accepted: {len(like.cells)}, as on "
        f"line {like.line}. Add or remove cells."
    )


def csv_text(game: Game) -> str:
    """Return the payoffs to the last bit, with the labels unless they are the numbers of the actions."""
    buffer = io.StringIO()
    # Quoting every label keeps semicolons, tabs and comment signs in them from being misread.
    writer = csv.writer(buffer, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    rows = game.payoff.tolist()  # the csv module writes floats by their repr
    if (game.row_labels, game.column_labels) != tuple(tuple(map(str, range(size))) for size in game.shape):
        rows = [["", *game.column_labels], *([label, *row] for label, row in zip(game.row_labels, rows, strict=True))]
    writer.writerows(rows)
    return buffer.getvalue()
