"""Commands for studies: run, study new, study show, results."""

from __future__ import annotations

import shlex
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coebl.cli.app import app
from coebl.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

    from coebl.study import Outcome, Study

Workers = Annotated[int | None, typer.Option(min=1, help="Local processes; by default one per core.")]
Dask = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Run on this Dask cluster instead.")]
StudyFolder = Annotated[Path, typer.Argument(metavar="DIR", help="A study's folder.")]


@app.command("run")
def run_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A study's TOML file.")],
    out: Annotated[Path, typer.Option(help="The folder of the results; made, or resumed.")],
    workers: Workers = None,
    dask: Dask = None,
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
    from coebl.study.store import Store

    study = read_study(file)
    if dry_run:
        there = {path.stem for path in Store.open(out).paths()} if (out / "study.toml").exists() else set()
        todo = [cell for cell in study.cells if cell.digest() not in there]
        for cell in todo:
            print(cell)
        print(f"{len(todo)} of {len(study.cells)} cells to run")
        return
    outcome = run_study(study, out, workers, dask, shlex.join(["coebl", "run", str(file), "--out", str(out)]))
    if outcome.failed:
        raise typer.Exit(1)


def run_study(study: Study, out: Path, workers: int | None, dask: str | None, again: str) -> Outcome:
    """Run a study and say how it ended; `again` is the command that did it, and goes on after an interruption."""
    from coebl.study import run
    from coebl.study.progress import duration

    try:
        with _dask_executor(dask) as executor:
            outcome = run(study, out, executor=executor, workers=workers, command=again)
    except KeyboardInterrupt:
        print(f"\ncoebl: stopped; to go on: {again}", file=sys.stderr)
        sys.exit(130)
    for note in outcome.notes:
        print(note, file=sys.stderr)
    cells = "cell" if outcome.finished == 1 else "cells"
    print(f"{outcome.finished} {cells} run, {outcome.found} found, in {duration(outcome.seconds)}: {out}")
    if outcome.failed:
        for cell in outcome.failed:
            print(f"failed: {cell}", file=sys.stderr)
        print(f"tracebacks are in {out / 'failed'}; run again to retry", file=sys.stderr)
    return outcome


@contextmanager
def _dask_executor(address: str | None) -> Iterator[Executor | None]:
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise InputError("--dask needs Dask; run: pip install 'coebl[dask]'") from None
    try:
        client: Any = Client(address, timeout=10)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise InputError(f"--dask {address}: no cluster answers there ({error}); check the address.") from None
    with client:
        yield client.get_executor()


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
    try:
        file.write_text(EXAMPLE)
    except OSError as error:
        raise InputError(f"{file} cannot be written ({error.strerror}); name another place.") from None
    print(f"wrote {file}; next: coebl study show {file}, then coebl run {file} --out results")


@study_app.command("show")
def study_show_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A study's TOML file.")],
    workers: Annotated[int | None, typer.Option(min=1, help="Local processes to estimate for.")] = None,
) -> None:
    """Print what a study will run, and what it will take.

    Its cells, the time, by a quick calibration, and the disk.

    \b
    Example:
      coebl study show my-study.toml
    """
    from coebl.study import read_study
    from coebl.study.progress import duration
    from coebl.study.run import disk_use, estimate, rounds_of, warm_up

    study = read_study(file)
    for cell in study.cells:
        print(cell)
    rounds = sum(map(rounds_of, study.cells))
    warm_up(study.cells)
    print(f"{len(study.cells)} cells, {rounds:,} rounds in all")
    print(f"about {duration(estimate(study, workers))} on this machine, about {disk_use(study) / 1e6:,.1f} MB on disk")


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
        writer.writerows(rows)
        return
    shown = ["game", "row", "column", "round", "metric", "n"]
    if len({row["noise"] for row in rows}) > 1:
        shown.insert(1, "noise")
    widths = {name: max([len(name), *(len(str(row[name])) for row in rows)]) for name in shown}
    header = "  ".join(f"{name:<{width}}" for name, width in widths.items())
    print(f"{header}  {'mean':>12}  95 % interval (Student)")
    for row in rows:
        cells = "  ".join(f"{row[name]!s:<{width}}" for name, width in widths.items())
        print(f"{cells}  {row['mean']:>12.4f}  {row['low']:.4f} .. {row['high']:.4f}")
    failures = len(results.store.failures())
    print(
        f"from {len(results.cells())} finished cells"
        + (f"; {failures} failed, see {folder}/failed" if failures else "")
    )
