"""Spec strings: how games, noise models and learners are named everywhere.

``name`` or ``name:key=value,key=value``; a single value without a key goes to the first parameter. Nothing in a
spec needs quoting in a shell. A list is written ``1/2/3``; inside a value that is itself a spec, ``+`` stands for
the comma.

A `Registry` maps names to factories: functions or dataclasses whose annotated parameters say what a spec may set,
``n: Annotated[int, Range(1, 10)] = 3``.
"""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args, get_origin

from coebl.core.errors import InputError, nearest, shorten

T = TypeVar("T")


@dataclass(frozen=True)
class Range:
    """The numbers that a parameter accepts, ends included unless open."""

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False

    def __contains__(self, number: float) -> bool:
        above = number > self.low if self.open_low else number >= self.low
        return above and number <= self.high

    def __str__(self) -> str:
        if self.high == math.inf:
            return f"{'>' if self.open_low else '>='} {self.low:g}"
        return f"{self.low:g} {'< ...' if self.open_low else '..'} {self.high:g}"


@dataclass(frozen=True)
class SpecOf:
    """Marks a text parameter that is itself a spec, so that its commas are written as ``+``."""

    kind: str


@dataclass(frozen=True)
class Parameter:
    """One parameter of a factory, as a spec sees it."""

    name: str
    kind: Any  # int, float, bool, str, tuple[float, ...] or a Literal
    default: Any  # inspect.Parameter.empty if it must be given
    limits: Range | None
    nested: bool

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def accepts(self) -> str:
        """What a value may be, in words.

        >>> Parameter("n", int, 3, Range(1, 10), False).accepts
        'a whole number, 1 .. 10'
        """
        if get_origin(self.kind) is Literal:
            return "one of " + ", ".join(str(choice) for choice in get_args(self.kind))
        words = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
        text = words.get(self.kind, "numbers separated by /")
        return f"{text}, {self.limits}" if self.limits else text

    def read(self, text: str, owner: str) -> Any:
        """The value that a text stands for."""
        try:
            value = self._convert(text)
        except ValueError:
            raise InputError(f"{owner}: {self.name} is {text!r}; accepted: {self.accepts}.") from None
        return self.check(value, owner)

    def check(self, value: Any, owner: str) -> Any:
        """The value itself, if it lies within the limits."""
        numbers = value if isinstance(value, tuple) else (value,)
        if self.limits and not all(number in self.limits for number in numbers):
            raise InputError(f"{owner}: {self.name} is {shorten(value)}; accepted: {self.accepts}.")
        return value

    def write(self, value: Any) -> str:
        """The text that stands for a value."""
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, tuple):
            return "/".join(_number(number) for number in value)
        if isinstance(value, (int, float)):
            return _number(value)
        text = str(value)
        return text.replace("+", "++").replace(",", "+") if self.nested else text

    def _convert(self, text: str) -> Any:
        if get_origin(self.kind) is Literal:
            for choice in get_args(self.kind):
                if str(choice) == text:
                    return choice
            raise ValueError
        if self.kind is bool:
            return {"true": True, "false": False}.get(text.lower()) if text.lower() in ("true", "false") else int("x")
        if self.kind is int:
            return int(text)
        if self.kind is float:
            return _finite(text)
        if self.kind is str:
            return text.replace("++", "\0").replace("+", ",").replace("\0", "+") if self.nested else text
        return tuple(_finite(part) for part in text.split("/"))


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


def _number(number: float) -> str:
    """Short where that is exact: 2 rather than 2.0.

    >>> _number(2.0), _number(0.1), _number(1e-9)
    ('2', '0.1', '1e-09')
    """
    if isinstance(number, int) or (number == int(number) and abs(number) < 1e15):
        return str(int(number))
    return repr(float(number))


class Entry(Generic[T]):
    """A named factory, with its parameters read from its signature."""

    def __init__(self, name: str, factory: Callable[..., T]) -> None:
        self.name = name
        self.factory = factory
        annotated: Any = factory.__init__ if isinstance(factory, type) else factory  # type: ignore[misc]
        hints = typing.get_type_hints(annotated, include_extras=True)
        self.parameters = [
            _parameter(p, hints[p.name]) for p in inspect.signature(factory).parameters.values() if p.name in hints
        ]

    @property
    def summary(self) -> str:
        """The first line of the factory's docstring."""
        return (inspect.getdoc(self.factory) or "").split("\n", 1)[0]

    def read(self, text: str) -> dict[str, Any]:
        """The arguments of ``key=value,key=value``, converted and checked."""
        known = {p.name: p for p in self.parameters}
        arguments: dict[str, Any] = {}
        for position, part in enumerate(text.split(",") if text else []):
            key, equals, value = part.partition("=")
            if not equals:
                if position or not self.parameters:
                    raise InputError(f"{self.name}: {part!r} has no name; accepted: {self.usage}.")
                key, value = self.parameters[0].name, part
            if key not in known:
                raise InputError(f"{self.name} has no parameter {key!r}{nearest(key, known)} Accepted: {self.usage}.")
            if key in arguments:
                raise InputError(f"{self.name}: {key} is given twice; give it once.")
            arguments[key] = known[key].read(value, self.name)
        missing = [p.name for p in self.parameters if p.required and p.name not in arguments]
        if missing:
            raise InputError(f"{self.name} needs {', '.join(missing)}; accepted: {self.usage}.")
        return arguments

    def write(self, arguments: Mapping[str, Any]) -> str:
        """The shortest spec with these arguments: what equals its default is left out."""
        parts = [
            f"{p.name}={p.write(arguments[p.name])}"
            for p in self.parameters
            if p.name in arguments and (p.required or arguments[p.name] != p.default)
        ]
        return f"{self.name}:{','.join(parts)}" if parts else self.name

    def make(self, **arguments: Any) -> T:
        """Call the factory with checked arguments."""
        for parameter in self.parameters:
            if parameter.name in arguments:
                parameter.check(arguments[parameter.name], self.name)
        return self.factory(**arguments)

    @property
    def usage(self) -> str:
        """How a spec of this entry looks, with every parameter."""
        if not self.parameters:
            return f"{self.name}, without parameters"
        shown = (f"{p.name}={'...' if p.required else p.write(p.default)}" for p in self.parameters)
        return f"{self.name}:{','.join(shown)}"


def _parameter(parameter: inspect.Parameter, hint: Any) -> Parameter:
    limits, nested, kind = None, False, hint
    if get_origin(hint) is Annotated:
        kind, *notes = get_args(hint)
        limits = next((note for note in notes if isinstance(note, Range)), None)
        nested = any(isinstance(note, SpecOf) for note in notes)
    return Parameter(parameter.name, kind, parameter.default, limits, nested)


class Registry(Generic[T]):
    """Named factories of one kind of thing."""

    def __init__(self, kind: str, plural: str) -> None:
        self.kind = kind
        self.plural = plural
        self._entries: dict[str, Entry[T]] = {}

    def add(self, name: str) -> Callable[[Callable[..., T]], Callable[..., T]]:
        """Decorate a factory to register it under a name."""

        def register(factory: Callable[..., T]) -> Callable[..., T]:
            if name in self._entries:
                raise ValueError(f"two {self.plural} are called {name!r}")
            self._entries[name] = Entry(name, factory)
            return factory

        return register

    def __iter__(self) -> Iterator[Entry[T]]:
        return iter(self._entries.values())

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def __getitem__(self, name: str) -> Entry[T]:
        if name not in self._entries:
            hint = nearest(name, self._entries)
            raise InputError(f"unknown {self.kind} {name!r}{hint} See: coebl list {self.plural}")
        return self._entries[name]

    def parse(self, spec: str) -> tuple[Entry[T], dict[str, Any]]:
        """The entry and the arguments that a spec names."""
        name, _, text = spec.strip().partition(":")
        entry = self[name]
        return entry, entry.read(text)
