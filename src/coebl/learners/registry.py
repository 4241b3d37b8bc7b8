"""The learners by name. To add one: write its file, then one line in `_BUILT_IN`."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from coebl.core.errors import InputError, nearest, shorten
from coebl.core.specs import Entry
from coebl.learners.base import SEES, Learner

_BUILT_IN = {
    "coebl": "coebl.learners.coebl:Coebl",
    "ucb": "coebl.learners.ucb:Ucb",
    "exp3": "coebl.learners.exp3:Exp3",
    "exp3-ix": "coebl.learners.exp3_ix:Exp3Ix",
    "exp3-as-released": "coebl.learners.as_released:Exp3AsReleased",
    "exp3-ix-as-released": "coebl.learners.as_released:Exp3IxAsReleased",
    "uniform": "coebl.learners.opponents:Uniform",
    "fixed": "coebl.learners.opponents:Fixed",
    "nash": "coebl.learners.opponents:Nash",
    "switching": "coebl.learners.opponents:Switching",
    "best-response": "coebl.learners.opponents:BestResponse",
}


class LearnerRegistry:
    """Built-in learners, those of installed packages (entry-point group `coebl.learners`), and files."""

    def __init__(self) -> None:
        self._homes: dict[str, str] | None = None
        self._entries: dict[str, Entry[Learner]] = {}

    @property
    def homes(self) -> dict[str, str]:
        """Where each name's class is, as module:Class."""
        if self._homes is None:
            others = {point.name: point.value for point in entry_points(group="coebl.learners")}
            self._homes = {**others, **_BUILT_IN}
        return self._homes

    def __iter__(self) -> Iterator[Entry[Learner]]:
        return (self[name] for name in self.homes)

    def __contains__(self, name: str) -> bool:
        return name in self.homes

    def __getitem__(self, name: str) -> Entry[Learner]:
        if name not in self._entries:
            if name not in self.homes:
                raise InputError(f"unknown learner {name!r}{nearest(name, self.homes)} See: coebl list learners")
            module, _, attribute = self.homes[name].partition(":")
            self._add(name, getattr(importlib.import_module(module), attribute))
        return self._entries[name]

    def parse(self, spec: str | Learner) -> Learner:
        """The learner that a spec names: a registered name, or path/to/file.py:Class, then its parameters.

        >>> LearnerRegistry().parse("coebl:c=2")
        Coebl(c=2.0, mutation='gaussian', selection='elitist')
        """
        if isinstance(spec, Learner):
            return spec
        head, _, text = spec.strip().partition(":")
        if head.endswith(".py"):
            class_name, _, text = text.partition(":")
            entry = self._from_file(head, class_name)
        else:
            entry = self[head]
        return entry.make(**entry.read(text))

    def entry_of(self, learner: Learner) -> Entry[Learner]:
        """The entry of a learner's class, registered or not."""
        entry = self._entries.get(type(learner).name)
        return entry if entry and entry.factory is type(learner) else Entry(type(learner).name, type(learner))

    def spec_of(self, learner: Learner) -> str:
        """The canonical spec of a learner."""
        return self.entry_of(learner).write(learner.hyper_parameters())

    def _add(self, name: str, factory: Any) -> Entry[Learner]:
        if not (isinstance(factory, type) and issubclass(factory, Learner)):
            raise InputError(f"{name} is {shorten(factory)}; accepted: a class that extends coebl.Learner.")
        if factory.sees not in SEES:
            raise InputError(f"{name}: sees is {factory.sees!r}; accepted: {', '.join(SEES)}.")
        own = {field for field in inspect.get_annotations(factory) if not field.startswith("_")}
        if own and "__dataclass_fields__" not in factory.__dict__:
            raise InputError(f"{name} has fields and is no dataclass; write @dataclass above the class.")
        entry: Entry[Learner] = Entry(name, factory)
        self._entries[name] = entry
        return entry

    def _from_file(self, path: str, class_name: str) -> Entry[Learner]:
        home = f"{path}:{class_name}"
        if home in self._entries:
            return self._entries[home]
        file = Path(path)
        if not file.is_file():
            raise InputError(f"no file {path!r}; accepted: path/to/file.py:Class. Check the path.")
        # the same name in every process, so that what a worker returns can be read here
        module_name = f"_coebl_user_{file.stem}_{hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:16]}"
        specification = importlib.util.spec_from_file_location(module_name, file)
        assert specification is not None
        assert specification.loader is not None
        module = importlib.util.module_from_spec(specification)
        sys.modules[module_name] = module
        try:
            specification.loader.exec_module(module)
        except Exception as error:
            del sys.modules[module_name]
            line = getattr(error, "lineno", None) or traceback.extract_tb(error.__traceback__)[-1].lineno
            raise InputError(f"{path}, line {line}: {type(error).__name__}: {error}; repair the file.") from error
        factory = getattr(module, class_name, None)
        if factory is None:
            classes = [n for n, v in vars(module).items() if isinstance(v, type) and issubclass(v, Learner)]
            raise InputError(
                f"{path} has no class {class_name!r}{nearest(class_name, classes)} Name one after the colon."
            )
        entry = self._add(home, factory)
        factory.name = home
        return entry


LEARNERS = LearnerRegistry()


def parse_learner(spec: str | Learner) -> Learner:
    """The learner that a spec names."""
    return LEARNERS.parse(spec)
