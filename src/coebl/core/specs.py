"""Spec strings: how games, noise models and learners are named everywhere.

``name`` or ``name:key=value,key=value``; a single value without a key goes to the first parameter. Nothing in a
spec needs quoting in a shell. A list is written ``1/2/3``; inside a value that is itself a spec, ``+`` stands for
the comma. A class or function in a user's own file is named ``path/to/file.py:Name``.

An `Entry` is a named factory: a function or a dataclass whose annotated parameters say what a spec may set,
``n: Annotated[int, Range(1, 10)] = 3``. `coebl.core.registry` keeps the entries of one kind together.
"""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, is_dataclass
from numbers import Integral, Real
from pathlib import PurePath
from typing import Annotated, Any, Generic, Literal, NamedTuple, Protocol, TypeVar, get_args, get_origin

from coebl.core.errors import InputError, nearest, shorten

T = TypeVar("T")

_PYTHON = ".py"
_DEEPEST = 16  # specs inside specs: more is an attack, or a slip


class SpecParts(NamedTuple):
    """A spec, taken apart by `split_spec`."""

    name: str  # a registered name, or path/to/file.py:Name
    parameters: str  # key=value,key=value
    file: str  # path/to/file.py, or nothing

    @property
    def attribute(self) -> str:
        """The Name of path/to/file.py:Name, or nothing.

        >>> split_spec("mine.py:Mine:rate=0.2").attribute
        'Mine'
        """
        return self.name.removeprefix(self.file).removeprefix(":") if self.file else ""

    @property
    def arguments(self) -> dict[str, str]:
        """The parameters that have a name, as text.

        >>> split_spec("random-gaussian:m=20,n=30").arguments
        {'m': '20', 'n': '30'}
        """
        pairs = (part.partition("=") for part in self.parameters.split(","))
        return {key: value for key, equals, value in pairs if equals}


def split_spec(spec: str) -> SpecParts:
    """Take a spec apart.

    >>> split_spec("coebl:c=2")
    SpecParts(name='coebl', parameters='c=2', file='')
    >>> split_spec("mine.py:Mine:rate=0.2")
    SpecParts(name='mine.py:Mine', parameters='rate=0.2', file='mine.py')
    """
    head, _, rest = spec.strip().partition(":")
    if not head.endswith(_PYTHON):
        return SpecParts(head, rest, "")
    name, _, parameters = rest.partition(":")
    return SpecParts(f"{head}:{name}", parameters, head)


def move_files(spec: str, place: Callable[[str], str]) -> str:
    """Return the spec with every Python file that it names moved, at any depth: itself and the specs inside it.

    This is the only walk over a spec for its files. Values are split and unescaped as `Entry.read` does it, so a file
    that a registry would load is always found. A text that merely looks like a file counts as one.

    Args:
        spec: of anything.
        place: the new path of a file.

    >>> move_files("coebl:c=2,mutation=sparse:of=mine.py:X+probability=1", "some/where/{}".format)
    'coebl:c=2,mutation=sparse:of=some/where/mine.py:X+probability=1'
    """
    return _move_files(spec.strip(), place, _DEEPEST)


def _move_files(spec: str, place: Callable[[str], str], levels: int) -> str:
    if _PYTHON not in spec:
        return spec
    if not levels:
        raise InputError(f"{shorten(spec)} is inside {_DEEPEST} other specs; accepted: fewer. Nest less.")
    parts = split_spec(spec)
    arguments = []
    for argument in parts.parameters.split(","):
        key, equals, value = argument.partition("=") if "=" in argument else ("", "", argument)
        inner = unescape(value)
        moved = _move_files(inner, place, levels - 1)
        arguments.append(argument if moved == inner else f"{key}{equals}{escape(moved)}")
    name = place(parts.file) + parts.name.removeprefix(parts.file) if parts.file else parts.name
    return f"{name}:{','.join(arguments)}" if parts.parameters else name


def files_in(spec: str) -> list[str]:
    """Return the Python files that a spec names at any depth, its own first: what to make the thing would run.

    >>> files_in("mine.py:Mine:rate=2"), files_in("permuted:game=scaled:game=g.py:f++scale=2+seed=1"), files_in("ucb")
    (['mine.py'], ['g.py'], [])
    """
    found: list[str] = []

    def note(file: str) -> str:
        found.append(file)
        return file

    move_files(spec, note)
    return found


def inner_files(spec: str) -> list[str]:
    """Return the files that only the specs inside a spec name.

    >>> inner_files("mine.py:Mine:rate=2"), inner_files("coebl:mutation=mine.py:X")
    ([], ['mine.py'])
    """
    return [file for file in files_in(spec) if file != split_spec(spec).file]


def without_folder(spec: str) -> str:
    """Return the spec with the names of its files instead of their paths.

    >>> without_folder("some/where/mine.py:Mine:rate=0.2")
    'mine.py:Mine:rate=0.2'
    """
    return move_files(spec, lambda file: PurePath(file).name)


def escape(spec: str) -> str:
    """Return a spec as the value of a parameter, with + for its commas."""
    return spec.replace("+", "++").replace(",", "+")


def unescape(value: str) -> str:
    """Return the spec that the value of a parameter stands for.

    >>> unescape("sparse:of=student:freedom=4++x=1+probability=1")
    'sparse:of=student:freedom=4+x=1,probability=1'
    """
    return value.replace("++", "\0").replace("+", ",").replace("\0", "+")


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


class Names(Protocol):
    """What a nested spec is looked up in: a `coebl.core.registry.Registry`."""

    kind: str

    def canonical(self, spec: str) -> str:
        """The shortest spec that means the same; an InputError if there is no such thing."""


@dataclass(frozen=True)
class SpecOf:
    """Marks a text parameter that is itself a spec: ``Annotated[str, SpecOf(GAMES)]``. Its commas are written ``+``."""

    names: Names


@dataclass(frozen=True)
class Parameter:
    """One parameter of a factory, as a spec sees it."""

    name: str
    kind: Any  # int, float, bool, str, tuple[float, ...] or a Literal
    default: Any  # inspect.Parameter.empty if it must be given
    limits: Range | None = None
    names: Names | None = None  # of a nested spec

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def accepts(self) -> str:
        """What a value may be, in words.

        >>> Parameter("n", int, 3, Range(1, 10)).accepts
        'a whole number, 1 .. 10'
        """
        if get_origin(self.kind) is Literal:
            return "one of " + ", ".join(str(choice) for choice in get_args(self.kind))
        if self.names is not None:
            return f"the spec of a {self.names.kind}"
        words = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
        text = words.get(self.kind, "numbers separated by /")
        return f"{text}, {self.limits}" if self.limits else text

    def read(self, text: str, owner: str) -> Any:
        """The value that a text stands for."""
        try:
            value = self._convert(text)
        except ValueError:
            grid = " Lists in brackets are for studies: see coebl run --help." if text.startswith("[") else ""
            raise InputError(f"{owner}: {self.name} is {text!r}; accepted: {self.accepts}.{grid}") from None
        return self.check(value, owner)

    def check(self, value: Any, owner: str) -> Any:
        """The value itself if it is of the right kind and within the limits; a nested spec in its shortest form."""
        if self.names is not None and isinstance(value, str):
            return self.names.canonical(value)
        if get_origin(self.kind) is tuple and hasattr(value, "__iter__") and not isinstance(value, str):
            value = tuple(value)  # a list or an array will do
        numbers = value if isinstance(value, tuple) else (value,)
        if not self._fits(value) or (self.limits and not all(number in self.limits for number in numbers)):
            raise InputError(f"{owner}: {self.name} is {shorten(value)}; accepted: {self.accepts}.")
        return value

    def _fits(self, value: Any) -> bool:
        """Whether a value is of the parameter's kind, also one of NumPy's."""
        if get_origin(self.kind) is Literal:
            return any(type(value) is type(choice) and value == choice for choice in get_args(self.kind))
        if self.kind is int:
            return isinstance(value, Integral) and not isinstance(value, bool)
        if self.kind is float:
            return _is_finite(value)
        if self.kind in (str, bool):
            return isinstance(value, self.kind)
        return isinstance(value, tuple) and all(map(_is_finite, value))

    def write(self, value: Any) -> str:
        """The text that stands for a value."""
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, tuple):
            return "/".join(_number(number) for number in value)
        if isinstance(value, (int, float)):
            return _number(value)
        text = str(value)
        return escape(text) if self.names is not None else text

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
            return unescape(text) if self.names is not None else text
        return tuple(_finite(part) for part in text.split("/"))


def _is_finite(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


def _number(number: float) -> str:
    """Short if that is exact: 2 rather than 2.0.

    >>> _number(2.0), _number(0.1), _number(1e-9)
    ('2', '0.1', '1e-09')
    """
    if isinstance(number, int) or (number == int(number) and abs(number) < 1e15):
        return str(int(number))
    return repr(float(number))


def _annotated(factory: Callable[..., object]) -> Any:
    """What has the annotations of the parameters: a dataclass itself, so that each base's are read in its module."""
    if not isinstance(factory, type) or is_dataclass(factory):
        return factory
    return factory.__init__  # type: ignore[misc]  # a subclass may have another, and this is not a subclass


class Entry(Generic[T]):
    """A named factory, with its parameters read from its signature."""

    def __init__(
        self, name: str, factory: Callable[..., T], title: str | None = None, example: str | None = None
    ) -> None:
        self.name = name
        self.factory = factory
        self.title = title or getattr(factory, "title", "") or name  # what people read
        self.example = example or getattr(factory, "example", "") or name  # a spec with all that it needs
        hints = typing.get_type_hints(_annotated(factory), include_extras=True)
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
                    raise InputError(f"{self.name}: {part!r} has no name; accepted: {self._accepted}")
                key, value = self.parameters[0].name, part
            if key not in known:
                raise InputError(
                    f"{self.name} has no parameter {key!r}{nearest(key, known)} Accepted: {self._accepted}"
                )
            if key in arguments:
                raise InputError(f"{self.name}: {key} is given twice; give it once.")
            arguments[key] = known[key].read(value, self.name)
        missing = [p.name for p in self.parameters if p.required and p.name not in arguments]
        if missing:
            raise InputError(f"{self.name} needs {', '.join(missing)}; accepted: {self._accepted}")
        return arguments

    def write(self, arguments: Mapping[str, Any], shown: Collection[str] = ()) -> str:
        """The shortest spec with these arguments: what equals its default is left out, unless it is to be shown."""
        values = {p.name: p.default for p in self.parameters if p.name in shown and not p.required} | dict(arguments)
        parts = [
            f"{p.name}={p.write(values[p.name])}"
            for p in self.parameters
            if p.name in values and (p.required or p.name in shown or values[p.name] != p.default)
        ]
        return f"{self.name}:{','.join(parts)}" if parts else self.name

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, each of the right kind and within its limits."""
        known = {p.name: p for p in self.parameters}
        return {key: known[key].check(value, self.name) if key in known else value for key, value in arguments.items()}

    def make(self, **arguments: Any) -> T:
        """Call the factory with checked arguments."""
        return self.factory(**self.check(arguments))

    @property
    def usage(self) -> str:
        """How a spec of this entry looks, with every parameter."""
        if not self.parameters:
            return f"{self.name}, without parameters"
        shown = (f"{p.name}={'...' if p.required else p.write(p.default)}" for p in self.parameters)
        return f"{self.name}:{','.join(shown)}"

    @property
    def _accepted(self) -> str:
        """The usage at the end of a sentence."""
        return self.usage if self.usage.endswith("...") else f"{self.usage}."


def _parameter(parameter: inspect.Parameter, hint: Any) -> Parameter:
    limits, names, kind = None, None, hint
    if get_origin(hint) is Annotated:
        kind, *notes = get_args(hint)
        limits = next((note for note in notes if isinstance(note, Range)), None)
        names = next((note.names for note in notes if isinstance(note, SpecOf)), None)
    return Parameter(parameter.name, kind, parameter.default, limits, names)
