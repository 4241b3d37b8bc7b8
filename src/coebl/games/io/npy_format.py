"""NumPy's own format, .npy: the payoffs alone."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np

from coebl.core.errors import InputError
from coebl.games.game import Game


def read(data: bytes) -> dict[str, Any]:
    """The arguments of `Game` in a file's bytes. Nothing is unpickled, so no code of the file runs."""
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, TypeError, MemoryError, zipfile.BadZipFile, OSError) as error:
        pickled = "pickle" in str(error)
        reason = "it needs pickle, which can run code" if pickled else "it is not a complete .npy file"
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


def write(game: Game) -> bytes:
    """The payoffs as `numpy.save` writes them."""
    buffer = io.BytesIO()
    np.save(buffer, game.payoff, allow_pickle=False)
    return buffer.getvalue()
