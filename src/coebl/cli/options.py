"""The application that the commands belong to, and the options that several of them share."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from coebl.core.errors import InputError, shorten

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class BadNumber(typer.BadParameter):
    """An option's value that is not an accepted number; the message is the value and what is accepted."""

    def format_message(self) -> str:
        """The sentence for the user, with the name of the option."""
        option = self.param.opts[0] if self.param else "an option"
        return f"{option} is {self.message}"


def integer(least: int | None = None) -> Callable[[str], int]:
    """Return a parser of integers that are at least `least`.

    >>> integer(1)("12")
    12
    """
    return _number_parser(int, "an integer, in digits alone", least)


def decimal(least: float | None = None) -> Callable[[str], float]:
    """Return a parser of numbers that are at least `least`."""
    return _number_parser(float, "a number such as 0.5", least)


def _number_parser(kind: Callable[[str], Any], accepted: str, least: float | None) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            number = kind(text)
        except ValueError:
            raise BadNumber(f"{shorten(text)}; accepted: {accepted}") from None
        if least is not None and not number >= least:
            raise BadNumber(f"{shorten(text)}; accepted: a number >= {least}")
        return number

    return parse


DeviceOption = Annotated[str | None, typer.Option(metavar="NAME", help="Where to compute: cpu, or cuda for a GPU.")]
StudyFolder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a study's results.")]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", parser=integer(1), help="Local processes; by default one per core, or one for a GPU."),
]
Dask = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Run on this Dask cluster instead.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")]


def repeatable(option: str, metavar: str, what: str) -> Any:
    """An option that selects by name, and may be given more than once."""
    return typer.Option(option, metavar=metavar, help=f"Only this {what}; may be given more than once.")


Metrics = Annotated[list[str] | None, repeatable("--metric", "NAME", "metric")]
Games = Annotated[list[str] | None, repeatable("--game", "SPEC", "game")]
Rows = Annotated[list[str] | None, repeatable("--row", "SPEC", "row learner")]
Columns = Annotated[list[str] | None, repeatable("--column", "SPEC", "column learner")]
Figures = Annotated[list[str] | None, repeatable("--figure", "NAME", "figure")]
Variants = Annotated[list[str] | None, repeatable("--variant", "ID", "variant, such as text")]
Formats = Annotated[list[str] | None, repeatable("--format", "FORMAT", "format: pdf, svg or png")]
Claims = Annotated[list[str] | None, repeatable("--claim", "ID", "claim")]


def reject_both(first: str, second: str, *, given: bool) -> None:
    """Reject two options that exclude each other, if both are given."""
    if given:
        raise InputError(f"{first} and {second} are both given; accepted: one of them.")


def command_line(*words: str, **options: Any) -> str:
    """The shell command that repeats a call; options that are None, False or empty are left out.

    >>> command_line("run", "my study.toml", out="results", cell_timeout=2.5, learners=["ucb", "exp3"], quick=True)
    "coebl run 'my study.toml' --out results --cell-timeout 2.5 --learners ucb --learners exp3 --quick"
    """
    line = ["coebl", *words]
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            line.append(option)
        else:
            values = value if isinstance(value, list) else [] if value is None or value is False else [value]
            line += [
                word for item in values for word in (option, f"{item:g}" if isinstance(item, float) else str(item))
            ]
    return shlex.join(line)


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
