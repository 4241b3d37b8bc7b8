"""Writing files that are there whole, or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from coebl.core.errors import InputError


def write_whole(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text, under another name first; its folder is made if need be."""
    target = Path(path)
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_text(text, encoding="utf-8", errors="replace")  # half a character becomes ?
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{target}: this cannot be written ({error.strerror or error}); name another place.") from None
    return target
