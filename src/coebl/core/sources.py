"""The source of custom code, by which stored results of classes and functions in scripts are recognised."""

from __future__ import annotations

import ast
import dis
import inspect
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from types import CodeType, FunctionType
from typing import Any

_CONSTANTS = (bool, int, float, str)
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # of an object in memory


def source_of(code: type | FunctionType) -> str:
    """Return the source of a class or function, and of all that it names in its module, directly or not.

    These are functions, classes and constants. Where there is no source, as in a notebook, their byte code is returned.
    Code that is defined in a function also has what it takes from there: classes of one source may differ in that.

    >>> source_of(source_of).splitlines()[0]
    'def source_of(code: type | FunctionType) -> str:'
    """
    return (_source(code) or _byte_code(code)) + _local_values(code)


@cache
def _local_values(code: type | FunctionType) -> str:
    """Return what code defined in a function takes from there: the values in its closures, and its class attributes.

    They are read once, as they may change while the code runs.
    """
    lines: list[str] = []
    parts: list[Any] = [code] * _is_local(code)  # grows while it is read

    def add(name: str, value: Any) -> None:
        if not _is_local(value):
            shown = value.tobytes().hex() if hasattr(value, "tobytes") else _ADDRESS.sub("", repr(value))
            lines.append(f"\n{name} = {shown}")
        elif value not in parts:
            parts.append(value)
            lines.append(f"\n{_source(value) or _byte_code(value)}")

    for part in parts:
        if part.__name__ == "<lambda>":
            lines.append(f"\n{_byte_code(part)}")  # its source is the whole line, which may have several
        for base in filter(_is_local, getattr(part, "__bases__", ())):
            add("", base)
        for name, member in _members(part):
            if isinstance(member, _CONSTANTS) and name[:2] != "__":
                add(name, member)
            elif function := _function_of(member):
                for free, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
                    with suppress(ValueError):  # it has no value yet
                        add(free, cell.cell_contents)
    return "".join(lines)


def _is_local(value: Any) -> bool:
    """Return True for a class or function that is defined in a function."""
    return isinstance(value, (type, FunctionType)) and "<locals>" in value.__qualname__


def _members(code: type | FunctionType) -> list[tuple[str, Any]]:
    """Return the attributes of a class by name, or a function itself."""
    return sorted(vars(code).items()) if isinstance(code, type) else [("", code)]


def _function_of(member: Any) -> FunctionType | None:
    """Return the function of a method, a class method or a property; None for anything else."""
    function = getattr(member, "__func__", getattr(member, "fget", member))
    return function if isinstance(function, FunctionType) else None


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
    by_kind: dict[str, set[str]] = {}
    for part in _codes(code):
        for instruction in dis.get_instructions(part):
            by_kind.setdefault(instruction.opname, set()).add(instruction.argval)
    loaded = by_kind.get("LOAD_GLOBAL", set()) | by_kind.get("LOAD_NAME", set())
    return loaded - by_kind.get("STORE_GLOBAL", set())


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
            if (function := _function_of(member)) is None:
                continue
            for inner in _codes(function.__code__):
                values = [
                    sorted(map(repr, value)) if isinstance(value, frozenset) else value for value in inner.co_consts
                ]
                plain_values = [value for value in values if not inspect.iscode(value)]
                lines.append(f"{name} {inner.co_code.hex()} {inner.co_names} {plain_values}")
                stored = ("STORE_GLOBAL", "STORE_ATTR")
                assigned |= {step.argval for step in dis.get_instructions(inner) if step.opname in stored}
            for named in sorted(_global_names(function.__code__) & function.__globals__.keys()):
                value = function.__globals__[named]
                if isinstance(value, _CONSTANTS):
                    constants[named] = f"{named} = {value!r}"
                elif isinstance(value, (type, FunctionType)) and value.__module__ == code.__module__:
                    parts += [value] * (value not in parts)
    return "\n".join([*lines, *(constants[name] for name in sorted(constants) if name not in assigned)])
