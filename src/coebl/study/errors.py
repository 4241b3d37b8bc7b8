"""Errors of a study's folder, and of its workers."""

from __future__ import annotations

from pathlib import Path

from coebl.core.errors import CoeblError
from coebl.core.text import one_line


class StoreError(CoeblError):
    """An error in a study's folder: the message names the file and says what to do."""


class DamagedFileError(StoreError):
    """A file among the cells that is damaged or was not written by coebl."""


class MissingError(StoreError):
    """A cell that is not in the store."""


class ClusterError(CoeblError):
    """The workers of a study cannot be reached."""


class LostError(ClusterError):
    """The workers of a study no longer answer; finished cells are kept."""


def system_error(path: Path, error: OSError) -> StoreError:
    """A StoreError for an error of the system about a path."""
    return StoreError(f"{path}: {one_line(error.strerror or error)}; free some space, or use another folder.")
