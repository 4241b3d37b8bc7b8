"""Sweeps: a spec with lists in it stands for a grid of specs."""

from __future__ import annotations

import itertools
import math
import re

from coebl.core.errors import InputError, shorten

MOST = 100_000  # specs in a grid, and cells in a study: more is a slip of the keyboard

# A list stands where a value does, so other brackets, in a file's name for instance, are left alone.
_OPENING = re.compile(r"(?<=[=:])\[")


def expand(spec: str) -> list[str]:
    """The specs that a spec with lists stands for, the last list running fastest.

    >>> expand("coebl:c=[0.1, 2]")
    ['coebl:c=0.1', 'coebl:c=2']
    >>> expand("random-gaussian:m=[2,3],n=4,seed=[0,1]")  # doctest: +NORMALIZE_WHITESPACE
    ['random-gaussian:m=2,n=4,seed=0', 'random-gaussian:m=2,n=4,seed=1',
     'random-gaussian:m=3,n=4,seed=0', 'random-gaussian:m=3,n=4,seed=1']
    >>> expand("diagonal:[2,3]")
    ['diagonal:2', 'diagonal:3']
    >>> expand("ucb")
    ['ucb']
    """
    fixed, lists = _parts(spec)
    count = math.prod(len(items) for items in lists)
    if count > MOST:
        raise InputError(f"{shorten(spec)} stands for {count:,} specs; accepted: at most {MOST:,}. Shorten its lists.")
    grid = itertools.product(*lists)
    return ["".join(itertools.chain(*zip(fixed, (*items, ""), strict=True))) for items in grid]


def _parts(spec: str) -> tuple[list[str], list[list[str]]]:
    """The texts around the lists, one more than there are lists, and the items of each list."""
    fixed: list[str] = []
    lists: list[list[str]] = []
    rest = spec
    while opening := _OPENING.search(rest):
        fixed.append(rest[: opening.start()])
        inside, bracket, rest = rest[opening.end() :].partition("]")
        if not bracket:
            raise InputError(f"{shorten(spec)} has a list without its end; accepted: key=[a,b,c]. Add the bracket.")
        items = [item.strip() for item in inside.split(",")]
        # Whatever follows a list must be the next parameter; + is the comma of a spec inside a spec.
        if "[" in inside or not all(items) or (rest.strip() and rest.lstrip()[0] not in ",+"):
            raise InputError(f"{shorten(spec)} has a list that cannot be read; accepted: key=[a,b,c], then a comma.")
        lists.append(items)
    return [*fixed, rest], lists
