"""The application that the commands belong to, and what several of them share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


DeviceOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Where to compute: cpu, or cuda for a graphics processor.")
]
StudyFolder = Annotated[Path, typer.Argument(metavar="DIR", help="A study's folder.")]


def repeated(option: str, values: Iterable[str] | None) -> list[str]:
    """The words of an option that may be given more than once."""
    return [word for value in values or () for word in (option, value)]


def width() -> int:
    """How wide a table or a paragraph may be."""
    from shutil import get_terminal_size

    return max(40, min(120, get_terminal_size((100, 24)).columns))


def _print_version(wanted: bool) -> None:
    if wanted:
        from coebl import __version__

        print(f"coebl {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Learn to play unknown two-player zero-sum matrix games from noisy payoffs.

    \b
    Examples:
      coebl reproduce --quick
      coebl match --game rps --row ucb --column coebl:c=2
      coebl list learners
    """
