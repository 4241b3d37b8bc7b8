"""What a command shows while it computes, on stderr: a bar on a terminal, and why the first time takes long."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress_bar(total: int, label: str) -> Iterator[Callable[[int], None] | None]:
    """A bar with the time left, on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(escape(label), total=total)
        yield lambda done: progress.update(task, completed=done)


@contextmanager
def compilation_told() -> Iterator[None]:
    """Say so on stderr when the solver is compiled, which happens on its first use on a machine."""
    from coebl.kernels.cache import announced

    with announced():
        yield
