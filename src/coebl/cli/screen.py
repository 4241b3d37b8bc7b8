"""What a command prints for people: marks and colours, where the terminal has them.

Rich leaves colours out where the output is not a terminal, or where NO_COLOR is set.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Collection, Iterable, Sequence
from math import isnan
from typing import TYPE_CHECKING, TypeVar

from coebl.cli.app import width
from coebl.core.errors import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

T = TypeVar("T")

GOOD, BAD, UNSURE, FAINT = "green", "bold red", "yellow", "bright_black"
_GAP = "  "
_BINDING = "\u00a0"  # a space at which no line ends
_BOUND = re.compile(r" (?=%)|(?<=\w) (?== \w)|(?<=\w =) (?=\w)|(?<=\d) (?=\.\. )|(?<=\d \.\.) ")
_LEAST = 12  # characters of a column that is cut


def console() -> Console:
    """The terminal, or the file or pipe in its place."""
    from rich.console import Console

    return Console(width=width(), highlight=False, markup=False, emoji=False)


def can_show(text: str) -> bool:
    """Whether the output has these characters."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def interval_text(low: float, high: float, seeds: int) -> str:
    """The ends of an interval, or why there is none.

    >>> interval_text(0.5, 1, 20), interval_text(float("nan"), float("nan"), 1)
    ('0.5000 .. 1.0000', 'none: one seed')
    """
    if isnan(low):
        return "none: one seed" if seeds == 1 else "none: not finite"
    return f"{low:.4f} .. {high:.4f}"


def say(text: str, style: str = "", hang: int = 0) -> None:
    """Print a paragraph, wrapped to the width of the terminal.

    No line begins with the unit of a number, or inside an equation.

    Args:
        text: if its first line is indented, all others are too.
        style: of the whole of it.
        hang: how much farther all lines but the first are indented.
    """
    indent = " " * (len(text) - len(text.lstrip()) + hang)
    bound = _BOUND.sub(_BINDING, printable(text))
    wrapped = textwrap.fill(bound, width(), break_on_hyphens=False, break_long_words=False, subsequent_indent=indent)
    console().print(wrapped.replace(_BINDING, " "), style=style, soft_wrap=True)


def _unbroken(title: str) -> list[str]:
    """The words of a title; a number and its unit are one."""
    return re.findall(r"\S+(?: %)?", title)


def _without(values: Sequence[T], place: int) -> list[T]:
    return [value for at, value in enumerate(values) if at != place]


def print_table(
    header: Sequence[str], rows: Iterable[Sequence[str | Text]], right: Collection[str] = (), cut: str = ""
) -> None:
    """Print a table without rules.

    Args:
        header: the titles of the columns; those that are wider than their column are wrapped.
        rows: the cells, which may have a style.
        right: the titles of the columns that stand on the right.
        cut: the title of the column of which the end is left out where the table would be too wide; all of it, if
            next to nothing would be left.
    """
    from rich.text import Text

    cells = [[Text(printable(cell)) if isinstance(cell, str) else cell for cell in row] for row in rows]
    widths = [
        max([*(cell.cell_len for cell in column), *map(len, _unbroken(title))], default=0)
        for title, *column in zip(header, *cells, strict=True)
    ]
    if cut:
        place = header.index(cut)
        room = width() - sum(widths) + widths[place] - len(_GAP) * (len(header) - 1)
        if room < min(widths[place], _LEAST):
            header, widths, cells = (
                _without(header, place),
                _without(widths, place),
                [_without(r, place) for r in cells],
            )
        else:
            widths[place] = min(widths[place], room)
    titles = [textwrap.wrap(title, max(1, wide)) for title, wide in zip(header, widths, strict=True)]
    depth = max(map(len, titles))
    stacked = [[""] * (depth - len(lines)) + lines for lines in titles]
    heading = [[Text(line, "bold") for line in lines] for lines in zip(*stacked, strict=True)]
    out = console()
    for line in [*heading, *cells]:
        for cell, wide, title in zip(line, widths, header, strict=True):
            if cell.cell_len > wide:
                cell.right_crop(cell.cell_len - wide + 3)
                cell.append("...")
            cell.align("right" if title in right else "left", wide)
        joined = Text(_GAP).join(line)
        joined.rstrip()
        out.print(joined, soft_wrap=True)
