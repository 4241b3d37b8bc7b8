"""Which files of cells have been checked in full, by their content: they need not be decoded at every run."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path

import coebl
from coebl.core.errors import InputError
from coebl.core.files import write_whole


class Checked:
    """A file of SHA-256 sums of sound files. It may be lost at any time: they are then checked in full again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._changed = False
        self._sums: dict[str, str] = {}  # by the digest of the cell
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            content = json.loads(path.read_bytes()) if path.is_file() else None
            if isinstance(content, dict) and content.get("coebl") == coebl.__version__:  # another one checks otherwise
                self._sums = {digest: str(total) for digest, total in dict(content["files"]).items()}

    def holds(self, digest: str, data: bytes) -> bool:
        """Whether the content of a cell's file is what it was when it was checked."""
        total = self._sums.get(digest)
        return total is not None and hashlib.sha256(data).hexdigest() == total

    def add(self, digest: str, data: bytes) -> None:
        """Note that this is the sound content of a cell's file."""
        self._sums[digest] = hashlib.sha256(data).hexdigest()
        self._changed = True

    def write(self) -> None:
        """Write the sums to the file, if any were added."""
        if self._changed:
            with contextlib.suppress(InputError):  # a folder that is read only can still be read
                write_whole(self._path, json.dumps({"coebl": coebl.__version__, "files": self._sums}))
                self._changed = False
