"""Commands for studies: run, study new, study show, results."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coebl.cli.app import app, finite, is_reference
from coebl.core.errors import InputError, printable
from coebl.core.files import write_whole
from coebl.core.plain import as_csv

if TYPE_CHECKING:
    from coebl.study import Results, RunSummary, Study
    from coebl.study.summaries import SummaryRow

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
    from coebl.study import read_study

    study = read_study(file)
    if dry_run:
        _print_plan(study, out)
        return
    again = ["coebl", "run", str(file), "--out", str(out)]
    again += ["--cell-timeout", f"{cell_timeout:g}"] if cell_timeout else []
    summary = run_study(study, out, workers, dask, shlex.join(again), cell_timeout)
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
    print(f"{len(plan.todo)} of {_cells(plan.found + len(plan.todo))} to run")


def _print_left_alone(count: int) -> None:
    if count:
        print(f"left alone: {_cells(count)} in the folder that the study does not ask for", file=sys.stderr)


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
    _print_left_alone(summary.left_alone)
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
    game: Annotated[list[str] | None, typer.Option(help="Only this game; may be given more than once.")] = None,
    row: Annotated[list[str] | None, typer.Option(help="Only this row learner; may be given more than once.")] = None,
    column: Annotated[
        list[str] | None, typer.Option(help="Only this column learner; may be given more than once.")
    ] = None,
    at: Annotated[int | None, typer.Option("--round", help="After this round; by default the last.")] = None,
    csv_wanted: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Print the means of a study, after the last round or any recorded one.

    Of every match, with 95 % intervals.

    \b
    Examples:
      coebl results results
      coebl results results --metric pseudo_regret --csv
      coebl results results --game rps --row ucb --round 100
    """
    from coebl.study import Results

    if csv_wanted and as_json:
        raise InputError("--csv and --json are both given; accepted: one of them.")
    results = Results(folder)
    rows = results.summary(metric, at, game, row, column)
    if csv_wanted:
        columns = ["game", "noise", "row", "column", "round", "metric", "mean", "low", "high", "sd", "n"]
        print(as_csv(map(dict, rows), columns), end="")
    elif as_json:
        print(json.dumps([{key: finite(value) for key, value in row.items()} for row in rows], allow_nan=False))
    else:
        _print_means(rows)
        _print_notes(results, rows)


def _print_means(rows: list[SummaryRow]) -> None:
    names = ["game", "row", "column", "round", "metric", "n"]
    if len({row["noise"] for row in rows}) > 1:
        names.insert(1, "noise")
    table = [[printable(str(value)) for value in map(dict(row).__getitem__, names)] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *table, strict=True)]
    print(f"{_padded(names, widths)}  {'mean':>12}  95 % interval (Student)")
    for row, shown in zip(rows, table, strict=True):
        print(f"{_padded(shown, widths)}  {row['mean']:>12.4f}  {row['low']:.4f} .. {row['high']:.4f}")


def _padded(words: list[str], widths: list[int]) -> str:
    return "  ".join(f"{word:<{width}}" for word, width in zip(words, widths, strict=True))


def _print_notes(results: Results, rows: list[SummaryRow]) -> None:
    """What somebody who reads the means should know: who sees more than a bandit does, and how much is there."""
    from coebl.learners import KINDS

    kinds = results.kinds()
    shown = dict.fromkeys(row[seat] for row in rows for seat in ("row", "column"))
    for learner in shown:
        kind = kinds.get(learner)
        if kind and is_reference(kind):
            print(f"{printable(learner)}: {kind}, {KINDS[kind]}")
    for notice in results.notices():
        print(notice, file=sys.stderr)
    matches = {(row["game"], row["noise"], row["row"], row["column"]) for row in rows}
    labels = [about["labels"] for about in results.metadata()]
    used = sum((one["game"], one["noise"], one["row"], one["column"]) in matches for one in labels)
    failures = len(results.store.failures())
    print(
        f"from {used} of {_cells(max(len(labels), results.store.planned()))}"
        + (f"; {failures} failed, see {results.store.folder / 'failed'}" if failures else "")
    )
