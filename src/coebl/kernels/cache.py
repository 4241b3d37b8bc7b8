"""Where compiled kernels are kept, so that a process does not compile what another one has compiled before.

Numba's own ``cache=True`` looks at the file of the function alone, and misses a change in a file that is compiled into
it. Here the folder is named after a digest of all kernel sources: what is found in it belongs to these very sources.

The folder is made in the directory NUMBA_CACHE_DIR, if that is set. Otherwise it is made in the ``__pycache__`` beside
the kernels, or, if that is not writable, in Numba's cache directory of the user. If none of these can be written,
nothing is kept, and a line on stderr says so. Files that are damaged are compiled again. NUMBA_CACHE_LOCATOR_CLASSES,
which would replace the digest by Numba's own look at the file, has no effect here.
"""

import hashlib
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

from numba import config, njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.misc.appdirs import AppDirs

SOURCES = Path(__file__).parent


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
    return [sources / "__pycache__", Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)]


def make_folder(sources, parents):
    """Make the folder of these sources in the first directory that is writable, and delete those of older sources.

    Returns None if no directory is writable. Folders of another copy of the sources, elsewhere, are left alone.
    """
    owner = "coebl-" + hashlib.sha256(str(sources).encode()).hexdigest()[:8]
    for parent in parents:
        folder = parent / f"{owner}-{digest(sources)}"
        try:
            if not folder.is_dir():
                folder.mkdir(parents=True, exist_ok=True)
                for older in parent.glob(owner + "-*"):
                    if older != folder:
                        shutil.rmtree(older, ignore_errors=True)
            tempfile.TemporaryFile(dir=folder).close()  # raises if it cannot be written
        except OSError:
            continue
        return folder
    return None


@cache
def complain(reason):
    """Say once that compiled kernels cannot be kept."""
    print(f"coebl: the compiled solver is not kept, and every process compiles it again: {reason}", file=sys.stderr)


@cache
def announce():
    """Say once that kernels are being compiled, to whoever sits at a terminal and waits."""
    if sys.stderr is not None and sys.stderr.isatty():
        print("coebl: compiling the solver, up to a minute; the result is kept for the next time.", file=sys.stderr)


@cache
def default_folder():
    """The folder of the sources in this directory, or None."""
    found = make_folder(SOURCES, parents(SOURCES))
    if found is None:
        complain(f"cannot write to {' or '.join(map(str, parents(SOURCES)))}")
    return found


class KernelCache(FunctionCache):
    """The compiled versions of one function, kept in a folder. No error that has to do with files leaves it."""

    def __init__(self, function, folder):
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
        try:
            found = super().load_overload(signature, context)
        except Exception:  # empty, truncated, unreadable: pickle raises almost anything
            found = None
        if found is None:
            announce()
        return found

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
    if default_folder() is not None:
        dispatcher._cache = KernelCache(function, default_folder())
    return dispatcher


def compiled(function):
    """Compile a function, and keep the result. A division by zero gives an infinity, as in NumPy."""
    return _compile(function)


def inlined(function):
    """As `compiled`, but put into its callers: for what takes or returns vectors, and for what is short."""
    return _compile(function, inline="always")
