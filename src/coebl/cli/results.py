"""Commands that read a study's folder: results, compare, plot."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coebl.cli.app import StudyFolder, app, width
from coebl.cli.rankings import print_notices, print_ranking
from coebl.cli.screen import interval_text, say
from coebl.cli.waiting import progress_bar
from coebl.core import plain
from coebl.core.errors import InputError, printable
from coebl.core.text import counted

if TYPE_CHECKING:
    from coebl.evidence.compare import Comparison
    from coebl.naming.described import Known
    from coebl.study import Results
    from coebl.study.summaries import SummaryRow

Metrics = Annotated[list[str] | None, typer.Option("--metric", help="Only this metric; may be given more than once.")]
Games = Annotated[list[str] | None, typer.Option("--game", help="Only this game; may be given more than once.")]
Rows = Annotated[list[str] | None, typer.Option("--row", help="Only this row learner; may be given more than once.")]
Columns = Annotated[
    list[str] | None, typer.Option("--column", help="Only this column learner; may be given more than once.")
]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]

_SCREEN = 24  # lines
_MEANS = ["game", "noise", "row", "column", "round", "metric", "mean", "low", "high", "sd", "n"]


@app.command("results")
def results_command(
    folder: StudyFolder,
    metric: Metrics = None,
    game: Games = None,
    row: Rows = None,
    column: Columns = None,
    at: Annotated[
        int | None, typer.Option("--round", "--rounds", help="After this round; by default the last.")
    ] = None,
    details: Annotated[bool, typer.Option("--details", help="Print all means, however many there are.")] = False,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """Print who beats whom in a study, and the means of its matches.

    The means are those after the last round, or any recorded one, with 95 % intervals. If they would fill more than
    a screen, they are printed with --details or for what is named.

    \b
    Examples:
      coebl results results
      coebl results results --details
      coebl results results --metric pseudo_regret --csv
      coebl results results --game rps --row ucb --round 100
    """
    from coebl.study import Results

    _check_forms(as_csv, as_json)
    results = Results(folder)
    rows = results.summary(metric, at, game, row, column)
    if not rows:
        raise InputError(results.why_empty())
    if as_csv:
        print(plain.as_csv(map(dict, rows), _MEANS), end="")
    elif as_json:
        _print_json(rows)
    elif details or len(rows) <= _SCREEN or any((metric, game, row, column, at)):
        if not any((metric, game, row, column, at)):
            print_ranking(results)
            print()
        _print_means(results, rows)
        if details:
            say("round: the last one, or that of --round; n: how many seeds; mean: over these, of the metric at that")
            say("round; 95 % interval: of that mean, by Student's t. What a metric is: coebl list metrics.")
        _print_notes(results, rows)
    else:
        print_ranking(results)
        _print_notes(results, rows)
        print(f"all {len(rows)} means: coebl results {shlex.quote(str(folder))} --details, or --game, --row, --metric")


def _check_forms(as_csv: bool, as_json: bool) -> None:
    if as_csv and as_json:
        raise InputError("--csv and --json are both given; accepted: one of them.")


def _print_json(rows: Sequence[Mapping[str, Any]]) -> None:
    print(json.dumps(plain.finite(list(rows)), allow_nan=False))


def _print_means(results: Results, rows: list[SummaryRow]) -> None:
    from coebl.metrics import METRICS, metric_class
    from coebl.naming.described import known_to
    from coebl.naming.titles import spelled_out

    names = ["game", "row", "column", "round", "metric", "n"]
    if len({row["noise"] for row in rows}) > 1:
        names.insert(1, "noise")
    known = known_to(results)
    learners = spelled_out((row[seat] for row in rows for seat in ("row", "column")), known)
    shown_as = [dict(row) | {seat: learners[row[seat]] for seat in ("row", "column")} for row in rows]
    table = [[printable(str(row[name])) for name in names] for row in shown_as]
    widths = [max(map(len, column)) for column in zip(names, *table, strict=True)]
    print(f"{_padded(names, widths)}  {'mean':>12}  95 % interval (Student)")
    for row, shown in zip(rows, table, strict=True):
        low, high = row["low"], row["high"]
        if row["metric"] in METRICS:
            low, high = metric_class(row["metric"]).within_bounds(low, high, known.widths.get(row["game"], inf))
        print(f"{_padded(shown, widths)}  {row['mean']:>12.4f}  {interval_text(low, high, row['n'])}")


def _padded(words: list[str], widths: list[int]) -> str:
    return "  ".join(f"{word:<{width}}" for word, width in zip(words, widths, strict=True))


def _print_notes(results: Results, rows: list[SummaryRow]) -> None:
    """What somebody who reads the means should know: who sees more than a bandit does, and how much is there."""
    from coebl.learners import KINDS, REFERENCES

    kinds = results.kinds()
    shown = dict.fromkeys(row[seat] for row in rows for seat in ("row", "column"))
    for learner in shown:
        kind = kinds.get(learner)
        if kind in REFERENCES:
            print(f"{printable(learner)}: {kind}, {KINDS[kind]}")
    print_notices(results)
    matches = {(row["game"], row["noise"], row["row"], row["column"]) for row in rows}
    labels = [about["labels"] for about in results.metadata()]
    used = sum((one["game"], one["noise"], one["row"], one["column"]) in matches for one in labels)
    failures = len(results.store.failures())
    print(
        f"from {used} of {counted(max(len(labels), results.store.log.planned()), 'cell')}"
        + (f"; {failures} failed, see {results.store.folder / 'failed'}" if failures else "")
    )


@app.command("compare")
def compare_command(
    folder: StudyFolder,
    a: Annotated[str, typer.Argument(metavar="A", help="A learner.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another learner.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Compare by this metric; may be given more than once; see: coebl list metrics."),
    ] = None,
    game: Games = None,
    margin: Annotated[
        float | None, typer.Option(help="Also test whether they differ by less than this: equivalence.")
    ] = None,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """Compare two learners of a study, paired by seed and in both seats.

    Head to head, if they have met, and by what each gets against the same opponents. Differences are A minus B, with
    95 % intervals; p values are corrected for the number of games (Holm). A learner in a file may go by its class.

    \b
    Examples:
      coebl compare results ucb exp3
      coebl compare results ucb coebl:c=2 --metric tv --game rps
      coebl compare results ucb exp3 --margin 5 --json
    """
    from coebl.naming.described import known_to
    from coebl.study import Results

    _check_forms(as_csv, as_json)
    results = Results(folder)
    metrics: list[str | None] = [*metric] if metric else [None]
    found = [results.compare(a, b, name, game, margin) for name in metrics]
    rows = [{"a": one.a, "b": one.b, "metric": one.metric} | contest.row() for one in found for contest in one.contests]
    if as_csv:
        print(plain.as_csv(rows, list(dict.fromkeys(key for row in rows for key in row))), end="")
    elif as_json:
        _print_json(rows)
    else:
        for one in found:
            _print_comparison(one, known_to(results))
        print_notices(results)


def _print_comparison(found: Comparison, known: Known) -> None:
    from coebl.naming.titles import spelled_out

    learners = spelled_out([found.a, found.b], known)
    comparison = replace(found, a=learners[found.a], b=learners[found.b])
    names = ["way", "game", "opponents", "seats", "n"]
    rows = [contest.row() for contest in comparison.contests]
    for row in rows:
        met = row["opponents"].split()
        row["opponents"] = row["opponents"] if len(met) < 4 else f"{len(met)} of them"
    print(printable(f"{comparison.a} minus {comparison.b}, {comparison.metric}, {comparison.better} is better"))
    table = [[printable(str(row[name])) for name in names] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *table, strict=True)]
    ends = [interval_text(row["low"], row["high"], row["n"]) for row in rows]
    span = max(map(len, [*ends, "95 % interval"]))
    print(f"{_padded(names, widths)}  {'difference':>12}  {'95 % interval':<{span}}  {'p (Holm)':<8}")
    for row, shown, end in zip(rows, table, ends, strict=True):
        within = (
            f"  {'within' if row['equivalent'] else 'not shown within'} {row['margin']:g}" if "margin" in row else ""
        )
        p = "< 0.0001" if row["p_holm"] < 0.0001 else "-" if isnan(row["p_holm"]) else f"{row['p_holm']:.4f}"
        line = f"{_padded(shown, widths)}  {row['difference']:>12.4f}  {end:<{span}}  {p:<8}{within}"
        print(line.rstrip())
    print(textwrap.fill(printable(str(comparison)), width(), break_on_hyphens=False))
    if any(row["unit"] for row in rows):
        say("all games: each game counts in units of the range of its payoffs, since these differ.")
    if any(row["way"] == "head to head" and row["seats"] != "both" for row in rows):
        say(f"head to head, seats: that of {comparison.a}, where the two have met in one seat alone.")


@app.command("plot")
def plot_command(
    folder: StudyFolder,
    metric: Annotated[
        str | None, typer.Option(help="Which metric; by default pseudo_regret, see: coebl list metrics.")
    ] = None,
    game: Games = None,
    row: Rows = None,
    column: Columns = None,
    noise: Annotated[str | None, typer.Option(help="Only this noise, if the study has several.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An svg, png or pdf file; by default in DIR/figures.")
    ] = None,
) -> None:
    """Draw the curves of a study: a panel per game, a line per match, with 95 % bands.

    \b
    Examples:
      coebl plot results
      coebl plot results --metric tv --game rps --out tv.png
      coebl plot results --column coebl:c=8
    """
    from coebl.plots import FORMATS, save
    from coebl.study import Results

    if out is not None and out.suffix[1:] not in FORMATS:
        raise InputError(f"--out is {str(out)!r}; accepted: a file that ends in .{', .'.join(FORMATS)}.")
    target = out or folder / "figures" / f"{metric or 'curves'}.svg"
    with progress_bar("the figure"):
        figure = Results(folder).plot(metric, game, row, column, noise)
        [path] = save(figure, target.parent, target.stem, [target.suffix[1:]], within=folder)
    print(f"wrote {printable(str(path))}")
