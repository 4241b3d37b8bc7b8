"""Specs: the notation for games, noises, learners and operators.

A spec is ``name`` or ``name:key=value,key=value``. A single value without a key sets the first parameter; a list is
written ``1/2/3``; a class or function in a user's file is named ``path/to/file.py:Name``. A spec needs no quotes
in a shell.

A value may itself be a spec, in which values may be specs. Its commas are written ``+``, and its ``+`` are doubled:
``coebl:population=pool:size=5+mutants=10,c=2``. A comma works too if only the inner spec has the parameter after it:
``coebl:population=pool:size=5,mutants=10,c=2`` is the same learner. `str` writes ``+``.

`coebl.core.registry` reads the annotations of the parameters that a spec can set.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated, NamedTuple

from coebl.core.errors import InputError, shorten

_PYTHON = ".py"
_MOST_COLONS = 16  # each spec inside a spec has one; writing n levels can take 2^n characters
MOST_IN_GRID = 100_000  # specs: more is a typo
_PARAMETER = re.compile(r"\s*[\w-]+=")  # the start of a piece that continues the spec before it
# A list in place of a value, followed by the next parameter or the end; + is the comma of a spec inside a spec. Other
# brackets may be part of a file's name.
_LIST = re.compile(r"(?<=[=:])\[([^\[\]]*)\](?=\s*(?:[,+]|$))")


class SpecParts(NamedTuple):
    """The parts of a spec, from `split_spec`."""

    name: str  # a registered name, or path/to/file.py:Name
    parameters: str  # key=value,key=value
    file: str  # path/to/file.py, or ""

    @property
    def attribute(self) -> str:
        """The Name of path/to/file.py:Name, or ""."""
        return self.name.removeprefix(self.file).removeprefix(":") if self.file else ""

    @property
    def arguments(self) -> dict[str, str]:
        """The parameters that have a key, as strings."""
        pairs = (part.partition("=") for part in self.parameters.split(","))
        return {key: value for key, equals, value in pairs if equals}


def split_spec(spec: str) -> SpecParts:
    """Return the parts of a spec.

    >>> split_spec("coebl:c=2")
    SpecParts(name='coebl', parameters='c=2', file='')
    >>> split_spec("mine.py:Mine:rate=0.2").attribute, split_spec("random-gaussian:m=20,n=30").arguments
    ('Mine', {'m': '20', 'n': '30'})
    """
    if "\0" in spec:  # no file name has it, and system functions report it in different ways
        raise InputError(f"{shorten(spec)} has the character NUL; accepted: printable characters. Remove it.")
    if spec.count(":") > _MOST_COLONS:
        raise InputError(f"{shorten(spec)} nests specs too deeply; accepted: at most {_MOST_COLONS} colons. Nest less.")
    head, _, rest = spec.strip().partition(":")
    if not head.endswith(_PYTHON):
        return SpecParts(head, rest, "")
    name, _, parameters = rest.partition(":")
    return SpecParts(f"{head}:{name}", parameters, head)


def move_files(spec: str, place: Callable[[str], str]) -> str:
    """Return the spec with every Python file that it names, at any depth, replaced by the path that `place` returns.

    This is the only function that searches a spec for files. Values are split and unescaped as in `Entry.read`, so that
    a file that a registry would load is always found. A string that only looks like a file counts as a file.

    >>> move_files("coebl:c=2,mutation=sparse:of=mine.py:X+probability=1", "some/where/{}".format)
    'coebl:c=2,mutation=sparse:of=some/where/mine.py:X+probability=1'
    """
    parts = split_spec(spec)
    if _PYTHON not in spec:
        return spec.strip()
    arguments = []
    for argument in parts.parameters.split(","):
        key, equals, value = argument.partition("=") if "=" in argument else ("", "", argument)
        inner = unescape(value)
        moved = move_files(inner, place)
        arguments.append(argument if moved == inner.strip() else f"{key}{equals}{escape(moved)}")
    name = place(parts.file) + parts.name.removeprefix(parts.file) if parts.file else parts.name
    return f"{name}:{','.join(arguments)}" if parts.parameters else name


def files_in(spec: str) -> list[str]:
    """Return the Python files that making the object of a spec would run, at any depth, outermost first.

    >>> files_in("mine.py:Mine:rate=2"), files_in("permuted:game=scaled:game=g.py:f++scale=2+seed=1"), files_in("ucb")
    (['mine.py'], ['g.py'], [])
    """
    files: list[str] = []
    move_files(spec, lambda file: files.append(file) or file)  # type: ignore[func-returns-value]
    return files


def inner_files(spec: str) -> list[str]:
    """Return the files that are named only by the specs inside a spec."""
    return [file for file in files_in(spec) if file != split_spec(spec).file]


def without_folder(spec: str) -> str:
    """Return the spec with file names instead of paths.

    >>> without_folder("some/where/mine.py:Mine:rate=0.2")
    'mine.py:Mine:rate=0.2'
    """
    return move_files(spec, lambda file: PurePath(file).name)


def expand(spec: str) -> list[str]:
    """Expand a spec with lists to a grid of specs; the last list varies fastest.

    >>> expand("coebl:c=[0.1, 2]"), expand("diagonal:[2,3]"), expand("ucb")
    (['coebl:c=0.1', 'coebl:c=2'], ['diagonal:2', 'diagonal:3'], ['ucb'])
    >>> expand("game:m=[2,3],n=4,seed=[0,1]")
    ['game:m=2,n=4,seed=0', 'game:m=2,n=4,seed=1', 'game:m=3,n=4,seed=0', 'game:m=3,n=4,seed=1']
    """
    pieces = _LIST.split(spec)
    fixed, lists = pieces[::2], [[item.strip() for item in inside.split(",")] for inside in pieces[1::2]]
    if any(re.search(r"[=:]\[", part) for part in fixed) or not all(map(all, lists)):
        raise InputError(
            f"{shorten(spec)} has a list that cannot be read; accepted: key=[a,b,c], with both brackets, then a comma."
        )
    count = math.prod(len(items) for items in lists)
    if count > MOST_IN_GRID:
        raise InputError(
            f"{shorten(spec)} gives {count:,} specs; accepted: at most {MOST_IN_GRID:,}. Shorten its lists."
        )
    grid = itertools.product(*lists)
    return ["".join(itertools.chain(*zip(fixed, (*items, ""), strict=True))) for items in grid]


def split_specs(text: str) -> list[str]:
    """Return the specs of a comma-separated list.

    Commas also separate the parameters of a spec: a part such as `n=30` belongs to the spec before it.

    >>> split_specs("coebl:c=2,selection=none,ucb, random-gaussian:m=2,n=[3,4]")
    ['coebl:c=2,selection=none', 'ucb', 'random-gaussian:m=2,n=[3,4]']
    """
    specs: list[str] = []
    for piece in text.split(","):
        if specs and (_PARAMETER.match(piece) or specs[-1].count("[") > specs[-1].count("]")):
            specs[-1] += f",{piece}"
        elif piece.strip():
            specs.append(piece.strip())
    return specs


def escape(spec: str) -> str:
    """Return a spec as the value of a parameter, with + for its commas."""
    return spec.replace("+", "++").replace(",", "+")


def unescape(value: str) -> str:
    """Return the spec that the value of a parameter represents.

    >>> unescape("sparse:of=student:freedom=4++x=1+probability=1")
    'sparse:of=student:freedom=4+x=1,probability=1'
    """
    return value.replace("++", "\0").replace("+", ",").replace("\0", "+")


@dataclass(frozen=True)
class Range:
    """The numbers that a parameter accepts, including both limits unless the lower one is open."""

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    note: str = ""  # after the limits in messages: how they depend on another parameter

    def __contains__(self, number: float) -> bool:
        above = number > self.low if self.open_low else number >= self.low
        return above and number <= self.high

    def __str__(self) -> str:
        if self.high == math.inf:
            return f"{'>' if self.open_low else '>='} {self.low:g}"
        return f"{self.low:g} {'< ...' if self.open_low else '..'} {self.high:.9g}{self.note}"


# Types of parameters, to which a field or an argument adds its meaning: Annotated[Share, "the share that ..."]
Nonnegative = Annotated[float, Range(0)]
Positive = Annotated[float, Range(0, open_low=True)]
Share = Annotated[float, Range(0, 1)]
PositiveShare = Annotated[float, Range(0, 1, open_low=True)]
