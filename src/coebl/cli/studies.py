"""Commands for studies: run, study new, study show, results."""

from __future__ import annotations

import shlex
import signal
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coebl.cli.app import app
from coebl.core.errors import InputError, printable
from coebl.core.files import write_whole

if TYPE_CHECKING:
    from coebl.study import RunSummary, Study

Workers = Annotated[int | None, typer.Option(min=1, help="Local processes; by default one per core.")]
Dask = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Run on this Dask cluster instead.")]
StudyFolder = Annotated[Path, typer.Argument(metavar="DIR", help="A study's folder.")]


@app.command("run")
def run_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A study's TOML file.")],
    out: Annotated[Path, typer.Option(help="The folder of the results; made, or resumed.")],
    workers: Workers = None,
    dask: Dask = None,
    cell_timeout: Annotated[
        float | None, typer.Option(min=0.001, metavar="SECONDS", help="How long a cell may take before it fails.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would run, and stop.")] = False,
) -> None:
    """Run a study, or what is left of it.

    Results are kept cell by cell, so that an interrupted run goes on where it stopped.

    \b
    Examples:
      coebl run study.toml --out results
      coebl run study.toml --out results --dask tcp://scheduler:8786
    """
    from coebl.study import Store, read_study

    study = read_study(file)
    if dry_run:
        there = set(Store.open(out).digests()) if (out / "study.toml").exists() else set()
        todo = [cell for cell in study.cells if cell.digest() not in there]
        for cell in todo:
            print(cell)
        print(f"{len(todo)} of {len(study.cells)} cells to run")
        return
    again = ["coebl", "run", str(file), "--out", str(out)]
    again += ["--cell-timeout", f"{cell_timeout:g}"] if cell_timeout else []
    summary = run_study(study, out, workers, dask, shlex.join(again), cell_timeout)
    if summary.failed:
        raise typer.Exit(1)


def run_study(
    study: Study, out: Path, workers: int | None, dask: str | None, command: str, cell_timeout: float | None = None
) -> RunSummary:
    """Run a study and say how it ended; `command` goes on with it, and is completed by where it runs."""
    from coebl.study import run
    from coebl.study.cluster import dask_executor
    from coebl.study.progress import duration

    where = (f" --workers {workers}" if workers else "") + (f" --dask {shlex.quote(dask)}" if dask else "")
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        with dask_executor(dask) if dask else nullcontext() as executor:
            summary = run(study, out, executor=executor, workers=workers, cell_timeout=cell_timeout, command=command)
    except KeyboardInterrupt as interrupt:
        print(f"\ncoebl: stopped; to go on: {command}{where}", file=sys.stderr)
        sys.exit(143 if isinstance(interrupt, _Terminated) else 130)
    finally:
        signal.signal(signal.SIGTERM, before)
    for note in summary.notes:
        print(printable(note), file=sys.stderr)
    print(f"{_cells(summary.finished)} run, {summary.found} found, in {duration(summary.seconds)}: {out}")
    for cause, count in summary.causes.items():
        print(f"{_cells(count)} failed: {printable(cause)}", file=sys.stderr)
    if summary.failed:
        print(f"tracebacks are in {out / 'failed'}; run again to retry", file=sys.stderr)
    return summary


class _Terminated(KeyboardInterrupt):
    """The process was asked to end, as by an interrupt."""


def _terminate(*_: object) -> None:
    raise _Terminated


def _cells(count: int) -> str:
    return f"{count} cell" if count == 1 else f"{count} cells"


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
        raise InputError(f"{file} exists; name another file.")
    write_whole(file, EXAMPLE)
    print(f"wrote {file}; next: coebl study show {file}, then coebl run {file} --out results")


@study_app.command("show")
def study_show_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A study's TOML file.")],
    workers: Annotated[int | None, typer.Option(min=1, help="Local processes to estimate for.")] = None,
    cells: Annotated[bool, typer.Option("--cells", help="Also list every cell.")] = False,
) -> None:
    """Print what a study will run, and what it will take.

    How many matches and cells, the time, by a quick calibration, and the disk.

    \b
    Example:
      coebl study show my-study.toml
    """
    from coebl.study import read_study
    from coebl.study.estimate import disk_use, estimate, rounds_of
    from coebl.study.progress import duration
    from coebl.study.run import warm_up

    study = read_study(file)
    rounds = sum(map(rounds_of, study.cells))
    if study.title:
        print(study.title)
    print(f"{len(study.matches())} matches in {_cells(len(study.cells))}, {rounds:,} rounds in all")
    warm_up(study.cells)
    print(f"about {duration(estimate(study, workers))} on this machine, about {disk_use(study) / 1e6:,.1f} MB on disk")
    for cell in study.cells if cells else ():
        print(cell)


@app.command("results")
def results_command(
    folder: StudyFolder,
    metric: Annotated[list[str] | None, typer.Option(help="Only this metric; may be given more than once.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
) -> None:
    """Print the means after a study's last round.

    Of every match, with 95 % intervals.

    \b
    Examples:
      coebl results results
      coebl results results --metric pseudo_regret --csv
    """
    import csv

    from coebl.study import Results

    results = Results(folder)
    rows: list[dict[str, Any]] = [dict(row) for row in results.summary(metrics=metric)]
    columns = ["game", "noise", "row", "column", "round", "metric", "mean", "low", "high", "sd", "n"]
    if as_csv:
        writer = csv.DictWriter(sys.stdout, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows({key: _as_text(value) for key, value in row.items()} for row in rows)
        return
    shown = ["game", "row", "column", "round", "metric", "n"]
    if len({row["noise"] for row in rows}) > 1:
        shown.insert(1, "noise")
    for row in rows:
        row.update({name: printable(str(row[name])) for name in shown})
    widths = {name: max([len(name), *(len(row[name]) for row in rows)]) for name in shown}
    header = "  ".join(f"{name:<{width}}" for name, width in widths.items())
    print(f"{header}  {'mean':>12}  95 % interval (Student)")
    for row in rows:
        cells = "  ".join(f"{row[name]:<{width}}" for name, width in widths.items())
        print(f"{cells}  {row['mean']:>12.4f}  {row['low']:.4f} .. {row['high']:.4f}")
    for notice in results.notices():
        print(notice, file=sys.stderr)
    failures = len(results.store.failures())
    print(
        f"from {len(results.cells())} finished cells"
        + (f"; {failures} failed, see {folder}/failed" if failures else "")
    )


def _as_text(value: object) -> object:
    """A field of a CSV file; a text that a spreadsheet would take for a formula is marked as text."""
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value
