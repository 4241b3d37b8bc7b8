"""Paragraphs, tables and progress bars for people.

On a terminal, tables fit its width. In a pipe or a file, every row is one line, and nothing is cut. Rich leaves colours
out where the output is not a terminal, or where NO_COLOR is set.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from math import isnan
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, Literal

from coebl.core.errors import printable
from coebl.core.text import finite, in_interval

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from coebl.games import ZeroSumGame

    Advance = Callable[..., None]  # called with the count so far and, once it is known, the total

GOOD, BAD, UNSURE, FAINT = "green", "bold red", "yellow", "bright_black"
_BINDING = "\u00a0"  # a no-break space
_BOUND = re.compile(r" (?=%)|(?<=\w) (?== \w)|(?<=\w =) (?=\w)|(?<=\d) (?=\.\. )|(?<=\d \.\.) ")
_UNLIMITED = 100_000  # columns
_LEAST = 10  # minimum width of a wrapped cell, in columns


def width() -> int:
    """Return the width of a paragraph, in characters."""
    return max(40, min(120, get_terminal_size((100, 24)).columns))


def console() -> Console:
    """Return the terminal, or the file or pipe in its place."""
    from rich.console import Console

    return Console(width=width(), highlight=False, markup=False, emoji=False)


def can_show(text: str) -> bool:
    """Return true if the encoding of the output has these characters."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def interval_cells(
    mean: float, low: float, high: float, seeds: int, titles: tuple[str, str] = ("mean", "95 % interval")
) -> dict[str, str]:
    """Return the cells of a mean and its interval, or of the reason why there is no interval.

    >>> interval_cells(0.7512, 0.5, 1, 20), interval_cells(2.5, float("nan"), float("nan"), 1)
    ({'mean': '0.75', '95 % interval': '0.50 .. 1.00'}, {'mean': '2.5', '95 % interval': 'none: one seed'})
    """
    text, *ends = in_interval(mean, low, high)
    interval = " .. ".join(ends)
    if isnan(low):
        interval = "none: one seed" if seeds == 1 else "none: not finite"
    return dict(zip(titles, (text, interval), strict=True))


def tidy_value(game: ZeroSumGame) -> str:
    """Return the value of a game to ten digits, zero if it differs from zero only by rounding; or "not known"."""
    if "value" in getattr(game, "unknown", ()):
        return "not known"
    low, high = game.payoff_range
    return f"{game.value if abs(game.value) > 1e-12 * (high - low) else 0.0:.10g}"


def interval_bar(mean: float, low: float, high: float, most: float, width: int = 21) -> str:
    """Return an interval on an axis from -most to most, with marks at its mean and at zero.

    >>> plain = str.maketrans("├─┤●·", "|-|o.")  # the marks of a terminal that has no others
    >>> interval_bar(2, 1, 3, 4, 9).translate(plain), interval_bar(-1, -2, 0.5, 4, 9).translate(plain)
    ('    .|o|', '  |o|')
    """
    if isnan(low) or not most > 0:
        return ""
    zero, start, point, end = (round((number / most + 1) / 2 * (width - 1)) for number in (0, low, mean, high))
    left, line, right, mark, origin = "├─┤●·" if can_show("├─┤●·") else "|-|o."
    bar = [" "] * width
    bar[zero] = origin
    bar[start : end + 1] = [left, *line * (end - start - 1), right][: end - start + 1]
    bar[point] = mark
    return "".join(bar).rstrip()


def say(text: str, style: str = "", hang: int = 0) -> None:
    """Print a paragraph, wrapped to the width of the terminal; all lines but the first are indented by `hang`.

    No line begins with the unit of a number, or inside an equation.
    """
    indent = " " * (len(text) - len(text.lstrip()) + hang)
    bound = _BOUND.sub(_BINDING, printable(text.replace(_BINDING, " ")))  # titles may already contain no-break spaces
    wrapped = textwrap.fill(bound, width(), break_on_hyphens=False, break_long_words=False, subsequent_indent=indent)
    console().print(wrapped.replace(_BINDING, " "), style=style, soft_wrap=True)


def note(text: str) -> None:
    """Print a line on stderr."""
    print(printable(text), file=sys.stderr, flush=True)


def print_json(data: Any) -> None:
    """Print data as JSON on a line; numbers that are not finite become null."""
    print(json.dumps(finite(data), allow_nan=False))


def print_table(
    rows: Sequence[Mapping[str, str | Text]],
    right: Collection[str] = (),
    wrap: Collection[str] = (),
    common: Collection[str] = (),
    most: int | None = None,
) -> None:
    """Print a table without rules; without a header if all titles are blank.

    Args:
        rows: the cells, which may have a style, by the titles of their columns.
        right: the titles of the columns that are aligned to the right.
        wrap: the titles of the columns that are wrapped where a terminal is too narrow.
        common: the titles of columns that are printed on a line above the table if they are the same in all rows.
        most: the number of rows that are printed; the others are counted.
    """
    from rich.table import Table
    from rich.text import Text

    header = list(dict.fromkeys(title for row in rows for title in row))
    if constant := [title for title in header if title in common and len({row[title] for row in rows}) == 1]:
        say(", ".join(f"{title} {rows[0][title]}" for title in constant))
    header = [title for title in header if title not in constant]
    table = Table(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_header=any(map(str.strip, header))
    )
    given = [[row.get(title, "") for title in header] for row in rows[:most]]
    cells = [[Text(printable(cell)) if isinstance(cell, str) else cell for cell in row] for row in given]
    out = console()
    space = get_terminal_size((100, 24)).columns if out.is_terminal else _UNLIMITED
    gaps = 2 * (len(header) - 1)
    inner = [max((row[place].cell_len for row in cells), default=0) for place in range(len(header))]
    is_narrow = gaps + sum(map(max, inner, map(len, header))) > space
    least = gaps
    for title, wide in zip(header, inner, strict=True):
        side: Literal["left", "right"] = "right" if title in right else "left"
        wrapped = title in wrap
        head = _over_lines(title, wide) if wrapped and is_narrow else title
        table.add_column(head, justify=side, no_wrap=not wrapped, overflow="fold")
        wide = max(wide, len(title))
        least += min(wide, _LEAST) if wrapped else wide
    for row in cells:
        table.add_row(*row)
    out.width = max(least, space)
    with out.capture() as captured:
        out.print(table)
    for line in captured.get().splitlines():
        print(line.rstrip())
    if len(rows) > len(cells):
        print(f"and {len(rows) - len(cells)} more")


def _over_lines(title: str, wide: int) -> str:
    """Return a title on as many lines as it needs in a column of this width; no line ends inside an equation."""
    bound = _BOUND.sub(_BINDING, title)
    longest = max(map(len, bound.split(" ")))
    return "\n".join(textwrap.wrap(bound, max(wide, longest))).replace(_BINDING, " ")


@contextmanager
def progress_bar(label: str, total: int | None = None, line: str = "") -> Iterator[Advance]:
    """Show a bar with elapsed and remaining time on a terminal; elsewhere print `line`, then one every ten seconds."""
    from coebl.study import progress

    bar = progress.open_bar(label, total, transient=True)
    if bar is None and line:
        note(line)
    time_left, last_line = progress.TimeLeft(), time.monotonic()

    def advance(done: int, goal: int | None = total) -> None:
        nonlocal last_line
        text = label + (f", {done:,} of {goal:,}{time_left(done / goal)}" if goal else "")
        if bar is not None:
            bar.update(bar.task_ids[0], completed=done, total=goal, description=text)
        elif (now := time.monotonic()) - last_line >= progress.LINE_INTERVAL:
            last_line = now
            note(text)

    advance(0)
    with bar or nullcontext():
        yield advance
