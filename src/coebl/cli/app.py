"""The application that the commands belong to, and what several of them share."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from coebl import __version__

        print(f"coebl {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Learn to play unknown two-player zero-sum matrix games from noisy payoffs.

    \b
    Examples:
      coebl reproduce --quick
      coebl match --game rps --row ucb --column coebl:c=2
      coebl list learners
    """
