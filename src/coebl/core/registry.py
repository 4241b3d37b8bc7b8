"""Registries: games, noises, learners, metrics and their parts, each by name.

A thing gets its name in one of four ways: by a decorator where it is written (``@GAMES.add("rps")``), by a line in the
registry's table of homes, through an entry point of another package, or as ``path/to/file.py:Name``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any, Generic, TypeVar

from coebl.core.errors import InputError, nearest, shorten
from coebl.core.modules import is_users, load, load_file
from coebl.core.order import natural
from coebl.core.specs import Entry, files_in, split_spec

T = TypeVar("T")
Factory = TypeVar("Factory", bound=Callable[..., Any])


_MOST_UNFIT = 3  # that are told of a file

OTHER_KIND = "this is "  # how a refusal begins of what is another kind of thing altogether


def refuse_unless(factory: object, base: type) -> str | None:
    """Why something cannot be registered, unless it is a class that extends this one: a `refusal` for a registry."""
    if isinstance(factory, type) and issubclass(factory, base):
        return None
    return f"{OTHER_KIND}{shorten(factory)}; accepted: a class that extends {base.__module__}.{base.__qualname__}."


class Registry(Generic[T]):
    """Named factories of one kind of thing.

    Args:
        kind: what one of them is called, "learner" for instance.
        plural: what several of them are called; `coebl list PLURAL` lists them.
        homes: where those that are imported only when needed are: name to "module:attribute".
        group: the entry-point group through which other packages add theirs.
        refusal: why a factory cannot be one of them, on one line, or None. It is asked of every factory.
    """

    def __init__(
        self,
        kind: str,
        plural: str,
        *,
        homes: Mapping[str, str] | None = None,
        group: str | None = None,
        refusal: Callable[[object], str | None] | None = None,
    ) -> None:
        self.kind = kind
        self.plural = plural
        self.group = group
        self._homes = dict(homes or {})
        self._asked_others = False  # for entry points
        self._refusal = refusal
        self._entries: dict[str, Entry[T]] = {}
        self._of_files: dict[str, Entry[T]] = {}  # by path/to/file.py:Name: what is loaded is not registered by that
        self._by_factory: dict[Any, Entry[T]] = {}

    def add(self, name: str, title: str | None = None, example: str | None = None) -> Callable[[Factory], Factory]:
        """Decorate a factory to register it under a name, which becomes the `name` of a class.

        One that has required parameters needs an example, a spec that sets them; it is shown and tested.
        """

        def register(factory: Factory) -> Factory:
            if name in self.names and not (is_users(factory) and is_users(self[name].factory)):  # a file may be changed
                raise ValueError(f"two {self.plural} are called {name!r}")
            if isinstance(factory, type):
                factory.name = name  # type: ignore[attr-defined]
            self._entries[name] = self._entry(name, factory, title, example)
            return factory

        return register

    @property
    def names(self) -> list[str]:
        """All names, those of installed packages last. Nothing is imported for this."""
        return list(self._all_homes() | dict.fromkeys(self._entries, ""))

    def homes(self) -> dict[str, str]:
        """Where each factory that is imported when needed is: name to "module:attribute"."""
        return dict(self._all_homes())

    def __iter__(self) -> Iterator[Entry[T]]:
        return (self[name] for name in self.names)

    def __contains__(self, name: str) -> bool:
        return name in self._entries or name in self._all_homes()

    def __getitem__(self, name: str) -> Entry[T]:
        """The entry of a name, or of path/to/file.py:Name."""
        if split_spec(name).file:
            return self._from_file(name)
        if name not in self._entries:
            if name not in self._all_homes():
                hint = nearest(name, self.names)
                raise InputError(f"unknown {self.kind} {name!r}{hint} See: coebl list {self.plural}")
            self._entries[name] = self._entry(name, load(self._all_homes()[name]))
        return self._entries[name]

    def registered(self, spec: str) -> Entry[T] | None:
        """Return the entry of a spec's name, whatever its arguments; None if it is not registered here."""
        name = split_spec(spec).name
        if name not in self:
            return None
        return self[name]

    def known(self, spec: str) -> tuple[Entry[T], dict[str, Any]] | None:
        """Return the entry and the arguments of a spec that is in data; None for what is not registered here.

        No file is run for it, at any depth of the spec: only users name files to run. All that reads results, saves
        or game files asks here, and shows what is not known by its spec.
        """
        with suppress(InputError, RecursionError):  # a spec that only another version can read, or nobody
            if split_spec(spec).name in self and not files_in(spec):
                return self.parse(spec)
        return None

    def parse(self, spec: str) -> tuple[Entry[T], dict[str, Any]]:
        """Return the entry and the arguments of a spec that a user names; files that it names are run."""
        parts = split_spec(spec)
        entry = self[parts.name]
        return entry, entry.read(parts.parameters)

    def make(self, spec: str) -> T:
        """The thing that a spec names."""
        entry, arguments = self.parse(spec)
        return entry.make(**arguments)

    def resolve(self, thing: str | T, base: type[T]) -> T:
        """The thing that a spec names; a thing stands for itself."""
        if isinstance(thing, base):
            return thing
        if isinstance(thing, str):
            return self.make(thing)
        repair = f" Make one: {thing.__name__}()." if isinstance(thing, type) and issubclass(thing, base) else ""
        accepted = f"a {base.__name__}, or a spec such as {self.names[0]!r}"
        raise InputError(f"{self.kind} is {shorten(thing)}; accepted: {accepted}.{repair}")

    def canonical(self, spec: str) -> str:
        """The shortest spec that means the same."""
        entry, arguments = self.parse(spec)
        return entry.write(arguments)

    def order(self, spec: str) -> tuple[Any, ...]:
        """A key that sorts specs by their names and numbers, also where a spec leaves one at its default.

        No file is run for it: specs that are not registered are sorted as they are written.
        """
        parts = split_spec(spec)
        parameters = parts.parameters
        if found := self.known(spec):
            entry, arguments = found
            values = {p.name: p.default for p in entry.parameters if not p.required} | arguments
            parameters = ",".join(f"{name}={values[name]}" for name in sorted(values))
        return natural(parts.name), natural(parameters), spec

    def told_apart(self, specs: Iterable[str]) -> dict[str, str]:
        """Specs as people read them side by side: what one of a name sets, the others of that name show too.

        So a default is named where there are other values beside it. No file is run for it: what stands in one is told
        by its spec.
        """
        listed = list(dict.fromkeys(specs))
        texts = {spec: spec for spec in listed}
        by_name: dict[str, dict[str, dict[str, Any]]] = {}
        for spec in listed:
            if found := self.known(spec):
                by_name.setdefault(found[0].name, {})[spec] = found[1]
        for name, given in by_name.items():
            shown = {key for arguments in given.values() for key in arguments}
            texts |= {spec: self[name].write(arguments, shown) for spec, arguments in given.items()}
        return texts

    def entry_of(self, factory: Any, name: str) -> Entry[T]:
        """The entry of a factory, or a new entry under this name if it is not registered."""
        if factory not in self._by_factory:
            self._by_factory[factory] = Entry(name, factory)
        return self._by_factory[factory]

    def _all_homes(self) -> dict[str, str]:
        if self.group is not None and not self._asked_others:
            self._asked_others = True
            others = {point.name: point.value for point in entry_points(group=self.group)}
            self._homes |= {name: home for name, home in others.items() if name not in self._homes}
        return self._homes

    def _entry(self, name: str, factory: Any, title: str | None = None, example: str | None = None) -> Entry[T]:
        reason = self._refusal(factory) if self._refusal else None
        if reason:
            raise InputError(f"{name}: {reason}")
        entry: Entry[T] = Entry(name, factory, title, example)
        self._by_factory.setdefault(factory, entry)  # a path may be spelled in two ways: the first is kept
        return entry

    def _from_file(self, name: str) -> Entry[T]:
        _, _, file = parts = split_spec(name)
        attribute, module = parts.attribute, load_file(file)
        factory = getattr(module, attribute, None)
        if factory is None:
            found, unfit = self._in_module(module)
            listed = f" It has: {', '.join(found)}." if found else ""
            listed += "".join(f" {key} cannot be used: {reason}" for key, reason in list(unfit.items())[:_MOST_UNFIT])
            if not attribute:
                raise InputError(f"{file} does not say which {self.kind}; accepted: {file}:Name.{listed}")
            raise InputError(f"{file} has no {self.kind} {attribute!r}{nearest(attribute, found)}{listed}")
        known = self._of_files.get(name)
        if known is None or known.factory is not factory:
            known = self._of_files[name] = self._entry(name, factory)
        if is_users(factory) and not split_spec(self._by_factory[factory].name).file:
            self._by_factory[factory] = known  # other processes do not know a name that the file itself registers
        return known

    def _in_module(self, module: ModuleType) -> tuple[list[str], dict[str, str]]:
        """What a file has of this kind: the names that can be used, and those that cannot be, with the reasons."""
        found, unfit = [], {}
        for key, value in vars(module).items():
            if getattr(value, "__module__", None) == module.__name__ and callable(value):
                reason = self._refusal(value) if self._refusal else None
                if reason is None:
                    found.append(key)
                elif not reason.startswith(OTHER_KIND):
                    unfit[key] = reason
        return found, unfit
