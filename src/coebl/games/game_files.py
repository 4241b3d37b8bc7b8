"""Games in files: .csv, .npy, .json, and .nfg, which is Gambit's normal form.

To add a format, write a function that reads the text of a file and returns the arguments of a game, or raises an
`InputError` that names the place of the mistake, and a function that returns the text of a game. Add both to
`_FORMATS`.
"""

from __future__ import annotations

import csv
import errno
import io
import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coebl.core.arrays import is_number
from coebl.core.errors import InputError, nearest, shorten
from coebl.core.files import MOST_TEXT, check_path, read_whole, write_whole
from coebl.core.specs import files_in
from coebl.core.text import counted
from coebl.games.game import Game, TableGame
from coebl.games.interchange import differing_sums, nfg_text, parse_nfg
from coebl.games.tensor import TensorGame

_JSON = 'a list of rows, or an object such as {"payoff": [[1, -1], [-1, 1]]}'
_OF_MATRIX = ("name", "payoff", "row_labels", "column_labels", "noise", "payoff_range")
_OF_TENSORS = ("name", "payoffs", "labels", "seats", "noise", "noise_between", "payoff_ranges")
_MOST_NESTED = 64  # levels of lists in lists: NumPy's arrays have no more axes


def read_game(path: str | os.PathLike[str]) -> Game | TensorGame:
    """Read the game in a file: .csv, .npy, .json, or .nfg (Gambit's normal form).

    A CSV file holds the payoffs to the row player. A header row and a first column of labels are optional; if the first
    cell is empty, both are labels even if they look like numbers. An NFG file of a constant-sum game of two players
    gives a `Game` with the row player's payoffs; any other NFG file, and a JSON file with the key `payoffs`, gives
    a `TensorGame`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "inspection.csv"
    ...     _ = path.write_text(",comply,cheat\\ninspect,0,6\\nwait,2,-1\\n")
    ...     read_game(path).row_labels
    ('inspect', 'wait')
    """
    path = check_path("path", path)
    try:
        if os.path.isdir(path):  # unlike Path.is_dir, it accepts names that are too long
            raise InputError("this is a folder; accepted: a file. Name one of the files in it.")
        suffix = _check_suffix(path)
        data = _bytes(path)
        if not data.strip():
            raise InputError("the file is empty; accepted: a payoff matrix, such as the lines 1,-1 and -1,1. Add one.")
        contents = {"name": path.stem, **_FORMATS[suffix][0](data if suffix == ".npy" else _decode(data))}
        if "payoff" in contents:
            return Game(contents.pop("payoff"), **contents)
        payoffs = contents.pop("payoffs")
        if suffix == ".nfg" and len(payoffs) == 2 and not differing_sums(*payoffs):
            return Game._from_tensors(payoffs, "the game", **contents)
        return TensorGame(payoffs, **contents)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def write_game(game: TableGame, path: str | os.PathLike[str]) -> None:
    """Write a game to the file at a path that ends with .csv, .npy, .json, or .nfg (Gambit's normal form).

    The payoffs are read back to the last bit. JSON keeps everything; CSV keeps the payoffs and the labels, NFG also the
    name, and NPY only the payoffs. A `TensorGame` is written to JSON or NFG. An existing file is replaced completely or
    not at all.

    >>> import tempfile
    >>> game = Game([[3, 0, 0.1], [1, 2, 1 / 3]], noise="laplace", payoff_range=(-5, 5))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_game(game, Path(folder) / "example.json")
    ...     read_game(Path(folder) / "example.json") == game
    True
    """
    target = check_path("path", path)
    try:
        suffix = _check_suffix(target)
        if isinstance(game, TensorGame) and suffix not in (".json", ".nfg"):
            raise InputError(f"a {suffix} file holds one matrix; accepted for {game.name}: .json or .nfg.")
        content = _FORMATS[suffix][1](game)
        data = content.encode() if isinstance(content, str) else content
    except UnicodeEncodeError as error:
        wrong = error.object[error.start]
        raise InputError(f"{path}: a name or label holds {wrong!r}, which is not a character; replace it.") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    write_whole(path, data)


def _bytes(path: Path) -> bytes:
    try:
        return read_whole(path, None if path.suffix.lower() == ".npy" else MOST_TEXT)
    except FileNotFoundError:
        siblings = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = nearest(path.name, siblings)
        raise InputError(f"there is no such file{hint} Check the name and the folder.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        if getattr(error, "errno", None) == errno.EFBIG:
            raise InputError(f"{reason}; save the game as .npy, which has no limit.") from None
        raise InputError(f"cannot be read ({reason}); accepted: a readable file.") from None


def _decode(data: bytes) -> str:
    """Return the text of a file in UTF-8, with or without a byte-order mark."""
    try:
        text = data.decode("utf-8-sig")
        bad_byte = data.find(0)
    except UnicodeDecodeError as error:
        bad_byte = error.start
    if bad_byte >= 0:
        raise InputError(f"byte {bad_byte} is not text; accepted: text in UTF-8. Save the file as UTF-8.")
    return text


def _parse_npy(data: bytes) -> dict[str, Any]:
    """Return the matrix in a file that `numpy.save` wrote. Nothing is unpickled, so no code in the file runs."""
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except Exception as error:  # a damaged header may raise anything: SyntaxError, TokenError, MemoryError, ...
        pickled = "pickle" in str(error)
        reason = "it needs pickle, which can run code" if pickled else "it is not a complete .npy file"
        raise InputError(f"{reason}; accepted: a matrix of numbers. Write it with numpy.save.") from None
    if not isinstance(array, np.ndarray):
        raise InputError("it is an archive of arrays; accepted: one matrix. Write that one with numpy.save.")
    if array.dtype.kind not in "biuf":
        raise InputError(f"its entries are of type {array.dtype}; accepted: real numbers. Convert it: astype(float).")
    return {"payoff": array}


def _npy(game: Game) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, game.payoff, allow_pickle=False)
    return buffer.getvalue()


def _parse_json(text: str) -> dict[str, Any]:
    """Return the arguments of a game in JSON: a list of rows, or an object with the arguments."""
    contents = _load_json(text)
    if isinstance(contents, list):
        contents = {"payoff": contents}
    if not isinstance(contents, dict):
        raise InputError(f"the file holds {shorten(contents)}; accepted: {_JSON}. Rewrite it that way.")
    keys = _OF_TENSORS if "payoffs" in contents and "payoff" not in contents else _OF_MATRIX
    for key in contents:
        if key not in keys:
            raise InputError(f"unknown key {key!r}{nearest(key, keys)} Accepted: {', '.join(keys)}.")
    key, noise = keys[1], contents.get("noise")
    if contents.get(key) is None:
        raise InputError(f"there is no key '{key}'; accepted: {_JSON}. Add the payoffs.")
    _check_numbers(contents[key], key)
    if isinstance(noise, str) and files_in(noise):
        raise InputError(
            f"noise is {shorten(noise)}, which is in a Python file, and a game file runs none; accepted: "
            "a noise from coebl list noises. Remove the key, and name your noise where the game is played."
        )
    return {key: value for key, value in contents.items() if value is not None}


def _check_numbers(entry: Any, place: str) -> None:
    """Reject entries of nested lists that are not numbers: NumPy would convert "1", true and null to numbers."""
    if isinstance(entry, list) and place.count("[") < _MOST_NESTED:
        for number, inner in enumerate(entry):
            _check_numbers(inner, f"{place}[{number}]")
    elif isinstance(entry, bool) or not isinstance(entry, (int, float, list)):
        raise InputError(f"{place} is {json.dumps(entry)}; accepted: numbers, in lists. Replace it.")


def _load_json(text: str) -> Any:
    def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        twice = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
        if twice:
            raise InputError(f"the key {twice[0]!r} occurs twice; accepted: each key once. Remove one.")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=without_duplicates)
    except InputError:
        raise
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{place} is not JSON ({error.msg}); accepted: {_JSON}. Correct it there.") from None
    except RecursionError:
        raise InputError("the brackets are nested too deeply; accepted: a list of rows of numbers.") from None
    except ValueError:  # an integer of more digits than Python converts
        raise InputError("a number is too long; accepted: floats. Divide the payoffs by a constant.") from None


def _json_text(game: Game | TensorGame) -> str:
    """Return the JSON of a game, with a line per row or per player of the payoffs, so that people can read it."""
    keys = _OF_TENSORS if isinstance(game, TensorGame) else _OF_MATRIX
    others = {"noise": str(game.noise), "payoff_ranges": game.ranges}
    entries = {key: json.dumps(others[key] if key in others else getattr(game, key)) for key in keys if key != keys[1]}
    rows = ",\n    ".join(json.dumps(row.tolist()) for row in getattr(game, keys[1]))
    entries[keys[1]] = f"[\n    {rows}\n  ]"
    return "{\n  " + ",\n  ".join(f'"{key}": {entries[key]}' for key in keys) + "\n}\n"


# CSV: a line per row of the payoffs, with commas, semicolons or tabs between cells, with labels or without. Payoffs
# between semicolons or tabs may have decimal commas, as spreadsheets write them in much of the world.

_WITH_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*", re.ASCII)


class _Row(NamedTuple):
    line: int  # the number of its last line
    cells: list[str]


def _parse_csv(text: str) -> dict[str, Any]:
    """Return the arguments of `Game` in the text of a CSV file."""
    rows, decimal_comma = _rows(text)
    if not rows:
        raise InputError("the file has only comments; accepted: a payoff matrix. Add a line per row of the game.")
    first = rows[0].cells
    is_framed = len(rows) > 1 and len(first) > 1 and not first[0].strip()  # by labels, with an empty corner
    has_header = is_framed or all(map(_is_label, first))
    if not has_header:
        # A typo in the first row must not silently turn that row into labels.
        for place, cell in enumerate(first):
            if place > 0 and (_is_label(cell) or not cell.strip()):
                raise _bad_cell(rows[0], place, "Replace it; if this line holds labels, put an empty cell before them.")
    body = rows[has_header:]
    labelled = is_framed or all(len(row.cells) > 1 and _is_label(row.cells[0]) for row in body)
    if not body:
        accepted = "a line of numbers per row of the game. Add them below the labels"
        raise InputError(f"line {rows[0].line} holds labels and no payoffs follow; accepted: {accepted}.")
    width = len(body[0].cells)
    for row in body:
        if len(row.cells) != width:
            raise _ragged(row, body[0])
    contents: dict[str, Any] = {}
    if has_header:
        # Some programs leave out the corner; an empty first cell is a corner.
        has_corner = labelled and (len(first) == width or not first[0].strip())
        contents["column_labels"] = first[has_corner:]
        if len(first) - has_corner != width - labelled:
            raise _ragged(rows[0], body[0])
    if labelled:
        contents["row_labels"] = [row.cells[0] for row in body]
    contents["payoff"] = [
        [_number(row, place, decimal_comma) for place in range(labelled, len(row.cells))] for row in body
    ]
    return contents


def _rows(text: str) -> tuple[list[_Row], bool]:
    """Return the rows that are not empty, and True if the numbers have decimal commas."""
    lines = list(_lines(text))
    bare = [line for line in re.sub(r'"[^"]*"', "", "".join(lines)).splitlines() if line.strip()]
    # The comma is tried last: it may be the decimal sign of a file with semicolons.
    delimiter = next((sign for sign in "\t;" if bare and all(sign in line for line in bare)), ",")
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        rows = [_Row(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        accepted = "cells between commas, semicolons or tabs. Close the quotes on that line"
        raise InputError(f"line {reader.line_num} is not CSV ({error}); accepted: {accepted}.") from None
    # In a file with commas between cells, such a cell was in quotes, and 1,234 may mean more than a thousand.
    return rows, delimiter != "," and any(_WITH_COMMA.fullmatch(cell) for row in rows for cell in row.cells)


def _lines(text: str) -> Iterator[str]:
    """Yield all lines, with empty ones in place of comments."""
    quoted = False  # inside a quoted cell a line is part of a label, even if it looks like a comment
    for line in io.StringIO(text, newline=""):
        is_plain = quoted or (line.strip() and not line.lstrip().startswith("#"))
        if is_plain:
            quoted ^= line.count('"') % 2 == 1
        yield line if is_plain else "\n"


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
        f"line {row.line} has {counted(len(row.cells), 'cell')}; accepted: {len(like.cells)}, as on line {like.line}. "
        "Add or remove cells."
    )


def _csv_text(game: Game) -> str:
    """Return the payoffs to the last bit, with the labels unless they are the numbers of the actions."""
    buffer = io.StringIO()
    # Quoting every label keeps semicolons, tabs and comment signs in them from being misread.
    writer = csv.writer(buffer, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    rows = game.payoff.tolist()  # the csv module writes floats by their repr
    if (game.row_labels, game.column_labels) != tuple(tuple(map(str, range(size))) for size in game.shape):
        rows = [["", *game.column_labels], *([label, *row] for label, row in zip(game.row_labels, rows, strict=True))]
    writer.writerows(rows)
    return buffer.getvalue()


_FORMATS: dict[str, tuple[Callable[[Any], dict[str, Any]], Callable[[Any], str | bytes]]] = {  # a reader, a writer
    ".csv": (_parse_csv, _csv_text),
    ".npy": (_parse_npy, _npy),
    ".json": (_parse_json, _json_text),
    ".nfg": (parse_nfg, nfg_text),
}
SUFFIXES = tuple(_FORMATS)
"""The suffixes of files that hold a game."""


def _check_suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"the suffix is {path.suffix!r}; accepted: {', '.join(SUFFIXES)}. Rename or convert the file.")
    return suffix
