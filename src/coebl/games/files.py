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
from numpy.typing import NDArray

from coebl.errors import InputError, nearest, shorten
from coebl.games.game import Game

Floats = NDArray[np.float64]

_JSON_KEYS = ("name", "payoff", "row_labels", "column_labels", "noise", "payoff_range")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.ASCII | re.IGNORECASE)
_SAME_SUM = 1e-9  # relative to the largest payoff


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
            if not _is_number(cell):
                _not_a_number(
                    cell, line, place, "Replace it; if this line holds labels, put an empty cell before them."
                )
    body = rows[1:] if header else rows
    return header, bool(body) and all(len(cells) > 1 and _is_label(cells[0]) for _, cells in body)


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell.strip()) is not None


def _is_label(cell: str) -> bool:
    return bool(cell.strip()) and not _is_number(cell)


def _csv_number(cell: str, line: int, place: int) -> float:
    if not _is_number(cell):
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


# Gambit's normal form


def parse_nfg(text: str) -> dict[str, Any]:
    """The arguments of `Game` in a text of Gambit's normal form, in its payoff form or its outcome form.

    >>> parse_nfg('NFG 1 R "small" { "A" "B" } { { "up" "down" } { "left" } } "" 1/2 -1/2 3 -3')["payoff"]
    array([[0.5],
           [3. ]])
    """
    tokens = _Tokens(text)
    tokens.expect("NFG")
    tokens.expect("1")
    if tokens.take() not in ("R", "D"):
        tokens.fail("R or D")
    title = tokens.string()
    players = tokens.strings()
    if len(players) != 2:
        raise InputError(f"the game has {len(players)} players; accepted: two. Fix the choices of the others.")
    shape, labels = _nfg_strategies(tokens)
    if tokens.peek().startswith('"'):
        tokens.take()  # a comment
    payoffs = _nfg_outcomes(tokens, shape) if tokens.peek() == "{" else _nfg_payoffs(tokens, shape)
    check_constant_sum(payoffs[..., 0], payoffs[..., 1])
    contents: dict[str, Any] = {"payoff": payoffs[..., 0], **labels}
    return {"name": title, **contents} if title.strip() else contents


def nfg_text(game: Game) -> str:
    """The game in Gambit's normal form, payoff form: what Gambit's own programs read.

    >>> print(nfg_text(Game([[1, 2]], name="small", column_labels=["left", "right"])))
    NFG 1 R "small" { "row" "column" }
    <BLANKLINE>
    { { "0" }
    { "left" "right" }
    }
    ""
    <BLANKLINE>
    1.0 -1.0 2.0 -2.0
    """
    rows, columns = (
        " ".join(_nfg_string(label, f"the {player} label", label=True) for label in labels)
        for player, labels in (("row", game.row_labels), ("column", game.column_labels))
    )
    # The row player's action runs fastest, so the payoffs stand column by column.
    payoffs = " ".join(f"{entry!r} {0.0 - entry!r}" for entry in game.payoff.T.ravel().tolist())
    head = f'NFG 1 R {_nfg_string(game.name, "the name")} {{ "row" "column" }}'
    return f'{head}\n\n{{ {{ {rows} }}\n{{ {columns} }}\n}}\n""\n\n{payoffs}\n'


def check_constant_sum(row: Floats, column: Floats) -> None:
    """Raise an `InputError` that names two cells unless the two players' payoffs add up to one constant.

    >>> import numpy as np
    >>> check_constant_sum(np.array([[1.0, 2.0]]), np.array([[-1.0, 3.0]]))
    Traceback (most recent call last):
    ...
    coebl.errors.InputError: the game is not constant-sum: in row 0, column 0 the payoffs add up to 0, ...
    """
    sums = row + column
    tolerance = _SAME_SUM * max(np.abs(row).max(initial=0.0), np.abs(column).max(initial=0.0))
    differing = np.argwhere(np.abs(sums - sums.flat[0]) > tolerance) if sums.size else np.empty((0, 2))
    if len(differing):
        i, j = (int(index) for index in differing[0])
        raise InputError(
            f"the game is not constant-sum: in row 0, column 0 the payoffs add up to {sums.flat[0]:g}, "
            f"in row {i}, column {j} to {sums[i, j]:g}; accepted: one sum everywhere. "
            "Only such games can be played here."
        )


def _nfg_strategies(tokens: _Tokens) -> tuple[tuple[int, int], dict[str, Any]]:
    """The numbers of actions, and the labels where there are any."""
    tokens.expect("{")
    if tokens.peek() != "{":
        m, n = tokens.whole(), tokens.whole()
        tokens.expect("}")
        return (m, n), {}
    rows, columns = tokens.strings(), tokens.strings()
    tokens.expect("}")
    labels = {"row_labels": rows, "column_labels": columns}
    # Gambit wrote empty labels where nobody had given any.
    return (len(rows), len(columns)), {key: given for key, given in labels.items() if any(given)}


def _nfg_payoffs(tokens: _Tokens, shape: tuple[int, int]) -> Floats:
    payoffs = [tokens.number() for _ in tokens.rest()]
    m, n = shape
    if len(payoffs) != 2 * m * n:
        raise InputError(
            f"the file has {len(payoffs)} payoffs; accepted: {2 * m * n}, two for each of {m} x {n} cells. "
            "Correct the payoffs or the numbers of strategies."
        )
    return np.array(payoffs, dtype=np.float64).reshape(n, m, 2).transpose(1, 0, 2)


def _nfg_outcomes(tokens: _Tokens, shape: tuple[int, int]) -> Floats:
    outcomes = [(0.0, 0.0)]  # outcome 0 is the one that pays nothing
    tokens.expect("{")
    while tokens.peek() != "}":
        tokens.expect("{")
        tokens.string()
        outcomes.append((tokens.number(), tokens.number()))
        tokens.expect("}")
    tokens.expect("}")
    m, n = shape
    chosen = [tokens.whole(len(outcomes) - 1) for _ in tokens.rest()]
    if len(chosen) != m * n:
        raise InputError(
            f"the file assigns {len(chosen)} outcomes; accepted: {m * n}, one for each of {m} x {n} cells. "
            "Correct the outcomes or the numbers of strategies."
        )
    return np.array(outcomes)[np.array(chosen, dtype=np.intp)].reshape(n, m, 2).transpose(1, 0, 2)


class _Tokens:
    """The words of an NFG text, in order. A comma is a space."""

    # A quote after a backslash is part of the text, and that is the only escape that Gambit knows.
    _pattern = re.compile(r'[\s,]+|("(?:[^"]|(?<=\\)")*(?<!\\)"|[{}]|[^\s,{}"]+|.)', re.DOTALL)

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = [(match[1], match.start()) for match in self._pattern.finditer(text) if match[1]]
        self._next = 0

    def peek(self) -> str:
        return self._words[self._next][0] if self._next < len(self._words) else ""

    def take(self) -> str:
        word = self.peek()
        self._next += 1
        return word

    def rest(self) -> range:
        return range(len(self._words) - self._next)

    def fail(self, accepted: str) -> NoReturn:
        """Say that the word just taken is wrong."""
        if self._next > len(self._words):
            raise InputError(f"the file ends early; accepted here: {accepted}. Complete it in Gambit's NFG format.")
        word, start = self._words[self._next - 1]
        line = self._text.count("\n", 0, start) + 1
        raise InputError(
            f"line {line} has {shorten(word)}; accepted there: {accepted}. Correct it to Gambit's NFG format."
        )

    def expect(self, word: str) -> None:
        if self.take() != word:
            self.fail(word)

    def string(self) -> str:
        word = self.take()
        if len(word) < 2 or word[0] != '"':
            self.fail("a text in double quotes")
        return word[1:-1].replace('\\"', '"')

    def strings(self) -> list[str]:
        self.expect("{")
        found = []
        while self.peek() != "}":
            found.append(self.string())
        self.expect("}")
        return found

    def whole(self, most: int = 10**9) -> int:
        word = self.take()
        if not re.fullmatch(r"\d{1,9}", word, re.ASCII) or int(word) > most:
            self.fail(f"a whole number from 0 to {most}")
        return int(word)

    def number(self) -> float:
        """A decimal or a rational, to the nearest float."""
        word = self.take()
        numerator, slash, denominator = word.partition("/")
        value = math.nan
        try:
            if slash and re.fullmatch(r"[+-]?\d+/\d+", word, re.ASCII):
                value = int(numerator) / int(denominator)
            elif _is_number(word):
                value = float(word)
        except (ZeroDivisionError, OverflowError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            self.fail("a finite number such as 2, -0.5 or 1/3")
        return value


def _nfg_string(text: str, what: str, label: bool = False) -> str:
    """The text in quotes, refused where Gambit would read another one back."""
    if re.search(r'\\(["\\]|$)', text):
        raise InputError(
            f"{what} {shorten(text)} has a backslash before a quote, a backslash or its end; accepted in .nfg: "
            "any other text. Change it."
        )
    if label and (not text or text != " ".join(text.split()) or not text.isprintable()):
        raise InputError(
            f"{what} {shorten(text)} is empty or has spaces around it, two in a row, or a control character; "
            "accepted in .nfg: single spaces between words. Change it."
        )
    return '"' + text.replace('"', '\\"') + '"'


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
