"""The application, the options that several commands share, and lazy imports."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from math import inf, nan
from pathlib import Path
from typing import Annotated, Any

import typer

from coebl.core.errors import InputError, shorten
from coebl.core.files import check_path
from coebl.core.modules import Lazy
from coebl.core.specs import split_specs

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


def lazy(*names: str) -> Iterator[Any]:
    """Return modules of coebl that are imported on first use, so that help is quick."""
    return (Lazy(f"coebl.{name}") for name in names)


class BadValue(typer.BadParameter):
    """An option's value that is not accepted; the message has the value and what is accepted."""

    def format_message(self) -> str:
        """Return the sentence for the user, with the name of the option or argument."""
        assert self.param is not None
        name = self.param.opts[0]
        return f"{name if name.startswith('-') else self.param.metavar} is {self.message}"


def _number(kind: Callable[[str], Any], accepted: str, least: float, most: float) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            number = kind(text)
        except ValueError:
            number = nan
        if number != number:  # not a number
            raise BadValue(f"{shorten(text)}; accepted: {accepted}")
        if not least <= number <= most:
            limits = f" >= {least}" if most == inf else f", {least} .. {most:,}"
            raise BadValue(f"{shorten(text)}; accepted: {'an integer' if kind is int else 'a number'}{limits}")
        return number

    return parse


def integer(help: str, *names: str, least: float = -inf, most: float = inf) -> Any:
    """Return an option that takes an integer."""
    return typer.Option(*names, metavar="N", parser=_number(int, "an integer, in digits only", least, most), help=help)


def decimal(metavar: str, help: str, least: float = -inf, most: float = inf) -> Any:
    """Return an option that takes a number."""
    return typer.Option(metavar=metavar, parser=_number(float, "a number such as 0.5", least, most), help=help)


def _path(text: str) -> Path:
    if not text:
        raise BadValue("''; accepted: the name of a file or folder")
    return Path(text)


_PARSERS = {"FILE": _path, "DIR": _path}  # by metavar


def option(metavar: str, help: str) -> Any:
    """Return an option that takes a name, a spec, or the path of a FILE or DIR."""
    return typer.Option(metavar=metavar, parser=_PARSERS.get(metavar), help=help)


def argument(metavar: str, help: str) -> Any:
    """Return an argument that takes a name, a spec, or the path of a FILE or DIR."""
    return typer.Argument(metavar=metavar, parser=_PARSERS.get(metavar), help=help)


def flag(name: str, help: str) -> Any:
    """Return an option without a value."""
    return typer.Option(name, help=help)


def repeatable(metavar: str, kind: str) -> Any:
    """Return an option that selects by name, and may be given more than once."""
    return option(metavar, f"Only this {kind}; may be given more than once.")


GameSpec = Annotated[str, option("SPEC", "The game: a spec, a file, or file.py:function.")]
FirstSeed = Annotated[int, integer("Seed of the first run; the others follow.")]
NoiseSpec = Annotated[str | None, option("SPEC", "A noise; by default that of the game.")]
DeviceOption = Annotated[  # a `Device`, which is checked where it is used
    Any, typer.Option(metavar="NAME", parser=str, help="Where to compute: cpu, or cuda for a GPU.")
]
StudyFolder = Annotated[Path, argument("DIR", "The folder of a study's results.")]
Workers = Annotated[
    int | None, integer("Local processes; by default one per core, or one for a GPU.", least=1, most=1000)
]
Dask = Annotated[str | None, option("ADDRESS", "Run on this Dask cluster instead.")]
AsJson = Annotated[bool, flag("--json", "Print JSON instead of a table.")]
AsCsv = Annotated[bool, flag("--csv", "Print CSV instead of a table.")]
Metrics = Annotated[list[str] | None, repeatable("NAME", "metric")]
Games = Annotated[list[str] | None, repeatable("SPEC", "game")]
Rows = Annotated[list[str] | None, repeatable("SPEC", "row learner")]
Columns = Annotated[list[str] | None, repeatable("SPEC", "column learner")]
Players = Annotated[
    str | None,
    option("SPECS", "Only these learners, one for each seat, with - for any; in place of --row and --column."),
]
Figures = Annotated[list[str] | None, repeatable("NAME", "figure")]
Change = Annotated[
    str | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change one thing, such as c=1, and show it beside the original."),
]
Claims = Annotated[list[str] | None, repeatable("ID", "claim")]


def at_most_one(options: Mapping[str, object]) -> None:
    """Reject options that exclude each other, if several are given."""
    given = [name for name, value in options.items() if value is not None and value is not False]
    if len(given) > 1:
        raise InputError(f"{given[0]} and {given[1]} are both given; accepted: one of them.")


def seats(row: list[str] | None, column: list[str] | None, players: str | None) -> list[list[str] | None]:
    """Return the learners to select matches by, seat by seat, from --row and --column or from --players."""
    at_most_one({"--players": players, "--row or --column": row or column})
    if players is None:
        return [row, column]
    if len(specs := split_specs(players)) < 2:
        raise InputError(f"--players is {players!r}; accepted: a learner for each seat, or - for any, such as ucb,-.")
    return [None if spec == "-" else [spec] for spec in specs]


def check_file(option: str, path: Path, formats: Collection[str] = ()) -> Path:
    """Return the path of a file to write. Reject one that cannot be written, before anything is computed for it.

    If there are `formats`, the name of the file has to end in one of them.
    """
    check_path(option, path)
    if os.path.isdir(path):
        raise InputError(f"{option} is {path}, which is a folder; accepted: the name of a file. Add one.")
    place = path if os.path.exists(path) and not os.path.isfile(path) else path.parent  # a device is written to
    if not os.path.exists(place):
        raise InputError(f"{option} is {path}, and the folder {place} does not exist. Create it.")
    if (place == path.parent and not os.path.isdir(place)) or not os.access(place, os.W_OK):
        raise InputError(f"{option} is {path}, and {place} is not a folder that you can write to. Choose another path.")
    if formats and path.suffix[1:].lower() not in formats:
        raise InputError(f"{option} is {path}; accepted: a file that ends in .{' or .'.join(formats)}.")
    return path


def check_folder(option: str, path: Path) -> None:
    """Reject a folder for several files that cannot be written, or created; nothing is created here."""
    check_path(option, path)
    present = next(place for place in (path, *path.parents) if os.path.lexists(place))
    if not os.path.isdir(present) or not os.access(present, os.W_OK):
        raise InputError(
            f"{option} is {path}, and {present} is not a folder that you can write to. Choose another path."
        )


def recorded_command(context: typer.Context, *left_out: str) -> str:
    """Return the command to record with results, without the options that do not affect them."""
    return command_line(context, "workers", "dask", "details", *left_out)


def command_line(context: typer.Context, *left_out: str) -> str:
    """Return the shell command that repeats a call, without the given parameters and those at their defaults."""
    words = context.command_path.split()
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if parameter.name in left_out or value in (None, (), parameter.default):
            continue
        option = [] if parameter.param_type_name == "argument" else [parameter.opts[0]]
        if value is True:
            words += option
        else:
            for item in value if isinstance(value, list | tuple) else [value]:
                words += [*option, f"{item:g}" if isinstance(item, float) else str(item)]
    return shlex.join(words)


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
    """Learn to play unknown games, above all two-player zero-sum matrix games, from noisy payoffs.

    \b
    Examples:
      coebl reproduce --quick
      coebl match --game rps --row ucb --column coebl:c=2
      coebl list learners
    """
