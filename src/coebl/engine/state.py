"""The state of objects as plain data: JSON and bytes, no code.

`pack` describes a graph of objects, with its cycles and shared references, by comparing it with a twin: an object that
was made in the same way and has not been used yet. Functions and shared constants are not described. They have to be
the twin's, and `unpack` takes them from its twin. So a description names no function, and only classes of coebl and of
the module in which the learner's class is defined.

Arrays keep their strides, their alignment and the memory that they share with others: the last bit of a sum and the
solver's kernels depend on these.
"""

from __future__ import annotations

import copyreg
import math
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.typing import NDArray

from coebl.core.arrays import MOST_ENTRIES
from coebl.core.errors import InputError, shorten

_PACKAGES = ("coebl.learners.", "coebl.solver.", "coebl.kernels.", "coebl.backend.")  # whose classes may be named
_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_DTYPES = "biufcSU"  # kinds of dtypes: booleans, numbers, strings
_LINE = 64  # bytes of a cache line
_MISSING: Any = object()  # in place of a part that a twin does not have
_UNFINISHED: Any = object()  # in place of an object whose parts are still to be rebuilt


class State(NamedTuple):
    """A description of objects."""

    tree: Any  # JSON. Numbers, strings and None represent themselves; a list is a kind, then its parts
    memory: list[NDArray[np.uint8]]  # the bytes of arrays, (bytes,) each


class StateError(Exception):
    """A description that is damaged, or of objects with other attributes."""


def pack(values: Mapping[str, object], twins: Mapping[str, object], shared: object, home: type) -> State:
    """Describe objects; messages use their names. They may refer to `shared`, which is not described.

    Classes in the module of the class `home` may be named.
    """
    packer = _Packer(shared, home)
    try:
        return State({name: packer.pack(value, twins[name], name) for name, value in values.items()}, packer.memory)
    except RecursionError:
        raise InputError(f"{home.__name__} has attributes nested too deeply to be stored; keep arrays.") from None


def unpack(state: State, twins: Mapping[str, object], shared: object, home: type) -> None:
    """Give the twins a state; raise a `StateError` if it does not fit them.

    Objects with memory that compiled code does not check have a method `check_restored`, which is called last.
    """
    unpacker = _Unpacker(state.memory, shared, home)
    try:
        for name, twin in twins.items():
            if unpacker.unpack(state.tree[name], twin) is not twin:
                raise StateError(f"{name} is of another kind")
        for made in unpacker.objects:
            if check := getattr(type(made), "check_restored", None):
                check(made)
    except StateError:
        raise
    except Exception as error:  # a damaged description may raise any exception
        raise StateError(f"{type(error).__name__}: {error}") from error


class _Packer:
    """A packer that numbers objects in the order in which it meets them, as `_Unpacker` does."""

    def __init__(self, shared: object, home: type) -> None:
        self.memory: list[NDArray[np.uint8]] = []
        self._home = home
        # By identity: the number of an object or of the memory of an array. They are kept, so that no identity recurs.
        self._known: dict[int, tuple[int, object]] = {id(shared): (0, shared)}
        self._owners: dict[int, tuple[int, object]] = {}
        self._unfinished: set[int] = set()  # identities of objects that have to be rebuilt from their parts

    def pack(self, value: Any, twin: Any, path: str) -> Any:
        if value is None or type(value) in (bool, int, float, str):
            return value
        if value is twin:
            return ["same"]
        if id(value) in self._unfinished:  # a cycle
            raise _cannot_store(value, path)
        if id(value) in self._known:
            return ["again", self._known[id(value)][0]]
        self._known[id(value)] = len(self._known), value
        if type(value) not in (list, dict):
            self._unfinished.add(id(value))
        packed = self._describe(value, twin, path)
        self._unfinished.discard(id(value))
        return packed

    def _describe(self, value: Any, twin: Any, path: str) -> list[Any]:
        kind = type(value)
        if kind is np.ndarray or isinstance(value, np.generic):
            return self._array(value, path)
        if kind is tuple:
            return ["tuple", *self._items(value, twin, path)]
        if kind is partial:
            parts = value.func, value.args, value.keywords
            return ["partial", *self._items(parts, _partial_parts(twin), path)]
        if kind is MethodType and getattr(type(value.__self__), value.__name__, None) is value.__func__:
            return ["method", value.__name__, self.pack(value.__self__, _attribute(twin, "__self__"), path)]
        if kind is np.random.Generator and (name := type(value.bit_generator).__name__) in _GENERATORS:
            return ["generator", name, self.pack(value.bit_generator.state, _MISSING, path)]
        if kind is list:
            return ["list", *self._items(value, twin, path)]
        if kind is dict:
            keys = self._items(list(value), _MISSING, path)
            return ["dict", keys, [self.pack(value[key], _item(twin, key), f"{path}[{key!r}]") for key in value]]
        return self._object(value, twin, path)

    def _items(self, values: Sequence[Any], twin: Any, path: str) -> list[Any]:
        return [self.pack(item, _item(twin, index), f"{path}[{index}]") for index, item in enumerate(values)]

    def _object(self, value: Any, twin: Any, path: str) -> list[Any]:
        kind = type(value)
        name = f"{'' if kind.__module__ == self._home.__module__ else kind.__module__}:{kind.__qualname__}"
        try:
            make, (_, *arguments), _, items, pairs = (*value.__reduce_ex__(2), None, None, None)[:5]
            newly = make is copyreg.__newobj__ and items is pairs is None  # type: ignore[attr-defined]
        except Exception:  # Python cannot pickle it: a file, a lock, a function, ...
            newly = False
        if not newly or _has_more_state(kind) or _find_class(name, twin, self._home) is not kind:
            raise _cannot_store(value, path)
        packed = self._items(arguments, twin, path)
        self._unfinished.discard(id(value))
        attributes = _attributes(value)
        state = {key: self.pack(part, _attribute(twin, key), f"{path}.{key}") for key, part in attributes.items()}
        deleted = _attributes(twin).keys() - attributes.keys() if type(twin) is kind else ()
        return ["object", name, packed, state | {key: ["deleted"] for key in deleted}]

    def _array(self, value: Any, path: str) -> list[Any]:
        array = np.asarray(value)
        if array.dtype.kind not in _DTYPES:
            raise _cannot_store(value, path)
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        low, high = byte_bounds(owner)
        if not array.size or high - low != owner.nbytes or min((1, *owner.strides)) < 0 or owner.dtype.hasobject:
            owner = array = array.copy()  # views of unusual memory are restored as copies
            low = byte_bounds(owner)[0]
        if id(owner) not in self._owners:
            self._owners[id(owner)] = len(self.memory), owner
            self.memory.append(np.asarray(owner).ravel("K").view(np.uint8))
        place = [self._owners[id(owner)][0], low % _LINE, array.ctypes.data - low]
        kind = "array" if type(value) is np.ndarray else "scalar"
        return [kind, array.dtype.str, array.shape, array.strides, *place]


class _Unpacker:
    """An unpacker that rebuilds the objects, numbered in the same order."""

    def __init__(self, memory: Sequence[NDArray[np.uint8]], shared: object, home: type) -> None:
        self._memory = memory
        self._home = home
        self.objects = [shared]  # by number
        self._taken: set[int] = set()  # identities of the parts of the twin that were filled
        self._owners: dict[int, NDArray[np.uint8]] = {}  # number of a memory to its aligned copy

    def unpack(self, node: Any, twin: Any) -> Any:
        if not isinstance(node, list):
            return node
        kind, *parts = node
        if kind == "same" and twin is not _MISSING:
            return twin
        if kind == "again" and (known := self.objects[parts[0]]) is not _UNFINISHED:
            return known
        number = len(self.objects)
        self.objects.append(_UNFINISHED)
        made = self.objects[number] = self._make(kind, parts, twin, number)
        return made

    def _make(self, kind: str, parts: list[Any], twin: Any, number: int) -> Any:
        if kind in ("array", "scalar"):
            array = self._array(*parts)
            return array if kind == "array" else array[()]
        if kind == "tuple":
            return tuple(self._items(parts, twin))
        if kind == "partial":
            function, arguments, keywords = self._items(parts, _partial_parts(twin))
            return partial(function, *arguments, **keywords)
        if kind == "method":
            owner = self.unpack(parts[1], _attribute(twin, "__self__"))
            function = getattr(type(owner), parts[0])
            if isinstance(function, FunctionType):
                return MethodType(function, owner)
        if kind == "generator" and parts[0] in _GENERATORS:
            bits = getattr(np.random, parts[0])(0)
            bits.state = self.unpack(parts[1], _MISSING)
            return np.random.Generator(bits)
        if kind == "list":
            items = self.objects[number] = list[Any]()
            items.extend(self._items(parts, twin))
            return items
        if kind == "dict":
            pairs = self.objects[number] = dict[Any, Any]()
            keys = self._items(parts[0], _MISSING)
            pairs.update((key, self.unpack(part, _item(twin, key))) for key, part in zip(keys, parts[1], strict=True))
            return pairs
        if kind == "object":
            name, arguments, state = parts
            return self._object(name, arguments, state, twin, number)
        raise StateError(f"unknown kind {shorten(kind)}")

    def _items(self, nodes: Sequence[Any], twin: Any) -> list[Any]:
        return [self.unpack(node, _item(twin, index)) for index, node in enumerate(nodes)]

    def _object(self, name: str, arguments: list[Any], state: Any, twin: Any, number: int) -> Any:
        kind = _find_class(name, twin, self._home)
        if kind is None:
            raise StateError(f"unknown class {shorten(name)}")
        values = self._items(arguments, twin)
        fills = type(twin) is kind and not values and id(twin) not in self._taken
        made = self.objects[number] = twin if fills else kind.__new__(kind, *values)
        self._taken.add(id(made))
        before = _attributes(twin) if fills else {}
        shared = type(self.objects[0])  # a file of coebl 0.2.0 may lack a learner's seat
        attributes = {key: part for key, part in before.items() if type(part) is shared}
        if lacking := before.keys() - attributes.keys() - state.keys():
            raise StateError(f"{name} has no {', '.join(sorted(lacking))}")
        attributes |= {
            key: self.unpack(node, _attribute(twin, key)) for key, node in state.items() if node != ["deleted"]
        }
        for key in _attributes(made):
            object.__delattr__(made, key)
        for key, part in attributes.items():
            object.__setattr__(made, key, part)
        return made

    def _array(
        self, dtype: str, shape: list[int], strides: list[int], memory: int, alignment: int, offset: int
    ) -> NDArray[Any]:
        kind = np.dtype(dtype)
        if kind.kind not in _DTYPES:
            raise StateError(f"dtype {dtype}")
        if 0 in strides and math.prod(shape) > MOST_ENTRIES:  # a copy would expand a few bytes to any size
            raise StateError(f"shape {shape}")
        if memory not in self._owners:
            data = self._memory[memory]
            room = np.empty(len(data) + _LINE, np.uint8)
            start = (alignment - room.ctypes.data) % _LINE
            self._owners[memory] = room[start : start + len(data)]
            self._owners[memory][:] = data
        return np.ndarray(shape, kind, self._owners[memory], offset, strides)


def _cannot_store(value: object, path: str) -> InputError:
    return InputError(
        f"{path} is {shorten(value)}, which cannot be stored; accepted: arrays, numbers, strings, None, lists, tuples, "
        "dicts, objects of these whose class is in the learner's module, and functions that start(seat) sets."
    )


def _find_class(name: str, twin: object, home: type) -> type | None:
    """Return the class of a twin if it has this name, else a class of an accepted module. Nothing is imported."""
    module, _, path = name.partition(":")
    if type(twin).__qualname__ == path:
        return type(twin)
    module = module or home.__module__
    if not module.startswith(_PACKAGES) and module not in {kind.__module__ for kind in home.__mro__}:
        return None
    value: Any = sys.modules.get(module)
    for part in path.split("."):
        value = getattr(value, "__dict__", {}).get(part)
    return value if isinstance(value, type) and value.__module__ == module else None


def _has_more_state(kind: type) -> bool:
    """Return True if objects of a class hold more than attributes: a base in C has its own methods for pickle."""
    methods = ("__getstate__", "__setstate__", "__reduce__", "__reduce_ex__")
    defined = (vars(base)[name] for base in kind.__mro__[:-1] for name in methods if name in vars(base))
    return not all(isinstance(method, FunctionType) for method in defined)


def _attributes(value: object) -> dict[str, Any]:
    """Return the attributes of an object, including those in slots."""
    state: Any = object.__getstate__(value)
    return {**(state[0] or {}), **state[1]} if isinstance(state, tuple) else dict(state or {})


def _attribute(twin: object, name: str) -> Any:
    """Return an attribute of a twin, even one that a cached property has not computed yet."""
    if name == "__self__" or name in _attributes(twin) or isinstance(getattr(type(twin), name, None), cached_property):
        with suppress(Exception):
            return getattr(twin, name)
    return _MISSING


def _item(twin: Any, key: Any) -> Any:
    if isinstance(twin, (list, tuple, dict)):
        with suppress(LookupError):
            return twin[key]
    return _MISSING


def _partial_parts(twin: Any) -> Any:
    return (twin.func, twin.args, twin.keywords) if isinstance(twin, partial) else _MISSING
