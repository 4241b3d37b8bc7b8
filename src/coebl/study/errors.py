"""What can be wrong with a study's folder, or with its workers."""

from __future__ import annotations

from pathlib import Path

from coebl.core.errors import CoeblError


class StoreError(CoeblError):
    """Something is wrong with a study's folder: the message names the file and says what to do."""


class UnsoundError(StoreError):
    """A file among the cells that is damaged or not one of ours."""


class MissingError(StoreError):
    """A cell that is not there."""


class ClusterError(CoeblError):
    """The workers of a study cannot be reached."""


def system_error(path: Path, error: OSError) -> StoreError:
    """What the system says about a path."""
    return StoreError(f"{path}: {one_line(OSError(error.strerror or error))}; make room there, or use another folder.")


def one_line(error: BaseException) -> str:
    """What an error says, short enough for a line."""
    text = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return text if len(text) <= 120 else text[:117] + "..."
