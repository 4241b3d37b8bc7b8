"""The public names of the package, and the gaps in their documentation, for the build and the tests."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

from coebl.core.registry import Registry
from coebl.games import GAMES, NOISES
from coebl.learners import LEARNERS
from coebl.learners.evolution import MUTATIONS, POPULATIONS, RECOMBINATIONS, SELECTIONS
from coebl.metrics import METRICS
from docstrings import COMMENT

PACKAGES = (
    "coebl",
    "coebl.games",
    "coebl.solver",
    "coebl.learners",
    "coebl.learners.evolution",
    "coebl.metrics",
    "coebl.search",
    "coebl.evidence",
    "coebl.engine",
    "coebl.plots",
    "coebl.study",
    "coebl.tournament",
    "coebl.testing",
)
REGISTRIES: tuple[Registry[Any], ...] = (
    LEARNERS,
    GAMES,
    NOISES,
    MUTATIONS,
    RECOMBINATIONS,
    SELECTIONS,
    POPULATIONS,
)


class Name(NamedTuple):
    """A public name, with the package that documents it."""

    package: str
    name: str
    value: Any

    @property
    def path(self) -> str:
        """The path that it is imported from."""
        return f"{self.package}.{self.name}"

    @property
    def home(self) -> str:
        """The path of its definition: a module may have the same name as the function in it."""
        known = inspect.isclass(self.value) or inspect.isfunction(self.value)
        return f"{self.value.__module__}.{self.value.__qualname__}" if known else self.path


def names(package: str) -> list[str]:
    """Return the names that a package exports: its `__all__`, or its definitions, without registered entries."""
    module = import_module(package)
    entered = [entry.factory for entry in METRICS]
    if hasattr(module, "__all__"):
        public = {name: getattr(module, name) for name in module.__all__ if not inspect.ismodule(getattr(module, name))}
    else:
        home = {name: value for name, value in vars(module).items() if getattr(value, "__module__", None) == package}
        public = {name: value for name, value in home.items() if name[0] != "_" and callable(value)}
    return [name for name, value in public.items() if value not in entered]


def public() -> list[Name]:
    """List every public name once, in the subpackage that documents it rather than in `coebl`."""
    by_key: dict[str, Name] = {}
    for package in (*PACKAGES[1:], PACKAGES[0]):
        for name in names(package):
            value = getattr(import_module(package), name)
            key = f"{value.__module__}.{name}" if hasattr(value, "__qualname__") else name
            by_key.setdefault(key, Name(package, name, value))
    return list(by_key.values())


def missing() -> Iterator[str]:
    """Yield a line for each gap: names without a docstring or an example, and parameters without an explanation."""
    for registry in REGISTRIES:
        for entry in registry:
            unexplained = [p.name for p in entry.parameters if not p.meaning]
            yield from (f"{registry.kind} {entry.name} does not explain its parameter {name!r}" for name in unexplained)
    for name in public():
        if not has_example(name):
            yield f"{name.path} has no example"
        if inspect.isclass(name.value):
            yield from _missing_in_class(name)
        elif inspect.isfunction(name.value):
            yield from missing_in_function(name.path, name.value, _doc(name.value))


def has_example(name: Name) -> bool:
    """Return True if an example shows a name: in its docstring, in a method's, or else in that of its package."""
    if inspect.isclass(name.value):
        return any(">>> " in _doc(value) for value in (name.value, *vars(name.value).values()))
    if inspect.isfunction(name.value):
        return ">>> " in _doc(name.value)
    examples = re.findall(r"^(?:>>>|\.\.\.) (.*)", _doc(import_module(name.package)), re.MULTILINE)
    return bool(re.search(rf"\b{name.name}\b", "\n".join(examples)))


def _missing_in_class(name: Name) -> Iterator[str]:
    cls = name.value
    if not _own_doc(cls):
        yield f"{name.path} has no docstring"
    if not getattr(cls, "_is_protocol", False) and cls.__init__ is not object.__init__:
        yield from missing_in_function(name.path, cls, _class_doc(cls))
    for method, value in vars(cls).items():
        function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        if not method.startswith("_") and inspect.isfunction(function):
            doc = "".join(_doc(vars(base)[method]) for base in cls.__mro__ if method in vars(base))
            yield from missing_in_function(f"{name.path}.{method}", function, doc)


def missing_in_function(path: str, function: Any, doc: str) -> Iterator[str]:
    """Yield a line for each parameter of a function that its docstring does not explain."""
    if not doc:
        yield f"{path} has no docstring"
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # of a class that is made in C
        return
    for parameter in parameters:
        if parameter not in ("self", "cls") and not re.search(rf"\b{parameter}\b", doc):
            yield f"{path} does not explain its parameter {parameter!r}"


def _doc(value: Any) -> str:
    return inspect.getdoc(value) or ""


def _own_doc(cls: type) -> str:
    doc = cls.__dict__.get("__doc__") or ""
    return "" if doc.startswith(f"{cls.__name__}(") else doc  # the default docstring of a dataclass


def _class_doc(cls: type) -> str:
    """Return the docstrings of a class and its bases, and the names of the fields with a comment beside them."""
    bases = [base for base in cls.__mro__ if base.__module__.startswith("coebl")]
    lines = [line for base in bases for line in inspect.getsource(base).splitlines()]
    fields = [line.split(":")[0] for line in lines if re.match(r"    \w+: ", line) and COMMENT.search(line)]
    return "\n".join([*map(_doc, bases), *fields])
