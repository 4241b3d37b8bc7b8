"""Importing what may not be there: optional packages, and a user's own files."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from coebl.core.errors import InputError
from coebl.core.files import read_whole

# The extra that installs each optional package.
_EXTRAS = {
    "pyarrow": "study",
    "pandas": "study",
    "polars": "study",
    "threadpoolctl": "study",
    "filelock": "study",
    "matplotlib": "report",
    "vl_convert": "report",
    "jinja2": "report",
    "markupsafe": "report",
    "distributed": "dask",
    "cupy": "cuda",
    "cupyx": "cuda",
    "nashpy": "interchange",
    "pygambit": "interchange",
    "pyspiel": "interchange",
}

_USERS = "_coebl_user_"  # how the names of modules begin that are users' files


def load(home: str) -> Any:
    """What is at "module:attribute", imported now.

    >>> load("math:floor")(2.5)
    2
    """
    module, _, attribute = home.partition(":")
    return getattr(importlib.import_module(module), attribute)


def require(module: str) -> Any:
    """Import a module of an optional package, or say in one line how to install it.

    >>> require("pandas.api").__name__
    'pandas.api'
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise  # the package is there, and misses something itself
        raise InputError(f"this needs {package}; run: pip install 'coebl[{_EXTRAS[package]}]'") from None


def load_file(path: str) -> ModuleType:
    """Import a Python file, once for each content: all that is named in it comes from one module.

    The module has the same name in every process, so that what a worker returns can be read here. If the file changes
    the current folder, it is changed back: other paths are relative to it.
    """
    file = Path(path)
    try:
        content = read_whole(file)
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise InputError(f"{path}: {reason}; accepted: path/to/file.py:Name. Check the path.") from None
    digest = hashlib.sha256(str(file.resolve()).encode() + b"\0" + content).hexdigest()[:16]
    name = f"{_USERS}{file.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    specification = importlib.util.spec_from_file_location(name, file)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    try:
        with _staying():
            specification.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a file that ends the program is as wrong as one that raises
        del sys.modules[name]
        line = getattr(error, "lineno", None) or traceback.extract_tb(error.__traceback__)[-1].lineno
        here = isinstance(error, SyntaxError) and error.filename == specification.origin
        what = error.msg if here and isinstance(error, SyntaxError) else error  # whose text names file and line again
        raise InputError(f"{path}, line {line}: {type(error).__name__}: {what}; fix the file.") from error
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextlib.contextmanager
def _staying() -> Iterator[None]:
    """Return to the current folder at the end of the block; to none if it is deleted."""
    folder = None
    with contextlib.suppress(OSError):
        folder = os.getcwd()
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if folder is not None:
                os.chdir(folder)


def is_users(thing: object) -> bool:
    """Return whether a class or function was loaded from a user's file."""
    return getattr(thing, "__module__", "").startswith(_USERS)
