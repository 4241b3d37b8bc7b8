"""The source of custom code, by which stored results of classes and functions in scripts are recognised."""

from __future__ import annotations

import ast
import dis
import hashlib
import inspect
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from coebl.core.registry import Component

_CONSTANTS = (bool, int, float, str)
_DEEPEST = 50  # collections inside collections


def source_of(code: type | FunctionType) -> str:
    """Return the source of a class or function, and of all that it names in its module, directly or not.

    These are functions, classes and constants. Where there is no source, as in a notebook, their byte code is returned.
    For code that is defined in a function, a digest of what it takes from there follows, see `_captured`.

    >>> source_of(source_of).splitlines()[0]
    'def source_of(code: type | FunctionType) -> str:'
    """
    return (_source(code) or _byte_code(code)) + _captured(code)


@cache
def _captured(code: type | FunctionType) -> str:
    """Return a digest of what code defined in a function takes from there; "" for other code.

    These are closures, default arguments and class attributes. Of these values, functions and classes of the module
    count by their source, numbers, strings, arrays, games, components and collections of them by their content, and all
    others only by their class. All are read once: they may change while the code runs.
    """
    if "<locals>" not in code.__qualname__:
        return ""
    parts: list[Any] = [code]  # grows while it is read
    lines: list[str] = []

    def add(value: Any, *outer: Any) -> None:
        items: Any = ()
        shown = getattr(value, "__qualname__", "") if callable(value) else ""
        if isinstance(value, (type, FunctionType)):
            ours = (
                value.__module__ == code.__module__ or "<" in value.__qualname__
            )  # a lambda, or defined in a function
            parts.extend([value] * (ours and not any(value is part for part in parts)))
        elif isinstance(value, int):
            shown = f"{int(value):x}"  # Python does not print integers of more than a few thousand digits
        elif isinstance(value, (float, complex, str, bytes)):
            shown = repr(value)
        elif isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
            shown = f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
        elif isinstance(value, Component):
            shown = str(value)
        elif isinstance(value, partial):
            items = value.func, value.args, value.keywords
        elif isinstance(value, MethodType):
            items = value.__func__, value.__self__
        elif hasattr(value, "fingerprint") and any(
            kind.__module__.startswith("coebl.") for kind in type(value).__mro__
        ):
            shown = value.fingerprint()  # of a game
        elif isinstance(value, dict):
            items = *value, *value.values()
        elif isinstance(value, (list, tuple)) or type(value) is np.ndarray:
            items = value
        elif isinstance(value, (set, frozenset)):
            items = sorted((item for item in value if isinstance(item, (*_CONSTANTS, bytes))), key=repr)
        lines.append(f"{type(value).__module__}.{type(value).__qualname__} {shown} {len(items)}")
        if len(outer) < _DEEPEST and not any(value is collection for collection in outer):  # it may contain itself
            for item in items:
                add(item, value, *outer)

    for part in parts:
        if part is not code:
            lines.append((part.__name__ != "<lambda>" and _source(part)) or _byte_code(part))  # a line may have several
        functions = [function for _, member in _members(part) for function in _functions_of(member)]
        assigned = {name for function in functions for name in _instructions(function.__code__)["STORE_ATTR"]}
        for name, member in _members(part) if isinstance(part, type) else ():
            if name[:2] != "__" and name not in assigned and not _functions_of(member):
                lines.append(name)
                add(member)
        for base in getattr(part, "__bases__", ()):
            add(base)
        for function in functions:
            add(function.__defaults__)
            add(function.__kwdefaults__)
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
                lines.append(name)
                with suppress(ValueError):  # it has no value yet
                    add(cell.cell_contents)
    return "\n" + hashlib.sha256("\n".join(lines).encode(errors="replace")).hexdigest()


def _members(code: type | FunctionType) -> list[tuple[str, Any]]:
    """Return the attributes of a class by name, or a function itself."""
    return sorted(vars(code).items()) if isinstance(code, type) else [("", code)]


def _functions_of(member: Any) -> list[FunctionType]:
    """Return the functions inside an attribute of a class: those of a method, a property, a cache."""
    if type(member).__module__ not in ("builtins", "functools"):
        return []
    inner = (getattr(member, name, None) for name in ("__func__", "fget", "fset", "fdel", "func", "__wrapped__"))
    own = [member] if isinstance(member, FunctionType) else []
    return own + [function for part in inner if part is not None for function in _functions_of(part)]


@cache
def _source(code: type | FunctionType) -> str:
    """Return the source of a class or function and of all that it names in its module, or ""."""
    try:
        own, module = inspect.getsource(code), inspect.getsource(sys.modules[code.__module__])
        bindings = _bindings(module)
        if isinstance(code, FunctionType) and code.__name__ == "<lambda>":  # its source may be half a statement
            todo = [code.__code__]
        else:
            todo = [compile(f"if True:\n{own}" if own[0].isspace() else own, "<source>", "exec")]
    except (OSError, TypeError, KeyError, SyntaxError):  # SyntaxError: the file is being edited
        return ""
    sources = {code.__name__: ""}
    while todo:
        for name in _global_names(todo.pop()) & bindings.keys() - sources.keys():
            sources[name] = "\n".join(text for text, _ in bindings[name])
            todo += (compile(ast.Module([node], []), "<source>", "exec") for _, node in bindings[name])
    del sources[code.__name__]
    return "\n".join([own, *(sources[name] for name in sorted(sources))])


def _bindings(module: str) -> dict[str, list[tuple[str, ast.stmt]]]:
    """Return the functions, classes and assignments at the top level of a module, by name, each with its source."""
    lines = module.split("\n")
    bindings: dict[str, list[tuple[str, ast.stmt]]] = {}

    def visit(parent: ast.AST) -> None:
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names, first = {node.name}, min(part.lineno for part in (node, *node.decorator_list))
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                stored = (part for part in ast.walk(node) if isinstance(part, ast.Name))
                names, first = {part.id for part in stored if isinstance(part.ctx, ast.Store)}, node.lineno
            else:
                visit(node)  # a branch, say
                continue
            for name in names:
                bindings.setdefault(name, []).append(("\n".join(lines[first - 1 : node.end_lineno]), node))

    visit(ast.parse(module))
    return bindings


def _global_names(code: CodeType) -> set[str]:
    """Return the names that code reads in its module and never assigns."""
    names = _instructions(code)
    return (names["LOAD_GLOBAL"] | names["LOAD_NAME"]) - names["STORE_GLOBAL"]


def _instructions(code: CodeType) -> defaultdict[str, set[Any]]:
    """Return the arguments of the instructions of code, and of all code inside it, by their names."""
    arguments = defaultdict[str, set[Any]](set)
    for part in _codes(code):
        for step in dis.get_instructions(part):
            if isinstance(step.argval, str):
                arguments[step.opname].add(step.argval)
    return arguments


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield code and all code inside it."""
    yield code
    for constant in code.co_consts:
        if inspect.iscode(constant):
            yield from _codes(constant)


def _byte_code(code: type | FunctionType) -> str:
    """Return the byte code of a class or function and of all that it names in its module, with plain constants.

    Constants that any of this code assigns are left out: they change while it runs.
    """
    lines: list[str] = []
    constants: dict[str, str] = {}
    assigned: set[str] = set()
    parts: list[Any] = [code]  # grows while it is read
    for part in parts:
        members = _members(part)
        if isinstance(part, type):
            parts += (base for base in part.__bases__ if base.__module__ == code.__module__ and base not in parts)
            plain = {name: value for name, value in members if isinstance(value, _CONSTANTS) and name[:2] != "__"}
            constants |= {name: f"{part.__qualname__}.{name} = {value!r}" for name, value in plain.items()}
        lines.append(f"{code.__module__}.{part.__qualname__}")
        for name, member in members:
            function = getattr(member, "__func__", getattr(member, "fget", member))  # of class methods and properties
            if not isinstance(function, FunctionType):
                continue
            steps = _instructions(function.__code__)
            assigned |= steps["STORE_GLOBAL"] | steps["STORE_ATTR"]
            for inner in _codes(function.__code__):
                values = [
                    sorted(map(repr, value)) if isinstance(value, frozenset) else value for value in inner.co_consts
                ]
                plain_values = [value for value in values if not inspect.iscode(value)]
                lines.append(f"{name} {inner.co_code.hex()} {inner.co_names} {plain_values}")
            for named in sorted(_global_names(function.__code__) & function.__globals__.keys()):
                value = function.__globals__[named]
                if isinstance(value, _CONSTANTS):
                    constants[named] = f"{named} = {value!r}"
                elif isinstance(value, (type, FunctionType)) and value.__module__ == code.__module__:
                    parts += [value] * (value not in parts)
    return "\n".join([*lines, *(constants[name] for name in sorted(constants) if name not in assigned)])
