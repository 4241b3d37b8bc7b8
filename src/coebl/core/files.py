"""Writing files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from pathlib import Path

from coebl.core.errors import InputError

PARTIAL = re.compile(r"\.(?P<name>.+)\.\d+-[0-9a-f]{12}\.partial")  # the names of files that are being written


def write_whole(path: str | os.PathLike[str], data: bytes | str, *, durable: bool = False) -> Path:
    """Write a file under another name first, then rename it, so that a reader never sees a partial file.

    Its folder must exist. The target of a link is replaced, not the link; a device or a pipe is written to as it is.

    Args:
        path: where to.
        data: the content; text is encoded as UTF-8.
        durable: also wait until the disk has it, so that it is there after a power cut.
    """
    target = Path(path)
    content = data.encode("utf-8", errors="replace") if isinstance(data, str) else data
    try:
        if target.is_symlink():
            target = target.resolve()
        if target.is_dir():
            raise InputError(f"{path} is a folder; accepted: the name of a file. Add one.")
        if target.exists() and not target.is_file():
            target.write_bytes(content)
        else:
            _replace(target, content, durable)
    except FileNotFoundError:
        raise InputError(
            f"{path}: the folder {target.parent} does not exist. Create it, or choose another path."
        ) from None
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{path} cannot be written ({reason}). Free some space, or choose another path.") from None
    return Path(path)


def _replace(target: Path, content: bytes, durable: bool) -> None:
    partial = target.with_name(f".{target.name[:200]}.{os.getpid()}-{secrets.token_hex(6)}.partial")
    try:
        with partial.open("xb") as stream:
            stream.write(content)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    if durable:
        _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make a new name last; where a folder cannot be synced, the file system does it or nothing can be done."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
