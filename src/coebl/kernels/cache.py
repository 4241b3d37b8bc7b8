"""Where compiled kernels are kept, so that a process does not compile what another one has compiled before.

Numba's own ``cache=True`` looks at the file of the function alone, and misses a change in a file that is compiled into
it. Here the folder is named after a digest of all kernel sources: what is found in it belongs to these very sources.

The folder is made in the directory NUMBA_CACHE_DIR, if that is set. Otherwise it is made in the ``__pycache__`` beside
the kernels, or, if that is not writable, in Numba's cache directory of the user. Folders that can only be read, as in a
container, are read. Compiled kernels are pickles, which can run anything, so a folder is used only if it is private:
it and its files belong to this user or the administrator, and no one else can write there. If no such folder can be
written, what has to be compiled is kept in a temporary folder until this process ends, for the processes that it
starts, and a line on stderr says so. Files that are damaged are compiled again.
NUMBA_CACHE_LOCATOR_CLASSES, which would replace the digest by Numba's own look at the file, has no effect here.
"""

import atexit
import hashlib
import multiprocessing
import os
import shutil
import sys
import tempfile
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from numba import config, njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.misc.appdirs import AppDirs

from coebl.core.files import is_private

SOURCES = Path(__file__).parent
_SHARED = "COEBL_KERNELS"  # the environment variable that names the temporary folder to the processes of this one


def digest(sources):
    """A digest of all Python files in a directory: their names and their contents."""
    result = hashlib.sha256()
    for path in sorted(sources.glob("*.py")):
        text = path.read_bytes()
        result.update(f"{path.name} {len(text)}\n".encode() + text)
    return result.hexdigest()[:16]


def parents(sources):
    """The directories in which the folder may be made, the preferred one first."""
    if config.CACHE_DIR:
        return [Path(config.CACHE_DIR)]
    return [sources / "__pycache__", *_users_directory()]


def _users_directory():
    """Numba's cache directory of the user, in a list; none where there is no such thing.

    What is not absolute, as where XDG_CACHE_HOME is empty, counts as not set, as the rules for that variable have it.
    """
    named = AppDirs(appname="numba", appauthor=False).user_cache_dir, os.path.expanduser("~/.cache/numba")
    return [Path(name) for name in named if os.path.isabs(name)][:1]


def make_folder(sources, parents):
    """Make the folder of these sources in the first directory that will do, and delete those of older sources.

    It has to be writable, and private. Returns None if there is none. Folders of another copy of the sources,
    elsewhere, are left alone.
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


def _is_safe(folder):
    """Whether what is in a folder may be run."""
    return not folder.is_symlink() and is_private(folder)


def find_folders(sources, parents):
    """The private folders of these very sources, or of a copy of them, that are there, whether writable or not."""
    try:
        found = [folder for parent in parents for folder in sorted(parent.resolve().glob(f"coebl-*-{digest(sources)}"))]
    except OSError:
        return []
    return [folder for folder in found if _is_safe(folder)]


@cache
def complain(reason):
    """Say once, and not in the processes of a study, that compiled kernels cannot be kept."""
    if _is_told():
        print(f"coebl: the compiled solver is not kept, and is compiled again the next time: {reason}", file=sys.stderr)


@cache
def announce():
    """Say once that kernels are being compiled, to whoever sits at a terminal and waits, or if none can be kept."""
    if not _is_told():
        return
    if _is_temporary(default_folder()):
        places = " or ".join(map(str, parents(SOURCES)))
        print(
            "coebl: compiling the solver, up to a minute; it cannot be kept for the next time, because nothing can be "
            f"written to {places}, or others can write there too. Set NUMBA_CACHE_DIR to a folder of yours alone.",
            file=sys.stderr,
        )
    elif _always or sys.stderr.isatty():
        print("coebl: compiling the solver, up to a minute; the result is kept for the next time.", file=sys.stderr)


def _is_told():
    return sys.stderr is not None and multiprocessing.parent_process() is None


_always = False  # whether it is said without a terminal, too


@contextmanager
def announced():
    """Have it said in this block when kernels are compiled, also where nobody sits at a terminal."""
    global _always
    before, _always = _always, True
    try:
        yield
    finally:
        _always = before


@cache
def default_folder():
    """The folder to keep the compiled kernels in."""
    return make_folder(SOURCES, parents(SOURCES)) or _temporary_folder()


def _is_temporary(folder):
    return folder is None or str(folder) == os.environ.get(_SHARED)


def _temporary_folder():
    """A folder for this process and those that it starts, or None if there is no room for any."""
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
def other_folders():
    """Folders in which kernels may be found, but are not kept."""
    return [folder for folder in find_folders(SOURCES, parents(SOURCES)) if folder != default_folder()]


class KernelCache(FunctionCache):
    """The compiled versions of one function, kept in a folder. No error that has to do with files leaves it.

    Args:
        function: what is compiled.
        folder: where the versions are kept.
        others: folders in which they are looked for, too.
    """

    def __init__(self, function, folder, others=()):
        self._others = [KernelCache(function, other) for other in others]

        class Locator(_CacheLocator):
            @classmethod
            def from_function(cls, py_func, py_file):
                return cls()

            def get_cache_path(self):
                return str(folder)

            def get_source_stamp(self):
                return folder.name

            def get_disambiguator(self):
                return str(function.__code__.co_firstlineno)

        class Implementation(CompileResultCacheImpl):
            _locator_classes = (Locator,)

        self._impl_class = Implementation
        others, config.CACHE_LOCATOR_CLASSES = getattr(config, "CACHE_LOCATOR_CLASSES", ""), ""
        try:
            super().__init__(function)
        finally:
            config.CACHE_LOCATOR_CLASSES = others

    def load_overload(self, signature, context):
        """The compiled function, or None if there is none that can be read; it is then compiled."""
        for kept in (self, *self._others):
            if (found := kept.find(signature, context)) is not None:
                return found
        announce()
        return None

    def find(self, signature, context):
        """The compiled function in the folder, or None if there is none that can be read."""
        try:
            return super().load_overload(signature, context)
        except Exception:  # empty, truncated, unreadable: pickle raises almost anything
            return None

    def save_overload(self, signature, compiled):
        """Keep a compiled function, if the folder lets us."""
        try:
            try:
                super().save_overload(signature, compiled)
            except OSError:
                raise
            except Exception:  # the index is damaged: a new one
                self.flush()
                super().save_overload(signature, compiled)
        except Exception as error:
            complain(str(error))


def _compile(function, **options):
    dispatcher = njit(nogil=True, error_model="numpy", **options)(function)
    folders = [folder for folder in (default_folder(), *other_folders()) if folder]
    if folders:
        dispatcher._cache = KernelCache(function, folders[0], folders[1:])
    else:
        complain("there is no folder that can be written.")
    return dispatcher


def compiled(function):
    """Compile a function, and keep the result. A division by zero gives an infinity, as in NumPy."""
    return _compile(function)


def inlined(function):
    """As `compiled`, but put into its callers: for what takes or returns vectors, and for what is short."""
    return _compile(function, inline="always")
