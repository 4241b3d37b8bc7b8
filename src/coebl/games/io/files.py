"""Games in files: CSV, NumPy, JSON and Gambit's normal form, told apart by the suffix."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import secrets
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from coebl.core.arrays import is_number
from coebl.core.errors import InputError, nearest, shorten
from coebl.games.catalogue import parse_game
from coebl.games.game import Game
from coebl.games.io.nfg import nfg_text, parse_nfg

_JSON_KEYS = ("name", "payoff", "row_labels", "column_labels", "noise", "payoff_range")


def read_game(path: str | os.PathLike[str]) -> Game:
    """The game in a file: .csv, .npy, .json, or .nfg (Gambit's normal form).

    A CSV file holds the payoffs to the row player, with a header row or a first column of labels or without. Where
    its first cell is empty, the first row and the first column are labels even if they look like numbers. An NFG file
    has to be a constant-sum game of two players; the payoffs are the row player's as they stand.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "inspection.csv"
    ...     _ = path.write_text(",comply,cheat\\ninspect,0,6\\nwait,2,-1\\n")
    ...     read_game(path).row_labels
    ('inspect', 'wait')
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise InputError("this is a folder; accepted: a file. Name one of the files in it.")
        form = _format(path)
        data = _bytes(path)
        if not data.strip():
            raise InputError(
                "the file is empty; accepted: a payoff matrix. Put one in, such as 1,-1 and below it -1,1."
            )
        contents = form.read(data)
        return Game(contents.pop("payoff"), **{"name": path.stem, **contents})
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def write_game(game: Game, path: str | os.PathLike[str]) -> None:
    """Write a game to a file: .csv, .npy, .json, or .nfg (Gambit's normal form).

    The payoffs are read back to the last bit. JSON keeps all of the game; CSV and NFG keep the payoffs and the labels,
    NFG the name too; NPY keeps the payoffs alone. A file of that name is replaced whole or not at all.

    >>> import tempfile
    >>> game = Game([[3, 0, 0.1], [1, 2, 1 / 3]], noise="laplace", payoff_range=(-5, 5))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_game(game, Path(folder) / "example.json")
    ...     read_game(Path(folder) / "example.json") == game
    True
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise InputError("this is a folder; accepted: the name of a file. Add one, such as game.csv.")
        data = _format(path).write(game)
        _replace(path, data)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError(f"there is no such file{nearest(path.name, beside)} Check the name and the folder.") from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror}); accepted: a file that you may read.") from None


def _replace(path: Path, data: bytes) -> None:
    """Write beside the file, then rename, so that no reader ever meets half a file."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        try:
            with open(temporary, "xb") as file:
                file.write(data)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)  # gone already, unless something failed
    except FileNotFoundError:
        raise InputError(
            "the folder does not exist; accepted: a file in an existing folder. Make the folder."
        ) from None
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror}); accepted: a place that you may write to.") from None


def _text(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not text; accepted: text in UTF-8. Save the file as UTF-8.") from None
    if "\0" in text:
        raise InputError(f"byte {data.index(0)} is not text; accepted: text in UTF-8. Save the file as UTF-8.")
    return text


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        wrong = error.object[error.start]
        raise InputError(f"a name or label holds {wrong!r}, which is no character; replace it.") from None


# CSV


def _read_csv(data: bytes) -> dict[str, Any]:
    rows = _csv_rows(_text(data))
    if not rows:
        raise InputError(
            "the file holds comments alone; accepted: a payoff matrix. Add a line per action of the row player."
        )
    header, labelled = _csv_labels(rows)
    first_line, first = rows[0]
    body = rows[1:] if header else rows
    if not body:
        raise InputError(
            f"line {first_line} holds labels and no payoffs follow; accepted: a line of numbers per row of the game. "
            "Add them below the labels."
        )
    width = len(body[0][1])
    for line, cells in body:
        if len(cells) != width:
            _ragged(line, len(cells), width, body[0][0])
    contents: dict[str, Any] = {}
    if header:
        # Some programs leave out the corner. An empty first cell is the corner.
        cornered = labelled and (len(first) == width or not first[0].strip())
        column_labels = first[1:] if cornered else first
        if len(column_labels) != width - labelled:
            _ragged(first_line, len(first), width, body[0][0])
        contents["column_labels"] = column_labels
    if labelled:
        contents["row_labels"] = [cells[0] for _, cells in body]
    contents["payoff"] = [
        [_csv_number(cell, line, place) for place, cell in enumerate(cells[labelled:], start=1 + labelled)]
        for line, cells in body
    ]
    return contents


def _csv_rows(text: str) -> list[tuple[int, list[str]]]:
    """The rows that hold something, each with the number of its last line."""
    numbers: list[int] = []
    lines = list(_csv_lines(text, []))
    reader = csv.reader(_csv_lines(text, numbers), delimiter=_delimiter(lines), skipinitialspace=True, strict=True)
    try:
        return [(numbers[-1], cells) for cells in reader]
    except csv.Error as error:
        raise InputError(
            f"line {numbers[-1]} is no CSV ({error}); accepted: cells between commas, semicolons or tabs. "
            "Close the quotes on that line."
        ) from None


def _csv_lines(text: str, numbers: list[int]) -> Iterator[str]:
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


def _csv_labels(rows: list[tuple[int, list[str]]]) -> tuple[bool, bool]:
    """Whether the first row and whether the first column are labels."""
    line, first = rows[0]
    if len(rows) > 1 and len(first) > 1 and not first[0].strip():
        return True, True
    header = all(map(_is_label, first))
    if not header:
        # A typing error in the first row must not turn that row into labels in silence.
        for place, cell in enumerate(first[1:], start=2):
            if not is_number(cell):
                _not_a_number(
                    cell, line, place, "Replace it; if this line holds labels, put an empty cell before them."
                )
    body = rows[1:] if header else rows
    return header, bool(body) and all(len(cells) > 1 and _is_label(cells[0]) for _, cells in body)


def _is_label(cell: str) -> bool:
    return bool(cell.strip()) and not is_number(cell)


def _csv_number(cell: str, line: int, place: int) -> float:
    if not is_number(cell):
        _not_a_number(cell, line, place, "Replace it by a number.")
    number = float(cell)
    if not math.isfinite(number):
        raise InputError(
            f"line {line}, cell {place} is {shorten(cell)}; accepted: finite numbers. "
            "Replace it by a number, or leave that action out."
        )
    return number


def _not_a_number(cell: str, line: int, place: int, repair: str) -> NoReturn:
    if re.fullmatch(r"\s*[+-]?\d+,\d+\s*", cell):
        repair = "Write decimals with a point."
    what = shorten(cell) if cell.strip() else "empty"
    raise InputError(f"line {line}, cell {place} is {what}; accepted: numbers such as 1, -0.5 or 2e-3. {repair}")


def _ragged(line: int, cells: int, width: int, like: int) -> NoReturn:
    raise InputError(f"line {line} has {cells} cells; accepted: {width}, as on line {like}. Fill in or take out cells.")


def _write_csv(game: Game) -> bytes:
    buffer = io.StringIO()
    # Quoting every label keeps semicolons, tabs and comment signs in them from being taken for something else.
    writer = csv.writer(buffer, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    if _has_labels(game):
        writer.writerow(["", *game.column_labels])
        writer.writerows([label, *row] for label, row in zip(game.row_labels, game.payoff.tolist(), strict=True))
    else:
        writer.writerows(game.payoff.tolist())  # the csv module writes floats by their repr
    return _encoded(buffer.getvalue())


def _has_labels(game: Game) -> bool:
    m, n = game.shape
    return (game.row_labels, game.column_labels) != (tuple(map(str, range(m))), tuple(map(str, range(n))))


# NumPy


def _read_npy(data: bytes) -> dict[str, Any]:
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, TypeError, MemoryError, zipfile.BadZipFile, OSError) as error:
        reason = "it needs pickle, which can run code" if "pickle" in str(error) else "it is no whole .npy file"
        raise InputError(
            f"{reason}; accepted: a matrix of numbers written by numpy.save. Write it with that."
        ) from None
    if not isinstance(array, np.ndarray):
        raise InputError("it is an archive of arrays; accepted: one matrix. Write that one with numpy.save.")
    if array.dtype.kind not in "biuf":
        raise InputError(
            f"its entries are of type {array.dtype}; accepted: real numbers. Convert it with astype(float)."
        )
    return {"payoff": array}


def _write_npy(game: Game) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, game.payoff, allow_pickle=False)
    return buffer.getvalue()


# JSON


def _read_json(data: bytes) -> dict[str, Any]:
    try:
        contents = json.loads(_text(data), object_pairs_hook=_without_twins)
    except json.JSONDecodeError as error:
        raise InputError(
            f"line {error.lineno}, column {error.colno} is no JSON ({error.msg}); "
            'accepted: {"payoff": [[1, -1], [-1, 1]]}. Correct it there.'
        ) from None
    except RecursionError:
        raise InputError(
            "the brackets are nested too deeply; accepted: a list of rows, each a list of numbers."
        ) from None
    except InputError:
        raise
    except ValueError:  # an integer of more digits than Python converts
        raise InputError("a number is too long; accepted: floats. Divide the payoffs by a constant.") from None
    if isinstance(contents, list):
        contents = {"payoff": contents}
    if not isinstance(contents, dict):
        raise InputError(f"the file holds {shorten(contents)}; accepted: {_JSON_ACCEPTED}. Write the payoffs so.")
    for key in contents:
        if key not in _JSON_KEYS:
            raise InputError(f"unknown key {key!r}{nearest(key, _JSON_KEYS)} Accepted: {', '.join(_JSON_KEYS)}.")
    if contents.get("payoff") is None:
        raise InputError(f"there is no key 'payoff'; accepted: {_JSON_ACCEPTED}. Add the payoffs.")
    for key, kind, accepted in _JSON_TYPES:
        if contents.get(key) is not None and not isinstance(contents[key], kind):
            raise InputError(f"{key} is {shorten(contents[key])}; accepted: {accepted}. Write it so.")
    _check_json_numbers(contents["payoff"])
    return {key: value for key, value in contents.items() if value is not None}


_JSON_ACCEPTED = 'a list of rows, or an object such as {"payoff": [[1, -1], [-1, 1]]}'
_JSON_TYPES: tuple[tuple[str, type, str], ...] = (
    ("name", str, "a text"),
    ("payoff", list, "a list of rows such as [[1, -1], [-1, 1]]"),
    ("row_labels", list, "a list of texts, one per row"),
    ("column_labels", list, "a list of texts, one per column"),
    ("noise", str, 'a noise such as "gaussian:sigma=0.5"'),
    ("payoff_range", list, "two numbers, [low, high]"),
)


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    contents = dict(pairs)
    if len(contents) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"the key {twice!r} occurs twice; accepted: each key once. Take one out.")
    return contents


def _check_json_numbers(payoff: list[Any]) -> None:
    """NumPy would take "1", true and null for numbers; shapes are left to `check_payoff`."""
    for i, row in enumerate(payoff):
        for j, entry in enumerate(row if isinstance(row, list) else []):
            if isinstance(entry, bool) or not isinstance(entry, (int, float, list)):
                raise InputError(f"payoff[{i}][{j}] is {json.dumps(entry)}; accepted: numbers. Replace it by a number.")


def _write_json(game: Game) -> bytes:
    rows = ",\n    ".join(json.dumps(row) for row in game.payoff.tolist())  # a line per row, so that people can read it
    entries = {
        "name": json.dumps(game.name),
        "payoff": f"[\n    {rows}\n  ]",
        "row_labels": json.dumps(game.row_labels),
        "column_labels": json.dumps(game.column_labels),
        "noise": json.dumps(str(game.noise)),
        "payoff_range": json.dumps(game.payoff_range),
    }
    return _encoded("{\n  " + ",\n  ".join(f'"{key}": {value}' for key, value in entries.items()) + "\n}\n")


# Gambit's normal form, see nfg.py


def _read_nfg(data: bytes) -> dict[str, Any]:
    return parse_nfg(_text(data))


def _write_nfg(game: Game) -> bytes:
    return _encoded(nfg_text(game))


# All formats


@dataclass(frozen=True)
class _Format:
    read: Callable[[bytes], dict[str, Any]]  # the arguments of Game
    write: Callable[[Game], bytes]


_FORMATS = {
    ".csv": _Format(_read_csv, _write_csv),
    ".npy": _Format(_read_npy, _write_npy),
    ".json": _Format(_read_json, _write_json),
    ".nfg": _Format(_read_nfg, _write_nfg),
}


def _format(path: Path) -> _Format:
    suffix = path.suffix.lower()
    if suffix not in _FORMATS:
        raise InputError(f"the suffix is {path.suffix!r}; accepted: {', '.join(_FORMATS)}. Rename or convert the file.")
    return _FORMATS[suffix]


SUFFIXES = frozenset(_FORMATS)


def load_game(text: str) -> Game:
    """A game from a spec, or from a file if the text looks like one.

    >>> load_game("matching-pennies").shape
    (2, 2)
    """
    path = Path(text)
    if path.suffix.lower() in SUFFIXES or path.is_file():
        return read_game(path)
    return parse_game(text)
