"""Errors of a study's folder, and of its workers."""

from __future__ import annotations

from pathlib import Path

from coebl.core.errors import CoeblError
from coebl.core.text import one_line


class StoreError(CoeblError):
    """Something is wrong with a study's folder: the message names the file and says what to do."""


class UnsoundError(StoreError):
    """A file among the cells that is damaged or not one of ours."""


class MissingError(StoreError):
    """A cell that is not in the store."""


class ClusterError(CoeblError):
    """The workers of a study cannot be reached."""


class LostError(ClusterError):
    """The workers of a study no longer answer; what is finished is kept."""


def system_error(path: Path, error: OSError) -> StoreError:
    """An error of the system about a path."""
    return StoreError(f"{path}: {one_line(error.strerror or error)}; free some space, or use another folder.")
