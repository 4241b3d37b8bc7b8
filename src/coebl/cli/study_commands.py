"""The commands run, results, compare, plot, explain, study new and study show."""

from __future__ import annotations

import re
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import groupby, islice
from math import inf, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coebl.cli import options as opt
from coebl.cli.terminal import interval_bar, interval_cells, note, print_json, print_table, progress_bar, say, width
from coebl.core.errors import InputError, printable
from coebl.core.files import write_whole
from coebl.core.specs import without_folder
from coebl.core.text import counted, csv_text, duration

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from coebl import backend, learners, metrics, naming, plots, study
    from coebl.evidence import compare, explain, runtimes
    from coebl.plots import explained
    from coebl.report import latex
    from coebl.study import errors, plan, progress, runner, store, workers
    from coebl.study.results import SummaryRow
else:
    backend, learners, metrics, naming, plots, study = opt.lazy(
        "backend", "learners", "metrics", "naming", "plots", "study"
    )
    explain, runtimes = opt.lazy("evidence.explain", "evidence.runtimes")
    explained, latex = opt.lazy("plots.explained", "report.latex")
    errors, plan, progress, runner, store, workers = opt.lazy(
        "study.errors", "study.plan", "study.progress", "study.runner", "study.store", "study.workers"
    )

_StudyFile = Annotated[Path, opt.argument("FILE", "The TOML file of a study.")]
_FigureFile = Annotated[
    Path | None, opt.option("FILE", "An svg, png or pdf file in a folder that exists; by default in DIR/figures.")
]

_MOST_CAUSES = 12  # causes of failures that are printed
_BAR = 9, 21  # minimum and maximum width of the bar of an interval
_WORST = 8  # matches that explain lists
_ENDINGS = {1: "lost", 0: "undecided", -1: "won"}  # by the sign of the loss
_SCREEN = 24  # lines, and learners of a ranking, that fit a screen
_RIGHT = ("round", "n", "mean", "difference", "runs that hit", "expected time", "median", "lost, %")
_WRAP = ("game", "row", "column", "players", "better", "against")


@opt.app.command("run")
def run_command(
    context: typer.Context,
    file: _StudyFile,
    out: Annotated[Path, opt.option("DIR", "The folder of the results; created, resumed or extended.")],
    workers: opt.Workers = None,
    dask: opt.Dask = None,
    device: opt.DeviceOption = None,
    cell_timeout: Annotated[float | None, opt.decimal("SECONDS", "Time limit of a cell.", 0.001, 10_000_000)] = None,
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
    asked = study.read_study(file, device)
    if dry_run:
        ahead = plan.make_plan(asked, None if store.is_new(out) else study.Store.open(out), dry=True)
        for line in ahead.lines():
            print(line)
        _print_remarks(ahead.notes, ahead.left_alone)
        print(f"{len(ahead.todo)} of {counted(ahead.found + len(ahead.todo), 'cell')} to run")
        return
    with resume_hint(opt.command_line(context)):
        summary = run_study(asked, out, opt.recorded_command(context), workers, dask, cell_timeout)
        if summary.finished or summary.used:
            results = study.Results(out)
            print()
            print_ranking(results, asked)
            _print_times(results)
            print_notices(results)
            name = shlex.quote(str(out))
            print(f"means: coebl results {name}; page: coebl report {name}")
    if summary.failed:
        raise typer.Exit(1)


def _print_remarks(notes: Sequence[str], left_alone: int) -> None:
    for line in notes:
        note(line)
    if left_alone:
        note(f"left alone: {counted(left_alone, 'cell')} in the folder that the study does not ask for")


def run_study(
    asked: study.Study, out: Path, command: str, processes: int | None, dask: str | None, limit: float | None = None
) -> study.RunSummary:
    """Run a study and print the outcome. The command is recorded in the folder; the limit is the time per cell."""
    with nullcontext() if dask is None else workers.dask_executor(dask) as executor:
        summary = study.run(
            asked, out, executor=executor, workers=processes, cell_timeout=limit, rehearse=True, command=command
        )
    _print_remarks(summary.notes, summary.left_alone)
    are = "is" if summary.used == 1 else "are"
    reused = f" ({counted(summary.used, 'cell')} of earlier runs {are} used)" if summary.used > summary.found else ""
    time = duration(summary.seconds)
    failed = f", {len(summary.failed)} failed" * bool(summary.failed)
    print(f"{counted(summary.finished, 'cell')} run, {summary.found} found{reused}{failed}, in {time}: {out}")
    for cause, count in islice(summary.causes.items(), _MOST_CAUSES):
        note(f"{counted(count, 'cell')} failed: {cause}")
    if len(summary.causes) > _MOST_CAUSES:
        note(f"and {len(summary.causes) - _MOST_CAUSES} more causes")
    if summary.failed:
        note(f"tracebacks are in {out / 'failed'}; run again to retry")
    return summary


@contextmanager
def resume_hint(command: str) -> Iterator[None]:
    """Print how to resume if the block is stopped by Ctrl-C, SIGTERM or SIGHUP, or its workers are lost; then end."""
    numbers = [number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None))]  # by system
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, _terminate)
    try:
        yield
    except KeyboardInterrupt as interrupt:
        print(f"\ncoebl: stopped; finished cells are kept; to continue: {command}", file=sys.stderr)
        sys.exit(128 + (interrupt.args[0] if interrupt.args else signal.SIGINT))
    except errors.LostError as error:
        raise errors.ClusterError(f"{error} To continue: {command}") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _terminate(number: int, _: object) -> None:
    """Turn a signal that ends programs into an interrupt."""
    raise KeyboardInterrupt(number)


@opt.app.command("results")
def results_command(
    folder: opt.StudyFolder,
    metric: opt.Metrics = None,
    game: opt.Games = None,
    row: opt.Rows = None,
    column: opt.Columns = None,
    players: opt.Players = None,
    round_: Annotated[
        int | None, opt.integer("After this round; by default the last.", "--round", "--rounds", least=1)
    ] = None,
    details: Annotated[bool, opt.flag("--details", "Print all means, however many there are.")] = False,
    as_csv: opt.AsCsv = False,
    as_json: opt.AsJson = False,
    as_latex: Annotated[bool, opt.flag("--latex", "Print LaTeX tables, for the package booktabs.")] = False,
) -> None:
    """Print the ranking of a study, and the means of its matches.

    The means are taken after the last round, or after --round, with 95 % intervals. If they would fill more than a
    screen, only the ranking is printed; use --details, or select games, learners or metrics.

    \b
    Examples:
      coebl results results
      coebl results results --details
      coebl results results --metric pseudo_regret --csv
      coebl results results --game rps --row ucb --round 100
      coebl results results --metric exploitability --latex
    """
    opt.at_most_one({"--latex": as_latex, "--csv": as_csv, "--json": as_json})
    results = study.Results(folder)
    rows = results.summary(metric, round_, game, opt.seats(row, column, players))
    if not rows:
        raise InputError(results.why_empty())
    selected = any((metric, game, row, column, players, round_))
    if as_latex:
        print(latex.latex_tables(rows, naming.known_to(results)), end="")
        return
    seats = [f"player{seat}" for seat in range(3, 1 + max(len(row["players"]) for row in rows))]
    columns = ["game", "noise", "row", "column", *seats, "round", "metric", "mean", "low", "high", "sd", "n"]
    listed = [{**row, **dict(zip(seats, row["players"][2:], strict=False))} for row in rows] if as_csv else rows
    if _print_plain(listed, columns, as_csv, as_json):
        return
    if not selected:
        print_ranking(results)
        _print_times(results)
    few = details or selected or len(rows) <= _SCREEN
    if few:
        _print_means(results, rows)
    if details:
        say(
            "round: the last one, or that of --round; n: the number of seeds; mean: of the metric at that round, "
            "over the seeds; 95 % interval: of that mean, by Student's t. Runs that end at a condition are measured at "
            "their end; the mean of hitting_time is then the expected running time, with a bootstrap interval, and "
            "the mean of hit is the share of runs that hit, with a Wilson interval. For the metrics: coebl list "
            "metrics."
        )
    _print_notes(results, rows)
    if not few:
        print(f"all {len(rows)} means: coebl results {shlex.quote(str(folder))} --details, or --game, --row, --metric")


def _print_plain(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], as_csv: bool, as_json: bool) -> bool:
    """Print rows as CSV or JSON if an option asks for it; return true if they were printed."""
    if as_csv:
        print(csv_text(rows, columns), end="")
    elif as_json:
        print_json(rows)
    return as_csv or as_json


def print_notices(results: study.Results) -> None:
    """Print the caveats of a study's results on stderr."""
    for notice in results.notices():
        note(notice)


def print_ranking(results: study.Results, asked: study.Study | None = None) -> None:
    """Print the ranking of a folder, or of a study's part of it, and a blank line; nothing if no two learners met."""
    from coebl.evidence.pairwise import rank  # the package has a function with the name of this module

    ranking = rank(results, asked)
    if ranking is None:
        return
    names = ranking.names
    rows = ranking.table(names)
    say(str(ranking), "bold")
    print()
    print_table(rows, right={*rows[0]} - {"learner"}, wrap=["learner"], most=_SCREEN)
    if ranking.caveat:
        say(ranking.caveat)
    say(ranking.caption(names))
    print()


def _print_times(results: study.Results) -> None:
    """Print the hitting times of a folder, and a blank line; nothing if its runs do not end at a condition."""
    rows = [
        {"game": match.game, "noise": match.noise, "players": " v ".join(match.apart)}
        | {"rounds at most": f"{match.rounds:,}", **runs.described()}
        for match, runs in results.runtimes().items()
    ]
    if rows:
        say(f"A run ends at {results.condition()}.", "bold")
        print_table(rows, _RIGHT, _WRAP, common=("noise", "rounds at most"), most=_SCREEN)
        say(runtimes.CAPTION)
        print()


def _print_means(results: study.Results, rows: Sequence[SummaryRow]) -> None:
    known = naming.known_to(results)
    names = naming.spelled_out((spec for row in rows for spec in row["players"]), known)
    several = any(len(row["players"]) > 2 for row in rows)
    when = "rounds at most" if results.condition() else "round"
    table = []
    for row in rows:
        low, high = row["low"], row["high"]
        if metric := metrics.registered_metric(row["metric"]):
            low, high = metric.within_bounds(low, high, known.widths.get(row["game"], inf))
        titles = [names[spec] for spec in row["players"]]
        shown = {"game": row["game"], "noise": row["noise"]}
        shown |= {"players": " v ".join(titles)} if several else dict(zip(("row", "column"), titles, strict=True))
        shown |= {when: str(row["round"]), "metric": row["metric"], "n": str(row["n"])}
        table.append(shown | interval_cells(row["mean"], low, high, row["n"]))
    print_table(table, _RIGHT, _WRAP, common=("noise", when, "metric", "n"))


def _print_notes(results: study.Results, rows: Sequence[SummaryRow]) -> None:
    """Print which learners see more than a bandit does, the caveats, and the number of cells."""
    kinds = results.kinds()
    for learner in dict.fromkeys(spec for row in rows for spec in row["players"]):
        kind = kinds.get(learner)
        if kind in learners.REFERENCES:
            print(f"{printable(learner)}: {kind}, {learners.KINDS[kind]}")
    print_notices(results)
    matches = {(row["game"], row["noise"], *row["players"]) for row in rows}
    records, failures = results.records(), len(results.store.failures())
    used = sum((record.game, record.noise, *record.players) in matches for record in records)
    print(
        f"from {used} of {counted(max(len(records), results.store.log.planned()), 'cell')}"
        + (f"; {failures} failed, see {results.store.folder / 'failed'}" if failures else "")
    )


@opt.app.command("compare")
def compare_command(
    folder: opt.StudyFolder,
    a: Annotated[str, opt.argument("A", "A learner.")],
    b: Annotated[str, opt.argument("B", "Another learner.")],
    metric: opt.Metrics = None,
    game: opt.Games = None,
    margin: Annotated[float | None, opt.decimal("X", "Test whether they differ by less than this.")] = None,
    as_csv: opt.AsCsv = False,
    as_json: opt.AsJson = False,
) -> None:
    """Compare two learners of a study, paired by seed.

    They are compared head to head, if they have met, and by their results against the same opponents, in both seats.
    Differences are A minus B, with 95 % intervals; p values are corrected for the number of games (Holm). A learner in
    a file may be named by its class.

    \b
    Examples:
      coebl compare results ucb exp3
      coebl compare results ucb coebl:c=2 --metric tv --game rps
      coebl compare results ucb exp3 --margin 5 --json
    """
    opt.at_most_one({"--csv": as_csv, "--json": as_json})
    if margin is not None and not 0 < margin < inf:
        raise InputError(f"--margin is {margin:g}; accepted: a number above 0.")
    results = study.Results(folder)
    names: list[str | None] = [*metric] if metric else [None]
    comparisons = [results.compare(a, b, name, game, margin) for name in names]
    rows = [
        {"a": comparison.a, "b": comparison.b, "metric": comparison.metric} | contest.row()
        for comparison in comparisons
        for contest in comparison.contests
    ]
    if not _print_plain(rows, list(dict.fromkeys(key for row in rows for key in row)), as_csv, as_json):
        for place, comparison in enumerate(comparisons):
            print("\n" * (place > 0), end="")
            _print_comparison(comparison, naming.known_to(results))
        print_notices(results)


def _print_comparison(comparison: compare.Comparison, known: naming.Known) -> None:
    opponents = (
        spec for contest in comparison.contests for others in contest.opponents for spec in others.split(" v ")
    )
    titles = naming.spelled_out([comparison.a, comparison.b, *opponents], known)
    renamed = [
        replace(
            contest,
            opponents=tuple(" v ".join(titles[spec] for spec in others.split(" v ")) for others in contest.opponents),
        )
        for contest in comparison.contests
    ]
    comparison = replace(comparison, a=titles[comparison.a], b=titles[comparison.b], contests=tuple(renamed))
    say(str(comparison), "bold")
    print()
    better = f", {comparison.better} is better" * bool(comparison.better)
    say(f"{comparison.a} minus {comparison.b}, {comparison.metric}{better}")
    for way, contests in groupby(comparison.contests, key=lambda contest: contest.way):
        _print_contests(comparison, way, list(contests))
    families = dict.fromkeys(contest.difference.family for contest in comparison.contests)
    say(f"p (Holm): corrected by Holm's method, separately over {'; '.join(filter(None, families))}.")
    if comparison.in_ranges:
        say("all games, and the bars: each game counts in units of the range of its payoffs, since these differ.")
    if any(contest.way == "head to head" and contest.seats != "both" for contest in comparison.contests):
        say(f"head to head, seats: the seat of {comparison.a}, if the two have met in only one order.")


def _print_contests(comparison: compare.Comparison, way: str, contests: Sequence[compare.Contest]) -> None:
    """Print the differences of one way of comparing: a bar for each interval, and the better learner."""
    opponents = {contest.opponents for contest in contests}
    bars = [contest.interval(comparison.in_ranges) for contest in contests]
    most = max((abs(end) for _, *ends in bars for end in ends if not isnan(end)), default=0.0)
    table = []
    for contest in contests:
        difference, game, p = contest.difference, contest.game, contest.difference.p_holm
        if contest.opponents and len(opponents) > 1:
            game += f", {counted(len(contest.opponents), 'opponent')}"
        shown = {"seats": contest.seats, "n": str(difference.n), "game": game}
        shown |= interval_cells(
            difference.mean, difference.low, difference.high, difference.n, ("difference", "95 % interval")
        )
        shown[""] = ""  # the bar
        shown["p (Holm)"] = "< 0.0001" if p < 0.0001 else "-" if isnan(p) else f"{p:.4f}"
        shown["better" if comparison.better else "higher"] = comparison.winner(contest)
        if contest.equivalence is not None:
            shown[f"within {contest.equivalence.margin:g}"] = "yes" if contest.equivalence else "not shown"
        table.append(shown)
    others = [title for title in table[0] if title not in ("seats", "n", "")]
    space = width() - sum(2 + max(len(title), *(len(row.get(title, "")) for row in table)) for title in others)
    for shown, numbers in zip(table, bars, strict=True):
        shown[""] = interval_bar(*numbers, most, max(_BAR[0], min(_BAR[1], space)))
    print()
    say(f"{way}: {', '.join(*opponents)}" if len(opponents) == 1 and any(opponents) else way, "bold")
    print_table(table, _RIGHT, _WRAP, common=("seats", "n"))


@opt.app.command("plot")
def plot_command(
    folder: opt.StudyFolder,
    metric: Annotated[str | None, opt.option("NAME", "The metric to draw; by default pseudo_regret.")] = None,
    game: opt.Games = None,
    row: opt.Rows = None,
    column: opt.Columns = None,
    players: opt.Players = None,
    noise: Annotated[str | None, opt.option("SPEC", "Only this noise, if the study has several.")] = None,
    sweep: Annotated[bool, opt.flag("--sweep", "Draw the metric against the swept number, such as c.")] = False,
    out: _FigureFile = None,
) -> None:
    """Draw the curves of a study, or a metric against a hyper-parameter.

    A panel per game, a line per match, with 95 % bands. With --sweep, a line per opponent, and the best value.

    \b
    Examples:
      coebl plot results
      coebl plot results --metric tv --game rps --out tv.png
      coebl plot results --column coebl:c=8
      coebl plot results --sweep --metric exploitability
    """
    path = _figure_path(folder, (metric or "curves") + "-sweep" * sweep, out)
    seats = opt.seats(row, column, players)
    with progress_bar("the figure"):
        _save_figure(study.Results(folder).plot(metric, game, seats, noise, sweep), path, folder)


def _figure_path(folder: Path, name: str, out: Path | None) -> Path:
    """Return the file of a figure, by default in DIR/figures. A name in results may be ../../x, and is made safe."""
    safe = re.sub(r"[^\w-]", "_", name)[:110]
    return opt.check_file("--out", out, plots.FORMATS) if out else folder / "figures" / f"{safe}.svg"


def _save_figure(figure: Figure, path: Path, folder: Path) -> None:
    [written] = plots.save(figure, path.parent, path.stem, [path.suffix[1:].lower()], within=folder)
    print(f"wrote {printable(str(written))}")


@opt.app.command("explain")
def explain_command(
    folder: opt.StudyFolder,
    learner: Annotated[str, opt.argument("LEARNER", "A learner of the study.")],
    out: _FigureFile = None,
    runs: Annotated[int, opt.integer("Runs of the worst match that are played again; 0 for none.", least=0)] = 5,
) -> None:
    """Explain why a learner of a study loses, in sentences and a figure.

    It names the worst games and opponents, the rounds in which the loss arises, the policy in them, and the gain of a
    best response. Losses come from the stored results; to show the policy, a few seeds of the worst match are played
    again. A learner in a file is played again if it is named by its path.

    \b
    Examples:
      coebl explain results exp3
      coebl explain mine path/to/mine.py:Mine --out why.png
    """
    path = _figure_path(folder, f"explain-{without_folder(learner)}", out)
    with progress_bar("the worst match"):
        explanation = explain.explain(study.Results(folder), learner, runs=runs)
    for number, sentence in enumerate(explanation.sentences()):
        say(sentence, "" if number else "bold")
    print()
    rows = []
    for loss in explanation.losses:
        mean, low, high = (100 * number for number in (loss.advantage.mean, loss.advantage.low, loss.advantage.high))
        cells = interval_cells(mean, low, high, loss.advantage.n, ("lost, %", "95 % interval"))
        rows.append({"against": explanation.match_title(loss), **cells, "": _ENDINGS[loss.advantage.sign]})
    print_table(rows, _RIGHT, _WRAP, most=_WORST)
    say(
        f"lost: below the value of the game, by {explanation.metric}, in % of the payoff range a round, both seats "
        f"pooled; p values with Holm's correction over {explanation.losses[0].advantage.family}."
    )
    with progress_bar("the figure"):
        _save_figure(explained.plot_explanation(explanation), path, folder)


_study_app = typer.Typer(help="Write or inspect the file of a study.", no_args_is_help=True, rich_markup_mode=None)
opt.app.add_typer(_study_app, name="study")


@_study_app.command("new")
def study_new_command(
    file: Annotated[Path, opt.argument("FILE", "The file to write, in a folder that exists.")] = Path("study.toml"),
) -> None:
    """Write a commented example of a study file.

    \b
    Example:
      coebl study new my-study.toml
    """
    if opt.check_file("FILE", file).exists():
        raise InputError(f"{file} exists; choose another file name.")
    write_whole(file, study.EXAMPLE)
    print(f"wrote {file}; next: coebl study show {file}, then coebl run {file} --out results")


@_study_app.command("show")
def study_show_command(
    file: _StudyFile,
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
    shown = study.read_study(file)
    if shown.title:
        print(shown.title)
    matches, rounds = (
        counted(len(shown.matches()), "match", "matches"),
        sum(cell.rounds * len(cell.seeds) for cell in shown.cells),
    )
    print(f"{matches} in {counted(len(shown.cells), 'cell')}, {counted(rounds, 'round')} in all")
    runner.try_user_code(shown.cells)
    runner.warm_up(shown.cells)
    seconds = progress.estimate(shown, workers)
    where = "on this machine"
    if any(backend.backend_class(cell.device).is_gpu for cell in shown.cells):
        where = "on the CPU of this machine, whose GPU may be much faster or slower"
    megabytes = progress.disk_use(shown) / 1e6
    disk = f"about {megabytes:,.1f} MB" if megabytes >= 0.1 else "less than 0.1 MB"
    ends = " to ".join(dict.fromkeys(map(duration, seconds[:2])))
    print(f"about {ends} {where} ({seconds.source}), {disk} on disk")
    for cell in shown.cells if cells else ():
        print(cell)
