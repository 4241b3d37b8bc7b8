"""Commands for papers and for what people look at: reproduce, claims, figures, report."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coebl.cli.app import StudyFolder, app, repeated
from coebl.cli.studies import Dask, Workers, going_on, run_study
from coebl.cli.waiting import Advance, progress_bar
from coebl.core.errors import InputError
from coebl.core.text import counted

if TYPE_CHECKING:
    from coebl.evidence.judge import Verdict
    from coebl.papers import Paper
    from coebl.study import Results, RunSummary, Study

DEFAULT = "ijcai2025"
PAGE = "report.html"  # in a study's folder

Figures = Annotated[
    list[str] | None, typer.Option("--figure", metavar="NAME", help="Only this figure; may be given more than once.")
]
Claims = Annotated[
    list[str] | None, typer.Option("--claim", metavar="ID", help="Only this claim; may be given more than once.")
]


@app.command("reproduce")
def reproduce_command(
    paper: Annotated[str, typer.Argument(metavar="[PAPER]", help="Which paper.")] = DEFAULT,
    out: Annotated[Path, typer.Option(help="The folder of the results; created, or resumed.")] = Path("reproduction"),
    quick: Annotated[bool, typer.Option("--quick", help="Only small games and few seeds: minutes.")] = False,
    figure: Figures = None,
    claim: Claims = None,
    workers: Workers = None,
    dask: Dask = None,
) -> None:
    """Run a paper's experiments, and judge its claims.

    What is in the folder already is not run again. At the end it draws the figures, writes the page, and prints a mark
    for each claim; the reasons are printed by coebl claims DIR --details.

    \b
    Examples:
      coebl reproduce --quick
      coebl reproduce --workers 8
      coebl reproduce --figure diagonal-self-play
      coebl reproduce --claim C9 --claim C14 --dask tcp://scheduler:8786
    """
    from coebl.papers import load_paper
    from coebl.papers.reproduce import reproduce

    chosen = load_paper(paper)
    figures, claims = figure or [], claim or []
    options = [*["--quick"] * quick, *repeated("--figure", figures), *repeated("--claim", claims)]
    command = shlex.join(["coebl", "reproduce", *[paper] * (paper != DEFAULT), *options])
    again = shlex.join([*shlex.split(command), "--out", str(out)])

    def run(study: Study, folder: Path) -> RunSummary:
        return run_study(study, folder, workers, dask, again)

    with going_on(again, workers, dask):
        made = reproduce(
            chosen,
            out,
            quick=quick,
            figures=figures,
            claims=claims,
            workers=workers,
            run=run,
            command=command,
            drawing=_drawing if figures else _drawing_and_writing,
        )
    print()
    if made.verdicts:
        _print_outcome(chosen, made.verdicts, out, details=bool(claims))
        print()
    if made.figures:
        print(f"{counted(len(made.figures), 'file')} of figures: {out / 'figures'}")
    if made.page:
        if quick:
            print("This was a quick run: small games, few seeds. For all of them: coebl reproduce")
        print(f"page: {made.page}")
    elif (out / PAGE).exists() and made.ran.finished:
        print(f"the page is older than these results; for a new one: coebl report {out}")
    if made.ran.failed:
        raise typer.Exit(1)


def _drawing() -> AbstractContextManager[Advance | None]:
    return progress_bar("figures", line="drawing the figures; this takes a while")


def _drawing_and_writing() -> AbstractContextManager[Advance | None]:
    return progress_bar("figures, then the page", line="drawing the figures and the page; this takes a while")


def _print_outcome(paper: Paper, verdicts: Sequence[Verdict], folder: Path, details: bool) -> None:
    """The verdicts, with their reasons or as marks; then, if all claims are judged, what came out in a sentence."""
    from coebl.cli.screen import say
    from coebl.cli.verdicts import print_details, print_verdicts

    if details:
        print_details(verdicts, paper.titles)
        return
    print_verdicts(verdicts, paper.titles)
    if answer := paper.result(verdicts):
        print()
        say(answer, "bold")
    some = verdicts[0].id
    print(f"reasons: coebl claims {shlex.quote(str(folder))} --details, or --claim {some} for one of them")


@app.command("claims")
def claims_command(
    folder: StudyFolder,
    claim: Claims = None,
    details: Annotated[bool, typer.Option("--details", help="Print what decided each claim.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown instead of a table.")] = False,
) -> None:
    """Print a verdict on each claim of a paper.

    From the results of coebl reproduce: a mark for each claim in each variant, and what came out in one sentence. The
    numbers and checks that decided are printed with --details, and for claims that are named.

    \b
    Examples:
      coebl claims reproduction
      coebl claims reproduction --details
      coebl claims reproduction --claim C9
      coebl claims reproduction --json
    """
    from coebl.evidence import rendering

    if as_json and as_markdown:
        raise InputError("--json and --markdown are both given; accepted: one of them.")
    paper, results = _of_a_paper(folder)
    verdicts = paper.judge(results, claim or None)
    if as_json:
        print(rendering.as_json(verdicts))
    elif as_markdown:
        print(rendering.as_markdown(verdicts, paper.titles), end="")
    else:
        _print_outcome(paper, verdicts, folder, details=details or bool(claim))
        page = folder / PAGE
        print(f"page: {page}" if page.exists() else f"for a page: coebl report {shlex.quote(str(folder))}")


@app.command("figures")
def figures_command(
    folder: StudyFolder,
    out: Annotated[Path | None, typer.Option(help="The output folder; by default DIR/figures.")] = None,
    figure: Figures = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only this variant, such as text; may be given more than once."),
    ] = None,
    format: Annotated[
        list[str] | None,
        typer.Option(metavar="FORMAT", help="Only pdf, svg or png; may be given more than once."),
    ] = None,
    workers: Workers = None,
) -> None:
    """Draw the figures of a paper as PDF, SVG and PNG.

    From the results of coebl reproduce.

    \b
    Examples:
      coebl figures reproduction
      coebl figures reproduction --figure rps-self-play --variant text --format pdf
    """
    from coebl.papers.drawing import draw
    from coebl.plots import FORMATS
    from coebl.study.processes import cores

    target = out or folder / "figures"
    paper, results = _of_a_paper(folder)
    with _drawing() as progress:
        paths = draw(
            paper,
            results,
            target,
            names=figure,
            variants=variant,
            formats=format or FORMATS,
            workers=workers or cores(),
            progress=progress,
            within=folder,
        )
    print(f"{counted(len(paths), 'file')}: {target}")


@app.command("report")
def report_command(
    folder: StudyFolder,
    out: Annotated[Path | None, typer.Option(help="The file to write; by default DIR/report.html.")] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Write the page of a study: its results, drawn and explained.

    One file with everything in it, which needs no network.

    \b
    Examples:
      coebl report reproduction --open
      coebl report results --out page.html
    """
    from coebl.papers import paper_of
    from coebl.papers.reproduce import write_report
    from coebl.report.page import write_page
    from coebl.report.sections import tournament_section
    from coebl.study import Results

    results = Results(folder)
    if not results.matches():
        raise InputError(results.why_empty())
    path = out or folder / PAGE
    paper = paper_of(results.store.name)
    with progress_bar("the page"):
        if paper:
            write_report(paper, results, path, paper.judge(results))
        else:
            store = results.store
            sections = [section] if (section := tournament_section(folder)) else []
            title, question = store.title or store.name, store.description or None
            write_page(results, path, title=title, question=question, sections=sections)
    print(f"page: {path}")
    if show:
        import webbrowser

        if not webbrowser.open(path.resolve().as_uri()):
            print("there is no browser here to open it with", file=sys.stderr)


def _of_a_paper(folder: Path) -> tuple[Paper, Results]:
    """The paper whose study was run into a folder, and the results that are there."""
    from coebl.papers import paper_of
    from coebl.study import Results

    results = Results(folder)
    paper = paper_of(results.store.name)
    if paper is None:
        raise InputError(
            f"{folder}: this is the study {results.store.name}, not that of a paper; accepted: the folder of "
            f"coebl reproduce. For the page of this study: coebl report {folder}"
        )
    return paper, results
