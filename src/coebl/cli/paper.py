"""Commands for the paper and for what people look at: reproduce, claims, figures, report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coebl.cli.app import app
from coebl.cli.studies import Dask, StudyFolder, Workers, run_study
from coebl.core.errors import InputError

if TYPE_CHECKING:
    from coebl.study import Results

Figures = Annotated[
    list[str] | None, typer.Option("--figure", metavar="NAME", help="Only this figure; may be given more than once.")
]
Claims = Annotated[
    list[str] | None, typer.Option("--claim", metavar="ID", help="Only this claim; may be given more than once.")
]


@app.command("reproduce")
def reproduce_command(
    out: Annotated[Path, typer.Option(help="The folder of the results; made, or resumed.")] = Path("reproduction"),
    quick: Annotated[bool, typer.Option("--quick", help="Games of up to 16 actions and 20 seeds: minutes.")] = False,
    figure: Figures = None,
    claim: Claims = None,
    workers: Workers = None,
    dask: Dask = None,
) -> None:
    """Run the paper's experiments, and judge its claims.

    What is in the folder already is not run again. At the end it draws the figures and writes the page.

    \b
    Examples:
      coebl reproduce --quick
      coebl reproduce --workers 8
      coebl reproduce --figure diagonal-self-play
      coebl reproduce --claim C9 --claim C14 --dask tcp://scheduler:8786
    """
    from coebl.papers.ijcai2025.claims import as_table, judge
    from coebl.papers.ijcai2025.experiments import QUICK_SEEDS, SEEDS, study
    from coebl.papers.ijcai2025.figures import MAIN_TEXT, draw
    from coebl.papers.ijcai2025.reproduction import pairings, write_report, write_summary
    from coebl.study import Results
    from coebl.study.run import cores

    chosen = [*(f"--figure {name}" for name in figure or ()), *(f"--claim {name}" for name in claim or ())]
    command = " ".join(["coebl reproduce", *["--quick"] * quick, *chosen])
    experiments = study(pairings(figure or (), claim or (), quick), QUICK_SEEDS if quick else SEEDS)
    outcome = run_study(experiments, out, workers, dask, f"{command} --out {out}")
    results = Results(out)
    parts = figure or claim  # asked for by name: nothing else is made
    verdicts = judge(results, claim if parts else None) if claim or not parts else []
    if figure or not parts:
        names = figure or (MAIN_TEXT if quick else None)  # on small games the appendix shows little more
        drawn = draw(results, out / "figures", names=names, workers=workers or cores())
        print(f"{len(drawn)} files of figures: {out / 'figures'}")
    if verdicts:
        print(f"\n{as_table(verdicts, _width())}\n")
    if not parts:
        write_summary(results, out / "summary", verdicts, command)
        print(f"summary: {out / 'summary'}")
        print(f"page: {write_report(results, out / 'report.html', verdicts)}")
    elif (out / "report.html").exists() and outcome.finished:
        print(f"the page is older than these results; for a new one: coebl report {out}")
    if quick and not parts:
        print("for all games and 50 seeds: coebl reproduce")
    if outcome.failed:
        raise typer.Exit(1)


@app.command("claims")
def claims_command(
    folder: StudyFolder,
    claim: Claims = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown instead of a table.")] = False,
) -> None:
    """Print a verdict on each claim of the paper.

    From the results of coebl reproduce.

    \b
    Examples:
      coebl claims reproduction
      coebl claims reproduction --json
      coebl claims reproduction --claim C9
    """
    from coebl.papers.ijcai2025 import claims

    if as_json and as_markdown:
        raise InputError("--json and --markdown are both given; accepted: one of them.")
    verdicts = claims.judge(_of_the_paper(folder), claim or None)
    if as_json:
        print(claims.as_json(verdicts))
    elif as_markdown:
        print(claims.as_markdown(verdicts), end="")
    else:
        print(claims.as_table(verdicts, _width()))


@app.command("figures")
def figures_command(
    folder: StudyFolder,
    out: Annotated[Path | None, typer.Option(help="Where to; by default DIR/figures.")] = None,
    figure: Figures = None,
    variant: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Only text, c=2 or as-released; may be given more than once.")
    ] = None,
    workers: Workers = None,
) -> None:
    """Draw the figures of the paper as PDF, SVG and PNG.

    From the results of coebl reproduce.

    \b
    Examples:
      coebl figures reproduction
      coebl figures reproduction --figure rps-self-play --variant text
    """
    from coebl.papers.ijcai2025.figures import draw
    from coebl.study.run import cores

    target = out or folder / "figures"
    results = _of_the_paper(folder)
    paths = draw(results, target, names=figure, variants=variant, workers=workers or cores())
    print(f"{len(paths)} files: {target}")


@app.command("report")
def report_command(
    folder: StudyFolder,
    out: Annotated[Path | None, typer.Option(help="The file to write; by default DIR/report.html.")] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Write the page of a study, which explains and draws it.

    One file with everything in it, which needs no network.

    \b
    Examples:
      coebl report reproduction --open
      coebl report results --out page.html
    """
    from coebl.papers.ijcai2025.claims import judge
    from coebl.papers.ijcai2025.reproduction import is_reproduction, write_report
    from coebl.report.page import write_page
    from coebl.study import Results

    results = Results(folder)
    path = out or folder / "report.html"
    if is_reproduction(results):
        write_report(results, path, judge(results))
    else:
        write_page(results, path, title=results.store.name)
    print(f"page: {path}")
    if show:
        import webbrowser

        if not webbrowser.open(path.resolve().as_uri()):
            print("there is no browser here to open it with", file=sys.stderr)


def _of_the_paper(folder: Path) -> Results:
    """The results in a folder, if they are of the paper's study."""
    from coebl.papers.ijcai2025.reproduction import is_reproduction
    from coebl.study import Results

    results = Results(folder)
    if not is_reproduction(results):
        name = results.store.name
        raise InputError(f"{folder}: this is the study {name}, not the paper's; for its page: coebl report {folder}")
    return results


def _width() -> int:
    """How wide a table may be."""
    from shutil import get_terminal_size

    return max(80, min(120, get_terminal_size((100, 24)).columns))
