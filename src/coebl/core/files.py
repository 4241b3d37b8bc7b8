"""Functions that read users' files, write files completely or not at all, and recognise private folders."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from pathlib import Path
from typing import BinaryIO

from coebl.core.errors import InputError, shorten

PARTIAL = re.compile(r"\.(?P<name>.+)\.\d+-[0-9a-f]{12}\.partial")  # the name of a file while it is being written

MOST_TEXT = 64 << 20  # bytes, the size limit of text files
_PIPES = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")  # the names of <(command) and of a pipe in a shell


def check_path(argument: str, path: object) -> Path:
    """Return the path that a user passed as an argument, if a file or folder can have that name."""
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise InputError(
            f"{argument} is {shorten(path)}; accepted: the name of a file or folder, without the character NUL."
        )
    try:
        os.lstat(text)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InputError(f"{argument} is {shorten(text)}, a name that is too long. Choose another.") from None
    return Path(text)


def open_without_waiting(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file for reading. Without O_NONBLOCK, opening a pipe would wait for a writer."""
    return open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))


def read_whole(path: str | os.PathLike[str], most: int | None = MOST_TEXT, *, pipes: bool = False) -> bytes:
    """Return the content of a file that a user named, of at most `most` bytes; None for no limit.

    A pipe may block forever and a device may have no end: both raise an OSError. With `pipes`, a pipe that the shell
    made is read.
    """
    with open_without_waiting(path) as stream:
        mode = os.fstat(stream.fileno()).st_mode
        if stat.S_ISFIFO(mode) and pipes and os.fspath(path).startswith(_PIPES):
            os.set_blocking(stream.fileno(), True)
        elif not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "this is a pipe or a device, not a file")
        if most is None:
            return stream.read()
        content = stream.read(most + 1)
        if len(content) > most:
            raise OSError(errno.EFBIG, f"this is larger than the limit of {most >> 20} MiB")
        return content


def write_whole(
    path: str | os.PathLike[str],
    data: bytes | str,
    *,
    durable: bool = False,
    within: str | os.PathLike[str] | None = None,
) -> Path:
    """Write a file under another name first, then rename it, so that a reader never sees a partial file.

    The folder must exist. A link is kept and its target replaced; a device or a pipe is written to. Below `within`, a
    folder of results that someone else may have filled, links are not followed: a link, a pipe or a device is replaced.
    With `durable`, wait until the file is on the disk, so that it survives a power cut.
    """
    target = check_path("path", path)
    content = data.encode("utf-8", errors="replace") if isinstance(data, str) else data
    is_below = check_way(target.parent, within)
    try:
        if target.is_symlink() and not is_below:
            target = target.resolve()
        if target.is_dir() and not (target.is_symlink() and is_below):
            raise InputError(f"{path} is a folder; accepted: the name of a file. Add one.")
        if target.exists() and not target.is_file() and not is_below:
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


def make_folder(path: str | os.PathLike[str], within: str | os.PathLike[str] | None = None, mode: int = 0o777) -> Path:
    """Make a folder and its parents, if it does not exist; below `within` no link is followed."""
    check_way(check_path("folder", path), within)
    try:
        Path(path).mkdir(mode, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path} cannot be created ({error.strerror}); choose another folder.") from None
    return Path(path)


def check_way(folder: str | os.PathLike[str], within: str | os.PathLike[str] | None) -> bool:
    """Return True if the path of a folder is `within` or below it; reject a path through a link there.

    Files that are written, moved or deleted in a folder of results must be in that folder.
    """
    if within is None or not Path(folder).is_relative_to(within):
        return False
    way = Path(within)
    for name in Path(folder).relative_to(within).parts:
        way /= name
        if way.is_symlink():
            raise InputError(
                f"{way} is a symbolic link, and nothing is written through a link inside a folder of results; put the "
                "folder that it points to in its place, or remove it."
            )
    return True


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
    if durable:  # the new name too, on systems that can sync a folder
        with contextlib.suppress(OSError):
            descriptor = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def is_private(folder: str | os.PathLike[str]) -> bool:
    """Return True if only this user and the administrator can have written to a folder.

    The folder and its entries must belong to them, and no one else may be able to write to them or to replace them: a
    parent folder may be open to others only if it is sticky, as /tmp is. POSIX access control lists count. On systems
    without such owners, every folder passes.
    """
    if not hasattr(os, "getuid"):
        return True
    place = Path(folder).resolve()
    try:
        if not _is_closed(place, sticky=False) or not all(_is_closed(path, sticky=True) for path in place.parents):
            return False
        with os.scandir(place) as entries:
            return all(not entry.is_symlink() and _is_closed(entry.path, sticky=False) for entry in entries)
    except OSError:
        return False


def _is_closed(path: str | Path, sticky: bool) -> bool:
    """Return True if only we can write a file or folder; with `sticky`, a sticky folder of ours suffices."""
    state = os.lstat(path)
    if state.st_uid not in (os.getuid(), 0):
        return False
    if sticky and state.st_mode & stat.S_ISVTX:
        return True
    # With an access control list, the group bit is set if the list lets anyone write.
    group_is_ours = _is_own_group(state.st_gid) and not _has_access_list(path)
    return not state.st_mode & stat.S_IWOTH and (group_is_ours or not state.st_mode & stat.S_IWGRP)


def _has_access_list(path: str | Path) -> bool:
    try:
        return bool(os.getxattr(path, "system.posix_acl_access", follow_symlinks=False))
    except (AttributeError, OSError):  # there is none, or the system has no such lists
        return False


def _is_own_group(number: int) -> bool:
    """Return True for a group of only this user: on many systems each user has one, of the same name."""
    import grp
    import pwd

    try:
        group, user = grp.getgrgid(number), pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return False
    return group.gr_name == user and set(group.gr_mem) <= {user}
