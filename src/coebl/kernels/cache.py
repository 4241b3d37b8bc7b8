"""The folder in which compiled kernels are kept, so that a process does not compile what another one has compiled.

Numba's ``cache=True`` looks at the file of the function alone, and misses a change in a file that is compiled into it.
Here the folder is named after a digest of all kernel sources, so that its content belongs to exactly these sources.

Folders that can only be read, as in a container, are read. Compiled kernels are pickles, which can run anything, so a
folder is used only if it is private. If none can be written, new kernels are kept in a temporary folder until this
process ends, for the processes that it starts, and a line on stderr reports it. The kernels of damaged files are
compiled again. Numba's cache has none of these guarantees, so `KernelCache` replaces it.
"""

import atexit
import hashlib
import multiprocessing
import os
import pickle
import shutil
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from numba import __version__, config, njit
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from platformdirs import user_cache_path

from coebl.core.files import is_private, write_whole

SOURCES = Path(__file__).parent
_SHARED = "COEBL_KERNELS"  # the environment variable that names the temporary folder to the processes of this one


def digest(sources):
    """Return a digest of all Python files in a directory: their names and their contents."""
    result = hashlib.sha256()
    for path in sorted(sources.glob("*.py")):
        text = path.read_bytes()
        result.update(f"{path.name} {len(text)}\n".encode() + text)
    return result.hexdigest()[:16]


def parents(sources):
    """Return the directories in which the folder may be made, the preferred one first."""
    if config.CACHE_DIR:
        return [Path(config.CACHE_DIR)]
    return [sources / "__pycache__", user_cache_path("numba", appauthor=False)]


def make_folder(sources, parents):
    """Make the folder of these sources in the first directory where it is writable and private; None if there is none.

    Folders of older sources are deleted, but not those of another copy of the sources.
    """
    owner = "coebl-" + hashlib.sha256(str(sources).encode()).hexdigest()[:8]
    for parent in parents:
        folder = parent.resolve() / f"{owner}-{digest(sources)}"
        try:
            if not folder.is_dir():
                folder.mkdir(0o700, parents=True, exist_ok=True)
                for older in parent.glob(owner + "-*"):
                    if older != folder:
                        shutil.rmtree(older, ignore_errors=True)
            tempfile.TemporaryFile(dir=folder).close()  # raises if it cannot be written
        except OSError:
            continue
        if _is_safe(folder):
            return folder
        with suppress(OSError):
            folder.rmdir()  # if it was made just now
    return None


def find_folders(sources, parents):
    """Return the existing private folders of these sources, or of a copy of them, writable or not."""
    try:
        folders = [path for parent in parents for path in sorted(parent.resolve().glob(f"coebl-*-{digest(sources)}"))]
    except OSError:
        return []
    return [folder for folder in folders if _is_safe(folder)]


def _is_safe(folder):
    return not folder.is_symlink() and is_private(folder)


@cache
def default_folder():
    """Return the folder to keep the compiled kernels in; None if nothing can be written."""
    return make_folder(SOURCES, parents(SOURCES)) or _temporary_folder()


@cache
def _folders():
    """Return the folders of compiled kernels: the default one, if there is one, and then others that are only read."""
    return list(dict.fromkeys(filter(None, [default_folder(), *find_folders(SOURCES, parents(SOURCES))])))


def _temporary_folder():
    """Return a folder for this process and those that it starts, or None."""
    shared = os.environ.get(_SHARED, "")
    if Path(shared).is_absolute() and _is_safe(Path(shared)):
        return Path(shared)
    try:
        folder = Path(tempfile.mkdtemp(prefix="coebl-", suffix="-" + digest(SOURCES)))
    except OSError:
        return None
    os.environ[_SHARED] = str(folder)
    process = os.getpid()
    atexit.register(lambda: os.getpid() == process and shutil.rmtree(folder, ignore_errors=True))
    return folder


@cache
def complain(reason):
    """Report once, and not in the processes of a study, that compiled kernels cannot be kept."""
    if _may_print():
        print(f"coebl: the compiled solver is not kept, and is compiled again the next time: {reason}", file=sys.stderr)


@cache
def announce():
    """Report once that kernels are being compiled, so that no one waits without knowing why."""
    if not _may_print():
        return
    if default_folder() is None or str(default_folder()) == os.environ.get(_SHARED):
        places = " or ".join(map(str, parents(SOURCES)))
        print(
            "coebl: compiling the solver, up to a minute; it cannot be kept for the next time, because nothing can be "
            f"written to {places}, or others can write there too. Set NUMBA_CACHE_DIR to a folder of yours alone.",
            file=sys.stderr,
        )
    else:
        print("coebl: compiling the solver, up to a minute; the result is kept for the next time.", file=sys.stderr)


def _may_print():
    return sys.stderr is not None and multiprocessing.parent_process() is None


class KernelCache(NullCache):
    """The compiled versions of a function: files in the first of these folders, also read from the others."""

    def __init__(self, function, folders):
        self._function, self._folders = function, folders

    def load_overload(self, signature, context):
        """Return the compiled function; None, after an announcement, if it has to be compiled."""
        context.refresh()
        for folder in self._folders:
            with suppress(Exception):  # there is no file, or it is damaged: pickle raises almost anything
                parts = pickle.loads(self._file(folder, signature, context.codegen()).read_bytes())
                return CompileResult._rebuild(context, *parts)
        announce()
        return None

    def save_overload(self, signature, compiled):
        """Keep a compiled function, if the folder can be written."""
        if not self._folders:  # as `announce` has reported
            return
        folder = self._folders[0]
        file = self._file(folder, signature, compiled.codegen)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(file, dumps(compiled._reduce()))
        except Exception as error:
            complain(str(error).replace(str(file), str(folder)))  # the same for all files

    def _file(self, folder, signature, codegen):
        """Return the file for these types of arguments, this CPU, and these versions of Numba and Python."""
        key = hashlib.sha256(repr((signature, codegen.magic_tuple(), __version__, sys.version)).encode()).hexdigest()
        module = self._function.__module__.rpartition(".")[2]
        return folder / f"{module}.{self._function.__qualname__}-{key[:16]}.kernel"


def compiled(function, **options):
    """Compile a function, and keep the result. A division by zero gives an infinity, as in NumPy."""
    dispatcher = njit(nogil=True, error_model="numpy", **options)(function)
    dispatcher._cache = KernelCache(function, _folders())
    return dispatcher


def inlined(function):
    """As `compiled`, but put into its callers: for functions that take or return vectors, and for short ones."""
    return compiled(function, inline="always")
