"""Imports that may fail: optional packages, and users' files."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from coebl.core.errors import InputError
from coebl.core.files import read_whole

_EXTRAS = {  # the optional packages that each extra installs
    "study": ("pyarrow", "pandas", "polars", "threadpoolctl", "filelock", "pebble"),
    "report": ("matplotlib", "vl_convert", "jinja2"),
    "dask": ("distributed",),
    "cuda": ("cupy",),
    "interchange": ("nashpy", "pygambit", "pyspiel", "quantecon"),
}
USERS = "_coebl_user_"  # the prefix of the names of modules from users' files


def require(module: str) -> Any:
    """Import a module of an optional package; the error for a missing package names the command to install it.

    >>> require("pandas.api").__name__
    'pandas.api'
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise  # the package is installed, but one of its imports is missing
        extra = next(extra for extra, packages in _EXTRAS.items() if package in packages)
        raise InputError(f"this needs {package}; run: pip install 'coebl[{extra}]'") from None


class Lazy:
    """A module, imported by `require` when one of its names is first used."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(require(self._module), name)


def load_file(path: str) -> ModuleType:
    """Import a Python file, once for each content, so that all objects in it come from one module.

    The module has the same name in every process, so that objects from a worker can be unpickled here. If the file
    changes the current folder, the change is undone: other paths are relative to it.
    """
    file = Path(path)
    try:
        content = read_whole(file)
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise InputError(f"{path}: {reason}; accepted: path/to/file.py:Name. Check the path.") from None
    digest = hashlib.sha256(str(file.resolve()).encode() + b"\0" + content).hexdigest()[:16]
    name = f"{USERS}{file.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    specification = importlib.util.spec_from_file_location(name, file)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    try:
        with contextlib.chdir(os.curdir):
            specification.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if not isinstance(error, (Exception, SystemExit)):  # SystemExit too: a file must not end the program
            raise
        frames = traceback.extract_tb(error.__traceback__)
        line = next((frame.lineno for frame in reversed(frames) if frame.filename == specification.origin), 1)
        detail: object = error
        if isinstance(error, SyntaxError) and error.filename == specification.origin:
            line, detail = error.lineno, error.msg  # its str() repeats file and line
        if isinstance(error, ModuleNotFoundError) and file.with_name(f"{error.name}.py").is_file():
            detail = f"{error}: a file cannot import its neighbours; put both in one, or add the folder to PYTHONPATH"
        raise InputError(f"{path}, line {line}: {type(error).__name__}: {detail}; fix the file.") from error
    return module


def name_of(kind: type) -> str:
    """Return the name of a class for messages: mine.py:Mine if it was loaded from a user's file.

    >>> name_of(Lazy)
    'Lazy'
    """
    file = getattr(sys.modules.get(kind.__module__), "__file__", None) if is_users(kind) else None
    return f"{Path(file).name}:{kind.__name__}" if file else vars(kind).get("name") or kind.__name__


def undefined(instance: object, method: str, returns: str) -> InputError:
    """Return the error for a method that every subclass has to define; the base class raises it.

    >>> undefined(3, "half(self)", "a number")
    InputError('int has no half(self); write one that returns a number.')
    """
    return InputError(f"{name_of(type(instance))} has no {method}; write one that returns {returns}.")


def is_users(thing: object) -> bool:
    """Return True if a class or function was loaded from a user's file."""
    return getattr(thing, "__module__", "").startswith(USERS)
