"""The application that the commands belong to, the options that several of them share, and lazy imports."""

from __future__ import annotations

import importlib
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from coebl.core.errors import InputError, shorten
from coebl.core.specs import split_specs

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class _Lazy:
    """A module of coebl that is imported when one of its names is first used, so that help is quick."""

    def __init__(self, name: str) -> None:
        self._name = f"coebl.{name}"

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


def lazy(*names: str) -> Iterator[Any]:
    """Return modules of coebl that are imported on first use."""
    return map(_Lazy, names)


class BadValue(typer.BadParameter):
    """An option's value that is not accepted; the message is the value and what is accepted."""

    def format_message(self) -> str:
        """The sentence for the user, with the name of the option."""
        name = self.param.opts[0] if self.param else "an option"
        return f"{name if name.startswith('-') or not self.param else self.param.metavar} is {self.message}"


def _number(kind: Callable[[str], Any], accepted: str, least: float | None) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            number = kind(text)
        except ValueError:
            raise BadValue(f"{shorten(text)}; accepted: {accepted}") from None
        if least is not None and not number >= least:
            raise BadValue(f"{shorten(text)}; accepted: a number >= {least}")
        return number

    return parse


def integer(help: str, *names: str, least: int | None = None) -> Any:
    """An option that takes an integer."""
    return typer.Option(*names, metavar="N", parser=_number(int, "an integer, in digits alone", least), help=help)


def decimal(metavar: str, help: str, least: float | None = None) -> Any:
    """An option that takes a number."""
    return typer.Option(metavar=metavar, parser=_number(float, "a number such as 0.5", least), help=help)


def _path(text: str) -> Path:
    if not text:
        raise BadValue("''; accepted: the name of a file or folder")
    return Path(text)


_PARSERS = {"FILE": _path, "DIR": _path}  # by metavar


def option(metavar: str, help: str) -> Any:
    """An option that takes a name, a spec, or the path of a FILE or DIR."""
    return typer.Option(metavar=metavar, parser=_PARSERS.get(metavar), help=help)


def argument(metavar: str, help: str) -> Any:
    """An argument, likewise."""
    return typer.Argument(metavar=metavar, parser=_PARSERS.get(metavar), help=help)


def flag(name: str, help: str) -> Any:
    """An option without a value."""
    return typer.Option(name, help=help)


def repeatable(name: str, metavar: str, kind: str) -> Any:
    """An option that selects by name, and may be given more than once."""
    return typer.Option(name, metavar=metavar, help=f"Only this {kind}; may be given more than once.")


GameSpec = Annotated[str, option("SPEC", "The game: a spec, a file, or file.py:function.")]
FirstSeed = Annotated[int, integer("Seed of the first run; the others follow.")]
NoiseSpec = Annotated[str | None, option("SPEC", "A noise; by default that of the game.")]
DeviceOption = Annotated[str | None, option("NAME", "Where to compute: cpu, or cuda for a GPU.")]
StudyFolder = Annotated[Path, argument("DIR", "The folder of a study's results.")]
Workers = Annotated[int | None, integer("Local processes; by default one per core, or one for a GPU.", least=1)]
Dask = Annotated[str | None, option("ADDRESS", "Run on this Dask cluster instead.")]
AsJson = Annotated[bool, flag("--json", "Print JSON instead of a table.")]
AsCsv = Annotated[bool, flag("--csv", "Print CSV instead of a table.")]
Metrics = Annotated[list[str] | None, repeatable("--metric", "NAME", "metric")]
Games = Annotated[list[str] | None, repeatable("--game", "SPEC", "game")]
Rows = Annotated[list[str] | None, repeatable("--row", "SPEC", "row learner")]
Columns = Annotated[list[str] | None, repeatable("--column", "SPEC", "column learner")]
Players = Annotated[
    str | None,
    option("SPECS", "Only these learners, one for each seat, with - for any; in place of --row and --column."),
]
Figures = Annotated[list[str] | None, repeatable("--figure", "NAME", "figure")]
Change = Annotated[
    str | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change one thing, such as c=1, and show it beside the original."),
]
Claims = Annotated[list[str] | None, repeatable("--claim", "ID", "claim")]


def reject_both(first: str, second: str, *, both: bool) -> None:
    """Reject two options that exclude each other, if both are given."""
    if both:
        raise InputError(f"{first} and {second} are both given; accepted: one of them.")


def seats(row: list[str] | None, column: list[str] | None, players: str | None) -> list[list[str] | None]:
    """Return the learners of each seat that select matches, from either way to name them."""
    reject_both("--players", "--row or --column", both=players is not None and (row or column) is not None)
    return [row, column] if players is None else [None if spec == "-" else [spec] for spec in split_specs(players)]


def figure_format(option: str, path: Path) -> str:
    """Return the format that the name of a figure asks for; reject one that could not be written."""
    from coebl.plots.style import FORMATS

    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise InputError(f"{option} is {path}; accepted: a file that ends in .{', .'.join(FORMATS)}.")
    return suffix


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


def _print_version(requested: bool) -> None:
    if requested:
        from coebl import __version__

        print(f"coebl {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Learn to play unknown two-player zero-sum matrix games from noisy payoffs.

    \b
    Examples:
      coebl reproduce --quick
      coebl match --game rps --row ucb --column coebl:c=2
      coebl list learners
    """
