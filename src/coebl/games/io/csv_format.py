"""Games as CSV: a line per row of the payoffs, between commas, semicolons or tabs, with labels or without.

Between semicolons or tabs, payoffs may have decimal commas, as spreadsheets write them in much of the world.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from coebl.core.arrays import is_number
from coebl.core.errors import InputError, shorten
from coebl.games.game import Game
from coebl.games.io.text import decode, encode

_WITH_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*", re.ASCII)


@dataclass(frozen=True)
class _Row:
    line: int  # the number of its last line
    cells: list[str]


def read(data: bytes) -> dict[str, Any]:
    """The arguments of `Game` in a file's bytes."""
    rows, decimal_comma = _rows(decode(data))
    if not rows:
        raise InputError(
            "the file has only comments; accepted: a payoff matrix. Add a line per action of the row player."
        )
    header, labelled = _labels(rows)
    body = rows[1:] if header else rows
    if not body:
        raise InputError(
            f"line {rows[0].line} holds labels and no payoffs follow; accepted: a line of numbers per row of the game. "
            "Add them below the labels."
        )
    width = len(body[0].cells)
    for row in body:
        if len(row.cells) != width:
            _ragged(row, width, body[0])
    contents: dict[str, Any] = {}
    if header:
        contents["column_labels"] = _column_labels(rows[0], labelled, body[0])
    if labelled:
        contents["row_labels"] = [row.cells[0] for row in body]
    contents["payoff"] = [
        [
            _number(cell, decimal_comma, row.line, place)
            for place, cell in enumerate(row.cells[labelled:], start=1 + labelled)
        ]
        for row in body
    ]
    return contents


def _column_labels(header: _Row, labelled: bool, first: _Row) -> list[str]:
    """The labels in the header; some programs leave out its corner, and an empty first cell is the corner."""
    width = len(first.cells)
    cornered = labelled and (len(header.cells) == width or not header.cells[0].strip())
    labels = header.cells[1:] if cornered else header.cells
    if len(labels) != width - labelled:
        _ragged(header, width, first)
    return labels


def _rows(text: str) -> tuple[list[_Row], bool]:
    """The rows that hold something, and whether their numbers have decimal commas."""
    numbers: list[int] = []
    delimiter = _delimiter(list(_lines(text, [])))
    reader = csv.reader(_lines(text, numbers), delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        rows = [_Row(numbers[-1], cells) for cells in reader]
    except csv.Error as error:
        raise InputError(
            f"line {numbers[-1]} is not CSV ({error}); accepted: cells between commas, semicolons or tabs. "
            "Close the quotes on that line."
        ) from None
    # Between commas such a cell was in quotes, and 1,234 may well be a thousand and more.
    return rows, delimiter != "," and any(_WITH_COMMA.fullmatch(cell) for row in rows for cell in row.cells)


def _lines(text: str, numbers: list[int]) -> Iterator[str]:
    """The lines that are neither blank nor comments; the number of the line in hand is appended to `numbers`."""
    quoted = False  # inside a quoted cell a line is part of a label, whatever it looks like
    for number, line in enumerate(io.StringIO(text, newline=""), start=1):
        if quoted or (line.strip() and not line.lstrip().startswith("#")):
            quoted ^= line.count('"') % 2 == 1
            numbers.append(number)
            yield line


def _delimiter(lines: Sequence[str]) -> str:
    bare = re.sub(r'"[^"]*"', "", "".join(lines)).splitlines()
    for candidate in "\t;,":  # the comma last: it may be the decimal sign of a file with semicolons
        counts = {line.count(candidate) for line in bare if line.strip()}
        if len(counts) == 1 and 0 not in counts:
            return candidate
    return next((candidate for candidate in "\t;," if all(candidate in line for line in bare)), ",")


def _labels(rows: list[_Row]) -> tuple[bool, bool]:
    """Whether the first row and whether the first column are labels."""
    first = rows[0]
    if len(rows) > 1 and len(first.cells) > 1 and not first.cells[0].strip():
        return True, True
    header = all(map(_is_label, first.cells))
    if not header:
        # A typing error in the first row must not turn that row into labels in silence.
        for place, cell in enumerate(first.cells[1:], start=2):
            if _is_label(cell) or not cell.strip():
                repair = "Replace it; if this line holds labels, put an empty cell before them."
                _not_a_number(cell, first.line, place, repair)
    body = rows[1:] if header else rows
    return header, bool(body) and all(len(row.cells) > 1 and _is_label(row.cells[0]) for row in body)


def _is_label(cell: str) -> bool:
    return bool(cell.strip()) and not is_number(cell) and not _WITH_COMMA.fullmatch(cell)


def _number(cell: str, decimal_comma: bool, line: int, place: int) -> float:
    if decimal_comma and "." in cell:
        _not_a_number(
            cell, line, place, "Write all decimals with a comma, as elsewhere in the file, or all with a point."
        )
    text = cell.replace(",", ".") if decimal_comma else cell
    if not is_number(text):
        with_comma = _WITH_COMMA.fullmatch(cell)
        _not_a_number(cell, line, place, "Write decimals with a point." if with_comma else "Replace it with a number.")
    number = float(text)
    if not math.isfinite(number):
        raise InputError(
            f"line {line}, cell {place} is {shorten(cell)}; accepted: finite numbers. "
            "Replace it with a number, or leave that action out."
        )
    return number


def _not_a_number(cell: str, line: int, place: int, repair: str) -> NoReturn:
    what = shorten(cell) if cell.strip() else "empty"
    raise InputError(f"line {line}, cell {place} is {what}; accepted: numbers such as 1, -0.5 or 2e-3. {repair}")


def _ragged(row: _Row, width: int, like: _Row) -> NoReturn:
    raise InputError(
        f"line {row.line} has {len(row.cells)} cell{'s' * (len(row.cells) != 1)}; accepted: {width}, as on line "
        f"{like.line}. Fill in or take out cells."
    )


def write(game: Game) -> bytes:
    """The payoffs to the last bit, with the labels unless they are plain numbers."""
    buffer = io.StringIO()
    # Quoting every label keeps semicolons, tabs and comment signs in them from being taken for something else.
    writer = csv.writer(buffer, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    if _has_labels(game):
        writer.writerow(["", *game.column_labels])
        writer.writerows([label, *row] for label, row in zip(game.row_labels, game.payoff.tolist(), strict=True))
    else:
        writer.writerows(game.payoff.tolist())  # the csv module writes floats by their repr
    return encode(buffer.getvalue())


def _has_labels(game: Game) -> bool:
    m, n = game.shape
    return (game.row_labels, game.column_labels) != (tuple(map(str, range(m))), tuple(map(str, range(n))))
