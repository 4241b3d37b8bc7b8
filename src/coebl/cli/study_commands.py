"""The commands run, results, compare, plot, explain, study new and study show."""

from __future__ import annotations

import json
import re
import shlex
import signal
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import groupby, islice
from math import inf, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coebl.cli import options as opt
from coebl.cli.terminal import interval_bar, interval_cells, print_table, progress_bar, say
from coebl.core.errors import InputError, printable
from coebl.core.files import check_path, write_whole
from coebl.core.text import counted, csv_text, duration, finite

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from coebl.evidence.compare import Comparison, Contest
    from coebl.naming import Known
    from coebl.study import Results, RunSummary, Study
    from coebl.study.results import SummaryRow

StudyFile = Annotated[Path, opt.path_argument("FILE", "The TOML file of a study.")]

_MOST_CAUSES = 12  # causes of failures that are printed
_WORST = 8  # matches that explain lists
_SCREEN = 24  # lines, and learners of a ranking, that fit a screen
_MEANS = ["game", "noise", "row", "column", "round", "metric", "mean", "low", "high", "sd", "n"]


@opt.app.command("run")
def run_command(
    file: StudyFile,
    out: Annotated[Path, opt.path("DIR", "The folder of the results; created, resumed or extended.")],
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
    with resume_hint(command, workers, dask):
        summary = run_study(study, out, workers, dask, command, cell_timeout)
        if summary.finished or summary.used:
            results = Results(out)
            print_ranking(results, study)
            print_times(results)
            print_notices(results)
            name = shlex.quote(str(out))
            print(f"means: coebl results {name}; page: coebl report {name}")
    if summary.failed:
        raise typer.Exit(1)


def _print_plan(study: Study, out: Path) -> None:
    """Print the cells that a run would compute."""
    from coebl.study import Store
    from coebl.study.plan import make_plan
    from coebl.study.store import is_new

    plan = make_plan(study, None if is_new(out) else Store.open(out), dry=True)
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
    from coebl.study.workers import dask_executor

    with nullcontext() if dask is None else dask_executor(dask) as executor:
        summary = run(
            study, out, executor=executor, workers=workers, cell_timeout=cell_timeout, command=command, rehearse=True
        )
    for note in summary.notes:
        print(printable(note), file=sys.stderr)
    _print_left_alone(summary.left_alone)
    are = "is" if summary.used == 1 else "are"
    reused = f" ({counted(summary.used, 'cell')} of earlier runs {are} used)" if summary.used > summary.found else ""
    print(
        f"{counted(summary.finished, 'cell')} run, {summary.found} found{reused}, in {duration(summary.seconds)}: {out}"
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
    """Print how to resume if the block is stopped by Ctrl-C, SIGTERM or SIGHUP, or its workers are lost; then end."""
    from coebl.study.errors import ClusterError, LostError

    where = (f" --workers {workers}" if workers else "") + (f" --dask {shlex.quote(dask)}" if dask else "")
    numbers = [number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None))]  # by system
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # as nohup sets it
            signal.signal(number, _terminate)
    try:
        yield
    except KeyboardInterrupt as interrupt:
        print(f"\ncoebl: stopped; to continue: {command}{where}", file=sys.stderr)
        sys.exit(128 + (interrupt.number if isinstance(interrupt, _TerminatedError) else signal.SIGINT))
    except LostError as error:
        raise ClusterError(f"{error} To continue: {command}{where}") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _TerminatedError(KeyboardInterrupt):
    """A signal that ends programs, handled like an interrupt."""

    def __init__(self, number: int) -> None:
        self.number = number


def _terminate(number: int, _: object) -> None:
    raise _TerminatedError(number)


@opt.app.command("results")
def results_command(
    folder: opt.StudyFolder,
    metric: opt.Metrics = None,
    game: opt.Games = None,
    row: opt.Rows = None,
    column: opt.Columns = None,
    players: opt.Players = None,
    round_: Annotated[int | None, opt.integer("After this round; by default the last.", "--round", "--rounds")] = None,
    details: Annotated[bool, opt.flag("--details", "Print all means, however many there are.")] = False,
    as_csv: opt.AsCsv = False,
    as_json: opt.AsJson = False,
    as_latex: Annotated[bool, opt.flag("--latex", "Print LaTeX tables, for the package booktabs.")] = False,
) -> None:
    """Print the ranking of a study, and the means of its matches.

    The means are those after the last round, or any recorded one, with 95 % intervals. If they would fill more than a
    screen, only the ranking is printed; use --details, or select games, learners or metrics.

    \b
    Examples:
      coebl results results
      coebl results results --details
      coebl results results --metric pseudo_regret --csv
      coebl results results --game rps --row ucb --round 100
      coebl results results --metric exploitability --latex
    """
    from coebl.study import Results

    results = Results(folder)
    rows = results.summary(metric, round_, game, opt.seats(row, column, players))
    if not rows:
        raise InputError(results.why_empty())
    selected = any((metric, game, row, column, players, round_))
    opt.reject_both("--latex", "--csv" if as_csv else "--json", both=as_latex and (as_csv or as_json))
    if as_latex:
        from coebl.naming import known_to
        from coebl.report.latex import latex_tables

        print(latex_tables(rows, known_to(results)), end="")
        return
    seats = [f"player{seat}" for seat in range(3, 1 + max(len(row["players"]) for row in rows))]
    columns = [*_MEANS[: _MEANS.index("round")], *seats, *_MEANS[_MEANS.index("round") :]]
    listed = [{**row, **dict(zip(seats, row["players"][2:], strict=False))} for row in rows] if as_csv else rows
    if _print_plain(listed, columns, as_csv, as_json):
        return
    if not selected:
        print_ranking(results)
        print_times(results)
    if details or selected or len(rows) <= _SCREEN:
        print("\n" * (not selected), end="")
        _print_means(results, rows)
        if details:
            say(
                "round: the last one, or that of --round; n: the number of seeds; mean: of the metric at that round, "
                "over the seeds; 95 % interval: of that mean, by Student's t. Of runs that end at a condition, all is "
                "at their end; the mean of hitting_time is the expected running time, with a bootstrap interval, and "
                "that of hit the share of runs that hit, with Wilson's. For the metrics: coebl list metrics."
            )
        _print_notes(results, rows)
    else:
        _print_notes(results, rows)
        print(f"all {len(rows)} means: coebl results {shlex.quote(str(folder))} --details, or --game, --row, --metric")


def _print_plain(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], as_csv: bool, as_json: bool) -> bool:
    """Print rows as CSV or JSON, and return True, if that is asked for."""
    opt.reject_both("--csv", "--json", both=as_csv and as_json)
    if as_csv:
        print(csv_text(rows, columns), end="")
    elif as_json:
        print(json.dumps(finite(list(rows)), allow_nan=False))
    return as_csv or as_json


def print_notices(results: Results) -> None:
    """Print the caveats of a study's results on stderr."""
    for notice in results.notices():
        print(printable(notice), file=sys.stderr)


def print_ranking(results: Results, study: Study | None = None) -> None:
    """Print the ranking of a folder, or of what a study asks for in it; nothing if no two learners met."""
    from coebl.evidence.pairwise import rank

    ranking = rank(results, study)
    if ranking is None:
        return
    names = ranking.names
    rows = ranking.table(names)
    print()
    shown = [list(row.values()) for row in rows[:_SCREEN]]
    print_table(list(rows[0]), shown, right={*rows[0]} - {"learner"}, wrap=["learner"])
    if len(rows) > _SCREEN:
        print(f"and {len(rows) - _SCREEN} more")
    print()
    say(str(ranking), "bold")
    say("Ranked by score: wins minus losses, per pairing.")
    if ranking.caveat:
        say(ranking.caveat)
    left_out = ", ".join(names[spec] for spec in ranking.left_out)
    say(
        f"A pairing is two learners on a game, {ranking.rule}, at 5 % with {ranking.family}."
        + (f" Left out, since they see more: {left_out}." if left_out else "")
    )


def print_times(results: Results) -> None:
    """Print the hitting times of a folder; nothing if its runs do not end at a condition."""
    rows = [
        {"game": match.game, "noise": match.noise, "players": " v ".join(match.apart)}
        | {"rounds at most": f"{match.rounds:,}", **runs.described()}
        for match, runs in results.runtimes().items()
    ]
    if not rows:
        return
    print()
    say(f"A run ends at {results.condition()}.", "bold")
    _print_rows(rows[:_SCREEN], common=("noise", "rounds at most"))
    if len(rows) > _SCREEN:
        print(f"and {len(rows) - _SCREEN} more")
    say("expected time: all rounds of all runs, divided by the number of runs that hit; 95 % interval: by bootstrap.")


def _print_means(results: Results, rows: list[SummaryRow]) -> None:
    from coebl.metrics import registered_metric
    from coebl.naming import known_to, spelled_out

    known = known_to(results)
    learners = spelled_out((spec for row in rows for spec in row["players"]), known)
    several = any(len(row["players"]) > 2 for row in rows)
    when = "rounds at most" if results.condition() else "round"
    table = []
    for row in rows:
        low, high = row["low"], row["high"]
        if metric := registered_metric(row["metric"]):
            low, high = metric.within_bounds(low, high, known.widths.get(row["game"], inf))
        names = [learners[spec] for spec in row["players"]]
        shown = {"game": row["game"], "noise": row["noise"]}
        shown |= {"players": " v ".join(names)} if several else dict(zip(("row", "column"), names, strict=True))
        shown |= {when: str(row["round"]), "metric": row["metric"], "n": str(row["n"])}
        mean, ends = interval_cells(row["mean"], low, high, row["n"])
        table.append(shown | {"mean": mean, "95 % interval": ends})
    _print_rows(table, common=("noise", when, "metric", "n"))


def _print_rows(rows: Sequence[Mapping[str, str]], common: Collection[str]) -> None:
    """Print rows as a table; those of the `common` columns that are the same in all rows are on a line above it."""
    header = list(dict.fromkeys(title for row in rows for title in row))
    constant = [title for title in header if title in common and len({row[title] for row in rows}) == 1]
    if constant:
        say(", ".join(f"{title} {rows[0][title]}" for title in constant))
    shown = [title for title in header if title not in constant]
    right = ["round", "n", "mean", "difference", "runs that hit", "expected time", "median"]
    wrap = ["game", "row", "column", "players", "better"]
    print_table(shown, [[row.get(title, "") for title in shown] for row in rows], right, wrap=wrap)


def _print_notes(results: Results, rows: list[SummaryRow]) -> None:
    """Print which learners see more than a bandit does, the caveats, and the number of cells."""
    from coebl.learners import KINDS, REFERENCES

    kinds = results.kinds()
    for learner in dict.fromkeys(spec for row in rows for spec in row["players"]):
        kind = kinds.get(learner)
        if kind in REFERENCES:
            print(f"{printable(learner)}: {kind}, {KINDS[kind]}")
    print_notices(results)
    matches = {(row["game"], row["noise"], *row["players"]) for row in rows}
    records = results.records()
    used = sum((record.game, record.noise, *record.players) in matches for record in records)
    failures = len(results.store.failures())
    print(
        f"from {used} of {counted(max(len(records), results.store.log.planned()), 'cell')}"
        + (f"; {failures} failed, see {results.store.folder / 'failed'}" if failures else "")
    )


@opt.app.command("compare")
def compare_command(
    folder: opt.StudyFolder,
    a: Annotated[str, typer.Argument(metavar="A", help="A learner.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another learner.")],
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
    from coebl.naming import known_to
    from coebl.study import Results

    results = Results(folder)
    metrics: list[str | None] = [*metric] if metric else [None]
    comparisons = [results.compare(a, b, name, game, margin) for name in metrics]
    rows = [
        {"a": comparison.a, "b": comparison.b, "metric": comparison.metric} | contest.row()
        for comparison in comparisons
        for contest in comparison.contests
    ]
    if not _print_plain(rows, list(dict.fromkeys(key for row in rows for key in row)), as_csv, as_json):
        for comparison in comparisons:
            _print_comparison(comparison, known_to(results))
        print_notices(results)


def _print_comparison(comparison: Comparison, known: Known) -> None:
    from coebl.naming import spelled_out

    learners = spelled_out([comparison.a, comparison.b], known)
    comparison = replace(comparison, a=learners[comparison.a], b=learners[comparison.b])
    say(f"{comparison.a} minus {comparison.b}, {comparison.metric}, {comparison.better} is better")
    for way, contests in groupby(comparison.contests, key=lambda contest: contest.way):
        _print_contests(comparison, way, list(contests))
    print()
    say(str(comparison), "bold")
    families = dict.fromkeys(contest.difference.family for contest in comparison.contests)
    say(f"p (Holm): corrected by Holm's method, separately over {'; '.join(filter(None, families))}.")
    if any(contest.unit for contest in comparison.contests):
        say("all games: each game counts in units of the range of its payoffs, since these differ.")
    if any(contest.way == "head to head" and contest.seats != "both" for contest in comparison.contests):
        say(f"head to head, seats: that of {comparison.a}, where the two have met in one seat only.")


def _print_contests(comparison: Comparison, way: str, contests: Sequence[Contest]) -> None:
    """Print the differences of one way of comparing, with a bar for each interval and who does better."""
    opponents = {contest.opponents for contest in contests}
    heading = f"{way}: {', '.join(*opponents)}" if len(opponents) == 1 and any(opponents) else way
    same_unit = [contest.difference for contest in contests if not contest.unit]
    ends = [abs(end) for one in same_unit for end in (one.low, one.high) if not isnan(end)]
    better = {-1: comparison.a, 0: "undecided", 1: comparison.b}
    table = []
    for contest in contests:
        found, game = contest.difference, contest.game
        mean, interval = interval_cells(found.mean, found.low, found.high, found.n)
        if contest.opponents and len(opponents) > 1:
            game += f", {counted(len(contest.opponents), 'opponent')}"
        shown = {"seats": contest.seats, "n": str(found.n), "game": game, "difference": mean, "95 % interval": interval}
        shown[""] = "" if contest.unit else interval_bar(found.mean, found.low, found.high, max(ends, default=0.0))
        shown["p (Holm)"] = (
            "< 0.0001" if found.p_holm < 0.0001 else "-" if isnan(found.p_holm) else f"{found.p_holm:.4f}"
        )
        shown["better"] = better[found.sign * (1 if comparison.better == "lower" else -1)]
        if contest.equivalence is not None:
            shown[f"within {contest.equivalence.margin:g}"] = "yes" if contest.equivalence else "not shown"
        table.append(shown)
    print()
    say(heading, "bold")
    _print_rows(table, common=("seats", "n"))


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
    out: Annotated[Path | None, opt.path("FILE", "An svg, png or pdf file; by default in DIR/figures.")] = None,
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
    from coebl.study import Results

    path = _figure_path(folder, (metric or "curves") + "-sweep" * sweep, out)
    with progress_bar("the figure"):
        _save_figure(Results(folder).plot(metric, game, opt.seats(row, column, players), noise, sweep), path, folder)


def _figure_path(folder: Path, name: str, out: Path | None) -> Path:
    """Return the file of a figure, by default in DIR/figures: a name in results may be ../../x."""
    safe = re.sub(r"[^\w-]", "_", name)[:110]
    path = out or folder / "figures" / f"{safe}.svg"
    opt.figure_format("--out", path)
    return path


def _save_figure(figure: Figure, path: Path, folder: Path) -> None:
    from coebl.plots import save

    [written] = save(figure, path.parent, path.stem, [opt.figure_format("--out", path)], within=folder)
    print(f"wrote {printable(str(written))}")


@opt.app.command("explain")
def explain_command(
    folder: opt.StudyFolder,
    learner: Annotated[str, typer.Argument(metavar="LEARNER", help="A learner of the study.")],
    out: Annotated[Path | None, opt.path("FILE", "An svg, png or pdf file; by default in DIR/figures.")] = None,
    runs: Annotated[int, opt.integer("Runs of the worst match that are played again; 0 for none.", least=0)] = 5,
) -> None:
    """Explain why a learner of a study loses, in sentences and a figure.

    Its worst games and opponents, the rounds in which the loss arises, what it plays there, and what a best response
    would take. Matches and rounds are those stored; for what it plays, a few seeds of its worst match are played again.
    A learner in a file is played again if it is named by its path.

    \b
    Examples:
      coebl explain results exp3
      coebl explain mine path/to/mine.py:Mine --out why.png
    """
    from coebl.core.specs import without_folder
    from coebl.core.text import in_interval
    from coebl.evidence.explain import explain
    from coebl.kernels.cache import announce_compilation
    from coebl.plots.explained import plot_explanation
    from coebl.study import Results

    path = _figure_path(folder, f"explain-{without_folder(learner)}", out)
    with progress_bar("the worst match"), announce_compilation():
        found = explain(Results(folder), learner, runs=runs)
    for number, sentence in enumerate(found.sentences()):
        say(sentence, "" if number else "bold")
    print()
    rows = []
    for loss in found.losses[:_WORST]:
        share = loss.share
        mean, low, high = in_interval(*(100 * number for number in (share.mean, share.low, share.high)))
        word = {1: "lost", 0: "undecided", -1: "won"}[share.sign]
        rows.append([found.match_title(loss), mean, f"{low} .. {high}", word])
    print_table(["against", "lost, %", "95 % interval", ""], rows, right=["lost, %"], wrap=["against"])
    if len(found.losses) > _WORST:
        print(f"and {len(found.losses) - _WORST} more")
    say(
        f"lost: below the value of the game, by {found.metric}, in % of the payoff range a round, both seats pooled; "
        f"p values with Holm's correction over {found.losses[0].share.family}."
    )
    with progress_bar("the figure"):
        _save_figure(plot_explanation(found), path, folder)


study_app = typer.Typer(help="Write or inspect the file of a study.", no_args_is_help=True, rich_markup_mode=None)
opt.app.add_typer(study_app, name="study")


@study_app.command("new")
def study_new_command(
    file: Annotated[Path, opt.path_argument("FILE", "The file to write.")] = Path("study.toml"),
) -> None:
    """Write a commented example of a study file.

    \b
    Example:
      coebl study new my-study.toml
    """
    from coebl.study import EXAMPLE

    if check_path("FILE", file).exists():
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
    from coebl.kernels.cache import announce_compilation
    from coebl.study import read_study
    from coebl.study.progress import disk_use, estimate, rounds_of
    from coebl.study.runner import warm_up

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
    print(f"about {duration(seconds.low)} to {duration(seconds.high)} {where} ({seconds.source}), {disk} on disk")
    for cell in study.cells if cells else ():
        print(cell)
