"""The commands tournament, reproduce, claims, figures and report, which plan, judge and show studies."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coebl.cli import options as opt
from coebl.cli.study_commands import print_notices, resume_hint, run_study
from coebl.cli.terminal import BAD, FAINT, GOOD, UNSURE, can_show, console, note, print_table, progress_bar, say
from coebl.core.errors import InputError
from coebl.core.specs import without_folder
from coebl.core.text import counted

if TYPE_CHECKING:
    from coebl import backend, naming, papers, plots, study
    from coebl.cli.terminal import Advance
    from coebl.evidence import judge
    from coebl.evidence.judge import Outcome, Verdict
    from coebl.papers import reproduce
    from coebl.report import page
    from coebl.study import workers as processes
    from coebl.tournament import outcome
    from coebl.tournament import suite as suites
    from coebl.tournament.standings import Standings
else:
    backend, naming, papers, plots, study = opt.lazy("backend", "naming", "papers", "plots", "study")
    judge, reproduce, page = opt.lazy("evidence.judge", "papers.reproduce", "report.page")
    processes, outcome, suites = opt.lazy("study.workers", "tournament.outcome", "tournament.suite")

DEFAULT = "ijcai2025"
PAGE = "report.html"  # in a study's folder
_STYLES = {"holds": GOOD, "fails": BAD, "undecided": UNSURE, "not testable": FAINT}  # by the words for outcomes
_AIM_STYLES = {"reached": GOOD, "missed": BAD, "open": UNSURE}
_ASCII_MARKS: dict[Outcome, str] = {"holds": "+", "fails": "x", "not significant": "?", "not testable": "-"}


@opt.app.command("tournament")
def tournament_command(
    context: typer.Context,
    out: Annotated[Path, opt.option("DIR", "The folder of the results; created, or resumed.")],
    learners: Annotated[
        list[str] | None,
        opt.option(
            "LIST",
            "Learners to add to those of the suite. If the list names any learner of the suite, exactly this list "
            "plays. In a suite that tests one learner: the learners to test.",
        ),
    ] = None,
    games: Annotated[list[str] | None, opt.option("LIST", "Only these games; by default those of the suite.")] = None,
    seeds: Annotated[
        int | None, opt.integer("Runs per match, >= 2; by default those of the suite, often 50.", least=2)
    ] = None,
    rounds: Annotated[int | None, opt.integer("Rounds per run; by default those of the suite.", least=1)] = None,
    quick: Annotated[bool, opt.flag("--quick", "A few small games, few seeds: about a minute.")] = False,
    suite: Annotated[str, opt.option("NAME", "A suite, or a TOML file that defines one.")] = "standard",
    details: Annotated[bool, opt.flag("--details", "Print all columns of the ranking.")] = False,
    workers: opt.Workers = None,
    dask: opt.Dask = None,
    device: opt.DeviceOption = "cpu",
) -> None:
    """Rank learners over a suite of games, or test one of them.

    Every pair of learners plays in both seats; in games that are not zero-sum, each learner plays in every seat against
    copies of each other learner, and is ranked by its payoff. A tournament is a study: results that are already in the
    folder are not computed again. A LIST is separated by commas; the option may also be given more than once.

    \b
    Examples:
      coebl tournament --quick --learners path/to/mine.py:Mine --out mine
      coebl tournament --out standard
      coebl tournament --learners ucb,coebl:c=2,exp3 --games rps,diagonal:4 --rounds 500 --seeds 20 --out few
      coebl tournament --suite pre-registered --learners path/to/mine.py:Mine --out test
    """
    chosen = suites.read_suite(suite)
    chosen = (chosen.shortened() if quick else chosen).played_on(suites.split_list("--games", games or []), rounds)
    named = suites.read_learners(learners or [])
    field = suites.subjects_of(chosen, named) if chosen.subject else suites.field_of(chosen, named)
    if dask is None:
        backend.backend_for(device)  # before anything is written
    opt.check_folder("--out", out)
    played = suites.study_of(chosen, field, chosen.seeds if seeds is None else seeds, device)
    print(f"{chosen.title}: {suites.size_text(played)}")
    if not chosen.subject and field != named and (others := suites.other_learners(field)):
        say(f"The learners of the suite play. --learners adds others of the package: {', '.join(others)}.")
    command = opt.recorded_command(context)
    with resume_hint(opt.command_line(context)):
        summary = run_study(played, out, command, workers, dask)
        results = study.Results(out)
        if chosen.subject:
            verdicts, notes = outcome.finish_trial(chosen, field, played, results, command)
            print()
            print_reasons(verdicts, {verdict.variant: verdict.variant for verdict in verdicts})
            for line in (judge.AIM_LEGEND, *notes):
                say(line)
        else:
            specs = [without_folder(str(learner)) for learner in named]
            ranking = outcome.finish(chosen, played, results, command, specs)
            print()
            names = naming.spelled_out((entry.learner for entry in ranking.standings), naming.known_to(results))
            _print_standings(ranking, names, specs, details)
            if quick:
                say(chosen.description)
        print_notices(results)
    print(f"files: {out / outcome.FOLDER}; for a page: coebl report {shlex.quote(str(out))}")
    if summary.failed:
        raise typer.Exit(1)


def _print_standings(ranking: Standings, names: Mapping[str, str], named: Sequence[str], details: bool) -> None:
    """Print the sentences about the ranking, then the ranking; with details, all columns and their meanings."""
    for number, sentence in enumerate(outcome.sentences(ranking, names, named)):
        say(sentence, "" if number else "bold")
    print()
    columns = [column for column in outcome.columns_of(ranking.general, names) if details or column.brief]
    right = {column.header for column in columns} - {"95 %", "learner", "kind"}
    print_table(outcome.table_of(ranking, columns), right=right, wrap=["learner"])
    for column in columns if details else ():
        if column.meaning:
            say(f"{column.header}: {column.meaning}", hang=2)
    if not details:
        amounts = (f"{column.header}: {column.meaning}" for column in columns if column.header.endswith(", %"))
        say(f"{'; '.join(amounts)}. For all columns, add --details.")
    say(outcome.intervals_note(ranking))


@opt.app.command("reproduce")
def reproduce_command(
    context: typer.Context,
    paper: Annotated[str, opt.argument("PAPER", "The name of the paper.")] = DEFAULT,
    out: Annotated[Path, opt.option("DIR", "The folder of the results; created, or resumed.")] = Path("reproduction"),
    quick: Annotated[bool, opt.flag("--quick", "Only small games and few seeds: minutes.")] = False,
    figure: opt.Figures = None,
    claim: opt.Claims = None,
    change: opt.Change = None,
    workers: opt.Workers = None,
    dask: opt.Dask = None,
) -> None:
    """Run the experiments of a paper, and judge its claims.

    Results that are already in the folder are not computed again. At the end it draws the figures, writes a page, and
    prints a mark for each claim; for the reasons: coebl claims DIR --details.

    With --set c=1, the same claims are also judged with one change, beside the original: a parameter of the learner
    that the paper proposes, or another learner in a role, such as exp3=tsallis-inf.

    \b
    Examples:
      coebl reproduce --quick
      coebl reproduce --workers 8
      coebl reproduce --figure diagonal-self-play
      coebl reproduce --quick --set c=1
      coebl reproduce --claim C9 --claim C14 --dask tcp://scheduler:8786
    """
    chosen = papers.load_paper(paper)
    chosen = chosen.changed(change) if change else chosen
    figures, claims = figure or [], claim or []
    recorded = opt.recorded_command(context)

    def run(planned: study.Study, folder: Path) -> study.RunSummary:
        return run_study(planned, folder, recorded, workers, dask)

    with resume_hint(opt.command_line(context)):
        made = reproduce.reproduce(
            chosen,
            out,
            quick=quick,
            figures=figures,
            claims=claims,
            workers=workers,
            run=run,
            command=opt.recorded_command(context, "out"),
            drawing=partial(_drawing, "the figures" if figures else "the figures and the page"),
        )
    print()
    if made.verdicts:
        _print_outcome(chosen, made.verdicts, out, details=bool(claims))
        print()
    if made.figures:
        print(f"{counted(len(made.figures), 'file')} of figures: {out / 'figures'}")
    if made.page:
        if quick:
            print(f"This was a quick run: small games, few seeds. For the full run: {chosen.command_in(out)}")
        print(f"page: {made.page}")
    elif (out / PAGE).exists() and made.ran.finished:
        print(f"the page is older than these results; for a new one: coebl report {out}")
    if made.ran.failed:
        raise typer.Exit(1)


def _drawing(title: str) -> AbstractContextManager[Advance]:
    return progress_bar(title, line=f"drawing {title}; this takes a while")


def _print_outcome(paper: papers.Paper, verdicts: Sequence[Verdict], folder: Path, details: bool) -> None:
    """Print, if all claims are judged, a sentence about them; then the verdicts, with their reasons or as marks."""
    if answer := paper.result(verdicts):
        say(answer, "bold")
        if paper.change:
            for line in paper.scores(verdicts):
                say(line, hang=2)
        print()
    if details:
        print_reasons(verdicts, paper.titles)
        return
    print_marks(verdicts, paper.titles)
    first = verdicts[0].id
    print(f"reasons: coebl claims {shlex.quote(str(folder))} --details, or --claim {first} for one of them")


def print_marks(verdicts: Sequence[Verdict], titles: Mapping[str, str]) -> None:
    """Print a row per claim with a mark per variant, then the meanings of the marks; `titles` are by id of variant."""
    from rich.text import Text

    marks = judge.MARKS if can_show("".join(judge.MARKS.values())) else _ASCII_MARKS
    rows: dict[str, dict[str, str | Text]] = {}
    for verdict in verdicts:
        text = judge.mark(verdict.verdict, (check.verdict for check in verdict.checks), marks)
        row = rows.setdefault(verdict.id, {"": verdict.id, "claim": verdict.text})
        row[titles[verdict.variant]] = Text(text, _STYLES[judge.outcome_word(verdict.verdict)])
    print_table([*rows.values()], wrap=["claim", *titles.values()])
    legend = [
        Text.assemble((marks[verdict], style), f" {meaning}")
        for (verdict, meaning), style in zip(judge.MEANINGS.items(), _STYLES.values(), strict=True)
    ]
    console().print(Text("   ").join(legend))


def print_reasons(verdicts: Sequence[Verdict], titles: Mapping[str, str]) -> None:
    """Print every claim in its words, with what decided it in each variant; then a tally, unless they have aims."""
    with_aims = any(verdict.aim for verdict in verdicts)
    measured = "measured against the aim" if with_aims else "measured [95 % interval] against the threshold"
    say(f"    {'verdict':<16}{measured}", hang=16)
    tally: dict[str, Counter[str]] = {}
    for id, of_claim in groupby(verdicts, key=lambda verdict: verdict.id):
        groups: dict[tuple[str, ...], list[Verdict]] = {}
        for verdict in of_claim:
            groups.setdefault(judge.reasons(verdict), []).append(verdict)
            tally.setdefault(titles[verdict.variant], Counter())[verdict.word] += 1
        print()
        say(f"{id:<4}{next(iter(groups.values()))[0].text}", hang=4)
        for (decisive, *others), alike in groups.items():
            say(f"    {', '.join(titles[verdict.variant] for verdict in alike)}")
            say(f"        {decisive}", (_STYLES | _AIM_STYLES)[alike[0].word], hang=16)
            for line in others:
                say(f"        {line}")
    print()
    if not with_aims:
        print_table([{"": title} | {word: str(count[word]) for word in _STYLES} for title, count in tally.items()])


@opt.app.command("claims")
def claims_command(
    folder: opt.StudyFolder,
    claim: opt.Claims = None,
    change: opt.Change = None,
    details: Annotated[bool, opt.flag("--details", "Print the numbers that decided each claim.")] = False,
    as_json: opt.AsJson = False,
    as_markdown: Annotated[bool, opt.flag("--markdown", "Print Markdown instead of a table.")] = False,
) -> None:
    """Print a verdict on each claim of a paper.

    From the results of coebl reproduce: a mark for each claim in each variant, and a summary in one sentence. With
    --details or --claim, it also prints the numbers and checks that decided.

    \b
    Examples:
      coebl claims reproduction
      coebl claims reproduction --details
      coebl claims reproduction --claim C9
      coebl claims reproduction --set c=1
      coebl claims reproduction --json
    """
    opt.at_most_one({"--json": as_json, "--markdown": as_markdown})
    results = study.Results(folder)
    paper = _paper_of(results, change)
    verdicts = paper.judge(results, claim or None)
    if as_json:
        print(judge.as_json(verdicts))
    elif as_markdown:
        print(judge.as_markdown(verdicts, paper.titles), end="")
    else:
        _print_outcome(paper, verdicts, folder, details=details or bool(claim))
        there = (folder / PAGE).exists()
        print(f"page: {folder / PAGE}" if there else f"for a page: coebl report {shlex.quote(str(folder))}")


@opt.app.command("figures")
def figures_command(
    folder: opt.StudyFolder,
    out: Annotated[
        Path | None, opt.option("DIR", "The folder of the figures, created if necessary; by default DIR/figures.")
    ] = None,
    figure: opt.Figures = None,
    variant: Annotated[list[str] | None, opt.repeatable("ID", "variant, such as text")] = None,
    format: Annotated[list[str] | None, opt.repeatable("FORMAT", "format: pdf, svg or png")] = None,
    workers: opt.Workers = None,
) -> None:
    """Draw the figures of a paper as PDF, SVG and PNG.

    They are drawn from the results of coebl reproduce.

    \b
    Examples:
      coebl figures reproduction
      coebl figures reproduction --figure rps-self-play --variant text --format pdf
    """
    target = out or folder / "figures"
    results = study.Results(folder)
    paper = _paper_of(results)
    opt.check_folder("--out", target)
    with _drawing("the figures") as progress:
        paths = reproduce.draw(
            paper,
            results,
            target,
            names=figure,
            variants=variant,
            formats=format or plots.FORMATS,
            workers=workers or processes.cores(),
            progress=progress,
            within=folder,
        )
    print(f"{counted(len(paths), 'file')}: {target}")


@opt.app.command("report")
def report_command(
    folder: opt.StudyFolder,
    out: Annotated[
        Path | None, opt.option("FILE", "The file to write, in a folder that exists; by default DIR/report.html.")
    ] = None,
    change: opt.Change = None,
    show: Annotated[bool, opt.flag("--open", "Open it in the browser.")] = False,
) -> None:
    """Write the results of a study as an HTML page.

    The page, with charts and explanations, is a single file that works without a network.

    \b
    Examples:
      coebl report reproduction --open
      coebl report results --out page.html
    """
    results = study.Results(folder)
    path = opt.check_file("--out", out) if out else folder / PAGE
    if not results.matches():
        raise InputError(results.why_empty())
    paper = _paper_of(results, change) if change else papers.paper_of(results.store.name)
    with progress_bar("the page"):
        if paper:
            reproduce.write_report(paper, results, path, paper.judge(results))
        else:
            sections, verdicts = outcome.read_page(results)
            page.write_page(results, path, sections=sections, verdicts=verdicts)
    print(f"page: {path}")
    if show:
        import webbrowser

        if not webbrowser.open(path.resolve().as_uri()):
            note("there is no browser here to open it with")


def _paper_of(results: study.Results, change: str | None = None) -> papers.Paper:
    """Return the paper whose study was run into a folder, with a change if one is given."""
    paper = papers.paper_of(results.store.name)
    if paper is None:
        folder = results.store.folder
        raise InputError(
            f"{folder}: this is the study {results.store.name}, not that of a paper; accepted: a folder that coebl "
            f"reproduce made. For the page of this study: coebl report {folder}"
        )
    return paper.changed(change) if change else paper
