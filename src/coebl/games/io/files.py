"""Games in files, each format in a module of its own, told apart by the suffix.

To add a format, write a module with `read` and `write`, and one line here.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any, Protocol

from coebl.core.errors import InputError, nearest
from coebl.core.files import MOST_TEXT, read_whole, write_whole
from coebl.games.game import Game
from coebl.games.io import csv_format, json_format, nfg_format, npy_format


class Format(Protocol):
    """What a format's module provides."""

    def read(self, data: bytes) -> dict[str, Any]:
        """The arguments of `Game` in a file's bytes, or an `InputError` that says where they are wrong."""

    def write(self, game: Game) -> bytes:
        """The bytes of the file."""


FORMATS: dict[str, Format] = {".csv": csv_format, ".npy": npy_format, ".json": json_format, ".nfg": nfg_format}
SUFFIXES = frozenset(FORMATS)
"""The endings of files that hold a game."""


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
        if os.path.isdir(path):  # unlike Path.is_dir, it takes names that are too long
            raise InputError("this is a folder; accepted: a file. Name one of the files in it.")
        form = _format(path)
        data = _bytes(path)
        if not data.strip():
            raise InputError(
                "the file is empty; accepted: a payoff matrix. Write one, such as the lines 1,-1 and -1,1."
            )
        contents = form.read(data)
        return Game(contents.pop("payoff"), **{"name": path.stem, **contents})
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def write_game(game: Game, path: str | os.PathLike[str]) -> None:
    """Write a game to a file: .csv, .npy, .json, or .nfg (Gambit's normal form).

    The payoffs are read back to the last bit. JSON keeps all of the game; CSV and NFG keep the payoffs and the labels,
    NFG the name too; NPY keeps the payoffs alone. A file of that name is replaced whole or not at all.

    Args:
        game: what to write.
        path: of the file; its ending says in which form it is written.

    >>> import tempfile
    >>> game = Game([[3, 0, 0.1], [1, 2, 1 / 3]], noise="laplace", payoff_range=(-5, 5))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_game(game, Path(folder) / "example.json")
    ...     read_game(Path(folder) / "example.json") == game
    True
    """
    try:
        data = _format(Path(path)).write(game)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    write_whole(path, data)


def _format(path: Path) -> Format:
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"the suffix is {path.suffix!r}; accepted: {', '.join(FORMATS)}. Rename or convert the file.")
    return FORMATS[suffix]


def _bytes(path: Path) -> bytes:
    try:
        return read_whole(path, None if path.suffix.lower() == ".npy" else MOST_TEXT)
    except FileNotFoundError:
        beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError(f"there is no such file{nearest(path.name, beside)} Check the name and the folder.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        if getattr(error, "errno", None) == errno.EFBIG:
            raise InputError(f"{reason}; save the game as .npy, which has no limit.") from None
        raise InputError(f"cannot be read ({reason}); accepted: a readable file.") from None
