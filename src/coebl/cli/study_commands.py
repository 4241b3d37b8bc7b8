"""The commands run, study new and study show."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coebl.cli import options as opt
from coebl.cli.results_commands import print_notices, print_ranking
from coebl.cli.terminal import announce_compilation
from coebl.core.errors import InputError, printable
from coebl.core.files import write_whole
from coebl.core.text import counted

if TYPE_CHECKING:
    from coebl.study import RunSummary, Study

StudyFile = Annotated[Path, typer.Argument(metavar="FILE", help="The TOML file of a study.")]

_MOST_CAUSES = 12  # causes of failures that are printed


@opt.app.command("run")
def run_command(
    file: StudyFile,
    out: Annotated[Path, opt.option("DIR", "The folder of the results; created, resumed or extended.")],
    workers: opt.Workers = None,
    dask: opt.Dask = None,
    device: opt.DeviceOption = None,
    cell_timeout: Annotated[float | None, opt.decimal("SECONDS", "Time limit of a cell.", least=0.001)] = None,
    dry_run: Annotated[bool, opt.flag("--dry-run", "Print what would be run, cell by cell, and exit.")] = False,
) -> None:
    """Run a study, or the rest of it.

    Results are kept cell by cell, so an interrupted run continues where it stopped. With more seeds, learners, games or
    metrics in the file, only what is new is run. At the end it prints a ranking of the learners.

    \b
    Examples:
      coebl run study.toml --out results
      coebl run study.toml --out results --dry-run
      coebl run study.toml --out results --dask tcp://scheduler:8786
      coebl run study.toml --out results-cuda --device cuda
    """
    from coebl.backend import check_device
    from coebl.study import Results, read_study

    study = read_study(file, None if device is None else check_device(device))
    if dry_run:
        _print_plan(study, out)
        return
    command = opt.command_line("run", str(file), out=out, device=device, cell_timeout=cell_timeout)
    summary = run_study(study, out, workers, dask, command, cell_timeout)
    if summary.finished or summary.used:
        with resume_hint(command, workers, dask):
            results = Results(out)
            print_ranking(results, study)
            print_notices(results)
        name = shlex.quote(str(out))
        print(f"means: coebl results {name}; page: coebl report {name}")
    if summary.failed:
        raise typer.Exit(1)


def _print_plan(study: Study, out: Path) -> None:
    """Print the cells that a run would compute."""
    from coebl.study import Store
    from coebl.study.plan import make_plan

    new = not out.exists() or (out.is_dir() and not any(out.iterdir()))
    plan = make_plan(study, None if new else Store.open(out), dry=True)
    for line in plan.lines():
        print(line)
    for note in plan.notes:
        print(printable(note), file=sys.stderr)
    _print_left_alone(plan.left_alone)
    print(f"{len(plan.todo)} of {counted(plan.found + len(plan.todo), 'cell')} to run")


def _print_left_alone(count: int) -> None:
    if count:
        print(f"left alone: {counted(count, 'cell')} in the folder that the study does not ask for", file=sys.stderr)


def run_study(
    study: Study, out: Path, workers: int | None, dask: str | None, command: str, cell_timeout: float | None = None
) -> RunSummary:
    """Run a study and print how it ended; `command` resumes it, with options for where it runs added."""
    from coebl.study import run
    from coebl.study.cluster import dask_executor
    from coebl.study.progress import duration

    with resume_hint(command, workers, dask), dask_executor(dask) if dask else nullcontext() as executor:
        summary = run(
            study, out, executor=executor, workers=workers, cell_timeout=cell_timeout, command=command, rehearse=True
        )
    for note in summary.notes:
        print(printable(note), file=sys.stderr)
    _print_left_alone(summary.left_alone)
    are = "is" if summary.used == 1 else "are"
    rest = f" ({counted(summary.used, 'cell')} of earlier runs {are} used)" if summary.used > summary.found else ""
    print(
        f"{counted(summary.finished, 'cell')} run, {summary.found} found{rest}, in {duration(summary.seconds)}: {out}"
    )
    for cause, count in islice(summary.causes.items(), _MOST_CAUSES):
        print(f"{counted(count, 'cell')} failed: {printable(cause)}", file=sys.stderr)
    if len(summary.causes) > _MOST_CAUSES:
        print(f"and {len(summary.causes) - _MOST_CAUSES} more causes", file=sys.stderr)
    if summary.failed:
        print(f"tracebacks are in {out / 'failed'}; run again to retry", file=sys.stderr)
    return summary


@contextmanager
def resume_hint(command: str, workers: int | None, dask: str | None) -> Iterator[None]:
    """Print how to resume if the block is stopped by Ctrl-C or SIGTERM, or if its workers are lost; then end."""
    from coebl.study.errors import ClusterError, LostError

    where = (f" --workers {workers}" if workers else "") + (f" --dask {shlex.quote(dask)}" if dask else "")
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    except KeyboardInterrupt as interrupt:
        print(f"\ncoebl: stopped; to continue: {command}{where}", file=sys.stderr)
        sys.exit(143 if isinstance(interrupt, _Terminated) else 130)
    except LostError as error:
        raise ClusterError(f"{error} To continue: {command}{where}") from None
    finally:
        signal.signal(signal.SIGTERM, before)


class _Terminated(KeyboardInterrupt):
    """SIGTERM, handled like an interrupt."""


def _terminate(*_: object) -> None:
    raise _Terminated


study_app = typer.Typer(help="Write or inspect the file of a study.", no_args_is_help=True, rich_markup_mode=None)
opt.app.add_typer(study_app, name="study")


@study_app.command("new")
def study_new_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")] = Path("study.toml"),
) -> None:
    """Write a commented example of a study file.

    \b
    Example:
      coebl study new my-study.toml
    """
    from coebl.study import EXAMPLE

    if file.exists():
        raise InputError(f"{file} exists; choose another file name.")
    write_whole(file, EXAMPLE)
    print(f"wrote {file}; next: coebl study show {file}, then coebl run {file} --out results")


@study_app.command("show")
def study_show_command(
    file: StudyFile,
    workers: opt.Workers = None,
    cells: Annotated[bool, opt.flag("--cells", "Also list every cell.")] = False,
) -> None:
    """Print the size of a study, and estimate how long it will take.

    The number of matches and cells, the disk space, and the time: a range, from short samples and from the declared
    costs of the learners. This takes seconds, however large the study is.

    \b
    Example:
      coebl study show my-study.toml
    """
    from coebl.study import read_study
    from coebl.study.estimate import disk_use, estimate, rounds_of
    from coebl.study.progress import span
    from coebl.study.run import warm_up

    study = read_study(file)
    rounds = sum(map(rounds_of, study.cells))
    if study.title:
        print(study.title)
    matches = counted(len(study.matches()), "match", "matches")
    print(f"{matches} in {counted(len(study.cells), 'cell')}, {counted(rounds, 'round')} in all")
    with announce_compilation():
        warm_up(study.cells, study.shapes)
    seconds = estimate(study, workers)
    where = "on this machine"
    if any(cell.device == "cuda" for cell in study.cells):
        where = "on the CPU of this machine, which may differ much from its GPU"
    megabytes = disk_use(study) / 1e6
    disk = f"about {megabytes:,.1f} MB" if megabytes >= 0.1 else "less than 0.1 MB"
    print(f"about {span(seconds.low, seconds.high)} {where} ({seconds.source}), {disk} on disk")
    for cell in study.cells if cells else ():
        print(cell)
