"""Writing figures to files."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coebl.core.errors import InputError
from coebl.core.files import make_folder, write_whole
from coebl.plots.style import look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("pdf", "svg", "png")
"""What figures can be written as."""

_UNDATED: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}  # metadata without a date


def save(
    figure: Figure,
    folder: str | os.PathLike[str],
    name: str,
    formats: Sequence[str] = FORMATS,
    within: str | os.PathLike[str] | None = None,
) -> list[Path]:
    """Write a figure as folder/name.format for each format, and return the paths.

    The folder is made if it does not exist. The same figure gives the same bytes. A file is there when it is complete,
    or not at all.

    Args:
        figure: what to write.
        folder: where to.
        name: of the files, without an ending.
        formats: out of `FORMATS`.
        within: a folder of results; links inside it are not followed.

    >>> from coebl import simulate
    >>> ax = simulate("rps", "ucb", "exp3", rounds=20, seeds=4).plot("pseudo_regret")
    >>> [str(path) for path in save(ax.figure, "figures", "a-match", ["svg"])]
    ['figures/a-match.svg']
    """
    for format in formats:
        if format not in FORMATS:
            raise InputError(f"format is {format!r}; accepted: {', '.join(FORMATS)}.")
    folder = make_folder(folder, within)
    with look():
        return [write_whole(folder / f"{name}.{format}", _drawn(figure, format), within=within) for format in formats]


def _drawn(figure: Figure, format: str) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format=format, metadata=_UNDATED.get(format))
    return stream.getvalue()
