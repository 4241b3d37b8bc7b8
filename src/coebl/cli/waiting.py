"""What a command shows while it computes, on stderr: a bar on a terminal, and why the first time takes long."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator


class Advance(Protocol):
    """What moves a bar."""

    def __call__(self, done: int, total: int | None = None, /) -> None:
        """So many are done, and so many there are in all, if that has become known."""


@contextmanager
def progress_bar(label: str, total: int | None = None, line: str = "") -> Iterator[Advance | None]:
    """A bar with the time so far and the time left, on a terminal; elsewhere a line, if there is one.

    Args:
        label: what is going on.
        total: how many there are to do, if that is known; otherwise the bar only shows that something happens.
        line: what to print once where there is no terminal.
    """
    if not sys.stderr.isatty():
        if line:
            print(line, file=sys.stderr, flush=True)
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    texts = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    times = (TimeElapsedColumn(), TextColumn("so far,"), TimeRemainingColumn(), TextColumn("left"))
    with Progress(*texts, *times, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(escape(label), total=total)
        yield lambda done, total=None: progress.update(task, completed=done, total=total)


@contextmanager
def compilation_told() -> Iterator[None]:
    """Say so on stderr when the solver is compiled, which happens on its first use on a machine."""
    from coebl.kernels.cache import announced

    with announced():
        yield
