"""Commands for studies: run, study new, study show."""

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

from coebl.cli.app import DeviceOption, app
from coebl.cli.rankings import print_notices, print_ranking
from coebl.cli.waiting import compilation_told
from coebl.core.errors import InputError, printable
from coebl.core.files import write_whole
from coebl.core.text import counted

if TYPE_CHECKING:
    from coebl.study import RunSummary, Study

Workers = Annotated[int | None, typer.Option(min=1, help="Local processes; by default one per core; one for a GPU.")]
Dask = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Run on this Dask cluster instead.")]

_MOST_CAUSES = 12  # of failures, that are printed


@app.command("run")
def run_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A study's TOML file.")],
    out: Annotated[Path, typer.Option(help="The folder of the results; created, resumed or extended.")],
    workers: Workers = None,
    dask: Dask = None,
    device: DeviceOption = None,
    cell_timeout: Annotated[
        float | None, typer.Option(min=0.001, metavar="SECONDS", help="How long a cell may take before it fails.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be run, cell by cell, and exit.")
    ] = False,
) -> None:
    """Run a study, or what is left of it.

    Results are kept cell by cell, so an interrupted run continues where it stopped. With more seeds, learners, games
    or metrics in the file, only what is new is run. At the end it prints who beats whom most often.

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
    again = ["coebl", "run", str(file), "--out", str(out)]
    again += ["--device", device] if device else []
    again += ["--cell-timeout", f"{cell_timeout:g}"] if cell_timeout else []
    summary = run_study(study, out, workers, dask, shlex.join(again), cell_timeout)
    if summary.finished or summary.used:
        with going_on(shlex.join(again), workers, dask):
            results = Results(out)
            print_ranking(results, study)
            print_notices(results)
        name = shlex.quote(str(out))
        print(f"means: coebl results {name}; page: coebl report {name}")
    if summary.failed:
        raise typer.Exit(1)


def _print_plan(study: Study, out: Path) -> None:
    """Print what a run would do."""
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
    """Run a study and say how it ended; `command` continues it; options that say where it runs are added."""
    from coebl.study import run
    from coebl.study.cluster import dask_executor
    from coebl.study.progress import duration

    with going_on(command, workers, dask), dask_executor(dask) if dask else nullcontext() as executor:
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
def going_on(command: str, workers: int | None, dask: str | None) -> Iterator[None]:
    """If a run, or what follows it, is stopped by Ctrl-C or SIGTERM, print how to continue, and end.

    The same if its workers are lost.
    """
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
    """The process was asked to end, as by an interrupt."""


def _terminate(*_: object) -> None:
    raise _Terminated


study_app = typer.Typer(help="Write or look at a study's file.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(study_app, name="study")


@study_app.command("new")
def study_new_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it.")] = Path("study.toml"),
) -> None:
    """Write a commented example of a study's file.

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
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A study's TOML file.")],
    workers: Annotated[int | None, typer.Option(min=1, help="Local processes to estimate for.")] = None,
    cells: Annotated[bool, typer.Option("--cells", help="Also list every cell.")] = False,
) -> None:
    """Print what a study will run, and how long it will take.

    The number of matches and cells, the disk space, and the time: between two ends, from short samples and from the
    costs that the learners declare. It takes seconds, however large the study is.

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
    with compilation_told():
        warm_up(study.cells, study.shapes)
    found = estimate(study, workers)
    where = "on this machine"
    if any(cell.device == "cuda" for cell in study.cells):
        where = "on the CPU of this machine, which may differ much from its GPU"
    megabytes = disk_use(study) / 1e6
    disk = f"about {megabytes:,.1f} MB" if megabytes >= 0.1 else "less than 0.1 MB"
    print(f"about {span(found.low, found.high)} {where} ({found.source}), {disk} on disk")
    for cell in study.cells if cells else ():
        print(cell)
