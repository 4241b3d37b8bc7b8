"""Registries: games, noises, learners, metrics and operators, each by name.

An object gets its name in one of four ways: by a decorator at its definition (``@GAMES.add("rps")``), by a line in
the registry's table of homes, through an entry point of another package, or as ``path/to/file.py:Name``.

An `Entry` is a named factory: a function or a dataclass whose parameters a spec can set. The annotation of a parameter
holds its type, its limits and, optionally, its meaning: ``Annotated[int, Range(1), "the number of rows"]``. A string
that is a spec has its registry there: ``Annotated[str, GAMES]``.

An object whose class extends `Component` can be made from a spec or in Python, and its ``str()`` is its spec.
"""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from importlib.metadata import entry_points
from numbers import Integral, Real
from pkgutil import resolve_name
from types import ModuleType
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar, get_args, get_origin

from coebl.core.errors import InputError, nearest, reason_of, shorten
from coebl.core.modules import is_users, load_file
from coebl.core.specs import Range, escape, files_in, split_spec, unescape
from coebl.core.text import natural

T = TypeVar("T")
_Factory = TypeVar("_Factory", bound=Callable[..., Any])

_MOST_UNFIT = 3  # unusable objects of a file that a message names


@dataclass(frozen=True)
class Parameter:
    """A parameter of a factory: its kind is int, float, bool, str, tuple[float, ...], a Literal, or a component."""

    name: str
    kind: Any
    default: Any  # inspect.Parameter.empty if it is required
    limits: Range | None = None
    registry: Registry[Any] | None = None  # of a nested spec
    meaning: str = ""  # a description for people, from the annotation

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def accepts(self) -> str:
        """A description of the accepted values: "an integer, 1 .. 10"."""
        if get_origin(self.kind) is Literal:
            return "one of " + ", ".join(str(choice) for choice in get_args(self.kind))
        if self.registry is not None:
            return f"the spec of a {self.registry.kind}"
        words = {int: "an integer", float: "a number", bool: "true or false", str: "a string without commas"}
        text = words.get(self.kind, "numbers separated by /")
        return f"{text}, {self.limits}" if self.limits else text

    def read(self, text: str, owner: str) -> Any:
        """Convert the string of a value; a nested spec stays a string, which `check` reads."""
        try:
            if self.registry is not None:
                return unescape(text)
            if get_origin(self.kind) is Literal:
                return {str(choice): choice for choice in get_args(self.kind)}[text]
            if self.kind is bool:
                return {"true": True, "false": False}[text.lower()]
            if self.kind in (int, float):
                return self.kind(text)
            return tuple(map(float, text.split("/"))) if get_origin(self.kind) is tuple else text
        except (KeyError, ValueError):
            grid = " Lists in brackets are for studies: see coebl run --help." if text.startswith("[") else ""
            raise InputError(f"{owner}: {self.name} is {text!r}; accepted: {self.accepts}.{grid}") from None

    def check(self, value: Any, owner: str) -> Any:
        """Return a value of the right kind, within the limits, in plain Python types; for a nested spec, its object."""
        if self.registry is not None and (self.kind is not str or isinstance(value, str)):
            return self._nested(value, self.registry)
        if get_origin(self.kind) is tuple and hasattr(value, "__iter__") and not isinstance(value, str):
            value = tuple(value)  # of a list or an array
        if isinstance(self.default, (str, tuple)) and type(value) is type(self.default) and value == self.default:
            return value  # a spec never writes it
        with suppress(ValueError, OverflowError):
            plain = self._plain(value)
            numbers = plain if isinstance(plain, tuple) else (plain,)
            if not self.limits or all(number in self.limits for number in numbers):
                return plain
        raise InputError(f"{owner}: {self.name} is {shorten(value)}; accepted: {self.accepts}.")

    def _nested(self, value: Any, registry: Registry[Any]) -> Any:
        """Return the object of a nested spec, or the shortest spec where the parameter is a string."""
        make = registry.canonical if self.kind is str else registry.resolve
        try:
            return make(value)
        except InputError:
            if isinstance(value, str) and "+" in value and "," not in value:
                with suppress(InputError):
                    return make(unescape(value))  # as it is written inside another spec
            raise

    def _plain(self, value: Any) -> Any:
        """Return a value in plain Python types, so that its spec makes an equal one; or raise a ValueError."""
        kind = get_origin(self.kind) or self.kind
        if kind is Literal and any(type(value) is type(choice) and value == choice for choice in get_args(self.kind)):
            return value
        if kind is str and isinstance(value, str) and "," not in value and value == value.rstrip():
            return value
        if kind is bool and isinstance(value, bool):
            return value
        if kind is int and isinstance(value, Integral) and not isinstance(value, bool):
            return int(value)
        if kind is float:
            return _finite(value)
        if kind is tuple and isinstance(value, tuple) and value:
            return tuple(map(_finite, value))
        raise ValueError

    def write(self, value: Any) -> str:
        """Return the string of a value in a spec."""
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, tuple):
            return "/".join(map(_number, value))
        if isinstance(value, (int, float)):
            return _number(value)
        return str(value) if self.registry is None else escape(str(value))


def _finite(value: object) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError
    return float(value)


def _number(number: float) -> str:
    """Return a number as a string, short if that is exact: 2 instead of 2.0, but 0.1 and 1e-09."""
    if isinstance(number, int) or (number == int(number) and abs(number) < 1e15):
        return str(int(number))
    return repr(float(number))


class Entry(Generic[T]):
    """A named factory, with its parameters read from its signature."""

    def __init__(
        self, name: str, factory: Callable[..., T], title: str | None = None, example: str | None = None
    ) -> None:
        self.name = name
        self.factory = factory
        self.title = title or getattr(factory, "title", "") or name  # for people
        self.example = example or getattr(factory, "example", "") or name  # a spec with all required parameters
        try:
            self.parameters = _parameters(factory)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        self._by_name = {p.name: p for p in self.parameters}

    @property
    def defaults(self) -> dict[str, Any]:
        """The default values, by parameter."""
        return {p.name: p.default for p in self.parameters if not p.required}

    @property
    def summary(self) -> str:
        """The first line of the factory's docstring."""
        return (inspect.getdoc(self.factory) or "").split("\n", 1)[0]

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments, each of the right kind and within its limits."""
        return {
            key: self._by_name[key].check(value, self.name) if key in self._by_name else value
            for key, value in arguments.items()
        }

    def read(self, text: str) -> dict[str, Any]:
        """Return the arguments of ``key=value,key=value``, converted and not yet checked; a nested spec is a string."""
        arguments: dict[str, Any] = {}
        last = ""
        for position, part in enumerate(text.split(",") if text else []):
            key, equals, value = part.partition("=")
            if not equals:
                if position or not self.parameters:
                    raise InputError(f"{self.name}: {part!r} has no name; accepted: {self._accepted}")
                key, value = self.parameters[0].name, part
            if key not in self._by_name:
                if last and self._has_inside(last, arguments[last], key):
                    arguments[last] += f",{part}"
                    continue
                hint = nearest(key, self._by_name)
                if is_users(self.factory) and key in vars(self.factory):
                    hint = f": the class sets it without a type. Write one, such as {key}: float = 1.0."
                raise InputError(f"{self.name} has no parameter {key!r}{hint} Accepted: {self._accepted}")
            if key in arguments:
                raise InputError(f"{self.name}: {key} is given twice; give it once.")
            arguments[key] = self._by_name[key].read(value, self.name)
            last = key
        missing = [p.name for p in self.parameters if p.required and p.name not in arguments]
        if missing:
            raise InputError(f"{self.name} needs {', '.join(missing)}; accepted: {self._accepted}")
        return arguments

    def _has_inside(self, name: str, spec: Any, key: str) -> bool:
        """Return True if the spec in a parameter's value, or the last spec inside it, has this parameter."""
        registry = self._by_name[name].registry
        if registry is None:
            return False
        parts = split_spec(spec)
        entry = registry[parts.name]
        last, _, value = parts.parameters.rpartition(",")[2].partition("=")
        return key in entry._by_name or (last in entry._by_name and entry._has_inside(last, unescape(value), key))

    def write(self, arguments: Mapping[str, Any]) -> str:
        """Return the shortest spec with these arguments: defaults are left out."""
        parts = [
            f"{p.name}={p.write(arguments[p.name])}"
            for p in self.parameters
            if p.name in arguments and (p.required or arguments[p.name] != p.default)
        ]
        return f"{self.name}:{','.join(parts)}" if parts else self.name

    @property
    def usage(self) -> str:
        """A spec with every parameter."""
        if not self.parameters:
            return f"{self.name}, without parameters"
        shown = (f"{p.name}={'...' if p.required else p.write(p.default)}" for p in self.parameters)
        return f"{self.name}:{','.join(shown)}"

    @property
    def _accepted(self) -> str:
        """The usage as the end of a sentence."""
        return self.usage if self.usage.endswith("...") else f"{self.usage}."


@cache
def _parameters(factory: Callable[..., Any]) -> list[Parameter]:
    """Return the annotated parameters of a function or a dataclass; raise an InputError if a spec cannot set one."""
    if isinstance(factory, type) and not is_dataclass(factory):
        return []
    try:
        hints = typing.get_type_hints(factory, include_extras=True)
    except Exception as error:
        raise InputError(f"its annotations cannot be read ({error}); correct them.") from None
    return [_parameter(p, hints[p.name]) for p in inspect.signature(factory).parameters.values() if p.name in hints]


def _parameter(parameter: inspect.Parameter, hint: Any) -> Parameter:
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else [hint]
    kind = tuple[float, ...] if kind is tuple else kind
    limits = next((note for note in notes if isinstance(note, Range)), None)
    registry = next((note for note in notes if isinstance(note, Registry)), getattr(kind, "registry", None))
    meaning = next((note for note in notes if isinstance(note, str)), "")
    if registry is None and kind not in (int, float, bool, str) and get_origin(kind) not in (tuple, Literal):
        raise InputError(reason_not_settable(parameter))
    return Parameter(parameter.name, kind, parameter.default, limits, registry, meaning)


def reason_not_settable(parameter: inspect.Parameter) -> str:
    """Return why a spec cannot set a parameter, in one line."""
    return (
        f"its parameter {parameter} cannot be set by a spec; accepted: an annotation such as {parameter.name}: int, "
        "with int, float, bool, str, tuple[float, ...] or a Literal."
    )


class Component:
    """A dataclass that a registry makes from specs: its fields are checked, and ``str()`` of it is its spec.

    A field whose annotation is another component accepts an object or its spec, and holds the object.
    """

    registry: ClassVar[Registry[Any]]  # set by the registry whose base extends this class
    name: ClassVar[str] = ""  # in specs; set by `Registry.add`

    def __post_init__(self) -> None:
        """Check every field against its annotation."""
        for name, value in self._entry().check(self.hyper_parameters()).items():
            object.__setattr__(self, name, value)  # works for a frozen dataclass too

    def hyper_parameters(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __str__(self) -> str:
        return self._entry().write(self.hyper_parameters())

    def _entry(self) -> Entry[Any]:
        return self.registry.entry_of(type(self))


def _checks_itself(factory: Any) -> bool:
    """Return True for a component that is made by the `__init__` of a dataclass, and so checks its fields."""
    made = getattr(getattr(factory, "__init__", None), "__code__", None)
    generated = made is not None and made.co_filename == "<string>"
    return generated and getattr(factory, "__post_init__", None) is Component.__post_init__


def _reason_not_callable(component: type) -> str | None:
    """Return which method takes other arguments than the one it overrides, in one line; None if none does."""
    for name, method in vars(component).items():
        above = next((vars(base)[name] for base in component.__mro__[1:] if name in vars(base)), None)
        if name != "__init__" and inspect.isfunction(method) and inspect.isfunction(above):
            own, needed = inspect.signature(method), inspect.signature(above).parameters.values()
            arguments = [p.name for p in needed if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
            try:
                own.bind(*arguments)
            except TypeError:
                return f"its method is {name}({', '.join(own.parameters)}); accepted: {name}({', '.join(arguments)})."
    return None


def _reason_no_dataclass(component: type[Component]) -> str | None:
    """Return why a class is not a dataclass whose fields a spec can set, in one line; None if it is."""
    own = inspect.get_annotations(component).items()
    named = any(not name.startswith("_") and "ClassVar" not in str(kind) for name, kind in own)
    if named and "__dataclass_fields__" not in vars(component):
        frozen = "(frozen=True)" * component.__dataclass_params__.frozen  # type: ignore[attr-defined]
        return f"the class has fields and is not a dataclass; write @dataclass{frozen} above it."
    if set(inspect.signature(component).parameters) != {field.name for field in fields(component) if field.init}:  # type: ignore[arg-type]
        return "the class has its own __init__; make its arguments fields of a dataclass instead."
    return None


class Registry(Generic[T]):
    """Named factories of one kind, which `coebl list PLURAL` lists."""

    def __init__(
        self,
        kind: str,
        plural: str,
        *,
        base: type[T] | None = None,  # the class that all factories extend, if they are classes
        homes: Mapping[str, str] | None = None,  # name to "module:attribute", of factories imported when needed
        group: str | None = None,  # the entry-point group of other packages
        rejects: Callable[[Any], str | None] = lambda factory: None,  # returns why one that fits cannot be used
    ) -> None:
        self.kind = kind
        self.plural = plural
        self.group = group
        self.base = base
        self._homes = dict(homes or {})  # without those of other packages
        self.broken: dict[str, str] = {}  # why some entry points cannot be used
        self._rejects = rejects
        self._entries: dict[str, Entry[T]] = {}
        self._of_files: dict[str, Entry[T]] = {}  # by path/to/file.py:Name; these names are not listed
        self._by_factory: dict[Any, Entry[T]] = {}
        if base is not None and issubclass(base, Component):
            if "registry" in vars(base):
                raise ValueError(f"two registries have the base {base.__qualname__}")
            base.registry = self

    def fits(self, factory: object) -> bool:
        """Return True for a class that extends the base; for any function, if there is no base."""
        if self.base is None:
            return callable(factory) and not isinstance(factory, type)
        return isinstance(factory, type) and issubclass(factory, self.base)

    def reason_to_reject(self, factory: Any) -> str | None:
        """Return why an object cannot be registered, in one line; None if it can."""
        base = self.base
        if base is not None and not self.fits(factory):
            package = base.__module__.rpartition(".")[0]
            return f"this is {shorten(factory)}; accepted: a class that extends {package}.{base.__name__}."
        ours = getattr(factory, "__module__", "").startswith("coebl.")
        if base is not None and not ours and (reason := _reason_not_callable(factory)):
            return reason
        if reason := self._rejects(factory):
            return reason
        if base is not None and issubclass(base, Component) and (reason := _reason_no_dataclass(factory)):
            return reason
        try:
            _parameters(factory)
        except InputError as error:
            return str(error)
        return None

    def add(self, name: str, title: str | None = None, example: str | None = None) -> Callable[[_Factory], _Factory]:
        """Register the decorated factory under a name; if it has required parameters, give an example spec."""

        def register(factory: _Factory) -> _Factory:
            if name in self and not (is_users(factory) and is_users(self[name].factory)):  # an edited file
                raise ValueError(f"two {self.plural} are called {name!r}")
            if isinstance(factory, type):
                factory.name = name  # type: ignore[attr-defined]
            self._entries[name] = self._entry(name, factory, title, example)
            return factory

        return register

    @property
    def names(self) -> list[str]:
        """All names; nothing is imported."""
        return list(self.homes | dict.fromkeys(self._entries, ""))

    @cached_property
    def homes(self) -> dict[str, str]:
        """The "module:attribute" of each factory that is imported when needed, by name; no package replaces ours."""
        points = entry_points(group=self.group) if self.group else ()
        return self._homes | {point.name: point.value for point in points if point.name not in self._homes}

    def __iter__(self) -> Iterator[Entry[T]]:
        """Yield all entries, except for broken entry points of other packages, which are added to `broken`."""
        for name in self.names:
            try:
                entry = self[name]
            except InputError as error:
                if name in self._homes:
                    raise
                self.broken[name] = str(error)
            else:
                yield entry

    def __contains__(self, name: str) -> bool:
        return name in self._entries or name in self.homes

    def __getitem__(self, name: str) -> Entry[T]:
        """Return the entry of a name, or of path/to/file.py:Name."""
        if split_spec(name).file:
            return self._from_file(name)
        if name not in self._entries:
            if name not in self.homes:
                hint = nearest(name, self.names)
                raise InputError(f"unknown {self.kind} {name!r}{hint} See: coebl list {self.plural}")
            self._entries[name] = self._entry(name, self._load(name))
        return self._entries[name]

    def _load(self, name: str) -> Any:
        home = self.homes[name]
        try:
            return resolve_name(home)
        except Exception as error:
            reason = f"cannot be imported from {home} ({reason_of(error)})"
            if name not in self._homes:
                package = f"{name}, a {self.kind} of an installed package,"
                raise InputError(f"{package} {reason}. Remove the package.") from error
            if getattr(error, "name", None) not in (home.partition(":")[0], home.partition(":")[2]):
                raise
            raise InputError(f"{name} {reason}. Correct its line among the homes of the registry.") from error

    def registered(self, spec: str) -> Entry[T] | None:
        """Return the entry that a spec names; None if it is not registered here."""
        name = split_spec(spec).name
        return self[name] if name in self else None  # noqa: SIM401 - a registry has no get

    def known(self, spec: str) -> tuple[Entry[T], dict[str, Any]] | None:
        """Return the entry and the arguments of a spec in stored data; None if it is not registered here.

        No file is run, at any depth of the spec: only users may name files to run. All code that reads results, saved
        players or game files calls this, and shows unknown objects by their specs.
        """
        with suppress(InputError):  # a spec that only another version can read, or no spec
            if split_spec(spec).name in self and not files_in(spec):
                return self.parse(spec)
        return None

    def known_everywhere(self, value: str | Component) -> bool:
        """Return True if other processes can make an object from its spec: no part of it is from a user's module.

        The value is a spec or an object. Raises an InputError if a part of the object has the name of another class.
        """
        if isinstance(value, str):
            if files_in(value):
                return True
            if (match := self.known(value)) is None:
                return False
            entry, arguments = match
        else:
            entry, arguments = value._entry(), value.hyper_parameters()
            if entry.name in self and self[entry.name].factory is not (own := type(value)):
                called = f"the class {own.__module__}.{own.__qualname__} is called {entry.name!r}"
                raise InputError(f"{called}, as a registered {self.kind} is; give it another name.")
        parts = ((p, arguments.get(p.name)) for p in entry.parameters)  # at its default, a part is not in the spec
        inner = [p.registry.known_everywhere(part) for p, part in parts if p.registry and part not in (None, p.default)]
        built_in = getattr(entry.factory, "__module__", "").partition(".")[0] == "coebl" and entry.name in self
        return all(inner) and (built_in or entry.name in self.homes or bool(split_spec(entry.name).file))

    def parse(self, spec: str) -> tuple[Entry[T], dict[str, Any]]:
        """Return the entry and the checked arguments of a user's spec; files that it names are run."""
        entry, arguments = self._read(spec)
        return entry, entry.check(arguments)

    def _read(self, spec: str) -> tuple[Entry[T], dict[str, Any]]:
        parts = split_spec(spec)
        entry = self[parts.name]
        return entry, entry.read(parts.parameters)

    def make(self, spec: str) -> T:
        """Make the object that a spec names."""
        entry, arguments = self._read(spec)
        if not _checks_itself(entry.factory):
            arguments = entry.check(arguments)
        return entry.factory(**arguments)

    def resolve(self, value: str | T) -> T:
        """Return an object of the registry's base, or make the object of a spec."""
        base = self.base
        assert base is not None
        if isinstance(value, base):
            return value
        if isinstance(value, str):
            return self.make(value)
        repair = f" Make one: {value.__name__}()." if isinstance(value, type) and issubclass(value, base) else ""
        accepted = f"a {base.__name__}, or a spec such as {self.names[0]!r}"
        raise InputError(f"{self.kind} is {shorten(value)}; accepted: {accepted}.{repair}")

    def canonical(self, spec: str) -> str:
        """Return the shortest equivalent of a user's spec; files that it names are run."""
        entry, arguments = self.parse(spec)
        return entry.write(arguments)

    def shortest(self, spec: str) -> str:
        """Return the shortest equivalent of a spec in stored data; the same spec if it is not registered here."""
        match = self.known(spec)
        return spec if match is None else match[0].write(match[1])

    def order(self, spec: str) -> tuple[Any, ...]:
        """Return a sort key by name and numbers, including defaults; no file is run."""
        parts = split_spec(spec)
        parameters = parts.parameters
        if match := self.known(spec):
            entry, arguments = match
            values = entry.defaults | arguments
            parameters = ",".join(f"{name}={values[name]}" for name in sorted(values))
        return natural(parts.name), natural(parameters), spec

    def entry_of(self, factory: type[T]) -> Entry[T]:
        """Return the entry of a class; if it is not registered, a new entry with its own name, not a base's."""
        if factory not in self._by_factory:
            self._by_factory[factory] = Entry(vars(factory).get("name") or factory.__name__, factory)
        return self._by_factory[factory]

    def _entry(self, name: str, factory: Any, title: str | None = None, example: str | None = None) -> Entry[T]:
        if reason := self.reason_to_reject(factory):
            raise InputError(f"{name}: {reason}")
        entry: Entry[T] = Entry(name, factory, title, example)
        self._by_factory.setdefault(factory, entry)  # of two ways to write a path, the first is kept
        return entry

    def _from_file(self, name: str) -> Entry[T]:
        parts = split_spec(name)
        file, attribute, module = parts.file, parts.attribute, load_file(parts.file)
        factory = getattr(module, attribute, None)
        if factory is None:
            usable, unfit = self.in_module(module)
            listed = f" It has: {', '.join(usable)}." if usable else ""
            listed += "".join(f" {key} cannot be used: {reason}" for key, reason in list(unfit.items())[:_MOST_UNFIT])
            if not attribute:
                raise InputError(f"{file} does not say which {self.kind}; accepted: {file}:Name.{listed}")
            raise InputError(f"{file} has no {self.kind} {attribute!r}{nearest(attribute, usable)}{listed}")
        known = self._of_files.get(name)
        if known is None or known.factory is not factory:
            known = self._of_files[name] = self._entry(name, factory)
        if is_users(factory) and not split_spec(self._by_factory[factory].name).file:
            self._by_factory[factory] = known  # other processes do not have a name that the file registers
        return known

    def in_module(self, module: ModuleType) -> tuple[list[str], dict[str, str]]:
        """Return the names of usable objects in a file, and the reasons why others cannot be used."""
        usable, unfit = [], {}
        for key, value in vars(module).items():
            if getattr(value, "__module__", None) == module.__name__ and callable(value):
                reason = self.reason_to_reject(value)
                if reason is None:
                    usable.append(key)
                elif self.fits(value):
                    unfit[key] = reason
        return usable, unfit
