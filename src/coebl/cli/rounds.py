"""The file of `coebl match --save`: what happened in every round, one line per run and round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coebl.core.errors import InputError
from coebl.core.modules import require

if TYPE_CHECKING:
    from pathlib import Path

    from coebl.engine import Result

_SUFFIXES = (".parquet", ".csv")
_MOST_LINES = 20_000_000  # about a gigabyte while it is written


def check_savable(path: Path, lines: int) -> None:
    """Refuse before anything is played what could not be saved afterwards."""
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError(f"--save is {path}; accepted: a file that ends in {' or '.join(_SUFFIXES)}.")
    if not path.parent.is_dir():
        raise InputError(f"--save is {path}, and the folder {path.parent} does not exist. Create it.")
    if lines > _MOST_LINES:
        raise InputError(
            f"--save would write {lines:,} lines; accepted: at most {_MOST_LINES:,}. Use fewer --rounds or --seeds."
        )
    require("pyarrow")


def save_rounds(result: Result, path: Path) -> None:
    """Write seed, round, and the actions, numbered from 0, and rewards of both players."""
    from coebl.core.files import write_whole

    table = require("pyarrow").table(_columns(result))
    buffer = require("pyarrow").BufferOutputStream()
    if path.suffix.lower() == ".csv":
        require("pyarrow.csv").write_csv(table, buffer)
    else:
        require("pyarrow.parquet").write_table(table, buffer, compression="zstd")
    write_whole(path, buffer.getvalue().to_pybytes())


def _columns(result: Result) -> dict[str, Any]:
    import numpy as np

    from coebl.games.game import SEATS

    rounds, runs = result.kept["actions"][0].shape
    columns = {"seed": np.repeat(result.seeds, rounds), "round": np.tile(np.arange(1, rounds + 1), runs)}
    for what, name in (("actions", "action"), ("rewards", "reward")):
        for seat, array in zip(SEATS, result.kept[what], strict=True):
            columns[f"{seat}_{name}"] = array.T.ravel()
    return columns
