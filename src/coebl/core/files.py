"""Reading the files of a user, and writing files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from pathlib import Path

from coebl.core.errors import InputError

PARTIAL = re.compile(r"\.(?P<name>.+)\.\d+-[0-9a-f]{12}\.partial")  # the names of files that are being written

MOST_TEXT = 64 << 20  # bytes of a text that is read
_PIPES = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")  # what a shell puts in the place of <(command), and of a pipe


def read_whole(path: str | os.PathLike[str], most: int | None = MOST_TEXT, *, pipes: bool = False) -> bytes:
    """The content of a file that a user has named; an OSError with a reason in words for what would never end.

    Args:
        path: of a file. Of a pipe, one would wait for somebody to write into it; a device may have no end.
        most: the bytes that are read at most; None for no limit.
        pipes: whether the shell may have put a pipe there.
    """
    # without O_NONBLOCK, to open a pipe would wait, too
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as stream:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if stat.S_ISFIFO(mode) and pipes and os.fspath(path).startswith(_PIPES):
            os.set_blocking(handle, True)
        elif not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "this is a pipe or a device, not a file")
        if most is None:
            return stream.read()
        content = stream.read(most + 1)
        if len(content) > most:
            raise OSError(errno.EFBIG, f"this is larger than {most >> 20} MiB, which is the most that is read")
        return content


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
